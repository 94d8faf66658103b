//! The whole problem: working sets of coefficients, each solved by Newton steps.

use fewest_core::order;
use fewest_solver::loss::Loss;
use fewest_solver::{
    BlockPenalty, Certificate, Control, Design, Error, Links, Penalty, QuadraticSolver, Solution, Status,
    certificate,
};

use crate::quadratic::curvature_room;
use crate::restricted::{Point, Restricted, duality_gap};

/// Fewest coefficients that may join a working set at once.
const ROOM: usize = 100;

/// Fewest blocks that may.
const LEAST_BLOCKS: usize = 10;

/// A block of more coefficients than this enters in parts: those that a prox step moves.
const LARGEST_BLOCK: usize = 100;

/// Gap to reach on a working set, as a share of the gap over all coefficients: where many blocks join, and
/// where hardly any does.
const SHARE_OF_GAP: f64 = 0.03;
const SHARE_AT_LAST: f64 = 1e-5;

/// As a share of the tolerance.
const SHARE_OF_TOLERANCE: f64 = 0.3;

/// Hardly any: fewer than one of so many.
const HARDLY_ANY: usize = 100;

/// Blocks of a working set stay in it while they are this close to a violation.
const CLOSE: f64 = 1.02;

/// A linear model `Z = XW + 1bᵀ` with the loss of its fitted values: the problem is to minimise
/// `ℓ(Z) + Ω(W)`, the intercepts `b` without a penalty.
///
/// The coefficient of column `j` and output `k` of `c` is number `j c + k`.
#[derive(Clone, Copy)]
pub struct LinearModel<'a> {
    /// `X`.
    pub design: &'a dyn Design,
    /// `ℓ`.
    pub loss: &'a dyn Loss,
    /// Whether there are intercepts; else `b = 0`. For a loss that a constant does not change, such as
    /// [`Cox`](fewest_solver::loss::Cox), they cost nothing and make the steps better.
    pub intercept: bool,
}

/// The model without any coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct Null {
    /// The best intercepts.
    pub intercepts: Vec<f64>,
    /// Its loss: gaps are relative to it.
    pub objective: f64,
    /// `Θ`, its dual point: the residuals, for squared errors.
    pub dual: Vec<f64>,
    /// `XᵀΘ`, one entry a coefficient. Its dual norm ([`Penalty::dual_norm`]) is the smallest penalty at
    /// which every coefficient is zero.
    pub correlations: Vec<f64>,
}

/// Where a run starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// One a coefficient.
    pub coefficients: Vec<f64>,
    /// One an output.
    pub intercepts: Vec<f64>,
}

/// A solution over all coefficients, with its certificate and counts of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct NewtonSolution {
    /// The solution, with its duality gap relative to the loss of the null model; its iterations are Newton
    /// steps.
    pub solution: Solution,
    /// `b`.
    pub intercepts: Vec<f64>,
    /// The scale `t` of the dual point `tΘ`.
    pub dual_scale: f64,
    /// `XᵀΘ`, for all coefficients.
    pub correlations: Vec<f64>,
    /// Number of checks of all coefficients.
    pub passes: usize,
}

/// The certificate of a point over all coefficients.
struct Checked {
    gap: f64,
    scale: f64,
    correlations: Vec<f64>,
}

impl LinearModel<'_> {
    /// Number of coefficients.
    pub fn n_coefficients(&self) -> usize {
        self.design.n_columns() * self.loss.n_outputs()
    }

    fn check(&self) -> Result<(), Error> {
        let (expected, found) = (self.loss.n_samples(), self.design.n_samples());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "samples of the design", expected, found });
        }
        // Rows of coefficients with squared errors may need no Newton step.
        if self.loss.constant_curvature().is_some() && !self.intercept {
            return Ok(());
        }
        // Said before all samples are passed over.
        curvature_room(expected, self.loss.n_outputs()).map(drop)
    }

    /// The model without any coefficient.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless design and loss have the same samples; [`Error::TooFew`] where no
    /// intercept is the best ([`Loss::check_intercept`]); [`Error::Numerical`] where values overflow, and
    /// where there is no memory for the curvature; [`Error::Stopped`]; what reading the columns returns.
    pub fn null(&self, control: &Control<'_>) -> Result<Null, Error> {
        self.check()?;
        if self.intercept {
            self.loss.check_intercept()?;
        }
        let part = self.restricted(&[], Vec::new(), None, None)?;
        let point = part.best_intercepts(vec![0.0; self.loss.n_outputs()], control)?;
        let (dual, correlations) = self.correlations(&point)?;
        Ok(Null { intercepts: point.b, objective: point.loss, dual, correlations })
    }

    /// The balanced dual point of a point, and its products with all columns.
    fn correlations(&self, point: &Point) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let mut dual = vec![0.0; point.fitted.len()];
        self.loss.dual_point(&point.fitted, &mut dual);
        if self.intercept {
            self.loss.balance(&mut dual);
        }
        let mut correlations = vec![0.0; self.n_coefficients()];
        self.design.correlations(&dual, &mut correlations)?;
        if !(point.loss.is_finite() && correlations.iter().all(|v| v.is_finite())) {
            return Err(Error::Numerical {
                what: "the loss of the linear model",
                hint: "features, offsets and the start must be finite, and so small that the squares of the \
                       features and the loss of the fitted values do not overflow"
                    .to_owned(),
            });
        }
        Ok((dual, correlations))
    }

    fn certify(
        &self,
        penalty: &dyn BlockPenalty,
        links: Option<&Links>,
        w: &[f64],
        point: &Point,
    ) -> Result<Checked, Error> {
        let (dual, mut correlations) = self.correlations(point)?;
        if let Some(links) = links {
            links.subtract_from(w, &mut correlations);
        }
        let (gap, scale) = duality_gap(self.loss, penalty, links, w, &point.fitted, &dual, &correlations);
        Ok(Checked { gap, scale, correlations })
    }

    /// The problem over `coefficients` (increasing).
    fn restricted(
        &self,
        coefficients: &[usize],
        mut columns: Vec<f64>,
        penalty: Option<&dyn BlockPenalty>,
        links: Option<&Links>,
    ) -> Result<Restricted<'_>, Error> {
        let (n, c) = (self.loss.n_samples(), self.loss.n_outputs());
        let mut chosen: Vec<usize> = coefficients.iter().map(|at| at / c).collect();
        chosen.dedup();
        columns.clear();
        columns.resize(chosen.len() * n, 0.0);
        self.design.gather(&chosen, &mut columns)?;
        let place = |at: &usize| (chosen.partition_point(|j| *j < at / c), at % c);
        Ok(Restricted {
            loss: self.loss,
            intercept: self.intercept,
            penalty: penalty.map(|penalty| penalty.restrict(coefficients)),
            links: links.map(|links| links.restrict(coefficients)),
            columns,
            atoms: coefficients.iter().map(place).collect(),
        })
    }

    /// Minimises `ℓ(XW + 1bᵀ) + Ω(W)` to a duality gap of `control.tolerance`, relative to the loss of
    /// `null`, from `start` or from `null`; `solver` solves the quadratic problem of each Newton step.
    ///
    /// An iteration limit counts Newton steps. Not converging is a status.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when sizes disagree; [`Error::InvalidParameter`] for a start that is not
    /// finite or a tolerance out of range; [`Error::Unsupported`] for a penalty that is not a convex sum over
    /// blocks; [`Error::Numerical`] where values overflow; what reading the columns and `solver` return.
    pub fn minimise(
        &self,
        null: &Null,
        penalty: &dyn Penalty,
        solver: &dyn QuadraticSolver,
        start: Option<&Start>,
        control: &Control<'_>,
    ) -> Result<NewtonSolution, Error> {
        self.minimise_linked(null, penalty, None, solver, start, control)
    }

    /// [`minimise`](Self::minimise) with `½ wᵀ L w` added.
    ///
    /// # Errors
    /// As there; [`Error::ShapeMismatch`] for links between another number of coefficients.
    pub fn minimise_linked(
        &self,
        null: &Null,
        penalty: &dyn Penalty,
        links: Option<&Links>,
        solver: &dyn QuadraticSolver,
        start: Option<&Start>,
        control: &Control<'_>,
    ) -> Result<NewtonSolution, Error> {
        control.check()?;
        self.check()?;
        let penalty = penalty.convex_blocks("newton")?;
        let (d, c) = (self.n_coefficients(), self.loss.n_outputs());
        let blocks = penalty.blocks();
        let start_w = start.map_or(d, |start| start.coefficients.len());
        let start_b = start.map_or(c, |start| start.intercepts.len());
        for (what, expected, found) in [
            ("coefficients of the penalty", d, blocks.n_coefficients()),
            ("coefficients of the null model", d, null.correlations.len()),
            ("dual values of the null model", c * self.loss.n_samples(), null.dual.len()),
            ("starting coefficients", d, start_w),
            ("starting intercepts", c, start_b),
            ("linked coefficients", d, links.map_or(d, Links::n_coefficients)),
        ] {
            if expected != found {
                return Err(Error::ShapeMismatch { what, expected, found });
            }
        }
        let mut w = start.map_or_else(|| vec![0.0; d], |start| start.coefficients.clone());
        let b = start.map_or(&null.intercepts, |start| &start.intercepts).clone();
        if let Some(value) = w.iter().chain(&b).find(|value| !value.is_finite()) {
            return Err(Error::parameter("start", value, "finite"));
        }
        penalty.prox(&mut w, 0.0);

        let size = null.objective;
        let is_zero = |w: &[f64], block: usize| blocks.block(block).iter().all(|&j| w[j] == 0.0);
        let in_parts = (0..blocks.n_blocks()).any(|block| blocks.block(block).len() > LARGEST_BLOCK);
        let mut working: Vec<usize> = (0..blocks.n_blocks()).filter(|&block| !is_zero(&w, block)).collect();
        let mut coefficients =
            if in_parts { (0..d).filter(|&j| w[j] != 0.0).collect() } else { members(penalty, &working) };
        let mut part = self.restricted(&coefficients, Vec::new(), Some(penalty), links)?;
        let mut point = part.point(coefficients.iter().map(|&at| w[at]).collect(), b);
        // Where it starts from the null model its products are known.
        let mut known = start.is_none().then(|| {
            let correlations = null.correlations.clone();
            let fitted = &point.fitted;
            let (gap, scale) = duality_gap(self.loss, penalty, None, &w, fitted, &null.dual, &correlations);
            Checked { gap, scale, correlations }
        });
        let (mut steps, mut passes) = (0, 0);
        // Whether the last pass was to the share of the tolerance.
        let (mut share_of_tolerance, mut is_tight) = (SHARE_OF_TOLERANCE, false);
        loop {
            let Checked { gap, scale, correlations } = match known.take() {
                Some(known) => known,
                None => self.certify(penalty, links, &w, &point)?,
            };
            passes += 1;
            let relative = certificate::relative(gap, size).min(f64::MAX);
            let status = if relative <= control.tolerance {
                Some(Status::Converged)
            } else {
                let spent = (steps >= control.max_iterations).then_some(Status::MaxIterations);
                // A pass that added nothing and a smaller tolerance have not helped: the rest is rounding.
                let exhausted = share_of_tolerance < 1e-3 * SHARE_OF_TOLERANCE;
                let by_gap = exhausted.then(|| Status::by_certificate(relative, control.tolerance));
                control.stopped().or(spent).or(by_gap)
            };
            if let Some(status) = status {
                let solution = Solution {
                    coefficients: w,
                    objective: point.objective(),
                    certificate: Certificate::gap(relative),
                    iterations: steps,
                    status,
                };
                let intercepts = point.b;
                return Ok(NewtonSolution { solution, intercepts, dual_scale: scale, correlations, passes });
            }

            let n_known = if in_parts { coefficients.len() } else { working.len() };
            let n_joined = if in_parts {
                join(penalty, &w, &correlations, &mut coefficients)
            } else {
                let n_joined = self.choose(penalty, &w, &correlations, &mut working);
                coefficients = members(penalty, &working);
                n_joined
            };
            if n_joined == 0 && is_tight {
                share_of_tolerance *= 0.1;
            }
            part = self.restricted(&coefficients, part.columns, Some(penalty), links)?;
            point = part.point(coefficients.iter().map(|&at| w[at]).collect(), point.b);
            let tolerance = share_of_tolerance * control.tolerance * size;
            let share = if n_joined * HARDLY_ANY < n_known { SHARE_AT_LAST } else { SHARE_OF_GAP };
            let target = if n_joined == 0 { tolerance } else { tolerance.max(share * gap) };
            is_tight = target <= tolerance;
            point = part.minimise(point, target, size, solver, control, &mut steps)?;
            w.fill(0.0);
            for (&at, &value) in coefficients.iter().zip(&point.w) {
                w[at] = value;
            }
            control.report("Newton steps", passes, passes + 1);
        }
    }

    /// The next working set: the non-zero blocks, those of the last one that are close to a violation, and
    /// the worst violations. Returns how many were added.
    fn choose(
        &self,
        penalty: &dyn BlockPenalty,
        w: &[f64],
        correlations: &[f64],
        working: &mut Vec<usize>,
    ) -> usize {
        let blocks = penalty.blocks();
        let mut moved = Vec::new();
        // The length of the prox step of a zero block whose correlations are `by` times what they are.
        let mut violation = |block: usize, by: f64| {
            moved.clear();
            moved.extend(blocks.block(block).iter().map(|&j| by * correlations[j]));
            penalty.prox_block(block, &mut moved, 1.0);
            moved.iter().map(|value| value * value).sum::<f64>()
        };
        let is_zero = |block: usize| blocks.block(block).iter().all(|&j| w[j] == 0.0);
        working.retain(|&block| !is_zero(block) || violation(block, CLOSE) > 0.0);
        let mut others: Vec<(f64, usize)> = (0..blocks.n_blocks())
            .filter(|block| working.binary_search(block).is_err())
            .map(|block| (violation(block, 1.0), block))
            .filter(|(length, _)| *length > 0.0)
            .collect();
        order::largest_first(&mut others);
        let n_nonzero = working.iter().filter(|&&block| !is_zero(block)).count();
        let per_block = correlations.len() / blocks.n_blocks().max(1);
        others.truncate(n_nonzero.max(ROOM / per_block.max(1)).max(LEAST_BLOCKS));
        working.extend(others.iter().map(|(_, block)| *block));
        order::sort_indices(working);
        others.len()
    }
}

/// Adds the coefficients that a prox step over all moves away from zero, those moved farthest first, at most
/// as many as there are; returns how many. Where none is left, the minimum over the others is that over all.
fn join(penalty: &dyn BlockPenalty, w: &[f64], correlations: &[f64], coefficients: &mut Vec<usize>) -> usize {
    let size = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let (size_of_w, size_of_step) = (size(w), size(correlations));
    if size_of_step == 0.0 {
        return 0;
    }
    let step = if size_of_w > 0.0 { size_of_w / size_of_step } else { size_of_step.recip() };
    let mut moved: Vec<f64> = w.iter().zip(correlations).map(|(w, v)| w + step * v).collect();
    penalty.prox(&mut moved, step);
    let outside = |j: &usize| moved[*j] != 0.0 && coefficients.binary_search(j).is_err();
    let mut others: Vec<(f64, usize)> = (0..w.len()).filter(outside).map(|j| (moved[j].abs(), j)).collect();
    order::largest_first(&mut others);
    others.truncate(coefficients.len().max(ROOM));
    coefficients.extend(others.iter().map(|(_, j)| *j));
    order::sort_indices(coefficients);
    others.len()
}

/// The coefficients of some blocks, increasing.
fn members(penalty: &dyn BlockPenalty, blocks: &[usize]) -> Vec<usize> {
    let mut members: Vec<usize> =
        blocks.iter().flat_map(|&block| penalty.blocks().block(block)).copied().collect();
    order::sort_indices(&mut members);
    members
}
