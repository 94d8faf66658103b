//! The support vector machines that share the features' weights, as one dual.

use fewest_core::order;

/// One machine or several over the same samples, all with the same features:
///
/// ```text
/// maximise over β   2 (tᵀβ − ε ‖β‖₁) − τ ‖β‖² − Σⱼ pⱼ ‖Fⱼᵀβ‖²,   l ≤ β ≤ u,  Σ β = 0 for each machine
/// ```
///
/// With `β = α ∘ y`, `t = y`, `ε = 0` it is Eq. (3), with `β = α − α*` it is Eq. (19). Machine `k` has the
/// variables `k n … (k + 1) n − 1`.
#[derive(Debug, Clone)]
pub(super) struct Machines {
    /// Samples of each machine.
    pub n: usize,
    /// Machines.
    pub count: usize,
    /// `t`.
    pub targets: Vec<f64>,
    /// `l`, at most 0.
    pub lower: Vec<f64>,
    /// `u`, at least 0.
    pub upper: Vec<f64>,
    /// `ε`.
    pub epsilon: f64,
    /// `τ`.
    pub ridge: f64,
}

impl Machines {
    /// One machine for each output of `values` (`n` of each): `ε`-insensitive, of cost `costs[i]`.
    pub(super) fn regression(values: &[Vec<f64>], costs: &[f64], epsilon: f64, ridge: f64) -> Self {
        let (n, count) = (costs.len(), values.len());
        let upper = costs.repeat(count);
        let lower = upper.iter().map(|cost| -cost).collect();
        Self { n, count, targets: values.concat(), lower, upper, epsilon, ridge }
    }

    /// One machine for each entry of `positive`, which says what samples are on its positive side.
    pub(super) fn classification(positive: &[Vec<bool>], costs: &[f64], ridge: f64) -> Self {
        let side = |wanted: bool, sign: f64| -> Vec<f64> {
            let bound = |(&label, &cost): (&bool, &f64)| if label == wanted { sign * cost } else { 0.0 };
            positive.iter().flat_map(|labels| labels.iter().zip(costs).map(bound)).collect()
        };
        let targets = positive.iter().flatten().map(|&label| if label { 1.0 } else { -1.0 }).collect();
        let (n, count) = (costs.len(), positive.len());
        Self { n, count, targets, lower: side(false, -1.0), upper: side(true, 1.0), epsilon: 0.0, ridge }
    }

    /// Whether every sample can be left in the tube without any feature, so that `β = 0` is optimal and no
    /// feature of use.
    pub(super) fn is_trivial(&self) -> bool {
        (0..self.count).all(|k| {
            let samples = k * self.n..(k + 1) * self.n;
            let seen = samples.filter(|&i| self.upper[i] > self.lower[i]).map(|i| self.targets[i]);
            let (low, high) =
                seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), t| (low.min(t), high.max(t)));
            high - low <= 2.0 * self.epsilon
        })
    }

    /// Number of variables.
    pub(super) fn len(&self) -> usize {
        self.n * self.count
    }

    /// `2 (tᵀβ − ε ‖β‖₁) − τ ‖β‖²`.
    pub(super) fn gain(&self, beta: &[f64]) -> f64 {
        beta.iter()
            .zip(&self.targets)
            .map(|(b, t)| 2.0 * (t * b - self.epsilon * b.abs()) - self.ridge * b * b)
            .sum()
    }

    /// `2 Σᵢ hᵢ(βᵢ) + hᵢ*(vᵢ) − vᵢβᵢ` with `v = t − fitted − bias` and `h(β) = ½ τ β² + ε |β|` on `[l, u]`:
    /// how far the primal objective of the machines with these outputs is above the dual objective of `β`.
    /// Every term is at least 0, so nothing cancels.
    pub(super) fn gap(&self, beta: &[f64], fitted: &[f64], bias: &[f64]) -> f64 {
        let term = |i: usize| {
            let v = self.targets[i] - fitted[i] - bias[i / self.n];
            let h = |b: f64| 0.5 * self.ridge * b * b + self.epsilon * b.abs();
            let pulled = if v > 0.0 { (v - self.epsilon).max(0.0) } else { (v + self.epsilon).min(0.0) };
            let best = match pulled {
                0.0 => 0.0,
                _ if self.ridge > 0.0 => (pulled / self.ridge).clamp(self.lower[i], self.upper[i]),
                p if p > 0.0 => self.upper[i],
                _ => self.lower[i],
            };
            (v * best - h(best) + h(beta[i]) - v * beta[i]).max(0.0)
        };
        2.0 * (0..self.len()).map(term).sum::<f64>()
    }
}

/// The largest `Σ pⱼ valueⱼ` with `0 ≤ p ≤ 1` and `Σ costⱼ pⱼ ≤ limit`, and the value a unit of money brings
/// at the end of it (0 where everything fits). For costs of 1 it is the sum of the `limit` largest values,
/// and the last of them.
pub(super) fn knapsack(values: &[f64], feature_costs: &[f64], limit: f64) -> (f64, f64) {
    let gains: Vec<f64> = values.iter().zip(feature_costs).map(|(value, cost)| value / cost).collect();
    let (mut left, mut sum) = (limit, 0.0);
    for j in order::descending(&gains) {
        if feature_costs[j] >= left {
            return (sum + values[j] * (left / feature_costs[j]), gains[j]);
        }
        left -= feature_costs[j];
        sum += values[j];
    }
    (sum, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knapsack_of_equal_costs_holds_the_largest() {
        assert_eq!(knapsack(&[1.0, 5.0, 3.0], &[1.0; 3], 2.0), (8.0, 3.0));
        assert_eq!(knapsack(&[1.0, 5.0, 3.0], &[1.0; 3], 4.0), (9.0, 0.0));
        // 5 costs 10: the others are better value, and half of it still fits.
        assert_eq!(knapsack(&[1.0, 5.0, 3.0], &[1.0, 10.0, 1.0], 7.0), (6.5, 0.5));
    }

    #[test]
    fn the_gap_is_primal_less_dual() {
        // Hinge loss at outputs 0: the primal objective is 2 C n, the dual at β = 0 is 0.
        let labels = vec![vec![true, false, true]];
        let machines = Machines::classification(&labels, &[2.0; 3], 0.0);
        assert_eq!(machines.gap(&[0.0; 3], &[0.0; 3], &[0.0]), 12.0);
        // Outputs beyond the margin: no loss.
        assert_eq!(machines.gap(&[0.0; 3], &[2.0, -2.0, 2.0], &[0.0]), 0.0);
        // With a ridge the loss is quadratic up to τ C: u²/τ, then linear.
        let machines = Machines::classification(&labels, &[2.0; 3], 1.0);
        assert!((machines.gap(&[0.0; 3], &[0.5, -1.0, 1.0], &[0.0]) - 0.25).abs() < 1e-15);
        let machines = Machines::regression(&[vec![1.0, -1.0]], &[3.0; 2], 0.25, 0.0);
        assert_eq!(machines.gap(&[0.0; 2], &[0.0; 2], &[0.0]), 9.0);
    }
}
