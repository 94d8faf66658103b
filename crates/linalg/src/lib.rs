#![doc = include_str!("../README.md")]

mod decompositions;
mod dense;
mod dispatch;
mod eigenpairs;
pub mod lanes;
mod products;
mod vectors;

pub use decompositions::{
    cholesky, left_singular, lu, orthonormal_unless, qr, qr_unless, symmetric_eigen, symmetric_eigen_unless,
    symmetric_eigenvalues,
};
pub use dense::{
    Cholesky, combination, gram, gram_of_rows_unless, gram_unless, mirror_unless, transposed,
    transposed_products, triangular_products,
};
pub use dispatch::multiply_add;
pub use eigenpairs::{Eigenpairs, Krylov, largest_eigenpairs, lowest};
pub use lanes::dot;
pub use products::{LaidOut, PairProducts, dot_products, pair_product};
pub use vectors::{add_scaled, centre, projected};
