//! Criteria of information theory: how much features say about the target, and how much of it others say already.
//!
//! All criteria over levels share the engine of joint counts ([`fewest_counts`]) and one forward selection. See [`Criterion`] for the formulas.

mod cfs;
mod continuous;
mod criteria;
mod criterion;
mod estimators;
mod fcq;
mod forward;
mod mim;
mod uncertainty;

pub use cfs::Cfs;
pub use criteria::Forward;
pub use criterion::{Criterion, Form};
pub use estimators::{Estimator, Observations, kraskov, parzen};
pub use fcq::Fcq;
pub use mim::Mim;
pub use uncertainty::Fcbf;
