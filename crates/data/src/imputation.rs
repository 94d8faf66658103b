//! Missing values filled in from other samples.

use std::sync::Arc;

use fewest_core::{Column, Columns, Dataset, Error, FeatureKind, order};

use crate::Missing;

impl Missing {
    /// `whole` with its missing values (NaN) filled in from the samples of `train` only: by their mean or
    /// median, or their most frequent category. Within a fold, `train` are its training samples and
    /// `whole` are all: with values from all samples, information would leak from the test samples.
    ///
    /// A feature without a value in `train` becomes 0 where it is missing, so that it is constant in
    /// `train`: no method selects it. With [`Missing::Error`] and [`Missing::DropRows`] nothing is filled
    /// in.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless both have the same number of features; [`Error::Unreadable`].
    ///
    /// # Complexity
    /// A pass over each column, and O(n log n) for each with missing values; columns in parallel on
    /// rayon's current pool. Nothing is copied: values are filled in whenever a column is read.
    ///
    /// ```
    /// use fewest_core::{Columns, Dataset, DenseColumns, Target};
    /// use fewest_data::Missing;
    /// let x = DenseColumns::from_columns(&[vec![1.0, 3.0, f64::NAN, 100.0]])?;
    /// let whole = Dataset::new(x, Target::None)?;
    /// let filled = Missing::Mean.fill(&whole.subset(&[0, 1, 2])?, &whole)?;
    /// assert_eq!(filled.x().column(0, &mut Vec::new())?.to_vec(4), [1.0, 3.0, 2.0, 100.0]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn fill(self, train: &Dataset, whole: &Dataset) -> Result<Dataset, Error> {
        let (expected, found) = (train.n_features(), whole.n_features());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "features to fill", expected, found });
        }
        if !matches!(self, Self::Mean | Self::Median) {
            return Ok(whole.clone());
        }
        let learn = |scratch: &mut Vec<f64>, j: usize| {
            let (Column::Dense(values) | Column::Sparse { values, .. }) = whole.x().column(j, scratch)?;
            if !values.iter().any(|value| value.is_nan()) {
                return Ok(None);
            }
            let mut present = train.x().column(j, scratch)?.to_vec(train.n_samples());
            present.retain(|value| !value.is_nan());
            let is_categorical = matches!(whole.feature_kind(j), FeatureKind::Categorical { .. });
            Ok(Some(if present.is_empty() { 0.0 } else { substitute(self, is_categorical, present) }))
        };
        let substitutes = fewest_parallel::map_with(whole.n_features(), learn);
        // Collected first, so that the error is that of the lowest column for any number of threads.
        let substitutes = substitutes.into_iter().collect::<Result<_, _>>()?;
        whole.clone().with_x(Filled { table: whole.shared_x(), substitutes })
    }
}

/// A table whose missing values are filled in when a column is read. Sparse columns with missing values
/// become dense.
struct Filled {
    table: Arc<dyn Columns>,
    /// For each feature with missing values.
    substitutes: Vec<Option<f64>>,
}

impl Columns for Filled {
    fn n_samples(&self) -> usize {
        self.table.n_samples()
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        if self.substitutes[j].is_none() {
            return self.table.column(j, scratch);
        }
        scratch.clear();
        scratch.resize(self.n_samples(), 0.0);
        self.copy_column(j, scratch)?;
        Ok(Column::Dense(scratch))
    }

    fn copy_column(&self, j: usize, out: &mut [f64]) -> Result<(), Error> {
        self.table.copy_column(j, out)?;
        if let Some(by) = self.substitutes[j] {
            out.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = by);
        }
        Ok(())
    }
}

/// The value that replaces missing ones, from the values present, of which there is at least one.
pub(crate) fn substitute(missing: Missing, is_categorical: bool, present: Vec<f64>) -> f64 {
    match missing {
        _ if is_categorical => most_frequent(present),
        Missing::Median => median(present),
        _ => mean(&present),
    }
}

fn mean(present: &[f64]) -> f64 {
    let n = present.len() as f64;
    let mean = present.iter().sum::<f64>() / n;
    // The sum of very large values may be infinite where their mean is not.
    if mean.is_finite() { mean } else { present.iter().map(|value| value / n).sum() }
}

fn median(mut present: Vec<f64>) -> f64 {
    order::sort(&mut present);
    let middle = present.len() / 2;
    match (present.get(middle.wrapping_sub(1)), present.get(middle)) {
        (Some(&below), Some(&above)) if present.len().is_multiple_of(2) => f64::midpoint(below, above),
        (_, middle) => middle.copied().unwrap_or(f64::NAN),
    }
}

/// The smallest one at a tie.
fn most_frequent(present: Vec<f64>) -> f64 {
    let most = order::counted(present).into_iter().rev().max_by_key(|&(_, count)| count);
    most.map_or(f64::NAN, |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};

    use super::*;

    #[test]
    fn substitutes() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(vec![7.0]), 7.0);
        assert_eq!(most_frequent(vec![2.0, 1.0, 2.0, 0.0]), 2.0);
        assert_eq!(most_frequent(vec![2.0, 1.0, 2.0, 1.0]), 1.0);
    }

    #[test]
    fn only_the_training_samples_decide() {
        let levels = FeatureKind::Categorical { levels: vec!["a".to_owned(), "b".to_owned()] };
        let kinds = vec![FeatureKind::Numeric, levels, FeatureKind::Numeric, FeatureKind::Numeric];
        let filled = |last: [f64; 4], missing: Missing| {
            let x = DenseColumns::from_columns(&[
                vec![1.0, f64::NAN, 6.0, 2.0, last[0]],
                vec![1.0, 1.0, 0.0, f64::NAN, last[1]],
                vec![f64::NAN, f64::NAN, f64::NAN, f64::NAN, last[2]],
                vec![1.0, 2.0, 3.0, 4.0, last[3]],
            ])
            .unwrap();
            let whole = Dataset::new(x, Target::None).unwrap().with_feature_kinds(kinds.clone()).unwrap();
            let filled = missing.fill(&whole.subset(&[0, 1, 2, 3]).unwrap(), &whole).unwrap();
            (0..4).map(|j| filled.x().column(j, &mut Vec::new()).unwrap().to_vec(5)).collect::<Vec<_>>()
        };
        for (missing, by, untouched) in [(Missing::Mean, 3.0, 2.5), (Missing::Median, 2.0, 2.5)] {
            let gaps = filled([f64::NAN; 4], missing);
            assert_eq!(gaps[0], [1.0, by, 6.0, 2.0, by]);
            assert_eq!(gaps[1], [1.0, 1.0, 0.0, 1.0, 1.0]);
            // Missing in all training samples: constant there.
            assert_eq!(gaps[2], [0.0; 5]);
            // Missing in the test sample only.
            assert_eq!(gaps[3], [1.0, 2.0, 3.0, 4.0, untouched]);
            // Whatever the test sample holds, the training samples are filled alike.
            let values = filled([1e9, 0.0, 1e9, 1e9], missing);
            for j in 0..4 {
                assert_eq!(values[j][..4], gaps[j][..4], "{missing:?} {j}");
            }
        }
        assert!(filled([0.0; 4], Missing::DropRows)[0][1].is_nan());
    }
}
