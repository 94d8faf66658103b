//! Tests for differences between paired measurements. All tests are two-sided.

use fewest_core::{Error, order};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestResult {
    /// The test statistic.
    pub statistic: f64,
    /// The probability, without a true difference, of a statistic at least as extreme. In `[0, 1]`.
    pub p_value: f64,
}

/// Differences below this share of the largest score are rounding. The rounding of a mean over `F` folds is
/// at most `F ε`, 4 · 10⁻¹³ over 2000 folds; accuracies over folds of `n` and `m` samples differ by at least
/// `1 / (F n m)`, if at all.
const ROUNDING: f64 = 1e-12;

/// Whether two scores are equal but for rounding, where the largest score they are made of is `largest`.
pub(crate) fn equal(a: f64, b: f64, largest: f64) -> bool {
    (a - b).abs() < ROUNDING * largest
}

/// The differences of paired scores, first minus second, for the tests. One below 10⁻¹² of the largest
/// score is 0: equal scores often have the same rounding error in every pair, which would be significant.
///
/// ```
/// use fewest_eval::significance::{paired_differences, paired_t_test};
///
/// let differences = paired_differences(&[0.1 + 0.2, 0.7, 0.7 + 0.1], &[0.3, 0.7, 0.8])?;
/// assert_eq!(paired_t_test(&differences)?.p_value, 1.0);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] for different numbers of scores.
pub fn paired_differences(first: &[f64], second: &[f64]) -> Result<Vec<f64>, Error> {
    let (expected, found) = (first.len(), second.len());
    if found != expected {
        return Err(Error::ShapeMismatch { what: "paired scores", expected, found });
    }
    let largest = first.iter().chain(second).fold(0.0_f64, |largest, score| largest.max(score.abs()));
    let difference = |(a, b): (&f64, &f64)| {
        let difference = a - b;
        // Values that are not finite are kept; the tests refuse them.
        if equal(*a, *b, largest) { 0.0 } else { difference }
    };
    Ok(first.iter().zip(second).map(difference).collect())
}

/// Number of differences up to which Wilcoxon's distribution is computed exactly.
const EXACT_UP_TO: usize = 50;

fn check(differences: &[f64]) -> Result<(), Error> {
    if differences.len() < 2 {
        let (what, minimum) = ("paired differences", 2);
        return Err(Error::TooFew { what, minimum, found: differences.len() });
    }
    match differences.iter().find(|difference| !difference.is_finite()) {
        None => Ok(()),
        Some(difference) => Err(Error::parameter("differences", difference, "finite")),
    }
}

/// `t = d̄ / √(scale · s²)` with `n − 1` degrees of freedom.
fn t_test(differences: &[f64], scale: f64) -> Result<TestResult, Error> {
    check(differences)?;
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if mean == 0.0 {
        return Ok(TestResult { statistic: 0.0, p_value: 1.0 });
    }
    // Without variance the statistic is infinite and the p-value zero.
    let statistic = mean / (scale * variance).sqrt();
    if statistic.is_infinite() {
        return Ok(TestResult { statistic, p_value: 0.0 });
    }
    let distribution = StudentsT::new(0.0, 1.0, n - 1.0)
        .map_err(|error| Error::Numerical { what: "Student's distribution", hint: error.to_string() })?;
    Ok(TestResult { statistic, p_value: (2.0 * distribution.cdf(-statistic.abs())).min(1.0) })
}

/// Student's t-test that paired differences have mean zero: `t = d̄ / √(s²/n)`, `n − 1` degrees of freedom.
///
/// # Errors
/// [`Error::TooFew`] for fewer than two differences, [`Error::InvalidParameter`] for one that is not finite.
pub fn paired_t_test(differences: &[f64]) -> Result<TestResult, Error> {
    t_test(differences, 1.0 / differences.len() as f64)
}

/// The corrected resampled t-test of Nadeau and Bengio (2003): `t = d̄ / √((1/J + n_test/n_train) s²)` with
/// `J − 1` degrees of freedom, for differences of scores on `J` splits whose training parts overlap.
///
/// ```
/// use fewest_eval::significance::{corrected_resampled_t_test, paired_t_test};
///
/// let differences = [0.02, 0.05, -0.01, 0.03, 0.04];
/// let (plain, corrected) = (paired_t_test(&differences)?, corrected_resampled_t_test(&differences, 0.25)?);
/// assert!(corrected.p_value > plain.p_value);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// As [`paired_t_test`], and for a `test_train_ratio` that is not a finite number of at least 0.
pub fn corrected_resampled_t_test(differences: &[f64], test_train_ratio: f64) -> Result<TestResult, Error> {
    if !(test_train_ratio.is_finite() && test_train_ratio >= 0.0) {
        return Err(Error::parameter("test_train_ratio", test_train_ratio, "finite and not negative"));
    }
    t_test(differences, 1.0 / differences.len() as f64 + test_train_ratio)
}

/// Wilcoxon's signed-rank test that paired differences are symmetric around zero. The statistic is the
/// smaller of the rank sums of positive and of negative differences; zeros are left out, ties share their
/// mean rank.
///
/// Exact up to 50 differences, also with ties (every assignment of signs to the ranks is counted,
/// `O(n³)`); beyond that the normal approximation with the variance corrected for ties, without continuity
/// correction.
///
/// # Errors
/// [`Error::TooFew`] for fewer than two differences, [`Error::InvalidParameter`] for one that is not finite.
pub fn wilcoxon_signed_rank(differences: &[f64]) -> Result<TestResult, Error> {
    check(differences)?;
    let changes: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    let n = changes.len();
    if n == 0 {
        return Ok(TestResult { statistic: 0.0, p_value: 1.0 });
    }
    let sizes: Vec<f64> = changes.iter().map(|value| value.abs()).collect();
    let by_size: Vec<f64> = order::ascending(&sizes).into_iter().map(|at| changes[at]).collect();
    // Twice the ranks: mean ranks of ties are halves, so these are whole numbers.
    let mut ranks = Vec::with_capacity(n);
    let mut tie_correction = 0.0;
    for tied in by_size.chunk_by(|a, b| a.abs() == b.abs()) {
        let (first, size) = (ranks.len() + 1, tied.len());
        ranks.resize(ranks.len() + size, 2 * first + size - 1);
        let size = size as f64;
        tie_correction += size * (size * size - 1.0);
    }
    let total: usize = ranks.iter().sum();
    let positive: usize =
        ranks.iter().zip(&by_size).filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank).sum();
    let smaller = positive.min(total - positive);
    let statistic = smaller as f64 / 2.0;
    let p_value = if n <= EXACT_UP_TO {
        // The number of sets of ranks by their sum; at most 2⁵⁰, so exact in f64.
        let mut sets = vec![0.0_f64; total + 1];
        sets[0] = 1.0;
        for &rank in &ranks {
            for sum in (rank..=total).rev() {
                sets[sum] += sets[sum - rank];
            }
        }
        2.0 * sets[..=smaller].iter().sum::<f64>() / 2.0_f64.powi(n as i32)
    } else {
        let n = n as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_correction / 48.0;
        let z = (statistic - n * (n + 1.0) / 4.0) / variance.sqrt();
        2.0 * Normal::standard().cdf(z)
    };
    Ok(TestResult { statistic, p_value: p_value.min(1.0) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAMPLE: [f64; 10] = [0.021, -0.013, 0.034, 0.052, -0.008, 0.011, 0.027, 0.045, -0.002, 0.019];
    const TIED: [f64; 9] = [0.1, -0.1, 0.2, 0.2, -0.2, 0.3, 0.4, 0.0, 0.5];

    fn close(result: TestResult, statistic: f64, p_value: f64) {
        assert!((result.statistic - statistic).abs() < 1e-9 * (1.0 + statistic.abs()), "{result:?}");
        assert!((result.p_value - p_value).abs() < 1e-9, "{result:?}");
    }

    #[test]
    fn values_of_scipy() {
        // scipy 1.17.1: stats.ttest_1samp(x, 0), stats.wilcoxon(x, method="exact")
        close(paired_t_test(&SAMPLE).unwrap(), 2.686420514856929, 0.02494233607854011);
        close(wilcoxon_signed_rank(&SAMPLE).unwrap(), 7.0, 0.037109375);
        // stats.t.sf with the scale written out.
        close(corrected_resampled_t_test(&SAMPLE, 0.25).unwrap(), 1.4359521661993546, 0.18484743411746823);
        // All 2⁸ assignments of signs, by itertools.
        close(wilcoxon_signed_rank(&TIED).unwrap(), 5.5, 0.1015625);
        // stats.wilcoxon(x, method="approx", correction=False) with ties, n = 60.
        let long: Vec<f64> = (0..60).map(|i| f64::from((i * 37) % 23 - 9) / 10.0).collect();
        close(wilcoxon_signed_rank(&long).unwrap(), 595.0, 0.04353205576279501);
    }

    #[test]
    fn differences_without_variance() {
        assert_eq!(paired_t_test(&[0.0, 0.0]).unwrap().p_value, 1.0);
        assert_eq!(paired_t_test(&[0.5, 0.5]).unwrap().p_value, 0.0);
        assert_eq!(wilcoxon_signed_rank(&[0.0, 0.0]).unwrap().p_value, 1.0);
    }

    #[test]
    fn rounding_is_no_difference() {
        let first: Vec<f64> = (0..10).map(|i| 0.7 + 0.02 * f64::from(i)).collect();
        let second: Vec<f64> = first.iter().map(|score| score.next_up()).collect();
        let raw: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a - b).collect();
        let equal = paired_differences(&first, &second).unwrap();
        // Scores that are better by 10⁻⁹ are different.
        let better: Vec<f64> = first.iter().map(|score| score + 1e-9).collect();
        let different = paired_differences(&first, &better).unwrap();
        let corrected = |differences: &[f64]| corrected_resampled_t_test(differences, 0.25);
        for test in [paired_t_test, corrected, wilcoxon_signed_rank] {
            assert!(test(&raw).unwrap().p_value < 0.05, "rounding looks significant");
            assert_eq!(test(&equal).unwrap().p_value, 1.0);
            assert!(test(&different).unwrap().p_value < 0.05);
        }
        assert_eq!(paired_differences(&SAMPLE, &[0.0; 10]).unwrap(), SAMPLE);
    }

    #[test]
    fn scores_that_are_not_finite_stay_so() {
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for score in bad {
            for differences in [
                paired_differences(&[0.5, score], &[0.5, 0.5]),
                paired_differences(&[score, 0.5], &[score, 0.5]),
            ] {
                assert!(matches!(paired_t_test(&differences.unwrap()), Err(Error::InvalidParameter { .. })));
            }
        }
        assert!(matches!(
            paired_differences(&[0.5], &[]),
            Err(Error::ShapeMismatch { expected: 1, found: 0, .. })
        ));
    }

    #[test]
    fn hostile_differences_are_errors() {
        for test in [paired_t_test, wilcoxon_signed_rank] {
            assert!(matches!(test(&[]), Err(Error::TooFew { .. })));
            assert!(matches!(test(&[1.0]), Err(Error::TooFew { .. })));
            assert!(matches!(test(&[1.0, f64::NAN]), Err(Error::InvalidParameter { .. })));
        }
        assert!(corrected_resampled_t_test(&[1.0, 2.0], f64::NAN).is_err());
        assert!(corrected_resampled_t_test(&[1.0, 2.0], -1.0).is_err());
    }

    proptest! {
        #[test]
        fn changing_all_signs_changes_no_p_value(values in prop::collection::vec(-3_i32..4, 2..80)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let negated: Vec<f64> = values.iter().map(|value| -value).collect();
            for test in [paired_t_test, wilcoxon_signed_rank] {
                let (a, b) = (test(&values).unwrap().p_value, test(&negated).unwrap().p_value);
                prop_assert_eq!(a, b);
                prop_assert!((0.0..=1.0).contains(&a));
            }
        }
    }
}
