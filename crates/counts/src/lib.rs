#![doc = include_str!("../README.md")]

mod codes;
mod counts;
mod side_by_side;

pub mod discretisation;

pub use codes::{Coded, Rows, Sizes, Variable, relevances};
pub use counts::{Scratch, Sums, add_joint_counts, each_joint, joint_sum, sums};
pub use fewest_core::Error;
pub use side_by_side::{SideBySide, conditional_entropy, joint_conditional_entropies};
