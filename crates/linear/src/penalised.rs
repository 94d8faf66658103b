//! Linear models with any loss: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, Error, Path, Selection, SolverReport, Status};
use fewest_newton::{NewtonSolution, Start};
use fewest_solver::bisection::{self, PenaltyCandidate, Tried};
use fewest_solver::loss::Profiled;
use fewest_solver::{Control, InnerProducts, Solution};

use super::choice::{self, CrossValidation, Fold, Ladder, Likelihood, Step, Visit};
use super::columns::LinearColumns;

/// Most iterations of a solver at one penalty, in its own unit.
const MOST_STEPS: u64 = 1_000_000;

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// What every method begins with, before a column is read: checked budgets, and the limits of a run to a
/// relative gap of `tolerance`.
pub(super) fn opened<'a>(
    data: &Dataset,
    budgets: &[Budget],
    tolerance: f64,
    context: &Context<'a>,
) -> Result<Control<'a>, Error> {
    budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
    let control = Control { tolerance, max_iterations: MOST_STEPS, ..Control::from(context) };
    control.check()?;
    Ok(control)
}

/// A solution, and the intercept of every output.
#[derive(Clone)]
pub(super) struct Solved {
    pub(super) solution: Solution,
    pub(super) intercepts: Vec<f64>,
}

impl From<NewtonSolution> for Solved {
    fn from(found: NewtonSolution) -> Self {
        Self { solution: found.solution, intercepts: found.intercepts }
    }
}

/// The solution at a `lambda`, from another one or from nothing.
pub(super) type Solve<'a> = dyn FnMut(f64, Option<&Start>) -> Result<Solved, Error> + 'a;

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
    /// The solver's name.
    pub(super) solver: &'static str,
    /// For several numbers of features in one call it may depend on nothing but where it starts, since their
    /// searches share solutions.
    pub(super) solve: &'a mut Solve<'a>,
    /// The loss with what has no penalty minimised out, where there are covariates.
    pub(super) profiled: Option<&'a Profiled<'a>>,
}

/// What lets the data choose `lambda`.
#[derive(Clone, Copy)]
pub(super) struct ByData<'a> {
    pub(super) data: &'a Dataset,
    pub(super) fold: &'a Fold<'a>,
    /// The likelihood, where the loss has one.
    pub(super) likelihood: Result<Likelihood<'a>, &'a Error>,
}

/// A solution with its number of features.
#[derive(Clone)]
pub(super) struct Fit {
    lambda: f64,
    found: Solved,
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

/// A solution with the path to it.
struct Found {
    fit: Fit,
    path: Option<Path>,
    notes: Vec<String>,
}

impl Penalised<'_> {
    /// One selection a budget.
    pub(super) fn select_many(
        &mut self,
        budgets: &[Budget],
        n_features: usize,
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.select_with(None, budgets, n_features, context)
    }

    /// [`select_many`](Self::select_many), where the data may choose the penalty.
    pub(super) fn select_with(
        &mut self,
        by_data: Option<ByData<'_>>,
        budgets: &[Budget],
        n_features: usize,
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let (regularization, solver, is_signed) = (self.regularization, self.solver, self.is_signed);
        let (columns, n_outputs) = (self.columns, self.n_outputs);
        let mut tried = Tried::new(budgets.len(), InnerProducts::n_atoms(columns) * n_outputs);
        let fit = |budget| self.found(by_data, budget, &mut tried, context);
        each_fit(regularization, budgets, context, fit, |Found { fit, path, notes }, budget| {
            let solution = &fit.found.solution;
            let report = SolverReport::new(solver, solution.status, solution.objective, solution.certificate)
                .with_lambda(fit.lambda)
                .with_iterations(solution.iterations as usize);
            let weights = scores_of(columns, is_signed, n_outputs, &solution.coefficients);
            let weights = weights.into_iter().collect();
            let mut selection = Selection::by_weight(weights, n_features, budget, solution.status);
            selection.solver = Some(report);
            (selection.path, selection.notes) = (path.clone(), notes.clone());
            selection.note_missing_features(budget, others_left_out(regularization));
            selection.unless_stopped_before("a feature had a coefficient")
        })
    }

    fn found(
        &mut self,
        by_data: Option<ByData<'_>>,
        budget: Budget,
        tried: &mut Tried<Fit>,
        context: &Context<'_>,
    ) -> Result<Found, Error> {
        let (mut path, mut notes) = (None, Vec::new());
        let fit = match self.regularization {
            Regularization::Count => {
                let (k, largest) = (budget.count(&["lambda", "lambda_ratio"])?, self.largest);
                let solve = |lambda: f64, before: Option<&Fit>| self.at(lambda, before);
                let (mut fit, stopped) =
                    bisection::search(largest, SMALLEST_RATIO, k, context, tried, solve)?;
                fit.found.solution.status = stopped.unwrap_or(fit.found.solution.status);
                fit
            }
            given => match by_data {
                Some(by_data) if !matches!(given, Regularization::Value(_) | Regularization::Ratio(_)) => {
                    let lambdas = choice::candidates(self);
                    let chosen = match CrossValidation::of(given) {
                        Some(rule) => {
                            let data = by_data.data;
                            let choice = choice::cross_validate(rule, data, lambdas, context, by_data.fold)?;
                            choice::solve(self, choice)?
                        }
                        None => {
                            let likelihood = by_data.likelihood.map_err(Clone::clone)?;
                            choice::by_information(self, given.gamma()?, &lambdas, &likelihood)?
                        }
                    };
                    path = Some(chosen.path);
                    notes.push(chosen.note);
                    chosen.fit
                }
                _ => {
                    let (lambda, n_path) = (given.lambda(Some(self.largest))?, self.n_path);
                    let (fit, points) = choice::down_to(self, lambda, n_path)?;
                    path = (n_path > 1).then_some(points);
                    fit
                }
            },
        };
        Ok(Found { fit, path, notes })
    }

    fn at(&mut self, lambda: f64, before: Option<&Fit>) -> Result<Fit, Error> {
        let start = before.map(|fit| Start {
            coefficients: fit.found.solution.coefficients.clone(),
            intercepts: fit.found.intercepts.clone(),
        });
        let found = (self.solve)(lambda, start.as_ref())?;
        let n_features = self.features(&found.solution.coefficients).len();
        Ok(Fit { lambda, found, n_features })
    }

    /// The score of each feature with a coefficient.
    fn features(&self, coefficients: &[f64]) -> BTreeMap<usize, f64> {
        scores_of(self.columns, self.is_signed, self.n_outputs, coefficients)
    }
}

fn scores_of(
    columns: &LinearColumns<'_>,
    is_signed: bool,
    n_outputs: usize,
    coefficients: &[f64],
) -> BTreeMap<usize, f64> {
    let of_columns = coefficients.iter().enumerate().map(|(at, &value)| (at / n_outputs, value));
    columns.scores(is_signed, of_columns)
}

impl Ladder for Penalised<'_> {
    type Fit = Fit;

    fn columns(&self) -> &LinearColumns<'_> {
        self.columns
    }

    fn largest(&self) -> f64 {
        self.largest
    }

    fn walk(&mut self, lambdas: &[f64], visit: &mut Visit<'_, Self>) -> Result<Option<Status>, Error> {
        let mut start: Option<Start> = None;
        for &lambda in lambdas {
            let found = (self.solve)(lambda, start.as_ref())?;
            start = Some(Start {
                coefficients: found.solution.coefficients.clone(),
                intercepts: found.intercepts.clone(),
            });
            let n_features = self.features(&found.solution.coefficients).len();
            let status = found.solution.status;
            let go_on = visit(self, Fit { lambda, found, n_features })?;
            if status.is_stopped() {
                return Ok(Some(status));
            }
            if !go_on {
                break;
            }
        }
        Ok(None)
    }

    fn end_with(fit: &mut Fit, status: Status) {
        fit.found.solution.status = status;
    }

    fn fitted(&self, step: &Step) -> Result<Vec<f64>, Error> {
        let mut fitted = self.columns.fitted(&step.coefficients)?;
        if let Some(profiled) = self.profiled {
            // Its free coefficients hold the intercept.
            return Ok(profiled.whole(&fitted));
        }
        for (fitted, intercept) in fitted.chunks_exact_mut(self.columns.n_samples()).zip(&step.intercepts) {
            fitted.iter_mut().for_each(|value| *value += intercept);
        }
        Ok(fitted)
    }

    fn step(&self, fit: &Fit) -> Step {
        let mut coefficients = vec![Vec::new(); self.n_outputs];
        let all = fit.found.solution.coefficients.iter().enumerate();
        for (at, &value) in all.filter(|(_, value)| **value != 0.0) {
            coefficients[at % self.n_outputs].push((at / self.n_outputs, value));
        }
        Step { coefficients, intercepts: fit.found.intercepts.clone(), status: fit.status() }
    }

    fn scores(&self, step: &Step) -> BTreeMap<usize, f64> {
        self.columns.scores(self.is_signed, step.coefficients.iter().flatten().copied())
    }
}

/// Why there are no more features, by what decided on the penalty.
pub(super) fn others_left_out(regularization: Regularization) -> &'static str {
    match regularization {
        Regularization::Value(_) => "a smaller `lambda` gives more features a coefficient",
        Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a coefficient",
        Regularization::Count => "no others have a coefficient",
        _ => "no others have a coefficient at the penalty that was chosen",
    }
}

/// `select` for every budget; all of them share the columns.
pub(super) fn each_budget(
    budgets: &[Budget],
    context: &Context<'_>,
    select: impl FnMut(Budget) -> Result<Selection, Error>,
) -> Result<Vec<Selection>, Error> {
    // The budget decides on each.
    each_fit(Regularization::Count, budgets, context, select, |found, _| Ok(found.clone()))
}

/// A selection for every budget, from a `fit`: one for each where the number of features decides on the
/// penalty, else one for all of them.
pub(super) fn each_fit<F>(
    regularization: Regularization,
    budgets: &[Budget],
    context: &Context<'_>,
    mut fit: impl FnMut(Budget) -> Result<F, Error>,
    select: impl Fn(&F, Budget) -> Result<Selection, Error>,
) -> Result<Vec<Selection>, Error> {
    let mut selections = Vec::with_capacity(budgets.len());
    let mut found: Option<F> = None;
    for &budget in budgets {
        let own = match found.take().filter(|_| regularization != Regularization::Count) {
            Some(of_all) => of_all,
            None if !selections.is_empty() && context.stopped().is_some() => {
                return Err(Error::Stopped { before: "features were selected for every budget" });
            }
            None => fit(budget)?,
        };
        selections.push(select(&own, budget)?);
        found = Some(own);
    }
    Ok(selections)
}
