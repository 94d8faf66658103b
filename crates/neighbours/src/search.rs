//! The closest samples.
//!
//! The search is exact and goes over all pairs in blocks. A k-d tree would be faster for few coordinates and very many
//! samples, but those at hand fix the number of coordinates when the program is compiled, and leave open which of
//! equally distant samples are found.

use std::cmp::Ordering;

use fewest_core::{Context, Error};

use crate::{Distances, Metric};

/// Distances that agree to this, relatively, are equal.
const TIE: f64 = 1e-12;

/// The nearest other samples of every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    metric: Metric,
    offsets: Vec<usize>,
    indices: Vec<usize>,
    distances: Vec<f64>,
}

/// The nearest other samples of one sample, nearest first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighboursOf<'a> {
    /// Their indices.
    pub indices: &'a [usize],
    /// Their distances, in the metric's unit.
    pub distances: &'a [f64],
}

impl Neighbours {
    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The metric of the distances.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The neighbours of sample `i < n_samples()`.
    pub fn of(&self, i: usize) -> NeighboursOf<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        NeighboursOf { indices: &self.indices[range.clone()], distances: &self.distances[range] }
    }
}

/// The `k` nearest other samples of every sample, or all others where there are fewer; a sample is never its own
/// neighbour, and of equally distant ones the lower index is nearer.
///
/// Cost: `O(n² d)` time, `O(n k)` memory beside that of `distances`.
///
/// # Errors
/// [`Error::Stopped`] when `context` says so.
pub fn nearest(distances: &Distances<'_>, k: usize, context: &Context<'_>) -> Result<Neighbours, Error> {
    let n = distances.samples().n_samples();
    let lists = distances.map_rows(0..n, context, |i, row| {
        let mut candidates: Vec<(f64, usize)> =
            row.iter().copied().zip(0..).filter(|(_, j)| *j != i).collect();
        select_nearest(&mut candidates, k);
        candidates
    })?;
    let mut offsets = vec![0];
    let (mut indices, mut values) = (Vec::with_capacity(n * k.min(n)), Vec::with_capacity(n * k.min(n)));
    for list in lists {
        for (distance, index) in list {
            indices.push(index);
            values.push(distance);
        }
        offsets.push(indices.len());
    }
    Ok(Neighbours { metric: distances.samples().metric(), offsets, indices, distances: values })
}

/// Keeps the `k` nearest of the `(distance, index)` pairs, nearest first; equal distances go to the lower index.
/// The indices must increase and no distance be NaN.
///
/// ```
/// let mut candidates = vec![(2.0, 0), (1.0, 3), (2.0 * (1.0 - 1e-15), 4), (0.5, 7)];
/// fewest_neighbours::select_nearest(&mut candidates, 3);
/// assert_eq!(candidates.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [7, 3, 0]);
/// ```
pub fn select_nearest(candidates: &mut Vec<(f64, usize)>, k: usize) {
    if k == 0 {
        candidates.clear();
        return;
    }
    if candidates.len() > k {
        let last = smallest(candidates, k);
        let (surely, tied) = (last * (1.0 - TIE), last * (1.0 + TIE));
        let mut places = k - candidates.iter().filter(|(distance, _)| *distance < surely).count();
        candidates.retain(|(distance, _)| {
            *distance < surely || *distance <= tied && {
                let there_is_room = places > 0;
                places = places.saturating_sub(1);
                there_is_room
            }
        });
    }
    candidates.sort_by(compare);
    // Within a run of equal distances the index decides, not the last digit.
    let mut start = 0;
    for at in 1..=candidates.len() {
        let goes_on = at < candidates.len() && candidates[at].0 <= candidates[at - 1].0 * (1.0 + TIE);
        if !goes_on {
            candidates[start..at].sort_by_key(|(_, index)| *index);
            start = at;
        }
    }
}

fn compare(a: &(f64, usize), b: &(f64, usize)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// The `k`-th smallest distance, `1 <= k <= candidates.len()`.
fn smallest(candidates: &[(f64, usize)], k: usize) -> f64 {
    // A sorted list of the best so far turns nearly every candidate away with one comparison.
    const SHORT: usize = 64;
    if k > SHORT {
        let mut distances: Vec<f64> = candidates.iter().map(|(distance, _)| *distance).collect();
        return *distances.select_nth_unstable_by(k - 1, f64::total_cmp).1;
    }
    let mut best = [f64::INFINITY; SHORT];
    for (distance, _) in candidates {
        if *distance < best[k - 1] {
            let mut at = k - 1;
            while at > 0 && best[at - 1] > *distance {
                best[at] = best[at - 1];
                at -= 1;
            }
            best[at] = *distance;
        }
    }
    best[k - 1]
}
