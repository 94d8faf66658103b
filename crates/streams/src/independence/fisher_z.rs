//! Fisher's z of partial correlations.

use super::{Correlations, Tested};
use crate::tails;

/// What is left of a variance of 1 if other features explain it but for rounding.
const EXPLAINED: f64 = 1e-10;

/// The test of a (partial) correlation given `n_given` features.
pub(super) fn tested(correlation: f64, n: usize, n_given: usize) -> Tested {
    let dependence = correlation.abs().min(1.0);
    let p_value =
        (n > n_given + 3).then(|| tails::normal(((n - n_given - 3) as f64).sqrt() * dependence.atanh()));
    Tested { p_value, dependence }
}

/// Feature `x` against the target given the features `given`: what is left of their covariance, in units of
/// what is left of their variances, after all of `given` have been eliminated.
pub(super) fn partial(correlations: &Correlations, x: usize, given: &[usize], n: usize) -> Tested {
    let size = given.len() + 2;
    let names: Vec<usize> = given.iter().copied().chain([x]).collect();
    let target = size - 1;
    let mut matrix = vec![1.0; size * size];
    for (i, &a) in names.iter().enumerate() {
        for (j, &b) in names.iter().enumerate() {
            matrix[i * size + j] = correlations.of(a, b);
        }
        matrix[i * size + target] = correlations.with_target[a];
        matrix[target * size + i] = correlations.with_target[a];
    }
    for pivot in 0..given.len() {
        let left = matrix[pivot * size + pivot];
        // It follows from those eliminated before it, and explains nothing more.
        if left <= EXPLAINED {
            continue;
        }
        for i in pivot + 1..size {
            let factor = matrix[i * size + pivot] / left;
            for j in pivot + 1..size {
                matrix[i * size + j] -= factor * matrix[pivot * size + j];
            }
        }
    }
    let (own, its) = (matrix[(size - 2) * size + size - 2], matrix[target * size + target]);
    if own <= EXPLAINED || its <= EXPLAINED {
        return Tested::INDEPENDENT;
    }
    tested(matrix[(size - 2) * size + target] / (own * its).sqrt(), n, given.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursion of partial correlations, given one feature and given two.
    #[test]
    fn elimination_gives_the_partial_correlation() {
        let correlations = Correlations {
            rows: vec![vec![], vec![0.3], vec![-0.2, 0.5]],
            with_target: vec![0.4, 0.6, -0.1],
        };
        let r = |a: usize, b: usize| match (a, b) {
            (3, b) => correlations.with_target[b],
            (a, 3) => correlations.with_target[a],
            _ => correlations.of(a, b),
        };
        let step = |xy: f64, xz: f64, yz: f64| (xy - xz * yz) / ((1.0 - xz * xz) * (1.0 - yz * yz)).sqrt();
        let one = |x: usize, y: usize, z: usize| step(r(x, y), r(x, z), r(y, z));
        let two = |x: usize, y: usize, z: usize, s: usize| step(one(x, y, s), one(x, z, s), one(y, z, s));
        let found = partial(&correlations, 0, &[1], 30);
        assert!((found.dependence - one(0, 3, 1).abs()).abs() < 1e-14);
        let found = partial(&correlations, 0, &[1, 2], 30);
        assert!((found.dependence - two(0, 3, 1, 2).abs()).abs() < 1e-14);
        assert_eq!(found, tested(two(0, 3, 1, 2), 30, 2).close_to(found));
        assert_eq!(tested(0.5, 5, 2).p_value, None);
        assert_eq!(tested(1.0, 9, 0).p_value, Some(0.0));
    }

    impl Tested {
        /// `other`, where it is as good as equal.
        fn close_to(self, other: Self) -> Self {
            let (Some(a), Some(b)) = (self.p_value, other.p_value) else { return self };
            if (a - b).abs() < 1e-12 { other } else { self }
        }
    }

    #[test]
    fn a_feature_that_others_explain_is_independent() {
        // Feature 1 repeats feature 0.
        let correlations =
            Correlations { rows: vec![vec![], vec![1.0], vec![0.5, 0.5]], with_target: vec![0.7, 0.7, 0.2] };
        assert_eq!(partial(&correlations, 1, &[0], 50), Tested::INDEPENDENT);
        // A repeated condition changes nothing but the degrees of freedom.
        let once = partial(&correlations, 2, &[0], 50);
        let twice = partial(&correlations, 2, &[0, 1], 50);
        assert!((once.dependence - twice.dependence).abs() < 1e-14);
    }
}
