//! Features judged by what is learned from them: recursive elimination, sequential search, stepwise regression.

use fewest_core::{Error, Selector};
use fewest_wrappers::{
    Bound, BoundChange, Criterion, Direction, HsicChange, Kernel, NormChange, Permuter, RecursiveElimination,
    Sensitivity, SensitivityNoise, SensitivityScorer, SequentialSearch, Step, Stepwise, Training,
};

use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind, Value};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "sd-l",
        title: "sensitivity of probabilistic predictions, Laplace noise",
        formula: "score(j) = meanᵢ KL(p(y|xᵢ), p(y|xᵢ with feature j permuted)), p Laplace around a support vector machine",
        kind: Kind::Score,
        targets: TARGETS,
        parameters: &[PERMUTATION, MACHINE],
        build: |parameters| sensitivity_scorer(parameters, SensitivityNoise::Laplace),
    },
    Method {
        id: "sd-g",
        title: "sensitivity of probabilistic predictions, Gaussian noise",
        formula: "score(j) = meanᵢ KL(p(y|xᵢ), p(y|xᵢ with feature j permuted)), p Gaussian around a support vector machine",
        kind: Kind::Score,
        targets: TARGETS,
        parameters: &[PERMUTATION, MACHINE],
        build: |parameters| sensitivity_scorer(parameters, SensitivityNoise::Gaussian),
    },
    Method {
        id: "sd-l-rfe",
        title: "recursive elimination by the sensitivity of predictions, Laplace noise",
        formula: "train; take away the feature with the smallest sd-l score; again",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[PERMUTATION, ELIMINATION, MACHINE],
        build: |parameters| eliminate(parameters, sensitivity(parameters, SensitivityNoise::Laplace)?),
    },
    Method {
        id: "sd-g-rfe",
        title: "recursive elimination by the sensitivity of predictions, Gaussian noise",
        formula: "train; take away the feature with the smallest sd-g score; again",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[PERMUTATION, ELIMINATION, MACHINE],
        build: |parameters| eliminate(parameters, sensitivity(parameters, SensitivityNoise::Gaussian)?),
    },
    Method {
        id: "dw-rfe",
        title: "recursive elimination by the norm of the weights (SVM-RFE, SVR-RFE)",
        formula: "train; take away the j with the smallest |‖ω‖² − ‖ω₍₋ⱼ₎‖²|, which is wⱼ² for the linear kernel; again",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[ELIMINATION, MACHINE],
        build: |parameters| eliminate(parameters, NormChange),
    },
    Method {
        id: "rmb-rfe",
        title: "recursive elimination by the radius-margin bound",
        formula: "train; take away the j without which 4 R² Σ|β| + Σξ + nε is smallest (R² ‖ω‖² for classes); again",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[RETRAIN, ELIMINATION, MACHINE],
        build: |parameters| eliminate(parameters, bound(parameters, Bound::RadiusMargin)?),
    },
    Method {
        id: "spanb-rfe",
        title: "recursive elimination by the span bound",
        formula: "train; take away the j without which Σₚ |βₚ| Sₚ² + Σξ + nε is smallest; again",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[RETRAIN, ELIMINATION, MACHINE],
        build: |parameters| eliminate(parameters, bound(parameters, Bound::Span)?),
    },
    Method {
        id: "hsic-rfe",
        title: "recursive elimination by dependence on the target",
        formula: "take away the j with the smallest tr(K L̄) − tr(K₍₋ⱼ₎ L̄), K the kernel over the features left; again",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[ELIMINATION, MACHINE],
        build: |parameters| eliminate(parameters, HsicChange),
    },
    Method {
        id: "sfs",
        title: "sequential forward selection",
        formula: "add the j with the best cross-validated score of a learner on S ∪ {j}",
        kind: Kind::Sequence,
        targets: SEARCH_TARGETS,
        parameters: &[SEARCH],
        build: |parameters| search(parameters, Direction::Forward, false),
    },
    Method {
        id: "sbs",
        title: "sequential backward selection",
        formula: "take away the j with the best cross-validated score of a learner on S ∖ {j}",
        kind: Kind::Sequence,
        targets: SEARCH_TARGETS,
        parameters: &[SEARCH],
        build: |parameters| search(parameters, Direction::Backward, false),
    },
    Method {
        id: "sffs",
        title: "sequential floating forward selection",
        formula: "add as sfs; then take away while that gives the best set of its size so far",
        kind: Kind::Select,
        targets: SEARCH_TARGETS,
        parameters: &[SEARCH],
        build: |parameters| search(parameters, Direction::Forward, true),
    },
    Method {
        id: "sbfs",
        title: "sequential floating backward selection",
        formula: "take away as sbs; then add while that gives the best set of its size so far",
        kind: Kind::Select,
        targets: SEARCH_TARGETS,
        parameters: &[SEARCH],
        build: |parameters| search(parameters, Direction::Backward, true),
    },
    Method {
        id: "stepwise",
        title: "forward stepwise regression",
        formula: "add the j with the smallest p-value of F = (RSS − RSS₊ⱼ)/q / (RSS₊ⱼ/(n − p − q)) while it is below p_enter",
        kind: Kind::Sequence,
        targets: &[TargetKind::Real],
        parameters: &[ENTER],
        build: |parameters| Ok(Built::Selector(Box::new(Stepwise { p_enter: parameters.real("p_enter")? }))),
    },
];

const SEARCH_TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

const ENTER: &[Parameter] = &[Parameter {
    name: "p_enter",
    default: Some("0.05"),
    range: Range::Fraction,
    meaning: "p-value below which a feature enters",
}];

const SEARCH: &[Parameter] = &[
    Parameter {
        name: "learner",
        default: Some("nearest-neighbours"),
        range: Range::OneOf(&[
            "nearest-neighbours",
            "decision-tree",
            "naive-bayes",
            "linear-svm",
            "kernel-logistic",
            "svc",
            "twsvm",
            "tbsvm",
            "kernel-ridge",
            "svr",
        ]),
        meaning: "what learns: kernel-ridge and svr take real targets, nearest-neighbours both, the others classes",
    },
    Parameter {
        name: "folds",
        default: Some("5"),
        range: Range::Count(2),
        meaning: "folds of the cross-validation",
    },
];

const MACHINE: &[Parameter] = &[
    Parameter {
        name: "kernel",
        default: Some("gaussian"),
        range: Range::OneOf(&["gaussian", "linear"]),
        meaning: "kernel of the support vector machine, on standardised features",
    },
    Parameter {
        name: "gamma",
        default: Some("auto"),
        range: Range::PositiveOr(&["auto"]),
        meaning: "γ of exp(−γ ‖x − z‖²), the paper's κ; auto: 1 over the number of features that vary",
    },
    Parameter {
        name: "cost",
        default: Some("1"),
        range: Range::Positive,
        meaning: "C, the weight of errors against the norm of the weights",
    },
    Parameter {
        name: "epsilon",
        default: Some("0.1"),
        range: Range::NonNegative,
        meaning: "errors of regression up to ε are free, in units of the target as trained on",
    },
    Parameter {
        name: "target",
        default: Some("standardised"),
        range: Range::OneOf(&["standardised", "raw"]),
        meaning: "scaling of a real target",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-12"),
        range: Range::Positive,
        meaning: "relative duality gap that training ends at",
    },
];

const ELIMINATION: &[Parameter] = &[
    Parameter {
        name: "step",
        default: Some("1"),
        range: Range::PositiveOr(&["halving"]),
        meaning: "features that go in a round: a number, a share of those left if below 1, or down to the next power of two",
    },
    Parameter {
        name: "ranking",
        default: Some("complete"),
        range: Range::OneOf(&["complete", "early"]),
        meaning: "early: stop when the features wanted are left, in the order of the last importances",
    },
    Parameter {
        name: "folds",
        default: None,
        range: Range::Count(2),
        meaning: "folds of the cross-validated error by number of features, which with -k auto says how many; none when left out",
    },
];

const RETRAIN: &[Parameter] = &[Parameter {
    name: "retrain",
    default: Some("false"),
    range: Range::OneOf(&["false", "true"]),
    meaning: "whether a machine is trained without each feature in turn; false: the coefficients stay what they are",
}];

const PERMUTATION: &[Parameter] = &[
    Parameter {
        name: "permutation",
        default: Some("random"),
        range: Range::OneOf(&["random", "shift"]),
        meaning: "how a feature's values are permuted; shift: sample i takes the value of sample i + 1 + 37 (j + 1) mod (n − 1)",
    },
    Parameter {
        name: "permutations",
        default: Some("1"),
        range: Range::Count(1),
        meaning: "random permutations that a score is averaged over",
    },
];

fn training(parameters: &Parameters) -> Result<Training, Error> {
    let linear = parameters.word("kernel")? == "linear";
    parameters.only_if("gamma", !linear, "the kernel is Gaussian")?;
    let kernel =
        if linear { Kernel::Linear } else { Kernel::Gaussian { gamma: parameters.optional_real("gamma")? } };
    Ok(Training {
        kernel,
        cost: parameters.real("cost")?,
        epsilon: parameters.real("epsilon")?,
        standardise_target: parameters.word("target")? == "standardised",
        tolerance: parameters.real("tolerance")?,
    })
}

fn bound(parameters: &Parameters, bound: Bound) -> Result<BoundChange, Error> {
    Ok(BoundChange { bound, retrain: parameters.word("retrain")? == "true" })
}

fn sensitivity(parameters: &Parameters, noise: SensitivityNoise) -> Result<Sensitivity, Error> {
    let shift = parameters.word("permutation")? == "shift";
    parameters.only_if("permutations", !shift, "permutation=random")?;
    let permuter = if shift { Permuter::Shift } else { Permuter::Random };
    Ok(Sensitivity { noise, permuter, permutations: parameters.count("permutations")? })
}

fn sensitivity_scorer(parameters: &Parameters, noise: SensitivityNoise) -> Result<Built, Error> {
    let (sensitivity, training) = (sensitivity(parameters, noise)?, training(parameters)?);
    Ok(Built::Scorer(Box::new(SensitivityScorer { sensitivity, training })))
}

fn search(parameters: &Parameters, direction: Direction, floating: bool) -> Result<Built, Error> {
    let learner = fewest_eval::learner_named(parameters.word("learner")?)?;
    let folds = parameters.count("folds")?;
    Ok(Built::Selector(Box::new(SequentialSearch { learner, direction, floating, folds })))
}

fn eliminate(parameters: &Parameters, criterion: impl Criterion + 'static) -> Result<Built, Error> {
    let step = match parameters.get("step") {
        Some(Value::Word(_)) => Step::Halving,
        _ => match parameters.real("step")? {
            share if share < 1.0 => Step::Fraction(share),
            count if count.fract() == 0.0 && count < 1e15 => Step::Count(count as usize),
            other => {
                return Err(Error::parameter("step", other, "a whole number, a share below 1, or halving"));
            }
        },
    };
    let selector: Box<dyn Selector> = Box::new(RecursiveElimination {
        criterion,
        training: training(parameters)?,
        step,
        stop_early: parameters.word("ranking")? == "early",
        folds: parameters.optional_count("folds")?,
    });
    Ok(Built::Selector(selector))
}
