//! The sum of the lengths of residuals.

use super::{Loss, Samples};
use crate::Error;

/// The share of a residual's curvature across that it has along itself, where its length is linear.
const ALONG: f64 = 0.1;

/// `ℓ(Z) = Σᵢ shareᵢ ‖Yᵢ − Zᵢ‖₂` over the rows, the robust loss of RFS (Nie, Huang, Cai and Ding 2010).
///
/// Not smooth where a residual is 0. So that Newton steps exist, residuals shorter than `μ` count
/// `‖r‖² / 2μ + μ/2` in [`value`](Loss::value), and `Θᵢ = shareᵢ rᵢ / max(‖rᵢ‖, μ)`. The gap is that of the
/// loss itself, `Σᵢ shareᵢ ‖rᵢ‖ − t ⟨Θ, R⟩`, at most `½ μ` a sample for the optimum of the smooth one.
#[derive(Debug, Clone, PartialEq)]
pub struct RowNorm {
    observations: Vec<f64>,
    n_outputs: usize,
    smoothing: f64,
    samples: Samples,
}

impl RowNorm {
    /// The loss of `observations`, output after output, with the length `μ`.
    ///
    /// # Errors
    /// [`Error::NonFiniteTarget`]; [`Error::InvalidParameter`] for a `smoothing` that is not finite and above
    /// 0; [`Error::ShapeMismatch`] unless the observations are whole outputs of `samples`.
    pub fn new(observations: Vec<f64>, smoothing: f64, samples: Samples) -> Result<Self, Error> {
        let (n, n_outputs) = (samples.len(), samples.check_outputs(observations.len())?);
        if let Some(at) = observations.iter().position(|value| !value.is_finite()) {
            return Err(Error::NonFiniteTarget { row: at % n, value: observations[at] });
        }
        if !(smoothing.is_finite() && smoothing > 0.0) {
            return Err(Error::parameter("smoothing", smoothing, "finite and above 0"));
        }
        Ok(Self { observations, n_outputs, smoothing, samples })
    }

    /// `visit(i, share, residual, its length)` for every sample that counts.
    fn each(&self, fitted: &[f64], mut visit: impl FnMut(usize, f64, &[f64], f64)) {
        let n = self.samples.len();
        let mut residual = vec![0.0; self.n_outputs];
        for i in (0..n).filter(|&i| self.samples.share(i) > 0.0) {
            for (k, value) in residual.iter_mut().enumerate() {
                let at = i + k * n;
                *value = self.observations[at] - fitted[at] - self.samples.offset(at);
            }
            let length = residual.iter().fold(0.0_f64, |length, value| length.hypot(*value));
            visit(i, self.samples.share(i), &residual, length);
        }
    }
}

impl Loss for RowNorm {
    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn value(&self, fitted: &[f64]) -> f64 {
        let mu = self.smoothing;
        let mut sum = 0.0;
        self.each(fitted, |_, share, _, length| {
            sum += share * if length > mu { length } else { 0.5 * (length * (length / mu) + mu) };
        });
        sum
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        let n = self.samples.len();
        out.fill(0.0);
        self.each(fitted, |i, share, residual, length| {
            for (k, value) in residual.iter().enumerate() {
                out[i + k * n] = share * value / length.max(self.smoothing);
            }
        });
    }

    /// `(I − r̂r̂ᵀ) / ‖r‖`, and a little along `r̂`.
    fn curvature(&self, fitted: &[f64], out: &mut [f64]) {
        let (n, c) = (self.samples.len(), self.n_outputs);
        out.fill(0.0);
        self.each(fitted, |i, share, residual, length| {
            let size = length.max(self.smoothing);
            let less = if length > self.smoothing { (1.0 - ALONG) / (length * length) } else { 0.0 };
            for l in 0..c {
                for k in 0..c {
                    let one = if k == l { 1.0 } else { 0.0 };
                    out[i + n * (k + c * l)] = share / size * (one - less * (residual[k] * residual[l]));
                }
            }
        });
    }

    /// Takes the mean off, and shortens all so that none becomes longer than its share.
    fn balance(&self, dual: &mut [f64]) {
        let n = self.samples.len();
        let total = self.samples.total();
        for dual in dual.chunks_exact_mut(n) {
            let mean = dual.iter().sum::<f64>() / total;
            dual.iter_mut().enumerate().for_each(|(i, value)| *value -= mean * self.samples.share(i));
        }
        let mut longest = 1.0_f64;
        for i in (0..n).filter(|&i| self.samples.share(i) > 0.0) {
            let length = (0..self.n_outputs).fold(0.0_f64, |length, k| length.hypot(dual[i + k * n]));
            longest = longest.max(length / self.samples.share(i));
        }
        dual.iter_mut().for_each(|value| *value /= longest);
    }

    fn loss_gap(&self, fitted: &[f64], dual: &[f64], scale: f64) -> f64 {
        let n = self.samples.len();
        let mut sum = 0.0;
        self.each(fitted, |i, share, residual, length| {
            let along: f64 = residual.iter().enumerate().map(|(k, r)| r * dual[i + k * n]).sum();
            sum += (share * length - scale * along).max(0.0);
        });
        sum
    }
}
