//! The path over many atoms, by a working set of few atoms and checks of all.

use std::collections::{BTreeMap, BTreeSet};

use fewest_core::order;
use fewest_solver::{Atoms, Control, Error, InnerProducts, L1, Status, certificate, run};
use nalgebra::DMatrix;

use crate::homotopy::{self, Breakpoint, Event, Homotopy};

/// Number of atoms added to the working set at a time.
const WORKING_SET_STEP: usize = 128;

/// Number of active atoms at which the first stage ends.
const FIRST_STAGE: usize = 8;

/// Most products held at a time when all atoms are checked.
const PRODUCTS_AT_ONCE: usize = 1 << 21;

/// Atoms that one thread handles at a time.
const ATOMS_AT_ONCE: usize = 64;

/// A correlation above `λ weight` by this share of the largest penalty is a violation, not rounding.
const VIOLATION: f64 = 1e-11;

/// Number of active atoms whose products are computed first for every atom; then twice as many.
const FIRST_COLUMNS: usize = 8;

/// Smallest number of breakpoints checked at a time.
const BREAKPOINTS_AT_ONCE: usize = 4;

/// One over the share of a long path that is checked at a time: after a violation the path is computed again.
const SHARE_AT_ONCE: usize = 8;

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
    /// The breakpoints by decreasing penalty; the last is the requested end of the path.
    pub breakpoints: Vec<Breakpoint>,
    /// Atoms that would have joined but depend linearly on active atoms (duplicates), each with those atoms.
    pub tied: Vec<(usize, Vec<usize>)>,
    /// [`Status::Converged`] when every breakpoint was checked against all atoms and the duality gap at the
    /// last is within the tolerance; [`Status::AlmostConverged`] or [`Status::Stalled`] when rounding left
    /// more of it.
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
    /// were found to leave the dual point feasible. If the penalty is almost zero, the gap is that of the
    /// penalty [`certificate::certifiable_penalty`].
    pub duality_gap: f64,
}

/// The atoms `atoms` of a larger problem.
struct WorkingSet<'a> {
    problem: &'a dyn InnerProducts,
    atoms: Vec<usize>,
    summary: Atoms,
}

impl<'a> WorkingSet<'a> {
    fn new(problem: &'a dyn InnerProducts, atoms: Vec<usize>) -> Self {
        let target_products = atoms.iter().map(|&j| problem.target_products()[j]).collect();
        let squared_norms = atoms.iter().map(|&j| problem.squared_norms()[j]).collect();
        let target_squared_norm = problem.target_squared_norm();
        let summary = Atoms { target_squared_norm, target_products, squared_norms, ..Atoms::default() };
        Self { problem, atoms, summary }
    }

    /// A breakpoint in terms of the larger problem's atoms.
    fn name(&self, point: &Breakpoint) -> Breakpoint {
        let name = |atom: usize| self.atoms[atom];
        let mut coefficients: Vec<(usize, f64)> =
            point.coefficients.iter().map(|&(j, value)| (name(j), value)).collect();
        order::sort_entries(&mut coefficients);
        let event = match point.event {
            Event::Joined(j) => Event::Joined(name(j)),
            Event::Left(j) => Event::Left(name(j)),
            Event::End => Event::End,
        };
        Breakpoint { lambda: point.lambda, event, coefficients }
    }
}

impl InnerProducts for WorkingSet<'_> {
    fn atoms(&self) -> &Atoms {
        &self.summary
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let names = |atoms: &[usize]| -> Vec<usize> { atoms.iter().map(|&j| self.atoms[j]).collect() };
        self.problem.products(&names(rows), &names(columns), out)
    }
}

/// Follows the path of `½‖b − Aw‖² + λ Σ weightⱼ wⱼ`, `w ≥ 0`, over all atoms of `problem`.
///
/// The path is followed over a working set of atoms, in stages of twice as many active atoms. After each
/// stage its new breakpoints are checked against **all** atoms. Correlations and the penalty are both linear
/// between breakpoints, so a path whose breakpoints satisfy `⟨Aⱼ, b − Aw⟩ ≤ λ weightⱼ` for all atoms is the
/// path of all atoms. Atoms that violate this join the working set, as do those that come closest, and the
/// stage is computed again.
///
/// Cost: one product of each atom that is ever active with every atom that no bound excluded, and one column
/// of products with the working set. A problem that caches products computes each of them once.
///
/// # Errors
/// [`Error::InvalidParameter`] for options out of range, [`Error::ShapeMismatch`] for the wrong number of
/// weights; what the products of `problem` return.
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
    let mut relevant: Vec<(f64, usize)> =
        relevance.iter().copied().zip(0..).filter(|(relevance, _)| *relevance > 0.0).collect();
    order::largest_first(&mut relevant);
    let step = WORKING_SET_STEP.min(problem.atoms().n_cached / 2).max(FIRST_STAGE);
    let mut more: Vec<usize> = relevant.into_iter().take(step).map(|(_, j)| j).collect();

    let total = options.most_active.min(n);
    control.report("path", 0, total);

    // All atoms that have been active on some path so far: each round adds at least one, so the rounds end.
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
            // Breakpoints checked in an earlier stage stay valid.
            let known = checked.iter().zip(&breakpoints).take_while(|(a, b)| a == b).count();
            passes += 1;

            once_active.extend(breakpoints.iter().flat_map(|point| &point.coefficients).map(|&(j, _)| j));
            // The breakpoint at which one more atom would join decides where the path ends, so it has to hold
            // for all atoms as well.
            let last_stage = stage == options.most_active;
            let one_more = homotopy.one_more().filter(|_| last_stage).map(|point| working.name(point));
            let points: Vec<Breakpoint> = breakpoints.iter().cloned().chain(one_more).collect();
            let check = check(problem, &working.atoms, &weights, &points, known, step)?;
            // Atoms that a check left out keep their order after those it found.
            let found: BTreeSet<usize> = check.closest.iter().copied().collect();
            let before = std::mem::replace(&mut more, check.closest);
            more.extend(before.into_iter().filter(|j| !found.contains(j)));
            more.truncate(step);
            let ends = breakpoints.last().is_none_or(|end| end.lambda <= options.smallest_lambda);
            let goes_on = stage < options.most_active && !ends;
            if check.violated || goes_on {
                checked = breakpoints;
                checked.truncate(check.valid);
                if !check.violated {
                    control.report("path", stage.min(total), total);
                    stage = stage.saturating_mul(2).min(options.most_active);
                }
                continue;
            }
        }
        // Each stage begins anew: where it was stopped, the one before may have come further.
        let is_behind = status.is_stopped() && checked.len() > breakpoints.len();
        let (breakpoints, end) = match checked.last().filter(|_| is_behind) {
            Some(last) => {
                let mut end = vec![0.0; working.atoms.len()];
                for (j, value) in &last.coefficients {
                    // All that were active are in the working set.
                    if let Ok(at) = working.atoms.binary_search(j) {
                        end[at] = *value;
                    }
                }
                (checked, end)
            }
            None => (breakpoints, outcome.coefficients),
        };
        let lambda = breakpoints.last().map_or(0.0, |point| point.lambda);
        let largest = relevance.iter().copied().fold(0.0, f64::max);
        let correlations = certificate::correlations(&working, &end)?;
        let relative = correlations.iter().zip(&chosen).map(|(correlation, weight)| correlation / weight);
        let certified = certificate::certifiable_penalty(lambda, largest, relative);
        let penalty = L1::weighted(certified, &chosen)?.nonnegative();
        let certificate = certificate::certify(&working, &penalty, &end, &correlations);
        let duality_gap = certificate.relative_gap();
        // The gap shows steps that rounding has made inaccurate.
        let status = match status {
            Status::Converged => Status::by_certificate(duality_gap, control.tolerance),
            other => other,
        };
        control.report("path", total, total);
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
            duality_gap,
        });
    }
}

/// The result of a check of breakpoints against all atoms.
struct Check {
    /// How many breakpoints hold for all atoms.
    valid: usize,
    /// Whether an atom outside the working set exceeds the penalty at the breakpoints after those.
    violated: bool,
    /// Atoms never active that exceed the penalty most, then those that come closest to it.
    closest: Vec<usize>,
}

/// Checks the breakpoints from `known` on against all atoms, and finds the `step` closest to the penalty.
///
/// A few breakpoints at a time: those after the first invalid one will be computed again. Atoms of the
/// working set that the path left out depend linearly on active ones, or exceed the penalty by rounding: the
/// duality gap includes the effect.
fn check(
    problem: &dyn InnerProducts,
    working: &[usize],
    weights: &[f64],
    breakpoints: &[Breakpoint],
    known: usize,
    step: usize,
) -> Result<Check, Error> {
    // In the order in which they became active: the first ones carry most of the fit.
    let mut columns: Vec<usize> = Vec::new();
    let mut position = BTreeMap::new();
    for &(j, _) in breakpoints.iter().flat_map(|point| &point.coefficients) {
        position.entry(j).or_insert_with(|| {
            columns.push(j);
            columns.len() - 1
        });
    }
    let slack = VIOLATION * breakpoints.first().map_or(0.0, |point| point.lambda);
    let candidates: Vec<usize> = (0..problem.n_atoms()).filter(|j| !position.contains_key(j)).collect();
    let mut valid = known;
    let mut violated = false;
    let mut closest = Vec::new();
    let at_once = BREAKPOINTS_AT_ONCE.max(breakpoints.len() / SHARE_AT_ONCE);
    while valid < breakpoints.len() && !violated {
        let points = &breakpoints[valid..breakpoints.len().min(valid + at_once)];
        let mut coefficients = DMatrix::zeros(points.len(), columns.len());
        for (at, point) in points.iter().enumerate() {
            for (j, value) in &point.coefficients {
                coefficients[(at, position[j])] = *value;
            }
        }
        // Columns that these breakpoints do not use come last.
        let is_used = |column: &usize| coefficients.column(*column).amax() > 0.0;
        let used = (0..columns.len()).rev().find(is_used).map_or(0, |last| last + 1);
        let limits: Vec<f64> = points.iter().map(|point| point.lambda + slack).collect();
        let section = Section { problem, weights, columns: &columns[..used], coefficients, limits };
        let mut excesses = section.excesses(&candidates)?;
        order::largest_first(&mut excesses);
        excesses.truncate(step);
        violated = excesses.iter().any(|(excess, j)| *excess > 0.0 && working.binary_search(j).is_err());
        closest = excesses.into_iter().map(|(_, j)| j).collect();
        if !violated {
            valid += points.len();
        }
    }
    Ok(Check { valid, violated, closest })
}

/// Consecutive breakpoints.
struct Section<'a> {
    problem: &'a dyn InnerProducts,
    weights: &'a [f64],
    /// Atoms active at some of them.
    columns: &'a [usize],
    /// Their coefficients, one row per breakpoint.
    coefficients: DMatrix<f64>,
    /// The upper bound of correlations at weight 1, by breakpoint.
    limits: Vec<f64>,
}

impl Section<'_> {
    /// The largest excess of each candidate over the penalty, for those that no bound excluded.
    fn excesses(&self, candidates: &[usize]) -> Result<Vec<(f64, usize)>, Error> {
        let mut open = Open { section: self, atoms: candidates.to_vec(), fitted: Vec::new(), seen: 0 };
        if self.problem.atoms().products_are_nonnegative {
            // When no product is negative, leaving out columns bounds a correlation from above, as do lower
            // bounds of products: an atom whose bound stays below the penalty needs no more of them.
            let smallest = self.limits.iter().copied().fold(f64::INFINITY, f64::min);
            open.atoms.retain(|&j| self.problem.target_products()[j] > smallest * self.weights[j]);
            while open.seen < self.columns.len() && !open.atoms.is_empty() {
                let next = self.columns.len().min((2 * open.seen).max(FIRST_COLUMNS));
                open.fit(next, |rows, columns, out| self.problem.lower_bounds(rows, columns, out))?;
                open.clear();
            }
        }
        open.fitted.clear();
        open.seen = 0;
        open.fit(self.columns.len(), |rows, columns, out| self.problem.products(rows, columns, out))?;
        Ok(open.atoms.iter().enumerate().map(|(row, &j)| (open.excess(row), j)).collect())
    }
}

/// Atoms that may exceed the penalty, with the products with the fit computed so far.
struct Open<'a> {
    section: &'a Section<'a>,
    atoms: Vec<usize>,
    /// `Σ w ⟨atom, column⟩` over the columns added so far, atom by atom for all breakpoints.
    fitted: Vec<f64>,
    seen: usize,
}

impl Open<'_> {
    /// Adds the columns up to `next`, by `products`.
    fn fit(
        &mut self,
        next: usize,
        products: impl Fn(&[usize], &[usize], &mut [f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let columns = &self.section.columns[self.seen..next];
        let n_points = self.section.limits.len();
        let part = &self.section.coefficients.as_slice()[self.seen * n_points..next * n_points];
        self.fitted.resize(self.atoms.len() * n_points, 0.0);
        let mut values = Vec::new();
        let height = (PRODUCTS_AT_ONCE / columns.len().max(1)).max(1);
        for (rows, fitted) in self.atoms.chunks(height).zip(self.fitted.chunks_mut(height * n_points)) {
            values.clear();
            values.resize(rows.len() * columns.len(), 0.0);
            products(rows, columns, &mut values)?;
            // Atoms are independent of each other, so the answer does not depend on the threads.
            fewest_parallel::chunks(fitted, ATOMS_AT_ONCE * n_points, |run, fitted| {
                for (row, fitted) in fitted.chunks_exact_mut(n_points).enumerate() {
                    let values = values.iter().skip(run * ATOMS_AT_ONCE + row).step_by(rows.len());
                    for (value, weights) in values.zip(part.chunks_exact(n_points)) {
                        for (fitted, weight) in fitted.iter_mut().zip(weights) {
                            *fitted += weight * value;
                        }
                    }
                }
            });
        }
        self.seen = next;
        Ok(())
    }

    /// The largest excess of the atom at `row` over the penalty, by the columns added so far.
    fn excess(&self, row: usize) -> f64 {
        let Section { problem, weights, limits, .. } = self.section;
        let (j, n_points) = (self.atoms[row], limits.len());
        let fitted = &self.fitted[row * n_points..(row + 1) * n_points];
        fitted.iter().zip(limits).fold(f64::NEG_INFINITY, |worst, (fitted, limit)| {
            worst.max((problem.target_products()[j] - fitted) / weights[j] - limit)
        })
    }

    /// Removes the atoms that stay below the penalty.
    fn clear(&mut self) {
        let n_points = self.section.limits.len();
        let mut kept = 0;
        for row in 0..self.atoms.len() {
            if self.excess(row) > 0.0 {
                self.atoms[kept] = self.atoms[row];
                self.fitted.copy_within(row * n_points..(row + 1) * n_points, kept * n_points);
                kept += 1;
            }
        }
        self.atoms.truncate(kept);
        self.fitted.truncate(kept * n_points);
    }
}
