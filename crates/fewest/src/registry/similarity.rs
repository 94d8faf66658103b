//! Scores of similarity: Laplacian score, SPEC, Fisher, trace ratio, the Relief family.

use fewest_core::Error;
use fewest_filters::similarity::{
    Criterion, EdgeWeights, FisherScore, Gamma, GeneralizedFisher, GraphOptions, LaplacianScore, MultiSurf,
    RRelieff, RankInfluence, Relief, Relieff, Scale, Spec, Surf, TraceRatio, TraceRatioStyle,
};

use super::{Built, Kind, Method, Parameter, Parameters, Range, TargetKind};

/// Every kind of target: the method looks at the features only.
const ANY: &[TargetKind] =
    &[TargetKind::None, TargetKind::Classes, TargetKind::Real, TargetKind::Outputs, TargetKind::Affinity];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "fisher",
        title: "Fisher score",
        formula: "score(k) = Σⱼ nⱼ (μₖⱼ − μₖ)² / Σⱼ nⱼ σ²ₖⱼ over the classes j",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[],
        build: |_| Ok(Built::Scorer(Box::new(FisherScore))),
    },
    Method {
        id: "generalized-fisher",
        title: "generalised Fisher score",
        formula: "min ½‖X diag(p) W − H‖² + ½γ‖W‖² over W and p ∈ {0, 1}ᵈ with k ones, p relaxed",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[GENERALIZED_FISHER],
        build: |parameters| {
            Ok(Built::Selector(Box::new(GeneralizedFisher {
                ridge: parameters.real("ridge")?,
                tolerance: parameters.real("tolerance")?,
                ..GeneralizedFisher::default()
            })))
        },
    },
    Method {
        id: "laplacian",
        title: "Laplacian score",
        formula: "score(k) = f̃ᵀLf̃ / f̃ᵀDf̃, L = D − S over the graph of nearest neighbours; smaller is better",
        kind: Kind::Score,
        targets: ANY,
        parameters: &[GRAPH, EDGES],
        build: laplacian,
    },
    Method {
        id: "spec",
        title: "spectral feature selection",
        formula: "φ₁ = f̂ᵀγ(𝓛)f̂, φ₂ = φ₁ / (1 − (f̂ᵀξ₁)²), both smaller is better; φ₃ = Σⱼ≤ₘ (γ(2) − γ(λⱼ))(f̂ᵀξⱼ)²",
        kind: Kind::Score,
        targets: ANY,
        parameters: &[SPEC],
        build: spec,
    },
    Method {
        id: "trace-ratio",
        title: "trace ratio criterion",
        formula: "max over sets S of k features of Σₖ∈S bₖ / Σₖ∈S wₖ, b between and w within",
        kind: Kind::Select,
        targets: &[TargetKind::Classes, TargetKind::None],
        parameters: &[STYLE, GRAPH],
        build: trace_ratio,
    },
    Method {
        id: "relief",
        title: "Relief",
        formula: "W(k) = 1/n Σᵢ [diff(k; i, nearest miss)² − diff(k; i, nearest hit)²]",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[],
        build: |_| Ok(Built::Scorer(Box::new(Relief))),
    },
    Method {
        id: "relieff",
        title: "ReliefF",
        formula: "W(k) = 1/n Σᵢ [−mean diff to hits + Σ_C P(C)/(1 − P(yᵢ)) mean diff to misses of class C]",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[NEIGHBOURS],
        build: |parameters| {
            Ok(Built::Scorer(Box::new(Relieff { neighbours: parameters.count("neighbours")? })))
        },
    },
    Method {
        id: "rrelieff",
        title: "RReliefF, for a real target",
        formula: "W(k) = N_dC&dA(k) / N_dC − (N_dA(k) − N_dC&dA(k)) / (n − N_dC)",
        kind: Kind::Score,
        targets: &[TargetKind::Real],
        parameters: &[NEIGHBOURS, RANK_INFLUENCE],
        build: |parameters| {
            let influence = match parameters.optional_real("sigma")? {
                Some(sigma) => RankInfluence::Gaussian(sigma),
                None => RankInfluence::Equal,
            };
            let neighbours = parameters.count("neighbours")?;
            Ok(Built::Scorer(Box::new(RRelieff { neighbours, influence })))
        },
    },
    Method {
        id: "surf",
        title: "spatially uniform ReliefF",
        formula: "ReliefF over all samples nearer than the mean distance of all pairs",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[],
        build: |_| Ok(Built::Scorer(Box::new(Surf))),
    },
    Method {
        id: "multisurf",
        title: "MultiSURF",
        formula: "ReliefF over all samples nearer than mean − ½ standard deviation of a sample's own distances",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[],
        build: |_| Ok(Built::Scorer(Box::new(MultiSurf))),
    },
];

const GENERALIZED_FISHER: &[Parameter] = &[
    Parameter {
        name: "ridge",
        default: Some("0.1"),
        range: Range::Positive,
        meaning: "penalty γ on the regression, relative to the number of samples",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-6"),
        range: Range::Positive,
        meaning: "duality gap to reach, relative to the objective at zero",
    },
];

/// The neighbour graph.
const GRAPH: &[Parameter] = &[
    Parameter {
        name: "neighbours",
        default: Some("5"),
        range: Range::Count(1),
        meaning: "neighbours of a sample in the graph",
    },
    Parameter {
        name: "t",
        default: Some("median"),
        range: Range::PositiveOr(&["median"]),
        meaning: "scale of the weights exp(−d²/t); median: the median squared distance",
    },
];

/// What an edge of the graph counts.
const EDGES: &[Parameter] = &[Parameter {
    name: "weights",
    default: Some("heat"),
    range: Range::OneOf(&["heat", "binary", "cosine"]),
    meaning: "weight of an edge: exp(−d²/t), 1, or the cosine (of the nearest by angle)",
}];

const SPEC: &[Parameter] = &[
    Parameter {
        name: "criterion",
        default: Some("1"),
        range: Range::OneOf(&["1", "2", "3"]),
        meaning: "which of φ₁, φ₂, φ₃",
    },
    Parameter {
        name: "gamma",
        default: Some("identity"),
        range: Range::OneOf(&["identity", "square", "cube"]),
        meaning: "the function γ of the eigenvalues: λ, λ² or λ³; higher powers count high frequencies more",
    },
    Parameter {
        name: "sigma",
        default: Some("median"),
        range: Range::PositiveOr(&["median"]),
        meaning: "width of the graph's weights exp(−d²/2σ²); median: the root of the median squared distance",
    },
    Parameter {
        name: "m",
        default: None,
        range: Range::Count(1),
        meaning: "eigenvectors of φ₃, with criterion=3; left out, the number of classes, or 2 without classes",
    },
];

const STYLE: &[Parameter] = &[Parameter {
    name: "style",
    default: Some("fisher"),
    range: Range::OneOf(&["fisher", "laplacian"]),
    meaning: "between and within classes, or over the neighbour graph (which the other parameters describe)",
}];

const NEIGHBOURS: &[Parameter] = &[Parameter {
    name: "neighbours",
    default: Some("10"),
    range: Range::Count(1),
    meaning: "neighbours of each sample, in every class where there are classes",
}];

const RANK_INFLUENCE: &[Parameter] = &[Parameter {
    name: "sigma",
    default: None,
    range: Range::Positive,
    meaning: "neighbour of rank r counts exp(−(r/σ)²); left out, all count the same",
}];

fn laplacian(parameters: &Parameters) -> Result<Built, Error> {
    let weights = match parameters.word("weights")? {
        "binary" => EdgeWeights::Binary,
        "cosine" => EdgeWeights::Cosine,
        _ => EdgeWeights::Heat,
    };
    parameters.only_if("t", weights == EdgeWeights::Heat, "weights=heat")?;
    Ok(Built::Scorer(Box::new(LaplacianScore { graph: GraphOptions { weights, ..graph(parameters)? } })))
}

/// The graph with heat weights.
fn graph(parameters: &Parameters) -> Result<GraphOptions, Error> {
    let t = parameters.optional_real("t")?.map_or(Scale::Median, Scale::Fixed);
    Ok(GraphOptions { neighbours: parameters.count("neighbours")?, t, weights: EdgeWeights::Heat })
}

fn spec(parameters: &Parameters) -> Result<Built, Error> {
    let m = parameters.optional_count("m")?;
    let criterion = match parameters.word("criterion")? {
        "3" => Criterion::LeadingEigenvectors { m },
        "2" => Criterion::NormalisedSmoothness,
        _ => Criterion::Smoothness,
    };
    let with_eigenvectors = matches!(criterion, Criterion::LeadingEigenvectors { .. });
    parameters.only_if("m", with_eigenvectors, "criterion=3")?;
    let gamma = match parameters.word("gamma")? {
        "square" => Gamma::Square,
        "cube" => Gamma::Cube,
        _ => Gamma::Identity,
    };
    let sigma_squared =
        parameters.optional_real("sigma")?.map_or(Scale::Median, |sigma| Scale::Fixed(sigma * sigma));
    Ok(Built::Scorer(Box::new(Spec { criterion, gamma, sigma_squared })))
}

fn trace_ratio(parameters: &Parameters) -> Result<Built, Error> {
    let over_graph = parameters.word("style")? == "laplacian";
    parameters.only_if("neighbours", over_graph, "style=laplacian")?;
    // The word is the default of t and asks for nothing.
    let does_something = over_graph || parameters.optional_real("t")?.is_none();
    parameters.only_if("t", does_something, "style=laplacian")?;
    let style =
        if over_graph { TraceRatioStyle::Laplacian(graph(parameters)?) } else { TraceRatioStyle::Fisher };
    Ok(Built::Selector(Box::new(TraceRatio { style })))
}
