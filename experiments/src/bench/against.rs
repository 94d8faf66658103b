//! Two builds of the command, run in turn: is the newer one as fast?

use std::path::Path;
use std::process::{Command, Stdio};

use super::cases::Files;
use super::programs::build_ours;
use super::{Arguments, cases, cpu, filters, wrappers};
use crate::output::minimum;
use crate::{Result, machine, workspace};

/// The arguments of each run on real data, by family. A word that is a file name refers to the data folder.
const CASES: &[&str] = &[
    "select ALLAML.mat --method hsic-lasso -k 50",
    "select orlraws10P.mat --method hsic-lasso -k 50",
    "select pixraw10P.mat --method hsic-lasso -k 50",
    "select warpAR10P.mat --method hsic-lasso -k 50",
    "select colon.mat --method nocco-lasso -k 20",
    "select ALLAML.mat --method lasso -k 50",
    "select colon.mat --method elastic-net -k 20",
    "select ALLAML.mat --method dantzig -k 20",
    "select ALLAML.mat --method best-subset -k 20",
    "select ALLAML.mat --method lasso -p loss=logistic -k 50",
    "select TOX-171.mat --method l21-logistic -k 50",
    "select colon.mat --method rfs -k 50",
    "select colon.mat --method mcfs -p clusters=5 -k 50",
    "select colon.mat --method udfs -p clusters=5 -k 50",
    "select colon.mat --method ndfs -p clusters=5 -k 50",
    "select colon.mat --method jelsr -p clusters=5 -k 50",
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
    "evaluate wdbc.csv --method f-score -k 5 --learner svc",
    "evaluate colon.mat --method f-score -k 5 --learner svc",
    "evaluate bodyfat.csv --method f-score -k 5 --learner svr",
    "evaluate boston_housing.csv --method f-score -k 5 --learner svr",
    "evaluate diabetes.csv --method f-score -k 5 --learner svr",
    "evaluate colon.mat --method hsic-lasso -k 5,10,15,20,25,30,35,40,45,50",
    "evaluate ALLAML.mat --method hsic-lasso -k 5,10,15,20,25,30,35,40,45,50",
];

/// What the newer build does more than the older one, and how to ask it for the older one's work: (in the
/// command, further arguments, what is more).
const MORE: &[(&str, &str, &str)] = &[
    ("evaluate ", "--no-baselines", "evaluations judge two baselines"),
    ("mik-fs", "-p tolerance=0.01", "`mik-fs` ends with Newton steps, until gradients are below 1e-6"),
    ("rmb-rfe", "-p loss=linear", "`rmb-rfe` has the squared loss"),
    ("fsv", "-p starts=1", "`fsv` has ten starts"),
];

/// A word of a command that stands for the table that is drawn for it.
const DRAWN: &str = "DRAWN";

/// Writes a table to a folder.
type Draw = Box<dyn Fn(&Path) -> Result<Files>>;

/// A table that is drawn, and what is run on it.
struct Drawn {
    name: String,
    files: Draw,
    command: String,
}

/// The tables of the other benchmarks that are drawn, with their methods.
fn drawn() -> Vec<Drawn> {
    let mut all = Vec::new();
    for case in wrappers::CASES {
        // Older builds do not know this parameter.
        let params = case.params.iter().filter(|param| !param.starts_with("standardise_target"));
        let params: Vec<String> = params.map(|param| format!(" -p {param}")).collect();
        all.push(Drawn {
            name: format!("wrappers, {}", case.name),
            files: Box::new(|scratch| case.files(scratch)),
            command: format!(
                "select {DRAWN} --task regression --method {} -k {}{}",
                case.method,
                case.d,
                params.concat()
            ),
        });
    }
    for case in filters::CASES {
        let params: Vec<String> = case.params.iter().map(|param| format!(" -p {param}")).collect();
        all.push(Drawn {
            name: format!("filters, {}", case.name),
            files: Box::new(|scratch| case.source.files(scratch)),
            command: format!(
                "select {DRAWN} --task classification --method {} -k {}{}",
                case.method,
                filters::K,
                params.concat()
            ),
        });
    }
    for case in cases::CASES {
        if let cases::Source::Data2 { .. } = case.source {
            all.push(Drawn {
                name: format!("HSIC Lasso, {}", case.name),
                files: Box::new(|scratch| case.source.files(None, scratch)),
                command: format!("select {DRAWN} --task regression --method hsic-lasso -k {}", case.k),
            });
        }
    }
    all
}

/// What is short runs more often than asked for: until the older build has taken so many seconds, or so many
/// times.
const ENOUGH_SECONDS: f64 = 3.0;
const MOST_RUNS: usize = 101;

/// Both builds, run alternately.
struct Builds<'a> {
    old: &'a Path,
    new: &'a Path,
    arguments: &'a Arguments,
    rows: Vec<Vec<String>>,
    /// The commands that the older build refuses.
    refused: Vec<String>,
}

impl Builds<'_> {
    /// Runs `words` with both, as they are and with the same work; the table has the lines under `name`.
    fn compare(&mut self, name: &str, words: &[String]) -> Result<()> {
        self.compare_with(name, words, "")?;
        match MORE.iter().find(|(part, ..)| name.contains(part)) {
            Some((_, more, _)) => self.compare_with(name, words, more),
            None => Ok(()),
        }
    }

    /// Runs `words` with both, the newer one with `more` arguments.
    fn compare_with(&mut self, name: &str, words: &[String], more: &str) -> Result<()> {
        let with_more: Vec<String> =
            words.iter().cloned().chain(more.split_whitespace().map(str::to_owned)).collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let is_short =
            |before: &[f64]| before.len() < MOST_RUNS && before.iter().sum::<f64>() < ENOUGH_SECONDS;
        while before.len() < self.arguments.repetitions as usize || is_short(&before) {
            match seconds(self.old, words, self.arguments.threads) {
                Ok(spent) => before.push(spent),
                Err(_) if before.is_empty() => {
                    if more.is_empty() {
                        println!("{name}: the older build refuses it");
                        self.refused.push(name.to_owned());
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            after.push(seconds(self.new, &with_more, self.arguments.threads)?);
        }
        let n_runs = after.len();
        let (before, after) = (minimum(&before), minimum(&after));
        let name = match more {
            "" => format!("`{name}`"),
            more => format!("the same, the newer with `{more}`"),
        };
        println!("{name}: {before:.3} s, {after:.3} s, {:.2}", after / before);
        let figures = [before, after, after / before];
        let figures = figures.map(|figure| format!("{figure:.3}")).to_vec();
        self.rows.push([vec![name], figures, vec![n_runs.to_string()]].concat());
        Ok(())
    }
}

pub(super) fn run(arguments: &Arguments, old: &Path) -> Result<()> {
    let data = arguments.data.as_deref().ok_or("where are the data sets? give --data or FEWEST_DATA")?;
    let new = build_ours()?;
    let mut builds = Builds { old, new: &new, arguments, rows: Vec::new(), refused: Vec::new() };
    let file = |word: &str| word.ends_with(".mat") || word.ends_with(".csv");
    for case in CASES.iter().filter(|case| case.contains(&arguments.only)) {
        let words: Vec<String> = case
            .split(' ')
            .map(|word| if file(word) { data.join(word).display().to_string() } else { word.to_owned() })
            .collect();
        builds.compare(case, &words)?;
    }
    let scratch = workspace::root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    for Drawn { name, files, command } in drawn() {
        let method = command.replace(&format!(" {DRAWN}"), "");
        let name = format!("{method} ({name})");
        if !name.contains(&arguments.only) {
            continue;
        }
        let files = files(&scratch)?;
        let y = files.y.as_deref().ok_or("a drawn table has a target")?;
        let table = |word: &str| if word == DRAWN { files.x.display().to_string() } else { word.to_owned() };
        let mut words: Vec<String> = command.split(' ').map(table).collect();
        words.extend(["--target".to_owned(), y.display().to_string()]);
        builds.compare(&name, &words)?;
        files.remove()?;
    }
    let Builds { rows, refused, .. } = builds;
    let mut facts = machine::facts();
    facts.extend([
        ("repetitions", arguments.repetitions.to_string()),
        ("threads", arguments.threads.to_string()),
        ("size of the older command, MB", size(old)?),
        ("size of the newer command, MB", size(&new)?),
    ]);
    let documents = arguments.documents(facts);
    let header = ["command", "older_cpu_seconds", "newer_cpu_seconds", "ratio", "runs"];
    documents.csv("against", &header, &rows)?;
    let mut page = String::from(
        "# An older build of the command against this one\n\n`cargo xtask bench --against OLDER`: both builds \
         run alternately; processor seconds of\nthe whole program, the smallest of the runs.\n\n\
         | command | older, s | newer, s | ratio | runs |\n|---|---|---|---|---|\n",
    );
    for row in &rows {
        page.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    page.push_str("\nWhere the newer build does more by default, a second line has about the same work:\n\n");
    for (_, more, what) in MORE {
        page.push_str(&format!("- {what}: `{more}`\n"));
    }
    if !refused.is_empty() {
        page.push_str("\nNot compared, since the older build refuses them:\n\n");
        for name in &refused {
            page.push_str(&format!("- `{name}`\n"));
        }
    }
    documents.page("against", page)
}

/// Processor time of a command, all threads together.
fn seconds(program: &Path, words: &[String], threads: u32) -> Result<f64> {
    let before = cpu::of_children();
    let mut command = Command::new(program);
    command.args(words).args(["--quiet", "--threads", &threads.to_string()]);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{} {}: {status}", program.display(), words.join(" ")).into());
    }
    let spent = cpu::of_children().zip(before).map(|(after, before)| after - before);
    spent.ok_or_else(|| "this system does not report the processor time of a program".into())
}

fn size(program: &Path) -> Result<String> {
    Ok(format!("{:.1}", std::fs::metadata(program)?.len() as f64 / 1e6))
}
