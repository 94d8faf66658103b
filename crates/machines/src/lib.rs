//! Support vector machines on tables: what lies between kernels and [`fewest_smo`].
//!
//! * [`Encoding`]: a table as [`Points`], standardised;
//! * [`PointRows`], [`DistanceRows`], [`MatrixRows`]: kernels of points as rows for the solver;
//! * [`Ball`], [`RadiusMargin`], [`SpanBound`]: bounds on the leave-one-out error, and by [`Sensitivity`] their derivatives with
//!   respect to the scales of features;
//! * [`TwinProblem`], [`TwinDual`], [`TwinMachine`]: twin machines, two planes that need not be parallel.

mod bounds;
mod encoding;
mod rows;
mod twin;

pub use bounds::{Ball, RadiusMargin, Sensitivity, SpanBound};
pub use encoding::{Encoding, Points, check_width, feature_names, finite_column, squared_distance};
pub use rows::{DistanceRows, MatrixRows, PointRows};
pub use twin::{Plane, TwinDual, TwinMachine, TwinProblem};
