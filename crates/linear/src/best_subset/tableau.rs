//! The least squares fit of a set of columns, and what every other column would change about it.

use std::collections::BTreeSet;

use fewest_linalg::add_scaled;
use multiversion::multiversion;

/// Columns looked at by one task.
const CHUNK: usize = 4096;

/// Rounding of a fall, as a share of it, at most.
const MARGIN: f64 = 1e-12;

/// A column of which less than this share of its variance is left, given the set, depends on the set.
const DEPENDENT: f64 = 1e-10;

/// The fit of the outputs by the columns `A`, kept by pivots: with `G = XᵀX / n`, `H = G_AA⁻¹`.
///
/// A column enters or leaves in `|A| d` operations, and every exchange of one column for another is known
/// exactly: where `j` leaves, the objective rises by `‖wⱼ‖² / 2Hⱼⱼ`; where `i` then enters, it falls by
/// `‖cᵢ + wⱼ uᵢⱼ / Hⱼⱼ‖² / 2(vᵢ + uᵢⱼ² / Hⱼⱼ)`.
#[derive(Clone)]
pub(super) struct Tableau {
    /// The columns of the set, in the order in which they entered.
    pub active: Vec<usize>,
    /// `u`: for each active column its coefficient in the regression of every column on the set.
    rows: Vec<Vec<f64>>,
    /// `H`, row by row.
    inverse: Vec<Vec<f64>>,
    /// `c`: output by output, the product of every column with the residual, divided by `n`.
    correlations: Vec<Vec<f64>>,
    /// `v`: what the set leaves of the variance of every column.
    variances: Vec<f64>,
    /// `w`: output by output, the coefficient of each active column.
    pub coefficients: Vec<Vec<f64>>,
    /// `1/(2n) ‖Y − X W‖²`.
    pub objective: f64,
}

/// A column, or a place in the set, and what it changes about the objective.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    /// Place in the set of the column that leaves.
    pub leaves: usize,
    /// The column that enters.
    pub enters: usize,
    /// How much lower the objective is then.
    pub gain: f64,
}

impl Tableau {
    /// Of the empty set: outputs of variance 1 whose products with the columns are `products`, and columns of
    /// these `variances`, 1 or 0.
    pub(super) fn new(products: &[Vec<f64>], variances: &[f64]) -> Self {
        Self {
            active: Vec::new(),
            rows: Vec::new(),
            inverse: Vec::new(),
            correlations: products.to_vec(),
            variances: variances.to_vec(),
            coefficients: vec![Vec::new(); products.len()],
            objective: 0.5 * products.len() as f64,
        }
    }

    /// The same set where there are no other columns than `some`, the first of which are those of the set.
    pub(super) fn of(&self, some: &[usize]) -> Self {
        let of = |all: &Vec<f64>| some.iter().map(|&column| all[column]).collect();
        Self {
            active: (0..self.active.len()).collect(),
            rows: self.rows.iter().map(of).collect(),
            correlations: self.correlations.iter().map(of).collect(),
            variances: of(&self.variances),
            inverse: self.inverse.clone(),
            coefficients: self.coefficients.clone(),
            objective: self.objective,
        }
    }

    /// Lets `column` enter, whose products with all columns are `gram`; false where it depends on the set.
    pub(super) fn enter(&mut self, column: usize, gram: &[f64]) -> bool {
        let shares: Vec<f64> = self.active.iter().map(|&a| gram[a]).collect();
        // What the set leaves of the products of the column with all others.
        let mut left = gram.to_vec();
        let rows = &self.rows;
        fewest_parallel::chunks(&mut left, CHUNK, |at, left| {
            for (row, share) in rows.iter().zip(&shares) {
                add_scaled(left, -share, &row[at * CHUNK..at * CHUNK + left.len()]);
            }
        });
        let pivot = left[column];
        if pivot.is_nan() || pivot <= DEPENDENT {
            self.variances[column] = 0.0;
            return false;
        }
        let own: Vec<f64> = self.rows.iter().map(|row| row[column]).collect();
        fewest_parallel::chunks(&mut self.rows, 1, |at, rows| {
            for row in rows {
                add_scaled(row, -own[at] / pivot, &left);
                row[column] = 0.0;
            }
        });
        for (row, a) in self.inverse.iter_mut().zip(&own) {
            row.iter_mut().zip(&own).for_each(|(value, b)| *value += a * b / pivot);
            row.push(-a / pivot);
        }
        let last = own.iter().map(|a| -a / pivot).chain([pivot.recip()]).collect();
        self.inverse.push(last);
        for (correlations, w) in self.correlations.iter_mut().zip(&mut self.coefficients) {
            let weight = correlations[column] / pivot;
            self.objective -= 0.5 * weight * correlations[column];
            w.iter_mut().zip(&own).for_each(|(w, a)| *w -= a * weight);
            w.push(weight);
            add_scaled(correlations, -weight, &left);
            correlations[column] = 0.0;
        }
        self.variances.iter_mut().zip(&left).for_each(|(v, left)| *v -= left * left / pivot);
        self.variances[column] = 0.0;
        left.iter_mut().for_each(|value| *value /= pivot);
        left[column] = 1.0;
        self.rows.push(left);
        self.active.push(column);
        true
    }

    /// Lets the column at `place` of the set leave.
    pub(super) fn leave(&mut self, place: usize) {
        self.active.remove(place);
        let row = self.rows.remove(place);
        let mut inverse = self.inverse.remove(place);
        let own = inverse.remove(place);
        for other in &mut self.inverse {
            let share = other.remove(place) / own;
            other.iter_mut().zip(&inverse).for_each(|(value, b)| *value -= share * b);
        }
        fewest_parallel::chunks(&mut self.rows, 1, |at, rows| {
            rows.iter_mut().for_each(|other| add_scaled(other, -inverse[at] / own, &row));
        });
        for (correlations, w) in self.correlations.iter_mut().zip(&mut self.coefficients) {
            let weight = w.remove(place) / own;
            self.objective += 0.5 * weight * weight * own;
            w.iter_mut().zip(&inverse).for_each(|(w, share)| *w -= weight * share);
            add_scaled(correlations, weight, &row);
        }
        self.variances.iter_mut().zip(&row).for_each(|(v, u)| *v += u * u / own);
    }

    /// How much the objective rises where each column of the set leaves.
    pub(super) fn rises(&self) -> Vec<f64> {
        let squares = |place: usize| self.coefficients.iter().map(|w| w[place] * w[place]).sum::<f64>();
        (0..self.active.len()).map(|place| 0.5 * squares(place) / self.inverse[place][place]).collect()
    }

    /// How much the objective falls where each column enters: 0 for those of the set and those that depend on
    /// it.
    pub(super) fn gains(&self) -> Vec<f64> {
        let mut gains = vec![0.0; self.variances.len()];
        for correlations in &self.correlations {
            gains.iter_mut().zip(correlations).for_each(|(gain, c)| *gain += c * c);
        }
        gains.iter_mut().zip(&self.variances).for_each(|(gain, v)| *gain = half_share(*gain, *v));
        gains
    }

    /// The exchange that lowers the objective most; of equal ones the first that is found. Of `barred` pairs,
    /// the column that leaves and that which enters, none.
    pub(super) fn best_exchange(&self, barred: &BTreeSet<(usize, usize)>) -> Option<Exchange> {
        let rises = self.rises();
        let n_chunks = self.variances.len().div_ceil(CHUNK);
        let found = fewest_parallel::map_with(n_chunks, |squares: &mut Vec<f64>, at| {
            self.best_exchange_in(
                at * CHUNK..self.variances.len().min((at + 1) * CHUNK),
                &rises,
                barred,
                squares,
            )
        });
        found.into_iter().flatten().reduce(|best, other| if other.gain > best.gain { other } else { best })
    }

    /// The best exchange for one of `columns`.
    fn best_exchange_in(
        &self,
        columns: std::ops::Range<usize>,
        rises: &[f64],
        barred: &BTreeSet<(usize, usize)>,
        squares: &mut Vec<f64>,
    ) -> Option<Exchange> {
        let mut best: Option<Exchange> = None;
        for (leaves, rise) in rises.iter().enumerate() {
            let own = self.inverse[leaves][leaves];
            let u = &self.rows[leaves][columns.clone()];
            squares.clear();
            squares.resize(columns.len(), 0.0);
            for (correlations, w) in self.correlations.iter().zip(&self.coefficients) {
                add_squares(squares, &correlations[columns.clone()], w[leaves] / own, u);
            }
            let variances = &self.variances[columns.clone()];
            if best.is_some_and(|best| !is_exceeded(squares, variances, own, u, best.gain + rise)) {
                continue;
            }
            to_falls(squares, variances, own, u);
            for (at, fall) in squares.iter().enumerate() {
                let gain = fall - rise;
                let is_barred = || barred.contains(&(self.active[leaves], columns.start + at));
                if best.is_none_or(|best| gain > best.gain) && !is_barred() {
                    best = Some(Exchange { leaves, enters: columns.start + at, gain });
                }
            }
        }
        best
    }
}

/// `squares += (c + weight u)²`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add_squares(squares: &mut [f64], c: &[f64], weight: f64, u: &[f64]) {
    for ((square, c), u) in squares.iter_mut().zip(c).zip(u) {
        let c = c + weight * u;
        *square += c * c;
    }
}

/// `½ square / (v + u² / own)` in place of each square.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn to_falls(squares: &mut [f64], v: &[f64], own: f64, u: &[f64]) {
    let weight = own.recip();
    for ((square, v), u) in squares.iter_mut().zip(v).zip(u) {
        *square = half_share(*square, v + weight * u * u);
    }
}

/// Whether one of the [falls](to_falls) may be above `least`, rounding in doubt: told without a division for
/// each.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn is_exceeded(squares: &[f64], v: &[f64], own: f64, u: &[f64], least: f64) -> bool {
    let (weight, twice) = (own.recip(), 2.0 * (1.0 - MARGIN) * least);
    let mut exceeded = u64::from(least < 0.0);
    for ((square, v), u) in squares.iter().zip(v).zip(u) {
        let variance = v + weight * u * u;
        exceeded += u64::from(variance > DEPENDENT) & u64::from(*square > twice * variance);
    }
    exceeded > 0
}

/// `½ square / variance`, or 0 where there is nothing left of the variance.
#[inline(always)]
fn half_share(square: f64, variance: f64) -> f64 {
    if variance > DEPENDENT { 0.5 * square / variance } else { 0.0 }
}
