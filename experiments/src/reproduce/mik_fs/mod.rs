//! Xue, Song and Xu, *Multiple indefinite kernel learning for feature selection*, IJCAI 2017.

mod chosen;
mod contenders;
mod convergence;
mod curves;
mod kernel;
mod linear;
mod printed;
mod table;

use clap::Args;
use fewest::core::{Dataset, Target};
use fewest::eval::HoldOut;

use self::contenders::{CONTENDERS, Contender};
use self::curves::Version;
use super::experiments::Protocol;
use crate::Result;

/// What to recompute.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["figure", "table"]))]
pub(super) struct Arguments {
    /// Figures: 1 accuracy by number of features, all methods at their defaults, 1-tuned the same with
    /// parameters chosen, 2 convergence, which comes from the runs of the table.
    #[arg(long, value_parser = ["1", "1-tuned", "2"])]
    figure: Vec<String>,
    /// The table: 2, accuracy and number of features.
    #[arg(long, value_parser = ["2"])]
    table: Vec<String>,
    /// Data sets, by the paper's names; without, all that are there.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    protocol: Protocol,
}

/// Recomputes it; writes to the folder `mik-fs`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let protocol = &arguments.protocol;
    let asked = |figure: &str| arguments.figure.iter().any(|asked| asked == figure);
    protocol.with_threads(|| {
        let problems = problems(protocol, &arguments.only)?;
        let with_table = !arguments.table.is_empty();
        if with_table || asked("2") {
            // The figure is about MIK-FS alone.
            let is_wanted = |contender: &&Contender| with_table || contender.descends;
            let wanted: Vec<&Contender> = CONTENDERS.iter().filter(is_wanted).collect();
            let cells = table::cells(protocol, &problems, &wanted)?;
            if with_table {
                table::write_table(protocol, &problems, &cells)?;
            }
            if asked("2") {
                convergence::write_figure(protocol, &problems, &cells)?;
            }
        }
        for (figure, version) in [("1", Version::Defaults), ("1-tuned", Version::Tuned)] {
            if asked(figure) {
                curves::write_figure(protocol, &problems, version)?;
            }
        }
        Ok(())
    })
}

/// Where the documents lie.
const FOLDER: &str = "mik-fs";

const REFERENCE: &str =
    "Xue, Song and Xu, *Multiple indefinite kernel learning for feature selection*, IJCAI 2017";

/// A data set of the paper that is there.
struct Problem {
    printed: &'static printed::Printed,
    data: Dataset,
}

fn problems(protocol: &Protocol, only: &[String]) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let is_asked = |name: &str| only.is_empty() || only.iter().any(|asked| asked.eq_ignore_ascii_case(name));
    for printed in printed::TABLE_2.iter().filter(|printed| is_asked(printed.name)) {
        if let Some(data) = protocol.read(printed.name, printed.file)? {
            problems.push(Problem { printed, data: first_two_classes(&data)? });
        }
    }
    if problems.is_empty() { Err("none of the data sets is there".into()) } else { Ok(problems) }
}

/// The samples of the first two classes, as Section 5.1 takes of data sets with more.
fn first_two_classes(data: &Dataset) -> Result<Dataset> {
    let Target::Class(classes) = data.target() else { return Err("the target is not classes".into()) };
    let codes = classes.codes();
    let rows: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] < 2).collect();
    let labels: Vec<u32> = rows.iter().map(|&row| codes[row]).collect();
    Ok(Dataset::shared(data.subset(&rows)?.shared_x(), Target::from_labels(&labels))?)
}

/// Half of the samples of each class train, the others test.
fn halves(protocol: &Protocol) -> HoldOut {
    HoldOut { test_fraction: 0.5, repeats: protocol.runs as usize, stratified: true }
}

/// Writes the raw rows and the summary, both with the command, the machine, the date and the seed.
fn finish(
    protocol: &Protocol,
    name: &str,
    what: &str,
    header: &[&str],
    rows: &[Vec<String>],
    text: &str,
) -> Result<()> {
    let mut documents = protocol.documents(FOLDER);
    let Protocol { runs, seed, .. } = protocol;
    let command = format!("cargo xtask reproduce mik-fs {what} --runs {runs} --seed {seed}");
    documents.facts.push(("command", command));
    documents.csv(name, header, rows)?;
    documents.page(name, text)
}
