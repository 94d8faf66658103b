//! The inner problem of one outer iteration: the augmented dual function and its minimisation.

use fewest_linalg::{add_scaled, dot};
use fewest_solver::{BlockPenalty, DualDatafit, LinearOperator};

use crate::active::Active;
use crate::columns::{Columns, norm};
use crate::newton;

/// Newton steps allowed for one inner problem.
const MOST_NEWTON_STEPS: usize = 100;
/// Share of the predicted decrease that a step must achieve (Armijo).
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Times a step may be halved.
const MOST_HALVINGS: usize = 40;
/// Share of the way to the domain's boundary that a step may go.
const INTERIOR: f64 = 0.99;
/// Relative rounding error allowed for in values of the augmented function.
const VALUE_ROUNDING: f64 = 1e-14;
/// Relative rounding error allowed for in its gradient.
const GRADIENT_ROUNDING: f64 = 1e-15;

/// `φ(α) = ℓ*(−α) + max over p of [ pᵀu/η − ‖p‖²/(2η) − Ω(p) ]`, `u = w + η Aᵀα`.
pub(crate) struct Inner<'a, D> {
    pub datafit: &'a D,
    pub penalty: &'a dyn BlockPenalty,
    /// `w`, the coefficients of the outer iteration.
    pub center: &'a [f64],
    /// `η`, the proximal step of the outer iteration.
    pub eta: f64,
}

/// The result of minimising the inner problem.
pub(crate) struct InnerSolution {
    /// `prox(w + η Aᵀα)`.
    pub coefficients: Vec<f64>,
    /// `A` times them.
    pub fitted: Vec<f64>,
    /// Newton steps taken.
    pub newton_steps: usize,
    /// Whether the stopping criterion was met, or all that rounding allows.
    pub solved: bool,
}

/// `φ` at a dual point.
struct Point {
    dual: Vec<f64>,
    correlations: Vec<f64>,
    shifted: Vec<f64>,
    coefficients: Vec<f64>,
    value: f64,
    /// The sum of the absolute values that cancel in `value`.
    magnitude: f64,
}

impl<D: DualDatafit> Inner<'_, D> {
    fn point(&self, dual: Vec<f64>, correlations: Vec<f64>) -> Point {
        let shifted: Vec<f64> =
            self.center.iter().zip(&correlations).map(|(w, v)| w + self.eta * v).collect();
        let mut coefficients = shifted.clone();
        self.penalty.prox(&mut coefficients, self.eta);
        // The maximum is 0 where p = 0, so few blocks contribute.
        let inner: f64 = shifted
            .iter()
            .zip(&coefficients)
            .filter(|(_, p)| **p != 0.0)
            .map(|(u, p)| p * (u - 0.5 * p))
            .sum::<f64>()
            / self.eta;
        let penalty = self.penalty.value(&coefficients);
        let conjugate = self.datafit.conjugate(&dual);
        let magnitude = conjugate.abs() + inner.abs() + penalty;
        Point { dual, correlations, shifted, coefficients, value: conjugate + (inner - penalty), magnitude }
    }

    /// `∇φ = ∇(ℓ*(−α)) + A p`, and the size of what cancels in it.
    fn gradient(&self, point: &Point, fitted: &[f64]) -> (Vec<f64>, f64) {
        let mut gradient = vec![0.0; fitted.len()];
        self.datafit.conjugate_gradient(&point.dual, &mut gradient);
        let magnitude = norm(&gradient) + norm(fitted);
        add_scaled(&mut gradient, 1.0, fitted);
        (gradient, magnitude)
    }

    /// Minimises `φ` by semismooth Newton steps from `dual`, whose `Aᵀα` is `correlations`.
    ///
    /// Stops when `‖∇φ‖ ≤ √(γ/η) ‖p − w‖` with `1/γ` the largest curvature of the loss: accurate enough
    /// for the outer iterations to converge super-linearly.
    pub(crate) fn minimise(
        &self,
        columns: &mut Columns,
        dual: Vec<f64>,
        correlations: Vec<f64>,
    ) -> InnerSolution {
        let operator = self.datafit.operator();
        let n_rows = dual.len();
        let mut point = self.point(dual, correlations);
        let mut fitted = columns.apply(operator, &point.coefficients);
        let (mut gradient, mut magnitude) = self.gradient(&point, &fitted);
        let first = norm(&gradient);
        let sharpness = (self.datafit.largest_curvature() * self.eta).sqrt().recip();
        let mut curvature = vec![0.0; n_rows];
        let mut newton_steps = 0;
        let mut solved = false;
        loop {
            let size = norm(&gradient);
            let moved: f64 =
                point.coefficients.iter().zip(self.center).map(|(p, w)| (p - w) * (p - w)).sum::<f64>();
            if size <= sharpness * moved.sqrt() || size <= GRADIENT_ROUNDING * magnitude {
                solved = true;
                break;
            }
            if newton_steps == MOST_NEWTON_STEPS || !size.is_finite() {
                break;
            }
            self.datafit.conjugate_curvature(&point.dual, &mut curvature);
            let active = Active::new(self.penalty, &point.shifted, &point.coefficients, self.eta);
            let accuracy = (size / first).sqrt().min(0.1);
            let Some(direction) =
                newton::direction(operator, columns, &active, &curvature, &gradient, self.eta, accuracy)
            else {
                break;
            };
            let Some((next, next_fitted)) = self.search(columns, &point, &gradient, &direction) else {
                break;
            };
            newton_steps += 1;
            let (next_gradient, next_magnitude) = self.gradient(&next, &next_fitted);
            let stuck = next.value >= point.value && norm(&next_gradient) >= size;
            (point, fitted, gradient, magnitude) = (next, next_fitted, next_gradient, next_magnitude);
            if stuck {
                break;
            }
        }
        InnerSolution { coefficients: point.coefficients, fitted, newton_steps, solved }
    }

    /// The first of the steps 1, ½, ¼, … that decreases `φ` enough. One pass, for `Aᵀd`.
    fn search(
        &self,
        columns: &mut Columns,
        point: &Point,
        gradient: &[f64],
        direction: &[f64],
    ) -> Option<(Point, Vec<f64>)> {
        let operator = self.datafit.operator();
        let slope = dot(gradient, direction);
        if slope >= 0.0 || !slope.is_finite() {
            return None;
        }
        let mut change = vec![0.0; point.correlations.len()];
        operator.apply_transpose(direction, &mut change);
        let mut step = (INTERIOR * self.datafit.longest_step(&point.dual, direction)).min(1.0);
        for _ in 0..MOST_HALVINGS {
            let mut dual = point.dual.clone();
            add_scaled(&mut dual, step, direction);
            let mut correlations = point.correlations.clone();
            add_scaled(&mut correlations, step, &change);
            let next = self.point(dual, correlations);
            let rounding = VALUE_ROUNDING * (point.magnitude + next.magnitude);
            if next.value <= point.value + SUFFICIENT_DECREASE * step * slope {
                let fitted = columns.apply(operator, &next.coefficients);
                return Some((next, fitted));
            }
            // Close to the minimum the decrease is below rounding; the slope is not (Hager and Zhang
            // 2005).
            if next.value <= point.value + rounding {
                let fitted = columns.apply(operator, &next.coefficients);
                let (next_gradient, _) = self.gradient(&next, &fitted);
                if dot(&next_gradient, direction) <= (2.0 * SUFFICIENT_DECREASE - 1.0) * slope {
                    return Some((next, fitted));
                }
            }
            step *= 0.5;
        }
        None
    }
}
