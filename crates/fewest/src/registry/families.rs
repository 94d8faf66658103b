//! The families of methods.

use super::Method;

/// Methods of one kind, from one crate or module.
#[derive(Debug)]
#[non_exhaustive]
pub struct Family {
    /// Its name, as on the command line.
    pub id: &'static str,
    /// What its methods do, in words.
    pub title: &'static str,
    /// Its methods.
    pub methods: &'static [Method],
}

impl Family {
    /// Those that the features of this crate name, by default all, in the order in which they are listed.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "dependence")]
        Self {
            id: "dependence",
            title: "dependence measured by kernels: relations of any shape",
            methods: fewest_dependence::METHODS,
        },
        #[cfg(feature = "filters")]
        Self {
            id: "statistical",
            title: "tests and simple statistics, one feature at a time: fast, with p-values where they exist",
            methods: fewest_filters::statistical::METHODS,
        },
        #[cfg(feature = "filters")]
        Self {
            id: "similarity",
            title: "how well features tell classes, or samples that are near each other, apart",
            methods: fewest_filters::similarity::METHODS,
        },
        #[cfg(feature = "filters")]
        Self {
            id: "information",
            title: "mutual information, mostly less what the selected features say already",
            methods: fewest_filters::information::METHODS,
        },
        #[cfg(feature = "linear")]
        Self {
            id: "linear",
            title: "linear and additive models whose penalty leaves few coefficients",
            methods: fewest_linear::METHODS,
        },
        #[cfg(feature = "margin")]
        Self {
            id: "margin",
            title: "support vector machines whose penalty or error bound selects features",
            methods: fewest_margin::METHODS,
        },
        #[cfg(feature = "wrappers")]
        Self {
            id: "wrappers",
            title: "search and elimination: a learner judges sets of features",
            methods: fewest_wrappers::METHODS,
        },
        #[cfg(feature = "wrappers")]
        Self {
            id: "forests",
            title: "importance to random forests: relations of any shape, all relevant features, p-values",
            methods: fewest_wrappers::forests::METHODS,
        },
        #[cfg(feature = "mkl")]
        Self {
            id: "kernels",
            title: "multiple kernel learning: a kernel for each feature, weighted together",
            methods: fewest_mkl::METHODS,
        },
        #[cfg(feature = "streams")]
        Self {
            id: "streams",
            title: "features, or samples, that arrive one after the other: each is looked at once",
            methods: fewest_streams::METHODS,
        },
    ];
}
