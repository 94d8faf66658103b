//! Standardised features, each with its kernel.

use std::fmt;
use std::sync::Arc;

use fewest_core::{Dataset, Error, FeatureKind};
use fewest_kernels::{
    Bandwidth, Definiteness, Gaussian, Laplace, NormalisedDelta, ScalarKernel, TableGaussian,
};

use super::Representation;

/// The kernel of each feature. Features are standardised first (mean 0, standard deviation 1, dividing by
/// n); categorical ones keep their codes and always get the delta kernel `1/n_level`.
#[derive(Clone)]
#[non_exhaustive]
pub enum InputKernel {
    /// `exp(−(x − x′)² / (2σ²))`, the paper's choice.
    Gaussian(Bandwidth),
    /// `exp(−|x − x′| / σ)`. Not smooth: its low-rank factors are long.
    Laplace(Bandwidth),
    /// The Gaussian kernel from the paper's table of 4096 values (Section 2.4). Slower and less exact than
    /// [`InputKernel::Gaussian`]; for those who must repeat the paper to the letter.
    Table(f64),
    /// A kernel of your own for each feature, by its index.
    Custom(Arc<dyn Fn(usize) -> Arc<dyn ScalarKernel> + Send + Sync>),
}

impl Default for InputKernel {
    fn default() -> Self {
        Self::Gaussian(Bandwidth::Fixed(1.0))
    }
}

impl fmt::Debug for InputKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian(bandwidth) => f.debug_tuple("Gaussian").field(bandwidth).finish(),
            Self::Laplace(bandwidth) => f.debug_tuple("Laplace").field(bandwidth).finish(),
            Self::Table(sigma) => f.debug_tuple("Table").field(sigma).finish(),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// The features of a data set, ready to become atoms.
pub(super) struct Features<'a> {
    data: &'a Dataset,
    kernel: &'a InputKernel,
}

impl<'a> Features<'a> {
    pub(super) fn new(data: &'a Dataset, kernel: &'a InputKernel) -> Result<Self, Error> {
        match kernel {
            InputKernel::Gaussian(Bandwidth::Fixed(sigma)) => drop(Gaussian::new(*sigma)?),
            InputKernel::Laplace(Bandwidth::Fixed(sigma)) => drop(Laplace::new(*sigma)?),
            InputKernel::Table(sigma) => drop(TableGaussian::new(*sigma)?),
            _ => {}
        }
        Ok(Self { data, kernel })
    }

    pub(super) fn len(&self) -> usize {
        self.data.n_features()
    }

    pub(super) fn n_samples(&self) -> usize {
        self.data.n_samples()
    }

    /// Whether every kernel is positive semidefinite, so that no two atoms have a negative product.
    pub(super) fn is_positive_semidefinite(&self) -> bool {
        match self.kernel {
            InputKernel::Custom(kernel) => {
                (0..self.len()).all(|j| kernel(j).definiteness() == Definiteness::PositiveSemidefinite)
            }
            _ => true,
        }
    }

    /// Feature `j` as an atom, or `None` when it is constant.
    pub(super) fn atom<R: Representation>(
        &self,
        j: usize,
        representation: &R,
    ) -> Result<Option<R::Atom>, Error> {
        let mut points = vec![0.0; self.n_samples()];
        self.data.x().copy_column(j, &mut points);
        self.data.check_finite(j, &points)?;
        if matches!(self.data.feature_kind(j), FeatureKind::Categorical { .. }) {
            if points.iter().all(|&code| code == points[0]) {
                return Ok(None);
            }
            return representation.input(&NormalisedDelta::from_points(&points), &points).map(Some);
        }
        if !standardise(&mut points) {
            return Ok(None);
        }
        let sigma = |bandwidth: &Bandwidth| bandwidth.resolve(&points);
        match self.kernel {
            InputKernel::Gaussian(bandwidth) => {
                representation.input(&Gaussian::new(sigma(bandwidth)?)?, &points)
            }
            InputKernel::Laplace(bandwidth) => {
                representation.input(&Laplace::new(sigma(bandwidth)?)?, &points)
            }
            InputKernel::Table(sigma) => representation.input(&TableGaussian::new(*sigma)?, &points),
            InputKernel::Custom(kernel) => representation.input(&*kernel(j), &points),
        }
        .map(Some)
    }
}

/// Subtracts the mean and divides by the standard deviation (dividing by n); false when all values are
/// equal. The mean is taken off before anything is squared, so a large offset costs no accuracy, and the
/// values are first divided by the largest, so that no square overflows.
pub(crate) fn standardise(values: &mut [f64]) -> bool {
    if values.iter().all(|value| *value == values[0]) {
        return false;
    }
    let largest =
        in_lanes(values, |largest, value| if value.abs() > largest { value.abs() } else { largest })
            .into_iter()
            .fold(0.0, f64::max);
    let n = values.len() as f64;
    values.iter_mut().for_each(|value| *value /= largest);
    // Two rounds: the second takes off what rounding left of the mean.
    for _ in 0..2 {
        let mean = in_lanes(values, |sum, value| sum + value).iter().sum::<f64>() / n;
        values.iter_mut().for_each(|value| *value -= mean);
    }
    let squares = in_lanes(values, |sum, value| sum + value * value);
    let deviation = (squares.iter().sum::<f64>() / n).sqrt();
    if deviation == 0.0 {
        return false;
    }
    values.iter_mut().for_each(|value| *value /= deviation);
    true
}

/// The smallest and the largest of some standardised values: 0 is between them.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    let low = in_lanes(values, |low, value| if value < low { value } else { low });
    let high = in_lanes(values, |high, value| if value > high { value } else { high });
    (low.into_iter().fold(0.0, f64::min), high.into_iter().fold(0.0, f64::max))
}

/// Folds every eighth value each, from 0: eight independent chains of operations, which processors work on at once.
fn in_lanes(values: &[f64], fold: impl Fn(f64, f64) -> f64) -> [f64; 8] {
    let mut lanes = [0.0; 8];
    let chunks = values.chunks_exact(8);
    for (lane, &value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = fold(*lane, value);
    }
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = fold(*lane, value);
        }
    }
    lanes
}
