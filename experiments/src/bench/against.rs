//! Two builds of the command, run in turn: is the newer one as fast?

use std::path::Path;
use std::process::{Command, Stdio};

use super::programs::build_ours;
use super::{Arguments, cpu};
use crate::output::median;
use crate::{Result, machine};

/// The arguments of each run, by family. A word that is a file name refers to the data folder.
const CASES: &[&str] = &[
    "select ALLAML.mat --method hsic-lasso -k 50",
    "select orlraws10P.mat --method hsic-lasso -k 50",
    "select pixraw10P.mat --method hsic-lasso -k 50",
    "select warpAR10P.mat --method hsic-lasso -k 50",
    "select colon.mat --method nocco-lasso -k 20",
    "select ALLAML.mat --method lasso -k 50",
    "select colon.mat --method elastic-net -k 20",
    "select ALLAML.mat --method mik-fs",
    "select TOX-171.mat --method mik-fs",
    "select madelon.mat --method mik-fs",
    "select colon.mat --method nmmkl -k 20",
    "select TOX-171.mat --method jmi -k 50",
    "select TOX-171.mat --method mrmr -k 50",
    "select TOX-171.mat --method cmim -k 50",
    "select ALLAML.mat --method fcq -k 50",
    "score madelon.mat --method relieff",
    "score sonar.csv --method multisurf",
    "score colon.mat --method laplacian",
    "score ALLAML.mat --method f-score",
    "score madelon.mat --method chi2",
    "score TOX-171.mat --method kruskal-wallis",
    "select bodyfat.csv --method sd-l-rfe -k 5",
    "select bodyfat.csv --method sd-g-rfe -k 5",
    "select bodyfat.csv --method dw-rfe -k 5",
    "select bodyfat.csv --method hsic-rfe -k 5",
    "select bodyfat.csv --method rmb-rfe -k 5",
    "select colon.mat --method l1-svm -k 20",
    "select ALLAML.mat --method svm-lw -k 50",
    "select wdbc.csv --method fsv -k 5",
    "evaluate sonar.csv --method f-score -k 10 --learner svc",
    "evaluate colon.mat --method hsic-lasso -k 5,10,15,20,25,30,35,40,45,50",
    "evaluate ALLAML.mat --method hsic-lasso -k 5,10,15,20,25,30,35,40,45,50",
];

pub(super) fn run(arguments: &Arguments, old: &Path) -> Result<()> {
    let data = arguments.data.as_deref().ok_or("where are the data sets? give --data or FEWEST_DATA")?;
    let new = build_ours()?;
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| case.contains(&arguments.only)) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for _ in 0..arguments.repetitions {
            before.push(seconds(old, case, data, arguments.threads)?);
            after.push(seconds(&new, case, data, arguments.threads)?);
        }
        let (before, after) = (median(&before), median(&after));
        println!("{case}: {before:.3} s, {after:.3} s, {:.2}", after / before);
        let figures = [before, after, after / before];
        rows.push([vec![(*case).to_owned()], figures.map(|figure| format!("{figure:.3}")).to_vec()].concat());
    }
    let mut facts = machine::facts();
    facts.extend([
        ("repetitions", arguments.repetitions.to_string()),
        ("threads", arguments.threads.to_string()),
        ("size of the older command, MB", size(old)?),
        ("size of the newer command, MB", size(&new)?),
    ]);
    let documents = arguments.documents(facts);
    let header = ["command", "older_cpu_seconds", "newer_cpu_seconds", "ratio"];
    documents.csv("against", &header, &rows)?;
    let mut page = String::from(
        "# An older build of the command against this one\n\n`cargo xtask bench --against OLDER`: both builds \
         run turn about; processor seconds of the\nwhole program, medians.\n\n\
         | command | older, s | newer, s | ratio |\n|---|---|---|---|\n",
    );
    for row in &rows {
        page.push_str(&format!("| `{}` | {} | {} | {} |\n", row[0], row[1], row[2], row[3]));
    }
    documents.page("against", page)
}

/// Processor time of a command, all threads together.
fn seconds(program: &Path, case: &str, data: &Path, threads: u32) -> Result<f64> {
    let file = |word: &str| word.ends_with(".mat") || word.ends_with(".csv");
    let words = case
        .split(' ')
        .map(|word| if file(word) { data.join(word).display().to_string() } else { word.to_owned() });
    let before = cpu::of_children();
    let mut command = Command::new(program);
    command.args(words).args(["--quiet", "--threads", &threads.to_string()]);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{} {case}: {status}", program.display()).into());
    }
    let spent = cpu::of_children().zip(before).map(|(after, before)| after - before);
    spent.ok_or_else(|| "this system does not report the processor time of a program".into())
}

fn size(program: &Path) -> Result<String> {
    Ok(format!("{:.1}", std::fs::metadata(program)?.len() as f64 / 1e6))
}
