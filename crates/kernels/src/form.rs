//! Whole matrices or thin factors.

/// How Gram matrices are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Whichever costs less.
    #[default]
    Auto,
    /// Every entry, exact: `n²/2` numbers a feature, recomputed when needed.
    Exact,
    /// A low-rank factor to a stated tolerance: `n · rank` numbers a feature.
    LowRank,
}
