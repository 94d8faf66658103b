//! Limited-memory BFGS for smooth strongly convex functions whose curvature has a diagonal bound.

use std::collections::VecDeque;

use fewest_core::Status;
use fewest_linalg::{add_scaled, dot};

/// Number of steps stored.
const MEMORY: usize = 10;

/// A differentiable function of many variables.
pub(super) trait Objective {
    /// The value at `at`; the gradient there is written into `gradient`.
    fn evaluate(&mut self, at: &[f64], gradient: &mut [f64]) -> f64;

    /// A bound on the curvature along each variable: the initial diagonal Hessian.
    fn curvature(&self) -> &[f64];
}

/// How a minimisation ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    pub status: Status,
    /// The squared norm of the gradient.
    pub squared_gradient: f64,
    pub iterations: usize,
}

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    product: f64,
}

/// The two-loop recursion: the approximate inverse Hessian, applied to `gradient`.
fn apply_inverse(pairs: &VecDeque<Pair>, curvature: &[f64], gradient: &[f64]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    let mut factors = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let factor = dot(&pair.step, &direction) / pair.product;
        add_scaled(&mut direction, -factor, &pair.change);
        factors.push(factor);
    }
    let scale = pairs.back().map_or(1.0, |pair| {
        let squares: f64 =
            pair.change.iter().zip(curvature).map(|(change, bound)| change * change / bound).sum();
        pair.product / squares
    });
    for (value, bound) in direction.iter_mut().zip(curvature) {
        *value *= scale / bound;
    }
    for (pair, factor) in pairs.iter().zip(factors.iter().rev()) {
        let back = dot(&pair.change, &direction) / pair.product;
        add_scaled(&mut direction, factor - back, &pair.step);
    }
    direction
}

/// Minimises from `at` until the squared norm of the gradient is at most `goal`.
pub(super) fn minimise(
    objective: &mut impl Objective,
    at: &mut Vec<f64>,
    goal: f64,
    max_iterations: usize,
) -> Ending {
    let mut gradient = vec![0.0; at.len()];
    let mut value = objective.evaluate(at, &mut gradient);
    let mut pairs: VecDeque<Pair> = VecDeque::with_capacity(MEMORY);
    let mut next_gradient = vec![0.0; at.len()];
    let mut iterations = 0;
    loop {
        let squared_gradient = dot(&gradient, &gradient);
        let end = |status| Ending { status, squared_gradient, iterations };
        if squared_gradient <= goal {
            return end(Status::Converged);
        }
        if iterations == max_iterations {
            return end(Status::MaxIterations);
        }
        let mut direction = apply_inverse(&pairs, objective.curvature(), &gradient);
        if dot(&direction, &gradient).partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            pairs.clear();
            direction = apply_inverse(&pairs, objective.curvature(), &gradient);
        }
        let slope = dot(&direction, &gradient);
        let mut length = 1.0;
        let (next, next_value) = loop {
            let mut next = at.clone();
            add_scaled(&mut next, -length, &direction);
            let next_value = objective.evaluate(&next, &mut next_gradient);
            if next_value <= value - 1e-4 * length * slope {
                break (next, next_value);
            }
            length *= 0.5;
            if length < 1e-12 {
                return end(Status::Stalled);
            }
        };
        let step: Vec<f64> = next.iter().zip(at.iter()).map(|(next, at)| next - at).collect();
        let change: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(next, old)| next - old).collect();
        let product = dot(&step, &change);
        if product > 0.0 {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back(Pair { step, change, product });
        }
        *at = next;
        value = next_value;
        std::mem::swap(&mut gradient, &mut next_gradient);
        iterations += 1;
    }
}
