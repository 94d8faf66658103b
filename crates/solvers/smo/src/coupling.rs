//! Probabilities of several classes from those of pairs (Wu, Lin and Weng 2004).

use fewest_core::derive_seed;
use fewest_solver::{Control, Error};
use nalgebra::{DMatrix, DVector};

use crate::{Classifier, KernelRows, Machine, Pairwise, PlattScaling, SubsetRows};

/// Probabilities of pairs are kept this far from 0 and 1, so that no class gets probability 0.
const MARGIN: f64 = 1e-7;

/// The probabilities `p` of the classes, given `r_ij = P(i | i or j, x)` for the pairs (0, 1), (0, 2), …, (1,
/// 2), …:
///
/// ```text
/// minimise over p   Σ_i Σ_{j ≠ i} (r_ji p_i − r_ij p_j)²   subject to   Σ p = 1
/// ```
///
/// the second method of Wu, Lin and Weng (2004), whose minimum has no negative entry and solves a linear
/// system of one equation per class, `Q p + b 1 = 0` with `Q_ii = Σ_j r_ji²` and `Q_ij = −r_ji r_ij`.
///
/// ```
/// use fewest_smo::couple;
/// // Three classes, probabilities that agree with each other.
/// let p = couple(&[0.5 / 0.8, 0.5 / 0.7, 0.3 / 0.5], 3)?;
/// assert!((p[0] - 0.5).abs() < 1e-12 && (p[1] - 0.3).abs() < 1e-12);
/// # Ok::<(), fewest_solver::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`] for fewer than two classes; [`Error::ShapeMismatch`] unless there is one for each pair;
/// [`Error::InvalidParameter`] for one that is not between 0 and 1.
pub fn couple(pairs: &[f64], n_classes: usize) -> Result<Vec<f64>, Error> {
    if n_classes < 2 {
        return Err(Error::TooFew { what: "classes", minimum: 2, found: n_classes });
    }
    let expected = n_classes * (n_classes - 1) / 2;
    if pairs.len() != expected {
        return Err(Error::ShapeMismatch { what: "probabilities of pairs", expected, found: pairs.len() });
    }
    if let Some(r) = pairs.iter().find(|r| !(0.0..=1.0).contains(*r)) {
        return Err(Error::parameter("pairs", r, "from 0 to 1"));
    }
    let mut system = DMatrix::from_element(n_classes + 1, n_classes + 1, 1.0);
    system.fill_diagonal(0.0);
    let mut r = pairs.iter().map(|r| r.clamp(MARGIN, 1.0 - MARGIN));
    for i in 0..n_classes {
        for j in i + 1..n_classes {
            let first = r.next().unwrap_or(0.5);
            let second = 1.0 - first;
            system[(i, i)] += second * second;
            system[(j, j)] += first * first;
            system[(i, j)] = -first * second;
            system[(j, i)] = -first * second;
        }
    }
    let mut right = DVector::zeros(n_classes + 1);
    right[n_classes] = 1.0;
    let Some(solved) = system.lu().solve(&right) else {
        let hint = "the probabilities of the pairs contradict each other".to_owned();
        return Err(Error::Numerical { what: "the coupling of probabilities", hint });
    };
    let p: Vec<f64> = solved.iter().take(n_classes).map(|p| p.max(0.0)).collect();
    let sum: f64 = p.iter().sum();
    Ok(p.into_iter().map(|p| p / sum).collect())
}

/// The cross-validation that gives the decision values for a [`PlattScaling`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calibration {
    /// Number of folds of each pair, with both classes spread evenly; at least 2. Default 5.
    pub folds: usize,
    /// The seed of the folds. Default 0.
    pub seed: u64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { folds: 5, seed: 0 }
    }
}

impl Pairwise {
    /// A sigmoid for each machine, from decisions of machines that were trained without the sample. Where a
    /// fold leaves only one class to train on, the decision is that class's side of 1. `codes` and `weights`
    /// are those of the training.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two folds; [`Error::ShapeMismatch`]; as
    /// [`train`](Self::train).
    pub fn calibrate(
        &self,
        learner: &Classifier,
        kernel: &dyn KernelRows,
        codes: &[u32],
        weights: &[f64],
        calibration: Calibration,
        control: &Control<'_>,
    ) -> Result<Vec<PlattScaling>, Error> {
        let Calibration { folds, seed } = calibration;
        if folds < 2 {
            return Err(Error::parameter("folds", folds, "at least 2"));
        }
        self.check_shapes(kernel, codes, weights)?;
        let mut scalings = Vec::with_capacity(self.machines.len());
        for (stream, pair) in self.machines.iter().enumerate() {
            let positive = |i: usize| codes[i] == pair.classes[0];
            let charged = |i: usize| weights.get(i).is_none_or(|weight| *weight > 0.0);
            let parts = dealt(&pair.samples, positive, folds, derive_seed(seed, stream as u64));
            let mut decisions = vec![0.0; pair.samples.len()];
            let mut whole = vec![0.0; kernel.len()];
            for part in 0..folds {
                let rest: Vec<usize> = (0..pair.samples.len()).filter(|&k| parts[k] != part).collect();
                let train: Vec<usize> = rest.iter().map(|&k| pair.samples[k]).collect();
                let labels: Vec<bool> = train.iter().map(|&i| positive(i)).collect();
                let has = |label: bool| train.iter().any(|&i| positive(i) == label && charged(i));
                let machine: Option<Machine> = if has(true) && has(false) {
                    let own: Vec<f64> = train.iter().filter_map(|&i| weights.get(i).copied()).collect();
                    let rows = SubsetRows::new(kernel, train.clone())?;
                    Some(learner.train(&rows, &labels, &own, control)?)
                } else {
                    None
                };
                let only = f64::from(u8::from(has(true))) - f64::from(u8::from(has(false)));
                for k in (0..pair.samples.len()).filter(|&k| parts[k] == part) {
                    decisions[k] = match &machine {
                        None => only,
                        Some(machine) => {
                            kernel.row(pair.samples[k], &mut whole);
                            let row: Vec<f64> = train.iter().map(|&i| whole[i]).collect();
                            machine.decision(&row)?
                        }
                    };
                }
            }
            let labels: Vec<bool> = pair.samples.iter().map(|&i| positive(i)).collect();
            scalings.push(PlattScaling::fit(&decisions, &labels)?);
        }
        Ok(scalings)
    }

    /// The probability of each class, given `k(x_i, x)` for every training sample and what
    /// [`calibrate`](Self::calibrate) gave.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; as [`couple`].
    pub fn probabilities(&self, scalings: &[PlattScaling], kernel_row: &[f64]) -> Result<Vec<f64>, Error> {
        if scalings.len() != self.machines.len() {
            let (expected, found) = (self.machines.len(), scalings.len());
            return Err(Error::ShapeMismatch { what: "Platt scalings", expected, found });
        }
        let decisions = self.decisions(kernel_row)?;
        let pairs: Vec<f64> = scalings.iter().zip(&decisions).map(|(s, f)| s.probability(*f)).collect();
        couple(&pairs, self.classes.len())
    }
}

/// The fold of each sample: shuffled, and dealt class after class.
fn dealt(samples: &[usize], positive: impl Fn(usize) -> bool, folds: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    for k in (1..order.len()).rev() {
        let other = derive_seed(seed, k as u64) % (k as u64 + 1);
        order.swap(k, other as usize);
    }
    let (first, second): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&k| !positive(samples[k]));
    let mut parts = vec![0; samples.len()];
    for (place, &k) in first.iter().chain(&second).enumerate() {
        parts[k] = place % folds;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coupled_probabilities_are_the_minimum() {
        let pairs = [0.9, 0.2, 1.0, 0.35, 0.0, 0.6];
        let r = |i: usize, j: usize| {
            let (a, b) = (i.min(j), i.max(j));
            let value: f64 = pairs[a * 4 - a * (a + 1) / 2 + b - a - 1];
            if i < j { value } else { 1.0 - value }
        };
        let value = |p: &[f64]| -> f64 {
            let term = |(i, j): (usize, usize)| (r(j, i) * p[i] - r(i, j) * p[j]).powi(2);
            (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).filter(|(i, j)| i != j).map(term).sum()
        };
        let p = couple(&pairs, 4).unwrap();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|p| *p >= 0.0));
        let least = value(&p);
        for i in 0..4 {
            for j in (0..4).filter(|&j| j != i && p[j] > 1e-3) {
                let mut other = p.clone();
                other[i] += 1e-3;
                other[j] -= 1e-3;
                assert!(value(&other) > least);
            }
        }
        // Two classes: the pair itself.
        assert!((couple(&[0.3], 2).unwrap()[0] - 0.3).abs() < 1e-12);
    }

    #[test]
    fn faults_are_named() {
        assert!(matches!(couple(&[], 1), Err(Error::TooFew { .. })));
        assert!(matches!(couple(&[0.5], 3), Err(Error::ShapeMismatch { expected: 3, .. })));
        for r in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(couple(&[r], 2), Err(Error::InvalidParameter { name: "pairs", .. })));
        }
        assert!(couple(&[0.0, 1.0, 0.0], 3).unwrap().iter().all(|p| p.is_finite()));
    }
}
