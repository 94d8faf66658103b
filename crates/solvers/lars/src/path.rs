//! The path over many atoms, by working on few and checking all.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fewest_solver::{Control, Error, InnerProducts, L1, Status, certificate, run};

use crate::homotopy::{self, Breakpoint, Event, Homotopy};

/// Atoms the first working set holds at least.
const SMALLEST_WORKING_SET: usize = 128;

/// Most products held at a time when all atoms are checked.
const PRODUCTS_AT_ONCE: usize = 1 << 21;

/// A correlation above `λ weight` by this share of the largest penalty is a violation, not rounding.
const VIOLATION: f64 = 1e-11;

/// Active atoms whose products are tried first on every atom: most are cleared by these already.
const FIRST_COLUMNS: usize = 8;

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
    /// Atoms worked on in the end.
    pub working_set: usize,
    /// The objective at the last point.
    pub objective: f64,
    /// The duality gap at the last point, relative to the objective at zero. Atoms outside the working set
    /// were found to leave the dual point feasible.
    pub duality_gap: f64,
}

/// The atoms `atoms` of a larger problem, with the columns of products asked for so far.
struct WorkingSet<'a> {
    problem: &'a dyn InnerProducts,
    atoms: Vec<usize>,
    target_products: Vec<f64>,
    squared_norms: Vec<f64>,
    /// By atom of the larger problem: its products with `atoms`.
    columns: Mutex<BTreeMap<usize, Vec<f64>>>,
}

impl<'a> WorkingSet<'a> {
    fn new(problem: &'a dyn InnerProducts) -> Self {
        Self {
            problem,
            atoms: Vec::new(),
            target_products: Vec::new(),
            squared_norms: Vec::new(),
            columns: Mutex::default(),
        }
    }

    fn grow(&mut self, more: &[usize]) {
        self.atoms.extend_from_slice(more);
        self.target_products.extend(more.iter().map(|&j| self.problem.target_products()[j]));
        self.squared_norms.extend(more.iter().map(|&j| self.problem.squared_norms()[j]));
        let columns = self.columns.get_mut().unwrap_or_else(PoisonError::into_inner);
        let known: Vec<usize> = columns.keys().copied().collect();
        let mut products = vec![0.0; more.len() * known.len()];
        self.problem.products(more, &known, &mut products);
        for (column, new) in columns.values_mut().zip(products.chunks_exact(more.len().max(1))) {
            column.extend_from_slice(new);
        }
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
        let mut known = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            let atom = self.atoms[column];
            let products = known.entry(atom).or_insert_with(|| {
                let mut products = vec![0.0; self.atoms.len()];
                self.problem.products(&self.atoms, &[atom], &mut products);
                products
            });
            for (value, &row) in out.iter_mut().zip(rows) {
                *value = products[row];
            }
        }
    }
}

/// Follows the path of `½‖b − Aw‖² + λ Σ weightⱼ wⱼ`, `w ≥ 0`, over all atoms of `problem`.
///
/// The working set starts with the atoms of the largest `⟨Aⱼ, b⟩ / weightⱼ`. Correlations and the penalty
/// are both linear between breakpoints, so a path whose breakpoints satisfy `⟨Aⱼ, b − Aw⟩ ≤ λ weightⱼ` for
/// all atoms is the path of all atoms; the atoms that break this join the working set, and the path over it
/// is computed again.
///
/// Cost: one column of products with the working set for each atom that joins, and for each pass one
/// product for each of them with every atom not yet cleared.
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
    let mut order: Vec<usize> = (0..n).filter(|&j| relevance[j] > 0.0).collect();
    order.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));

    let mut working = WorkingSet::new(problem);
    let mut more: Vec<usize> = order;
    more.truncate(
        options.most_active.saturating_mul(4).clamp(SMALLEST_WORKING_SET, 4 * SMALLEST_WORKING_SET),
    );
    let (mut iterations, mut passes) = (0, 0);
    loop {
        more.sort_unstable();
        working.grow(&more);
        let chosen = working.atoms.iter().map(|&j| weights[j]).collect();
        let mut homotopy = Homotopy::new(chosen, options.smallest_lambda, options.most_active)?;
        let start = vec![0.0; working.atoms.len()];
        let left = Control { max_iterations: control.max_iterations.saturating_sub(iterations), ..*control };
        let outcome = run(&working, &mut homotopy, start, &left)?;
        iterations += outcome.iterations;

        let name = |atom: usize| working.atoms[atom];
        let renamed = |coefficients: &[(usize, f64)]| {
            let mut renamed: Vec<(usize, f64)> =
                coefficients.iter().map(|&(j, value)| (name(j), value)).collect();
            renamed.sort_unstable_by_key(|&(j, _)| j);
            renamed
        };
        let breakpoints: Vec<Breakpoint> = homotopy
            .breakpoints()
            .iter()
            .map(|point| Breakpoint {
                lambda: point.lambda,
                event: match point.event {
                    Event::Joined(j) => Event::Joined(name(j)),
                    Event::Left(j) => Event::Left(name(j)),
                    Event::End => Event::End,
                },
                coefficients: renamed(&point.coefficients),
            })
            .collect();
        let status = if homotopy.is_done() { Status::Converged } else { outcome.status };
        more = if status == Status::Converged {
            passes += 1;
            violators(problem, &weights, &breakpoints, &working.atoms)
        } else {
            Vec::new()
        };
        if more.is_empty() {
            let tied = homotopy
                .tied()
                .iter()
                .map(|(j, on)| (name(*j), on.iter().map(|&i| name(i)).collect()))
                .collect();
            let levels: Vec<f64> = working.atoms.iter().map(|&j| weights[j]).collect();
            let penalty =
                L1::weighted(breakpoints.last().map_or(0.0, |point| point.lambda), &levels)?.nonnegative();
            let correlations = certificate::correlations(&working, &outcome.coefficients)?;
            let certificate = certificate::certify(&working, &penalty, &outcome.coefficients, &correlations);
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
        more.truncate(working.atoms.len());
    }
}

/// The atoms outside `inside` whose correlation exceeds the penalty at some breakpoint, the worst first.
fn violators(
    problem: &dyn InnerProducts,
    weights: &[f64],
    breakpoints: &[Breakpoint],
    inside: &[usize],
) -> Vec<usize> {
    let mut is_inside = vec![false; problem.n_atoms()];
    for &j in inside {
        is_inside[j] = true;
    }
    let mut columns: Vec<usize> = Vec::new();
    for point in breakpoints {
        for &(j, _) in &point.coefficients {
            if !columns.contains(&j) {
                columns.push(j);
            }
        }
    }
    // For the early way out below the coefficients must be seen in the order of their weight in the fit.
    let position: BTreeMap<usize, usize> = columns.iter().enumerate().map(|(i, &j)| (j, i)).collect();
    let coefficients: Vec<Vec<f64>> = breakpoints
        .iter()
        .map(|point| {
            let mut dense = vec![0.0; columns.len()];
            for (j, value) in &point.coefficients {
                if let Some(&at) = position.get(j) {
                    dense[at] = *value;
                }
            }
            dense
        })
        .collect();
    // When no product is negative, leaving out columns bounds the correlation from above.
    let nonnegative = problem.products_are_nonnegative();
    let slack = VIOLATION * breakpoints.first().map_or(0.0, |point| point.lambda);
    let limits: Vec<f64> = breakpoints.iter().map(|point| point.lambda + slack).collect();
    let smallest = limits.iter().copied().fold(f64::INFINITY, f64::min);
    let mut open: Vec<usize> = (0..problem.n_atoms())
        .filter(|&j| !(is_inside[j] || nonnegative && problem.target_products()[j] <= smallest * weights[j]))
        .collect();
    // Correlations of the open atoms at every breakpoint, as far as the columns seen so far tell.
    let mut correlations: Vec<f64> =
        open.iter().flat_map(|&j| std::iter::repeat_n(problem.target_products()[j], limits.len())).collect();

    let mut seen = 0;
    while seen < columns.len() && !open.is_empty() {
        let until = if nonnegative { columns.len().min(FIRST_COLUMNS.max(3 * seen)) } else { columns.len() };
        let stage = &columns[seen..until];
        let mut products = Vec::new();
        let rows_at_once = (PRODUCTS_AT_ONCE / stage.len()).max(1);
        for (rows, correlations) in
            open.chunks(rows_at_once).zip(correlations.chunks_mut(rows_at_once * limits.len()))
        {
            products.clear();
            products.resize(rows.len() * stage.len(), 0.0);
            problem.products(rows, stage, &mut products);
            for (row, correlations) in correlations.chunks_exact_mut(limits.len()).enumerate() {
                for (value, dense) in correlations.iter_mut().zip(&coefficients) {
                    let column = products[row..].iter().step_by(rows.len());
                    *value -=
                        dense[seen..until].iter().zip(column).map(|(w, product)| w * product).sum::<f64>();
                }
            }
        }
        seen = until;
        if nonnegative {
            let violates: Vec<bool> = open
                .iter()
                .zip(correlations.chunks_exact(limits.len()))
                .map(|(&j, correlations)| excess(correlations, &limits, weights[j]) > 0.0)
                .collect();
            let mut keep = violates.iter();
            open.retain(|_| keep.next().copied().unwrap_or(false));
            let mut kept = Vec::with_capacity(open.len() * limits.len());
            for (correlations, violates) in correlations.chunks_exact(limits.len()).zip(violates) {
                if violates {
                    kept.extend_from_slice(correlations);
                }
            }
            correlations = kept;
        }
    }
    let mut worst: Vec<(f64, usize)> = open
        .iter()
        .zip(correlations.chunks_exact(limits.len().max(1)))
        .map(|(&j, correlations)| (excess(correlations, &limits, weights[j]), j))
        .filter(|&(excess, _)| excess > 0.0)
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    worst.into_iter().map(|(_, j)| j).collect()
}

/// By how much a correlation, relative to its weight, exceeds its limit at the worst breakpoint.
fn excess(correlations: &[f64], limits: &[f64], weight: f64) -> f64 {
    let excesses = correlations.iter().zip(limits).map(|(correlation, limit)| correlation / weight - limit);
    excesses.fold(f64::NEG_INFINITY, f64::max)
}
