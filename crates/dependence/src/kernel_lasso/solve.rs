//! From data to coefficients.

use std::collections::BTreeSet;

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, PathPoint, Selection, SolverReport, Status, order,
};
use fewest_lars::{Event, LassoPath, PathOptions};
use fewest_solver::{
    Blocks, Control, GroupLasso, InnerProducts, L1, Penalty, Projected, QuadraticSolver, Ridged, Scaled,
    working_set,
};

use super::options::{LassoOptions, LassoPenalty};
use super::{approximation, report};
use crate::atoms::{self, Measure};
use crate::{Dependence, Normalization, in_passes};

/// Features beyond the budget that the paper's rule allows on the path.
const PAPER_SLACK: usize = 10;

/// Most iterations of a solver, in its own unit.
const MOST_ITERATIONS: u64 = 1_000_000;

/// How much smaller each penalty tried is, when only trying shows how many features it leaves.
const SEARCH_STEP: f64 = 0.8;

/// A solution of the lasso: non-zero coefficients by increasing feature, and where they come from.
pub(super) struct Fit {
    pub(super) coefficients: Vec<(usize, f64)>,
    pub(super) report: Option<SolverReport>,
    pub(super) path: Option<Path>,
    /// Features left out because they repeat active ones, with those.
    pub(super) tied: Vec<(usize, Vec<usize>)>,
}

impl Fit {
    fn status(&self) -> Status {
        self.report.as_ref().map_or(Status::Converged, |report| report.status)
    }
}

/// One selection a budget. All of them share the atoms, and so every product that one of them asked for.
pub(crate) fn select_many(
    data: &Dataset,
    measure: Measure,
    dependence: &Dependence,
    options: &LassoOptions,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    let d = data.n_features();
    budgets.iter().try_for_each(|budget| budget.check(d))?;
    options.check_features(d)?;
    let by_sums = in_passes::select_of_table(data, measure, dependence, options, budgets, context)?;
    let untold = match by_sums {
        Ok(selections) => return Ok(selections),
        Err(untold) => untold,
    };
    let atoms = atoms::build(data, measure, dependence, measure.lasso(), context)?;
    let mut selections = of_atoms(data, &*atoms, dependence.normalization, options, budgets, context)?;
    selections.iter_mut().for_each(|selection| untold.tell(&mut selection.notes));
    Ok(selections)
}

/// One selection a budget, from the atoms of the features of `data`, of which nothing but names and groups is
/// looked at.
pub(super) fn of_atoms(
    data: &Dataset,
    atoms: &dyn InnerProducts,
    normalization: Normalization,
    options: &LassoOptions,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    let d = data.n_features();
    let scaled: Box<dyn InnerProducts + Send + '_> = match normalization {
        Normalization::None => Box::new(atoms),
        Normalization::Unit => Box::new(Scaled::to_norm_one(atoms)),
    };
    let free: Vec<usize> = options
        .forced
        .iter()
        .chain(&options.covariates)
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    if let Some(&j) = free.iter().find(|&&j| scaled.squared_norms()[j] == 0.0) {
        let name = if options.covariates.contains(&j) { "covariates" } else { "forced" };
        let named = format!("`{}`", data.feature_name(j));
        return Err(Error::parameter(name, named, "features that vary: this one is constant"));
    }
    let projected = if free.is_empty() { None } else { Some(Projected::new(&*scaled, free.clone())?) };
    let problem: &dyn InnerProducts = match &projected {
        Some(projected) => projected,
        None => &*scaled,
    };

    let ridged;
    let problem: &dyn InnerProducts = match options.penalty {
        LassoPenalty::ElasticNet { ridge } => {
            let largest = problem.squared_norms().iter().copied().fold(0.0, f64::max);
            ridged = Ridged::new(problem, ridge * largest)?;
            &ridged
        }
        LassoPenalty::L1 | LassoPenalty::Group => problem,
    };
    let select = |budget: Budget| -> Result<Selection, Error> {
        let mut fit = match options.penalty {
            LassoPenalty::L1 | LassoPenalty::ElasticNet { .. } => fit_l1(problem, options, budget, context)?,
            LassoPenalty::Group => fit_groups(problem, data, options, budget, context)?,
        };
        if let Some(report) = &mut fit.report {
            report.approximation = approximation::estimate(problem, &fit.coefficients)?;
        }

        let mut forced = Vec::new();
        if let Some(projected) = &projected {
            let mut w = vec![0.0; d];
            for &(j, value) in &fit.coefficients {
                w[j] = value;
            }
            let values = projected.free_coefficients(&w)?;
            forced.extend(free.iter().copied().zip(values).filter(|(j, _)| options.forced.contains(j)));
        }

        let status = fit.status();
        let (order, scores) = rank(&forced, &fit.coefficients, budget);
        let mut selection = Selection::new(order, scores, d, status);
        report::complete(&mut selection, data, atoms, fit, budget, options, context)?;
        selection.unless_stopped_before("a feature had a coefficient")
    };
    let mut selections = Vec::with_capacity(budgets.len());
    for &budget in budgets {
        if !selections.is_empty() && context.stopped().is_some() {
            return Err(Error::Stopped { before: "features were selected for every budget" });
        }
        selections.push(select(budget)?);
    }
    Ok(selections)
}

/// Forced features in their order, then the others by coefficient, ties to the lower index, as far as the
/// budget goes.
fn rank(forced: &[(usize, f64)], coefficients: &[(usize, f64)], budget: Budget) -> (Vec<usize>, Vec<f64>) {
    let mut chosen: Vec<(f64, usize)> =
        coefficients.iter().filter(|(_, value)| *value > 0.0).map(|&(j, value)| (value, j)).collect();
    order::largest_first(&mut chosen);
    if let Budget::Threshold(threshold) = budget {
        chosen.retain(|&(value, _)| value >= threshold);
    }
    let mut all = forced.to_vec();
    all.extend(chosen.into_iter().map(|(value, j)| (j, value)));
    if let Budget::Count(k) = budget {
        all.truncate(k);
    }
    all.into_iter().unzip()
}

fn control<'a>(options: &LassoOptions, context: &Context<'a>) -> Control<'a> {
    Control { tolerance: options.tolerance, max_iterations: MOST_ITERATIONS, ..Control::from(context) }
}

/// How many unforced features are wanted, where their number decides the penalty.
fn wanted(options: &LassoOptions, budget: Budget) -> Result<usize, Error> {
    let (k, n_forced) = (budget.count(&["lambda", "lambda_ratio"])?, options.forced.len());
    k.checked_sub(n_forced).ok_or_else(|| {
        Error::parameter("k", k, format!("at least the number of forced features, {n_forced}"))
    })
}

/// The penalty, where it does not depend on the number of features.
fn fixed_lambda(regularization: Regularization, largest: f64) -> Option<f64> {
    match regularization {
        Regularization::Value(lambda) => Some(lambda),
        Regularization::Ratio(ratio) => Some(ratio * largest),
        _ => None,
    }
}

fn fit_l1(
    problem: &dyn InnerProducts,
    options: &LassoOptions,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Fit, Error> {
    let control = control(options, context);
    let largest = problem.target_products().iter().copied().fold(0.0, f64::max);
    let solve_at = |lambda: f64, solver: &dyn QuadraticSolver, path, tied| -> Result<Fit, Error> {
        let penalty = L1::new(lambda, problem.n_atoms())?.nonnegative();
        solve(problem, &penalty, lambda, solver, &vec![0.0; problem.n_atoms()], path, tied, &control)
    };
    let fixed = fixed_lambda(options.regularization, largest);
    let automatic = CoordinateDescent::default();
    let solver = options.solver.chosen().unwrap_or(&automatic);
    // Without a penalty a path goes to its end.
    let to_end = fixed == Some(0.0) && solver.follows_path();
    if let (Some(lambda), false) = (fixed, to_end) {
        return solve_at(lambda, solver, None, Vec::new());
    }
    let wanted = if to_end { problem.n_atoms() } else { wanted(options, budget)? };
    if wanted == 0 {
        return Ok(Fit { coefficients: Vec::new(), report: None, path: None, tied: Vec::new() });
    }
    let most_active =
        if options.regularization == Regularization::Paper { wanted + PAPER_SLACK } else { wanted };
    let lasso = fewest_lars::path(problem, &PathOptions { most_active, ..PathOptions::default() }, &control)?;
    let path = describe(&lasso);
    let end = lasso.breakpoints.last();
    let lambda = end.map_or(0.0, |point| point.lambda);
    match options.solver.chosen() {
        // At λ = 0 there is no dual certificate but the path's own.
        Some(solver) if !solver.follows_path() && lambda > 0.0 && lasso.status == Status::Converged => {
            solve_at(lambda, solver, Some(path), lasso.tied)
        }
        _ => Ok(Fit {
            coefficients: end.map(|point| point.coefficients.clone()).unwrap_or_default(),
            report: Some(
                SolverReport::new("lars", lasso.status, lasso.objective, Certificate::gap(lasso.duality_gap))
                    .with_lambda(lambda)
                    .with_iterations(lasso.iterations as usize),
            ),
            path: Some(path),
            tied: lasso.tied,
        }),
    }
}

fn describe(lasso: &LassoPath) -> Path {
    let mut entered = Vec::new();
    for point in &lasso.breakpoints {
        if let Event::Joined(j) = point.event
            && !entered.contains(&j)
        {
            entered.push(j);
        }
    }
    let points = lasso
        .breakpoints
        .iter()
        .map(|point| PathPoint { lambda: point.lambda, coefficients: point.coefficients.clone() })
        .collect();
    Path { points, entered, ..Path::default() }
}

#[allow(clippy::too_many_arguments)]
fn solve(
    problem: &dyn InnerProducts,
    penalty: &dyn Penalty,
    lambda: f64,
    solver: &dyn QuadraticSolver,
    start: &[f64],
    path: Option<Path>,
    tied: Vec<(usize, Vec<usize>)>,
    control: &Control<'_>,
) -> Result<Fit, Error> {
    let found = working_set::solve(problem, penalty, solver, start, control)?.solution;
    let coefficients =
        found.coefficients.iter().copied().enumerate().filter(|&(_, value)| value != 0.0).collect();
    let report = SolverReport::new(solver.name(), found.status, found.objective, found.certificate)
        .with_lambda(lambda)
        .with_iterations(found.iterations as usize);
    Ok(Fit { coefficients, report: Some(report), path, tied })
}

fn fit_groups(
    problem: &dyn InnerProducts,
    data: &Dataset,
    options: &LassoOptions,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Fit, Error> {
    let Some(groups) = data.feature_partition("penalty=group")? else {
        return Err(Error::parameter(
            "penalty",
            "group",
            "l1 or elastic-net, unless the data set has feature groups",
        ));
    };
    let control = control(options, context);
    let automatic = CoordinateDescent::default();
    let solver: &dyn QuadraticSolver = options.solver.chosen().unwrap_or(&automatic);
    let largest = Blocks::from_groups(groups)
        .iter()
        .map(|block| block.iter().map(|&j| problem.target_products()[j].max(0.0).powi(2)).sum::<f64>().sqrt())
        .fold(0.0, f64::max);
    let solve_at = |lambda: f64, start: &[f64]| -> Result<Fit, Error> {
        let penalty = GroupLasso::new(lambda, groups)?.nonnegative();
        solve(problem, &penalty, lambda, solver, start, None, Vec::new(), &control)
    };
    let mut start = vec![0.0; problem.n_atoms()];
    if let Some(lambda) = fixed_lambda(options.regularization, largest) {
        return solve_at(lambda, &start);
    }
    // A group enters whole, so the number of features jumps: go down until there are enough.
    let wanted = wanted(options, budget)?;
    let mut lambda = largest;
    let mut points = Vec::new();
    loop {
        lambda *= SEARCH_STEP;
        let mut fit = solve_at(lambda, &start)?;
        points.push(PathPoint { lambda, coefficients: fit.coefficients.clone() });
        let enough = fit.coefficients.len() >= wanted;
        if enough || lambda <= 1e-6 * largest || fit.status() != Status::Converged {
            fit.path = Some(Path { points, ..Path::default() });
            return Ok(fit);
        }
        start.fill(0.0);
        for &(j, value) in &fit.coefficients {
            start[j] = value;
        }
    }
}
