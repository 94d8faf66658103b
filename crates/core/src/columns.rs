//! Features, read one column at a time.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Error;
use crate::graph::Places;

/// One feature's values over all samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Column<'a> {
    /// Every value, in sample order.
    Dense(&'a [f64]),
    /// The stored values and their sample indices, strictly increasing; all others are zero.
    Sparse {
        /// Sample indices of the stored values.
        rows: &'a [usize],
        /// The stored values.
        values: &'a [f64],
    },
}

impl Column<'_> {
    /// Writes every value into `out`, whose length is the number of samples.
    pub fn copy_to(&self, out: &mut [f64]) {
        match *self {
            Column::Dense(values) => out.copy_from_slice(values),
            Column::Sparse { rows, values } => {
                out.fill(0.0);
                for (&row, &value) in rows.iter().zip(values) {
                    out[row] = value;
                }
            }
        }
    }

    /// The values of the samples `rows`. The indices of stored values still count from the first sample of
    /// the column.
    pub fn stretch(self, rows: std::ops::Range<usize>) -> Self {
        match self {
            Column::Dense(values) => Column::Dense(&values[rows]),
            Column::Sparse { rows: stored, values } => {
                let before = |row: usize| stored.partition_point(|stored| *stored < row);
                let range = before(rows.start)..before(rows.end);
                Column::Sparse { rows: &stored[range.clone()], values: &values[range] }
            }
        }
    }

    /// Every value, in sample order.
    pub fn to_vec(&self, n_samples: usize) -> Vec<f64> {
        let mut out = vec![0.0; n_samples];
        self.copy_to(&mut out);
        out
    }
}

/// A table of features that is read one column at a time.
///
/// The trait has few methods, so that a dense matrix, a sparse one, an `f32` one, a file mapped in
/// parts or a generator can implement it. Implementations return the same values for the same `j` at
/// every call.
///
/// A read may fail at any call, even if an earlier call succeeded. Methods return the error to their caller;
/// none continues with other values.
pub trait Columns: Send + Sync {
    /// Number of samples (rows).
    fn n_samples(&self) -> usize;

    /// Number of features (columns).
    fn n_features(&self) -> usize;

    /// Feature `j < n_features()`. `scratch` may be used as a buffer for the values; its content on
    /// entry is ignored.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when the source fails. A table in memory never does.
    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error>;

    /// Writes feature `j` into `out`, of length `n_samples()`. After an error its content is undefined.
    ///
    /// # Errors
    /// As [`column`](Columns::column).
    fn copy_column(&self, j: usize, out: &mut [f64]) -> Result<(), Error> {
        let mut scratch = Vec::new();
        self.column(j, &mut scratch)?.copy_to(out);
        Ok(())
    }
}

/// A dense table of `f64`, column after column.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseColumns {
    values: Vec<f64>,
    n_samples: usize,
    n_features: usize,
}

impl DenseColumns {
    /// From `values` in column-major order: feature 0 of every sample, then feature 1, and so on.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless `values.len() == n_samples * n_features`.
    pub fn new(values: Vec<f64>, n_samples: usize, n_features: usize) -> Result<Self, Error> {
        let expected = n_samples.saturating_mul(n_features);
        if values.len() != expected {
            return Err(Error::ShapeMismatch { what: "values of the table", expected, found: values.len() });
        }
        Ok(Self { values, n_samples, n_features })
    }

    /// From one vector per feature.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless all have the same length.
    pub fn from_columns(columns: &[Vec<f64>]) -> Result<Self, Error> {
        let n_samples = columns.first().map_or(0, Vec::len);
        for column in columns {
            if column.len() != n_samples {
                return Err(Error::ShapeMismatch {
                    what: "samples of a feature",
                    expected: n_samples,
                    found: column.len(),
                });
            }
        }
        Ok(Self { values: columns.concat(), n_samples, n_features: columns.len() })
    }
}

impl Columns for DenseColumns {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        Ok(Column::Dense(&self.values[j * self.n_samples..(j + 1) * self.n_samples]))
    }
}

/// Columns computed on demand, by a function `(j, out)` that fills `out`.
///
/// ```
/// use fewest_core::{Columns, OnDemand};
/// let powers = OnDemand::new(3, 4, |j, out: &mut [f64]| {
///     for (i, value) in out.iter_mut().enumerate() {
///         *value = (i as f64).powi(j as i32);
///     }
///     Ok(())
/// });
/// assert_eq!(powers.column(2, &mut Vec::new())?.to_vec(3), [0.0, 1.0, 4.0]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub struct OnDemand<F> {
    n_samples: usize,
    n_features: usize,
    fill: F,
}

impl<F: Fn(usize, &mut [f64]) -> Result<(), Error> + Send + Sync> OnDemand<F> {
    /// `fill(j, out)` writes the `n_samples` values of feature `j`, the same at every call, or returns
    /// [`Error::unreadable`] with a reason.
    pub fn new(n_samples: usize, n_features: usize, fill: F) -> Self {
        Self { n_samples, n_features, fill }
    }
}

impl<F: Fn(usize, &mut [f64]) -> Result<(), Error> + Send + Sync> Columns for OnDemand<F> {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        scratch.clear();
        scratch.resize(self.n_samples, 0.0);
        (self.fill)(j, scratch)?;
        Ok(Column::Dense(scratch))
    }

    fn copy_column(&self, j: usize, out: &mut [f64]) -> Result<(), Error> {
        out.fill(0.0);
        (self.fill)(j, out)
    }
}

/// Some rows of a table, in the order given, without copying the table: the folds of an evaluation.
///
/// Reading a column visits each row kept and, if the columns are sparse, each stored value.
pub(crate) struct RowSubset<C> {
    table: C,
    rows: Vec<usize>,
    /// The position of each row of the table in `rows`, computed at the first sparse column.
    places: OnceLock<Places>,
    /// Buffers for tables that need one. The buffer of the caller cannot be used: it receives the result.
    buffers: Mutex<Vec<Vec<f64>>>,
}

impl<C: Columns> RowSubset<C> {
    /// Rows `rows` of `table`; a row may occur more than once (a bootstrap sample).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a row is out of range.
    pub(crate) fn new(table: C, rows: Vec<usize>) -> Result<Self, Error> {
        let n_samples = table.n_samples();
        if let Some(&row) = rows.iter().find(|&&row| row >= n_samples) {
            return Err(Error::parameter("rows", row, format!("below the number of samples, {n_samples}")));
        }
        Ok(Self { table, rows, places: OnceLock::new(), buffers: Mutex::default() })
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<f64>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Columns> Columns for RowSubset<C> {
    fn n_samples(&self) -> usize {
        self.rows.len()
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        scratch.resize(self.rows.len(), 0.0);
        self.copy_column(j, scratch)?;
        Ok(Column::Dense(scratch))
    }

    fn copy_column(&self, j: usize, out: &mut [f64]) -> Result<(), Error> {
        let mut buffer = self.buffers().pop().unwrap_or_default();
        match self.table.column(j, &mut buffer)? {
            Column::Dense(values) => {
                out.iter_mut().zip(&self.rows).for_each(|(out, &row)| *out = values[row]);
            }
            Column::Sparse { rows, values } => {
                let places = self.places.get_or_init(|| Places::new(&self.rows, self.table.n_samples()));
                out.fill(0.0);
                for (&row, &value) in rows.iter().zip(values) {
                    places.of(row).iter().for_each(|&place| out[place] = value);
                }
            }
        }
        self.buffers().push(buffer);
        Ok(())
    }
}

/// Some columns of a table, in the order given, without copying the table.
pub struct FeatureSubset<C> {
    table: C,
    features: Vec<usize>,
}

impl<C: Columns> FeatureSubset<C> {
    /// Features `features` of `table`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a feature does not exist.
    pub fn new(table: C, features: Vec<usize>) -> Result<Self, Error> {
        let n_features = table.n_features();
        if let Some(j) = features.iter().find(|&&j| j >= n_features) {
            let expected = format!("below the number of features, {n_features}");
            return Err(Error::parameter("features", j, expected));
        }
        Ok(Self { table, features })
    }
}

impl<C: Columns> Columns for FeatureSubset<C> {
    fn n_samples(&self) -> usize {
        self.table.n_samples()
    }

    fn n_features(&self) -> usize {
        self.features.len()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        self.table.column(self.features[j], scratch)
    }
}

impl<C: Columns + ?Sized> Columns for std::sync::Arc<C> {
    fn n_samples(&self) -> usize {
        (**self).n_samples()
    }

    fn n_features(&self) -> usize {
        (**self).n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        (**self).column(j, scratch)
    }

    fn copy_column(&self, j: usize, out: &mut [f64]) -> Result<(), Error> {
        (**self).copy_column(j, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Target};

    /// Column 1 cannot be read: whatever stands between the table and its reader passes that on.
    #[test]
    fn a_failed_read_is_passed_on() -> Result<(), Error> {
        let table = OnDemand::new(3, 3, |j, out: &mut [f64]| {
            if j == 1 {
                return Err(Error::unreadable(j, "no such file"));
            }
            out.fill(j as f64);
            Ok(())
        });
        let subset = RowSubset::new(std::sync::Arc::new(table), vec![2, 0])?;
        let (mut scratch, mut out) = (Vec::new(), [0.0; 2]);
        assert_eq!(subset.column(2, &mut scratch)?, Column::Dense(&[2.0, 2.0]));
        let expected = Error::Unreadable { column: 1, reason: "no such file".to_owned() };
        assert_eq!(subset.column(1, &mut scratch), Err(expected.clone()));
        assert_eq!(subset.copy_column(1, &mut out), Err(expected.clone()));
        assert_eq!(expected.to_string(), "feature 1 (counted from 0) could not be read: no such file");
        assert_eq!(Dataset::new(subset, Target::None)?.constant_features(), Err(expected));
        Ok(())
    }

    /// A table whose columns are sparse, or dense but in the caller's buffer.
    struct Stored {
        rows: Vec<usize>,
        values: Vec<f64>,
        sparse: bool,
    }

    impl Columns for Stored {
        fn n_samples(&self) -> usize {
            6
        }

        fn n_features(&self) -> usize {
            1
        }

        fn column<'a>(&'a self, _j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let sparse = Column::Sparse { rows: &self.rows, values: &self.values };
            if self.sparse {
                return Ok(sparse);
            }
            *scratch = sparse.to_vec(6);
            Ok(Column::Dense(scratch))
        }
    }

    #[test]
    fn a_subset_of_rows_is_the_same_whatever_the_table_is() -> Result<(), Error> {
        let whole = [0.0, 4.0, 0.0, -1.0, 2.5, 0.0];
        for rows in [vec![], vec![5, 3, 3, 1], vec![0, 1, 2, 3, 4, 5], vec![2], vec![4, 4, 4, 0, 4]] {
            let expected: Vec<f64> = rows.iter().map(|&row| whole[row]).collect();
            let check = |table: Box<dyn Columns>| -> Result<(), Error> {
                let subset = RowSubset::new(std::sync::Arc::<dyn Columns>::from(table), rows.clone())?;
                // Twice, since the second call finds what the first has left behind.
                for _ in 0..2 {
                    let mut scratch = vec![7.0; 3];
                    assert_eq!(subset.column(0, &mut scratch)?.to_vec(rows.len()), expected);
                }
                let mut out = vec![7.0; rows.len()];
                subset.copy_column(0, &mut out)?;
                assert_eq!(out, expected);
                let reversed: Vec<usize> = (0..rows.len()).rev().collect();
                let again = RowSubset::new(subset, reversed)?.column(0, &mut Vec::new())?.to_vec(rows.len());
                assert!(again.iter().eq(expected.iter().rev()));
                Ok(())
            };
            check(Box::new(DenseColumns::new(whole.to_vec(), 6, 1)?))?;
            check(Box::new(OnDemand::new(6, 1, move |_, out: &mut [f64]| {
                out.copy_from_slice(&whole);
                Ok(())
            })))?;
            for sparse in [false, true] {
                check(Box::new(Stored { rows: vec![1, 3, 4], values: vec![4.0, -1.0, 2.5], sparse }))?;
            }
        }
        Ok(())
    }
}
