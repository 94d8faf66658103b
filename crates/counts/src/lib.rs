#![doc = include_str!("../README.md")]

mod beside;
mod codes;
mod counts;
mod tables;

pub mod discretisation;

pub use beside::{Beside, undecided};
pub use codes::{Coded, Rows, Variable};
pub use counts::{Scratch, Sums, joint_sum, sums};
pub use fewest_core::Error;
pub use tables::{LevelTable, stream_tables};
