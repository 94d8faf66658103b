//! The result of a solver.

use crate::{Certificate, Status};

/// The outcome of a solver: the best point found, with its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// One coefficient per variable.
    pub coefficients: Vec<f64>,
    /// `f(w) + Ω(w)`.
    pub objective: f64,
    /// The certificate, which was compared with the tolerance: for a convex problem the duality gap
    /// relative to the objective at `w = 0`, else the stationarity measure of the solver.
    pub certificate: Certificate,
    /// Iterations, as the solver counts them: epochs, Newton steps, path steps.
    pub iterations: u64,
    /// How the solver ended.
    pub status: Status,
}
