//! From data to coefficients: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_cd::CoordinateDescent;
use fewest_core::{Budget, Context, Dataset, Error, Path, PathPoint, Selection, SolverReport, Status};
use fewest_lars::{Event, PathOptions};
use fewest_solver::{Control, InnerProducts, L1, QuadraticSolver, Ridged, working_set};

use super::columns::LinearColumns;
use super::{Lasso, Strength};
use crate::SolverChoice;
use crate::bisection::{self, Solved};
use crate::signed::Signed;

/// Most iterations of a solver, in its own unit.
const MOST_ITERATIONS: u64 = 1_000_000;

/// The smallest `alpha` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// A solution: non-negative coefficients of signed atoms, and where they come from.
struct Fit {
    coefficients: Vec<(usize, f64)>,
    report: SolverReport,
    path: Option<Path>,
    notes: Vec<String>,
}

struct Problem<'a> {
    columns: &'a LinearColumns<'a>,
    signed: Signed<&'a LinearColumns<'a>>,
    l1_ratio: f64,
    options: &'a Lasso,
    control: Control<'a>,
    /// The smallest `alpha` that selects nothing.
    largest_alpha: f64,
}

pub(super) fn select(
    method: &'static str,
    data: &Dataset,
    l1_ratio: f64,
    options: &Lasso,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Selection, Error> {
    let d = data.n_features();
    budget.check(d)?;
    match options.strength {
        Strength::Alpha(alpha) if !(alpha.is_finite() && alpha > 0.0) => {
            return Err(Error::parameter("alpha", alpha, "finite and above 0"));
        }
        Strength::Ratio(ratio) if !(ratio > 0.0 && ratio <= 1.0) => {
            return Err(Error::parameter("lambda_ratio", ratio, "above 0 and at most 1"));
        }
        _ => {}
    }
    let control = Control {
        tolerance: options.tolerance,
        max_iterations: MOST_ITERATIONS,
        deadline: context.deadline,
        interrupt: context.interrupt,
        stop: None,
    };
    control.check()?;
    let columns = LinearColumns::new(data, method, context)?;
    let signed = Signed::new(&columns, &columns.outputs, columns.target_squared_norm());
    let largest = signed.target_products().iter().copied().fold(0.0, f64::max);
    let problem =
        Problem { columns: &columns, signed, l1_ratio, options, control, largest_alpha: largest / l1_ratio };
    let fit = match (options.strength, budget) {
        (Strength::Alpha(alpha), _) => problem.at(alpha, &[])?,
        (Strength::Ratio(ratio), _) => problem.at(ratio * problem.largest_alpha, &[])?,
        (Strength::Count, Budget::Count(k)) if l1_ratio == 1.0 => problem.along_path(k)?,
        (Strength::Count, Budget::Count(k)) => problem.by_bisection(k, context)?,
        (Strength::Count, _) => {
            let expected = "a number of features, unless alpha or lambda_ratio is given";
            return Err(Error::parameter("k", "not given", expected));
        }
    };
    let mut chosen: Vec<(usize, f64)> = problem.features(&fit.coefficients).into_iter().collect();
    chosen.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    match budget {
        Budget::Count(k) => chosen.truncate(k),
        Budget::Threshold(threshold) => chosen.retain(|(_, value)| value.abs() >= threshold),
        _ => {}
    }
    let (order, scores) = chosen.into_iter().unzip();
    let mut selection = Selection::new(order, scores, d, fit.report.status);
    selection.solver = Some(fit.report);
    selection.path = fit.path;
    selection.notes = fit.notes;
    if let (Budget::Count(k), Strength::Count) = (budget, options.strength)
        && selection.order.len() < k
    {
        let found = selection.order.len();
        selection.notes.push(format!("{found} of {k} features: no others have a coefficient"));
    }
    Ok(selection)
}

impl Problem<'_> {
    /// The score of each feature with a coefficient: the coefficient, or the norm of several.
    fn features(&self, coefficients: &[(usize, f64)]) -> BTreeMap<usize, f64> {
        let mut scores: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (column, _, value) in self.signed.merge(coefficients) {
            let entry = scores.entry(self.columns.feature(column)).or_insert((0.0, 0));
            *entry = (if entry.1 == 0 { value } else { entry.0.hypot(value) }, entry.1 + 1);
        }
        scores.into_iter().map(|(feature, (value, _))| (feature, value)).collect()
    }

    fn at(&self, alpha: f64, start: &[(usize, f64)]) -> Result<Fit, Error> {
        let lambda = alpha * self.l1_ratio;
        let penalty = L1::new(lambda, self.signed.n_atoms())?.nonnegative();
        let ridged = Ridged::new(&self.signed, alpha * (1.0 - self.l1_ratio))?;
        let automatic = CoordinateDescent::default();
        let solver: &dyn QuadraticSolver = match &self.options.solver {
            SolverChoice::Auto => &automatic,
            SolverChoice::Use(solver) => &**solver,
        };
        let mut dense = vec![0.0; self.signed.n_atoms()];
        for &(atom, value) in start {
            dense[atom] = value;
        }
        let found = working_set::solve(&ridged, &penalty, solver, &dense, &self.control)?.solution;
        let coefficients =
            found.coefficients.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect();
        let report = SolverReport {
            name: solver.name(),
            status: found.status,
            objective: found.objective,
            duality_gap: found.duality_gap,
            lambda: alpha,
            iterations: found.iterations as usize,
        };
        Ok(Fit { coefficients, report, path: None, notes: Vec::new() })
    }

    /// The last point of the exact path before more than `k` features are active.
    fn along_path(&self, k: usize) -> Result<Fit, Error> {
        let mut most_active = k;
        loop {
            let options = PathOptions { most_active, ..PathOptions::default() };
            let lasso = fewest_lars::path(&self.signed, &options, &self.control)?;
            let end = lasso.breakpoints.last();
            let (lambda, coefficients) =
                end.map_or((0.0, Vec::new()), |point| (point.lambda, point.coefficients.clone()));
            let found = self.features(&coefficients).len();
            // Several columns or outputs of one feature count once, so there may be room for more; at most one feature
            // comes with each.
            if found < k && lambda > 0.0 && lasso.status == Status::Converged {
                most_active += k - found;
                continue;
            }
            let mut path = Path::default();
            for point in &lasso.breakpoints {
                if let Event::Joined(atom) = point.event {
                    let feature = self.columns.feature(self.signed.inner_atom(atom));
                    if !path.entered.contains(&feature) {
                        path.entered.push(feature);
                    }
                }
                let coefficients = self.features(&point.coefficients).into_iter().collect();
                path.points.push(PathPoint { lambda: point.lambda, coefficients });
            }
            let name = |atom: usize| self.columns.feature(self.signed.inner_atom(atom));
            let notes = lasso
                .tied
                .iter()
                .map(|(atom, _)| {
                    format!("feature {} depends linearly on chosen ones and was left out", name(*atom))
                })
                .collect();
            let exact = SolverReport {
                name: "lars",
                status: lasso.status,
                objective: lasso.objective,
                duality_gap: lasso.duality_gap,
                lambda,
                iterations: lasso.iterations as usize,
            };
            let fit = match &self.options.solver {
                SolverChoice::Use(solver)
                    if solver.name() != "lars" && lambda > 0.0 && lasso.status == Status::Converged =>
                {
                    self.at(lambda, &[])?
                }
                _ => Fit { coefficients, report: exact, path: None, notes: Vec::new() },
            };
            return Ok(Fit { path: Some(path), notes, ..fit });
        }
    }

    /// The smallest `alpha` found to leave at most `k` features, as far down as solutions are easy.
    fn by_bisection(&self, k: usize, context: &Context<'_>) -> Result<Fit, Error> {
        let solve = |alpha: f64, before: Option<&(Fit, usize)>| {
            let fit = self.at(alpha, before.map_or(&[], |(fit, _)| &fit.coefficients))?;
            let n_features = self.features(&fit.coefficients).len();
            Ok((fit, n_features))
        };
        let ((mut best, _), stopped) =
            bisection::search(self.largest_alpha, SMALLEST_RATIO, k, context, solve)?;
        if let Some(status) = stopped {
            best.report.status = status;
        }
        Ok(best)
    }
}

/// With the number of features.
impl Solved for (Fit, usize) {
    fn n_features(&self) -> usize {
        self.1
    }

    fn status(&self) -> Status {
        self.0.report.status
    }
}
