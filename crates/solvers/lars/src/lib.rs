#![doc = include_str!("../README.md")]

mod active_set;
mod homotopy;
mod path;
mod quadratic_solver;

pub use fewest_core::Error;
pub use homotopy::{Breakpoint, Event, Homotopy};
pub use path::{LassoPath, PathOptions, path};
pub use quadratic_solver::Lars;
