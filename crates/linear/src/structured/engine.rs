//! From data to coefficients under a structured penalty: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, SolverReport, Status, options, order,
};
use fewest_dal::DualAugmentedLagrangian;
use fewest_newton::{LinearModel, Null, Start};
use fewest_solver::bisection::{self, PenaltyCandidate, Tried};
use fewest_solver::loss::{Loss, Samples, Separable, Squared};
use fewest_solver::{
    BlockPenalty, Control, Copied, Design, InnerProducts, Linked, Links, QuadraticSolver, Targeted,
    certificate, subspace, working_set,
};

use super::copied::CopiedColumns;
use super::structure::Structure;
use crate::LinearLoss;
use crate::columns::LinearColumns;
use crate::penalised::{each_fit, opened, others_left_out};

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// The losses of one output, with a gradient.
const LOSSES: &[&str] = &["squared", "logistic", "squared-hinge", "huber", "poisson", "cox"];

options! {
    /// Loss, the penalty's strength and how the problem is solved.
    ///
    /// With another loss than squared errors the first term of a method's formula is `1/n Σᵢ loss(yᵢ, zᵢ)`,
    /// with `z = X w + b`, as for [`Lasso`](crate::Lasso), solved by proximal Newton steps
    /// ([`fewest_newton`]). Every real output has a model of its own.
    #[derive(Debug, Clone)]
    pub struct Fitting {
        /// Loss of a fitted value.
        pub loss: LinearLoss = LinearLoss::Squared, OneOf(LOSSES);
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// A method: a penalty that follows from its options and the data.
pub(super) trait Structured {
    /// Its id.
    const ID: &'static str;

    fn fitting(&self) -> &Fitting;

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error>;
}

/// Implements [`Selector`](fewest_core::Selector) for a [`Structured`] method.
macro_rules! structured_selector {
    ($method:ty) => {
        impl fewest_core::Selector for $method {
            fn select(
                &self,
                data: &fewest_core::Dataset,
                budget: fewest_core::Budget,
                context: &fewest_core::Context<'_>,
            ) -> Result<fewest_core::Selection, fewest_core::Error> {
                fewest_core::Selection::only(self.select_many(data, &[budget], context)?)
            }

            /// Columns are standardised, and the structure is found, once for all budgets.
            fn select_many(
                &self,
                data: &fewest_core::Dataset,
                budgets: &[fewest_core::Budget],
                context: &fewest_core::Context<'_>,
            ) -> Result<Vec<fewest_core::Selection>, fewest_core::Error> {
                fewest_core::method::Options::check(self)?;
                $crate::structured::engine::select_many(self, data, budgets, context)
            }
        }
    };
}

pub(super) use structured_selector;

/// One problem an output: they share the penalty.
enum Outputs<'a> {
    Squared(Vec<Targeted<&'a LinearColumns<'a>>>),
    Other(Vec<Other>),
}

/// Another loss than squared errors.
struct Other {
    loss: Box<dyn Loss>,
    intercept: bool,
    /// Without any feature.
    null: Null,
}

struct Problem<'a> {
    columns: &'a LinearColumns<'a>,
    outputs: Outputs<'a>,
    structure: Structure,
    fitting: &'a Fitting,
    control: Control<'a>,
    /// The smallest `lambda` that selects nothing.
    largest_lambda: f64,
}

/// A solution, output by output.
#[derive(Clone)]
struct Fit {
    outputs: Vec<Start>,
    report: SolverReport,
    n_features: usize,
}

/// The solution of an output.
pub(super) struct Found {
    pub(super) point: Start,
    pub(super) status: Status,
    pub(super) objective: f64,
    pub(super) iterations: u64,
    pub(super) gap: f64,
    /// What the gap is relative to.
    pub(super) at_zero: f64,
    /// The negative gradient of the loss.
    pub(super) correlations: Vec<f64>,
}

impl PenaltyCandidate for Fit {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn status(&self) -> Status {
        self.report.status
    }
}

/// One selection a budget.
pub(super) fn select_many<S: Structured>(
    method: &S,
    data: &Dataset,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    let fitting = method.fitting();
    let control = opened(data, budgets, fitting.tolerance, context)?;
    let mut losses = match fitting.loss {
        LinearLoss::Squared => None,
        loss => Some(loss.of_each(S::ID, data.target(), context)?),
    };
    let columns = LinearColumns::new(data, S::ID, context)?;
    let structure = method.structure(data, &columns, context)?;
    // With more samples than columns inner products are the shorter.
    let is_wide = columns.n_atoms() > data.n_samples();
    if losses.is_none() && structure.by_residuals && is_wide {
        let outputs = columns.targets().iter().map(|target| {
            let loss = Separable::new(Squared, target.values.clone(), Samples::mean(data.n_samples()))?;
            Ok::<(Box<dyn Loss>, bool), Error>((Box::new(loss), false))
        });
        losses = Some(outputs.collect::<Result<_, _>>()?);
    }
    let outputs = match losses {
        None => {
            let of = |products: &Vec<f64>| Targeted::new(&columns, products.clone(), 1.0);
            Outputs::Squared(columns.outputs.iter().map(of).collect())
        }
        Some(losses) => {
            let mut others = Vec::with_capacity(losses.len());
            for (loss, intercept) in losses {
                let null = LinearModel { design: &columns, loss: &*loss, intercept }.null(&control)?;
                others.push(Other { loss, intercept, null });
            }
            Outputs::Other(others)
        }
    };
    let mut units = vec![(structure.penalty)(1.0)?];
    for start in structure.majorised.iter().flat_map(|majorised| &majorised.starts) {
        units.push(start(1.0)?);
    }
    let largest = |products: &[f64]| {
        let products = structure.of_coefficients(products);
        units.iter().map(|unit| unit.dual_norm(&products)).fold(0.0, f64::max)
    };
    // Of many outputs each takes its time.
    let at_zero: Vec<&[f64]> = outputs.at_zero().collect();
    let norms = fewest_parallel::try_map(at_zero.len(), |output| {
        context.go_on("the largest penalty was known")?;
        Ok::<f64, Error>(largest(at_zero[output]))
    })?;
    let largest_lambda = norms.into_iter().fold(0.0, f64::max);
    let problem = Problem { columns: &columns, outputs, structure, fitting, control, largest_lambda };
    let mut tried = Tried::new(budgets.len(), columns.n_atoms() * problem.outputs.len());
    let fit = |budget| problem.fit(budget, &mut tried, context);
    each_fit(fitting.regularization, budgets, context, fit, |fit, budget| {
        problem.selection(fit, budget, data.n_features())
    })
}

impl Outputs<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Squared(outputs) => outputs.len(),
            Self::Other(others) => others.len(),
        }
    }

    /// The correlations of every output at zero.
    fn at_zero(&self) -> Box<dyn Iterator<Item = &[f64]> + '_> {
        match self {
            Self::Squared(outputs) => Box::new(outputs.iter().map(InnerProducts::target_products)),
            Self::Other(others) => Box::new(others.iter().map(|other| &*other.null.correlations)),
        }
    }
}

impl Problem<'_> {
    fn fit(&self, budget: Budget, tried: &mut Tried<Fit>, context: &Context<'_>) -> Result<Fit, Error> {
        match self.fitting.regularization {
            Regularization::Value(lambda) => self.at(lambda, None),
            Regularization::Ratio(ratio) => self.at(ratio * self.largest_lambda, None),
            _ => self.by_bisection(budget.count(&["lambda", "lambda_ratio"])?, tried, context),
        }
    }

    fn selection(&self, fit: &Fit, budget: Budget, n_features: usize) -> Result<Selection, Error> {
        let mut selection = self.ranked(fit, n_features, budget);
        selection.solver = Some(fit.report.clone());
        selection.note_missing_features(budget, others_left_out(self.fitting.regularization));
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// The features with the largest scores. Of those that the penalty has given the same size, the one that
    /// is correlated most with the outputs comes first.
    fn ranked(&self, fit: &Fit, n_features: usize, budget: Budget) -> Selection {
        let weights = self.scores(&fit.outputs).into_iter().collect();
        let (most, budget) = match budget {
            Budget::Count(k) => (k, Budget::Auto),
            other => (n_features, other),
        };
        let mut selection = Selection::by_weight(weights, n_features, budget, fit.report.status);
        let mut relevance = vec![0.0_f64; n_features];
        for products in self.outputs.at_zero() {
            for (j, product) in self.columns.features().zip(products) {
                relevance[j] = relevance[j].hypot(*product);
            }
        }
        let mut ranked: Vec<(usize, f64)> =
            selection.order.iter().copied().zip(selection.scores.iter().copied()).collect();
        for tied in ranked.chunk_by_mut(|a, b| a.1.abs() == b.1.abs()).filter(|tied| tied.len() > 1) {
            let own: Vec<f64> = tied.iter().map(|(j, _)| relevance[*j]).collect();
            let sorted: Vec<(usize, f64)> = order::descending(&own).into_iter().map(|at| tied[at]).collect();
            tied.copy_from_slice(&sorted);
        }
        ranked.truncate(most);
        (selection.order, selection.scores) = ranked.into_iter().unzip();
        selection
    }

    /// The score of each feature with a coefficient.
    fn scores(&self, outputs: &[Start]) -> BTreeMap<usize, f64> {
        let n = self.columns.n_atoms();
        let sums = outputs.iter().map(|output| self.structure.of_columns(&output.coefficients, n));
        let of_columns = sums.flat_map(|sums| sums.into_owned().into_iter().enumerate());
        self.columns.scores(outputs.len() == 1, of_columns)
    }

    /// The solution at `lambda`, from another or from zero.
    fn at(&self, lambda: f64, before: Option<&Fit>) -> Result<Fit, Error> {
        // Descent from block to block is slow where blocks are large; Newton steps in the dual have as many
        // unknowns as there are different coefficients.
        let (descent, dual) = (CoordinateDescent::default(), DualAugmentedLagrangian::default());
        let solver: &dyn QuadraticSolver = if self.structure.coupled { &dual } else { &descent };
        let penalty = (self.structure.penalty)(lambda)?;
        let found: Vec<Found> = fewest_parallel::try_map(self.outputs.len(), |output| {
            let solve = |penalty: &dyn BlockPenalty, start: Option<&Start>, control: &Control<'_>| match &self
                .outputs
            {
                Outputs::Squared(outputs) => {
                    self.squares(&outputs[output], lambda, penalty, solver, start, control)
                }
                Outputs::Other(others) => {
                    self.other(&others[output], lambda, penalty, solver, start, control)
                }
            };
            match &self.structure.majorised {
                None => solve(&*penalty, before.map(|before| &before.outputs[output]), &self.control),
                // From zero: the end depends on the start, which should not depend on the search.
                Some(majorised) => majorised.minimise(lambda, &self.control, solve),
            }
        })?;
        let size: f64 = found.iter().map(|found| found.at_zero).sum();
        let gap: f64 = found.iter().map(|found| found.gap).sum();
        let gap = certificate::relative(gap, size);
        let is_convex = self.structure.majorised.is_none();
        let certificate = if is_convex { Certificate::gap(gap) } else { Certificate::stationarity(gap) };
        let is_squared = self.fitting.loss == LinearLoss::Squared;
        let name = if is_squared { solver.name() } else { "newton" };
        let report = SolverReport::new(
            name,
            Status::worst(found.iter().map(|found| found.status)),
            found.iter().map(|found| found.objective).sum(),
            certificate,
        )
        .with_lambda(lambda)
        .with_iterations(found.iter().map(|found| found.iterations as usize).sum());
        let outputs: Vec<Start> = found.into_iter().map(|found| found.point).collect();
        let n_features = self.scores(&outputs).len();
        Ok(Fit { outputs, report, n_features })
    }

    fn squares(
        &self,
        output: &Targeted<&LinearColumns<'_>>,
        lambda: f64,
        penalty: &dyn BlockPenalty,
        solver: &dyn QuadraticSolver,
        start: Option<&Start>,
        control: &Control<'_>,
    ) -> Result<Found, Error> {
        let n = penalty.n_coefficients();
        let start = start.map_or_else(|| vec![0.0; n], |start| start.coefficients.clone());
        let mut problem: Box<dyn InnerProducts + Send + '_> = Box::new(output);
        if let Some((level, edges)) = &self.structure.links {
            problem = Box::new(Linked::new(problem, lambda * level, edges)?);
        }
        if let Some(copies) = &self.structure.copies {
            problem = Box::new(Copied::new(problem, copies.clone())?);
        }
        let solve = if self.structure.coupled { subspace::solve } else { working_set::solve };
        let found = solve(&*problem, penalty, solver, &start, control)?;
        Ok(Found {
            point: Start { coefficients: found.solution.coefficients, intercepts: Vec::new() },
            status: found.solution.status,
            objective: found.solution.objective,
            iterations: found.solution.iterations,
            gap: found.certificate.duality_gap,
            at_zero: found.certificate.objective_at_zero,
            correlations: found.correlations,
        })
    }

    fn other(
        &self,
        Other { loss, intercept, null }: &Other,
        lambda: f64,
        penalty: &dyn BlockPenalty,
        solver: &dyn QuadraticSolver,
        start: Option<&Start>,
        control: &Control<'_>,
    ) -> Result<Found, Error> {
        let copied = self.structure.copies.as_ref().map(|copies| CopiedColumns::new(self.columns, copies));
        let design: &dyn Design = match &copied {
            Some(copied) => copied,
            None => self.columns,
        };
        let model = LinearModel { design, loss: &**loss, intercept: *intercept };
        let null = &Null {
            correlations: self.structure.of_coefficients(&null.correlations).into_owned(),
            ..null.clone()
        };
        // Progress is reported from one thread.
        let progress = self.control.progress.filter(|_| self.outputs.len() == 1);
        let control = Control { progress, ..*control };
        let links = match &self.structure.links {
            Some((level, edges)) => Some(Links::new(self.columns.n_atoms(), lambda * level, edges)?),
            None => None,
        };
        let found = model.minimise_linked(null, penalty, links.as_ref(), solver, start, &control)?;
        Ok(Found {
            status: found.solution.status,
            objective: found.solution.objective,
            iterations: found.solution.iterations,
            gap: found.solution.certificate.value() * null.objective,
            at_zero: null.objective,
            correlations: found.correlations,
            point: Start { coefficients: found.solution.coefficients, intercepts: found.intercepts },
        })
    }

    /// The smallest `lambda` found to leave at most `k` features, as far down as solutions are easy.
    fn by_bisection(&self, k: usize, tried: &mut Tried<Fit>, context: &Context<'_>) -> Result<Fit, Error> {
        let solve = |lambda: f64, before: Option<&Fit>| self.at(lambda, before);
        let (mut best, stopped) =
            bisection::search(self.largest_lambda, SMALLEST_RATIO, k, context, tried, solve)?;
        if let Some(status) = stopped {
            best.report.status = status;
        }
        Ok(best)
    }
}
