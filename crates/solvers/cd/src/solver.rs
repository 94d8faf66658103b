//! The argmin solver.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_core::order;
use fewest_solver::certificate::{self, DualityGap};
use fewest_solver::{
    BlockPenalty, Certificate, Composite, Control, Error, Penalty, Quadratic, QuadraticSolver, Solution,
    SolverState, Step, given,
};
use serde::{Deserialize, Serialize};

use crate::anderson::Extrapolation;
use crate::newton;
use crate::sweep::{Descent, curvatures};

/// Iterations without progress after which the solver gives up.
const PATIENCE: u32 = 10;

/// Block coordinate descent for `½ wᵀGw − cᵀw + ½‖b‖² + Ω(w)`, an argmin
/// [`Solver`](argmin::core::Solver) over [`Composite<Quadratic>`](Composite).
///
/// An iteration is one sweep over the blocks not yet proved to be zero, [`sweeps`](Self::sweeps) over the
/// non-zero ones with extrapolation, Newton steps on the non-zeros, and the certificate of the whole
/// problem. The solver holds numbers only and can be written to a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoordinateDescent {
    tolerance: f64,
    sweeps: usize,
    newton: bool,
    /// Blocks not yet proved to be zero.
    candidates: Vec<usize>,
    /// Largest number of zero blocks that the next sweep over all may change.
    entries: usize,
    curvatures: Vec<f64>,
    correlations: Vec<f64>,
    best_gap: f64,
    best_objective: f64,
    without_progress: u32,
}

impl Default for CoordinateDescent {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            sweeps: 10,
            newton: true,
            candidates: Vec::new(),
            entries: 0,
            curvatures: Vec::new(),
            correlations: Vec::new(),
            best_gap: f64::MAX,
            best_objective: f64::MAX,
            without_progress: 0,
        }
    }
}

impl CoordinateDescent {
    /// The relative duality gap at which the solver stops of itself, at least 0. Default 1e-9.
    /// [`QuadraticSolver::minimise`] takes it from its `control`.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sweeps over the non-zero blocks in an iteration. Default 10; 0 leaves them out.
    #[must_use]
    pub fn sweeps(mut self, sweeps: usize) -> Self {
        self.sweeps = sweeps;
        self
    }

    /// Whether Newton steps on the non-zeros end an iteration. Default true. Without them an
    /// ill-conditioned `G` takes a number of sweeps in proportion to its condition.
    #[must_use]
    pub fn newton(mut self, newton: bool) -> Self {
        self.newton = newton;
        self
    }

    /// Descends over the non-zero blocks of `whole` only.
    fn descend_active(&self, whole: &mut Descent<'_>) -> Result<(), Error> {
        let active = whole.active_blocks();
        let blocks = whole.penalty.blocks();
        let mut atoms: Vec<usize> = active.iter().flat_map(|&b| blocks.block(b)).copied().collect();
        if atoms.is_empty() {
            return Ok(());
        }
        order::sort_indices(&mut atoms);
        let problem = Quadratic::restrict(whole.problem, &atoms)?;
        let penalty = whole.penalty.restrict(&atoms);
        let curvatures = curvatures(&problem, &*penalty);
        let mut small = Descent {
            problem: &problem,
            penalty: &*penalty,
            curvatures: &curvatures,
            w: atoms.iter().map(|&j| whole.w[j]).collect(),
            correlations: atoms.iter().map(|&j| whole.correlations[j]).collect(),
        };
        let mut extrapolation = Extrapolation::default();
        let before = small.objective();
        for _ in 0..self.sweeps {
            if small.sweep(0..curvatures.len()) == 0.0 {
                break;
            }
            extrapolation.after_sweep(&mut small);
        }
        if self.newton {
            let descent = before - small.objective();
            newton::polish(&problem, &*penalty, &curvatures, &mut small.w, self.sweeps, descent);
        }
        for (&j, &value) in atoms.iter().zip(&small.w) {
            whole.w[j] = value;
        }
        Ok(())
    }

    /// Processes the certificate of a point: screens, checks for progress, updates the state.
    fn certified(
        &mut self,
        problem: &Quadratic,
        penalty: &dyn BlockPenalty,
        certificate: &DualityGap,
        w: Vec<f64>,
        mut state: SolverState,
    ) -> (SolverState, KV) {
        let correlations = &self.correlations;
        // A block that is not zero yet is left to the sweeps.
        self.candidates.retain(|&b| {
            penalty.blocks().block(b).iter().any(|&j| w[j] != 0.0)
                || !certificate::is_screened(problem, penalty, certificate, correlations, b)
        });
        // An infinite gap (a target of zero, a start that is not) would not survive a checkpoint in JSON.
        let gap = certificate.relative_gap().min(f64::MAX);
        let lower = self.best_objective - certificate.objective > 1e-15 * certificate.objective_at_zero;
        self.without_progress =
            if gap < 0.9 * self.best_gap || lower { 0 } else { self.without_progress + 1 };
        self.best_gap = self.best_gap.min(gap);
        self.best_objective = self.best_objective.min(certificate.objective);
        let mut observed = KV::new();
        observed.insert("duality_gap", gap.into());
        observed.insert("non_zeros", (w.iter().filter(|&&w| w != 0.0).count() as u64).into());
        observed.insert("candidate_blocks", (self.candidates.len() as u64).into());
        state.coefficients = w;
        state.objective = certificate.objective;
        state.certificate = Certificate::gap(gap);
        state.stalled = self.without_progress >= PATIENCE;
        (state, observed)
    }
}

impl Solver<Composite<'_, Quadratic>, SolverState> for CoordinateDescent {
    fn name(&self) -> &str {
        "cd"
    }

    fn init(&mut self, problem: &mut Problem<Composite<'_, Quadratic>>, mut state: SolverState) -> Step {
        let composite = given(problem)?;
        let (problem, penalty) = (composite.datafit(), composite.penalty().convex_blocks("cd")?);
        let w = composite.feasible_start(std::mem::take(&mut state.coefficients))?;
        *self = Self {
            candidates: (0..penalty.blocks().n_blocks()).collect(),
            entries: penalty.blocks().n_blocks(),
            curvatures: curvatures(problem, penalty),
            correlations: vec![0.0; problem.n_atoms()],
            ..Self::default().tolerance(self.tolerance).sweeps(self.sweeps).newton(self.newton)
        };
        problem.correlations(&w, &mut self.correlations);
        let certificate = certificate::certify(problem, penalty, &w, &self.correlations);
        let (state, observed) = self.certified(problem, penalty, &certificate, w, state);
        Ok((state, Some(observed)))
    }

    fn next_iter(&mut self, problem: &mut Problem<Composite<'_, Quadratic>>, mut state: SolverState) -> Step {
        let composite = given(problem)?;
        let (problem, penalty) = (composite.datafit(), composite.penalty().convex_blocks("cd")?);
        let mut descent = Descent {
            problem,
            penalty,
            curvatures: &self.curvatures,
            w: std::mem::take(&mut state.coefficients),
            correlations: std::mem::take(&mut self.correlations),
        };
        let entering = descent.violators(&self.candidates, self.entries);
        let mut blocks = descent.active_blocks();
        blocks.extend(&entering);
        order::sort_indices(&mut blocks);
        descent.sweep(blocks.into_iter());
        self.descend_active(&mut descent)?;
        // If most blocks that enter soon leave again, it is faster to enter fewer at a time.
        let stayed = entering.iter().filter(|&&b| !descent.is_zero(b)).count();
        self.entries = if 2 * stayed < entering.len() {
            (entering.len() / 4).max(1)
        } else {
            (2 * self.entries).min(penalty.blocks().n_blocks())
        };
        descent.refresh();
        let Descent { w, correlations, .. } = descent;
        self.correlations = correlations;
        let certificate = certificate::certify(problem, penalty, &w, &self.correlations);
        let (state, observed) = self.certified(problem, penalty, &certificate, w, state);
        Ok((state, Some(observed)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}

impl QuadraticSolver for CoordinateDescent {
    fn name(&self) -> &'static str {
        "cd"
    }

    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let mut solver = self.clone().tolerance(control.tolerance);
        fewest_solver::run(Composite::new(problem, penalty)?, &mut solver, start.to_vec(), control)
    }
}
