#![doc = include_str!("../README.md")]

mod bounds;
mod encoding;
mod rows;
mod twin;

pub use bounds::{Ball, BoundSensitivity, RadiusMargin, SpanBound};
pub use encoding::{Encoding, Points, check_width, feature_names, finite_column, squared_distance};
pub use rows::{DistanceRows, PointRows};
pub use twin::{Plane, TwinDual, TwinMachine, TwinProblem};
