//! Criteria of information theory.

use fewest_core::Error;
use fewest_counts::discretisation::{Discretisation, Rule};
use fewest_filters::information::{Cfs, Criterion, Estimator, Fcbf, Fcq, Form, Forward, Mim};

use super::{Built, Kind, Method, Parameter, Parameters, Range, TargetKind};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "mim",
        title: "mutual information maximisation",
        formula: "score(k) = I(k;Y)",
        kind: Kind::Score,
        targets: TARGETS,
        parameters: &[ESTIMATOR, DISCRETISATION],
        build: |parameters| Ok(Built::Scorer(Box::new(Mim { estimator: estimator(parameters)? }))),
    },
    Method {
        id: "mifs",
        title: "mutual information feature selection",
        formula: "J(k) = I(k;Y) - β Σ_j I(k;j) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[BETA, DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Mifs { beta: parameters.real("beta")? }),
    },
    Method {
        id: "mrmr",
        title: "minimum redundancy maximum relevance",
        formula: "J(k) = I(k;Y) - 1/|S| Σ_j I(k;j) over the selected j, or their quotient",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[FORM, ESTIMATOR, DISCRETISATION],
        build: |parameters| {
            let criterion = Criterion::Mrmr { form: form(parameters)? };
            Ok(Built::Selector(Box::new(Forward { criterion, estimator: estimator(parameters)? })))
        },
    },
    Method {
        id: "fcq",
        title: "F statistic and correlation quotient",
        formula: "J(k) = F(k;Y) / (1/|S| Σ_j |r(k,j)|) over the selected j, or their difference",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[FORM_OF_FCQ],
        build: |parameters| Ok(Built::Selector(Box::new(Fcq { form: form(parameters)? }))),
    },
    Method {
        id: "cife",
        title: "conditional infomax feature extraction",
        formula: "J(k) = I(k;Y) - Σ_j [I(k;j) - I(k;j|Y)] over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Cife),
    },
    Method {
        id: "jmi",
        title: "joint mutual information",
        formula: "J(k) = I(k;Y) - 1/|S| Σ_j [I(k;j) - I(k;j|Y)] over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Jmi),
    },
    Method {
        id: "cmim",
        title: "conditional mutual information maximisation",
        formula: "J(k) = min_j I(k;Y|j) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[CAPPED, DISCRETISATION],
        build: |parameters| {
            forward(parameters, Criterion::Cmim { capped: parameters.word("capped")? == "true" })
        },
    },
    Method {
        id: "informative-fragments",
        title: "informative fragments",
        formula: "J(k) = min_j [I(k,j;Y) - I(j;Y)] over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::InformativeFragments),
    },
    Method {
        id: "icap",
        title: "interaction capping",
        formula: "J(k) = I(k;Y) - Σ_j max(0, I(k;j) - I(k;j|Y)) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Icap),
    },
    Method {
        id: "disr",
        title: "double input symmetrical relevance",
        formula: "J(k) = Σ_j I(k,j;Y) / H(k,j,Y) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Disr),
    },
    Method {
        id: "jmim",
        title: "joint mutual information maximisation",
        formula: "J(k) = min_j I(k,j;Y) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Jmim),
    },
    Method {
        id: "njmim",
        title: "normalised joint mutual information maximisation",
        formula: "J(k) = min_j I(k,j;Y) / H(k,j,Y) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Njmim),
    },
    Method {
        id: "jmi3",
        title: "joint mutual information of three",
        formula: "J(k) = Σ_{i<j} I(k,i,j;Y) over the selected i, j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Jmi3),
    },
    Method {
        id: "linear-information",
        title: "linear combination of Shannon information",
        formula: "J(k) = I(k;Y) - β Σ_j I(k;j) + λ Σ_j I(k;j|Y) over the selected j",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[BETA, LAMBDA, DISCRETISATION],
        build: |parameters| {
            let (beta, lambda) = (parameters.real("beta")?, parameters.real("lambda")?);
            forward(parameters, Criterion::General { beta, lambda })
        },
    },
    Method {
        id: "fcbf",
        title: "fast correlation-based filter",
        formula: "by SU(k;Y) > δ, without those q that a kept p has SU(p;q) >= SU(q;Y) with; SU(a;b) = 2 I(a;b)/(H(a) + H(b))",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[DELTA, DISCRETISATION],
        build: |parameters| {
            let (delta, discretisation) = (parameters.real("delta")?, discretisation(parameters)?);
            Ok(Built::Selector(Box::new(Fcbf { delta, discretisation })))
        },
    },
    Method {
        id: "cfs",
        title: "correlation-based feature selection",
        formula: "max Σ_i SU(i;Y) / √(|F| + 2 Σ_{i<j} SU(i;j)) over subsets F, best first",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[PATIENCE, DISCRETISATION],
        build: |parameters| {
            let (patience, discretisation) = (parameters.count("patience")?, discretisation(parameters)?);
            Ok(Built::Selector(Box::new(Cfs { patience, discretisation })))
        },
    },
];

const BETA: &[Parameter] = &[Parameter {
    name: "beta",
    default: Some("1"),
    range: Range::NonNegative,
    meaning: "weight of what a feature shares with the selected ones",
}];

const LAMBDA: &[Parameter] = &[Parameter {
    name: "lambda",
    default: Some("1"),
    range: Range::NonNegative,
    meaning: "weight of what a feature shares with the selected ones within classes",
}];

const FORM: &[Parameter] = &[Parameter {
    name: "form",
    default: Some("difference"),
    range: Range::OneOf(&["difference", "quotient"]),
    meaning: "relevance less redundancy, or divided by it",
}];

const FORM_OF_FCQ: &[Parameter] = &[Parameter {
    name: "form",
    default: Some("quotient"),
    range: Range::OneOf(&["quotient", "difference"]),
    meaning: "relevance divided by redundancy, or less it",
}];

const DELTA: &[Parameter] = &[Parameter {
    name: "delta",
    default: Some("0"),
    range: Range::BelowOne,
    meaning: "symmetric uncertainty with the target that a feature must be above",
}];

const PATIENCE: &[Parameter] = &[Parameter {
    name: "patience",
    default: Some("5"),
    range: Range::Count(1),
    meaning: "expansions in a row without a better subset before the search ends",
}];

/// How mutual information is estimated.
const ESTIMATOR: &[Parameter] = &[
    Parameter {
        name: "estimator",
        default: Some("discrete"),
        range: Range::OneOf(&["discrete", "parzen", "ksg"]),
        meaning: "from levels, Gaussian windows, or nearest neighbours (Kraskov, Stögbauer, Grassberger)",
    },
    Parameter {
        name: "width",
        default: None,
        range: Range::Positive,
        meaning: "factor on the width of the windows, with estimator=parzen; 1 when left out",
    },
    Parameter {
        name: "neighbours",
        default: None,
        range: Range::Count(1),
        meaning: "number of neighbours, with estimator=ksg; 3 when left out",
    },
];

const CAPPED: &[Parameter] = &[Parameter {
    name: "capped",
    default: Some("false"),
    range: Range::OneOf(&["false", "true"]),
    meaning: "true: I(k;Y) is among the values that the minimum is taken of",
}];

/// How numbers become levels.
const DISCRETISATION: &[Parameter] = &[
    Parameter {
        name: "discretisation",
        default: Some("equal-width"),
        range: Range::OneOf(&["equal-width", "equal-frequency", "mdl"]),
        meaning: "how numbers, and a real target, become levels; mdl: cuts that tell the classes apart",
    },
    Parameter {
        name: "bins",
        default: Some("5"),
        range: Range::Count(2),
        meaning: "number of bins, at most 65536; with mdl those of a real target, of equally many samples",
    },
    Parameter {
        name: "integers",
        default: Some("bins"),
        range: Range::OneOf(&["bins", "levels"]),
        meaning: "levels: a feature of whole numbers only is taken as it is",
    },
];

fn discretisation(parameters: &Parameters) -> Result<Discretisation, Error> {
    let bins = parameters.count("bins")?;
    let rule = match parameters.word("discretisation")? {
        "equal-frequency" => Rule::EqualFrequency { bins },
        "mdl" => Rule::Mdl { bins },
        _ => Rule::EqualWidth { bins },
    };
    let discretisation =
        Discretisation { rule, integers_as_levels: parameters.word("integers")? == "levels" };
    discretisation.check()?;
    Ok(discretisation)
}

fn estimator(parameters: &Parameters) -> Result<Estimator, Error> {
    let word = parameters.word("estimator")?;
    parameters.only_if("width", word == "parzen", "estimator=parzen")?;
    parameters.only_if("neighbours", word == "ksg", "estimator=ksg")?;
    for name in ["discretisation", "bins", "integers"] {
        parameters.only_if(name, word == "discrete", "estimator=discrete")?;
    }
    Ok(match word {
        "parzen" => Estimator::Parzen { width: parameters.optional_real("width")?.unwrap_or(1.0) },
        "ksg" => Estimator::Kraskov { neighbours: parameters.optional_count("neighbours")?.unwrap_or(3) },
        _ => Estimator::Discrete(discretisation(parameters)?),
    })
}

fn form(parameters: &Parameters) -> Result<Form, Error> {
    Ok(match parameters.word("form")? {
        "quotient" => Form::Quotient,
        _ => Form::Difference,
    })
}

fn forward(parameters: &Parameters, criterion: Criterion) -> Result<Built, Error> {
    let estimator = Estimator::Discrete(discretisation(parameters)?);
    Ok(Built::Selector(Box::new(Forward { criterion, estimator })))
}
