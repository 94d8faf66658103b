#![doc = include_str!("../README.md")]

mod accumulator;
mod authors;
mod columns;
mod context;
mod dataset;
mod error;
mod false_discoveries;
mod forecast;
mod foreign;
mod graph;
mod groups;
mod memory;
pub mod method;
pub mod order;
mod report;
mod scores;
mod selection;
mod streams;
mod target;
mod views;

pub use accumulator::{Accumulator, BATCH_ROWS, Partial, accumulate, accumulate_part, part_rows};
pub use authors::Authors;
pub use columns::{Column, Columns, DenseColumns, FeatureSubset, OnDemand};
pub use context::{Context, Progress, derive_seed};
pub use dataset::{Dataset, FeatureKind};
pub use error::Error;
pub use false_discoveries::{FalseDiscoveries, NumberBound, RateBound};
pub use forecast::Forecast;
#[cfg(feature = "ndarray")]
pub use foreign::NdarrayColumns;
#[cfg(feature = "polars")]
pub use foreign::PolarsColumns;
pub use graph::Graph;
pub use groups::{GroupTree, Groups, OverlappingGroups};
pub use memory::room;
pub use report::{
    AlternationSummary, Approximation, Certificate, DescentSummary, RelaxationSummary, SolverReport,
    ValidatedPenalty,
};
pub use scores::{Ranked, Scorer, Scores, q_values, rank};
pub use selection::{
    Budget, Path, PathChoice, PathPoint, Related, Selection, Selector, Similarity, Status, ViewWeight,
};
#[doc(hidden)]
pub use streams::state::by_macro as streams_state;
pub use streams::{
    Alarm, Arrives, AskedPass, FadingScore, FeatureBatches, FeatureStream, FedByFeatures, FedBySamples, Held,
    PassSelector, RankedStream, Returned, RowBatches, RowSums, RunningScorer, RunningScores, SampleStream,
    SavedRows, State, StreamMethod, StreamScorer, StreamSelector, SummedElsewhere, TIMES_IN_MEMORY, Watched,
    Whole, rewind, score_parts, sum_part,
};
pub use target::{Affinity, Classes, Outputs, Survival, Target};
pub use views::Views;
