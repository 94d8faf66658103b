//! The solution of a step's linear system, eliminated variables included.

use super::newton::{Centring, Residuals};
use super::{Interior, Point};
use crate::nonmonotonic::system::{System, SystemSolution};
use fewest_linalg::dot;

/// What both steps from a point share.
pub(super) struct Step<'a> {
    pub(super) system: System<'a>,
    pub(super) diagonal: Vec<f64>,
    pub(super) inverse: Vec<f64>,
    pub(super) curvature: &'a [f64],
    pub(super) z: &'a [f64],
    pub(super) squares: &'a [f64],
    /// `β` before the step.
    pub(super) beta: &'a [f64],
    /// What `cⱼ` is above `‖zⱼ‖²/(2λ)`.
    pub(super) excess: Vec<f64>,
    /// `g = Σ Fⱼzⱼ excessⱼ/θⱼ − (E⁻¹β + F p z)/(2λ)` and `M⁻¹g`.
    pub(super) budget_column: Vec<f64>,
    pub(super) budget_solved: SystemSolution,
    pub(super) ones_solved: Vec<SystemSolution>,
}

/// The changes of all variables, and of `z`.
pub(super) struct Change {
    pub(super) change: Point,
    pub(super) dz: Vec<f64>,
}

impl Interior<'_> {
    pub(super) fn solve_step(&self, step: &Step<'_>, x: &Point, r: &Residuals, c: &Centring) -> Change {
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
        let SystemSolution { x: base, u: base_u } = step.system.solve(&right);

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
                own -= self.feature_costs[j] * step.excess[j] * step.curvature[j];
                constant += self.feature_costs[j] * q[j] * step.curvature[j];
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
        let multipliers = fewest_linalg::lu(matrix)
            .solve(&known)
            .unwrap_or_else(|| nalgebra::DVector::from_element(size, f64::NAN));

        let lambda = if self.limited { multipliers[0] } else { 0.0 };
        let bias: Vec<f64> = (0..count).map(|k| multipliers[first + k]).collect();
        let (mut beta, mut u) = (base, base_u);
        let mut add = |factor: f64, solved: &SystemSolution| {
            beta.iter_mut().zip(&solved.x).for_each(|(b, x)| *b += factor * x);
            u.iter_mut().zip(&solved.u).for_each(|(u, x)| *u += factor * x);
        };
        step.ones_solved.iter().zip(&bias).for_each(|(solved, bias)| add(-bias, solved));
        if self.limited {
            add(lambda, &step.budget_solved);
        }
        // How far the squares move apart from the common factor that the multiplier moves all by: `zᵀdz/θ`,
        // from `u`.
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

    /// The changes of the sided parts. Of two, that with the larger diagonal follows from its own equation,
    /// and the other is what is left of the change of `β`: so nothing cancels.
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
