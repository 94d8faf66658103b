//! Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature selection by feature-wise
//! kernelized Lasso*, Neural Computation 2014.

mod classification;
mod figure_1;
mod regression;

use super::Wanted;
use super::experiments::Method;
use crate::Result;

/// Recomputes it; writes to the folder `hsic-lasso`.
pub(super) fn run(wanted: &Wanted) -> Result<()> {
    wanted.check(&["1", "2", "5"], &["3", "4"])?;
    let protocol = &wanted.protocol;
    protocol.with_threads(|| match wanted.figure.as_deref() {
        Some("1") => figure_1::run(protocol),
        Some("5") => regression::run(protocol),
        _ => classification::run(protocol),
    })
}

/// Where the documents lie.
const FOLDER: &str = "hsic-lasso";

/// The paper's methods with the parameters that it gives. Kernels have width 1 on standardised features;
/// classes get the delta kernel. Parameters that the paper does not give are our defaults.
const HSIC_LASSO: Method = Method { name: "HSIC Lasso", id: "hsic-lasso", parameters: &["related=0"] };
const NOCCO_LASSO: Method = Method { name: "NOCCO Lasso", id: "nocco-lasso", parameters: &["related=0"] };
const NOCCO_LARGER: Method =
    Method { name: "NOCCO Lasso, ε = 0.1", id: "nocco-lasso", parameters: &["related=0", "epsilon=0.1"] };
const MRMR: Method = Method { name: "mRMR", id: "mrmr", parameters: &["estimator=parzen"] };
const MRMR_LEVELS: Method = Method { name: "mRMR, 5 levels", id: "mrmr", parameters: &[] };
