//! `fewest evaluate`, and what `fewest compare` shares with it.

use std::process::ExitCode;

use fewest::core::{Budget, Status};
use fewest::eval::AUTO_K;
use fewest::registry::{Parameters, Registry};
use fewest_study::{Candidate, Division, Report, Store, Study, StudyOptions, json};

use super::{check_groups, is_stdout, links, terms};
use crate::args::{DataArgs, EvaluateArgs, EvaluationArgs, Ks, RunArgs};
use crate::failure::Failure;
use crate::{input, output, runner, table, text};

/// Evaluates one method.
pub(crate) fn evaluate(registry: &Registry, args: &EvaluateArgs) -> Result<ExitCode, Failure> {
    let method = registry.find(&args.method)?;
    let parameters = Parameters::parse(method, &args.run.param)?;
    check_groups(registry, &args.evaluation.grouping, &[(method, &parameters)])?;
    terms::check(registry, &args.evaluation.terms.options(), &[(method, &parameters)])?;
    links::check(registry, &args.evaluation.network, &[(method, &parameters)])?;
    let note = super::kernel_note(&args.method, method, &parameters);
    let candidate =
        Candidate::new(method, parameters).map_err(|e| Failure::in_study(&args.data.read.file, &e))?;
    let mut report = work(registry, &args.data, &args.run, &args.evaluation, vec![candidate])?;
    report.notes.extend(note);
    let json = args.run.json.as_ref().map(|_| json::evaluation(&report)).transpose();
    let json = json.map_err(|error| Failure::in_study(&args.data.read.file, &error))?;
    let table = table::evaluation::evaluation(&report);
    tell(&args.run, &args.evaluation, &report, &table, json)
}

/// Evaluates every candidate on the same folds.
pub(super) fn work(
    registry: &Registry,
    data: &DataArgs,
    run: &RunArgs,
    args: &EvaluationArgs,
    candidates: Vec<Candidate>,
) -> Result<Report, Failure> {
    let wrong = |error: fewest_study::Error| Failure::in_study(&data.read.file, &error);
    let mut options = options(args);
    options.check(registry).map_err(wrong)?;
    if args.seen.is_some() && args.network.links.is_none() && args.network.authors.is_none() {
        return Err(Failure::new("--network is about links: name them by --links or --authors"));
    }
    let json_file = run.json.as_deref().filter(|path| !is_stdout(path));
    output::check(
        &data.read.file,
        &[("--json", json_file), ("--report", args.report.as_deref()), ("--resume", args.resume.as_deref())],
    )?;
    let needs = input::Needs {
        target: true,
        digest: args.report.is_some(),
        weights: None,
        groups: args.group_column.as_deref(),
    };
    let threads = runner::Threads::start(run)?;
    let found = threads.install(|| input::read(registry, data, needs))?;
    let user = input::User { id: "an evaluation", supervised: true };
    let network = input::Network::read(&found, &args.network)?;
    let (complete, mut info) = input::with_gaps(found, data, user)?;
    info.samples = input::sample_info(None, &args.network);
    options.ks = ks(args, info.n_features)?;
    let mut candidates = candidates;
    for (parameter, indices) in terms::found(&args.terms.options(), &info)? {
        let given = candidates.into_iter().map(|candidate| candidate.with_features(parameter, &indices));
        candidates = given.collect::<Result<_, _>>().map_err(wrong)?;
    }
    let dataset = input::with_groups(complete.dataset, &args.grouping, &info)?;
    let dataset = network.of(dataset, &complete.dropped)?;
    let n_candidates = candidates.len();
    let study = Study::new(registry, &dataset, info, candidates, &options).map_err(wrong)?;
    let store = args.resume.as_ref().map(Store::open).transpose().map_err(wrong)?;
    let (mut report, _) =
        runner::run(&threads, run, |context| study.run(store.as_ref(), context).map_err(wrong))?;
    let done: usize = report.methods.iter().map(|method| method.evaluation.folds.len()).sum();
    let all = report.n_folds * n_candidates;
    if report.status != Status::Converged && done < all {
        let all = text::count(all);
        let why = if report.status == Status::Interrupted { "interrupted" } else { "time limit reached" };
        let go_on = match args.resume {
            Some(_) => "the same command continues from them",
            None => "with --resume FILE, the same command continues from them",
        };
        report.notes.push(format!("{why} after {} of {all} folds: {go_on}", text::count(done)));
    }
    if let Some(failure) = &report.not_stored {
        report.notes.push(format!("--resume: the last folds were not stored: {failure}"));
    }
    Ok(report)
}

/// The options of the study from the arguments, except for the numbers of features.
fn options(args: &EvaluationArgs) -> StudyOptions {
    let division = match (args.test_share, &args.group_column, args.folds) {
        (Some(share), ..) => Division::HeldOut(share),
        (None, Some(column), folds) => Division::Groups { name: column.clone(), folds },
        (None, None, Some(folds)) => Division::Folds(folds),
        (None, None, None) => Division::default(),
    };
    StudyOptions {
        ks: Vec::new(),
        learner: args.learner.clone(),
        learner_parameters: args.learner_param.clone(),
        metrics: args.metric.clone(),
        division,
        network: args.seen.unwrap_or_default(),
        repeats: args.repeats,
        baselines: !args.no_baselines,
    }
}

/// The numbers of features, checked before they are listed: the end of a range may be any number.
fn ks(args: &EvaluationArgs, n_features: usize) -> Result<Vec<usize>, Failure> {
    for k in &args.k {
        if let Ks::Counts(_, to) = k {
            Budget::Count(*to).check(n_features)?;
        }
    }
    let numbers = |k: &Ks| match *k {
        Ks::Counts(from, to) => from..=to,
        Ks::Auto => AUTO_K..=AUTO_K,
    };
    Ok(args.k.iter().flat_map(numbers).collect())
}

/// Writes the result in every requested form.
pub(super) fn tell(
    run: &RunArgs,
    args: &EvaluationArgs,
    report: &Report,
    table: &str,
    json: Option<String>,
) -> Result<ExitCode, Failure> {
    // A failure costs one output, not the others.
    let written = args.report.as_ref().map_or(Ok(()), |path| {
        output::write("--report", path, fewest_report::evaluation(report, &super::origin()).as_bytes())
    });
    super::tell(run.json.as_deref(), json, table, written)?;
    Ok(super::exit_code(report.status))
}
