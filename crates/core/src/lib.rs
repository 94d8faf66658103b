//! The narrow traits and plain types that every `fewest` crate meets in.
//!
//! Data flows one way: a [`Dataset`] (features seen column by column through [`Columns`], and a
//! [`Target`]) goes into a [`Selector`] with a [`Budget`], and a [`Selection`] comes out: features
//! best first, with their scores and what the method can certify about them. A [`Scorer`] gives
//! every feature a number instead; [`Ranked`] turns any scorer into a selector, so that the score
//! and the cut-off stay two objects.
//!
//! This crate depends on no other workspace crate. Matrix libraries enter it only as
//! implementations of [`Columns`], behind the features `nalgebra` (default) and `nalgebra-sparse`.
//!
//! ```
//! use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Ranked, Scorer, Scores, Selector, Target};
//!
//! /// Scores a feature by its range: not a good method, but a whole one.
//! struct Range;
//!
//! impl Scorer for Range {
//!     fn score(&self, data: &Dataset, _context: &Context<'_>) -> Result<Scores, Error> {
//!         let mut scratch = Vec::new();
//!         let mut values = Vec::with_capacity(data.n_features());
//!         for j in 0..data.n_features() {
//!             let column = data.x().column(j, &mut scratch)?.to_vec(data.n_samples());
//!             let largest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
//!             let smallest = column.iter().copied().fold(f64::INFINITY, f64::min);
//!             values.push(largest - smallest);
//!         }
//!         Ok(Scores::descending(values))
//!     }
//! }
//!
//! let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 0.5], vec![0.0, 9.0, 3.0]])?;
//! let data = Dataset::new(x, Target::None)?;
//! let selection = Ranked::new(Range).select(&data, Budget::Count(1), &Context::default())?;
//! assert_eq!(selection.order, [1]);
//! # Ok::<(), Error>(())
//! ```

mod accumulator;
mod columns;
mod context;
mod dataset;
mod error;
mod graph;
mod groups;
pub mod method;
mod report;
mod scores;
mod selection;
mod streams;
mod target;
mod views;

pub use accumulator::{Accumulator, BATCH_ROWS, Partial, accumulate, accumulate_part};
pub use columns::{Column, Columns, DenseColumns, FeatureSubset, OnDemand, RowSubset};
pub use context::{Context, Progress, derive_seed};
pub use dataset::{Dataset, FeatureKind};
pub use error::Error;
pub use graph::Graph;
pub use groups::{GroupTree, Groups, OverlappingGroups};
pub use report::{
    AlternationSummary, Approximation, Certificate, RelaxationSummary, SolverReport, ValidatedPenalty,
};
pub use scores::{Ranked, Scorer, Scores, rank};
pub use selection::{Budget, Path, PathPoint, Related, Selection, Selector, Similarity, Status};
pub use streams::{
    FeatureBatches, FeatureStream, FedByFeatures, FedBySamples, RowBatches, SampleStream, StreamScorer,
    StreamSelector,
};
pub use target::{Affinity, Classes, Outputs, Target};
pub use views::View;
