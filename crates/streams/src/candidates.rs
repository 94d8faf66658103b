//! Features that are held until others make them superfluous.

use fewest_core::{Budget, Context, Dataset, Error, Held, Selection, Status, state};

use crate::arrivals::{Arrivals, Arrived, Chosen, Verdict};
use crate::independence::{Correlations, IndependenceTest, Judge, Search, Tested, Variable};

/// A feature that is held.
pub(crate) struct Candidate {
    pub(crate) feature: usize,
    pub(crate) name: String,
    pub(crate) variable: Variable,
    /// Against the target alone.
    pub(crate) alone: Tested,
}

state!(Candidate { feature, name, variable, alone });

/// The features that are held, and what they are tested by.
pub(crate) struct Candidates {
    method: &'static str,
    pub(crate) test: IndependenceTest,
    pub(crate) alpha: f64,
    pub(crate) arrivals: Arrivals,
    pub(crate) judge: Option<Judge>,
    pub(crate) kept: Vec<Candidate>,
    pub(crate) correlations: Correlations,
    /// Whether correlations between candidates are needed.
    in_sets: bool,
    pub(crate) last: Option<Verdict>,
    /// How the last analysis ended.
    pub(crate) status: Status,
}

impl Candidates {
    pub(crate) fn new(method: &'static str, test: IndependenceTest, alpha: f64, in_sets: bool) -> Self {
        Self {
            method,
            test,
            alpha,
            arrivals: Arrivals::new(method),
            judge: None,
            kept: Vec::new(),
            correlations: Correlations::default(),
            in_sets,
            last: None,
            status: Status::Converged,
        }
    }

    /// The features of a group, checked.
    pub(crate) fn take(&mut self, group: &Dataset, context: &Context<'_>) -> Result<Vec<Arrived>, Error> {
        let Self { method, test, arrivals, judge, kept, .. } = self;
        let is_held = |name: &str| kept.iter().any(|kept| kept.name == name);
        let arrived = arrivals.take(group, is_held, |group| {
            *judge = Some(Judge::new(*test, group, method, context)?);
            Ok(())
        })?;
        if let Some(judge) = judge {
            // An error leaves the stream as it was.
            arrived.iter().try_for_each(|feature| judge.variable(feature, *test, method).map(|_| ()))?;
        }
        Ok(arrived)
    }

    /// A feature and the target, tested alone; none for a constant feature.
    pub(crate) fn alone(&self, arrived: &Arrived) -> Result<Option<(Variable, Tested)>, Error> {
        let Some(judge) = &self.judge else { return Ok(None) };
        let variable = judge.variable(arrived, self.test, self.method)?;
        Ok(variable.map(|variable| {
            let tested = judge.pair(&variable, judge.target());
            (variable, tested)
        }))
    }

    /// Two features against each other.
    pub(crate) fn pair(&self, a: &Variable, b: &Variable) -> Option<Tested> {
        self.judge.as_ref().map(|judge| judge.pair(a, b))
    }

    pub(crate) fn push(&mut self, candidate: Candidate) {
        if let Some(judge) = self.judge.as_ref().filter(|_| self.in_sets) {
            let all: Vec<&Variable> = self.kept.iter().map(|kept| &kept.variable).collect();
            self.correlations.push(judge, &all, &candidate.variable);
        }
        self.kept.push(candidate);
    }

    pub(crate) fn remove(&mut self, at: usize) -> usize {
        self.correlations.remove(at);
        self.kept.remove(at).feature
    }

    /// Whether a set of 1 to `most` of the candidates `others`, by their places, makes the one at `x`
    /// independent of the target.
    pub(crate) fn is_separated(
        &self,
        x: usize,
        others: &[usize],
        with: Option<usize>,
        most: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<bool> {
        let Some(judge) = &self.judge else { return Some(false) };
        let all: Vec<&Variable> = self.kept.iter().map(|kept| &kept.variable).collect();
        Search { judge, all: &all, correlations: &self.correlations, alpha: self.alpha, most }
            .separates(x, others, with, is_stopped)
    }

    /// The answer of the candidates at `places`: by p-value, equal ones by dependence.
    pub(crate) fn selection(&self, places: &[usize], budget: Budget) -> Result<Selection, Error> {
        let mut best: Vec<&Candidate> = places.iter().map(|&at| &self.kept[at]).collect();
        let p_value = |candidate: &Candidate| candidate.alone.p_value.unwrap_or(1.0);
        best.sort_by(|a, b| {
            let by_p = p_value(a).total_cmp(&p_value(b));
            by_p.then(b.alone.dependence.total_cmp(&a.alone.dependence)).then(a.feature.cmp(&b.feature))
        });
        let chosen = |candidate: &&Candidate| Chosen {
            feature: candidate.feature,
            score: candidate.alone.dependence,
            p_value: candidate.alone.p_value.unwrap_or(f64::NAN),
        };
        let chosen = best.iter().map(chosen).collect();
        let mut selection = self.arrivals.selection(chosen, budget, self.status)?;
        let left_out = "the others are independent of the target, alone or given those selected";
        selection.note_missing_features(budget, left_out);
        Ok(selection)
    }

    /// The name of a candidate.
    pub(crate) fn name(&self, feature: usize) -> Option<&str> {
        let kept = self.kept.iter().find(|kept| kept.feature == feature);
        kept.map(|kept| kept.name.as_str())
    }

    pub(crate) fn held(&self) -> Held {
        let target = self.judge.as_ref().map_or(0, |judge| judge.target().size());
        let columns: usize = self.kept.iter().map(|kept| kept.variable.size()).sum();
        Held::new(self.kept.len(), target + columns + self.correlations.size())
    }
}
