//! Yang and Ong, *Feature selection using probabilistic prediction of support vector regression*, IEEE
//! Transactions on Neural Networks 2011.

mod artificial;
mod printed;
mod real;

use super::Wanted;
use super::experiments::Method;
use crate::Result;

/// Recomputes it; writes to the folder `sd-rfe`.
pub(super) fn run(wanted: &Wanted) -> Result<()> {
    wanted.check(&["2"], &["1", "3"])?;
    let protocol = &wanted.protocol;
    protocol.with_threads(|| match wanted.table.as_deref() {
        Some("3") => real::run(protocol),
        _ => artificial::run(protocol),
    })
}

/// Where the documents lie.
const FOLDER: &str = "sd-rfe";

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

/// The bounds with the loss that is not their default, with machines trained without each feature.
const OTHER_LOSS: [Method; 2] = [
    Method { name: "RMB-RFE*, linear loss", id: "rmb-rfe", parameters: &["retrain=true", "loss=linear"] },
    Method {
        name: "SpanB-RFE*, squared loss",
        id: "spanb-rfe",
        parameters: &["retrain=true", "loss=squared"],
    },
];
