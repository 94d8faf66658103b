//! The change of the norm of the weights.

use fewest_core::method::Options;
use fewest_core::{Context, Error};

use super::pairs;
use crate::kernel::KernelMatrix;
use crate::{EliminationCriterion, Round};

/// The change of `‖ω‖²` without the feature (Guyon, Weston, Barnhill and Vapnik 2002; for other kernels and
/// regression Rakotomamonjy 2003 and 2007; Δ‖ω‖² of Yang and Ong 2011, Section V):
///
/// ```text
/// score(j) = | βᵀKβ − βᵀK₍₋ⱼ₎β |
/// ```
///
/// with the coefficients `β` of the machine as trained and `K₍₋ⱼ₎` the kernel without feature `j`; summed
/// over the machines of all pairs of classes. With the linear kernel it is `w_j²`, and the elimination is the
/// classical SVM-RFE; a category counts with the squared weights of all its levels.
///
/// Cost per round in addition to training: `O(n d)` for the linear kernel, `d m²` exponentials with
/// `m` support vectors for the Gaussian.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NormChange;

impl Options for NormChange {}

impl EliminationCriterion for NormChange {
    fn name(&self) -> &'static str {
        "dw-rfe"
    }

    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let mut sums = vec![0.0; round.n_features()];
        for (k, machine) in round.machines.iter().enumerate() {
            let (support, coefficients) = machine.support();
            let changes: Vec<f64> = match round.kernel {
                KernelMatrix::Linear { .. } => {
                    let weight = |values: &[f64]| -> f64 {
                        support.iter().zip(&coefficients).map(|(&s, c)| c * values[s]).sum()
                    };
                    let squares = |at| round.coordinates(at).map(|values| weight(values).powi(2)).sum();
                    (0..round.n_features()).map(squares).collect()
                }
                KernelMatrix::Gaussian { .. } => {
                    let column = |l: usize, out: &mut [f64]| {
                        out.iter_mut().zip(&coefficients).for_each(|(w, c)| *w = c * coefficients[l]);
                    };
                    match pairs::changes(round, &support, &column, context) {
                        Err(Error::Stopped { .. }) if k > 0 => return Err(round.stopped_with(sums)),
                        changes => changes?,
                    }
                }
            };
            if k > 0 && changes.iter().any(|change| change.is_nan()) && context.stopped().is_some() {
                // The machines before have judged all features.
                return Err(round.stopped_with(sums));
            }
            sums.iter_mut().zip(changes).for_each(|(sum, change)| *sum += change.abs());
        }
        round.whole(sums, context)
    }
}
