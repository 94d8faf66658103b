//! The linear program of hinge loss and weighted l1 norm.

mod interior;
mod reduced;

use fewest_core::{Context, Error, Status, order};
use fewest_solver::LinearOperator;

use self::interior::{Conditions, Solution};
use super::design::Design;

/// Columns that join the program at a time, at least.
const LEAST_JOINING: usize = 20;

/// A column whose product with the dual point exceeds its cost by this share of the largest cost joins, or by
/// half of the tolerance where that is smaller.
const VIOLATION: f64 = 1e-8;

/// The gap of the programs that only look for columns, until nothing joins any more.
const LOOSE: f64 = 1e-3;

/// Of these columns the next program keeps those whose product with the dual point is at least this share of
/// their penalty.
const NEARLY: f64 = 0.8;

/// Most times that the weights are fitted again.
const MOST_REFITS: usize = 5;

/// The solver's name in reports.
pub(super) const SOLVER: &str = "interior-point";

/// `minimise over w, b   Σ_j c_j |w_j| + Σ_i d_i max(0, 1 − y_i (⟨w, x_i⟩ + b))`.
///
/// Its dual is `maximise Σ_i u_i` with `0 ≤ u_i ≤ d_i`, `Σ u_i y_i = 0` and `|Σ_i u_i y_i x_ij| ≤ c_j` for
/// all columns `j`. A program over few columns is solved by an interior point method; columns
/// whose condition its dual point breaks join, until none does (column generation). So the memory is that of
/// few columns. The first programs only look for columns: their gaps are wide, and most of what they have
/// collected is dropped before the gap asked for.
pub(super) struct Program<'a> {
    pub(super) design: &'a Design,
    /// `y`, −1 or +1, both there.
    pub(super) labels: &'a [f64],
    /// `d`, above 0.
    pub(super) costs: &'a [f64],
}

/// A solution over all columns.
#[derive(Debug, Clone)]
pub(super) struct Optimum {
    /// `w`, one weight a column.
    pub(super) weights: Vec<f64>,
    /// `Σ d_i ξ_i` at `w` with its best bias.
    pub(super) loss: f64,
    /// The larger of the relative difference between the primal and the dual objective and the largest
    /// violation of a dual condition, as a share of the largest cost.
    pub(super) gap: f64,
    pub(super) status: Status,
    /// Steps of the interior point method, summed over the programs.
    pub(super) iterations: usize,
}

impl Program<'_> {
    /// Minimises with `penalties` `c`, above 0, beginning with the columns `start`.
    pub(super) fn minimise(
        &self,
        penalties: &[f64],
        start: &[usize],
        tolerance: f64,
        context: &Context<'_>,
    ) -> Result<Optimum, Error> {
        context.go_on("the first linear program was solved")?;
        let largest = penalties.iter().copied().fold(0.0, f64::max);
        let at_zero = self.loss(&vec![0.0; self.labels.len()]);
        let violation = VIOLATION.min(0.5 * tolerance) * largest;
        let mut columns = start.to_vec();
        let (mut iterations, mut status) = (0, Status::Converged);
        let mut dual = self.balanced(self.costs.to_vec());
        let mut weights = vec![0.0; penalties.len()];
        let mut wanted = LOOSE.max(tolerance);
        loop {
            let products = self.products(&dual);
            let mut joining: Vec<(f64, usize)> = (0..penalties.len())
                .filter(|j| products[*j].abs() > penalties[*j] + violation)
                .map(|j| (products[j].abs() / penalties[j], j))
                .filter(|(_, j)| columns.binary_search(j).is_err())
                .collect();
            if iterations > 0 && joining.is_empty() {
                if wanted <= tolerance {
                    break;
                }
                wanted = tolerance;
                columns.retain(|&j| weights[j] != 0.0 || products[j].abs() >= NEARLY * penalties[j]);
            }
            if let Some(reason) = context.stopped() {
                if iterations == 0 {
                    return Err(Error::Stopped { before: "the first linear program was solved" });
                }
                status = reason;
                break;
            }
            order::largest_first(&mut joining);
            joining.truncate(columns.len().max(LEAST_JOINING));
            columns.extend(joining.into_iter().map(|(_, j)| j));
            order::sort_indices(&mut columns);
            let small = self.solve(&columns, penalties, at_zero, wanted, context);
            if !small.weights.iter().chain(&small.dual).all(|value| value.is_finite()) {
                return Err(Error::Numerical {
                    what: "the linear program",
                    hint: "the features or their costs differ too much in size".to_owned(),
                });
            }
            iterations += small.iterations.max(1);
            spread(&mut weights, &columns, &small.weights);
            dual = self.balanced(small.dual);
            if !small.solved {
                status = context.stopped().unwrap_or(Status::Stalled);
                break;
            }
        }
        let bound: f64 = dual.iter().sum();
        let (mut loss, mut primal) = self.objective(&weights, penalties);
        // Weights that were taken for rounding may leave a gap: those kept are fitted again to close it.
        let mut fitted = weights.clone();
        for _ in 0..MOST_REFITS {
            let kept: Vec<usize> = columns.iter().copied().filter(|&j| fitted[j] != 0.0).collect();
            let small_gap = primal - bound <= tolerance * at_zero;
            if status != Status::Converged || small_gap || kept.len() == columns.len() {
                break;
            }
            if let Some(reason) = context.stopped() {
                status = reason;
                break;
            }
            let small = self.solve(&kept, penalties, at_zero, tolerance, context);
            iterations += small.iterations;
            spread(&mut fitted, &kept, &small.weights);
            let (its_loss, its_primal) = self.objective(&fitted, penalties);
            if its_primal < primal {
                (loss, primal) = (its_loss, its_primal);
                weights.clone_from(&fitted);
            }
            columns = kept;
        }
        let products = self.products(&dual);
        let excess = products.iter().zip(penalties).fold(0.0_f64, |most, (v, c)| most.max(v.abs() - c));
        let gap = ((primal - bound).max(0.0) / at_zero).max(excess / largest);
        if status == Status::Converged {
            status = Status::by_certificate(gap, tolerance);
        }
        Ok(Optimum { weights, loss, gap, status, iterations })
    }

    /// The loss at `weights` with the best bias, and the loss with the norm.
    fn objective(&self, weights: &[f64], penalties: &[f64]) -> (f64, f64) {
        let mut fitted = vec![0.0; self.labels.len()];
        self.design.apply(weights, &mut fitted);
        let loss = self.loss(&fitted);
        (loss, loss + weights.iter().zip(penalties).map(|(w, c)| c * w.abs()).sum::<f64>())
    }

    /// `Σ_i u_i y_i x_ij` of every column.
    fn products(&self, dual: &[f64]) -> Vec<f64> {
        let signed: Vec<f64> = dual.iter().zip(self.labels).map(|(u, y)| u * y).collect();
        let mut products = vec![0.0; self.design.n_columns()];
        self.design.apply_transpose(&signed, &mut products);
        products
    }

    /// `u` cut to `[0, d]`, and the heavier class scaled down to `Σ u_i y_i = 0`.
    fn balanced(&self, mut dual: Vec<f64>) -> Vec<f64> {
        let mut sums = [0.0, 0.0];
        for ((u, d), y) in dual.iter_mut().zip(self.costs).zip(self.labels) {
            *u = u.clamp(0.0, *d);
            sums[usize::from(*y > 0.0)] += *u;
        }
        let least = sums[0].min(sums[1]);
        for (u, y) in dual.iter_mut().zip(self.labels) {
            let sum = sums[usize::from(*y > 0.0)];
            *u *= if sum > 0.0 { least / sum } else { 0.0 };
        }
        dual
    }

    /// The least `Σ d_i max(0, 1 − y_i (z_i + b))` over `b`, which is at one of the breakpoints `y_i − z_i`.
    fn loss(&self, fitted: &[f64]) -> f64 {
        let kinks: Vec<f64> = self.labels.iter().zip(fitted).map(|(y, z)| y - z).collect();
        // The slope is minus the costs of all positive samples far to the left, and rises by a sample's cost
        // at its breakpoint.
        let mut slope: f64 =
            -self.labels.iter().zip(self.costs).map(|(y, d)| if *y > 0.0 { *d } else { 0.0 }).sum::<f64>();
        let mut bias = 0.0;
        for i in order::ascending(&kinks) {
            bias = kinks[i];
            slope += self.costs[i];
            if slope >= 0.0 {
                break;
            }
        }
        let hinge = |((y, z), d): ((&f64, &f64), &f64)| d * (1.0 - y * (z + bias)).max(0.0);
        self.labels.iter().zip(fitted).zip(self.costs).map(hinge).sum()
    }

    /// The program over `columns`.
    fn solve(
        &self,
        columns: &[usize],
        penalties: &[f64],
        at_zero: f64,
        tolerance: f64,
        context: &Context<'_>,
    ) -> Solution {
        let n = self.labels.len();
        let mut signed = vec![0.0; n * columns.len()];
        for (column, &j) in signed.chunks_exact_mut(n).zip(columns) {
            self.design.column(j, column);
            column.iter_mut().zip(self.labels).for_each(|(value, y)| *value *= y);
        }
        let penalties: Vec<f64> = columns.iter().map(|&j| penalties[j]).collect();
        let conditions =
            Conditions { signed: &signed, labels: self.labels, penalties: &penalties, costs: self.costs };
        conditions.solve(at_zero, (0.1 * tolerance).max(1e-12), context)
    }
}

/// Writes the weights of `columns` into those of all columns.
fn spread(weights: &mut [f64], columns: &[usize], values: &[f64]) {
    weights.fill(0.0);
    for (&j, &w) in columns.iter().zip(values) {
        weights[j] = w;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fewest_core::{Dataset, DenseColumns, Target};
    use nalgebra::{DMatrix, DVector};

    use super::*;

    fn design(columns: &[Vec<f64>]) -> Result<Design, Error> {
        let data = Dataset::new(DenseColumns::from_columns(columns)?, Target::None)?;
        Design::new(&data, "test", &Context::default())
    }

    fn wave(n: usize, step: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * step) % (n + 1)) as f64 / n as f64).collect()
    }

    /// The objective is linear between the planes `w_j = 0` and `y_i (⟨w, x_i⟩ + b) = 1` and bounded below,
    /// so its minimum is where three of them meet: all such points are tried.
    #[test]
    fn the_optimum_is_the_best_vertex() -> Result<(), Error> {
        let n = 8;
        let design = design(&[wave(n, 2), wave(n, 5)])?;
        let mut x = DMatrix::zeros(n, 2);
        for j in 0..2 {
            design.column(j, x.column_mut(j).as_mut_slice());
        }
        for labels in
            [[1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0]]
        {
            for (penalties, cost) in [([1.0, 1.0], 0.3), ([1.0, 0.2], 1.0), ([0.05, 0.1], 2.0)] {
                let costs: Vec<f64> = (0..n).map(|i| cost * (1.0 + 0.1 * i as f64)).collect();
                let objective = |w: [f64; 2], b: f64| -> f64 {
                    let hinge = |i: usize| {
                        costs[i] * (1.0 - labels[i] * (w[0] * x[(i, 0)] + w[1] * x[(i, 1)] + b)).max(0.0)
                    };
                    penalties[0] * w[0].abs() + penalties[1] * w[1].abs() + (0..n).map(hinge).sum::<f64>()
                };
                let mut planes = vec![([1.0, 0.0, 0.0], 0.0), ([0.0, 1.0, 0.0], 0.0)];
                planes.extend((0..n).map(|i| ([x[(i, 0)], x[(i, 1)], 1.0], labels[i])));
                let mut best = f64::INFINITY;
                for a in 0..planes.len() {
                    for b in 0..a {
                        for c in 0..b {
                            let rows: Vec<f64> = [a, b, c].iter().flat_map(|&p| planes[p].0).collect();
                            let right = DVector::from_iterator(3, [a, b, c].iter().map(|&p| planes[p].1));
                            if let Some(at) = DMatrix::from_row_slice(3, 3, &rows).lu().solve(&right) {
                                best = best.min(objective([at[0], at[1]], at[2]));
                            }
                        }
                    }
                }
                let program = Program { design: &design, labels: &labels, costs: &costs };
                let found = program.minimise(&penalties, &[], 1e-10, &Context::default())?;
                let norm: f64 = found.weights.iter().zip(&penalties).map(|(w, c)| c * w.abs()).sum();
                assert!((found.loss + norm - best).abs() <= 1e-8 * best, "{} and {best}", found.loss + norm);
                assert_eq!(found.status, Status::Converged, "gap {}", found.gap);
            }
        }
        Ok(())
    }

    #[test]
    fn columns_left_out_do_not_matter() -> Result<(), Error> {
        let n = 40;
        let columns: Vec<Vec<f64>> = (1..90).map(|step| wave(n, step % 40 + step / 40)).collect();
        let design = design(&columns)?;
        let labels: Vec<f64> = (0..n)
            .map(|i| if columns[6][i] + columns[16][i] - columns[30][i] > 0.5 { 1.0 } else { -1.0 })
            .collect();
        let costs = vec![1.0; n];
        let program = Program { design: &design, labels: &labels, costs: &costs };
        let penalties = vec![2.0; columns.len()];
        let every: Vec<usize> = (0..columns.len()).collect();
        let some = program.minimise(&penalties, &[], 1e-9, &Context::default())?;
        let all = program.minimise(&penalties, &every, 1e-9, &Context::default())?;
        let value = |found: &Optimum| found.loss + 2.0 * found.weights.iter().map(|w| w.abs()).sum::<f64>();
        assert!((value(&some) - value(&all)).abs() <= 1e-7 * value(&all), "{} {}", value(&some), value(&all));
        for gap in [some.gap, all.gap] {
            assert!((-1e-12..=1e-8).contains(&gap), "{gap}");
        }
        Ok(())
    }

    /// A loose gap leaves some of every weight: which are 0 is told by the conditions of an optimum, and not
    /// by size.
    #[test]
    fn a_loose_gap_chooses_the_weights_of_a_tight_one() -> Result<(), Error> {
        let n = 60;
        let columns: Vec<Vec<f64>> = (1..30).map(|step| wave(n, step)).collect();
        let design = design(&columns)?;
        let labels: Vec<f64> =
            (0..n).map(|i| if columns[6][i] - columns[16][i] > 0.1 { 1.0 } else { -1.0 }).collect();
        let costs = vec![1.0; n];
        let program = Program { design: &design, labels: &labels, costs: &costs };
        let every: Vec<usize> = (0..columns.len()).collect();
        for penalty in [1.0, 3.0, 9.0] {
            let chosen = |tolerance: f64| -> Result<Vec<usize>, Error> {
                let penalties = vec![penalty; columns.len()];
                let found = program.minimise(&penalties, &every, tolerance, &Context::default())?;
                Ok((0..columns.len()).filter(|&j| found.weights[j] != 0.0).collect())
            };
            assert_eq!(chosen(1e-3)?, chosen(1e-10)?, "penalty {penalty}");
        }
        Ok(())
    }

    /// More columns than samples and fewer, columns twice, penalties and costs of very different sizes: the
    /// gap, computed from the definition, is small each time.
    #[test]
    fn every_shape_has_a_small_gap() -> Result<(), Error> {
        for (n, steps) in [(8, 1..40), (60, 1..4), (30, 1..2), (40, 1..41)] {
            let mut columns: Vec<Vec<f64>> = steps.map(|step| wave(n, step)).collect();
            columns.extend(columns.clone());
            let design = design(&columns)?;
            let labels: Vec<f64> = (0..n).map(|i| if i * 7 % 11 < 4 { 1.0 } else { -1.0 }).collect();
            for spread in [0, 3, 8] {
                let power = |i: usize| 10.0_f64.powi((i % 5) as i32 * spread / 4 - spread / 2);
                let penalties: Vec<f64> = (0..design.n_columns()).map(power).collect();
                let costs: Vec<f64> = (0..n).map(|i| 2.0 * power(i + 1)).collect();
                let program = Program { design: &design, labels: &labels, costs: &costs };
                let found = program.minimise(&penalties, &[], 1e-9, &Context::default())?;
                assert!(found.gap <= 1e-8, "{n} samples, spread {spread}: {}", found.gap);
                assert_eq!(found.status, Status::Converged);
            }
        }
        Ok(())
    }

    #[test]
    fn a_stop_within_a_program_ends_it() -> Result<(), Error> {
        let n = 40;
        let columns: Vec<Vec<f64>> = (1..20).map(|step| wave(n, step)).collect();
        let design = design(&columns)?;
        let labels: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let costs = vec![1.0; n];
        let program = Program { design: &design, labels: &labels, costs: &costs };
        let interrupt = AtomicBool::new(true);
        let context = Context { interrupt: Some(&interrupt), ..Context::default() };
        let all: Vec<usize> = (0..columns.len()).collect();
        let small = program.solve(&all, &vec![0.1; columns.len()], 1.0, 1e-9, &context);
        assert_eq!((small.iterations, small.solved), (0, false));
        let stopped = program.minimise(&vec![0.1; columns.len()], &[], 1e-9, &context);
        assert_eq!(stopped.err(), Some(Error::Stopped { before: "the first linear program was solved" }));
        Ok(())
    }
}
