//! The certificate of a point, from the definition.
//!
//! With `e = t − Kβ − rβ` the objective falls when a variable of large `e` rises and one of small `e` falls:
//!
//! ```text
//! m(β) = max { e_i − ε_i sign⁺(β_i) : β_i < u_i },      sign⁺(0) = 1
//! M(β) = min { e_i − ε_i sign⁻(β_i) : β_i > l_i },      sign⁻(0) = −1
//! ```
//!
//! and `β` is optimal exactly if `m(β) ≤ M(β)`. For any bias `b`, with `h_i(β) = ½ r_i β² + ε_i |β|` on
//! `[l_i, u_i]` and its conjugate `h_i*(v) = max_β vβ − h_i(β)`,
//!
//! ```text
//! gap(b) = Σ_i  h_i(β_i) + h_i*(v_i) − v_i β_i,      v_i = t_i − (Kβ)_i − b
//! ```
//!
//! bounds the distance of the objective from its minimum; for a support vector machine it is the primal
//! objective of the machine with bias `b` minus the dual objective. All terms are at least 0, so nothing
//! cancels.

use fewest_solver::{Certificate, Error};

use crate::{DualProblem, passes, rows};

/// The rounding error allowed for `βᵀKβ`, relative to `(Σ |β_i| √K_ii)²`.
const ROUNDING: f64 = 1e-11;

/// The certificate of a point of a [`DualProblem`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SvmCertificate {
    /// The minimised objective, minus the dual objective of the literature.
    pub objective: f64,
    /// `m(β) − M(β)`, at most 0 at an optimum.
    pub violation: f64,
    /// `gap(bias)`, absolute.
    pub duality_gap: f64,
    /// The mean of `e_i − ε_i sign(β_i)` over the free variables, which is the same for all at an
    /// optimum; without free variables the middle between `m(β)` and `M(β)`.
    pub bias: f64,
    /// Whether the kernel was found not to be positive semidefinite: then the gap is no bound.
    pub indefinite: bool,
}

impl SvmCertificate {
    /// The relative gap as a certificate; none if the kernel is not positive semidefinite.
    pub(crate) fn certificate(&self) -> Certificate {
        if self.indefinite { Certificate::None } else { Certificate::gap(self.relative_gap()) }
    }

    /// The gap relative to the larger of the primal and the dual objective.
    pub fn relative_gap(&self) -> f64 {
        if self.indefinite {
            return f64::MAX;
        }
        relative(self.duality_gap, self.objective)
    }
}

/// `gap` relative to the larger of the primal and the dual objective.
pub(crate) fn relative(gap: f64, objective: f64) -> f64 {
    if gap <= 0.0 {
        return 0.0;
    }
    (gap / (gap - objective).abs().max(objective.abs())).min(f64::MAX)
}

/// The rate at which the objective falls when `β_i` is raised, less `e_i`; minus infinity at the upper bound.
pub(crate) fn upward(problem: &DualProblem<'_>, i: usize, value: f64) -> f64 {
    match value {
        _ if value >= problem.upper[i] => f64::NEG_INFINITY,
        _ if value >= 0.0 => -problem.absolute_weights[i],
        _ => problem.absolute_weights[i],
    }
}

/// The rate at which the objective rises when `β_i` is lowered, less `e_i`; infinity at the lower bound.
pub(crate) fn downward(problem: &DualProblem<'_>, i: usize, value: f64) -> f64 {
    match value {
        _ if value <= problem.lower[i] => f64::INFINITY,
        _ if value > 0.0 => -problem.absolute_weights[i],
        _ => problem.absolute_weights[i],
    }
}

/// `e = t − Kβ − rβ`, from the rows of the non-zero variables.
///
/// # Errors
/// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a kernel value that is not finite.
pub fn errors(problem: &DualProblem<'_>, coefficients: &[f64]) -> Result<Vec<f64>, Error> {
    const AT_ONCE: usize = 8;
    let n = problem.n_variables();
    if coefficients.len() != n {
        return Err(Error::ShapeMismatch { what: "coefficients", expected: n, found: coefficients.len() });
    }
    let mut errors: Vec<f64> =
        (0..n).map(|i| problem.targets[i] - problem.ridges[i] * coefficients[i]).collect();
    let support: Vec<usize> = (0..n).filter(|&i| coefficients[i] != 0.0).collect();
    let mut buffer = vec![0.0; n * AT_ONCE.min(support.len())];
    for indices in support.chunks(AT_ONCE) {
        let values = &mut buffer[..n * indices.len()];
        problem.kernel.rows(indices, values);
        for (&i, row) in indices.iter().zip(values.chunks_exact(n)) {
            passes::subtract(&mut errors, row, coefficients[i]);
        }
    }
    if errors.iter().any(|value| !value.is_finite()) {
        // The value at fault is searched only when the product is not finite.
        for &i in &support {
            problem.kernel.row(i, &mut buffer[..n]);
            if let Some(j) = buffer[..n].iter().position(|value| !value.is_finite()) {
                return Err(rows::not_finite(i, j, buffer[j]));
            }
        }
        let hint = "scale the kernel or lower the cost".to_owned();
        return Err(Error::Numerical { what: "the product of kernel and coefficients", hint });
    }
    Ok(errors)
}

/// The certificate of `coefficients` from the definition: one row of the kernel for each that is not 0.
///
/// # Errors
/// As [`errors`].
pub fn certify(problem: &DualProblem<'_>, coefficients: &[f64]) -> Result<SvmCertificate, Error> {
    Ok(assess(problem, coefficients, &errors(problem, coefficients)?))
}

/// The certificate, given `e`.
pub(crate) fn assess(problem: &DualProblem<'_>, coefficients: &[f64], errors: &[f64]) -> SvmCertificate {
    let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut free, mut n_free) = (0.0, 0.0);
    let (mut objective, mut quadratic, mut size) = (0.0, 0.0, 0.0);
    for (i, (&value, &error)) in coefficients.iter().zip(errors).enumerate() {
        highest = highest.max(error + upward(problem, i, value));
        lowest = lowest.min(error + downward(problem, i, value));
        let kink = problem.absolute_weights[i] * value.abs();
        if problem.is_free(i, value) {
            free += error - if kink > 0.0 { problem.absolute_weights[i] * value.signum() } else { 0.0 };
            n_free += 1.0;
        }
        // ½ βᵀ(K + r)β − tᵀβ = −½ Σ β_i (t_i + e_i)
        objective += kink - 0.5 * value * (problem.targets[i] + error);
        quadratic += value * (problem.targets[i] - error);
        size += value.abs() * problem.kernel.diagonal(i).abs().sqrt();
    }
    let bias = match (highest.is_finite(), lowest.is_finite()) {
        _ if n_free > 0.0 => free / n_free,
        (true, true) => 0.5 * (highest + lowest),
        (true, false) => highest,
        (false, true) => lowest,
        (false, false) => 0.0,
    };
    let gaps = (0..errors.len()).map(|i| gap(problem, i, coefficients[i], errors[i] - bias));
    let duality_gap = gaps.sum();
    // For a semidefinite kernel no term |β_i K_ij β_j| exceeds its part of size², so the rounding error of
    // the form is a tiny share of it.
    let indefinite = problem.sum == 0.0 && quadratic < -ROUNDING * size * size;
    SvmCertificate { objective, violation: highest - lowest, duality_gap, bias, indefinite }
}

/// `h_i(β_i) + h_i*(v_i) − v_i β_i`, given `e_i − b = v_i − r_i β_i`.
pub(crate) fn gap(problem: &DualProblem<'_>, i: usize, value: f64, error: f64) -> f64 {
    let (ridge, kink) = (problem.ridges[i], problem.absolute_weights[i]);
    let v = error + ridge * value;
    let beyond = if v > kink {
        v - kink
    } else if v < -kink {
        v + kink
    } else {
        0.0
    };
    let best = match beyond {
        _ if ridge > 0.0 => beyond / ridge,
        0.0 => 0.0,
        _ => beyond * f64::INFINITY,
    };
    let best = best.clamp(problem.lower[i], problem.upper[i]);
    // h_i(β) − h_i(best) − v (β − best)
    let term = 0.5 * ridge * (value - best) * (value + best) + kink * (value.abs() - best.abs())
        - v * (value - best);
    term.max(0.0)
}
