//! Linear models with any loss: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, Error, Path, PathPoint, Selection, SolverReport, Status};
use fewest_linalg::lanes;
use fewest_newton::{LinearModel, NewtonSolution, Start};
use fewest_solver::bisection::{self, PenaltyCandidate};
use fewest_solver::{
    BlockPenalty, Control, Design, ElasticNetPenalty, InnerProducts, L1, Penalty, QuadraticSolver,
};

use super::Lasso;
use super::columns::LinearColumns;

/// Most Newton steps at one penalty.
const MOST_STEPS: u64 = 10_000;

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// Columns multiplied at a time.
const PANEL: usize = 64;

/// The limits of a run to a relative gap of `tolerance`.
pub(super) fn control<'a>(tolerance: f64, context: &Context<'a>) -> Result<Control<'a>, Error> {
    let control = Control { tolerance, max_iterations: MOST_STEPS, ..Control::from(context) };
    control.check()?;
    Ok(control)
}

/// The solution at a `lambda`, from another one or from nothing.
pub(super) type Solve<'a> = dyn Fn(f64, Option<&Start>) -> Result<NewtonSolution, Error> + Sync + 'a;

/// A linear model that can be solved at any `lambda`.
pub(super) struct Penalised<'a> {
    pub(super) columns: &'a LinearColumns<'a>,
    pub(super) n_outputs: usize,
    /// Whether the score of a feature with one coefficient has its sign; else scores are norms.
    pub(super) is_signed: bool,
    pub(super) regularization: Regularization,
    /// Penalties to solve at, from the largest down to the one given; with more than 1 all are reported.
    pub(super) n_path: usize,
    /// The smallest `lambda` that selects nothing.
    pub(super) largest: f64,
    pub(super) solve: &'a Solve<'a>,
}

/// A solution with its number of features.
struct Fit {
    lambda: f64,
    found: NewtonSolution,
    n_features: usize,
}

impl PenaltyCandidate for Fit {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn status(&self) -> Status {
        self.found.solution.status
    }
}

impl Penalised<'_> {
    pub(super) fn select(
        &self,
        budget: Budget,
        n_features: usize,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let mut path = None;
        let fit = match self.regularization {
            Regularization::Count => {
                let k = budget.count(&["lambda", "lambda_ratio"])?;
                let solve = |lambda: f64, before: Option<&Fit>| self.at(lambda, before);
                let (mut fit, stopped) = bisection::search(self.largest, SMALLEST_RATIO, k, context, solve)?;
                fit.found.solution.status = stopped.unwrap_or(fit.found.solution.status);
                fit
            }
            given => self.down_to(given.lambda(Some(self.largest))?, &mut path)?,
        };
        let solution = &fit.found.solution;
        let report = SolverReport::new("newton", solution.status, solution.objective, solution.certificate)
            .with_lambda(fit.lambda)
            .with_iterations(solution.iterations as usize);
        let weights = self.features(&solution.coefficients).into_iter().collect();
        let mut selection = Selection::by_weight(weights, n_features, budget, solution.status);
        selection.solver = Some(report);
        selection.path = path;
        selection.note_missing_features(budget, others_left_out(self.regularization));
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// The solution at `lambda`, by way of larger penalties, evenly spaced in their logarithm, if they are
    /// wanted.
    fn down_to(&self, lambda: f64, path: &mut Option<Path>) -> Result<Fit, Error> {
        let before = if lambda < self.largest { self.n_path - 1 } else { 0 };
        let mut points = Path::default();
        let mut fit: Option<Fit> = None;
        for step in 0..=before {
            let share = if before > 0 { 1.0 - step as f64 / before as f64 } else { 0.0 };
            let next = self.at(lambda * (self.largest / lambda).powf(share), fit.as_ref())?;
            let coefficients: Vec<(usize, f64)> =
                self.features(&next.found.solution.coefficients).into_iter().collect();
            for (feature, _) in &coefficients {
                if !points.entered.contains(feature) {
                    points.entered.push(*feature);
                }
            }
            points.points.push(PathPoint { lambda: next.lambda, coefficients });
            let is_stopped = next.status().is_stopped();
            fit = Some(next);
            if is_stopped {
                break;
            }
        }
        *path = (self.n_path > 1).then_some(points);
        fit.ok_or(Error::Stopped { before: "a feature had a coefficient" })
    }

    fn at(&self, lambda: f64, before: Option<&Fit>) -> Result<Fit, Error> {
        let start = before.map(|fit| Start {
            coefficients: fit.found.solution.coefficients.clone(),
            intercepts: fit.found.intercepts.clone(),
        });
        let found = (self.solve)(lambda, start.as_ref())?;
        let n_features = self.features(&found.solution.coefficients).len();
        Ok(Fit { lambda, found, n_features })
    }

    /// The score of each feature with a coefficient: the coefficient, or the norm where there is one for each
    /// output or level, or where that is the score anyway.
    fn features(&self, coefficients: &[f64]) -> BTreeMap<usize, f64> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for (at, &value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let column = at / self.n_outputs;
            let score = scores.entry(self.columns.feature(column)).or_insert(0.0);
            let is_single = self.is_signed && !self.columns.is_level(column);
            *score = if is_single { value } else { score.hypot(value) };
        }
        scores
    }
}

/// Why there are no more features, by what decided on the penalty.
pub(super) fn others_left_out(regularization: Regularization) -> &'static str {
    match regularization {
        Regularization::Value(_) => "a smaller `lambda` gives more features a coefficient",
        Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a coefficient",
        _ => "no others have a coefficient",
    }
}

/// `select` for every budget; all of them share the columns.
pub(super) fn each_budget(
    budgets: &[Budget],
    n_features: usize,
    context: &Context<'_>,
    select: impl Fn(Budget) -> Result<Selection, Error>,
) -> Result<Vec<Selection>, Error> {
    budgets.iter().try_for_each(|budget| budget.check(n_features))?;
    let mut selections = Vec::with_capacity(budgets.len());
    for &budget in budgets {
        if !selections.is_empty() && context.stopped().is_some() {
            return Err(Error::Stopped { before: "features were selected for every budget" });
        }
        selections.push(select(budget)?);
    }
    Ok(selections)
}

/// Lasso and elastic net with another loss than squared errors.
pub(super) fn select_many(
    method: &'static str,
    data: &Dataset,
    l1_ratio: f64,
    options: &Lasso,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
    let control = control(options.tolerance, context)?;
    let (loss, intercept) = options.loss.of(method, data.target(), context)?;
    let columns = LinearColumns::new(data, method, context)?;
    let model = LinearModel { design: &columns, loss: &*loss, intercept };
    let null = model.null(&control)?;
    let automatic = CoordinateDescent::default();
    let solver: &dyn QuadraticSolver = options.solver.chosen().unwrap_or(&automatic);
    let d = model.n_coefficients();
    let solve = |lambda: f64, start: Option<&Start>| {
        let l1 = L1::new(lambda * l1_ratio, d)?;
        let penalty: Box<dyn BlockPenalty> = if l1_ratio < 1.0 {
            Box::new(ElasticNetPenalty::new(l1, lambda * (1.0 - l1_ratio))?)
        } else {
            Box::new(l1)
        };
        model.minimise(&null, &*penalty, solver, start, &control)
    };
    let problem = Penalised {
        columns: &columns,
        n_outputs: loss.n_outputs(),
        regularization: options.regularization,
        n_path: options.lambda_path,
        is_signed: loss.n_outputs() == 1,
        largest: L1::new(1.0, d)?.dual_norm(&null.correlations) / l1_ratio,
        solve: &solve,
    };
    each_budget(budgets, data.n_features(), context, |budget| {
        problem.select(budget, data.n_features(), context)
    })
}

/// Not divided by the number of samples: that is part of the loss.
impl Design for LinearColumns<'_> {
    fn n_samples(&self) -> usize {
        LinearColumns::n_samples(self)
    }

    fn n_columns(&self) -> usize {
        self.n_atoms()
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let (n, d) = (LinearColumns::n_samples(self), self.n_atoms());
        let c = right.len() / n.max(1);
        let sums: Vec<f64> = right.chunks_exact(n.max(1)).map(lanes::sum).collect();
        let panels = fewest_parallel::try_map(d.div_ceil(PANEL), |at| {
            self.correlate(at * PANEL..d.min((at + 1) * PANEL), right, &sums)
        })?;
        for (out, panel) in out.chunks_mut(PANEL * c.max(1)).zip(panels) {
            out.copy_from_slice(&panel);
        }
        Ok(())
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        out.copy_from_slice(&LinearColumns::gather(self, chosen)?);
        Ok(())
    }
}
