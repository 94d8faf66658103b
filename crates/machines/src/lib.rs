//! Support vector machines on tables: what lies between kernels and [`fewest_smo`].
//!
//! * [`Encoding`]: a table as [`Points`], standardised;
//! * [`PointRows`], [`DistanceRows`], [`MatrixRows`]: kernels of points as rows for the solver.

mod encoding;
mod rows;

pub use encoding::{Encoding, Points, check_width, feature_names, finite_column, squared_distance};
pub use rows::{DistanceRows, MatrixRows, PointRows};
