//! The search by a k-d tree, for few coordinates and many samples.

use std::num::NonZero;

use fewest_core::{Context, Error};
use kiddo::{ImmutableKdTree, Manhattan, SquaredEuclidean};

use crate::search::closest;
use crate::{Metric, Samples};

/// Samples from which a tree is faster than the distances of all pairs.
const FEWEST_SAMPLES: usize = 2000;

/// Samples between two looks at the interruption flag.
const BATCH: usize = 4096;

/// Beyond this, squares might overflow.
const LARGEST: f64 = 1e150;

/// How much farther than the last neighbour the tree looks: far more than its distances and bounds are off by
/// rounding.
const SLACK: f64 = 1e-9;

/// Neighbours of each sample as `(distance, index)`, nearest first.
type Lists = Vec<Vec<(f64, usize)>>;

/// What [`nearest`](crate::nearest) finds, the same bit for bit; `None` where a tree is of no use: for
/// metrics that are no sums over the coordinates, categories, more than six coordinates, few samples.
pub(crate) fn nearest(samples: &Samples, k: usize, context: &Context<'_>) -> Result<Option<Lists>, Error> {
    let n = samples.n_samples();
    if n < FEWEST_SAMPLES || k == 0 || k >= n - 1 || samples.has_categories() {
        return Ok(None);
    }
    // The library fixes the number of coordinates when the program is compiled. Each takes seconds to
    // compile, so that odd numbers get a coordinate that is 0 everywhere and changes no distance.
    match samples.n_coordinates() {
        1 | 2 => search(&points::<2>(samples), samples.metric(), k, context),
        3 | 4 => search(&points::<4>(samples), samples.metric(), k, context),
        5 | 6 => search(&points::<6>(samples), samples.metric(), k, context),
        _ => Ok(None),
    }
}

fn points<const D: usize>(samples: &Samples) -> Vec<[f64; D]> {
    let mut points = vec![[0.0; D]; samples.n_samples()];
    for (i, point) in points.iter_mut().enumerate() {
        point.iter_mut().zip(samples.numbers(i)).for_each(|(to, value)| *to = value);
    }
    points
}

fn search<const D: usize>(
    points: &[[f64; D]],
    metric: Metric,
    k: usize,
    context: &Context<'_>,
) -> Result<Option<Lists>, Error> {
    if metric == Metric::Cosine || points.iter().flatten().any(|value| value.abs() > LARGEST) {
        return Ok(None);
    }
    // Which of equally distant samples the tree would take is its own affair: it is asked how far the
    // neighbours are, then for all that are as near, and those are judged as if they came from the distances
    // of all pairs.
    let Ok(tree) = ImmutableKdTree::<f64, D>::new_from_slice(points) else { return Ok(None) };
    let Some(wanted) = NonZero::new(k + 1) else { return Ok(None) };
    macro_rules! candidates {
        ($metric:ident, $point:expr) => {{
            let found = tree.query($point).nearest_n::<$metric<f64>>(wanted).execute();
            let last = found.iter().fold(0.0_f64, |last, item| last.max(item.distance));
            let radius = last * (1.0 + SLACK) + f64::MIN_POSITIVE;
            let found = tree.query($point).within::<$metric<f64>>(radius).unsorted().execute();
            found.iter().map(|item| item.item as usize).collect::<Vec<usize>>()
        }};
    }
    let neighbours = |i: usize| {
        let point = &points[i];
        let (mut found, distance) = match metric {
            Metric::Manhattan => (candidates!(Manhattan, point), manhattan as Between<D>),
            _ => (candidates!(SquaredEuclidean, point), squared_euclidean as Between<D>),
        };
        found.sort_unstable();
        let others = found.iter().filter(|j| **j != i).map(|&j| (distance(point, &points[j]), j));
        closest(others, k)
    };
    let mut lists = Vec::with_capacity(points.len());
    for start in (0..points.len()).step_by(BATCH) {
        if context.stopped().is_some() {
            return Err(Error::Stopped { before: "the neighbours of all samples were known" });
        }
        let end = points.len().min(start + BATCH);
        lists.extend(fewest_parallel::map_with(end - start, |(), at| neighbours(start + at)));
    }
    Ok(Some(lists))
}

/// The distance between two points.
type Between<const D: usize> = fn(&[f64; D], &[f64; D]) -> f64;

fn manhattan<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b).abs())
}

fn squared_euclidean<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::by_all_pairs;
    use crate::{Coordinate, Distances};

    fn pack(metric: Metric, columns: &[Vec<f64>]) -> Samples {
        let kinds = vec![Coordinate::Numeric; columns.len()];
        let packed = Samples::pack(metric, columns[0].len(), &kinds, |j, out| {
            out.copy_from_slice(&columns[j]);
            Ok(())
        });
        packed.unwrap()
    }

    fn compare(columns: &[Vec<f64>], k: usize) {
        for metric in [Metric::Manhattan, Metric::SquaredEuclidean] {
            let samples = pack(metric, columns);
            let context = Context::default();
            let found = nearest(&samples, k, &context).unwrap().expect("a tree was built");
            let expected = by_all_pairs(&Distances::new(&samples), k, &context).unwrap();
            let bits = |list: &[(f64, usize)]| -> Vec<(u64, usize)> {
                list.iter().map(|(distance, j)| (distance.to_bits(), *j)).collect()
            };
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(
                    bits(found),
                    bits(expected),
                    "{metric:?}, {} coordinates, k = {k}, sample {i}",
                    columns.len()
                );
            }
        }
    }

    #[test]
    fn the_tree_finds_what_the_distances_of_all_pairs_find() {
        let n = FEWEST_SAMPLES + 7;
        let noise = |j: usize, i: usize| {
            (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / 2.0_f64.powi(53)
        };
        for d in 1..=6 {
            let column =
                |j: usize| (0..n).map(|i| noise(j, i) * 10.0_f64.powi(j as i32 - 2) + 100.0).collect();
            let columns: Vec<Vec<f64>> = (0..d).map(column).collect();
            compare(&columns, 5);
        }
        // Ties everywhere: whole numbers, and all samples in three places.
        let lattice = |step: usize| -> Vec<f64> { (0..n).map(|i| (i * step % 13) as f64 * 0.1).collect() };
        compare(&[lattice(1), lattice(5), lattice(7)], 4);
        compare(&[(0..n).map(|i| (i % 3) as f64).collect(), vec![2.0; n]], 3);
        compare(&[vec![1.0; n], vec![2.0; n]], 70);
        // Very small and large numbers.
        compare(
            &[(0..n).map(|i| noise(0, i) * 1e-170).collect(), (0..n).map(|i| noise(1, i) * 1e149).collect()],
            3,
        );
    }

    #[test]
    fn where_a_tree_is_of_no_use_there_is_none() {
        let n = FEWEST_SAMPLES;
        let column = |scale: f64| (0..n).map(|i| i as f64 * scale).collect::<Vec<f64>>();
        let none = |metric: Metric, columns: &[Vec<f64>], k: usize| {
            nearest(&pack(metric, columns), k, &Context::default()).unwrap().is_none()
        };
        assert!(none(Metric::Cosine, &[column(1.0)], 3));
        assert!(none(Metric::Manhattan, &vec![column(1.0); 7], 3));
        assert!(none(Metric::Manhattan, &[column(1e200)], 3));
        assert!(none(Metric::Manhattan, &[column(1.0)[1..].to_vec()], 3));
        for k in [0, n - 1, n, usize::MAX - 1] {
            assert!(none(Metric::Manhattan, &[column(1.0)], k), "{k}");
        }
        assert!(!none(Metric::Manhattan, &[column(1.0)], 3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn coarse_numbers_tie_alike(seed in 0_u64..10_000, levels in 2_u64..40, d in 1_usize..4, k in 1_usize..30) {
            let n = FEWEST_SAMPLES;
            let value = |j: usize, i: usize| (fewest_core::derive_seed(seed + j as u64, i as u64) % levels) as f64 / 7.0;
            let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(j, i)).collect()).collect();
            compare(&columns, k);
        }
    }
}
