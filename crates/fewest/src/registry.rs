//! Every method by its id, with its parameters: the basis of the command line, tests and bindings.
//!
//! ```
//! use fewest::prelude::*;
//! use fewest::registry::{Parameters, Registry};
//!
//! let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 0.0, 1.0], vec![0.1, 0.2, 0.9, 0.8]])?;
//! let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
//!
//! let method = Registry::standard().find("hsic")?;
//! let selector = method.build(&Parameters::parse(method, &["sigma_x=2"])?)?.into_selector();
//! let selection = selector.select(&data, Budget::Count(1), &Context::default())?;
//! assert_eq!(selection.order, [1]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A family of methods is a list of [`Method`]s in the crate that has them; [`Registry::standard`] gathers
//! the lists.

use std::sync::LazyLock;

use fewest_core::Error;
use fewest_data::{Format, Formats};
use fewest_eval::{LEARNERS, LearnerEntry, METRICS, MetricEntry, learner_in, metric_in};

mod aliases;
mod families;
#[cfg(any(feature = "dependence", feature = "linear"))]
mod solvers;

use aliases::{ALIASES, OPTIONAL, WITH_PARAMETERS};
pub use families::Family;
pub use fewest_core::method::{
    Built, Kind, LinkTable, Method, Parameter, Parameters, Range, Relation, TargetKind, Value, meant, nearest,
};

/// All methods, learners, metrics and file formats, by id: a value, to which a program may add its own.
///
/// ```
/// use fewest::filters::similarity::Relieff;
/// use fewest::registry::{Method, Registry, TargetKind};
///
/// // A program with one more method.
/// let mine = Method::scorer::<Relieff>("mine", "my ReliefF", "as relieff", &[TargetKind::Classes]);
/// let registry = Registry::standard().clone().with_method(mine)?;
/// assert_eq!(registry.find("mine")?.id, "mine");
/// # Ok::<(), fewest::core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    methods: Vec<Method>,
    learners: Vec<LearnerEntry>,
    metrics: Vec<MetricEntry>,
    formats: Formats,
}

/// Letters of the longest word that titles of any method may have, such as `with`.
const LONGEST_OF_ANY_TITLE: usize = 4;

/// Methods that a message names for a word.
const MOST_NAMED: usize = 8;

impl Registry {
    /// Without methods, learners and metrics; with the file formats of [`fewest_data`].
    pub fn new() -> Self {
        Self::default()
    }

    /// With all methods of the families that the features of this crate name (by default all), and all
    /// learners and metrics. Use `clone` to add more.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Registry> = LazyLock::new(Registry::gathered);
        &STANDARD
    }

    fn gathered() -> Self {
        let lists: Vec<&[Method]> = Family::ALL.iter().map(|family| family.methods).collect();
        let methods = lists.concat();
        #[cfg(any(feature = "dependence", feature = "linear"))]
        let methods = methods.iter().map(solvers::with_solvers).collect();
        Self { methods, learners: LEARNERS.to_vec(), metrics: METRICS.to_vec(), formats: Formats::standard() }
    }

    /// With one more method.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an id that is taken.
    pub fn with_method(mut self, method: Method) -> Result<Self, Error> {
        if self.methods.iter().any(|known| known.id == method.id) {
            return Err(Error::parameter("method", method.id, "an id that no other method has"));
        }
        self.methods.push(method);
        Ok(self)
    }

    /// With one more learner.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an id or a short name that is taken.
    pub fn with_learner(mut self, learner: LearnerEntry) -> Result<Self, Error> {
        for id in [Some(learner.id), learner.short].into_iter().flatten() {
            if self.learners.iter().any(|known| known.id == id || known.short == Some(id)) {
                return Err(Error::parameter("learner", id, "an id that no other learner has"));
            }
        }
        self.learners.push(learner);
        Ok(self)
    }

    /// With one more metric.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an id that is taken.
    pub fn with_metric(mut self, metric: MetricEntry) -> Result<Self, Error> {
        if self.metrics.iter().any(|known| known.id == metric.id) {
            return Err(Error::parameter("metric", metric.id, "an id that no other metric has"));
        }
        self.metrics.push(metric);
        Ok(self)
    }

    /// With one more file format.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a name that is taken.
    pub fn with_format(mut self, format: Format) -> Result<Self, Error> {
        if self.formats.named(format.name()).is_ok() {
            return Err(Error::parameter("format", format.name(), "a name that no other format has"));
        }
        self.formats = self.formats.with(format);
        Ok(self)
    }

    /// The formats that files may have.
    pub fn formats(&self) -> &Formats {
        &self.formats
    }

    /// All methods, in the order in which they are listed.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The method with this id, or with another name that people type for it: `anova` is `f-score`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an unknown id, with the nearest known name.
    ///
    /// ```
    /// use fewest::registry::Registry;
    /// let error = Registry::standard().find("hsik").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `hsic`?"));
    /// assert_eq!(Registry::standard().find("ANOVA")?.id, "f-score");
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn find(&self, id: &str) -> Result<&Method, Error> {
        let known = self.methods.iter().map(|method| method.id);
        let meant = meant(id, known, ALIASES.iter().copied());
        self.methods.iter().find(|method| Some(method.id) == meant).ok_or_else(|| {
            let plain = id.to_lowercase();
            let ids: Vec<&str> = self.methods.iter().map(|method| method.id).collect();
            let aliases = ALIASES.iter().filter(|(_, id)| ids.contains(id)).map(|(alias, _)| *alias);
            let names: Vec<&str> = ids.iter().copied().chain(aliases).collect();
            let is_word = |text: &str| {
                text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).any(|word| word == plain)
            };
            // A whole word of a name, or a long one of a title, is not misspelt.
            let has_word = |method: &&Method| {
                is_word(method.id) || plain.len() > LONGEST_OF_ANY_TITLE && is_word(method.title)
            };
            let mut with_word: Vec<&str> =
                self.methods.iter().filter(has_word).map(|method| method.id).collect();
            for (alias, id) in ALIASES.iter().filter(|(alias, id)| ids.contains(id) && is_word(alias)) {
                if !with_word.contains(id) {
                    with_word.push(alias);
                }
            }
            let within = |method: &&Method| {
                plain.len() > 2
                    && (method.id.contains(&plain) || method.title.to_lowercase().contains(&plain))
                    || method.id.len() > 3 && plain.contains(method.id)
            };
            let containing: Vec<&str> = self.methods.iter().filter(within).map(|method| method.id).collect();
            let such_as = |names: &[&str]| {
                let more = if names.len() > MOST_NAMED { ", …" } else { "" };
                let named = names[..names.len().min(MOST_NAMED)].join(", ");
                format!("one that `fewest methods` lists, such as {named}{more}")
            };
            let optional =
                OPTIONAL.iter().find(|(name, _)| plain == *name).map(|(_, where_it_is)| *where_it_is);
            let with =
                WITH_PARAMETERS.iter().find(|(name, _)| plain.contains(name)).map(|(_, written)| *written);
            let expected = match (optional.or(with), nearest(&plain, &names).first()) {
                (Some(told), _) => told.to_owned(),
                _ if !with_word.is_empty() => such_as(&with_word),
                (None, Some(near)) => format!("one that `fewest methods` lists: did you mean `{near}`?"),
                _ if !containing.is_empty() => such_as(&containing),
                _ => "one that `fewest methods` lists".to_owned(),
            };
            Error::parameter("method", id, expected)
        })
    }

    /// The other names by which [`Registry::find`] finds a method.
    ///
    /// ```
    /// use fewest::registry::Registry;
    /// let registry = Registry::standard();
    /// let names: Vec<&str> = registry.aliases(registry.find("mim")?).collect();
    /// assert!(names.contains(&"mutual-information"));
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn aliases(&self, method: &Method) -> impl Iterator<Item = &'static str> {
        let id = method.id;
        ALIASES.iter().filter(move |(_, of)| *of == id).map(|(alias, _)| *alias)
    }

    /// The family of a method; `None` for one that a program added.
    ///
    /// ```
    /// use fewest::registry::Registry;
    /// let registry = Registry::standard();
    /// assert_eq!(registry.family(registry.find("mrmr")?).map(|family| family.id), Some("information"));
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn family(&self, method: &Method) -> Option<&'static Family> {
        Family::ALL.iter().find(|family| family.methods.iter().any(|other| other.id == method.id))
    }

    /// All learners; the first one that supports a target is its default.
    pub fn learners(&self) -> &[LearnerEntry] {
        &self.learners
    }

    /// The learner with this id or short name.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an unknown id, with the known ids and the nearest one.
    pub fn find_learner(&self, id: &str) -> Result<&LearnerEntry, Error> {
        learner_in(&self.learners, id)
    }

    /// All metrics of predictions; the first one that supports a target is its default.
    pub fn metrics(&self) -> &[MetricEntry] {
        &self.metrics
    }

    /// The metric with this id.
    ///
    /// # Errors
    /// As [`Registry::find_learner`].
    pub fn find_metric(&self, id: &str) -> Result<&MetricEntry, Error> {
        metric_in(&self.metrics, id)
    }
}

#[cfg(all(test, feature = "filters"))]
mod tests {
    use fewest_eval::Accuracy;
    use fewest_filters::similarity::Relief;

    use super::*;

    const METHOD: Method = Method::scorer::<Relief>("mine", "mine", "mine", &[TargetKind::Classes]);
    const METRIC: MetricEntry = MetricEntry::new::<Accuracy>("mine", "mine", &[TargetKind::Classes]);

    /// An alias of a method that is not there, or that hides a method, would mislead.
    #[test]
    fn aliases_are_other_names_of_methods() -> Result<(), Error> {
        let registry = Registry::standard();
        let is_id = |id: &str| registry.methods().iter().any(|method| method.id == id);
        for (alias, id) in ALIASES {
            assert!(is_id(id) && !is_id(alias), "{alias}");
            assert_eq!(registry.find(alias)?.id, *id);
        }
        assert_eq!(registry.find("Mutual_Information")?.id, "mim");
        let told = |id: &str| registry.find(id).unwrap_err().to_string();
        assert!(told("anvoa").contains("did you mean `anova`?"), "{}", told("anvoa"));
        assert!(told("rfex").contains("did you mean `rfe`?"), "{}", told("rfex"));
        assert!(told("Spearman").contains("-m correlation -p coefficient=spearman"), "{}", told("Spearman"));
        assert!(told("qqqqqq").ends_with("must be one that `fewest methods` lists"), "{}", told("qqqqqq"));
        for named in ["such as ", "l1-svm", "svm-rfe"] {
            assert!(told("svm").contains(named), "{}", told("svm"));
        }
        assert!(
            told("forest").contains("boruta") && told("selection").ends_with(", …"),
            "{}",
            told("selection")
        );
        assert!(told("lasso-with-cv").ends_with("such as lasso"), "{}", told("lasso-with-cv"));
        assert!(told("elimination").contains("such as bahsic, sd-l-rfe, "), "{}", told("elimination"));
        Ok(())
    }

    /// The features of this crate leave families out; those that are there hold every method once.
    #[test]
    fn every_method_has_a_family() {
        let registry = Registry::standard();
        assert!(registry.methods().iter().all(|method| registry.family(method).is_some()));
        let listed: usize = Family::ALL.iter().map(|family| family.methods.len()).sum();
        assert_eq!(listed, registry.methods().len());
    }

    #[test]
    fn what_is_added_is_found_and_an_id_is_taken_once() -> Result<(), Error> {
        let registry = Registry::standard().clone().with_method(METHOD)?.with_metric(METRIC)?;
        assert_eq!(registry.find("mine")?.id, "mine");
        assert_eq!(registry.find_metric("mine")?.build().name(), "accuracy");
        assert!(
            registry.clone().with_method(METHOD).is_err() && registry.clone().with_metric(METRIC).is_err()
        );
        let knn = registry.find_learner("knn")?.clone();
        assert!(registry.with_learner(knn.clone()).is_err());
        let registry = Registry::new().with_learner(knn)?;
        assert!(registry.methods().is_empty() && registry.metrics().is_empty());
        assert_eq!(registry.find_learner("nearest-neighbours")?.short, Some("knn"));
        Ok(())
    }
}
