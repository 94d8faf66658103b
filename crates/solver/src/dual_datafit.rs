//! Losses whose convex conjugate is known, for solvers that work in the dual.

use crate::loss::{self, log_loss, misfit};
use crate::{Datafit, LinearOperator, Logistic, SquaredLoss};

/// A datafit `f(w) = ℓ(Aw)` with the conjugate of its loss `ℓ`, sample by sample.
///
/// Dual points `α` have one entry per row of `A`; the one that belongs to `w` is `α = −∇ℓ(Aw)`. All
/// methods that take `fitted` take `z = Aw`. The Fenchel dual of `f + Ω` is to maximise
/// `−ℓ*(−α) − Ω*(Aᵀα)`.
pub trait DualDatafit: Datafit {
    /// The type of `A`.
    type Operator: LinearOperator;

    /// `A`.
    fn operator(&self) -> &Self::Operator;

    /// `ℓ(z)`.
    fn loss(&self, fitted: &[f64]) -> f64;

    /// Writes `α = −∇ℓ(z)`.
    fn dual_point(&self, fitted: &[f64], out: &mut [f64]);

    /// The largest curvature of the loss: the Lipschitz constant of `∇ℓ`.
    fn largest_curvature(&self) -> f64;

    /// Writes the gradient of `α ↦ ℓ*(−α)`; its root is where `α = −∇ℓ(0)`.
    fn conjugate_gradient(&self, dual: &[f64], out: &mut [f64]);

    /// Writes the Hessian of `α ↦ ℓ*(−α)`, which is diagonal: positive, and at `α = −∇ℓ(z)` the inverse of
    /// `ℓ''(z)`.
    fn conjugate_curvature(&self, dual: &[f64], out: &mut [f64]);

    /// `ℓ*(−α)`; infinite outside its domain.
    ///
    /// The default follows from the equality of Fenchel and Young for the gradient `g` of `α ↦ ℓ*(−α)`,
    /// `αᵀg − ℓ(−g)`: for losses whose conjugate is finite everywhere.
    fn conjugate(&self, dual: &[f64]) -> f64 {
        let mut fitted = vec![0.0; dual.len()];
        self.conjugate_gradient(dual, &mut fitted);
        let product: f64 = dual.iter().zip(&fitted).map(|(a, g)| a * g).sum();
        fitted.iter_mut().for_each(|value| *value = -*value);
        product - self.loss(&fitted)
    }

    /// The least upper bound of the `s` for which `α + s · direction` stays in the domain of the conjugate.
    /// Default: none, for losses whose conjugate is finite everywhere.
    fn longest_step(&self, _dual: &[f64], _direction: &[f64]) -> f64 {
        f64::INFINITY
    }

    /// The contribution of the loss to a duality gap when the dual point is `scale · α`,
    /// `α = −∇ℓ(z)`, with `scale ∈ [0, 1]`:
    ///
    /// ```text
    /// ℓ(z) + ℓ*(−scale α) + scale αᵀz  ≥ 0
    /// ```
    ///
    /// With `v = Aᵀα`, the gap of `w` is this plus `Ω(w) + Ω*(scale v) − scale wᵀv`. Zero at `scale = 1`. The
    /// default adds the terms up, and rounding in them limits the gap that can be reached; a formula without
    /// cancellation allows smaller gaps.
    fn loss_gap(&self, fitted: &[f64], scale: f64) -> f64 {
        if scale == 1.0 {
            return 0.0;
        }
        let mut dual = vec![0.0; fitted.len()];
        self.dual_point(fitted, &mut dual);
        dual.iter_mut().for_each(|value| *value *= scale);
        let product: f64 = dual.iter().zip(fitted).map(|(a, z)| a * z).sum();
        (self.loss(fitted) + self.conjugate(&dual) + product).max(0.0)
    }
}

/// `ℓ*(−α) = ½‖α‖² − bᵀα`, `α = b − z`.
impl<A: LinearOperator> DualDatafit for SquaredLoss<A> {
    type Operator = A;

    fn operator(&self) -> &A {
        SquaredLoss::operator(self)
    }

    fn loss(&self, fitted: &[f64]) -> f64 {
        0.5 * self.observations().iter().zip(fitted).map(|(b, z)| (b - z) * (b - z)).sum::<f64>()
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        for ((out, b), z) in out.iter_mut().zip(self.observations()).zip(fitted) {
            *out = b - z;
        }
    }

    fn largest_curvature(&self) -> f64 {
        1.0
    }

    fn conjugate(&self, dual: &[f64]) -> f64 {
        dual.iter().zip(self.observations()).map(|(a, b)| a * (0.5 * a - b)).sum()
    }

    fn conjugate_gradient(&self, dual: &[f64], out: &mut [f64]) {
        for ((out, a), b) in out.iter_mut().zip(dual).zip(self.observations()) {
            *out = a - b;
        }
    }

    fn conjugate_curvature(&self, _dual: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }

    /// `½ (1 − scale)² ‖b − z‖²`.
    fn loss_gap(&self, fitted: &[f64], scale: f64) -> f64 {
        (1.0 - scale) * (1.0 - scale) * self.loss(fitted)
    }
}

/// The closest that `q = yα` comes to 1, so that the conjugate's curvature stays finite.
const LARGEST_MISFIT: f64 = 1.0 - f64::EPSILON;

fn inside(q: f64) -> f64 {
    q.clamp(f64::MIN_POSITIVE, LARGEST_MISFIT)
}

/// `ℓ*(−α) = Σᵢ qᵢ ln qᵢ + (1 − qᵢ) ln(1 − qᵢ)` with `qᵢ = yᵢαᵢ ∈ [0, 1]`; `αᵢ = yᵢ / (1 + exp(yᵢzᵢ))`.
///
/// Gradient and curvature are those at the nearest number strictly between 0 and 1.
impl<A: LinearOperator> DualDatafit for Logistic<A> {
    type Operator = A;

    fn operator(&self) -> &A {
        Logistic::operator(self)
    }

    fn loss(&self, fitted: &[f64]) -> f64 {
        self.labels().iter().zip(fitted).map(|(y, z)| log_loss(y * z)).sum()
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        for ((out, y), z) in out.iter_mut().zip(self.labels()).zip(fitted) {
            *out = y * misfit(y * z);
        }
    }

    fn largest_curvature(&self) -> f64 {
        0.25
    }

    fn conjugate(&self, dual: &[f64]) -> f64 {
        dual.iter().zip(self.labels()).map(|(&a, &y)| loss::Logistic.conjugate(y, a)).sum()
    }

    fn conjugate_gradient(&self, dual: &[f64], out: &mut [f64]) {
        for ((out, a), y) in out.iter_mut().zip(dual).zip(self.labels()) {
            let q = inside(y * a);
            *out = y * (q.ln() - (-q).ln_1p());
        }
    }

    fn conjugate_curvature(&self, dual: &[f64], out: &mut [f64]) {
        for ((out, a), y) in out.iter_mut().zip(dual).zip(self.labels()) {
            let q = inside(y * a);
            *out = (q * (1.0 - q)).recip();
        }
    }

    fn longest_step(&self, dual: &[f64], direction: &[f64]) -> f64 {
        let mut longest = f64::INFINITY;
        for ((a, d), y) in dual.iter().zip(direction).zip(self.labels()) {
            let (q, dq) = (y * a, y * d);
            if dq > 0.0 {
                longest = longest.min((1.0 - q) / dq);
            } else if dq < 0.0 {
                longest = longest.min(-q / dq);
            }
        }
        longest
    }

    /// The sum of the Kullback-Leibler divergences of `scale · qᵢ` from `qᵢ`.
    fn loss_gap(&self, fitted: &[f64], scale: f64) -> f64 {
        if scale == 1.0 {
            return 0.0;
        }
        // ln((1 − t q)/(1 − q)) = ln(1 + (1 − t) e^{−m}) for q = 1/(1 + e^m).
        let shift = (1.0 - scale).ln();
        let divergence = |m: f64| {
            let q = misfit(m);
            let left = if scale > 0.0 { scale * q * scale.ln() } else { 0.0 };
            left + (1.0 - scale * q) * log_loss(m - shift)
        };
        self.labels().iter().zip(fitted).map(|(y, z)| divergence(y * z)).sum()
    }
}
