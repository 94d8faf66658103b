//! `fewest score`.

use std::process::ExitCode;

use fewest::registry::{Built, Kind, Parameters, Registry};
use fewest_study::{RunInfo, json};

use super::is_stdout;
use crate::args::ScoreArgs;
use crate::failure::Failure;
use crate::{input, output, runner, table};

/// Scores every feature.
pub(crate) fn score(registry: &Registry, args: &ScoreArgs) -> Result<ExitCode, Failure> {
    let method = registry.find(&args.method)?;
    let parameters = Parameters::parse(method, &args.run.param)?;
    let Built::Scorer(scorer) = method.build(&parameters)? else {
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
    output::check(&args.data.file, &[("--json", json_file)])?;

    let user = input::User::method(method);
    let found = input::read(registry, &args.data, user.supervised)?;
    let (complete, info) = input::complete(found, &args.data, user)?;
    let (scores, seconds) = runner::run(&args.run, |context| {
        scorer.score(&complete.dataset, context).map_err(|error| Failure::in_file(&args.data.file, &error))
    })?;
    let run = RunInfo { method: method.clone(), parameters, seed: args.run.seed, data: info, seconds };
    let json = args.run.json.as_ref().map(|_| json::scores(&scores, &run)).transpose();
    let json = json.map_err(|error| Failure::in_study(&args.data.file, &error))?;
    super::tell(args.run.json.as_deref(), json, &table::scores(&scores, &run))?;
    Ok(ExitCode::SUCCESS)
}
