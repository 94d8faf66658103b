//! Tables that compare our numbers with printed ones.

use std::fmt::Write;

use fewest::eval::significance::{TestResult, paired_differences, paired_t_test};

use super::experiments::Row;
use super::paired;
use crate::Result;
use crate::output::mean_and_error;

/// A cell as the paper prints it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printed {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, where it is printed.
    pub deviation: Option<f64>,
    /// The paper's own mark.
    pub mark: &'static str,
}

impl Printed {
    /// A mean and a standard deviation.
    pub(super) fn mean_and_deviation((mean, deviation): (f64, f64)) -> Option<Self> {
        Some(Self { mean, deviation: Some(deviation), mark: "" })
    }
}

/// Means that differ by at most this many standard errors of their difference count as equal.
const DIFFERENCE: f64 = 2.0;

/// The significance level of the papers.
const LEVEL: f64 = 0.05;

/// One line of a table: a data set with a number of features.
pub(super) struct Line<'a> {
    /// The text of its first cell.
    pub title: String,
    /// The data set.
    pub dataset: &'a str,
    /// The number of features.
    pub k: usize,
    /// What the paper prints, by method.
    pub printed: Vec<Option<Printed>>,
}

/// How a table is made.
pub(super) struct Comparison<'a> {
    /// The methods; the others are tested against the first.
    pub methods: &'a [&'static str],
    /// The index of the score.
    pub metric: usize,
    /// Scores are shown as multiples of this: 0.01 for percent.
    pub unit: f64,
    /// Digits after the point.
    pub digits: usize,
    /// Whether a larger score is better.
    pub greater_is_better: bool,
    /// Runs of the paper.
    pub paper_runs: f64,
}

/// How the cells are read; stands above a table.
pub(super) const LEGEND: &str = "Each cell is our mean ± standard deviation over the runs, then the paper's, then \
                          `=` where the two means are within two standard errors of their difference, `+` \
                          where ours is larger and `−` where it is smaller. `▾`: our first method is \
                          significantly better than this one by a paired t-test at 0.05, `▴`: significantly \
                          worse, both over our runs.\n";

impl Comparison<'_> {
    /// The table of `lines`, leaving out those without runs.
    pub(super) fn table(&self, rows: &[Row], lines: &[Line<'_>]) -> Result<String> {
        let mut text =
            format!("| | {} |\n|---|{}\n", self.methods.join(" | "), "---|".repeat(self.methods.len()));
        for line in lines {
            let first = self.values(rows, line, self.methods.first().copied().unwrap_or_default());
            if first.is_empty() {
                continue;
            }
            let _ = write!(text, "| {} |", line.title);
            for (at, method) in self.methods.iter().enumerate() {
                let values = self.values(rows, line, method);
                let printed = line.printed.get(at).copied().flatten();
                let mark = if at == 0 { "" } else { self.mark(&first, &values)? };
                let _ = write!(text, " {}{mark} |", self.cell(&values, printed));
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// The p-values of the tests behind the marks, against the first method.
    pub(super) fn p_values(&self, rows: &[Row], lines: &[Line<'_>]) -> Result<String> {
        let Some((first, others)) = self.methods.split_first() else { return Ok(String::new()) };
        let mut text = format!("| | {} |\n|---|{}\n", others.join(" | "), "---|".repeat(others.len()));
        for line in lines {
            let first = self.values(rows, line, first);
            if first.is_empty() {
                continue;
            }
            let _ = write!(text, "| {} |", line.title);
            for method in others {
                let _ = match test(&first, &self.values(rows, line, method))? {
                    None => write!(text, " — |"),
                    Some(test) => write!(text, " {} |", p_value(test.p_value)),
                };
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// The first method minus each other one, with the p-values of the paired t-test and the corrected one.
    pub(super) fn differences(&self, rows: &[Row], lines: &[Line<'_>], test_fraction: f64) -> Result<String> {
        let Some((first, others)) = self.methods.split_first() else { return Ok(String::new()) };
        let mut text = format!("| | {} |\n|---|{}\n", others.join(" | "), "---|".repeat(others.len()));
        for line in lines {
            let ours = self.by_run(rows, line, first);
            if ours.is_empty() {
                continue;
            }
            let _ = write!(text, "| {} |", line.title);
            for method in others {
                let difference =
                    paired::corrected(&ours, &self.by_run(rows, line, method), test_fraction, self.digits)?;
                let _ = write!(text, " {difference} |");
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// The scores of a method, by run.
    fn values(&self, rows: &[Row], line: &Line<'_>, method: &str) -> Vec<f64> {
        self.by_run(rows, line, method).into_iter().map(|(_, value)| value).collect()
    }

    /// The scores of a method, each with its run.
    fn by_run(&self, rows: &[Row], line: &Line<'_>, method: &str) -> Vec<(usize, f64)> {
        let chosen = |row: &&Row| row.dataset == line.dataset && row.method == method && row.k == line.k;
        let scores = rows.iter().filter(chosen).map(|row| (row.run, row.scores[self.metric] / self.unit));
        let mut scores: Vec<(usize, f64)> = scores.collect();
        scores.sort_by_key(|(run, _)| *run);
        scores
    }

    fn cell(&self, values: &[f64], printed: Option<Printed>) -> String {
        if values.is_empty() {
            return "—".to_owned();
        }
        let (mean, error) = mean_and_error(values);
        // Two more where only one or two would be left.
        let is_small = mean != 0.0 && mean.abs() < 10.0_f64.powi(2 - self.digits as i32);
        let digits = self.digits + if is_small { 2 } else { 0 };
        let show = |mean: f64, deviation: f64| format!("{mean:.digits$} ± {deviation:.digits$}");
        let ours = show(mean, error * (values.len() as f64).sqrt());
        match printed {
            None => ours,
            Some(Printed { mean, deviation: None, mark }) => format!("{ours} ({mean}{mark})"),
            Some(Printed { mean: theirs, deviation: Some(deviation), mark }) => {
                let spread = (error.powi(2) + deviation.powi(2) / self.paper_runs).sqrt();
                let verdict = match mean - theirs {
                    difference if difference.abs() <= DIFFERENCE * spread => "=",
                    difference if difference > 0.0 => "+",
                    _ => "−",
                };
                format!("{ours} ({}{mark} {verdict})", show(theirs, deviation))
            }
        }
    }

    fn mark(&self, first: &[f64], values: &[f64]) -> Result<&'static str> {
        Ok(match test(first, values)? {
            Some(test) if test.p_value < LEVEL && (test.statistic > 0.0) == self.greater_is_better => " ▾",
            Some(test) if test.p_value < LEVEL => " ▴",
            _ => "",
        })
    }
}

/// A p-value to three digits.
pub(super) fn p_value(p: f64) -> String {
    if p < 5e-4 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// The paired t-test of a method against the first one, where both have the same runs.
fn test(first: &[f64], values: &[f64]) -> Result<Option<TestResult>> {
    if values.len() != first.len() || values.len() < 2 {
        return Ok(None);
    }
    Ok(Some(paired_t_test(&paired_differences(first, values)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &'static str, run: usize, score: f64) -> Row {
        Row {
            dataset: "sonar",
            method,
            learner: String::new(),
            run,
            k: 10,
            features: Vec::new(),
            scores: vec![score],
            redundancy: 0.0,
            seconds: 0.0,
        }
    }

    #[test]
    fn cells_have_our_mean_the_papers_and_the_marks() {
        let mut rows: Vec<Row> = (0..4).map(|run| row("a", run, [0.80, 0.82, 0.81, 0.83][run])).collect();
        rows.extend((0..4).map(|run| row("b", run, [0.70, 0.73, 0.71, 0.74][run])));
        let comparison = Comparison {
            methods: &["a", "b", "c"],
            metric: 0,
            unit: 0.01,
            digits: 1,
            greater_is_better: true,
            paper_runs: 30.0,
        };
        let line = |dataset| Line {
            title: "x".into(),
            dataset,
            k: 10,
            printed: vec![
                Printed::mean_and_deviation((81.0, 2.0)),
                Printed::mean_and_deviation((90.0, 1.0)),
                None,
            ],
        };
        let text = comparison.table(&rows, &[line("sonar"), line("missing")]).unwrap();
        let last = text.lines().last().unwrap();
        assert_eq!(last, "| x | 81.5 ± 1.3 (81.0 ± 2.0 =) | 72.0 ± 1.8 (90.0 ± 1.0 −) ▾ | — |");
        let text = comparison.p_values(&rows, &[line("sonar"), line("missing")]).unwrap();
        assert_eq!(text, "| | b | c |\n|---|---|---|\n| x | <0.001 | — |\n");
        let losses = Comparison { greater_is_better: false, ..comparison };
        assert!(losses.table(&rows, &[line("sonar")]).unwrap().contains("▴"));
    }
}
