//! Every learner and metric by its id, with the targets it supports.
//!
//! A learner is declared in its own file and in [`LEARNERS`].

use std::fmt;
use std::sync::Arc;

use fewest_core::method::{
    Options, Parameter, ParameterType, Parameters, Range, TargetKind, Value, meant, nearest,
};
use fewest_core::{Context, Dataset, Error};

use crate::{
    Accuracy, AreaUnderCurve, BalancedAccuracy, Concordance, Correlation, CoxRidge, DecisionTree,
    Determination, KernelLogistic, KernelRidge, Learner, LinearSvm, LogLoss, MacroF1, Matthews,
    MeanAbsoluteError, MeanSquaredError, Metric, Model, NaiveBayes, NearestNeighbours, QSquared,
    RandomForest, RootMeanSquaredError, SquaredCorrelation, SupportVectorClassifier, SupportVectorRegression,
    TwinClassifier,
};

/// A learner by its id.
#[derive(Debug, Clone)]
pub struct LearnerEntry {
    /// The id, as on the command line.
    pub id: &'static str,
    /// A shorter name that is accepted too.
    pub short: Option<&'static str>,
    /// The name in words.
    pub title: &'static str,
    /// The targets it supports.
    pub targets: &'static [TargetKind],
    draft: fn() -> Box<dyn Configure>,
}

/// A learner as a trait object, before its parameters are set.
trait Configure {
    fn parameters(&self) -> Vec<Parameter>;
    fn build(self: Box<Self>, parameters: &Parameters) -> Result<Box<dyn Learner>, Error>;
}

impl<T: Options + Learner + 'static> Configure for T {
    fn parameters(&self) -> Vec<Parameter> {
        Options::parameters(self)
    }

    fn build(mut self: Box<Self>, parameters: &Parameters) -> Result<Box<dyn Learner>, Error> {
        parameters.check()?;
        self.set(parameters)?;
        self.check()?;
        Ok(self)
    }
}

/// A metric by its id.
#[derive(Debug, Clone)]
pub struct MetricEntry {
    /// The id, as on the command line.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// The targets it supports.
    pub targets: &'static [TargetKind],
    build: fn() -> Box<dyn Metric>,
}

const CLASSES: &[TargetKind] = &[TargetKind::Classes];
const SURVIVAL: &[TargetKind] = &[TargetKind::Survival];
const NUMBERS: &[TargetKind] = &[TargetKind::Real, TargetKind::Outputs];
const BOTH: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

/// All learners; the first one that supports a target is its default.
pub const LEARNERS: &[LearnerEntry] = &[
    LearnerEntry::new::<LinearSvm>("linear-svm", "linear support vector machine", CLASSES).with_short("svm"),
    LearnerEntry::new::<DecisionTree>("decision-tree", "decision tree", CLASSES).with_short("tree"),
    LearnerEntry::new::<NaiveBayes>("naive-bayes", "Gaussian naive Bayes", CLASSES),
    LearnerEntry::new::<KernelLogistic>("kernel-logistic", "kernel logistic regression", CLASSES),
    LearnerEntry::new::<SupportVectorClassifier>("svc", "support vector classification", CLASSES),
    LearnerEntry::new::<TwinClassifier>("twsvm", "twin support vector machine", CLASSES),
    LearnerEntry {
        draft: || Box::new(TwinClassifier::tbsvm()),
        ..LearnerEntry::new::<TwinClassifier>("tbsvm", "twin bounded support vector machine", CLASSES)
    },
    LearnerEntry::new::<KernelRidge>("kernel-ridge", "kernel ridge regression", NUMBERS),
    LearnerEntry::new::<SupportVectorRegression>("svr", "support vector regression", &[TargetKind::Real]),
    LearnerEntry::new::<CoxRidge>("cox-ridge", "proportional hazards with a ridge", SURVIVAL)
        .with_short("cox"),
    LearnerEntry::new::<RandomForest>("random-forest", "random forest", BOTH).with_short("forest"),
    LearnerEntry::new::<NearestNeighbours>("nearest-neighbours", "nearest neighbours", BOTH)
        .with_short("knn"),
];

/// All metrics of predictions; the first one that supports a target is its default.
pub const METRICS: &[MetricEntry] = &[
    MetricEntry::new::<Accuracy>("accuracy", "share of samples predicted correctly", CLASSES),
    MetricEntry::new::<BalancedAccuracy>("balanced-accuracy", "mean of the classes' accuracies", CLASSES),
    MetricEntry::new::<MacroF1>("macro-f1", "mean of the classes' F1 scores", CLASSES),
    MetricEntry::new::<Matthews>("matthews", "correlation of true and predicted classes (Matthews)", CLASSES),
    MetricEntry::new::<AreaUnderCurve>(
        "auc",
        "area under the curve, the mean over classes against the rest",
        CLASSES,
    ),
    MetricEntry::new::<LogLoss>("log-loss", "mean of -ln of the probability of the true class", CLASSES),
    MetricEntry::new::<MeanSquaredError>("mse", "mean squared error", NUMBERS),
    MetricEntry::new::<RootMeanSquaredError>("rmse", "root of the mean squared error", NUMBERS),
    MetricEntry::new::<MeanAbsoluteError>("mae", "mean absolute error", NUMBERS),
    MetricEntry::new::<Determination>("r2", "coefficient of determination", NUMBERS),
    MetricEntry::new::<QSquared>("q2", "squared error divided by the target's variance: 1 - r2", NUMBERS),
    MetricEntry::new::<Correlation>("correlation", "correlation of predictions and target", NUMBERS),
    MetricEntry::new::<SquaredCorrelation>(
        "squared-correlation",
        "squared correlation of predictions and target",
        NUMBERS,
    ),
    MetricEntry::new::<Concordance>(
        "concordance",
        "share of pairs in the order of their events (Harrell's C)",
        SURVIVAL,
    ),
];

/// Names that people type for metrics of other names here.
const METRIC_ALIASES: &[(&str, &str)] = &[
    ("roc-auc", "auc"),
    ("mcc", "matthews"),
    ("logloss", "log-loss"),
    ("cross-entropy", "log-loss"),
    ("f1", "macro-f1"),
    ("f1-macro", "macro-f1"),
    ("c-index", "concordance"),
    ("harrell", "concordance"),
];

impl LearnerEntry {
    /// A learner whose fields are its parameters.
    pub const fn new<T: Options + Learner + Default + 'static>(
        id: &'static str,
        title: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self { id, short: None, title, targets, draft: || Box::new(T::default()) }
    }

    /// With a shorter name that is accepted too.
    pub(crate) const fn with_short(mut self, short: &'static str) -> Self {
        self.short = Some(short);
        self
    }

    /// The learner with its default parameters.
    ///
    /// # Errors
    /// None for the entries of [`LEARNERS`].
    pub fn build(&self) -> Result<Box<dyn Learner>, Error> {
        (self.draft)().build(&Parameters::new(self.id, self.parameters()))
    }

    /// Its parameters.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.draft)().parameters()
    }

    /// The learner with its default parameters, overridden by `assignments` of the form `name=value`.
    ///
    /// # Errors
    /// As [`Parameters::parse`].
    ///
    /// ```
    /// let learner = fewest_eval::learner_in(fewest_eval::LEARNERS, "knn")?;
    /// assert_eq!(learner.build_with(&["neighbours=7"])?.name(), "nearest-neighbours");
    /// let error = learner.build_with(&["neighbors=7"]).err().map(|error| error.to_string()).unwrap_or_default();
    /// assert!(error.ends_with("it takes neighbours; did you mean `neighbours`?"));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn build_with<S: AsRef<str>>(&self, assignments: &[S]) -> Result<Box<dyn Learner>, Error> {
        (self.draft)().build(&Parameters::new(self.id, self.parameters()).assigned(assignments)?)
    }
}

impl MetricEntry {
    /// A metric.
    pub const fn new<T: Metric + Default + 'static>(
        id: &'static str,
        title: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self { id, title, targets, build: || Box::new(T::default()) }
    }

    /// The metric.
    pub fn build(&self) -> Box<dyn Metric> {
        (self.build)()
    }
}

/// The learner with this id or short name among `entries`, as [`meant`] looks it up.
///
/// ```
/// use fewest_core::method::TargetKind;
/// use fewest_eval::{LEARNERS, learner_in};
///
/// let learner = learner_in(LEARNERS, "svm")?;
/// assert_eq!((learner.id, learner.build()?.name()), ("linear-svm", "linear-svm"));
/// assert!(!learner.targets.contains(&TargetKind::Real));
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidParameter`] for an unknown id, with the known ids and the nearest one.
pub fn learner_in<'a>(entries: &'a [LearnerEntry], id: &str) -> Result<&'a LearnerEntry, Error> {
    let short = entries.iter().filter_map(|entry| Some((entry.short?, entry.id)));
    let meant = meant(id, entries.iter().map(|entry| entry.id), short);
    let ids = entries.iter().flat_map(|entry| [Some(entry.id), entry.short]).flatten();
    entries
        .iter()
        .find(|entry| Some(entry.id) == meant)
        .ok_or_else(|| unknown("learner", id, entries.iter().map(|entry| entry.id), ids))
}

/// The metric with this id among `entries`, or with another name that people type for it, as [`meant`] looks
/// it up.
///
/// ```
/// use fewest_eval::{METRICS, metric_in};
///
/// let error = metric_in(METRICS, "acuracy").unwrap_err();
/// assert!(error.to_string().ends_with("did you mean `accuracy`?"));
/// ```
///
/// # Errors
/// As [`learner_in`].
pub fn metric_in<'a>(entries: &'a [MetricEntry], id: &str) -> Result<&'a MetricEntry, Error> {
    let ids = entries.iter().map(|entry| entry.id);
    let meant = meant(id, ids.clone(), METRIC_ALIASES.iter().copied());
    entries
        .iter()
        .find(|entry| Some(entry.id) == meant)
        .ok_or_else(|| unknown("metric", id, ids.clone(), ids))
}

/// An error that lists `listed` and suggests the nearest of `accepted`.
fn unknown(
    what: &'static str,
    id: &str,
    listed: impl Iterator<Item = &'static str>,
    accepted: impl Iterator<Item = &'static str>,
) -> Error {
    let hint = match nearest(id, &accepted.collect::<Vec<_>>()).first() {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Error::parameter(what, id, format!("one of {}{hint}", listed.collect::<Vec<_>>().join(", ")))
}

/// The learner of a method: any type in a program, or one of [`LEARNERS`] by its id as a parameter.
///
/// ```
/// use fewest_core::method::Options;
/// use fewest_eval::{ChosenLearner, DecisionTree, Learner};
///
/// fewest_core::options! {
///     /// A method with a learner.
///     #[derive(Debug)]
///     pub struct Example {
///         /// The learner.
///         pub learner: ChosenLearner = ChosenLearner::default();
///     }
/// }
/// let parameter = &Example::default().parameters()[0];
/// assert_eq!(parameter.default.as_ref().map(ToString::to_string).as_deref(), Some("nearest-neighbours"));
/// let example = Example { learner: ChosenLearner::from(DecisionTree::default()) };
/// assert_eq!(example.parameters()[0].default.as_ref().map(ToString::to_string).as_deref(), Some("decision-tree"));
/// ```
#[derive(Clone)]
pub struct ChosenLearner(Arc<dyn Learner>);

/// The ids of [`LEARNERS`].
const IDS: [&str; LEARNERS.len()] = {
    let mut ids = [""; LEARNERS.len()];
    let mut k = 0;
    while k < ids.len() {
        ids[k] = LEARNERS[k].id;
        k += 1;
    }
    ids
};

impl Default for ChosenLearner {
    /// [`NearestNeighbours`], which support every target.
    fn default() -> Self {
        NearestNeighbours::default().into()
    }
}

impl<L: Learner + 'static> From<L> for ChosenLearner {
    fn from(learner: L) -> Self {
        Self(Arc::new(learner))
    }
}

impl fmt::Debug for ChosenLearner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChosenLearner({})", self.name())
    }
}

impl ChosenLearner {
    /// [`Learner::name`].
    pub(crate) fn name(&self) -> &'static str {
        self.0.name()
    }

    /// [`Learner::fit_to_predict`].
    ///
    /// # Errors
    /// Those of the learner.
    pub fn fit_to_predict(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.0.fit_to_predict(data, context)
    }
}

impl ParameterType for ChosenLearner {
    fn range() -> Range {
        Range::OneOf(&IDS)
    }

    fn to_value(&self) -> Option<Value> {
        IDS.iter().find(|id| **id == self.name()).map(|id| Value::Word(id))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Word(id)) => Some(learner_in(LEARNERS, id).ok()?.build().ok()?.into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::Target;

    use super::*;

    #[test]
    fn entries_are_found_by_id_and_build_what_has_that_name() -> Result<(), Error> {
        for entry in LEARNERS {
            assert_eq!(entry.build()?.name(), entry.id);
            assert_eq!(learner_in(LEARNERS, entry.id)?.id, entry.id);
            if let Some(short) = entry.short {
                assert_eq!(learner_in(LEARNERS, short)?.id, entry.id);
            }
        }
        for entry in METRICS {
            assert_eq!(entry.build().name(), entry.id);
            assert_eq!(metric_in(METRICS, entry.id)?.id, entry.id);
        }
        for (alias, id) in METRIC_ALIASES {
            assert_eq!(metric_in(METRICS, alias)?.id, *id);
        }
        // Written otherwise.
        assert_eq!(metric_in(METRICS, "ROC_AUC")?.id, "auc");
        assert_eq!(metric_in(METRICS, "Balanced Accuracy")?.id, "balanced-accuracy");
        assert_eq!(learner_in(LEARNERS, "Naive_Bayes")?.id, "naive-bayes");
        assert_eq!(learner_in(LEARNERS, "SVM")?.id, "linear-svm");
        Ok(())
    }

    #[test]
    fn parameters_have_the_learners_defaults_and_are_checked() -> Result<(), Error> {
        for entry in LEARNERS {
            let none: [&str; 0] = [];
            assert_eq!(entry.build_with(&none)?.name(), entry.id);
            for parameter in entry.parameters() {
                for wrong in ["", "-1", "x", "0"] {
                    // A tree of depth 0 predicts the most frequent class.
                    if parameter.name == "max_depth" && wrong == "0" {
                        continue;
                    }
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
            let learner = learner_in(LEARNERS, "knn")?.build_with(&[assignment])?;
            learner.fit(&data, &Context::default())?.predict(data.x())
        };
        assert_ne!(predicted("neighbours=1")?, predicted("neighbours=5")?);
        Ok(())
    }

    #[test]
    fn learners_and_metrics_accept_exactly_the_targets_they_list() -> Result<(), Error> {
        use crate::learners::predict;
        use fewest_core::{Context, Dataset, DenseColumns};
        let feature: Vec<f64> = (0..12).map(f64::from).collect();
        let labels: Vec<bool> = feature.iter().map(|value| *value > 5.0).collect();
        let other: Vec<f64> = feature.iter().map(|value| value * value).collect();
        let targets = [
            Target::from_labels(&labels),
            Target::real(feature.clone())?,
            Target::outputs([feature.clone(), other].concat(), 12)?,
            Target::survival(feature.clone(), feature.iter().map(|value| *value != 3.0).collect())?,
        ];
        for target in targets {
            let kind = TargetKind::of(&target);
            let data = Dataset::new(DenseColumns::from_columns(std::slice::from_ref(&feature))?, target)?;
            for entry in LEARNERS {
                let model = entry.build()?.fit(&data, &Context::default());
                assert_eq!(model.is_ok(), entry.targets.contains(&kind), "{} of {kind:?}", entry.id);
                let Ok(model) = model else { continue };
                let scoring = entry.build()?.scoring();
                for entry in METRICS {
                    let metric = entry.build();
                    let predicted = predict(&*model, scoring, metric.needs(), data.x())?;
                    let fits = entry.targets.contains(&kind) && metric.needs() <= scoring;
                    let score = metric.score(data.target(), &predicted);
                    assert_eq!(score.is_ok(), fits, "{} of {kind:?}", entry.id);
                }
            }
        }
        Ok(())
    }
}
