//! The path over many atoms, by working on few and checking all.

use std::collections::{BTreeMap, BTreeSet};

use fewest_solver::{Control, Error, InnerProducts, L1, Status, certificate, run};
use nalgebra::{DMatrix, DMatrixView};

use crate::homotopy::{self, Breakpoint, Event, Homotopy};

/// Atoms that join the working set at a time.
const WORKING_SET_STEP: usize = 128;

/// Active atoms up to which the first stage goes.
const FIRST_STAGE: usize = 8;

/// Most products held at a time when all atoms are checked.
const PRODUCTS_AT_ONCE: usize = 1 << 21;

/// A correlation above `λ weight` by this share of the largest penalty is a violation, not rounding.
const VIOLATION: f64 = 1e-11;

/// Active atoms whose products are tried first on every atom.
const FIRST_COLUMNS: usize = 16;

/// How far to follow the path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathOptions {
    /// The weight of each atom in the penalty, above 0. Default: all 1.
    pub weights: Option<Vec<f64>>,
    /// The penalty to stop at. Default 0.
    pub smallest_lambda: f64,
    /// Stop in the middle of the segment after which more atoms than this would be active for the first
    /// time. Default: no limit.
    pub most_active: usize,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { weights: None, smallest_lambda: 0.0, most_active: usize::MAX }
    }
}

/// A path that holds for all atoms.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoPath {
    /// The breakpoints by decreasing penalty; the last is where the path was asked to end.
    pub breakpoints: Vec<Breakpoint>,
    /// Atoms that would have joined but depend linearly on atoms active then (duplicates), with those.
    pub tied: Vec<(usize, Vec<usize>)>,
    /// [`Status::Converged`] when every breakpoint was checked against all atoms.
    pub status: Status,
    /// Path steps, over all passes.
    pub iterations: u64,
    /// Times all atoms were checked.
    pub passes: usize,
    /// Atoms worked on in the last round.
    pub working_set: usize,
    /// The objective at the last point.
    pub objective: f64,
    /// The duality gap at the last point, relative to the objective at zero. Atoms outside the working set
    /// were found to leave the dual point feasible.
    pub duality_gap: f64,
}

/// The atoms `atoms` of a larger problem.
struct WorkingSet<'a> {
    problem: &'a dyn InnerProducts,
    atoms: Vec<usize>,
    target_products: Vec<f64>,
    squared_norms: Vec<f64>,
}

impl<'a> WorkingSet<'a> {
    fn new(problem: &'a dyn InnerProducts, atoms: Vec<usize>) -> Self {
        let target_products = atoms.iter().map(|&j| problem.target_products()[j]).collect();
        let squared_norms = atoms.iter().map(|&j| problem.squared_norms()[j]).collect();
        Self { problem, atoms, target_products, squared_norms }
    }

    /// A breakpoint in terms of the larger problem's atoms.
    fn name(&self, point: &Breakpoint) -> Breakpoint {
        let name = |atom: usize| self.atoms[atom];
        let mut coefficients: Vec<(usize, f64)> =
            point.coefficients.iter().map(|&(j, value)| (name(j), value)).collect();
        coefficients.sort_unstable_by_key(|&(j, _)| j);
        let event = match point.event {
            Event::Joined(j) => Event::Joined(name(j)),
            Event::Left(j) => Event::Left(name(j)),
            Event::End => Event::End,
        };
        Breakpoint { lambda: point.lambda, event, coefficients }
    }
}

impl InnerProducts for WorkingSet<'_> {
    fn n_atoms(&self) -> usize {
        self.atoms.len()
    }

    fn target_squared_norm(&self) -> f64 {
        self.problem.target_squared_norm()
    }

    fn target_products(&self) -> &[f64] {
        &self.target_products
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        let names = |atoms: &[usize]| -> Vec<usize> { atoms.iter().map(|&j| self.atoms[j]).collect() };
        self.problem.products(&names(rows), &names(columns), out);
    }
}

/// Follows the path of `½‖b − Aw‖² + λ Σ weightⱼ wⱼ`, `w ≥ 0`, over all atoms of `problem`.
///
/// The path is followed over a working set of atoms, in stages of twice as many active atoms. After each
/// stage its new breakpoints are checked against **all** atoms. Correlations and the penalty are both linear
/// between breakpoints, so a path whose breakpoints satisfy `⟨Aⱼ, b − Aw⟩ ≤ λ weightⱼ` for all atoms is the
/// path of all atoms. Atoms that break this join the working set, as do those that come closest, and the
/// stage is computed again.
///
/// Cost: one product of each atom that is ever active with every atom not cleared before, and one column of
/// products with the working set. A problem that remembers products is asked for each of them once.
///
/// # Errors
/// [`Error::InvalidParameter`] for options out of range, [`Error::ShapeMismatch`] for the wrong number of weights.
pub fn path(
    problem: &dyn InnerProducts,
    options: &PathOptions,
    control: &Control<'_>,
) -> Result<LassoPath, Error> {
    let n = problem.n_atoms();
    let weights = options.weights.clone().unwrap_or_else(|| vec![1.0; n]);
    if weights.len() != n {
        return Err(Error::ShapeMismatch { what: "weights", expected: n, found: weights.len() });
    }
    homotopy::check(&weights, options.smallest_lambda, options.most_active)?;
    let relevance: Vec<f64> =
        problem.target_products().iter().zip(&weights).map(|(c, weight)| c / weight).collect();
    let mut more: Vec<usize> = (0..n).filter(|&j| relevance[j] > 0.0).collect();
    more.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));
    let step = WORKING_SET_STEP.min(problem.atoms_at_hand() / 2).max(FIRST_STAGE);
    more.truncate(step);

    // All that have been active on some path so far: each round adds one at least, so the rounds end.
    let mut once_active: BTreeSet<usize> = BTreeSet::new();
    let mut stage = FIRST_STAGE.min(options.most_active);
    let mut checked: Vec<Breakpoint> = Vec::new();
    let (mut iterations, mut passes) = (0, 0);
    loop {
        let atoms: BTreeSet<usize> = more.iter().chain(&once_active).copied().collect();
        let working = WorkingSet::new(problem, atoms.into_iter().collect());
        let chosen: Vec<f64> = working.atoms.iter().map(|&j| weights[j]).collect();
        let mut homotopy = Homotopy::new(chosen.clone(), options.smallest_lambda, stage)?;
        let start = vec![0.0; working.atoms.len()];
        let left = Control { max_iterations: control.max_iterations.saturating_sub(iterations), ..*control };
        let outcome = run(&working, &mut homotopy, start, &left)?;
        iterations += outcome.iterations;
        let breakpoints: Vec<Breakpoint> =
            homotopy.breakpoints().iter().map(|point| working.name(point)).collect();
        let status = if homotopy.is_done() { Status::Converged } else { outcome.status };

        if status == Status::Converged {
            // What was checked in an earlier stage stays true.
            let known = checked.iter().zip(&breakpoints).take_while(|(a, b)| a == b).count();
            passes += 1;
            once_active.extend(breakpoints.iter().flat_map(|point| &point.coefficients).map(|&(j, _)| j));
            let check = check(problem, &weights, &breakpoints, known, step);
            // What a check could leave out keeps its place behind what it found.
            let violators = check.closest[..check.violators].to_vec();
            let found: BTreeSet<usize> = check.closest.iter().copied().collect();
            let before = std::mem::replace(&mut more, check.closest);
            more.extend(before.into_iter().filter(|j| !found.contains(j)));
            more.truncate(step);
            // Atoms that the path has passed by although they were in the working set depend linearly on active
            // ones, or exceed the penalty by rounding: the duality gap tells how much that matters.
            if violators.iter().any(|j| working.atoms.binary_search(j).is_err()) {
                continue;
            }
            if stage < options.most_active
                && breakpoints.last().is_some_and(|end| end.lambda > options.smallest_lambda)
            {
                stage = stage.saturating_mul(2).min(options.most_active);
                checked = breakpoints;
                continue;
            }
        }
        let lambda = breakpoints.last().map_or(0.0, |point| point.lambda);
        let penalty = L1::weighted(lambda, &chosen)?.nonnegative();
        let correlations = certificate::correlations(&working, &outcome.coefficients)?;
        let certificate = certificate::certify(&working, &penalty, &outcome.coefficients, &correlations);
        let name = |atom: usize| working.atoms[atom];
        let tied =
            homotopy.tied().iter().map(|(j, on)| (name(*j), on.iter().map(|&i| name(i)).collect())).collect();
        return Ok(LassoPath {
            breakpoints,
            tied,
            status,
            iterations,
            passes,
            working_set: working.atoms.len(),
            objective: certificate.objective,
            duality_gap: certificate.relative_gap(),
        });
    }
}

/// What a check of breakpoints against all atoms found.
struct Check {
    /// How many of `closest` have a correlation that exceeds the penalty at some breakpoint.
    violators: usize,
    /// Atoms never active that exceed the penalty most, then those that come closest to it.
    closest: Vec<usize>,
}

/// Checks the breakpoints from `known` on against all atoms, and finds the `step` closest to the penalty.
fn check(
    problem: &dyn InnerProducts,
    weights: &[f64],
    breakpoints: &[Breakpoint],
    known: usize,
    step: usize,
) -> Check {
    // In the order in which they became active: the first ones carry most of the fit.
    let mut columns: Vec<usize> = Vec::new();
    let mut position = BTreeMap::new();
    for &(j, _) in breakpoints.iter().flat_map(|point| &point.coefficients) {
        position.entry(j).or_insert_with(|| {
            columns.push(j);
            columns.len() - 1
        });
    }
    let fresh = breakpoints.get(known..).unwrap_or_default();
    let mut coefficients = DMatrix::zeros(columns.len(), fresh.len());
    for (at, point) in fresh.iter().enumerate() {
        for (j, value) in &point.coefficients {
            coefficients[(position[j], at)] = *value;
        }
    }
    let slack = VIOLATION * breakpoints.first().map_or(0.0, |point| point.lambda);
    let limits: Vec<f64> = fresh.iter().map(|point| point.lambda + slack).collect();
    let smallest = limits.iter().copied().fold(f64::INFINITY, f64::min);

    // When no product is negative, leaving out columns bounds a correlation from above: an atom whose bound
    // stays below the penalty needs no more of them.
    let nonnegative = problem.products_are_nonnegative();
    let outside = |j: &usize| !position.contains_key(j);
    let may_exceed = |j: &usize| !nonnegative || problem.target_products()[*j] > smallest * weights[*j];
    let mut open: Vec<usize> = (0..problem.n_atoms()).filter(outside).filter(may_exceed).collect();
    let mut excesses: Vec<(f64, usize)> = Vec::new();
    let mut seen = 0;
    while !open.is_empty() {
        // Bounds from the columns so far, then all columns for those whose bound is too weak.
        seen = if nonnegative && seen == 0 { columns.len().min(FIRST_COLUMNS) } else { columns.len() };
        let part = coefficients.rows(0, seen);
        excesses.clear();
        let mut products = Vec::new();
        for rows in open.chunks((PRODUCTS_AT_ONCE / seen.max(1)).max(1)) {
            products.clear();
            products.resize(rows.len() * seen, 0.0);
            problem.products(rows, &columns[..seen], &mut products);
            let fitted = DMatrixView::from_slice(&products, rows.len(), seen) * part;
            let mut worst = vec![f64::NEG_INFINITY; rows.len()];
            for (limit, fitted) in limits.iter().zip(fitted.as_slice().chunks_exact(rows.len())) {
                for ((worst, &j), fitted) in worst.iter_mut().zip(rows).zip(fitted) {
                    *worst = worst.max((problem.target_products()[j] - fitted) / weights[j] - limit);
                }
            }
            excesses.extend(worst.into_iter().zip(rows.iter().copied()));
        }
        if seen == columns.len() {
            break;
        }
        open = excesses.iter().filter(|(excess, _)| *excess > 0.0).map(|&(_, j)| j).collect();
    }
    excesses.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    excesses.truncate(step);
    let violators = excesses.partition_point(|&(excess, _)| excess > 0.0);
    Check { violators, closest: excesses.into_iter().map(|(_, j)| j).collect() }
}
