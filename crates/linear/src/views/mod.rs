//! Features that come from several sources.

mod clusters;
mod descent;
mod group_l1_l21;
mod pieces;
mod several;
mod splitting;

use std::borrow::Cow;

use fewest_core::{Dataset, Error, Views, words};

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

/// What is said where no views are known.
const NOTE: &str = "no views of the features are known (--views): all features are taken as one view";

/// The views of a table, or one of all features; and what is to be said of that.
fn views_or_one(data: &Dataset) -> Result<(Cow<'_, Views>, Option<&'static str>), Error> {
    if let Some(views) = data.views() {
        return Ok((Cow::Borrowed(views), None));
    }
    let n_features = data.n_features();
    let all = Views::new(n_features, vec![("all".to_owned(), (0..n_features).collect())])?;
    Ok((Cow::Owned(all), Some(NOTE)))
}

#[cfg(test)]
mod tests;
