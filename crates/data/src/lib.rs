#![doc = include_str!("../README.md")]

mod assembly;
mod cells;
mod digest;
mod encoding;
mod error;
mod first_line;
mod folder;
mod format;
mod hints;
mod imputation;
mod journal;
mod known;
mod levels;
mod lookup;
mod memory;
mod missing;
mod options;
mod passes;
mod readers;
mod reduction;
mod remote;
mod roles;
mod scaling;
mod sizes;
mod source;
mod summary;
mod suspicions;
pub mod synthetic;
mod table;
mod target;
mod tokens;
mod write;

pub use cells::{Cells, Wanted};
pub use digest::digest;
pub use error::{ColumnLabel, Error, Place, RowLabel};
pub use folder::{Folder, Part};
pub use format::{Format, Formats, Sniff};
pub use journal::Journal;
pub use known::{
    GroupTable, LinkOptions, Links, Nodes, parse_views, read_authors, read_groups, read_links, read_views,
};
pub use levels::number_text;
pub use memory::{Limit, physical_memory};
pub use missing::{Complete, Missing};
pub use options::{Header, ReadOptions, TargetChoice, TargetFound, Task};
pub use passes::{OpenPieces, Passes, Pieces, RowCounts, Rows, Stamp};
pub use readers::arriving::{
    ArrivedFeature, ArrivedSample, ArrivingFeatures, ArrivingSamples, FeatureTarget, Growing, Piped,
    SampleSchema,
};
pub use readers::npy::NpyColumns;
pub use reduction::{Fill, Reduced, ReducedColumn, Reduction, Unknown, UnknownLevel};
pub use remote::Remote;
pub use roles::matching_names;
pub use scaling::{Scaled, Scaling};
pub use sizes::{bytes_of, bytes_text};
pub use source::{Content, Source};
pub use summary::{ColumnSummary, TableSummary, TargetSummary};
pub use table::Table;
pub use target::are_classes;
pub use write::{
    NextPiece, Written, check_writable, csv_text, remove_unfinished, write_atomically, write_csv, write_json,
    write_through,
};
