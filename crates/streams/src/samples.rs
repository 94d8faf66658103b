//! What methods share to which samples arrive.

use fewest_columns::{Standard, map_features};
use fewest_core::{Budget, Context, Dataset, Error, FeatureKind, Scores, Selection};

/// Batches of samples as rows of numbers.
pub(crate) struct Rows {
    method: &'static str,
    /// What standardises each feature, where that is known: none for a constant one, which becomes 0.
    scaling: Option<Vec<Option<Standard>>>,
    pub(crate) n_features: Option<usize>,
}

impl Rows {
    pub(crate) fn new(method: &'static str, scaling: Option<Vec<Option<Standard>>>) -> Self {
        Self { method, scaling, n_features: None }
    }

    /// Whether features are brought to one scale, and constant ones to 0.
    pub(crate) fn is_scaled(&self) -> bool {
        self.scaling.is_some()
    }

    /// The samples of a batch, row after row.
    ///
    /// # Errors
    /// For other features than those of the first batch, weights, and values that are not finite.
    pub(crate) fn read(&mut self, batch: &Dataset) -> Result<Vec<f64>, Error> {
        batch.refuse_sample_weights(self.method)?;
        let (n, d) = (batch.n_samples(), batch.n_features());
        let expected = self.n_features.unwrap_or(d);
        if expected != d {
            return Err(Error::ShapeMismatch { what: "features of a batch", expected, found: d });
        }
        let mut values = vec![0.0; n * d];
        let mut column = vec![0.0; n];
        for j in 0..d {
            refuse_category(batch, j, self.method)?;
            batch.x().copy_column(j, &mut column)?;
            batch.check_finite(j, &column)?;
            match self.scaling.as_ref().map(|scaling| &scaling[j]) {
                Some(None) => continue,
                Some(Some(standard)) => standard.apply(&mut column),
                None => {}
            }
            values.iter_mut().skip(j).step_by(d).zip(&column).for_each(|(value, own)| *value = *own);
        }
        self.n_features = Some(d);
        Ok(values)
    }
}

/// What standardises each feature of a table.
///
/// # Errors
/// For a category of more than two levels, and values that are not finite.
pub(crate) fn scaling(
    data: &Dataset,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<Option<Standard>>, Error> {
    map_features(data, context, "scales", |j, column| {
        refuse_category(data, j, method)?;
        let values = column.to_vec(data.n_samples());
        Ok(Standard::of(&values, fewest_columns::range(&values)))
    })
}

/// The best features by their scores, as many as the budget allows.
///
/// # Errors
/// For a budget of no features, or of more than there are.
pub(crate) fn by_score(scores: &Scores, budget: Budget) -> Result<Selection, Error> {
    budget.check(scores.values.len())?;
    let mut order = scores.ranking();
    match budget {
        Budget::Count(k) => order.truncate(k),
        Budget::Threshold(threshold) => order.retain(|&j| scores.values[j] >= threshold),
        _ => {}
    }
    Ok(scores.selection(order))
}

/// The error for a category of more than two levels, for methods that need numbers.
///
/// # Errors
/// [`Error::Unsupported`].
pub(crate) fn refuse_category(data: &Dataset, j: usize, method: &'static str) -> Result<(), Error> {
    match data.feature_kind(j) {
        FeatureKind::Categorical { levels } if levels.len() > 2 => Err(Error::Unsupported {
            method,
            what: format!("feature {}, a category of more than two levels,", data.feature_name(j)),
            instead: "leave it out, or make a column of 0 and 1 for each level".to_owned(),
        }),
        _ => Ok(()),
    }
}
