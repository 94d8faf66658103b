//! Help texts that list the learners, metrics and formats of the registry.

use clap::{Arg, CommandFactory};
use fewest::registry::{Family, Registry, TargetKind};

use super::Cli;
use crate::cluster;

/// The command line arguments; their help lists the entries of `registry`.
pub(crate) fn command(registry: &Registry) -> clap::Command {
    let learners = by_target(registry.learners().iter().map(|entry| {
        let short = entry.short.map_or(String::new(), |short| format!(" ({short})"));
        (format!("{}{short}", entry.id), entry.targets)
    }));
    let metrics = by_target(registry.metrics().iter().map(|entry| (entry.id.to_owned(), entry.targets)));
    let smaller = registry.metrics().iter().filter(|entry| !entry.build().greater_is_better());
    let smaller: Vec<&str> = smaller.map(|entry| entry.id).collect();
    let metrics = format!("{metrics}; smaller is better: {}", smaller.join(", "));
    let parameters: Vec<String> = registry
        .learners()
        .iter()
        .filter_map(|entry| {
            let names: Vec<&str> = entry.parameters().iter().map(|parameter| parameter.name).collect();
            (!names.is_empty()).then(|| format!("{}: {}", entry.id, names.join(", ")))
        })
        .collect();
    let parameters = parameters.join("; ");
    let formats: Vec<&str> = registry.formats().iter().map(|format| format.name()).collect();
    let formats = formats.join(", ");
    let mut command = Cli::command();
    for name in ["evaluate", "compare"] {
        command = command.mut_subcommand(name, |subcommand| {
            subcommand
                .mut_arg("learner", |arg| with(arg, &learners))
                .mut_arg("learner_param", |arg| with(arg, &parameters))
                .mut_arg("metric", |arg| with(arg, &metrics))
        });
    }
    let families: Vec<&str> = Family::ALL.iter().map(|family| family.id).collect();
    let families = families.join(", ");
    command = command
        .mut_subcommand("methods", |subcommand| subcommand.mut_arg("family", |arg| with(arg, &families)));
    for name in ["select", "score", "evaluate", "compare", "stream", "apply", "info"] {
        command = command
            .mut_subcommand(name, |subcommand| subcommand.mut_arg("format", |arg| with(arg, &formats)));
    }
    for name in ["select", "score"] {
        // Calls with this option are handed over before they are parsed.
        let cluster =
            Arg::new(cluster::OPTION).long(cluster::OPTION).value_name("HOST:PORT").help_heading("Run").help(
                format!(
                    "Compute on a cluster, by the program `fewest-cluster`: other options are those of \
                 `fewest-cluster {name} --help`"
                ),
            );
        command = command.mut_subcommand(name, |subcommand| subcommand.arg(cluster));
    }
    command = command.subcommand(
        clap::Command::new("cluster")
            .about("Start the scheduler or the executors of a cluster, by the program `fewest-cluster`")
            .after_help("`fewest cluster --help` shows its help.")
            .override_usage("fewest cluster scheduler|executor|local …"),
    );
    command.mut_subcommand("stream", |subcommand| {
        // A stream is text, and never in memory as a whole: said to those who give them.
        ["format", "x_variable", "first_index", "allow_large"]
            .into_iter()
            .fold(subcommand, |subcommand, name| subcommand.mut_arg(name, |arg| arg.hide(true)))
            .mut_arg("file", |arg| arg.help("CSV or TSV (also .gz), read line by line; `-` reads stdin"))
            .mut_arg("target", |arg| arg.long_help(STREAM_TARGET))
    })
}

/// The target of a stream, which has no format with a target of its own.
const STREAM_TARGET: &str = "Target column: a name, a number from 0, or `last`; several columns, separated by commas, \
                             are real outputs\n\nDefault: the column named target, label, class or y, else the last \
                             column; with --features-in-rows the first line of values. The output says which column \
                             is used.";

/// Adds `more` to the first line of the argument's help.
fn with(arg: Arg, more: &str) -> Arg {
    let [short, long] = [arg.get_help(), arg.get_long_help()].map(|help| help.map(ToString::to_string));
    let short = short.unwrap_or_default();
    let line = format!("{short}: {more}");
    let long = long.map(|long| long.replacen(&short, &line, 1));
    let arg = arg.help(line);
    match long {
        Some(long) => arg.long_help(long),
        None => arg,
    }
}

/// `a, b for classes; c for numbers; d for both; e for survival times`.
fn by_target(entries: impl Iterator<Item = (String, &'static [TargetKind])>) -> String {
    let kinds = ["classes", "numbers", "both", "survival times"];
    let mut groups = kinds.map(|kind| (kind, Vec::new()));
    for (id, targets) in entries {
        let classes = targets.contains(&TargetKind::Classes);
        let numbers = targets.contains(&TargetKind::Real) || targets.contains(&TargetKind::Outputs);
        let kind = match (classes, numbers) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) => 3,
        };
        groups[kind].1.push(id);
    }
    let parts = groups.iter().filter(|(_, ids)| !ids.is_empty());
    parts.map(|(what, ids)| format!("{} for {what}", ids.join(", "))).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_what_the_registry_has() {
        let registry = Registry::standard();
        let mut command = command(registry);
        let Some(evaluate) = command.find_subcommand_mut("evaluate") else { panic!("there is `evaluate`") };
        for help in [evaluate.render_help(), evaluate.render_long_help()].map(|help| help.to_string()) {
            // Lines are wrapped anywhere.
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(help.contains("nearest-neighbours (knn) for both"), "{help}");
            assert!(help.contains("decision-tree: max_depth, min_leaf;"), "{help}");
            assert!(registry.metrics().iter().all(|entry| help.contains(entry.id)), "{help}");
            assert!(help.contains("smaller is better: log-loss, mse, rmse, mae, q2"), "{help}");
            assert!(registry.formats().iter().all(|format| help.contains(format.name())), "{help}");
        }
    }
}
