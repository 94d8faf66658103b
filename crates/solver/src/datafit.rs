//! Smooth convex losses.

use crate::loss::{log_loss, misfit};
use crate::{Error, LinearOperator};

/// A smooth convex function of the coefficients.
pub trait Datafit: Sync {
    /// Number of coefficients.
    fn n_coefficients(&self) -> usize;

    /// `f(w)`.
    fn value(&self, w: &[f64]) -> f64;

    /// Writes `∇f(w)` into `out` and returns `f(w)`.
    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64;

    /// Value of the dual objective that the point `w` gives when its dual point, the negative gradient
    /// of the loss at `Aw`, is scaled by `scale ∈ [0, 1]`: `−f*(−scale · θ)` without the penalty's part.
    ///
    /// The default, `−∞`, says that no dual is known; solvers then measure a point by its optimality
    /// conditions.
    fn dual_value(&self, _w: &[f64], _scale: f64) -> f64 {
        f64::NEG_INFINITY
    }
}

/// `½‖b − A w‖²`.
#[derive(Debug, Clone)]
pub struct SquaredLoss<A> {
    operator: A,
    observations: Vec<f64>,
}

/// `Σᵢ ln(1 + exp(−yᵢ (A w)ᵢ))` with `yᵢ ∈ {−1, +1}`: a sum, not a mean.
#[derive(Debug, Clone)]
pub struct Logistic<A> {
    operator: A,
    labels: Vec<f64>,
}

fn check_rows<A: LinearOperator>(operator: &A, values: &[f64]) -> Result<(), Error> {
    if operator.n_rows() != values.len() {
        return Err(Error::ShapeMismatch {
            what: "observations",
            expected: operator.n_rows(),
            found: values.len(),
        });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(Error::NonFiniteTarget { row, value: values[row] }),
        None => Ok(()),
    }
}

impl<A: LinearOperator> SquaredLoss<A> {
    /// The loss of `observations` under `operator`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] or [`Error::NonFiniteTarget`].
    pub fn new(operator: A, observations: Vec<f64>) -> Result<Self, Error> {
        check_rows(&operator, &observations)?;
        Ok(Self { operator, observations })
    }

    /// `A`.
    pub fn operator(&self) -> &A {
        &self.operator
    }

    /// `b`.
    pub(crate) fn observations(&self) -> &[f64] {
        &self.observations
    }

    fn residual(&self, w: &[f64]) -> Vec<f64> {
        let mut fitted = vec![0.0; self.observations.len()];
        self.operator.apply(w, &mut fitted);
        for (value, observed) in fitted.iter_mut().zip(&self.observations) {
            *value = observed - *value;
        }
        fitted
    }
}

impl<A: LinearOperator> Datafit for SquaredLoss<A> {
    fn n_coefficients(&self) -> usize {
        self.operator.n_columns()
    }

    fn value(&self, w: &[f64]) -> f64 {
        0.5 * self.residual(w).iter().map(|r| r * r).sum::<f64>()
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        let residual = self.residual(w);
        self.operator.apply_transpose(&residual, out);
        for value in out.iter_mut() {
            *value = -*value;
        }
        0.5 * residual.iter().map(|r| r * r).sum::<f64>()
    }

    /// `scale ⟨b, ρ⟩ − ½ scale² ‖ρ‖²` with the residual `ρ = b − A w`.
    fn dual_value(&self, w: &[f64], scale: f64) -> f64 {
        let residual = self.residual(w);
        let dot: f64 = residual.iter().zip(&self.observations).map(|(r, b)| r * b).sum();
        let norm: f64 = residual.iter().map(|r| r * r).sum();
        scale * dot - 0.5 * scale * scale * norm
    }
}

impl<A: LinearOperator> Logistic<A> {
    /// The loss of `labels` (each −1 or +1) under `operator`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::NonFiniteTarget`], or [`Error::InvalidParameter`] for another
    /// label.
    pub fn new(operator: A, labels: Vec<f64>) -> Result<Self, Error> {
        check_rows(&operator, &labels)?;
        if let Some(label) = labels.iter().find(|label| label.abs() != 1.0) {
            return Err(Error::parameter("label", label, "-1 or 1"));
        }
        Ok(Self { operator, labels })
    }

    /// `A`.
    pub fn operator(&self) -> &A {
        &self.operator
    }

    /// `y`.
    pub(crate) fn labels(&self) -> &[f64] {
        &self.labels
    }

    fn margins(&self, w: &[f64]) -> Vec<f64> {
        let mut margins = vec![0.0; self.labels.len()];
        self.operator.apply(w, &mut margins);
        for (margin, label) in margins.iter_mut().zip(&self.labels) {
            *margin *= label;
        }
        margins
    }
}

impl<A: LinearOperator> Datafit for Logistic<A> {
    fn n_coefficients(&self) -> usize {
        self.operator.n_columns()
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.margins(w).into_iter().map(log_loss).sum()
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        let margins = self.margins(w);
        let weights: Vec<f64> = margins.iter().zip(&self.labels).map(|(&m, y)| -y * misfit(m)).collect();
        self.operator.apply_transpose(&weights, out);
        margins.into_iter().map(log_loss).sum()
    }

    /// `−Σ [q ln q + (1 − q) ln(1 − q)]` with `q = scale / (1 + e^{m})`, `0 ln 0 = 0`.
    fn dual_value(&self, w: &[f64], scale: f64) -> f64 {
        let entropy = |q: f64| {
            let part = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
            part(q) + part(1.0 - q)
        };
        -self.margins(w).into_iter().map(|m| entropy(scale * misfit(m))).sum::<f64>()
    }
}
