//! Extrapolation of a sequence of points (Anderson 1965; Bertrand and Massias 2021).

use nalgebra::{DMatrix, DVector};

/// The weights of all `points` but the first, adding up to 1, for which the combination of their last
/// steps is shortest: if the steps of a descent shrink by constant factors, this combination is near its
/// limit.
///
/// With the steps `U = (w¹ − w⁰, …)` the weights are `z / Σz` with `UᵀU z = 1`. `None` where rounding leaves
/// no such weights.
///
/// ```
/// use fewest_solver::extrapolation_weights;
/// // Each step is half the one before: the limit is 2.
/// let weights = extrapolation_weights(&[&[0.0], &[1.0], &[1.5]]).unwrap_or_default();
/// assert!((weights[0] + 1.5 * weights[1] - 2.0).abs() < 1e-3);
/// ```
pub fn extrapolation_weights(points: &[&[f64]]) -> Option<Vec<f64>> {
    let depth = points.len().checked_sub(1)?;
    let step = |pair: &[&[f64]]| {
        let changes = pair[1].iter().zip(pair[0]).map(|(new, old)| new - old);
        DVector::from_iterator(pair[0].len(), changes)
    };
    let steps: Vec<DVector<f64>> = points.windows(2).map(step).collect();
    let mut gram = DMatrix::zeros(depth, depth);
    for (i, a) in steps.iter().enumerate() {
        for (j, b) in steps.iter().enumerate() {
            gram[(i, j)] = a.dot(b);
        }
    }
    // Steps of a descent soon become parallel; a small ridge keeps the weights bounded.
    let ridge = 1e-12 * gram.trace();
    for i in 0..depth {
        gram[(i, i)] += ridge;
    }
    let z = gram.cholesky()?.solve(&DVector::from_element(depth, 1.0));
    let sum = z.sum();
    let weights: Vec<f64> = z.iter().map(|z| z / sum).collect();
    weights.iter().all(|weight| weight.is_finite()).then_some(weights)
}
