//! Criteria of information theory: how much features say about the target, and how much of it others say
//! already.
//!
//! All criteria over levels share the engine of joint counts ([`fewest_counts`]) and one forward selection.
//! See [`ForwardCriterion`] for the formulas.

mod cfs;
mod continuous;
mod criteria;
mod criterion;
mod estimators;
mod fcq;
mod forward;
mod known_terms;
mod known_triples;
mod mim;
mod streamed;
mod triple_terms;
mod uncertainty;

use fewest_core::method::{Draft, Kind, Method, TargetKind};

pub use cfs::Cfs;
pub use criteria::Forward;
pub use criterion::{ForwardCriterion, MrmrForm};
pub use estimators::{Estimator, Observations, kraskov, parzen};
pub use fcq::Fcq;
pub use mim::Mim;
pub use uncertainty::Fcbf;

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::scorer::<Mim>("mim", "mutual information maximisation", "score(k) = I(k;Y)", TARGETS)
        .streaming::<Mim>(),
    forward(
        "mifs",
        "mutual information feature selection",
        "J(k) = I(k;Y) - β Σ_j I(k;j) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Mifs { beta: 1.0 })),
    ),
    forward(
        "mrmr",
        "minimum redundancy maximum relevance",
        "J(k) = I(k;Y) - 1/|S| Σ_j I(k;j) over the selected j, or their quotient",
        || Draft::selector(Forward::new(ForwardCriterion::Mrmr { form: MrmrForm::Difference })),
    ),
    Method::sequence::<Fcq>(
        "fcq",
        "F statistic and correlation quotient",
        "J(k) = F(k;Y) / (1/|S| Σ_j |r(k,j)|) over the selected j, or their difference",
        TARGETS,
    ),
    forward(
        "cife",
        "conditional infomax feature extraction",
        "J(k) = I(k;Y) - Σ_j [I(k;j) - I(k;j|Y)] over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Cife)),
    ),
    forward(
        "jmi",
        "joint mutual information",
        "J(k) = I(k;Y) - 1/|S| Σ_j [I(k;j) - I(k;j|Y)] over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Jmi)),
    ),
    forward(
        "cmim",
        "conditional mutual information maximisation",
        "J(k) = min_j I(k;Y|j) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Cmim { capped: false })),
    ),
    forward(
        "informative-fragments",
        "informative fragments",
        "J(k) = min_j [I(k,j;Y) - I(j;Y)] over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::InformativeFragments)),
    ),
    forward(
        "icap",
        "interaction capping",
        "J(k) = I(k;Y) - Σ_j max(0, I(k;j) - I(k;j|Y)) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Icap)),
    ),
    forward(
        "disr",
        "double input symmetrical relevance",
        "J(k) = Σ_j I(k,j;Y) / H(k,j,Y) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Disr)),
    ),
    forward(
        "jmim",
        "joint mutual information maximisation",
        "J(k) = min_j I(k,j;Y) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Jmim)),
    ),
    forward(
        "njmim",
        "normalised joint mutual information maximisation",
        "J(k) = min_j I(k,j;Y) / H(k,j,Y) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::Njmim)),
    ),
    forward(
        "jmi3",
        "joint mutual information of three",
        "J(k) = Σ_{i<j} I(k,i,j;Y) over the selected i, j",
        || Draft::selector(Forward::new(ForwardCriterion::Jmi3)),
    ),
    forward(
        "linear-information",
        "linear combination of Shannon information",
        "J(k) = I(k;Y) - β Σ_j I(k;j) + λ Σ_j I(k;j|Y) over the selected j",
        || Draft::selector(Forward::new(ForwardCriterion::General { beta: 1.0, lambda: 1.0 })),
    ),
    Method::sequence::<Fcbf>(
        "fcbf",
        "fast correlation-based filter",
        "by SU(k;Y) > δ, without those q that a kept p has SU(p;q) >= SU(q;Y) with; SU(a;b) = 2 I(a;b)/(H(a) + H(b))",
        TARGETS,
    ),
    Method::selector::<Cfs>(
        "cfs",
        "correlation-based feature selection",
        "max Σ_i SU(i;Y) / √(|F| + 2 Σ_{i<j} SU(i;j)) over subsets F, best first",
        TARGETS,
    ),
];

/// A forward selection.
const fn forward(
    id: &'static str,
    title: &'static str,
    formula: &'static str,
    options: fn() -> Draft,
) -> Method {
    Method::preset(Kind::Sequence, id, title, formula, TARGETS, options)
}

#[cfg(test)]
mod tests {
    use fewest_core::method::{Choice, Options};

    use super::*;

    #[test]
    fn every_criterion_is_a_method_with_its_defaults() {
        for criterion in ForwardCriterion::alternatives() {
            let method = METHODS.iter().find(|method| method.id == criterion.word());
            let parameters = method.map(Method::parameters);
            assert_eq!(parameters, Some(Forward::new(criterion).parameters()), "{}", criterion.word());
        }
    }
}
