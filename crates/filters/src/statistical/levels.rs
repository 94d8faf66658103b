//! Counts of levels by class, and ranks.

/// `counts[level + class · n_levels]`.
pub(super) fn contingency(levels: &[u32], n_levels: usize, classes: &[u32], n_classes: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n_levels * n_classes];
    for (&level, &class) in levels.iter().zip(classes) {
        counts[level as usize + class as usize * n_levels] += 1.0;
    }
    counts
}

/// Ranks from 1; equal values share the mean of their ranks.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let value = values[order[first]];
        let tied = order[first..].iter().take_while(|&&i| values[i] == value).count();
        let rank = first as f64 + (tied as f64 + 1.0) / 2.0;
        for &i in &order[first..first + tied] {
            ranks[i] = rank;
        }
        first += tied;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_ranks() {
        let values = [3.0, -0.0, 7.0, 0.0, 3.0, 3.0];
        assert_eq!(ranks(&values), [4.0, 1.5, 6.0, 1.5, 4.0, 4.0]);
    }
}
