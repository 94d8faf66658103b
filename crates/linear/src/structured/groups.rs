//! Where groups of features come from.

use std::collections::BTreeMap;

use fewest_core::{Context, Dataset, Error, choice};

use super::correlation;
use crate::columns::LinearColumns;

choice! {
    /// Where groups come from.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Grouping {
        /// The groups given with the data; a feature in none is a group of its own.
        Given = "given" selects_groups,
        /// The features whose names are the same before the first `_`, `.`, `:` or `/`.
        Prefix = "prefix",
        /// Features that are connected by absolute correlations above a threshold.
        Correlation {
            /// Absolute correlation above which two features are in one group.
            threshold: f64 = 0.5, ProperFraction;
        } = "correlation",
    }
}

impl Grouping {
    /// The group of each column. The columns of a feature are in one.
    pub(super) fn partition(
        self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Vec<usize>, Error> {
        let by_feature = |group_of: &[usize]| columns.features().map(|j| group_of[j]).collect();
        Ok(match self {
            Self::Given => match data.feature_partition(method)? {
                Some(group_of) => by_feature(group_of),
                None => columns.features().collect(),
            },
            Self::Prefix => by_feature(&prefixes(data)),
            Self::Correlation { threshold } => {
                let edges = correlation::edges(columns, threshold, context)?;
                by_feature(&correlation::components(data.n_features(), columns, &edges))
            }
        })
    }
}

/// The number of the prefix of each feature's name.
fn prefixes(data: &Dataset) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    let mut number = |name: String| {
        let prefix = name.split(['_', '.', ':', '/']).next().unwrap_or_default().to_owned();
        let next = numbers.len();
        *numbers.entry(prefix).or_insert(next)
    };
    (0..data.n_features()).map(|j| number(data.feature_name(j))).collect()
}
