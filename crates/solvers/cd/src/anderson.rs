//! Extrapolation of the sweeps (Anderson 1965; Bertrand and Massias 2021).

use fewest_solver::extrapolation_weights;

use crate::sweep::{Descent, objective};

/// Sweeps combined at a time.
const DEPTH: usize = 5;

/// A point of a descent.
struct Point {
    w: Vec<f64>,
    correlations: Vec<f64>,
}

/// The latest points of a descent, from which a better one is extrapolated.
#[derive(Default)]
pub(crate) struct Extrapolation {
    points: Vec<Point>,
}

impl Extrapolation {
    /// Stores the current point; every `DEPTH + 1` points, moves `descent` to the affine combination of them
    /// whose combined last steps are shortest, if that lowers the objective.
    ///
    /// The correlations are affine in `w`, so they are combined alike and no product with `G` is needed.
    pub(crate) fn after_sweep(&mut self, descent: &mut Descent<'_>) {
        self.points.push(Point { w: descent.w.clone(), correlations: descent.correlations.clone() });
        if self.points.len() <= DEPTH {
            return;
        }
        let coefficients: Vec<&[f64]> = self.points.iter().map(|point| point.w.as_slice()).collect();
        if let Some(weights) = extrapolation_weights(&coefficients) {
            let n = descent.w.len();
            let mut mixed = Point { w: vec![0.0; n], correlations: vec![0.0; n] };
            for (&weight, point) in weights.iter().zip(&self.points[1..]) {
                add(weight, &point.w, &mut mixed.w);
                add(weight, &point.correlations, &mut mixed.correlations);
            }
            let value = objective(descent.problem, descent.penalty, &mixed.w, &mixed.correlations);
            if value < descent.objective() {
                descent.w = mixed.w;
                descent.correlations = mixed.correlations;
            }
        }
        self.points.clear();
    }
}

fn add(weight: f64, values: &[f64], sum: &mut [f64]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += weight * value;
    }
}
