//! The median distance, the usual scale of a kernel.

use fewest_core::{Context, Error, derive_seed, order};
use rand::SeedableRng;
use rand::seq::index;

use crate::Distances;

/// Largest number of samples for which all pairs are used: their distances need 64 MiB.
const LARGEST: usize = 4096;

/// The median distance over all pairs of different samples, the mean of the two middle ones when their number
/// is even. Where more than half of the pairs coincide, the median over the pairs that do not; 0 when all
/// coincide.
///
/// Of more than 4096 samples, 4096 are drawn with the seed of `context`: all pairs would take `O(n²)` memory,
/// and the median of eight million pairs moves by less than a percent. Cost then: `O(4096² d)`, and a copy of
/// the drawn samples.
///
/// # Errors
/// [`Error::Stopped`] when `context` says so.
pub fn median_distance(distances: &Distances, context: &Context<'_>) -> Result<f64, Error> {
    let n = distances.n_samples();
    let values = if n <= LARGEST {
        upper(distances, context)?
    } else {
        let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(derive_seed(context.seed, 0));
        let mut drawn = index::sample(&mut rng, n, LARGEST).into_vec();
        order::sort_indices(&mut drawn);
        upper(&distances.between(&drawn), context)?
    };
    Ok(median_above_zero(values))
}

/// The median of numbers that are at least 0, the mean of the two middle ones when their number is even;
/// where it is 0, the median of those above 0; 0 where there are none.
///
/// ```
/// use fewest_neighbours::median_above_zero;
/// assert_eq!(median_above_zero(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
/// assert_eq!(median_above_zero(vec![0.0, 0.0, 0.0, 9.0]), 9.0);
/// ```
pub fn median_above_zero(mut values: Vec<f64>) -> f64 {
    let middle = median(&mut values);
    if middle > 0.0 {
        return middle;
    }
    values.retain(|distance| *distance > 0.0);
    median(&mut values)
}

/// The distances of all pairs of different samples, once.
fn upper(distances: &Distances, context: &Context<'_>) -> Result<Vec<f64>, Error> {
    let n = distances.n_samples();
    Ok(distances.map_rows(0..n, context, |i, row| row[i + 1..].to_vec())?.concat())
}

/// The median, 0 of nothing.
fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let half = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if is_even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        0.5 * (lower + *upper)
    } else {
        *upper
    }
}
