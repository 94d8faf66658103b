//! A primal-dual interior-point method for the min-max over weights and machines.
//!
//! ```text
//! min over p   max over β   2 (tᵀβ − ε ‖β‖₁) − τ ‖β‖² − Σⱼ pⱼ ‖Fⱼᵀβ‖²,     0 ≤ p ≤ 1,  Σⱼ cⱼ pⱼ ≤ B
//! ```
//!
//! The function is convex in `p` and concave in `β`, so its saddle points solve a monotone complementarity problem. With
//! multipliers `ν`, `δ` of the bounds of `β`, `s`, `γ` of those of `p`, `λ` of the budget and the biases `b` (all of half the
//! objective) they are the points where
//!
//! ```text
//! t − τβ − K(p)β − b + ν − δ = 0,     −½ ‖Fⱼᵀβ‖² + cⱼ λ + γⱼ − sⱼ = 0,     Σ β = 0,     B − cᵀp = v ≥ 0
//! ```
//!
//! and the products of multipliers with what they belong to are 0. Newton steps are taken towards points where all these products are equal
//! and small (Mehrotra's predictor and corrector, whose second order includes what is bilinear here). Eliminating all
//! but `β` leaves the system of [`System`]. Features tie at `λ` by the dozen at the optimum, and a change `dλ` must then move all their
//! squares alike: the part `β dλ / (2λ)` of the change of `β` does so and is taken out first, since the rest is small and
//! would otherwise be the difference of terms of size `1/θ`.

use fewest_core::{Context, Error, Status};

use super::machines::{Machines, knapsack};
use super::system::{Factors, Solved, System};

/// Most Newton steps.
const MOST_STEPS: usize = 150;

/// Share of the way to the boundary that a step goes at most.
const SHARE: f64 = 0.995;

/// What the weights may be.
#[derive(Debug, Clone)]
pub(super) enum Capacity<'a> {
    /// Between 0 and 1, their prices within a limit that does not allow all to be 1.
    Limited { prices: &'a [f64], limit: f64 },
    /// All 1: support vector machines alone.
    All,
}

/// Where the method ended.
#[derive(Debug, Clone)]
pub(super) struct Saddle {
    pub beta: Vec<f64>,
    pub weights: Vec<f64>,
    /// `‖Fⱼᵀβ‖²`.
    pub squares: Vec<f64>,
    /// The multiplier `λ` of the budget, of the whole objective.
    pub multiplier: f64,
    /// The dual objective at `β`: no weights give less.
    pub objective: f64,
    /// How far the primal objective, at the weights, may be above it.
    pub gap: f64,
    pub status: Status,
    pub steps: usize,
}

impl Saddle {
    /// The gap relative to the primal objective.
    pub(super) fn relative_gap(&self) -> f64 {
        relative(self.gap, self.objective)
    }
}

/// `gap` relative to the primal objective.
pub(super) fn relative(gap: f64, objective: f64) -> f64 {
    if gap <= 0.0 { 0.0 } else { gap / (objective + gap) }
}

/// When to stop.
pub(super) struct Stop<'a> {
    /// Relative gap to reach.
    pub tolerance: f64,
    /// Dual objective at which nothing more is wanted.
    pub enough: f64,
    pub context: &'a Context<'a>,
}

/// One sided part of a variable: `β = Σ sign a`, `0 ≤ a ≤ cap`.
struct Half {
    slot: usize,
    sign: f64,
    gain: f64,
    cap: f64,
}

/// All that moves.
#[derive(Clone)]
struct Point {
    a: Vec<f64>,
    nu: Vec<f64>,
    delta: Vec<f64>,
    p: Vec<f64>,
    s: Vec<f64>,
    gamma: Vec<f64>,
    v: f64,
    lambda: f64,
    bias: Vec<f64>,
}

struct Interior<'a> {
    machines: &'a Machines,
    factors: &'a Factors,
    prices: Vec<f64>,
    limit: f64,
    limited: bool,
    halves: Vec<Half>,
}

/// The residuals of a point, in the order of the module's formulas.
struct Residuals {
    stationary: Vec<f64>,
    weights: Vec<f64>,
    sums: Vec<f64>,
    budget: f64,
}

/// What the products of a step's pairs should change by.
struct Centring {
    nu: Vec<f64>,
    delta: Vec<f64>,
    s: Vec<f64>,
    gamma: Vec<f64>,
    v: f64,
}

/// What both steps from a point share.
struct Step<'a> {
    system: System<'a>,
    diagonal: Vec<f64>,
    inverse: Vec<f64>,
    curvature: &'a [f64],
    z: &'a [f64],
    squares: &'a [f64],
    /// `β` before the step.
    beta: &'a [f64],
    /// What `cⱼ` is above `‖zⱼ‖²/(2λ)`.
    excess: Vec<f64>,
    /// `g = Σ Fⱼzⱼ excessⱼ/θⱼ − (E⁻¹β + F p z)/(2λ)` and `M⁻¹g`.
    budget_column: Vec<f64>,
    budget_solved: Solved,
    ones_solved: Vec<Solved>,
}

/// Solves the problem over the units of `factors`.
///
/// # Errors
/// [`Error::Numerical`] when numbers overflow.
pub(super) fn solve(
    machines: &Machines,
    factors: &Factors,
    capacity: &Capacity<'_>,
    stop: &Stop<'_>,
) -> Result<Saddle, Error> {
    let (prices, limit, limited) = match capacity {
        Capacity::Limited { prices, limit } => (prices.to_vec(), *limit, true),
        Capacity::All => (vec![1.0; factors.units()], f64::INFINITY, false),
    };
    Interior::new(machines, factors, prices, limit, limited).run(stop)
}

impl<'a> Interior<'a> {
    fn new(
        machines: &'a Machines,
        factors: &'a Factors,
        prices: Vec<f64>,
        limit: f64,
        limited: bool,
    ) -> Self {
        let mut halves = Vec::new();
        for slot in 0..machines.len() {
            for (sign, cap) in [(1.0, machines.upper[slot]), (-1.0, -machines.lower[slot])] {
                if cap > 0.0 {
                    let gain = sign * machines.targets[slot] - machines.epsilon;
                    halves.push(Half { slot, sign, gain, cap });
                }
            }
        }
        Self { machines, factors, prices, limit, limited, halves }
    }

    fn beta(&self, a: &[f64]) -> Vec<f64> {
        let mut beta = vec![0.0; self.machines.len()];
        for (half, a) in self.halves.iter().zip(a) {
            beta[half.slot] += half.sign * a;
        }
        beta
    }

    /// A direction of rise with sums of 0, in units of the bounds.
    fn direction(&self) -> Vec<f64> {
        let Machines { n, targets, lower, upper, .. } = self.machines;
        let mut direction = vec![0.0; self.machines.len()];
        for (k, direction) in direction.chunks_exact_mut(*n).enumerate() {
            let range = k * n..(k + 1) * n;
            let (t, l, u) = (&targets[range.clone()], &lower[range.clone()], &upper[range]);
            let (down, up): (f64, f64) = (l.iter().sum(), u.iter().sum());
            if l.iter().zip(u).all(|(l, u)| *l == 0.0 || *u == 0.0) {
                for (d, (l, u)) in direction.iter_mut().zip(l.iter().zip(u)) {
                    *d = u / up + l / -down;
                }
            } else {
                let mean = t.iter().zip(u).map(|(t, u)| t * u).sum::<f64>() / up;
                direction.iter_mut().zip(t.iter().zip(u)).for_each(|(d, (t, u))| *d = u * (t - mean));
            }
        }
        direction
    }

    fn start(&self) -> Point {
        let m = self.machines;
        let units = self.factors.units();
        let total: f64 = self.prices.iter().sum();
        let share = if self.limited { self.limit / total * (1.0 - 0.5 / units as f64) } else { 1.0 };
        let p = vec![share; units];

        let mut beta = self.direction();
        let largest = (0..m.len())
            .map(|i| beta[i].abs() / m.upper[i].max(-m.lower[i]).max(f64::MIN_POSITIVE))
            .fold(0.0, f64::max);
        let squares = self.factors.squares(&self.factors.products(&beta));
        let linear: f64 = beta.iter().zip(&m.targets).map(|(b, t)| t * b - m.epsilon * b.abs()).sum();
        let bend = m.ridge * beta.iter().map(|b| b * b).sum::<f64>() + share * squares.iter().sum::<f64>();
        let most = if largest > 0.0 { 0.5 / largest } else { 0.0 };
        let length = (linear.max(0.0) / bend.max(f64::MIN_POSITIVE)).clamp(1e-3 * most, most);
        beta.iter_mut().for_each(|b| *b *= length);

        let mean = beta.iter().map(|b| b.abs()).sum::<f64>() / m.len() as f64;
        let two_sided = self.halves.len() > m.len();
        let a: Vec<f64> = self
            .halves
            .iter()
            .map(|half| {
                let forward = (half.sign * beta[half.slot]).max(0.0);
                let slack = if two_sided { mean.clamp(0.1 * half.cap, 0.25 * half.cap) } else { 0.0 };
                forward + slack
            })
            .collect();

        let z = self.factors.products(&beta);
        let fitted = self.factors.combine(&self.factors.scaled(&z, &p));
        let squares = self.factors.squares(&z);
        let bias: Vec<f64> = (0..m.count)
            .map(|k| (k * m.n..(k + 1) * m.n).map(|i| m.targets[i] - fitted[i]).sum::<f64>() / m.n as f64)
            .collect();
        let pairs = (2 * self.halves.len() + 2 * units) as f64;
        let value = m.gain(&beta).abs() + m.gap(&beta, &fitted, &bias);
        let centre = (0.5 * value / pairs).max(f64::MIN_POSITIVE);
        let (mut nu, mut delta) = (Vec::new(), Vec::new());
        for (half, a) in self.halves.iter().zip(&a) {
            let i = half.slot;
            let pull = half.sign * (m.ridge * beta[i] + fitted[i] + bias[i / m.n]) - half.gain;
            nu.push(pull.max(0.0) + centre / a);
            delta.push((-pull).max(0.0) + centre / (half.cap - a));
        }
        let (mut s, mut gamma) = (vec![0.0; units], vec![0.0; units]);
        let (mut lambda, mut v) = (0.0, 0.0);
        if self.limited {
            let (_, worth) = knapsack(&squares, &self.prices, self.limit);
            v = self.limit - share * total;
            lambda = (0.5 * worth).max(centre / v);
            for j in 0..units {
                let above = 0.5 * squares[j] - self.prices[j] * lambda;
                s[j] = (-above).max(0.0) + centre / share;
                gamma[j] = above.max(0.0) + centre / (1.0 - share);
            }
        }
        Point { a, nu, delta, p, s, gamma, v, lambda, bias }
    }

    fn run(&self, stop: &Stop<'_>) -> Result<Saddle, Error> {
        let m = self.machines;
        let mut point = self.start();
        let mut best: Option<Saddle> = None;
        let mut since_best = 0;
        for steps in 0..=MOST_STEPS {
            let beta = self.beta(&point.a);
            let z = self.factors.products(&beta);
            let squares = self.factors.squares(&z);
            let fitted = self.factors.combine(&self.factors.scaled(&z, &point.p));
            let weighted: f64 = squares.iter().zip(&point.p).map(|(s, p)| s * p).sum();
            let (most, _) =
                if self.limited { knapsack(&squares, &self.prices, self.limit) } else { (weighted, 0.0) };
            let gap = m.gap(&beta, &fitted, &point.bias) + (most - weighted).max(0.0);
            let objective = m.gain(&beta) - most;
            if !(gap.is_finite() && objective.is_finite()) {
                break;
            }
            if best.as_ref().is_none_or(|best| gap < best.gap) {
                since_best = 0;
                best = Some(Saddle {
                    beta: beta.clone(),
                    weights: point.p.clone(),
                    squares: squares.clone(),
                    multiplier: 2.0 * point.lambda,
                    objective,
                    gap,
                    status: Status::MaxIterations,
                    steps,
                });
            } else {
                since_best += 1;
            }
            let ended = if relative(gap, objective) <= stop.tolerance || objective >= stop.enough {
                Some(Status::Converged)
            } else if stop.context.interrupted() {
                Some(Status::Interrupted)
            } else if stop.context.time_left().is_some_and(|left| left.is_zero()) {
                Some(Status::TimeLimit)
            } else if since_best > 15 {
                Some(Status::Stalled)
            } else {
                None
            };
            if let (Some(status), Some(best)) = (ended, &mut best) {
                best.status = status;
                break;
            }
            if steps < MOST_STEPS && !self.advance(&mut point, &beta, &z, &squares, &fitted) {
                if let Some(best) = &mut best {
                    best.status = Status::Stalled;
                }
                break;
            }
        }
        best.ok_or_else(|| Error::Numerical {
            what: "the selection's convex relaxation",
            hint: "rescale target and features, or lower the cost".to_owned(),
        })
    }

    fn residuals(&self, x: &Point, beta: &[f64], squares: &[f64], fitted: &[f64]) -> Residuals {
        let m = self.machines;
        let stationary = self
            .halves
            .iter()
            .enumerate()
            .map(|(h, half)| {
                let i = half.slot;
                half.gain - half.sign * (m.ridge * beta[i] + fitted[i] + x.bias[i / m.n]) + x.nu[h]
                    - x.delta[h]
            })
            .collect();
        let weights = (0..squares.len())
            .map(|j| -0.5 * squares[j] + self.prices[j] * x.lambda + x.gamma[j] - x.s[j])
            .collect();
        let sums = beta.chunks_exact(m.n).map(|beta| -beta.iter().sum::<f64>()).collect();
        let spent: f64 = self.prices.iter().zip(&x.p).map(|(c, p)| c * p).sum();
        Residuals { stationary, weights, sums, budget: self.limit - spent - x.v }
    }

    /// One predictor and corrector step; false when no progress is possible any more.
    fn advance(&self, x: &mut Point, beta: &[f64], z: &[f64], squares: &[f64], fitted: &[f64]) -> bool {
        let m = self.machines;
        let residuals = self.residuals(x, beta, squares, fitted);
        let diagonal: Vec<f64> =
            (0..x.a.len()).map(|h| x.nu[h] / x.a[h] + x.delta[h] / (self.halves[h].cap - x.a[h])).collect();
        let mut inverse = vec![0.0; beta.len()];
        for (half, d) in self.halves.iter().zip(&diagonal) {
            inverse[half.slot] += d.recip();
        }
        let e: Vec<f64> = inverse.iter().map(|i| i / (1.0 + m.ridge * i)).collect();
        let curvature: Vec<f64> = if self.limited {
            (0..x.p.len()).map(|j| (x.gamma[j] / (1.0 - x.p[j]) + x.s[j] / x.p[j]).recip()).collect()
        } else {
            vec![0.0; x.p.len()]
        };
        if !e.iter().chain(&curvature).all(|value| value.is_finite()) {
            return false;
        }
        let p = x.p.clone();
        let system = System::new(self.factors, &e, z, squares, &p, &curvature);
        // From the residual of the weights: the difference itself would cancel.
        let excess: Vec<f64> =
            (0..p.len()).map(|j| (residuals.weights[j] - x.gamma[j] + x.s[j]) / x.lambda).collect();
        let budget_column = if self.limited {
            let bent: Vec<f64> = excess.iter().zip(&curvature).map(|(e, k)| e * k).collect();
            let mut column = self.factors.combine(&self.factors.scaled(z, &bent));
            for (i, value) in column.iter_mut().enumerate() {
                let own = if e[i] > 0.0 { beta[i] / e[i] } else { 0.0 };
                *value -= (own + fitted[i]) / (2.0 * x.lambda);
            }
            column
        } else {
            Vec::new()
        };
        let ones_solved = (0..m.count)
            .map(|k| {
                let ones: Vec<f64> = (0..m.len()).map(|i| f64::from(i / m.n == k)).collect();
                system.solve(&ones)
            })
            .collect();
        let budget_solved =
            if self.limited { system.solve(&budget_column) } else { Solved { x: Vec::new(), u: Vec::new() } };
        let step = Step {
            system,
            diagonal,
            inverse,
            curvature: &curvature,
            z,
            squares,
            beta,
            excess,
            budget_column,
            budget_solved,
            ones_solved,
        };

        let mean = self.complementarity(x);
        let affine = self.centring(x, 0.0, None);
        let predicted = self.solve_step(&step, x, &residuals, &affine);
        let reach = self.reach(x, &predicted.change).min(1.0);
        let mut trial = x.clone();
        trial.add(&predicted.change, reach);
        let sigma = (self.complementarity(&trial) / mean).clamp(0.0, 1.0).powi(3);

        let centring = self.centring(x, sigma * mean, Some(&predicted.change));
        let mut corrected = residuals;
        if self.limited {
            let second = self.factors.combine(&self.factors.scaled(&predicted.dz, &predicted.change.p));
            for (r, half) in corrected.stationary.iter_mut().zip(&self.halves) {
                *r -= half.sign * second[half.slot];
            }
            let squared = self.factors.squares(&predicted.dz);
            corrected.weights.iter_mut().zip(squared).for_each(|(r, s)| *r -= 0.5 * s);
        }
        let step = self.solve_step(&step, x, &corrected, &centring);
        let reach = self.reach(x, &step.change);
        let length = (SHARE * reach).min(1.0);
        if !(length > 1e-10) {
            return false;
        }
        x.add(&step.change, length);
        true
    }

    /// The mean product of a multiplier with what it belongs to.
    fn complementarity(&self, x: &Point) -> f64 {
        let bounds: f64 =
            (0..x.a.len()).map(|h| x.nu[h] * x.a[h] + x.delta[h] * (self.halves[h].cap - x.a[h])).sum();
        if !self.limited {
            return bounds / (2 * x.a.len()) as f64;
        }
        let weights: f64 = (0..x.p.len()).map(|j| x.s[j] * x.p[j] + x.gamma[j] * (1.0 - x.p[j])).sum();
        (bounds + weights + x.v * x.lambda) / (2 * x.a.len() + 2 * x.p.len() + 1) as f64
    }

    /// What the products lack to `wanted`, with the products of the changes of `predicted` counted in.
    fn centring(&self, x: &Point, wanted: f64, predicted: Option<&Point>) -> Centring {
        let cross = |f: &dyn Fn(&Point) -> f64| predicted.map_or(0.0, f);
        let halves = 0..x.a.len();
        let units = 0..x.s.len();
        Centring {
            nu: halves.clone().map(|h| wanted - x.nu[h] * x.a[h] - cross(&|d| d.nu[h] * d.a[h])).collect(),
            delta: halves
                .map(|h| {
                    wanted - x.delta[h] * (self.halves[h].cap - x.a[h]) + cross(&|d| d.delta[h] * d.a[h])
                })
                .collect(),
            s: units.clone().map(|j| wanted - x.s[j] * x.p[j] - cross(&|d| d.s[j] * d.p[j])).collect(),
            gamma: units
                .map(|j| wanted - x.gamma[j] * (1.0 - x.p[j]) + cross(&|d| d.gamma[j] * d.p[j]))
                .collect(),
            v: wanted - x.v * x.lambda - cross(&|d| d.v * d.lambda),
        }
    }

    /// The longest step that keeps everything positive.
    fn reach(&self, x: &Point, d: &Point) -> f64 {
        let mut reach = f64::INFINITY;
        let mut bound = |value: f64, change: f64| {
            if change < 0.0 {
                reach = reach.min(-value / change);
            } else if change.is_nan() {
                reach = 0.0;
            }
        };
        for h in 0..x.a.len() {
            bound(x.a[h], d.a[h]);
            bound(self.halves[h].cap - x.a[h], -d.a[h]);
            bound(x.nu[h], d.nu[h]);
            bound(x.delta[h], d.delta[h]);
        }
        if self.limited {
            for j in 0..x.p.len() {
                bound(x.p[j], d.p[j]);
                bound(1.0 - x.p[j], -d.p[j]);
                bound(x.s[j], d.s[j]);
                bound(x.gamma[j], d.gamma[j]);
            }
            bound(x.v, d.v);
            bound(x.lambda, d.lambda);
        }
        reach
    }

    fn solve_step(&self, step: &Step<'_>, x: &Point, r: &Residuals, c: &Centring) -> Change {
        let m = self.machines;
        let (units, count) = (x.p.len(), m.count);
        let cap_left = |h: usize| self.halves[h].cap - x.a[h];
        let pushed: Vec<f64> =
            (0..x.a.len()).map(|h| r.stationary[h] + c.nu[h] / x.a[h] - c.delta[h] / cap_left(h)).collect();
        let mut gathered = vec![0.0; m.len()];
        for (h, half) in self.halves.iter().enumerate() {
            gathered[half.slot] += half.sign * pushed[h] / step.diagonal[h];
        }
        let per_slot =
            |i: usize, value: f64| if step.inverse[i] > 0.0 { value / step.inverse[i] } else { 0.0 };
        let mut right: Vec<f64> = gathered.iter().enumerate().map(|(i, &g)| per_slot(i, g)).collect();
        let q: Vec<f64> = if self.limited {
            (0..units).map(|j| r.weights[j] + c.gamma[j] / (1.0 - x.p[j]) - c.s[j] / x.p[j]).collect()
        } else {
            vec![0.0; units]
        };
        if self.limited {
            let bent: Vec<f64> = q.iter().zip(step.curvature).map(|(q, k)| q * k).collect();
            let extra = self.factors.combine(&self.factors.scaled(step.z, &bent));
            right.iter_mut().zip(extra).for_each(|(r, e)| *r += e);
        }
        let Solved { x: base, u: base_u } = step.system.solve(&right);

        // The biases, and the multiplier of the budget before them.
        let first = usize::from(self.limited);
        let size = count + first;
        let mut matrix = nalgebra::DMatrix::<f64>::zeros(size, size);
        let mut known = nalgebra::DVector::<f64>::zeros(size);
        let sum = |k: usize, v: &[f64]| v[k * m.n..(k + 1) * m.n].iter().sum::<f64>();
        for l in 0..count {
            for k in 0..count {
                matrix[(first + l, first + k)] = -sum(l, &step.ones_solved[k].x);
            }
            known[first + l] = r.sums[l] - sum(l, &base);
        }
        if self.limited {
            let half = (2.0 * x.lambda).recip();
            let (mut own, mut constant) = (-x.v / x.lambda, 0.0);
            for j in 0..units {
                own -= self.prices[j] * step.excess[j] * step.curvature[j];
                constant += self.prices[j] * q[j] * step.curvature[j];
            }
            matrix[(0, 0)] = dot(&step.budget_column, &step.budget_solved.x)
                + half * dot(step.beta, &step.budget_column)
                + own;
            known[0] = r.budget - c.v / x.lambda + constant
                - dot(&step.budget_column, &base)
                - half * dot(step.beta, &right);
            for k in 0..count {
                let sum_of_beta = sum(k, step.beta);
                matrix[(0, first + k)] =
                    -dot(&step.budget_column, &step.ones_solved[k].x) - half * sum_of_beta;
                matrix[(first + k, 0)] = sum(k, &step.budget_solved.x) + half * sum_of_beta;
            }
        }
        let multipliers =
            matrix.lu().solve(&known).unwrap_or_else(|| nalgebra::DVector::from_element(size, f64::NAN));

        let lambda = if self.limited { multipliers[0] } else { 0.0 };
        let bias: Vec<f64> = (0..count).map(|k| multipliers[first + k]).collect();
        let (mut beta, mut u) = (base, base_u);
        let mut add = |factor: f64, solved: &Solved| {
            beta.iter_mut().zip(&solved.x).for_each(|(b, x)| *b += factor * x);
            u.iter_mut().zip(&solved.u).for_each(|(u, x)| *u += factor * x);
        };
        step.ones_solved.iter().zip(&bias).for_each(|(solved, bias)| add(-bias, solved));
        if self.limited {
            add(lambda, &step.budget_solved);
        }
        // How far the squares move apart from the common factor that the multiplier moves all by: `zᵀdz/θ`, from `u`.
        let apart: Vec<f64> = self
            .factors
            .inner(step.z, &u)
            .iter()
            .enumerate()
            .map(|(j, along)| along * step.curvature[j] / (x.p[j] + step.squares[j] * step.curvature[j]))
            .collect();
        let scale = if self.limited { lambda / (2.0 * x.lambda) } else { 0.0 };
        beta.iter_mut().zip(step.beta).for_each(|(b, old)| *b += scale * old);
        let dz = self.factors.products(&beta);
        let mut change = Point {
            a: self.halves_of(step, &pushed, &gathered, &beta),
            nu: Vec::new(),
            delta: Vec::new(),
            p: vec![0.0; units],
            s: vec![0.0; units],
            gamma: vec![0.0; units],
            v: 0.0,
            lambda,
            bias,
        };
        change.nu = (0..x.a.len()).map(|h| (c.nu[h] - x.nu[h] * change.a[h]) / x.a[h]).collect();
        change.delta =
            (0..x.a.len()).map(|h| (c.delta[h] + x.delta[h] * change.a[h]) / cap_left(h)).collect();
        if self.limited {
            for j in 0..units {
                change.p[j] = apart[j] - (step.excess[j] * lambda + q[j]) * step.curvature[j];
                change.s[j] = (c.s[j] - x.s[j] * change.p[j]) / x.p[j];
                change.gamma[j] = (c.gamma[j] + x.gamma[j] * change.p[j]) / (1.0 - x.p[j]);
            }
            change.v = (c.v - x.v * lambda) / x.lambda;
        }
        Change { change, dz }
    }

    /// The changes of the sided parts. Of two, that with the larger diagonal follows from its own equation, and the
    /// other is what is left of the change of `β`: so nothing cancels.
    fn halves_of(&self, step: &Step<'_>, pushed: &[f64], gathered: &[f64], beta: &[f64]) -> Vec<f64> {
        let mut changes = vec![0.0; self.halves.len()];
        for h in 0..self.halves.len() {
            let half = &self.halves[h];
            let partner = [h.wrapping_sub(1), h + 1]
                .into_iter()
                .find(|&other| self.halves.get(other).is_some_and(|other| other.slot == half.slot));
            let by_equation = |h: usize| {
                let i = self.halves[h].slot;
                let y = (gathered[i] - beta[i]) / step.inverse[i];
                (pushed[h] - self.halves[h].sign * y) / step.diagonal[h]
            };
            changes[h] = match partner {
                None => half.sign * beta[half.slot],
                Some(other) if (step.diagonal[h], h) < (step.diagonal[other], other) => {
                    half.sign * (beta[half.slot] - self.halves[other].sign * by_equation(other))
                }
                Some(_) => by_equation(h),
            };
        }
        changes
    }
}

struct Change {
    change: Point,
    dz: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Point {
    fn add(&mut self, d: &Point, length: f64) {
        let add = |x: &mut [f64], d: &[f64]| x.iter_mut().zip(d).for_each(|(x, d)| *x += length * d);
        add(&mut self.a, &d.a);
        add(&mut self.nu, &d.nu);
        add(&mut self.delta, &d.delta);
        add(&mut self.p, &d.p);
        add(&mut self.s, &d.s);
        add(&mut self.gamma, &d.gamma);
        add(&mut self.bias, &d.bias);
        self.v += length * d.v;
        self.lambda += length * d.lambda;
    }
}
