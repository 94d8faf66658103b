//! Features that come from several sources.

mod clusters;
mod descent;
mod group_l1_l21;
mod pieces;
mod several;
mod splitting;

use fewest_core::words;

pub use clusters::GroupL1L21Clusters;
pub use group_l1_l21::GroupL1L21;
pub use several::{Aumfs, Mvfs, SharedIndicators, ViewRegression};

words! {
    /// How errors of a regression on indicators count.
    #[derive(Default)]
    pub enum ViewLoss {
        /// By the square of the length of their row.
        #[default]
        Squared = "squared",
        /// By the length, which outliers do not rule.
        Lengths = "l21",
    }
}

#[cfg(test)]
mod tests;
