//! From data to coefficients under a structured penalty: at a given penalty, or for a number of features.

use std::collections::BTreeMap;

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, SolverReport, Status, options, order,
};
use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::bisection::{self, PenaltyCandidate};
use fewest_solver::{
    BlockPenalty, Control, InnerProducts, Linked, QuadraticSolver, SignedEdge, Targeted, subspace,
    working_set,
};

use crate::columns::LinearColumns;

/// Most iterations of a solver, in its own unit.
const MOST_ITERATIONS: u64 = 1_000_000;

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

options! {
    /// The penalty's strength and how the problem is solved.
    #[derive(Debug, Clone)]
    pub struct Fitting {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The penalty of a strength.
type Family = Box<dyn Fn(f64) -> Result<Box<dyn BlockPenalty>, Error> + Sync>;

impl Structure {
    /// A penalty whose blocks are small.
    pub(super) fn by_blocks<P: BlockPenalty + 'static>(
        penalty: impl Fn(f64) -> Result<P, Error> + Sync + 'static,
    ) -> Self {
        let penalty = move |lambda: f64| Ok(Box::new(penalty(lambda)?) as Box<dyn BlockPenalty>);
        Self { penalty: Box::new(penalty), coupled: false, links: None }
    }

    /// A penalty of blocks of any size.
    pub(super) fn coupled<P: BlockPenalty + 'static>(
        penalty: impl Fn(f64) -> Result<P, Error> + Sync + 'static,
    ) -> Self {
        Self { coupled: true, ..Self::by_blocks(penalty) }
    }

    /// With squared differences of coefficients.
    pub(super) fn linked(self, level: f64, edges: Vec<SignedEdge>) -> Self {
        Self { links: Some((level, edges)), ..self }
    }
}

/// A penalty over the columns of a linear model.
pub(super) struct Structure {
    pub(super) penalty: Family,
    /// Whether the blocks of the penalty may be large, so that working sets are of coefficients.
    pub(super) coupled: bool,
    /// Edges whose squared differences are added, with this level for a penalty of 1.
    pub(super) links: Option<(f64, Vec<SignedEdge>)>,
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

struct Problem<'a> {
    columns: &'a LinearColumns<'a>,
    /// One problem an output: they share the penalty.
    outputs: Vec<Targeted<&'a LinearColumns<'a>>>,
    structure: Structure,
    fitting: &'a Fitting,
    control: Control<'a>,
    /// The smallest `lambda` that selects nothing.
    largest_lambda: f64,
}

/// A solution, output by output.
struct Fit {
    coefficients: Vec<Vec<f64>>,
    report: SolverReport,
    n_features: usize,
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
    budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
    let fitting = method.fitting();
    let control =
        Control { tolerance: fitting.tolerance, max_iterations: MOST_ITERATIONS, ..Control::from(context) };
    control.check()?;
    let columns = LinearColumns::new(data, S::ID, context)?;
    let structure = method.structure(data, &columns, context)?;
    let unit = (structure.penalty)(1.0)?;
    let outputs: Vec<_> =
        columns.outputs.iter().map(|products| Targeted::new(&columns, products.clone(), 1.0)).collect();
    let largest = |products: &Vec<f64>| unit.dual_norm(products);
    let largest_lambda = columns.outputs.iter().map(largest).fold(0.0, f64::max);
    let problem = Problem { columns: &columns, outputs, structure, fitting, control, largest_lambda };
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
        let fit = match self.fitting.regularization {
            Regularization::Value(lambda) => self.at(lambda, None)?,
            Regularization::Ratio(ratio) => self.at(ratio * self.largest_lambda, None)?,
            _ => self.by_bisection(budget.count(&["lambda", "lambda_ratio"])?, context)?,
        };
        let mut selection = self.ranked(&fit, n_features, budget);
        selection.solver = Some(fit.report);
        let no_others = match self.fitting.regularization {
            Regularization::Value(_) => "a smaller `lambda` gives more features a coefficient",
            Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a coefficient",
            _ => "no others have a coefficient",
        };
        selection.note_missing_features(budget, no_others);
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// The features with the largest scores. Of those that the penalty has given the same size, the one that
    /// is correlated most with the outputs comes first.
    fn ranked(&self, fit: &Fit, n_features: usize, budget: Budget) -> Selection {
        let weights = self.scores(&fit.coefficients).into_iter().collect();
        let (most, budget) = match budget {
            Budget::Count(k) => (k, Budget::Auto),
            other => (n_features, other),
        };
        let mut selection = Selection::by_weight(weights, n_features, budget, fit.report.status);
        let mut relevance = vec![0.0_f64; n_features];
        for products in &self.columns.outputs {
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

    /// The score of each feature with a coefficient: the coefficient, or the norm where there is one for each
    /// output or level, also if only one of them is not zero.
    fn scores(&self, coefficients: &[Vec<f64>]) -> BTreeMap<usize, f64> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for coefficients in coefficients {
            for (column, &value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                let score = scores.entry(self.columns.feature(column)).or_insert(0.0);
                let is_single = self.outputs.len() == 1 && !self.columns.is_level(column);
                *score = if is_single { value } else { score.hypot(value) };
            }
        }
        scores
    }

    /// The solution at `lambda`, from another or from zero.
    fn at(&self, lambda: f64, before: Option<&Fit>) -> Result<Fit, Error> {
        // Descent from block to block is slow where blocks are large; Newton steps in the dual have as many
        // unknowns as there are different coefficients.
        let (descent, dual) = (CoordinateDescent::default(), DualAugmentedLagrangian::default());
        let solver: &dyn QuadraticSolver = if self.structure.coupled { &dual } else { &descent };
        let penalty = (self.structure.penalty)(lambda)?;
        let zero = vec![0.0; penalty.n_coefficients()];
        let found = fewest_parallel::try_map(self.outputs.len(), |output| {
            let start = before.map_or(&zero, |before| &before.coefficients[output]);
            let mut problem: Box<dyn InnerProducts + Send + '_> = Box::new(&self.outputs[output]);
            if let Some((level, edges)) = &self.structure.links {
                problem = Box::new(Linked::new(problem, lambda * level, edges)?);
            }
            let solve = if self.structure.coupled { subspace::solve } else { working_set::solve };
            solve(&*problem, &*penalty, solver, start, &self.control)
        })?;
        let gaps: Vec<f64> = found.iter().map(|found| found.certificate.relative_gap()).collect();
        let report = SolverReport::new(
            solver.name(),
            Status::worst(found.iter().map(|found| found.solution.status)),
            found.iter().map(|found| found.solution.objective).sum(),
            // Each relative to an objective at zero of ½: the mean is that of the whole.
            Certificate::gap(gaps.iter().sum::<f64>() / gaps.len() as f64),
        )
        .with_lambda(lambda)
        .with_iterations(found.iter().map(|found| found.solution.iterations as usize).sum());
        let coefficients: Vec<Vec<f64>> =
            found.into_iter().map(|found| found.solution.coefficients).collect();
        let n_features = self.scores(&coefficients).len();
        Ok(Fit { coefficients, report, n_features })
    }

    /// The smallest `lambda` found to leave at most `k` features, as far down as solutions are easy.
    fn by_bisection(&self, k: usize, context: &Context<'_>) -> Result<Fit, Error> {
        let solve = |lambda: f64, before: Option<&Fit>| self.at(lambda, before);
        let (mut best, stopped) = bisection::search(self.largest_lambda, SMALLEST_RATIO, k, context, solve)?;
        if let Some(status) = stopped {
            best.report.status = status;
        }
        Ok(best)
    }
}
