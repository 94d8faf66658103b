//! Every learner and metric of [`eval`](fewest_eval) by its id, with the targets it is for: what the command line's
//! evaluations are built on.
//!
//! ```
//! use fewest::evaluation;
//! use fewest::registry::TargetKind;
//!
//! let learner = evaluation::find_learner("svm")?;
//! assert_eq!((learner.id, learner.build()?.name()), ("linear-svm", "linear-svm"));
//! assert!(!learner.targets.contains(&TargetKind::Real));
//! let error = evaluation::find_metric("acuracy").unwrap_err();
//! assert!(error.to_string().ends_with("did you mean `accuracy`?"));
//! # Ok::<(), fewest::core::Error>(())
//! ```

use fewest_core::Error;
use fewest_eval::{Learner, Metric, learner_named, metric_named};

use crate::registry::{Parameter, Parameters, Row, TargetKind, nearest};

mod parameters;

/// A learner by its id.
#[derive(Debug, PartialEq, Eq)]
pub struct LearnerEntry {
    /// The id, as on the command line.
    pub id: &'static str,
    /// A shorter name that is understood too.
    pub short: Option<&'static str>,
    /// The name in words.
    pub title: &'static str,
    /// The targets it learns.
    pub targets: &'static [TargetKind],
}

/// A metric by its id.
#[derive(Debug, PartialEq, Eq)]
pub struct MetricEntry {
    /// The id, as on the command line.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// The targets it judges predictions of.
    pub targets: &'static [TargetKind],
}

const CLASSES: &[TargetKind] = &[TargetKind::Classes];
const NUMBERS: &[TargetKind] = &[TargetKind::Real, TargetKind::Outputs];

/// All learners; the first for a target is the one to take when none is named.
pub static LEARNERS: &[LearnerEntry] = &[
    LearnerEntry {
        id: "linear-svm",
        short: Some("svm"),
        title: "linear support vector machine",
        targets: CLASSES,
    },
    LearnerEntry { id: "decision-tree", short: Some("tree"), title: "decision tree", targets: CLASSES },
    LearnerEntry { id: "naive-bayes", short: None, title: "Gaussian naive Bayes", targets: CLASSES },
    LearnerEntry {
        id: "kernel-logistic",
        short: None,
        title: "kernel logistic regression",
        targets: CLASSES,
    },
    LearnerEntry { id: "svc", short: None, title: "support vector classification", targets: CLASSES },
    LearnerEntry { id: "twsvm", short: None, title: "twin support vector machine", targets: CLASSES },
    LearnerEntry { id: "tbsvm", short: None, title: "twin bounded support vector machine", targets: CLASSES },
    LearnerEntry { id: "kernel-ridge", short: None, title: "kernel ridge regression", targets: NUMBERS },
    LearnerEntry { id: "svr", short: None, title: "support vector regression", targets: &[TargetKind::Real] },
    LearnerEntry {
        id: "nearest-neighbours",
        short: Some("knn"),
        title: "nearest neighbours",
        targets: &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs],
    },
];

/// All metrics of predictions; the first for a target is the one to take when none is named.
pub static METRICS: &[MetricEntry] = &[
    MetricEntry { id: "accuracy", title: "share of samples predicted rightly", targets: CLASSES },
    MetricEntry { id: "balanced-accuracy", title: "mean of the classes' accuracies", targets: CLASSES },
    MetricEntry { id: "macro-f1", title: "mean of the classes' F1 scores", targets: CLASSES },
    MetricEntry { id: "mse", title: "mean squared error", targets: NUMBERS },
    MetricEntry { id: "q2", title: "squared error in units of the target's variance", targets: NUMBERS },
    MetricEntry { id: "correlation", title: "correlation of predictions and target", targets: NUMBERS },
    MetricEntry { id: "squared-correlation", title: "the square of that correlation", targets: NUMBERS },
];

impl LearnerEntry {
    /// The learner with its default parameters.
    ///
    /// # Errors
    /// None for the entries of [`LEARNERS`].
    pub fn build(&self) -> Result<Box<dyn Learner>, Error> {
        learner_named(self.id)
    }
}

impl LearnerEntry {
    /// The parameters it takes.
    pub fn parameters(&self) -> Vec<Parameter> {
        parameters::of(self.id).iter().map(Row::typed).collect()
    }

    /// The learner with its default parameters, but for `assignments` of the form `name=value`.
    ///
    /// # Errors
    /// As [`Parameters::parse`].
    ///
    /// ```
    /// let learner = fewest::evaluation::find_learner("knn")?;
    /// assert_eq!(learner.build_with(&["neighbours=7"])?.name(), "nearest-neighbours");
    /// let error = learner.build_with(&["neighbors=7"]).err().map(|error| error.to_string()).unwrap_or_default();
    /// assert!(error.ends_with("it takes neighbours; did you mean `neighbours`?"));
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn build_with<S: AsRef<str>>(&self, assignments: &[S]) -> Result<Box<dyn Learner>, Error> {
        let defaults = Parameters::new(self.id, self.parameters());
        parameters::build(self.id, &defaults.assigned(assignments)?)
    }
}

impl MetricEntry {
    /// The metric.
    ///
    /// # Errors
    /// None for the entries of [`METRICS`].
    pub fn build(&self) -> Result<Box<dyn Metric>, Error> {
        metric_named(self.id)
    }
}

/// The learner with this id.
///
/// # Errors
/// [`Error::InvalidParameter`] for an unknown id, with the ids there are and the nearest one.
pub fn find_learner(id: &str) -> Result<&'static LearnerEntry, Error> {
    let found = LEARNERS.iter().find(|entry| entry.id == id || entry.short == Some(id));
    let ids = LEARNERS.iter().flat_map(|entry| [Some(entry.id), entry.short]).flatten();
    found.ok_or_else(|| unknown("learner", id, LEARNERS.iter().map(|entry| entry.id), ids))
}

/// The metric with this id.
///
/// # Errors
/// As [`find_learner`].
pub fn find_metric(id: &str) -> Result<&'static MetricEntry, Error> {
    let ids = METRICS.iter().map(|entry| entry.id);
    METRICS.iter().find(|entry| entry.id == id).ok_or_else(|| unknown("metric", id, ids.clone(), ids))
}

/// `listed` are told; `understood` may be what was meant.
fn unknown(
    what: &'static str,
    id: &str,
    listed: impl Iterator<Item = &'static str>,
    understood: impl Iterator<Item = &'static str>,
) -> Error {
    let hint = match nearest(id, &understood.collect::<Vec<_>>()).first() {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Error::parameter(what, id, format!("one of {}{hint}", listed.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use fewest_core::Target;

    use super::*;

    #[test]
    fn entries_are_what_they_say() -> Result<(), Error> {
        for entry in LEARNERS {
            assert_eq!(entry.build()?.name(), entry.id);
            assert_eq!(find_learner(entry.id)?, entry);
            if let Some(short) = entry.short {
                assert_eq!(find_learner(short)?, entry);
            }
        }
        for entry in METRICS {
            assert_eq!(entry.build()?.name(), entry.id);
            assert_eq!(find_metric(entry.id)?, entry);
        }
        Ok(())
    }

    #[test]
    fn parameters_have_the_learners_defaults_and_are_checked() -> Result<(), Error> {
        for entry in LEARNERS {
            let none: [&str; 0] = [];
            assert_eq!(entry.build_with(&none)?.name(), entry.id);
            for parameter in entry.parameters() {
                for wrong in ["", "-1", "x", "0"] {
                    let assignment = format!("{}={wrong}", parameter.name);
                    assert!(entry.build_with(&[&assignment]).is_err(), "{}: {assignment}", entry.id);
                }
                if let Some(default) = &parameter.default {
                    entry.build_with(&[format!("{}={default}", parameter.name)])?;
                }
            }
            assert!(entry.build_with(&["no_such=1"]).is_err() && entry.build_with(&["c"]).is_err());
        }
        Ok(())
    }

    #[test]
    fn parameters_reach_the_learner() -> Result<(), Error> {
        use fewest_core::{Context, Dataset, DenseColumns};
        let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 2.0, 3.0, 4.0]])?;
        let labels = ["a", "b", "b", "b", "b"];
        let data = Dataset::new(x, Target::from_labels(&labels))?;
        let predicted = |assignment: &str| {
            let learner = find_learner("knn")?.build_with(&[assignment])?;
            learner.fit(&data, &Context::default())?.predict(data.x())
        };
        assert_ne!(predicted("neighbours=1")?, predicted("neighbours=5")?);
        Ok(())
    }

    #[test]
    fn learners_learn_and_metrics_judge_the_targets_they_name() -> Result<(), Error> {
        use fewest_core::{Context, Dataset, DenseColumns};
        let feature: Vec<f64> = (0..12).map(f64::from).collect();
        let labels: Vec<bool> = feature.iter().map(|value| *value > 5.0).collect();
        let other: Vec<f64> = feature.iter().map(|value| value * value).collect();
        let targets = [
            Target::from_labels(&labels),
            Target::real(feature.clone())?,
            Target::outputs([feature.clone(), other].concat(), 12)?,
        ];
        for target in targets {
            let kind = TargetKind::of(&target);
            let data = Dataset::new(DenseColumns::from_columns(std::slice::from_ref(&feature))?, target)?;
            for entry in LEARNERS {
                let model = entry.build()?.fit(&data, &Context::default());
                assert_eq!(model.is_ok(), entry.targets.contains(&kind), "{} of {kind:?}", entry.id);
                let Ok(model) = model else { continue };
                let predicted = model.predict(data.x())?;
                for entry in METRICS {
                    let score = entry.build()?.score(data.target(), &predicted);
                    assert_eq!(score.is_ok(), entry.targets.contains(&kind), "{} of {kind:?}", entry.id);
                }
            }
        }
        Ok(())
    }
}
