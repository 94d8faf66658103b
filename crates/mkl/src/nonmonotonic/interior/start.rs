//! Where the interior-point method starts.

use super::{Interior, Point};
use crate::nonmonotonic::machines::{Machines, knapsack};

impl Interior<'_> {
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

    pub(super) fn start(&self) -> Point {
        let m = self.machines;
        let units = self.factors.units();
        let total: f64 = self.feature_costs.iter().sum();
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
            let (_, gain) = knapsack(&squares, &self.feature_costs, self.limit);
            v = self.limit - share * total;
            lambda = (0.5 * gain).max(centre / v);
            for j in 0..units {
                let above = 0.5 * squares[j] - self.feature_costs[j] * lambda;
                s[j] = (-above).max(0.0) + centre / share;
                gamma[j] = above.max(0.0) + centre / (1.0 - share);
            }
        }
        Point { a, nu, delta, p, s, gamma, v, lambda, bias }
    }
}
