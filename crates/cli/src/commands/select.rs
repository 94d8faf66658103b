//! `fewest select`.

use std::path::Path;
use std::process::ExitCode;

use fewest::core::{Budget, Error, Selection};
use fewest::data::{Complete, Format, ReadOptions, Reduction};
use fewest::registry::{Built, Method, Parameters, Registry};
use fewest_study::{DataInfo, RunInfo, json};

use super::{check_groups, is_stdout, links, passes, terms};
use crate::args::{KArg, SelectArgs};
use crate::failure::Failure;
use crate::{input, output, runner, table};

/// Selects, and writes the result in every requested form.
pub(crate) fn select(registry: &Registry, args: &SelectArgs) -> Result<ExitCode, Failure> {
    let method = registry.find(&args.method)?;
    let mut parameters = Parameters::parse(method, &args.run.param)?;
    check_uses(registry, args, method, &parameters)?;
    let json_file = args.run.json.as_deref().filter(|path| !is_stdout(path));
    output::check(
        &args.data.read.file,
        &[
            ("--json", json_file),
            ("--write-reduced", args.write_reduced.as_deref()),
            ("--report", args.report.as_deref()),
        ],
    )?;
    if let Some(path) = &args.write_reduced {
        reduced_format(registry, path)?;
    }

    let user = input::User::method(method);
    let needs = input::Needs {
        target: user.supervised,
        digest: args.report.is_some(),
        weights: args.weights.as_deref(),
        groups: None,
    };
    let threads = runner::Threads::start(&args.run)?;
    let memory = args.memory.memory;
    let options = ReadOptions { memory, ..input::table_options(registry, &args.data, needs)? };
    let built = with_some_features(args, method, &parameters)?;
    let road = passes::road(registry, (method, &built), &args.data, options, &whole_table(args))?;
    let options = match road {
        passes::Road::AtOnce(options) => options,
        passes::Road::InPasses(road) => {
            return select_in_passes(registry, args, (method, parameters), user, &threads, road);
        }
    };
    let found = threads.install(|| input::read_by(&args.data, &options))?;
    let network = input::Network::read(&found, &args.network)?;
    let (mut complete, mut info) = input::complete(found, &args.data, user)?;
    info.samples = input::sample_info(args.weights.as_deref(), &args.network);
    complete.dataset = input::with_groups(complete.dataset, &args.grouping, &info)?;
    complete.dataset = network.of(complete.dataset, &complete.dropped)?;
    let data = &complete.dataset;
    set_named_features(args, &info, &mut parameters)?;
    let bounded = super::bounded::selector(&args.bounds, method, &parameters, data)?;
    let (selector, budget) = match bounded {
        Some(bounded) => (bounded, Budget::Auto),
        None => {
            let selectable = terms::selectable(&parameters, info.n_features);
            let budget = budget(args.k, &parameters, selectable);
            terms::check_budget(budget, selectable, info.n_features)?;
            (method.build(&parameters)?.into_selector(), budget)
        }
    };
    let (mut selection, seconds) = runner::run(&threads, &args.run, |context| {
        selector.select(data, budget, context).map_err(|error| match (&error, budget) {
            (Error::InvalidParameter { name: "k", .. }, Budget::Auto) => {
                Failure::no_number(method.id, &method.deciding_parameters())
            }
            _ => Failure::in_file(&args.data.read.file, &error),
        })
    })?;

    selection.notes.splice(0..0, info.notes.iter().cloned());
    selection.notes.extend(super::kernel_note(&args.method, method, &parameters));
    selection.notes.extend(terms::notes(&parameters, &info));
    selection.notes.extend(fewest_study::rounds_note(method, &selection));
    let run = RunInfo { method: method.clone(), parameters, seed: args.run.seed, data: info, seconds };
    let write = |format: Format, path: &Path| {
        let written = format.write(path, &complete.dataset, &selection.order, &run.data.targets);
        written.map_err(|error| not_written(&error))
    };
    tell(registry, args, &complete, &selection, &run, write)?;
    Ok(super::exit_code(selection.status))
}

/// Selects from a table whose rows are read in passes.
fn select_in_passes(
    registry: &Registry,
    args: &SelectArgs,
    (method, mut parameters): (&Method, Parameters),
    user: input::User,
    threads: &runner::Threads,
    road: passes::InPasses,
) -> Result<ExitCode, Failure> {
    let mut opened = threads.install(|| road.open(&args.data, user))?;
    set_named_features(args, &opened.info, &mut parameters)?;
    let selectable = terms::selectable(&parameters, opened.info.n_features);
    let budget = budget(args.k, &parameters, selectable);
    terms::check_budget(budget, selectable, opened.info.n_features)?;
    let selector = method.build(&parameters)?.into_selector();
    let (mut selection, seconds) = runner::run(threads, &args.run, |context| {
        let context = opened.context(context);
        let rows = &mut opened.rows;
        let selected = selector.in_passes().map(|selector| selector.select_stream(rows, budget, &context));
        let selected = selected.unwrap_or_else(|| Err(passes::not_in_passes(method)));
        selected.map_err(|error| passes::failure(rows, &args.data, &error))
    })?;
    let (mut rows, complete, info) = opened.finish();
    selection.notes.splice(0..0, info.notes.iter().cloned());
    selection.notes.extend(super::kernel_note(&args.method, method, &parameters));
    selection.notes.extend(terms::notes(&parameters, &info));
    selection.notes.extend(fewest_study::rounds_note(method, &selection));
    let run = RunInfo { method: method.clone(), parameters, seed: args.run.seed, data: info, seconds };
    let write =
        |format: Format, path: &Path| passes::write(&mut rows, threads, args, (format, path), &selection);
    tell(registry, args, &complete, &selection, &run, write)?;
    Ok(super::exit_code(selection.status))
}

/// Options that need the whole table, and whether they are given.
fn whole_table(args: &SelectArgs) -> [(&'static str, bool); 5] {
    [
        ("--report", args.report.is_some()),
        ("--weights", args.weights.is_some()),
        ("--groups", args.grouping.groups.is_some()),
        ("--fdr", args.bounds.fdr.is_some()),
        ("--per-family-error", args.bounds.per_family_error.is_some()),
    ]
}

/// Options that name features, with the parameter that each sets.
fn named_features(args: &SelectArgs) -> [(&'static str, &'static str, &[String]); 3] {
    let [covariates, offset] = args.terms.options();
    [("--force-in", "forced", &args.force_in), covariates, offset]
}

/// The method with some feature for each option that names features, whose numbers the table is asked for
/// later: enough to know whether it reads rows in passes.
fn with_some_features(args: &SelectArgs, method: &Method, parameters: &Parameters) -> Result<Built, Failure> {
    let mut parameters = parameters.clone();
    let named = named_features(args).into_iter().filter(|(_, _, names)| !names.is_empty());
    for (feature, (_, parameter, _)) in named.enumerate() {
        parameters.set(parameter, &feature.to_string())?;
    }
    Ok(method.build(&parameters)?)
}

/// Sets the parameters that are features, by the names that the table has for them.
fn set_named_features(
    args: &SelectArgs,
    info: &DataInfo,
    parameters: &mut Parameters,
) -> Result<(), Failure> {
    for (parameter, indices) in terms::found(&named_features(args), info)? {
        let indices: Vec<String> = indices.iter().map(usize::to_string).collect();
        parameters.set(parameter, &indices.join(","))?;
    }
    Ok(())
}

/// Refuses options that the method does not use, a number that scores alone do not decide, and a missing
/// table of groups.
fn check_uses(
    registry: &Registry,
    args: &SelectArgs,
    method: &Method,
    parameters: &Parameters,
) -> Result<(), Failure> {
    terms::check(registry, &named_features(args), &[(method, parameters)])?;
    if args.k == Some(KArg::Auto) && matches!(method.build(parameters)?, Built::Scorer(_)) {
        return Err(Failure::no_number(method.id, &method.deciding_parameters()));
    }
    links::check(registry, &args.network, &[(method, parameters)])?;
    check_groups(registry, &args.grouping, &[(method, parameters)])
}

/// How many features: given by the arguments, or decided by a given penalty, or the default.
fn budget(k: Option<KArg>, parameters: &Parameters, n_features: usize) -> Budget {
    match k {
        Some(KArg::Count(k)) => Budget::Count(k),
        Some(KArg::Auto) => Budget::Auto,
        None => fewest_study::usual_budget(parameters, n_features),
    }
}

/// The format of a reduced table: with the extension of another one it would be read back wrongly.
pub(super) fn reduced_format(registry: &Registry, path: &Path) -> Result<Format, Failure> {
    registry.formats().to_write(path).map_err(|error| not_written(&error))
}

/// The failure of a reduced table.
pub(super) fn not_written(error: &fewest::data::Error) -> Failure {
    Failure::new(format!("--write-reduced: {error}"))
}

/// Writes the answer in every requested form, with `write` for the reduced table.
fn tell(
    registry: &Registry,
    args: &SelectArgs,
    complete: &Complete,
    selection: &Selection,
    run: &RunInfo,
    write: impl FnOnce(Format, &Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // Everything that can fail happens before the first file is written.
    let file = &args.data.read.file;
    let json = args.run.json.as_ref().map(|_| {
        let reduction = Reduction::of(complete, args.data.missing, &selection.order)
            .map_err(|error| Failure::new(error.to_string()))?;
        json::selection(selection, Some(&reduction), run).map_err(|error| Failure::in_study(file, &error))
    });
    let json = json.transpose()?;
    let report = args.report.as_ref().map(|path| {
        let origin = super::origin();
        fewest_report::selection("Feature selection", selection, run, &complete.dataset, &origin)
            .map(|report| (path, report))
    });
    let report = report.transpose().map_err(|error| Failure::in_file(file, &error))?;
    // A failure costs one output, not the others.
    let reduced =
        args.write_reduced.as_ref().map_or(Ok(()), |path| write(reduced_format(registry, path)?, path));
    let report = report.map_or(Ok(()), |(path, report)| output::write("--report", path, report.as_bytes()));
    super::tell(args.run.json.as_deref(), json, &table::selection(selection, run), reduced.and(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_features_has_a_default_unless_a_penalty_decides() -> Result<(), fewest::core::Error> {
        let registry = Registry::standard();
        let method = registry.find("hsic-lasso")?;
        let plain = Parameters::defaults(method);
        let penalty = Parameters::parse(method, &["lambda_ratio=0.1"])?;
        assert_eq!(budget(None, &plain, 30), Budget::Count(10));
        assert_eq!(budget(None, &plain, 4), Budget::Count(4));
        assert_eq!(budget(None, &penalty, 30), Budget::Auto);
        assert_eq!(budget(Some(KArg::Count(3)), &penalty, 30), Budget::Count(3));
        assert_eq!(budget(Some(KArg::Auto), &plain, 30), Budget::Auto);
        Ok(())
    }

    #[test]
    fn a_reduced_table_is_csv_by_name() {
        let registry = Registry::standard();
        for name in ["a.csv", "a", "a.CSV", "a.out"] {
            assert!(
                reduced_format(registry, Path::new(name)).is_ok_and(|format| format.name() == "csv"),
                "{name}"
            );
        }
        for name in ["a.TSV", "a.csv.gz", "a.mat", "a.xlsx", "a.parquet"] {
            assert!(reduced_format(registry, Path::new(name)).is_err(), "{name}");
        }
    }
}
