//! The functions that a problem must provide.

use fewest_solver::{Certificate, Error};

/// `f(x) + g(z)` with `A x = z`, of which the two minimisations of the alternation are known.
pub trait Splitting {
    /// Number of values of `z`.
    fn n_values(&self) -> usize;

    /// Writes `A x` into `out`, for the `x` that minimises `f(x) + ρ/2 ‖A x − v‖²`. With `A = I` this is the
    /// proximal operator of `f / ρ`.
    ///
    /// # Errors
    /// When the minimum does not exist, or breaks down numerically.
    fn first(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error>;

    /// Writes into `out` the `z` that minimises `g(z) + ρ/2 ‖z − v‖²`, the proximal operator of `g / ρ`.
    ///
    /// # Errors
    /// As of [`first`](Self::first).
    fn second(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error>;

    /// The objective at a point, and its certificate, which is compared with the tolerance: only the problem
    /// knows which of the two blocks is feasible, and its dual. [`Split::residual`] is a certificate for
    /// problems without a dual, of kind [`Certificate::Stationarity`].
    ///
    /// # Errors
    /// Those of decompositions that the certificate needs.
    fn judge(&self, point: &Split<'_>) -> Result<Judgement, Error>;
}

/// A point of the alternation.
#[derive(Debug, Clone, Copy)]
pub struct Split<'a> {
    /// `A x`: where `A = I`, a point in the domain of `f`.
    pub first: &'a [f64],
    /// `z`, a point in the domain of `g`.
    pub second: &'a [f64],
    /// The dual variable `y = ρ u`, a subgradient of `g` at `z`. At the solution `−Aᵀ y` is one of `f`.
    pub dual: &'a [f64],
    /// `‖A x − z‖ / max(‖A x‖, ‖z‖)`.
    pub primal_residual: f64,
    /// `ρ ‖z − z of the step before‖ / ‖y‖`.
    pub dual_residual: f64,
}

impl Split<'_> {
    /// The larger of the two residuals: zero at a solution.
    pub fn residual(&self) -> f64 {
        self.primal_residual.max(self.dual_residual)
    }
}

/// What a problem says of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// The objective.
    pub objective: f64,
    /// Its certificate.
    pub certificate: Certificate,
}
