//! The lengths of residuals, smoothed.

use super::{Loss, Samples};
use crate::Error;

/// The curvature of a long residual along itself, as a share of that across.
const ALONG: f64 = 0.1;

/// `ℓ(Z) = Σᵢ shareᵢ h(‖Yᵢ − Zᵢ‖₂)` over the rows with `h(r) = r²/2μ` up to the length `μ` and `r − μ/2`
/// beyond, and so between the sum of the lengths (the robust loss of RFS: Nie, Huang, Cai and Ding 2010) and
/// that less `μ/2` a sample.
///
/// `Θᵢ = shareᵢ rᵢ / max(‖rᵢ‖, μ)`, and `ℓ*(−Θ) = Σᵢ ½ μ ‖Θᵢ‖²/shareᵢ − ⟨Θᵢ, Yᵢ⟩` where no `‖Θᵢ‖` is above
/// its share. The lengths themselves are minimised by the method of multipliers: repeatedly, with
/// `μΘᵢ/shareᵢ` of the solution before added to `Yᵢ`.
#[derive(Debug, Clone, PartialEq)]
pub struct RowNorm {
    observations: Vec<f64>,
    n_outputs: usize,
    smoothing: f64,
    samples: Samples,
}

impl RowNorm {
    /// The loss of `observations`, output after output, with the length `smoothing`, `μ`.
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
            sum += share * if length > mu { length - 0.5 * mu } else { 0.5 * length * (length / mu) };
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
        let (n, mu) = (self.samples.len(), self.smoothing);
        let mut sum = 0.0;
        self.each(fitted, |i, share, residual, length| {
            // With s the residual clamped to the length μ: what is beyond, and ½ ‖s − μ θ‖² / μ.
            let clamp = 1.0_f64.min(mu / length.max(mu));
            let (mut beyond, mut inside) = (0.0, 0.0);
            for (k, r) in residual.iter().enumerate() {
                let (s, theta) = (clamp * r, scale * dual[i + k * n] / share);
                beyond += (r - s) * (s / mu - theta);
                inside += (s - mu * theta) * (s / mu - theta);
            }
            sum += share * (beyond + 0.5 * inside).max(0.0);
        });
        sum
    }
}
