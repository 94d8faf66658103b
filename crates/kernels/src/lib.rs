#![doc = include_str!("../README.md")]

mod bandwidth;
mod block;
mod delta;
mod distances;
mod factor;
mod fast;
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

pub use bandwidth::{gaussian_gamma, kernel_width, median_distance};
pub use block::{BlockEstimator, SampleBlocks, block_hsic};
pub use delta::{Delta, NormalisedDelta};
pub use distances::SquaredDistances;
pub use factor::{
    Factor, Interpolated, Leading, LeadingBuffers, Pair, SharedFactor, Stacked, squared_cross_norms,
};
pub use fast::exp_in_place;
pub use form::Form;
pub use gram::Gram;
pub use kernel::{Definiteness, ScalarKernel};
pub use packed::{centred_packed, packed_len};
pub use product::{Linear, Polynomial, Sigmoid};
pub use rows::GaussianRows;
pub use stationary::{Gaussian, Laplace, TableGaussian};
pub use vectors::{VectorKernel, VectorRows};
