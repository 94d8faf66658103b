//! What can be wrong with a call or with the data.

/// A call or data that no method can work with. Not converging is a [`Status`](crate::Status), not an error.
///
/// Every message is one line that names the parameter, feature or cell at fault and says what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    #[error("parameter `{name}` is {value}, but must be {expected}")]
    InvalidParameter {
        /// The parameter's name, as on the command line.
        name: &'static str,
        /// The value given.
        value: String,
        /// The range or the list of values that would do.
        expected: String,
    },
    /// Two things whose sizes must agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    ShapeMismatch {
        /// What was counted.
        what: &'static str,
        /// The size it must have.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// One of the links, groups or views of a data set that cannot be.
    #[error("{part} {number} (counted from 0) {problem}")]
    InvalidPart {
        /// What it is: `link`, `group`, `feature`, `view`.
        part: &'static str,
        /// Which one, from 0.
        number: usize,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A value that is NaN or infinite where numbers are needed.
    #[error(
        "feature {name} (column {column}, counted from 0) is {value} in sample {row} (counted from 0): \
         drop or impute missing values first (on the command line: --missing drop-rows|mean|median)"
    )]
    NonFinite {
        /// The feature's name.
        name: String,
        /// The feature's index, from 0.
        column: usize,
        /// The sample's index, from 0.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// A target value that is NaN or infinite.
    #[error(
        "the target is {value} in sample {row} (counted from 0): drop the samples whose target is missing"
    )]
    NonFiniteTarget {
        /// The sample's index, from 0.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// A target the method has no use for.
    #[error("{method} needs {expected} as target, but the target is {found}")]
    UnsupportedTarget {
        /// The method's id.
        method: &'static str,
        /// What would do.
        expected: &'static str,
        /// What was given.
        found: String,
    },
    /// A feature whose values could not be read: a file, a cluster or a generator failed.
    #[error("feature {column} (counted from 0) could not be read: {reason}")]
    Unreadable {
        /// The feature's index in the table that failed, from 0.
        column: usize,
        /// What the source says, as one line.
        reason: String,
    },
    /// Too little data to compute anything.
    #[error("{what}: at least {minimum} needed, found {found}")]
    TooFew {
        /// What was counted.
        what: &'static str,
        /// The least number that would do.
        minimum: usize,
        /// The number found.
        found: usize,
    },
    /// A combination the method does not offer.
    #[error("{what} is not offered by {method}: {instead}")]
    Unsupported {
        /// The method's id.
        method: &'static str,
        /// What was asked for.
        what: String,
        /// What to do instead.
        instead: String,
    },
    /// A kernel that is not positive semidefinite, given to a solver whose answers would mean nothing then.
    #[error("{kernel} is indefinite, but {solver} needs a positive semidefinite kernel: {instead}")]
    Indefinite {
        /// The kernel, with its parameters.
        kernel: String,
        /// The solver.
        solver: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A run that was stopped, by its deadline or its caller, before there was anything to answer with.
    #[error("the run was stopped before {before}: allow more time")]
    Stopped {
        /// What had not been done yet.
        before: &'static str,
    },
    /// A computation that broke down although its input was legal, such as an overflow.
    #[error("{what} broke down numerically: {hint}")]
    Numerical {
        /// The computation.
        what: &'static str,
        /// What to try.
        hint: String,
    },
}

impl Error {
    /// An [`Error::InvalidParameter`] from anything printable.
    pub fn parameter(name: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Self::InvalidParameter { name, value: value.to_string(), expected: expected.into() }
    }

    /// An [`Error::Unreadable`] of feature `column` from anything printable.
    pub fn unreadable(column: usize, reason: impl ToString) -> Self {
        Self::Unreadable { column, reason: reason.to_string() }
    }

    /// The error with rows counted from the first of a table, where it names a row of a batch that starts at
    /// `first_row`.
    pub(crate) fn in_rows_from(mut self, first_row: usize) -> Self {
        if let Self::NonFinite { row, .. } | Self::NonFiniteTarget { row, .. } = &mut self {
            *row += first_row;
        }
        self
    }

    /// The error with the columns of a table, where it names a column of those that `features` lists.
    pub(crate) fn in_columns(mut self, features: &[usize]) -> Self {
        if let Self::NonFinite { column, .. } = &mut self
            && let Some(&feature) = features.get(*column)
        {
            *column = feature;
        }
        self
    }
}
