//! Names that people type for methods of other names here.

/// A name of a method with a parameter that is not its default, and how that is written.
pub(super) const WITH_PARAMETERS: &[(&str, &str)] = &[(
    "spearman",
    "correlation with coefficient=spearman (on the command line: -m correlation -p coefficient=spearman)",
)];

/// A method that only builds with a feature of its name have, and how to get it.
pub(super) const OPTIONAL: &[(&str, &str)] = &[(
    "usfs",
    "one that is compiled in: usfs is left out unless the cargo feature `usfs` asks for it (cargo install fewest-cli \
     --features usfs; docs/methods/usfs.md says why)",
)];

/// An alias, and the id of the method.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("anova", "f-score"),
    ("f-test", "f-score"),
    ("f-classif", "f-score"),
    ("f-regression", "f-score"),
    ("t-test", "t-score"),
    ("ttest", "t-score"),
    ("welch", "t-score"),
    // Of two classes, the test of Kruskal and Wallis is that of Wilcoxon, Mann and Whitney, two-sided.
    ("wilcoxon", "kruskal-wallis"),
    ("mann-whitney", "kruskal-wallis"),
    ("rank-sum", "kruskal-wallis"),
    ("kruskal", "kruskal-wallis"),
    ("chi-square", "chi2"),
    ("chi-squared", "chi2"),
    ("pearson", "correlation"),
    ("low-variance", "variance"),
    ("mutual-information", "mim"),
    ("mutual-info", "mim"),
    ("mutual-info-classif", "mim"),
    ("mutual-info-regression", "mim"),
    ("information-gain", "mim"),
    ("mi", "mim"),
    ("fisher-score", "fisher"),
    ("laplacian-score", "laplacian"),
    ("lap-score", "laplacian"),
    ("gini-index", "gini"),
    ("relief-f", "relieff"),
    ("enet", "elastic-net"),
    ("elasticnet", "elastic-net"),
    ("l1", "lasso"),
    ("lasso-regression", "lasso"),
    ("rfe", "dw-rfe"),
    ("svm-rfe", "dw-rfe"),
    ("recursive-feature-elimination", "dw-rfe"),
    ("boruta-py", "boruta"),
    ("all-relevant", "boruta"),
    ("pimp", "permutation-importance"),
    ("feature-importance", "permutation-importance"),
    ("forest-importance", "permutation-importance"),
    ("random-forest", "permutation-importance"),
    ("forward", "sfs"),
    ("forward-selection", "sfs"),
    ("backward", "sbs"),
    ("backward-elimination", "sbs"),
];
