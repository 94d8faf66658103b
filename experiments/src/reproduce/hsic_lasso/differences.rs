//! Differences between methods at the largest number of features.

use std::fmt::Write;

use super::curves::{Value, datasets};
use super::{KS, TEST_FRACTION};
use crate::Result;
use crate::reproduce::experiments::{Method, Row};
use crate::reproduce::paired::corrected;

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
            let _ = write!(text, " {} |", corrected(&ours, &values(method), TEST_FRACTION, digits)?);
        }
        text.push('\n');
    }
    Ok(text)
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
