//! The commands.

mod apply;
mod bounded;
mod compare;
mod evaluate;
mod info;
mod links;
mod methods;
pub(crate) mod passes;
mod score;
mod select;
mod stream;
mod terms;

pub(crate) use apply::apply;
pub(crate) use compare::compare;
pub(crate) use evaluate::evaluate;
pub(crate) use info::info;
pub(crate) use methods::methods;
pub(crate) use score::score;
pub(crate) use select::select;
pub(crate) use stream::stream;

use std::path::Path;
use std::process::ExitCode;

use fewest::core::Status;
use fewest::registry::{Method, Parameters, Registry};
use fewest_report::Origin;

use crate::args::GroupArgs;
use crate::failure::{Failure, STATUS_INTERRUPTED, STATUS_TIME_LIMIT};
use crate::output;

/// The exit status of a run with an answer.
fn exit_code(status: Status) -> ExitCode {
    match status {
        Status::Interrupted => ExitCode::from(STATUS_INTERRUPTED),
        Status::TimeLimit => ExitCode::from(STATUS_TIME_LIMIT),
        _ => ExitCode::SUCCESS,
    }
}

/// The command line with its arguments, quoted for a POSIX shell.
fn command_line() -> String {
    let quote = |word: String| {
        let plain = |c: char| c.is_alphanumeric() || "-_=./,:@%+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let words = std::env::args_os().skip(1).map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once("fewest".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// What a report tells of this command.
fn origin() -> Origin {
    Origin::new(command_line())
}

/// The refusal of an option that `method` does not use, with the methods that do.
fn useless(registry: &Registry, option: &str, method: &Method, has_use: impl Fn(&Method) -> bool) -> Failure {
    let others: Vec<&str> =
        registry.methods().iter().filter(|other| has_use(other)).map(|other| other.id).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        [other] => format!(", or use {other}"),
        others => format!(", or use one of {}", others.join(", ")),
    };
    Failure::new(format!("{option}: {} does not use it: leave it out{others}", method.id))
}

/// Refuses a table of groups or of links, and views, that no method uses, and the choice of these without
/// them.
fn check_groups(
    registry: &Registry,
    files: &GroupArgs,
    methods: &[(&Method, &Parameters)],
) -> Result<(), Failure> {
    check_graph(registry, files.feature_graph.as_deref(), methods)?;
    check_views(registry, &files.views.views, methods)?;
    let table = files.groups.as_deref();
    let by_groups =
        |method: &Method| Some((method.group_parameter()?.name, method.group_parameter()?.group_word?));
    let Some((method, _)) = methods.first() else { return Ok(()) };
    let asking = methods.iter().find(|(_, parameters)| parameters.selects_groups());
    match (table, asking) {
        (None, Some((method, _))) => {
            let (name, word) = by_groups(method).unwrap_or_default();
            let instead = instead(method, name, word);
            Err(Failure::new(format!(
                "--param {name}={word}: there are no groups: name a table of groups with --groups{instead}"
            )))
        }
        (Some(_), None) => match methods.iter().find_map(|(method, _)| Some((method, by_groups(method)?))) {
            Some((method, (name, word))) => Err(Failure::new(format!(
                "--groups: {} selects single features by default: add --param {name}={word}, or leave out --groups",
                method.id
            ))),
            None => Err(useless(registry, "--groups", method, |other| by_groups(other).is_some())),
        },
        _ => Ok(()),
    }
}

/// Refuses views that no method uses, and a method that needs views without any.
fn check_views(
    registry: &Registry,
    views: &[String],
    methods: &[(&Method, &Parameters)],
) -> Result<(), Failure> {
    let Some((method, _)) = methods.first() else { return Ok(()) };
    match methods.iter().find(|(method, _)| method.needs_views) {
        None if !views.is_empty() => Err(useless(registry, "--views", method, |other| other.needs_views)),
        Some((method, _)) if views.is_empty() => Err(Failure::new(format!(
            "{} needs to know which features come from which source: name a table of views with --views FILE.csv, or \
             give --views NAME=COLUMNS for each view",
            method.id
        ))),
        _ => Ok(()),
    }
}

/// What else a parameter may be than `word`, for messages.
fn instead(method: &Method, name: &str, word: &str) -> String {
    let parameters = method.parameters();
    let words = parameters.iter().find(|parameter| parameter.name == name).map(|found| found.range.words());
    let others = words.unwrap_or_default().iter().filter(|other| **other != word);
    others.map(|other| format!(", or use --param {name}={other}")).collect()
}

/// Refuses links between features that no method uses, and their choice without a table of them.
fn check_graph(
    registry: &Registry,
    table: Option<&Path>,
    methods: &[(&Method, &Parameters)],
) -> Result<(), Failure> {
    let takes = |method: &Method| {
        let mut parameters = method.parameters().into_iter();
        parameters.any(|parameter| parameter.name == "graph" && parameter.range.words().contains(&"given"))
    };
    let Some((method, _)) = methods.first() else { return Ok(()) };
    let is_asked = methods.iter().any(|(_, parameters)| parameters.word("graph") == Ok("given"));
    match (table, methods.iter().find(|(method, _)| takes(method))) {
        (None, Some((method, _))) if is_asked => Err(Failure::new(format!(
            "--param graph=given: there are no links between features: name a table of them with \
             --feature-graph{}",
            instead(method, "graph", "given")
        ))),
        (Some(_), None) => Err(useless(registry, "--feature-graph", method, takes)),
        (Some(_), Some((method, _))) if !is_asked => Err(Failure::new(format!(
            "--feature-graph: {} finds links by correlation by default: add --param graph=given, or leave out \
             --feature-graph",
            method.id
        ))),
        _ => Ok(()),
    }
}

/// A method that was called by another name has another kernel than the one known by that name.
fn kernel_note(typed: &str, method: &Method, parameters: &Parameters) -> Option<String> {
    let is_gaussian = parameters.word("kernel") == Ok("gaussian");
    let plain = typed.to_lowercase().replace(['_', ' '], "-");
    (plain != method.id && is_gaussian).then(|| {
        format!(
            "`{typed}` is {} here, with a Gaussian kernel; with a linear one, as elsewhere by default: --param \
             kernel=linear",
            method.id
        )
    })
}

/// Whether an output goes to stdout.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes the result: `json`, if requested, to `path` or to stdout, and the table unless JSON goes to stdout.
/// Returns the first failure, of outputs that were `written` before, too.
fn tell(
    path: Option<&Path>,
    json: Option<String>,
    table: &str,
    written: Result<(), Failure>,
) -> Result<(), Failure> {
    let (stored, shown) = match (path, json) {
        (Some(path), Some(json)) if is_stdout(path) => (Ok(()), json),
        (Some(path), Some(json)) => (output::write("--json", path, json.as_bytes()), table.to_owned()),
        _ => (Ok(()), table.to_owned()),
    };
    let printed = output::print(&shown);
    written.and(stored).and(printed)
}
