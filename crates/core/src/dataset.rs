//! Features, target and what is known about them.

mod parts;

use std::sync::Arc;

use crate::{Column, Columns, Error, RowSubset, Target};

/// What a feature's numbers mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FeatureKind {
    /// Quantities: differences and orders mean something.
    #[default]
    Numeric,
    /// Codes of categories, `0.0, 1.0, …`, with a name each.
    Categorical {
        /// The name of each code.
        levels: Vec<String>,
    },
}

/// A table with a target. Cloning is cheap: the features are shared.
#[derive(Clone)]
pub struct Dataset {
    x: Arc<dyn Columns>,
    target: Target,
    feature_names: Option<Vec<String>>,
    feature_kinds: Option<Vec<FeatureKind>>,
    feature_groups: Option<Vec<usize>>,
    sample_ids: Option<Vec<String>>,
    sample_weights: Option<Vec<f64>>,
}

impl Dataset {
    /// Features `x` with their `target`.
    ///
    /// # Errors
    /// [`Error::TooFew`] for a table without samples or features; [`Error::ShapeMismatch`] when the
    /// target's length differs.
    pub fn new(x: impl Columns + 'static, target: Target) -> Result<Self, Error> {
        Self::shared(Arc::new(x), target)
    }

    /// [`Dataset::new`] for features that are shared already.
    ///
    /// # Errors
    /// As [`Dataset::new`].
    pub fn shared(x: Arc<dyn Columns>, target: Target) -> Result<Self, Error> {
        for (what, found) in [("samples", x.n_samples()), ("features", x.n_features())] {
            if found == 0 {
                return Err(Error::TooFew { what, minimum: 1, found });
            }
        }
        if let Some(found) = target.n_samples() {
            check_length("target values", x.n_samples(), found)?;
        }
        Ok(Self {
            x,
            target,
            feature_names: None,
            feature_kinds: None,
            feature_groups: None,
            sample_ids: None,
            sample_weights: None,
        })
    }

    /// With a name a feature.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many names as features.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self, Error> {
        check_length("feature names", self.n_features(), names.len())?;
        self.feature_names = Some(names);
        Ok(self)
    }

    /// With a kind a feature; without, all are numeric.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many kinds as features.
    pub fn with_feature_kinds(mut self, kinds: Vec<FeatureKind>) -> Result<Self, Error> {
        check_length("feature kinds", self.n_features(), kinds.len())?;
        self.feature_kinds = Some(kinds);
        Ok(self)
    }

    /// With the group of each feature, any numbers: features of one number belong together.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many entries as features.
    pub fn with_feature_groups(mut self, groups: Vec<usize>) -> Result<Self, Error> {
        check_length("feature groups", self.n_features(), groups.len())?;
        self.feature_groups = Some(groups);
        Ok(self)
    }

    /// With a name a sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many as samples.
    pub fn with_sample_ids(mut self, ids: Vec<String>) -> Result<Self, Error> {
        check_length("sample ids", self.n_samples(), ids.len())?;
        self.sample_ids = Some(ids);
        Ok(self)
    }

    /// With a weight a sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many as samples; [`Error::InvalidParameter`] for a
    /// weight that is negative or not finite.
    pub fn with_sample_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check_length("sample weights", self.n_samples(), weights.len())?;
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::parameter("sample weight", weight, "finite and not negative"));
        }
        self.sample_weights = Some(weights);
        Ok(self)
    }

    /// With other values of the same features and samples: scaled, or with gaps filled.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many samples and features as before.
    pub fn with_x(mut self, x: impl Columns + 'static) -> Result<Self, Error> {
        check_length("samples of the new values", self.n_samples(), x.n_samples())?;
        check_length("features of the new values", self.n_features(), x.n_features())?;
        self.x = Arc::new(x);
        Ok(self)
    }

    /// The features.
    pub fn x(&self) -> &dyn Columns {
        &*self.x
    }

    /// The features, to share with another data set.
    pub fn shared_x(&self) -> Arc<dyn Columns> {
        Arc::clone(&self.x)
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Number of samples (rows).
    pub fn n_samples(&self) -> usize {
        self.x.n_samples()
    }

    /// Number of features (columns).
    pub fn n_features(&self) -> usize {
        self.x.n_features()
    }

    /// The name of feature `j`, or `f{j}` where names were not given.
    pub fn feature_name(&self, j: usize) -> String {
        match self.feature_names.as_ref().and_then(|names| names.get(j)) {
            Some(name) => name.clone(),
            None => format!("f{j}"),
        }
    }

    /// The kind of feature `j`.
    pub fn feature_kind(&self, j: usize) -> &FeatureKind {
        self.feature_kinds.as_ref().and_then(|kinds| kinds.get(j)).unwrap_or(&FeatureKind::Numeric)
    }

    /// The group of each feature, where groups were given.
    pub fn feature_groups(&self) -> Option<&[usize]> {
        self.feature_groups.as_deref()
    }

    /// The name of each sample, where names were given.
    pub fn sample_ids(&self) -> Option<&[String]> {
        self.sample_ids.as_deref()
    }

    /// The weight of each sample, where weights were given.
    pub fn sample_weights(&self) -> Option<&[f64]> {
        self.sample_weights.as_deref()
    }

    /// The samples `rows`, in that order, without copying the features.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a row is out of range; [`Error::TooFew`] when none is left.
    pub fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        let x = RowSubset::new(Arc::clone(&self.x), rows.to_vec())?;
        let mut subset = Self::new(x, self.target.subset(rows))?;
        subset.feature_names.clone_from(&self.feature_names);
        subset.feature_kinds.clone_from(&self.feature_kinds);
        subset.feature_groups.clone_from(&self.feature_groups);
        subset.sample_ids =
            self.sample_ids.as_ref().map(|ids| rows.iter().map(|&row| ids[row].clone()).collect());
        subset.sample_weights =
            self.sample_weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        Ok(subset)
    }

    /// The features that have one and the same value in every sample, by increasing index.
    ///
    /// ```
    /// use fewest_core::{Dataset, DenseColumns, Target};
    /// let x = DenseColumns::from_columns(&[vec![0.0, 1.0], vec![3.0, 3.0]])?;
    /// assert_eq!(Dataset::new(x, Target::None)?.constant_features(), [1]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn constant_features(&self) -> Vec<usize> {
        let mut scratch = Vec::new();
        let n_samples = self.n_samples();
        let mut is_constant = |j: &usize| match self.x.column(*j, &mut scratch) {
            Column::Dense(values) => values.iter().all(|value| *value == values[0]),
            Column::Sparse { values, .. } => {
                let unstored = if values.len() == n_samples { values.first().copied() } else { Some(0.0) };
                values.iter().all(|value| Some(*value) == unstored)
            }
        };
        (0..self.n_features()).filter(|j| is_constant(j)).collect()
    }

    /// [`Error::NonFinite`] for the first NaN or infinity among the values of feature `j`.
    ///
    /// # Errors
    /// That one.
    pub fn check_finite(&self, j: usize, values: &[f64]) -> Result<(), Error> {
        // Without leaving early, which would mean one value at a time.
        if values.iter().fold(true, |all, value| all & value.is_finite()) {
            return Ok(());
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(row) => Err(Error::NonFinite {
                name: format!("`{}`", self.feature_name(j)),
                column: j,
                row,
                value: values[row],
            }),
        }
    }
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseColumns;

    const N: usize = 4;

    /// Two features of four samples, with all that can be known about them.
    fn dataset(target: Target) -> Result<Dataset, Error> {
        let columns = [vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0, 1.0, 0.0]];
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        Dataset::new(DenseColumns::from_columns(&columns)?, target)?
            .with_feature_names(vec!["size".to_owned(), "wild".to_owned()])?
            .with_feature_kinds(vec![FeatureKind::Numeric, FeatureKind::Categorical { levels }])?
            .with_feature_groups(vec![5, 2])?
            .with_sample_ids(["a", "b", "c", "d"].map(str::to_owned).to_vec())?
            .with_sample_weights(vec![0.1, 0.2, 0.3, 0.4])
    }

    /// Out of order and one row twice: each sample keeps its values, target, name and weight.
    #[test]
    fn a_subset_takes_along_what_is_known() -> Result<(), Error> {
        let rows = [3, 0, 3];
        let affinity = (0..N * N).map(|at| ((at / N) * (at % N)) as f64).collect();
        let targets = [
            (Target::None, Target::None),
            (Target::real(vec![5.0, 6.0, 7.0, 8.0])?, Target::real(vec![8.0, 5.0, 8.0])?),
            (
                Target::outputs(vec![5.0, 6.0, 7.0, 8.0, -5.0, -6.0, -7.0, -8.0], N)?,
                Target::outputs(vec![8.0, 5.0, 8.0, -8.0, -5.0, -8.0], 3)?,
            ),
            // A class without samples stays a class.
            (
                Target::from_labels(&["x", "y", "z", "x"]),
                Target::classes(vec![0; 3], ["x", "y", "z"].map(str::to_owned).to_vec())?,
            ),
            (
                Target::affinity(affinity, N)?,
                Target::affinity(vec![9.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0, 0.0, 9.0], 3)?,
            ),
        ];
        for (target, expected) in targets {
            let whole = dataset(target)?;
            let subset = whole.subset(&rows)?;
            assert_eq!((subset.n_samples(), subset.n_features()), (3, 2));
            assert_eq!(subset.target(), &expected);
            let column = |j: usize| subset.x().column(j, &mut Vec::new()).to_vec(3);
            assert_eq!((column(0), column(1)), (vec![4.0, 1.0, 4.0], vec![0.0; 3]));
            for j in 0..2 {
                assert_eq!(subset.feature_name(j), whole.feature_name(j));
                assert_eq!(subset.feature_kind(j), whole.feature_kind(j));
            }
            assert_eq!(subset.feature_groups(), Some([5, 2].as_slice()));
            assert_eq!(subset.sample_ids(), Some(["d", "a", "d"].map(str::to_owned).as_slice()));
            assert_eq!(subset.sample_weights(), Some([0.4, 0.1, 0.4].as_slice()));
            // Of a subset, as of the table.
            assert_eq!(subset.subset(&[1])?.sample_ids(), Some(["a".to_owned()].as_slice()));
        }
        Ok(())
    }

    #[test]
    fn rows_that_are_not_there_and_no_rows_are_errors() -> Result<(), Error> {
        for target in [Target::None, Target::real(vec![5.0, 6.0, 7.0, 8.0])?] {
            let whole = dataset(target)?;
            assert!(matches!(whole.subset(&[0, N]), Err(Error::InvalidParameter { .. })));
            assert!(matches!(whole.subset(&[]), Err(Error::TooFew { .. })));
        }
        Ok(())
    }
}
