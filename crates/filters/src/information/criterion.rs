//! What candidates are judged by.

use fewest_core::{choice, words};

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

impl ForwardCriterion {
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
