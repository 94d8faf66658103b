//! An interior point method for the linear program over few columns: points, steps and residuals.

use fewest_core::Context;
use fewest_linalg::{combination, dot, transposed_products};

use super::reduced::Reduced;

/// Most steps: some 15 are usual.
const MOST_STEPS: usize = 200;

/// After so many steps without a smaller gap only rounding errors are left.
const MOST_WITHOUT_PROGRESS: usize = 20;

/// Where rounding allows no smaller gap, the dual point at this one still shows which columns are missing.
const ALMOST: f64 = 1e-5;

/// A step ends at this share of the way to the first variable that would become 0.
const SHARE: f64 = 0.995;

/// Where a step would be shorter than this, one that makes the products more equal is tried.
const SHORT_STEP: f64 = 0.1;

/// How much smaller that step makes the mean product.
const CENTRED: f64 = 0.5;

/// Weights below this share of the largest are rounding, whatever their conditions leave.
const ROUNDING: f64 = 1e-7;

/// Steps shorter than this change nothing.
const SHORTEST_STEP: f64 = 1e-10;

/// `minimise c·(p + q) + d·ξ` with `Z (p − q) + y b + ξ − t = 1` and `p, q, ξ, t ≥ 0`, the machine with the
/// weights `w = p − q`; its dual is `maximise Σ u_i` with `0 ≤ u ≤ d`, `y·u = 0` and `|Zᵀu| ≤ c`.
pub(super) struct Conditions<'a> {
    /// `Z = diag(y) X`, column after column.
    pub(super) signed: &'a [f64],
    /// `y`, −1 or +1, both there.
    pub(super) labels: &'a [f64],
    /// `c`, above 0.
    pub(super) penalties: &'a [f64],
    /// `d`, above 0.
    pub(super) costs: &'a [f64],
}

/// Where a run of the method ended.
pub(super) struct Solution {
    /// `w`, 0 where the conditions of an optimum say so.
    pub(super) weights: Vec<f64>,
    /// `u`.
    pub(super) dual: Vec<f64>,
    /// Whether the relative gap and the residuals are within the tolerance, or almost.
    pub(super) solved: bool,
    pub(super) iterations: usize,
}

/// A pair of variables whose product is 0 at an optimum, and `μ` times one on the way to it.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) primal: Vec<f64>,
    pub(super) dual: Vec<f64>,
}

/// The four pairs, the bias and the dual point.
#[derive(Clone)]
pub(super) struct Point {
    /// `p` and `r = c − Zᵀu`.
    positive: Pair,
    /// `q` and `c + Zᵀu`.
    negative: Pair,
    /// `ξ` and `v = d − u`.
    slack: Pair,
    /// `t` and `u` itself.
    surplus: Pair,
    bias: f64,
}

/// By how much a point breaks each equality: left side minus right side.
struct Residuals {
    /// `Z w + y b + ξ − t − 1`.
    margin: Vec<f64>,
    /// `r + Zᵀu − c` and `q`'s.
    positive: Vec<f64>,
    negative: Vec<f64>,
    /// `v + u − d`.
    slack: Vec<f64>,
    /// `y·u`.
    balance: f64,
}

impl Conditions<'_> {
    /// Follows the central path to a relative gap of `tolerance`, by Mehrotra's predictor and corrector.
    ///
    /// A step costs `n k²` for `n` samples and `k` columns, or `n² k` where `k` is much larger; memory is
    /// `3 n k` and the square of `k` or `n`. The gap is relative to `scale`. The best point is returned, also
    /// where rounding ends the steps early.
    pub(super) fn solve(&self, scale: f64, tolerance: f64, context: &Context<'_>) -> Solution {
        let mut point = self.start();
        let mut best = (f64::INFINITY, point.clone());
        let (mut iterations, mut without_progress) = (0, 0);
        let stopped = loop {
            let residuals = self.residuals(&point);
            let gap = self.gap(&point, &residuals, scale);
            without_progress += 1;
            if gap < best.0 {
                (best, without_progress) = ((gap, point.clone()), 0);
            }
            let ended =
                gap <= tolerance || iterations == MOST_STEPS || without_progress == MOST_WITHOUT_PROGRESS;
            let stopped = context.stopped().is_some();
            if ended || stopped {
                break stopped;
            }
            let Some(next) = self.step(&point, &residuals) else { break false };
            point = next;
            iterations += 1;
        };
        let (gap, point) = best;
        let solved = gap <= if stopped { tolerance } else { ALMOST.max(tolerance) };
        Solution { weights: self.weights(&point), dual: point.surplus.dual, solved, iterations }
    }

    /// The weights, 0 where the point tends to 0.
    ///
    /// At an optimum a weight is 0 or its condition `|Zᵀu| ≤ c` holds with equality. Near one, neither is
    /// exact: of the weight, as a share of the largest, and what its condition leaves, as a share of `c`, the
    /// smaller one tends to 0.
    fn weights(&self, point: &Point) -> Vec<f64> {
        let mut weights = differences(&point.positive.primal, &point.negative.primal);
        let most = largest(&weights);
        for (j, weight) in weights.iter_mut().enumerate() {
            let left = point.positive.dual[j].min(point.negative.dual[j]) / self.penalties[j];
            if weight.abs() <= left.max(ROUNDING) * most {
                *weight = 0.0;
            }
        }
        weights
    }

    /// A point within all inequalities: no weights, and a dual point halfway between its bounds.
    fn start(&self) -> Point {
        let n = self.labels.len();
        let mut sums = [0.0, 0.0];
        for (d, y) in self.costs.iter().zip(self.labels) {
            sums[usize::from(*y > 0.0)] += d;
        }
        let least = sums[0].min(sums[1]);
        let share = |y: &f64| 0.5 * least / sums[usize::from(*y > 0.0)];
        let u: Vec<f64> = self.costs.iter().zip(self.labels).map(|(d, y)| share(y) * d).collect();
        let v = differences(self.costs, &u);
        let (t, xi) = (vec![1.0; n], vec![2.0; n]);
        let mean = (dot(&t, &u) + dot(&xi, &v)) / (2 * n) as f64;
        let weight =
            Pair { primal: self.penalties.iter().map(|c| mean / c).collect(), dual: self.penalties.to_vec() };
        Point {
            positive: weight.clone(),
            negative: weight,
            slack: Pair { primal: xi, dual: v },
            surplus: Pair { primal: t, dual: u },
            bias: 0.0,
        }
    }

    fn residuals(&self, point: &Point) -> Residuals {
        let n = self.labels.len();
        let weights = differences(&point.positive.primal, &point.negative.primal);
        let u = &point.surplus.dual;
        let mut margin = combination(self.signed, &weights, n);
        let mut slack = Vec::with_capacity(n);
        for i in 0..n {
            margin[i] += self.labels[i] * point.bias + point.slack.primal[i] - point.surplus.primal[i] - 1.0;
            slack.push(point.slack.dual[i] + u[i] - self.costs[i]);
        }
        let (mut positive, mut negative) = (Vec::new(), Vec::new());
        for (j, product) in transposed_products(self.signed, u, n).into_iter().enumerate() {
            positive.push(point.positive.dual[j] + product - self.penalties[j]);
            negative.push(point.negative.dual[j] - product - self.penalties[j]);
        }
        Residuals { margin, positive, negative, slack, balance: dot(self.labels, u) }
    }

    /// The largest of the relative gap and the residuals, each as a share of what it is about.
    fn gap(&self, point: &Point, residuals: &Residuals, scale: f64) -> f64 {
        let norm = dot(self.penalties, &point.positive.primal) + dot(self.penalties, &point.negative.primal);
        let primal = norm + dot(self.costs, &point.slack.primal);
        let bound: f64 = point.surplus.dual.iter().sum();
        let columns =
            largest(&residuals.positive).max(largest(&residuals.negative)) / largest(self.penalties);
        let samples = largest(&residuals.slack).max(residuals.balance.abs()) / largest(self.costs);
        let gap = ((primal - bound).abs() / scale).max(largest(&residuals.margin)).max(samples);
        if self.penalties.is_empty() { gap } else { gap.max(columns) }
    }

    /// The next point, `None` where there is no way on.
    fn step(&self, point: &Point, residuals: &Residuals) -> Option<Point> {
        let reduced = Reduced::new(self, point);
        let targets = point.pairs().map(|pair| pair.products(0.0));
        let predicted = self.direction(&reduced, point, residuals, targets);
        let mean = |point: &Point| {
            let (sum, count) = point.pairs().iter().fold((0.0, 0), |(sum, count), pair| {
                (sum + dot(&pair.primal, &pair.dual), count + pair.primal.len())
            });
            sum / count as f64
        };
        let (now, then) = (mean(point), mean(&point.moved(&predicted, 1.0)));
        let centre = now * (then / now).powi(3);
        let mut targets = point.pairs().map(|pair| pair.products(centre));
        for (target, change) in targets.iter_mut().zip(predicted.pairs()) {
            for ((target, primal), dual) in target.iter_mut().zip(&change.primal).zip(&change.dual) {
                *target -= primal * dual;
            }
        }
        let mut direction = self.direction(&reduced, point, residuals, targets);
        let shortest = |direction: &Point| {
            let (primal, dual) = point.lengths(direction, SHARE);
            primal.min(dual)
        };
        if shortest(&direction) < SHORT_STEP {
            let targets = point.pairs().map(|pair| pair.products(CENTRED * now));
            let centred = self.direction(&reduced, point, residuals, targets);
            if shortest(&centred) > shortest(&direction) {
                direction = centred;
            }
        }
        let next = point.moved(&direction, SHARE);
        let finite = next.pairs().iter().all(|pair| pair.is_positive()) && next.bias.is_finite();
        let (primal, dual) = point.lengths(&direction, SHARE);
        (finite && primal.max(dual) > SHORTEST_STEP).then_some(next)
    }

    /// The Newton direction towards the point where each product has changed by its target and all residuals
    /// are 0.
    fn direction(
        &self,
        reduced: &Reduced<'_>,
        point: &Point,
        residuals: &Residuals,
        [mut positive, mut negative, mut slack, surplus]: [Vec<f64>; 4],
    ) -> Point {
        let [p, q, xi, t] = point.pairs();
        let (n, k) = (self.labels.len(), self.penalties.len());
        // δp = (target + p ρ + p Zᵀδu) / r, and likewise for the others.
        for (target, (pair, lacking)) in [
            (&mut positive, (p, &residuals.positive)),
            (&mut negative, (q, &residuals.negative)),
            (&mut slack, (xi, &residuals.slack)),
        ] {
            for (target, (primal, lacking)) in target.iter_mut().zip(pair.primal.iter().zip(lacking)) {
                *target += primal * lacking;
            }
        }
        let shifts: Vec<f64> = (0..k).map(|j| positive[j] / p.dual[j] - negative[j] / q.dual[j]).collect();
        let right: Vec<f64> =
            (0..n).map(|i| surplus[i] / t.dual[i] - slack[i] / xi.dual[i] - residuals.margin[i]).collect();
        let shifted: Vec<f64> =
            shifts.iter().zip(&reduced.columns).map(|(shift, theta)| -shift / theta).collect();
        let (u, w, bias) = reduced.refined(&right, &shifted, -residuals.balance, Reduced::with_bias);
        let mut change = point.clone();
        for j in 0..k {
            // Zᵀδu, computed from δw: so δp − δq is δw to the last digit.
            let product = (w[j] - shifts[j]) / reduced.columns[j];
            change.positive.primal[j] = (positive[j] + p.primal[j] * product) / p.dual[j];
            change.negative.primal[j] = (negative[j] - q.primal[j] * product) / q.dual[j];
            change.positive.dual[j] = -product - residuals.positive[j];
            change.negative.dual[j] = product - residuals.negative[j];
        }
        for i in 0..n {
            change.slack.primal[i] = (slack[i] + xi.primal[i] * u[i]) / xi.dual[i];
            change.surplus.primal[i] = (surplus[i] - t.primal[i] * u[i]) / t.dual[i];
            change.slack.dual[i] = -u[i] - residuals.slack[i];
        }
        change.surplus.dual = u;
        change.bias = bias;
        change
    }
}

impl Point {
    pub(super) fn pairs(&self) -> [&Pair; 4] {
        [&self.positive, &self.negative, &self.slack, &self.surplus]
    }

    /// How far primal and dual variables may go, a share of the way to the first that becomes 0, at most 1.
    fn lengths(&self, direction: &Self, share: f64) -> (f64, f64) {
        let mut lengths = (1.0_f64, 1.0_f64);
        for (pair, change) in self.pairs().into_iter().zip(direction.pairs()) {
            lengths.0 = lengths.0.min(share * length(&pair.primal, &change.primal));
            lengths.1 = lengths.1.min(share * length(&pair.dual, &change.dual));
        }
        lengths
    }

    fn moved(&self, direction: &Self, share: f64) -> Self {
        let (primal, dual) = self.lengths(direction, share);
        let moved = |from: &[f64], change: &[f64], length: f64| -> Vec<f64> {
            from.iter().zip(change).map(|(value, change)| value + length * change).collect()
        };
        let pair = |from: &Pair, change: &Pair| Pair {
            primal: moved(&from.primal, &change.primal, primal),
            dual: moved(&from.dual, &change.dual, dual),
        };
        Self {
            positive: pair(&self.positive, &direction.positive),
            negative: pair(&self.negative, &direction.negative),
            slack: pair(&self.slack, &direction.slack),
            surplus: pair(&self.surplus, &direction.surplus),
            bias: self.bias + primal * direction.bias,
        }
    }
}

impl Pair {
    /// What the products are short of `centre`.
    fn products(&self, centre: f64) -> Vec<f64> {
        self.primal.iter().zip(&self.dual).map(|(primal, dual)| centre - primal * dual).collect()
    }

    fn is_positive(&self) -> bool {
        self.primal.iter().chain(&self.dual).all(|value| *value > 0.0 && value.is_finite())
    }
}

/// How many times `change` may be added before a value becomes 0.
fn length(values: &[f64], change: &[f64]) -> f64 {
    let falling = values.iter().zip(change).filter(|(_, change)| **change < 0.0);
    falling.fold(f64::INFINITY, |least, (value, change)| least.min(-value / change))
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}
