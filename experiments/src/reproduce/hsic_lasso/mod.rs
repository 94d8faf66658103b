//! Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature selection by feature-wise
//! kernelized Lasso*, Neural Computation 2014.

mod classification;
mod figure_1;
mod regression;

use clap::Args;

use super::experiments::{Method, Protocol};
use crate::Result;

/// What to recompute.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["figure", "table"]))]
pub struct Arguments {
    /// A figure: 1 on synthetic problems, 2 classification, 5 regression.
    #[arg(long, value_parser = ["1", "2", "5"])]
    figure: Option<String>,
    /// A table: 3 accuracy, 4 redundancy. Both, and Figure 2, come from the same runs and are written
    /// together.
    #[arg(long, value_parser = ["3", "4"])]
    table: Option<String>,
    #[command(flatten)]
    protocol: Protocol,
}

/// Recomputes it; writes under `docs/reproduction/hsic-lasso`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let protocol = &arguments.protocol;
    protocol.with_threads(|| match arguments.figure.as_deref() {
        Some("1") => figure_1::run(protocol),
        Some("5") => regression::run(protocol),
        _ => classification::run(protocol),
    })
}

/// Where the documents lie.
const FOLDER: &str = "docs/reproduction/hsic-lasso";

/// The paper's methods with the parameters that it gives. Kernels have width 1 on standardised features;
/// classes get the delta kernel. What the paper does not say is our default.
const HSIC_LASSO: Method = Method { name: "HSIC Lasso", id: "hsic-lasso", parameters: &["related=0"] };
const NOCCO_LASSO: Method = Method { name: "NOCCO Lasso", id: "nocco-lasso", parameters: &["related=0"] };
const NOCCO_LARGER: Method =
    Method { name: "NOCCO Lasso, ε = 0.1", id: "nocco-lasso", parameters: &["related=0", "epsilon=0.1"] };
const MRMR: Method = Method { name: "mRMR", id: "mrmr", parameters: &["estimator=parzen"] };
const MRMR_LEVELS: Method = Method { name: "mRMR, 5 levels", id: "mrmr", parameters: &[] };
