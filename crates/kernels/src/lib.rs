//! Scalar kernels, Gram matrices, low-rank factors, HSIC and NOCCO.
//!
//! A [`ScalarKernel`] compares two values of one feature. All its values over a sample are a Gram matrix,
//! in one of three forms:
//!
//! * [`Gram`]: all `n²` entries;
//! * [`centred_packed`]: half of the centred matrix as a vector, whose dot products are inner products: for
//!   very many features of few samples;
//! * [`Factor`]: a low-rank factor at a stated tolerance, `n r` numbers: for many samples.
//!
//! A [`VectorKernel`] compares whole samples: by rows computed when asked for ([`VectorRows`]), or from all
//! [`SquaredDistances`], from which features can be taken away one by one, as from a [`FactorSum`].
//!
//! Kernels never see targets as such: a target's kernel is a kernel like any other. Nothing here starts
//! threads, draws unseeded random numbers or keeps global state, so the same call gives the same bits.

mod bandwidth;
mod block;
mod delta;
mod distances;
mod factor;
pub mod fast;
mod form;
mod gram;
pub mod hsic;
mod kernel;
pub mod nocco;
mod packed;
mod product;
mod rows;
mod stationary;
mod vectors;

pub use bandwidth::{Bandwidth, median_bandwidth};
pub use block::{BlockEstimator, Blocks, block_hsic, centred_packed_blocks};
pub use delta::{Delta, NormalisedDelta};
pub use distances::SquaredDistances;
pub use factor::{
    Factor, FactorSum, Interpolated, Leading, Pair, SharedFactor, Stacked, squared_cross_norms,
    squared_cross_norms_many,
};
pub use form::Form;
pub use gram::Gram;
pub use kernel::{Definiteness, ScalarKernel};
pub use packed::{centred_packed, packed_len};
pub use product::{Linear, Polynomial, Sigmoid};
pub use rows::GaussianRows;
pub use stationary::{Gaussian, Laplace, TableGaussian};
pub use vectors::{VectorKernel, VectorRows};
