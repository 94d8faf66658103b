//! The work: every method in turn, its folds in parallel.

use std::time::{Duration, Instant};

use fewest::core::{Budget, Context, Dataset, Error as CoreError, Progress, Status};
use fewest::eval::{AUTO_K, Evaluation, Experiment, ExperimentError, KRule, Metric, RunOptions, Stage};

use crate::baselines::{Reached, baselines, better_baselines};
use crate::catalogue::{Method, Registry, TargetKind};
use crate::design::{Design, Terms};
use crate::error::why;
use crate::{Candidate, Chosen, DataInfo, Error, Evaluated, Report, Store, StudyOptions};

/// Fills in the missing values of its second argument by those of its first.
pub(crate) type Fill<'a> = dyn Fn(&Dataset, &Dataset) -> Result<Dataset, CoreError> + Sync + 'a;

/// Methods to be evaluated on the same folds, checked against the data.
pub struct Study<'a> {
    data: &'a Dataset,
    info: DataInfo,
    candidates: Vec<Candidate>,
    design: Design,
}

impl<'a> Study<'a> {
    /// The study of `candidates` that `options` describe, on `data`; outputs describe the data by `info`.
    /// Missing values in `data` are filled in every fold by the policy [`DataInfo::missing`]. Learner and
    /// metrics are those of `registry`. Covariates of the methods are features of the learner, too, beside
    /// the selected ones; an offset is not.
    ///
    /// # Errors
    /// Those of [`StudyOptions::check`]; [`Error::Method`] and [`Error::NotForTarget`] for what does not
    /// support the target; [`Error::NoOwnNumber`] for a number that scores alone do not decide;
    /// [`Error::Twice`] for methods of one id, [`Error::OtherTerms`] for methods with different covariates,
    /// [`Error::Core`] for none, or for numbers of features out of range, [`Error::NotSelectable`] where that
    /// is due to covariates; [`Error::SingleSample`], [`Error::TooManyFolds`] and [`Error::NoGroup`] for
    /// samples that cannot
    /// be divided in this way.
    pub fn new(
        registry: &Registry,
        data: &'a Dataset,
        info: DataInfo,
        candidates: Vec<Candidate>,
        options: &StudyOptions,
    ) -> Result<Self, Error> {
        if candidates.is_empty() {
            return Err(CoreError::TooFew { what: "methods", minimum: 1, found: 0 }.into());
        }
        for (at, candidate) in candidates.iter().enumerate() {
            if candidates[..at].iter().any(|other| other.method.id == candidate.method.id) {
                return Err(Error::Twice { what: "method", id: candidate.method.id.to_owned() });
            }
            candidate.check(TargetKind::of(data.target()))?;
            candidate.check_number(&options.ks)?;
        }
        let design = Design::new(registry, options, data, &info, Terms::of(&candidates)?)?;
        Ok(Self { data, info, candidates, design })
    }

    /// Evaluates every method, chooses its numbers of features and selects as many on all samples, and
    /// evaluates what is reached without features and with all of them, unless
    /// [`StudyOptions::baselines`] says no. After a stop, the methods with
    /// finished folds are returned. `store` has folds that are not run again, and stores the new ones.
    ///
    /// # Errors
    /// [`Error::OtherFolds`] and [`Error::BrokenFolds`] for a store of another study; [`Error::Fold`] naming
    /// the first fold that failed; [`Error::NothingFinished`] where a stop came before any fold was finished.
    pub fn run(&self, store: Option<&Store>, context: &Context<'_>) -> Result<Report, Error> {
        if let Some(store) = store {
            store.check(&self.design, context.seed, self.data.n_features())?;
        }
        let start = Instant::now();
        let worked = self.evaluate(store, context);
        let (methods, status, left_out) = worked?;
        let Some(first) = methods.first() else { return Err(Error::NothingFinished(status)) };
        let fill = |train: &Dataset, whole: &Dataset| self.info.missing.fill(train, whole);
        let without = match status {
            Status::Converged if self.design.baselines => {
                baselines(&self.design, self.data, &fill, store, context)
            }
            _ => Reached::nothing(self.design.baselines, status),
        };
        let not_stored = store.and_then(Store::failure);
        let mut notes = [self.info.notes.clone(), self.design.notes.clone()].concat();
        let reached = |id: &str| methods.iter().any(|method| method.method.id == id);
        let unreached: Vec<&str> =
            self.candidates.iter().map(|candidate| candidate.method.id).filter(|id| !reached(id)).collect();
        if !unreached.is_empty() {
            notes.push(format!("stopped before a fold of {} was finished", unreached.join(", ")));
        }
        let done = |method: &Evaluated| method.evaluation.folds.len();
        let most = methods.iter().map(done).max().unwrap_or(0);
        notes.extend(methods.iter().filter(|method| done(method) < most).map(|method| {
            let (id, n_folds) = (method.method.id, method.evaluation.plan.n_folds);
            format!(
                "stopped after {} of {n_folds} folds of {id}: its means are over those alone",
                done(method)
            )
        }));
        notes.extend(left_out.into_iter().chain(without.notes));
        let (splitter, n_folds) = (self.design.splitter_text.clone(), first.evaluation.plan.n_folds);
        let mut report = Report {
            methods,
            baselines: without.baselines,
            status: without.status,
            network: self.design.network,
            covariates: self.design.terms.covariates.clone(),
            offset: self.design.terms.offset.clone(),
            notes,
            not_stored,
            seconds: start.elapsed().as_secs_f64(),
            ..Report::new(context.seed, self.info.clone(), self.design.learner_id, splitter, n_folds)
        };
        let better = better_baselines(&report);
        report.notes.extend(better);
        Ok(report)
    }

    /// The methods with finished folds, how it ended, and notes on what was left out.
    fn evaluate(
        &self,
        store: Option<&Store>,
        context: &Context<'_>,
    ) -> Result<(Vec<Evaluated>, Status, Vec<String>), Error> {
        let Self { data, design, .. } = self;
        let metrics: Vec<&dyn Metric> = design.metrics.iter().map(|metric| &**metric).collect();
        let prepare = |train: &Dataset, whole: &Dataset| self.info.missing.fill(train, whole);
        let mut status = Status::Converged;
        let mut not_selected = Vec::new();
        let mut evaluated = Vec::with_capacity(self.candidates.len());
        for candidate in &self.candidates {
            let id = candidate.method.id;
            let progress = context.progress.map(|progress| ProgressOf { method: id, progress });
            let context = &Context { progress: progress.as_ref().map(|of| of as &dyn Progress), ..*context };
            let experiment = Experiment {
                label: candidate.label(design),
                selector: &*candidate.selector,
                learner: &*design.learner,
                splitter: &*design.splitter,
                metrics: &metrics,
                ks: design.ks.clone(),
                nested: candidate.method.is_nested(),
                prepare: Some(&prepare),
            };
            let finished = store.and_then(|store| store.finished(&experiment.label));
            let keep = |plan: &_, record: &_| {
                if let Some(store) = store {
                    store.add(plan, record);
                }
            };
            let options = RunOptions {
                finished: finished.as_ref(),
                on_fold: Some(&keep),
                network: design.network.unwrap_or_default(),
                covariates: &design.terms.covariates,
                ..RunOptions::default()
            };
            let evaluation = experiment
                .run_with(data, options, context)
                .map_err(|error| failure(&candidate.method, error))?;
            let ended = evaluation.status();
            if ended != Status::Converged {
                status = ended;
            }
            if !evaluation.folds.is_empty() {
                // The final selection is for future samples: missing values may be filled in from all
                // samples.
                let filled = prepare(data, data)?;
                let (chosen, ended) = choose(candidate, &evaluation, &filled, context)?;
                if ended != Status::Converged {
                    status = ended;
                    not_selected.push(id);
                }
                let parameters = candidate.parameters.clone();
                evaluated.push(Evaluated::new(candidate.method.clone(), parameters, evaluation, chosen));
            }
        }
        let notes = match not_selected.is_empty() {
            true => Vec::new(),
            false => {
                let ids = not_selected.join(", ");
                vec![format!("{}: the features selected on all samples are left out for {ids}", why(status))]
            }
        };
        Ok((evaluated, status, notes))
    }
}

/// Progress that names the running method.
struct ProgressOf<'a> {
    method: &'static str,
    progress: &'a dyn Progress,
}

impl Progress for ProgressOf<'_> {
    fn update(&self, stage: &str, done: u64, total: u64) {
        self.progress.update(&format!("{}: {stage}", self.method), done, total);
    }

    fn announce(&self, stage: &str, expected: Duration) {
        self.progress.announce(&format!("{}: {stage}", self.method), expected);
    }
}

/// The numbers of features by each rule and the first metric, and as many features by the method on all
/// samples, unless it is stopped; how that ended.
fn choose(
    candidate: &Candidate,
    evaluation: &Evaluation,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<(Vec<Chosen>, Status), CoreError> {
    let mut status = Status::Converged;
    let mut chosen: Vec<Chosen> = Vec::new();
    let Some(metric) = evaluation.plan.metrics.first() else { return Ok((chosen, status)) };
    for rule in [KRule::Best, KRule::OneStandardError] {
        let k = evaluation.choose_k(metric, rule)?;
        // The first features of another choice; of as many as the method decides there may be too few.
        let is_known = |other: &&Chosen| {
            other.k == k || (candidate.method.is_nested() && k < other.k && other.k != AUTO_K)
        };
        let known = chosen.iter().find(is_known);
        let budget = if k == AUTO_K { Budget::Auto } else { Budget::Count(k) };
        let features = match known {
            Some(other) => other.features.as_ref().map(|features| features.iter().copied().take(k).collect()),
            None => match candidate.selector.select(data, budget, context) {
                Ok(selection) if selection.status.is_stopped() => {
                    status = selection.status;
                    None
                }
                Ok(selection) => Some(selection.order),
                Err(CoreError::Stopped { .. }) => {
                    status = context.stopped().unwrap_or(Status::TimeLimit);
                    None
                }
                Err(error) => return Err(error),
            },
        };
        chosen.push(Chosen::new(rule, k, features));
    }
    Ok((chosen, status))
}

fn failure(method: &Method, error: ExperimentError) -> Error {
    match error {
        ExperimentError::Setup(CoreError::InvalidParameter { name: "finished", value, .. }) => {
            Error::BrokenFolds { method: method.id, found: value }
        }
        ExperimentError::Setup(error) => Error::Core(error),
        ExperimentError::Fold {
            stage: Stage::Selection { k: AUTO_K },
            source: CoreError::InvalidParameter { name: "k", .. },
            ..
        } => Error::NoOwnNumber { method: method.id, deciding: method.deciding_parameters() },
        source => Error::Fold { method: method.id, source: Box::new(source) },
    }
}

#[cfg(test)]
mod tests;
