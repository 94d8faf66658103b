//! From the relaxation to a set of features.

use fewest_core::{Context, Error, order};
use nalgebra::DMatrix;

use super::interior::{Capacity, Saddle, Stop, solve};
use super::machines::Machines;
use super::units::Units;
use fewest_linalg::{gram, transposed, transposed_products};

/// How close to `λ` a `τ` ties with it, relatively.
const TIE: f64 = 1e-6;

/// Largest matrix whose eigenvalues are computed for the bound.
const LARGEST_DECOMPOSED: usize = 1000;

/// How far apart, relatively, the marks of equal kernels may lie.
const SAME_MARK: f64 = 1e-6;

/// A weight that lies between 0 and 1 by this is at neither bound, whatever the solver's accuracy.
const INSIDE: f64 = 1e-3;

/// What rounding may leave of the squared distance of equal kernels, relatively.
const SAME_KERNEL: f64 = 1e-12;

const GOLDEN_RATIO: f64 = 1.618_033_988_749_895;

/// The partition of Eq. (10)–(12): units whose `τ`, for the cost of 1, is above, at and below `λ`.
pub(super) struct Partition {
    /// `𝒜`, by decreasing `τ`.
    pub above: Vec<usize>,
    /// `ℬ`, by decreasing weight in the solution that gathers the weights of copies.
    pub tied: Vec<usize>,
    /// `𝒞`, by decreasing `τ`.
    pub below: Vec<usize>,
}

impl Partition {
    pub(super) fn new(relaxation: &Saddle, units: &Units<'_>, feature_costs: &[f64]) -> Result<Self, Error> {
        let lambda = relaxation.multiplier;
        let gain = |u: usize| relaxation.squares[u] / feature_costs[u];
        let mut sets = Self { above: Vec::new(), tied: Vec::new(), below: Vec::new() };
        for u in 0..feature_costs.len() {
            let distance = gain(u) - lambda;
            // At a solution all units with a weight between the bounds tie; where `τ` is not that exact,
            // their weights decide.
            let is_inside = (INSIDE..1.0 - INSIDE).contains(&relaxation.weights[u]);
            if distance.abs() <= TIE * lambda || is_inside {
                sets.tied.push(u);
            } else if distance > 0.0 {
                sets.above.push(u);
            } else {
                sets.below.push(u);
            }
        }
        // Weights are known to the solver's accuracy: what differs by less is a tie, and goes to the lower
        // index.
        let gathered = gathered_weights(&relaxation.weights, &sets.tied, units, feature_costs)?;
        sets.tied = sorted(&sets.tied, &|u| (gathered[u] / TIE).round());
        sets.above = sorted(&sets.above, &gain);
        sets.below = sorted(&sets.below, &gain);
        Ok(sets)
    }

    /// The units that fit the limit, taken in the order `𝒜`, `ℬ`, `𝒞`.
    pub(super) fn choose(&self, feature_costs: &[f64], limit: f64) -> Vec<usize> {
        let mut left = limit * (1.0 + 1e-12);
        let all = self.above.iter().chain(&self.tied).chain(&self.below).copied();
        all.filter(|&u| {
            let fits = feature_costs[u] <= left;
            if fits {
                left -= feature_costs[u];
            }
            fits
        })
        .collect()
    }
}

/// `units` by decreasing `key`, ties to the lower unit.
fn sorted(units: &[usize], key: &dyn Fn(usize) -> f64) -> Vec<usize> {
    let mut pairs: Vec<(f64, usize)> = units.iter().map(|&u| (key(u), u)).collect();
    order::largest_first(&mut pairs);
    pairs.into_iter().map(|(_, u)| u).collect()
}

/// The weights of another solution of the relaxation: of those `tied` that have one kernel and one cost,
/// copies of one feature say, only the sum of the weights is determined. The solver divides it anyhow; here
/// the first of them has as much as it may, then the next. With a share each, copies of a feature that
/// matters would rank behind features that matter less.
fn gathered_weights(
    weights: &[f64],
    tied: &[usize],
    units: &Units<'_>,
    feature_costs: &[f64],
) -> Result<Vec<f64>, Error> {
    let mut gathered = weights.to_vec();
    let present: Vec<usize> = tied.iter().copied().filter(|&u| weights[u] > TIE).collect();
    let factors = units.factors(&present)?;
    let n = factors.n;
    let centred = fewest_parallel::map(present.len(), |at| {
        centred(&factors.columns[factors.offsets[at] * n..factors.offsets[at + 1] * n], n)
    });
    // ‖Fᵤᵀv‖² of some v is the same for all with one kernel, and for hardly any others.
    let probe: Vec<f64> = (0..n).map(|i| (i as f64 * GOLDEN_RATIO).fract() - 0.5).collect();
    let mark = |at: usize| transposed_products(&centred[at], &probe, n).iter().map(|z| z * z).sum::<f64>();
    let marks: Vec<f64> = (0..present.len()).map(mark).collect();
    let order = order::ascending(&marks);
    let mut joined = vec![false; present.len()];
    for (place, &first) in order.iter().enumerate() {
        if joined[first] {
            continue;
        }
        let mut twins = vec![first];
        for &other in &order[place + 1..] {
            if marks[other] - marks[first] > SAME_MARK * marks[other] {
                break;
            }
            let one_cost = feature_costs[present[first]] == feature_costs[present[other]];
            if !joined[other] && one_cost && same_kernel(&centred[first], &centred[other], n) {
                twins.push(other);
            }
        }
        order::sort_indices(&mut twins);
        let mut left: f64 = twins.iter().map(|&at| weights[present[at]]).sum();
        for at in twins {
            joined[at] = true;
            let share = left.min(1.0);
            gathered[present[at]] = share;
            left -= share;
        }
    }
    Ok(gathered)
}

/// `columns` of length `n` less their means.
fn centred(columns: &[f64], n: usize) -> Vec<f64> {
    let mut centred = columns.to_vec();
    for column in centred.chunks_exact_mut(n) {
        let mean = column.iter().sum::<f64>() / n as f64;
        column.iter_mut().for_each(|value| *value -= mean);
    }
    centred
}

/// Whether `‖FFᵀ − GGᵀ‖² = ‖FᵀF‖² − 2 ‖FᵀG‖² + ‖GᵀG‖²` is nothing but rounding.
fn same_kernel(f: &[f64], g: &[f64], n: usize) -> bool {
    let square = |a: &[f64], b: &[f64]| transposed_products(a, b, n).iter().map(|z| z * z).sum::<f64>();
    let (own, cross, other) = (square(f, f), square(f, g), square(g, g));
    (own - 2.0 * cross + other).abs() <= SAME_KERNEL * own.max(other)
}

/// The machines on the units `chosen` alone.
pub(super) fn machines_on(
    machines: &Machines,
    units: &Units<'_>,
    chosen: &[usize],
    stop: &Stop<'_>,
) -> Result<Saddle, Error> {
    let mut ordered = chosen.to_vec();
    order::sort_indices(&mut ordered);
    solve(machines, &units.factors(&ordered)?, &Capacity::All, stop)
}

/// Swaps one unit of `chosen` for one outside as long as `ω` decreases, and returns how often it did, with
/// the last `ω`.
///
/// The dual objective at the present `β` bounds that of a swap from below: `ω(S − i + j) ≥ ω(S) + τᵢ − τⱼ`.
/// So only pairs with `τⱼ > τᵢ` are tried, those with the largest difference first; a trial ends as soon as
/// its dual objective says that it is no better.
pub(super) fn refine(
    machines: &Machines,
    units: &Units<'_>,
    chosen: &mut [usize],
    limit: f64,
    start: Saddle,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<(usize, Saddle), Error> {
    let feature_costs = units.feature_costs();
    let (mut swaps, mut now) = (0, start);
    'improve: loop {
        let squares = units.squares(&now.beta)?;
        let least = 10.0 * tolerance * now.objective;
        let mut inside = vec![false; units.len()];
        chosen.iter().for_each(|&u| inside[u] = true);
        let spent: f64 = chosen.iter().map(|&u| feature_costs[u]).sum();
        let mut pairs: Vec<(f64, usize)> = Vec::new();
        for (place, &out) in chosen.iter().enumerate() {
            for (into, &square) in squares.iter().enumerate() {
                let gain = square - squares[out];
                let fits = spent - feature_costs[out] + feature_costs[into] <= limit * (1.0 + 1e-12);
                if !inside[into] && fits && gain > least {
                    pairs.push((gain, place * units.len() + into));
                }
            }
        }
        order::largest_first(&mut pairs);
        for (tried, &(_, pair)) in pairs.iter().enumerate() {
            let (place, into) = (pair / units.len(), pair % units.len());
            if context.stopped().is_some() {
                break 'improve;
            }
            context.report("swaps tried", tried, pairs.len());
            let mut other = chosen.to_vec();
            other[place] = into;
            let stop = Stop { tolerance, enough: now.objective - least, context };
            let trial = machines_on(machines, units, &other, &stop)?;
            if trial.objective + trial.gap < now.objective - 0.5 * least {
                chosen[place] = into;
                now = trial;
                swaps += 1;
                continue 'improve;
            }
        }
        break;
    }
    Ok((swaps, now))
}

/// The bound of Theorem 4 on `ω(chosen) / ω(best)`: `1 / (1 − σ)`, with `σ` the largest eigenvalue of
/// `M^−½ B M^−½`, `M = K(p) + τ I` and `B = Σ_{j ∈ ℬ} pⱼ Kⱼ` (the labels' signs change no eigenvalue).
/// Infinite where `σ` is 1; `None` where the matrices are too large, or their numbers, to be decomposed.
pub(super) fn bound(
    relaxation: &Saddle,
    partition: &Partition,
    units: &Units<'_>,
    ridge: f64,
) -> Result<Option<f64>, Error> {
    let weight = |&u: &usize| relaxation.weights[u] > 1e-9;
    let above: Vec<usize> = partition.above.iter().copied().filter(weight).collect();
    let tied: Vec<usize> = partition.tied.iter().copied().filter(weight).collect();
    if tied.is_empty() {
        return Ok(Some(1.0));
    }
    let both: Vec<usize> = above.iter().chain(&tied).copied().collect();
    let factors = units.factors(&both)?;
    let (n, q) = (factors.n, factors.width());
    if n.min(q) > LARGEST_DECOMPOSED {
        return Ok(None);
    }
    let start = factors.offsets[above.len()];
    let roots: Vec<f64> = both.iter().map(|&u| relaxation.weights[u].sqrt()).collect();
    let by_column = factors.scaled(&vec![1.0; q], &roots);
    let mut columns = factors.columns;
    for (column, root) in columns.chunks_exact_mut(n).zip(by_column) {
        column.iter_mut().for_each(|value| *value *= root);
    }
    // Bᵀ M⁻¹ B for the columns of ℬ has the same largest eigenvalue.
    let by_columns = q <= n;
    let (matrix, size) = if by_columns {
        (gram(&columns, n), q)
    } else {
        (gram(&transposed(&columns, n, &vec![1.0; n]), q), n)
    };
    let Some(eigen) = fewest_linalg::symmetric_eigen(DMatrix::from_vec(size, size, matrix)) else {
        return Ok(None);
    };
    let largest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
    let roots: Vec<f64> = eigen
        .eigenvalues
        .iter()
        .map(|&value| match value {
            value if value <= 1e-12 * largest => 0.0,
            value if by_columns => (value / (value + ridge)).sqrt(),
            value => (value + ridge).sqrt().recip(),
        })
        .collect();
    let tied_columns = q - start;
    let mut whitened = if by_columns {
        DMatrix::from_fn(size, tied_columns, |i, j| eigen.eigenvectors[(start + j, i)])
    } else {
        let products = transposed_products(eigen.eigenvectors.as_slice(), &columns[start * n..], n);
        DMatrix::from_vec(size, tied_columns, products)
    };
    for (i, root) in roots.iter().enumerate() {
        whitened.row_mut(i).iter_mut().for_each(|value| *value *= root);
    }
    let small = if tied_columns <= size {
        gram(whitened.as_slice(), size)
    } else {
        gram(whitened.transpose().as_slice(), tied_columns)
    };
    let side = tied_columns.min(size);
    let Some(values) = fewest_linalg::symmetric_eigenvalues(DMatrix::from_vec(side, side, small)) else {
        return Ok(None);
    };
    let left = 1.0 - values.iter().copied().fold(0.0, f64::max);
    Ok(Some(if left > 1e-12 { left.recip() } else { f64::INFINITY }))
}
