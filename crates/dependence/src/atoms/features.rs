//! Standardised features, each with its kernel.

use std::fmt;
use std::sync::Arc;

use fewest_columns::{finite_values, standardise};
use fewest_core::method::KernelWidth;
use fewest_core::{Dataset, Error, FeatureKind, choice};
use fewest_kernels::{Definiteness, Delta, Gaussian, Laplace, ScalarKernel, TableGaussian, kernel_width};

use super::Representation;

choice! {
    /// The kernel of each feature. Features are standardised first (mean 0, standard deviation 1, dividing by
    /// n); categories always get the delta kernel, 1 for two samples of one level: with 1 on its diagonal, as
    /// the others have it, it is neither small nor large beside them.
    #[derive(Clone)]
    #[non_exhaustive]
    pub enum InputKernel {
        /// `exp(−(x − x′)² / (2σ²))`, the paper's choice.
        Gaussian {
            /// Width of that kernel on standardised features; median: the median distance of each.
            sigma_x: KernelWidth = KernelWidth::Value(1.0);
        } = "gaussian",
        /// `exp(−|x − x′| / σ)`. Not smooth: its low-rank factors are long.
        Laplace {
            /// Its width.
            sigma_x: KernelWidth = KernelWidth::Value(1.0);
        } = "laplace",
        /// The Gaussian kernel from the paper's table of 4096 values (Section 2.4). Slower and less exact
        /// than [`InputKernel::Gaussian`]; for those who must repeat the paper to the letter.
        Table {
            /// Its width.
            sigma_x: KernelWidth = KernelWidth::Value(1.0);
        } = "table";
        /// A kernel of your own for each feature, by its index.
        Custom(Arc<dyn Fn(usize) -> Arc<dyn ScalarKernel> + Send + Sync>),
    }
}

impl fmt::Debug for InputKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian { sigma_x } => f.debug_tuple("Gaussian").field(sigma_x).finish(),
            Self::Laplace { sigma_x } => f.debug_tuple("Laplace").field(sigma_x).finish(),
            Self::Table { sigma_x } => f.debug_tuple("Table").field(sigma_x).finish(),
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
    pub(super) fn new(data: &'a Dataset, kernel: &'a InputKernel) -> Self {
        Self { data, kernel }
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

    /// Feature `j` as an atom in `memory` that an earlier one no longer needs, or `None` when it is constant.
    pub(super) fn atom<R: Representation>(
        &self,
        j: usize,
        representation: &R,
        memory: Vec<f64>,
    ) -> Result<Option<R::Atom>, Error> {
        let mut points = finite_values(self.data, j)?;
        if matches!(self.data.feature_kind(j), FeatureKind::Categorical { .. }) {
            if points.iter().all(|&code| code == points[0]) {
                return Ok(None);
            }
            return representation.input(&Delta, &points, memory).map(Some);
        }
        if !standardise(&mut points) {
            return Ok(None);
        }
        let sigma = |width: &KernelWidth| kernel_width(*width, &points);
        match self.kernel {
            InputKernel::Gaussian { sigma_x } => {
                representation.input(&Gaussian::new(sigma(sigma_x)?)?, &points, memory)
            }
            InputKernel::Laplace { sigma_x } => {
                representation.input(&Laplace::new(sigma(sigma_x)?)?, &points, memory)
            }
            InputKernel::Table { sigma_x } => {
                representation.input(&TableGaussian::new(sigma(sigma_x)?)?, &points, memory)
            }
            InputKernel::Custom(kernel) => representation.input(&*kernel(j), &points, memory),
        }
        .map(Some)
    }
}
