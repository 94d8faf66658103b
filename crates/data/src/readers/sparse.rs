//! What the formats with sparse tables share.

use std::path::Path;

use nalgebra_sparse::CscMatrix;

use crate::{Error, Place};

/// Compressed sparse columns, not checked yet.
pub struct SparseColumns {
    /// Where each column starts in the other two, and one more for the end.
    pub offsets: Vec<usize>,
    pub rows: Vec<usize>,
    pub values: Vec<f64>,
}

impl SparseColumns {
    /// The matrix, checked.
    pub fn into_matrix(self, path: &Path, n_samples: usize) -> Result<CscMatrix<f64>, Error> {
        let n_features = self.offsets.len().saturating_sub(1);
        CscMatrix::try_from_csc_data(n_samples, n_features, self.offsets, self.rows, self.values).map_err(
            |error| {
                let problem = format!("the sparse columns contradict each other ({error})");
                Error::malformed(path, Place::File, problem, "write the file again")
            },
        )
    }
}
