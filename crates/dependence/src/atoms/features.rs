//! Standardised features, each with its kernel.

use std::fmt;
use std::sync::Arc;

use fewest_core::{Dataset, Error, FeatureKind};
use fewest_kernels::{
    Bandwidth, Definiteness, Gaussian, Laplace, NormalisedDelta, ScalarKernel, TableGaussian,
};

use fewest_columns::standardise;

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
        self.data.x().copy_column(j, &mut points)?;
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
