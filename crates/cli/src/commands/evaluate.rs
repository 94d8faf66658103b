//! `fewest evaluate`, and what `fewest compare` shares with it.

use std::process::ExitCode;

use fewest::core::Status;
use fewest::evaluation::kind_of;
use fewest::registry::{self, Parameters};

use super::{command_line, is_stdout};
use crate::args::{DataArgs, EvaluateArgs, EvaluationArgs, RunArgs};
use crate::evaluation::{self, Candidate, Design, Report, Resume};
use crate::failure::{Failure, STATUS_INTERRUPTED};
use crate::{input, json, output, report, run, table, text};

/// Evaluates one method.
pub fn evaluate(args: &EvaluateArgs) -> Result<ExitCode, Failure> {
    let method = registry::find(&args.method)?;
    let candidate = Candidate::new(method, Parameters::parse(method, &args.run.param)?)?;
    let report = work(&args.data, &args.run, &args.evaluation, &[candidate])?;
    let json = args.run.json.as_ref().map(|_| json::evaluation::evaluation(&report)).transpose()?;
    tell(&args.run, &args.evaluation, &report, &table::evaluation::evaluation(&report), json)
}

/// Evaluates every candidate on the same folds.
pub(super) fn work(
    data: &DataArgs,
    run: &RunArgs,
    args: &EvaluationArgs,
    candidates: &[Candidate],
) -> Result<Report, Failure> {
    let data = &evaluation::describe(args, data)?;
    let json_file = run.json.as_deref().filter(|path| !is_stdout(path));
    output::check(
        &data.file,
        &[("--json", json_file), ("--report", args.report.as_deref()), ("--resume", args.resume.as_deref())],
    )?;
    let found = input::read(data, true)?;
    let user = input::User { id: "an evaluation", supervised: true };
    let (complete, info) = input::with_gaps(found, data, user)?;
    let dataset = &complete.dataset;
    for candidate in candidates {
        candidate.check(kind_of(dataset.target()))?;
    }
    let design = Design::new(args, data.missing, dataset, &info)?;
    let resume = Resume::open(args.resume.as_deref(), &design, run.seed, info.n_features)?;
    let worked = run::run(run, |context| {
        evaluation::evaluate(candidates, &design, dataset, &resume, &data.file, context)
    });
    // Also when a fold failed: the others are not lost.
    let not_stored = resume.finish();
    let ((methods, status), seconds) = worked?;
    let Some(first) = methods.first() else {
        return Err(match status {
            Status::Interrupted => Failure::interrupted(),
            _ => Failure::new("--time-limit: the time was up before a fold was finished: allow more time"),
        });
    };
    let mut notes = [info.notes.clone(), design.notes].concat();
    if status != Status::Converged {
        let done: usize = methods.iter().map(|method| method.evaluation.folds.len()).sum();
        let all = text::count(first.evaluation.plan.n_folds * candidates.len());
        let why = if status == Status::Interrupted { "interrupted" } else { "the time was up" };
        let go_on = match args.resume {
            Some(_) => "the same call goes on from them",
            None => "with --resume FILE, the same call goes on from them",
        };
        notes.push(format!("{why} after {} of {all} folds: {go_on}", text::count(done)));
    }
    notes.extend(not_stored.map(|failure| format!("--resume: the last folds were not stored: {failure}")));
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(),
        seed: run.seed,
        data: info,
        learner: design.learner_id,
        splitter: design.splitter_text,
        n_folds: first.evaluation.plan.n_folds,
        methods,
        status,
        notes,
        seconds,
    })
}

/// Tells the answer in every form asked for.
pub(super) fn tell(
    run: &RunArgs,
    args: &EvaluationArgs,
    report: &Report,
    table: &str,
    json: Option<String>,
) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.report {
        output::write("--report", path, report::evaluation(report).as_bytes())?;
    }
    match (run.json.as_deref(), json) {
        (Some(path), Some(json)) if is_stdout(path) => output::print(&json)?,
        (Some(path), Some(json)) => {
            output::write("--json", path, json.as_bytes())?;
            output::print(table)?;
        }
        _ => output::print(table)?,
    }
    Ok(match report.status {
        Status::Interrupted => ExitCode::from(STATUS_INTERRUPTED),
        _ => ExitCode::SUCCESS,
    })
}
