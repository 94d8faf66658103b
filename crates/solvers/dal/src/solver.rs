//! The outer iterations.

use argmin::core::{Problem, Solver, TerminationStatus};
use argmin::kv;
use fewest_linalg::dot;
use fewest_solver::certificate::relative;
use fewest_solver::{
    Certificate, Control, DualDatafit, Error, LinearOperator, Penalty, Solution, SolverState, Step, run,
};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::PenalisedLoss;
use crate::columns::{Columns, norm};
use crate::inner::{Inner, InnerSolution};
use crate::polish;

/// Largest proximal step, in units of the steepest-descent step: above it, the rounding error of `Aᵀα`,
/// multiplied by the step, would make the coefficients inaccurate.
const LARGEST_STEP: f64 = 1e12;
/// Newton steps on the coefficients after each outer iteration, while each divides the gap by ten.
const MOST_POLISHING_STEPS: usize = 4;
/// Times such a step may be halved.
const MOST_POLISHING_HALVINGS: usize = 6;
/// Outer iterations without progress after which the solver has stalled.
const PATIENCE: u32 = 5;
/// Rounding error of the objective relative to its value, besides that of `Aw`.
const OBJECTIVE_ROUNDING: f64 = 1e-14;

/// The dual augmented Lagrangian method; see the [crate's page](crate) for the formulas.
///
/// One argmin iteration is one outer iteration. On a bare argmin executor it runs until rounding allows no
/// more or the iterations are used up; [`solve`](Self::solve) and [`fewest_solver::run`] add the
/// tolerance, the time limit and the rest of [`Control`].
///
/// It is also its own working memory, so a checkpoint that holds it and the state continues bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DualAugmentedLagrangian {
    initial_step: f64,
    growth: f64,
    progress: Progress,
    #[serde(skip)]
    columns: Columns,
}

/// The state between outer iterations, except the coefficients.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Progress {
    /// The unit of steps: that of steepest descent at the start.
    unit: f64,
    /// `‖Ag‖ / ‖g‖` for the gradient `g` at the start.
    operator_norm: f64,
    /// `η` of the next outer iteration.
    eta: f64,
    /// The largest value it may have.
    largest_eta: f64,
    objective_at_zero: f64,
    /// `Aw`.
    fitted: Vec<f64>,
    /// `Aᵀα`, `α = −∇ℓ(Aw)`.
    correlations: Vec<f64>,
    /// The largest `t ≤ 1` for which `tα` is dual feasible.
    dual_scale: f64,
    /// A bound on the rounding error of the objective.
    rounding: f64,
    best_gap: f64,
    best_objective: f64,
    idle: u32,
}

/// Coefficients with everything the certificate needs.
struct Evaluated {
    coefficients: Vec<f64>,
    fitted: Vec<f64>,
    correlations: Vec<f64>,
    dual_scale: f64,
    dual_norm: f64,
    objective: f64,
    duality_gap: f64,
}

impl Default for DualAugmentedLagrangian {
    fn default() -> Self {
        Self { initial_step: 100.0, growth: 10.0, progress: Progress::default(), columns: Columns::default() }
    }
}

fn check_above(name: &'static str, value: f64, least: f64) -> Result<(), Error> {
    if value.is_finite() && value > least {
        Ok(())
    } else {
        Err(Error::parameter(name, value, format!("finite and above {least}")))
    }
}

impl DualAugmentedLagrangian {
    /// With the first proximal step `η₀`, in units of the step of steepest descent at the start (so that
    /// rescaling the problem changes nothing). Default 100; range above 0. Larger: fewer outer iterations,
    /// each with more Newton steps.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn with_initial_step(mut self, initial_step: f64) -> Result<Self, Error> {
        check_above("initial_step", initial_step, 0.0)?;
        self.initial_step = initial_step;
        Ok(self)
    }

    /// With `η` multiplied by `growth` after every outer iteration. Default 10; range above 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn with_growth(mut self, growth: f64) -> Result<Self, Error> {
        check_above("growth", growth, 1.0)?;
        self.growth = growth;
        Ok(self)
    }

    /// Minimises `ℓ(Aw) + Ω(w)` from `start`, to a relative duality gap of `control.tolerance`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when datafit, penalty and start disagree in size;
    /// [`Error::InvalidParameter`] for a start or a control out of range; [`Error::Unsupported`] for a
    /// penalty that is not a convex sum over blocks; [`Error::Numerical`] when values overflow at the start.
    pub fn solve<D: DualDatafit>(
        &self,
        datafit: &D,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let problem = PenalisedLoss::new(datafit, penalty)?;
        check_start(start, datafit.n_coefficients())?;
        run(problem, &mut self.clone(), start.to_vec(), control)
    }

    /// Computes objective and certificate of `coefficients`: one pass over the operator.
    fn evaluate<D: DualDatafit>(
        &self,
        problem: PenalisedLoss<'_, D>,
        coefficients: Vec<f64>,
        fitted: Vec<f64>,
    ) -> Evaluated {
        let (datafit, penalty) = (problem.datafit(), problem.penalty());
        let mut dual = vec![0.0; fitted.len()];
        datafit.dual_point(&fitted, &mut dual);
        let mut correlations = vec![0.0; coefficients.len()];
        datafit.operator().apply_transpose(&dual, &mut correlations);
        let (dual_scale, conjugate) = penalty.dual_point(&coefficients, &correlations);
        let value = penalty.value(&coefficients);
        let scaled: Vec<f64> = correlations.iter().map(|v| dual_scale * v).collect();
        let gap = datafit.loss_gap(&fitted, dual_scale) + value + conjugate - dot(&coefficients, &scaled);
        let objective = datafit.loss(&fitted) + value;
        Evaluated {
            duality_gap: relative(gap, self.progress.objective_at_zero),
            coefficients,
            fitted,
            correlations,
            dual_scale,
            dual_norm: norm(&dual),
            objective,
        }
    }

    fn store(&mut self, state: &mut SolverState, evaluated: Evaluated) {
        // Large coefficients that cancel in Aw lose digits: |αᵀ δ(Aw)| ≤ ε ‖α‖ ‖A‖ ‖w‖.
        let cancelled = evaluated.dual_norm * self.progress.operator_norm * norm(&evaluated.coefficients);
        self.progress.rounding = OBJECTIVE_ROUNDING * evaluated.objective.abs() + f64::EPSILON * cancelled;
        state.coefficients = evaluated.coefficients;
        state.objective = evaluated.objective;
        state.certificate = Certificate::gap(evaluated.duality_gap);
        self.progress.fitted = evaluated.fitted;
        self.progress.correlations = evaluated.correlations;
        self.progress.dual_scale = evaluated.dual_scale;
    }

    /// Takes `candidate` if it is better than what `state` holds: never a higher objective (but for
    /// rounding), and a lower one or a smaller gap.
    fn accept(&mut self, state: &mut SolverState, candidate: Evaluated) -> bool {
        let rounding = self.progress.rounding;
        let no_worse = candidate.objective <= state.objective + rounding;
        let lower = candidate.objective < state.objective - rounding;
        let better = no_worse
            && candidate.duality_gap.is_finite()
            && (lower || candidate.duality_gap < state.certificate.value());
        if better {
            self.store(state, candidate);
        }
        better
    }

    /// The inner problem from the dual point of the current coefficients, scaled to feasibility.
    fn solve_inner<D: DualDatafit>(
        &mut self,
        problem: PenalisedLoss<'_, D>,
        center: &[f64],
    ) -> InnerSolution {
        // A feasible start leaves the coefficients that are zero inactive. A scale near 0 would put the
        // logistic loss on the boundary of its dual domain.
        let scale = self.progress.dual_scale.max(0.5);
        let mut dual = vec![0.0; self.progress.fitted.len()];
        problem.datafit().dual_point(&self.progress.fitted, &mut dual);
        for value in &mut dual {
            *value *= scale;
        }
        let correlations = self.progress.correlations.iter().map(|v| scale * v).collect();
        let inner =
            Inner { datafit: problem.datafit(), penalty: problem.penalty(), center, eta: self.progress.eta };
        inner.minimise(&mut self.columns, dual, correlations)
    }

    /// Newton steps on the coefficients while they help.
    fn polish<D: DualDatafit>(&mut self, problem: PenalisedLoss<'_, D>, state: &mut SolverState) {
        let operator = problem.datafit().operator();
        for _ in 0..MOST_POLISHING_STEPS {
            let gap = state.certificate.value();
            let curvature = loss_curvature(problem.datafit(), &self.progress.fitted);
            let tau =
                polish::step_length(self.progress.unit, &state.coefficients, &self.progress.correlations);
            let columns = &mut self.columns;
            let hessian = |rows: &[usize], all: &[usize]| {
                if !Columns::fit(curvature.len(), all.len()) {
                    return Vec::new();
                }
                columns.load(operator, all);
                weighted_gram(columns, rows, all, &curvature)
            };
            let step = polish::newton_step(
                problem.penalty(),
                &state.coefficients,
                &self.progress.correlations,
                tau,
                hessian,
            );
            let Some(target) = step else { break };
            let Some((coefficients, fitted)) = self.damp(problem, state, &target) else { break };
            let candidate = self.evaluate(problem, coefficients, fitted);
            if !self.accept(state, candidate) || state.certificate.value() > 0.1 * gap {
                break;
            }
        }
    }

    /// The first point at 1, ½, ¼, … of the way to `target` whose objective is not higher, with its `Aw`.
    /// No pass over the operator while its columns are held.
    fn damp<D: DualDatafit>(
        &mut self,
        problem: PenalisedLoss<'_, D>,
        state: &SolverState,
        target: &[f64],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let highest = state.objective + self.progress.rounding;
        let mut share = 1.0;
        for _ in 0..MOST_POLISHING_HALVINGS {
            let mut coefficients: Vec<f64> =
                state.coefficients.iter().zip(target).map(|(w, t)| w + share * (t - w)).collect();
            if share == 1.0 {
                coefficients.copy_from_slice(target);
            }
            problem.penalty().prox(&mut coefficients, 0.0);
            let fitted = self.columns.apply(problem.datafit().operator(), &coefficients);
            let objective = problem.datafit().loss(&fitted) + problem.penalty().value(&coefficients);
            if objective <= highest {
                return Some((coefficients, fitted));
            }
            share *= 0.5;
        }
        None
    }
}

/// `ℓ''` at every row.
fn loss_curvature<D: DualDatafit>(datafit: &D, fitted: &[f64]) -> Vec<f64> {
    let mut dual = vec![0.0; fitted.len()];
    datafit.dual_point(fitted, &mut dual);
    let mut curvature = vec![0.0; fitted.len()];
    datafit.conjugate_curvature(&dual, &mut curvature);
    curvature.iter_mut().for_each(|value| *value = value.recip());
    curvature
}

/// `A_rowsᵀ diag(weights) A_columns`, column after column.
fn weighted_gram(columns: &Columns, rows: &[usize], all: &[usize], weights: &[f64]) -> Vec<f64> {
    let n = weights.len();
    let right = DMatrix::from_iterator(n, all.len(), all.iter().flat_map(|&j| columns.column(j)).copied());
    let left = DMatrix::from_fn(rows.len(), n, |i, k| columns.column(rows[i])[k] * weights[k]);
    (left * right).as_slice().to_vec()
}

fn check_start(start: &[f64], n: usize) -> Result<(), Error> {
    if start.len() != n {
        return Err(Error::ShapeMismatch { what: "starting coefficients", expected: n, found: start.len() });
    }
    match start.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Error::parameter("start", value, "finite in every coefficient")),
        None => Ok(()),
    }
}

fn overflow() -> Error {
    Error::Numerical {
        what: "the loss or its gradient at the start",
        hint: "rescale the columns and the observations so that squares neither overflow nor vanish"
            .to_owned(),
    }
}

impl<D: DualDatafit> Solver<PenalisedLoss<'_, D>, SolverState> for DualAugmentedLagrangian {
    fn name(&self) -> &str {
        "dal"
    }

    fn init(&mut self, problem: &mut Problem<PenalisedLoss<'_, D>>, mut state: SolverState) -> Step {
        let problem = problem.problem("init_count", |problem| Ok(*problem))?;
        let (datafit, penalty) = (problem.datafit(), problem.penalty());
        let operator = datafit.operator();
        let (n_rows, n) = (operator.n_rows(), operator.n_columns());
        check_start(&state.coefficients, n)?;
        // A prox of step 0 puts the start where the penalty is finite.
        let mut start = std::mem::take(&mut state.coefficients);
        penalty.prox(&mut start, 0.0);

        self.columns = Columns::default();
        self.progress = Progress {
            objective_at_zero: datafit.loss(&vec![0.0; n_rows]) + penalty.value(&vec![0.0; n]),
            ..Progress::default()
        };
        let fitted = self.columns.apply(operator, &start);
        let evaluated = self.evaluate(problem, start, fitted);
        if !(evaluated.objective.is_finite() && evaluated.correlations.iter().all(|v| v.is_finite())) {
            return Err(overflow().into());
        }
        let mut image = vec![0.0; n_rows];
        operator.apply(&evaluated.correlations, &mut image);
        let operator_norm = norm(&image) / norm(&evaluated.correlations);
        self.progress.operator_norm = if operator_norm.is_finite() { operator_norm } else { 0.0 };
        // The step of steepest descent, were the curvature of the loss the largest everywhere.
        let unit = (datafit.largest_curvature() * operator_norm * operator_norm).recip();
        self.progress.unit = if unit.is_finite() && unit > 0.0 { unit } else { 1.0 };
        self.progress.eta = self.initial_step * self.progress.unit;
        self.progress.largest_eta = self.progress.eta.max(LARGEST_STEP * self.progress.unit);
        self.store(&mut state, evaluated);
        self.progress.best_gap = state.certificate.value();
        self.progress.best_objective = state.objective;
        Ok((state, None))
    }

    fn next_iter(&mut self, problem: &mut Problem<PenalisedLoss<'_, D>>, mut state: SolverState) -> Step {
        let problem = problem.problem("outer_count", |problem| Ok(*problem))?;
        let eta = self.progress.eta;
        let inner = self.solve_inner(problem, &state.coefficients);
        let candidate = self.evaluate(problem, inner.coefficients, inner.fitted);
        let accepted = self.accept(&mut state, candidate);
        self.polish(problem, &mut state);

        if inner.solved || accepted {
            self.progress.eta = (eta * self.growth).min(self.progress.largest_eta);
        } else {
            // The inner problem was too hard, or rounding reached its solution: stay below this step.
            self.progress.largest_eta = (eta / self.growth).max(f64::MIN_POSITIVE);
            self.progress.eta = self.progress.largest_eta;
        }

        let closer = state.certificate.value() < 0.9 * self.progress.best_gap;
        let lower = state.objective < self.progress.best_objective - 10.0 * self.progress.rounding;
        self.progress.best_gap = self.progress.best_gap.min(state.certificate.value());
        self.progress.best_objective = self.progress.best_objective.min(state.objective);
        self.progress.idle = if closer || lower { 0 } else { self.progress.idle + 1 };
        state.stalled = self.progress.idle >= PATIENCE;
        let non_zeros = state.coefficients.iter().filter(|w| **w != 0.0).count();
        let log = kv!(
            "proximal_step" => eta;
            "newton_steps" => inner.newton_steps as u64;
            "non_zeros" => non_zeros as u64;
        );
        Ok((state, Some(log)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(0.0)
    }
}
