//! What a solver returns.

use crate::{Certificate, Status};

/// The outcome of a solver: the best point found, with its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// One coefficient a variable.
    pub coefficients: Vec<f64>,
    /// `f(w) + Ω(w)`.
    pub objective: f64,
    /// What certifies it, and what the tolerance was compared with: of a convex problem the duality gap
    /// relative to the objective at `w = 0`, else the solver's measure of stationarity.
    pub certificate: Certificate,
    /// Iterations, in the solver's own unit: epochs, Newton steps, path steps.
    pub iterations: u64,
    /// How the solver ended.
    pub status: Status,
}
