//! The kernel between samples over the features that are left.

use fewest_core::Error;
use fewest_kernels::{SquaredDistances, dot_products, fast};
use fewest_smo::KernelRows;

use crate::products::Products;

/// The kernel of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Kernel {
    /// `k(x, z) = ⟨x, z⟩`.
    Linear,
    /// `k(x, z) = exp(−γ ‖x − z‖²)`.
    Gaussian {
        /// `γ`, above 0 and finite; default (`None`) is 1 over the number of features that vary. It stays while features go.
        gamma: Option<f64>,
    },
}

impl Default for Kernel {
    fn default() -> Self {
        Self::Gaussian { gamma: None }
    }
}

/// All kernel values over the features left, kept such that a feature's part can be taken away.
pub(crate) enum KernelMatrix {
    Linear { products: Products, n_train: usize },
    Gaussian { distances: SquaredDistances, gamma: f64, n_train: usize },
}

impl KernelMatrix {
    /// Of features given by their coordinates in `n` samples, of which machines see the first `n_train`.
    pub(crate) fn new(
        kernel: Kernel,
        features: Vec<Vec<f64>>,
        n: usize,
        n_train: usize,
    ) -> Result<Self, Error> {
        match kernel {
            Kernel::Linear => Ok(Self::Linear { products: Products::new(features, n)?, n_train }),
            Kernel::Gaussian { gamma } => {
                let gamma = gamma.unwrap_or(1.0 / features.len().max(1) as f64);
                if !(gamma.is_finite() && gamma > 0.0) {
                    return Err(Error::parameter("gamma", gamma, "above 0 and finite"));
                }
                Ok(Self::Gaussian { distances: SquaredDistances::new(features, n)?, gamma, n_train })
            }
        }
    }

    /// The coordinates of feature `j`, each with one place for every sample.
    pub(crate) fn coordinates(&self, j: usize) -> impl Iterator<Item = &[f64]> {
        let (feature, n) = match self {
            Self::Linear { products, .. } => (products.feature(j), products.row(0).len()),
            Self::Gaussian { distances, .. } => (distances.feature(j), distances.n_samples()),
        };
        feature.chunks_exact(n.max(1))
    }

    pub(crate) fn remove(&mut self, j: usize) -> Result<(), Error> {
        match self {
            Self::Linear { products, .. } => {
                products.remove(j);
                Ok(())
            }
            Self::Gaussian { distances, .. } => distances.remove(j),
        }
    }

    /// `out[l] = k(x_i, x_l)` for as many training samples `l` as there are places, `i` any sample.
    pub(crate) fn row_of(&self, i: usize, out: &mut [f64]) {
        match self {
            Self::Linear { products, .. } => out.copy_from_slice(&products.row(i)[..out.len()]),
            Self::Gaussian { distances, gamma, .. } => {
                let row = &distances.row(i)[..out.len()];
                out.iter_mut().zip(row).for_each(|(value, distance)| *value = -gamma * distance);
                fast::exp_in_place(out);
            }
        }
    }

    /// The same without feature `j`.
    pub(crate) fn row_without(&self, j: usize, i: usize, out: &mut [f64]) {
        match self {
            Self::Linear { products, .. } => {
                out.copy_from_slice(&products.row(i)[..out.len()]);
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
                out.iter_mut().for_each(|value| *value = -gamma * value.max(0.0));
                fast::exp_in_place(out);
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
            Self::Linear { products, .. } => products.row(i)[i],
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
}

impl KernelRows for Without<'_> {
    fn len(&self) -> usize {
        self.kernel.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        match self.kernel {
            KernelMatrix::Linear { .. } => {
                let own = |coordinate: &[f64]| coordinate[i] * coordinate[i];
                self.kernel.diagonal(i) - self.kernel.coordinates(self.feature).map(own).sum::<f64>()
            }
            KernelMatrix::Gaussian { .. } => 1.0,
        }
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        self.kernel.row_without(self.feature, i, out);
    }
}

/// `Σ_i a_i b_i` of slices of the same length, in a fixed order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut product = [0.0];
    if !a.is_empty() {
        dot_products(a, b, a.len(), &mut product);
    }
    product[0]
}
