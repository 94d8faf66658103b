#![doc = include_str!("../README.md")]

mod baselines;
mod candidate;
mod catalogue;
mod design;
pub mod differences;
mod error;
mod info;
pub mod json;
mod options;
mod report;
mod store;
mod stream;
mod study;
pub mod text;

pub use candidate::{Candidate, USUAL_K, rounds_note, usual_budget};
pub use error::{Error, Mismatch};
pub use info::{DataInfo, PassInfo, RunInfo, SampleInfo};
pub use options::{Division, StudyOptions};
pub use report::{Baseline, Chosen, Evaluated, Report, Row};
pub use store::Store;
pub use stream::{
    Answer, CHECKPOINT_EVERY, Drift, Forgetting, InForce, Orders, StreamEnd, StreamInput, StreamPlan, orders,
    stream,
};
pub use study::Study;

/// The version of fewest, for documents.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
