//! Table 2: accuracy and number of features.

use std::fmt::Write;
use std::time::Instant;

use fewest::core::{Context, derive_seed};
use fewest::eval::Splitter;
use fewest::eval::significance::{paired_differences, paired_t_test};
use rayon::prelude::*;

use super::contenders::{
    ALTERNATIONS, CONTENDERS, Contender, FEW_ALTERNATIONS, FOLDS, LEAST_L1, MIK_FS, Outcome, RATIOS,
};
use super::{Problem, REFERENCE, finish, halves, printed};
use crate::Result;
use crate::output::mean_and_error;
use crate::reproduce::experiments::Protocol;

/// All runs of a method on a data set.
pub(super) struct Cell {
    /// The data set.
    pub dataset: &'static str,
    /// The method.
    pub method: &'static str,
    /// The results, by run.
    pub outcomes: Vec<Outcome>,
}

/// The methods on all data sets.
pub(super) fn cells(
    protocol: &Protocol,
    problems: &[Problem],
    contenders: &[&Contender],
) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for problem in problems {
        for contender in contenders {
            let start = Instant::now();
            let key = ["mik-fs-table-2", problem.printed.name, contender.name].join("-");
            let found = protocol.kept(&key, |context| outcomes(protocol, problem, contender, context))?;
            let Some(outcomes) = found else {
                eprintln!("{}, {}: given up", problem.printed.name, contender.name);
                continue;
            };
            let (mean, error) = mean_and_error(&percents(&outcomes));
            eprintln!(
                "{}, {}: {mean:.2} ± {error:.2} with {:.0} features, {:.1} s",
                problem.printed.name,
                contender.name,
                mean_and_error(&sizes(&outcomes)).0,
                start.elapsed().as_secs_f64()
            );
            cells.push(Cell { dataset: problem.printed.name, method: contender.name, outcomes });
        }
    }
    Ok(cells)
}

fn outcomes(
    protocol: &Protocol,
    problem: &Problem,
    contender: &Contender,
    context: &Context<'_>,
) -> Result<Vec<Outcome>> {
    let splits = halves(protocol).splits(&problem.data, protocol.seed)?;
    let outcomes: Vec<std::result::Result<Outcome, _>> = splits
        .par_iter()
        .enumerate()
        .map(|(run, split)| {
            let (train, test) = (problem.data.subset(&split.train)?, problem.data.subset(&split.test)?);
            let seed = derive_seed(protocol.seed, run as u64);
            (contender.run)(&train, &test, &Context { seed, ..*context })
        })
        .collect();
    Ok(outcomes.into_iter().collect::<std::result::Result<_, _>>()?)
}

fn percents(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| 100.0 * outcome.accuracy).collect()
}

fn sizes(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.n_features as f64).collect()
}

/// Writes `table-2.md` and `table-2.csv`.
pub(super) fn write_table(protocol: &Protocol, problems: &[Problem], cells: &[Cell]) -> Result<()> {
    let names: Vec<&str> = CONTENDERS.iter().map(|contender| contender.name).collect();
    let mut text = format!(
        "# MIK-FS, Table 2: accuracy and number of features\n\n{REFERENCE}, Section 5.2. Every run is in \
         [table-2.csv](table-2.csv). Data sets whose file is not there, or that were not asked for, are left \
         out: {}.\n\nHalf of the samples of each class train, the others test, in {} runs; all methods see \
         the same halves. Parameters are chosen from 0.01, 0.1, 1, 10, 100 by the accuracy in {FOLDS} folds \
         of the training half, of equally good ones the largest penalty. For MIK-FS that is the product of \
         both penalties, all that counts of them, from 1e-4 to 1e4, each penalty starting where the one \
         above has ended, with {FEW_ALTERNATIONS} alternations at most, {ALTERNATIONS} for the model that \
         predicts; of the elastic net's pairs those with the l1 penalty at least {LEAST_L1} times the other. \
         Kernels: `tanh(a x x′)` and the Gaussian of width `sigma`, on standardised features, `a` and \
         `sigma` from the same five, of equally good ones the smoothest. RFMKL and GMKL: Gaussian kernels, \
         penalties of {} of that at which no feature is worth it, `sigma` from the five, `C` of 1, 10, 100. \
         IKPCA extracts, it does not select: a linear support vector machine on the first so many components \
         of `tanh(a xᵀx′/d)` over all `d` features, the number in brackets; `a`, that number and `C` are \
         chosen. What has selected also predicts.\n\nEach cell: our accuracy in percent ± its standard \
         error, the mean number of features in brackets; below, in italics, what the paper prints. `▾`: \
         MIK-FS is significantly better by a paired t-test at 0.05 over our runs, `▴`: significantly \
         worse.\n\n\
         | | {} |\n|---|{}\n",
        missing(problems),
        protocol.runs,
        RATIOS.map(|ratio| ratio.to_string()).join(", "),
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for problem in problems {
        let of = |method: &str| {
            cells.iter().find(|cell| cell.dataset == problem.printed.name && cell.method == method)
        };
        let _ = write!(text, "| {} |", problem.printed.name);
        for contender in CONTENDERS {
            let Some(cell) = of(contender.name) else {
                text.push_str(" given up after the time allowed |");
                continue;
            };
            let (mean, error) = mean_and_error(&percents(&cell.outcomes));
            let size = mean_and_error(&sizes(&cell.outcomes)).0;
            let mark = match of(MIK_FS) {
                Some(ours) if contender.name != MIK_FS => mark(&ours.outcomes, &cell.outcomes)?,
                _ => "",
            };
            let _ = write!(text, " {mean:.2} ± {error:.2} ({size:.0}){mark}");
            let at = printed::METHODS.iter().position(|name| Some(*name) == contender.printed);
            if let Some((accuracy, size)) = at.map(|at| problem.printed.cells[at]) {
                let _ = write!(text, "<br>*{accuracy:.2} ({size})*");
            }
            text.push_str(" |");
        }
        text.push('\n');
    }
    let rows: Vec<Vec<String>> = cells.iter().flat_map(rows).collect();
    let header = ["dataset", "method", "run", "accuracy", "n_features", "chosen"];
    finish(protocol, "table-2", "--table 2", &header, &rows, &text)
}

fn missing(problems: &[Problem]) -> String {
    let there = |name: &str| problems.iter().any(|problem| problem.printed.name == name);
    let names: Vec<&str> = printed::TABLE_2.iter().map(|row| row.name).filter(|name| !there(name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn mark(ours: &[Outcome], theirs: &[Outcome]) -> Result<&'static str> {
    let test = paired_t_test(&paired_differences(&percents(ours), &percents(theirs))?)?;
    Ok(match (test.p_value < 0.05, test.statistic > 0.0) {
        (false, _) => "",
        (true, true) => " ▾",
        (true, false) => " ▴",
    })
}

fn rows(cell: &Cell) -> Vec<Vec<String>> {
    let row = |(run, outcome): (usize, &Outcome)| {
        vec![
            cell.dataset.to_owned(),
            cell.method.to_owned(),
            run.to_string(),
            format!("{:.6}", outcome.accuracy),
            outcome.n_features.to_string(),
            outcome.chosen.clone(),
        ]
    };
    cell.outcomes.iter().enumerate().map(row).collect()
}
