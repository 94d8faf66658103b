//! Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature selection*, Neural Networks 2015.

mod classification;
mod regression;

use clap::Args;

use super::experiments::Protocol;
use crate::Result;

/// What to recompute.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["figure", "table"]))]
pub struct Arguments {
    /// A figure: 2 classification with many features.
    #[arg(long, value_parser = ["2"])]
    figure: Option<String>,
    /// A table: 1 the problem of three features, 3 classification, 4 and 5 the weighted sum, 6 Boston
    /// housing, 7 forest fires. Tables 4 and 5 come from the same runs and are written together.
    #[arg(long, value_parser = ["1", "3", "4", "5", "6", "7"])]
    table: Option<String>,
    #[command(flatten)]
    protocol: Protocol,
}

/// Recomputes it; writes under `docs/reproduction/nmmkl`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let protocol = &arguments.protocol;
    protocol.with_threads(|| match arguments.table.as_deref() {
        Some("1") => classification::table_1(protocol),
        Some("3") => classification::table_3(protocol),
        Some("4" | "5") => regression::weighted_sum(protocol),
        Some("6") => regression::housing(protocol),
        Some(_) => regression::forest_fires(protocol),
        None => classification::figure_2(protocol),
    })
}

/// Where the documents lie.
const FOLDER: &str = "docs/reproduction/nmmkl";

const REFERENCE: &str =
    "Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature selection*, Neural Networks 2015";
