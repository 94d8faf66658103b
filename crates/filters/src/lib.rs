#![doc = include_str!("../README.md")]

mod equal_frequency;
mod joint_tables;
mod running;
mod tables;

pub mod information;
pub mod similarity;
pub mod statistical;
pub mod unordered;

pub use fewest_core::Error;
pub use fewest_counts::discretisation;
