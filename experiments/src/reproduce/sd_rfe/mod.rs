//! Yang and Ong, *Feature selection using probabilistic prediction of support vector regression*, IEEE
//! Transactions on Neural Networks 2011.

mod artificial;
mod printed;
mod real;

use clap::Args;

use super::experiments::{Method, Protocol};
use crate::Result;

/// What to recompute.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["figure", "table"]))]
pub struct Arguments {
    /// A figure: 2 the exponential problem. It comes from the runs of Table 1 and is written with it.
    #[arg(long, value_parser = ["2"])]
    figure: Option<String>,
    /// A table: 1 artificial problems, 3 real data.
    #[arg(long, value_parser = ["1", "3"])]
    table: Option<String>,
    #[command(flatten)]
    protocol: Protocol,
}

/// Recomputes it; writes under `docs/reproduction/sd-rfe`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let protocol = &arguments.protocol;
    protocol.with_threads(|| match arguments.table.as_deref() {
        Some("3") => real::run(protocol),
        _ => artificial::run(protocol),
    })
}

/// Where the documents lie.
const FOLDER: &str = "docs/reproduction/sd-rfe";

const REFERENCE: &str = "Yang and Ong, *Feature selection using probabilistic prediction of support vector \
                         regression*, IEEE Transactions on Neural Networks 2011";

/// The paper's methods in the order of its tables; a star where machines are trained anew for every feature.
const METHODS: [Method; 9] = [
    Method { name: "SD-L-RFE", id: "sd-l-rfe", parameters: &[] },
    Method { name: "SD-G-RFE", id: "sd-g-rfe", parameters: &[] },
    Method { name: "mRMR", id: "mrmr", parameters: &[] },
    Method { name: "HSIC-RFE", id: "hsic-rfe", parameters: &[] },
    Method { name: "Δ‖ω‖²-RFE", id: "dw-rfe", parameters: &[] },
    Method { name: "RMB-RFE", id: "rmb-rfe", parameters: &[] },
    Method { name: "SpanB-RFE", id: "spanb-rfe", parameters: &[] },
    Method { name: "RMB-RFE*", id: "rmb-rfe", parameters: &["retrain=true"] },
    Method { name: "SpanB-RFE*", id: "spanb-rfe", parameters: &["retrain=true"] },
];
