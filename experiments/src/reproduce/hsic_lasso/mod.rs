//! Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature selection by feature-wise
//! kernelized Lasso*, Neural Computation 2014.

mod blocks;
mod classification;
mod curves;
mod differences;
mod figure_1;
mod kernels;
mod printed;
mod published;
mod regression;

use std::time::{Duration, Instant};

use clap::Args;

use super::Wanted;
use super::experiments::{Method, Protocol};
use crate::Result;

/// What to recompute.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,
    /// Stop after this many seconds. The pages then tell how many runs each cell has, and --resume goes on
    /// from there. Not for Figure 1.
    #[arg(long, value_name = "SECONDS")]
    stop_after: Option<u32>,
}

/// Recomputes it; writes to the folder `hsic-lasso`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { wanted, stop_after } = arguments;
    wanted.check(&["1", "2", "3", "4", "5"], &["3", "4"])?;
    let figure = wanted.figure.as_deref();
    if figure == Some("1") && stop_after.is_some() {
        return Err("--stop-after: Figure 1 runs to its end".into());
    }
    let protocol = &wanted.protocol;
    let deadline = stop_after.map(|seconds| Instant::now() + Duration::from_secs(u64::from(seconds)));
    let work = Work { protocol, deadline };
    protocol.with_threads(|| match figure {
        Some("1") => figure_1::run(protocol),
        Some("3") => kernels::figure_3(&work),
        Some("4") => kernels::figure_4(&work),
        Some("5") => regression::run(&work),
        _ => classification::run(&work),
    })
}

/// The runs to do, and until when.
struct Work<'a> {
    protocol: &'a Protocol,
    deadline: Option<Instant>,
}

/// Where the documents lie.
const FOLDER: &str = "hsic-lasso";

const REFERENCE: &str = "Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature selection by \
                         feature-wise kernelized Lasso*, Neural Computation 2014";

/// Numbers of features; the tables are of the last.
const KS: &[usize] = &[10, 20, 30, 40, 50];

/// Share of the samples that test.
const TEST_FRACTION: f64 = 0.2;

/// The paper's methods with the parameters that it gives. Kernels have width 1 on standardised features;
/// classes get the delta kernel. Parameters that the paper does not give are our defaults.
const HSIC_LASSO: Method = Method { name: "HSIC Lasso", id: "hsic-lasso", parameters: &["related=0"] };
const NOCCO_LASSO: Method = Method { name: "NOCCO Lasso", id: "nocco-lasso", parameters: &["related=0"] };
const NOCCO_LARGER: Method =
    Method { name: "NOCCO Lasso, ε = 0.1", id: "nocco-lasso", parameters: &["related=0", "epsilon=0.1"] };
const SPAM: Method = Method { name: "SpAM", id: "spam", parameters: &[] };
/// The paper has mutual information in both, λ = 1 and γ = 0.5; here the number of features decides λ.
const FVM: Method = Method { name: "FVM", id: "fvm", parameters: &["similarity=mutual-information"] };
const QPFS: Method = Method { name: "QPFS", id: "qpfs", parameters: &["gamma=0.5"] };
const MRMR: Method = Method { name: "mRMR", id: "mrmr", parameters: &["estimator=parzen"] };
const MRMR_LEVELS: Method = Method { name: "mRMR, 5 levels", id: "mrmr", parameters: &[] };

const fn hsic_lasso(name: &'static str, parameters: &'static [&'static str]) -> Method {
    Method { name, id: "hsic-lasso", parameters }
}

const fn nocco_lasso(name: &'static str, parameters: &'static [&'static str]) -> Method {
    Method { name, id: "nocco-lasso", parameters }
}

/// HSIC Lasso with other widths of the features' kernel. The paper draws several and does not say which.
const HSIC_WIDTHS: [Method; 5] = [
    HSIC_LASSO,
    hsic_lasso("HSIC Lasso, σ_x = 0.25", &["related=0", "sigma_x=0.25"]),
    hsic_lasso("HSIC Lasso, σ_x = 0.5", &["related=0", "sigma_x=0.5"]),
    hsic_lasso("HSIC Lasso, σ_x = 2", &["related=0", "sigma_x=2"]),
    hsic_lasso("HSIC Lasso, σ_x = 4", &["related=0", "sigma_x=4"]),
];

/// NOCCO Lasso with the same widths.
const NOCCO_WIDTHS: [Method; 5] = [
    NOCCO_LASSO,
    nocco_lasso("NOCCO Lasso, σ_x = 0.25", &["related=0", "sigma_x=0.25"]),
    nocco_lasso("NOCCO Lasso, σ_x = 0.5", &["related=0", "sigma_x=0.5"]),
    nocco_lasso("NOCCO Lasso, σ_x = 2", &["related=0", "sigma_x=2"]),
    nocco_lasso("NOCCO Lasso, σ_x = 4", &["related=0", "sigma_x=4"]),
];
