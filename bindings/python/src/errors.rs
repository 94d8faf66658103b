//! Errors of the library as those of Python, with the same one line.

use fewest::core::Error;
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(_fewest, NotYet, PyValueError, "There is no answer, but there may be one of more samples.");

/// Of these samples there is no answer.
pub(crate) fn not_yet(error: impl std::fmt::Display) -> PyErr {
    NotYet::new_err(error.to_string())
}

/// What the user gave is wrong, in the words of the library.
pub(crate) fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An error of a run: a time limit that came before any answer is no fault of the values given.
pub(crate) fn of_run(error: &Error) -> PyErr {
    match error {
        Error::Stopped { .. } => PyTimeoutError::new_err(error.to_string()),
        _ => wrong(error),
    }
}
