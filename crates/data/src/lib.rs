#![doc = include_str!("../README.md")]

mod digest;
mod encoding;
mod error;
mod format;
mod imputation;
mod journal;
mod known;
mod levels;
mod memory;
mod missing;
mod options;
mod readers;
mod reduction;
mod roles;
mod scaling;
mod source;
mod summary;
mod suspicions;
pub mod synthetic;
mod table;
mod target;
mod write;

pub use digest::digest;
pub use error::{ColumnLabel, Error, Place, RowLabel};
pub use format::{Format, Formats, Sniff};
pub use journal::Journal;
pub use known::{LinkOptions, Links, Nodes, parse_view, read_groups, read_links, read_views};
pub use memory::{Limit, physical_memory};
pub use missing::{Complete, Missing};
pub use options::{Header, ReadOptions, TargetChoice, Task};
pub use reduction::{Fill, ReducedColumn, Reduction};
pub use scaling::{Scaled, Scaling};
pub use source::Source;
pub use summary::{ColumnSummary, TableSummary, TargetSummary};
pub use table::{Cells, Table};
pub use write::{check_writable, remove_unfinished, write_atomically, write_csv, write_json};
