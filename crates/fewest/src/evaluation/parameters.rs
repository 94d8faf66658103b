//! The parameters of learners.

use fewest_core::Error;
use fewest_eval::{DecisionTree, Learner, LinearSvm, NaiveBayes, NearestNeighbours, learner_named};

use crate::registry::{Parameter, Parameters, Range};

const COST: Parameter = Parameter {
    name: "c",
    default: Some("1"),
    range: Range::Positive,
    meaning: "weight of the samples' losses against the margin",
};

const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    default: Some("1e-4"),
    range: Range::Fraction,
    meaning: "duality gap to reach, relative to the objective, below 1",
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

/// The parameters of the learners that take any; their defaults are those of the learners.
static TABLES: &[(&str, &[Parameter])] = &[
    ("linear-svm", &[COST, TOLERANCE]),
    ("decision-tree", &[MAX_DEPTH, MIN_LEAF]),
    ("naive-bayes", &[SMOOTHING]),
    ("nearest-neighbours", &[NEIGHBOURS]),
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
        _ => return learner_named(id),
    })
}
