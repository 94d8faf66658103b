//! Linear machines by dual coordinate descent, for samples of many features.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_core::derive_seed;
use fewest_solver::{Certificate, Control, Error, Solution, SolverState, Step, given};
use serde::{Deserialize, Serialize};

use crate::certificate::{self, downward, upward};
use crate::{DualProblem, KernelRows};

/// Computations of the gap without progress after which the run ends.
const PATIENCE: u32 = 10;

/// Samples as vectors, which need not be stored: the operations that a linear machine needs.
///
/// An implementation chooses what represents `w`, as long as products and sums agree: a
/// [`GramRows`](crate::GramRows) uses the products `Kβ` with its samples.
pub trait SampleRows: Sync {
    /// Number of samples.
    fn n_samples(&self) -> usize;
    /// Number of features.
    fn n_features(&self) -> usize;
    /// `‖x_i‖²`.
    fn squared_norm(&self, i: usize) -> f64;
    /// `⟨x_i, w⟩`.
    fn product(&self, i: usize, w: &[f64]) -> f64;
    /// `w += factor x_i`.
    fn add(&self, i: usize, factor: f64, w: &mut [f64]);
}

/// The linear kernel `⟨x_i, x_j⟩` of samples.
pub struct LinearKernel<'a>(pub &'a dyn SampleRows);

impl KernelRows for LinearKernel<'_> {
    fn len(&self) -> usize {
        self.0.n_samples()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.0.squared_norm(i)
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        let mut x = vec![0.0; self.0.n_features()];
        self.0.add(i, 1.0, &mut x);
        for (j, value) in out.iter_mut().enumerate() {
            *value = self.0.product(j, &x);
        }
    }
}

/// A [`DualProblem`] with the [`LinearKernel`] of `samples` and **without** the condition `Σ β = Δ`: the dual
/// of a machine `f(x) = ⟨w, x⟩`. For a bias give the samples a feature that is constant; it is then
/// regularised like the others.
#[derive(Clone, Copy)]
pub struct LinearProblem<'a> {
    dual: &'a DualProblem<'a>,
    samples: &'a dyn SampleRows,
}

impl<'a> LinearProblem<'a> {
    /// `dual`, the problem of a [`Classifier`](crate::Classifier) or [`Regressor`](crate::Regressor) with the
    /// linear kernel of `samples`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless both have the same samples; [`Error::InvalidParameter`] for an
    /// infinite bound without a ridge.
    pub fn new(dual: &'a DualProblem<'a>, samples: &'a dyn SampleRows) -> Result<Self, Error> {
        let (expected, found) = (dual.n_variables(), samples.n_samples());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "samples", expected, found });
        }
        dual.check_bounds()?;
        Ok(Self { dual, samples })
    }

    /// `w = Σ_i β_i x_i`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub fn weights(&self, coefficients: &[f64]) -> Result<Vec<f64>, Error> {
        let (expected, found) = (self.dual.n_variables(), coefficients.len());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "coefficients", expected, found });
        }
        let mut w = vec![0.0; self.samples.n_features()];
        for (i, &value) in coefficients.iter().enumerate() {
            if value != 0.0 {
                self.samples.add(i, value, &mut w);
            }
        }
        Ok(w)
    }

    /// `e_i = t_i − ⟨w, x_i⟩ − r_i β_i`.
    fn error(&self, i: usize, value: f64, w: &[f64]) -> f64 {
        self.dual.targets[i] - self.samples.product(i, w) - self.dual.ridges[i] * value
    }

    /// The minimised objective and the absolute duality gap of `coefficients`, from the definition.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::Numerical`] for samples that are not finite.
    pub fn certify(&self, coefficients: &[f64]) -> Result<(f64, f64), Error> {
        let w = self.weights(coefficients)?;
        let (mut objective, mut gap) = (0.0, 0.0);
        for (i, &value) in coefficients.iter().enumerate() {
            let dual = self.dual;
            let error = self.error(i, value, &w);
            // ½ ‖w‖² + ½ Σ r_i β_i² − tᵀβ = −½ Σ β_i (t_i + e_i)
            objective += dual.absolute_weights[i] * value.abs() - 0.5 * value * (dual.targets[i] + error);
            gap += certificate::gap(dual, i, value, error);
        }
        if !(objective.is_finite() && gap.is_finite()) {
            let hint = "the samples must be finite, and their squares must not overflow".to_owned();
            return Err(Error::Numerical { what: "the objective of a linear machine", hint });
        }
        Ok((objective, gap))
    }
}

/// Dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008; for regression Ho and Lin
/// 2012), an argmin [`Solver`] of a [`LinearProblem`].
///
/// An iteration is a pass over the variables not set aside in random order, each moved to its minimum: one
/// product with `w` and one update of `w` per variable, for any number of samples. A variable at a bound
/// or breakpoint is set aside when its gradient there is larger than any violation of the last pass.
///
/// With a [relaxation](Self::relaxation) `ω` other than 1 this is successive over-relaxation (Mangasarian and
/// Musicant 1999): a variable goes `ω` times as far as to its minimum, `β_i ← [β_i + ω (β_i* − β_i)]`, cut to
/// its bounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DualCoordinateDescent {
    tolerance: f64,
    seed: u64,
    relaxation: f64,
    run: Passes,
}

/// The state of a run between iterations.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Passes {
    weights: Vec<f64>,
    active: Vec<usize>,
    n_passes: u64,
    /// The largest violation of the last pass: further inside than this a variable is set aside.
    worst: f64,
    /// The violation at which all variables return and the gap is computed.
    target: f64,
    best_gap: f64,
    without_progress: u32,
}

/// The outcome of [`DualCoordinateDescent::minimise`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSolution {
    /// `β`, objective and gap relative to the larger of the primal and the dual objective.
    pub solution: Solution,
    /// `w = Σ_i β_i x_i`.
    pub weights: Vec<f64>,
}

impl Default for DualCoordinateDescent {
    fn default() -> Self {
        Self { tolerance: 1e-6, seed: 0, relaxation: 1.0, run: Passes::default() }
    }
}

impl DualCoordinateDescent {
    /// The relative duality gap at which the solver stops of itself. Default 1e-6.
    /// [`minimise`](Self::minimise) takes it from its `control`.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The seed of the order of variables. Default 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The relaxation `ω`, above 0 and below 2: there the objective falls with every step. Default 1, exact
    /// minimisation in each variable.
    #[must_use]
    pub fn relaxation(mut self, relaxation: f64) -> Self {
        self.relaxation = relaxation;
        self
    }

    /// Minimises from `start` (empty for zeros), cut to the bounds.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a start that is not finite, and for a
    /// tolerance or a relaxation out of range; [`Error::Numerical`] for samples that are not finite.
    pub fn minimise(
        &self,
        problem: &LinearProblem<'_>,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<LinearSolution, Error> {
        let mut solver = self.clone().tolerance(control.tolerance);
        let mut solution = fewest_solver::run(problem, &mut solver, start.to_vec(), control)?;
        let (objective, gap) = problem.certify(&solution.coefficients)?;
        solution.objective = objective;
        solution.certificate = Certificate::gap(certificate::relative(gap, objective));
        let weights = problem.weights(&solution.coefficients)?;
        Ok(LinearSolution { solution, weights })
    }
}

impl Passes {
    /// One pass; returns the largest violation found.
    fn pass(
        &mut self,
        problem: &LinearProblem<'_>,
        coefficients: &mut [f64],
        seed: u64,
        relaxation: f64,
    ) -> f64 {
        let dual = problem.dual;
        self.n_passes += 1;
        let seed = derive_seed(seed, self.n_passes);
        for k in (1..self.active.len()).rev() {
            let other = derive_seed(seed, k as u64) % (k as u64 + 1);
            self.active.swap(k, other as usize);
        }
        let (mut worst, mut kept) = (0.0_f64, 0);
        for k in 0..self.active.len() {
            let i = self.active[k];
            let value = coefficients[i];
            let error = problem.error(i, value, &self.weights);
            let (gain, loss) = (error + upward(dual, i, value), error + downward(dual, i, value));
            if gain < -self.worst && loss > self.worst {
                continue;
            }
            self.active[kept] = i;
            kept += 1;
            let violation = gain.max(-loss);
            if violation <= 0.0 {
                continue;
            }
            worst = worst.max(violation);
            let curvature = problem.samples.squared_norm(i) + dual.ridges[i];
            // The minimum of ½ curvature β² − v β + ε |β| on [l, u].
            let v = error + curvature * value;
            let beyond = v - v.clamp(-dual.absolute_weights[i], dual.absolute_weights[i]);
            let best = if curvature > 0.0 {
                let best = beyond / curvature;
                let relaxed = best + (relaxation - 1.0) * (best - value);
                // After a breakpoint the objective has another slope and may rise.
                if dual.absolute_weights[i] > 0.0 && relaxed * best <= 0.0 { 0.0 } else { relaxed }
            } else {
                beyond * f64::INFINITY
            };
            let best = if best.is_nan() { 0.0 } else { best }.clamp(dual.lower[i], dual.upper[i]);
            if best != value {
                problem.samples.add(i, best - value, &mut self.weights);
                coefficients[i] = best;
            }
        }
        self.active.truncate(kept);
        self.worst = if worst > 0.0 { worst } else { f64::MAX };
        worst
    }
}

impl Solver<&LinearProblem<'_>, SolverState> for DualCoordinateDescent {
    fn name(&self) -> &str {
        "dual-cd"
    }

    fn init(&mut self, problem: &mut Problem<&LinearProblem<'_>>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        if !(self.relaxation > 0.0 && self.relaxation < 2.0) {
            return Err(Error::parameter("relaxation", self.relaxation, "above 0 and below 2").into());
        }
        let dual = problem.dual;
        let coefficients = dual.within_bounds(&state.coefficients)?;
        let (objective, gap) = problem.certify(&coefficients)?;
        state.objective = objective;
        state.certificate = Certificate::gap(certificate::relative(gap, objective));
        self.run = Passes {
            weights: problem.weights(&coefficients)?,
            active: (0..dual.n_variables()).collect(),
            worst: f64::MAX,
            target: f64::MAX,
            best_gap: f64::MAX,
            ..Passes::default()
        };
        state.coefficients = coefficients;
        Ok((state, None))
    }

    fn next_iter(&mut self, problem: &mut Problem<&LinearProblem<'_>>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        let run = &mut self.run;
        let worst = run.pass(problem, &mut state.coefficients, self.seed, self.relaxation);
        let (first, n_active) = (run.target == f64::MAX, run.active.len());
        if first {
            run.target = 0.1 * worst;
        }
        if worst <= run.target {
            // Computed again, since rounding adds up in the weights.
            run.weights = problem.weights(&state.coefficients)?;
            run.active = (0..problem.dual.n_variables()).collect();
            run.worst = f64::MAX;
            let (objective, gap) = problem.certify(&state.coefficients)?;
            let gap = certificate::relative(gap, objective);
            run.without_progress = if gap < 0.9 * run.best_gap { 0 } else { run.without_progress + 1 };
            run.best_gap = run.best_gap.min(gap);
            run.target *= (0.5 * self.tolerance / gap).clamp(0.1, 0.5);
            state.objective = objective;
            state.certificate = Certificate::gap(gap);
            state.stalled = gap > self.tolerance && run.without_progress >= PATIENCE;
        }
        let mut observed = KV::new();
        observed.insert("duality_gap", state.certificate.value().into());
        observed.insert("violation", worst.into());
        observed.insert("active", (n_active as u64).into());
        Ok((state, Some(observed)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}
