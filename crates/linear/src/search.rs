//! From data to coefficients: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, PathPoint, Selection, SolverReport, Status, Target,
    order,
};
use fewest_solver::bisection::{self, PenaltyCandidate};
use fewest_solver::certificate::DualityGap;
use fewest_solver::working_set::{WorkingSet, WorkingSetSolution};
use fewest_solver::{
    Control, InnerProducts, L1, Projected, QuadraticSolver, Ridged, Scaled, Signed, Targeted, certificate,
    working_set,
};

use super::Lasso;
use super::adaptive::Adaptive;
use super::choice::{self, CrossValidation, FOLD_TOLERANCE, Ladder, Likelihood, Step, Visit};
use super::columns::{LinearColumns, MOST_BYTES};
use super::loss::{LinearLoss, with_counting_classes};
use super::penalised::{each_fit, opened, others_left_out};
use super::terms::{self, Terms};
use super::{paths, penalised};

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

/// A solution: by output, the coefficients that are not zero, by increasing column, and where they come from.
/// Coefficients of weighted columns are those of columns times their scale.
pub(super) struct Fit {
    pub(super) coefficients: Vec<Vec<(usize, f64)>>,
    pub(super) report: SolverReport,
    path: Option<Path>,
    notes: Vec<String>,
}

struct Problem<'a> {
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
        let data = &*terms::less_offset(self.method, &lasso, data)?;
        if lasso.loss != LinearLoss::Squared {
            return penalised::select_many(&Model { lasso: &lasso, ..*self }, data, budgets, context);
        }
        let control = opened(data, budgets, self.lasso.tolerance, context)?;
        let columns = self.columns(data, MOST_BYTES, context)?;
        let problem = Problem::new(self, data, &columns, control, context)?;
        let fit = |budget| problem.fit(budget, context);
        each_fit(self.lasso.regularization, budgets, context, fit, |fit, budget| {
            problem.selection(fit, budget, data.n_features())
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

impl<'a> Problem<'a> {
    fn new(
        model: &'a Model<'a>,
        data: &'a Dataset,
        columns: &'a LinearColumns<'a>,
        control: Control<'a>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let terms = Terms::of(model.lasso, columns)?;
        let mut scales = match model.adaptive {
            // Covariates are projected away.
            None if model.lasso.offset.is_empty() => Vec::new(),
            None => vec![vec![1.0; columns.n_atoms()]; columns.outputs.len()],
            Some(adaptive) => {
                let n = data.n_samples() as f64;
                let mut residuals: Vec<f64> = columns
                    .targets()
                    .iter()
                    .flat_map(|target| &target.values)
                    .map(|value| value / n)
                    .collect();
                residuals.chunks_exact_mut(data.n_samples()).for_each(|output| columns.weigh(output));
                adaptive.sizes(columns, &terms, &residuals, model.method, context)?
            }
        };
        for scales in &mut scales {
            terms.left_out.iter().for_each(|&column| scales[column] = 0.0);
        }
        let mut outputs: Vec<Box<dyn InnerProducts + Send>> = Vec::new();
        let factor = model.lasso.sign.factor();
        for (output, products) in columns.outputs.iter().enumerate() {
            let products = products.iter().map(|product| factor.unwrap_or(1.0) * product).collect();
            let plain = Targeted::new(columns, products, 1.0);
            let free: Box<dyn InnerProducts + Send> = match &terms.basis {
                None => Box::new(plain),
                Some(basis) => Box::new(Projected::new(plain, basis.kept.clone())?),
            };
            terms::check_left(free.target_squared_norm(), 1.0)?;
            outputs.push(match scales.get(output) {
                None => free,
                Some(scales) => Box::new(Scaled::new(free, scales.clone())?),
            });
        }
        let products = outputs.iter().flat_map(|output| output.target_products());
        let useful = |product: &f64| if factor.is_some() { *product } else { product.abs() };
        let largest = products.map(useful).fold(0.0_f64, f64::max);
        if factor == Some(-1.0) {
            if scales.is_empty() {
                scales = vec![vec![1.0; columns.n_atoms()]; outputs.len()];
            }
            scales.iter_mut().flatten().for_each(|scale| *scale = -*scale);
        }
        let (l1_ratio, options) = (model.l1_ratio, model.lasso);
        let largest_lambda = largest / l1_ratio;
        Ok(Self { model, data, columns, outputs, scales, terms, l1_ratio, options, control, largest_lambda })
    }
}

/// The lasso of each output by itself, with a penalty of its own: a share of its own largest one, or that at
/// the end of its own path to as many features as the budget. The answers, in the order of the outputs, share
/// the standardised columns.
pub(super) fn each_output(
    method: &'static str,
    data: &Dataset,
    columns: &LinearColumns<'_>,
    options: &Lasso,
    budget: Budget,
    control: Control<'_>,
    context: &Context<'_>,
) -> Result<Vec<Fit>, Error> {
    // Outputs are solved side by side, and progress is reported from one thread.
    let context = &Context { progress: None, ..*context };
    let control = Control { progress: None, ..control };
    let model = &Model { method, lasso: options, l1_ratio: 1.0, adaptive: None };
    fewest_parallel::try_map(columns.outputs.len(), |output| {
        let products = &columns.outputs[output];
        let largest_lambda = products.iter().fold(0.0_f64, |most, product| most.max(product.abs()));
        let outputs: Vec<Box<dyn InnerProducts + Send>> =
            vec![Box::new(Targeted::new(columns, products.clone(), 1.0))];
        let (scales, terms) = (Vec::new(), Terms::default());
        Problem {
            model,
            data,
            columns,
            outputs,
            scales,
            terms,
            l1_ratio: 1.0,
            options,
            control,
            largest_lambda,
        }
        .fit(budget, context)
    })
}

impl Problem<'_> {
    fn fit(&self, budget: Budget, context: &Context<'_>) -> Result<Fit, Error> {
        match self.options.regularization {
            Regularization::Value(lambda) => self.down_to(lambda),
            Regularization::Ratio(ratio) => self.down_to(ratio * self.largest_lambda),
            given if given.is_chosen_by_data() => self.by_data(given, context),
            _ => match budget.count(&["lambda", "lambda_ratio"])? {
                k if self.l1_ratio == 1.0 => self.along_path(k),
                k => self.by_bisection(k, context),
            },
        }
    }

    fn selection(&self, fit: &Fit, budget: Budget, n_features: usize) -> Result<Selection, Error> {
        let weights = self.scores(&fit.coefficients).into_iter().collect();
        let mut selection = Selection::by_weight(weights, n_features, budget, fit.report.status);
        selection.solver = Some(fit.report.clone());
        (selection.path, selection.notes) = (fit.path.clone(), fit.notes.clone());
        selection.note_missing_features(budget, others_left_out(self.options.regularization));
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// Coefficients of the columns, and the score of each feature with one.
    fn unscaled(&self, outputs: &[Vec<(usize, f64)>]) -> Vec<Vec<(usize, f64)>> {
        let scaled = |(own, scales): (&Vec<(usize, f64)>, &Vec<f64>)| -> Vec<(usize, f64)> {
            own.iter().map(|&(column, value)| (column, scales[column] * value)).collect()
        };
        if self.scales.is_empty() {
            return outputs.to_vec();
        }
        outputs.iter().zip(&self.scales).map(scaled).collect()
    }

    fn scores(&self, outputs: &[Vec<(usize, f64)>]) -> BTreeMap<usize, f64> {
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
        let rough = Control { tolerance: self.control.tolerance.max(ROUGH), ..self.control };
        let n = (self.largest_lambda / lambda).log(STRIDE) as i32;
        for i in (1..=n).rev() {
            self.advance(&mut points, lambda * STRIDE.powi(i), &rough)?;
        }
        self.advance(&mut points, lambda, &self.control)
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
        let nonzero = |found: &WorkingSetSolution| {
            let coefficients = found.solution.coefficients.iter().copied().enumerate();
            coefficients.filter(|(_, value)| *value != 0.0).collect()
        };
        let gaps: Vec<DualityGap> = found.iter().map(|found| found.certificate).collect();
        let report = SolverReport::new(
            solver.name(),
            Status::worst(found.iter().map(|found| found.solution.status)),
            found.iter().map(|found| found.solution.objective).sum(),
            Certificate::gap(of_all(&gaps)),
        )
        .with_lambda(lambda)
        .with_iterations(found.iter().map(|found| found.solution.iterations as usize).sum());
        Ok(Fit { coefficients: found.iter().map(nonzero).collect(), report, path: None, notes: Vec::new() })
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

    /// The last point of the exact path before more than `k` features are active.
    fn along_path(&self, k: usize) -> Result<Fit, Error> {
        let signed: Vec<Signed<_>> = self.outputs.iter().map(Signed::new).collect();
        let feature = |atom: usize| self.columns.feature(atom % self.columns.n_atoms());
        // The path is of coefficients of at least 0: with a constraint they are those of the columns.
        let merge = |point: &[Vec<(usize, f64)>]| -> Vec<Vec<(usize, f64)>> {
            match self.is_constrained() {
                true => point.to_vec(),
                false => signed.iter().zip(point).map(|(signed, own)| signed.merge(own)).collect(),
            }
        };
        let paths = match self.is_constrained() {
            true => paths::follow(&self.outputs, k, &feature, &self.control)?,
            false => paths::follow(&signed, k, &feature, &self.control)?,
        };
        let mut path = Path::default();
        for point in &paths.points {
            if let Some((_, atom)) = point.joined {
                let feature = feature(atom);
                if !path.entered.contains(&feature) {
                    path.entered.push(feature);
                }
            }
            let coefficients = self.scores(&merge(&point.coefficients)).into_iter().collect();
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
        let one = |value: &f64| if self.is_constrained() { value.max(0.0) } else { value.abs() };
        let size = |values: &[f64]| values.iter().map(one).fold(0.0_f64, f64::max);
        let certify = |output: usize| {
            let problem = &self.outputs[output];
            let dense = self.dense(&coefficients[output]);
            let correlations = certificate::correlations(problem, &dense)?;
            let (largest, sizes) = (size(problem.target_products()), correlations.iter().map(one));
            let certified = certificate::certifiable_penalty(lambda, largest, sizes);
            let penalty = self.l1(certified)?;
            Ok(certificate::certify(problem, &penalty, &dense, &correlations))
        };
        let found: Vec<DualityGap> = fewest_parallel::try_map(self.outputs.len(), certify)?;
        let duality_gap = of_all(&found);
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
            let n_features = self.scores(&fit.coefficients).len();
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
        for &lambda in lambdas {
            let fit = self.advance(&mut points, lambda, &self.control)?;
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

/// The gap of all outputs together, relative to their objective at zero.
fn of_all(gaps: &[DualityGap]) -> f64 {
    let sum = |of: fn(&DualityGap) -> f64| gaps.iter().map(of).sum::<f64>();
    certificate::relative(sum(|gap| gap.duality_gap.max(0.0)), sum(|gap| gap.objective_at_zero))
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
