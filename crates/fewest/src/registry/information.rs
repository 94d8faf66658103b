//! Criteria of information theory.

use fewest_core::Error;
use fewest_filters::discretisation::{Discretisation, Rule};
use fewest_filters::information::{Criterion, Form, Forward};

use super::{Built, Kind, Method, Parameter, Parameters, Range, TargetKind};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "mifs",
        title: "mutual information feature selection",
        formula: "J(k) = I(k;Y) - β Σ_j I(k;j) over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[BETA, DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Mifs { beta: parameters.real("beta")? }),
    },
    Method {
        id: "mrmr",
        title: "minimum redundancy maximum relevance",
        formula: "J(k) = I(k;Y) - 1/|S| Σ_j I(k;j) over the selected j, or their quotient",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[FORM, DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Mrmr { form: form(parameters)? }),
    },
    Method {
        id: "cife",
        title: "conditional infomax feature extraction",
        formula: "J(k) = I(k;Y) - Σ_j [I(k;j) - I(k;j|Y)] over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Cife),
    },
    Method {
        id: "jmi",
        title: "joint mutual information",
        formula: "J(k) = I(k;Y) - 1/|S| Σ_j [I(k;j) - I(k;j|Y)] over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Jmi),
    },
    Method {
        id: "cmim",
        title: "conditional mutual information maximisation",
        formula: "J(k) = min_j I(k;Y|j) over the selected j",
        kind: Kind::Select,
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
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::InformativeFragments),
    },
    Method {
        id: "icap",
        title: "interaction capping",
        formula: "J(k) = I(k;Y) - Σ_j max(0, I(k;j) - I(k;j|Y)) over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Icap),
    },
    Method {
        id: "disr",
        title: "double input symmetrical relevance",
        formula: "J(k) = Σ_j I(k,j;Y) / H(k,j,Y) over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Disr),
    },
    Method {
        id: "jmim",
        title: "joint mutual information maximisation",
        formula: "J(k) = min_j I(k,j;Y) over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Jmim),
    },
    Method {
        id: "njmim",
        title: "normalised joint mutual information maximisation",
        formula: "J(k) = min_j I(k,j;Y) / H(k,j,Y) over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Njmim),
    },
    Method {
        id: "jmi3",
        title: "joint mutual information of three",
        formula: "J(k) = Σ_{i<j} I(k,i,j;Y) over the selected i, j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[DISCRETISATION],
        build: |parameters| forward(parameters, Criterion::Jmi3),
    },
    Method {
        id: "linear-information",
        title: "linear combination of Shannon information",
        formula: "J(k) = I(k;Y) - β Σ_j I(k;j) + λ Σ_j I(k;j|Y) over the selected j",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[BETA, LAMBDA, DISCRETISATION],
        build: |parameters| {
            let (beta, lambda) = (parameters.real("beta")?, parameters.real("lambda")?);
            forward(parameters, Criterion::General { beta, lambda })
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

fn form(parameters: &Parameters) -> Result<Form, Error> {
    Ok(match parameters.word("form")? {
        "quotient" => Form::Quotient,
        _ => Form::Difference,
    })
}

fn forward(parameters: &Parameters, criterion: Criterion) -> Result<Built, Error> {
    let discretisation = discretisation(parameters)?;
    Ok(Built::Selector(Box::new(Forward { criterion, discretisation })))
}
