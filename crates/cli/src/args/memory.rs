//! How much memory may be used.

use clap::Args;
use fewest::data::bytes_of;

/// A bound on memory.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct MemoryArgs {
    /// Memory that may be used, such as 2GiB or 500M: a larger table is read in passes, if the method can
    ///
    /// K, M, G and T are powers of 1000, KiB, MiB, GiB and TiB of 1024. Where the table and what the method
    /// makes of it would take more, its rows are read several times, in pieces, and the answer is the same.
    /// The methods that can, and how many passes they need, are in docs/scale.md. For Parquet, Arrow, CSV and
    /// .npy files.
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    pub memory: Option<u64>,
}
