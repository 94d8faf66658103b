//! The agreement of two results.

use std::collections::BTreeSet;

/// The number of features in both lists, and whether their order is the same.
pub(super) fn of_features(ours: &[u64], theirs: &[u64]) -> String {
    if ours == theirs {
        return format!("all {}, in the same order", ours.len());
    }
    let set: BTreeSet<u64> = ours.iter().copied().collect();
    let common = theirs.iter().filter(|feature| set.contains(feature)).count();
    let first = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    format!("{common} of {}, the first {first} in the same order", ours.len())
}

/// Spearman's rank correlation; `None` when there is nothing to correlate.
pub(super) fn of_scores(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    if ours.is_empty() || ours.len() != theirs.len() {
        return None;
    }
    let (a, b) = (ranks(ours), ranks(theirs));
    let mean = 0.5 * (ours.len() as f64 - 1.0);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    Some(product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt())
}

/// The rank of each value from 0; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        for &i in run {
            ranks[i] = first as f64 + 0.5 * (run.len() as f64 - 1.0);
        }
        first += run.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_compared() {
        assert_eq!(of_features(&[4, 2], &[4, 2]), "all 2, in the same order");
        assert_eq!(of_features(&[4, 2, 7], &[4, 7, 9]), "2 of 3, the first 1 in the same order");
    }

    #[test]
    fn only_ranks_matter() {
        assert_eq!(of_scores(&[1.0, 2.0, 30.0], &[-5.0, -4.0, 0.0]), Some(1.0));
        assert_eq!(of_scores(&[1.0, 2.0, 30.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
        assert_eq!(of_scores(&[], &[]), None);
    }
}
