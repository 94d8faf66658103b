//! The closest samples.
//!
//! The search is exact: by a k-d tree for few coordinates and many samples, over all pairs in blocks
//! otherwise. Both give the same neighbours and distances.

use fewest_core::{Context, Error};

use crate::{DistanceMetric, Distances, tree};

/// Distances that agree to this, relatively, are equal.
pub(crate) const TIE: f64 = 1e-12;

/// The nearest other samples of every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    metric: DistanceMetric,
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
    pub(crate) fn metric(&self) -> DistanceMetric {
        self.metric
    }

    /// The neighbours of sample `i < n_samples()`.
    pub fn of(&self, i: usize) -> NeighboursOf<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        NeighboursOf { indices: &self.indices[range.clone()], distances: &self.distances[range] }
    }
}

/// The `k` nearest other samples of every sample, or all others where there are fewer; a sample is never its
/// own neighbour, and at equal distances the lower index is nearer.
///
/// Cost: `O(n² d)` time, about `O(n k log n)` where there are at most six coordinates, all numbers, in a
/// metric that is a sum over them; `O(n k)` memory in addition to that of `distances`.
///
/// # Errors
/// [`Error::Stopped`] when `context` says so.
pub fn nearest(distances: &Distances, k: usize, context: &Context<'_>) -> Result<Neighbours, Error> {
    let n = distances.n_samples();
    let by_tree = match distances.samples() {
        Some(samples) => tree::nearest(samples, k, context)?,
        None => None,
    };
    let lists = match by_tree {
        Some(lists) => lists,
        None => by_all_pairs(distances, k, context)?,
    };
    let mut offsets = vec![0];
    let (mut indices, mut values) = (Vec::with_capacity(n * k.min(n)), Vec::with_capacity(n * k.min(n)));
    for list in lists {
        for (distance, index) in list {
            indices.push(index);
            values.push(distance);
        }
        offsets.push(indices.len());
    }
    Ok(Neighbours { metric: distances.metric(), offsets, indices, distances: values })
}

/// The neighbours of every sample, from the distances of all pairs.
pub(crate) fn by_all_pairs(
    distances: &Distances,
    k: usize,
    context: &Context<'_>,
) -> Result<Vec<Vec<(f64, usize)>>, Error> {
    let n = distances.n_samples();
    distances.map_rows(0..n, context, |i, row| nearest_among(row, (0..n).filter(move |j| *j != i), k))
}

/// The `k` nearest of `members` as `(distance, index)`, nearest first; equal distances go to the lower index.
/// `distances[j]` is that of member `j`; members increase.
///
/// ```
/// let distances = [2.0, 9.0, 9.0, 1.0, 2.0 * (1.0 - 1e-15), 9.0, 9.0, 0.5];
/// let nearest = fewest_neighbours::nearest_among(&distances, 0..8, 3);
/// assert_eq!(nearest.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [7, 3, 0]);
/// ```
pub fn nearest_among(
    distances: &[f64],
    members: impl Iterator<Item = usize> + Clone,
    k: usize,
) -> Vec<(f64, usize)> {
    closest(members.filter_map(|j| distances.get(j).map(|distance| (*distance, j))), k)
}

/// The `k` nearest of `pairs` of a distance and an increasing index.
pub(crate) fn closest(pairs: impl Iterator<Item = (f64, usize)> + Clone, k: usize) -> Vec<(f64, usize)> {
    let Some(last) = smallest(pairs.clone().map(|(distance, _)| distance), k) else {
        return Vec::new();
    };
    let (surely, tied) = (last * (1.0 - TIE), last * (1.0 + TIE));
    let mut found: Vec<(f64, usize)> = pairs.filter(|(distance, _)| *distance <= tied).collect();
    if found.len() > k {
        let mut places = k - found.iter().filter(|(distance, _)| *distance < surely).count();
        found.retain(|(distance, _)| {
            let takes_a_place = *distance >= surely;
            let there_is_room = !takes_a_place || places > 0;
            places -= usize::from(takes_a_place && there_is_room);
            there_is_room
        });
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // Within a run of equal distances the index decides, not the last digit.
    for run in found.chunk_by_mut(|a, b| b.0 <= a.0 * (1.0 + TIE)) {
        run.sort_by_key(|(_, index)| *index);
    }
    found
}

/// The `k`-th smallest distance, infinity where there are fewer; `None` for `k = 0`.
fn smallest(distances: impl Iterator<Item = f64>, k: usize) -> Option<f64> {
    // A sorted list of the best so far rejects nearly every candidate with one comparison.
    const SHORT: usize = 64;
    let last = k.checked_sub(1)?;
    if k > SHORT {
        let mut all: Vec<f64> = distances.collect();
        return Some(if all.len() < k {
            f64::INFINITY
        } else {
            *all.select_nth_unstable_by(last, f64::total_cmp).1
        });
    }
    let mut best = [f64::INFINITY; SHORT];
    for distance in distances {
        if distance < best[last] {
            let mut at = last;
            while at > 0 && best[at - 1] > distance {
                best[at] = best[at - 1];
                at -= 1;
            }
            best[at] = distance;
        }
    }
    Some(best[last])
}
