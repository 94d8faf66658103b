//! Projected Newton steps for the kernel weights (Bertsekas 1982).

use fewest_solver::Datafit;
use nalgebra::{DMatrix, DVector};

use super::weights::Restricted;
use fewest_linalg::projected;

/// Share of the decrease that the slope promises which a step must keep (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;

/// Halvings of a step at most.
const HALVINGS: usize = 30;

/// What is added to the diagonal of the Hessian, relative to its mean, and its bounds: raised where steps are
/// cut, lowered where they are not.
const DAMPING: f64 = 1e-8;
const LEAST_DAMPING: f64 = 1e-12;
const MOST_DAMPING: f64 = 1e2;

/// The Hessian is singular wherever there are more weights than samples: then steps along what it maps to
/// zero are the slope over the damping, long, and end where weights become zero.
pub(super) struct Newton {
    damping: f64,
}

impl Default for Newton {
    fn default() -> Self {
        Self { damping: DAMPING }
    }
}

impl Newton {
    /// Steps from `d` until the projected gradient is at most `allowed`, no step decreases it, or `most`
    /// are taken; `go_on` is asked after each. The objective never rises.
    pub(super) fn descend(
        &mut self,
        problem: &Restricted<'_>,
        d: &mut Vec<f64>,
        allowed: f64,
        most: usize,
        go_on: impl Fn(&[f64]) -> bool,
    ) {
        let mut gradient = vec![0.0; d.len()];
        for _ in 0..most {
            let value = problem.gradient(d, &mut gradient);
            if projected(d, &gradient) <= allowed {
                return;
            }
            let free: Vec<usize> = (0..d.len()).filter(|&a| d[a] > 0.0 || gradient[a] < 0.0).collect();
            let Some(step) = self.step(&problem.responses(&free, d), &free, &gradient) else { return };
            let mut share = 1.0;
            let mut taken = None;
            for halvings in 0..HALVINGS {
                let mut trial = d.clone();
                for (&a, step) in free.iter().zip(step.iter()) {
                    trial[a] = (d[a] + share * step).max(0.0);
                }
                let promised: f64 = free.iter().map(|&a| gradient[a] * (d[a] - trial[a])).sum();
                if promised > 0.0 && value - problem.value(&trial) >= SUFFICIENT * promised {
                    taken = Some((trial, halvings));
                    break;
                }
                share *= 0.5;
            }
            match taken {
                Some((trial, halvings)) => {
                    let factor = if halvings == 0 {
                        0.1
                    } else if halvings > 3 {
                        10.0
                    } else {
                        1.0
                    };
                    self.damping = (self.damping * factor).clamp(LEAST_DAMPING, MOST_DAMPING);
                    *d = trial;
                }
                None if self.damping < MOST_DAMPING => {
                    self.damping = (self.damping * 1e3).clamp(LEAST_DAMPING, MOST_DAMPING);
                }
                None => return,
            }
            if !go_on(d) {
                return;
            }
        }
    }

    /// `−(2AᵀA + μI)⁻¹ g` for the `free` weights, `A` their responses where samples pull, by the smaller of
    /// both sides.
    fn step(&self, responses: &DMatrix<f64>, free: &[usize], gradient: &[f64]) -> Option<DVector<f64>> {
        let slope = DVector::from_iterator(free.len(), free.iter().map(|&a| -gradient[a]));
        let mean = 2.0 * responses.norm_squared() / free.len().max(1) as f64;
        let damping = self.damping * if mean > 0.0 { mean } else { 1.0 };
        if free.len() <= responses.nrows() {
            let mut hessian = 2.0 * responses.tr_mul(responses);
            for a in 0..free.len() {
                hessian[(a, a)] += damping;
            }
            return Some(fewest_linalg::cholesky(hessian)?.solve(&slope));
        }
        let mut small = responses * responses.transpose();
        for i in 0..responses.nrows() {
            small[(i, i)] += 0.5 * damping;
        }
        let inner = fewest_linalg::cholesky(small)?.solve(&(responses * &slope));
        Some((slope - responses.tr_mul(&inner)) / damping)
    }
}
