//! From data to coefficients: at a given penalty, or for a number of features.

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, PathPoint, Selection, SolverReport, Status, order,
};
use fewest_solver::bisection::{self, PenaltyCandidate};
use fewest_solver::certificate::DualityGap;
use fewest_solver::working_set::{WorkingSet, WorkingSetSolution};
use fewest_solver::{
    Control, InnerProducts, L1, QuadraticSolver, Ridged, Signed, Targeted, certificate, working_set,
};

use super::Lasso;
use super::columns::LinearColumns;
use super::loss::LinearLoss;
use super::{paths, penalised};

/// Most iterations of a solver, in its own unit.
const MOST_ITERATIONS: u64 = 1_000_000;

/// A penalty smaller than the largest useful one by more than this factor is solved by way of others, each
/// smaller by this factor, which are solved roughly: to this gap, relative to the objective at zero. That
/// finds most of the features with small working sets.
const STRIDE: f64 = 8.0;
const ROUGH: f64 = 1e-2;

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// A solution: by output, the coefficients that are not zero, by increasing column, and where they come from.
struct Fit {
    coefficients: Vec<Vec<(usize, f64)>>,
    report: SolverReport,
    path: Option<Path>,
    notes: Vec<String>,
}

struct Problem<'a> {
    columns: &'a LinearColumns<'a>,
    /// One problem an output: they share the penalty and nothing else, so none is larger than it need be.
    outputs: Vec<Targeted<&'a LinearColumns<'a>>>,
    l1_ratio: f64,
    options: &'a Lasso,
    control: Control<'a>,
    /// The smallest `lambda` that selects nothing.
    largest_lambda: f64,
}

/// One selection a budget. All of them share the standardised columns and their products with the outputs.
pub(super) fn select_many(
    method: &'static str,
    data: &Dataset,
    l1_ratio: f64,
    options: &Lasso,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    if options.loss != LinearLoss::Squared {
        return penalised::select_many(method, data, l1_ratio, options, budgets, context);
    }
    budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
    let control =
        Control { tolerance: options.tolerance, max_iterations: MOST_ITERATIONS, ..Control::from(context) };
    control.check()?;
    let columns = LinearColumns::new(data, method, context)?;
    let outputs: Vec<_> =
        columns.outputs.iter().map(|products| Targeted::new(&columns, products.clone(), 1.0)).collect();
    let largest = columns.outputs.iter().flatten().fold(0.0_f64, |most, product| most.max(product.abs()));
    let largest_lambda = largest / l1_ratio;
    let problem = Problem { columns: &columns, outputs, l1_ratio, options, control, largest_lambda };
    let mut selections = Vec::with_capacity(budgets.len());
    for &budget in budgets {
        if !selections.is_empty() && context.stopped().is_some() {
            return Err(Error::Stopped { before: "features were selected for every budget" });
        }
        selections.push(problem.select(budget, data.n_features(), context)?);
    }
    Ok(selections)
}

impl Problem<'_> {
    fn select(&self, budget: Budget, n_features: usize, context: &Context<'_>) -> Result<Selection, Error> {
        let fit = match self.options.regularization {
            Regularization::Value(lambda) => self.along_grid(lambda)?,
            Regularization::Ratio(ratio) => self.along_grid(ratio * self.largest_lambda)?,
            _ => match budget.count(&["lambda", "lambda_ratio"])? {
                k if self.l1_ratio == 1.0 => self.along_path(k)?,
                k => self.by_bisection(k, context)?,
            },
        };
        let weights = self.columns.feature_scores(&fit.coefficients).into_iter().collect();
        let mut selection = Selection::by_weight(weights, n_features, budget, fit.report.status);
        selection.solver = Some(fit.report);
        selection.path = fit.path;
        selection.notes = fit.notes;
        let no_others = match self.options.regularization {
            Regularization::Value(_) => "a smaller `lambda` gives more features a coefficient",
            Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a coefficient",
            _ => "no others have a coefficient",
        };
        selection.note_missing_features(budget, no_others);
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// The solution at `lambda`, by way of larger penalties if more are wanted.
    fn along_grid(&self, lambda: f64) -> Result<Fit, Error> {
        // At the largest penalty and above there is nothing on the way.
        let before = if lambda < self.largest_lambda { self.options.lambda_path - 1 } else { 0 };
        let mut points = self.points(&[])?;
        let mut path = Path::default();
        for step in 0..before {
            // Evenly spaced in their logarithm.
            let share = 1.0 - step as f64 / before as f64;
            let penalty = lambda * (self.largest_lambda / lambda).powf(share);
            let fit = self.advance(&mut points, penalty, &self.control)?;
            self.describe(&fit, &mut path);
            if fit.report.status.is_stopped() {
                return Ok(Fit { path: Some(path), ..fit });
            }
        }
        if before == 0 {
            let rough = Control { tolerance: self.control.tolerance.max(ROUGH), ..self.control };
            let n = (self.largest_lambda / lambda).log(STRIDE) as i32;
            for i in (1..=n).rev() {
                self.advance(&mut points, lambda * STRIDE.powi(i), &rough)?;
            }
        }
        let fit = self.advance(&mut points, lambda, &self.control)?;
        self.describe(&fit, &mut path);
        Ok(Fit { path: (self.options.lambda_path > 1).then_some(path), ..fit })
    }

    /// Adds a fit to a path.
    fn describe(&self, fit: &Fit, path: &mut Path) {
        let coefficients: Vec<(usize, f64)> =
            self.columns.feature_scores(&fit.coefficients).into_iter().collect();
        for (feature, _) in &coefficients {
            if !path.entered.contains(feature) {
                path.entered.push(*feature);
            }
        }
        path.points.push(PathPoint { lambda: fit.report.lambda, coefficients });
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
        let penalty = L1::new(lambda * self.l1_ratio, self.columns.n_atoms())?;
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
        let nonzero = |found: &WorkingSetSolution| {
            let coefficients = found.solution.coefficients.iter().copied().enumerate();
            coefficients.filter(|(_, value)| *value != 0.0).collect()
        };
        let gaps: Vec<DualityGap> = found.iter().map(|found| found.certificate).collect();
        let report = SolverReport::new(
            solver.name(),
            Status::worst(found.iter().map(|found| found.solution.status)),
            found.iter().map(|found| found.solution.objective).sum(),
            Certificate::gap(mean(&gaps)),
        )
        .with_lambda(lambda)
        .with_iterations(found.iter().map(|found| found.solution.iterations as usize).sum());
        Ok(Fit { coefficients: found.iter().map(nonzero).collect(), report, path: None, notes: Vec::new() })
    }

    /// One entry a column.
    fn dense(&self, coefficients: &[(usize, f64)]) -> Vec<f64> {
        let mut dense = vec![0.0; self.columns.n_atoms()];
        for &(column, value) in coefficients {
            dense[column] = value;
        }
        dense
    }

    /// The last point of the exact path before more than `k` features are active.
    fn along_path(&self, k: usize) -> Result<Fit, Error> {
        let signed: Vec<Signed<_>> = self.outputs.iter().map(Signed::new).collect();
        let feature = |atom: usize| self.columns.feature(atom % self.columns.n_atoms());
        let merge = |point: &[Vec<(usize, f64)>]| -> Vec<Vec<(usize, f64)>> {
            signed.iter().zip(point).map(|(signed, own)| signed.merge(own)).collect()
        };
        let paths = paths::follow(&signed, k, &feature, &self.control)?;
        let mut path = Path::default();
        for point in &paths.points {
            if let Some((_, atom)) = point.joined {
                let feature = feature(atom);
                if !path.entered.contains(&feature) {
                    path.entered.push(feature);
                }
            }
            let coefficients = self.columns.feature_scores(&merge(&point.coefficients)).into_iter().collect();
            path.points.push(PathPoint { lambda: point.lambda, coefficients });
        }
        let mut tied: Vec<usize> = paths.tied.iter().map(|&(_, atom)| feature(atom)).collect();
        order::sort_indices(&mut tied);
        tied.dedup();
        let note =
            |feature: &usize| format!("feature {feature} depends linearly on chosen ones and was left out");
        let notes = tied.iter().map(note).collect();
        let (lambda, coefficients) = match paths.points.last() {
            Some(end) => (end.lambda, merge(&end.coefficients)),
            None => (0.0, vec![Vec::new(); self.outputs.len()]),
        };
        let fit = match self.options.solver.chosen() {
            Some(solver) if !solver.follows_path() && lambda > 0.0 && paths.status == Status::Converged => {
                self.at(lambda, &[])?
            }
            _ => {
                let report = self.certify(lambda, &coefficients, paths.status, paths.iterations)?;
                Fit { coefficients, report, path: None, notes: Vec::new() }
            }
        };
        Ok(Fit { path: Some(path), notes, ..fit })
    }

    /// The report on a point of the path, certified over all atoms.
    fn certify(
        &self,
        lambda: f64,
        coefficients: &[Vec<(usize, f64)>],
        status: Status,
        iterations: u64,
    ) -> Result<SolverReport, Error> {
        let size = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let certify = |output: usize| {
            let problem = &self.outputs[output];
            let dense = self.dense(&coefficients[output]);
            let correlations = certificate::correlations(problem, &dense)?;
            let (largest, sizes) = (size(problem.target_products()), correlations.iter().map(|v| v.abs()));
            let certified = certificate::certifiable_penalty(lambda, largest, sizes);
            let penalty = L1::new(certified, dense.len())?;
            Ok(certificate::certify(problem, &penalty, &dense, &correlations))
        };
        let found: Vec<DualityGap> = fewest_parallel::try_map(self.outputs.len(), certify)?;
        let duality_gap = mean(&found);
        let by_gap = Status::by_certificate(duality_gap, self.control.tolerance);
        Ok(SolverReport::new(
            "lars",
            Status::worst([status, by_gap]),
            found.iter().map(|certificate| certificate.objective).sum(),
            Certificate::gap(duality_gap),
        )
        .with_lambda(lambda)
        .with_iterations(iterations as usize))
    }

    /// The smallest `lambda` found to leave at most `k` features, as far down as solutions are easy.
    fn by_bisection(&self, k: usize, context: &Context<'_>) -> Result<Fit, Error> {
        let solve = |lambda: f64, before: Option<&Counted>| {
            let fit = self.at(lambda, before.map_or(&[][..], |before| &before.fit.coefficients[..]))?;
            let n_features = self.columns.feature_scores(&fit.coefficients).len();
            Ok(Counted { fit, n_features })
        };
        let (Counted { fit: mut best, .. }, stopped) =
            bisection::search(self.largest_lambda, SMALLEST_RATIO, k, context, solve)?;
        if let Some(status) = stopped {
            best.report.status = status;
        }
        Ok(best)
    }
}

/// Where the coefficients of an output are, one for each column.
enum Point<'a> {
    /// With the products of the way there, which hold for every penalty.
    Plain(Box<WorkingSet<'a>>),
    /// With a ridge, which changes with the penalty.
    Ridged(Vec<f64>),
}

/// The mean of the outputs' gaps relative to their objectives at zero, which are all ½: that of the whole.
fn mean(gaps: &[DualityGap]) -> f64 {
    gaps.iter().map(DualityGap::relative_gap).sum::<f64>() / gaps.len() as f64
}

/// A fit with its number of features.
struct Counted {
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
