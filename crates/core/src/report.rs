//! The result of a solver, and its certificate.

use crate::Status;

/// The certificate of a solution: the number that is compared with the tolerance of a solver.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Certificate {
    /// For a convex problem: the duality gap, an upper bound of the objective minus its optimum.
    Gap {
        /// The gap, relative to the objective at zero unless the page of the method says otherwise.
        relative: f64,
    },
    /// For other problems, or without a known dual: the violation of the conditions for a stationary point.
    /// Such a point need not be a minimum.
    Stationarity {
        /// The violation, relative to that at the start or at zero; the page of the method says which.
        relative: f64,
    },
    /// There is no certificate.
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

    /// The certificate of a pair of solutions: the larger value, and the weaker kind.
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

/// The error of the scores due to an approximation of the problem, relative to the largest score. The
/// certificate is for the approximate problem and does not include this error.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Approximation {
    /// A bound on the error of every score.
    Bound {
        /// The bound.
        relative: f64,
    },
    /// An estimate to first order in the error of the approximation, valid if the same features are selected.
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

/// The result of a solver.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SolverReport {
    /// The solver's id, such as `cd`.
    pub name: &'static str,
    /// How it ended.
    pub status: Status,
    /// The objective value.
    pub objective: f64,
    /// The certificate of the solution.
    pub certificate: Certificate,
    /// The penalty the solution belongs to.
    pub lambda: f64,
    /// Iterations, as the solver counts them.
    pub iterations: usize,
    /// The error of the scores if an approximate problem was solved; `None` if the problem itself was
    /// solved.
    pub approximation: Option<Approximation>,
}

impl SolverReport {
    /// A report with penalty 0, no iterations and no approximation: the methods below set other values.
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

/// The convergence of an alternating method for a problem that is not convex (`mik-fs`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct AlternationSummary {
    /// The objective at the start.
    pub first_objective: f64,
    /// The objective at the end; it decreases at every alternation.
    pub last_objective: f64,
    /// Number of alternations.
    pub n_alternations: usize,
    /// The penalty of the weights.
    pub lambda: f64,
    /// The largest entry of the projected gradient of the weights at the answer, relative to `lambda`; NaN
    /// where a run that was stopped did not measure it.
    pub weight_violation: f64,
    /// The gradient of the machines at the answer, relative to that at zero; NaN as above.
    pub machine_violation: f64,
    /// Number of penalties for which the problem was solved on the path to `lambda` and, for a given
    /// number of features, beyond it.
    pub n_penalties: usize,
    /// Number of features with a weight above zero, before the budget is applied.
    pub n_kept: usize,
    /// The result of the cross-validation that chose the penalty, if there was one.
    pub validation: Option<ValidatedPenalty>,
}

/// The descent of a method for a problem that is not convex (`udfs`, `jelsr`, `ndfs`): where it started,
/// and how far it came. How stationary it ended is the [`Certificate`].
///
/// ```
/// use fewest_core::DescentSummary;
///
/// let summary = DescentSummary::new("zero", 3.0, 2.0).with_lower_bound(1.5);
/// assert_eq!(
///     summary.to_string(),
///     "not convex: from zero the objective fell from 3 to 2; no other is below 1.5"
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DescentSummary {
    /// Where it started.
    pub start: &'static str,
    /// The objective there.
    pub first_objective: f64,
    /// The objective at the answer; it never rises on the way.
    pub last_objective: f64,
    /// What no other answer is below, where that is known.
    pub lower_bound: Option<f64>,
}

impl DescentSummary {
    /// From `start`, without a bound.
    pub fn new(start: &'static str, first_objective: f64, last_objective: f64) -> Self {
        Self { start, first_objective, last_objective, lower_bound: None }
    }

    /// With a bound that no other answer is below.
    #[must_use]
    pub fn with_lower_bound(mut self, lower_bound: f64) -> Self {
        self.lower_bound = Some(lower_bound);
        self
    }
}

impl std::fmt::Display for DescentSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { start, first_objective: first, last_objective: last, .. } = self;
        let digits = |value: f64| {
            let text = format!("{value:.6}");
            if value.abs() < 1e-3 || value.abs() >= 1e9 {
                format!("{value:.4e}")
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        let (first, last) = (digits(*first), digits(*last));
        write!(f, "not convex: from {start} the objective fell from {first} to {last}")?;
        match self.lower_bound {
            Some(bound) => write!(f, "; no other is below {}", digits(bound)),
            None => Ok(()),
        }
    }
}

/// A penalty and its score in a cross-validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValidatedPenalty {
    /// The penalty as a share of the largest useful one.
    pub ratio: f64,
    /// The mean score over the folds.
    pub score: f64,
}

/// A bound on how far a set of features found by a relaxation is from the best set (`nmmkl`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RelaxationSummary {
    /// The objective of the selected features.
    pub objective: f64,
    /// The objective of the relaxation, a lower bound for all sets of features within the budget.
    pub lower_bound: f64,
    /// A bound on `objective` divided by the best objective (Theorem 4 of the paper); infinite if it gives
    /// no bound, `None` if the matrices are too large for it.
    pub bound: Option<f64>,
    /// Number of features with weight 1 in the relaxation.
    pub n_above: usize,
    /// Number of features tied at its multiplier.
    pub n_tied: usize,
    /// Number of features with weight 0.
    pub n_below: usize,
    /// Number of features exchanged for better ones afterwards.
    pub n_swaps: usize,
}

impl RelaxationSummary {
    /// The objective divided by its lower bound, at least 1 up to rounding; 1 if the lower bound is not
    /// above 0.
    pub fn ratio(&self) -> f64 {
        if self.lower_bound > 0.0 { self.objective / self.lower_bound } else { 1.0 }
    }
}
