//! Probabilities of values at least as extreme as the one found.

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_ur;

/// `P(|T| ≥ |t|)` for Student's distribution with `freedom > 0`.
pub(super) fn student(t: f64, freedom: f64) -> f64 {
    fisher_snedecor(t * t, 1.0, freedom)
}

/// `P(F ≥ f)` for the F distribution: the incomplete beta function of `d₂ / (d₂ + d₁ f)`, which keeps its
/// digits however small the probability is.
pub(super) fn fisher_snedecor(f: f64, numerator: f64, denominator: f64) -> f64 {
    if f.is_nan() {
        return f64::NAN;
    }
    if f <= 0.0 {
        return 1.0;
    }
    let x = denominator / (denominator + numerator * f);
    checked_beta_reg(0.5 * denominator, 0.5 * numerator, x).map_or(f64::NAN, |p| p.clamp(0.0, 1.0))
}

/// `P(X ≥ x)` for the chi-squared distribution.
pub(super) fn chi_squared(x: f64, freedom: f64) -> f64 {
    if x.is_nan() {
        f64::NAN
    } else if x <= 0.0 || freedom <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        checked_gamma_ur(0.5 * freedom, 0.5 * x).map_or(f64::NAN, |p| p.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-10 * expected, "{found} and {expected}");
    }

    /// Closed forms: t with 1 and 2 degrees of freedom, F with 2 in the numerator, chi² with 2.
    #[test]
    fn tails_are_those_of_closed_forms() {
        for t in [0.1_f64, 1.0, 7.5, 1e3] {
            close(student(t, 1.0), std::f64::consts::FRAC_2_PI * (1.0 / t).atan());
            let root = (t * t + 2.0).sqrt();
            close(student(t, 2.0), 2.0 / (root * (root + t)));
            close(fisher_snedecor(t, 2.0, 9.0), (1.0 + 2.0 * t / 9.0).powf(-4.5));
        }
        for x in [0.5, 3.0, 80.0, 600.0_f64] {
            close(chi_squared(x, 2.0), (-0.5 * x).exp());
        }
    }

    #[test]
    fn ends_are_certain() {
        assert_eq!((student(0.0, 3.0), student(f64::INFINITY, 3.0)), (1.0, 0.0));
        assert_eq!((chi_squared(0.0, 3.0), chi_squared(f64::INFINITY, 3.0)), (1.0, 0.0));
        assert!(fisher_snedecor(f64::NAN, 1.0, 1.0).is_nan() && chi_squared(f64::NAN, 1.0).is_nan());
    }
}
