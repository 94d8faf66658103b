//! The radius–margin bounds.

use fewest_core::{Error, order};
use fewest_smo::{DualProblem, Machine};
use fewest_solver::Control;
use nalgebra::{DMatrix, DVector};

use super::sensitivity::add_symmetric;
use super::span::adjoint;
use super::support::Support;
use super::{Ball, BoundSensitivity, in_order};

/// The radius–margin bound on the leave-one-out error.
///
/// Classification with squared losses, which is a hard margin in `K̃ = K + 1/(2C)` (Vapnik 1998; Chapelle et
/// al. 2002):
///
/// ```text
/// number of leave-one-out errors ≤ R̃² ‖w̃‖²,       ∂‖w̃‖² = −βᵀ ∂K β,       ∂R̃² = Σ_i b_i ∂K_ii − bᵀ ∂K b
/// ```
///
/// with the radius `R̃` of the smallest enclosing [`Ball`] and its coefficients `b`. Regression (Chang and
/// Lin 2005; Rakotomamonjy 2007), since no span is larger than the diameter:
///
/// ```text
/// Σ_p |y_p − f^p(x_p)| ≤ 4 R̃² Σ_p |β_p| + Σ_i ξ_i + n ε
/// ```
///
/// with `K̃ = K`, slacks `ξ` of all samples for a linear loss and `K̃ = K + 1/(2C)`, no slacks for
/// squared ones. The derivative of `Σ |β|` is that of the linear system of the free support vectors.
/// `O(n m)`, and `O(m³)` with the derivative.
#[derive(Debug, Clone, PartialEq)]
pub struct RadiusMargin {
    /// The bound.
    pub value: f64,
    /// `‖w̃‖²` of a classifier, `Σ |β|` of a regression.
    pub size: f64,
    /// The ball.
    pub ball: Ball,
    /// Its sensitivity to the kernel; none for a regression without a free support vector.
    pub sensitivity: Option<BoundSensitivity>,
}

impl RadiusMargin {
    /// The bound of a classifier with squared losses.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another loss; [`Error::ShapeMismatch`]; [`Error::Stopped`] when `control`
    /// says stop; as [`Ball::enclosing`].
    pub fn of_classifier(
        problem: &DualProblem<'_>,
        machine: &Machine,
        control: &Control<'_>,
        with_gradient: bool,
    ) -> Result<Self, Error> {
        let ridge = common_ridge(problem)?;
        if ridge == 0.0 {
            return Err(Error::Unsupported {
                method: "the radius-margin bound",
                what: "a classifier with linear losses".to_owned(),
                instead: "train it with Loss::Squared, or use the span bound".to_owned(),
            });
        }
        let support = Support::new(problem, machine, control)?;
        let ball = Ball::enclosing(problem.kernel(), ridge, &[], control)?;
        // The value of the dual is half of ‖w̃‖², with a smaller error than the norm itself.
        let size = -2.0 * machine.dual.solution.objective;
        let sensitivity = with_gradient.then(|| {
            let (mut weights, samples) = spread(&ball, &support, size);
            let own = on(&samples, &support);
            add_symmetric(&mut weights, -ball.squared_radius, &own, &own);
            in_order(&samples, weights)
        });
        Ok(Self { value: ball.squared_radius * size, size, ball, sensitivity })
    }

    /// The bound of a regression.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::Unsupported`] for samples with different weights and squared
    /// losses; as [`Ball::enclosing`]; [`Error::Numerical`] for an indefinite kernel; [`Error::Stopped`] when
    /// `control` says stop.
    pub fn of_regressor(
        problem: &DualProblem<'_>,
        machine: &Machine,
        control: &Control<'_>,
        with_gradient: bool,
    ) -> Result<Self, Error> {
        let ridge = common_ridge(problem)?;
        let support = Support::new(problem, machine, control)?;
        let ball = Ball::enclosing(problem.kernel(), ridge, &[], control)?;
        let size = support.coefficients.iter().map(|value| value.abs()).sum();
        let tube: f64 = problem.absolute_weights().iter().sum();
        let value = 4.0 * ball.squared_radius * size + support.slack + tube;
        let sensitivity = if with_gradient && support.n_free > 0 {
            let follow = support.signs.rows(0, support.n_free) * (4.0 * ball.squared_radius);
            let h = adjoint(&support, &support.bordered(control)?, follow);
            let (mut weights, samples) = spread(&ball, &support, 4.0 * size);
            let h = scatter(&samples, &support, &h);
            add_symmetric(&mut weights, -1.0, &h, &on(&samples, &support));
            Some(in_order(&samples, weights))
        } else {
            None
        };
        Ok(Self { value, size, ball, sensitivity })
    }
}

/// The ridge of all samples.
fn common_ridge(problem: &DualProblem<'_>) -> Result<f64, Error> {
    let ridge = problem.ridges().first().copied().unwrap_or(0.0);
    if problem.ridges().iter().all(|other| *other == ridge) {
        return Ok(ridge);
    }
    Err(Error::Unsupported {
        method: "the radius-margin bound",
        what: "squared losses with unlike weights".to_owned(),
        instead: "give all samples and classes the same weight, or use the span bound".to_owned(),
    })
}

/// `factor ∂R² / ∂K` on the samples of ball and machine, and these.
fn spread(ball: &Ball, support: &Support, factor: f64) -> (DMatrix<f64>, Vec<usize>) {
    let mut samples = support.samples.clone();
    samples.extend((0..ball.coefficients.len()).filter(|&i| ball.coefficients[i] > 0.0));
    order::sort_indices(&mut samples);
    samples.dedup();
    let inside = DVector::from_iterator(samples.len(), samples.iter().map(|&i| ball.coefficients[i]));
    let mut weights = DMatrix::from_diagonal(&(&inside * factor));
    add_symmetric(&mut weights, -factor, &inside, &inside);
    (weights, samples)
}

/// `values` of the support vectors among `samples`, 0 for others.
fn scatter(samples: &[usize], support: &Support, values: &DVector<f64>) -> DVector<f64> {
    let mut out = DVector::zeros(samples.len());
    for (i, value) in support.samples.iter().zip(values.iter()) {
        if let Ok(place) = samples.binary_search(i) {
            out[place] = *value;
        }
    }
    out
}

fn on(samples: &[usize], support: &Support) -> DVector<f64> {
    scatter(samples, support, &support.coefficients)
}
