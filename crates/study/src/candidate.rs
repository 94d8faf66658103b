//! A method of a study.

use fewest::core::{Budget, Selection, Selector};
use fewest::eval::AUTO_K;

use crate::Error;
use crate::catalogue::{Built, Kind, Method, Parameters, TargetKind};
use crate::design::Design;

/// Number of features selected if nothing says how many.
pub const USUAL_K: usize = 10;

/// How many features are selected if the user gives no number: as many as the parameters decide where one of
/// them is given that does, else [`USUAL_K`], or all if there are fewer.
///
/// ```
/// use fewest::core::Budget;
/// use fewest::registry::{Parameters, Registry};
/// use fewest_study::usual_budget;
///
/// let method = Registry::standard().find("hsic-lasso")?;
/// assert_eq!(usual_budget(&Parameters::defaults(method), 30), Budget::Count(10));
/// assert_eq!(usual_budget(&Parameters::defaults(method), 4), Budget::Count(4));
/// assert_eq!(usual_budget(&Parameters::parse(method, &["lambda_ratio=0.1"])?, 30), Budget::Auto);
/// # Ok::<(), fewest::core::Error>(())
/// ```
pub fn usual_budget(parameters: &Parameters, n_features: usize) -> Budget {
    if parameters.decides_count() { Budget::Auto } else { Budget::Count(USUAL_K.min(n_features)) }
}

/// What to say of scores that are not in the order of the ranks, which look like a fault.
pub fn rounds_note(method: &Method, selection: &Selection) -> Option<String> {
    let scores = &selection.scores;
    // Weights are ranked by their size.
    let is_ordered = scores.is_sorted()
        || scores.is_sorted_by(|a, b| a >= b)
        || scores.is_sorted_by(|a, b| a.abs() >= b.abs());
    // Of features that were not judged there is another note.
    let is_judged = !scores.iter().all(|score| score.is_nan());
    (method.kind == Kind::Sequence && !is_ordered && is_judged).then(|| {
        "each score is that of the round in which the feature was chosen or taken away: the rank counts, and scores of \
         different rounds do not compare"
            .to_owned()
    })
}

/// A method with its parameters, ready to run.
pub struct Candidate {
    pub(crate) method: Method,
    pub(crate) parameters: Parameters,
    pub(crate) selector: Box<dyn Selector>,
    /// Whether it gives scores alone, which do not decide how many features there are.
    scores_only: bool,
}

impl Candidate {
    /// A method with its parameters.
    ///
    /// # Errors
    /// [`Error::Core`] for parameters that do not go together.
    pub fn new(method: &Method, parameters: Parameters) -> Result<Self, Error> {
        let built = method.build(&parameters)?;
        let scores_only = matches!(built, Built::Scorer(_));
        Ok(Self { method: method.clone(), parameters, selector: built.into_selector(), scores_only })
    }

    /// The same with the features `indices` as parameter `name`: `covariates`, `offset`.
    ///
    /// # Errors
    /// [`Error::Core`] for a parameter that the method does not have, or that does not go with the others.
    pub fn with_features(mut self, name: &str, indices: &[usize]) -> Result<Self, Error> {
        let text: Vec<String> = indices.iter().map(usize::to_string).collect();
        self.parameters.set(name, &text.join(","))?;
        Self::new(&self.method, self.parameters)
    }

    /// The features of parameter `name`, increasing, each once.
    pub(crate) fn features(&self, name: &str) -> Vec<usize> {
        let mut features = self.parameters.features(name).to_vec();
        features.sort_unstable();
        features.dedup();
        features
    }

    /// Refuses a method that gives scores alone where it is to decide the number of features.
    pub(crate) fn check_number(&self, ks: &[usize]) -> Result<(), Error> {
        if self.scores_only && ks.contains(&AUTO_K) {
            let deciding = self.method.deciding_parameters();
            return Err(Error::NoOwnNumber { method: self.method.id, deciding });
        }
        Ok(())
    }

    /// Refuses a method that does not support the target.
    pub(crate) fn check(&self, target: TargetKind) -> Result<(), Error> {
        let needs = self.method.targets;
        if needs.contains(&target) || needs.contains(&TargetKind::None) {
            return Ok(());
        }
        Err(Error::Method { method: self.method.id, needs, found: target })
    }

    /// A name for the method with its parameters, for stored folds.
    pub(crate) fn label(&self, design: &Design) -> String {
        let mut label = self.method.id.to_owned();
        for (name, value) in self.parameters.iter() {
            label.push_str(&format!(" {name}={value}"));
        }
        format!("{label} | {}", design.identity)
    }
}
