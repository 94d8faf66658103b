//! Least squares of several outputs under a penalty of whole rows of coefficients, or of groups of columns.
//!
//! The curvature is the same for every output, so that all coefficients of a column have their exact minimum,
//! the others fixed, from the products of the column with the residuals, and those of a few columns almost
//! theirs from the products of these columns with each other. A Newton step would need the products of all
//! coefficients with each other: `c²` times as many as of the columns, or, of groups, of many columns that a
//! short residual stands for. Where there are few columns and many samples, those products of columns are all
//! known, and a sweep passes over no sample.

use fewest_linalg::{add_scaled, dot, gram, gram_unless, lanes, transposed_products};
use fewest_solver::{BlockPenalty, Control, extrapolation_weights};

use crate::restricted::{Point, Restricted, duality_gap};

/// Sweeps over what is not zero that are combined into one point (Anderson 1965; Bertrand and Massias 2021).
const DEPTH: usize = 5;

/// Rounds of sweeps, and those without a gap smaller by a tenth, after which Newton steps take over, where
/// there are not too many coefficients for them.
const MOST_ROUNDS: usize = 100;
const PATIENCE: usize = 10;
const MOST_FOR_NEWTON: usize = 1000;

/// Most columns of a block.
const MOST_COLUMNS: usize = 100;

/// Up to so many columns for each output, their products with each other take less than the sweeps of one
/// round over the samples.
const FEW_COLUMNS: usize = 32;

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
    /// The products of all columns with each other, where they are few.
    products: Option<Vec<f64>>,
}

/// Coefficients with their dual point, whose change is that of the fitted values times the curvature; where
/// products of columns are known, with the products of the columns with it instead. Output by output.
#[derive(Clone)]
struct State {
    w: Vec<f64>,
    dual: Vec<f64>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(part: &'a Restricted<'a>, control: &Control<'_>) -> Option<Self> {
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
        let (atoms, n) = (part.atoms(), part.loss.n_samples());
        let m = part.columns.len() / n.max(1);
        let is_stopped = || control.stopped().is_some();
        let products = (m <= FEW_COLUMNS * c && m < n).then(|| gram_unless(&part.columns, n, &is_stopped));
        let gram_of = |block: &[usize]| -> Vec<f64> {
            let products = match &products {
                Some(products) => {
                    let places = || block.chunks(c).map(|row| part.atoms[row[0]].0);
                    places().flat_map(|j| places().map(move |i| products[j * m + i])).collect()
                }
                None => {
                    let columns = block.chunks(c).flat_map(|row| atoms.column(row[0]));
                    gram(&columns.copied().collect::<Vec<f64>>(), n)
                }
            };
            products.into_iter().map(|product| curvature * product).collect()
        };
        let mut grams: Vec<Vec<f64>> = all().map(gram_of).collect();
        let curvatures = grams.iter().map(|gram| largest_eigenvalue(gram)).collect();
        grams.iter_mut().filter(|gram| gram.len() == 1).for_each(Vec::clear);
        Some(Self { part, penalty, curvature, curvatures, grams, products })
    }

    /// The column of a coefficient: its values, or its products with all columns.
    fn column(&self, at: usize) -> &[f64] {
        match &self.products {
            Some(products) => {
                let m = products.len().isqrt();
                &products[self.part.atoms[at].0 * m..][..m]
            }
            None => {
                let n = self.part.loss.n_samples();
                &self.part.columns[self.part.atoms[at].0 * n..][..n]
            }
        }
    }

    /// Entries of a dual point, or of the products with it, of one output.
    fn height(&self) -> usize {
        self.products.as_ref().map_or(self.part.loss.n_samples(), |products| products.len().isqrt())
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
        // The more coefficients, the more a Newton step takes, by their square or cube, and a round by their
        // number.
        let scale = point.w.len().div_ceil(MOST_FOR_NEWTON).max(1);
        let most_rounds = MOST_ROUNDS * scale * scale;
        let patience = if hands_over { PATIENCE * scale } else { PATIENCE };
        let all: Vec<usize> = (0..self.curvatures.len()).collect();
        let has_minima = self.grams.iter().all(Vec::is_empty);
        let (mut best, mut without_progress, mut rounds) = (f64::INFINITY, 0, 0);
        loop {
            let dual = self.part.dual(&point);
            let products = transposed_products(&self.part.columns, &dual, self.part.loss.n_samples());
            let m = products.len() / self.part.loss.n_outputs();
            let correlations: Vec<f64> = self.part.atoms.iter().map(|(j, k)| products[k * m + j]).collect();
            let Point { w, fitted, .. } = &point;
            let (gap, _) = duality_gap(self.part.loss, self.penalty, None, w, fitted, &dual, &correlations);
            without_progress = if gap < 0.9 * best { 0 } else { without_progress + 1 };
            best = best.min(gap);
            let spent = *steps >= control.max_iterations || control.stopped().is_some();
            let is_slow = without_progress >= patience || hands_over && rounds >= most_rounds;
            if gap <= target || spent || is_slow {
                return (point, gap <= target || spent || !hands_over);
            }
            (*steps, rounds) = (*steps + 1, rounds + 1);
            let dual = if self.products.is_some() { products } else { dual };
            let mut state = State { w: std::mem::take(&mut point.w), dual };
            self.sweep(&mut state, &all);
            // The first round is one sweep, after which each block has had its minimum: on the way, where
            // the working set grows, the gap is then mostly small enough.
            if rounds > 1 || !has_minima {
                let is_zero =
                    |block: usize| self.penalty.blocks().block(block).iter().all(|&at| state.w[at] == 0.0);
                let active: Vec<usize> = all.iter().copied().filter(|&block| !is_zero(block)).collect();
                self.cycle(&mut state, &active);
            }
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
        if self.decrease(state, &mixed) > 0.0 {
            *state = mixed;
        }
    }

    /// By how much the objective falls from one state to another.
    fn decrease(&self, from: &State, to: &State) -> f64 {
        let of_loss = match &self.products {
            // Between two points a quadratic function falls by the mean of its slopes there.
            Some(_) => {
                let m = self.height();
                let slope = |(at, (j, k)): (usize, &(usize, usize))| {
                    (to.w[at] - from.w[at]) * (from.dual[k * m + j] + to.dual[k * m + j])
                };
                0.5 * self.part.atoms.iter().enumerate().map(slope).sum::<f64>()
            }
            None => 0.5 * (dot(&from.dual, &from.dual) - dot(&to.dual, &to.dual)) / self.curvature,
        };
        of_loss + self.penalty.value(&from.w) - self.penalty.value(&to.w)
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
        let (height, c) = (self.height(), self.part.loss.n_outputs());
        let (mut moved, mut products, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for &block in blocks {
            let curvature = self.curvatures[block];
            let rows = || self.penalty.blocks().block(block).chunks_exact(c);
            moved.clear();
            products.clear();
            for row in rows() {
                let first = products.len();
                products.resize(first + c, 0.0);
                let out = &mut products[first..];
                match &self.products {
                    Some(_) => {
                        let of_output = state.dual.chunks_exact(height);
                        let place = self.part.atoms[row[0]].0;
                        out.iter_mut().zip(of_output).for_each(|(out, dual)| *out = dual[place]);
                    }
                    None => lanes::dots(self.column(row[0]), &state.dual, out),
                }
                moved.extend(row.iter().map(|&at| state.w[at]));
            }
            before.clone_from(&moved);
            if curvature > 0.0 {
                self.descend(block, &before, &products, &mut moved);
            } else {
                moved.fill(0.0);
            }
            for (row, moved) in rows().zip(moved.chunks_exact(c)) {
                let column = self.column(row[0]);
                for ((&at, &value), dual) in row.iter().zip(moved).zip(state.dual.chunks_exact_mut(height)) {
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

#[cfg(test)]
mod tests {
    use fewest_solver::loss::{Samples, Separable, Squared};
    use fewest_solver::{Error, GroupLasso, Penalty};

    use super::*;

    /// With the products of columns known the same point is found as with passes over samples; one column is
    /// there twice, and one is a sum of others.
    #[test]
    fn products_of_columns_lead_to_the_same_point() -> Result<(), Error> {
        let (n, m, c) = (50, 9, 3);
        let wave = |i: usize, j: usize| (((i + 1) * (j + 2) * 7) as f64 * 0.37).sin();
        let value = |i: usize, j: usize| match j {
            7 => wave(i, 0),
            8 => wave(i, 1) + wave(i, 2),
            _ => wave(i, j),
        };
        let columns: Vec<f64> = (0..m).flat_map(|j| (0..n).map(move |i| value(i, j))).collect();
        let y = (0..c).flat_map(|k| (0..n).map(move |i| wave(i, k) + wave(i, 4) + 0.3 * wave(i, 20 + k)));
        let loss = Separable::new(Squared, y.collect(), Samples::mean(n))?;
        let all: Vec<usize> = (0..m * c).collect();
        let penalty = GroupLasso::new(0.02, &all.iter().map(|at| at / c).collect::<Vec<usize>>())?;
        let part = Restricted {
            loss: &loss,
            intercept: false,
            penalty: penalty.by_blocks().map(|penalty| penalty.restrict(&all)),
            links: None,
            columns,
            atoms: all.iter().map(|at| (at / c, at % c)).collect(),
        };
        let control = Control::default();
        let found = |is_known: bool| {
            let mut rows = Rows::of(&part, &control)?;
            assert!(rows.products.is_some(), "few columns");
            rows.products = rows.products.filter(|_| is_known);
            let start = part.point(vec![0.0; m * c], vec![0.0; c]);
            Some(rows.minimise(start, 1e-13, &control, &mut 0))
        };
        let (Some((known, true)), Some((passed, true))) = (found(true), found(false)) else {
            panic!("both converge");
        };
        assert!((known.objective() - passed.objective()).abs() <= 2e-13);
        let pairs = known.fitted.iter().zip(&passed.fitted);
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-5));
        assert!(known.w.iter().any(|w| *w != 0.0));
        Ok(())
    }
}
