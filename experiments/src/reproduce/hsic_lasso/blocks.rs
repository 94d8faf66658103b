//! Runs in blocks: all methods have equally many of a data set when time is up.

use std::collections::BTreeMap;
use std::fmt::Write;

use fewest::core::Dataset;

use super::Work;
use super::curves::datasets;
use crate::Result;
use crate::reproduce::experiments::{Method, Part, Row, Setting};

/// Runs of a block. Every data set gets one before any gets another.
const BLOCK: usize = 10;

/// The finished runs of every method on every data set, in their order. Data sets that come first get their
/// runs first.
pub(super) fn run(
    work: &Work<'_>,
    setting: &Setting<'_>,
    data: &[(&'static str, Dataset)],
    methods: &[Method],
) -> Result<Vec<Row>> {
    let mut cells: BTreeMap<(usize, usize), Vec<Row>> = BTreeMap::new();
    for (at, runs) in blocks(data.len(), work.protocol.runs as usize) {
        let (name, data) = &data[at];
        for (index, method) in methods.iter().enumerate() {
            let resume = work.protocol.resume || cells.contains_key(&(at, index));
            let part = Part { runs, resume, deadline: work.deadline };
            let rows = work.protocol.run_part(setting, name, data, method, &part)?;
            cells.insert((at, index), rows);
        }
    }
    Ok(cells.into_values().flatten().collect())
}

/// Which data set gets how many runs, one after the other.
fn blocks(n_data: usize, runs: usize) -> Vec<(usize, usize)> {
    let first = BLOCK.min(runs);
    let more = (1..).map(|block| (first + block * BLOCK).min(runs));
    let mut blocks: Vec<(usize, usize)> = (0..n_data).map(|at| (at, first)).collect();
    for at in 0..n_data {
        blocks.extend(more.clone().take((runs - first).div_ceil(BLOCK)).map(|runs| (at, runs)));
    }
    blocks
}

/// How many runs the cells of `methods` have, of `wanted`; if not all, how to go on, by the figure or table
/// `what`.
pub(super) fn runs_of(rows: &[Row], methods: &[Method], wanted: u64, what: &str) -> String {
    let largest = rows.iter().map(|row| row.k).max().unwrap_or(0);
    let cells = datasets(rows).into_iter().flat_map(|dataset| methods.iter().map(move |m| (dataset, m.name)));
    let count = |cell: (&str, &str)| {
        rows.iter().filter(|row| row.k == largest && (row.dataset, row.method) == cell).count() as u64
    };
    let counts: Vec<((&str, &str), u64)> = cells.map(|cell| (cell, count(cell))).collect();
    if counts.iter().all(|(_, count)| *count == wanted) {
        return format!("Every cell is of {wanted} runs.\n");
    }
    let mut text = format!(
        "Not every cell has its {wanted} runs yet: `cargo xtask reproduce hsic-lasso {what} --runs {wanted} \
         --resume` goes on. The differences below are over the runs that both methods have; means of cells \
         with other numbers of runs are not of the same samples. There are\n\n"
    );
    for cells in counts.chunk_by(|a, b| a.0.0 == b.0.0) {
        let dataset = cells[0].0.0;
        let (least, most) =
            cells.iter().fold((u64::MAX, 0), |(low, high), (_, count)| (low.min(*count), high.max(*count)));
        if least == most {
            let _ = writeln!(text, "- {dataset}: {least} runs of every method;");
        } else {
            let of = |((_, method), count): &((&str, &str), u64)| format!("{method} {count}");
            let each: Vec<String> = cells.iter().map(of).collect();
            let _ = writeln!(text, "- {dataset}: {};", each.join(", "));
        }
    }
    text.truncate(text.trim_end_matches([';', '\n']).len());
    text.push_str(".\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::hsic_lasso::curves::tests::row;

    #[test]
    fn every_data_set_gets_a_block_before_any_gets_its_second() {
        let expected = [(0, 10), (1, 10), (0, 20), (0, 25), (1, 20), (1, 25)];
        assert_eq!(blocks(2, 25), expected);
        assert_eq!(blocks(2, 10), [(0, 10), (1, 10)]);
        assert_eq!(blocks(1, 3), [(0, 3)]);
    }

    #[test]
    fn cells_with_fewer_runs_are_told() {
        let rows = [
            row("AR10P", "a", 0, 0.1),
            row("AR10P", "a", 1, 0.2),
            row("AR10P", "b", 0, 0.3),
            row("AR10P", "b", 1, 0.3),
        ];
        let methods = ["a", "b"].map(|name| Method { name, id: "", parameters: &[] });
        assert_eq!(runs_of(&rows, &methods, 2, "--table 3"), "Every cell is of 2 runs.\n");
        let mut more = rows.to_vec();
        more.extend([row("TOX", "b", 0, 0.1), row("TOX", "b", 1, 0.1)]);
        let text = runs_of(&more, &methods, 2, "--table 3");
        assert!(text.contains("hsic-lasso --table 3 --runs 2 --resume` goes on"), "{text}");
        assert!(text.ends_with("- AR10P: 2 runs of every method;\n- TOX: a 0, b 2.\n"), "{text}");
    }
}
