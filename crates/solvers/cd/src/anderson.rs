//! Extrapolation of the sweeps (Anderson 1965; Bertrand and Massias 2021).

use nalgebra::{DMatrix, DVector};

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
    /// Takes note of the current point; every `DEPTH + 1` points, moves `descent` to the affine combination
    /// of them whose combined last steps are shortest, if that lowers the objective.
    ///
    /// With the steps `U = (w¹ − w⁰, …)`, the weights are `z / Σz` with `UᵀU z = 1`. The correlations are
    /// affine in `w`, so they are combined alike and no product with `G` is needed.
    pub(crate) fn after_sweep(&mut self, descent: &mut Descent<'_>) {
        self.points.push(Point { w: descent.w.clone(), correlations: descent.correlations.clone() });
        if self.points.len() <= DEPTH {
            return;
        }
        if let Some(weights) = self.weights() {
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

    fn weights(&self) -> Option<Vec<f64>> {
        let mut gram = DMatrix::zeros(DEPTH, DEPTH);
        let step = |pair: &[Point]| {
            let changes = pair[1].w.iter().zip(&pair[0].w).map(|(new, old)| new - old);
            DVector::from_iterator(pair[0].w.len(), changes)
        };
        let steps: Vec<DVector<f64>> = self.points.windows(2).map(step).collect();
        for (i, a) in steps.iter().enumerate() {
            for (j, b) in steps.iter().enumerate() {
                gram[(i, j)] = a.dot(b);
            }
        }
        // Steps of a descent soon become parallel; a little ridge keeps the weights from exploding.
        let ridge = 1e-12 * gram.trace();
        for i in 0..DEPTH {
            gram[(i, i)] += ridge;
        }
        let z = gram.cholesky()?.solve(&DVector::from_element(DEPTH, 1.0));
        let sum = z.sum();
        let weights: Vec<f64> = z.iter().map(|z| z / sum).collect();
        weights.iter().all(|weight| weight.is_finite()).then_some(weights)
    }
}

fn add(weight: f64, values: &[f64], sum: &mut [f64]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += weight * value;
    }
}
