//! Solving a sparse problem over many atoms by solving small ones.
//!
//! A lasso needs few columns of the Gram matrix of its atoms. [`solve`] keeps a working set of blocks,
//! minimises over it with any [`QuadraticSolver`], then checks **all** atoms: those that violate the
//! optimality conditions are added, and the duality gap of the whole problem decides when to stop.
//! Blocks that the gap-safe sphere (Ndiaye, Fercoq, Gramfort and Salmon 2017) proves to be zero at the
//! optimum are not checked again:
//!
//! ```text
//! |⟨Aⱼ, θ⟩| + ‖Aⱼ‖ √(2 gap) < λ   ⟹   wⱼ = 0
//! ```
//!
//! Cost of a pass: one inner product for each atom not yet screened and each non-zero coefficient.

use fewest_core::order;

use crate::certificate::{self, DualityGap};
use crate::{
    BlockPenalty, Certificate, Control, Error, InnerProducts, Penalty, Quadratic, QuadraticSolver, Solution,
    Status,
};

/// Smallest number of blocks of the first working set.
const SMALLEST_WORKING_SET: usize = 20;

/// Largest number of products in memory when all atoms are checked.
const PRODUCTS_AT_ONCE: usize = 1 << 22;

/// A solution over all atoms, with counts of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkingSetSolution {
    /// The solution; its iterations are those of the inner solver, all passes together.
    pub solution: Solution,
    /// The certificate over all atoms.
    pub certificate: DualityGap,
    /// `⟨Aⱼ, b − Aw⟩` of every atom; for an atom proved to be zero early, its value at the dual point at
    /// that time.
    pub correlations: Vec<f64>,
    /// Number of checks of all remaining atoms.
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
    let penalty = penalty.convex_blocks("working-set")?;
    let n = problem.n_atoms();
    let blocks = penalty.blocks();
    for (what, found) in
        [("coefficients of the penalty", blocks.n_coefficients()), ("starting coefficients", start.len())]
    {
        if found != n {
            return Err(Error::ShapeMismatch { what, expected: n, found });
        }
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
    let mut w = start.to_vec();
    let mut candidates: Vec<usize> = (0..blocks.n_blocks()).collect();
    let mut correlations = certificate::correlations(problem, &w)?;
    let mut working: Vec<usize> =
        (0..blocks.n_blocks()).filter(|&b| blocks.block(b).iter().any(|&j| w[j] != 0.0)).collect();
    let (mut iterations, mut passes) = (0, 0);
    // The status of an inner solver that was stopped, perhaps for a reason that `control` does not show here.
    let mut stopped: Option<Status> = None;
    // The inner problems are solved to a smaller tolerance, so that the outer gap can reach the requested
    // one.
    let mut inner_tolerance = 0.3 * control.tolerance;

    loop {
        let certificate = certificate::certify(problem, penalty, &w, &correlations);
        let gap = certificate.relative_gap();
        let status = if gap <= control.tolerance {
            Some(Status::Converged)
        } else {
            let spent = (iterations >= control.max_iterations).then_some(Status::MaxIterations);
            stopped.or_else(|| control.stopped()).or(spent)
        };
        // If no atom is left to add, only the inner solver has to be more accurate; below this tolerance, the
        // rest is rounding.
        let status = status.or_else(|| {
            let exhausted = inner_tolerance < 1e-3 * control.tolerance;
            exhausted.then_some(Status::by_certificate(gap, control.tolerance))
        });
        if let Some(status) = status {
            let objective = certificate.objective;
            return Ok(WorkingSetSolution {
                solution: Solution {
                    coefficients: w,
                    objective,
                    certificate: Certificate::gap(gap),
                    iterations,
                    status,
                },
                certificate,
                correlations,
                passes,
                n_screened: blocks.n_blocks() - candidates.len(),
            });
        }

        screen(problem, penalty, &certificate, &mut correlations, &mut candidates);
        let n_joined = grow(problem, penalty, &correlations, &candidates, &w, &mut working);
        if n_joined == 0 && passes > 0 {
            inner_tolerance *= 0.1;
        }

        let mut atoms: Vec<usize> = working.iter().flat_map(|&b| blocks.block(b)).copied().collect();
        order::sort_indices(&mut atoms);
        let small = Quadratic::restrict(problem, &atoms)?;
        let inner_penalty = penalty.restrict(&atoms);
        let inner_start: Vec<f64> = atoms.iter().map(|&j| w[j]).collect();
        let inner_control = Control {
            tolerance: inner_tolerance,
            max_iterations: control.max_iterations - iterations,
            ..*control
        };
        let inner = solver.minimise(&small, &*inner_penalty, &inner_start, &inner_control)?;
        iterations += inner.iterations.max(1);
        stopped = inner.status.is_stopped().then_some(inner.status);
        w.fill(0.0);
        for (&j, &value) in atoms.iter().zip(&inner.coefficients) {
            w[j] = value;
        }
        update_correlations(
            problem,
            penalty,
            &candidates,
            &atoms,
            &small,
            &inner.coefficients,
            &mut correlations,
        )?;
        passes += 1;
    }
}

/// Drops the candidates that the gap-safe sphere proves to be zero.
fn screen(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    certificate: &DualityGap,
    correlations: &mut [f64],
    candidates: &mut Vec<usize>,
) {
    candidates.retain(|&b| {
        let zero = certificate::is_screened(problem, penalty, certificate, correlations, b);
        if zero {
            // Its value at a dual feasible point: it will not be checked again, and must not shrink the
            // dual scale of later points.
            for &j in penalty.blocks().block(b) {
                correlations[j] *= certificate.dual_scale;
            }
        }
        !zero
    });
}

/// Adds to `working` the candidates that violate the optimality conditions, the worst first, at most doubling
/// it, and returns how many were added. Blocks with a non-zero coefficient always stay.
fn grow(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    correlations: &[f64],
    candidates: &[usize],
    w: &[f64],
    working: &mut Vec<usize>,
) -> usize {
    let blocks = penalty.blocks();
    let mut inside = vec![false; blocks.n_blocks()];
    working.retain(|&b| candidates.binary_search(&b).is_ok() || blocks.block(b).iter().any(|&j| w[j] != 0.0));
    for &b in working.iter() {
        inside[b] = true;
    }
    // The violation of a zero block: the length of its prox step in the metric of its own curvature.
    let mut violations: Vec<(f64, usize)> = Vec::new();
    let mut moved = Vec::new();
    for &b in candidates.iter().filter(|&&b| !inside[b]) {
        let block = blocks.block(b);
        let curvature: f64 = block.iter().map(|&j| problem.squared_norms()[j]).sum();
        if curvature > 0.0 {
            moved.clear();
            moved.extend(block.iter().map(|&j| correlations[j] / curvature));
            penalty.prox_block(b, &mut moved, curvature.recip());
            let length = moved.iter().map(|value| value * value).sum::<f64>().sqrt() * curvature.sqrt();
            if length > 0.0 {
                violations.push((length, b));
            }
        }
    }
    order::largest_first(&mut violations);
    let room = working.len().max(SMALLEST_WORKING_SET);
    violations.truncate(room);
    working.extend(violations.iter().map(|&(_, b)| b));
    order::sort_indices(working);
    violations.len()
}

/// `v = c − A'A w` for every candidate, and for the working set from its own Gram matrix.
fn update_correlations(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    candidates: &[usize],
    atoms: &[usize],
    small: &Quadratic,
    coefficients: &[f64],
    correlations: &mut [f64],
) -> Result<(), Error> {
    let mut own = vec![0.0; atoms.len()];
    small.correlations(coefficients, &mut own);
    let mut inside = vec![false; problem.n_atoms()];
    for &j in atoms {
        inside[j] = true;
    }
    let blocks = penalty.blocks();
    let rows: Vec<usize> =
        candidates.iter().flat_map(|&b| blocks.block(b)).copied().filter(|&j| !inside[j]).collect();
    let support: Vec<usize> = (0..atoms.len()).filter(|&i| coefficients[i] != 0.0).collect();
    let columns: Vec<usize> = support.iter().map(|&i| atoms[i]).collect();
    let mut products = Vec::new();
    for rows in rows.chunks((PRODUCTS_AT_ONCE / columns.len().max(1)).max(1)) {
        products.clear();
        products.resize(rows.len() * columns.len(), 0.0);
        problem.products(rows, &columns, &mut products)?;
        for &j in rows {
            correlations[j] = problem.target_products()[j];
        }
        for (&i, column) in support.iter().zip(products.chunks_exact(rows.len())) {
            for (&j, product) in rows.iter().zip(column) {
                correlations[j] -= coefficients[i] * product;
            }
        }
    }
    for (&j, value) in atoms.iter().zip(own) {
        correlations[j] = value;
    }
    Ok(())
}
