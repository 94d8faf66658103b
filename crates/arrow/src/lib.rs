#![doc = include_str!("../README.md")]

mod builder;
mod bytes_at;
mod ipc;
mod kind;
mod parquet_file;
mod reading;
mod stored;
mod write;

pub use ipc::ARROW;
pub use parquet_file::PARQUET;
