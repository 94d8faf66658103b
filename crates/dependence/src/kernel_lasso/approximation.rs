//! What approximated atoms leave of error in the scores.

use fewest_core::{Approximation, Error};
use fewest_linalg::Cholesky;
use fewest_solver::InnerProducts;

/// Most features for which the error is estimated: a factorisation of their Gram matrix.
const MOST_FEATURES: usize = 1000;

/// The error of the `coefficients` of a lasso over atoms that stand for others; `None` where they are exact,
/// or too many.
///
/// With the support `S` and its Gram matrix, `w_S = G⁻¹ (c − λ)`, so to first order `δw = G⁻¹ (δc − δG w)`.
/// With atoms and target off by a share `η` of their norms, `|δcⱼ| ≤ 2η ‖Aⱼ‖ ‖b‖` and `|δGⱼₖ| ≤ 2η ‖Aⱼ‖
/// ‖Aₖ‖`.
///
/// # Errors
/// [`Error::Unreadable`] for atoms that cannot be built.
pub(super) fn estimate(
    problem: &dyn InnerProducts,
    coefficients: &[(usize, f64)],
) -> Result<Option<Approximation>, Error> {
    let error = problem.atoms().approximation_error;
    let n = coefficients.len();
    if error == 0.0 || n == 0 || n > MOST_FEATURES {
        return Ok(None);
    }
    let support: Vec<usize> = coefficients.iter().map(|&(j, _)| j).collect();
    let norms: Vec<f64> = support.iter().map(|&j| problem.squared_norms()[j].sqrt()).collect();
    let fitted: f64 = coefficients.iter().zip(&norms).map(|(&(_, w), norm)| w.abs() * norm).sum();
    let mut gram = vec![0.0; n * n];
    problem.products(&support, &support, &mut gram)?;
    let size = 2.0 * error * (problem.target_squared_norm().sqrt() + fitted);
    let largest_error = Cholesky::of(gram, n).map_or(f64::INFINITY, |factor| {
        // Rows of the inverse, which is symmetric.
        let row = |i: usize| -> f64 {
            let mut unit = vec![0.0_f64; n];
            unit[i] = 1.0;
            factor.solve(&mut unit);
            unit.iter().zip(&norms).map(|(value, norm)| value.abs() * norm).sum()
        };
        size * (0..n).map(row).fold(0.0, f64::max)
    });
    let largest = coefficients.iter().fold(0.0_f64, |most, &(_, w)| most.max(w.abs()));
    Ok(Some(Approximation::Estimate { relative: largest_error / largest }))
}
