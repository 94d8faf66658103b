//! A sum of low-rank kernels, one for each feature, from which features can be removed.

use fewest_core::{Context, Error};
use fewest_kernels::Factor;

use crate::elimination::JUDGED;

/// Rows between two looks at the clock.
const ROWS: usize = 64;

/// The trace, relative to that of the last sum from the definition, below which the sum is computed again.
const SHARE: f64 = 0.125;

/// `K = Σ_j w_j Φ_j Φ_jᵀ` over the features present, all `n²` entries. A feature of rank `r` is removed in
/// `O(n² r)`, for any number of features.
///
/// Subtraction keeps the rounding errors of the larger matrix: whenever the trace has decreased to an
/// eighth, the matrix is summed again from the remaining factors. So the error stays below some units in the
/// last place of eight times the trace.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FactorSum {
    factors: Vec<Factor>,
    weights: Vec<f64>,
    present: Vec<bool>,
    n: usize,
    values: Vec<f64>,
    /// The trace of the last sum from the definition.
    trace: f64,
}

impl FactorSum {
    /// From the factor and the weight of each feature. `O(n² Σ r)`.
    ///
    /// # Errors
    /// [`Error::TooFew`] without a factor or without a sample; [`Error::ShapeMismatch`] unless there is a
    /// weight for each and all have the same samples; [`Error::InvalidParameter`] for a weight that is
    /// negative or not finite; [`Error::Numerical`] when an entry overflows; [`Error::Stopped`] when
    /// `context` says stop.
    pub(crate) fn new(factors: Vec<Factor>, weights: Vec<f64>, context: &Context<'_>) -> Result<Self, Error> {
        let Some(first) = factors.first() else {
            return Err(Error::TooFew { what: "factors", minimum: 1, found: 0 });
        };
        let n = first.n_samples();
        if n == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        if weights.len() != factors.len() {
            let (expected, found) = (factors.len(), weights.len());
            return Err(Error::ShapeMismatch { what: "weights of the factors", expected, found });
        }
        if let Some(other) = factors.iter().map(Factor::n_samples).find(|other| *other != n) {
            return Err(Error::ShapeMismatch { what: "samples of a factor", expected: n, found: other });
        }
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::parameter("weights", weight, "at least 0 and finite"));
        }
        let present = vec![true; factors.len()];
        let mut sum = Self { factors, weights, present, n, values: vec![0.0; n * n], trace: 0.0 };
        sum.form(context)?;
        if sum.values.iter().any(|value| !value.is_finite()) {
            let hint = "scale the features or the weights".to_owned();
            return Err(Error::Numerical { what: "a sum of kernels", hint });
        }
        Ok(sum)
    }

    /// Number of samples.
    pub(crate) fn n_samples(&self) -> usize {
        self.n
    }

    /// All entries, row after row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Removes feature `j`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless it is present; [`Error::Stopped`] when `context` says stop: then
    /// some entries are those with the feature, and others are not.
    pub(crate) fn remove(&mut self, j: usize, context: &Context<'_>) -> Result<(), Error> {
        self.check_present(j)?;
        let mut values = std::mem::take(&mut self.values);
        let done = self.add(j, -1.0, &mut values, context);
        self.values = values;
        self.present[j] = false;
        done?;
        if trace(&self.values, self.n) <= SHARE * self.trace {
            self.form(context)?;
        }
        Ok(())
    }

    fn check_present(&self, j: usize) -> Result<(), Error> {
        if self.present.get(j) == Some(&true) {
            return Ok(());
        }
        Err(Error::parameter("feature", j, "one that is present"))
    }

    fn form(&mut self, context: &Context<'_>) -> Result<(), Error> {
        let mut values = std::mem::take(&mut self.values);
        let done = self.sum(&mut values, context);
        self.trace = trace(&values, self.n);
        self.values = values;
        done
    }

    fn sum(&self, out: &mut [f64], context: &Context<'_>) -> Result<(), Error> {
        for rows in out.chunks_mut(ROWS * self.n) {
            context.go_on(JUDGED)?;
            rows.fill(0.0);
        }
        (0..self.factors.len()).filter(|&j| self.present[j]).try_for_each(|j| self.add(j, 1.0, out, context))
    }

    fn add(&self, j: usize, sign: f64, values: &mut [f64], context: &Context<'_>) -> Result<(), Error> {
        let factor = &self.factors[j];
        for a in 0..factor.rank() {
            let column = factor.column(a);
            let weight = sign * self.weights[j] * factor.signs().map_or(1.0, |signs| signs[a]);
            for (i, (row, x)) in values.chunks_exact_mut(self.n).zip(column).enumerate() {
                if i.is_multiple_of(ROWS) {
                    context.go_on(JUDGED)?;
                }
                for (value, z) in row.iter_mut().zip(column) {
                    // The product of the two first: it is the same for both entries of a pair.
                    *value += weight * (x * z);
                }
            }
        }
        Ok(())
    }
}

fn trace(values: &[f64], n: usize) -> f64 {
    values.iter().step_by(n + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewest_kernels::Gaussian;

    const GO: Context<'_> =
        Context { seed: 0, progress: None, deadline: None, interrupt: None, memory: None };

    #[test]
    fn features_go_one_by_one() {
        let (n, d) = (25, 12);
        let factor = |j: usize| {
            let points: Vec<f64> = (0..n).map(|i| ((i * (j + 2)) as f64 * 0.9).sin()).collect();
            Factor::new(&Gaussian::new(0.7).unwrap(), &points, 1e-10, n).unwrap()
        };
        let factors: Vec<Factor> = (0..d).map(factor).collect();
        // Weights over fifteen orders of magnitude: without a new sum, the last one would be lost in
        // rounding.
        let weights: Vec<f64> = (0..d).map(|j| 10.0_f64.powi(7 - j as i32 * 14 / 11)).collect();
        let mut sum = FactorSum::new(factors.clone(), weights.clone(), &GO).unwrap();
        for j in 0..d - 1 {
            sum.remove(j, &GO).unwrap();
            let out = sum.values();
            let expected = FactorSum::new(factors[j + 1..].to_vec(), weights[j + 1..].to_vec(), &GO).unwrap();
            let scale = trace(expected.values(), n);
            for (k, (found, expected)) in out.iter().zip(expected.values()).enumerate() {
                assert!((found - expected).abs() < 1e-14 * scale);
                assert_eq!(*found, out[k % n * n + k / n]);
            }
        }
        assert!(sum.present.iter().enumerate().all(|(j, present)| *present == (j == d - 1)));
    }

    #[test]
    fn faults_are_named() {
        let factor = |n: usize| Factor::from_values(vec![1.0; n], n, 1).unwrap();
        assert!(matches!(FactorSum::new(vec![], vec![], &GO), Err(Error::TooFew { .. })));
        assert!(matches!(FactorSum::new(vec![factor(2)], vec![], &GO), Err(Error::ShapeMismatch { .. })));
        let empty = Factor::from_values(vec![], 0, 1).unwrap();
        let sum = FactorSum::new(vec![empty], vec![1.0], &GO);
        assert!(matches!(sum, Err(Error::TooFew { what: "samples", .. })));
        let uneven = FactorSum::new(vec![factor(2), factor(3)], vec![1.0; 2], &GO);
        assert!(matches!(uneven, Err(Error::ShapeMismatch { .. })));
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let sum = FactorSum::new(vec![factor(2)], vec![weight], &GO);
            assert!(matches!(sum, Err(Error::InvalidParameter { name: "weights", .. })));
        }
        let mut sum = FactorSum::new(vec![factor(2)], vec![1.0], &GO).unwrap();
        assert!(sum.remove(1, &GO).is_err());
        sum.remove(0, &GO).unwrap();
        assert!(sum.remove(0, &GO).is_err());
        assert_eq!(sum.values(), [0.0; 4]);
    }
}
