//! Support vector machines on tables: what lies between kernels and [`fewest_smo`].
//!
//! * [`Encoding`]: a table as [`Points`], standardised;
//! * [`PointRows`], [`DistanceRows`], [`MatrixRows`]: kernels of points as rows for the solver;
//! * [`Ball`], [`RadiusMargin`], [`SpanBound`]: bounds on the leave-one-out error, and by [`Sensitivity`] their derivatives with
//!   respect to the scales of features.

mod bounds;
mod encoding;
mod rows;

pub use bounds::{Ball, RadiusMargin, Sensitivity, SpanBound};
pub use encoding::{Encoding, Points, check_width, feature_names, finite_column, squared_distance};
pub use rows::{DistanceRows, MatrixRows, PointRows};
