//! The squared hinge loss with a bias.

use crate::{Datafit, Error, LinearOperator};

/// Most Newton steps and bisections for the bias.
const MOST_STEPS: usize = 200;

/// `f(w) = min over b  Σᵢ max(0, 1 − yᵢ ((A w)ᵢ + b))²` with `yᵢ ∈ {−1, +1}`: a sum, not a mean, and a bias
/// without penalty.
///
/// Convex with a Lipschitz gradient, as the minimum over `b` of such a function. The bias is found exactly,
/// so the dual points `α = 2 yᵢ ξᵢ`, `ξᵢ = max(0, 1 − yᵢ ((A w)ᵢ + b))`, satisfy `Σ α = 0`, and with
/// `qᵢ = yᵢ αᵢ ≥ 0`
///
/// ```text
/// ∇f(w) = −Aᵀα,     −f*(−Aᵀα) ≥ Σᵢ qᵢ − ¼ qᵢ²
/// ```
///
/// ```
/// use fewest_solver::{Datafit, DenseOperator, SquaredHinge};
///
/// // One feature, two samples of each class; at w = 0 the bias is (2 − 2) / 4 = 0 and every loss is 1.
/// let operator = DenseOperator::new(vec![-2.0, -1.0, 1.0, 2.0], 4, 1)?;
/// let loss = SquaredHinge::new(operator, vec![-1.0, -1.0, 1.0, 1.0])?;
/// let mut gradient = [0.0];
/// assert_eq!(loss.gradient(&[0.0], &mut gradient), 4.0);
/// assert_eq!(gradient, [-12.0]);
/// assert_eq!(loss.value(&[1.0]), 0.0);
/// # Ok::<(), fewest_solver::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SquaredHinge<A> {
    operator: A,
    labels: Vec<f64>,
}

impl<A: LinearOperator> SquaredHinge<A> {
    /// The loss of `labels` (each −1 or +1, both must occur) with `operator`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::InvalidParameter`] for another label, or [`Error::TooFew`] unless
    /// both occur: without one of them the bias would not be finite.
    pub fn new(operator: A, labels: Vec<f64>) -> Result<Self, Error> {
        let (expected, found) = (operator.n_rows(), labels.len());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "labels", expected, found });
        }
        if let Some(label) = labels.iter().find(|label| label.abs() != 1.0) {
            return Err(Error::parameter("label", label, "-1 or 1"));
        }
        let found = usize::from(labels.contains(&1.0)) + usize::from(labels.contains(&-1.0));
        if found < 2 {
            return Err(Error::TooFew { what: "classes with a sample", minimum: 2, found });
        }
        Ok(Self { operator, labels })
    }

    /// `A`.
    pub fn operator(&self) -> &A {
        &self.operator
    }

    /// `y`.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The best bias for `fitted = A w`; any of them if there are several.
    pub(crate) fn bias(&self, fitted: &[f64]) -> f64 {
        // Sample i is inside the margin while y_i b < y_i t_i, with the threshold t_i = y_i − z_i.
        let threshold = |(y, z): (&f64, &f64)| y - z;
        let pairs = || self.labels.iter().zip(fitted);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for t in pairs().map(threshold) {
            (low, high) = (low.min(t), high.max(t));
        }
        let mut bias = 0.5 * (low + high);
        for _ in 0..MOST_STEPS {
            // Half the slope, and half the curvature, of the loss in the bias.
            let (mut slope, mut inside, mut sum) = (0.0, 0.0, 0.0);
            for (y, z) in pairs() {
                let t = y - z;
                if y * (t - bias) > 0.0 {
                    slope += bias - t;
                    inside += 1.0;
                    sum += t;
                }
            }
            if slope == 0.0 {
                break;
            }
            if slope < 0.0 {
                low = bias
            } else {
                high = bias
            }
            let newton: f64 = sum / inside;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == bias || next <= low || next >= high {
                break;
            }
            bias = next;
        }
        bias
    }

    /// `ξ` at `fitted = A w` with its best bias.
    pub fn slacks(&self, fitted: &[f64]) -> Vec<f64> {
        let bias = self.bias(fitted);
        self.labels.iter().zip(fitted).map(|(y, z)| (1.0 - y * (z + bias)).max(0.0)).collect()
    }

    fn slacks_at(&self, w: &[f64]) -> Vec<f64> {
        let mut fitted = vec![0.0; self.labels.len()];
        self.operator.apply(w, &mut fitted);
        self.slacks(&fitted)
    }

    /// `α = 2 y ξ`.
    pub fn dual_point(&self, slacks: &[f64]) -> Vec<f64> {
        self.labels.iter().zip(slacks).map(|(y, slack)| 2.0 * y * slack).collect()
    }
}

impl<A: LinearOperator> Datafit for SquaredHinge<A> {
    fn n_coefficients(&self) -> usize {
        self.operator.n_columns()
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.slacks_at(w).iter().map(|slack| slack * slack).sum()
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        let slacks = self.slacks_at(w);
        self.operator.apply_transpose(&self.dual_point(&slacks), out);
        out.iter_mut().for_each(|value| *value = -*value);
        slacks.iter().map(|slack| slack * slack).sum()
    }

    /// `Σ scale q − ¼ scale² q²`, `q = 2 ξ`.
    fn dual_value(&self, w: &[f64], scale: f64) -> f64 {
        self.slacks_at(w).iter().map(|slack| scale * slack * (2.0 - scale * slack)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseOperator;

    fn problem() -> Result<SquaredHinge<DenseOperator>, Error> {
        let wave = |step: usize| (0..30).map(move |i| ((i * step) % 31) as f64 / 15.0 - 1.0);
        let columns: Vec<f64> = wave(1).chain(wave(7)).chain(wave(12)).collect();
        let labels =
            (0..30).map(|i| if columns[i] + 0.7 * columns[30 + i] > 0.4 { 1.0 } else { -1.0 }).collect();
        SquaredHinge::new(DenseOperator::new(columns, 30, 3)?, labels)
    }

    #[test]
    fn the_bias_minimises_the_loss() -> Result<(), Error> {
        let loss = problem()?;
        for scale in [0.0, 0.1, 1.0, 10.0, 1e3] {
            let fitted: Vec<f64> = (0..30).map(|i| scale * ((i * 11 % 30) as f64 - 13.0)).collect();
            let value = |bias: f64| -> f64 {
                let slack = |(y, z): (&f64, &f64)| (1.0 - y * (z + bias)).max(0.0).powi(2);
                loss.labels().iter().zip(&fitted).map(slack).sum()
            };
            let bias = loss.bias(&fitted);
            for step in [1e-6, 1e-3, 0.1, 1.0, 100.0] {
                assert!(
                    value(bias) <= value(bias + step) && value(bias) <= value(bias - step),
                    "{scale}, {step}"
                );
            }
            let balance: f64 = loss.dual_point(&loss.slacks(&fitted)).iter().sum();
            assert!(balance.abs() <= 1e-12 * (1.0 + 30.0 * scale * 30.0), "{scale}: {balance}");
        }
        Ok(())
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() -> Result<(), Error> {
        let loss = problem()?;
        let mut gradient = vec![0.0; 3];
        for w in [[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [2.0, 1.0, -3.0]] {
            assert_eq!(loss.gradient(&w, &mut gradient), loss.value(&w));
            for j in 0..3 {
                let at = |step: f64| {
                    let mut moved = w;
                    moved[j] += step;
                    loss.value(&moved)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((difference - gradient[j]).abs() <= 1e-6 * (1.0 + difference.abs()), "{j}");
            }
        }
        Ok(())
    }

    #[test]
    fn bad_labels_are_errors() -> Result<(), Error> {
        let operator = || DenseOperator::new(vec![1.0, 2.0], 2, 1);
        assert!(matches!(SquaredHinge::new(operator()?, vec![1.0]), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(
            SquaredHinge::new(operator()?, vec![1.0, 0.0]),
            Err(Error::InvalidParameter { .. })
        ));
        assert!(matches!(
            SquaredHinge::new(operator()?, vec![1.0, 1.0]),
            Err(Error::TooFew { found: 1, .. })
        ));
        assert!(SquaredHinge::new(operator()?, vec![1.0, f64::NAN]).is_err());
        Ok(())
    }
}
