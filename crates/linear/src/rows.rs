//! Few rows of coefficients: features chosen for all outputs together.

use fewest_cd::CoordinateDescent;
use fewest_columns::standardised_outputs;
use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, Status, Target, options, order, words,
};
use fewest_linalg::{add_scaled, centre, dot};
use fewest_newton::{LinearModel, NewtonSolution, Null, Start};
use fewest_solver::loss::{Logistic, Loss, Multinomial, RowNorm, Samples, Separable};
use fewest_solver::{Control, GroupLasso, Penalty, certificate};

use super::columns::LinearColumns;
use super::loss::places;
use super::penalised::{Penalised, control, each_budget};

/// What residuals are smoothed to, as a share of their median length at zero: at first, at least, and what
/// follows each time.
const FIRST_SMOOTHING: f64 = 0.1;
const LEAST_SMOOTHING: f64 = 1e-5;
const NEXT_SMOOTHING: f64 = 0.3;

/// Gap of the smooth problem to reach, relative to the loss at zero: at first, and as a share of the gap of
/// the problem itself later.
const FIRST_GAP: f64 = 1e-2;
const SHARE_OF_GAP: f64 = 0.1;

/// Smooth problems in a row that may not halve the gap.
const PATIENCE: usize = 5;

words! {
    /// The logistic loss of several classes.
    #[derive(Default)]
    pub enum ClassLoss {
        /// `ln Σₖ exp(zₖ) − z` of the class: the probabilities of the classes add up to one.
        #[default]
        Softmax = "softmax",
        /// `Σₖ ln(1 + exp(−yₖ zₖ))`, `yₖ = ±1`: each class against the rest.
        OneVsRest = "ovr",
    }
}

options! {
    /// l2,1 logistic regression: few features that tell all classes apart (Section 2.3.2 of Li et al. 2016;
    /// Obozinski, Taskar and Jordan 2010; Liu, Ji and Ye 2009).
    ///
    /// ```text
    /// minimise over W, b   1/n Σᵢ [ln Σₖ exp(fᵢₖ) − fᵢ of the class of i] + λ Σⱼ ‖Wⱼ‖₂,     F = X W + 1 bᵀ
    ///
    /// score(k) = ‖W_k‖₂
    /// ```
    ///
    /// Features are standardised; a category of more than two levels enters by its level indicators, which
    /// are one row together. With `loss=ovr` the loss is the sum of the logistic losses of each class against
    /// the rest (Eq. 61 with that loss). Two classes and the softmax are `lasso` with `loss=logistic` and
    /// `λ/√2`.
    ///
    /// Cost: `n d c` for each of a handful of passes; with `k` features chosen `n k² c²/2` a Newton step.
    ///
    /// # Errors
    /// A target without classes or with one only; a NaN or an infinity, naming the cell; no number of
    /// features where one is needed; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::L21Logistic;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let classes: Vec<u8> = a.iter().zip(&c).map(|(a, c)| u8::from(*a > 0.0) + u8::from(*c >
    /// 0.3)).collect(); let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?,
    /// Target::from_labels(&classes))?; let selection = L21Logistic::default().select(&data,
    /// Budget::Count(2), &Context::default())?; assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct L21Logistic {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Loss: one model of all classes, or a sum of models of one class against the rest.
        pub loss: ClassLoss = ClassLoss::Softmax;
        /// Whether a constant for each class is fitted without a penalty, too.
        pub intercept: bool = true;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

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
    /// duality gap, by the method of multipliers over proximal Newton steps: residuals shorter than `μ` are
    /// smoothed around the dual point of the problem before. With residuals `R` and correlations `V = XᵀΘ`,
    /// the dual point `Θ`, no row longer than 1, is scaled by `t` until no row of `V` is longer than `λ`:
    ///
    /// ```text
    /// gap = Σᵢ ‖rᵢ‖ − t ⟨Θ, R⟩ + λ Σⱼ ‖Wⱼ‖ − t ⟨W, V⟩
    /// ```
    ///
    /// Cost: as [`L21Logistic`], for each of some ten smooth problems.
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

/// The rows of the coefficients, those of all columns of a feature together: its number for each coefficient.
fn rows(columns: &LinearColumns<'_>, n_columns: usize, n_outputs: usize) -> Vec<usize> {
    (0..n_columns).flat_map(|j| std::iter::repeat_n(columns.feature(j), n_outputs)).collect()
}

impl Selector for L21Logistic {
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
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let control = control(self.tolerance, context)?;
        let (classes, n_classes) = places("l21-logistic", data.target())?;
        let samples = Samples::mean(classes.len());
        let loss: Box<dyn Loss> = match self.loss {
            ClassLoss::Softmax => Box::new(Multinomial::new(classes, n_classes, samples)?),
            ClassLoss::OneVsRest => {
                let sign = |own: bool| if own { 1.0 } else { -1.0 };
                let labels = (0..n_classes).flat_map(|k| classes.iter().map(move |&class| sign(class == k)));
                Box::new(Separable::new(Logistic, labels.collect(), samples)?)
            }
        };
        let columns = LinearColumns::new(data, "l21-logistic", context)?;
        let model = LinearModel { design: &columns, loss: &*loss, intercept: self.intercept };
        let null = model.null(&control)?;
        let rows = rows(&columns, model.n_coefficients() / n_classes, n_classes);
        let solve = |lambda: f64, start: Option<&Start>| {
            let penalty = GroupLasso::new(lambda, &rows)?;
            model.minimise(&null, &penalty, &CoordinateDescent::default(), start, &control)
        };
        let problem = Penalised {
            columns: &columns,
            n_outputs: n_classes,
            regularization: self.regularization,
            n_path: 1,
            is_signed: false,
            largest: GroupLasso::new(1.0, &rows)?.dual_norm(&null.correlations),
            solve: &solve,
        };
        each_budget(budgets, data.n_features(), context, |budget| {
            problem.select(budget, data.n_features(), context)
        })
    }
}

/// The outputs of RFS: centred indicators of the classes, or numbers less their median, in units of their
/// median distance from it (the mean one where that is 0).
fn robust_outputs(target: &Target, context: &Context<'_>) -> Result<Vec<f64>, Error> {
    let mut all = Vec::new();
    match target {
        Target::Class(_) => {
            let (classes, n_classes) = places("rfs", target)?;
            for k in 0..n_classes {
                let mut output: Vec<f64> =
                    classes.iter().map(|&class| if class == k { 1.0 } else { 0.0 }).collect();
                centre(&mut output);
                all.extend(output);
            }
        }
        _ => {
            // Standardised first: then nothing overflows, and what does not vary is left out.
            for mut output in standardised_outputs(target, "rfs", context)? {
                let middle = median(output.clone());
                output.iter_mut().for_each(|value| *value -= middle);
                let sizes: Vec<f64> = output.iter().map(|value| value.abs()).collect();
                let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
                let unit = Some(median(sizes)).filter(|size| *size > 0.0).unwrap_or(mean);
                all.extend(output.iter().map(|value| value / unit));
            }
        }
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
    control: Control<'a>,
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
        Ok(Self { columns, outputs, n, rows, null, typical, control })
    }

    /// Solves smooth problems, each around the dual point of the one before, until the gap of the problem
    /// itself is small enough.
    fn at(&self, lambda: f64, start: Option<&Start>) -> Result<NewtonSolution, Error> {
        let penalty = GroupLasso::new(lambda, &self.rows)?;
        let mut start = start.cloned();
        let mut smoothing = FIRST_SMOOTHING * self.typical;
        let mut dual = vec![0.0; self.outputs.len()];
        let mut smooth_gap = FIRST_GAP;
        let (mut steps, mut passes, mut best, mut without_progress) = (0, 0, f64::INFINITY, 0);
        loop {
            let shifted = self.outputs.iter().zip(&dual).map(|(y, theta)| y + smoothing * theta).collect();
            let loss = RowNorm::new(shifted, smoothing, Samples::sum(self.n))?;
            let model = LinearModel { design: self.columns, loss: &loss, intercept: false };
            let max_iterations = self.control.max_iterations - steps;
            let control = Control { tolerance: smooth_gap, max_iterations, ..self.control };
            let solver = CoordinateDescent::default();
            let mut found = model.minimise(&self.null, &penalty, &solver, start.as_ref(), &control)?;
            (steps, passes) = (steps + found.solution.iterations, passes + found.passes);

            let w = &found.solution.coefficients;
            let fitted = self.fitted(w)?;
            loss.dual_point(&fitted, &mut dual);
            let residual: Vec<f64> = self.outputs.iter().zip(&fitted).map(|(y, z)| y - z).collect();
            let objective = lengths(&residual, self.n).iter().sum::<f64>() + penalty.value(w);
            let along = dot(&dual, &residual) + dot(w, &found.correlations);
            let gap = certificate::relative(objective - found.dual_scale * along, self.null.objective);

            without_progress = if gap < 0.5 * best { 0 } else { without_progress + 1 };
            best = best.min(gap);
            let spent = (steps >= self.control.max_iterations).then_some(Status::MaxIterations);
            let by_gap = Status::by_certificate(gap, self.control.tolerance);
            let ended = (by_gap == Status::Converged || without_progress >= PATIENCE).then_some(by_gap);
            if let Some(status) = ended.or(self.control.stopped()).or(spent) {
                let solution = &mut found.solution;
                (solution.status, solution.certificate) = (status, Certificate::gap(gap));
                (solution.objective, solution.iterations, found.passes) = (objective, steps, passes);
                return Ok(found);
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
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let control = control(self.tolerance, context)?;
        let outputs = robust_outputs(data.target(), context)?;
        let columns = LinearColumns::new(data, "rfs", context)?;
        let n_outputs = outputs.len() / data.n_samples().max(1);
        let robust = Robust::new(&columns, outputs, data.n_samples(), control)?;
        let solve = |lambda: f64, start: Option<&Start>| robust.at(lambda, start);
        let problem = Penalised {
            columns: &columns,
            n_outputs,
            regularization: self.regularization,
            n_path: 1,
            is_signed: false,
            largest: GroupLasso::new(1.0, &robust.rows)?.dual_norm(&robust.null.correlations),
            solve: &solve,
        };
        each_budget(budgets, data.n_features(), context, |budget| {
            problem.select(budget, data.n_features(), context)
        })
    }
}
