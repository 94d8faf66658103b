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
mod k_means;
mod kernel;
mod machine;
mod neighbours;
mod svm;
mod tree;

pub use bayes::NaiveBayes;
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
}

impl Predictions {
    /// Number of samples.
    pub(crate) fn n_samples(&self) -> usize {
        match self {
            Self::Classes(codes) => codes.len(),
            Self::Real(outputs) => outputs.first().map_or(0, Vec::len),
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
}

impl<L: Learner + ?Sized> Learner for Box<L> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        (**self).fit(data, context)
    }
}

/// Learners whose method `train` returns a model of its own type.
macro_rules! by_training {
    ($($learner:ty: $name:literal,)*) => {$(
        impl Learner for $learner {
            fn name(&self) -> &'static str {
                $name
            }

            fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
                Ok(Box::new(self.train(data, context)?))
            }
        }
    )*};
}

by_training! {
    KMeans: "k-means",
    LinearSvm: "linear-svm",
    KernelLogistic: "kernel-logistic",
    KernelRidge: "kernel-ridge",
    SupportVectorClassifier: "svc",
    SupportVectorRegression: "svr",
}

/// A fitted model.
pub trait Model: Send + Sync {
    /// Predictions for the samples of `x`, whose features are those of the training data, in their order.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features; [`Error::NonFinite`] for a NaN or an
    /// infinity.
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error>;

    /// Numbers worth reporting, by name: parameters chosen from the data, certificates. Default: none.
    fn facts(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
