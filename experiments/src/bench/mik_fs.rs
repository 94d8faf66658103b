//! `cargo xtask bench --mik-fs`: time and memory of MIK-FS with low-rank factors and with whole Gram
//! matrices, and how fast it converges.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fewest::core::{Context, Dataset, FeatureKind, Target};
use fewest::data::{Missing, ReadOptions, Table};
use fewest::mkl::{Alternation, MikFs};

use super::measure::{Measured, measure};
use super::programs::build_ours;
use super::{Arguments, MEBIBYTE};
use crate::output::{Documents, minimum};
use crate::{Result, machine, npy, workspace};

/// Files of the data folder, their target, and the parameters of the run.
const CASES: &[(&str, &str, &str)] = &[
    ("ALLAML", "ALLAML.mat", ""),
    ("chowdary", "chowdary.csv.gz", "target"),
    ("colon", "colon.mat", ""),
    ("TOX-171", "TOX-171.mat", ""),
    ("ssl_digit1", "ssl_digit1.csv.gz", "target"),
    ("abalone", "abalone.csv", "target"),
    ("madelon", "madelon.mat", ""),
];

const HEADER: &[&str] = &[
    "data",
    "form",
    "repetition",
    "threads",
    "process_seconds",
    "cpu_seconds",
    "reading_cpu_seconds",
    "peak_rss_bytes",
];

/// The results for one data set.
struct Case {
    name: &'static str,
    n: usize,
    d: usize,
    reading: Vec<Measured>,
    factors: Vec<Measured>,
    /// Empty where all Gram matrices together would not fit.
    whole: Vec<Measured>,
    /// The same with all weights in every alternation.
    printed: Vec<Measured>,
    alternation: Option<Alternation>,
}

/// Whole Gram matrices are measured up to this many bytes in all, and up to this many samples: beyond,
/// machines take minutes each.
const MOST_BYTES: usize = 8 << 30;
const MOST_SAMPLES: usize = 2000;

/// Runs with whole Gram matrices that take more seconds than this are not repeated.
const QUICK: f64 = 20.0;

/// Measures; writes `docs/benchmarks/mik-fs.csv` and `.md`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Some(folder) = &arguments.data else { return Err("--mik-fs needs --data or FEWEST_DATA".into()) };
    let program = build_ours()?;
    let mut facts = machine::facts();
    facts.push(("threads", arguments.threads.to_string()));
    let scratch = workspace::root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let mut cases = Vec::new();
    for &(name, file, target) in CASES.iter().filter(|(name, ..)| name.contains(&arguments.only)) {
        let path = folder.join(file);
        let mut options = ReadOptions::default();
        if !target.is_empty() {
            options = ReadOptions::with_target(target);
        }
        let data: Dataset = Table::read(&path, &options)?.complete(Missing::Error)?.dataset;
        let (n, d) = (data.n_samples(), data.n_features());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads as usize).build()?;
        let model = pool.install(|| MikFs::default().fit(&data, &Context::default()))?;
        let mut case = Case {
            name,
            n,
            d,
            reading: Vec::new(),
            factors: Vec::new(),
            whole: Vec::new(),
            printed: Vec::new(),
            alternation: model.map(|model| model.alternation),
        };
        let quick = quick_to_read(&data, &scratch)?;
        drop(data);
        let (path, target) = match &quick {
            Some((x, y)) => (x.clone(), y.to_string_lossy().into_owned()),
            None => (path, target.to_owned()),
        };
        let target = target.as_str();
        for _ in 0..arguments.repetitions {
            case.reading.push(once(&program, &path, target, &["--method", "variance"], arguments)?);
            case.factors.push(once(&program, &path, target, &["--method", "mik-fs"], arguments)?);
            let is_quick = case.whole.is_empty() || cpu(&case.whole) < QUICK;
            if is_quick && n <= MOST_SAMPLES && n * n * d * size_of::<f64>() <= MOST_BYTES {
                let whole = ["--method", "mik-fs", "--param", "form=exact"];
                case.whole.push(once(&program, &path, target, &whole, arguments)?);
                let printed = [&whole[..], &["--param", "working_set=false"]].concat();
                case.printed.push(once(&program, &path, target, &printed, arguments)?);
            }
        }
        eprintln!("{name}: {:.2} s of processors", cpu(&case.factors));
        cases.push(case);
        if let Some((x, y)) = quick {
            std::fs::remove_file(x)?;
            std::fs::remove_file(y)?;
        }
    }
    let documents = Documents::new(workspace::root().join("docs/benchmarks"), facts);
    documents.csv("mik-fs", HEADER, &rows(&cases, arguments.threads))?;
    documents.page("mik-fs", summary(&cases))
}

/// The same data as NumPy files, if these can represent it: the shorter the reading, the more accurate the
/// time without it.
fn quick_to_read(data: &Dataset, scratch: &Path) -> Result<Option<(PathBuf, PathBuf)>> {
    let is_numeric = |j| matches!(data.feature_kind(j), FeatureKind::Numeric);
    let Target::Class(classes) = data.target() else { return Ok(None) };
    if !(0..data.n_features()).all(is_numeric) {
        return Ok(None);
    }
    let (x, y) = (scratch.join("mik-fs-x.npy"), scratch.join("mik-fs-y.npy"));
    npy::write_table(&x, data.x())?;
    npy::write_vector(&y, &classes.codes().iter().map(|&code| f64::from(code)).collect::<Vec<_>>())?;
    Ok(Some((x, y)))
}

fn once(
    program: &PathBuf,
    path: &Path,
    target: &str,
    method: &[&str],
    arguments: &Arguments,
) -> Result<Measured> {
    let mut command = Command::new(program);
    command.arg("select").arg(path).args(method).args(["-k", "1", "--threads"]);
    command.arg(arguments.threads.to_string());
    if !target.is_empty() {
        command.args(["--target", target]);
    }
    measure(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The smallest processor time.
fn cpu(runs: &[Measured]) -> f64 {
    minimum(&runs.iter().map(|run| run.cpu_seconds.unwrap_or(f64::NAN)).collect::<Vec<_>>())
}

fn peak(runs: &[Measured]) -> f64 {
    runs.iter().filter_map(|run| run.peak_bytes).max().unwrap_or(0) as f64 / MEBIBYTE
}

fn rows(cases: &[Case], threads: u32) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for case in cases {
        for (form, runs) in
            [("factors", &case.factors), ("whole", &case.whole), ("whole, all weights", &case.printed)]
        {
            for (repetition, (run, reading)) in runs.iter().zip(&case.reading).enumerate() {
                let text = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
                rows.push(vec![
                    case.name.to_owned(),
                    form.to_owned(),
                    (repetition + 1).to_string(),
                    threads.to_string(),
                    format!("{:.6}", run.process_seconds),
                    text(run.cpu_seconds),
                    text(reading.cpu_seconds),
                    run.peak_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
                ]);
            }
        }
    }
    rows
}

/// The iteration from which on every relative decrease of the objective is at most `share`.
fn settled(history: &[f64], share: f64) -> usize {
    let falls = |pair: &[f64]| pair[0] - pair[1] > share * pair[1].abs();
    history.windows(2).rposition(falls).map_or(1, |last| last + 2).min(history.len().saturating_sub(1))
}

fn summary(cases: &[Case]) -> String {
    let mut text =
        "# MIK-FS\n\nDefaults: `tanh(x x′)`, ratio 0.1, alternations until the relative decrease of \
                    the objective is at most 1e-5, then Newton steps on weights and machines together until \
                    both are stationary to 1e-6. Seconds are those of the processors, all threads together, \
                    the smallest of the repetitions, less those of reading the file (a NumPy file of the \
                    same data, where all features are numbers). Runs of more than 20 s are made once. Every \
                    run is in [mik-fs.csv](mik-fs.csv).\n\n\
                    - **Ours**: a shared factor finds the features that come into question, these get \
                    factors of their own, and only they take part.\n\
                    - **Whole matrices**: the same, with the whole Gram matrix of every feature in memory \
                    (`form=exact`).\n\
                    - **As printed**: Algorithm 1 with whole Gram matrices, all weights in every alternation \
                    (`form=exact`, `working_set=false`), and our solvers of the two problems of an \
                    alternation.\n\n\
                    | data | n | d | ours, s | whole matrices, s | times | as printed, s | times | ours, MiB \
                    | whole matrices, MiB |\n|---|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for case in cases {
        let own = cpu(&case.factors) - cpu(&case.reading);
        let against = |runs: &[Measured]| {
            if runs.is_empty() {
                return "too large | ".to_owned();
            }
            let seconds = cpu(runs) - cpu(&case.reading);
            format!("{seconds:.2} | {:.1}", seconds / own)
        };
        let memory = if case.whole.is_empty() { String::new() } else { format!("{:.0}", peak(&case.whole)) };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {own:.3} | {} | {} | {:.0} | {memory} |",
            case.name,
            case.n,
            case.d,
            against(&case.whole),
            against(&case.printed),
            peak(&case.factors)
        );
    }
    text.push_str(
        "\n## How soon it settles\n\nFigure 2 of the paper shows convergence within 10 alternations. Below, \
         the number of the step, alternations and then Newton steps, from which on the objective falls by \
         at most that share of itself; how many there were of each; and what is left of the gradients at \
         the end: of the weights, relative to their penalty, of the machines, relative to that at zero.\n\n\
         | data | 1e-2 | 1e-3 | 1e-4 | alternations | Newton steps | never rises | weights | machines | \
         largest gap of a convex problem |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for case in cases {
        let Some(alternation) = &case.alternation else { continue };
        let history = &alternation.history;
        let monotone = history.windows(2).all(|pair| pair[1] <= pair[0]);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {:.0e} | {:.0e} | {:.0e} |",
            case.name,
            settled(history, 1e-2),
            settled(history, 1e-3),
            settled(history, 1e-4),
            history.len() - 1 - alternation.newton_steps,
            alternation.newton_steps,
            if monotone { "yes" } else { "**no**" },
            alternation.weight_violation,
            alternation.machine_violation,
            alternation.convex_gap
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::settled;

    #[test]
    fn settling_counts_alternations() {
        let history = [100.0, 50.0, 49.0, 48.99, 48.99];
        assert_eq!(settled(&history, 1e-1), 2);
        assert_eq!(settled(&history, 1e-3), 3);
        assert_eq!(settled(&history, 1e-6), 4);
        assert_eq!(settled(&[1.0, 1.0], 1e-3), 1);
    }
}
