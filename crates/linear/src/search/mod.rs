//! From data to coefficients: at a given penalty, or for a number of features.

mod decisive;
mod path;
mod problem;
mod sweeps;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, Selection, SolverReport, Status, Target,
};
use fewest_solver::bisection::{self, PenaltyCandidate, Tried};
use fewest_solver::certificate::DualityGap;
use fewest_solver::working_set::{WorkingSet, WorkingSetSolution};
use fewest_solver::{Control, InnerProducts, L1, QuadraticSolver, Ridged, certificate, working_set};

use super::Lasso;
use super::adaptive::Adaptive;
use super::choice::{self, CrossValidation, FOLD_TOLERANCE, Ladder, Likelihood, Step, Visit};
use super::columns::{LinearColumns, MOST_BYTES};
use super::in_passes::{Asked, Decided};
use super::loss::{LinearLoss, with_counting_classes};
use super::other_losses;
use super::penalised::{each_fit, opened, others_left_out};
use super::terms::{self, Terms};

pub(super) use decisive::{EXACT, REACHED};
pub(super) use path::gap_on_path;
pub(super) use problem::each_output;

/// A penalty smaller than the largest useful one by more than this factor is solved by way of others, each
/// smaller by this factor, which are solved roughly: to this gap, relative to the objective at zero. That
/// finds most of the features with small working sets.
const STRIDE: f64 = 8.0;
const ROUGH: f64 = 1e-2;

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// A lasso, and what it has beyond one.
pub(super) struct Model<'a> {
    /// The method's id.
    pub(super) method: &'static str,
    pub(super) lasso: &'a Lasso,
    /// Share of the l1 norm in the penalty.
    pub(super) l1_ratio: f64,
    /// Weights of the l1 norm, if there are any.
    pub(super) adaptive: Option<Adaptive>,
}

/// By output: the coefficients that are not zero, each with its column.
type Coefficients = Vec<Vec<(usize, f64)>>;

/// A solution: by output, the coefficients that are not zero, by increasing column, and where they come from.
/// Coefficients of weighted columns are those of columns times their scale.
#[derive(Clone)]
pub(super) struct Fit {
    pub(super) coefficients: Coefficients,
    pub(super) report: SolverReport,
    path: Option<Path>,
    notes: Vec<String>,
    /// Features without a coefficient that the end of a path depends on: those that depend linearly on
    /// others, and the one that would join next.
    beyond: Vec<usize>,
    /// Another point of a path that decides on its end: where a feature would join next; where none does, or
    /// that is a penalty of zero, the last breakpoint before.
    pub(super) beside: Option<Seen>,
}

pub(super) struct Problem<'a> {
    model: &'a Model<'a>,
    data: &'a Dataset,
    columns: &'a LinearColumns<'a>,
    /// One problem an output: they share the penalty and nothing else, so none is larger than it need be.
    outputs: Vec<Box<dyn InnerProducts + Send + 'a>>,
    /// By output, what the coefficient of each column is multiplied by: the weights of an adaptive lasso, and
    /// −1 where coefficients are at most 0, for which the target is negated. Nothing where all are 1.
    scales: Vec<Vec<f64>>,
    terms: Terms,
    l1_ratio: f64,
    options: &'a Lasso,
    control: Control<'a>,
    /// The smallest `lambda` that selects nothing.
    largest_lambda: f64,
    /// The points of fits, where they are [watched](Self::watched).
    seen: Option<Mutex<Vec<Seen>>>,
}

/// A point that a fit has come to: what the report on it tells, by output the coefficients that are not zero.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) lambda: f64,
    pub(super) coefficients: Coefficients,
}

impl Model<'_> {
    /// One selection a budget. All of them share the standardised columns and their products with the
    /// outputs.
    pub(super) fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        if self.lasso.regularization.is_chosen_by_data() && self.lasso.lambda_path > 1 {
            let expected = format!(
                "left out with {}, which reports the path of all penalties it tries",
                self.lasso.regularization
            );
            return Err(Error::parameter("lambda_path", self.lasso.lambda_path, expected));
        }
        terms::check(self.lasso, data)?;
        let data = &*with_counting_classes(data)?;
        let lasso = Lasso { loss: self.lasso.loss.resolved(data.target()), ..self.lasso.clone() };
        let model = Model { lasso: &lasso, ..*self };
        let data = &*terms::less_offset(self.method, &lasso, data)?;
        if lasso.loss != LinearLoss::Squared || matches!(data.target(), Target::Survival(_)) {
            let mut selections = other_losses::select_many(&model, data, budgets, context)?;
            let note = self.lasso.loss.note(data.target());
            selections.iter_mut().for_each(|selection| selection.notes.extend(note.clone()));
            return Ok(selections);
        }
        let control = opened(data, budgets, lasso.tolerance, context)?;
        // Each budget has the answer that it has alone.
        let takes_products: Vec<bool> =
            budgets.iter().map(|budget| model.takes_products(data, *budget)).collect();
        let mut selections = vec![None; budgets.len()];
        for by_products in [true, false] {
            let of = |&at: &usize| takes_products[at] == by_products;
            let own: Vec<usize> = (0..budgets.len()).filter(of).collect();
            if own.is_empty() {
                continue;
            }
            let columns = if by_products { model.few_columns(data, context)? } else { None };
            let columns = match columns {
                Some(columns) => columns,
                None => model.columns(data, MOST_BYTES, context)?,
            };
            let own_budgets: Vec<Budget> = own.iter().map(|&at| budgets[at]).collect();
            let found = model.select_from(&columns, data, &own_budgets, control, context)?;
            own.into_iter().zip(found).for_each(|(at, found)| selections[at] = Some(found));
        }
        Ok(selections.into_iter().flatten().collect())
    }

    /// One selection a budget, from these columns of `data`.
    fn select_from(
        &self,
        columns: &LinearColumns<'_>,
        data: &Dataset,
        budgets: &[Budget],
        control: Control<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let mut problem = Problem::new(self, data, columns, control, context)?;
        let is_decided = self.is_decided(data);
        let products_of = |features: &[usize]| match columns.restricted(features)? {
            Some(products) => Ok(Some(products)),
            None => self.columns_of(data, features, usize::MAX, context),
        };
        if is_decided
            && self.l1_ratio < 1.0
            && let Some(columns) = products_of(&problem.most_useful())?
        {
            // Penalties that are searched for are those of passes, bit for bit.
            let largest = Problem::new(self, data, &columns, control, context)?.largest_lambda;
            problem.largest_lambda = largest;
        }
        let mut tried = Tried::new(budgets.len(), columns.n_atoms() * problem.outputs.len());
        let fit = |budget| problem.fit(budget, &mut tried, context);
        let asked = |budget| Asked { data, n_features: data.n_features(), budget, control, context };
        // At a given penalty the answer is that of all budgets.
        let of_all: OnceCell<Option<Decided<'_>>> = OnceCell::new();
        each_fit(self.lasso.regularization, budgets, context, fit, |fit, budget| {
            if !is_decided {
                return problem.selection(fit, budget, data.n_features());
            }
            let decide = || self.decided(&problem, fit, asked(budget), &products_of);
            let own;
            let decided = match (self.lasso.regularization, of_all.get()) {
                (Regularization::Count, _) => {
                    own = decide()?;
                    &own
                }
                (_, Some(known)) => known,
                (_, None) => {
                    let found = decide()?;
                    of_all.get_or_init(|| found)
                }
            };
            match decided {
                Some(decided) => decided.selection(self, asked(budget)),
                None => problem.selection(fit, budget, data.n_features()),
            }
        })
    }

    /// The columns of `data`, with products where the target is outputs; copies of them take at most so many
    /// `bytes`.
    pub(super) fn columns<'d>(
        &self,
        data: &'d Dataset,
        bytes: usize,
        context: &Context<'_>,
    ) -> Result<LinearColumns<'d>, Error> {
        match data.target() {
            Target::Survival(_) => LinearColumns::without_outputs(data, bytes, context),
            _ => LinearColumns::weighted(data, self.method, bytes, context),
        }
    }
}

impl Problem<'_> {
    /// The problem, which keeps the points that its fits come to, for who has more columns to check them
    /// with: the solutions within the tolerance, the breakpoints of the path, and the one after its end.
    pub(super) fn watched(self) -> Self {
        Self { seen: Some(Mutex::default()), ..self }
    }

    /// The points that were kept.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let lock = |seen: &Mutex<Vec<Seen>>| seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.seen.as_ref().map(lock).unwrap_or_default()
    }

    /// Keeps a point.
    fn see(&self, lambda: f64, coefficients: impl FnOnce() -> Coefficients) {
        if let Some(seen) = &self.seen {
            let point = Seen { lambda, coefficients: coefficients() };
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(point);
        }
    }

    pub(super) fn fit(
        &self,
        budget: Budget,
        tried: &mut Tried<Counted>,
        context: &Context<'_>,
    ) -> Result<Fit, Error> {
        match self.options.regularization {
            Regularization::Value(lambda) => self.down_to(lambda),
            Regularization::Ratio(ratio) => self.down_to(ratio * self.largest_lambda),
            given if given.is_chosen_by_data() => self.by_data(given, context),
            _ => match budget.count(&["lambda", "lambda_ratio"])? {
                k if self.l1_ratio == 1.0 => self.along_path(k),
                k => self.by_bisection(k, tried, context),
            },
        }
    }

    pub(super) fn columns(&self) -> &LinearColumns<'_> {
        self.columns
    }

    pub(super) fn selection(&self, fit: &Fit, budget: Budget, n_features: usize) -> Result<Selection, Error> {
        let weights: Vec<(usize, f64)> = self.scores(&fit.coefficients).into_iter().collect();
        let n_found = weights.len();
        let mut selection = Selection::by_weight(weights, n_features, budget, fit.report.status);
        selection.solver = Some(fit.report.clone());
        (selection.path, selection.notes) = (fit.path.clone(), fit.notes.clone());
        let n = selection.order.len();
        if self.options.regularization != Regularization::Count {
            selection.note_left_out(n_found, budget, "features with a coefficient");
        } else if n < n_found {
            selection.notes.push(format!(
                "{n} of {n_found} features that get a coefficient together: objective and gap are those of all \
                 {n_found}"
            ));
        }
        selection.note_missing_features(budget, others_left_out(self.options.regularization));
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// Coefficients of the columns, and the score of each feature with one.
    pub(super) fn unscaled(&self, outputs: &[Vec<(usize, f64)>]) -> Vec<Vec<(usize, f64)>> {
        let scaled = |(own, scales): (&Vec<(usize, f64)>, &Vec<f64>)| -> Vec<(usize, f64)> {
            own.iter().map(|&(column, value)| (column, scales[column] * value)).collect()
        };
        if self.scales.is_empty() {
            return outputs.to_vec();
        }
        outputs.iter().zip(&self.scales).map(scaled).collect()
    }

    pub(super) fn scores(&self, outputs: &[Vec<(usize, f64)>]) -> BTreeMap<usize, f64> {
        self.columns.feature_scores(&self.unscaled(outputs))
    }

    /// The solution at the penalty that the data choose.
    fn by_data(&self, given: Regularization, context: &Context<'_>) -> Result<Fit, Error> {
        let lambdas = choice::candidates(&self);
        let whole = self.columns.targets();
        let mut ladder = self;
        let chosen = match CrossValidation::of(self.options.regularization) {
            Some(rule) => {
                let choice = choice::cross_validate(rule, self.data, lambdas, context, &|held, lambdas| {
                    let columns = self.model.columns(held.training, held.bytes, held.context)?;
                    let tolerance = self.control.tolerance.max(FOLD_TOLERANCE);
                    let control = Control { progress: None, tolerance, ..self.control };
                    let fold = Problem::new(self.model, held.training, &columns, control, held.context)?;
                    choice::fold_losses(&mut &fold, lambdas, |fitted| {
                        choice::residual_losses(&columns, whole, held.test, fitted, |r| r * r)
                    })
                })?;
                choice::solve(&mut ladder, choice)?
            }
            None => {
                let deviance = |fitted: &[f64]| choice::normal_deviance(self.columns, fitted);
                let likelihood = Likelihood {
                    deviance: &deviance,
                    n_observations: self.columns.n_counting(),
                    what: "samples",
                    n_coefficients: (self.columns.n_atoms() - self.terms.left_out.len()) * self.outputs.len(),
                };
                choice::by_information(&mut ladder, given.gamma()?, &lambdas, &likelihood)?
            }
        };
        Ok(Fit { path: Some(chosen.path), notes: vec![chosen.note], ..chosen.fit })
    }

    /// The solution at `lambda`, by way of larger penalties: those that are wanted as a path, or a few,
    /// roughly.
    fn down_to(&self, lambda: f64) -> Result<Fit, Error> {
        if self.options.lambda_path > 1 {
            let mut ladder = self;
            let (fit, path) = choice::down_to(&mut ladder, lambda, self.options.lambda_path)?;
            return Ok(Fit { path: Some(path), ..fit });
        }
        let mut points = self.points(&[])?;
        let mut go_to = |lambda: f64, before: &[Vec<(usize, f64)>], control: &Control<'_>| {
            if let Some(start) = self.swept(lambda, before, control)? {
                points = self.points(&start)?;
            }
            self.advance(&mut points, lambda, control)
        };
        let rough = Control { tolerance: self.control.tolerance.max(ROUGH), ..self.control };
        let n = (self.largest_lambda / lambda).log(STRIDE) as i32;
        let mut before = vec![Vec::new(); self.outputs.len()];
        for i in (1..=n).rev() {
            before = go_to(lambda * STRIDE.powi(i), &before, &rough)?.coefficients;
        }
        go_to(lambda, &before, &self.control)
    }

    /// Coefficients nearer to the solution at `lambda` than `before`, where sweeps over the columns find them
    /// for less than it takes to multiply all pairs of those that matter.
    fn swept(
        &self,
        lambda: f64,
        before: &[Vec<(usize, f64)>],
        control: &Control<'_>,
    ) -> Result<Option<Coefficients>, Error> {
        let is_plain = self.options.solver.chosen().is_none()
            && self.scales.is_empty()
            && self.terms.basis.is_none()
            && self.columns.weights().is_none()
            && self.columns.are_in_memory();
        if !is_plain {
            return Ok(None);
        }
        let penalty = self.l1(lambda * self.l1_ratio)?;
        let found = fewest_parallel::try_map(self.outputs.len(), |output| {
            let mut w = self.dense(&before[output]);
            let plain = &self.outputs[output];
            let is_moved = if self.l1_ratio < 1.0 {
                let ridged = Ridged::new(plain, lambda * (1.0 - self.l1_ratio))?;
                sweeps::descend(self.columns, output, &ridged, &penalty, &mut w, control)?
            } else {
                sweeps::descend(self.columns, output, plain, &penalty, &mut w, control)?
            };
            Ok::<_, Error>((is_moved, sparse(&w)))
        })?;
        let is_moved = found.iter().any(|(is_moved, _)| *is_moved);
        Ok(is_moved.then(|| found.into_iter().map(|(_, coefficients)| coefficients).collect()))
    }

    /// The solution at `lambda`, from `start`, by output, or from zero.
    fn at(&self, lambda: f64, start: &[Vec<(usize, f64)>]) -> Result<Fit, Error> {
        self.advance(&mut self.points(start)?, lambda, &self.control)
    }

    /// A point for each output: `start`, or zero.
    fn points(&self, start: &[Vec<(usize, f64)>]) -> Result<Vec<Point<'_>>, Error> {
        fewest_parallel::try_map(self.outputs.len(), |output| {
            let w = self.dense(start.get(output).map_or(&[], Vec::as_slice));
            if self.l1_ratio < 1.0 {
                return Ok(Point::Ridged(w));
            }
            Ok(Point::Plain(Box::new(WorkingSet::new(&self.outputs[output], &w)?)))
        })
    }

    /// Moves the points of all outputs to the solution at `lambda`.
    fn advance(&self, points: &mut [Point<'_>], lambda: f64, control: &Control<'_>) -> Result<Fit, Error> {
        let automatic = CoordinateDescent::default();
        let solver: &dyn QuadraticSolver = self.options.solver.chosen().unwrap_or(&automatic);
        let penalty = self.l1(lambda * self.l1_ratio)?;
        let solve = |output: usize, point: &mut Point<'_>| match point {
            Point::Plain(set) => set.solve(&penalty, solver, control),
            Point::Ridged(w) => {
                let ridged = Ridged::new(&self.outputs[output], lambda * (1.0 - self.l1_ratio))?;
                let found = working_set::solve(&ridged, &penalty, solver, w, control)?;
                w.clone_from(&found.solution.coefficients);
                Ok(found)
            }
        };
        let found = fewest_parallel::chunks(points, 1, |output, points| {
            points.iter_mut().map(|point| solve(output, point)).collect::<Result<Vec<_>, Error>>()
        });
        let found: Vec<WorkingSetSolution> =
            found.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect();
        let nonzero = |found: &WorkingSetSolution| sparse(&found.solution.coefficients);
        if control.tolerance <= self.control.tolerance {
            self.see(lambda, || found.iter().map(nonzero).collect());
        }
        let gaps: Vec<DualityGap> = found.iter().map(|found| found.certificate).collect();
        let report = SolverReport::new(
            solver.name(),
            Status::worst(found.iter().map(|found| found.solution.status)),
            found.iter().map(|found| found.solution.objective).sum(),
            Certificate::gap(of_all(&gaps)),
        )
        .with_lambda(lambda)
        .with_iterations(found.iter().map(|found| found.solution.iterations as usize).sum());
        let coefficients = found.iter().map(nonzero).collect();
        Ok(Fit { coefficients, report, path: None, notes: Vec::new(), beyond: Vec::new(), beside: None })
    }

    /// The l1 norm, with the constraint if there is one.
    fn l1(&self, lambda: f64) -> Result<L1, Error> {
        let l1 = L1::new(lambda, self.columns.n_atoms())?;
        Ok(if self.is_constrained() { l1.nonnegative() } else { l1 })
    }

    fn is_constrained(&self) -> bool {
        self.options.sign.factor().is_some()
    }

    /// One entry a column.
    fn dense(&self, coefficients: &[(usize, f64)]) -> Vec<f64> {
        let mut dense = vec![0.0; self.columns.n_atoms()];
        for &(column, value) in coefficients {
            dense[column] = value;
        }
        dense
    }

    /// The smallest `lambda` found to leave at most `k` features, as far down as solutions are easy.
    fn by_bisection(
        &self,
        k: usize,
        tried: &mut Tried<Counted>,
        context: &Context<'_>,
    ) -> Result<Fit, Error> {
        let solve = |lambda: f64, before: Option<&Counted>| {
            let fit = self.at(lambda, before.map_or(&[][..], |before| &before.fit.coefficients[..]))?;
            let n_features = self.scores(&fit.coefficients).len();
            Ok(Counted { fit, n_features })
        };
        let (Counted { fit: mut best, .. }, stopped) =
            bisection::search(self.largest_lambda, SMALLEST_RATIO, k, context, tried, solve)?;
        if let Some(status) = stopped {
            best.report.status = status;
        }
        Ok(best)
    }
}

impl Ladder for &Problem<'_> {
    type Fit = Fit;

    fn columns(&self) -> &LinearColumns<'_> {
        self.columns
    }

    fn largest(&self) -> f64 {
        self.largest_lambda
    }

    fn walk(&mut self, lambdas: &[f64], visit: &mut Visit<'_, Self>) -> Result<Option<Status>, Error> {
        let mut points = self.points(&[])?;
        let mut before = vec![Vec::new(); self.outputs.len()];
        // The Gram matrix of dense columns, which serves for all penalties, is there after the first ones.
        let all: Vec<usize> = (0..self.columns.n_atoms()).collect();
        let is_sparse = self.columns.are_sparse(&all)?;
        for &lambda in lambdas {
            if is_sparse && let Some(start) = self.swept(lambda, &before, &self.control)? {
                points = self.points(&start)?;
            }
            let fit = self.advance(&mut points, lambda, &self.control)?;
            before.clone_from(&fit.coefficients);
            let status = fit.report.status;
            let go_on = visit(self, fit)?;
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
        fit.report.status = status;
    }

    fn fitted(&self, step: &Step) -> Result<Vec<f64>, Error> {
        let mut fitted = self.columns.fitted(&step.coefficients)?;
        if let Some(basis) = &self.terms.basis {
            let outputs =
                self.columns.targets().iter().zip(fitted.chunks_exact_mut(self.columns.n_samples()));
            outputs.for_each(|(target, fitted)| basis.add_explained(&target.values, fitted));
        }
        Ok(fitted)
    }

    fn step(&self, fit: &Fit) -> Step {
        let coefficients = self.unscaled(&fit.coefficients);
        Step { coefficients, intercepts: Vec::new(), status: fit.report.status }
    }
}

/// Where the coefficients of an output are, one for each column.
enum Point<'a> {
    /// With the products of the way there, which hold for every penalty.
    Plain(Box<WorkingSet<'a>>),
    /// With a ridge, which changes with the penalty.
    Ridged(Vec<f64>),
}

/// The coefficients that are not zero, by increasing column.
fn sparse(dense: &[f64]) -> Vec<(usize, f64)> {
    dense.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect()
}

/// The gap of all outputs together, relative to their objective at zero.
pub(super) fn of_all(gaps: &[DualityGap]) -> f64 {
    let sum = |of: fn(&DualityGap) -> f64| gaps.iter().map(of).sum::<f64>();
    certificate::relative(sum(|gap| gap.duality_gap.max(0.0)), sum(|gap| gap.objective_at_zero))
}

/// A fit with its number of features.
#[derive(Clone)]
pub(super) struct Counted {
    fit: Fit,
    n_features: usize,
}

impl PenaltyCandidate for Counted {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn status(&self) -> Status {
        self.fit.report.status
    }
}
