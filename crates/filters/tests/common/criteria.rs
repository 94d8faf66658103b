//! The criteria of forward selection.

use fewest_filters::information::{ForwardCriterion, MrmrForm};

/// One of each, where `mifs` and `general` weigh the redundancy, and `within` what it is given the classes.
pub(crate) fn criteria(mifs: f64, general: f64, within: f64) -> Vec<ForwardCriterion> {
    vec![
        ForwardCriterion::Mifs { beta: mifs },
        ForwardCriterion::Mrmr { form: MrmrForm::Difference },
        ForwardCriterion::Mrmr { form: MrmrForm::Quotient },
        ForwardCriterion::Cife,
        ForwardCriterion::Jmi,
        ForwardCriterion::Cmim { capped: false },
        ForwardCriterion::Cmim { capped: true },
        ForwardCriterion::InformativeFragments,
        ForwardCriterion::Icap,
        ForwardCriterion::Disr,
        ForwardCriterion::Jmim,
        ForwardCriterion::Njmim,
        ForwardCriterion::Jmi3,
        ForwardCriterion::General { beta: general, lambda: within },
    ]
}
