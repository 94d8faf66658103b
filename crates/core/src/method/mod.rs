//! Methods and their parameters, declared once: at the options of the method.
//!
//! A method is a struct that is a [`Scorer`] or a [`Selector`], and whose fields are its parameters.
//! [`options!`] writes the struct, its `Default` and its [`Options`]; command line, documentation and other
//! languages read name, default, range and meaning from there:
//!
//! ```
//! use fewest_core::method::{Method, Options, Parameters, TargetKind};
//! use fewest_core::{Context, Dataset, Error, Scorer, Scores, options, words};
//!
//! words! {
//!     /// Which way is up.
//!     #[derive(Default)]
//!     pub enum Direction {
//!         /// The largest mean is the best.
//!         #[default]
//!         Largest = "largest",
//!         /// The smallest is.
//!         Smallest = "smallest",
//!     }
//! }
//!
//! options! {
//!     /// Scores a feature by a power of its mean: not a good method, but a whole one.
//!     #[derive(Debug, Clone, Copy, PartialEq)]
//!     pub struct PowerOfMean {
//!         /// Power that the mean is raised to.
//!         pub power: f64 = 2.0, Positive;
//!         /// Whether a large score or a small one is good.
//!         pub direction: Direction = Direction::Largest;
//!     }
//! }
//!
//! impl Scorer for PowerOfMean {
//!     fn score(&self, data: &Dataset, _context: &Context<'_>) -> Result<Scores, Error> {
//!         self.check()?;
//!         // …
//! #       Ok(Scores::descending(vec![self.power; data.n_features()]))
//!     }
//! }
//!
//! pub static METHODS: &[Method] =
//!     &[Method::scorer::<PowerOfMean>("power-of-mean", "power of the mean", "score(k) = meanᵖ", &[TargetKind::None])];
//!
//! let method = &METHODS[0];
//! let [power, direction] = &method.parameters()[..] else { panic!("two parameters") };
//! assert_eq!((power.name, power.description().as_str()), ("power", "power that the mean is raised to"));
//! assert_eq!(direction.range.to_string(), "largest|smallest");
//!
//! let options = PowerOfMean::from_parameters(&Parameters::parse(method, &["power=3"])?)?;
//! assert_eq!(options, PowerOfMean { power: 3.0, ..PowerOfMean::default() });
//! let error = PowerOfMean { power: -1.0, ..options }.check().unwrap_err();
//! assert_eq!(error.to_string(), "parameter `power` is -1, but must be a number above 0");
//! # Ok::<(), Error>(())
//! ```
//!
//! [`options!`]: crate::options

mod macros;
mod options;
mod parameter;
mod parameters;
mod range;
mod regularization;
#[cfg(test)]
mod tests;
mod width;

pub use options::{Choice, Field, FieldInfo, Options, ParameterType, choice_parameters, set_choice};
pub use parameter::{Parameter, Relation};
pub use parameters::Parameters;
pub use range::{Range, Value};
pub use regularization::{Offer, Regularization};
pub use width::KernelWidth;

use std::fmt;

use crate::{
    Arrives, Budget, Context, Dataset, Error, FadingScore, Ranked, SampleStream, Scorer, Selector,
    StreamMethod, StreamSelector, Target,
};

/// A method: its id, what it computes, its parameters, and how to make it.
#[derive(Clone)]
pub struct Method {
    /// The id, as on the command line: `hsic-lasso`.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// What it computes, as a formula on one line.
    pub formula: &'static str,
    /// The kind of its result.
    pub kind: Kind,
    /// The supported targets; the first one is supported by its defaults.
    pub targets: &'static [TargetKind],
    /// The tables of links that it uses, each with the parameters that are the weights of its links: with all
    /// of them 0, the table has no effect. Without such parameters it always has one.
    pub links: &'static [(LinkTable, &'static [&'static str])],
    /// Whether it needs to know which features come from which source:
    /// [`Dataset::views`](crate::Dataset::views).
    pub needs_views: bool,
    /// What arrives at it, where it is a method for data that arrive.
    pub arrives: Option<Arrives>,
    options: fn() -> Draft,
    open: Option<OpenStream>,
    fading: Option<FadingOf>,
}

/// Makes the stream of a method with these parameters.
type OpenStream = fn(&Parameters, Budget, u64) -> Result<Box<dyn StreamSelector>, Error>;

/// The score by sums in which samples can lose weight, of a method with these parameters.
type FadingOf = fn(&Parameters) -> Result<FadingScore, Error>;

/// What may be known of how samples are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkTable {
    /// Links between samples, [`Dataset::sample_graph`](crate::Dataset::sample_graph).
    Samples,
    /// The authors of the samples, [`Dataset::authors`](crate::Dataset::authors).
    Authors,
    /// The links between these authors, [`Authors::follows`](crate::Authors::follows).
    Follows,
}

/// The kind of result of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A score for every feature separately: a [`Scorer`].
    Score,
    /// A set of features, chosen together: a [`Selector`].
    Select,
    /// The same, chosen one after the other: the best `k` are the first `k` of any larger set.
    Sequence,
}

/// A kind of [`Target`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Times until an event.
    Survival,
}

/// A method ready to run.
#[non_exhaustive]
pub enum Built {
    /// One that scores.
    Scorer(Box<dyn Scorer>),
    /// One that selects.
    Selector(Box<dyn Selector>),
}

/// Options of a method, until their parameters are set.
pub struct Draft(Box<dyn Configure>);

/// Options as a trait object.
trait Configure {
    fn parameters(&self) -> Vec<Parameter>;
    fn set(&mut self, parameters: &Parameters) -> Result<(), Error>;
    fn build(self: Box<Self>) -> Built;
}

/// Options and what is built from them.
struct Configured<T> {
    options: T,
    build: fn(T) -> Built,
}

impl<T: Options> Configure for Configured<T> {
    fn parameters(&self) -> Vec<Parameter> {
        self.options.parameters()
    }

    fn set(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.options.set(parameters)?;
        self.options.check()
    }

    fn build(self: Box<Self>) -> Built {
        (self.build)(self.options)
    }
}

impl Draft {
    /// A method that scores.
    pub fn scorer<T: Options + Scorer + 'static>(options: T) -> Self {
        Self(Box::new(Configured { options, build: |options| Built::Scorer(Box::new(options)) }))
    }

    /// A method that selects.
    pub fn selector<T: Options + Selector + 'static>(options: T) -> Self {
        Self(Box::new(Configured { options, build: |options| Built::Selector(Box::new(options)) }))
    }

    /// A method whose parameters decide which of the two it is.
    pub fn either<T: Options + Into<Built> + 'static>(options: T) -> Self {
        Self(Box::new(Configured { options, build: T::into }))
    }
}

impl Method {
    /// A method that scores every feature separately.
    pub const fn scorer<T: Options + Scorer + Default + 'static>(
        id: &'static str,
        title: &'static str,
        formula: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self::preset(Kind::Score, id, title, formula, targets, || Draft::scorer(T::default()))
    }

    /// A method that chooses features together.
    pub const fn selector<T: Options + Selector + Default + 'static>(
        id: &'static str,
        title: &'static str,
        formula: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self::preset(Kind::Select, id, title, formula, targets, || Draft::selector(T::default()))
    }

    /// A method that chooses features one after the other.
    pub const fn sequence<T: Options + Selector + Default + 'static>(
        id: &'static str,
        title: &'static str,
        formula: &'static str,
        targets: &'static [TargetKind],
    ) -> Self {
        Self::preset(Kind::Sequence, id, title, formula, targets, || Draft::selector(T::default()))
    }

    /// A method that starts from options other than a type's defaults: one of several methods of the same
    /// type, such as `|| Draft::selector(Forward::new(Criterion::Cife))`.
    pub const fn preset(
        kind: Kind,
        id: &'static str,
        title: &'static str,
        formula: &'static str,
        targets: &'static [TargetKind],
        options: fn() -> Draft,
    ) -> Self {
        let (links, needs_views, arrives, open, fading) = (&[], false, None, None, None);
        Self { id, title, formula, kind, targets, links, needs_views, arrives, options, open, fading }
    }

    /// The same method, which uses these tables of links, each by the weights that the parameters named are.
    pub const fn using(mut self, links: &'static [(LinkTable, &'static [&'static str])]) -> Self {
        self.links = links;
        self
    }

    /// The parameters that are weights of the links in `table`; `None` where the method has no use for it.
    pub fn weights_of(&self, table: LinkTable) -> Option<&'static [&'static str]> {
        self.links.iter().find(|(own, _)| *own == table).map(|(_, weights)| *weights)
    }

    /// The same method, which needs the views of the features.
    ///
    /// ```
    /// use fewest_core::method::{Draft, Kind, Method};
    /// # use fewest_core::{Context, Dataset, Error, Scorer, Scores, options};
    /// # options! {
    /// #     /// The number of features of its view.
    /// #     #[derive(Debug, Clone, Copy, PartialEq)]
    /// #     pub struct SizeOfView {
    /// #         /// Whether the largest view comes first.
    /// #         pub largest: bool = true;
    /// #     }
    /// # }
    /// # impl Scorer for SizeOfView {
    /// #     fn score(&self, data: &Dataset, _context: &Context<'_>) -> Result<Scores, Error> {
    /// #         let views = data.needed_views("size-of-view")?;
    /// #         let sets = views.sets();
    /// #         Ok(Scores::descending(views.of_feature().iter().map(|&view| sets[view].len() as f64).collect()))
    /// #     }
    /// # }
    /// let method = Method::scorer::<SizeOfView>("size-of-view", "size of the view", "score(k) = |view of k|", &[]);
    /// assert!(!method.needs_views && method.needing_views().needs_views);
    /// ```
    pub const fn needing_views(mut self) -> Self {
        self.needs_views = true;
        self
    }

    /// The same method, to which data may arrive, too: `T` are its options.
    ///
    /// ```
    /// # use fewest_core::method::{Method, Parameters, TargetKind};
    /// # use fewest_core::{Arrives, Budget, Error};
    /// # fn example(methods: &[Method]) -> Result<(), Error> {
    /// for method in methods.iter().filter(|method| method.arrives == Some(Arrives::Samples)) {
    ///     let stream = method.stream(&Parameters::defaults(method), Budget::Count(10), 0)?;
    ///     assert_eq!(stream.held().features, 0);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub const fn streaming<T: Options + StreamMethod + Default + 'static>(mut self) -> Self {
        self.arrives = Some(T::ARRIVES);
        self.open = Some(|parameters, budget, seed| T::from_parameters(parameters)?.open(budget, seed));
        self.fading = Some(|parameters| T::from_parameters(parameters)?.fading());
        self
    }

    /// The stream with these parameters, at which nothing has arrived.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a method to which no data arrive; those of [`StreamMethod::open`].
    pub fn stream(
        &self,
        parameters: &Parameters,
        budget: Budget,
        seed: u64,
    ) -> Result<Box<dyn StreamSelector>, Error> {
        match self.open {
            Some(open) => open(parameters, budget, seed),
            None => Err(Error::Unsupported {
                method: self.id,
                what: "a stream".to_owned(),
                instead: "it needs all of a table at once".to_owned(),
            }),
        }
    }

    /// Its score by sums in which samples can lose weight.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where there are none; those of [`StreamMethod::fading`].
    pub fn fading(&self, parameters: &Parameters) -> Result<FadingScore, Error> {
        self.fading.map_or_else(|| Err(FadingScore::missing()), |fading| fading(parameters))
    }

    /// The same method, starting from other options: for options that need something outside its family.
    pub fn with_options(mut self, options: fn() -> Draft) -> Self {
        self.options = options;
        self
    }

    /// Its parameters.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.options)().0.parameters()
    }

    /// The parameter that makes it select groups of features together, by its [`Parameter::group_word`].
    pub fn group_parameter(&self) -> Option<Parameter> {
        self.parameters().into_iter().find(|parameter| parameter.group_word.is_some())
    }

    /// The names of the parameters that decide the number of features, where they are given.
    pub fn deciding_parameters(&self) -> Vec<&'static str> {
        self.parameters().iter().filter(|parameter| parameter.decides_count).map(|given| given.name).collect()
    }

    /// Whether the best `k` features are the first `k` of any larger number, so that one selection serves all
    /// `k`.
    pub fn is_nested(&self) -> bool {
        self.kind != Kind::Select
    }

    /// Whether the method uses a target by default.
    pub fn is_supervised(&self) -> bool {
        self.targets.first() != Some(&TargetKind::None)
    }

    /// The method with these parameters, ready to run.
    ///
    /// # Errors
    /// For parameters that do not go together.
    pub fn build(&self, parameters: &Parameters) -> Result<Built, Error> {
        parameters.check()?;
        let Draft(mut options) = (self.options)();
        options.set(parameters)?;
        Ok(options.build())
    }
}

/// A stream that ends whoever asks it for rows.
struct NoRows;

impl SampleStream for NoRows {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        Err(Error::Stopped { before: "there were rows" })
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        Ok(true)
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Method({})", self.id)
    }
}

impl Built {
    /// Whether it can read the rows in passes, so that they need not be in memory.
    ///
    /// ```
    /// use fewest_core::method::{Method, Parameters};
    ///
    /// /// Those of some methods that read rows in passes, with their defaults.
    /// fn in_passes(methods: &[Method]) -> Vec<&'static str> {
    ///     let can = |method: &&Method| {
    ///         method.build(&Parameters::defaults(method)).is_ok_and(|built| built.reads_in_passes())
    ///     };
    ///     methods.iter().filter(can).map(|method| method.id).collect()
    /// }
    /// ```
    pub fn reads_in_passes(&self) -> bool {
        match self {
            Built::Scorer(scorer) => scorer.in_passes().is_some(),
            Built::Selector(selector) => selector.in_passes().is_some(),
        }
    }

    /// Whether it reads tables, too, whose rows are too wide for all features to be in memory at once
    /// ([`SampleStream::next_part`]).
    pub fn reads_parts(&self) -> bool {
        match self {
            Built::Scorer(scorer) => scorer.in_passes().is_some_and(|scorer| scorer.reads_parts()),
            Built::Selector(selector) => selector.in_passes().is_some_and(|selector| selector.reads_parts()),
        }
    }

    /// About how many times the bytes of a table its answer from a table in memory takes, where it can also
    /// read the rows in passes ([`PassSelector::times_in_memory`](crate::PassSelector::times_in_memory));
    /// `None` where it cannot.
    pub fn times_in_memory(&self) -> Option<u64> {
        match self {
            Built::Scorer(scorer) => Some(scorer.in_passes()?.times_in_memory()),
            Built::Selector(selector) => Some(selector.in_passes()?.times_in_memory()),
        }
    }

    /// Whether it reads the rows in passes that are sums over parts of them, which several machines may take.
    pub fn sums_rows(&self) -> bool {
        match self {
            Built::Scorer(scorer) => scorer.in_passes().is_some_and(|scorer| scorer.sums_rows()),
            Built::Selector(selector) => selector.in_passes().is_some_and(|selector| selector.sums_rows()),
        }
    }

    /// Why its parameters need all rows at once, where it says so before it asks for any.
    pub fn refusal_of_passes(&self) -> Option<Error> {
        let (mut none, context) = (NoRows, Context::default());
        let asked = match self {
            Built::Scorer(scorer) => scorer.in_passes()?.score_stream(&mut none, &context).map(drop),
            Built::Selector(selector) => {
                selector.in_passes()?.select_stream(&mut none, Budget::Count(1), &context).map(drop)
            }
        };
        asked.err().filter(|error| matches!(error, Error::Unsupported { .. }))
    }

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
    /// Every kind: for methods that use the features only.
    pub const ANY: &'static [TargetKind] = &[
        TargetKind::None,
        TargetKind::Classes,
        TargetKind::Real,
        TargetKind::Outputs,
        TargetKind::Affinity,
        TargetKind::Survival,
    ];

    /// The kind of a target.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::None => TargetKind::None,
            Target::Class(_) => TargetKind::Classes,
            Target::Real(outputs) if outputs.n_outputs() == 1 => TargetKind::Real,
            Target::Real(_) => TargetKind::Outputs,
            Target::Affinity(_) => TargetKind::Affinity,
            Target::Survival(_) => TargetKind::Survival,
        }
    }

    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::None => "none",
            TargetKind::Classes => "classes",
            TargetKind::Real => "a real output",
            TargetKind::Outputs => "several real outputs",
            TargetKind::Affinity => "an affinity matrix",
            TargetKind::Survival => "survival times",
        }
    }
}

/// The one of `ids` that people mean by `name`: the id itself, or one of its `aliases`, each given with its
/// id. Case does not count, nor whether words are joined by `-`, `_` or a blank.
///
/// ```
/// use fewest_core::method::meant;
/// let meant = |name| meant(name, ["log-loss", "auc"].into_iter(), [("roc-auc", "auc")].into_iter());
/// assert_eq!(meant("Log_Loss"), Some("log-loss"));
/// assert_eq!(meant("ROC AUC"), Some("auc"));
/// assert_eq!(meant("loss"), None);
/// ```
pub fn meant<'a>(
    name: &str,
    ids: impl Iterator<Item = &'a str> + Clone,
    mut aliases: impl Iterator<Item = (&'a str, &'a str)>,
) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
    let wanted = plain(name);
    let exact = || ids.clone().find(|id| *id == name);
    let written_otherwise = || ids.clone().find(|id| plain(id) == wanted);
    let alias = || {
        let (_, id) = aliases.find(|(alias, _)| plain(alias) == wanted)?;
        ids.clone().find(|known| *known == id)
    };
    exact().or_else(written_otherwise).or_else(alias)
}

/// The names most similar to a misspelt `name`, nearest first (equals in the order of the list), at most
/// three.
///
/// ```
/// use fewest_core::method::nearest;
/// assert_eq!(nearest("tagret", &["age", "target", "Target2"]), ["target", "Target2"]);
/// assert!(nearest("rfe", &["cife", "fsv"]).is_empty() && nearest("nope", &["slope"]).is_empty());
/// ```
pub fn nearest<S: AsRef<str>>(name: &str, names: &[S]) -> Vec<String> {
    let wanted = name.to_lowercase();
    let distance = |other: &str| strsim::damerau_levenshtein(&wanted, &other.to_lowercase());
    // A third of the letters of the longer one; of a short name one, or it would be like every other short
    // name.
    let allowed = |other: &str| (wanted.chars().count().max(other.chars().count()) / 3).max(1);
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let distances: Vec<usize> = names.iter().map(|other| distance(other)).collect();
    let mut near = crate::order::by_key(&distances);
    // One letter for another is no likeness.
    let has_common = |at: usize| distances[at] < wanted.chars().count().max(names[at].chars().count());
    near.retain(|&at| distances[at] <= allowed(names[at]) && has_common(at));
    near.into_iter().take(3).map(|at| names[at].to_owned()).collect()
}
