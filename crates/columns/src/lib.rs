//! What methods do first with the columns of a table: walk over them, standardise them, write targets as numbers.
//!
//! It holds no method and knows no solver. Everything works on one column at a time.

mod outputs;
mod standard;
mod sums;
mod walk;

pub use outputs::standardised_outputs;
pub use standard::{Standard, range, standardise};
pub use sums::{ColumnSums, Extremes, TableSums, divided, rewind, safe_stream_sums, stream_sums};
pub use walk::{check_column, map_features};
