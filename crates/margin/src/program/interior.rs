//! An interior point method for the linear program over few columns.

use fewest_core::Context;
use fewest_linalg::{Cholesky, combination, dot, gram, transposed, transposed_products};

/// Most steps: some 15 are usual.
const MOST_STEPS: usize = 200;

/// Steps without a smaller gap, after which rounding is all that is left.
const MOST_IN_VAIN: usize = 20;

/// A gap that is good enough to look for other columns where rounding allows no smaller one.
const ALMOST: f64 = 1e-5;

/// A step ends at this share of the way to the first variable that would become 0.
const SHARE: f64 = 0.995;

/// Most corrections of a solution of the linear system by its residual.
const MOST_REFINEMENTS: usize = 5;

/// A correction below this share of the solution is the last.
const REFINED: f64 = 1e-9;

/// Shorter steps than this lead nowhere.
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
    /// `w`.
    pub(super) weights: Vec<f64>,
    /// `u`.
    pub(super) dual: Vec<f64>,
    /// Whether the relative gap and the residuals are within the tolerance, or almost.
    pub(super) solved: bool,
    pub(super) iterations: usize,
}

/// A pair of variables whose product is 0 at an optimum, and `μ` times one on the way to it.
#[derive(Clone)]
struct Pair {
    primal: Vec<f64>,
    dual: Vec<f64>,
}

/// The four pairs, the bias and the dual point.
#[derive(Clone)]
struct Point {
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

/// What a point lacks in each equality, left side minus right side.
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

/// `D δu + Z δw + y δb = a`, `Zᵀ δu − Θ⁻¹ δw = e`, `y·δu = f`: what is left of a step's equations.
struct Reduced<'a> {
    conditions: &'a Conditions<'a>,
    /// `D`.
    samples: Vec<f64>,
    /// `Θ`.
    columns: Vec<f64>,
    /// Of `I + AᵀA`, or of `I + AAᵀ` where that is smaller, with `A = D^(-1/2) Z Θ^(1/2)`: all its pivots are
    /// at least 1, however the columns depend on each other.
    factor: Cholesky,
    /// The solution for `a = y` and zeros, and its product with `y`.
    of_labels: (Vec<f64>, Vec<f64>),
    labels_product: f64,
}

type Direction = (Vec<f64>, Vec<f64>, f64);

impl Conditions<'_> {
    /// Follows the central path to a relative gap of `tolerance`, by Mehrotra's predictor and corrector.
    ///
    /// A step costs `n k min(n, k)` for `n` samples and `k` columns; memory is `2 n k`. `scale` is the size of
    /// the objective that the gap is relative to.
    pub(super) fn solve(&self, scale: f64, tolerance: f64, context: &Context<'_>) -> Solution {
        let mut point = self.start();
        let mut best = (f64::INFINITY, point.clone());
        let (mut iterations, mut in_vain) = (0, 0);
        loop {
            let residuals = self.residuals(&point);
            let gap = self.gap(&point, &residuals, scale);
            in_vain += 1;
            if gap < best.0 {
                (best, in_vain) = ((gap, point.clone()), 0);
            }
            let ended = gap <= tolerance || iterations == MOST_STEPS || in_vain == MOST_IN_VAIN;
            if ended || context.stopped().is_some() {
                break;
            }
            let Some(next) = self.step(&point, &residuals) else { break };
            point = next;
            iterations += 1;
        }
        let (gap, point) = best;
        let weights = differences(&point.positive.primal, &point.negative.primal);
        Solution { weights, dual: point.surplus.dual, solved: gap <= ALMOST.max(tolerance), iterations }
    }

    /// A point within all inequalities: no weights, and a dual point halfway to the first bound.
    fn start(&self) -> Point {
        let (n, k) = (self.labels.len(), self.penalties.len());
        let mut sums = [0.0, 0.0];
        for (d, y) in self.costs.iter().zip(self.labels) {
            sums[usize::from(*y > 0.0)] += d;
        }
        let least = sums[0].min(sums[1]);
        let share = |y: &f64| 0.5 * least / sums[usize::from(*y > 0.0)];
        let mut u: Vec<f64> = self.costs.iter().zip(self.labels).map(|(d, y)| share(y) * d).collect();
        let products = transposed_products(self.signed, &u, n);
        let largest =
            products.iter().zip(self.penalties).fold(1.0_f64, |most, (v, c)| most.max(2.0 * v.abs() / c));
        let products: Vec<f64> = products.iter().map(|v| v / largest).collect();
        u.iter_mut().for_each(|u| *u /= largest);
        let v = differences(self.costs, &u);
        let (t, xi) = (vec![1.0; n], vec![2.0; n]);
        let mean = (dot(&t, &u) + dot(&xi, &v)) / (2 * n) as f64;
        let pair = |sign: f64| {
            let mut pair = Pair { primal: Vec::with_capacity(k), dual: Vec::with_capacity(k) };
            for (c, v) in self.penalties.iter().zip(&products) {
                pair.primal.push(mean / c);
                pair.dual.push(c - sign * v);
            }
            pair
        };
        Point {
            positive: pair(1.0),
            negative: pair(-1.0),
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
        let direction = self.direction(&reduced, point, residuals, targets);
        let next = point.moved(&direction, SHARE);
        let finite = next.pairs().iter().all(|pair| pair.is_positive()) && next.bias.is_finite();
        let (primal, dual) = point.lengths(&direction, SHARE);
        (finite && primal.max(dual) > SHORTEST_STEP).then_some(next)
    }

    /// The Newton direction to the point where each product has changed by its target and no residual is
    /// left, but for what is quadratic in it.
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
        let (u, w, bias) = reduced.solve(&right, &shifted, -residuals.balance);
        let mut change = point.clone();
        for j in 0..k {
            // Zᵀδu as δw tells it, so that δp − δq is δw to the last digit.
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

impl<'a> Reduced<'a> {
    fn new(conditions: &'a Conditions<'a>, point: &Point) -> Self {
        let (n, k) = (conditions.labels.len(), conditions.penalties.len());
        let [p, q, xi, t] = point.pairs();
        let ratio = |pair: &Pair, at: usize| pair.primal[at] / pair.dual[at];
        let samples: Vec<f64> = (0..n).map(|i| ratio(xi, i) + ratio(t, i)).collect();
        let columns: Vec<f64> = (0..k).map(|j| ratio(p, j) + ratio(q, j)).collect();
        let mut scaled = conditions.signed.to_vec();
        for (column, theta) in scaled.chunks_exact_mut(n).zip(&columns) {
            for (value, d) in column.iter_mut().zip(&samples) {
                *value *= (theta / d).sqrt();
            }
        }
        let size = n.min(k);
        let mut matrix =
            if k <= n { gram(&scaled, n) } else { gram(&transposed(&scaled, n, &vec![1.0; n]), k) };
        matrix.iter_mut().step_by(size + 1).for_each(|value| *value += 1.0);
        let factor = Cholesky::above_identity(matrix, size);
        let mut reduced = Self {
            conditions,
            samples,
            columns,
            factor,
            of_labels: (Vec::new(), Vec::new()),
            labels_product: 0.0,
        };
        reduced.of_labels = reduced.without_bias(conditions.labels, &vec![0.0; k]);
        reduced.labels_product = dot(conditions.labels, &reduced.of_labels.0);
        reduced
    }

    /// `δu`, `δw` and `δb`. The elimination loses what is small beside large numbers; solving again for what is
    /// left brings it back.
    fn solve(&self, a: &[f64], e: &[f64], f: f64) -> Direction {
        let n = self.samples.len();
        let (mut u, mut w, mut bias) = self.eliminated(a, e, f);
        for _ in 0..MOST_REFINEMENTS {
            let mut a = a.to_vec();
            for (i, product) in combination(self.conditions.signed, &w, n).into_iter().enumerate() {
                a[i] -= self.samples[i] * u[i] + product + self.conditions.labels[i] * bias;
            }
            let mut e = e.to_vec();
            for (j, product) in transposed_products(self.conditions.signed, &u, n).into_iter().enumerate() {
                e[j] -= product - w[j] / self.columns[j];
            }
            let (du, dw, db) = self.eliminated(&a, &e, f - dot(self.conditions.labels, &u));
            let last = largest(&du) <= REFINED * largest(&u) && largest(&dw) <= REFINED * largest(&w);
            u.iter_mut().zip(du).for_each(|(u, du)| *u += du);
            w.iter_mut().zip(dw).for_each(|(w, dw)| *w += dw);
            bias += db;
            if last {
                break;
            }
        }
        (u, w, bias)
    }

    fn eliminated(&self, a: &[f64], e: &[f64], f: f64) -> Direction {
        let (mut u, mut w) = self.without_bias(a, e);
        let bias = (dot(self.conditions.labels, &u) - f) / self.labels_product;
        u.iter_mut().zip(&self.of_labels.0).for_each(|(u, of)| *u -= bias * of);
        w.iter_mut().zip(&self.of_labels.1).for_each(|(w, of)| *w -= bias * of);
        (u, w, bias)
    }

    /// `δu` and `δw` at `δb = 0`.
    fn without_bias(&self, a: &[f64], e: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, signed) = (self.samples.len(), self.conditions.signed);
        if self.columns.len() <= n {
            let divided: Vec<f64> = a.iter().zip(&self.samples).map(|(a, d)| a / d).collect();
            let mut w = transposed_products(signed, &divided, n);
            w.iter_mut().zip(e).zip(&self.columns).for_each(|((w, e), theta)| *w = (*w - e) * theta.sqrt());
            self.factor.solve(&mut w);
            w.iter_mut().zip(&self.columns).for_each(|(w, theta)| *w *= theta.sqrt());
            let mut u = combination(signed, &w, n);
            u.iter_mut().zip(a).zip(&self.samples).for_each(|((u, a), d)| *u = (a - *u) / d);
            (u, w)
        } else {
            let weighted: Vec<f64> = e.iter().zip(&self.columns).map(|(e, theta)| theta * e).collect();
            let mut u = combination(signed, &weighted, n);
            u.iter_mut().zip(a).zip(&self.samples).for_each(|((u, a), d)| *u = (*u + a) / d.sqrt());
            self.factor.solve(&mut u);
            u.iter_mut().zip(&self.samples).for_each(|(u, d)| *u /= d.sqrt());
            let mut w = transposed_products(signed, &u, n);
            w.iter_mut().zip(e).zip(&self.columns).for_each(|((w, e), theta)| *w = theta * (*w - e));
            (u, w)
        }
    }
}

impl Point {
    fn pairs(&self) -> [&Pair; 4] {
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

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}
