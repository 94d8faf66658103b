//! Mutual information from nearest neighbours.

use fewest_core::Error;
use fewest_counts::discretisation::{Levels, sorted_order};

use super::{Observations, check_lengths, check_neighbours};

/// Mutual information in nats from the distances of nearest neighbours: estimator 1 of Kraskov, Stögbauer &
/// Grassberger (2004, Eq. 8), for numbers and categories together that of Ross (2014), for two categories the
/// plug-in estimate.
///
/// ```text
/// I(x;y) = ψ(n) + 1/n Σᵢ [ψ(k) - ψ(nₓ(i) + 1) - ψ(n_y(i) + 1)]
/// ```
///
/// with `nₓ(i)` the number of others nearer in `x` than the `k`-th neighbour of `i` is in the maximum norm,
/// on standardised numbers. Where that distance is 0, because values repeat, all samples at distance 0 are
/// counted instead, with `i` itself (Gao et al. 2017): no noise is added to break ties. A sample alone in its
/// category adds nothing. Not below 0. Cost: about `O(n √(n k))` time, `O(n)` memory.
///
/// # Errors
/// [`Error::ShapeMismatch`] for different lengths, [`Error::InvalidParameter`] unless `1 <= neighbours < n`.
///
/// ```
/// use fewest_filters::information::{Observations, kraskov};
/// let x: Vec<f64> = (0..200).map(f64::from).collect();
/// let square: Vec<f64> = x.iter().map(|x| (x - 99.5) * (x - 99.5)).collect();
/// assert!(kraskov(Observations::Real(&x), Observations::Real(&square), 3)? > 2.0);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
pub fn kraskov(x: Observations<'_>, y: Observations<'_>, neighbours: usize) -> Result<f64, Error> {
    check_lengths(&x, &y)?;
    check_neighbours(neighbours, x.len())?;
    let search = Search::new(x.len(), neighbours);
    Ok(search.information(&Neighbourhoods::new(x), &Neighbourhoods::new(y)))
}

/// A variable prepared for neighbours to be counted in.
pub(in super::super) enum Neighbourhoods {
    Real {
        values: Vec<f64>,
        /// Samples by increasing value, and those values.
        order: Vec<u32>,
        sorted: Vec<f64>,
    },
    Levels {
        levels: Levels,
        counts: Vec<usize>,
    },
}

impl Neighbourhoods {
    pub(in super::super) fn new(x: Observations<'_>) -> Self {
        match x {
            Observations::Real(values) => {
                let values = Observations::standardised(values);
                let order = sorted_order(&values);
                let sorted = order.iter().map(|&row| values[row as usize]).collect();
                Neighbourhoods::Real { values, order, sorted }
            }
            Observations::Levels(levels) => {
                let mut counts = vec![0; levels.n_levels];
                for &code in &levels.codes {
                    counts[code as usize] += 1;
                }
                Neighbourhoods::Levels { levels: levels.clone(), counts }
            }
        }
    }
}

/// The estimator for a number of samples and neighbours.
pub(in super::super) struct Search {
    neighbours: usize,
    /// `ψ(m)` for every count `m`; the first entry is of no use.
    digamma: Vec<f64>,
}

impl Search {
    pub(in super::super) fn new(n_samples: usize, neighbours: usize) -> Self {
        const EULER_MASCHERONI: f64 = 0.577_215_664_901_532_9;
        let mut digamma = vec![f64::NAN, -EULER_MASCHERONI];
        for m in 1..n_samples {
            digamma.push(digamma[m] + 1.0 / m as f64);
        }
        Self { neighbours, digamma }
    }

    /// The mutual information of two variables.
    pub(in super::super) fn information(&self, x: &Neighbourhoods, y: &Neighbourhoods) -> f64 {
        use Neighbourhoods::{Levels, Real};
        let information = match (x, y) {
            (Real { values: x, order, sorted }, Real { values: y, sorted: sorted_y, .. }) => {
                self.both_real(x, order, sorted, y, sorted_y)
            }
            (Real { order, sorted, .. }, Levels { levels, counts })
            | (Levels { levels, counts }, Real { order, sorted, .. }) => {
                self.real_and_levels(order, sorted, levels, counts)
            }
            (Levels { levels: x, counts: x_counts }, Levels { levels: y, counts: y_counts }) => {
                plug_in(x, x_counts, y, y_counts)
            }
        };
        information.max(0.0)
    }

    fn both_real(&self, x: &[f64], order: &[u32], sorted: &[f64], y: &[f64], sorted_y: &[f64]) -> f64 {
        let n = x.len();
        let mut nearest = Vec::with_capacity(self.neighbours + 1);
        let mut sum = 0.0;
        for (position, &row) in order.iter().enumerate() {
            let (here, height) = (sorted[position], y[row as usize]);
            nearest.clear();
            // Outwards from the sample by distance in x, until that alone is too far.
            let (mut left, mut right) = (position, position + 1);
            loop {
                let to_left = if left > 0 { here - sorted[left - 1] } else { f64::INFINITY };
                let to_right = if right < n { sorted[right] - here } else { f64::INFINITY };
                let distance = to_left.min(to_right);
                let is_full = nearest.len() == self.neighbours;
                if distance == f64::INFINITY || is_full && nearest.last().is_some_and(|far| *far <= distance)
                {
                    break;
                }
                let other = if to_left <= to_right {
                    left -= 1;
                    order[left]
                } else {
                    right += 1;
                    order[right - 1]
                };
                let distance = distance.max((y[other as usize] - height).abs());
                let place = nearest.partition_point(|near| *near <= distance);
                nearest.insert(place, distance);
                nearest.truncate(self.neighbours);
            }
            let Some(&radius) = nearest.last() else { continue };
            let k = if radius > 0.0 {
                self.neighbours
            } else {
                // All samples equal in both, itself included.
                let (first, end) = equal(sorted, here);
                order[first..end].iter().filter(|other| y[**other as usize] == height).count()
            };
            sum += self.digamma[k]
                - self.digamma[within(sorted, here, radius)]
                - self.digamma[within(sorted_y, height, radius)];
        }
        self.digamma[n] + sum / n as f64
    }

    fn real_and_levels(&self, order: &[u32], sorted: &[f64], levels: &Levels, counts: &[usize]) -> f64 {
        let n = order.len();
        let mut members: Vec<Vec<f64>> = counts.iter().map(|&count| Vec::with_capacity(count)).collect();
        for (&row, &value) in order.iter().zip(sorted) {
            members[levels.codes[row as usize] as usize].push(value);
        }
        let mut sum = 0.0;
        for values in members.iter().filter(|values| values.len() > 1) {
            let k = self.neighbours.min(values.len() - 1);
            for (position, &here) in values.iter().enumerate() {
                let radius = distance_to(values, position, k);
                let k = if radius > 0.0 {
                    k
                } else {
                    let (first, end) = equal(values, here);
                    end - first
                };
                sum += self.digamma[n] + self.digamma[k]
                    - self.digamma[values.len()]
                    - self.digamma[within(sorted, here, radius)];
            }
        }
        sum / n as f64
    }
}

/// The distance from `values[position]`, of sorted values, to its `k`-th neighbour.
fn distance_to(values: &[f64], position: usize, k: usize) -> f64 {
    let here = values[position];
    let (mut left, mut right) = (position, position + 1);
    let mut distance = 0.0;
    for _ in 0..k {
        let to_left = if left > 0 { here - values[left - 1] } else { f64::INFINITY };
        let to_right = if right < values.len() { values[right] - here } else { f64::INFINITY };
        if to_left <= to_right {
            left -= 1;
        } else {
            right += 1;
        }
        distance = to_left.min(to_right);
    }
    distance
}

/// Number of sorted values nearer to `here` than `radius`, or equal to it for a radius of 0; `here` is among
/// them.
fn within(sorted: &[f64], here: f64, radius: f64) -> usize {
    if radius == 0.0 {
        let (first, end) = equal(sorted, here);
        return end - first;
    }
    // Distances that are equal but for rounding are equal: on a grid there are many.
    let radius = radius * (1.0 - 1e-10);
    let first = sorted.partition_point(|value| here - value >= radius);
    sorted.partition_point(|value| value - here < radius) - first
}

/// The stretch of sorted values equal to `here`.
fn equal(sorted: &[f64], here: f64) -> (usize, usize) {
    (sorted.partition_point(|value| *value < here), sorted.partition_point(|value| *value <= here))
}

fn plug_in(x: &Levels, x_counts: &[usize], y: &Levels, y_counts: &[usize]) -> f64 {
    let n = x.codes.len() as f64;
    let mut pairs: Vec<(u32, u32)> = x.codes.iter().copied().zip(y.codes.iter().copied()).collect();
    pairs.sort_unstable();
    let term = |pair: &[(u32, u32)]| {
        let count = pair.len() as f64;
        let (a, b) = pair[0];
        count * (n * count / (x_counts[a as usize] as f64 * y_counts[b as usize] as f64)).ln()
    };
    pairs.chunk_by(|a, b| a == b).map(term).sum::<f64>() / n
}
