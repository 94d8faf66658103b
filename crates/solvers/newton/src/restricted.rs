//! The problem over some of the coefficients, with their columns in memory.

use fewest_linalg::{add_scaled, dot};
use fewest_solver::loss::Loss;
use fewest_solver::{BlockPenalty, Control, Error, InnerProducts, Links, QuadraticSolver};

use crate::quadratic::{Atoms, LocalModel};
use crate::rows::Rows;

/// Most Newton steps in a row.
const MOST_STEPS: usize = 200;

/// Newton steps without a smaller gap after which a run ends.
const PATIENCE: usize = 15;

/// Most halvings of a step.
const MOST_HALVINGS: usize = 60;

/// Share of the predicted decrease that a step must achieve (Armijo).
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Gap of the quadratic problem to reach, as a share of the present gap at most, and its range relative to
/// that problem's own size. The share is smaller near the end: where a loss is linear, such as Huber's, its
/// gap falls with the violation of the optimality conditions and that of the quadratic problem with its
/// square.
const INNER_SHARE: f64 = 0.01;
const INNER_MOST: f64 = 0.1;
const INNER_LEAST: f64 = 1e-20;

/// Rounding in an objective, relative to that at zero.
const ROUNDING: f64 = 1e-15;

/// Samples of which the fitted values are computed at a time: all columns pass over the same few in cache.
const SAMPLES: usize = 2048;

/// Most iterations of the quadratic solver in one step.
const MOST_INNER_ITERATIONS: u64 = 1000;

pub(crate) struct Restricted<'a> {
    pub(crate) loss: &'a dyn Loss,
    pub(crate) intercept: bool,
    /// None where there are no coefficients.
    pub(crate) penalty: Option<Box<dyn BlockPenalty>>,
    /// Squared differences of the coefficients here.
    pub(crate) links: Option<Links>,
    pub(crate) columns: Vec<f64>,
    /// The column, among those here, and the output of each coefficient.
    pub(crate) atoms: Vec<(usize, usize)>,
}

/// Coefficients and intercepts with what follows from them.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) w: Vec<f64>,
    pub(crate) b: Vec<f64>,
    pub(crate) fitted: Vec<f64>,
    pub(crate) loss: f64,
    /// With the links.
    pub(crate) penalty: f64,
}

impl Point {
    pub(crate) fn objective(&self) -> f64 {
        self.loss + self.penalty
    }
}

/// The duality gap of `w` and the scale of its dual point, given the fitted values, their balanced dual point
/// and its products with the columns of all coefficients, those with the links included.
pub(crate) fn duality_gap(
    loss: &dyn Loss,
    penalty: &dyn BlockPenalty,
    links: Option<&Links>,
    w: &[f64],
    fitted: &[f64],
    dual: &[f64],
    correlations: &[f64],
) -> (f64, f64) {
    let (scale, conjugate) = penalty.dual_point(w, correlations);
    let product: f64 =
        w.iter().zip(correlations).filter(|(w, _)| **w != 0.0).map(|(w, v)| w * (scale * v)).sum();
    let of_penalty = penalty.value(w) + conjugate - product;
    // Each edge is a sample of observation 0 with half the square of its difference as the loss.
    let of_links = links.map_or(0.0, |links| (1.0 - scale) * (1.0 - scale) * links.value(w));
    (loss.loss_gap(fitted, dual, scale) + of_penalty + of_links, scale)
}

impl Restricted<'_> {
    fn sizes(&self) -> (usize, usize) {
        (self.loss.n_samples(), self.loss.n_outputs())
    }

    pub(crate) fn atoms(&self) -> Atoms<'_> {
        let (n, c) = self.sizes();
        Atoms { columns: &self.columns, of: &self.atoms, n, c }
    }

    /// The point of coefficients and intercepts, from their definition.
    pub(crate) fn point(&self, w: Vec<f64>, b: Vec<f64>) -> Point {
        let (n, c) = self.sizes();
        let atoms = self.atoms();
        let mut fitted = vec![0.0; n * c];
        for (fitted, b) in fitted.chunks_exact_mut(n.max(1)).zip(&b) {
            fitted.fill(*b);
        }
        for first in (0..n).step_by(SAMPLES) {
            let last = n.min(first + SAMPLES);
            for (at, &w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let (_, k) = self.atoms[at];
                add_scaled(&mut fitted[k * n + first..k * n + last], w, &atoms.column(at)[first..last]);
            }
        }
        let loss = self.loss.value(&fitted);
        let penalty = self.penalty.as_ref().map_or(0.0, |penalty| penalty.value(&w))
            + self.links.as_ref().map_or(0.0, |links| links.value(&w));
        Point { w, b, fitted, loss, penalty }
    }

    /// The duality gap of a point over the coefficients here.
    pub(crate) fn gap(&self, point: &Point, mut dual: Vec<f64>) -> f64 {
        if self.intercept {
            self.loss.balance(&mut dual);
        }
        match &self.penalty {
            Some(penalty) => {
                let mut correlations = self.atoms().correlations(&dual);
                let links = self.links.as_ref();
                if let Some(links) = links {
                    links.subtract_from(&point.w, &mut correlations);
                }
                duality_gap(self.loss, &**penalty, links, &point.w, &point.fitted, &dual, &correlations).0
            }
            None => self.loss.loss_gap(&point.fitted, &dual, 1.0),
        }
    }

    pub(crate) fn dual(&self, point: &Point) -> Vec<f64> {
        let mut dual = vec![0.0; point.fitted.len()];
        self.loss.dual_point(&point.fitted, &mut dual);
        dual
    }

    /// Newton steps from `point` until the gap is at most `target`, or as small as it gets. Counts the steps
    /// in `steps`; `size` is the objective at zero.
    pub(crate) fn minimise(
        &self,
        mut point: Point,
        target: f64,
        size: f64,
        solver: &dyn QuadraticSolver,
        control: &Control<'_>,
        steps: &mut u64,
    ) -> Result<Point, Error> {
        if let Some(rows) = Rows::of(self, control) {
            let (found, is_end) = rows.minimise(point, target, control, steps);
            if is_end {
                return Ok(found);
            }
            point = found;
        }
        let (mut best, mut without_progress, mut share) = (f64::INFINITY, 0, INNER_SHARE);
        for _ in 0..MOST_STEPS {
            if *steps >= control.max_iterations || control.stopped().is_some() {
                break;
            }
            let dual = self.dual(&point);
            let gap = self.gap(&point, dual.clone());
            without_progress = if gap < 0.9 * best { 0 } else { without_progress + 1 };
            share = if gap < 0.5 * best { INNER_SHARE } else { 0.1 * share };
            best = best.min(gap);
            if gap <= target || without_progress >= PATIENCE {
                break;
            }
            *steps += 1;
            match self.step(&point, &dual, Some((solver, share.min(gap / size) * gap)), size, control) {
                Ok(Some(next)) => point = next,
                // A step that is stopped leads nowhere.
                Ok(None) | Err(Error::Stopped { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(point)
    }

    /// The intercepts that fit best without any coefficient, from `b`.
    pub(crate) fn best_intercepts(&self, b: Vec<f64>, control: &Control<'_>) -> Result<Point, Error> {
        if let Some(best) = self.loss.best_intercepts().filter(|_| self.intercept) {
            return Ok(self.point(Vec::new(), best));
        }
        let mut point = self.point(Vec::new(), b);
        for _ in 0..if self.intercept { MOST_STEPS } else { 0 } {
            let dual = self.dual(&point);
            let Some(next) = self.step(&point, &dual, None, point.loss, control)? else { break };
            let moved = |(new, old): (&f64, &f64)| (new - old).abs() > 1e-15 * (1.0 + old.abs());
            let goes_on = next.b.iter().zip(&point.b).any(moved);
            point = next;
            if !goes_on {
                break;
            }
        }
        Ok(point)
    }

    /// The point that a Newton step leads to: the minimum of the model (found by a solver to a gap), or on
    /// the way there as far as the objective falls enough. `None` where it does not fall.
    fn step(
        &self,
        point: &Point,
        dual: &[f64],
        inner: Option<(&dyn QuadraticSolver, f64)>,
        size: f64,
        control: &Control<'_>,
    ) -> Result<Option<Point>, Error> {
        let (atoms, links) = (self.atoms(), self.links.as_ref());
        let model = LocalModel::new(
            &atoms,
            self.loss,
            &point.fitted,
            dual,
            (&point.w, links),
            self.intercept,
            control,
        )?;
        let target = match (inner, &self.penalty) {
            (Some((solver, gap)), Some(penalty)) if !self.atoms.is_empty() => {
                let own_size = 0.5 * model.quadratic.target_squared_norm();
                let share = gap / own_size;
                let tolerance = if share < INNER_MOST { share.max(INNER_LEAST) } else { INNER_MOST };
                let inner = Control { tolerance, max_iterations: MOST_INNER_ITERATIONS, ..*control };
                solver.minimise(&model.quadratic, &**penalty, &point.w, &inner)?.coefficients
            }
            _ => Vec::new(),
        };
        let change: Vec<f64> = target.iter().zip(&point.w).map(|(new, old)| new - old).collect();
        let b_change = model.intercept_change(&change);
        let b = match &b_change {
            Some(change) => point.b.iter().zip(change).map(|(b, change)| b + change).collect(),
            None => point.b.clone(),
        };
        let full = self.point(target, b);
        let moved: Vec<f64> = full.fitted.iter().zip(&point.fitted).map(|(new, old)| new - old).collect();
        let slope = full.penalty - point.penalty - dot(dual, &moved);
        let rounding = ROUNDING * size.max(point.objective().abs());
        let falls = |next: &Point, length: f64| {
            let change = (next.loss - point.loss) + (next.penalty - point.penalty);
            change <= SUFFICIENT_DECREASE * length * slope.min(0.0) + rounding
        };
        if falls(&full, 1.0) {
            return Ok(Some(full));
        }
        let between = |length: f64| {
            let mix = |new: &f64, old: &f64| old + length * (new - old);
            let w = full.w.iter().zip(&point.w).map(|(new, old)| mix(new, old)).collect();
            let b = full.b.iter().zip(&point.b).map(|(new, old)| mix(new, old)).collect();
            self.point(w, b)
        };
        let mut length = 0.5;
        for _ in 0..MOST_HALVINGS {
            let next = between(length);
            if falls(&next, length) {
                return Ok(Some(next));
            }
            length *= 0.5;
        }
        Ok(None)
    }
}
