//! The argmin solver.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_solver::certificate;
use fewest_solver::{Certificate, Composite, Datafit, Error, Penalty, SolverState, Step, given};
use serde::{Deserialize, Serialize};

use crate::step::{Metric, Origin, Trial, spectral_step};

/// Steps in an iteration.
const STEPS: usize = 10;

/// Iterations without progress after which the solver gives up.
const PATIENCE: u32 = 300;

/// Proximal gradient descent for `f(w) + Ω(w)`, an argmin [`Solver`](argmin::core::Solver) over
/// [`Composite`] with any [`Datafit`].
///
/// An iteration is ten steps and the certificate. The solver holds numbers only and can be written to a
/// checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProximalGradient {
    tolerance: f64,
    accelerated: bool,
    pub(crate) block_scales: Vec<f64>,
    progress: Progress,
}

/// The state of a run between iterations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Progress {
    /// The length of the next step.
    step: f64,
    /// `f` and its gradient at the current point.
    value: f64,
    gradient: Vec<f64>,
    /// The point before the current one, from which the momentum is computed.
    previous: Vec<f64>,
    /// `t` of Beck and Teboulle; 1 without momentum.
    momentum: f64,
    /// `f + Ω` and the largest entry of `∇f` at zero, to which certificates are relative.
    objective_at_zero: f64,
    gradient_at_zero: f64,
    /// The smallest value of a certificate.
    best_value: f64,
    best_objective: f64,
    /// The objective at the last sign of progress.
    marked_objective: f64,
    without_progress: u32,
}

impl Default for ProximalGradient {
    fn default() -> Self {
        Self { tolerance: 1e-9, accelerated: true, block_scales: Vec::new(), progress: Progress::default() }
    }
}

impl ProximalGradient {
    /// The relative certificate at which the solver stops of itself, at least 0. Default 1e-9.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Whether steps carry momentum. Default true. Without, step lengths are those of Barzilai and Borwein
    /// under Armijo's rule: fewer evaluations per step, and `f` is evaluated inside the domain of `Ω` only.
    #[must_use]
    pub fn accelerated(mut self, accelerated: bool) -> Self {
        self.accelerated = accelerated;
        self
    }

    /// Positive factors of the step, one per block of the penalty; best in proportion to one over the
    /// curvature of the block. Default: empty, all equal, which is what a penalty without blocks needs.
    #[must_use]
    pub fn block_scales(mut self, scales: Vec<f64>) -> Self {
        self.block_scales = scales;
        self
    }

    fn check_scales(&self, penalty: &dyn Penalty) -> Result<(), Error> {
        let found = self.block_scales.len();
        if found == 0 {
            return Ok(());
        }
        let Some(blocks) = penalty.by_blocks() else {
            return Err(Error::Unsupported {
                method: "pgd",
                what: format!(
                    "step scales for the penalty {}, which is not a sum over blocks",
                    penalty.name()
                ),
                instead: "leave block_scales out".to_owned(),
            });
        };
        let n_blocks = blocks.blocks().n_blocks();
        if found != n_blocks {
            return Err(Error::ShapeMismatch {
                what: "step scales of the blocks",
                expected: n_blocks,
                found,
            });
        }
        match self.block_scales.iter().find(|scale| !(scale.is_finite() && **scale > 0.0)) {
            Some(scale) => Err(Error::parameter("block_scales", scale, "finite and above 0")),
            None => Ok(()),
        }
    }

    fn noise(&self, objective: f64) -> f64 {
        1e-15 * (objective.abs() + self.progress.objective_at_zero.abs())
    }

    /// One step without momentum; false when no step length does.
    fn plain_step<F: Datafit + ?Sized>(&mut self, composite: Composite<'_, F>, w: &mut Vec<f64>) -> bool {
        let metric = Metric::new(composite.penalty(), &self.block_scales);
        let Progress { step, value, gradient, .. } = &self.progress;
        let noise = self.noise(*value);
        let origin = Origin { composite, metric, point: w, gradient, value: *value, noise };
        let Some(Trial { point, step: used, .. }) = origin.armijo(*step) else { return false };
        let mut there = vec![0.0; point.len()];
        let value = composite.datafit().gradient(&point, &mut there);
        let change: Vec<f64> = point.iter().zip(w.iter()).map(|(new, old)| new - old).collect();
        let bend: Vec<f64> = there.iter().zip(gradient).map(|(new, old)| new - old).collect();
        let next = spectral_step(metric.inner(&change, &change), &change, &bend);
        self.progress.step = next.unwrap_or(used).clamp(1e-3 * used, 1e3 * used);
        self.progress.value = value;
        self.progress.gradient = there;
        *w = point;
        true
    }

    /// One step with momentum (Beck and Teboulle 2009); the momentum restarts when the objective would rise
    /// or the step turns back (O'Donoghue and Candès 2015); false when no step length does.
    fn accelerated_step<F: Datafit + ?Sized>(
        &mut self,
        composite: Composite<'_, F>,
        w: &mut Vec<f64>,
    ) -> bool {
        let metric = Metric::new(composite.penalty(), &self.block_scales);
        let datafit = composite.datafit();
        let objective = self.progress.best_objective;
        let noise = self.noise(objective);
        let momentum = 0.5 * (1.0 + (1.0 + 4.0 * self.progress.momentum.powi(2)).sqrt());
        let weight = (self.progress.momentum - 1.0) / momentum;
        let ahead: Vec<f64> =
            w.iter().zip(&self.progress.previous).map(|(new, old)| new + weight * (new - old)).collect();
        let gradient = &mut self.progress.gradient;
        let value = datafit.gradient(&ahead, gradient);
        let origin = Origin { composite, metric, point: &ahead, gradient, value, noise };
        let trial = origin.bounded(self.progress.step);
        let risen = trial.as_ref().is_none_or(|trial| trial.objective > objective + noise);
        if risen && weight > 0.0 {
            self.progress.momentum = 1.0;
            self.progress.step *= 2.0;
            return true;
        }
        let Some(trial) = trial else { return false };
        let change: Vec<f64> = trial.point.iter().zip(w.iter()).map(|(new, old)| new - old).collect();
        let back: Vec<f64> = ahead.iter().zip(&trial.point).map(|(y, x)| y - x).collect();
        self.progress.step = trial.step;
        if metric.inner(&back, &change) > 0.0 {
            self.progress.momentum = 1.0;
            self.progress.step *= 2.0;
        } else {
            self.progress.momentum = momentum;
        }
        self.progress.best_objective = objective.min(trial.objective);
        self.progress.previous = std::mem::replace(w, trial.point);
        true
    }

    /// The certificate of `w`, whose value and gradient are known; stored in the state.
    fn certified<F: Datafit + ?Sized>(
        &mut self,
        composite: Composite<'_, F>,
        w: Vec<f64>,
        broken: bool,
        mut state: SolverState,
    ) -> (SolverState, KV) {
        let penalty = composite.penalty();
        let progress = &mut self.progress;
        let objective = progress.value + penalty.value(&w);
        let violation = certificate::kkt_violation(penalty, &w, &progress.gradient, progress.step);
        let relative = |part, whole| certificate::relative(part, whole).min(f64::MAX);
        let (name, certificate) = match absolute_gap(composite, &w, objective, &progress.gradient) {
            Some(gap) => ("duality_gap", Certificate::gap(relative(gap, progress.objective_at_zero))),
            None => {
                let relative = relative(violation, progress.gradient_at_zero);
                ("stationarity", Certificate::stationarity(relative))
            }
        };
        let value = certificate.value();
        let fallen = progress.marked_objective - objective > 1e-15 * progress.objective_at_zero.abs();
        if fallen {
            progress.marked_objective = objective;
        }
        progress.without_progress =
            if value < 0.99 * progress.best_value || fallen { 0 } else { progress.without_progress + 1 };
        progress.best_value = progress.best_value.min(value);
        let mut observed = KV::new();
        observed.insert(name, value.into());
        observed.insert("optimality_violation", violation.into());
        observed.insert("step", progress.step.into());
        state.coefficients = w;
        state.objective = objective;
        state.certificate = certificate;
        state.stalled = broken || progress.without_progress >= PATIENCE;
        (state, observed)
    }
}

/// `P(w) − D`, or none where the penalty is not a convex sum over blocks, the datafit has no dual, or the
/// point gives no dual point.
fn absolute_gap<F: Datafit + ?Sized>(
    composite: Composite<'_, F>,
    w: &[f64],
    objective: f64,
    gradient: &[f64],
) -> Option<f64> {
    let penalty = composite.penalty().by_blocks().filter(|penalty| penalty.is_convex())?;
    let correlations: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let (scale, conjugate) = penalty.dual_point(w, &correlations);
    let dual = composite.datafit().dual_value(w, scale) - conjugate;
    (scale > 0.0 && dual.is_finite()).then_some(objective - dual)
}

impl<F: Datafit + ?Sized> Solver<Composite<'_, F>, SolverState> for ProximalGradient {
    fn name(&self) -> &str {
        "pgd"
    }

    fn init(&mut self, problem: &mut Problem<Composite<'_, F>>, mut state: SolverState) -> Step {
        let composite = given(problem)?;
        let (datafit, penalty) = (composite.datafit(), composite.penalty());
        self.check_scales(penalty)?;
        let w = composite.feasible_start(std::mem::take(&mut state.coefficients))?;
        let mut gradient = vec![0.0; w.len()];
        let zero = vec![0.0; w.len()];
        let objective_at_zero = datafit.gradient(&zero, &mut gradient) + penalty.value(&zero);
        let gradient_at_zero = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let value = datafit.gradient(&w, &mut gradient);
        if !(objective_at_zero.is_finite() && value.is_finite() && gradient.iter().all(|g| g.is_finite())) {
            return Err(Error::Numerical {
                what: "the loss or its gradient",
                hint: "rescale the features so that squares neither overflow nor vanish".to_owned(),
            }
            .into());
        }
        let metric = Metric::new(penalty, &self.block_scales);
        let step = metric.first_step(datafit, &w, &gradient);
        self.progress = Progress {
            step,
            value,
            gradient,
            previous: w.clone(),
            momentum: 1.0,
            objective_at_zero,
            gradient_at_zero,
            best_value: f64::MAX,
            best_objective: value + penalty.value(&w),
            marked_objective: f64::MAX,
            without_progress: 0,
        };
        let (state, observed) = self.certified(composite, w, false, state);
        Ok((state, Some(observed)))
    }

    fn next_iter(&mut self, problem: &mut Problem<Composite<'_, F>>, mut state: SolverState) -> Step {
        let composite = given(problem)?;
        let mut w = std::mem::take(&mut state.coefficients);
        let accelerated = self.accelerated && composite.penalty().is_convex();
        let goes_on = |_: &_| composite.control().stopped().is_none();
        let moved = (0..STEPS).take_while(goes_on).all(|_| {
            if accelerated {
                self.accelerated_step(composite, &mut w)
            } else {
                self.plain_step(composite, &mut w)
            }
        });
        if accelerated {
            self.progress.value = composite.datafit().gradient(&w, &mut self.progress.gradient);
        }
        let (state, observed) = self.certified(composite, w, !moved, state);
        Ok((state, Some(observed)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}
