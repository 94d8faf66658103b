//! The logistic loss of several classes.

use fewest_core::order;

use super::{LONGEST_STEP, Loss, Samples};
use crate::Error;

/// `ℓ(Z) = Σᵢ shareᵢ [ln Σₖ exp(zᵢₖ) − z of the sample's class]`, one output a class (softmax).
///
/// With the probabilities `p` and the class indicators `e`, `Θᵢ = shareᵢ (eᵢ − pᵢ)`, and `ℓ*(−Θ)` is the
/// sum of `shareᵢ Σₖ qᵢₖ ln qᵢₖ` where `qᵢ = eᵢ − Θᵢ / shareᵢ` is a distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Multinomial {
    classes: Vec<usize>,
    n_classes: usize,
    samples: Samples,
}

impl Multinomial {
    /// The loss of samples of the classes `classes`, numbers below `n_classes`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for another class, [`Error::TooFew`] classes with a sample that counts,
    /// [`Error::ShapeMismatch`] unless `samples` are as many.
    pub fn new(classes: Vec<usize>, n_classes: usize, samples: Samples) -> Result<Self, Error> {
        if samples.len() != classes.len() {
            let (expected, found) = (samples.len(), classes.len());
            return Err(Error::ShapeMismatch { what: "classes", expected, found });
        }
        if let Some(class) = classes.iter().find(|class| **class >= n_classes) {
            return Err(Error::parameter("class", class, format!("below {n_classes}")));
        }
        // Nothing is as large as `n_classes` before it is known to be at most the number of samples.
        let mut occurring: Vec<usize> =
            (0..classes.len()).filter(|&i| samples.share(i) > 0.0).map(|i| classes[i]).collect();
        order::sort_indices(&mut occurring);
        occurring.dedup();
        let found = occurring.len();
        if found < n_classes.max(2) {
            return Err(Error::TooFew { what: "classes with a sample", minimum: n_classes.max(2), found });
        }
        samples.check_outputs(classes.len().saturating_mul(n_classes))?;
        Ok(Self { classes, n_classes, samples })
    }

    /// `visit(i, share, log-probabilities)` for every sample that counts.
    fn each(&self, fitted: &[f64], mut visit: impl FnMut(usize, f64, &[f64])) {
        let n = self.classes.len();
        let mut logs = vec![0.0; self.n_classes];
        for i in (0..n).filter(|&i| self.samples.share(i) > 0.0) {
            for (k, log) in logs.iter_mut().enumerate() {
                let at = i + k * n;
                *log = fitted[at] + self.samples.offset(at);
            }
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
            let total = largest + sum.ln();
            logs.iter_mut().for_each(|log| *log -= total);
            visit(i, self.samples.share(i), &logs);
        }
    }
}

impl Loss for Multinomial {
    fn n_samples(&self) -> usize {
        self.classes.len()
    }

    fn n_outputs(&self) -> usize {
        self.n_classes
    }

    fn value(&self, fitted: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.each(fitted, |i, share, logs| sum -= share * logs[self.classes[i]]);
        sum
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        let n = self.classes.len();
        out.fill(0.0);
        self.each(fitted, |i, share, logs| {
            let mut others = 0.0;
            for (k, log) in logs.iter().enumerate().filter(|&(k, _)| k != self.classes[i]) {
                out[i + k * n] = -share * log.exp();
                others += log.exp();
            }
            // `1 − p` of the own class, without cancellation.
            out[i + self.classes[i] * n] = share * others;
        });
    }

    /// `diag(p) − ppᵀ`, and on the diagonal a share of `|Θ|`.
    fn curvature(&self, fitted: &[f64], out: &mut [f64]) {
        let (n, c) = (self.classes.len(), self.n_classes);
        // 0 for samples that do not count. The samples of a pair of classes follow each other in memory.
        let (mut p, mut own) = (vec![0.0; n * c], vec![0.0; n * c]);
        let shares: Vec<f64> = (0..n).map(|i| self.samples.share(i)).collect();
        self.each(fitted, |i, share, logs| {
            for (k, log) in logs.iter().enumerate() {
                let others = -log.exp_m1();
                p[i + n * k] = log.exp();
                let theta = if k == self.classes[i] { others } else { log.exp() };
                own[i + n * k] = share * (log.exp() * others + theta / LONGEST_STEP);
            }
        });
        for (at, out) in out.chunks_exact_mut(n).enumerate() {
            let (k, l) = (at % c, at / c);
            if k == l {
                out.copy_from_slice(&own[n * k..n * (k + 1)]);
                continue;
            }
            let (left, right) = (&p[n * k..n * (k + 1)], &p[n * l..n * (l + 1)]);
            for (((out, share), left), right) in out.iter_mut().zip(&shares).zip(left).zip(right) {
                *out = -share * (left * right);
            }
        }
    }

    /// The logarithms of the shares of the classes, less their mean, unless there are offsets.
    fn best_intercepts(&self) -> Option<Vec<f64>> {
        if self.samples.have_offsets() {
            return None;
        }
        let mut shares = vec![0.0; self.n_classes];
        self.classes.iter().enumerate().for_each(|(i, &class)| shares[class] += self.samples.share(i));
        let logs: Vec<f64> = shares.iter().map(|share: &f64| share.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        Some(logs.iter().map(|log| log - mean).collect())
    }

    /// Mixes every sample's distribution with one that is the same for all.
    fn balance(&self, dual: &mut [f64]) {
        let n = self.classes.len();
        let total = self.samples.total();
        // The probability of each class that the distributions have on average, and its excess.
        let mut mean = vec![0.0; self.n_classes];
        let mut excess = vec![0.0; self.n_classes];
        for (k, dual) in dual.chunks_exact(n).enumerate() {
            excess[k] = -dual.iter().sum::<f64>() / total;
            let own = (0..n).filter(|&i| self.classes[i] == k).map(|i| self.samples.share(i)).sum::<f64>();
            mean[k] = own / total + excess[k];
        }
        // The mean of a class without an excess may be rounding, of either sign; it sets no bound.
        let above = excess.iter().zip(&mean).filter(|(excess, _)| **excess > 0.0);
        let share = above.map(|(excess, mean)| excess / mean).fold(0.0, f64::max);
        if share == 0.0 {
            return;
        }
        if share >= 1.0 {
            // All of a class that hardly counts: no mixture balances it, and zero is always feasible.
            dual.fill(0.0);
            return;
        }
        let common: Vec<f64> = mean.iter().zip(&excess).map(|(m, e)| m - e / share).collect();
        for (k, dual) in dual.chunks_exact_mut(n).enumerate() {
            for (i, value) in dual.iter_mut().enumerate() {
                let own = if self.classes[i] == k { 1.0 } else { 0.0 };
                *value = (1.0 - share) * *value + share * self.samples.share(i) * (own - common[k]);
            }
        }
    }

    /// The Kullback-Leibler divergences of the distributions of the dual point from those fitted.
    fn loss_gap(&self, fitted: &[f64], dual: &[f64], scale: f64) -> f64 {
        let n = self.classes.len();
        let mut sum = 0.0;
        self.each(fitted, |i, share, logs| {
            let mut divergence = 0.0;
            for (k, log) in logs.iter().enumerate() {
                let own = if self.classes[i] == k { 1.0 } else { 0.0 };
                let q = own - scale * dual[i + k * n] / share;
                // Each of these is at least 0, and the sums of q and p are both 1.
                divergence += log.exp() - q + if q > 0.0 { q * (q.ln() - log) } else { 0.0 };
            }
            sum += share * divergence.max(0.0);
        });
        sum
    }
}
