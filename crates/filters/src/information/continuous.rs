//! Relevance and redundancy estimated without bins: what [`Mim`](super::Mim) and the criteria over pairs
//! need.

use fewest_core::{Column, Context, Dataset, Error, FeatureKind, Target};
use fewest_counts::discretisation::{self, Levels};

use super::criterion::ForwardCriterion;
use super::estimators::{Neighbourhoods, Observations, Search, Windows};
use super::forward;
use fewest_columns::map_features;

/// An estimator of the mutual information of two prepared variables.
pub(super) trait Pairs: Sync {
    type Variable: Send + Sync;

    fn prepare(&self, x: Observations<'_>) -> Self::Variable;

    fn information(&self, x: &Self::Variable, y: &Self::Variable) -> f64;
}

/// Parzen windows with a factor on their bandwidth.
pub(super) struct Parzen(pub(super) f64);

impl Pairs for Parzen {
    type Variable = Windows;

    fn prepare(&self, x: Observations<'_>) -> Windows {
        Windows::new(x, self.0)
    }

    fn information(&self, x: &Windows, y: &Windows) -> f64 {
        x.information(y)
    }
}

impl Pairs for Search {
    type Variable = Neighbourhoods;

    fn prepare(&self, x: Observations<'_>) -> Neighbourhoods {
        Neighbourhoods::new(x)
    }

    fn information(&self, x: &Neighbourhoods, y: &Neighbourhoods) -> f64 {
        Search::information(self, x, y)
    }
}

/// The features, prepared, with their mutual information with the target.
pub(super) struct Estimated<'a, P: Pairs> {
    pairs: &'a P,
    criterion: ForwardCriterion,
    /// `None` for a constant.
    features: Vec<Option<P::Variable>>,
    pub(super) relevances: Vec<f64>,
}

impl<'a, P: Pairs> Estimated<'a, P> {
    /// Every feature of `data`, kept for criteria that compare features: two to three times the memory of the
    /// data.
    pub(super) fn new(
        data: &Dataset,
        criterion: ForwardCriterion,
        pairs: &'a P,
        method: &'static str,
        keep: bool,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let target = match data.target() {
            Target::Class(classes) => pairs.prepare(Observations::Levels(&Levels::of_classes(classes))),
            Target::Real(outputs) if outputs.n_outputs() == 1 => {
                pairs.prepare(Observations::Real(outputs.output(0)))
            }
            other => {
                let expected = "classes or one real output";
                return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
            }
        };
        let estimated = map_features(data, context, "relevance", |j, column| {
            let written_out;
            let values = match column {
                Column::Dense(values) => values,
                sparse @ Column::Sparse { .. } => {
                    written_out = sparse.to_vec(data.n_samples());
                    &written_out
                }
            };
            if values.iter().all(|value| *value == values[0]) {
                return Ok((None, 0.0));
            }
            let feature = match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => {
                    pairs.prepare(Observations::Levels(&discretisation::categories(values)))
                }
                _ => pairs.prepare(Observations::Real(values)),
            };
            let relevance = pairs.information(&feature, &target);
            Ok((keep.then_some(feature), relevance))
        })?;
        let (features, relevances) = estimated.into_iter().unzip();
        Ok(Self { pairs, criterion, features, relevances })
    }

    /// The features that are not constant, if they were kept.
    pub(super) fn candidates(&self) -> Vec<usize> {
        (0..self.features.len()).filter(|&k| self.features[k].is_some()).collect()
    }
}

impl<P: Pairs> forward::Criterion for Estimated<'_, P> {
    type Partner = usize;
    type Scratch = ();

    fn relevance(&self, k: usize) -> f64 {
        self.relevances[k]
    }

    fn start(&self, _k: usize) -> f64 {
        0.0
    }

    fn partners(&self, selected: &[usize]) -> Result<Vec<usize>, Error> {
        Ok(selected.last().copied().into_iter().collect())
    }

    fn fold(&self, k: usize, fold: f64, partners: &[usize], _scratch: &mut ()) -> Result<f64, Error> {
        let term = |j: &usize| match (&self.features[k], &self.features[*j]) {
            (Some(k), Some(j)) => self.pairs.information(k, j),
            _ => 0.0,
        };
        Ok(partners.iter().fold(fold, |sum, j| sum + term(j)))
    }

    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64 {
        self.criterion.of_redundancy(self.relevances[k], fold, n_selected)
    }

    fn folds_bound(&self) -> bool {
        true
    }
}
