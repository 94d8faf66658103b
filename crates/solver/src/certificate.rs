//! Duality gaps and optimality conditions, from the definition.
//!
//! For `P(w) = ½‖b − Aw‖² + Ω(w)` with the residual `ρ = b − Aw` and the correlations `v = Aᵀρ`, the
//! point `tρ`, `t ∈ [0, 1]`, is dual feasible when `Ω*(tv)` is finite, and
//!
//! ```text
//! P(w) − D(tρ) = ½ (1 − t)² ‖ρ‖² + Ω(w) + Ω*(tv) − t wᵀv
//! ```
//!
//! which has no cancellation between large terms, unlike `P − D` computed as printed.
//!
//! Without a penalty on `w ≥ 0` only `t = 0` is feasible after rounding, which says nothing. There the dual
//! point is the residual of coefficients that are a little too long, `b − (1 + s) Aw`, with the smallest `s`
//! for which no correlation with it, `v − s (c − v)`, is above zero:
//!
//! ```text
//! P(w) − D(b − (1 + s) Aw) = (s + ½ s²) ‖Aw‖² − wᵀv
//! ```

use crate::{BlockPenalty, Error, InnerProducts, Penalty};

/// The certificate of a point of a least-squares problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DualityGap {
    /// `P(w)`.
    pub objective: f64,
    /// `P(w) − D`, absolute, not negative except for rounding.
    pub duality_gap: f64,
    /// The scale `t` of the dual point.
    pub dual_scale: f64,
    /// `P(0)`: gaps are relative to it.
    pub objective_at_zero: f64,
}

impl DualityGap {
    /// The gap relative to the objective at zero.
    pub fn relative_gap(&self) -> f64 {
        relative(self.duality_gap, self.objective_at_zero)
    }

    /// How far the dual optimum can be from the dual point.
    pub(crate) fn dual_distance(&self) -> f64 {
        // Rounding in the gap must not make the sphere too small.
        (2.0 * (self.duality_gap.max(0.0) + 1e-14 * self.objective_at_zero)).sqrt()
    }
}

/// `gap / objective_at_zero`, and 0 for a problem whose target is zero and solved. Infinite for a gap
/// relative to nothing.
pub fn relative(gap: f64, objective_at_zero: f64) -> f64 {
    if gap <= 0.0 {
        0.0
    } else if objective_at_zero > 0.0 {
        gap / objective_at_zero
    } else {
        f64::INFINITY
    }
}

/// Correlations below this share of the largest useful penalty are rounding, if the penalty is below it too.
const ROUNDING: f64 = 1e-8;

/// The penalty for which coefficients found for `lambda` are certified: `lambda`, or, if that is almost zero,
/// the smallest one for which their `correlations`, each divided by the weight of its atom, are feasible. At
/// zero only the dual point zero is feasible after rounding, and the gap would be useless. `largest` is the
/// largest useful penalty.
pub fn certifiable_penalty(lambda: f64, largest: f64, correlations: impl Iterator<Item = f64>) -> f64 {
    let feasible = correlations.fold(0.0, f64::max);
    if lambda.max(feasible) <= ROUNDING * largest { lambda.max(feasible) } else { lambda }
}

/// The certificate of `w`, given `correlations` `v = Aᵀ(b − Aw)` of every atom.
///
/// `cᵀw` and `‖b‖²` come from `problem`; nothing of size atoms × atoms is needed.
pub fn certify(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    w: &[f64],
    correlations: &[f64],
) -> DualityGap {
    let mut fitted_target = 0.0; // ⟨Aw, b⟩
    let mut fitted_residual = 0.0; // ⟨Aw, ρ⟩
    for ((w, v), c) in w.iter().zip(correlations).zip(problem.target_products()) {
        fitted_target += w * c;
        fitted_residual += w * v;
    }
    // ‖ρ‖² = ‖b‖² − ⟨Aw, b⟩ − ⟨Aw, ρ⟩
    let squared_residual = (problem.target_squared_norm() - fitted_target - fitted_residual).max(0.0);
    let value = penalty.value(w);
    let (t, conjugate) = penalty.dual_point(w, correlations);
    let mut duality_gap =
        0.5 * (1.0 - t) * (1.0 - t) * squared_residual + value + conjugate - t * fitted_residual;
    if t == 0.0 && value == 0.0 {
        let squared_fitted = (fitted_target - fitted_residual).max(0.0);
        duality_gap =
            duality_gap.min(gap_by_length(problem, penalty, correlations, squared_fitted) - fitted_residual);
    }
    DualityGap {
        objective: 0.5 * squared_residual + value,
        duality_gap,
        dual_scale: t,
        objective_at_zero: 0.5 * problem.target_squared_norm(),
    }
}

/// `(s + ½ s²) ‖Aw‖²` for the smallest `s`; infinity where there is none.
fn gap_by_length(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    correlations: &[f64],
    squared_fitted: f64,
) -> f64 {
    let mut s = 0.0_f64;
    for (v, c) in correlations.iter().zip(problem.target_products()) {
        if *v > 0.0 {
            s = s.max(if c > v { v / (c - v) } else { f64::INFINITY });
        }
    }
    // At zero by the choice of `s`, up to rounding.
    let moved = |(v, c): (&f64, &f64)| if *v > 0.0 { (v - s * (c - v)).min(0.0) } else { v - s * (c - v) };
    let dual: Vec<f64> = correlations.iter().zip(problem.target_products()).map(moved).collect();
    if s.is_finite() { (s + 0.5 * s * s) * squared_fitted + penalty.conjugate(&dual) } else { f64::INFINITY }
}

/// The products `⟨Aⱼ, b − Aw⟩` of every atom, computed from the definition.
///
/// # Errors
/// [`Error::ShapeMismatch`] for the wrong number of coefficients; what the products of `problem` return.
pub fn correlations(problem: &dyn InnerProducts, w: &[f64]) -> Result<Vec<f64>, Error> {
    let n = problem.n_atoms();
    if w.len() != n {
        return Err(Error::ShapeMismatch { what: "coefficients", expected: n, found: w.len() });
    }
    let support: Vec<usize> = (0..n).filter(|&j| w[j] != 0.0).collect();
    let rows: Vec<usize> = (0..n).collect();
    let weights: Vec<f64> = support.iter().map(|&j| w[j]).collect();
    let mut correlations = problem.target_products().to_vec();
    problem.subtract_fitted(&rows, &support, &weights, &mut correlations)?;
    Ok(correlations)
}

/// Whether the gap-safe sphere proves that block `block` is zero at every optimum (Ndiaye, Fercoq,
/// Gramfort and Salmon 2017): the penalty's test with the correlations at the dual point, which move by at
/// most `‖Aⱼ‖ √(2 gap)` up to the dual optimum.
///
/// `certificate` is that of the point which `correlations` belong to.
pub fn is_screened(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    certificate: &DualityGap,
    correlations: &[f64],
    block: usize,
) -> bool {
    let distance = certificate.dual_distance();
    is_held(problem, penalty, block, |j| (certificate.dual_scale * correlations[j], distance))
}

/// Whether the penalty holds a block at zero at every dual point in a neighbourhood: `around(j)` is the
/// correlation of atom `j` in its centre, and how far from there the point may be.
pub(crate) fn is_held(
    problem: &dyn InnerProducts,
    penalty: &dyn BlockPenalty,
    block: usize,
    around: impl Fn(usize) -> (f64, f64),
) -> bool {
    let interval = |j: usize| {
        let (value, distance) = around(j);
        (value, distance * problem.squared_norms()[j].sqrt())
    };
    match *penalty.blocks().block(block) {
        [j] => {
            let (value, radius) = interval(j);
            penalty.is_screened(block, &[value], &[radius])
        }
        ref members => {
            let (values, radii): (Vec<f64>, Vec<f64>) = members.iter().map(|&j| interval(j)).unzip();
            penalty.is_screened(block, &values, &radii)
        }
    }
}

/// The largest violation of the optimality conditions: `maxⱼ |wⱼ − prox(w − s∇f(w))ⱼ| / s` with step `s`.
///
/// Zero exactly at the optimum of a convex problem, in the unit of the gradient.
pub fn kkt_violation(penalty: &dyn Penalty, w: &[f64], gradient: &[f64], step: f64) -> f64 {
    let mut moved: Vec<f64> = w.iter().zip(gradient).map(|(w, g)| w - step * g).collect();
    penalty.prox(&mut moved, step);
    moved.iter().zip(w).fold(0.0_f64, |worst, (m, w)| worst.max((m - w).abs())) / step
}
