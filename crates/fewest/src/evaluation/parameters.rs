//! The parameters of learners.

use fewest_core::Error;
use fewest_eval::{
    DecisionTree, Learner, LinearSvm, MachineKernel, NaiveBayes, NearestNeighbours, TwinClassifier,
    TwinRegularization, learner_named,
};

use crate::registry::{Parameters, Range, Row as Parameter};

const COST: Parameter = Parameter {
    name: "c",
    default: Some("1"),
    range: Range::Positive,
    meaning: "weight of the samples' losses against the margin",
};

const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    default: Some("1e-4"),
    range: Range::ProperFraction,
    meaning: "duality gap to reach, relative to the objective",
};

const MAX_DEPTH: Parameter = Parameter {
    name: "max_depth",
    default: None,
    range: Range::Count(1),
    meaning: "most splits from the root to a leaf; left out, as many as separate the samples",
};

const MIN_LEAF: Parameter = Parameter {
    name: "min_leaf",
    default: Some("1"),
    range: Range::Count(1),
    meaning: "fewest samples of a leaf",
};

const SMOOTHING: Parameter = Parameter {
    name: "smoothing",
    default: Some("1e-9"),
    range: Range::Positive,
    meaning: "what is added to variances, relative to the feature's own over all classes",
};

const NEIGHBOURS: Parameter = Parameter {
    name: "neighbours",
    default: Some("5"),
    range: Range::Count(1),
    meaning: "training samples that are asked",
};

const KERNEL: Parameter = Parameter {
    name: "kernel",
    default: Some("gaussian"),
    range: Range::OneOf(&["gaussian", "linear"]),
    meaning: "whether planes are drawn in kernel values or in the features",
};

const TWIN_COST: Parameter = Parameter {
    name: "c1",
    default: None,
    range: Range::Positive,
    meaning: "cost of samples too near the other class's plane, c1 = c2; left out, chosen among 0.1, 1, 10, 100",
};

const RIDGE: Parameter = Parameter {
    name: "ridge",
    default: Some("1e-4"),
    range: Range::Positive,
    meaning: "what makes matrices invertible",
};

const STRUCTURE: Parameter = Parameter {
    name: "c3",
    default: None,
    range: Range::Positive,
    meaning: "weight of the structural risk, c3 = c4; left out, chosen among 0.01, 0.1, 1",
};

const RELAXATION: Parameter = Parameter {
    name: "relaxation",
    default: Some("1"),
    range: Range::Positive,
    meaning: "factor of successive over-relaxation, below 2",
};

/// The parameters of the learners that take any; their defaults are those of the learners.
static TABLES: &[(&str, &[Parameter])] = &[
    ("linear-svm", &[COST, TOLERANCE]),
    ("decision-tree", &[MAX_DEPTH, MIN_LEAF]),
    ("naive-bayes", &[SMOOTHING]),
    ("nearest-neighbours", &[NEIGHBOURS]),
    ("twsvm", &[KERNEL, TWIN_COST, RIDGE, RELAXATION]),
    ("tbsvm", &[KERNEL, TWIN_COST, STRUCTURE, RELAXATION]),
];

/// The parameters of the learner `id`.
pub(super) fn of(id: &str) -> &'static [Parameter] {
    TABLES.iter().find(|(learner, _)| *learner == id).map_or(&[], |(_, parameters)| parameters)
}

/// The learner `id` with these parameters.
pub(super) fn build(id: &str, parameters: &Parameters) -> Result<Box<dyn Learner>, Error> {
    Ok(match id {
        "linear-svm" => Box::new(LinearSvm {
            c: parameters.real("c")?,
            tolerance: parameters.real("tolerance")?,
            ..LinearSvm::default()
        }),
        "decision-tree" => Box::new(DecisionTree {
            max_depth: parameters.optional_count("max_depth")?,
            min_leaf: parameters.count("min_leaf")?,
        }),
        "naive-bayes" => Box::new(NaiveBayes { smoothing: parameters.real("smoothing")? }),
        "nearest-neighbours" => Box::new(NearestNeighbours { neighbours: parameters.count("neighbours")? }),
        "twsvm" => {
            let regularization = TwinRegularization::Ridge(parameters.real("ridge")?);
            Box::new(TwinClassifier { regularization, ..twin(TwinClassifier::twsvm(), parameters)? })
        }
        "tbsvm" => {
            let mut learner = twin(TwinClassifier::tbsvm(), parameters)?;
            if let Some(c3) = parameters.optional_real("c3")? {
                learner.regularization = TwinRegularization::Bounded(vec![c3]);
            }
            Box::new(learner)
        }
        _ => return learner_named(id),
    })
}

fn twin(mut learner: TwinClassifier, parameters: &Parameters) -> Result<TwinClassifier, Error> {
    if parameters.word("kernel")? == "linear" {
        learner.kernel = MachineKernel::Linear;
    }
    if let Some(cost) = parameters.optional_real("c1")? {
        learner.grid.costs = vec![cost];
    }
    learner.relaxation = parameters.real("relaxation")?;
    learner.check()?;
    Ok(learner)
}
