//! `cargo xtask bench --scaling`: how time and memory grow with samples and with features.

use std::fmt::Write;

use super::cases::Source;
use super::programs::{Run, build_ours, run_ours};
use super::{Arguments, MEBIBYTE};
use crate::output::{Documents, median, minimum};
use crate::plot::{Panel, Series, lines};
use crate::{Result, machine, workspace};

/// Features to select.
const K: usize = 20;

/// Samples, at this number of features.
const SAMPLES: (&[usize], usize) = (&[1000, 2000, 4000, 8000, 16_000, 32_000, 64_000], 500);

/// Features, at this number of samples.
const FEATURES: (&[usize], usize) = (&[500, 1000, 2000, 4000, 8000, 16_000, 32_000], 500);

const HEADER: &[&str] =
    &["sweep", "n", "d", "k", "repetition", "threads", "seconds", "process_seconds", "peak_rss_bytes"];

/// A sweep's points with all their runs.
struct Sweep {
    name: &'static str,
    points: Vec<(usize, usize, Vec<Run>)>,
}

impl Sweep {
    /// `(size, median seconds)`.
    fn times(&self) -> Vec<(f64, f64)> {
        let by_samples = self.name == "n";
        self.points
            .iter()
            .map(|(n, d, runs)| {
                let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
                (if by_samples { *n } else { *d } as f64, median(&seconds))
            })
            .collect()
    }
}

/// Measures both sweeps on Data2; writes `docs/benchmarks/scaling.csv`, `.md` and `.svg`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let scratch = workspace::root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let json = scratch.join("answer.json");
    let program = build_ours()?;
    let mut facts = machine::facts();
    facts.push(("threads", arguments.threads.to_string()));
    let by_samples = SAMPLES.0.iter().map(|&n| (n, SAMPLES.1)).collect::<Vec<_>>();
    let by_features = FEATURES.0.iter().map(|&d| (FEATURES.1, d)).collect::<Vec<_>>();
    let mut sweeps = Vec::new();
    for (name, sizes) in [("n", by_samples), ("d", by_features)] {
        if !name.contains(&arguments.only) {
            continue;
        }
        let mut points = Vec::new();
        for (n, d) in sizes {
            let source = Source::Data2 { n, d };
            let files = source.files(None, &scratch)?;
            let runs = (0..arguments.repetitions)
                .map(|_| run_ours(&program, &files, source, K, arguments.threads, &json))
                .collect::<Result<Vec<_>>>()?;
            files.remove()?;
            eprintln!("n = {n}, d = {d}: {:.3} s", runs[0].seconds);
            points.push((n, d, runs));
        }
        sweeps.push(Sweep { name, points });
    }
    let documents = Documents::new(workspace::root().join("docs/benchmarks"), facts);
    documents.csv("scaling", HEADER, &rows(&sweeps, arguments.threads))?;
    documents.page("scaling", summary(&sweeps))?;
    lines(&documents.path("scaling.svg"), &sweeps.iter().map(panel).collect::<Vec<_>>())
}

fn rows(sweeps: &[Sweep], threads: u32) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for sweep in sweeps {
        for (n, d, runs) in &sweep.points {
            for (repetition, run) in runs.iter().enumerate() {
                rows.push(vec![
                    sweep.name.to_owned(),
                    n.to_string(),
                    d.to_string(),
                    K.to_string(),
                    (repetition + 1).to_string(),
                    threads.to_string(),
                    format!("{:.6}", run.seconds),
                    format!("{:.6}", run.measured.process_seconds),
                    run.measured.peak_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
                ]);
            }
        }
    }
    rows
}

fn summary(sweeps: &[Sweep]) -> String {
    let mut text = format!(
        "# How HSIC Lasso grows\n\nData2, k = {K}, full estimator, median (smallest) seconds of kernels and \
         lasso. The slope is that of a straight line through the points on two logarithmic scales: 1 is \
         linear growth. Every run is in [scaling.csv](scaling.csv).\n\n![Seconds against samples and against \
         features](scaling.svg)\n"
    );
    for sweep in sweeps {
        let all = sweep.times();
        let _ = writeln!(
            text,
            "\n## Against {}\n\nSlope {:.2}; over the upper half of the sizes {:.2}.\n\n| n | d | seconds | \
             memory, MiB |\n|---|---|---|---|",
            if sweep.name == "n" { "samples" } else { "features" },
            slope(&all),
            slope(upper_half(&all)),
        );
        for (n, d, runs) in &sweep.points {
            let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
            let peak = runs.iter().filter_map(|run| run.measured.peak_bytes).max().unwrap_or(0);
            let _ = writeln!(
                text,
                "| {n} | {d} | {:.3} ({:.3}) | {:.0} |",
                median(&seconds),
                minimum(&seconds),
                peak as f64 / MEBIBYTE
            );
        }
    }
    text
}

fn panel(sweep: &Sweep) -> Panel {
    let points = sweep.times();
    let linear = linear_growth(&points);
    let (what, fixed) = match sweep.name {
        "n" => ("samples", format!("d = {}", SAMPLES.1)),
        _ => ("features", format!("n = {}", FEATURES.1)),
    };
    let measured = format!("HSIC Lasso, k = {K}, slope {:.2}", slope(upper_half(&points)));
    Panel {
        title: format!("Time against {what}, {fixed}"),
        x_label: format!("{what} ({})", sweep.name),
        y_label: "seconds".to_owned(),
        logarithmic: true,
        y_range: None,
        series: vec![
            Series { name: measured, points, errors: Vec::new(), is_guide: false },
            Series { name: "linear growth".to_owned(), points: linear, errors: Vec::new(), is_guide: true },
        ],
    }
}

/// A line of slope 1 through the last point, for comparison.
pub(super) fn linear_growth(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points
        .last()
        .map(|&(last, seconds)| points.iter().map(|&(size, _)| (size, seconds * size / last)).collect())
        .unwrap_or_default()
}

fn upper_half(points: &[(f64, f64)]) -> &[(f64, f64)] {
    &points[points.len() / 2..]
}

/// The slope of the least-squares line through `(ln x, ln y)`.
pub(super) fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let products: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let squares: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 5.0, 7.0].map(|x: f64| (x, 3.0 * x.powf(1.5))).to_vec();
        assert!((slope(&points) - 1.5).abs() < 1e-12);
    }
}
