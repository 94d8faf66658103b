//! Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature selection*, Neural Networks 2015.

mod classification;
mod ranged;
mod regression;
mod scatter;

use super::Wanted;
use crate::Result;

/// Recomputes it; writes to the folder `nmmkl`.
pub(super) fn run(wanted: &Wanted) -> Result<()> {
    wanted.check(&["2", "3"], &["1", "3", "4", "5", "6", "7"])?;
    let protocol = &wanted.protocol;
    protocol.with_threads(|| match wanted.table.as_deref() {
        Some("1") => classification::table_1(protocol),
        Some("3") => classification::table_3(protocol),
        Some("4" | "5") => regression::weighted_sum(protocol),
        Some("6") => regression::housing(protocol),
        Some(_) => regression::forest_fires(protocol),
        None if wanted.figure.as_deref() == Some("3") => scatter::figure_3(protocol),
        None => classification::figure_2(protocol),
    })
}

/// Where the documents lie.
const FOLDER: &str = "nmmkl";

const REFERENCE: &str =
    "Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature selection*, Neural Networks 2015";
