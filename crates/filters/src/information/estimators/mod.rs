//! Estimates of mutual information without bins, and the choice between estimators.

mod kraskov;
mod parzen;

pub use kraskov::kraskov;
pub use parzen::parzen;

pub(super) use kraskov::{Neighbourhoods, Search};
pub(super) use parzen::Windows;

use fewest_core::method::FieldInfo;
use fewest_core::{Error, choice};
use fewest_counts::discretisation::{Discretisation, Levels};

choice! {
    /// How mutual information is estimated.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[non_exhaustive]
    pub enum Estimator {
        /// From joint counts of levels: the plug-in estimate.
        Discrete(Discretisation) = "discrete",
        /// From Gaussian Parzen windows, [`parzen`]; `O(n²)` a pair of features.
        Parzen {
            /// Factor on the bandwidth n^(-1/6) of the windows, on standardised features.
            bandwidth_factor: f64 = 1.0, Positive;
        } = "parzen",
        /// From nearest neighbours, [`kraskov`]; about `O(n^1.5)` a pair of features.
        Kraskov {
            /// Number of neighbours.
            neighbours: usize = 3, Count(1);
        } = "ksg",
    }
}

/// The parameter that chooses the estimator.
pub(super) const ESTIMATOR: FieldInfo = FieldInfo::new(
    "estimator",
    "From levels, Gaussian windows, or nearest neighbours (Kraskov, Stögbauer, Grassberger).",
);

impl Estimator {
    /// Checks what depends on the data.
    pub(super) fn check_samples(self, n_samples: usize) -> Result<(), Error> {
        match self {
            Estimator::Kraskov { neighbours } => check_neighbours(neighbours, n_samples),
            Estimator::Discrete(_) | Estimator::Parzen { .. } => Ok(()),
        }
    }
}

fn check_bandwidth_factor(factor: f64) -> Result<(), Error> {
    if factor.is_finite() && factor > 0.0 {
        Ok(())
    } else {
        Err(Error::parameter("bandwidth_factor", factor, "a number above 0"))
    }
}

fn check_neighbours(neighbours: usize, n_samples: usize) -> Result<(), Error> {
    if neighbours == 0 {
        return Err(Error::parameter("neighbours", neighbours, "at least 1"));
    }
    if neighbours >= n_samples {
        let expected = format!("below the number of samples, {n_samples}");
        return Err(Error::parameter("neighbours", neighbours, expected));
    }
    Ok(())
}

/// A variable of which mutual information is estimated.
#[derive(Debug, Clone, Copy)]
pub enum Observations<'a> {
    /// Numbers, all finite.
    Real(&'a [f64]),
    /// Categories.
    Levels(&'a Levels),
}

impl Observations<'_> {
    fn len(&self) -> usize {
        match self {
            Observations::Real(values) => values.len(),
            Observations::Levels(levels) => levels.codes.len(),
        }
    }

    /// Numbers of mean 0 and population variance 1; all 0 where they are constant.
    fn standardised(values: &[f64]) -> Vec<f64> {
        let mut standard = values.to_vec();
        if !fewest_columns::standardise(&mut standard) {
            standard.fill(0.0);
        }
        standard
    }
}

fn check_lengths(x: &Observations<'_>, y: &Observations<'_>) -> Result<(), Error> {
    if x.len() != y.len() {
        return Err(Error::ShapeMismatch {
            what: "samples of the second variable",
            expected: x.len(),
            found: y.len(),
        });
    }
    if x.len() == 0 {
        return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
    }
    Ok(())
}
