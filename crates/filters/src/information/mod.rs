//! Criteria of information theory: how much features say about the target, and how much of it others say already.
//!
//! All criteria over levels share one engine: `Σ c ln c` over joint counts (entropies are `ln n` less that over `n`), and
//! one forward selection. See [`Criterion`] for the formulas.

mod codes;
mod counts;
mod criteria;
mod forward;

pub use criteria::{Criterion, Form, Forward};
