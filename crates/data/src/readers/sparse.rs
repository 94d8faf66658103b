//! Shared by the formats with sparse tables.

use std::path::Path;

use nalgebra_sparse::CscMatrix;

use crate::{Error, Place};

/// Compressed sparse columns, not checked yet.
pub(super) struct SparseColumns {
    /// The start of each column in `rows` and `values`, then the end of the last column.
    pub offsets: Vec<usize>,
    pub rows: Vec<usize>,
    pub values: Vec<f64>,
}

impl SparseColumns {
    /// The matrix, checked.
    pub(super) fn into_matrix(self, path: &Path, n_samples: usize) -> Result<CscMatrix<f64>, Error> {
        let inconsistent = |problem: &str| {
            let problem = format!("the sparse matrix is inconsistent: {problem}");
            Error::malformed(path, Place::File, problem, "write the file again")
        };
        // `try_from_csc_data` panics on some invalid input.
        let Self { offsets, rows, values } = self;
        let n_stored = rows.len();
        let increasing = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !increasing
            || offsets.first() != Some(&0)
            || offsets.last() != Some(&n_stored)
            || values.len() != n_stored
        {
            return Err(inconsistent("the column offsets do not fit the number of stored values"));
        }
        for column in offsets.windows(2).map(|pair| &rows[pair[0]..pair[1]]) {
            if column.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(inconsistent("the row indices of a column do not increase"));
            }
            if column.last().is_some_and(|&row| row >= n_samples) {
                return Err(inconsistent("a row index is not below the number of rows"));
            }
        }
        CscMatrix::try_from_csc_data(n_samples, offsets.len() - 1, offsets, rows, values)
            .map_err(|error| inconsistent(&error.to_string()))
    }
}
