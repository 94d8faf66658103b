//! Studies: methods evaluated on the same folds, and the documents that tell programs what came of it.
//!
//! This is what the commands `fewest evaluate` and `fewest compare` do between reading their call and
//! printing their answer, for other programs to call:
//!
//! * [`Options`] say how: the numbers of features, learner, metrics, how the samples are divided;
//! * [`Study`] checks them against the data and runs every [`Candidate`], a method with its parameters, on
//!   the same folds; then it chooses the number of features and selects as many on all samples;
//! * [`Store`] keeps finished folds in a file, from which a run that was stopped goes on;
//! * [`Report`] is what came of it, [`differences`] the best method at each number of features and how far
//!   the others are from it;
//! * [`json`] writes documents with a stable order of keys: of studies, and of a single selection or score.
//!
//! Nothing here prints, reads arguments or ends the program. Folds run in parallel on the threads of the
//! caller, progress and deadline are those of the [`Context`](fewest::core::Context). Data come as a
//! [`Dataset`](fewest::core::Dataset): files are read by `fewest-data`. Tables and reports for people are the
//! command's.
//!
//! ```
//! use fewest::core::{Context, Dataset, DenseColumns, Target};
//! use fewest::eval::KRule;
//! use fewest::registry::{self, Parameters};
//! use fewest_study::{Candidate, DataInfo, Options, Study, json};
//!
//! // Feature 1 tells the class, feature 0 does not.
//! let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61)).collect::<Vec<f64>>();
//! let labels: Vec<bool> = wave(17).iter().map(|value| *value > 30.0).collect();
//! let x = DenseColumns::from_columns(&[wave(1), wave(17)])?;
//! let data = Dataset::new(x, Target::from_labels(&labels))?;
//!
//! let method = registry::find("f-score")?;
//! let candidates = vec![Candidate::new(method, Parameters::defaults(method))?];
//! let options = Options { ks: vec![1, 2], learner: Some("knn".to_owned()), ..Options::default() };
//! let study = Study::new(&data, DataInfo::new("waves", &data), candidates, &options)?;
//! let report = study.run(None, &Context::seeded(7))?;
//!
//! let chosen = report.methods[0].chosen(KRule::Best).and_then(|chosen| chosen.features.clone());
//! assert_eq!(chosen, Some(vec![1]));
//! assert!(json::evaluation(&report)?.contains("\"method\": \"f-score\""));
//! # Ok::<(), fewest_study::Error>(())
//! ```

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
mod study;
pub mod text;

pub use candidate::Candidate;
pub use error::{Error, Mismatch};
pub use info::{DataInfo, RunInfo};
pub use options::{Division, Options};
pub use report::{Chosen, Evaluated, Report, Row};
pub use store::Store;
pub use study::Study;

/// The version of fewest, as documents tell it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
