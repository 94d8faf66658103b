//! Robust feature selection: errors and coefficients both count by the length of their rows.

mod interior;

use fewest_cd::CoordinateDescent;
use fewest_columns::standardised_outputs;
use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, Status, Target, options, order,
};
use fewest_linalg::{add_scaled, dot};
use fewest_newton::{LinearModel, Null, Start};
use fewest_solver::loss::{Loss, RowNorm, Samples};
use fewest_solver::{BlockPenalty, Control, Design, GroupLasso, Penalty, Solution, certificate};

use self::interior::Interior;
use super::columns::LinearColumns;
use super::penalised::{Penalised, Solved, opened};
use super::rows::{class_outputs, rows};
use super::unsupervised::lengths_of_features;

/// What residuals are smoothed to, as a share of their median length at zero: at first, at least, and what
/// follows each time.
const FIRST_SMOOTHING: f64 = 0.1;
const LEAST_SMOOTHING: f64 = 1e-5;
const NEXT_SMOOTHING: f64 = 0.3;

/// Gap of the smooth problem to reach, relative to the loss at zero: at first, and as a share of the gap of
/// the problem itself later.
const FIRST_GAP: f64 = 1e-2;
const SHARE_OF_GAP: f64 = 0.1;

/// With more features than samples and at most this many samples the interior-point method is used,
const MOST_SAMPLES: usize = 500;

/// with as many features at first, and later as many more, as samples by this factor, and some.
const FACTOR: usize = 4;
const ROOM: usize = 200;

/// Gap over the features it is used with, as a share of the tolerance: at first, and at last.
const SHARE_OF_TOLERANCE: f64 = 0.3;
const LEAST_SHARE: f64 = 1e-4;

/// Smooth problems in a row that may not halve the gap.
const PATIENCE: usize = 5;

options! {
    /// RFS, robust feature selection by joint l2,1 norms (Nie, Huang, Cai and Ding 2010; Eq. 62 of Li et al.
    /// 2016):
    ///
    /// ```text
    /// minimise over W   Σᵢ ‖Xᵢ W − Yᵢ‖₂ + λ Σⱼ ‖Wⱼ‖₂,     score(k) = ‖W_k‖₂
    /// ```
    ///
    /// Errors count by their length, not its square, so that an outlier moves `W` by a bounded amount.
    /// Features are standardised. `Y` has a centred indicator for each class, or the real outputs less their
    /// median, in units of the median distance from it, which outliers do not move.
    ///
    /// Unlike the reweighting of the paper, which has no test of how near it is, this solves the problem to a
    /// duality gap. With fewer samples than features, at most 500, and no category of more than two levels,
    /// it is an interior-point method in the lengths of the rows of `W` and of the residuals, in which
    /// features that come near to length 0 are left out on the way, and checked in the end; else the method
    /// of multipliers over proximal Newton steps, where residuals shorter than `μ` are smoothed around the
    /// dual point of the problem before. With residuals `R` and correlations `V = XᵀΘ`, the dual point `Θ`,
    /// no row longer than 1, is scaled by `t` until no row of `V` is longer than `λ`:
    ///
    /// ```text
    /// gap = Σᵢ ‖rᵢ‖ − t ⟨Θ, R⟩ + λ Σⱼ ‖Wⱼ‖ − t ⟨W, V⟩
    /// ```
    ///
    /// Cost: with `m` features in use `n m² + m³` for each of some twenty steps of the first method; else as
    /// [`L21Logistic`](crate::L21Logistic), for each of some ten smooth problems.
    ///
    /// # Errors
    /// A target without numbers or classes, or that does not vary; a NaN or an infinity, naming the cell; no
    /// number of features where one is needed; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Rfs;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// // One sample is far off.
    /// let mut target: Vec<f64> = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// target[7] += 500.0;
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = Rfs::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Rfs {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The outputs of RFS: centred indicators of the classes, or numbers less their median, in units of their
/// median distance from it (the mean one where that is 0).
fn robust_outputs(target: &Target, context: &Context<'_>) -> Result<Vec<f64>, Error> {
    if let Target::Class(_) = target {
        return class_outputs(target, "rfs", context);
    }
    let mut all = Vec::new();
    // Standardised first: then nothing overflows, and what does not vary is left out.
    for mut output in standardised_outputs(target, "rfs", context)? {
        let middle = median(output.clone());
        output.iter_mut().for_each(|value| *value -= middle);
        let sizes: Vec<f64> = output.iter().map(|value| value.abs()).collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let unit = Some(median(sizes)).filter(|size| *size > 0.0).unwrap_or(mean);
        all.extend(output.iter().map(|value| value / unit));
    }
    Ok(all)
}

fn median(mut values: Vec<f64>) -> f64 {
    order::sort(&mut values);
    let half = values.len() / 2;
    let of = |at: usize| values.get(at).copied().unwrap_or(0.0);
    if values.len().is_multiple_of(2) { 0.5 * (of(half.saturating_sub(1)) + of(half)) } else { of(half) }
}

/// The robust problem of one data set.
struct Robust<'a> {
    columns: &'a LinearColumns<'a>,
    outputs: Vec<f64>,
    n: usize,
    rows: Vec<usize>,
    /// With the sum of the lengths as its loss.
    null: Null,
    /// A residual of usual length.
    typical: f64,
    /// Whether it is for the interior-point method.
    is_short: bool,
    control: Control<'a>,
}

/// Coefficients with their certificate over all features.
struct Certified {
    objective: f64,
    gap: f64,
    correlations: Vec<f64>,
}

/// The lengths of the rows of a table of columns of length `n`.
fn lengths(values: &[f64], n: usize) -> Vec<f64> {
    let length = |i: usize| values.chunks_exact(n).fold(0.0_f64, |length, column| length.hypot(column[i]));
    (0..n).map(length).collect()
}

impl<'a> Robust<'a> {
    fn new(
        columns: &'a LinearColumns<'a>,
        outputs: Vec<f64>,
        n: usize,
        control: Control<'a>,
    ) -> Result<Self, Error> {
        let n_outputs = outputs.len() / n;
        // The correlations of the lengths themselves: no residual is as short as this.
        let loss = RowNorm::new(outputs.clone(), f64::MIN_POSITIVE, Samples::sum(n))?;
        let model = LinearModel { design: columns, loss: &loss, intercept: false };
        let rows = rows(columns, model.n_coefficients() / n_outputs, n_outputs);
        let lengths = lengths(&outputs, n);
        let objective: f64 = lengths.iter().sum();
        let null = Null { objective, ..model.null(&control)? };
        let typical = Some(median(lengths)).filter(|length| *length > 0.0);
        let typical = typical.unwrap_or(objective / n as f64);
        let d = columns.n_columns();
        let is_short = n < d && n <= MOST_SAMPLES && !(0..d).any(|column| columns.is_level(column));
        Ok(Self { columns, outputs, n, rows, null, typical, is_short, control })
    }

    fn at(&self, lambda: f64, start: Option<&Start>) -> Result<Solved, Error> {
        let penalty = GroupLasso::new(lambda, &self.rows)?;
        if self.is_short
            && penalty.dual_scale(&self.null.correlations) < 1.0
            && let Some(solved) = self.interior(lambda, &penalty)?
        {
            return Ok(solved);
        }
        self.smoothed(&penalty, start)
    }

    /// The certificate of `w` with a dual point, no row of which is longer than 1, from the definition.
    fn certify(&self, penalty: &GroupLasso, w: &[f64], dual: &[f64]) -> Result<Certified, Error> {
        let mut correlations = vec![0.0; w.len()];
        self.columns.correlations(dual, &mut correlations)?;
        let scale = penalty.dual_scale(&correlations);
        let residual: Vec<f64> = self.outputs.iter().zip(&self.fitted(w)?).map(|(y, z)| y - z).collect();
        let objective = lengths(&residual, self.n).iter().sum::<f64>() + penalty.value(w);
        let along = dot(dual, &residual) + dot(w, &correlations);
        let gap = certificate::relative(objective - scale * along, self.null.objective);
        Ok(Certified { objective, gap, correlations })
    }

    /// By the interior-point method over some features, until no other has a correlation above `lambda`.
    /// `None` where rounding keeps it from the tolerance.
    fn interior(&self, lambda: f64, penalty: &GroupLasso) -> Result<Option<Solved>, Error> {
        let (n, c) = (self.n, self.outputs.len() / self.n);
        let room = FACTOR * n + ROOM;
        let mut chosen = Vec::new();
        join(&mut chosen, &self.null.correlations, c, 0.0, room);
        let (mut share, mut steps, mut narrows) = (SHARE_OF_TOLERANCE, 0, true);
        loop {
            let target = share * self.control.tolerance * self.null.objective;
            let problem = Interior::new(self.columns.gather(&chosen)?, &self.outputs, n, lambda);
            let found = problem.and_then(|problem| problem.minimise(target, narrows, &self.control));
            let Some(mut found) = found else {
                if std::mem::take(&mut narrows) {
                    continue;
                }
                return Ok(None);
            };
            steps += found.steps;
            let mut coefficients = vec![0.0; self.rows.len()];
            for (&j, own) in chosen.iter().zip(found.coefficients.chunks_exact(c)) {
                coefficients[j * c..(j + 1) * c].copy_from_slice(own);
            }
            let longest = lengths(&found.dual, n).into_iter().fold(1.0, f64::max);
            found.dual.iter_mut().for_each(|value| *value /= longest);
            let Certified { objective, gap, correlations } =
                self.certify(penalty, &coefficients, &found.dual)?;
            let converged = (gap <= self.control.tolerance).then_some(Status::Converged);
            if let Some(status) = converged.or(self.control.stopped()) {
                let certificate = Certificate::gap(gap);
                let solution = Solution { coefficients, objective, certificate, iterations: steps, status };
                return Ok(Some(Solved { solution, intercepts: vec![0.0; c] }));
            }
            // Perhaps a column that left is missed.
            let n_joined = join(&mut chosen, &correlations, c, lambda, room);
            if n_joined == 0 && !found.is_narrowed {
                share *= 0.1;
            }
            narrows = narrows && n_joined > 0;
            if share < LEAST_SHARE {
                return Ok(None);
            }
        }
    }

    /// Solves smooth problems, each around the dual point of the one before, until the gap of the problem
    /// itself is small enough.
    fn smoothed(&self, penalty: &GroupLasso, start: Option<&Start>) -> Result<Solved, Error> {
        let mut start = start.cloned();
        let mut smoothing = FIRST_SMOOTHING * self.typical;
        let mut dual = vec![0.0; self.outputs.len()];
        let mut smooth_gap = FIRST_GAP;
        let (mut steps, mut best, mut without_progress) = (0, f64::INFINITY, 0);
        loop {
            let shifted = self.outputs.iter().zip(&dual).map(|(y, theta)| y + smoothing * theta).collect();
            let loss = RowNorm::new(shifted, smoothing, Samples::sum(self.n))?;
            let model = LinearModel { design: self.columns, loss: &loss, intercept: false };
            let max_iterations = self.control.max_iterations - steps;
            let control = Control { tolerance: smooth_gap, max_iterations, ..self.control };
            let solver = CoordinateDescent::default();
            let mut found = model.minimise(&self.null, penalty, &solver, start.as_ref(), &control)?;
            steps += found.solution.iterations;

            let w = &found.solution.coefficients;
            let fitted = self.fitted(w)?;
            loss.dual_point(&fitted, &mut dual);
            let Certified { objective, gap, .. } = self.certify(penalty, w, &dual)?;

            without_progress = if gap < 0.5 * best { 0 } else { without_progress + 1 };
            best = best.min(gap);
            let spent = (steps >= self.control.max_iterations).then_some(Status::MaxIterations);
            let by_gap = Status::by_certificate(gap, self.control.tolerance);
            let ended = (by_gap == Status::Converged || without_progress >= PATIENCE).then_some(by_gap);
            if let Some(status) = ended.or(self.control.stopped()).or(spent) {
                let solution = &mut found.solution;
                (solution.status, solution.certificate) = (status, Certificate::gap(gap));
                (solution.objective, solution.iterations) = (objective, steps);
                return Ok(Solved::from(found));
            }
            smooth_gap = (SHARE_OF_GAP * gap).max(SHARE_OF_GAP * self.control.tolerance).min(FIRST_GAP);
            smoothing = (NEXT_SMOOTHING * smoothing).max(LEAST_SMOOTHING * self.typical);
            let coefficients = found.solution.coefficients;
            start = Some(Start { coefficients, intercepts: found.intercepts });
        }
    }

    /// `X W`.
    fn fitted(&self, w: &[f64]) -> Result<Vec<f64>, Error> {
        let c = self.outputs.len() / self.n;
        let used: Vec<usize> =
            (0..w.len() / c).filter(|j| w[j * c..(j + 1) * c].iter().any(|w| *w != 0.0)).collect();
        let values = self.columns.gather(&used)?;
        let mut fitted = vec![0.0; self.outputs.len()];
        for (&j, column) in used.iter().zip(values.chunks_exact(self.n)) {
            for (k, fitted) in fitted.chunks_exact_mut(self.n).enumerate() {
                add_scaled(fitted, w[j * c + k], column);
            }
        }
        Ok(fitted)
    }
}

/// Adds to `chosen` (increasing) the columns whose rows of `correlations` are longer than `least`, the
/// longest first, at most `room`; returns how many.
fn join(chosen: &mut Vec<usize>, correlations: &[f64], c: usize, least: f64, room: usize) -> usize {
    let length = |row: &[f64]| row.iter().fold(0.0_f64, |length, value| length.hypot(*value));
    let all = correlations.chunks_exact(c).map(length).enumerate();
    let mut others: Vec<(f64, usize)> = all
        .filter(|(j, length)| *length > least && chosen.binary_search(j).is_err())
        .map(|(j, length)| (length, j))
        .collect();
    order::largest_first(&mut others);
    others.truncate(room);
    chosen.extend(others.iter().map(|(_, j)| *j));
    order::sort_indices(chosen);
    others.len()
}

/// A regression on given outputs by the lengths of errors and coefficients, with its certificate.
pub(super) struct LengthsFit {
    pub(super) objective: f64,
    pub(super) gap: f64,
    /// The length of the row of each feature that is not zero.
    pub(super) scores: Vec<(usize, f64)>,
}

/// `min Σᵢ ‖(X W − Y)ᵢ‖ + λ Σⱼ ‖Wⱼ‖` over the features of `data`, for `method`, on outputs as they are.
pub(super) fn sum_of_lengths(
    data: &Dataset,
    method: &'static str,
    outputs: Vec<f64>,
    lambda: f64,
    control: Control<'_>,
    context: &Context<'_>,
) -> Result<LengthsFit, Error> {
    let columns = LinearColumns::with_outputs(data, method, Vec::new(), context)?;
    let n_outputs = outputs.len() / data.n_samples().max(1);
    let robust = Robust::new(&columns, outputs, data.n_samples(), control)?;
    let Solution { objective, certificate, coefficients, .. } = robust.at(lambda, None)?.solution;
    let scores = lengths_of_features(&columns, &coefficients, n_outputs);
    Ok(LengthsFit { objective, gap: certificate.value(), scores })
}

impl Selector for Rfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let control = opened(data, budgets, self.tolerance, context)?;
        let outputs = robust_outputs(data.target(), context)?;
        let columns = LinearColumns::new(data, "rfs", context)?;
        let n_outputs = outputs.len() / data.n_samples().max(1);
        let robust = Robust::new(&columns, outputs, data.n_samples(), control)?;
        let mut solve = |lambda: f64, start: Option<&Start>| robust.at(lambda, start);
        let mut problem = Penalised {
            columns: &columns,
            n_outputs,
            regularization: self.regularization,
            n_path: 1,
            is_signed: false,
            largest: GroupLasso::new(1.0, &robust.rows)?.dual_norm(&robust.null.correlations),
            solver: if robust.is_short { "interior-point" } else { "newton" },
            solve: &mut solve,
            profiled: None,
        };
        problem.select_many(budgets, data.n_features(), context)
    }
}

#[cfg(test)]
mod tests;
