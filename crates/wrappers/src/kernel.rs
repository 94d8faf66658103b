//! The kernel between samples over the remaining features.

use fewest_core::method::KernelWidth;
use fewest_core::{Context, Error, choice};
use fewest_kernels::{Factor, SquaredDistances, gaussian_gamma};

use crate::factor_sum::FactorSum;
use fewest_smo::KernelRows;

choice! {
    /// The kernel of a machine.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[non_exhaustive]
    pub enum Kernel {
        /// `k(x, z) = exp(−γ ‖x − z‖²)`, `γ = 1/(2σ²)`.
        Gaussian {
            /// Width σ of exp(−‖x − z‖²/(2σ²)); dimension: 2σ² is the number of features that vary; median:
            /// the median distance of two samples.
            ///
            /// It stays the same while features are eliminated.
            sigma: KernelWidth = KernelWidth::Dimension, PositiveOr(&["median", "dimension"]);
        } = "gaussian",
        /// `k(x, z) = ⟨x, z⟩`.
        Linear = "linear",
    }
}

/// All kernel values over the remaining features, stored so that the contribution of a feature can be
/// removed.
pub(crate) enum KernelMatrix {
    Linear { products: FactorSum, features: Vec<Vec<f64>>, n_train: usize },
    Gaussian { distances: SquaredDistances, gamma: f64, n_train: usize },
}

impl KernelMatrix {
    /// From features given by their coordinates in `n` samples; machines are trained on the first `n_train`.
    pub(crate) fn new(
        kernel: Kernel,
        features: Vec<Vec<f64>>,
        n: usize,
        n_train: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        match kernel {
            Kernel::Linear => {
                let factor = |values: &Vec<f64>| Factor::from_values(values.clone(), n, values.len() / n);
                let factors = features.iter().map(factor).collect::<Result<Vec<_>, _>>()?;
                let weights = vec![1.0; factors.len()];
                Ok(Self::Linear { products: FactorSum::new(factors, weights, context)?, features, n_train })
            }
            Kernel::Gaussian { sigma } => {
                let n_features = features.len();
                let distances = SquaredDistances::new(features, n, context)?;
                let of_pairs = || (1..n_train).flat_map(|i| distances.row(i)[..i].iter().copied()).collect();
                let gamma = gaussian_gamma(sigma, n_features, of_pairs)?;
                Ok(Self::Gaussian { distances, gamma, n_train })
            }
        }
    }

    /// The coordinates of feature `j`, each with one place for every sample.
    pub(crate) fn coordinates(&self, j: usize) -> impl Iterator<Item = &[f64]> {
        let (feature, n) = match self {
            Self::Linear { features, .. } => (features[j].as_slice(), self.n_samples()),
            Self::Gaussian { distances, .. } => (distances.feature(j), self.n_samples()),
        };
        feature.chunks_exact(n.max(1))
    }

    /// Number of samples, including those that are not used for training.
    fn n_samples(&self) -> usize {
        match self {
            Self::Linear { products, .. } => products.n_samples(),
            Self::Gaussian { distances, .. } => distances.n_samples(),
        }
    }

    pub(crate) fn remove(&mut self, j: usize, context: &Context<'_>) -> Result<(), Error> {
        match self {
            Self::Linear { products, .. } => products.remove(j, context),
            Self::Gaussian { distances, .. } => distances.remove(j, context),
        }
    }

    /// `out[l] = k(x_i, x_l)` for as many training samples `l` as there are places, `i` any sample.
    pub(crate) fn row_of(&self, i: usize, out: &mut [f64]) {
        match self {
            Self::Linear { products, .. } => {
                out.copy_from_slice(&products.values()[i * products.n_samples()..][..out.len()])
            }
            Self::Gaussian { distances, gamma, .. } => {
                out.copy_from_slice(&distances.row(i)[..out.len()]);
                SquaredDistances::gaussian(*gamma, out);
            }
        }
    }

    /// The same without feature `j`.
    pub(crate) fn row_without(&self, j: usize, i: usize, out: &mut [f64]) {
        match self {
            Self::Linear { products, .. } => {
                out.copy_from_slice(&products.values()[i * products.n_samples()..][..out.len()]);
                for coordinate in self.coordinates(j) {
                    let own = coordinate[i];
                    out.iter_mut().zip(coordinate).for_each(|(value, other)| *value -= own * other);
                }
            }
            Self::Gaussian { distances, gamma, .. } => {
                out.copy_from_slice(&distances.row(i)[..out.len()]);
                for coordinate in self.coordinates(j) {
                    let own = coordinate[i];
                    let part = |(value, other): (&mut f64, &f64)| *value -= (own - other) * (own - other);
                    out.iter_mut().zip(coordinate).for_each(part);
                }
                // Rounding may leave a distance just below zero.
                out.iter_mut().for_each(|value| *value = value.max(0.0));
                SquaredDistances::gaussian(*gamma, out);
            }
        }
    }
}

impl KernelRows for KernelMatrix {
    fn len(&self) -> usize {
        match self {
            Self::Linear { n_train, .. } | Self::Gaussian { n_train, .. } => *n_train,
        }
    }

    fn diagonal(&self, i: usize) -> f64 {
        match self {
            Self::Linear { products, .. } => products.values()[i * products.n_samples() + i],
            Self::Gaussian { .. } => 1.0,
        }
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        self.row_of(i, out);
    }
}

/// A [`KernelMatrix`] without one feature.
pub(crate) struct Without<'a> {
    pub(crate) kernel: &'a KernelMatrix,
    pub(crate) feature: usize,
    /// Whether no other feature remains: then the kernel consists of rounding errors only.
    pub(crate) last: bool,
}

impl KernelRows for Without<'_> {
    fn len(&self) -> usize {
        self.kernel.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        match self.kernel {
            KernelMatrix::Linear { .. } if self.last => 0.0,
            KernelMatrix::Linear { .. } => {
                let own = |coordinate: &[f64]| coordinate[i] * coordinate[i];
                self.kernel.diagonal(i) - self.kernel.coordinates(self.feature).map(own).sum::<f64>()
            }
            KernelMatrix::Gaussian { .. } => 1.0,
        }
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        match self.kernel {
            KernelMatrix::Linear { .. } if self.last => out.fill(0.0),
            KernelMatrix::Gaussian { .. } if self.last => out.fill(1.0),
            kernel => kernel.row_without(self.feature, i, out),
        }
    }
}
