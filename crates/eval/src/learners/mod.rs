//! Learners, which predict from the selected features.
//!
//! The learners are written here. Of the libraries, smartcore 0.7 misses splits of trees when feature values
//! are tied, divides by zero for a class of one sample (naive Bayes) and for duplicate points (k-means), and
//! its support vector machine is approximate; linfa adds a second matrix library and a second random
//! generator.
//!
//! Learners do not use sample weights.

mod bayes;
pub(crate) mod constant;
mod cox;
mod forest;
mod growth;
mod importance;
mod k_means;
mod kernel;
mod machine;
mod neighbours;
mod ranks;
mod sides;
mod svm;
mod tree;

pub use bayes::NaiveBayes;
pub use cox::{CoxRidge, CoxRidgeModel};
pub use forest::RandomForest;
pub use importance::Importances;
pub use k_means::{KMeans, KMeansModel};
pub use kernel::{KernelGrid, KernelLogistic, KernelLogisticModel, KernelRidge, KernelRidgeModel};
pub use machine::{
    MachineGrid, MachineKernel, SupportVectorClassifier, SupportVectorClassifierModel,
    SupportVectorRegression, SupportVectorRegressionModel, TwinClassifier, TwinClassifierModel,
    TwinRegularization,
};
pub use neighbours::NearestNeighbours;
pub use svm::{LinearSvm, LinearSvmModel};
pub use tree::DecisionTree;

use fewest_core::{Columns, Context, Dataset, Error};

/// The predictions of a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Predictions {
    /// The class of each sample, as a code of the training target; or the number of its cluster.
    Classes(Vec<u32>),
    /// The value of each sample, one vector for each output.
    Real(Vec<Vec<f64>>),
    /// The class of each sample, and how likely each class is.
    Scored(ClassScores),
}

/// The class of each sample, with a score for each class.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClassScores {
    /// The predicted class of each sample, as a code of the training target.
    pub classes: Vec<u32>,
    /// Classes by their codes, each with the scores of all samples; larger is more likely.
    pub scores: Vec<(u32, Vec<f64>)>,
    /// What the scores are.
    pub scoring: ClassScoring,
}

/// What a learner says of each class, besides the class that it predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ClassScoring {
    /// Nothing.
    #[default]
    None,
    /// A number that is larger where the class is more likely, such as the distance from a boundary.
    DecisionValues,
    /// The probability of the class.
    Probabilities,
}

impl ClassScores {
    /// Of the predicted `classes`, the `scores` of each class and what they are.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for scores of another number of samples, [`Error::TooFew`] for none at all.
    pub fn new(
        classes: Vec<u32>,
        scores: Vec<(u32, Vec<f64>)>,
        scoring: ClassScoring,
    ) -> Result<Self, Error> {
        if scores.is_empty() && !classes.is_empty() {
            let what = "classes with scores: a learner whose `scoring` is not none needs a model with \
                        `score_classes`";
            return Err(Error::TooFew { what, minimum: 1, found: 0 });
        }
        if let Some((_, values)) = scores.iter().find(|(_, values)| values.len() != classes.len()) {
            let what = "scores of a class, one a sample";
            return Err(Error::ShapeMismatch { what, expected: classes.len(), found: values.len() });
        }
        Ok(Self { classes, scores, scoring })
    }
}

impl Predictions {
    /// The predictions of one model for some samples, and for those after them.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for other outputs or scored classes, [`Error::Unsupported`] for predictions
    /// of another kind.
    pub fn followed_by(self, after: Self) -> Result<Self, Error> {
        let same = |what, expected, found| match expected == found {
            true => Ok(()),
            false => Err(Error::ShapeMismatch { what, expected, found }),
        };
        match (self, after) {
            (Self::Classes(first), Self::Classes(second)) => Ok(Self::Classes([first, second].concat())),
            (Self::Real(mut first), Self::Real(second)) => {
                same("outputs of a model", first.len(), second.len())?;
                first.iter_mut().zip(second).for_each(|(values, more)| values.extend(more));
                Ok(Self::Real(first))
            }
            (Self::Scored(first), Self::Scored(second)) if first.scoring == second.scoring => {
                same("classes with scores", first.scores.len(), second.scores.len())?;
                let mut scores = first.scores;
                for (code, values) in &mut scores {
                    let more = second.scores.iter().find(|(other, _)| other == code);
                    values.extend(more.iter().flat_map(|(_, values)| values));
                }
                let classes = [first.classes, second.classes].concat();
                Ok(Self::Scored(ClassScores::new(classes, scores, first.scoring)?))
            }
            (Self::Classes(_) | Self::Real(_) | Self::Scored(_), _) => Err(Error::Unsupported {
                method: "a learner",
                what: "a change of the kind of predictions from sample to sample".to_owned(),
                instead: "let `predict` return the same variant always".to_owned(),
            }),
        }
    }

    /// Number of samples.
    pub(crate) fn n_samples(&self) -> usize {
        match self {
            Self::Classes(codes) => codes.len(),
            Self::Real(outputs) => outputs.first().map_or(0, Vec::len),
            Self::Scored(scored) => scored.classes.len(),
        }
    }
}

/// A learning algorithm.
///
/// Scaling, encoding and choice of parameters use the samples of `fit` only.
pub trait Learner: Send + Sync {
    /// The name of the learner, for reports and messages: `naive-bayes`, …
    fn name(&self) -> &'static str;

    /// Fits a model to `data`. Everything random comes from `context.seed`.
    ///
    /// # Errors
    /// When the data or the parameters do not allow it.
    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error>;

    /// A model whose predictions are those of [`fit`](Self::fit), but whose [`Model::score_classes`] need not
    /// be: without the work for these. Default: `fit`.
    ///
    /// # Errors
    /// As `fit`.
    fn fit_to_predict(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.fit(data, context)
    }

    /// What [`Model::score_classes`] of its models gives. Default: nothing.
    fn scoring(&self) -> ClassScoring {
        ClassScoring::None
    }
}

impl<L: Learner + ?Sized> Learner for Box<L> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        (**self).fit(data, context)
    }

    fn fit_to_predict(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        (**self).fit_to_predict(data, context)
    }

    fn scoring(&self) -> ClassScoring {
        (**self).scoring()
    }
}

/// Learners whose method `train` returns a model of its own type.
macro_rules! by_training {
    ($($learner:ty: $name:literal, $scoring:ident;)*) => {$(
        impl Learner for $learner {
            fn name(&self) -> &'static str {
                $name
            }

            fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
                Ok(Box::new(self.train(data, context)?))
            }

            fn scoring(&self) -> ClassScoring {
                ClassScoring::$scoring
            }
        }
    )*};
}

by_training! {
    KMeans: "k-means", None;
    LinearSvm: "linear-svm", DecisionValues;
    KernelLogistic: "kernel-logistic", Probabilities;
    KernelRidge: "kernel-ridge", None;
    SupportVectorRegression: "svr", None;
}

/// A fitted model.
pub trait Model: Send + Sync {
    /// Predictions for the samples of `x`, whose features are those of the training data, in their order.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features; [`Error::NonFinite`] for a NaN or an
    /// infinity.
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error>;

    /// For the samples of `x`, classes by their codes, each with its scores: [`Learner::scoring`] says what
    /// they are. Default: none.
    ///
    /// # Errors
    /// As [`Model::predict`].
    fn score_classes(&self, _x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        Ok(Vec::new())
    }

    /// Numbers worth reporting, by name: parameters chosen from the data, certificates. Default: none.
    fn facts(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// Predictions with all that metrics need, which is `needed`.
pub(crate) fn predict(
    model: &dyn Model,
    scoring: ClassScoring,
    needed: ClassScoring,
    x: &dyn Columns,
) -> Result<Predictions, Error> {
    let predicted = model.predict(x)?;
    Ok(match predicted {
        Predictions::Classes(classes) if needed > ClassScoring::None && scoring >= needed => {
            Predictions::Scored(ClassScores::new(classes, model.score_classes(x)?, scoring)?)
        }
        other => other,
    })
}

/// Replaces logarithms of shares, by class and sample, by the shares.
pub(crate) fn shares_of_logarithms(scores: &mut [(u32, Vec<f64>)]) {
    let n = scores.first().map_or(0, |(_, values)| values.len());
    for i in 0..n {
        let largest = scores.iter().fold(f64::NEG_INFINITY, |largest, (_, values)| largest.max(values[i]));
        let mut sum = 0.0;
        for (_, values) in scores.iter_mut() {
            values[i] = (values[i] - largest).exp();
            sum += values[i];
        }
        scores.iter_mut().for_each(|(_, values)| values[i] /= sum);
    }
}

#[cfg(test)]
mod tests;
