//! Errors of experiments, with the fold and the stage.

use fewest_core::Error;

use super::AUTO_K;

/// The part of a fold that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Preparing the samples.
    Preparation,
    /// Choosing `k` features.
    Selection {
        /// How many were asked for.
        k: usize,
    },
    /// Fitting the learner to the best `k` features.
    Fit {
        /// How many features.
        k: usize,
    },
    /// Predicting from the best `k` features.
    Prediction {
        /// How many features.
        k: usize,
    },
    /// Evaluating the predictions from the best `k` features.
    Metric {
        /// The metric's name.
        name: &'static str,
        /// How many features.
        k: usize,
    },
}

impl std::fmt::Display for Stage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Preparation => write!(formatter, "preparing the samples"),
            Self::Selection { k } => write!(formatter, "selecting {}", features(*k)),
            Self::Fit { k } => write!(formatter, "fitting to {}", features(*k)),
            Self::Prediction { k } => write!(formatter, "predicting from {}", features(*k)),
            Self::Metric { name, k } => write!(formatter, "{name} with {}", features(*k)),
        }
    }
}

/// So many features, in words.
fn features(k: usize) -> String {
    match k {
        1 => "1 feature".to_owned(),
        AUTO_K => "the method's number of features".to_owned(),
        k => format!("{k} features"),
    }
}

/// Why an experiment has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The experiment as a whole cannot be run.
    #[error(transparent)]
    Setup(#[from] Error),
    /// A fold failed; if several failed, the first.
    #[error("fold {fold} of {n_folds} (counted from 0), {stage}: {source}")]
    Fold {
        /// The fold's index, from 0.
        fold: usize,
        /// Number of folds.
        n_folds: usize,
        /// What failed.
        stage: Stage,
        /// Why.
        source: Error,
    },
}
