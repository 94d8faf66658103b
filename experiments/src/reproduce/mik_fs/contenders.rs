//! The methods of Table 2: each chooses its parameters on the training samples and predicts the others.

use fewest::core::method::KernelWidth;
use fewest::core::{Context, Dataset, Error};
use fewest::eval::{KFold, Splitter};
use fewest::mkl::{BaseKernel, BaseKernels, MikFs};
use serde::{Deserialize, Serialize};

use super::{kernel, linear};

/// Folds that choose parameters.
pub(super) const FOLDS: usize = 3;

/// The parameters to choose from.
const GRID: [f64; 5] = [100.0, 10.0, 1.0, 0.1, 0.01];

/// Penalties of RFMKL and GMKL, relative to the smallest one at which no feature is selected.
pub(super) const RATIOS: [f64; 7] = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001];

/// Costs of GMKL: below, all multipliers are at their bound.
pub(super) const COSTS: [f64; 3] = [1.0, 10.0, 100.0];

/// The smallest l1 penalty of the elastic net tried, as a multiple of the l2 penalty.
pub(super) const LEAST_L1: f64 = 0.1;

/// The products of two of them: MIK-FS depends on `λ₁` and `λ₂` only by their product.
const PRODUCTS: [f64; 9] = [1e4, 1e3, 1e2, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4];

/// Most alternations at a penalty while parameters are chosen. The paper says that ten are enough.
pub(super) const FEW_ALTERNATIONS: usize = 50;

/// Most alternations at a penalty for the model that predicts.
pub(super) const ALTERNATIONS: usize = 200;

/// The course of the alternation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Descent {
    /// The objective, at the start and after each alternation.
    pub history: Vec<f64>,
    /// How many of these steps were Newton's.
    pub newton_steps: usize,
    /// The projected gradient of the weights at the end, relative to their penalty.
    pub weight_violation: f64,
    /// The gradient of the machine at the end, relative to that at zero.
    pub machine_violation: f64,
}

/// The result of a method in one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Share of the test samples whose class was found.
    pub accuracy: f64,
    /// Features with a weight.
    pub n_features: usize,
    /// The parameters chosen.
    pub chosen: String,
    /// For MIK-FS.
    pub descent: Option<Descent>,
}

/// A method that chooses its parameters by itself.
type Run = fn(&Dataset, &Dataset, &Context<'_>) -> Result<Outcome, Error>;

/// A column of our table.
pub(super) struct Contender {
    /// Its name there.
    pub name: &'static str,
    /// The paper's name, where it has it.
    pub printed: Option<&'static str>,
    /// From training and test samples to a result.
    pub run: Run,
    /// Whether it alternates, as Figure 2 is about.
    pub descends: bool,
}

/// The paper's MIK-FS, which is compared with the others.
pub(super) const MIK_FS: &str = "MIK-FS";

/// All of them, in the order of the paper's columns.
pub(super) const CONTENDERS: &[Contender] = &[
    Contender { name: "l1-SVM", printed: Some("l1-SVM"), run: l1, descends: false },
    Contender { name: "ElasticNet-SVM", printed: Some("ElasticNet-SVM"), run: elastic_net, descends: false },
    Contender { name: "RFMKL", printed: Some("RFMKL"), run: rfmkl, descends: false },
    Contender { name: "GMKL", printed: Some("GMKL"), run: gmkl, descends: false },
    Contender { name: "IKPCA", printed: Some("IKPCA"), run: ikpca, descends: false },
    Contender { name: MIK_FS, printed: Some("MIK-FS"), run: sigmoid, descends: true },
    Contender { name: "MIK-FS, Gaussian", printed: None, run: gaussian, descends: true },
];

fn sigmoid(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    // At a tie the smoothest.
    let kernels =
        GRID.iter().rev().map(|&scale| (format!("a = {scale}"), BaseKernel::Sigmoid { scale, shift: 0.0 }));
    mik_fs(kernels.collect(), train, test, context)
}

fn gaussian(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    let kernels = GRID.iter().map(|&sigma| {
        (format!("sigma = {sigma}"), BaseKernel::Gaussian { sigma: KernelWidth::Value(sigma) })
    });
    mik_fs(kernels.collect(), train, test, context)
}

fn mik_fs(
    kernels: Vec<(String, BaseKernel)>,
    train: &Dataset,
    test: &Dataset,
    context: &Context<'_>,
) -> Result<Outcome, Error> {
    let mut best = (f64::NEG_INFINITY, 0, 0);
    let method = |which: usize, iterations: usize| MikFs {
        kernel: BaseKernels(vec![kernels[which].1.clone()]),
        iterations,
        ..MikFs::default()
    };
    for which in 0..kernels.len() {
        // At a tie the largest penalty.
        let worth = |at: usize, most: f64| most > best.0 || (most == best.0 && at < best.1);
        let path =
            method(which, FEW_ALTERNATIONS).validate_while(train, FOLDS, &PRODUCTS, &worth, context)?;
        if path.is_empty() {
            continue;
        }
        let at = first_best(path.iter().map(|point| point.score));
        if (path[at].score, std::cmp::Reverse(at)) > (best.0, std::cmp::Reverse(best.1)) {
            best = (path[at].score, at, which);
        }
    }
    let (_, penalty, which) = best;
    let method = method(which, ALTERNATIONS);
    let Some(model) = method.fit_path(train, &PRODUCTS[..=penalty], context)?.pop() else {
        return Err(Error::TooFew { what: "features that vary", minimum: 1, found: 0 });
    };
    let predicted = model.predict(test.x())?;
    let signs = linear::signs(test)?;
    let right = predicted.iter().zip(&signs).filter(|(code, y)| (**code > 0.0) == (**y > 0.0)).count();
    let most = model.weights.iter().fold(0.0_f64, |most, weight| most.max(weight.weight));
    let counted = model.weights.iter().filter(|weight| weight.weight >= method.threshold * most);
    Ok(Outcome {
        accuracy: right as f64 / signs.len() as f64,
        n_features: counted.count(),
        chosen: format!("{}, lambda1 lambda2 = {}", kernels[which].0, PRODUCTS[penalty]),
        descent: Some(Descent {
            history: model.alternation.history,
            newton_steps: model.alternation.newton_steps,
            weight_violation: model.alternation.weight_violation,
            machine_violation: model.alternation.machine_violation,
        }),
    })
}

fn l1(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    let grid: Vec<(f64, f64)> = GRID.iter().map(|&l1| (l1, 0.0)).collect();
    linear_machine(&grid, train, test, context)
}

fn elastic_net(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    let pairs = GRID.iter().flat_map(|&l1| GRID.iter().map(move |&l2| (l1, l2)));
    // Below that share it is a ridge that keeps nearly every feature, and takes minutes.
    let grid: Vec<(f64, f64)> = pairs.filter(|(l1, l2)| *l1 >= LEAST_L1 * l2).collect();
    linear_machine(&grid, train, test, context)
}

fn rfmkl(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    let grid: Vec<(f64, f64)> =
        RATIOS.iter().flat_map(|&ratio| GRID.iter().map(move |&sigma| (sigma, ratio))).collect();
    let best = first_best(cross_validated(&grid, kernel::sum, train, context)?.into_iter());
    let (accuracy, n_features) = kernel::sum(grid[best], train, test, context)?;
    let (sigma, ratio) = grid[best];
    Ok(Outcome { accuracy, n_features, chosen: format!("sigma = {sigma}, ratio = {ratio}"), descent: None })
}

fn gmkl(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    let grid: Vec<(f64, f64)> =
        RATIOS.iter().flat_map(|&ratio| COSTS.iter().map(move |&cost| (cost, ratio))).collect();
    let best = first_best(cross_validated(&grid, kernel::product, train, context)?.into_iter());
    let (accuracy, n_features) = kernel::product(grid[best], train, test, context)?;
    let (cost, ratio) = grid[best];
    Ok(Outcome { accuracy, n_features, chosen: format!("C = {cost}, ratio = {ratio}"), descent: None })
}

fn ikpca(train: &Dataset, test: &Dataset, context: &Context<'_>) -> Result<Outcome, Error> {
    let counts = (1..train.n_samples()).take(10).chain((15..train.n_samples()).step_by(5));
    let pairs: Vec<(usize, f64)> =
        counts.flat_map(|count| GRID.iter().rev().map(move |&cost| (count, cost))).collect();
    let mut best = (f64::NEG_INFINITY, pairs[0], GRID[0]);
    for &scale in GRID.iter().rev() {
        let mut scores = vec![0.0; pairs.len()];
        for split in (KFold { folds: FOLDS, stratified: true }).splits(train, context.seed)? {
            let (own, other) = (train.subset(&split.train)?, train.subset(&split.test)?);
            let components = kernel::Components::new(scale, &own, &other)?;
            for (score, &(count, cost)) in scores.iter_mut().zip(&pairs) {
                *score += components.accuracy(count, cost, &own, &other)?.0 / FOLDS as f64;
            }
        }
        let at = first_best(scores.iter().copied());
        if scores[at] > best.0 {
            best = (scores[at], pairs[at], scale);
        }
    }
    let (_, (count, cost), scale) = best;
    let (accuracy, n_features) =
        kernel::Components::new(scale, train, test)?.accuracy(count, cost, train, test)?;
    Ok(Outcome { accuracy, n_features, chosen: format!("a = {scale}, C = {cost}"), descent: None })
}

fn linear_machine(
    grid: &[(f64, f64)],
    train: &Dataset,
    test: &Dataset,
    context: &Context<'_>,
) -> Result<Outcome, Error> {
    let best = first_best(cross_validated(grid, linear::accuracy, train, context)?.into_iter());
    let (accuracy, n_features) = linear::accuracy(grid[best], train, test, context)?;
    let (l1, l2) = grid[best];
    Ok(Outcome { accuracy, n_features, chosen: format!("lambda1 = {l1}, lambda2 = {l2}"), descent: None })
}

/// The mean accuracy at each point of a grid.
fn cross_validated<P: Copy>(
    grid: &[P],
    accuracy: impl Fn(P, &Dataset, &Dataset, &Context<'_>) -> Result<(f64, usize), Error>,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let folds = KFold { folds: FOLDS, stratified: true };
    let mut scores = vec![0.0; grid.len()];
    for split in folds.splits(data, context.seed)? {
        let (train, test) = (data.subset(&split.train)?, data.subset(&split.test)?);
        for (score, &point) in scores.iter_mut().zip(grid) {
            *score += accuracy(point, &train, &test, context)?.0 / FOLDS as f64;
        }
    }
    Ok(scores)
}

/// The position of the largest score; at a tie the first.
fn first_best(scores: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, score) in scores.enumerate() {
        if score > best.1 {
            best = (at, score);
        }
    }
    best.0
}
