//! `fewest score`.

use std::process::ExitCode;

use fewest::core::{Scorer, Scores, score_parts};
use fewest::data::{Complete, ReadOptions};
use fewest::registry::{Built, Kind, Method, Parameters, Registry};
use fewest_study::{DataInfo, RunInfo, json};

use super::{is_stdout, passes};
use crate::args::ScoreArgs;
use crate::failure::Failure;
use crate::{input, output, runner, table, text};

/// More features than anybody reads.
const MANY: usize = 1000;

/// Scores the features of a table whose rows are read in passes.
fn score_in_passes(
    args: &ScoreArgs,
    (method, scorer): (&Method, &dyn Scorer),
    user: input::User,
    threads: &runner::Threads,
    road: passes::InPasses,
) -> Result<(Complete, DataInfo, Scores, f64), Failure> {
    let mut opened = threads.install(|| road.open(&args.data, user))?;
    let (scores, seconds) = runner::run(threads, &args.run, |context| {
        let context = opened.context(context);
        let rows = &mut opened.rows;
        let scored = scorer.in_passes().map(|scorer| score_parts(scorer, rows, &context));
        let scored = scored.unwrap_or_else(|| Err(passes::not_in_passes(method)));
        scored.map(|(scores, _)| scores).map_err(|error| passes::failure(rows, &args.data, &error))
    })?;
    let (_, complete, info) = opened.finish();
    Ok((complete, info, scores, seconds))
}

/// Scores every feature.
pub(crate) fn score(registry: &Registry, args: &ScoreArgs) -> Result<ExitCode, Failure> {
    let method = registry.find(&args.method)?;
    let parameters = Parameters::parse(method, &args.run.param)?;
    let built = method.build(&parameters)?;
    let Built::Scorer(scorer) = &built else {
        if method.kind == Kind::Score {
            return Err(Failure::new(format!(
                "{} selects with these parameters, and scores without them: use `fewest select`, or leave out \
                 --param {}",
                method.id,
                args.run.param.join(" --param ")
            )));
        }
        let scores: Vec<&str> = registry
            .methods()
            .iter()
            .filter(|method| method.kind == Kind::Score)
            .map(|method| method.id)
            .collect();
        return Err(Failure::new(format!(
            "{} selects features together and gives no score for each: use `fewest select`, or one of \
             the scores {}",
            method.id,
            scores.join(", ")
        )));
    };
    let json_file = args.run.json.as_deref().filter(|path| !is_stdout(path));
    output::check(&args.data.read.file, &[("--json", json_file), ("--report", args.report.as_deref())])?;

    let user = input::User::method(method);
    let needs =
        input::Needs { target: user.supervised, digest: args.report.is_some(), weights: None, groups: None };
    let threads = runner::Threads::start(&args.run)?;
    let memory = args.memory.memory;
    let options = ReadOptions { memory, ..input::table_options(registry, &args.data, needs)? };
    let whole_table = [("--report", args.report.is_some())];
    let road = passes::road(registry, (method, &built), &args.data, options, &whole_table)?;
    let (complete, info, scores, seconds) = match road {
        passes::Road::InPasses(road) => score_in_passes(args, (method, &**scorer), user, &threads, road)?,
        passes::Road::AtOnce(options) => {
            let found = threads.install(|| input::read_by(&args.data, &options))?;
            let (complete, info) = input::complete(found, &args.data, user)?;
            let (scores, seconds) = runner::run(&threads, &args.run, |context| {
                scorer
                    .score(&complete.dataset, context)
                    .map_err(|error| Failure::in_file(&args.data.read.file, &error))
            })?;
            (complete, info, scores, seconds)
        }
    };
    let run = RunInfo { method: method.clone(), parameters, seed: args.run.seed, data: info, seconds };
    let json = args.run.json.as_ref().map(|_| json::scores(&scores, args.top, &run)).transpose();
    let json = json.map_err(|error| Failure::in_study(&args.data.read.file, &error))?;
    // A failure costs one output, not the others.
    let mut written = Ok(());
    if let Some(path) = &args.report {
        let mut listed = scores.best(args.top);
        listed.notes.extend(run.data.notes.iter().cloned());
        let file = &args.data.read.file;
        let report =
            fewest_report::selection("Feature scores", &listed, &run, &complete.dataset, &super::origin())
                .map_err(|error| Failure::in_file(file, &error))?;
        written = output::write("--report", path, report.as_bytes());
    }
    if args.top.is_none()
        && scores.values.len() > MANY
        && args.run.json.as_deref().is_none_or(|path| !is_stdout(path))
    {
        let lines = text::count(scores.values.len());
        output::complain(&format!("{lines} lines, one for each feature: --top 20 lists the best alone"));
    }
    super::tell(args.run.json.as_deref(), json, &table::scores(&scores, args.top, &run), written)?;
    Ok(super::exit_code(scores.status))
}
