//! Multiple kernel learning as a selector.

use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, SolverReport, Status, Target, rank};

use super::bases::{Bases, Product, Spectrum, Sum};
use super::descent::{Descended, Learning, Pair};
use crate::indefinite::BaseKernel;
use crate::indefinite::tasks::tasks;

/// `λ` falls by this factor until enough features have a weight.
const PATH_FACTOR: f64 = 0.7;

/// Steps of that path at most.
const PATH_STEPS: usize = 40;

/// Weights below this, relative to the largest, count as zero.
const THRESHOLD: f64 = 1e-5;

/// How the kernels of the features make one.
#[derive(Debug, Clone)]
pub enum Combination {
    /// `Σ d_m k_m(x_m, z_m)`, Eq. 1: RFMKL (Dileep and Sekhar 2009) of a positive semidefinite kernel.
    Sum {
        /// The kernel of every numeric feature, standardised.
        kernel: BaseKernel,
        /// What is done to an indefinite kernel's matrices; without, such a kernel is an error.
        spectrum: Option<Spectrum>,
    },
    /// `Π exp(−d_m (x_m − z_m)²)`: GMKL (Varma and Babu 2009), Eq. 2 with the widths as weights.
    Product,
}

/// Multiple kernel learning in the dual of a support vector machine with an l1 price on the weights (Eq. 3 of Xue, Song and Xu 2017):
///
/// ```text
/// minimise over d ≥ 0   max { Σ α − ½ Σ αᵢαⱼyᵢyⱼ k_d(xᵢ, xⱼ) : 0 ≤ α ≤ C, αᵀy = 0 } + λ Σ d,      score(m) = d_m
/// ```
///
/// by projected gradient descent under Armijo's rule, with steps of Barzilai and Borwein; the inner maximum by sequential minimal
/// optimisation ([`fewest_smo`]), whose multipliers give the gradient. For a [sum](Combination::Sum) the problem is convex; for a
/// [product](Combination::Product) it is not, and a stationary point below equal weights is found. With more classes there is a machine
/// for each pair, all with the same weights. Categories have the delta kernel, `1/n_level` in a sum, or distance 1 in a product.
///
/// The price is `ratio` times that at which no weight is worth it where all are zero. `Budget::Count(k)` lowers it in steps of 0.7 from warm starts
/// while fewer than `k` features have a weight.
///
/// Cost: an evaluation builds the matrix, `n² r` for each feature with a weight, trains the machines, and takes `n r` for each feature (sum) or `s²` with `s` support
/// vectors (product); some 50 evaluations. Memory: `8 n r` bytes a feature and `n²` entries a machine.
///
/// # Errors
/// An indefinite kernel without a spectrum ([`Error::Unsupported`], naming kernel and solver); a NaN or an infinity, naming the cell;
/// a target without classes or with one only; parameters out of range; sample weights; [`Error::Stopped`].
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_embedded::DualKernelLearning;
///
/// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
/// let (a, b) = (wave(1), wave(17));
/// let target = Target::from_labels(&a.iter().map(|a| a.abs() > 0.5).collect::<Vec<_>>());
/// let data = Dataset::new(DenseColumns::from_columns(&[b, a])?, target)?;
/// let selection = DualKernelLearning::default().select(&data, Budget::Count(1), &Context::default())?;
/// assert_eq!(selection.order, [1]);
/// # Ok::<(), fewest_embedded::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DualKernelLearning {
    /// Default: the sum of Gaussian kernels of width 1.
    pub combination: Combination,
    /// `C`, above 0 and finite. Default 1.
    pub cost: f64,
    /// The price, relative, above 0 and at most 1. Default 0.1.
    pub ratio: f64,
    /// Projected gradient to reach, relative to the price; above 0. Default 1e-3.
    pub tolerance: f64,
    /// Most steps at a price, at least 1. Default 200.
    pub iterations: usize,
}

impl Default for DualKernelLearning {
    fn default() -> Self {
        let kernel = BaseKernel::Gaussian { sigma: 1.0 };
        let combination = Combination::Sum { kernel, spectrum: None };
        Self { combination, cost: 1.0, ratio: 0.1, tolerance: 1e-3, iterations: 200 }
    }
}

impl DualKernelLearning {
    fn method(&self) -> &'static str {
        match self.combination {
            Combination::Sum { spectrum: None, .. } => "rfmkl",
            Combination::Sum { spectrum: Some(_), .. } => "mkl",
            Combination::Product => "gmkl",
        }
    }

    fn check(&self, data: &Dataset) -> Result<(), Error> {
        for (name, value) in [("C", self.cost), ("tolerance", self.tolerance)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::parameter(name, value, "finite and above 0"));
            }
        }
        if !(self.ratio > 0.0 && self.ratio <= 1.0) {
            return Err(Error::parameter("ratio", self.ratio, "above 0 and at most 1"));
        }
        if self.iterations == 0 {
            return Err(Error::parameter("iterations", 0, "at least 1"));
        }
        if data.sample_weights().is_some() {
            return Err(Error::Unsupported {
                method: self.method(),
                what: "weighting samples".to_owned(),
                instead: "leave the weights out, or repeat rows".to_owned(),
            });
        }
        Ok(())
    }

    /// The descent at the price asked for, or at the first below that gives `wanted` features a weight.
    fn path(
        &self,
        learning: &mut Learning<'_>,
        wanted: usize,
        context: &Context<'_>,
    ) -> Result<Descended, Error> {
        let m = learning.bases.len();
        let mut weights = vec![1.0 / m as f64; m];
        for step in 0..=PATH_STEPS {
            let found = learning.descend(weights, self.tolerance, self.iterations, context)?;
            let stopped = matches!(found.status, Status::Interrupted | Status::TimeLimit);
            if stopped && found.iterations == 0 && step == 0 {
                return Err(Error::Stopped { before: "the first step was taken" });
            }
            if stopped || step == PATH_STEPS || counted(&found.point.weights).len() >= wanted.min(m) {
                return Ok(found);
            }
            weights = found.point.weights;
            learning.lambda *= PATH_FACTOR;
        }
        Err(Error::Stopped { before: "the first step was taken" })
    }
}

/// The places of the weights that count.
fn counted(weights: &[f64]) -> Vec<usize> {
    let least = THRESHOLD * weights.iter().copied().fold(0.0, f64::max);
    (0..weights.len()).filter(|&m| weights[m] > 0.0 && weights[m] >= least).collect()
}

impl Selector for DualKernelLearning {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        budget.check(d)?;
        self.check(data)?;
        if !matches!(data.target(), Target::Class(_)) {
            let found = data.target().describe();
            return Err(Error::UnsupportedTarget { method: self.method(), expected: "classes", found });
        }
        let pairs: Vec<Pair> = tasks(data, 0.0, self.method())?
            .tasks
            .into_iter()
            .map(|task| Pair { rows: task.rows, positive: task.y.iter().map(|y| *y > 0.0).collect() })
            .collect();
        let bases: Box<dyn Bases> = match &self.combination {
            Combination::Sum { kernel, spectrum } => Box::new(Sum::new(data, kernel, *spectrum, context)?),
            Combination::Product => Box::new(Product::new(data, context)?),
        };
        let mut learning = Learning { bases: &*bases, pairs: &pairs, cost: self.cost, lambda: 1.0 };
        learning.lambda = self.ratio * learning.largest_lambda();
        if bases.len() == 0 || learning.lambda <= 0.0 {
            let mut selection = Selection::new(Vec::new(), Vec::new(), d, Status::Converged);
            selection.notes.push("no feature's kernel has anything in common with the target".to_owned());
            return Ok(selection);
        }
        let wanted = if let Budget::Count(k) = budget { k } else { 0 };
        let found = self.path(&mut learning, wanted, context)?;
        let mut scores = vec![0.0; d];
        for m in counted(&found.point.weights) {
            scores[bases.features()[m]] = found.point.weights[m];
        }
        let mut order = rank(&scores, true);
        order.retain(|&j| scores[j] > 0.0);
        match budget {
            Budget::Count(k) => order.truncate(k),
            Budget::Threshold(threshold) => order.retain(|&j| scores[j] >= threshold),
            _ => {}
        }
        let chosen = order.iter().map(|&j| scores[j]).collect();
        let mut selection = Selection::new(order, chosen, d, found.status);
        selection.objective = Some(found.point.value);
        selection.solver = Some(SolverReport {
            name: "pgd",
            status: found.status,
            objective: found.point.value,
            duality_gap: found.violation,
            lambda: learning.lambda,
            iterations: found.iterations,
        });
        if let Budget::Count(k) = budget
            && selection.order.len() < k
        {
            let found = selection.order.len();
            selection.notes.push(format!("{found} of {k} features: no others have a weight"));
        }
        Ok(selection)
    }
}
