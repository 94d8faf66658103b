//! The likelihood ratio of levels.

use fewest_counts::discretisation::Levels;

use super::Tested;
use crate::tails;

/// Fewest samples for each degree of freedom.
pub(crate) const ROWS_PER_FREEDOM: usize = 5;

/// `x` against `y` given other levels: `G² = 2 Σ N ln(N Nₛ / (Nₓₛ Nᵧₛ))`.
pub(super) fn tested(x: &Levels, y: &Levels, given: &[&Levels]) -> Tested {
    let n = x.codes.len();
    let cells = given.iter().try_fold(1_usize, |cells, levels| cells.checked_mul(levels.n_levels));
    let freedom = cells.and_then(|cells| cells.checked_mul((x.n_levels - 1).checked_mul(y.n_levels - 1)?));
    match freedom {
        Some(0) => return Tested::INDEPENDENT,
        Some(freedom) if freedom <= n / ROWS_PER_FREEDOM => {}
        _ => return Tested { p_value: None, dependence: information(x, y, &vec![0; n], 1) },
    }
    let (freedom, cells) = (freedom.unwrap_or(0), cells.unwrap_or(1));
    let mut strata = vec![0_usize; n];
    for levels in given {
        for (stratum, &code) in strata.iter_mut().zip(&levels.codes) {
            *stratum = *stratum * levels.n_levels + code as usize;
        }
    }
    let dependence = information(x, y, &strata, cells);
    let p_value = tails::chi_squared(2.0 * n as f64 * dependence, freedom as f64);
    Tested { p_value: Some(p_value), dependence }
}

/// `I(x; y | stratum)`, never negative, of strata below `n_strata`.
fn information(x: &Levels, y: &Levels, strata: &[usize], n_strata: usize) -> f64 {
    let n = x.codes.len();
    let (width, height) = (y.n_levels, x.n_levels);
    // Many levels of both in few samples would be an empty table.
    if n_strata.saturating_mul(width).saturating_mul(height) > 64 * n + 4096 {
        return of_pairs(x, y);
    }
    let mut counts = vec![0_u32; n_strata * width * height];
    for ((&stratum, &a), &b) in strata.iter().zip(&x.codes).zip(&y.codes) {
        counts[(stratum * height + a as usize) * width + b as usize] += 1;
    }
    let plogp = |count: u32| if count > 0 { f64::from(count) * f64::from(count).ln() } else { 0.0 };
    let mut sum = 0.0;
    for table in counts.chunks_exact(width * height) {
        let mut columns = vec![0_u32; width];
        let mut total = 0;
        for row in table.chunks_exact(width) {
            sum += row.iter().copied().map(plogp).sum::<f64>() - plogp(row.iter().sum());
            columns.iter_mut().zip(row).for_each(|(column, count)| *column += count);
            total += row.iter().sum::<u32>();
        }
        sum += plogp(total) - columns.into_iter().map(plogp).sum::<f64>();
    }
    (sum / n as f64).max(0.0)
}

/// `I(x; y)` by sorting: for more pairs of levels than samples.
fn of_pairs(x: &Levels, y: &Levels) -> f64 {
    let n = x.codes.len() as f64;
    let mut pairs: Vec<(u32, u32)> = x.codes.iter().copied().zip(y.codes.iter().copied()).collect();
    pairs.sort_unstable();
    let plogp = |count: usize| count as f64 * (count as f64).ln();
    let runs = |keys: &mut Vec<u32>| {
        keys.sort_unstable();
        keys.chunk_by(|a, b| a == b).map(|run| plogp(run.len())).sum::<f64>()
    };
    let joint: f64 = pairs.chunk_by(|a, b| a == b).map(|run| plogp(run.len())).sum();
    let (own, its) = (runs(&mut x.codes.clone()), runs(&mut y.codes.clone()));
    ((joint - own - its + n * n.ln()) / n).max(0.0)
}

#[cfg(test)]
mod tests {
    use fewest_counts::discretisation::categories;

    use super::*;

    fn levels(n: usize, step: usize, below: usize) -> Levels {
        categories(&(0..n).map(|i| ((i * step / 3) % below) as f64).collect::<Vec<f64>>())
    }

    /// The definition, cell by cell.
    #[test]
    fn it_is_the_sum_over_cells() {
        let n = 300;
        let (x, y, s, t) = (levels(n, 7, 3), levels(n, 11, 2), levels(n, 5, 4), levels(n, 13, 2));
        let count = |keep: &dyn Fn(usize) -> bool| (0..n).filter(|&i| keep(i)).count() as f64;
        let mut g = 0.0;
        for (a, b) in (0..3).flat_map(|a| (0..2).map(move |b| (a, b))) {
            for stratum in 0..8 {
                let inside = |i: usize| (s.codes[i] * 2 + t.codes[i]) == stratum;
                let cell = count(&|i| x.codes[i] == a && y.codes[i] == b && inside(i));
                let (row, column) =
                    (count(&|i| x.codes[i] == a && inside(i)), count(&|i| y.codes[i] == b && inside(i)));
                if cell > 0.0 {
                    g += 2.0 * cell * (cell * count(&inside) / (row * column)).ln();
                }
            }
        }
        let found = tested(&x, &y, &[&s, &t]);
        assert!((found.dependence * 2.0 * n as f64 - g).abs() < 1e-10 * g.max(1.0));
        assert_eq!(found.p_value, Some(tails::chi_squared(2.0 * n as f64 * found.dependence, 16.0)));
        let alone = tested(&x, &y, &[]).dependence;
        assert!((alone - of_pairs(&x, &y)).abs() < 1e-13);
    }

    #[test]
    fn a_test_of_too_few_samples_is_not_made() {
        let (x, y, s) = (levels(40, 7, 3), levels(40, 11, 2), levels(40, 5, 4));
        // 2 · 1 · 4 degrees of freedom take 40 samples; one level of y, none.
        assert!(tested(&x, &y, &[&s]).p_value.is_some());
        assert!(tested(&x, &y, &[&s, &y]).p_value.is_none());
        assert_eq!(tested(&x, &levels(40, 0, 2), &[]), Tested::INDEPENDENT);
    }
}
