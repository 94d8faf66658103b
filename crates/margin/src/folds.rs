//! Folds of a cross-validation that do not depend on the order of samples.

use fewest_columns::deal;
use fewest_core::{Error, derive_seed};
use fewest_solver::LinearOperator;

use super::design::Design;

/// The fold of each sample, `0 .. n_folds`, of sizes that differ by one at most: of each `n_folds` samples
/// with neighbouring targets every fold gets one, which by `seed`.
///
/// Samples are sorted by `targets` and then by `Σ_j x_j + x_j²`, which does not depend on the order of
/// columns, so reordering them reorders their folds.
pub(super) fn assign(
    design: &Design,
    targets: &[Vec<f64>],
    n_folds: usize,
    seed: u64,
) -> Result<Vec<usize>, Error> {
    let n = design.n_rows();
    let mut sums = vec![0.0; n];
    let mut column = vec![0.0; n];
    for j in 0..design.n_columns() {
        design.column(j, &mut column);
        for (sum, value) in sums.iter_mut().zip(&column) {
            *sum += value + value * value;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| {
        let by_target = targets.iter().map(|target| target[a].total_cmp(&target[b]));
        by_target
            .fold(std::cmp::Ordering::Equal, |so_far, next| so_far.then(next))
            .then(sums[a].total_cmp(&sums[b]))
    });
    let mut folds = deal(&order, n_folds, "lambda_folds")?;
    for (block, samples) in order.chunks(n_folds).enumerate() {
        let seed = derive_seed(seed, block as u64);
        let mut shuffled: Vec<usize> = (0..n_folds).collect();
        for k in (1..n_folds).rev() {
            let other = derive_seed(seed, k as u64) % (k as u64 + 1);
            shuffled.swap(k, other as usize);
        }
        samples.iter().for_each(|&i| folds[i] = shuffled[folds[i]]);
    }
    Ok(folds)
}

#[cfg(test)]
mod tests {
    use fewest_core::{Context, Dataset, DenseColumns, Target};

    use super::*;

    #[test]
    fn folds_are_balanced_and_follow_the_samples() -> Result<(), Error> {
        let n = 23;
        let values: Vec<f64> = (0..n).map(|i| (i * 7 % n) as f64).collect();
        let target: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        let order: Vec<usize> = (0..n).map(|i| i * 5 % n).collect();
        let folds = |rows: &[usize]| -> Result<Vec<usize>, Error> {
            let take = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
            let data = Dataset::new(DenseColumns::from_columns(&[take(&values)])?, Target::None)?;
            let design = Design::new(&data, "test", &Context::default())?;
            assign(&design, &[take(&target)], 4, 9)
        };
        let natural = folds(&(0..n).collect::<Vec<_>>())?;
        let mut sizes = [0; 4];
        for &fold in &natural {
            sizes[fold] += 1;
        }
        assert!(sizes.iter().all(|&size| size == 5 || size == 6), "{sizes:?}");
        let moved = folds(&order)?;
        assert!(order.iter().zip(&moved).all(|(&i, &fold)| natural[i] == fold));
        Ok(())
    }
}
