//! Dense linear algebra that all families share: products, sums over slices, a blocked Cholesky factorisation.
//!
//! Every operation works in parts of fixed size and adds in a fixed order, so the result is the same, bit for bit,
//! for any number of threads. Matrices are slices, column after column.
//!
//! It is not a general matrix library: for eigenvectors and the like the crates use `nalgebra` directly.
//!
//! ```
//! use fewest_linalg::{Cholesky, gram};
//!
//! // AᵀA for two columns of three rows, and a system with it.
//! let a = [1.0, 0.0, 1.0, 0.0, 2.0, 0.0];
//! let matrix = gram(&a, 3);
//! assert_eq!(matrix, [2.0, 0.0, 0.0, 4.0]);
//! let mut b = [2.0, 8.0];
//! if let Some(factor) = Cholesky::of(matrix, 2) {
//!     factor.solve(&mut b);
//! }
//! assert!((b[0] - 1.0).abs() < 1e-15 && (b[1] - 2.0).abs() < 1e-15);
//! ```

mod dense;
mod dispatch;
pub mod lanes;
mod products;
mod vectors;

pub use dense::{Cholesky, combination, gram, transposed, transposed_products};
pub use dispatch::multiply_add;
pub use lanes::dot;
pub use products::{dot_products, transposed_product};
pub use vectors::{add_scaled, centre, projected};
