//! Linear models with any loss: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_cd::CoordinateDescent;
use fewest_columns::{Weights, weighted_outputs};
use fewest_core::method::{Choice as _, Regularization};
use fewest_core::{Budget, Context, Dataset, Error, Path, Selection, SolverReport, Status, Target};
use fewest_linalg::lanes;
use fewest_newton::{LinearModel, NewtonSolution, Start};
use fewest_solver::bisection::{self, PenaltyCandidate};
use fewest_solver::loss::{Huber, Loss, Profiled, ScalarLoss};
use fewest_solver::{
    BlockPenalty, Control, Design, ElasticNetPenalty, InnerProducts, L1, Penalty, QuadraticSolver, Solution,
};

use super::choice::{self, CrossValidation, FOLD_TOLERANCE, Fold, Held, Ladder, Likelihood, Step, Visit};
use super::columns::{LinearColumns, MOST_BYTES};
use super::loss::{as_survival, mean_over, samples_but, with_counting_classes};
use super::search::Model;
use super::terms::{self, Terms};
use super::{LinearLoss, hinge};

/// Most iterations of a solver at one penalty, in its own unit.
const MOST_STEPS: u64 = 1_000_000;

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// A penalty that no coefficient overcomes.
const HELD: f64 = 1e200;

/// Columns multiplied at a time.
const PANEL: usize = 64;

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
    pub(super) solve: &'a mut Solve<'a>,
    /// The loss with what has no penalty minimised out, where there are covariates.
    pub(super) profiled: Option<&'a Profiled<'a>>,
}

/// What lets the data choose `lambda`.
#[derive(Clone, Copy)]
struct ByData<'a> {
    data: &'a Dataset,
    fold: &'a Fold<'a>,
    /// The likelihood, where the loss has one.
    likelihood: Result<Likelihood<'a>, &'a Error>,
}

/// A solution with its number of features.
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

    fn select_with(
        &mut self,
        by_data: Option<ByData<'_>>,
        budgets: &[Budget],
        n_features: usize,
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let (regularization, solver, is_signed) = (self.regularization, self.solver, self.is_signed);
        let (columns, n_outputs) = (self.columns, self.n_outputs);
        let fit = |budget| self.found(by_data, budget, context);
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
        context: &Context<'_>,
    ) -> Result<Found, Error> {
        let (mut path, mut notes) = (None, Vec::new());
        let fit = match self.regularization {
            Regularization::Count => {
                let (k, largest) = (budget.count(&["lambda", "lambda_ratio"])?, self.largest);
                let solve = |lambda: f64, before: Option<&Fit>| self.at(lambda, before);
                let (mut fit, stopped) = bisection::search(largest, SMALLEST_RATIO, k, context, solve)?;
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

/// Lasso, elastic net and adaptive lasso with another loss than squared errors.
pub(super) fn select_many(
    asked: &Model<'_>,
    data: &Dataset,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    let (method, options) = (asked.method, asked.lasso);
    if let LinearLoss::Hinge { intercept } = options.loss {
        return hinge::select_many(asked, intercept, data, budgets, context);
    }
    let control = opened(data, budgets, options.tolerance, context)?;
    let data = &*as_survival(options.loss, method, data)?;
    with(asked, data, MOST_BYTES, control, context, |problem, loss, terms| {
        let n = problem.columns.n_counting();
        let deviance = |fitted: &[f64]| 2.0 * n as f64 * loss.value(fitted);
        let no_likelihood = Error::Unsupported {
            method,
            what: format!("an information criterion with loss={}", options.loss.word()),
            instead: "take a cross-validation (`lambda_folds`): the loss has no likelihood".to_owned(),
        };
        let likelihood = match options.loss {
            LinearLoss::Huber { .. } | LinearLoss::SquaredHinge { .. } => Err(&no_likelihood),
            _ => Ok(Likelihood {
                deviance: &deviance,
                n_observations: options.loss.n_observations(data, n),
                what: if let LinearLoss::Cox { .. } = options.loss { "events" } else { "samples" },
                n_coefficients: (problem.columns.n_atoms() - terms.left_out.len()) * problem.n_outputs,
            }),
        };
        let fold = |held: &Held<'_>, lambdas: &[f64]| fold_losses(asked, data, held, control, lambdas);
        let by_data = ByData { data, fold: &fold, likelihood };
        problem.select_with(Some(by_data), budgets, data.n_features(), context)
    })
}

/// The held-out losses of one fold of `data`.
fn fold_losses(
    asked: &Model<'_>,
    data: &Dataset,
    held: &Held<'_>,
    control: Control<'_>,
    lambdas: &[f64],
) -> Result<Vec<f64>, Error> {
    let control = Control { progress: None, tolerance: control.tolerance.max(FOLD_TOLERANCE), ..control };
    if let LinearLoss::Huber { delta, .. } = asked.lasso.loss {
        // In units of the deviation of all samples, as `delta` is: those of a fold differ.
        let huber = Huber::new(delta)?;
        let whole = weighted_outputs(data.target(), Weights::of(data)?.as_ref(), asked.method, held.context)?;
        return with(asked, held.training, held.bytes, control, held.context, |problem, _, _| {
            let columns = problem.columns;
            choice::fold_losses(problem, lambdas, |fitted| {
                choice::residual_losses(columns, &whole, held.test, fitted, |r| huber.value(r, 0.0))
            })
        });
    }
    // The model is one of the classes that training samples have.
    let learnt = with_counting_classes(held.training)?;
    let classes = if let Target::Class(classes) = data.target() { Some(classes) } else { None };
    let unknown = held.unknown(classes);
    with(asked, &learnt, held.bytes, control, held.context, |problem, training, _| {
        let (columns, loss) = (problem.columns, asked.lasso.loss);
        let samples = terms::with_offset(samples_but(data, &unknown.rows)?, asked.lasso, data)?;
        let (all, _) = loss.of(asked.method, learnt.target(), columns.weights(), samples, held.context)?;
        choice::fold_losses(problem, lambdas, |fitted| {
            held.difference(all.value(fitted), training.value(fitted), &unknown)
        })
    })
}

/// What `use_it` makes of the model of `data`, of which standardised copies may take so many `bytes`.
fn with<R>(
    asked: &Model<'_>,
    data: &Dataset,
    bytes: usize,
    control: Control<'_>,
    context: &Context<'_>,
    use_it: impl FnOnce(&mut Penalised<'_>, &dyn Loss, &Terms) -> Result<R, Error>,
) -> Result<R, Error> {
    let (method, options, l1_ratio) = (asked.method, asked.lasso, asked.l1_ratio);
    let columns = asked.columns(data, bytes, context)?;
    let terms = Terms::of(options, &columns)?;
    let samples = terms::with_offset(mean_over(columns.weights(), data.n_samples())?, options, data)?;
    let (loss, intercept) = options.loss.of(method, data.target(), columns.weights(), samples, context)?;
    let factor = options.sign.factor();
    let turned = Turned { inner: &columns, factor: factor.unwrap_or(1.0) };
    let profiled = match &terms.basis {
        // A constant changes nothing in the loss of Cox.
        Some(basis) => {
            let constant = intercept && !matches!(options.loss, LinearLoss::Cox { .. });
            Some(Profiled::new(&*loss, basis.vectors.clone(), constant)?)
        }
        None => None,
    };
    let model = match &profiled {
        Some(profiled) => LinearModel { design: &turned, loss: profiled, intercept: false },
        None => LinearModel { design: &turned, loss: &*loss, intercept },
    };
    let null = model.null(&control)?;
    if profiled.is_some() {
        terms::check_left(null.objective, loss.value(&vec![0.0; null.dual.len()]))?;
    }
    let automatic = CoordinateDescent::default();
    let solver: &dyn QuadraticSolver = options.solver.chosen().unwrap_or(&automatic);
    let n_outputs = loss.n_outputs();
    let mut weights = match asked.adaptive {
        None => vec![1.0; model.n_coefficients()],
        Some(adaptive) => {
            let sizes = adaptive.sizes(&columns, &terms, &null.dual, method, context)?;
            (0..columns.n_atoms()).flat_map(|j| sizes.iter().map(move |sizes| sizes[j].recip())).collect()
        }
    };
    for &column in &terms.left_out {
        weights[column * n_outputs..(column + 1) * n_outputs].fill(f64::INFINITY);
    }
    let l1 = |lambda: f64| {
        let levels: Vec<f64> = weights.iter().map(|weight| (lambda * weight).min(HELD)).collect();
        let l1 = L1::weighted(1.0, &levels)?;
        Ok::<L1, Error>(if factor.is_some() { l1.nonnegative() } else { l1 })
    };
    let mut solve = |lambda: f64, start: Option<&Start>| {
        let l1 = l1(lambda * l1_ratio)?;
        let penalty: Box<dyn BlockPenalty> = if l1_ratio < 1.0 {
            Box::new(ElasticNetPenalty::new(l1, lambda * (1.0 - l1_ratio))?)
        } else {
            Box::new(l1)
        };
        let turn = |coefficients: &mut [f64]| coefficients.iter_mut().for_each(|w| *w *= turned.factor);
        let mut start = start.cloned();
        start.iter_mut().for_each(|start| turn(&mut start.coefficients));
        let mut found = model.minimise(&null, &*penalty, solver, start.as_ref(), &control)?;
        turn(&mut found.solution.coefficients);
        Ok(Solved::from(found))
    };
    let mut problem = Penalised {
        columns: &columns,
        n_outputs,
        regularization: options.regularization,
        n_path: options.lambda_path,
        is_signed: loss.n_outputs() == 1,
        largest: l1(1.0)?.dual_norm(&null.correlations) / l1_ratio,
        solver: "newton",
        solve: &mut solve,
        profiled: profiled.as_ref(),
    };
    use_it(&mut problem, &*loss, &terms)
}

/// Columns times 1 or −1: coefficients of at most 0 are at least 0 for those times −1.
struct Turned<'a> {
    inner: &'a LinearColumns<'a>,
    factor: f64,
}

impl Design for Turned<'_> {
    fn n_samples(&self) -> usize {
        LinearColumns::n_samples(self.inner)
    }

    fn n_columns(&self) -> usize {
        self.inner.n_atoms()
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.inner.correlations(right, out)?;
        out.iter_mut().for_each(|value| *value *= self.factor);
        Ok(())
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        Design::gather(self.inner, chosen, out)?;
        out.iter_mut().for_each(|value| *value *= self.factor);
        Ok(())
    }
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
