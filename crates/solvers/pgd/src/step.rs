//! One prox-gradient step and the tests that choose its length.

use fewest_linalg::dot;
use fewest_solver::{BlockPenalty, Composite, Datafit, Penalty};

/// Most halvings of a step.
const MOST_HALVINGS: u32 = 60;

/// Share of the predicted decrease that a prox-gradient step must achieve (Armijo's rule).
const ARMIJO: f64 = 1e-4;

/// The metric of the steps: block `b` moves by `step · scales[b]` times its negative gradient.
#[derive(Clone, Copy)]
pub(crate) struct Metric<'a> {
    penalty: &'a dyn Penalty,
    blocks: Option<&'a dyn BlockPenalty>,
    /// Empty when all are 1.
    scales: &'a [f64],
}

impl<'a> Metric<'a> {
    /// For a penalty that has blocks, unless `scales` is empty.
    pub(crate) fn new(penalty: &'a dyn Penalty, scales: &'a [f64]) -> Self {
        Self { penalty, blocks: penalty.by_blocks(), scales }
    }

    fn scale(&self, block: usize) -> f64 {
        self.scales.get(block).copied().unwrap_or(1.0)
    }

    /// `prox(from − step · scale · gradient)`, block by block.
    pub(crate) fn forward_backward(&self, from: &[f64], gradient: &[f64], step: f64) -> Vec<f64> {
        let Some(penalty) = self.blocks else {
            let mut to: Vec<f64> = from.iter().zip(gradient).map(|(w, g)| w - step * g).collect();
            self.penalty.prox(&mut to, step);
            return to;
        };
        let mut to = from.to_vec();
        let mut entries = Vec::new();
        for (b, block) in penalty.blocks().iter().enumerate() {
            let step = step * self.scale(b);
            entries.clear();
            entries.extend(block.iter().map(|&j| from[j] - step * gradient[j]));
            penalty.prox_block(b, &mut entries, step);
            for (&j, &value) in block.iter().zip(&entries) {
                to[j] = value;
            }
        }
        to
    }

    /// `Σ_b ⟨x_b, y_b⟩ / scale_b`.
    pub(crate) fn inner(&self, x: &[f64], y: &[f64]) -> f64 {
        let Some(penalty) = self.blocks else { return dot(x, y) };
        let blocks = penalty.blocks().iter().enumerate();
        blocks.map(|(b, block)| block.iter().map(|&j| x[j] * y[j]).sum::<f64>() / self.scale(b)).sum()
    }

    /// `scale · gradient`.
    fn descent(&self, gradient: &[f64]) -> Vec<f64> {
        let mut out = gradient.to_vec();
        let Some(penalty) = self.blocks else { return out };
        for (b, block) in penalty.blocks().iter().enumerate() {
            for &j in block {
                out[j] = self.scale(b) * gradient[j];
            }
        }
        out
    }

    /// The step that fits the curvature of `datafit` seen from `w` along the gradient: never shorter than
    /// one over the Lipschitz constant of a quadratic.
    pub(crate) fn first_step<F: Datafit + ?Sized>(&self, datafit: &F, w: &[f64], gradient: &[f64]) -> f64 {
        let direction = self.descent(gradient);
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let shortening = 1e-3 * largest(w).max(1.0) / largest(&direction);
        let moved: Vec<f64> = w.iter().zip(&direction).map(|(w, d)| w - shortening * d).collect();
        let mut there = vec![0.0; w.len()];
        datafit.gradient(&moved, &mut there);
        let change: Vec<f64> = moved.iter().zip(w).map(|(new, old)| new - old).collect();
        let curvature: Vec<f64> = there.iter().zip(gradient).map(|(new, old)| new - old).collect();
        spectral_step(self.inner(&change, &change), &change, &curvature).unwrap_or(1.0)
    }
}

/// The step of Barzilai and Borwein (1988): `‖Δx‖² / ⟨Δx, Δg⟩`; none where the gradient did not change.
pub(crate) fn spectral_step(squared_length: f64, change: &[f64], gradient_change: &[f64]) -> Option<f64> {
    let step = squared_length / dot(change, gradient_change);
    (step.is_finite() && step > 0.0).then_some(step)
}

/// A point with the value of the datafit there.
pub(crate) struct Trial {
    pub(crate) point: Vec<f64>,
    pub(crate) value: f64,
    /// `f + Ω`.
    pub(crate) objective: f64,
    pub(crate) step: f64,
}

/// The starting point of steps.
pub(crate) struct Origin<'a, F: ?Sized> {
    pub(crate) composite: Composite<'a, F>,
    pub(crate) metric: Metric<'a>,
    pub(crate) point: &'a [f64],
    pub(crate) gradient: &'a [f64],
    pub(crate) value: f64,
    /// Differences of objectives smaller than this are rounding.
    pub(crate) noise: f64,
}

impl<F: Datafit + ?Sized> Origin<'_, F> {
    fn trial(&self, step: f64) -> Trial {
        let point = self.metric.forward_backward(self.point, self.gradient, step);
        let value = self.composite.datafit().value(&point);
        let objective = value + self.composite.penalty().value(&point);
        Trial { point, value, objective, step }
    }

    /// The first of the steps `step`, `step / 2`, … that decreases enough; none if none does.
    fn backtrack(&self, step: f64, keeps: impl Fn(&Trial, &[f64]) -> bool) -> Option<Trial> {
        let mut step = step;
        for _ in 0..MOST_HALVINGS {
            if self.composite.control().stopped().is_some() {
                return None;
            }
            let trial = self.trial(step);
            let change: Vec<f64> = trial.point.iter().zip(self.point).map(|(new, old)| new - old).collect();
            if trial.objective.is_finite() && keeps(&trial, &change) {
                return Some(trial);
            }
            step *= 0.5;
        }
        None
    }

    /// Armijo's rule along the prox (for an indicator: the projection) arc,
    /// `P(x⁺) ≤ P(x) − σ ‖x⁺ − x‖² / step`, which also accepts steps longer than one over the Lipschitz
    /// constant.
    pub(crate) fn armijo(&self, step: f64) -> Option<Trial> {
        let objective = self.value + self.composite.penalty().value(self.point);
        self.backtrack(step, |trial, change| {
            let promised = ARMIJO * self.metric.inner(change, change) / trial.step;
            trial.objective <= objective - promised + self.noise
        })
    }

    /// A step within the quadratic bound that acceleration needs,
    /// `f(x⁺) ≤ f(y) + ⟨∇f(y), x⁺ − y⟩ + ‖x⁺ − y‖² / (2 step)`.
    pub(crate) fn bounded(&self, step: f64) -> Option<Trial> {
        self.backtrack(step, |trial, change| {
            let bound = 0.5 * self.metric.inner(change, change) / trial.step;
            if bound > 1e5 * self.noise {
                return trial.value - self.value - dot(self.gradient, change) <= bound;
            }
            // Rounding would decide: compare the gradients instead, which is the same for a quadratic.
            let mut there = vec![0.0; change.len()];
            self.composite.datafit().gradient(&trial.point, &mut there);
            let excess: f64 =
                change.iter().zip(&there).zip(self.gradient).map(|((d, a), b)| d * (a - b)).sum();
            0.5 * excess <= bound * (1.0 + 1e-6)
        })
    }
}
