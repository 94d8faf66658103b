//! What candidates are judged by.

use fewest_core::{choice, words};
use fewest_counts::Sums;

use crate::tables::log_sum;

/// The least redundancy that a quotient divides by, in nats.
const LEAST_REDUNDANCY: f64 = 1e-3;

words! {
    /// How relevance and redundancy become one number.
    #[derive(Default)]
    pub enum MrmrForm {
        /// Relevance less redundancy.
        #[default]
        Difference = "difference",
        /// Relevance divided by redundancy; a redundancy below 0.001 counts as 0.001.
        Quotient = "quotient",
    }
}

impl MrmrForm {
    pub(super) fn combine(self, relevance: f64, redundancy: f64) -> f64 {
        match self {
            MrmrForm::Difference => relevance - redundancy,
            MrmrForm::Quotient => relevance / redundancy.max(LEAST_REDUNDANCY),
        }
    }
}

choice! {
    /// What a candidate `k` is judged by, with `S` the features selected so far and `Y` the target. Equations
    /// are those of Li et al., *Feature selection: a data perspective* (2016). The first feature is always
    /// that of largest `I(k;Y)`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[non_exhaustive]
    pub enum ForwardCriterion {
        /// Mutual information feature selection, Eq. (38): `I(k;Y) - β Σ_j I(k;j)` (Battiti 1994).
        Mifs {
            /// Weight of what a feature shares with the selected ones.
            beta: f64 = 1.0, NonNegative;
        } = "mifs",
        /// Minimum redundancy maximum relevance, Eq. (40): `I(k;Y)` and `1/|S| Σ_j I(k;j)`, as a difference
        /// or a quotient (Peng, Long & Ding 2005).
        Mrmr {
            /// Relevance less redundancy, or divided by it.
            form: MrmrForm = MrmrForm::Difference;
        } = "mrmr",
        /// Conditional infomax feature extraction, Eq. (42): `I(k;Y) - Σ_j [I(k;j) - I(k;j|Y)]` (Lin & Tang
        /// 2006).
        Cife = "cife",
        /// Joint mutual information, Eq. (45): `I(k;Y) - 1/|S| Σ_j [I(k;j) - I(k;j|Y)]`, which is
        /// `1/|S| Σ_j I(k;Y|j)` and orders features as `Σ_j I(k,j;Y)` of Eq. (44) does (Yang & Moody 1999).
        Jmi = "jmi",
        /// Conditional mutual information maximisation, Eq. (46): `min_j I(k;Y|j)` (Fleuret 2004).
        Cmim {
            /// True: I(k;Y) is among the values that the minimum is taken of.
            ///
            /// As in several programs and in Fleuret's own formula. It changes the order where a pair of
            /// features says more than both alone.
            capped: bool = false;
        } = "cmim",
        /// Informative fragments, Eq. (49): `min_j [I(k,j;Y) - I(j;Y)]` (Vidal-Naquet & Ullman 2003); by the
        /// chain rule equal to Eq. (46).
        InformativeFragments = "informative-fragments",
        /// Interaction capping, Eq. (50): `I(k;Y) - Σ_j max(0, I(k;j) - I(k;j|Y))` (Jakulin 2005).
        Icap = "icap",
        /// Double input symmetrical relevance, Eq. (51): `Σ_j I(k,j;Y) / H(k,j,Y)` (Meyer & Bontempi 2006).
        Disr = "disr",
        /// Joint mutual information maximisation: `min_j I(k,j;Y)` (Bennasar, Hicks & Setchi 2015).
        Jmim = "jmim",
        /// Normalised joint mutual information maximisation: `min_j I(k,j;Y) / H(k,j,Y)` (Bennasar, Hicks &
        /// Setchi 2015).
        Njmim = "njmim",
        /// Joint mutual information of three: `Σ_{i<j} I(k,i,j;Y)`, for the second feature `I(k,j;Y)`
        /// (Sechidis et al. 2019).
        Jmi3 = "jmi3",
        /// The linear form of which others are cases, Eq. (35): `I(k;Y) - β Σ_j I(k;j) + λ Σ_j I(k;j|Y)`.
        General {
            /// Weight of what a feature shares with the selected ones.
            beta: f64 = 1.0, NonNegative;
            /// Weight of what a feature shares with the selected ones within classes.
            lambda: f64 = 1.0, NonNegative;
        } = "linear-information",
    }
}

/// `Σ c ln c` over the counts of one variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alone {
    /// Over its levels.
    pub(super) sum: f64,
    /// Over its levels within each class.
    pub(super) with_target: f64,
}

/// What all terms need of the samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Samples {
    /// Their number.
    pub(super) n: f64,
    /// `n ln n`.
    pub(super) total: f64,
    /// `Σ c ln c` over the classes.
    pub(super) target: f64,
}

impl Samples {
    /// Of `n` samples with this `Σ c ln c` over the classes.
    pub(super) fn new(n: u64, target: f64) -> Self {
        Self { n: n as f64, total: log_sum(n), target }
    }

    /// `I(k,j;Y)` of two variables with these sums, each of which may be several features.
    pub(super) fn jointly(&self, pair: Sums) -> f64 {
        ((self.total - pair.joint - self.target + pair.with_target) / self.n).max(0.0)
    }

    /// The sum of so many `I(·;Y) = H(Y) - H(Y|·)`, of which `conditional` is the sum of the last, times n.
    pub(super) fn all_jointly(&self, number: usize, conditional: f64) -> f64 {
        let entropies = number as f64 * (self.total - self.target);
        ((entropies - conditional) / self.n).max(0.0)
    }
}

impl ForwardCriterion {
    /// Whether the joint counts of pairs are enough, without those within classes.
    pub(super) fn knows_pairs_only(self) -> bool {
        matches!(self, ForwardCriterion::Mifs { .. } | ForwardCriterion::Mrmr { .. })
    }

    /// The term of candidate `k` with a selected `j`, from the sums over the joint counts of both; those
    /// within classes are of no effect where the criterion [knows pairs only](Self::knows_pairs_only).
    pub(super) fn term(self, samples: &Samples, k: Alone, j: Alone, pair: Sums) -> f64 {
        let Samples { n, total, target } = *samples;
        // Entropies are (total - sum)/n; information is never negative, but for rounding.
        let redundancy = || ((total - k.sum - j.sum + pair.joint) / n).max(0.0);
        let within_classes = || ((pair.with_target - k.with_target - j.with_target + target) / n).max(0.0);
        let jointly = || samples.jointly(pair);
        let entropy = || ((total - pair.with_target) / n).max(0.0);
        match self {
            ForwardCriterion::Mifs { .. } | ForwardCriterion::Mrmr { .. } => redundancy(),
            ForwardCriterion::Cife | ForwardCriterion::Jmi => redundancy() - within_classes(),
            ForwardCriterion::General { beta, lambda } => beta * redundancy() - lambda * within_classes(),
            ForwardCriterion::Icap => (redundancy() - within_classes()).max(0.0),
            // I(k;Y|j)
            ForwardCriterion::Cmim { .. } => {
                ((pair.with_target - pair.joint - j.with_target + j.sum) / n).max(0.0)
            }
            ForwardCriterion::InformativeFragments => {
                let alone = ((total - j.sum - target + j.with_target) / n).max(0.0);
                (jointly() - alone).max(0.0)
            }
            ForwardCriterion::Jmim | ForwardCriterion::Jmi3 => jointly(),
            ForwardCriterion::Disr | ForwardCriterion::Njmim => match entropy() {
                entropy if entropy > 0.0 => jointly() / entropy,
                _ => 0.0,
            },
        }
    }

    /// Whether the fold is the least term, rather than the sum of all.
    fn takes_least(self) -> bool {
        use ForwardCriterion::{Cmim, InformativeFragments, Jmim, Njmim};
        matches!(self, Cmim { .. } | InformativeFragments | Jmim | Njmim)
    }

    /// Whether folds start anew when so many features are selected: where terms are of three features, the
    /// first has none.
    pub(super) fn restarts(self, n_selected: usize) -> bool {
        self == ForwardCriterion::Jmi3 && n_selected == 2
    }

    /// The fold over nothing, for a candidate of this relevance.
    pub(super) fn start(self, relevance: f64) -> f64 {
        match self {
            ForwardCriterion::Cmim { capped: true } => relevance,
            _ if self.takes_least() => f64::INFINITY,
            _ => 0.0,
        }
    }

    /// The fold with more terms.
    pub(super) fn fold(self, fold: f64, terms: impl Iterator<Item = f64>) -> f64 {
        if self.takes_least() { terms.fold(fold, f64::min) } else { terms.fold(fold, |sum, term| sum + term) }
    }

    /// The criterion from the fold over all selected features.
    pub(super) fn value(self, relevance: f64, fold: f64, n_selected: usize) -> f64 {
        match self {
            ForwardCriterion::Mifs { .. } | ForwardCriterion::Mrmr { .. } => {
                self.of_redundancy(relevance, fold, n_selected)
            }
            ForwardCriterion::Jmi => relevance - fold / n_selected as f64,
            ForwardCriterion::Cife | ForwardCriterion::General { .. } | ForwardCriterion::Icap => {
                relevance - fold
            }
            ForwardCriterion::Cmim { .. }
            | ForwardCriterion::InformativeFragments
            | ForwardCriterion::Jmim
            | ForwardCriterion::Njmim
            | ForwardCriterion::Disr
            | ForwardCriterion::Jmi3 => fold,
        }
    }

    /// Whether more terms can only lower the criterion.
    pub(super) fn folds_bound(self) -> bool {
        self.takes_least() || self.knows_pairs_only() || self == ForwardCriterion::Icap
    }

    /// The criterion of those that know only relevance and the sum of `I(k;j)` over the selected features.
    pub(super) fn of_redundancy(self, relevance: f64, sum: f64, n_selected: usize) -> f64 {
        match self {
            ForwardCriterion::Mrmr { form } => form.combine(relevance, sum / n_selected as f64),
            ForwardCriterion::Mifs { beta } | ForwardCriterion::General { beta, .. } => {
                relevance - beta * sum
            }
            _ => relevance - sum,
        }
    }
}
