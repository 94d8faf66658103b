//! Least squares of several outputs under a penalty of whole rows of coefficients.
//!
//! The curvature is the same for every output, so that all coefficients of a column have their exact minimum,
//! the others fixed, from the products of the column with the residuals. A Newton step would need the
//! products of all coefficients with each other, `c²` times as many as of the columns.

use fewest_linalg::{add_scaled, dot};
use fewest_solver::{BlockPenalty, Control, extrapolation_weights};

use crate::restricted::{Point, Restricted};

/// Sweeps over what is not zero that are combined into one point (Anderson 1965; Bertrand and Massias 2021).
const DEPTH: usize = 5;

/// Rounds of sweeps, and those without a gap smaller by a tenth, after which Newton steps take over, where
/// there are not too many coefficients for them.
const MOST_ROUNDS: usize = 100;
const PATIENCE: usize = 10;
const MOST_FOR_NEWTON: usize = 1000;

/// The problem, if it is of this kind.
pub(crate) struct Rows<'a> {
    part: &'a Restricted<'a>,
    penalty: &'a dyn BlockPenalty,
    /// That of the loss.
    curvature: f64,
    /// By block, an upper bound of the curvature in its coefficients, exact for those of one column.
    curvatures: Vec<f64>,
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
        let is_whole = |block: usize| blocks.block(block).chunks(c).all(is_row);
        if c == 1 || part.intercept || part.links.is_some() || !(0..blocks.n_blocks()).all(is_whole) {
            return None;
        }
        let atoms = part.atoms();
        let squared_norm =
            |row: &[usize]| row.first().map_or(0.0, |&at| dot(atoms.column(at), atoms.column(at)));
        let bound = |block: usize| curvature * blocks.block(block).chunks(c).map(squared_norm).sum::<f64>();
        let curvatures = (0..blocks.n_blocks()).map(bound).collect();
        Some(Self { part, penalty, curvature, curvatures })
    }

    /// Sweeps from `point` until the gap is at most `target`, which is said, or Newton steps are better.
    pub(crate) fn minimise(
        &self,
        mut point: Point,
        target: f64,
        control: &Control<'_>,
        steps: &mut u64,
    ) -> (Point, bool) {
        let hands_over = point.w.len() <= MOST_FOR_NEWTON;
        let all: Vec<usize> = (0..self.curvatures.len()).collect();
        let (mut best, mut without_progress, mut rounds) = (f64::INFINITY, 0, 0);
        loop {
            let dual = self.part.dual(&point);
            let gap = self.part.gap(&point, dual.clone());
            without_progress = if gap < 0.9 * best { 0 } else { without_progress + 1 };
            best = best.min(gap);
            let spent = *steps >= control.max_iterations || control.stopped().is_some();
            let is_slow = without_progress >= PATIENCE || hands_over && rounds >= MOST_ROUNDS;
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

    /// Takes the coefficients of each of `blocks` in turn to their minimum, or nearer where they are of
    /// several columns.
    fn sweep(&self, state: &mut State, blocks: &[usize]) {
        let (n, c) = (self.part.loss.n_samples(), self.part.loss.n_outputs());
        let atoms = self.part.atoms();
        let mut moved = Vec::new();
        for &block in blocks {
            let curvature = self.curvatures[block];
            let rows = || self.penalty.blocks().block(block).chunks_exact(c);
            moved.clear();
            for row in rows() {
                let column = atoms.column(row[0]);
                let products = state.dual.chunks_exact(n).map(|dual| dot(column, dual));
                moved
                    .extend(row.iter().zip(products).map(|(&at, product)| state.w[at] + product / curvature));
            }
            if curvature > 0.0 {
                self.penalty.prox_block(block, &mut moved, curvature.recip());
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
