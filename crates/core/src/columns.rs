//! Features, seen one column at a time.

use crate::Error;

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

    /// The values of the samples `rows`. The indices of stored values still count from the first sample of the column.
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

/// A table of features that hands out one column at a time.
///
/// Three methods, so that a dense matrix, a sparse one, an `f32` one, a file mapped piece by piece or
/// a generator all serve every method. Implementations return the same values for the same `j` at
/// every call.
pub trait Columns: Send + Sync {
    /// Number of samples (rows).
    fn n_samples(&self) -> usize;

    /// Number of features (columns).
    fn n_features(&self) -> usize;

    /// Feature `j < n_features()`. `scratch` may be used to hold the values; its content on entry
    /// means nothing.
    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Column<'a>;

    /// Writes feature `j` into `out`, of length `n_samples()`.
    fn copy_column(&self, j: usize, out: &mut [f64]) {
        let mut scratch = Vec::new();
        self.column(j, &mut scratch).copy_to(out);
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

    /// From one vector a feature.
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

    /// The values, column after column.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }
}

impl Columns for DenseColumns {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Column<'a> {
        Column::Dense(&self.values[j * self.n_samples..(j + 1) * self.n_samples])
    }
}

/// Columns computed when they are asked for, by a function `(j, out)` that fills `out`.
///
/// ```
/// use fewest_core::{Columns, OnDemand};
/// let powers = OnDemand::new(3, 4, |j, out: &mut [f64]| {
///     for (i, value) in out.iter_mut().enumerate() {
///         *value = (i as f64).powi(j as i32);
///     }
/// });
/// assert_eq!(powers.column(2, &mut Vec::new()).to_vec(3), [0.0, 1.0, 4.0]);
/// ```
pub struct OnDemand<F> {
    n_samples: usize,
    n_features: usize,
    fill: F,
}

impl<F: Fn(usize, &mut [f64]) + Send + Sync> OnDemand<F> {
    /// `fill(j, out)` writes the `n_samples` values of feature `j`, the same at every call.
    pub fn new(n_samples: usize, n_features: usize, fill: F) -> Self {
        Self { n_samples, n_features, fill }
    }
}

impl<F: Fn(usize, &mut [f64]) + Send + Sync> Columns for OnDemand<F> {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Column<'a> {
        scratch.clear();
        scratch.resize(self.n_samples, 0.0);
        (self.fill)(j, scratch);
        Column::Dense(scratch)
    }
}

/// Some rows of a table, in the order given, without copying the table: the folds of an evaluation.
pub struct RowSubset<C> {
    table: C,
    rows: Vec<usize>,
}

impl<C: Columns> RowSubset<C> {
    /// Rows `rows` of `table`; a row may occur more than once (a bootstrap sample).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a row is out of range.
    pub fn new(table: C, rows: Vec<usize>) -> Result<Self, Error> {
        let n_samples = table.n_samples();
        if let Some(&row) = rows.iter().find(|&&row| row >= n_samples) {
            return Err(Error::parameter("rows", row, format!("below the number of samples, {n_samples}")));
        }
        Ok(Self { table, rows })
    }
}

impl<C: Columns> Columns for RowSubset<C> {
    fn n_samples(&self) -> usize {
        self.rows.len()
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Column<'a> {
        let mut whole = vec![0.0; self.table.n_samples()];
        self.table.copy_column(j, &mut whole);
        scratch.clear();
        scratch.extend(self.rows.iter().map(|&row| whole[row]));
        Column::Dense(scratch)
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

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Column<'a> {
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

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Column<'a> {
        (**self).column(j, scratch)
    }

    fn copy_column(&self, j: usize, out: &mut [f64]) {
        (**self).copy_column(j, out);
    }
}

#[cfg(feature = "nalgebra")]
impl Columns for nalgebra::DMatrix<f64> {
    fn n_samples(&self) -> usize {
        self.nrows()
    }

    fn n_features(&self) -> usize {
        self.ncols()
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Column<'a> {
        let n = self.nrows();
        Column::Dense(&self.as_slice()[j * n..(j + 1) * n])
    }
}

#[cfg(feature = "nalgebra")]
impl Columns for nalgebra::DMatrix<f32> {
    fn n_samples(&self) -> usize {
        self.nrows()
    }

    fn n_features(&self) -> usize {
        self.ncols()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Column<'a> {
        let n = self.nrows();
        scratch.clear();
        scratch.extend(self.as_slice()[j * n..(j + 1) * n].iter().map(|&value| f64::from(value)));
        Column::Dense(scratch)
    }
}

#[cfg(feature = "nalgebra-sparse")]
impl Columns for nalgebra_sparse::CscMatrix<f64> {
    fn n_samples(&self) -> usize {
        self.nrows()
    }

    fn n_features(&self) -> usize {
        self.ncols()
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Column<'a> {
        let (offsets, rows, values) = self.csc_data();
        let range = offsets[j]..offsets[j + 1];
        Column::Sparse { rows: &rows[range.clone()], values: &values[range] }
    }
}
