//! The Gaussian kernel on vectors: targets with several outputs.

use fewest_core::Error;

use crate::stationary::check_bandwidth;
use crate::{Factor, Gram, fast};

/// The Gaussian kernel `k(i, j) = exp(-‖y_i - y_j‖² / (2 sigma²))` between samples with several outputs.
///
/// Outputs count by their scale: standardise each of them first. For standardised outputs
/// `sigma = sqrt(number of outputs)` keeps distances comparable with one output's at `sigma = 1`.
///
/// ```
/// use fewest_kernels::GaussianRows;
/// // Two outputs of three samples, output after output.
/// let kernel = GaussianRows::new(vec![0.0, 1.0, 3.0, 0.0, 1.0, 4.0], 3, 1.0)?;
/// assert!((kernel.eval(0, 1) - (-1.0f64).exp()).abs() < 1e-15);
/// assert!((kernel.factor(1e-12, 3)?.to_gram().get(0, 2) - (-12.5f64).exp()).abs() < 1e-11);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianRows {
    values: Vec<f64>,
    n_samples: usize,
    factor: f64,
}

impl GaussianRows {
    /// From `n_samples` values of each output, output after output, and the bandwidth `sigma > 0`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless the values are whole outputs, at least one;
    /// [`Error::NonFiniteTarget`] for a NaN or an infinity; [`Error::InvalidParameter`] for a bandwidth out
    /// of range.
    pub fn new(values: Vec<f64>, n_samples: usize, sigma: f64) -> Result<Self, Error> {
        check_bandwidth(sigma)?;
        if n_samples == 0 || values.is_empty() || !values.len().is_multiple_of(n_samples) {
            return Err(Error::ShapeMismatch {
                what: "values of the outputs",
                expected: n_samples * values.len().div_ceil(n_samples.max(1)).max(1),
                found: values.len(),
            });
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NonFiniteTarget { row: position % n_samples, value: values[position] });
        }
        Ok(Self { values, n_samples, factor: 0.5 / (sigma * sigma) })
    }

    /// `k(i, j)`, both below the number of samples.
    pub fn eval(&self, i: usize, j: usize) -> f64 {
        let squares = self.values.chunks_exact(self.n_samples).map(|output| (output[i] - output[j]).powi(2));
        (-self.factor * squares.sum::<f64>()).exp()
    }

    /// `out[i] = k(i, j)` for every sample `i`; `out` has one place for each.
    pub fn column(&self, j: usize, out: &mut [f64]) {
        out.fill(0.0);
        for output in self.values.chunks_exact(self.n_samples) {
            let y = output[j];
            for (square, &value) in out.iter_mut().zip(output) {
                *square += (y - value) * (y - value);
            }
        }
        for value in out.iter_mut() {
            *value *= -self.factor;
        }
        fast::exp_in_place(out);
    }

    /// All kernel values. `O(n² p)` for `p` outputs.
    pub fn gram(&self) -> Gram {
        let mut values = vec![0.0; self.n_samples * self.n_samples];
        for (j, column) in values.chunks_exact_mut(self.n_samples).enumerate() {
            self.column(j, column);
        }
        Gram::from_symmetric(values, self.n_samples)
    }

    /// The factor at a relative trace `tolerance`, as [`Factor::from_columns`]. The rank grows with the
    /// number of outputs.
    ///
    /// # Errors
    /// As [`Factor::from_columns`].
    pub fn factor(&self, tolerance: f64, max_rank: usize) -> Result<Factor, Error> {
        Factor::from_columns(self.n_samples, |_| 1.0, |j, out| self.column(j, out), tolerance, max_rank)
    }
}
