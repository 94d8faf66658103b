#![doc = include_str!("../README.md")]

mod cost;
mod generate;
mod hinge;
mod inverse;
mod simplex;
mod step;

pub use cost::Cost;
pub use generate::{Joining, Program, solve};
pub use hinge::{HingeOptimum, L1Hinge};
pub use simplex::Simplex;
