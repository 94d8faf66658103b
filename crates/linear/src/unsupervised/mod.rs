//! Sparse learning without a target: features that follow the shape of the data.

mod clusters;
mod design;
mod indicators;
mod jelsr;
mod mcfs;
mod ndfs;
mod ridge;
mod udfs;

use std::collections::BTreeMap;

use fewest_core::{Context, Error};

use crate::columns::LinearColumns;

pub(crate) use design::Design;
pub(crate) use indicators::{Indicators, LARGEST_EIGENVALUE, from_embedding, laplacian, orthogonality};
pub(crate) use ndfs::factors_of;
pub(crate) use ridge::WeightedRidge;

pub use clusters::{Clusters, Neighbourhoods};
pub use jelsr::Jelsr;
pub use mcfs::Mcfs;
pub use ndfs::{Ndfs, RegressionStep};
pub use udfs::Udfs;

/// Why a decomposition has no answer: the run was stopped, or numbers are not finite.
pub(crate) fn stopped(context: &Context<'_>) -> Error {
    match context.stopped() {
        Some(_) => Error::Stopped { before: "a first point was found" },
        None => not_finite(),
    }
}

pub(crate) fn not_finite() -> Error {
    Error::Numerical {
        what: "the matrix of a step",
        hint: "its numbers are too large or too small; take parameters closer to 1".to_owned(),
    }
}

/// The length of the row of each feature with a coefficient; coefficients are those of one column of the
/// table after the other, `n_outputs` each.
pub(crate) fn lengths_of_features(
    columns: &LinearColumns<'_>,
    coefficients: &[f64],
    n_outputs: usize,
) -> Vec<(usize, f64)> {
    let mut lengths: BTreeMap<usize, f64> = BTreeMap::new();
    for (at, &value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        let length = lengths.entry(columns.feature(at / n_outputs)).or_insert(0.0);
        *length = length.hypot(value);
    }
    lengths.into_iter().collect()
}
