//! Probabilities of values at least as extreme as the one found.

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_ur;

/// `P(|Z| ≥ z)` of a standard normal variable, whose square has a chi-squared distribution: more digits than
/// by the error function of the library.
pub(crate) fn normal(z: f64) -> f64 {
    chi_squared(z * z, 1.0)
}

/// `P(X ≥ x)` of the chi-squared distribution.
pub(crate) fn chi_squared(x: f64, freedom: f64) -> f64 {
    if x <= 0.0 || freedom <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        checked_gamma_ur(0.5 * freedom, 0.5 * x).map_or(f64::NAN, |p| p.clamp(0.0, 1.0))
    }
}

/// `P(F ≥ f)` of the F distribution, `f` given by what is left of a sum of squares: `rest / before`, with
/// `f = (before − rest) / m / (rest / freedom)`. It keeps its digits however small the probability is.
pub(crate) fn fisher_snedecor(rest_of_before: f64, m: f64, freedom: f64) -> f64 {
    let share = rest_of_before.clamp(0.0, 1.0);
    checked_beta_reg(0.5 * freedom, 0.5 * m, share).map_or(f64::NAN, |p| p.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed forms: F with 2 in the numerator, chi² with 2; the chi² of a square is normal.
    #[test]
    fn tails_are_those_of_closed_forms() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() <= 1e-10 * expected, "{found} and {expected}");
        };
        for x in [0.01, 0.5, 3.0, 80.0, 600.0_f64] {
            close(chi_squared(x, 2.0), (-0.5 * x).exp());
            close(fisher_snedecor(1.0 / (1.0 + 2.0 * x / 9.0), 2.0, 9.0), (1.0 + 2.0 * x / 9.0).powf(-4.5));
        }
        // Digits of tables.
        close(normal(1.0), 0.317_310_507_862_914_1);
        close(normal(4.0), 6.334_248_366_623_996e-5);
        assert_eq!((normal(0.0), chi_squared(0.0, 3.0), chi_squared(f64::INFINITY, 1.0)), (1.0, 1.0, 0.0));
        assert_eq!((fisher_snedecor(1.0, 1.0, 5.0), fisher_snedecor(0.0, 1.0, 5.0)), (1.0, 0.0));
    }
}
