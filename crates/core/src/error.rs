//! Errors in arguments or data.

/// Wrong arguments or data. Not converging is a [`Status`](crate::Status), not an error.
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
        /// The allowed range or list of values.
        expected: String,
    },
    /// Two sizes that must agree, but do not.
    #[error("{what}: expected {expected}, found {found}")]
    ShapeMismatch {
        /// What was counted.
        what: &'static str,
        /// The size it must have.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// An invalid link, group or view of a data set.
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
    /// A target that the method does not support.
    #[error("{method} needs {expected} as target, but the target is {found}")]
    UnsupportedTarget {
        /// The method's id.
        method: &'static str,
        /// The supported targets.
        expected: &'static str,
        /// The given target.
        found: String,
    },
    /// A feature whose values could not be read: a file, a cluster or a generator failed.
    #[error("feature {column} (counted from 0) could not be read: {reason}")]
    Unreadable {
        /// The feature's index in the table that failed, from 0.
        column: usize,
        /// The error of the source, as one line.
        reason: String,
    },
    /// Too little data to compute anything.
    #[error("{what}: at least {minimum} needed, found {found}")]
    TooFew {
        /// What was counted.
        what: &'static str,
        /// The smallest allowed number.
        minimum: usize,
        /// The number found.
        found: usize,
    },
    /// A combination that the method does not support.
    #[error("{what} is not supported by {method}: {instead}")]
    Unsupported {
        /// The method's id.
        method: &'static str,
        /// What was requested.
        what: String,
        /// What to do instead.
        instead: String,
    },
    /// A kernel that is not positive semidefinite, given to a solver that is not valid for it.
    #[error("{kernel} is indefinite, but {solver} needs a positive semidefinite kernel: {instead}")]
    Indefinite {
        /// The kernel, with its parameters.
        kernel: String,
        /// The solver.
        solver: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A run that was stopped, by its deadline or its caller, before it had a result.
    #[error("the run was stopped before {before}: allow more time")]
    Stopped {
        /// What had not been done yet.
        before: &'static str,
    },
    /// An error of the training samples of one fold, where those of all samples may have none.
    #[error("in fold {fold} of {parameter}: {error}")]
    InFold {
        /// The parameter that asks for the folds.
        parameter: &'static str,
        /// Which one, from 1.
        fold: usize,
        /// What is wrong in it.
        error: Box<Error>,
    },
    /// A computation that failed on valid input, for example by an overflow.
    #[error("{what} failed numerically: {hint}")]
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

    /// An [`Error::InFold`], unless the run was stopped: that is no fault of the fold.
    pub fn in_fold(self, parameter: &'static str, fold: usize) -> Self {
        match self {
            stopped @ Self::Stopped { .. } => stopped,
            error => Self::InFold { parameter, fold, error: Box::new(error) },
        }
    }

    /// The error with its row counted from the first row of the table, for an error about a batch that
    /// starts at `first_row`.
    pub fn in_rows_from(mut self, first_row: usize) -> Self {
        if let Self::NonFinite { row, .. } | Self::NonFiniteTarget { row, .. } = &mut self {
            *row += first_row;
        }
        self
    }

    /// The error with its column counted from the first feature of the table, for an error about a part of
    /// the features that starts at `first_feature`.
    #[must_use]
    pub fn in_columns_from(mut self, first_feature: usize) -> Self {
        if let Self::NonFinite { column, .. } = &mut self {
            *column += first_feature;
        }
        self
    }

    /// The error with the column of the full table, for an error about a column of the subset `features`.
    #[must_use]
    pub fn in_columns(mut self, features: &[usize]) -> Self {
        if let Self::NonFinite { column, .. } = &mut self
            && let Some(&feature) = features.get(*column)
        {
            *column = feature;
        }
        self
    }
}
