//! The selected features of a data set.

use std::sync::Arc;

use fewest_core::{Dataset, DenseColumns, Error, FeatureKind, FeatureSubset};

pub(crate) fn check_features(features: &[usize], n_features: usize) -> Result<(), Error> {
    match features.iter().find(|&&j| j >= n_features) {
        None => Ok(()),
        Some(j) => {
            Err(Error::parameter("features", j, format!("below the number of features, {n_features}")))
        }
    }
}

/// Features `features` of the samples `rows`, copied: a learner reads them more than once.
///
/// A selector checks the training samples only: all samples are checked here, for a message that names the
/// cell.
pub(crate) fn gather(data: &Dataset, rows: &[usize], features: &[usize]) -> Result<DenseColumns, Error> {
    let x = data.x();
    let mut values = Vec::with_capacity(rows.len() * features.len());
    let mut scratch = Vec::new();
    let mut whole = vec![0.0; x.n_samples()];
    for &j in features {
        x.column(j, &mut scratch)?.copy_to(&mut whole);
        data.check_finite(j, &whole)?;
        values.extend(rows.iter().map(|&row| whole[row]));
    }
    DenseColumns::new(values, rows.len(), features.len())
}

/// The columns `places` of `x`, sharing its values.
pub(crate) fn some_columns(
    x: &Arc<DenseColumns>,
    places: &[usize],
) -> Result<FeatureSubset<Arc<DenseColumns>>, Error> {
    FeatureSubset::new(Arc::clone(x), places.to_vec())
}

/// `subset` with the names and kinds of `features` of `data`.
pub(crate) fn describe(subset: Dataset, data: &Dataset, features: &[usize]) -> Result<Dataset, Error> {
    let kinds: Vec<FeatureKind> = features.iter().map(|&j| data.feature_kind(j).clone()).collect();
    let names = features.iter().map(|&j| data.feature_name(j)).collect();
    subset.with_feature_names(names)?.with_feature_kinds(kinds)
}
