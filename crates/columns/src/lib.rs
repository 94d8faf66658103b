#![doc = include_str!("../README.md")]

mod folds;
mod levels;
mod outputs;
mod standard;
mod sums;
mod walk;

pub use folds::{by_class, deal};
pub use levels::{chance_of_one_level, finite_values, parts};
pub use outputs::standardised_outputs;
pub use standard::{Standard, inverse_power, range, seed_of_values, standardise};
pub use sums::{ColumnSums, Extremes, TableSums, divided, rewind, safe_stream_sums, stream_sums};
pub use walk::{check_column, map_features, score_features};
