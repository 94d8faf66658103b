//! Whole matrices or thin factors.

use fewest_core::words;

words! {
    /// How Gram matrices are held.
    #[derive(Default)]
    pub enum Form {
        /// Whichever costs less.
        #[default]
        Auto = "auto",
        /// A low-rank factor to a stated tolerance: `n · rank` numbers a feature.
        LowRank = "low-rank",
        /// Every entry, exact: `n²/2` numbers a feature, recomputed when needed.
        Exact = "exact",
    }
}
