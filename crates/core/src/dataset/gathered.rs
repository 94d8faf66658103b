//! Rows of batches, copied one after the other.

use std::ops::Range;
use std::sync::Arc;

use super::{Dataset, check_length};
use crate::{Column, Columns, Error};

/// The values of a column: sparse as long as all that was copied is.
#[derive(Clone, Default)]
struct Own {
    is_dense: bool,
    /// Of the values, where they are sparse.
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Own {
    /// Adds `column`, the values of `count` samples behind `n_samples`, whose first row has the number
    /// `first`. There is room for `most` values without a waste.
    fn push(&mut self, column: Column<'_>, first: usize, count: usize, n_samples: usize, most: usize) {
        match column {
            Column::Dense(values) => {
                self.write_out(n_samples, most);
                self.reserve(values.len(), most);
                self.values.extend_from_slice(values);
            }
            Column::Sparse { rows: stored, values } if self.is_dense => {
                self.reserve(count, most);
                self.values.resize(n_samples + count, 0.0);
                stored.iter().zip(values).for_each(|(row, value)| {
                    self.values[row - first + n_samples] = *value;
                });
            }
            Column::Sparse { rows: stored, values } => {
                self.rows.extend(stored.iter().map(|row| row - first + n_samples));
                self.values.extend_from_slice(values);
            }
        }
    }

    fn write_out(&mut self, n_samples: usize, most: usize) {
        if self.is_dense {
            return;
        }
        self.is_dense = true;
        if self.values.is_empty() {
            self.reserve(n_samples, most);
            self.values.resize(n_samples, 0.0);
        } else {
            self.values = Column::Sparse { rows: &self.rows, values: &self.values }.to_vec(n_samples);
        }
        self.rows.clear();
    }

    /// Room for `more` values: twice as much as there was, so that a row is moved a few times only, but no
    /// more than `most` where that is enough.
    fn reserve(&mut self, more: usize, most: usize) {
        let needed = self.values.len() + more;
        if needed > self.values.capacity() {
            let doubled = (2 * self.values.capacity()).min(most);
            self.values.reserve_exact(doubled.max(needed) - self.values.len());
        }
    }

    /// Leaves the first `n_samples` samples.
    fn truncate(&mut self, n_samples: usize) {
        if self.is_dense {
            self.values.truncate(n_samples);
        } else {
            self.rows.truncate(self.rows.partition_point(|row| *row < n_samples));
            self.values.truncate(self.rows.len());
        }
    }

    /// Leaves nothing, but the memory.
    fn clear(&mut self) {
        self.is_dense = false;
        self.rows.clear();
        self.values.clear();
    }
}

/// Values of rows that were copied.
#[derive(Clone, Default)]
pub(super) struct Copied {
    columns: Vec<Own>,
    n_samples: usize,
}

impl Copied {
    /// Adds `rows` of `x`; there may be `most` rows in all. An error changes nothing.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features than before; those of the columns.
    pub(super) fn push(&mut self, x: &dyn Columns, rows: Range<usize>, most: usize) -> Result<(), Error> {
        if self.n_samples == 0 {
            self.columns.resize_with(x.n_features(), Own::default);
        }
        check_length("features of a batch", self.columns.len(), x.n_features())?;
        let mut scratch = Vec::new();
        for j in 0..self.columns.len() {
            match x.column(j, &mut scratch) {
                Ok(column) => {
                    let stretch = column.stretch(rows.clone());
                    self.columns[j].push(stretch, rows.start, rows.len(), self.n_samples, most);
                }
                Err(error) => {
                    self.columns.iter_mut().for_each(|column| column.truncate(self.n_samples));
                    return Err(error);
                }
            }
        }
        self.n_samples += rows.len();
        Ok(())
    }

    fn clear(&mut self) {
        self.columns.iter_mut().for_each(Own::clear);
        self.n_samples = 0;
    }
}

impl Columns for Copied {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let Own { is_dense, rows, values } = &self.columns[j];
        Ok(if *is_dense { Column::Dense(values) } else { Column::Sparse { rows, values } })
    }
}

/// Some rows of a table in memory whose columns are all dense.
struct Stretch {
    x: Arc<dyn Columns>,
    rows: Range<usize>,
}

impl Columns for Stretch {
    fn n_samples(&self) -> usize {
        self.rows.len()
    }

    fn n_features(&self) -> usize {
        self.x.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        match self.x.column(j, scratch)? {
            Column::Dense(values) => Ok(Column::Dense(&values[self.rows.clone()])),
            Column::Sparse { .. } => Err(Error::unreadable(j, "a dense column has become a sparse one")),
        }
    }
}

impl Dataset {
    /// These rows without a copy of their values; `None` unless all columns are dense and lie in memory.
    ///
    /// # Errors
    /// Those of the columns.
    pub(crate) fn stretch(&self, rows: Range<usize>) -> Result<Option<Self>, Error> {
        let mut scratch = Vec::new();
        for j in 0..self.n_features() {
            let is_dense = matches!(self.x().column(j, &mut scratch)?, Column::Dense(_));
            // What is made when it is asked for is made there.
            if !is_dense || scratch.capacity() > 0 {
                return Ok(None);
            }
        }
        let x = Arc::new(Stretch { x: Arc::clone(&self.x), rows: rows.clone() });
        Self::around(&[(self, rows)], x).map(Some)
    }
}

/// In place of values that are elsewhere.
struct Nothing {
    n_samples: usize,
    n_features: usize,
}

impl Columns for Nothing {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn column<'a>(&'a self, _j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        Ok(Column::Sparse { rows: &[], values: &[] })
    }
}

/// Rows of batches, in columns that are used again once nobody else has them: each value is copied once, and
/// a stream that goes on takes no new memory.
#[derive(Default)]
pub(crate) struct Gathered {
    x: Arc<Copied>,
    /// The same rows without their values: the target, names and so on. Every part is larger than the next,
    /// so that a row is copied as often as rows can be doubled.
    around: Vec<Dataset>,
}

impl Gathered {
    pub(crate) fn n_samples(&self) -> usize {
        self.around.iter().map(Dataset::n_samples).sum()
    }

    /// Adds `rows` of `batch`; there may be `most` rows in all.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features than before; those of the columns, and of
    /// targets that differ.
    pub(crate) fn push(&mut self, batch: &Dataset, rows: Range<usize>, most: usize) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let bare = |n_samples| Arc::new(Nothing { n_samples, n_features: batch.n_features() });
        let mut last = Dataset::around(&[(batch, rows.clone())], bare(rows.len()))?;
        if self.around.is_empty() {
            // Somebody may still use what was gathered before.
            match Arc::get_mut(&mut self.x) {
                Some(x) => x.clear(),
                None => self.x = Arc::default(),
            }
        }
        Arc::make_mut(&mut self.x).push(batch.x(), rows, most)?;
        while let Some(before) = self.around.pop_if(|before| before.n_samples() <= last.n_samples()) {
            let (n, len) = (before.n_samples(), last.n_samples());
            last = Dataset::around(&[(&before, 0..n), (&last, 0..len)], bare(n + len))?;
        }
        self.around.push(last);
        Ok(())
    }

    /// All rows, which stay; `None` where there are none.
    pub(crate) fn dataset(&self) -> Result<Option<Dataset>, Error> {
        let parts: Vec<_> = self.around.iter().map(|part| (part, 0..part.n_samples())).collect();
        if parts.is_empty() {
            return Ok(None);
        }
        let x: Arc<Copied> = Arc::clone(&self.x);
        Dataset::around(&parts, x).map(Some)
    }

    /// All rows, which go.
    pub(crate) fn take(&mut self) -> Result<Option<Dataset>, Error> {
        let all = self.dataset()?;
        self.around.clear();
        Ok(all)
    }
}
