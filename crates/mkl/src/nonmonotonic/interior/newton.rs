//! A predictor and corrector step.

use fewest_core::Context;

use super::step::{Change, Step};
use super::{CUT, Interior, KEPT, LEAST_CUT, Point, SHARE, SHORTEST};
use crate::nonmonotonic::system::{System, SystemSolution};
use fewest_linalg::dot;

/// The residuals of a point, in the order of the module's formulas.
pub(super) struct Residuals {
    pub(super) stationary: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) sums: Vec<f64>,
    pub(super) budget: f64,
}

/// What the products of a step's pairs should change by.
pub(super) struct Centring {
    pub(super) nu: Vec<f64>,
    pub(super) delta: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) gamma: Vec<f64>,
    pub(super) v: f64,
}

impl Interior<'_> {
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
            .map(|j| -0.5 * squares[j] + self.feature_costs[j] * x.lambda + x.gamma[j] - x.s[j])
            .collect();
        let sums = beta.chunks_exact(m.n).map(|beta| -beta.iter().sum::<f64>()).collect();
        let spent = dot(&self.feature_costs, &x.p);
        Residuals { stationary, weights, sums, budget: self.limit - spent - x.v }
    }

    /// One predictor and corrector step; false when no progress is possible any more.
    pub(super) fn advance(
        &self,
        x: &mut Point,
        beta: &[f64],
        z: &[f64],
        squares: &[f64],
        fitted: &[f64],
        context: &Context<'_>,
    ) -> bool {
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
        let system = System::new(self.factors, &e, z, squares, &p, &curvature, context);
        if context.stopped().is_some() {
            return false;
        }
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
        let budget_solved = if self.limited {
            system.solve(&budget_column)
        } else {
            SystemSolution { x: Vec::new(), u: Vec::new() }
        };
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
        // So written, NaN is no progress.
        let moves = length > SHORTEST;
        if moves {
            let mut cut = 1.0;
            let fitted = loop {
                let found = self.fitted(x, z, &predicted, &step, cut * length);
                cut *= CUT;
                if found.is_some() || cut < LEAST_CUT {
                    break found;
                }
            };
            match fitted {
                Some(next) => *x = next,
                None => x.add(&step.change, length),
            }
        }
        moves
    }

    /// The point after `length` of `step`, with the weights `p` whose products with the `z` there are, as
    /// nearly as one number a unit allows, the linear ones, `p z + length (p dz + z dp + dp' dz')` with the
    /// changes `dp'`, `dz'` of `predicted`; `None` where they cost too much.
    fn fitted(&self, x: &Point, z: &[f64], predicted: &Change, step: &Change, length: f64) -> Option<Point> {
        let mut next = x.clone();
        next.add(&step.change, length);
        if !(self.limited && self.fits) {
            return Some(next);
        }
        let there: Vec<f64> = z.iter().zip(&step.dz).map(|(z, dz)| z + length * dz).collect();
        let squares = self.factors.squares(&there);
        let [with_z, with_dz, with_predicted] =
            [z, &step.dz, &predicted.dz].map(|other| self.factors.inner(&there, other));
        for (j, linear) in next.p.iter_mut().enumerate() {
            let (p, dp) = (x.p[j], step.change.p[j]);
            let second = predicted.change.p[j] * with_predicted[j];
            let fitted = (p * with_z[j] + length * (p * with_dz[j] + dp * with_z[j] + second)) / squares[j];
            let rest = 1.0 - *linear;
            let least = (KEPT * *linear).max(1.0 - rest / KEPT);
            let most = (*linear / KEPT).min(1.0 - KEPT * rest);
            // So written, NaN leaves the linear one.
            if fitted.is_finite() && least <= most {
                *linear = fitted.clamp(least, most);
            }
        }
        let left = self.limit - dot(&self.feature_costs, &next.p);
        let is_within = left >= KEPT * next.v;
        next.v = left;
        is_within.then_some(next)
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
}
