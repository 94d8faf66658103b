//! What is known of the irrelevant features among the selected ones.

/// The bound on irrelevant features that a selection keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum FalseDiscoveries {
    /// On their expected share of the selected features: the false-discovery rate.
    Rate(RateBound),
    /// On their expected number: the per-family error.
    Number(NumberBound),
}

/// A bound on the expected share of irrelevant features, by knockoffs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RateBound {
    /// The bound.
    pub target: f64,
    /// 1: the false-discovery rate is bounded; 0: only the expected share among the selected features and
    /// `1 / target` more.
    pub offset: usize,
    /// Number of sets of knockoffs that were drawn; the features are chosen by e-values if more than 1.
    pub draws: usize,
    /// How the correlations of the features, or what factors leave of them, are known: `graph`, `shrunk`,
    /// `ledoit-wolf`, `empirical`, or `given`; empty where no feature varies.
    pub covariance: &'static str,
    /// Number of factors in the correlation matrix that was used.
    pub factors: usize,
    /// Of `graph`: the number of pairs of features that are correlated given all others.
    pub pairs: usize,
    /// Of `shrunk` and `ledoit-wolf`: the share of the identity.
    pub shrinkage: f64,
    /// How the knockoffs are made as unlike their features as possible.
    pub construction: &'static str,
    /// How features and knockoffs are compared: `score`, `coefficient`, `cross-validated`, or another name.
    pub statistic: &'static str,
    /// Folds of the cross-validation that chose the penalty; 0 for none.
    pub folds: usize,
    /// What has to be true for the bound to hold.
    pub assumption: &'static str,
}

/// A bound on the expected number of irrelevant features, by stability selection.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct NumberBound {
    /// The bound, `q² / ((2π − 1) d)`, for `d` features that vary.
    pub target: f64,
    /// The number `q` of features that a half of the samples may choose; where the method decides how many,
    /// the mean.
    pub per_half: f64,
    /// The share `π` of halves that have to choose a feature.
    pub threshold: f64,
    /// Number of halves that count.
    pub halves: usize,
    /// What has to be true for the bound to hold.
    pub assumption: &'static str,
}

impl FalseDiscoveries {
    /// The name used in JSON: `rate` or `number`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate(_) => "rate",
            Self::Number(_) => "number",
        }
    }

    /// The bound.
    pub fn target(self) -> f64 {
        match self {
            Self::Rate(bound) => bound.target,
            Self::Number(bound) => bound.target,
        }
    }

    /// What has to be true for the bound to hold.
    pub fn assumption(self) -> &'static str {
        match self {
            Self::Rate(bound) => bound.assumption,
            Self::Number(bound) => bound.assumption,
        }
    }
}
