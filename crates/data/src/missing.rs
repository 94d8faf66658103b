//! Policies for missing values.

use std::fmt;
use std::sync::Arc;

use fewest_core::{Columns, Dataset, FeatureKind, Target};
use nalgebra_sparse::CscMatrix;

use crate::imputation::substitute;
use crate::table::{Features, Table};
use crate::target::TargetValues;
use crate::{Error, Place};

/// How to handle missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// The first missing cell is an error that names it.
    #[default]
    Error,
    /// Samples with a missing value, including in the target, are left out.
    DropRows,
    /// The mean of the values present; for categories the most frequent level (the lower code at a
    /// tie). Samples without a target are left out: methods would treat a filled-in target as a true one.
    Mean,
    /// As [`Missing::Mean`] with the median (the mean of the two middle values for an even number).
    Median,
}

/// Values that are looked at without a way out between them, which would prevent vectorisation.
const LANES: usize = 1024;

/// The place of the first value that `is` so.
pub(crate) fn first_where(values: &[f64], is: impl Fn(f64) -> bool) -> Option<usize> {
    let some = |values: &[f64]| values.iter().fold(false, |some, value| some | is(*value));
    let part = values.chunks(LANES).position(some)?;
    let start = part * LANES;
    values[start..].iter().position(|value| is(*value)).map(|at| start + at)
}

/// A table without missing values.
#[derive(Clone)]
#[non_exhaustive]
pub struct Complete {
    /// The data.
    pub dataset: Dataset,
    /// The samples that were left out, as numbers in the file from 0, increasing.
    pub dropped: Vec<usize>,
    /// The number of cells filled in.
    pub filled: usize,
    /// The names of the target's columns, see [`Table::target_names`].
    pub target_names: Vec<String>,
    /// The column of each feature in the file, from 0.
    pub columns: Vec<usize>,
    /// Whether the columns have names in the file.
    pub named: bool,
    /// The index of the first feature, where the file numbers its features itself (svmlight).
    pub first_index: Option<usize>,
    /// The cells that mean "missing", see
    /// [`ReadOptions::missing_tokens`](crate::ReadOptions::missing_tokens).
    pub missing_tokens: Vec<String>,
    /// The columns of a transposed file that are no samples, see
    /// [`ReadOptions::ignore`](crate::ReadOptions::ignore).
    pub not_samples: Vec<String>,
    /// The features of which values were filled in, increasing, each with the value that was filled in.
    pub substitutes: Vec<(usize, f64)>,
}

impl fmt::Debug for Complete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Complete")
            .field("n_samples", &self.dataset.n_samples())
            .field("n_features", &self.dataset.n_features())
            .field("dropped", &self.dropped)
            .field("filled", &self.filled)
            .field("target_names", &self.target_names)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Applies the policy for missing values. Classes of which no sample is left are left out too.
    ///
    /// # Errors
    /// [`Error::MissingValue`] names the first missing cell under [`Missing::Error`]; [`Error::AllMissing`] a
    /// column without values; [`Error::NothingLeft`] says that every sample would be dropped.
    ///
    /// # Complexity
    /// O(n·d), with the median O(n·d log n); dense columns are changed in place.
    pub fn complete(mut self, missing: Missing) -> Result<Complete, Error> {
        if missing == Missing::Error {
            self.check_complete()?;
        }
        let dropped = self.drop_incomplete(missing)?;
        let (filled, substitutes) = match missing {
            Missing::Mean | Missing::Median => self.fill(missing),
            Missing::Error | Missing::DropRows => (0, Vec::new()),
        };
        self.into_complete(dropped, filled, substitutes)
    }

    /// As [`Table::complete`], but the values that [`Missing::Mean`] and [`Missing::Median`] fill in remain
    /// NaN, and are only counted as filled: [`Missing::fill`] then fills them in each fold from its training
    /// samples.
    ///
    /// # Errors
    /// As [`Table::complete`].
    pub fn with_gaps(mut self, missing: Missing) -> Result<Complete, Error> {
        match missing {
            Missing::Error | Missing::DropRows => self.complete(missing),
            Missing::Mean | Missing::Median => {
                let dropped = self.drop_incomplete(missing)?;
                let gaps = self.n_gaps();
                self.into_complete(dropped, gaps, Vec::new())
            }
        }
    }

    fn into_complete(
        self,
        dropped: Vec<usize>,
        filled: usize,
        substitutes: Vec<(usize, f64)>,
    ) -> Result<Complete, Error> {
        let target_names = self.target_names();
        let columns = (0..self.n_features()).map(|j| self.column_label(j).number.unwrap_or(j)).collect();
        let named = self.names.is_some();
        let (first_index, missing_tokens) = (self.first_index, self.missing_tokens.clone());
        let not_samples = self.not_samples.clone();
        Ok(Complete {
            dataset: self.into_dataset()?,
            dropped,
            filled,
            target_names,
            columns,
            named,
            first_index,
            missing_tokens,
            not_samples,
            substitutes,
        })
    }

    /// Drops the samples without a target and, with [`Missing::DropRows`], those with a missing value;
    /// returns the dropped ones.
    fn drop_incomplete(&mut self, missing: Missing) -> Result<Vec<usize>, Error> {
        let n_samples = self.n_samples();
        if missing == Missing::DropRows {
            self.check_columns()?;
        }
        let mut gone = vec![false; n_samples];
        for values in self.target.columns() {
            mark_missing(values, &mut gone);
        }
        if missing == Missing::DropRows {
            self.mark_missing_features(&mut gone);
        }
        let dropped: Vec<usize> = (0..n_samples).filter(|&i| gone[i]).collect();
        if dropped.len() == n_samples {
            self.check_columns()?;
            return Err(Error::NothingLeft { path: self.path.clone(), n_samples });
        }
        if !dropped.is_empty() {
            self.drop_samples(&gone)?;
        }
        if matches!(missing, Missing::Mean | Missing::Median) {
            self.check_columns()?;
        }
        Ok(dropped)
    }

    fn n_gaps(&self) -> usize {
        let gaps = |values: &[f64]| values.iter().filter(|value| value.is_nan()).count();
        match &self.features {
            Features::Dense { columns, .. } => columns.iter().map(|values| gaps(values)).sum(),
            Features::Sparse(matrix) => gaps(matrix.values()),
        }
    }

    /// An error for the first missing cell, in the order of reading.
    fn check_complete(&self) -> Result<(), Error> {
        let mut first: Option<(usize, usize)> = None;
        let mut note = |row: Option<usize>, column: usize| {
            if let Some(row) = row
                && first.is_none_or(|(earlier, _)| row < earlier)
            {
                first = Some((row, column));
            }
        };
        let n_features = self.n_features();
        let n_open = if self.is_complete { 0 } else { n_features };
        let missing = fewest_parallel::map(n_open, |j| self.first_missing(j));
        missing.into_iter().enumerate().for_each(|(j, row)| note(row, j));
        for (output, values) in self.target.columns().iter().enumerate() {
            note(first_where(values, f64::is_nan), n_features + output);
        }
        let Some((row, column)) = first else { return Ok(()) };
        let column = match column.checked_sub(n_features) {
            None => self.column_label(column),
            Some(output) => self.target_labels[output].clone(),
        };
        let place = Box::new(Place::Cell { row: self.row_label(row), column });
        Err(Error::MissingValue { path: self.path.clone(), place })
    }

    fn first_missing(&self, j: usize) -> Option<usize> {
        match &self.features {
            Features::Dense { columns, .. } => first_where(&columns[j], f64::is_nan),
            Features::Sparse(matrix) => {
                let column = matrix.get_col(j)?;
                let at = first_where(column.values(), f64::is_nan)?;
                column.row_indices().get(at).copied()
            }
        }
    }

    /// An error for the first column without a value.
    fn check_columns(&self) -> Result<(), Error> {
        let empty = match &self.features {
            Features::Dense { columns, .. } => {
                columns.iter().position(|values| values.iter().all(|value| value.is_nan()))
            }
            Features::Sparse(matrix) => matrix.col_iter().position(|column| {
                column.values().len() == matrix.nrows() && column.values().iter().all(|value| value.is_nan())
            }),
        };
        let column = match empty {
            Some(j) => self.column_label(j),
            None => {
                let mut outputs = self.target.columns().iter();
                match outputs.position(|values| values.iter().all(|value| value.is_nan())) {
                    Some(output) => self.target_labels[output].clone(),
                    None => return Ok(()),
                }
            }
        };
        Err(Error::AllMissing { path: self.path.clone(), column })
    }

    pub(crate) fn mark_missing_features(&self, gone: &mut [bool]) {
        match &self.features {
            Features::Dense { columns, .. } => columns.iter().for_each(|values| mark_missing(values, gone)),
            Features::Sparse(matrix) => {
                for (row, _, value) in matrix.triplet_iter() {
                    gone[row] |= value.is_nan();
                }
            }
        }
    }

    fn drop_samples(&mut self, gone: &[bool]) -> Result<(), Error> {
        let stays = |i: usize| !gone[i];
        let kept = gone.iter().filter(|gone| !**gone).count();
        match &mut self.features {
            Features::Dense { columns, n_samples } => {
                columns.iter_mut().for_each(|values| retain(values, stays));
                *n_samples = kept;
            }
            Features::Sparse(matrix) => {
                if let Some(smaller) = keep_rows(matrix, gone, kept) {
                    *matrix = smaller;
                }
            }
        }
        match &mut self.target {
            TargetValues::None => {}
            TargetValues::Real(outputs) => outputs.iter_mut().for_each(|values| retain(values, stays)),
            TargetValues::Class { codes, .. } => retain(codes, stays),
            TargetValues::Survival(columns) => columns.iter_mut().for_each(|values| retain(values, stays)),
        }
        if let Some(ids) = &mut self.ids {
            retain(ids, stays);
        }
        if let Some((groups, _)) = &mut self.groups {
            retain(groups, stays);
        }
        if let Some(lines) = &mut self.lines {
            retain(lines, stays);
        }
        if let Some(weights) = &mut self.weights {
            retain(weights, stays);
        }
        if let Some(graph) = &mut self.sample_graph {
            let kept: Vec<usize> = (0..gone.len()).filter(|&i| stays(i)).collect();
            *graph = Arc::new(graph.subset(&kept)?);
        }
        Ok(())
    }

    /// Fills in missing values of the features; returns their number, and by what in which features.
    fn fill(&mut self, missing: Missing) -> (usize, Vec<(usize, f64)>) {
        let mut filled = 0;
        let mut substitutes = Vec::new();
        let kinds = &self.kinds;
        let is_categorical = |j: usize| {
            matches!(kinds.as_ref().and_then(|kinds| kinds.get(j)), Some(FeatureKind::Categorical { .. }))
        };
        let substitute = |present: Vec<f64>, j: usize| substitute(missing, is_categorical(j), present);
        let present = |values: &[f64]| values.iter().copied().filter(|value| !value.is_nan()).collect();
        match &mut self.features {
            Features::Dense { columns, .. } => {
                for (j, values) in columns.iter_mut().enumerate() {
                    if first_where(values, f64::is_nan).is_some() {
                        let by = substitute(present(values), j);
                        filled += replace_missing(values, by);
                        substitutes.push((j, by));
                    }
                }
            }
            Features::Sparse(matrix) => {
                let n_samples = matrix.nrows();
                for (j, mut column) in matrix.col_iter_mut().enumerate() {
                    let stored = column.values();
                    if first_where(stored, f64::is_nan).is_some() {
                        let mut values: Vec<f64> = present(stored);
                        values.resize(values.len() + n_samples - stored.len(), 0.0);
                        let by = substitute(values, j);
                        filled += replace_missing(column.values_mut(), by);
                        substitutes.push((j, by));
                    }
                }
            }
        }
        (filled, substitutes)
    }

    fn into_dataset(self) -> Result<Dataset, Error> {
        let target = match self.target {
            TargetValues::None => Target::None,
            TargetValues::Real(outputs) => Target::outputs(outputs.concat(), self.features.n_samples())?,
            TargetValues::Survival([times, events]) => {
                Target::survival(times, events.iter().map(|event| *event == 1.0).collect())?
            }
            TargetValues::Class { codes, names } => {
                let mut counts = vec![0_usize; names.len()];
                codes.iter().for_each(|&code| counts[code as usize] += 1);
                let mut next = 0;
                let renumbered: Vec<u32> = counts
                    .iter()
                    .map(|&count| {
                        let code = next;
                        next += u32::from(count > 0);
                        code
                    })
                    .collect();
                let names = names
                    .into_iter()
                    .zip(&counts)
                    .filter(|(_, count)| **count > 0)
                    .map(|(name, _)| name)
                    .collect();
                Target::classes(codes.iter().map(|&code| renumbered[code as usize]).collect(), names)?
            }
        };
        let mut dataset = Dataset::new(self.features, target)?;
        if let Some(names) = self.names {
            dataset = dataset.with_feature_names(names)?;
        }
        if let Some(kinds) = self.kinds {
            dataset = dataset.with_feature_kinds(kinds)?;
        }
        let (ids, id_name) = match self.groups {
            Some((groups, name)) => (Some(groups), name),
            None => (self.ids, self.id_name),
        };
        if let Some(ids) = ids {
            dataset = dataset.with_sample_ids(ids)?;
        }
        if let Some(name) = id_name {
            dataset = dataset.with_sample_id_name(name);
        }
        if let Some(weights) = self.weights {
            dataset = dataset.with_sample_weights(weights)?;
        }
        if let Some(graph) = self.sample_graph {
            dataset = dataset.with_sample_graph(graph)?;
        }
        Ok(dataset)
    }
}

pub(crate) fn mark_missing(values: &[f64], gone: &mut [bool]) {
    for (gone, value) in gone.iter_mut().zip(values) {
        *gone |= value.is_nan();
    }
}

fn retain<T>(values: &mut Vec<T>, stays: impl Fn(usize) -> bool) {
    let mut i = 0;
    values.retain(|_| {
        i += 1;
        stays(i - 1)
    });
}

/// The rows of `matrix` that are not `gone`.
fn keep_rows(matrix: &CscMatrix<f64>, gone: &[bool], kept: usize) -> Option<CscMatrix<f64>> {
    let mut new_row = Vec::with_capacity(gone.len());
    let mut next = 0;
    for &gone in gone {
        new_row.push(next);
        next += usize::from(!gone);
    }
    let (mut offsets, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in matrix.col_iter() {
        for (&row, &value) in column.row_indices().iter().zip(column.values()) {
            if !gone[row] {
                rows.push(new_row[row]);
                values.push(value);
            }
        }
        offsets.push(rows.len());
    }
    // Valid by construction: rows stay increasing within each column.
    CscMatrix::try_from_csc_data(kept, matrix.ncols(), offsets, rows, values).ok()
}

fn replace_missing(values: &mut [f64], by: f64) -> usize {
    let mut filled = 0;
    for value in values.iter_mut().filter(|value| value.is_nan()) {
        *value = by;
        filled += 1;
    }
    filled
}
