//! What all methods share to which features arrive: what has to agree between arrivals, and the answer.

use fewest_core::{
    Budget, Context, Dataset, Error, FeatureKind, FedByFeatures, Selection, State, StreamSelector, Target,
    state,
};

/// What came of the feature that arrived last.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Its number in the order of arrival, from 0.
    pub feature: usize,
    /// Whether it was taken.
    pub outcome: Outcome,
    /// What was compared with the threshold: the p-value of the test on arrival; for grafting the absolute
    /// gradient; for ogfs the ratio of the scatter between classes to that within them.
    pub value: f64,
    /// Features that left because of it, perhaps itself, in the order in which they left.
    pub left: Vec<usize>,
}

state!(Verdict { feature, outcome, value, left });

/// What is done with a feature when it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was taken.
    Admitted,
    /// It says nothing about the target.
    Irrelevant,
    /// It says nothing that those selected do not say.
    Redundant,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Admitted, Self::Irrelevant, Self::Redundant];
}

impl State for Outcome {
    fn save(&self, to: &mut Vec<u8>) {
        (*self as u8).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let number = u8::load(from)?;
        let found = Self::ALL.into_iter().find(|outcome| *outcome as u8 == number);
        found.ok_or_else(|| Error::parameter("outcome in a state", number, "a number below 3"))
    }
}

/// A feature that has arrived.
#[derive(Clone)]
pub(crate) struct Arrived {
    /// In the order of arrival, from 0.
    pub(crate) number: usize,
    pub(crate) name: String,
    /// Whether its values are codes of more than two categories.
    pub(crate) is_category: bool,
    pub(crate) values: Vec<f64>,
}

state!(Arrived { number, name, is_category, values });

impl Arrived {
    /// The error of methods that need a number.
    pub(crate) fn refuse_category(&self, method: &'static str, instead: &str) -> Result<(), Error> {
        if !self.is_category {
            return Ok(());
        }
        Err(Error::Unsupported {
            method,
            what: format!("feature {}, a category of more than two levels,", self.name),
            instead: instead.to_owned(),
        })
    }
}

/// What is known of a stream of features: the samples, and how many features have arrived.
#[derive(Clone)]
pub(crate) struct Arrivals {
    method: &'static str,
    pub(crate) target: Option<Target>,
    pub(crate) n_samples: usize,
    pub(crate) n_arrived: usize,
}

impl Arrivals {
    pub(crate) fn new(method: &'static str) -> Self {
        Self { method, target: None, n_samples: 0, n_arrived: 0 }
    }

    pub(crate) fn n_arrived(&self) -> usize {
        self.n_arrived
    }

    /// Checks a group before anything of it is used, and reads it: an error leaves the stream as it was.
    /// `is_held` says whether a feature of that name is held. With the first group `open` gets the target.
    ///
    /// # Errors
    /// Other samples, another target, weights, a name that is held, values that are not finite.
    pub(crate) fn take(
        &mut self,
        group: &Dataset,
        is_held: impl Fn(&str) -> bool,
        open: impl FnOnce(&Dataset) -> Result<(), Error>,
    ) -> Result<Vec<Arrived>, Error> {
        group.refuse_sample_weights(self.method)?;
        let is_first = self.target.is_none();
        if !is_first && group.n_samples() != self.n_samples {
            let (expected, found) = (self.n_samples, group.n_samples());
            return Err(Error::ShapeMismatch { what: "values of an arriving feature", expected, found });
        }
        if self.target.as_ref().is_some_and(|target| target != group.target()) {
            let expected =
                "the one that the first features had: all features of a stream are of the same samples";
            return Err(Error::parameter("target", group.target().describe(), expected));
        }
        let mut arrived: Vec<Arrived> = Vec::with_capacity(group.n_features());
        for j in 0..group.n_features() {
            let name = group.feature_name(j);
            if is_held(&name) || arrived.iter().any(|other| other.name == name) {
                let expected = "another one: a selected feature, or one of the same group, is called that";
                return Err(Error::parameter("name of a feature", format!("`{name}`"), expected));
            }
            let mut values = vec![0.0; group.n_samples()];
            group.x().copy_column(j, &mut values)?;
            group.check_finite(j, &values)?;
            let is_category =
                matches!(group.feature_kind(j), FeatureKind::Categorical { levels } if levels.len() > 2);
            arrived.push(Arrived { number: self.n_arrived + j, name, is_category, values });
        }
        if is_first {
            open(group)?;
            (self.target, self.n_samples) = (Some(group.target().clone()), group.n_samples());
        }
        Ok(arrived)
    }

    /// A feature was processed.
    pub(crate) fn done(&mut self) {
        self.n_arrived += 1;
    }

    /// The answer that holds the features `chosen` in this order, with their scores, cut to the budget.
    ///
    /// # Errors
    /// For a budget of no features, or of more than have arrived.
    pub(crate) fn selection(
        &self,
        mut chosen: Vec<Chosen>,
        budget: Budget,
        status: fewest_core::Status,
    ) -> Result<Selection, Error> {
        budget.check(self.n_arrived)?;
        let n_chosen = chosen.len();
        match budget {
            Budget::Count(k) => chosen.truncate(k),
            Budget::Threshold(threshold) => chosen.retain(|chosen| chosen.score >= threshold),
            _ => {}
        }
        let order = chosen.iter().map(|chosen| chosen.feature).collect();
        let scores = chosen.iter().map(|chosen| chosen.score).collect();
        let mut selection = Selection::new(order, scores, self.n_arrived, status);
        selection.p_values = Some(chosen.iter().map(|chosen| chosen.p_value).collect());
        selection.note_left_out(n_chosen, budget, "features that were kept");
        Ok(selection)
    }
}

/// A feature of an answer.
pub(crate) struct Chosen {
    pub(crate) feature: usize,
    pub(crate) score: f64,
    pub(crate) p_value: f64,
}

/// The one output of a target, standardised: a real one, or ±1 for two classes.
///
/// # Errors
/// [`Error::UnsupportedTarget`] for another target, or one that does not vary.
pub(crate) fn one_output(
    target: &Target,
    method: &'static str,
    expected: &'static str,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let is_one = match target {
        Target::Real(outputs) => outputs.n_outputs() == 1,
        Target::Class(classes) => classes.occurring().len() == 2,
        _ => false,
    };
    let unsupported = || Error::UnsupportedTarget { method, expected, found: target.describe() };
    if !is_one {
        return Err(unsupported());
    }
    fewest_columns::standardised_outputs(target, method, context)?.pop().ok_or_else(unsupported)
}

/// The selections of a table whose features arrive one by one in their order, or group by group where the
/// table has groups.
pub(crate) fn select_table<S: StreamSelector>(
    make: impl Fn() -> Result<S, Error> + Send + Sync,
    data: &Dataset,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    use fewest_core::Selector as _;
    let selections = FedByFeatures::new(make, 1)?.select_many(data, budgets, context)?;
    selections.into_iter().map(|found| found.unless_stopped_before("a feature was selected")).collect()
}
