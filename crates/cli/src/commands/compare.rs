//! `fewest compare`.

use std::process::ExitCode;

use fewest::registry::{Method, Parameters, Registry, nearest};
use fewest_study::{Candidate, json};

use super::evaluate::{tell, work};
use super::{check_groups, links, terms};
use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::table;

/// Evaluates methods on the same folds and tests their differences.
pub(crate) fn compare(registry: &Registry, args: &CompareArgs) -> Result<ExitCode, Failure> {
    let candidates = candidates(registry, &args.methods, &args.run.param)?;
    let chosen: Vec<_> = candidates.iter().map(|(method, parameters)| (*method, parameters)).collect();
    check_groups(registry, &args.evaluation.grouping, &chosen)?;
    terms::check(registry, &args.evaluation.terms.options(), &chosen)?;
    links::check(registry, &args.evaluation.network, &chosen)?;
    let typed = args.methods.iter().zip(&candidates);
    let notes: Vec<String> = typed
        .filter_map(|(typed, (method, parameters))| super::kernel_note(typed, method, parameters))
        .collect();
    let candidates = candidates
        .into_iter()
        .map(|(method, parameters)| Candidate::new(method, parameters))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::in_study(&args.data.read.file, &error))?;
    let mut report = work(registry, &args.data, &args.run, &args.evaluation, candidates)?;
    report.notes.extend(notes);
    let json = args.run.json.as_ref().map(|_| json::comparison(&report)).transpose();
    let json = json.map_err(|error| Failure::in_study(&args.data.read.file, &error))?;
    let table = table::evaluation::comparison(&report);
    tell(&args.run, &args.evaluation, &report, &table, json)
}

/// The methods, each with its own assignments of `ID.NAME=VALUE`.
fn candidates<'a>(
    registry: &'a Registry,
    ids: &[String],
    assignments: &[String],
) -> Result<Vec<(&'a Method, Parameters)>, Failure> {
    let methods: Vec<&Method> = ids.iter().map(|id| registry.find(id)).collect::<Result<_, _>>()?;
    for (at, method) in methods.iter().enumerate() {
        if methods[..at].iter().any(|other| other.id == method.id) {
            return Err(Failure::new(format!("--methods: {} is listed twice: list it once", method.id)));
        }
    }
    if methods.len() < 2 {
        return Err(Failure::new(
            "--methods: give at least two to compare, or use `fewest evaluate` for one",
        ));
    }
    let mut parameters: Vec<Vec<&str>> = vec![Vec::new(); methods.len()];
    for assignment in assignments {
        let target = assignment.split_once('.').filter(|(id, _)| !id.contains('='));
        let Some((id, rest)) = target else {
            return Err(Failure::new(format!(
                "--param {assignment}: name the method: ID.NAME=VALUE, such as {}.{assignment}",
                methods.first().map_or("", |method| method.id)
            )));
        };
        let Some(at) =
            registry.find(id).ok().and_then(|named| methods.iter().position(|method| method.id == named.id))
        else {
            let hint = match nearest(id, ids).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it is none of --methods {}", ids.join(",")),
            };
            return Err(Failure::new(format!("--param {assignment}: `{id}` is not compared: {hint}")));
        };
        parameters[at].push(rest);
    }
    methods
        .into_iter()
        .zip(parameters)
        .map(|(method, parameters)| Ok((method, Parameters::parse(method, &parameters)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ids: &[&str], assignments: &[&str]) -> Result<Vec<Parameters>, Failure> {
        let registry = Registry::standard();
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let found = candidates(registry, &owned(ids), &owned(assignments))?;
        Ok(found.into_iter().map(|(_, parameters)| parameters).collect())
    }

    #[test]
    fn parameters_find_their_methods() -> Result<(), Failure> {
        let both = of(&["hsic", "nocco"], &["nocco.epsilon=0.5", "hsic.sigma_x=2.5"])?;
        assert_eq!(both[0].real("sigma_x"), Ok(2.5));
        assert_eq!(both[1].real("epsilon"), Ok(0.5));
        assert_eq!(both[1].real("sigma_x"), Ok(1.0));
        Ok(())
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let told = |ids: &[&str], assignments: &[&str]| match of(ids, assignments) {
            Ok(_) => String::new(),
            Err(failure) => failure.to_string(),
        };
        assert!(told(&["hsic"], &[]).contains("at least two"));
        assert!(told(&["hsic", "nocco", "hsic"], &[]).contains("hsic is listed twice"));
        assert!(told(&["hsic", "nocco"], &["sigma_x=2.5"]).contains("hsic.sigma_x=2.5"));
        assert!(told(&["hsic", "nocco"], &["noco.epsilon=1"]).contains("did you mean `nocco`?"));
        assert!(told(&["hsic", "nocco"], &["mrmr.form=quotient"]).contains("none of --methods"));
        assert!(told(&["hsic", "nocco"], &["nocco.epsilon=0"]).contains("`epsilon` is 0"));
    }
}
