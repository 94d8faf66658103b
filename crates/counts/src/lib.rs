//! Features as levels, and what is counted over them: entropies and mutual information, in nats.
//!
//! [`Coded`] holds every feature of a data set as levels and the samples ordered by class; [`joint_sum`] and [`sums`] are the
//! one computation behind all criteria, `Σ c ln c` over joint counts. Entropies are `ln n` less that over `n`.
//!
//! ```
//! use fewest_core::{Context, Dataset, DenseColumns, Target};
//! use fewest_counts::discretisation::Discretisation;
//! use fewest_counts::{Coded, Scratch};
//!
//! let x = DenseColumns::from_columns(&[vec![0.0, 0.0, 1.0, 1.0], vec![7.0, 7.0, 8.0, 8.0], vec![0.0, 1.0, 0.0, 1.0]])?;
//! let data = Dataset::new(x, Target::from_labels(&["a", "a", "a", "b"]))?;
//! let coded = Coded::new(&data, &Discretisation::default(), "example", &Context::default())?;
//! let mut scratch = Scratch::default();
//! assert!((coded.information(0, 1, &mut scratch) - 2_f64.ln()).abs() < 1e-12);
//! assert!(coded.information(0, 2, &mut scratch).abs() < 1e-12);
//! # Ok::<(), fewest_counts::Error>(())
//! ```

mod beside;
mod codes;
mod counts;
mod tables;

pub mod discretisation;

pub use beside::{Beside, undecided};
pub use codes::{Coded, Rows, Variable};
pub use counts::{Scratch, Sums, joint_sum, sums};
pub use fewest_core::Error;
pub use tables::{LevelTable, stream_tables};
