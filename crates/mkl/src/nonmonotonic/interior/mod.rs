//! A primal-dual interior-point method for the min-max over weights and machines.
//!
//! ```text
//! min over p   max over β   2 (tᵀβ − ε ‖β‖₁) − τ ‖β‖² − Σⱼ pⱼ ‖Fⱼᵀβ‖²,     0 ≤ p ≤ 1,  Σⱼ cⱼ pⱼ ≤ B
//! ```
//!
//! The function is convex in `p` and concave in `β`, so its saddle points solve a monotone complementarity
//! problem. With multipliers `ν`, `δ` of the bounds of `β`, `s`, `γ` of those of `p`, `λ` of the budget and
//! the biases `b` (all of half the objective) they are the points where
//!
//! ```text
//! t − τβ − K(p)β − b + ν − δ = 0,     −½ ‖Fⱼᵀβ‖² + cⱼ λ + γⱼ − sⱼ = 0,     Σ β = 0,     B − cᵀp = v ≥ 0
//! ```
//!
//! and the products of multipliers with what they belong to are 0. Newton steps are taken towards points
//! where all these products are equal and small (Mehrotra's predictor and corrector, whose second order
//! includes what is bilinear here). Eliminating all but `β` leaves the system of
//! [`System`](super::system::System). Features tie at `λ` by the dozen at the optimum, and a change `dλ` must
//! then move all their squares alike: the part `β dλ / (2λ)` of the change of `β` does so and is taken out
//! first, since the rest is small and would otherwise be the difference of terms of size `1/θ`.
//!
//! The residuals have the products `p z`, `z = Fᵀβ`, of which linear equations leave out what comes of both
//! changing. With a large cost both change by large factors in a step, and what is left out would exceed what
//! is still to be gained ever more. So a step's `p` are those whose products with the `z` it leads to are
//! what the equations say.

mod newton;
mod start;
mod step;

use fewest_core::{Context, Error, Status};

use super::machines::{Machines, knapsack};
use super::system::Factors;
use crate::limits::check_memory;
use fewest_linalg::dot;

/// Most Newton steps.
const MOST_STEPS: usize = 150;

/// Share of the way to the boundary that a step goes at most.
const SHARE: f64 = 0.995;

/// What weights that fit the outputs keep at least of their distances to the bounds as the linear equations
/// have them.
const KEPT: f64 = 0.5;

/// What is left of a step where such weights cost too much, and the share below which it is the linear one.
const CUT: f64 = 0.7;
const LEAST_CUT: f64 = 0.1;

/// A step shorter than this is no progress.
const SHORTEST: f64 = 1e-10;

/// What the weights may be.
#[derive(Debug, Clone)]
pub(super) enum Capacity<'a> {
    /// Between 0 and 1, their costs within a limit that does not allow all to be 1.
    Limited { feature_costs: &'a [f64], limit: f64 },
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
fn relative(gap: f64, objective: f64) -> f64 {
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
    feature_costs: Vec<f64>,
    limit: f64,
    limited: bool,
    halves: Vec<Half>,
    /// Whether the weights of a step fit its outputs.
    fits: bool,
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
    let (feature_costs, limit, limited) = match capacity {
        Capacity::Limited { feature_costs, limit } => (feature_costs.to_vec(), *limit, true),
        Capacity::All => (vec![1.0; factors.units()], f64::INFINITY, false),
    };
    let size = machines.count * factors.width().min(factors.n);
    check_memory("nmmkl", &[2, size, size], "use fewer samples, classes or features")?;
    let mut interior = Interior::new(machines, factors, feature_costs, limit, limited);
    let first = interior.run(stop);
    let is_done = |found: &Result<Saddle, Error>| {
        found.as_ref().is_ok_and(|saddle| saddle.status == Status::Converged || saddle.status.is_stopped())
    };
    if !limited || is_done(&first) {
        return first;
    }
    // Far from the optimum weights that fit may keep steps short, and linear ones leave out too much.
    interior.fits = !interior.fits;
    match (first, interior.run(stop)) {
        (Ok(first), Ok(second)) => {
            let steps = first.steps + second.steps;
            let stopped = second.status.is_stopped().then_some(second.status);
            let better = if second.gap < first.gap { second } else { first };
            Ok(Saddle { steps, status: stopped.unwrap_or(better.status), ..better })
        }
        (first, second) => second.or(first),
    }
}

impl<'a> Interior<'a> {
    fn new(
        machines: &'a Machines,
        factors: &'a Factors,
        feature_costs: Vec<f64>,
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
        // Dual variables of both signs are those of regressions, whose cost may be large; for classes linear
        // weights take fewer steps.
        let fits = machines.lower.iter().zip(&machines.upper).any(|(lower, upper)| lower * upper < 0.0);
        Self { machines, factors, feature_costs, limit, limited, halves, fits }
    }

    fn beta(&self, a: &[f64]) -> Vec<f64> {
        let mut beta = vec![0.0; self.machines.len()];
        for (half, a) in self.halves.iter().zip(a) {
            beta[half.slot] += half.sign * a;
        }
        beta
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
            let fit = |p: &[f64]| self.factors.combine(&self.factors.scaled(&z, p));
            let fitted = fit(&point.p);
            // Rounding may leave the weights beyond the limit: what is certified are those within it. The
            // next step goes on from the others, whose products with the outputs are nearer to what they
            // should be.
            let spent = dot(&self.feature_costs, &point.p);
            let within = (self.limited && spent > self.limit).then(|| {
                let weights: Vec<f64> = point.p.iter().map(|p| p * self.limit / spent).collect();
                (fit(&weights), weights)
            });
            let (fitted_within, weights) =
                within.as_ref().map_or((&fitted, &point.p), |(fitted, weights)| (fitted, weights));
            let weighted = dot(&squares, weights);
            let (most, _) = if self.limited {
                knapsack(&squares, &self.feature_costs, self.limit)
            } else {
                (weighted, 0.0)
            };
            let gap = m.gap(&beta, fitted_within, &point.bias) + (most - weighted).max(0.0);
            let objective = m.gain(&beta) - most;
            if !(gap.is_finite() && objective.is_finite()) {
                break;
            }
            if best.as_ref().is_none_or(|best| gap < best.gap) {
                since_best = 0;
                best = Some(Saddle {
                    beta: beta.clone(),
                    weights: weights.clone(),
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
            } else if let Some(status) = stop.context.stopped() {
                Some(status)
            } else if since_best > 15 {
                Some(Status::Stalled)
            } else {
                None
            };
            if let (Some(status), Some(best)) = (ended, &mut best) {
                best.status = status;
                break;
            }
            if steps < MOST_STEPS && !self.advance(&mut point, &beta, &z, &squares, &fitted, stop.context) {
                if let Some(best) = &mut best {
                    // A step that is stopped leads nowhere.
                    best.status = stop.context.stopped().unwrap_or(Status::Stalled);
                }
                break;
            }
        }
        best.ok_or_else(|| Error::Numerical {
            what: "the selection's convex relaxation",
            hint: "rescale target and features, or lower the cost".to_owned(),
        })
    }
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
