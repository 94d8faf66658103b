//! Solving a sparse problem over many atoms by solving small ones.
//!
//! A lasso needs few columns of the Gram matrix of its atoms. A [`WorkingSet`] keeps those of some blocks,
//! minimises over them with any [`QuadraticSolver`], then checks **all** atoms: those that violate the
//! optimality conditions are added, those that are zero and far from violating them leave, and the duality
//! gap of the whole problem decides when to stop. The small problems are solved as far as the gap of the
//! whole is worth it, not further.
//!
//! Two bounds save products. Blocks that the gap-safe sphere (Ndiaye, Fercoq, Gramfort and Salmon 2017)
//! proves to be zero at the optimum are not checked again:
//!
//! ```text
//! |⟨Aⱼ, θ⟩| + ‖Aⱼ‖ √(2 gap) < λ   ⟹   wⱼ = 0 at the optimum
//! ```
//!
//! And a check leaves out the atoms whose correlation cannot have come up to the penalty since it was last
//! computed, when the residual was `ρ'`:
//!
//! ```text
//! |⟨Aⱼ, ρ'⟩| + ‖Aⱼ‖ ‖ρ − ρ'‖ < λ   ⟹   |⟨Aⱼ, ρ⟩| < λ
//! ```
//!
//! Cost of a pass: the products of the atoms that no bound leaves out with the residual
//! ([`InnerProducts::subtract_fitted`]), and those of the atoms that join with the working set.

use fewest_core::order;

use crate::certificate::{self, DualityGap};
use crate::{
    BlockPenalty, Certificate, Control, Error, InnerProducts, Penalty, Quadratic, QuadraticSolver, Solution,
    Status,
};

/// Blocks that may join a working set at a time, at least.
const SMALLEST_ROOM: usize = 100;

/// The share of the gap of the whole problem to which a small one is solved.
const SHARE: f64 = 0.3;

/// A zero block leaves the working set if correlations larger by this factor would leave it zero.
const NEAR: f64 = 1.0 / 0.98;

/// The share of the gap by which the objective must fall in a pass for blocks to leave.
const LEAST_FALL: f64 = 0.01;

/// Rounding in the squared length of a step of the residual.
const ROUNDING: f64 = 1e-14;

/// A solution over all atoms, with counts of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkingSetSolution {
    /// The solution; its iterations are those of the inner solver, all passes together.
    pub solution: Solution,
    /// The certificate over all atoms.
    pub certificate: DualityGap,
    /// `⟨Aⱼ, b − Aw⟩` of every atom in the working set. Of others it may be that of an earlier pass, where a
    /// bound shows that the penalty still holds it, and that at the dual point where the atom was proved to
    /// be zero.
    pub correlations: Vec<f64>,
    /// Number of small problems that were solved.
    pub passes: usize,
    /// Blocks proved to be zero before the end.
    pub n_screened: usize,
}

/// Minimises `½‖b − Aw‖² + Ω(w)` over all atoms of `problem` from `start`, the small problems by `solver`.
///
/// # Errors
/// [`Error::ShapeMismatch`] when penalty, start and problem disagree in size; [`Error::Numerical`] for inner
/// products that are not finite; [`Error::Unsupported`] for a penalty that is not a convex sum over blocks;
/// what `solver` and the products of `problem` return.
pub fn solve(
    problem: &dyn InnerProducts,
    penalty: &dyn Penalty,
    solver: &dyn QuadraticSolver,
    start: &[f64],
    control: &Control<'_>,
) -> Result<WorkingSetSolution, Error> {
    control.check()?;
    WorkingSet::new(problem, start)?.solve(penalty, solver, control)
}

/// A point of a least-squares problem over many atoms, and the products computed on the way to it: for
/// several penalties in turn, each of which starts where the one before ended.
///
/// ```
/// use fewest_solver::working_set::WorkingSet;
/// # use fewest_solver::{Control, Error, L1, Penalty, Quadratic, QuadraticSolver, Solution, Status};
/// # struct Zero;
/// # impl QuadraticSolver for Zero {
/// #     fn name(&self) -> &'static str { "zero" }
/// #     fn minimise(&self, _: &Quadratic, _: &dyn Penalty, start: &[f64], _: &Control<'_>) -> Result<Solution, Error> {
/// #         let certificate = fewest_solver::Certificate::None;
/// #         Ok(Solution { coefficients: start.to_vec(), objective: 0.0, certificate, iterations: 0, status: Status::Converged })
/// #     }
/// # }
/// # let solver = Zero;
/// let problem = Quadratic::new(vec![2.0, 0.5, 0.5, 3.0], vec![1.0, -1.0], 4.0)?;
/// let mut set = WorkingSet::new(&problem, &[0.0; 2])?;
/// for lambda in [2.0, 1.0] {
///     let found = set.solve(&L1::new(lambda, 2)?, &solver, &Control::default())?;
///     assert_eq!(found.solution.coefficients, [0.0; 2]);
/// }
/// # Ok::<(), Error>(())
/// ```
pub struct WorkingSet<'a> {
    problem: &'a dyn InnerProducts,
    w: Vec<f64>,
    /// `⟨Aⱼ, b − Aw⟩` of every atom at an earlier `w`,
    correlations: Vec<f64>,
    /// which had the residual where its way was this long.
    seen: Vec<f64>,
    /// The length of the way of the residual: no two of its points are farther apart than what is between.
    way: f64,
    /// The atoms of the small problem, increasing. All others have the coefficient zero after the first pass.
    atoms: Vec<usize>,
    small: Quadratic,
}

impl<'a> WorkingSet<'a> {
    /// At `start`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of coefficients than atoms; [`Error::InvalidParameter`]
    /// for one that is not finite; [`Error::Numerical`] for inner products that are not; what the products of
    /// `problem` return.
    pub fn new(problem: &'a dyn InnerProducts, start: &[f64]) -> Result<Self, Error> {
        let n = problem.n_atoms();
        if start.len() != n {
            return Err(Error::ShapeMismatch {
                what: "starting coefficients",
                expected: n,
                found: start.len(),
            });
        }
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !(problem.target_squared_norm().is_finite()
            && finite(problem.target_products())
            && finite(problem.squared_norms()))
        {
            return Err(Error::Numerical {
                what: "the inner products of the atoms",
                hint: "rescale the features so that squares neither overflow nor vanish".to_owned(),
            });
        }
        if let Some(value) = start.iter().find(|value| !value.is_finite()) {
            return Err(Error::parameter("start", value, "finite"));
        }
        Ok(Self {
            problem,
            w: start.to_vec(),
            correlations: certificate::correlations(problem, start)?,
            seen: vec![0.0; n],
            way: 0.0,
            atoms: Vec::new(),
            small: Quadratic::restrict(problem, &[])?,
        })
    }

    /// Goes on to the minimum of `½‖b − Aw‖² + Ω(w)`, with the small problems by `solver`.
    ///
    /// # Errors
    /// As [`solve`].
    pub fn solve(
        &mut self,
        penalty: &dyn Penalty,
        solver: &dyn QuadraticSolver,
        control: &Control<'_>,
    ) -> Result<WorkingSetSolution, Error> {
        control.check()?;
        let penalty = penalty.convex_blocks("working-set")?;
        let (expected, found) = (self.w.len(), penalty.blocks().n_coefficients());
        if found != expected {
            return Err(Error::ShapeMismatch { what: "coefficients of the penalty", expected, found });
        }
        let n_blocks = penalty.blocks().n_blocks();
        let mut checked =
            Checked { candidates: (0..n_blocks).collect(), correlations: self.correlations.clone() };
        let (mut iterations, mut passes) = (0, 0);
        // The status of an inner solver that was stopped, perhaps for a reason that `control` does not show
        // here.
        let mut stopped: Option<Status> = None;
        let mut last_objective = f64::INFINITY;
        // The tolerance of the small problem once no atom is left to join, which makes it the whole one.
        let mut last_tolerance = SHARE * control.tolerance;

        loop {
            self.check(penalty, &mut checked)?;
            let certificate = certificate::certify(self.problem, penalty, &self.w, &checked.correlations);
            let gap = certificate.relative_gap();
            let status = if gap <= control.tolerance {
                Some(Status::Converged)
            } else {
                let spent = (iterations >= control.max_iterations).then_some(Status::MaxIterations);
                stopped.or_else(|| control.stopped()).or(spent)
            };
            // Below this tolerance, the rest is rounding.
            let status = status.or_else(|| {
                let exhausted = last_tolerance < 1e-3 * SHARE * control.tolerance;
                exhausted.then_some(Status::by_certificate(gap, control.tolerance))
            });
            if let Some(status) = status {
                return Ok(WorkingSetSolution {
                    solution: Solution {
                        coefficients: self.w.clone(),
                        objective: certificate.objective,
                        certificate: Certificate::gap(gap),
                        iterations,
                        status,
                    },
                    certificate,
                    correlations: checked.correlations,
                    passes,
                    n_screened: n_blocks - checked.candidates.len(),
                });
            }

            self.screen(penalty, &certificate, &mut checked);
            // Where the objective hardly falls any more, nothing leaves, so that there is an end.
            let falls = last_objective - certificate.objective > LEAST_FALL * certificate.duality_gap;
            last_objective = certificate.objective;
            let near = if falls { NEAR } else { f64::INFINITY };
            let (atoms, n_joined) = self.choose(penalty, &checked, near);
            let mut inner_tolerance = SHARE * gap.min(1.0).max(control.tolerance);
            if n_joined == 0 && passes > 0 {
                inner_tolerance = last_tolerance;
                last_tolerance *= 0.1;
            }
            self.take(penalty, &certificate, atoms, &mut checked)?;
            let inner_penalty = penalty.restrict(&self.atoms);
            let inner_start: Vec<f64> = self.atoms.iter().map(|&j| self.w[j]).collect();
            let inner_control = Control {
                tolerance: inner_tolerance,
                max_iterations: control.max_iterations - iterations,
                ..*control
            };
            let inner = solver.minimise(&self.small, &*inner_penalty, &inner_start, &inner_control)?;
            iterations += inner.iterations.max(1);
            stopped = inner.status.is_stopped().then_some(inner.status);
            self.move_to(&inner.coefficients);
            passes += 1;
        }
    }

    /// Brings the correlations of the candidates up to date, as far as the penalty may not hold them.
    fn check(&mut self, penalty: &dyn BlockPenalty, checked: &mut Checked) -> Result<(), Error> {
        let blocks = penalty.blocks();
        let mut rows = Vec::new();
        for &b in &checked.candidates {
            let block = blocks.block(b);
            let is_known = block.iter().all(|&j| self.seen[j] == self.way);
            let around = |j: usize| (self.correlations[j], self.way - self.seen[j]);
            if !(is_known || self.is_zero(block) && certificate::is_held(self.problem, penalty, b, around)) {
                rows.extend_from_slice(block);
            }
        }
        let support: Vec<usize> = (0..self.w.len()).filter(|&j| self.w[j] != 0.0).collect();
        let weights: Vec<f64> = support.iter().map(|&j| self.w[j]).collect();
        let mut values: Vec<f64> = rows.iter().map(|&j| self.problem.target_products()[j]).collect();
        self.problem.subtract_fitted(&rows, &support, &weights, &mut values)?;
        for (&j, value) in rows.iter().zip(values) {
            self.correlations[j] = value;
            self.seen[j] = self.way;
            checked.correlations[j] = value;
        }
        for &j in &self.atoms {
            checked.correlations[j] = self.correlations[j];
        }
        Ok(())
    }

    fn is_zero(&self, block: &[usize]) -> bool {
        block.iter().all(|&j| self.w[j] == 0.0)
    }

    /// Drops the candidates that the gap-safe sphere proves to be zero.
    fn screen(&self, penalty: &dyn BlockPenalty, certificate: &DualityGap, checked: &mut Checked) {
        let (scale, distance) = (certificate.dual_scale, certificate.dual_distance());
        let Checked { candidates, correlations } = checked;
        candidates.retain(|&b| {
            let around =
                |j: usize| (scale * self.correlations[j], distance + scale * (self.way - self.seen[j]));
            let zero = certificate::is_held(self.problem, penalty, b, around);
            if zero {
                // Its value at a dual feasible point: it will not be checked again, and must not shrink the
                // dual scale of later points.
                for &j in penalty.blocks().block(b) {
                    correlations[j] *= scale;
                }
            }
            !zero
        });
    }

    /// The atoms of the next small problem, and how many blocks of them violate the optimality conditions:
    /// all blocks that are not zero, those in the set that correlations larger by `near` would move, and the
    /// candidates that violate the conditions most.
    fn choose(&self, penalty: &dyn BlockPenalty, checked: &Checked, near: f64) -> (Vec<usize>, usize) {
        let blocks = penalty.blocks();
        let mut inside = vec![false; self.w.len()];
        for &j in &self.atoms {
            inside[j] = true;
        }
        let mut chosen: Vec<usize> =
            (0..blocks.n_blocks()).filter(|&b| !self.is_zero(blocks.block(b))).collect();
        let n_nonzero = chosen.len();
        let mut violations: Vec<(f64, usize)> = Vec::new();
        let mut moved = Vec::new();
        for &b in &checked.candidates {
            let block = blocks.block(b);
            let curvature: f64 = block.iter().map(|&j| self.problem.squared_norms()[j]).sum();
            if curvature <= 0.0 || !self.is_zero(block) {
                continue;
            }
            let is_inside = block.iter().any(|&j| inside[j]);
            if is_inside && near.is_infinite() {
                chosen.push(b);
                continue;
            }
            // The violation of a zero block: the length of its prox step in the metric of its own curvature.
            let factor = if is_inside { near } else { 1.0 };
            moved.clear();
            moved.extend(block.iter().map(|&j| factor * self.correlations[j] / curvature));
            penalty.prox_block(b, &mut moved, curvature.recip());
            let length = moved.iter().map(|value| value * value).sum::<f64>().sqrt() * curvature.sqrt();
            if length > 0.0 {
                if is_inside {
                    chosen.push(b);
                } else {
                    violations.push((length, b));
                }
            }
        }
        order::largest_first(&mut violations);
        violations.truncate(n_nonzero.max(SMALLEST_ROOM));
        chosen.extend(violations.iter().map(|&(_, b)| b));
        let mut atoms: Vec<usize> = chosen.iter().flat_map(|&b| blocks.block(b)).copied().collect();
        order::sort_indices(&mut atoms);
        (atoms, violations.len())
    }

    /// Makes `atoms` those of the small problem.
    fn take(
        &mut self,
        penalty: &dyn BlockPenalty,
        certificate: &DualityGap,
        atoms: Vec<usize>,
        checked: &mut Checked,
    ) -> Result<(), Error> {
        if atoms == self.atoms {
            return Ok(());
        }
        self.small = self.small.moved(self.problem, &self.atoms, &atoms)?;
        let before = std::mem::replace(&mut self.atoms, atoms);
        // An atom that was proved to be zero before it was, and is not checked again, leaves at the dual
        // point.
        let mut is_checked = vec![false; self.w.len()];
        for &j in self.atoms.iter().chain(checked.candidates.iter().flat_map(|&b| penalty.blocks().block(b)))
        {
            is_checked[j] = true;
        }
        for j in before.into_iter().filter(|&j| !is_checked[j]) {
            checked.correlations[j] *= certificate.dual_scale;
        }
        Ok(())
    }

    /// Moves to these coefficients of the small problem.
    fn move_to(&mut self, coefficients: &[f64]) {
        let mut correlations = vec![0.0; self.atoms.len()];
        self.small.correlations(coefficients, &mut correlations);
        // ‖A Δw‖² = −Δwᵀ Δv, and what bounds the rounding in it.
        let (mut squared, mut moved) = (0.0, 0.0);
        let mut size = self.problem.target_squared_norm().sqrt();
        for ((&j, &value), &correlation) in self.atoms.iter().zip(coefficients).zip(&correlations) {
            let (change, norm) = (value - self.w[j], self.problem.squared_norms()[j].sqrt());
            squared -= change * (correlation - self.correlations[j]);
            moved += norm * change.abs();
            size += norm * self.w[j].abs().max(value.abs());
            self.w[j] = value;
            self.correlations[j] = correlation;
        }
        self.way += (squared.max(0.0) + ROUNDING * moved * size).sqrt();
        for &j in &self.atoms {
            self.seen[j] = self.way;
        }
    }
}

/// What one penalty has shown so far.
struct Checked {
    /// Blocks not proved to be zero, increasing.
    candidates: Vec<usize>,
    /// Correlations of a dual feasible point, up to a scale.
    correlations: Vec<f64>,
}
