//! How methods are evaluated.

use fewest::eval::Network;

use crate::Error;
use crate::catalogue::Registry;

/// How methods are evaluated: numbers of features, learner, metrics and folds.
///
/// ```
/// use fewest::registry::Registry;
/// use fewest_study::{Division, StudyOptions};
///
/// let registry = Registry::standard();
/// let learner = Some("knn".to_owned());
/// let options = StudyOptions { learner, division: Division::HeldOut(0.3), ..StudyOptions::default() };
/// options.check(registry)?;
/// let wrong = StudyOptions { division: Division::HeldOut(1.0), ..options };
/// let message = wrong.check(registry).unwrap_err().to_string();
/// assert_eq!(message, "the share held out is 1, but must be above 0 and below 1");
/// # Ok::<(), fewest_study::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOptions {
    /// The numbers of features to evaluate, in any order, each from 1 to the number of features, or
    /// [`AUTO_K`](fewest::eval::AUTO_K): as many as the method decides itself in each fold. If empty: 1, 2,
    /// 5, 10, 20, 50 and 100 up to the number of features, and all features if there are at most 100.
    pub ks: Vec<usize>,
    /// The id of the learner; `None`: the first one that supports the target.
    pub learner: Option<String>,
    /// Parameters of the learner, each as `name=value`.
    pub learner_parameters: Vec<String>,
    /// The ids of the metrics; the first chooses the number of features. If empty: the first one that
    /// supports the target.
    pub metrics: Vec<String>,
    /// How the samples are divided.
    pub division: Division,
    /// What selectors see of linked samples, apart from the training samples; of no effect without links.
    pub network: Network,
    /// The number of repeats, each with a different division; at least one.
    pub repeats: usize,
    /// Whether to evaluate the learner without features, and with all of them, too: of many features, the
    /// latter may take longer than the methods.
    pub baselines: bool,
}

/// How samples are divided into training and test samples. If the target is classes, every part has them
/// in proportion, unless groups are kept together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Division {
    /// This many parts of equal size, each used once for testing: from 2 to the number of samples.
    Folds(usize),
    /// A random share of the samples, above 0 and below 1, is the test samples.
    HeldOut(f64),
    /// Samples of one [`sample id`](fewest::core::Dataset::sample_ids) are never in training and test samples
    /// at once.
    Groups {
        /// The name of the groups.
        name: String,
        /// The number of parts; `None`: each group is a part.
        folds: Option<usize>,
    },
}

impl Default for Division {
    fn default() -> Self {
        Division::Folds(10)
    }
}

impl Default for StudyOptions {
    fn default() -> Self {
        Self {
            ks: Vec::new(),
            learner: None,
            learner_parameters: Vec::new(),
            metrics: Vec::new(),
            division: Division::default(),
            network: Network::default(),
            repeats: 1,
            baselines: true,
        }
    }
}

impl StudyOptions {
    /// Checks the options without data, with the learners and metrics of `registry`.
    /// [`Study::new`](crate::Study::new) checks this and the rest.
    ///
    /// # Errors
    /// [`Error::Core`] for a learner, a parameter of it or a metric that does not exist; [`Error::Twice`] for
    /// a metric; [`Error::NoRepeats`], [`Error::SameFolds`] and [`Error::Share`] for impossible divisions.
    pub fn check(&self, registry: &Registry) -> Result<(), Error> {
        if let Some(id) = &self.learner {
            registry.find_learner(id)?.build_with(&self.learner_parameters)?;
        }
        for (at, id) in self.metrics.iter().enumerate() {
            let metric = registry.find_metric(id)?.id;
            let is_it = |other: &String| registry.find_metric(other).is_ok_and(|other| other.id == metric);
            if self.metrics[..at].iter().any(is_it) {
                return Err(Error::Twice { what: "metric", id: id.clone() });
            }
        }
        if self.repeats == 0 {
            return Err(Error::NoRepeats);
        }
        match self.division {
            Division::Groups { folds: None, .. } if self.repeats > 1 => Err(Error::SameFolds),
            Division::HeldOut(share) if !(share > 0.0 && share < 1.0) => Err(Error::Share(share)),
            _ => Ok(()),
        }
    }
}
