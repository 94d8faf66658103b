//! From the relaxation to a set of features.

use fewest_core::{Context, Error};
use nalgebra::{DMatrix, SymmetricEigen};

use super::dense::{gram, transposed, transposed_products};
use super::interior::{Capacity, Saddle, Stop, solve};
use super::machines::Machines;
use super::units::Units;
use super::working::Relaxation;

/// How close to `λ` a `τ` ties with it, relatively.
const TIE: f64 = 1e-6;

/// Largest matrix whose eigenvalues are computed for the bound.
const LARGEST_DECOMPOSED: usize = 1000;

/// The partition of Eq. (10)–(12): units whose `τ`, for the price of 1, is above, at and below `λ`.
pub(super) struct Partition {
    /// `𝒜`, by decreasing `τ`.
    pub above: Vec<usize>,
    /// `ℬ`, by decreasing weight.
    pub tied: Vec<usize>,
    /// `𝒞`, by decreasing `τ`.
    pub below: Vec<usize>,
}

impl Partition {
    pub(super) fn new(relaxation: &Relaxation, prices: &[f64]) -> Self {
        let lambda = relaxation.multiplier;
        let worth = |u: usize| relaxation.squares[u] / prices[u];
        let mut sets = Self { above: Vec::new(), tied: Vec::new(), below: Vec::new() };
        for u in 0..prices.len() {
            let distance = worth(u) - lambda;
            if distance.abs() <= TIE * lambda {
                sets.tied.push(u);
            } else if distance > 0.0 {
                sets.above.push(u);
            } else {
                sets.below.push(u);
            }
        }
        // Weights are known to the solver's accuracy: what differs by less is a tie, and goes to the lower index.
        let weight = |u: usize| (relaxation.weights[u] / TIE).round();
        sets.tied.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
        for set in [&mut sets.above, &mut sets.below] {
            set.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)).then(a.cmp(&b)));
        }
        sets
    }

    /// The units that fit the limit, taken in the order `𝒜`, `ℬ`, `𝒞`.
    pub(super) fn choose(&self, prices: &[f64], limit: f64) -> Vec<usize> {
        let mut left = limit * (1.0 + 1e-12);
        let all = self.above.iter().chain(&self.tied).chain(&self.below).copied();
        all.filter(|&u| {
            let fits = prices[u] <= left;
            if fits {
                left -= prices[u];
            }
            fits
        })
        .collect()
    }
}

/// The machines on the units `chosen` alone.
pub(super) fn machines_on(
    machines: &Machines,
    units: &Units<'_>,
    chosen: &[usize],
    stop: &Stop<'_>,
) -> Result<Saddle, Error> {
    let mut ordered = chosen.to_vec();
    ordered.sort_unstable();
    solve(machines, &units.factors(&ordered), &Capacity::All, stop)
}

/// Swaps one unit of `chosen` for one outside as long as `ω` falls, and returns how often it did, with the last `ω`.
///
/// The dual objective at the present `β` bounds that of a swap from below: `ω(S − i + j) ≥ ω(S) + τᵢ − τⱼ`. So only pairs with
/// `τⱼ > τᵢ` are tried, those with the largest difference first; a trial ends as soon as its dual objective says that it is no better.
pub(super) fn refine(
    machines: &Machines,
    units: &Units<'_>,
    chosen: &mut [usize],
    limit: f64,
    start: Saddle,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<(usize, Saddle), Error> {
    let prices = units.prices();
    let (mut swaps, mut now) = (0, start);
    'improve: loop {
        let squares = units.squares(&now.beta);
        let least = 10.0 * tolerance * now.objective;
        let mut inside = vec![false; units.len()];
        chosen.iter().for_each(|&u| inside[u] = true);
        let spent: f64 = chosen.iter().map(|&u| prices[u]).sum();
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for (place, &out) in chosen.iter().enumerate() {
            for (into, &square) in squares.iter().enumerate() {
                let gain = square - squares[out];
                let fits = spent - prices[out] + prices[into] <= limit * (1.0 + 1e-12);
                if !inside[into] && fits && gain > least {
                    pairs.push((gain, place, into));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (tried, &(_, place, into)) in pairs.iter().enumerate() {
            if context.interrupted() || context.time_left().is_some_and(|left| left.is_zero()) {
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

/// The bound of Theorem 4 on `ω(chosen) / ω(best)`: `1 / (1 − σ)`, with `σ` the largest eigenvalue of `M^−½ B M^−½`, `M = K(p) + τ I`
/// and `B = Σ_{j ∈ ℬ} pⱼ Kⱼ` (the labels' signs change no eigenvalue). Infinite where `σ` is 1; `None` where the
/// matrices are too large to be decomposed.
pub(super) fn bound(
    relaxation: &Relaxation,
    partition: &Partition,
    units: &Units<'_>,
    ridge: f64,
) -> Option<f64> {
    let weight = |&u: &usize| relaxation.weights[u] > 1e-9;
    let above: Vec<usize> = partition.above.iter().copied().filter(weight).collect();
    let tied: Vec<usize> = partition.tied.iter().copied().filter(weight).collect();
    if tied.is_empty() {
        return Some(1.0);
    }
    let both: Vec<usize> = above.iter().chain(&tied).copied().collect();
    let factors = units.factors(&both);
    let (n, q) = (factors.n, factors.width());
    if n.min(q) > LARGEST_DECOMPOSED {
        return None;
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
    let eigen = SymmetricEigen::new(DMatrix::from_vec(size, size, matrix));
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
    let values = DMatrix::from_vec(side, side, small).symmetric_eigenvalues();
    let left = 1.0 - values.iter().copied().fold(0.0, f64::max);
    Some(if left > 1e-12 { left.recip() } else { f64::INFINITY })
}
