//! What MIK-FS has learned: weights, machines, and predictions from them.

use std::sync::{Arc, OnceLock};

use fewest_core::{Certificate, Columns, Dataset, Error, FeatureKind, Status};
use fewest_kernels::{Delta, ScalarKernel};

use super::atoms::{Atoms, Seen};
use super::base::BaseKernel;
use super::fit::Fit;
use super::tasks::{Prediction, Tasks};
use fewest_linalg::{add_scaled, dot};

/// The weight of one kernel of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelWeight {
    /// The feature's index.
    pub feature: usize,
    /// The kernel's place in [`MikFs::kernel`](crate::MikFs::kernel); 0 for a categorical feature.
    pub kernel: usize,
    /// `d_m`, above 0.
    pub weight: f64,
}

/// How the alternation went that a [`MikFsModel`] comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Alternation {
    /// The penalty `λ₂` of a unit of weight.
    pub lambda: f64,
    /// The objective `F` of Eq. 9, at the start and after every alternation and Newton step: it never rises
    /// (Proposition 2).
    pub history: Vec<f64>,
    /// How many of these were Newton steps on weights and machines together.
    pub newton_steps: usize,
    /// How it ended.
    pub status: Status,
    /// The largest entry of the projected gradient of the weights at this model, relative to `λ₂`; NaN where
    /// a run that was stopped did not measure it.
    pub weight_violation: f64,
    /// The norm of the gradient of the machines' coefficients at this model, relative to its norm where they
    /// are zero; NaN where a run that was stopped did not measure it.
    pub machine_violation: f64,
    /// The largest relative duality gap: of the convex problems of Algorithm 2, and of stationary points
    /// against their concave dual.
    pub convex_gap: f64,
    /// Convex problems solved and stationary points taken instead, summed over machines and iterations.
    pub convex_problems: u64,
}

impl Alternation {
    /// The larger violation, where both are measured.
    pub(crate) fn certificate(&self) -> Certificate {
        if self.weight_violation.is_nan() || self.machine_violation.is_nan() {
            return Certificate::None;
        }
        Certificate::stationarity(self.weight_violation.max(self.machine_violation))
    }
}

/// The result of [`MikFs::fit`](crate::MikFs::fit).
#[derive(Clone)]
pub struct MikFsModel {
    /// The weights above zero, by feature and kernel.
    pub weights: Vec<KernelWeight>,
    /// How the alternation went.
    pub alternation: Alternation,
    n_features: usize,
    prediction: Prediction,
    parts: Vec<Part>,
    machines: Vec<Trained>,
    /// The bias of each machine for kernels that are not centred, once predictions have asked for it.
    biases: OnceLock<Vec<f64>>,
}

/// One kernel with what it needs to be evaluated at new samples.
#[derive(Clone)]
struct Part {
    feature: usize,
    weight: f64,
    kernel: Arc<dyn ScalarKernel>,
    /// The values of the training samples as the kernel sees them.
    points: Vec<f64>,
    seen: Seen,
}

/// A machine's coefficients on all training samples, its own samples, and its bias for kernels that are
/// centred on these.
#[derive(Clone)]
struct Trained {
    beta: Vec<f64>,
    rows: Vec<usize>,
    bias: f64,
}

impl MikFsModel {
    pub(crate) fn new(
        data: &Dataset,
        kernels: &[BaseKernel],
        atoms: &Atoms<'_>,
        tasks: &Tasks,
        fit: Fit,
        lambda2: f64,
    ) -> Result<Self, Error> {
        let mut weights = Vec::new();
        let mut parts = Vec::new();
        let mut scratch = Vec::new();
        for (m, (&(feature, kernel), &weight)) in atoms.owners().iter().zip(&fit.point.weights).enumerate() {
            if weight <= 0.0 {
                continue;
            }
            weights.push(KernelWeight { feature, kernel, weight });
            let mut points = Vec::new();
            atoms.points(m, &mut scratch, &mut points)?;
            let categorical = matches!(data.feature_kind(feature), FeatureKind::Categorical { .. });
            let built: Arc<dyn ScalarKernel> =
                if categorical { Arc::new(Delta) } else { kernels[kernel].build(&points)? };
            parts.push(Part { feature, weight, kernel: built, points, seen: atoms.seen(m) });
        }
        let n = data.n_samples();
        let machines = tasks.tasks.iter().zip(&fit.point.machines).map(|(task, machine)| {
            let mut beta = vec![0.0; n];
            for (&row, &value) in task.rows.iter().zip(&machine.beta) {
                beta[row] = value;
            }
            Trained { beta, rows: task.rows.clone(), bias: machine.bias }
        });
        Ok(Self {
            weights,
            alternation: Alternation {
                lambda: lambda2,
                history: fit.history,
                newton_steps: fit.newton_steps,
                status: fit.status,
                weight_violation: fit.weight_violation,
                machine_violation: fit.point.machine_violation,
                convex_gap: fit.convex_gap,
                convex_problems: fit.convex_problems,
            },
            n_features: data.n_features(),
            prediction: tasks.prediction.clone(),
            parts,
            machines: machines.collect(),
            biases: OnceLock::new(),
        })
    }

    /// The machines were trained with kernels centred on their samples: the mean of what they say without
    /// goes to the bias. A selection needs none, and with many classes they take longer than all else.
    fn biases(&self) -> &[f64] {
        self.biases.get_or_init(|| {
            let n = self.machines.first().map_or(0, |machine| machine.beta.len());
            let mut own = vec![vec![0.0; n]; self.machines.len()];
            self.parts.iter().for_each(|part| self.add(part, &part.points, &mut own));
            let bias = |(machine, own): (&Trained, &Vec<f64>)| {
                let sum: f64 = machine.rows.iter().map(|&row| own[row]).sum();
                machine.bias - sum / machine.rows.len() as f64
            };
            self.machines.iter().zip(&own).map(bias).collect()
        })
    }

    /// Adds to the values of each machine what `part` says of samples at `points`.
    fn add(&self, part: &Part, points: &[f64], values: &mut [Vec<f64>]) {
        let mut row = vec![0.0; part.points.len()];
        for (i, &point) in points.iter().enumerate() {
            part.kernel.eval_many(point, &part.points, &mut row);
            for (values, machine) in values.iter_mut().zip(&self.machines) {
                values[i] += part.weight * dot(&row, &machine.beta);
            }
        }
    }

    /// The decision value of every sample of `x`, for each machine: one for two classes or a real output,
    /// else one for each pair of classes. Kernels are evaluated exactly, not by their factors: `O(n)` a
    /// sample and weight.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features; [`Error::Unreadable`]; [`Error::NonFinite`]
    /// for a NaN or an infinity in a feature with a weight.
    pub fn decision_values(&self, x: &dyn Columns) -> Result<Vec<Vec<f64>>, Error> {
        if x.n_features() != self.n_features {
            return Err(Error::ShapeMismatch {
                what: "features",
                expected: self.n_features,
                found: x.n_features(),
            });
        }
        let mut values: Vec<Vec<f64>> = self.biases().iter().map(|&bias| vec![bias; x.n_samples()]).collect();
        let mut column = vec![0.0; x.n_samples()];
        for part in &self.parts {
            x.copy_column(part.feature, &mut column)?;
            if let Some(row) = column.iter().position(|value| !value.is_finite()) {
                let name = format!("feature {}", part.feature);
                return Err(Error::NonFinite { name, column: part.feature, row, value: column[row] });
            }
            part.seen.apply(&mut column);
            self.add(part, &column, &mut values);
        }
        Ok(values)
    }

    /// The class code of every sample, by the machines' votes (ties to the lower code), or the output.
    ///
    /// # Errors
    /// As [`MikFsModel::decision_values`].
    pub fn predict(&self, x: &dyn Columns) -> Result<Vec<f64>, Error> {
        let values = self.decision_values(x)?;
        Ok(match &self.prediction {
            Prediction::Output { scale, offset } => {
                let mut out = vec![*offset; x.n_samples()];
                for values in &values {
                    add_scaled(&mut out, *scale, values);
                }
                out
            }
            Prediction::Pairs(pairs) => {
                let n_classes = pairs.iter().map(|pair| pair[1] as usize + 1).max().unwrap_or(0);
                let vote = |i: usize| {
                    let mut votes = vec![0_usize; n_classes];
                    for (values, &[first, second]) in values.iter().zip(pairs) {
                        votes[if values[i] > 0.0 { second } else { first } as usize] += 1;
                    }
                    let most = votes.iter().copied().max().unwrap_or(0);
                    votes.iter().position(|&count| count == most).unwrap_or(0) as f64
                };
                (0..x.n_samples()).map(vote).collect()
            }
        })
    }

    /// The sum of each feature's weights.
    pub(crate) fn scores(&self) -> Vec<f64> {
        let mut scores = vec![0.0; self.n_features];
        for weight in &self.weights {
            scores[weight.feature] += weight.weight;
        }
        scores
    }
}
