//! Scores by classical statistics of single features, their p-values, and cut-offs by significance.
//!
//! A categorical feature counts as its level indicators, divided by √2: with two levels that is the same as the
//! code 0 or 1, and with more it does not depend on how levels are numbered. Where a method needs an order, it
//! says what it does instead.

mod chi2;
mod classes;
mod correlation;
mod distinct;
mod f_score;
mod gini;
mod kruskal_wallis;
mod levels;
mod moments;
mod significance;
mod t_score;
mod tails;
mod uncorrelated;
mod variance;

use fewest_core::Scores;

pub use chi2::ChiSquare;
pub use correlation::{Coefficient, Correlation};
pub use distinct::{Copies, Distinct};
pub use f_score::FScore;
pub use gini::Gini;
pub use kruskal_wallis::KruskalWallis;
pub use significance::{Correction, Significant};
pub use t_score::{ClassVariance, TScore};
pub use uncorrelated::Uncorrelated;
pub use variance::Variance;

/// The note about features that were removed because they are constant, where there are any.
fn removed_constants(n_constant: usize) -> Option<String> {
    match n_constant {
        0 => None,
        1 => Some("1 constant feature was removed".to_owned()),
        _ => Some(format!("{n_constant} constant features were removed")),
    }
}

/// Statistics with their p-values, the largest statistic best.
fn tested(scored: Vec<(f64, f64)>) -> Scores {
    let (values, p_values): (Vec<f64>, Vec<f64>) = scored.into_iter().unzip();
    let mut scores = Scores::descending(values);
    scores.p_values = Some(p_values);
    scores
}
