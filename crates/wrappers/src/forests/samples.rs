//! The samples and features that forests see.

use fewest_core::{Dataset, DenseColumns, Error, FeatureKind, Target};

use crate::table::Canonical;

/// Features that vary, in orders of samples and features that depend on their values only: then neither the
/// order of rows nor that of columns changes what is drawn.
pub(super) struct Samples {
    /// The features, as numbers of the table, in the order of the columns here.
    pub(super) features: Vec<usize>,
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) kinds: Vec<FeatureKind>,
    pub(super) target: Target,
}

impl Samples {
    /// # Errors
    /// [`Error::TooFew`] without a feature that varies; [`Error::NonFinite`]; [`Error::Unsupported`] for
    /// sample weights.
    pub(super) fn new(data: &Dataset, method: &'static str) -> Result<Self, Error> {
        data.refuse_sample_weights(method)?;
        let constant = data.constant_features()?;
        let mut column = vec![0.0; data.n_samples()];
        for j in 0..data.n_features() {
            data.x().copy_column(j, &mut column)?;
            data.check_finite(j, &column)?;
        }
        let Canonical { samples, features: places } = Canonical::of(data)?;
        let mut features: Vec<usize> =
            (0..data.n_features()).filter(|j| constant.binary_search(j).is_err()).collect();
        if features.is_empty() {
            return Err(Error::TooFew { what: "features that vary", minimum: 1, found: 0 });
        }
        features.sort_by_key(|&j| (places[j], j));
        let mut columns = Vec::with_capacity(features.len());
        for &j in &features {
            data.x().copy_column(j, &mut column)?;
            columns.push(samples.iter().map(|&row| column[row]).collect());
        }
        let kinds = features.iter().map(|&j| data.feature_kind(j).clone()).collect();
        Ok(Self { features, columns, kinds, target: data.target().subset(&samples) })
    }

    pub(super) fn n_samples(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

/// A table of these columns.
pub(super) fn table(columns: &[&[f64]], kinds: Vec<FeatureKind>, target: Target) -> Result<Dataset, Error> {
    let n_samples = columns.first().map_or(0, |column| column.len());
    let x = DenseColumns::new(columns.concat(), n_samples, columns.len())?;
    Dataset::new(x, target)?.with_feature_kinds(kinds)
}
