#![doc = include_str!("../README.md")]

mod chosen;
mod exact;
mod few_rows;
mod folds;
mod levels;
pub mod moments;
mod outputs;
mod products;
mod running;
mod standard;
mod sums;
mod together;
mod walk;
mod weights;

pub use chosen::Chosen;
pub use exact::{ExactMoments, ExactProducts, ExactSum, NotFinite, Unit};
pub use few_rows::few_rows;
pub use fewest_core::rewind;
pub use folds::{by_class, deal, seeded_order};
pub use levels::{chance_of_one_level, finite_values, parts};
pub use outputs::{StandardOutput, standardised_outputs, weighted_outputs};
pub use products::{COPIES_OF_PRODUCTS, MOST_PARTS, Made, WriteColumns, stream_products, table_product};
pub use running::{RunningSums, SafeRunningSums};
pub use standard::{Standard, inverse_power, range, seed_of_values, standardise};
pub use sums::{ColumnSums, Extremes, TableSums, safe_stream_sums, stream_sums};
pub use walk::{check_column, map_features, score_features};
pub use weights::Weights;
