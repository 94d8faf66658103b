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
use fewest_core::method::Options;
use fewest_eval::{Learner, Metric, metric_named};

use crate::registry::{Parameter, Parameters, Row, TargetKind, nearest};

mod parameters;

/// A learner by its id.
#[derive(Debug, Clone)]
pub struct LearnerEntry {
    /// The id, as on the command line.
    pub id: &'static str,
    /// A shorter name that is understood too.
    pub short: Option<&'static str>,
    /// The name in words.
    pub title: &'static str,
    /// The targets it learns.
    pub targets: &'static [TargetKind],
    /// Its parameters, and the learner made with them, both from the id.
    parameters: fn(&'static str) -> Vec<Parameter>,
    build: fn(&'static str, &Parameters) -> Result<Box<dyn Learner>, Error>,
}

/// A metric by its id.
#[derive(Debug, Clone)]
pub struct MetricEntry {
    /// The id, as on the command line.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// The targets it judges predictions of.
    pub targets: &'static [TargetKind],
    build: fn(&'static str) -> Result<Box<dyn Metric>, Error>,
}

const CLASSES: &[TargetKind] = &[TargetKind::Classes];
const NUMBERS: &[TargetKind] = &[TargetKind::Real, TargetKind::Outputs];

/// All learners; the first for a target is the one to take when none is named.
pub static LEARNERS: &[LearnerEntry] = &[
    learner("linear-svm", Some("svm"), "linear support vector machine", CLASSES),
    learner("decision-tree", Some("tree"), "decision tree", CLASSES),
    learner("naive-bayes", None, "Gaussian naive Bayes", CLASSES),
    learner("kernel-logistic", None, "kernel logistic regression", CLASSES),
    learner("svc", None, "support vector classification", CLASSES),
    learner("twsvm", None, "twin support vector machine", CLASSES),
    learner("tbsvm", None, "twin bounded support vector machine", CLASSES),
    learner("kernel-ridge", None, "kernel ridge regression", NUMBERS),
    learner("svr", None, "support vector regression", &[TargetKind::Real]),
    learner(
        "nearest-neighbours",
        Some("knn"),
        "nearest neighbours",
        &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs],
    ),
];

/// All metrics of predictions; the first for a target is the one to take when none is named.
pub static METRICS: &[MetricEntry] = &[
    metric("accuracy", "share of samples predicted rightly", CLASSES),
    metric("balanced-accuracy", "mean of the classes' accuracies", CLASSES),
    metric("macro-f1", "mean of the classes' F1 scores", CLASSES),
    metric("mse", "mean squared error", NUMBERS),
    metric("q2", "squared error in units of the target's variance", NUMBERS),
    metric("correlation", "correlation of predictions and target", NUMBERS),
    metric("squared-correlation", "the square of that correlation", NUMBERS),
];

const fn learner(
    id: &'static str,
    short: Option<&'static str>,
    title: &'static str,
    targets: &'static [TargetKind],
) -> LearnerEntry {
    let listed = |id: &'static str| parameters::of(id).iter().map(Row::typed).collect();
    LearnerEntry { id, short, title, targets, parameters: listed, build: parameters::build }
}

const fn metric(id: &'static str, title: &'static str, targets: &'static [TargetKind]) -> MetricEntry {
    MetricEntry { id, title, targets, build: metric_named }
}

impl LearnerEntry {
    /// A learner whose fields are its parameters.
    pub const fn new<T: Options + Learner + Default + 'static>(
        id: &'static str,
        title: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self {
            id,
            short: None,
            title,
            targets,
            parameters: |_| T::default().parameters(),
            build: |_, parameters| Ok(Box::new(T::from_parameters(parameters)?)),
        }
    }

    /// The learner with its default parameters.
    ///
    /// # Errors
    /// None for the entries of [`LEARNERS`].
    pub fn build(&self) -> Result<Box<dyn Learner>, Error> {
        (self.build)(self.id, &Parameters::new(self.id, self.parameters()))
    }

    /// The parameters it takes.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.parameters)(self.id)
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
        (self.build)(self.id, &Parameters::new(self.id, self.parameters()).assigned(assignments)?)
    }
}

impl MetricEntry {
    /// A metric.
    pub const fn new<T: Metric + Default + 'static>(
        id: &'static str,
        title: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self { id, title, targets, build: |_| Ok(Box::new(T::default())) }
    }

    /// The metric.
    ///
    /// # Errors
    /// None for the entries of [`METRICS`].
    pub fn build(&self) -> Result<Box<dyn Metric>, Error> {
        (self.build)(self.id)
    }
}

/// The learner with this id among those of [`Registry::standard`](crate::registry::Registry::standard).
///
/// # Errors
/// As [`Registry::find_learner`](crate::registry::Registry::find_learner).
pub fn find_learner(id: &str) -> Result<&'static LearnerEntry, Error> {
    learner_in(LEARNERS, id)
}

/// The metric with this id.
///
/// # Errors
/// As [`find_learner`].
pub fn find_metric(id: &str) -> Result<&'static MetricEntry, Error> {
    metric_in(METRICS, id)
}

pub(crate) fn learner_in<'a>(entries: &'a [LearnerEntry], id: &str) -> Result<&'a LearnerEntry, Error> {
    let found = entries.iter().find(|entry| entry.id == id || entry.short == Some(id));
    let ids = entries.iter().flat_map(|entry| [Some(entry.id), entry.short]).flatten();
    found.ok_or_else(|| unknown("learner", id, entries.iter().map(|entry| entry.id), ids))
}

pub(crate) fn metric_in<'a>(entries: &'a [MetricEntry], id: &str) -> Result<&'a MetricEntry, Error> {
    let ids = entries.iter().map(|entry| entry.id);
    entries.iter().find(|entry| entry.id == id).ok_or_else(|| unknown("metric", id, ids.clone(), ids))
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
            assert_eq!(find_learner(entry.id)?.id, entry.id);
            if let Some(short) = entry.short {
                assert_eq!(find_learner(short)?.id, entry.id);
            }
        }
        for entry in METRICS {
            assert_eq!(entry.build()?.name(), entry.id);
            assert_eq!(find_metric(entry.id)?.id, entry.id);
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
