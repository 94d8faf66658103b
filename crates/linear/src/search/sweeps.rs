//! Coordinate descent on the residual itself, for tables with so many columns in the model that their Gram
//! matrix would cost more.

use fewest_core::Error;
use fewest_linalg::{add_scaled, dot, lanes};
use fewest_solver::{BlockPenalty, Control, InnerProducts, L1, certificate, extrapolation_weights};

use crate::columns::LinearColumns;

/// Sweeps over as many columns as this take the time of one more column in the Gram matrix of all: it is
/// computed by panels that stay in the cache, and a sweep reads every column from memory.
const COLUMNS_A_SWEEP: usize = 12;

/// Sweeps that should pay: with fewer, the Gram matrix is computed.
const FEWEST_SWEEPS: usize = 16;

/// Where fewer than one column in so many would move, sweeps over all of them are too much.
const MOST_IDLE: usize = 4;

/// As many multiplications take the time of an update of a sparse column beside those of its values.
const UPDATE: usize = 20;

/// Of the cube of the size of a system, the share that a Cholesky factor takes, by panels that stay in the
/// cache.
const NEWTON: f64 = 24.0;

/// Sweeps after which the rate of convergence is judged.
const JUDGED: usize = 4;

/// Sweeps that one extrapolation combines.
const DEPTH: usize = 5;

/// The sweeps between two checks of all columns should make the gap smaller by this factor, or than this
/// share of the tolerance.
const SHARE: f64 = 1e-4;
const LAST_SHARE: f64 = 0.5;

/// Between two checks of all columns the gap should fall below this part of what it was: where it did not so
/// many times in a row, no more sweeps follow.
const LEAST_GAIN: f64 = 0.9;
const MOST_STUCK: usize = 2;

/// Moves `w` towards the minimum of `problem` with `penalty`, where this is likely to cost less than a Gram
/// matrix; `problem` has the columns as atoms, perhaps with a ridge, and output `output` as target.
///
/// An update of a coefficient takes `2n` multiplications, or two for each stored value of a sparse column. Of
/// dense columns a sweep takes all that are not proved to be left out; of sparse ones, of which there may be
/// very many, those that move. Returns whether `w` was moved; how near it is to the minimum is for the caller
/// to certify: where convergence is slow, this stops early.
pub(super) fn descend(
    columns: &LinearColumns<'_>,
    output: usize,
    problem: &dyn InnerProducts,
    penalty: &L1,
    w: &mut [f64],
    control: &Control<'_>,
) -> Result<bool, Error> {
    let norms = problem.squared_norms();
    // Columns that are not proved to be left out.
    let mut candidates: Vec<usize> = (0..w.len()).filter(|&j| norms[j] > 0.0).collect();
    let is_sparse = columns.are_sparse(&candidates)?;
    if !is_sparse {
        // The number that moves for which most sweeps pay.
        let most = most_in_model(columns.n_samples()).clamp(w.len().div_ceil(MOST_IDLE), w.len());
        if most_sweeps(most, None, w.len(), columns.n_samples()) == 0 {
            return Ok(false);
        }
    }
    let start = w.to_vec();
    let (mut left, mut is_first, mut gap_before, mut n_stuck) = (None, true, f64::INFINITY, 0);
    loop {
        let correlations = certificate::correlations(problem, w)?;
        let certificate = certificate::certify(problem, penalty, w, &correlations);
        let gap = certificate.relative_gap();
        // Other columns that begin to move may cost a round what it gained; two such rounds do not.
        n_stuck = if gap > LEAST_GAIN * gap_before { n_stuck + 1 } else { 0 };
        if gap <= control.tolerance || n_stuck >= MOST_STUCK || control.stopped().is_some() {
            return Ok(left.is_some());
        }
        gap_before = gap;
        let moves = |j: &usize| {
            let (j, value) = (*j, w[*j]);
            value != 0.0 || stepped(penalty, j, value, correlations[j], norms[j]) != value
        };
        let left = match &mut left {
            Some(left) => left,
            none => {
                let moving: Vec<usize> = candidates.iter().copied().filter(moves).collect();
                let stored = if is_sparse { Some(columns.n_stored(&moving)?) } else { None };
                match most_sweeps(moving.len(), stored, w.len(), columns.n_samples()) {
                    0 => return Ok(false),
                    most => none.insert(most),
                }
            }
        };
        // Anew, since an extrapolation with large weights leaves rounding errors as large.
        let mut residual = Residual::of(columns, output, w)?;
        candidates.retain(|&j| {
            w[j] != 0.0 || !certificate::is_screened(problem, penalty, &certificate, &correlations, j)
        });
        let active: Vec<usize> = candidates.iter().copied().filter(|j| !is_sparse || moves(j)).collect();
        let own_penalty = penalty.restrict(&active);
        // The ridge, if there is one, is what the norm of an atom has beyond the 1 of a column.
        let value_of = |own: &[f64]| {
            let squares = own.iter().zip(&active).map(|(value, &j)| (norms[j] - 1.0) * value * value);
            own_penalty.value(own) + 0.5 * squares.sum::<f64>()
        };
        let wanted = (SHARE * gap.min(1.0)).max(LAST_SHARE * control.tolerance);
        // The dual point is as far from feasible as the last sweep was long, so that the gap falls as the
        // root of what the sweeps still gain.
        let share = (wanted / gap).powi(2);
        let (mut first, mut before) = (0.0, f64::INFINITY);
        let mut points = Vec::new();
        for sweep in 0.. {
            if *left == 0 || control.stopped().is_some() {
                return Ok(true);
            }
            *left -= 1;
            let mut fall = 0.0;
            for &j in &active {
                let (value, norm) = (w[j], norms[j]);
                let correlation = residual.correlation(j)? - (norm - 1.0) * value;
                let change = stepped(penalty, j, value, correlation, norm) - value;
                if change != 0.0 {
                    residual.subtract(j, change)?;
                    w[j] += change;
                    fall += 0.5 * norm * change * change;
                }
            }
            if sweep == 0 {
                first = fall;
            }
            if std::mem::take(&mut is_first) && !is_sparse {
                // A column that would move by itself may not beside the others: those that did tell more.
                let n_in = active.iter().filter(|&&j| w[j] != 0.0).count();
                if most_sweeps(n_in, None, w.len(), columns.n_samples()) == 0 {
                    w.copy_from_slice(&start);
                    return Ok(false);
                }
            }
            if fall <= share * first {
                break;
            }
            let needed = (share * first / fall).ln() / (fall / before).min(1.0).ln();
            // Extrapolation gains about as much as the sweeps that it combines. Not a number is too far.
            let is_near = 0.5 * needed <= *left as f64;
            if sweep >= JUDGED && !is_near {
                return Ok(true);
            }
            before = fall;
            points.push((active.iter().map(|&j| w[j]).collect::<Vec<f64>>(), residual.values.clone()));
            if points.len() > DEPTH {
                if let Some(mixed) = residual.extrapolate(&points, value_of) {
                    active.iter().zip(mixed).for_each(|(&j, value)| w[j] = value);
                }
                points.clear();
            }
        }
    }
}

/// The columns of a Gram matrix at most: without a ridge no more than samples stay in the model, and half as
/// many again are looked at.
fn most_in_model(n_samples: usize) -> usize {
    3 * n_samples / 2
}

/// As many sweeps as take the time of a Gram matrix of the columns that move, which have so many values where
/// they are sparse, of `d`; 0 where that is not worth a try.
fn most_sweeps(n_moving: usize, stored: Option<usize>, d: usize, n_samples: usize) -> usize {
    let n_model = n_moving.min(most_in_model(n_samples));
    let sweeps = match stored {
        None if n_moving < d / MOST_IDLE => 0,
        None => n_model * n_model / n_moving.max(1) / COLUMNS_A_SWEEP,
        // The products, and a Newton step on all of them.
        Some(stored) => {
            let gram = n_moving as f64 * (stored as f64 + (n_moving as f64).powi(2) / NEWTON);
            (gram / (2 * stored + UPDATE * n_moving).max(1) as f64) as usize
        }
    };
    if n_moving < FEWEST_SWEEPS * COLUMNS_A_SWEEP || sweeps < FEWEST_SWEEPS { 0 } else { sweeps }
}

/// Coefficient `j` at the minimum along it.
fn stepped(penalty: &L1, j: usize, value: f64, correlation: f64, norm: f64) -> f64 {
    let mut moved = [value + correlation / norm];
    penalty.prox_block(j, &mut moved, norm.recip());
    moved[0]
}

/// `y − X w`, but for a constant, which no column has a product with.
struct Residual<'a> {
    columns: &'a LinearColumns<'a>,
    values: Vec<f64>,
    sum: f64,
    scratch: Vec<f64>,
}

impl<'a> Residual<'a> {
    fn of(columns: &'a LinearColumns<'a>, output: usize, w: &[f64]) -> Result<Self, Error> {
        let values = columns.targets()[output].values.clone();
        let sum = lanes::sum(&values);
        let mut residual = Self { columns, values, sum, scratch: Vec::new() };
        for (j, &weight) in w.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            residual.subtract(j, weight)?;
        }
        Ok(residual)
    }

    /// Half its squared norm, divided by the number of samples.
    fn loss(values: &[f64]) -> f64 {
        let n = values.len() as f64;
        0.5 * (dot(values, values) / n - (lanes::sum(values) / n).powi(2))
    }

    /// Moves to the affine combination of `points`, coefficients and residuals after each of some sweeps,
    /// whose combined last steps are shortest, if that lowers the objective (Anderson 1965; Bertrand and
    /// Massias 2021); the coefficients there. The residual is affine in them: no column is read.
    fn extrapolate(
        &mut self,
        points: &[(Vec<f64>, Vec<f64>)],
        penalty: impl Fn(&[f64]) -> f64,
    ) -> Option<Vec<f64>> {
        let coefficients: Vec<&[f64]> = points.iter().map(|(w, _)| w.as_slice()).collect();
        let last = *coefficients.last()?;
        let weights = extrapolation_weights(&coefficients)?;
        let (mut mixed, mut values) = (vec![0.0; last.len()], vec![0.0; self.values.len()]);
        for (&weight, (point, residual)) in weights.iter().zip(&points[1..]) {
            add_scaled(&mut mixed, weight, point);
            add_scaled(&mut values, weight, residual);
        }
        let is_lower = Self::loss(&values) + penalty(&mixed) < Self::loss(&self.values) + penalty(last);
        is_lower.then(|| {
            self.sum = lanes::sum(&values);
            self.values = values;
            mixed
        })
    }

    fn correlation(&mut self, column: usize) -> Result<f64, Error> {
        let stored = self.columns.stored(column, &mut self.scratch)?;
        Ok(stored.product(&self.values, self.sum) / self.values.len() as f64)
    }

    fn subtract(&mut self, column: usize, weight: f64) -> Result<(), Error> {
        let stored = self.columns.stored(column, &mut self.scratch)?;
        // The column has the sum 0: what is added to every sample is what the others lack.
        let shift = stored.add_to(-weight, &mut self.values);
        self.sum += shift * self.values.len() as f64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::method::Regularization;
    use fewest_core::{
        Budget, Context, Dataset, DenseColumns, Selection, Selector, Status, Target, derive_seed,
    };
    use fewest_solver::{Ridged, SolverChoice, Targeted};

    use super::*;
    use crate::columns::tests::Sparse;
    use crate::{ElasticNet, Lasso, Sign};

    const N: usize = 1500;
    const D: usize = 700;

    fn noise(seed: usize) -> Vec<f64> {
        (0..N as u64).map(|i| derive_seed(seed as u64, i) as f64 / u64::MAX as f64 - 0.5).collect()
    }

    /// Columns that share as much with one of five others.
    fn columns(alike: f64) -> Vec<Vec<f64>> {
        let column = |j: usize| {
            let (base, own) = (noise(D + 1 + j % 5), noise(j));
            base.iter().zip(own).map(|(base, own)| 3.0 + alike * base + (1.0 - alike) * own).collect()
        };
        (0..D).map(column).collect()
    }

    fn table(alike: f64) -> Result<Dataset, Error> {
        let x = columns(alike);
        let mut y = noise(D);
        y.iter_mut().zip(&x[3]).zip(&x[600]).for_each(|((y, a), b)| *y += a - 2.0 * b);
        Dataset::new(DenseColumns::from_columns(&x)?, Target::real(y)?)
    }

    /// What [`descend`] makes of zero: whether it moved, and the gap it leaves.
    fn descended(alike: f64, ratio: f64, ridge: f64) -> Result<(bool, f64), Error> {
        let data = table(alike)?;
        let columns = LinearColumns::new(&data, "lasso", &Context::default())?;
        let products = columns.outputs[0].clone();
        let largest = products.iter().fold(0.0_f64, |most, product| most.max(product.abs()));
        let problem = Ridged::new(Targeted::new(&columns, products, 1.0), ridge)?;
        let penalty = L1::new(ratio * largest, D)?;
        let mut w = vec![0.0; D];
        let is_moved = descend(&columns, 0, &problem, &penalty, &mut w, &Control::default())?;
        let correlations = certificate::correlations(&problem, &w)?;
        Ok((is_moved, certificate::certify(&problem, &penalty, &w, &correlations).relative_gap()))
    }

    #[test]
    fn sweeps_reach_the_tolerance_where_they_converge_and_else_end() -> Result<(), Error> {
        for ridge in [0.0, 0.3] {
            let (is_moved, gap) = descended(0.0, 0.001, ridge)?;
            assert!(is_moved && gap <= Control::default().tolerance, "{gap}");
        }
        let (is_moved, gap) = descended(0.9, 0.001, 0.0)?;
        assert!(is_moved && gap < 1.0 && gap > Control::default().tolerance, "{gap}");
        // All would move, and after a sweep few have: nothing is left of it.
        let (is_moved, gap) = descended(0.97, 0.001, 0.0)?;
        assert!(!is_moved && gap > 0.9, "{gap}");
        // Two features: nothing for sweeps over all columns.
        assert!(!descended(0.0, 0.5, 0.0)?.0);
        Ok(())
    }

    /// Sparse columns, of which many have a single value, often of the same sample: extrapolations have large
    /// weights there.
    #[test]
    fn sparse_columns_that_are_alike_are_swept_to_the_tolerance() -> Result<(), Error> {
        let (n, d) = (1000, 20_000);
        let draw = |seed: u64, i: u64| derive_seed(seed, i) as f64 / u64::MAX as f64;
        let mut cells: Vec<Vec<(usize, f64)>> = vec![Vec::new(); d];
        let mut y: Vec<f64> = (0..n as u64).map(|i| draw(1, i) - 0.5).collect();
        for i in 0..n {
            for value in 0..40 {
                let at = (i * 40 + value) as u64;
                let j = (d as f64 * draw(2, at).powi(3)) as usize;
                if cells[j].last().is_none_or(|&(row, _)| row < i) {
                    let value = draw(3, at) - 0.5;
                    cells[j].push((i, value));
                    y[i] += if j.is_multiple_of(10) && j < 100 { value } else { 0.0 };
                }
            }
        }
        let columns = cells.into_iter().map(|column| column.into_iter().unzip()).collect();
        let data = Dataset::new(Sparse(columns, n), Target::real(y)?)?;
        let columns = LinearColumns::new(&data, "lasso", &Context::default())?;
        let products = columns.outputs[0].clone();
        let largest = products.iter().fold(0.0_f64, |most, product| most.max(product.abs()));
        let problem = Targeted::new(&columns, products, 1.0);
        let control = Control { tolerance: 1e-13, ..Control::default() };
        for ratio in [0.1, 0.01] {
            let mut w = vec![0.0; d];
            let penalty = L1::new(ratio * largest, d)?;
            let is_moved = descend(&columns, 0, &problem, &penalty, &mut w, &control)?;
            let correlations = certificate::correlations(&problem, &w)?;
            let gap = certificate::certify(&problem, &penalty, &w, &correlations).relative_gap();
            assert!(is_moved && gap < 1e-12, "{ratio}: {gap}");
        }
        Ok(())
    }

    /// With a solver of the caller's choice there are no such sweeps: the answers are the same.
    #[test]
    fn answers_are_those_of_a_gram_matrix() -> Result<(), Error> {
        let is_near = |a: &Selection, b: &Selection, case: &str| {
            let status = |of: &Selection| of.solver.as_ref().map(|report| report.status);
            assert_eq!((status(a), status(b)), (Some(Status::Converged), Some(Status::Converged)), "{case}");
            let objective = |of: &Selection| of.solver.as_ref().map_or(f64::NAN, |report| report.objective);
            assert!((objective(a) - objective(b)).abs() <= 1e-9, "{case}");
            let weights = |of: &Selection| {
                let mut weights = vec![0.0; D];
                of.order.iter().zip(&of.scores).for_each(|(&j, &score)| weights[j] = score);
                weights
            };
            for (a, b) in weights(a).iter().zip(weights(b)) {
                assert!((a - b).abs() < 1e-4, "{case}: {a} {b}");
            }
        };
        let chosen = SolverChoice::Use(std::sync::Arc::new(fewest_cd::CoordinateDescent::default()));
        for (alike, sign) in [(0.0, Sign::Any), (0.0, Sign::Positive), (0.97, Sign::Any)] {
            let data = table(alike)?;
            let lasso = Lasso { regularization: Regularization::Ratio(0.002), sign, ..Lasso::default() };
            let by_choice = Lasso { solver: chosen.clone(), ..lasso.clone() };
            let select = |selector: &dyn Selector| selector.select(&data, Budget::Auto, &Context::default());
            let case = format!("{alike} {sign:?}");
            is_near(&select(&lasso)?, &select(&by_choice)?, &case);
            let net = |lasso: Lasso| ElasticNet { l1_ratio: 0.9, lasso };
            is_near(&select(&net(lasso))?, &select(&net(by_choice))?, &case);
        }
        Ok(())
    }
}
