//! Working sets of single coefficients, for penalties whose blocks are too large for working sets of blocks:
//! a tree with one root, a connected graph, the sorted l1 norm.
//!
//! Such a penalty on a part of the coefficients, when all others are zero, is a penalty of the same kind
//! ([`BlockPenalty::restrict`]). [`solve`] keeps a set of coefficients, minimises over it with any
//! [`QuadraticSolver`], then takes one prox step over **all** coefficients: those that it moves away from
//! zero are added. Where it moves none, the minimum over the set is that over all. The duality gap of the
//! whole problem decides when to stop.
//!
//! [`BlockPenalty::restrict`]: crate::BlockPenalty::restrict

use fewest_core::order;

use crate::certificate;
use crate::working_set::WorkingSetSolution;
use crate::{
    Certificate, Control, Error, InnerProducts, Penalty, Quadratic, QuadraticSolver, Solution, Status,
};

/// Coefficients that may join at a time, at least.
const SMALLEST_ROOM: usize = 100;

/// The share of the gap of the whole problem to which a small one is solved.
const SHARE: f64 = 0.1;

/// Minimises `½‖b − Aw‖² + Ω(w)` over all atoms of `problem` from `start`, the small problems by `solver`.
///
/// Cost of a pass: the products of all atoms with the residual, a prox of the whole penalty, and the Gram
/// matrix of the set, which takes 8 bytes for each pair of coefficients that are not zero.
///
/// # Errors
/// [`Error::ShapeMismatch`] when penalty, start and problem disagree in size; [`Error::InvalidParameter`] for
/// a start that is not finite; [`Error::Unsupported`] for a penalty that is not a convex sum over blocks;
/// what `solver` and the products of `problem` return.
pub fn solve(
    problem: &dyn InnerProducts,
    penalty: &dyn Penalty,
    solver: &dyn QuadraticSolver,
    start: &[f64],
    control: &Control<'_>,
) -> Result<WorkingSetSolution, Error> {
    control.check()?;
    let penalty = penalty.convex_blocks("subspace")?;
    let n = problem.n_atoms();
    for (what, found) in
        [("coefficients of the penalty", penalty.n_coefficients()), ("starting coefficients", start.len())]
    {
        if found != n {
            return Err(Error::ShapeMismatch { what, expected: n, found });
        }
    }
    if let Some(value) = start.iter().find(|value| !value.is_finite()) {
        return Err(Error::parameter("start", value, "finite"));
    }
    let step = problem.squared_norms().iter().copied().fold(0.0, f64::max).recip();
    let mut w = start.to_vec();
    let mut inside: Vec<bool> = w.iter().map(|value| *value != 0.0).collect();
    let (mut iterations, mut passes) = (0, 0);
    let mut stopped: Option<Status> = None;
    let mut share = SHARE;
    loop {
        let correlations = certificate::correlations(problem, &w)?;
        let found = certificate::certify(problem, penalty, &w, &correlations);
        let gap = found.relative_gap();
        let joined = join(penalty, &w, &correlations, step, &mut inside);
        // Where none is left to join, only the small problem has to be solved farther.
        share = if joined == 0 && passes > 0 { 0.1 * share } else { SHARE };
        let status = if gap <= control.tolerance {
            Some(Status::Converged)
        } else {
            let spent = (iterations >= control.max_iterations).then_some(Status::MaxIterations);
            let exhausted = (share < 1e-4 * SHARE).then(|| Status::by_certificate(gap, control.tolerance));
            stopped.or_else(|| control.stopped()).or(spent).or(exhausted)
        };
        if let Some(status) = status {
            return Ok(WorkingSetSolution {
                solution: Solution {
                    coefficients: w,
                    objective: found.objective,
                    certificate: Certificate::gap(gap),
                    iterations,
                    status,
                },
                certificate: found,
                correlations,
                passes,
                n_screened: 0,
            });
        }
        let atoms: Vec<usize> = (0..n).filter(|&j| inside[j]).collect();
        let small = Quadratic::restrict(problem, &atoms)?;
        let part = penalty.restrict(&atoms);
        let inner_start: Vec<f64> = atoms.iter().map(|&j| w[j]).collect();
        let inner_control = Control {
            tolerance: share * gap.min(1.0),
            max_iterations: control.max_iterations - iterations,
            ..*control
        };
        let inner = solver.minimise(&small, &*part, &inner_start, &inner_control)?;
        iterations += inner.iterations.max(1);
        stopped = inner.status.is_stopped().then_some(inner.status);
        for (&j, &value) in atoms.iter().zip(&inner.coefficients) {
            w[j] = value;
        }
        passes += 1;
    }
}

/// Adds the coefficients that a prox step over all moves away from zero, the largest first, at most doubling
/// the set; returns how many.
fn join(penalty: &dyn Penalty, w: &[f64], correlations: &[f64], step: f64, inside: &mut [bool]) -> usize {
    if !step.is_finite() {
        return 0;
    }
    let mut moved: Vec<f64> = w.iter().zip(correlations).map(|(w, v)| w + step * v).collect();
    penalty.prox(&mut moved, step);
    let outside = |j: &usize| !inside[*j] && moved[*j] != 0.0;
    let mut joining: Vec<(f64, usize)> = (0..w.len()).filter(outside).map(|j| (moved[j].abs(), j)).collect();
    order::largest_first(&mut joining);
    let room = inside.iter().filter(|inside| **inside).count().max(SMALLEST_ROOM);
    joining.truncate(room);
    joining.iter().for_each(|&(_, j)| inside[j] = true);
    joining.len()
}
