//! RFMKL, GMKL and IKPCA as machines that predict.

use fewest::core::method::KernelWidth;
use fewest::core::method::Regularization;
use fewest::core::{Budget, Context, Dataset, Error, Selector};
use fewest::mkl::{BaseKernel, Gmkl, Rfmkl};
use fewest::solver::Control;
use fewest::solvers::smo::{Classifier, GramRows, Machine};
use nalgebra::{DMatrix, SymmetricEigen};

use super::linear::{column, signs};

/// Tolerance of the weights: below it, the predictions of a machine do not change.
const TOLERANCE: f64 = 1e-4;

/// Share of test samples whose class was found, and the number of features, of weighted sums of Gaussian
/// kernels of width `sigma`.
pub(super) fn sum(
    (sigma, ratio): (f64, f64),
    train: &Dataset,
    test: &Dataset,
    context: &Context<'_>,
) -> Result<(f64, usize), Error> {
    let kernel = BaseKernel::Gaussian { sigma: KernelWidth::Value(sigma) };
    let regularization = Regularization::Ratio(ratio);
    let method = Rfmkl { kernel, regularization, tolerance: TOLERANCE, ..Rfmkl::default() };
    let selection = method.select(train, Budget::Auto, context)?;
    let terms = Terms::new(&selection.order, &selection.scores, train, test)?;
    let gram = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        terms.gram(a, b, |weight, difference, value| {
            *value += weight * (-0.5 * (difference / sigma).powi(2)).exp();
        })
    };
    let trained = machine(&gram(&terms.train, &terms.train), train, 1.0)?;
    Ok((accuracy(&trained, &gram(&terms.test, &terms.train), test)?, selection.order.len()))
}

/// As [`sum`], of a product of Gaussian kernels.
pub(super) fn product(
    (cost, ratio): (f64, f64),
    train: &Dataset,
    test: &Dataset,
    context: &Context<'_>,
) -> Result<(f64, usize), Error> {
    let regularization = Regularization::Ratio(ratio);
    let method = Gmkl { c: cost, regularization, tolerance: TOLERANCE, iterations: 200, ..Gmkl::default() };
    let selection = method.select(train, Budget::Auto, context)?;
    let terms = Terms::new(&selection.order, &selection.scores, train, test)?;
    let gram = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        let gram = terms.gram(a, b, |weight, difference, value| *value -= weight * difference * difference);
        gram.map(f64::exp)
    };
    let trained = machine(&gram(&terms.train, &terms.train), train, cost)?;
    Ok((accuracy(&trained, &gram(&terms.test, &terms.train), test)?, selection.order.len()))
}

/// The components of `tanh(a xᵀx′/d)` of all features, largest eigenvalues in size first.
pub(super) struct Components {
    /// Coordinates of the training samples, one column per component.
    train: DMatrix<f64>,
    test: DMatrix<f64>,
}

impl Components {
    /// From the training samples.
    pub(super) fn new(scale: f64, train: &Dataset, test: &Dataset) -> Result<Self, Error> {
        let all: Vec<usize> = (0..train.n_features()).collect();
        let terms = Terms::new(&all, &vec![1.0; all.len()], train, test)?;
        let d = all.len() as f64;
        let gram = |a: &[Vec<f64>]| {
            let table = |columns: &[Vec<f64>]| {
                DMatrix::from_fn(columns.first().map_or(0, Vec::len), columns.len(), |i, j| columns[j][i])
            };
            (table(a) * table(&terms.train).transpose()).map(|product| (scale * product / d).tanh())
        };
        let (own, other) = (gram(&terms.train), gram(&terms.test));
        let means = own.row_mean();
        let centred = |mut gram: DMatrix<f64>| {
            for mut row in gram.row_iter_mut() {
                let mean = row.mean();
                row.iter_mut()
                    .zip(means.iter())
                    .for_each(|(value, other)| *value -= mean + other - means.mean());
            }
            gram
        };
        let (own, other) = (centred(own), centred(other));
        let half = 0.5 * (&own + own.transpose());
        let eigen = SymmetricEigen::try_new(half, f64::EPSILON, 100_000)
            .ok_or_else(|| Error::Numerical { what: "components", hint: "a smaller scale".to_owned() })?;
        let size = eigen.eigenvalues.amax();
        let mut order: Vec<usize> =
            (0..eigen.eigenvalues.len()).filter(|&c| eigen.eigenvalues[c].abs() > 1e-10 * size).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].abs().total_cmp(&eigen.eigenvalues[a].abs()));
        // In units of the first's deviation: a linear machine depends on them.
        let root = (own.nrows() as f64 / size).sqrt();
        let mut vectors = eigen.eigenvectors.select_columns(&order);
        for (mut vector, &c) in vectors.column_iter_mut().zip(&order) {
            vector *= root / eigen.eigenvalues[c].abs().sqrt();
        }
        Ok(Self { train: own * &vectors, test: other * vectors })
    }

    /// Share of test samples whose class a linear machine finds from the first `count` components.
    pub(super) fn accuracy(
        &self,
        count: usize,
        cost: f64,
        train: &Dataset,
        test: &Dataset,
    ) -> Result<(f64, usize), Error> {
        let count = count.min(self.train.ncols());
        let own = self.train.columns(0, count);
        let gram = own * own.transpose();
        let trained = machine(&(0.5 * (&gram + gram.transpose())), train, cost)?;
        Ok((accuracy(&trained, &(self.test.columns(0, count) * own.transpose()), test)?, count))
    }
}

/// Standardised features and their weights.
struct Terms {
    weights: Vec<f64>,
    train: Vec<Vec<f64>>,
    test: Vec<Vec<f64>>,
}

impl Terms {
    fn new(features: &[usize], weights: &[f64], train: &Dataset, test: &Dataset) -> Result<Self, Error> {
        let mut terms = Self { weights: Vec::new(), train: Vec::new(), test: Vec::new() };
        for (&feature, &weight) in features.iter().zip(weights) {
            let (mut own, mut other) = (column(train, feature)?, column(test, feature)?);
            let n = own.len() as f64;
            let mean = own.iter().sum::<f64>() / n;
            let deviation = (own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            if deviation > 0.0 {
                own.iter_mut().chain(&mut other).for_each(|value| *value = (*value - mean) / deviation);
                terms.weights.push(weight);
                terms.train.push(own);
                terms.test.push(other);
            }
        }
        Ok(terms)
    }

    /// `add` for each feature with its weight and the samples' difference.
    fn gram(&self, a: &[Vec<f64>], b: &[Vec<f64>], add: impl Fn(f64, f64, &mut f64)) -> DMatrix<f64> {
        let rows = |columns: &[Vec<f64>]| columns.first().map_or(0, Vec::len);
        let mut gram = DMatrix::zeros(rows(a), rows(b));
        for ((weight, a), b) in self.weights.iter().zip(a).zip(b) {
            for (j, z) in b.iter().enumerate() {
                for (i, x) in a.iter().enumerate() {
                    add(*weight, x - z, &mut gram[(i, j)]);
                }
            }
        }
        gram
    }
}

fn machine(gram: &DMatrix<f64>, train: &Dataset, cost: f64) -> Result<Machine, Error> {
    let positive: Vec<bool> = signs(train)?.iter().map(|y| *y > 0.0).collect();
    let rows = GramRows::new(gram.as_slice().to_vec(), gram.nrows())?;
    Classifier { cost, ..Classifier::default() }.train(&rows, &positive, &[], &Control::default())
}

fn accuracy(machine: &Machine, rows: &DMatrix<f64>, test: &Dataset) -> Result<f64, Error> {
    let mut right = 0;
    for (row, y) in rows.row_iter().zip(signs(test)?) {
        let row: Vec<f64> = row.iter().copied().collect();
        right += usize::from(machine.decision(&row)? * y > 0.0);
    }
    Ok(right as f64 / test.n_samples() as f64)
}

#[cfg(test)]
mod tests {
    use fewest::core::{DenseColumns, Target};

    use super::*;

    #[test]
    fn selecting_machines_classify() {
        let wave = |step: usize| (0..40).map(|i| (i * step % 41) as f64 / 20.0 - 1.0).collect::<Vec<f64>>();
        let (x, noise) = (wave(7), wave(17));
        let y: Vec<bool> = x.iter().map(|x| x.abs() > 0.5).collect();
        let data = Dataset::new(DenseColumns::from_columns(&[noise, x]).unwrap(), Target::from_labels(&y));
        let data = data.unwrap();
        let context = Context::default();
        for (found, n_features) in [
            sum((1.0, 0.1), &data, &data, &context).unwrap(),
            product((1.0, 0.1), &data, &data, &context).unwrap(),
        ] {
            assert!(found >= 0.95 && n_features == 1, "{found} {n_features}");
        }
        let line: Vec<bool> = wave(7).iter().map(|x| *x > 0.0).collect();
        let data = Dataset::shared(data.shared_x(), Target::from_labels(&line)).unwrap();
        let components = Components::new(1.0, &data, &data).unwrap();
        assert!(components.accuracy(2, 10.0, &data, &data).unwrap().0 >= 0.9);
        // All of them reach at least as far on the samples they were made of.
        let (all, count) = components.accuracy(1000, 100.0, &data, &data).unwrap();
        assert!(all >= 0.95 && count <= 40, "{all} {count}");
    }
}
