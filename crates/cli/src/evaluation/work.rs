//! The work: every method in turn, its folds in parallel.

use std::path::Path;

use fewest::core::{Budget, Context, Dataset, Error, Progress, Selector, Status};
use fewest::eval::{Evaluation, Experiment, ExperimentError, KRule, Metric, RunOptions};
use fewest::registry::{Method, Parameters, TargetKind};

use super::{Chosen, Design, Evaluated, Resume};
use crate::commands::told;
use crate::failure::Failure;

/// A method to evaluate.
pub struct Candidate {
    /// The method.
    pub method: &'static Method,
    /// Its parameters.
    pub parameters: Parameters,
    /// Both, ready to run.
    pub selector: Box<dyn Selector>,
}

impl Candidate {
    /// A method with its parameters.
    pub fn new(method: &'static Method, parameters: Parameters) -> Result<Self, Failure> {
        let selector = method.build(&parameters)?.into_selector();
        Ok(Self { method, parameters, selector })
    }

    /// Refuses a method that has no use for the target.
    pub fn check(&self, target: TargetKind) -> Result<(), Failure> {
        let targets = self.method.targets;
        if targets.contains(&target) || targets.contains(&TargetKind::None) {
            return Ok(());
        }
        let known: Vec<&str> = targets.iter().map(|target| target.name()).collect();
        Err(Failure::new(format!(
            "{} needs {} as target, but the target is {}: take another method (`fewest methods ID` tells their \
             targets), or say what the target is with --task",
            self.method.id,
            known.join(" or "),
            target.name()
        )))
    }

    /// A name for the method with its parameters, for stored folds.
    fn label(&self, design: &Design) -> String {
        let mut label = self.method.id.to_owned();
        for (name, value) in self.parameters.iter() {
            label.push_str(&format!(" {name}={value}"));
        }
        format!("{label} | {}", design.identity)
    }
}

/// Progress that says which method is at work.
struct Of<'a> {
    method: &'static str,
    progress: &'a dyn Progress,
}

impl Progress for Of<'_> {
    fn update(&self, stage: &str, done: u64, total: u64) {
        self.progress.update(&format!("{}: {stage}", self.method), done, total);
    }
}

/// Evaluates every candidate, until a stop: then those with finished folds, and what the stop left of them, come back.
pub fn evaluate(
    candidates: &[Candidate],
    design: &Design,
    data: &Dataset,
    resume: &Resume,
    file: &Path,
    context: &Context<'_>,
) -> Result<(Vec<Evaluated>, Status), Failure> {
    let metrics: Vec<&dyn Metric> = design.metrics.iter().map(|metric| &**metric).collect();
    let prepare = |train: &Dataset, whole: &Dataset| design.missing.fill(train, whole);
    let mut status = Status::Converged;
    let mut evaluated = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let id = candidate.method.id;
        let progress = context.progress.map(|progress| Of { method: id, progress });
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
        let finished = resume.finished(&experiment.label);
        let store = |plan: &_, record: &_| resume.add(plan, record);
        let options =
            RunOptions { finished: finished.as_ref(), on_fold: Some(&store), ..RunOptions::default() };
        let evaluation =
            experiment.run_with(data, options, context).map_err(|error| failure(file, id, &error))?;
        let ended = evaluation.status();
        if ended != Status::Converged {
            status = ended;
        }
        if !evaluation.folds.is_empty() {
            // What is chosen in the end is for samples to come: all there are may tell how gaps are filled.
            let filled = prepare(data, data).map_err(|error| Failure::in_file(file, &error))?;
            let chosen = choose(candidate, &evaluation, &filled, context)
                .map_err(|error| Failure::in_file(file, &error))?;
            let parameters = told(&candidate.parameters);
            evaluated.push(Evaluated { method: candidate.method, parameters, evaluation, chosen });
        }
    }
    Ok((evaluated, status))
}

/// The numbers of features by each rule and the first metric, and as many features by the method on all samples.
fn choose(
    candidate: &Candidate,
    evaluation: &Evaluation,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<Vec<Chosen>, Error> {
    let Some(metric) = evaluation.plan.metrics.first() else { return Ok(Vec::new()) };
    let mut chosen: Vec<Chosen> = Vec::new();
    for rule in [KRule::Best, KRule::OneStandardError] {
        let k = evaluation.choose_k(metric, rule)?;
        let known = chosen.iter().find(|other| other.k == k || (candidate.method.is_nested() && k < other.k));
        let features = match known {
            Some(other) => other.features.as_ref().map(|features| features.iter().copied().take(k).collect()),
            None => match candidate.selector.select(data, Budget::Count(k), context) {
                Ok(selection) if matches!(selection.status, Status::TimeLimit | Status::Interrupted) => None,
                Ok(selection) => Some(selection.order),
                Err(Error::Stopped { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        chosen.push(Chosen { rule, k, features });
    }
    Ok(chosen)
}

fn failure(file: &Path, method: &str, error: &ExperimentError) -> Failure {
    match error {
        ExperimentError::Setup(Error::InvalidParameter { name: "finished", value, .. }) => {
            Failure::new(format!(
                "--resume: the folds of {method} in the file are {value}: give the same call again, or another file"
            ))
        }
        ExperimentError::Setup(error) => Failure::in_file(file, error),
        other => Failure::new(format!("{}: {method}: {other}", file.display())),
    }
}
