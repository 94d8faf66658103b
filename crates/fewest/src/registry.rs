//! Every method by its id, with its parameters: what the command line, tests and bindings are built on.
//!
//! ```
//! use fewest::prelude::*;
//! use fewest::registry::{self, Parameters};
//!
//! let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 0.0, 1.0], vec![0.1, 0.2, 0.9, 0.8]])?;
//! let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
//!
//! let method = registry::find("hsic")?;
//! let selector = method.build(&Parameters::parse(method, &["sigma_x=2"])?)?.into_selector();
//! let selection = selector.select(&data, Budget::Count(1), &Context::default())?;
//! assert_eq!(selection.order, [1]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A family of methods is one file here with a table of [`Method`]s; `FAMILIES` lists the files.

use std::fmt;

use fewest_core::{Error, Ranked, Scorer, Selector};

mod dependence;
mod dependence_search;
mod hsic_lasso;
mod indefinite;
mod information;
mod margin;
mod multiple;
mod nonmonotonic;
mod parameter;
mod similarity;
mod sparse;
mod statistical;
mod wrappers;

pub use parameter::{Parameter, Parameters, Range, Value};

/// One table a family, in the order in which methods are listed.
static FAMILIES: &[&[Method]] = &[
    dependence::METHODS,
    statistical::METHODS,
    similarity::METHODS,
    information::METHODS,
    dependence_search::METHODS,
    hsic_lasso::METHODS,
    sparse::METHODS,
    nonmonotonic::METHODS,
    margin::METHODS,
    wrappers::METHODS,
    indefinite::METHODS,
    multiple::METHODS,
];

/// A method: its id, what it computes, what it takes, and how to make it.
pub struct Method {
    /// The id, as on the command line: `hsic-lasso`.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// What it computes, as a formula on one line.
    pub formula: &'static str,
    /// What it gives.
    pub kind: Kind,
    /// The targets it works with, one that its defaults work with first.
    pub targets: &'static [TargetKind],
    /// Tables of the parameters it takes: families share theirs.
    parameters: &'static [&'static [Parameter]],
    build: fn(&Parameters) -> Result<Built, Error>,
}

/// What a method gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A score for every feature, each on its own: a [`Scorer`].
    Score,
    /// A set of features, chosen together: a [`Selector`].
    Select,
    /// The same, chosen one after the other: the best `k` are the first `k` of any larger set.
    Sequence,
}

/// A kind of [`Target`](fewest_core::Target).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// No target: the method is unsupervised.
    None,
    /// Classes.
    Classes,
    /// One real output.
    Real,
    /// Several real outputs.
    Outputs,
    /// Affinities between samples.
    Affinity,
}

/// A method ready to run.
pub enum Built {
    /// One that scores.
    Scorer(Box<dyn Scorer>),
    /// One that selects.
    Selector(Box<dyn Selector>),
}

impl Method {
    /// The parameters it takes.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + Clone + use<> {
        self.parameters.iter().flat_map(|table| table.iter())
    }

    /// The parameter that makes it select groups of features together, by the word `group`.
    ///
    /// ```
    /// use fewest::registry::find;
    /// assert_eq!(find("hsic-lasso")?.group_parameter().map(|parameter| parameter.name), Some("penalty"));
    /// assert!(find("mrmr")?.group_parameter().is_none());
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn group_parameter(&self) -> Option<&'static Parameter> {
        self.parameters().find(|known| matches!(known.range, Range::OneOf(words) if words.contains(&"group")))
    }

    /// Whether the best `k` features are the first `k` of any larger number, so that one selection serves all `k`.
    pub fn is_nested(&self) -> bool {
        self.kind != Kind::Select
    }

    /// Whether the method looks at a target unless its parameters say otherwise.
    ///
    /// ```
    /// use fewest::registry::find;
    /// assert!(find("hsic")?.is_supervised() && !find("variance")?.is_supervised());
    /// // Only its Laplacian style does without classes.
    /// assert!(find("trace-ratio")?.is_supervised());
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn is_supervised(&self) -> bool {
        self.targets.first() != Some(&TargetKind::None)
    }

    /// The method with these parameters, ready to run.
    ///
    /// # Errors
    /// For parameters that do not go together.
    pub fn build(&self, parameters: &Parameters) -> Result<Built, Error> {
        (self.build)(parameters)
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Method({})", self.id)
    }
}

impl Built {
    /// The selector, or the scorer with the cut-off of [`Ranked`].
    pub fn into_selector(self) -> Box<dyn Selector> {
        match self {
            Built::Scorer(scorer) => Box::new(Ranked::new(scorer)),
            Built::Selector(selector) => selector,
        }
    }
}

impl Kind {
    /// `score` or `select`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Score => "score",
            Kind::Select | Kind::Sequence => "select",
        }
    }
}

impl TargetKind {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::None => "none",
            TargetKind::Classes => "classes",
            TargetKind::Real => "a real output",
            TargetKind::Outputs => "several real outputs",
            TargetKind::Affinity => "an affinity matrix",
        }
    }
}

/// All methods, family by family.
pub fn methods() -> impl Iterator<Item = &'static Method> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The method with this id.
///
/// # Errors
/// [`Error::InvalidParameter`] for an unknown id, with the nearest ids there are, or all of them.
///
/// ```
/// let error = fewest::registry::find("hsik").unwrap_err();
/// assert!(error.to_string().contains("did you mean `hsic`?"));
/// ```
pub fn find(id: &str) -> Result<&'static Method, Error> {
    methods().find(|method| method.id == id).ok_or_else(|| {
        let ids: Vec<&str> = methods().map(|method| method.id).collect();
        let hint = match nearest(id, &ids).first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Error::parameter("method", id, format!("one of {}{hint}", ids.join(", ")))
    })
}

/// Those of `names` that `name` is probably a slip of, nearest first (of equals the one listed first), at most three.
///
/// ```
/// use fewest::registry::nearest;
/// assert_eq!(nearest("tagret", &["age", "target", "Target2"]), ["target", "Target2"]);
/// ```
pub fn nearest<S: AsRef<str>>(name: &str, names: &[S]) -> Vec<String> {
    let wanted = name.to_lowercase();
    let distance = |other: &str| strsim::damerau_levenshtein(&wanted, &other.to_lowercase());
    let allowed = |other: &str| (wanted.chars().count().max(other.chars().count())).div_ceil(3);
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|other| (distance(other.as_ref()), other.as_ref()))
        .filter(|(distance, other)| *distance <= allowed(other))
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(3);
    near.into_iter().map(|(_, other)| other.to_owned()).collect()
}
