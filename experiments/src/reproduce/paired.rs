//! Differences between methods, tested on the runs that both have.

use fewest::eval::significance::{corrected_resampled_t_test, paired_differences, paired_t_test};

use crate::Result;
use crate::output::mean_and_error;
use crate::reproduce::comparison::p_value;

/// How the table is read.
pub(super) const LEGEND: &str = "Each cell is the mean difference over the runs, then two p-values: of the \
                                 paired t-test, which takes the runs as independent, and of the corrected \
                                 resampled t-test of Nadeau and Bengio (2003), which allows for the samples \
                                 that the runs share. We call a difference a lead when the second is below \
                                 0.05. The p-values are not adjusted for the number of tests.\n";

/// The mean difference of values by run and both p-values, where this share of the samples is for the test.
pub(super) fn corrected(
    first: &[(usize, f64)],
    second: &[(usize, f64)],
    test_fraction: f64,
    digits: usize,
) -> Result<String> {
    let Some(differences) = by_run(first, second)? else { return Ok("—".to_owned()) };
    let plain = paired_t_test(&differences)?.p_value;
    let shared = test_fraction / (1.0 - test_fraction);
    let corrected = corrected_resampled_t_test(&differences, shared)?.p_value;
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
