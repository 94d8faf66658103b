//! Runs of the published page: one that is written anew keeps those that are not finished again.

use std::collections::BTreeMap;

use super::{FOLDER, KS, Work};
use crate::output::Documents;
use crate::reproduce::experiments::{Method, Protocol, Row};
use crate::{Result, workspace};

/// What six digits leave open.
const DIGITS: f64 = 1e-6;

/// What is run: names of data sets and methods, in the order of the pages.
pub(super) struct Scope<'a> {
    /// The data sets.
    pub datasets: &'a [&'static str],
    /// The methods.
    pub methods: &'a [Method],
    /// The columns of the scores.
    pub metrics: &'a [&'static str],
}

/// The documents of `rows` in their order, with `{name}.csv` written. With `--resume` the runs in the
/// published file that are not among `rows` are added, and the documents say how many these are.
pub(super) fn documents(
    work: &Work<'_>,
    name: &str,
    rows: &mut Vec<Row>,
    scope: &Scope<'_>,
) -> Result<Documents> {
    let file = format!("{name}.csv");
    let path = workspace::root().join("docs/reproduction").join(FOLDER).join(file);
    let earlier = match work.protocol.resume && path.exists() {
        true => add(rows, &std::fs::read_to_string(path)?, scope, work.protocol)?,
        false => None,
    };
    rows.sort_by_key(|row| {
        let dataset = scope.datasets.iter().position(|name| *name == row.dataset);
        let method = scope.methods.iter().position(|method| method.name == row.method);
        (dataset, method, row.run, row.k)
    });
    let mut documents = work.protocol.documents_of(FOLDER, rows)?;
    documents.facts.extend(earlier.map(|earlier| ("earlier", earlier)));
    documents.rows(name, rows, scope.metrics)?;
    Ok(documents)
}

/// Runs of a cell by their number, each with a row for every number of features.
type Runs = BTreeMap<usize, Vec<Row>>;

/// Adds what the published `text` has, `rows` have not and `protocol` asks for; tells how many runs that are,
/// and of when. A cell is left out where a run that both have differs: its method is not the same any more.
fn add(rows: &mut Vec<Row>, text: &str, scope: &Scope<'_>, protocol: &Protocol) -> Result<Option<String>> {
    let facts = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("# {name}: ")));
    if facts("seed") != Some(&protocol.seed.to_string()) {
        return Ok(None);
    }
    let mut cells: BTreeMap<(&str, &str), Runs> = BTreeMap::new();
    for row in read(text, scope)? {
        cells.entry((row.dataset, row.method)).or_default().entry(row.run).or_default().push(row);
    }
    let mut added = 0;
    for ((dataset, method), mut runs) in cells {
        let ours: Vec<&Row> =
            rows.iter().filter(|row| row.dataset == dataset && row.method == method).collect();
        let differs = |row: &&Row| {
            let same = |other: &&Row| (other.run, other.k) == (row.run, row.k);
            ours.iter().copied().find(same).is_some_and(|ours| !agree(ours, row))
        };
        if let Some(row) = runs.values().flatten().find(differs) {
            eprintln!("{dataset}, {method}: run {} is published with other numbers; none is kept", row.run);
            continue;
        }
        let wanted = |run: usize| (run as u64) < protocol.runs && ours.iter().all(|row| row.run != run);
        runs.retain(|&run, rows| rows.len() == KS.len() && wanted(run));
        added += runs.len();
        rows.extend(runs.into_values().flatten());
    }
    let told = |name: &str| facts(name).unwrap_or("unknown").to_owned();
    let mut line = format!("{added} runs as published on {} of commit {}", told("date"), told("commit"));
    if let Some(before) = facts("earlier") {
        line = format!("{line}, and of these {before}");
    }
    Ok((added > 0).then_some(line))
}

/// Whether two rows are of the same run, as far as the file's digits show.
fn agree(ours: &Row, theirs: &Row) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= DIGITS || (a.is_nan() && b.is_nan());
    let scores = || ours.scores.iter().zip(&theirs.scores);
    near(ours.redundancy, theirs.redundancy) && scores().all(|(a, b)| near(*a, *b))
}

/// The rows of the file that are in the scope; their features are not in it.
fn read(text: &str, scope: &Scope<'_>) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let column = |name: &str| {
        let found = header.iter().position(|title| title == name);
        found.ok_or_else(|| format!("the published file has no column {name}"))
    };
    let (dataset, method) = (column("dataset")?, column("method")?);
    let (learner, run, k) = (column("learner")?, column("run")?, column("k")?);
    let (redundancy, seconds) = (column("redundancy_rate")?, column("selection_seconds")?);
    let metrics: Vec<usize> =
        scope.metrics.iter().map(|name| column(name)).collect::<std::result::Result<_, _>>()?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let cell = |at: usize| record.get(at).unwrap_or_default();
        let known = (
            scope.datasets.iter().find(|name| **name == cell(dataset)),
            scope.methods.iter().find(|known| known.name == cell(method)),
        );
        let (Some(dataset), Some(method)) = known else { continue };
        rows.push(Row {
            dataset,
            method: method.name,
            learner: cell(learner).to_owned(),
            run: cell(run).parse()?,
            k: cell(k).parse()?,
            features: Vec::new(),
            scores: metrics.iter().map(|&at| cell(at).parse()).collect::<std::result::Result<_, _>>()?,
            redundancy: cell(redundancy).parse()?,
            seconds: cell(seconds).parse()?,
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiments::cells;
    use crate::reproduce::hsic_lasso::curves::tests::row;
    use crate::reproduce::hsic_lasso::{HSIC_LASSO, MRMR};

    /// Rows for all numbers of features.
    fn whole(method: &'static str, run: usize, score: f64) -> Vec<Row> {
        KS.iter().map(|&k| Row { k, ..row("TOX", method, run, score + k as f64 / 100.0) }).collect()
    }

    #[test]
    fn published_runs_are_added_where_they_agree() {
        let published: Vec<Row> = [
            whole("HSIC Lasso", 0, 0.1),
            whole("HSIC Lasso", 1, 0.2),
            whole("mRMR", 0, 0.3),
            whole("mRMR", 1, 0.4),
            whole("another", 0, 0.5),
            // A run that is not whole.
            whole("HSIC Lasso", 2, 0.6)[..2].to_vec(),
        ]
        .concat();
        let (header, lines) = cells(&published, &["accuracy"]);
        let mut text = format!("# date: 2026-11-21\n# commit: abc\n# seed: 0\n{}\n", header.join(","));
        lines.iter().for_each(|line| text.push_str(&format!("{}\n", line.join(","))));
        let scope = Scope { datasets: &["TOX"], methods: &[HSIC_LASSO, MRMR], metrics: &["accuracy"] };
        let protocol = Protocol::of(100, 0);
        // The first method's run 0 is as published, the second's is not.
        let mut rows = [whole("HSIC Lasso", 0, 0.1), whole("mRMR", 0, 0.31)].concat();
        let line = add(&mut rows, &text, &scope, &protocol).unwrap();
        assert_eq!(line.as_deref(), Some("1 runs as published on 2026-11-21 of commit abc"));
        let runs = |rows: &[Row], method: &str| -> Vec<usize> {
            rows.iter().filter(|row| row.method == method && row.k == 50).map(|row| row.run).collect()
        };
        assert_eq!((runs(&rows, "HSIC Lasso"), runs(&rows, "mRMR")), (vec![0, 1], vec![0]));
        assert_eq!(rows.last().unwrap().scores, [0.7]);

        // All are there already.
        assert_eq!(add(&mut rows, &text, &scope, &protocol).unwrap(), None);
        // What came from an earlier page is told on.
        let older = text.replace("# commit: abc", "# commit: abc\n# earlier: 3 runs of old");
        let line = add(&mut Vec::new(), &older, &scope, &protocol).unwrap().unwrap();
        assert!(line.starts_with("4 runs as") && line.ends_with("of commit abc, and of these 3 runs of old"));

        // Only as many as are asked for, and of the same seed.
        let fewer = Protocol::of(1, 0);
        let line = add(&mut Vec::new(), &text, &scope, &fewer).unwrap().unwrap();
        assert!(line.starts_with("2 runs as"), "{line}");
        let other = Protocol::of(100, 1);
        assert_eq!(add(&mut Vec::new(), &text, &scope, &other).unwrap(), None);
    }
}
