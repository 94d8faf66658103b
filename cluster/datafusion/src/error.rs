//! What can go wrong with the rows; what is wrong with the types is told when a query is planned.

use datafusion_common::DataFusionError;

/// A statistic that cannot be computed of these rows. DataFusion returns it as
/// [`DataFusionError::External`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A NaN or an infinity.
    #[error(
        "{function}: argument {number} ({name}) is {value} in a row: leave such rows out, for example by \
         {function}(…) FILTER (WHERE {name} BETWEEN -1e308 AND 1e308)"
    )]
    NotFinite {
        /// The function.
        function: &'static str,
        /// The argument, from 1.
        number: usize,
        /// What the argument is.
        name: &'static str,
        /// The value.
        value: f64,
    },
    /// More levels and classes than a table can have.
    #[error(
        "{function}: {levels} levels of argument 1 (x) with {classes} of argument 2 (y) are more than \
         {most} cells: group levels together, or leave out a column that names rows"
    )]
    TooManyCells {
        /// The function.
        function: &'static str,
        /// Levels of x.
        levels: usize,
        /// Classes of y.
        classes: usize,
        /// The most cells.
        most: usize,
    },
    /// What the score says of the sums.
    #[error("{function}: {error}")]
    Score {
        /// The function.
        function: &'static str,
        /// The error.
        error: fewest_core::Error,
    },
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

/// The error of bytes that no accumulator has written.
pub(crate) fn corrupt(found: &'static str) -> fewest_core::Error {
    fewest_core::Error::parameter("state", found, "what an accumulator of the same version wrote, unchanged")
}
