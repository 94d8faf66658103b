#![doc = include_str!("../README.md")]

#[cfg(feature = "batches")]
mod batches;
mod builder;
mod bytes_at;
mod held;
mod ipc;
mod kind;
mod parquet_file;
mod pieces;
mod reading;
mod stored;
mod write;

#[cfg(feature = "batches")]
pub use batches::Batches;
pub use ipc::ARROW;
pub use parquet_file::PARQUET;
pub use reading::hush_decoders;
