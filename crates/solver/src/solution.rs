//! What a solver returns.

use crate::Status;

/// The outcome of a solver: the best point found, with its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// One coefficient a variable.
    pub coefficients: Vec<f64>,
    /// `f(w) + Ω(w)`.
    pub objective: f64,
    /// Duality gap relative to the objective at `w = 0`: the true optimum is no further below
    /// `objective` than this share of it.
    pub duality_gap: f64,
    /// Iterations, in the solver's own unit: epochs, Newton steps, path steps.
    pub iterations: u64,
    /// How the solver ended.
    pub status: Status,
}
