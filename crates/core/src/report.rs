//! What a solver reached, and what certifies it.

use crate::Status;

/// What certifies a solution, and what a solver's tolerance is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Certificate {
    /// Of a convex problem: the duality gap. The optimum is no further below the objective.
    Gap {
        /// The gap relative to the objective at zero, unless the method's page says to what.
        relative: f64,
    },
    /// Of any other problem, or one whose dual is not known: how far the conditions are violated that hold at
    /// a stationary point. It need not be a minimum.
    Stationarity {
        /// The violation relative to that at the start or at zero, as the method's page says.
        relative: f64,
    },
    /// Nothing certifies the solution.
    None,
}

impl Certificate {
    /// A duality gap, relative to the objective at zero.
    pub fn gap(relative: f64) -> Self {
        Self::Gap { relative }
    }

    /// A violation of the conditions of a stationary point.
    pub fn stationarity(relative: f64) -> Self {
        Self::Stationarity { relative }
    }

    /// The number that a tolerance is compared with; NaN where there is no certificate.
    pub fn value(self) -> f64 {
        match self {
            Self::Gap { relative } | Self::Stationarity { relative } => relative,
            Self::None => f64::NAN,
        }
    }

    /// The name used in JSON: `gap`, `stationarity` or `none`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap { .. } => "gap",
            Self::Stationarity { .. } => "stationarity",
            Self::None => "none",
        }
    }

    /// What certifies two solutions together: the larger value, and the weaker kind.
    ///
    /// ```
    /// use fewest_core::Certificate;
    ///
    /// let both = Certificate::gap(1e-9).worse(Certificate::stationarity(1e-12));
    /// assert_eq!(both, Certificate::stationarity(1e-9));
    /// assert_eq!(both.worse(Certificate::None), Certificate::None);
    /// ```
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let relative = self.value().max(other.value());
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Gap { .. }, Self::Gap { .. }) => Self::Gap { relative },
            _ => Self::Stationarity { relative },
        }
    }
}

/// How far the scores may be from those of the problem that was approximated before it was solved, relative
/// to the largest score. A certificate is that of the approximated problem and says nothing of this.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Approximation {
    /// No score is further away.
    Bound {
        /// The bound.
        relative: f64,
    },
    /// To first order in the error of the approximation, and as long as the same features are chosen.
    Estimate {
        /// The estimate.
        relative: f64,
    },
}

impl Approximation {
    /// The bound or the estimate.
    pub fn value(self) -> f64 {
        match self {
            Self::Bound { relative } | Self::Estimate { relative } => relative,
        }
    }

    /// The name used in JSON: `bound` or `estimate`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bound { .. } => "bound",
            Self::Estimate { .. } => "estimate",
        }
    }
}

/// What a solver reached.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SolverReport {
    /// The solver's id, such as `cd`.
    pub name: &'static str,
    /// How it ended.
    pub status: Status,
    /// The objective value.
    pub objective: f64,
    /// What certifies the solution.
    pub certificate: Certificate,
    /// The penalty the solution belongs to.
    pub lambda: f64,
    /// Iterations, in the solver's own unit.
    pub iterations: usize,
    /// The error in the scores where the problem solved stands for another; `None` where it is the one asked
    /// for.
    pub approximation: Option<Approximation>,
}

impl SolverReport {
    /// A report on the problem asked for, for the penalty 0 and no iterations: the rest is added by the
    /// methods below.
    ///
    /// ```
    /// use fewest_core::{Certificate, SolverReport, Status};
    ///
    /// let report = SolverReport::new("cd", Status::Converged, 0.5, Certificate::gap(1e-10))
    ///     .with_lambda(0.1)
    ///     .with_iterations(7);
    /// assert_eq!((report.certificate.value(), report.iterations), (1e-10, 7));
    /// ```
    pub fn new(name: &'static str, status: Status, objective: f64, certificate: Certificate) -> Self {
        Self { name, status, objective, certificate, lambda: 0.0, iterations: 0, approximation: None }
    }

    /// With the penalty the solution belongs to.
    #[must_use]
    pub fn with_lambda(mut self, lambda: f64) -> Self {
        self.lambda = lambda;
        self
    }

    /// With the number of iterations.
    #[must_use]
    pub fn with_iterations(mut self, iterations: usize) -> Self {
        self.iterations = iterations;
        self
    }
}

/// How an alternating method settled on a problem that is not convex (`mik-fs`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct AlternationSummary {
    /// The objective at the start.
    pub first_objective: f64,
    /// The objective at the end; it falls at every alternation.
    pub last_objective: f64,
    /// How many alternations there were.
    pub n_alternations: usize,
    /// The penalty of the weights.
    pub lambda: f64,
    /// The projected gradient of the weights, relative to that at zero.
    pub weight_violation: f64,
    /// The gradient of the machines, relative to that at zero.
    pub machine_violation: f64,
    /// Penalties at which the problem was solved on the way to `lambda` and, for a number of features,
    /// beyond.
    pub n_penalties: usize,
    /// Features whose weight counts, before the budget cuts.
    pub n_kept: usize,
    /// What a cross-validation chose, where one chose the penalty.
    pub validation: Option<ValidatedPenalty>,
}

/// A penalty and its score in a cross-validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValidatedPenalty {
    /// The penalty as a share of the largest useful one.
    pub ratio: f64,
    /// The mean score over the folds.
    pub score: f64,
}

/// How far a set of features made of a relaxation may be from the best set (`nmmkl`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RelaxationSummary {
    /// The objective of the features chosen.
    pub objective: f64,
    /// The objective of the relaxation: no features within the budget have a smaller one.
    pub lower_bound: f64,
    /// A bound on `objective` by the best there is (Theorem 4 of the paper); infinite where it says nothing,
    /// `None` where the matrices are too large for it.
    pub bound: Option<f64>,
    /// Features that the relaxation takes whole.
    pub n_above: usize,
    /// Features that are tied at its multiplier.
    pub n_tied: usize,
    /// Features that it leaves out.
    pub n_below: usize,
    /// Features swapped for better ones afterwards.
    pub n_swaps: usize,
}

impl RelaxationSummary {
    /// The objective as a multiple of its lower bound, at least 1 but for rounding; 1 where the lower bound
    /// is not above 0.
    pub fn ratio(&self) -> f64 {
        if self.lower_bound > 0.0 { self.objective / self.lower_bound } else { 1.0 }
    }
}
