//! Least squares of several outputs under a penalty of whole rows of coefficients, or of groups of columns.
//!
//! The curvature is the same for every output, so that all coefficients of a column have their exact minimum,
//! the others fixed, from the products of the column with the residuals, and those of a few columns almost
//! theirs from the products of these columns with each other. A Newton step would need the products of all
//! coefficients with each other: `c²` times as many as of the columns, or, of groups, of many columns that a
//! short residual stands for.

use fewest_linalg::{add_scaled, dot, gram};
use fewest_solver::{BlockPenalty, Control, extrapolation_weights};

use crate::restricted::{Point, Restricted};

/// Sweeps over what is not zero that are combined into one point (Anderson 1965; Bertrand and Massias 2021).
const DEPTH: usize = 5;

/// Rounds of sweeps, and those without a gap smaller by a tenth, after which Newton steps take over, where
/// there are not too many coefficients for them.
const MOST_ROUNDS: usize = 100;
const PATIENCE: usize = 10;
const MOST_FOR_NEWTON: usize = 1000;

/// Most columns of a block.
const MOST_COLUMNS: usize = 100;

/// Prox steps over the coefficients of a block of several columns: they take a product with a small matrix,
/// those of the columns with the residuals a pass over the samples.
const INNER_STEPS: usize = 6;

/// The problem, if it is of this kind.
pub(crate) struct Rows<'a> {
    part: &'a Restricted<'a>,
    penalty: &'a dyn BlockPenalty,
    /// That of the loss.
    curvature: f64,
    /// By block, an upper bound of the curvature in its coefficients, exact for those of one column.
    curvatures: Vec<f64>,
    /// By block, the products of its columns with each other times the curvature of the loss, where there are
    /// several.
    grams: Vec<Vec<f64>>,
}

/// Coefficients with their dual point, whose change is that of the fitted values times the curvature.
#[derive(Clone)]
struct State {
    w: Vec<f64>,
    dual: Vec<f64>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(part: &'a Restricted<'a>) -> Option<Self> {
        let penalty = part.penalty.as_deref()?;
        let curvature = part.loss.constant_curvature()?;
        let c = part.loss.n_outputs();
        let is_row = |row: &[usize]| {
            let first = row.first().and_then(|&at| part.atoms.get(at));
            let own = |(k, &at): (usize, &usize)| part.atoms.get(at) == first.map(|(j, _)| (*j, k)).as_ref();
            row.len() == c
                && row.windows(2).all(|pair| pair[1] == pair[0] + 1)
                && row.iter().enumerate().all(own)
        };
        let blocks = penalty.blocks();
        let all = || (0..blocks.n_blocks()).map(|block| blocks.block(block));
        let is_whole = |block: &[usize]| block.len() <= c * MOST_COLUMNS && block.chunks(c).all(is_row);
        // With one coefficient a block there is nothing that Newton steps have to do more often.
        let is_single = c == 1 && all().all(|block| block.len() == 1);
        if is_single || part.intercept || part.links.is_some() || !all().all(is_whole) {
            return None;
        }
        let atoms = part.atoms();
        let gram_of = |block: &[usize]| -> Vec<f64> {
            let columns: Vec<f64> = block.chunks(c).flat_map(|row| atoms.column(row[0])).copied().collect();
            gram(&columns, part.loss.n_samples()).into_iter().map(|product| curvature * product).collect()
        };
        let mut grams: Vec<Vec<f64>> = all().map(gram_of).collect();
        let curvatures = grams.iter().map(|gram| largest_eigenvalue(gram)).collect();
        grams.iter_mut().filter(|gram| gram.len() == 1).for_each(Vec::clear);
        Some(Self { part, penalty, curvature, curvatures, grams })
    }

    /// Sweeps from `point` until the gap is at most `target`, which is said, or Newton steps are better.
    pub(crate) fn minimise(
        &self,
        mut point: Point,
        target: f64,
        control: &Control<'_>,
        steps: &mut u64,
    ) -> (Point, bool) {
        let is_one_output = self.part.loss.n_outputs() == 1;
        let hands_over = is_one_output || point.w.len() <= MOST_FOR_NEWTON;
        // The more coefficients, the more a Newton step takes.
        let most_rounds = MOST_ROUNDS * point.w.len().div_ceil(MOST_FOR_NEWTON).max(1);
        let all: Vec<usize> = (0..self.curvatures.len()).collect();
        let (mut best, mut without_progress, mut rounds) = (f64::INFINITY, 0, 0);
        loop {
            let dual = self.part.dual(&point);
            let gap = self.part.gap(&point, dual.clone());
            without_progress = if gap < 0.9 * best { 0 } else { without_progress + 1 };
            best = best.min(gap);
            let spent = *steps >= control.max_iterations || control.stopped().is_some();
            let is_slow = without_progress >= PATIENCE || hands_over && rounds >= most_rounds;
            if gap <= target || spent || is_slow {
                return (point, gap <= target || spent || !hands_over);
            }
            (*steps, rounds) = (*steps + 1, rounds + 1);
            let mut state = State { w: std::mem::take(&mut point.w), dual };
            self.sweep(&mut state, &all);
            let is_zero =
                |block: usize| self.penalty.blocks().block(block).iter().all(|&at| state.w[at] == 0.0);
            let active: Vec<usize> = all.iter().copied().filter(|&block| !is_zero(block)).collect();
            self.cycle(&mut state, &active);
            point = self.part.point(state.w, point.b);
        }
    }

    /// Sweeps over `blocks`, and the combination of them if it is better.
    fn cycle(&self, state: &mut State, blocks: &[usize]) {
        let mut points = vec![state.clone()];
        for _ in 0..DEPTH {
            self.sweep(state, blocks);
            points.push(state.clone());
        }
        let coefficients: Vec<&[f64]> = points.iter().map(|point| point.w.as_slice()).collect();
        let Some(weights) = extrapolation_weights(&coefficients) else { return };
        let mut mixed = State { w: vec![0.0; state.w.len()], dual: vec![0.0; state.dual.len()] };
        for (&weight, point) in weights.iter().zip(&points[1..]) {
            add_scaled(&mut mixed.w, weight, &point.w);
            add_scaled(&mut mixed.dual, weight, &point.dual);
        }
        if self.objective(&mixed) < self.objective(state) {
            *state = mixed;
        }
    }

    fn objective(&self, state: &State) -> f64 {
        0.5 * dot(&state.dual, &state.dual) / self.curvature + self.penalty.value(&state.w)
    }

    /// Prox steps from `moved`, which is `before`, where the products of the columns with the dual point are
    /// `products`: one to the minimum for a single column, some towards it for several.
    fn descend(&self, block: usize, before: &[f64], products: &[f64], moved: &mut [f64]) {
        let (c, gram, step) =
            (self.part.loss.n_outputs(), &self.grams[block], self.curvatures[block].recip());
        let m = moved.len() / c;
        let mut last = before.to_vec();
        for _ in 0..if gram.is_empty() { 1 } else { INNER_STEPS } {
            for (at, value) in moved.iter_mut().enumerate() {
                let (row, k) = (at / c, at % c);
                let change = |other: usize| last[other * c + k] - before[other * c + k];
                let own = gram.get(row * m..(row + 1) * m).unwrap_or_default();
                let taken: f64 = own.iter().enumerate().map(|(other, g)| g * change(other)).sum();
                *value = last[at] + step * (products[at] - taken);
            }
            self.penalty.prox_block(block, moved, step);
            if *moved == last[..] {
                break;
            }
            last.copy_from_slice(moved);
        }
    }

    /// Takes the coefficients of each of `blocks` in turn to their minimum, or nearer where they are of
    /// several columns.
    fn sweep(&self, state: &mut State, blocks: &[usize]) {
        let (n, c) = (self.part.loss.n_samples(), self.part.loss.n_outputs());
        let atoms = self.part.atoms();
        let (mut moved, mut products, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for &block in blocks {
            let curvature = self.curvatures[block];
            let rows = || self.penalty.blocks().block(block).chunks_exact(c);
            moved.clear();
            products.clear();
            for row in rows() {
                let column = atoms.column(row[0]);
                products.extend(state.dual.chunks_exact(n).map(|dual| dot(column, dual)));
                moved.extend(row.iter().map(|&at| state.w[at]));
            }
            before.clone_from(&moved);
            if curvature > 0.0 {
                self.descend(block, &before, &products, &mut moved);
            } else {
                moved.fill(0.0);
            }
            for (row, moved) in rows().zip(moved.chunks_exact(c)) {
                let column = atoms.column(row[0]);
                for ((&at, &value), dual) in row.iter().zip(moved).zip(state.dual.chunks_exact_mut(n)) {
                    let change = value - state.w[at];
                    if change != 0.0 {
                        add_scaled(dual, -self.curvature * change, column);
                        state.w[at] = value;
                    }
                }
            }
        }
    }
}

/// An upper bound of the largest eigenvalue of a symmetric matrix, exact for one entry.
fn largest_eigenvalue(matrix: &[f64]) -> f64 {
    let n = matrix.len().isqrt();
    let frobenius = matrix.iter().map(|value| value * value).sum::<f64>().sqrt();
    let sums =
        matrix.chunks_exact(n.max(1)).map(|column| column.iter().map(|value| value.abs()).sum::<f64>());
    frobenius.min(sums.fold(0.0, f64::max))
}
