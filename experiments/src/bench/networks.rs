//! `cargo xtask bench --networks`: how methods of linked samples grow with samples, links and features.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use fewest::core::{Budget, Context};
use fewest::data::synthetic::NetworkProblem;
use fewest::registry::{Parameters, Registry};
use serde_json::json;

use super::measure::{CPU, MEMORY, TIMED, Timed, measure};
use super::programs::{number, read};
use super::scaling::{linear_growth, slope};
use super::worker::timed;
use crate::output::{median, minimum};
use crate::plot::{Panel, Series, lines};
use crate::{Result, machine, workspace};

/// Methods with their parameters: penalties and numbers of clusters that are the same at every size.
const METHODS: [(&str, &[&str]); 4] = [
    ("linkedfs", &["lambda_ratio=0.2", "following=0.5"]),
    ("fsnet", &["lambda_ratio=0.2"]),
    ("netfs", &["clusters=8"]),
    ("lufs", &["clusters=7"]),
];

const COMMUNITIES: usize = 8;

/// More links are not given to fsnet: each is a row of its design for each of the communities, and it refuses
/// more rows than columns of a working set have room for.
const MOST_OF_FSNET: usize = 500_000;
const RELEVANT: usize = 80;

/// Features to select.
const K: usize = RELEVANT;

/// Samples, links and features.
type Sizes = [usize; 3];

/// What grows: its name, its place among the sizes, and the sizes.
///
/// Where samples grow, links grow with them: the fewer links a sample has, the harder its community is to
/// see, and the more steps a method takes.
const SWEEPS: [(&str, usize, [Sizes; 4]); 3] = [
    ("samples", 0, [[10_000, 100_000, 500], BASE, [40_000, 400_000, 500], [80_000, 800_000, 500]]),
    ("links", 1, [[20_000, 100_000, 500], BASE, [20_000, 400_000, 500], [20_000, 800_000, 500]]),
    ("features", 2, [[20_000, 200_000, 250], BASE, [20_000, 200_000, 1000], [20_000, 200_000, 2000]]),
];

/// The sizes that all of them share.
const BASE: Sizes = [20_000, 200_000, 500];

/// The sizes that are part of none.
const LARGE: Sizes = [100_000, 1_000_000, 2000];

/// With `--quick`, sizes are divided by these.
const QUICK: Sizes = [4, 20, 2];

const HEADER: &[&str] =
    &["method", "sweep", "n", "links", "d", "repetition", "threads", "precision", "converged"];

/// Draws a network and runs a method of linked samples once, for the benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[arg(long)]
    samples: usize,
    #[arg(long)]
    links: usize,
    #[arg(long)]
    features: usize,
    #[arg(long)]
    method: String,
    #[arg(long)]
    param: Vec<String>,
    #[arg(long)]
    threads: usize,
    /// The answer.
    #[arg(long)]
    json: PathBuf,
}

/// Runs the method; `seconds` and `cpu_seconds` of the answer are those of the method, without drawing.
pub(crate) fn work(arguments: &Worker) -> Result<()> {
    let problem = NetworkProblem {
        n_samples: arguments.samples,
        n_links: arguments.links,
        n_features: arguments.features,
        n_relevant: RELEVANT,
        communities: COMMUNITIES,
        words: 50,
        ..NetworkProblem::default()
    };
    let data = problem.draw(1)?;
    let method = Registry::standard().find(&arguments.method)?;
    let selector = method.build(&Parameters::parse(method, &arguments.param)?)?.into_selector();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let select = || selector.select(&data, Budget::Count(K), &Context::default());
    let (selection, seconds, cpu_seconds) = timed(|| pool.install(select));
    let selection = selection?;
    let relevant = selection.order.iter().filter(|feature| **feature < RELEVANT).count();
    let answer = json!({
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "precision": relevant as f64 / selection.order.len().max(1) as f64,
        "converged": selection.status.name(),
    });
    Ok(std::fs::write(&arguments.json, answer.to_string())?)
}

/// One run.
struct Run {
    timed: Timed,
    precision: f64,
    status: String,
}

/// The runs of a method at one size.
struct Point {
    method: &'static str,
    sweep: &'static str,
    sizes: Sizes,
    runs: Vec<Run>,
}

impl Point {
    fn figure(&self, figure: super::measure::Figure) -> Vec<f64> {
        self.runs.iter().map(|run| figure(&run.timed)).collect()
    }
}

/// Measures every method along every sweep, and at the largest size; writes `docs/benchmarks/networks.csv`,
/// `.md` and `.svg`, or with `--only` (a method's name) or `--quick` into `target/bench`.
pub(super) fn run(arguments: &super::Arguments) -> Result<()> {
    let scratch = workspace::root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let json = scratch.join("answer.json");
    let sweeps = SWEEPS.iter().flat_map(|&(name, _, sizes)| sizes.map(|sizes| (name, sizes)));
    let places: Vec<(&'static str, Sizes)> = sweeps.chain([("large", LARGE)]).collect();
    let mut points: Vec<Point> = Vec::new();
    for (method, parameters) in METHODS.iter().filter(|(method, _)| method.contains(&arguments.only)) {
        for &(sweep, sizes) in &places {
            let [n, links, d] = if arguments.quick { quick(sizes) } else { sizes };
            // The size that all sweeps share is measured once.
            let known = points.iter().find(|point| point.method == *method && point.sizes == [n, links, d]);
            if known.is_some() || (*method == "fsnet" && links > MOST_OF_FSNET) {
                continue;
            }
            let mut point = Point { method, sweep, sizes: [n, links, d], runs: Vec::new() };
            for _ in 0..arguments.repetitions {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["run-network", "--method", method, "--samples", &n.to_string()]);
                command.args(["--links", &links.to_string(), "--features", &d.to_string()]);
                command.args(["--threads", &arguments.threads.to_string()]).arg("--json").arg(&json);
                for parameter in *parameters {
                    command.args(["--param", parameter]);
                }
                let measured = measure(command.stdout(Stdio::null()))?;
                let answer = read(&json)?;
                point.runs.push(Run {
                    timed: Timed::answered(&answer, measured)?,
                    precision: number(&answer, "precision")?,
                    status: answer["converged"].as_str().unwrap_or_default().to_owned(),
                });
            }
            eprintln!("{method}, n = {n}, {links} links, d = {d}: {:.2} CPU s", median(&point.figure(CPU)));
            points.push(point);
        }
    }
    let mut facts = machine::facts();
    facts.push(("threads", arguments.threads.to_string()));
    let documents = arguments.documents_unless(arguments.quick, facts);
    documents.csv("networks", &[HEADER, TIMED].concat(), &rows(&points, arguments.threads))?;
    documents.page("networks", summary(&points))?;
    let panels: Vec<Panel> = SWEEPS.iter().map(|sweep| panel(&points, sweep)).collect();
    lines(&documents.path("networks.svg"), &panels)
}

fn rows(points: &[Point], threads: u32) -> Vec<Vec<String>> {
    let row = |point: &Point, repetition: usize, run: &Run| {
        let [n, links, d] = point.sizes.map(|size| size.to_string());
        let mut row = vec![point.method.to_owned(), point.sweep.to_owned(), n, links, d];
        row.extend([(repetition + 1).to_string(), threads.to_string()]);
        row.extend([format!("{:.4}", run.precision), run.status.clone()]);
        row.extend(run.timed.cells());
        row
    };
    points
        .iter()
        .flat_map(|point| {
            point.runs.iter().enumerate().map(move |(repetition, run)| row(point, repetition, run))
        })
        .collect()
}

fn quick(sizes: Sizes) -> Sizes {
    std::array::from_fn(|place| sizes[place] / QUICK[place])
}

/// The points of `method` at `sizes`, or with `--quick` at what became of them.
fn along<'a>(points: &'a [Point], method: &str, sizes: &[Sizes]) -> Vec<&'a Point> {
    let is_one = |point: &Point| sizes.iter().any(|&own| own == point.sizes || quick(own) == point.sizes);
    let mut along: Vec<&Point> =
        points.iter().filter(|point| point.method == method && is_one(point)).collect();
    along.sort_by_key(|point| point.sizes);
    along
}

fn times(points: &[&Point], place: usize) -> Vec<(f64, f64)> {
    points.iter().map(|point| (point.sizes[place] as f64, median(&point.figure(CPU)))).collect()
}

fn summary(points: &[Point]) -> String {
    let mut text = format!(
        "# Methods of linked samples, and how they grow\n\nNetworks drawn by `synthetic::NetworkProblem`: \
         {COMMUNITIES} communities, 50 words a sample in sparse columns, a tenth of the links at random, \
         {RELEVANT} relevant features. Median CPU seconds (user and system, all threads; in brackets the \
         smallest) of the method alone, since other programs use the machine, too; memory is the largest \
         resident set of the whole process, with the data. The slope is that of a straight line through the \
         points on two logarithmic scales: 1 is linear growth. Where samples grow, links grow with them, since \
         communities with fewer links a sample are harder to find. fsnet is not measured with more than \
         {MOST_OF_FSNET} links: it refuses more than 4 194 304 links times classes. lufs computes a matrix of \
         features by features for up to 512 of these sparse ones, and products of their columns beyond. Every run is in \
         [networks.csv](networks.csv); `cargo xtask bench --networks` measures again.\n\n\
         ![CPU seconds against samples, links and features](networks.svg)\n"
    );
    for (name, place, sizes) in SWEEPS {
        let _ = writeln!(
            text,
            "\n## Against {name}\n\n| method | n | links | d | CPU seconds | memory, MiB | \
                                precision | ended | slope |\n|---|---|---|---|---|---|---|---|---|"
        );
        for (method, _) in METHODS {
            let along = along(points, method, &sizes);
            let slope = slope(&times(&along, place));
            for (at, point) in along.iter().enumerate() {
                let last = if at + 1 == along.len() { format!("{slope:.2}") } else { String::new() };
                line(&mut text, point, &last);
            }
        }
    }
    let large = points.iter().filter(|point| point.sweep == "large");
    let _ = writeln!(
        text,
        "\n## A large network\n\n| method | n | links | d | CPU seconds | memory, MiB | precision | \
                            ended | |\n|---|---|---|---|---|---|---|---|---|"
    );
    large.for_each(|point| line(&mut text, point, ""));
    text
}

fn line(text: &mut String, point: &Point, last: &str) {
    let seconds = point.figure(CPU);
    let memory = point.figure(MEMORY).into_iter().fold(0.0, f64::max);
    let [n, links, d] = point.sizes;
    let (precision, status) = point.runs.first().map_or((f64::NAN, ""), |run| (run.precision, &run.status));
    let _ = writeln!(
        text,
        "| {} | {n} | {links} | {d} | {:.2} ({:.2}) | {memory:.0} | {precision:.2} | {status} | {last} |",
        point.method,
        median(&seconds),
        minimum(&seconds),
    );
}

fn panel(points: &[Point], &(name, place, ref sizes): &(&str, usize, [Sizes; 4])) -> Panel {
    let mut series = Vec::new();
    for (method, _) in METHODS {
        let points = times(&along(points, method, sizes), place);
        if !points.is_empty() {
            let name = format!("{method}, slope {:.2}", slope(&points));
            series.push(Series { name, points, errors: Vec::new(), is_guide: false });
        }
    }
    if let Some(first) = series.first() {
        let points = linear_growth(&first.points);
        series.push(Series { name: "linear growth".to_owned(), points, errors: Vec::new(), is_guide: true });
    }
    Panel {
        title: format!("Time against {name}"),
        x_label: name.to_owned(),
        y_label: "CPU seconds".to_owned(),
        logarithmic: true,
        y_range: None,
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size that the sweeps share is part of each of them, the large one of none.
    #[test]
    fn sweeps_share_their_base() {
        let point = |sizes| Point { method: "fsnet", sweep: "", sizes, runs: Vec::new() };
        let points = [point(LARGE), point(BASE), point(quick(BASE)), point([10_000, 100_000, 500])];
        let sizes = |at: usize| along(&points, "fsnet", &SWEEPS[at].2).iter().map(|p| p.sizes).collect();
        let all: [Vec<Sizes>; 3] = [sizes(0), sizes(1), sizes(2)];
        assert_eq!(all[0], [quick(BASE), [10_000, 100_000, 500], BASE]);
        assert_eq!((&all[1], &all[2]), (&vec![quick(BASE), BASE], &vec![quick(BASE), BASE]));
    }
}
