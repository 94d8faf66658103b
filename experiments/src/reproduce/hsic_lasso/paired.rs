//! Differences between methods, tested on the runs that both have.

use std::fmt::Write;

use fewest::eval::significance::{corrected_resampled_t_test, paired_differences, paired_t_test};

use super::curves::{Value, datasets};
use super::{KS, TEST_FRACTION};
use crate::Result;
use crate::output::mean_and_error;
use crate::reproduce::comparison::p_value;
use crate::reproduce::experiments::{Method, Row};

/// How the table is read.
pub(super) const LEGEND: &str = "Each cell is the mean difference over the runs, then two p-values: of the \
                                 paired t-test, which takes the runs as independent, and of the corrected \
                                 resampled t-test of Nadeau and Bengio (2003), which allows for the samples \
                                 that the runs share. We call a difference a lead when the second is below \
                                 0.05. The p-values are not adjusted for the number of tests.\n";

/// The first method minus each other one at the largest number of features, with both p-values.
pub(super) fn table(rows: &[Row], methods: &[Method], value: Value, digits: usize) -> Result<String> {
    let Some((first, others)) = methods.split_first() else { return Ok(String::new()) };
    let largest = KS.iter().copied().max().unwrap_or(0);
    let mut text = format!("| {} minus |", first.name);
    for method in others {
        let _ = write!(text, " {} |", method.name);
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(others.len()));
    for dataset in datasets(rows) {
        let values = |method: &Method| -> Vec<(usize, f64)> {
            let chosen = |row: &&Row| row.dataset == dataset && row.method == method.name && row.k == largest;
            rows.iter().filter(chosen).map(|row| (row.run, value(row))).collect()
        };
        let ours = values(first);
        let _ = write!(text, "| {dataset} |");
        for method in others {
            let _ = write!(text, " {} |", cell(&ours, &values(method), digits)?);
        }
        text.push('\n');
    }
    Ok(text)
}

/// The difference of values by run, with the corrected test too.
fn cell(first: &[(usize, f64)], second: &[(usize, f64)], digits: usize) -> Result<String> {
    let Some(differences) = by_run(first, second)? else { return Ok("—".to_owned()) };
    let plain = paired_t_test(&differences)?.p_value;
    let corrected = corrected_resampled_t_test(&differences, TEST_FRACTION / (1.0 - TEST_FRACTION))?.p_value;
    Ok(format!("{:+.digits$} ({}; {})", mean(&differences), p_value(plain), p_value(corrected)))
}

/// The mean difference of values by run and the p-value of the paired t-test, for runs that are independent.
pub(super) fn difference(first: &[(u64, f64)], second: &[(u64, f64)], digits: usize) -> Result<String> {
    let Some(differences) = by_run(first, second)? else { return Ok("—".to_owned()) };
    Ok(format!("{:+.digits$} ({})", mean(&differences), p_value(paired_t_test(&differences)?.p_value)))
}

fn mean(values: &[f64]) -> f64 {
    mean_and_error(values).0
}

/// The differences of the runs that both have; `None` if these are fewer than two.
fn by_run<R: PartialEq>(first: &[(R, f64)], second: &[(R, f64)]) -> Result<Option<Vec<f64>>> {
    let both = first.iter().filter_map(|(run, ours)| {
        let (_, theirs) = second.iter().find(|(other, _)| other == run)?;
        Some((*ours, *theirs))
    });
    let (ours, theirs): (Vec<f64>, Vec<f64>) = both.unzip();
    Ok(if ours.len() < 2 { None } else { Some(paired_differences(&ours, &theirs)?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::hsic_lasso::curves::tests::row;
    use crate::reproduce::hsic_lasso::{HSIC_LASSO, MRMR};

    #[test]
    fn runs_that_both_have_are_compared() {
        let mut rows: Vec<Row> =
            (0..3).map(|run| row("TOX", "HSIC Lasso", run, [0.8, 0.9, 0.3][run])).collect();
        rows.extend([row("TOX", "mRMR", 1, 0.8), row("TOX", "mRMR", 0, 0.6)]);
        let text = table(&rows, &[HSIC_LASSO, MRMR], |row| row.scores[0], 3).unwrap();
        // Differences 0.2 and 0.1: t = 3 with a degree of freedom, so p = 1 − 2 atan(3)/π = 0.205; corrected
        // by 1/2 + 1/4 for 1/2, t = 3 √(2/3) and p = 1 − 2 atan(2.449)/π = 0.247.
        assert_eq!(text, "| HSIC Lasso minus | mRMR |\n|---|---|\n| TOX | +0.150 (0.205; 0.247) |\n");
        let one = [rows[0].clone(), rows[3].clone()];
        assert!(table(&one, &[HSIC_LASSO, MRMR], |row| row.scores[0], 3).unwrap().contains("| — |"));
    }
}
