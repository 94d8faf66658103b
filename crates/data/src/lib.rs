//! Readers, writers, synthetic problems and preprocessing for feature selection.
//!
//! [`Table::read`] reads CSV, TSV, MATLAB, svmlight and NumPy files into a [`Table`] in which missing values
//! are still marked; [`Table::summary`] says what is in it; [`Table::complete`] applies a policy for missing
//! values and makes a [`Dataset`](fewest_core::Dataset). [`Scaling`] standardises; [`write_csv`],
//! [`write_json`] and [`write_atomically`] write files whole or not at all, [`read_if_there`] reads them;
//! [`synthetic`] draws problems whose answer is known.
//!
//! This is the one library crate of the workspace that touches files.
//!
//! ```no_run
//! use fewest_data::{Missing, ReadOptions, Table};
//! let table = Table::read("wdbc.csv", &ReadOptions::with_target("target"))?;
//! println!("{} samples of {} features", table.n_samples(), table.n_features());
//! let complete = table.complete(Missing::DropRows)?;
//! println!("{} samples dropped", complete.dropped.len());
//! # Ok::<(), fewest_data::Error>(())
//! ```

mod doubts;
mod error;
mod format;
mod imputation;
mod known;
mod levels;
mod memory;
mod missing;
mod options;
mod readers;
mod roles;
mod scaling;
mod source;
mod summary;
pub mod synthetic;
mod table;
mod target;
mod write;

pub use error::{ColumnLabel, Error, Place, RowLabel};
pub use format::{Format, Formats, Sniff, WriteTable};
pub use known::{LinkOptions, Links, Nodes, parse_view, read_groups, read_links, read_views};
pub use levels::number_text;
pub use memory::physical_memory;
pub use missing::{Complete, Missing};
pub use options::{Header, ReadOptions, TargetChoice, Task};
pub use scaling::{Scaled, Scaling};
pub use source::Source;
pub use summary::{ColumnSummary, Summary, TargetSummary};
pub use table::{Cells, Table};
pub use target::{FEW_CLASSES, MANY_CLASSES};
pub use write::{read_if_there, write_atomically, write_csv, write_json};
