//! l1-SVM and ElasticNet-SVM as machines that predict: the selecting machine also classifies, as in the
//! paper.

use fewest::core::{Budget, Context, Dataset, Error, Selector, Target};
use fewest::margin::{ElasticNetSvm, L1Svm};

/// Relative duality gap of the machines: accuracies do not change below.
const TOLERANCE: f64 = 1e-6;

/// A linear machine on standardised features.
struct Linear {
    /// Feature, weight, mean and standard deviation.
    terms: Vec<(usize, f64, f64, f64)>,
    bias: f64,
}

/// A sparse machine at the penalties `l1 ‖w‖₁ + ½ l2 ‖w‖²`.
pub(super) fn accuracy(
    (l1, l2): (f64, f64),
    train: &Dataset,
    test: &Dataset,
    context: &Context<'_>,
) -> Result<(f64, usize), Error> {
    let c = Some((l1 + l2).recip());
    let selector: Box<dyn Selector> = if l2 > 0.0 {
        Box::new(ElasticNetSvm {
            c,
            l1_ratio: l1 / (l1 + l2),
            tolerance: TOLERANCE,
            ..ElasticNetSvm::default()
        })
    } else {
        Box::new(L1Svm { c, tolerance: TOLERANCE, ..L1Svm::default() })
    };
    let selection = selector.select(train, Budget::Count(train.n_features()), context)?;
    let terms = selection.order.iter().zip(&selection.scores).filter(|(_, weight)| **weight != 0.0);
    let terms: Vec<(usize, f64, f64, f64)> = terms
        .map(|(&feature, &weight)| {
            let values = column(train, feature)?;
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            Ok((feature, weight, mean, deviation))
        })
        .collect::<Result<_, Error>>()?;
    let mut machine = Linear { terms, bias: 0.0 };
    machine.bias = best_bias(&machine.decide(train)?, &signs(train)?);
    let right = machine.decide(test)?.iter().zip(signs(test)?).filter(|(f, y)| **f * y > 0.0).count();
    Ok((right as f64 / test.n_samples() as f64, machine.terms.len()))
}

/// The values of a feature.
pub(super) fn column(data: &Dataset, feature: usize) -> Result<Vec<f64>, Error> {
    let mut values = vec![0.0; data.n_samples()];
    data.x().copy_column(feature, &mut values)?;
    Ok(values)
}

/// 1 for the class that sorts last, -1 for the other.
pub(super) fn signs(data: &Dataset) -> Result<Vec<f64>, Error> {
    let Target::Class(classes) = data.target() else {
        return Err(Error::TooFew { what: "classes", minimum: 2, found: 0 });
    };
    Ok(classes.codes().iter().map(|&code| if code > 0 { 1.0 } else { -1.0 }).collect())
}

impl Linear {
    fn decide(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        let mut values = vec![self.bias; data.n_samples()];
        for &(feature, weight, mean, deviation) in &self.terms {
            for (out, value) in values.iter_mut().zip(column(data, feature)?) {
                *out += weight * (value - mean) / deviation;
            }
        }
        Ok(values)
    }
}

/// The bias of smallest squared hinge loss, by bisection on its slope: selections contain weights, not
/// biases.
fn best_bias(values: &[f64], signs: &[f64]) -> f64 {
    let furthest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs())) + 1.0;
    let (mut low, mut high) = (-furthest, furthest);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        let pull: f64 = values.iter().zip(signs).map(|(f, y)| y * (1.0 - y * (f + middle)).max(0.0)).sum();
        if pull > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use fewest::core::DenseColumns;

    use super::*;

    #[test]
    fn selecting_machines_classify() {
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        let noise: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20)).collect();
        let y: Vec<u8> = (0..20).map(|i| u8::from(i >= 14)).collect();
        let data = Dataset::new(DenseColumns::from_columns(&[noise, x]).unwrap(), Target::from_labels(&y));
        let data = data.unwrap();
        for penalties in [(1.0, 0.0), (0.5, 0.5)] {
            let (accuracy, n_features) = accuracy(penalties, &data, &data, &Context::default()).unwrap();
            assert!(accuracy >= 0.95 && n_features >= 1, "{accuracy} {n_features}");
        }
        assert!((best_bias(&[-1.0, 3.0], &[-1.0, 1.0]) + 1.0).abs() < 1.0 + 1e-9);
        // Slope zero where the terms 1 − b and 1 + b + 2 are equal.
        assert!((best_bias(&[0.0, 2.0], &[1.0, -1.0]) + 1.0).abs() < 1e-9);
    }
}
