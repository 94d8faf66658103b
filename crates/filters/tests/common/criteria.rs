//! The criteria of forward selection.

use fewest_filters::information::{Criterion, Form};

/// One of each, where `mifs` and `general` weigh the redundancy, and `within` what it is given the classes.
pub(crate) fn criteria(mifs: f64, general: f64, within: f64) -> Vec<Criterion> {
    vec![
        Criterion::Mifs { beta: mifs },
        Criterion::Mrmr { form: Form::Difference },
        Criterion::Mrmr { form: Form::Quotient },
        Criterion::Cife,
        Criterion::Jmi,
        Criterion::Cmim { capped: false },
        Criterion::Cmim { capped: true },
        Criterion::InformativeFragments,
        Criterion::Icap,
        Criterion::Disr,
        Criterion::Jmim,
        Criterion::Njmim,
        Criterion::Jmi3,
        Criterion::General { beta: general, lambda: within },
    ]
}
