//! Indicators of clusters that features of several views predict: one descent for all methods.
//!
//! ```text
//! minimise over F ≥ 0, W, λ   Σ_v λ_vʳ tr(Fᵀ 𝓛_v F) + β Σ_parts [ℓ(X W − F) + α Ω(W)] + γ/2 ‖FᵀF − I‖²
//! ```
//!
//! A part is a regression on some of the features. Lengths in `ℓ` and `Ω` are smoothed, `√(‖·‖² + ε)`, and
//! lie below `‖·‖²/(2l) + l/2` with `l` what they are now. With these quadratic functions in their place,
//! `W` is a ridge regression on `F`, and what is left when it is put in is `tr(FᵀMF)`: so a step moves `F`
//! and `W` together. Where samples are fitted almost exactly, `F` could not move with `W` held fixed.

use fewest_core::{Context, Error, Status};
use fewest_linalg::gram_unless;
use fewest_neighbours::NeighbourGraph;
use nalgebra::DMatrix;

use super::ViewLoss;
use super::pieces::Pieces;
use crate::alternation::{FactorDescent, projected};
use crate::projections::{symmetric, times};
use crate::unsupervised::{Design, Indicators, LARGEST_EIGENVALUE, WeightedRidge, laplacian, orthogonality};

/// Most steps, and steps in a row without progress after which it ends.
const MOST_STEPS: usize = 2000;
const PATIENCE: usize = 30;

/// A decrease that is rounding, relative to the objective.
const ROUNDING: f64 = 1e-14;

/// A sum over the samples is rounding, relative to the lengths of what is summed.
const ROUNDING_OF_SUMS: f64 = 1e-13;

/// A stationarity that is smaller than the least before by this factor is progress.
const CLOSER: f64 = 0.9;

/// How accurate the indicators of a step are, as a share of the stationarity before it.
const SHARE: f64 = 0.1;

/// Samples up to which a step may have the matrix of its quadratic function by its entries.
const DENSE: usize = 512;

/// A regression on some of the features.
pub(super) struct Part {
    pub(super) design: Design,
    /// The number in the table of each feature of the design.
    pub(super) features: Vec<usize>,
    /// The view of each column, where pieces of views count as well.
    pub(super) view_of: Option<Vec<usize>>,
}

impl Part {
    /// The smallest `α` at which no feature predicts `f`; zero where that is rounding.
    pub(super) fn largest(&self, f: &DMatrix<f64>, loss: ViewLoss, ratio: f64) -> f64 {
        // What errors pull at, at `W = 0`.
        let pull = match loss {
            ViewLoss::Squared => f * 2.0,
            ViewLoss::Lengths => {
                let weight = |length: f64| if length > 0.0 { length.recip() } else { 0.0 };
                let weights: Vec<f64> = f.row_iter().map(|row| weight(row.norm())).collect();
                times(&weights, f)
            }
        };
        let correlations = self.design.x.tr_mul(&pull);
        let rows = &self.design.rows;
        let largest = match &self.view_of {
            Some(view_of) if ratio > 0.0 => {
                Pieces::new(rows.features(), view_of.clone(), ratio).dual_norm(&correlations)
            }
            _ => rows.squared_lengths(&correlations).into_iter().fold(0.0, f64::max).sqrt(),
        };
        if largest > ROUNDING_OF_SUMS * (f.nrows() as f64).sqrt() * pull.norm() { largest } else { 0.0 }
    }

    fn n_views(&self) -> usize {
        self.view_of.iter().flatten().max().map_or(0, |last| last + 1)
    }

    /// The squared length of each view in each output, one row a view; no row where they do not count.
    fn squares_of_views(&self, w: &DMatrix<f64>) -> DMatrix<f64> {
        let mut squares = DMatrix::zeros(self.n_views(), w.ncols());
        for (mut square, output) in squares.column_iter_mut().zip(w.column_iter()) {
            let views = self.view_of.iter().flatten();
            views.zip(output.iter()).for_each(|(&view, value)| square[view] += value * value);
        }
        squares
    }
}

/// The problem of one data set.
pub(super) struct Descent<'a> {
    pub(super) parts: Vec<Part>,
    /// Of each view, where it has one and counts.
    pub(super) graphs: Vec<Option<NeighbourGraph>>,
    pub(super) loss: ViewLoss,
    pub(super) alpha: f64,
    /// Weight of the pieces of views in `Ω`, relative to the features.
    pub(super) ratio: f64,
    pub(super) beta: f64,
    pub(super) gamma: f64,
    /// `r`.
    pub(super) power: f64,
    /// `ε`.
    pub(super) smoothing: f64,
    pub(super) tolerance: f64,
    pub(super) context: &'a Context<'a>,
}

/// A point with what is known of it.
pub(super) struct Point {
    pub(super) f: DMatrix<f64>,
    /// By part.
    pub(super) w: Vec<DMatrix<f64>>,
    /// `λ`, 0 for a view without a graph.
    pub(super) weights: Vec<f64>,
    pub(super) objective: f64,
    pub(super) stationarity: f64,
    /// What bounds the lengths of the parts.
    bounds: Vec<Bound>,
}

/// Quadratic functions above the lengths of a part.
struct Bound {
    /// `1/(2l)` of each sample, or 1.
    samples: Vec<f64>,
    /// `Ω` in every output, or in all of them: its weight at each column.
    columns: Vec<Vec<f64>>,
}

/// The bound of a part, with the samples multiplied by the roots of its weights.
struct Ridge {
    roots: Vec<f64>,
    x: DMatrix<f64>,
    regressions: Vec<WeightedRidge>,
}

impl Ridge {
    fn new(part: &Part, bound: &Bound, alpha: f64, context: &Context<'_>) -> Result<Self, Error> {
        let roots: Vec<f64> = bound.samples.iter().map(|weight| weight.sqrt()).collect();
        let x = times(&roots, &part.design.x);
        let (n, p) = x.shape();
        let gram = (p <= n).then(|| gram_unless(x.as_slice(), n, &|| context.stopped().is_some()));
        let of = |weights: &Vec<f64>| {
            let diagonal = weights.iter().map(|weight| alpha * weight).collect();
            WeightedRidge::new(&x, gram.as_deref(), diagonal, context)
        };
        let regressions = bound.columns.iter().map(of).collect::<Result<_, Error>>()?;
        Ok(Self { roots, x, regressions })
    }

    /// `W` of samples that have been multiplied already.
    fn solved(&self, right: &DMatrix<f64>) -> DMatrix<f64> {
        if let [only] = &self.regressions[..] {
            return only.coefficients(&self.x, right);
        }
        let outputs: Vec<DMatrix<f64>> = self
            .regressions
            .iter()
            .enumerate()
            .map(|(k, regression)| regression.coefficients(&self.x, &right.columns(k, 1).into_owned()))
            .collect();
        DMatrix::from_fn(self.x.ncols(), outputs.len(), |j, k| outputs[k][j])
    }

    /// `W` that goes with `f`.
    fn coefficients(&self, f: &DMatrix<f64>) -> DMatrix<f64> {
        self.solved(&times(&self.roots, f))
    }

    /// Half the gradient in `f` of the bound at the best `W`.
    fn product(&self, f: &DMatrix<f64>) -> DMatrix<f64> {
        let right = times(&self.roots, f);
        let left = &right - &self.x * self.solved(&right);
        times(&self.roots, &left)
    }
}

impl Descent<'_> {
    /// `λ_vʳ`.
    fn powers(&self, weights: &[f64]) -> Vec<f64> {
        let power = |(weight, graph): (&f64, &Option<NeighbourGraph>)| {
            if graph.is_some() { weight.powf(self.power) } else { 0.0 }
        };
        weights.iter().zip(&self.graphs).map(power).collect()
    }

    /// `Σ_v power_v 𝓛_v F`.
    fn smoothed(&self, powers: &[f64], f: &DMatrix<f64>) -> DMatrix<f64> {
        let mut sum = DMatrix::zeros(f.nrows(), f.ncols());
        for (power, graph) in powers.iter().zip(&self.graphs) {
            if let Some(graph) = graph
                && *power > 0.0
            {
                sum += laplacian(graph, f) * *power;
            }
        }
        sum
    }

    /// `tr(Fᵀ 𝓛_v F)` of the views with a graph.
    fn traces(&self, f: &DMatrix<f64>) -> Vec<Option<f64>> {
        let trace = |graph: &NeighbourGraph| f.dot(&laplacian(graph, f)).max(0.0);
        self.graphs.iter().map(|graph| graph.as_ref().map(trace)).collect()
    }

    /// The best weights: `λ_v ∝ tr(Fᵀ𝓛_vF)^(1/(1−r))`, which is all for the least trace where `r = 1`.
    fn weights(&self, traces: &[Option<f64>]) -> Vec<f64> {
        let least = traces.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let share = |trace: &Option<f64>| match *trace {
            Some(trace) if trace <= least => 1.0,
            Some(trace) if self.power > 1.0 && least > 0.0 => {
                (trace / least).powf((1.0 - self.power).recip())
            }
            _ => 0.0,
        };
        let mut shares: Vec<f64> = traces.iter().map(share).collect();
        if self.power == 1.0 {
            // Of equal ones the first.
            let first = shares.iter().position(|share| *share == 1.0);
            (0..shares.len()).filter(|&v| Some(v) != first).for_each(|v| shares[v] = 0.0);
        }
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total.max(1.0));
        shares
    }

    /// What is known of `F` and `W`.
    fn point(&self, f: DMatrix<f64>, w: Vec<DMatrix<f64>>) -> Point {
        let Self { alpha, beta, gamma, ratio, smoothing, .. } = *self;
        let traces = self.traces(&f);
        let weights = self.weights(&traces);
        let powers = self.powers(&weights);
        let (of_products, factor) = orthogonality(gamma, f.tr_mul(&f));
        let along: f64 = traces.iter().zip(&powers).map(|(trace, power)| power * trace.unwrap_or(0.0)).sum();
        let mut objective = along + of_products;
        let mut gradient = self.smoothed(&powers, &f) * 2.0;
        let (mut size, mut in_w) = (gradient.norm(), 0.0_f64);
        let mut bounds = Vec::with_capacity(self.parts.len());
        for (part, w) in self.parts.iter().zip(&w) {
            let residual = &part.design.x * w - &f;
            let samples: Vec<f64> = match self.loss {
                ViewLoss::Squared => vec![1.0; f.nrows()],
                ViewLoss::Lengths => {
                    let length = |row: usize| (residual.row(row).norm_squared() + smoothing).sqrt();
                    (0..f.nrows()).map(|row| 0.5 / length(row)).collect()
                }
            };
            let value: f64 = match self.loss {
                ViewLoss::Squared => residual.norm_squared(),
                ViewLoss::Lengths => samples.iter().map(|weight| 0.5 / weight).sum(),
            };
            let squares = part.design.rows.squared_lengths(w);
            let of_features: Vec<f64> =
                squares.iter().map(|square| 0.5 / (square + smoothing).sqrt()).collect();
            let mut penalty = part.design.rows.smoothed_sum(&squares, smoothing);
            let columns = match &part.view_of {
                Some(view_of) if ratio > 0.0 => {
                    let lengths = part.squares_of_views(w).map(|square| (square + smoothing).sqrt());
                    penalty += ratio * lengths.sum();
                    let of_output = |k: usize| {
                        let own = of_features.iter().zip(view_of);
                        own.map(|(own, &view)| own + ratio * 0.5 / lengths[(view, k)]).collect()
                    };
                    (0..f.ncols()).map(of_output).collect()
                }
                _ => vec![of_features],
            };
            objective += beta * (value + alpha * penalty);
            let weighted = times(&samples, &residual);
            size += 2.0 * beta * weighted.norm();
            gradient -= &weighted * (2.0 * beta);
            let mut of_w = part.design.x.tr_mul(&weighted);
            let at_zero = part.design.x.tr_mul(&times(&samples, &f)).norm();
            for (k, mut output) in of_w.column_iter_mut().enumerate() {
                let weights = &columns[k.min(columns.len() - 1)];
                for (value, (weight, w)) in output.iter_mut().zip(weights.iter().zip(w.column(k).iter())) {
                    *value += alpha * weight * w;
                }
            }
            in_w = in_w.max(if at_zero > 0.0 { of_w.norm() / at_zero } else { of_w.norm() });
            bounds.push(Bound { samples, columns });
        }
        gradient += &f * factor;
        let left = projected(&f, &gradient).norm();
        let stationarity = in_w.max(if size > 0.0 { left / size } else { left });
        Point { f, w, weights, objective, stationarity, bounds }
    }

    /// The coefficients that go with `f` where all lengths are 1.
    fn first(&self, f: DMatrix<f64>) -> Result<Point, Error> {
        let n_outputs = f.ncols();
        let mut w = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let columns = match part.view_of {
                Some(_) if self.ratio > 0.0 => {
                    vec![vec![0.5 + 0.5 * self.ratio; part.design.x.ncols()]; n_outputs]
                }
                _ => vec![vec![0.5; part.design.x.ncols()]],
            };
            let bound = Bound { samples: vec![1.0; f.nrows()], columns };
            w.push(Ridge::new(part, &bound, self.alpha, self.context)?.coefficients(&f));
        }
        Ok(self.point(f, w))
    }

    /// Whether products with a matrix of all samples are cheaper than those with the parts, whose outputs
    /// must have the same regression.
    fn is_dense(&self, n: usize, ridges: &[Ridge]) -> bool {
        let of_part = |ridge: &Ridge| {
            let p = ridge.x.ncols();
            2 * n * p + n.min(p).pow(2)
        };
        let is_same = ridges.iter().all(|ridge| ridge.regressions.len() == 1);
        is_same && n <= DENSE && n * n <= ridges.iter().map(of_part).sum()
    }

    fn step(&self, now: &Point) -> Result<Point, Error> {
        let mut ridges = Vec::with_capacity(self.parts.len());
        for (part, bound) in self.parts.iter().zip(&now.bounds) {
            ridges.push(Ridge::new(part, bound, self.alpha, self.context)?);
        }
        let powers = self.powers(&now.weights);
        let by_parts = |f: &DMatrix<f64>| {
            let mut sum = self.smoothed(&powers, f);
            ridges.iter().for_each(|ridge| sum += ridge.product(f) * self.beta);
            sum
        };
        let n = now.f.nrows();
        let dense = self.is_dense(n, &ridges).then(|| symmetric(by_parts(&DMatrix::identity(n, n))));
        let product = |f: &DMatrix<f64>| dense.as_ref().map_or_else(|| by_parts(f), |matrix| matrix * f);
        let steepest = |bound: &Bound| bound.samples.iter().copied().fold(0.0, f64::max);
        let largest = LARGEST_EIGENVALUE * powers.iter().sum::<f64>()
            + self.beta * now.bounds.iter().map(steepest).sum::<f64>();
        let own = Indicators { product, largest, gamma: self.gamma };
        let is_stopped = || self.context.stopped().is_some();
        let half = FactorDescent { own: &own, regression: None, is_stopped: &is_stopped };
        let f = half.from(&now.f, SHARE * now.stationarity);
        let w = ridges.iter().map(|ridge| ridge.coefficients(&f)).collect();
        Ok(self.point(f, w))
    }

    /// From the indicators `f`: where it ends, how, after how many steps, and the first objective.
    pub(super) fn minimise(&self, f: DMatrix<f64>) -> Result<(Point, Status, usize, f64), Error> {
        let mut now = self.first(f)?;
        let first = now.objective;
        let (mut steps, mut without_progress, mut least) = (0, 0, f64::INFINITY);
        loop {
            let by_certificate = Status::by_certificate(now.stationarity, self.tolerance);
            let ended = match self.context.stopped() {
                Some(status) => Some(status),
                None if by_certificate == Status::Converged => Some(Status::Converged),
                None if steps >= MOST_STEPS => Some(Status::MaxIterations),
                None => (without_progress >= PATIENCE).then_some(by_certificate),
            };
            if let Some(status) = ended {
                return Ok((now, status, steps, first));
            }
            let next = match self.step(&now) {
                // What there is is the answer; the loop sees that it was stopped.
                Err(_) if self.context.stopped().is_some() => continue,
                next => next?,
            };
            steps += 1;
            self.context.report("alternations", steps, MOST_STEPS);
            let decrease = now.objective - next.objective;
            // Where values are flat, gradients still tell whether it comes closer.
            let is_closer = next.stationarity < CLOSER * least;
            least = least.min(next.stationarity);
            let progress = decrease > ROUNDING * now.objective || is_closer;
            without_progress = if progress { 0 } else { without_progress + 1 };
            if decrease >= -ROUNDING * now.objective {
                now = next;
            } else {
                without_progress = PATIENCE;
            }
        }
    }
}
