//! From differences of features and knockoffs to a selection.

use fewest_core::{order, rank};

/// The threshold of the knockoff filter (Barber and Candès 2015, Definition 2; Candès et al. 2018, Eq. 3.9):
/// the smallest `t > 0` among the sizes of `w` with
///
/// ```text
/// (offset + #{j: wⱼ ≤ −t}) / max(1, #{j: wⱼ ≥ t}) ≤ target
/// ```
///
/// `None` where there is none, so that nothing is selected.
pub(super) fn threshold(w: &[f64], target: f64, offset: usize) -> Option<f64> {
    let mut sizes: Vec<f64> = w.iter().map(|w| w.abs()).filter(|size| *size > 0.0).collect();
    order::sort(&mut sizes);
    sizes.dedup();
    let count = |kept: &dyn Fn(f64) -> bool| w.iter().filter(|w| kept(**w)).count();
    // Few sizes in most problems; with many, the counts go along with the sizes.
    let (mut above, mut below) = (count(&|w| w > 0.0), count(&|w| w < 0.0));
    let mut by_size: Vec<f64> = w.iter().copied().filter(|w| *w != 0.0 && !w.is_nan()).collect();
    let keys: Vec<f64> = by_size.iter().map(|w| w.abs()).collect();
    by_size = order::ascending(&keys).into_iter().map(|at| by_size[at]).collect();
    let mut passed = 0;
    for size in sizes {
        while by_size.get(passed).is_some_and(|w| w.abs() < size) {
            if by_size[passed] > 0.0 {
                above -= 1;
            } else {
                below -= 1;
            }
            passed += 1;
        }
        if (offset + below) as f64 <= target * above.max(1) as f64 {
            return Some(size);
        }
    }
    None
}

/// The features at the threshold or above, largest difference first.
pub(super) fn filter(w: &[f64], target: f64, offset: usize) -> Vec<usize> {
    let Some(threshold) = threshold(w, target, offset) else { return Vec::new() };
    let mut order = rank(w, true);
    order.retain(|&j| w[j] >= threshold);
    order
}

/// Adds the e-values of one draw (Ren and Barber 2024, Eq. 8) to `sums`:
/// `eⱼ = d 1{wⱼ ≥ T} / (1 + #{k: wₖ ≤ −T})`, with the threshold `T` for `target` and offset 1.
pub(super) fn add_e_values(w: &[f64], target: f64, sums: &mut [f64]) {
    let Some(threshold) = threshold(w, target, 1) else { return };
    let below = w.iter().filter(|w| **w <= -threshold).count();
    let value = w.len() as f64 / (1 + below) as f64;
    for (sum, w) in sums.iter_mut().zip(w) {
        if *w >= threshold {
            *sum += value;
        }
    }
}

/// The features chosen by e-values (e-BH, Wang and Ramdas 2022): the `k` largest, for the largest `k` whose
/// `k`-th largest e-value is at least `d / (target k)`.
pub(super) fn by_e_values(e: &[f64], target: f64) -> Vec<usize> {
    let mut order = rank(e, true);
    // What is a sum of fractions may be below its value by rounding.
    let least = |k: usize| e.len() as f64 / (target * k as f64) * (1.0 - 1e-12);
    let most = (1..=order.len()).rev().find(|&k| e[order[k - 1]] >= least(k)).unwrap_or(0);
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition, trying every size.
    fn slow(w: &[f64], target: f64, offset: usize) -> Option<f64> {
        let mut sizes: Vec<f64> = w.iter().map(|w| w.abs()).filter(|size| *size > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.into_iter().find(|t| {
            let below = w.iter().filter(|w| **w <= -t).count();
            let above = w.iter().filter(|w| **w >= *t).count();
            (offset + below) as f64 / above.max(1) as f64 <= target
        })
    }

    #[test]
    fn the_threshold_is_that_of_the_definition() {
        for seed in 0..200_u64 {
            let w: Vec<f64> = (0..30)
                .map(|i| {
                    let drawn = fewest_core::derive_seed(seed, i) >> 32;
                    let size = (drawn % 13) as f64;
                    if drawn % 7 < 2 { -size / 2.0 } else { size }
                })
                .collect();
            for offset in [0, 1] {
                for target in [0.05, 0.1, 0.2, 0.5] {
                    assert_eq!(threshold(&w, target, offset), slow(&w, target, offset), "{w:?}");
                }
            }
        }
    }

    /// With offset 1 and a bound of 0.1, nine features are too few, ten are enough.
    #[test]
    fn few_features_are_none() {
        let w = |n: usize| (0..n).map(|i| 1.0 + i as f64).collect::<Vec<f64>>();
        assert_eq!(filter(&w(9), 0.1, 1), [0; 0]);
        assert_eq!(filter(&w(10), 0.1, 1).len(), 10);
        assert_eq!(filter(&w(1), 0.1, 0), [0]);
        assert_eq!(filter(&[0.0, 0.0], 0.5, 0), [0; 0]);
        assert_eq!(filter(&[f64::NAN; 3], 0.5, 0), [0; 0]);
    }

    /// One draw with the same target chooses what the filter does (Ren and Barber 2024, Proposition 1).
    #[test]
    fn e_values_of_one_draw_choose_what_the_filter_does() {
        for seed in 0..100_u64 {
            let w: Vec<f64> = (0..40)
                .map(|i| {
                    let drawn = fewest_core::derive_seed(seed, i) as f64 / u64::MAX as f64;
                    if i < 20 { drawn + 0.5 } else { drawn - 0.6 }
                })
                .collect();
            let mut e = vec![0.0; 40];
            add_e_values(&w, 0.2, &mut e);
            let (mut by_e, mut filtered) = (by_e_values(&e, 0.2), filter(&w, 0.2, 1));
            by_e.sort_unstable();
            filtered.sort_unstable();
            assert_eq!(by_e, filtered);
        }
        assert_eq!(by_e_values(&[0.0; 5], 0.2), [0; 0]);
    }
}
