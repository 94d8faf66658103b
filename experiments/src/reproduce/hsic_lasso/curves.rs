//! Curves and tables of means against the number of features.

use std::fmt::Write;

use super::KS;
use crate::plot::{Panel, Series};
use crate::reproduce::experiments::{Method, Row, mean_of};

/// What is shown of a run.
pub(super) type Value = fn(&Row) -> f64;

/// The data sets with rows, in their order.
pub(super) fn datasets<'a>(rows: &'a [Row]) -> Vec<&'a str> {
    let mut names: Vec<&'a str> = Vec::new();
    for row in rows {
        if !names.contains(&row.dataset) {
            names.push(row.dataset);
        }
    }
    names
}

/// A panel of `title` and each data set, with a curve for each method.
pub(super) fn panels(rows: &[Row], title: &str, methods: &[Method], value: Value, label: &str) -> Vec<Panel> {
    let panel = |dataset: &str| {
        let series = methods.iter().filter_map(|method| {
            let (mut points, mut errors) = (Vec::new(), Vec::new());
            for &k in KS {
                let (mean, error) = mean(rows, dataset, method, k, value)?;
                points.push((k as f64, mean));
                errors.push(error);
            }
            Some(Series { name: method.name.to_owned(), points, errors, is_guide: false })
        });
        Panel {
            title: format!("{title}{dataset}"),
            x_label: "selected features".to_owned(),
            y_label: label.to_owned(),
            logarithmic: false,
            y_range: None,
            series: series.collect(),
        }
    };
    datasets(rows).into_iter().map(panel).collect()
}

/// The table of means and standard errors, a line for each data set and method.
pub(super) fn table(rows: &[Row], methods: &[Method], value: Value, digits: usize) -> String {
    let mut text = String::from("| data | method |");
    for k in KS {
        let _ = write!(text, " m = {k} |");
    }
    let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(KS.len()));
    for dataset in datasets(rows) {
        for method in methods {
            let _ = write!(text, "| {dataset} | {} |", method.name);
            for &k in KS {
                let _ = match mean(rows, dataset, method, k, value) {
                    Some((mean, error)) => write!(text, " {mean:.digits$} ± {error:.digits$} |"),
                    None => write!(text, " — |"),
                };
            }
            text.push('\n');
        }
    }
    text
}

/// Mean and standard error over the runs.
pub(super) fn mean(
    rows: &[Row],
    dataset: &str,
    method: &Method,
    k: usize,
    value: Value,
) -> Option<(f64, f64)> {
    let chosen = |row: &Row| row.dataset == dataset && row.method == method.name && row.k == k;
    mean_of(rows, chosen, value)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{HSIC_LASSO, NOCCO_LASSO};
    use super::*;

    pub(in crate::reproduce::hsic_lasso) fn row(
        dataset: &'static str,
        method: &'static str,
        run: usize,
        score: f64,
    ) -> Row {
        Row {
            dataset,
            method,
            learner: String::new(),
            run,
            k: 50,
            features: Vec::new(),
            scores: vec![score],
            redundancy: 0.2,
            seconds: 1.0,
        }
    }

    #[test]
    fn tables_and_panels_have_the_means() {
        let mut rows = vec![row("TOX", "HSIC Lasso", 0, 0.8), row("TOX", "HSIC Lasso", 1, 0.9)];
        let text = table(&rows, &[HSIC_LASSO, NOCCO_LASSO], |row| row.scores[0], 2);
        assert!(text.contains("| TOX | HSIC Lasso | — | — | — | — | 0.85 ± 0.05 |\n"), "{text}");
        // A curve needs all its points.
        let value: Value = |row| row.scores[0];
        assert!(panels(&rows, "", &[HSIC_LASSO], value, "y")[0].series.is_empty());
        for k in KS {
            rows.push(Row { k: *k, ..row("PIE10P", "HSIC Lasso", 0, 0.1 * *k as f64) });
        }
        let panels = panels(&rows, "(a) ", &[HSIC_LASSO, NOCCO_LASSO], value, "y");
        assert_eq!((panels.len(), panels[1].title.as_str()), (2, "(a) PIE10P"));
        assert_eq!(panels[1].series.len(), 1);
        assert_eq!(panels[1].series[0].points[1], (20.0, 2.0));
    }
}
