//! Sums of functions of single fitted values.

use super::{Loss, Samples};
use crate::Error;

/// How far a dual value may be outside its domain by the rounding of a share of it, relative to the bound.
pub(super) const ROUNDING: f64 = 1e-12;

/// A convex function `φ(y, z) ≥ 0` of one observation and one fitted value.
///
/// Dual values are `θ = −φ'(z)`; their domain contains `sθ` for all `s ∈ [0, 1]` with each `θ`.
pub trait ScalarLoss: Send + Sync {
    /// `φ(y, z)`.
    fn value(&self, y: f64, z: f64) -> f64;

    /// `θ = −φ'(z)`.
    fn dual(&self, y: f64, z: f64) -> f64;

    /// `φ''(z)`, or a larger value where that is almost 0 and `θ` is not.
    fn curvature(&self, y: f64, z: f64) -> f64;

    /// Whether `φ''` is 1 everywhere and the smallest `φ` is 0: half the square of a difference.
    fn is_square(&self) -> bool {
        false
    }

    /// `φ(z) + φ*(−θ) + θz ≥ 0`; infinite for `θ` outside the domain of `φ*(−θ)`. A formula without
    /// cancellation allows smaller gaps.
    fn gap(&self, y: f64, z: f64, dual: f64) -> f64;

    /// Checks an observation.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for one that the loss is not defined for.
    fn check(&self, y: f64) -> Result<(), Error>;

    /// Checks that some intercept is the best for the observations of an output.
    ///
    /// # Errors
    /// [`Error::TooFew`] where it would be infinite, or those of one class say nothing about it.
    fn check_intercept(&self, _observations: &mut dyn Iterator<Item = f64>) -> Result<(), Error> {
        Ok(())
    }
}

/// `ℓ(Z) = Σᵢ shareᵢ Σₖ φ(yᵢₖ, zᵢₖ + offsetᵢₖ)` over samples and outputs, the mean over samples of a
/// [`ScalarLoss`] unless [`Samples`] says otherwise.
///
/// ```
/// use fewest_solver::loss::{Logistic, Loss, Samples, Separable};
///
/// let loss = Separable::new(Logistic, vec![1.0, -1.0], Samples::mean(2))?;
/// let mut dual = [0.0; 2];
/// loss.dual_point(&[0.0, 0.0], &mut dual);
/// assert_eq!((loss.value(&[0.0, 0.0]), dual), (2.0_f64.ln(), [0.25, -0.25]));
/// # Ok::<(), fewest_solver::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Separable<F> {
    function: F,
    observations: Vec<f64>,
    samples: Samples,
}

/// One fitted value that counts: where it is, the share of its sample, its observation, `z + offset`.
struct Term {
    at: usize,
    share: f64,
    y: f64,
    z: f64,
}

impl<F: ScalarLoss> Separable<F> {
    /// The loss of `observations`, output after output.
    ///
    /// # Errors
    /// [`Error::NonFiniteTarget`]; [`Error::InvalidParameter`] for another observation that the loss is not
    /// defined for; [`Error::ShapeMismatch`] unless they are whole outputs of `samples`.
    pub fn new(function: F, observations: Vec<f64>, samples: Samples) -> Result<Self, Error> {
        let n = samples.len();
        samples.check_outputs(observations.len())?;
        for (at, &value) in observations.iter().enumerate() {
            if !value.is_finite() {
                return Err(Error::NonFiniteTarget { row: at % n, value });
            }
            function.check(value)?;
        }
        Ok(Self { function, observations, samples })
    }

    fn terms<'a>(&'a self, fitted: &'a [f64]) -> impl Iterator<Item = Term> {
        let n = self.samples.len();
        let term = move |(at, (&y, z)): (usize, (&f64, &f64))| Term {
            at,
            share: self.samples.share(at % n),
            y,
            z: z + self.samples.offset(at),
        };
        self.observations.iter().zip(fitted).enumerate().map(term).filter(|term| term.share > 0.0)
    }
}

impl<F: ScalarLoss> Loss for Separable<F> {
    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn n_outputs(&self) -> usize {
        self.observations.len() / self.samples.len()
    }

    fn value(&self, fitted: &[f64]) -> f64 {
        self.terms(fitted).map(|term| term.share * self.function.value(term.y, term.z)).sum()
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for Term { at, share, y, z } in self.terms(fitted) {
            out[at] = share * self.function.dual(y, z);
        }
    }

    fn curvature(&self, fitted: &[f64], out: &mut [f64]) {
        let (n, c) = (self.n_samples(), self.n_outputs());
        out.fill(0.0);
        for Term { at, share, y, z } in self.terms(fitted) {
            let k = at / n;
            out[at % n + n * (k + c * k)] = share * self.function.curvature(y, z);
        }
    }

    fn constant_curvature(&self) -> Option<f64> {
        let share = self.samples.share(0);
        let is_same = (0..self.samples.len()).all(|i| self.samples.share(i) == share);
        (self.function.is_square() && is_same).then_some(share)
    }

    fn check_intercept(&self) -> Result<(), Error> {
        for observations in self.observations.chunks_exact(self.n_samples()) {
            let counts = |(i, _): &(usize, &f64)| self.samples.share(*i) > 0.0;
            let mut counting = observations.iter().enumerate().filter(counts).map(|(_, y)| *y);
            self.function.check_intercept(&mut counting)?;
        }
        Ok(())
    }

    /// Shortens the values of the sign whose sum is the larger.
    fn balance(&self, dual: &mut [f64]) {
        for dual in dual.chunks_exact_mut(self.n_samples()) {
            let above: f64 = dual.iter().filter(|value| **value > 0.0).sum();
            let below: f64 = -dual.iter().filter(|value| **value < 0.0).sum::<f64>();
            if above != below {
                let (sign, scale) = if above > below { (1.0, below / above) } else { (-1.0, above / below) };
                dual.iter_mut().filter(|value| **value * sign > 0.0).for_each(|value| *value *= scale);
            }
        }
    }

    fn loss_gap(&self, fitted: &[f64], dual: &[f64], scale: f64) -> f64 {
        let gap =
            |Term { at, share, y, z }| share * self.function.gap(y, z, scale * dual[at] / share).max(0.0);
        self.terms(fitted).map(gap).sum()
    }
}

/// Checks an observation that may be any number.
pub(super) fn any_number(_: f64) -> Result<(), Error> {
    Ok(())
}

/// Checks an observation that is one of two classes.
pub(super) fn a_sign(y: f64) -> Result<(), Error> {
    if y.abs() == 1.0 { Ok(()) } else { Err(Error::parameter("label", y, "-1 or 1")) }
}

/// Checks that there are labels of both classes.
pub(super) fn both_signs(labels: &mut dyn Iterator<Item = f64>) -> Result<(), Error> {
    let (mut above, mut below) = (false, false);
    labels.for_each(|label| if label > 0.0 { above = true } else { below = true });
    let found = usize::from(above) + usize::from(below);
    if found == 2 { Ok(()) } else { Err(Error::TooFew { what: "classes with a sample", minimum: 2, found }) }
}
