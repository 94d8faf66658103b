//! Average-linkage clustering of the chosen features, for the order of the heatmap.

/// Two merged clusters: leaves are numbered from 0, the cluster of merge `m` is `n_leaves + m`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Merge {
    pub left: usize,
    pub right: usize,
    /// Average distance between the members of the two.
    pub height: f64,
}

/// Agglomerative clustering by average distance (UPGMA) of `n` leaves with distance `(i, j)` at `i + j * n`.
///
/// Ties go to the pair with the lower numbers. `O(n³)`: for the few features of a drawing.
pub(super) fn average_linkage(distances: &[f64], n: usize) -> Vec<Merge> {
    let mut between = distances.to_vec();
    // Row `i` of `between` stands for cluster `cluster[i]` of `size[i]` leaves while `alive[i]`.
    let mut cluster: Vec<usize> = (0..n).collect();
    let mut size = vec![1.0_f64; n];
    let mut alive: Vec<usize> = (0..n).collect();
    let mut merges = Vec::new();
    while alive.len() > 1 {
        let mut nearest = (f64::INFINITY, alive[0], alive[1]);
        for (at, &i) in alive.iter().enumerate() {
            for &j in &alive[at + 1..] {
                if between[i + j * n] < nearest.0 {
                    nearest = (between[i + j * n], i, j);
                }
            }
        }
        let (height, i, j) = nearest;
        merges.push(Merge { left: cluster[i], right: cluster[j], height });
        alive.retain(|&other| other != j);
        for &other in alive.iter().filter(|&&other| other != i) {
            let average =
                (size[i] * between[i + other * n] + size[j] * between[j + other * n]) / (size[i] + size[j]);
            between[i + other * n] = average;
            between[other + i * n] = average;
        }
        size[i] += size[j];
        cluster[i] = n + merges.len() - 1;
    }
    merges
}

/// The leaves in an order for which the drawing of `merges` has no crossing lines; the cluster with the
/// lower leaf first.
pub(super) fn leaf_order(merges: &[Merge], n: usize) -> Vec<usize> {
    let mut members: Vec<Vec<usize>> = (0..n).map(|leaf| vec![leaf]).collect();
    for merge in merges {
        let left = std::mem::take(&mut members[merge.left]);
        let right = std::mem::take(&mut members[merge.right]);
        let best = |leaves: &[usize]| leaves.iter().copied().min();
        let (mut first, second) = if best(&left) <= best(&right) { (left, right) } else { (right, left) };
        first.extend(second);
        members.push(first);
    }
    members.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves at points of a line.
    fn on_a_line(points: &[f64]) -> Vec<f64> {
        points.iter().flat_map(|b| points.iter().map(move |a| (a - b).abs())).collect()
    }

    #[test]
    fn merges_by_average_distance() {
        let merges = average_linkage(&on_a_line(&[0.0, 10.0, 1.0, 12.0]), 4);
        let average = (10.0 + 12.0 + 9.0 + 11.0) / 4.0;
        assert_eq!(
            merges,
            [
                Merge { left: 0, right: 2, height: 1.0 },
                Merge { left: 1, right: 3, height: 2.0 },
                Merge { left: 4, right: 5, height: average },
            ]
        );
        assert_eq!(leaf_order(&merges, 4), [0, 2, 1, 3]);
    }

    #[test]
    fn the_average_counts_every_member() {
        // {0, 1} then 2: its distance to 3 is the mean over three leaves, not over two clusters.
        let merges = average_linkage(&on_a_line(&[0.0, 1.0, 3.0, 100.0]), 4);
        assert_eq!(merges[1].height, 2.5);
        assert!((merges[2].height - (100.0 + 99.0 + 97.0) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn ties_go_to_the_lower_numbers_and_small_cases_work() {
        let merges = average_linkage(&[0.0; 9], 3);
        assert_eq!((merges[0].left, merges[0].right), (0, 1));
        assert_eq!(leaf_order(&merges, 3), [0, 1, 2]);
        assert!(average_linkage(&[0.0], 1).is_empty());
        assert_eq!(leaf_order(&[], 1), [0]);
        assert!(leaf_order(&average_linkage(&[], 0), 0).is_empty());
    }

    #[test]
    fn not_a_number_counts_as_far_away() {
        let far = f64::NAN;
        let distances = [0.0, far, 1.0, far, 0.0, far, 1.0, far, 0.0];
        let merges = average_linkage(&distances, 3);
        assert_eq!((merges[0].left, merges[0].right), (0, 2));
        assert_eq!(merges.len(), 2);
    }
}
