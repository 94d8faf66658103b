//! Kernels of whole samples: vectors of several coordinates.

mod panels;

use fewest_core::Error;

use crate::fast;
use panels::Panels;

/// Largest square of a sample's norm, so that no sum of two overflows.
const LARGEST_SQUARE: f64 = f64::MAX / 16.0;

/// A kernel of two vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VectorKernel {
    /// `⟨x, z⟩`.
    Linear,
    /// `exp(−γ ‖x − z‖²)`.
    Gaussian {
        /// `γ`, above 0 and finite.
        gamma: f64,
    },
    /// `(γ ⟨x, z⟩ + c)^degree`.
    Polynomial {
        /// `γ`, above 0 and finite.
        gamma: f64,
        /// `c`, at least 0 and finite: below 0 the kernel would not be positive semidefinite.
        offset: f64,
        /// From 1 to 64.
        degree: u32,
    },
}

impl VectorKernel {
    /// Whether the parameters are in their ranges.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the one that is not.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |name, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(Error::parameter(name, value, "above 0 and finite"))
        };
        match *self {
            Self::Linear => Ok(()),
            Self::Gaussian { gamma } => positive("gamma", gamma),
            Self::Polynomial { gamma, offset, degree } => {
                positive("gamma", gamma)?;
                if !(offset.is_finite() && offset >= 0.0) {
                    return Err(Error::parameter("offset", offset, "at least 0 and finite"));
                }
                if !(1..=64).contains(&degree) {
                    return Err(Error::parameter("degree", degree, "from 1 to 64"));
                }
                Ok(())
            }
        }
    }

    /// Turns inner products with a vector of squared norm `square` into kernel values; `squares` are those of
    /// the samples.
    fn finish(&self, square: f64, squares: &[f64], values: &mut [f64]) {
        match *self {
            Self::Linear => {}
            Self::Gaussian { gamma } => {
                for (value, other) in values.iter_mut().zip(squares) {
                    *value = -gamma * ((other + square) - 2.0 * *value).max(0.0);
                }
                fast::exp_in_place(values);
            }
            Self::Polynomial { gamma, offset, degree } => {
                for value in values {
                    *value = (gamma * *value + offset).powi(degree as i32);
                }
            }
        }
    }
}

/// The rows of a [`VectorKernel`] between samples, computed on demand: `O(n d)` each, two at a time at
/// little more than the cost of one.
///
/// For the Gaussian kernel the mean of the samples is subtracted, which changes no distance and avoids
/// cancellation in `‖x‖² + ‖z‖² − 2⟨x, z⟩`: the error of a squared distance is a few units in the last place
/// of the samples' squared distances from their mean. Equal samples are at distance 0 exactly, and the matrix
/// is symmetric bit for bit. To store all `n²` distances, use
/// [`SquaredDistances`](crate::SquaredDistances).
///
/// ```
/// use fewest_kernels::{VectorKernel, VectorRows};
///
/// // Three samples of two features, sample after sample.
/// let samples = [0.0, 0.0, 1.0, 1.0, 3.0, 4.0];
/// let rows = VectorRows::new(&samples, 3, VectorKernel::Gaussian { gamma: 0.1 })?;
/// let mut row = [0.0; 3];
/// rows.row(0, &mut row);
/// assert_eq!(row[0], 1.0);
/// assert!((row[1] - (-0.2_f64).exp()).abs() < 1e-15 && (row[2] - (-2.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VectorRows {
    kernel: VectorKernel,
    panels: Panels,
    squares: Vec<f64>,
    /// The vector subtracted from each sample.
    means: Vec<f64>,
}

impl VectorRows {
    /// From `n_samples` samples one after the other.
    ///
    /// # Errors
    /// [`Error::TooFew`] without a sample or feature; [`Error::ShapeMismatch`] unless the samples have as
    /// many features each; [`Error::NonFinite`]; [`Error::Numerical`] for values whose squares overflow;
    /// [`Error::InvalidParameter`] as [`VectorKernel::check`].
    pub fn new(samples: &[f64], n_samples: usize, kernel: VectorKernel) -> Result<Self, Error> {
        kernel.check()?;
        if n_samples == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        let width = samples.len() / n_samples;
        if width == 0 {
            return Err(Error::TooFew { what: "features", minimum: 1, found: 0 });
        }
        if width * n_samples != samples.len() {
            let (expected, found) = (width * n_samples, samples.len());
            return Err(Error::ShapeMismatch { what: "values of the samples", expected, found });
        }
        if let Some(position) = samples.iter().position(|value| !value.is_finite()) {
            let (row, column) = (position / width, position % width);
            let name = format!("f{column}");
            return Err(Error::NonFinite { name, column, row, value: samples[position] });
        }
        let means = match kernel {
            VectorKernel::Gaussian { .. } => means(samples, width),
            _ => vec![0.0; width],
        };
        let panels = Panels::new(&less(samples, &means), width);
        let squares = panels.squares();
        if squares.iter().any(|square| *square > LARGEST_SQUARE || square.is_nan()) {
            let hint = "the samples are too large: standardise their features".to_owned();
            return Err(Error::Numerical { what: "the squared norm of a sample", hint });
        }
        Ok(Self { kernel, panels, squares, means })
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.panels.n_samples()
    }

    /// Number of features.
    pub(crate) fn n_features(&self) -> usize {
        self.panels.width()
    }

    /// The kernel.
    pub fn kernel(&self) -> VectorKernel {
        self.kernel
    }

    /// `k(x_i, x_i)`, with the bits of the row's entry; `i` below the number of samples.
    pub fn diagonal(&self, i: usize) -> f64 {
        let mut value = [self.squares[i]];
        self.kernel.finish(self.squares[i], &self.squares[i..=i], &mut value);
        value[0]
    }

    /// `out[j] = k(x_i, x_j)`; `out` has one place for each sample, and `i` is below their number.
    pub fn row(&self, i: usize, out: &mut [f64]) {
        self.panels.products(&self.panels.sample(i), out);
        self.kernel.finish(self.squares[i], &self.squares, out);
    }

    /// The rows `indices`, one after the other.
    pub fn rows(&self, indices: &[usize], out: &mut [f64]) {
        let n = self.n_samples();
        let mut pairs = indices.chunks_exact(2);
        let mut places = out.chunks_exact_mut(2 * n);
        for (pair, places) in (&mut pairs).zip(&mut places) {
            let (first, second) = places.split_at_mut(n);
            let samples = [self.panels.sample(pair[0]), self.panels.sample(pair[1])];
            self.panels.two_products([&samples[0], &samples[1]], [&mut *first, &mut *second]);
            self.kernel.finish(self.squares[pair[0]], &self.squares, first);
            self.kernel.finish(self.squares[pair[1]], &self.squares, second);
        }
        for (&i, place) in pairs.remainder().iter().zip(places.into_remainder().chunks_exact_mut(n)) {
            self.row(i, place);
        }
    }

    /// `out[i] = k(x_i, x)` for a vector that need not be a sample; `out` has one place for each sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless it has as many features.
    pub fn row_at(&self, vector: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let shapes = [
            ("features of a vector", self.n_features(), vector.len()),
            ("places for kernel values", self.n_samples(), out.len()),
        ];
        for (what, expected, found) in shapes {
            if expected != found {
                return Err(Error::ShapeMismatch { what, expected, found });
            }
        }
        let vector = less(vector, &self.means);
        self.panels.products(&vector, out);
        // In the order of the products.
        let square = Panels::new(&vector, vector.len()).squares()[0];
        self.kernel.finish(square, &self.squares, out);
        Ok(())
    }
}

/// The mean of each coordinate.
fn means(samples: &[f64], width: usize) -> Vec<f64> {
    let n = (samples.len() / width) as f64;
    let mut means = vec![0.0; width];
    for sample in samples.chunks_exact(width) {
        for (mean, value) in means.iter_mut().zip(sample) {
            *mean += value / n;
        }
    }
    means
}

fn less(samples: &[f64], means: &[f64]) -> Vec<f64> {
    samples
        .chunks_exact(means.len())
        .flat_map(|sample| sample.iter().zip(means).map(|(value, mean)| value - mean))
        .collect()
}

#[cfg(test)]
mod tests;
