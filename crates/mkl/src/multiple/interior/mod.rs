//! A primal-dual interior-point method for the weights of a few kernels.
//!
//! With kernels divided by `λ` and multipliers by `C` the problem is, summed over the machines `t`,
//!
//! ```text
//! maximise over β   Σ yᵀβₜ   subject to   ½ Σ_t βₜᵀK_mβₜ ≤ 1 for all m,   0 ≤ yβₜ ≤ 1,   Σ βₜ = 0
//! ```
//!
//! a convex problem whose multipliers are the weights `d`. With `a = yβ`, `w = 1 − a`, multipliers `ν`, `δ`
//! of these, slacks `s` of the kernels and biases `b` its solution is where
//!
//! ```text
//! 1 − y(K(d)β + b) + ν − δ = 0,     1 − ½ βᵀK_mβ − s_m = 0,     Σ β = 0
//! ```
//!
//! and `aν`, `wδ` and `ds` are 0. Newton steps are taken towards points where these products are equal and
//! small, with Mehrotra's predictor and corrector. A step eliminates all but `β`, for each machine by itself,
//! and then the weights: with `g_m = K_mβ`, `A = ν/a + δ/w + K(d)` and `Θ = s/d` what is left is
//! `(GᵀA⁻¹G + Θ) Δd = …`.

mod kernels;
mod point;

use fewest_core::{Context, Error, Status};
use nalgebra::DMatrix;

use self::kernels::{Seen, Side, System, combined};
use self::point::{Part, Point};
use super::terms::Terms;
use super::{Machine, STEPPED};
use crate::limits::check_memory;
use fewest_linalg::Cholesky;
use fewest_linalg::dot;

/// Most Newton steps.
const MOST_STEPS: usize = 150;

/// Share of the way to the boundary that a step goes at most.
const SHARE: f64 = 0.995;

/// Steps without a smaller gap after which the run ends.
const PATIENCE: usize = 10;

/// Where the method ended.
pub(super) struct Saddle {
    /// Multipliers times labels, for each machine.
    pub(super) betas: Vec<Vec<f64>>,
    pub(super) weights: Vec<f64>,
    /// `Σ yᵀβ`.
    pub(super) gain: f64,
    /// The machines' primal objective at the weights, and their penalty.
    pub(super) primal: f64,
    /// What rounding may take off a dual objective.
    pub(super) slip: f64,
    pub(super) status: Status,
    pub(super) steps: usize,
}

/// The kernels in play.
pub(super) struct Interior<'a> {
    terms: &'a Terms,
    chosen: &'a [usize],
    /// Where the columns of each begin.
    offsets: Vec<usize>,
    lambda: f64,
    sides: Vec<Side>,
    context: &'a Context<'a>,
}

impl<'a> Interior<'a> {
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Numerical`] where there is too little memory for the columns of every
    /// machine.
    pub(super) fn new(
        terms: &'a Terms,
        chosen: &'a [usize],
        machines: &[Machine],
        lambda: f64,
        context: &'a Context<'a>,
    ) -> Result<Self, Error> {
        let n = terms.n_samples.max(1);
        let mut offsets = vec![0];
        for &m in chosen {
            offsets.push(offsets[offsets.len() - 1] + terms.terms[m].columns.len() / n);
        }
        let rows = machines.iter().map(|machine| machine.rows.len()).sum();
        let instead = "use fewer samples or classes";
        check_memory("multiple kernel learning", &[offsets[offsets.len() - 1], rows], instead)?;
        let scale = lambda.sqrt().recip();
        let side = |t: usize| {
            context.go_on(STEPPED)?;
            let machine = &machines[t];
            let columns = chosen
                .iter()
                .flat_map(|&m| terms.terms[m].columns.chunks_exact(n))
                .flat_map(|column| machine.rows.iter().map(|&row| scale * column[row]))
                .collect();
            Ok::<Side, Error>(Side { labels: machine.labels().collect(), columns })
        };
        let sides = fewest_parallel::try_map(machines.len(), side)?;
        Ok(Self { terms, chosen, offsets, lambda, sides, context })
    }

    fn shift(&self, m: usize) -> f64 {
        self.terms.terms[self.chosen[m]].shift / self.lambda
    }

    /// Starts from a share of `balanced`, each machine's multipliers at zero weights.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    fn start(&self, machines: &[Machine]) -> Result<Point, Error> {
        let balanced: Vec<Vec<f64>> = machines.iter().map(Machine::balanced).collect();
        let mut most = vec![0.0; self.chosen.len()];
        for (side, beta) in self.sides.iter().zip(&balanced) {
            self.context.go_on(STEPPED)?;
            let g = self.products(side, beta);
            for (most, g) in most.iter_mut().zip(g.chunks_exact(beta.len())) {
                *most += dot(g, beta);
            }
        }
        let share = most.iter().fold(4.0, |most: f64, square| most.max(*square)).sqrt().recip();
        let s: Vec<f64> = most.iter().map(|square| 1.0 - 0.5 * share * share * square).collect();
        let d = s.iter().map(|s| share / s).collect();
        let parts = self.sides.iter().zip(&balanced).map(|(side, beta)| {
            let a: Vec<f64> = beta.iter().zip(&side.labels).map(|(b, y)| share * b * y).collect();
            let w: Vec<f64> = a.iter().map(|a| 1.0 - a).collect();
            let nu = a.iter().map(|a| share / a).collect();
            let delta = w.iter().map(|w| share / w).collect();
            Part { a, w, nu, delta, bias: 0.0 }
        });
        Ok(Point { parts: parts.collect(), d, s })
    }

    /// From the start to the gap `tolerance`, relative to the primal objective.
    ///
    /// # Errors
    /// [`Error::Numerical`] where numbers overflow; [`Error::Stopped`] before the first point is assessed.
    pub(super) fn run(&self, machines: &[Machine], tolerance: f64) -> Result<Saddle, Error> {
        let mut x = self.start(machines)?;
        let mut best: Option<(f64, Saddle)> = None;
        let mut since_best = 0;
        for steps in 0..=MOST_STEPS {
            let seen = fewest_parallel::try_map(self.sides.len(), |t| {
                self.context.go_on(STEPPED)?;
                Ok(self.seen(&self.sides[t], &x.parts[t], &x.d))
            });
            let seen = match (seen, &mut best) {
                (Ok(seen), _) => seen,
                // The best point before stands.
                (Err(Error::Stopped { .. }), Some((_, best))) => {
                    best.status = self.context.stopped().unwrap_or(Status::TimeLimit);
                    break;
                }
                (Err(error), _) => return Err(error),
            };
            let squares = self.squares(&seen);
            let saddle = self.assess(&x, &seen, steps);
            let gap = saddle.gap(squares.iter().copied().fold(0.0, f64::max));
            if !gap.is_finite() {
                break;
            }
            let primal = saddle.primal;
            if best.as_ref().is_none_or(|(least, _)| gap < *least) {
                since_best = 0;
                best = Some((gap, saddle));
            } else {
                since_best += 1;
            }
            let ended = if gap <= tolerance * primal {
                Some(Status::Converged)
            } else if let Some(status) = self.context.stopped() {
                Some(status)
            } else if since_best > PATIENCE || !self.advance(&mut x, &seen, &squares) {
                // A step that is stopped leads nowhere.
                Some(self.context.stopped().unwrap_or(Status::Stalled))
            } else {
                None
            };
            if let (Some(status), Some((_, best))) = (ended, &mut best) {
                best.status = status;
                break;
            }
        }
        best.map(|(_, saddle)| saddle).ok_or_else(|| Error::Numerical {
            what: "multiple kernel learning",
            hint: "lower the kernel's parameters, or raise the ratio".to_owned(),
        })
    }

    fn squares(&self, seen: &[Seen]) -> Vec<f64> {
        let mut squares = vec![0.0; self.chosen.len()];
        for seen in seen {
            for (square, g) in squares.iter_mut().zip(seen.g.chunks_exact(seen.beta.len())) {
                *square += dot(g, &seen.beta);
            }
        }
        squares
    }

    fn assess(&self, x: &Point, seen: &[Seen], steps: usize) -> Saddle {
        let (mut gain, mut slip) = (0.0, 0.0);
        let mut primal: f64 = x.d.iter().sum();
        for ((side, part), seen) in self.sides.iter().zip(&x.parts).zip(seen) {
            gain += part.a.iter().sum::<f64>();
            slip += (part.bias * seen.beta.iter().sum::<f64>()).abs();
            primal += 0.5 * dot(&seen.fitted, &seen.beta);
            let values = seen.fitted.iter().zip(&side.labels);
            primal += values.map(|(f, y)| (1.0 - y * (f + part.bias)).max(0.0)).sum::<f64>();
        }
        Saddle {
            betas: seen.iter().map(|seen| seen.beta.clone()).collect(),
            weights: x.d.clone(),
            gain,
            primal,
            slip,
            status: Status::MaxIterations,
            steps,
        }
    }

    /// One predictor and corrector step; false when no progress is possible any more.
    fn advance(&self, x: &mut Point, seen: &[Seen], squares: &[f64]) -> bool {
        let systems = fewest_parallel::map(self.sides.len(), |t| {
            self.system(&self.sides[t], &x.parts[t], &seen[t], &x.d)
        });
        if self.context.stopped().is_some() {
            return false;
        }
        let roots: Vec<f64> = x.s.iter().zip(&x.d).map(|(s, d)| (s / d).sqrt().recip()).collect();
        let q = x.d.len();
        let mut schur = vec![0.0; q * q];
        for (system, seen) in systems.iter().zip(seen) {
            if self.context.stopped().is_some() {
                return false;
            }
            let n = seen.beta.len();
            let projected = DMatrix::from_column_slice(n, q, &system.projected);
            let product = DMatrix::from_column_slice(n, q, &seen.g).tr_mul(&projected);
            for j in 0..q {
                for i in 0..q {
                    schur[i + j * q] += 0.5 * roots[i] * roots[j] * (product[(i, j)] + product[(j, i)]);
                }
            }
        }
        (0..q).for_each(|m| schur[m * (q + 1)] += 1.0);
        if !schur.iter().chain(systems.iter().map(|system| &system.sum)).all(|value| value.is_finite()) {
            return false;
        }
        let newton = Newton { systems, schur: Cholesky::above_identity(schur, q), roots };
        let mean = x.complementarity();
        let Some(predicted) = self.direction(x, seen, squares, &newton, 0.0, None) else { return false };
        let mut trial = x.clone();
        trial.add(&predicted, x.reach(&predicted).min(1.0));
        let centring = (trial.complementarity() / mean).clamp(0.0, 1.0).powi(3);
        let step = self.direction(x, seen, squares, &newton, centring * mean, Some(&predicted));
        let Some(step) = step else { return false };
        let length = (SHARE * x.reach(&step)).min(1.0);
        // So written, NaN is no progress.
        let moves = length > 1e-8;
        if moves {
            x.add(&step, length);
        }
        moves
    }

    /// The step to products of `target`, with the second order of `predicted` counted in; `None` where it was
    /// stopped. With many samples or machines it solves many systems.
    fn direction(
        &self,
        x: &Point,
        seen: &[Seen],
        squares: &[f64],
        newton: &Newton,
        target: f64,
        predicted: Option<&Point>,
    ) -> Option<Point> {
        let q = x.d.len();
        let mut residuals: Vec<f64> = (0..q).map(|m| 1.0 - 0.5 * squares[m] - x.s[m]).collect();
        let mut right = vec![0.0; q];
        let mut plain = Vec::new();
        for (t, side) in self.sides.iter().enumerate() {
            if self.context.stopped().is_some() {
                return None;
            }
            let (part, seen, system) = (&x.parts[t], &seen[t], &newton.systems[t]);
            let n = part.a.len();
            let (mut to_nu, mut to_delta) = (vec![0.0; n], vec![0.0; n]);
            let mut bent = vec![0.0; n];
            if let Some(predicted) = predicted {
                let change = &predicted.parts[t];
                let beta: Vec<f64> = change.a.iter().zip(&side.labels).map(|(a, y)| a * y).collect();
                let products = self.products(side, &beta);
                bent = combined(&products, &predicted.d, n);
                for (residual, g) in residuals.iter_mut().zip(products.chunks_exact(n)) {
                    *residual -= 0.5 * dot(g, &beta);
                }
                for i in 0..n {
                    to_nu[i] = change.a[i] * change.nu[i];
                    to_delta[i] = change.w[i] * change.delta[i];
                }
            }
            let mut wanted = vec![0.0; n];
            for i in 0..n {
                to_nu[i] = target - part.a[i] * part.nu[i] - to_nu[i];
                to_delta[i] = target - part.w[i] * part.delta[i] - to_delta[i];
                let y = side.labels[i];
                let stationary =
                    1.0 - y * (seen.fitted[i] + part.bias + bent[i]) + part.nu[i] - part.delta[i];
                wanted[i] = y * (stationary + to_nu[i] / part.a[i] - to_delta[i] / part.w[i]);
            }
            let balance = -seen.beta.iter().sum::<f64>();
            let (mut base, bias) = system.project(&wanted);
            base.iter_mut().zip(&system.ones).for_each(|(base, one)| *base += one * balance / system.sum);
            for (right, g) in right.iter_mut().zip(seen.g.chunks_exact(n)) {
                *right += dot(g, &base);
            }
            plain.push((base, bias - balance / system.sum, to_nu, to_delta));
        }
        let to_s: Vec<f64> = (0..q)
            .map(|m| target - x.s[m] * x.d[m] - predicted.map_or(0.0, |change| change.d[m] * change.s[m]))
            .collect();
        let mut d: Vec<f64> =
            (0..q).map(|m| newton.roots[m] * (right[m] - residuals[m] + to_s[m] / x.d[m])).collect();
        newton.schur.solve(&mut d);
        d.iter_mut().zip(&newton.roots).for_each(|(d, root)| *d *= root);
        let mut s = residuals;
        let mut parts = Vec::new();
        for (t, (mut beta, mut bias, to_nu, to_delta)) in plain.into_iter().enumerate() {
            let (part, system, n) = (&x.parts[t], &newton.systems[t], beta.len());
            let g = &seen[t].g;
            let taken = combined(&system.projected, &d, n);
            beta.iter_mut().zip(taken).for_each(|(beta, taken)| *beta -= taken);
            bias -= dot(&system.ones, &combined(g, &d, n)) / system.sum;
            for (s, g) in s.iter_mut().zip(g.chunks_exact(n)) {
                *s -= dot(g, &beta);
            }
            let a: Vec<f64> = beta.iter().zip(&self.sides[t].labels).map(|(b, y)| b * y).collect();
            let nu = (0..n).map(|i| (to_nu[i] - part.nu[i] * a[i]) / part.a[i]).collect();
            let delta = (0..n).map(|i| (to_delta[i] + part.delta[i] * a[i]) / part.w[i]).collect();
            let w = a.iter().map(|a| -a).collect();
            parts.push(Part { a, w, nu, delta, bias });
        }
        Some(Point { parts, d, s })
    }
}

/// What the predictor and the corrector share.
struct Newton {
    systems: Vec<System>,
    /// `I + Θ^-½ GᵀPG Θ^-½` and `Θ^-½`.
    schur: Cholesky,
    roots: Vec<f64>,
}

impl Saddle {
    /// How far the primal objective may be above the optimum, where the largest `Σ βᵀK_mβ` of all kernels is
    /// `most`: multipliers shrunk until no kernel gains more than its penalty are those of a dual point.
    pub(super) fn gap(&self, most: f64) -> f64 {
        self.primal - self.gain * (2.0 / most.max(2.0)).sqrt() + self.slip
    }
}
