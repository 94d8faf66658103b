#![doc = include_str!("../README.md")]

mod bounds;
mod encoding;
mod rows;

pub use bounds::{Ball, BoundSensitivity, RadiusMargin, SpanBound};
pub use encoding::{Encoding, Points, check_width, feature_names, finite_column, squared_distance};
pub use rows::{DistanceRows, PointRows};
