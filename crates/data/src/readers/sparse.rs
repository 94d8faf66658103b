//! What the formats with sparse tables share.

use std::path::Path;

use nalgebra_sparse::CscMatrix;

use crate::{Error, Place};

/// Compressed sparse columns, not checked yet.
pub(super) struct SparseColumns {
    /// Where each column starts in the other two, and one more for the end.
    pub offsets: Vec<usize>,
    pub rows: Vec<usize>,
    pub values: Vec<f64>,
}

impl SparseColumns {
    /// The matrix, checked.
    pub(super) fn into_matrix(self, path: &Path, n_samples: usize) -> Result<CscMatrix<f64>, Error> {
        let contradiction = |problem: &str| {
            let problem = format!("the sparse columns contradict themselves: {problem}");
            Error::malformed(path, Place::File, problem, "write the file again")
        };
        // The library panics on some of these.
        let Self { offsets, rows, values } = self;
        let n_stored = rows.len();
        let increasing = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !increasing
            || offsets.first() != Some(&0)
            || offsets.last() != Some(&n_stored)
            || values.len() != n_stored
        {
            return Err(contradiction("their starts do not divide the stored values"));
        }
        for column in offsets.windows(2).map(|pair| &rows[pair[0]..pair[1]]) {
            if column.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(contradiction("the rows of a column do not increase"));
            }
            if column.last().is_some_and(|&row| row >= n_samples) {
                return Err(contradiction("a row is beyond the last one"));
            }
        }
        CscMatrix::try_from_csc_data(n_samples, offsets.len() - 1, offsets, rows, values)
            .map_err(|error| contradiction(&error.to_string()))
    }
}
