//! Whole matrices or thin factors.

fewest_core::words! {
    /// How Gram matrices are held.
    #[derive(Default)]
    pub enum Form {
        /// Whichever costs less.
        #[default]
        Auto = "auto",
        /// Every entry, exact: `n²/2` numbers a feature, recomputed when needed.
        Exact = "exact",
        /// A low-rank factor to a stated tolerance: `n · rank` numbers a feature.
        LowRank = "low-rank",
    }
}
