//! The change of the dependence on the target.

use fewest_core::method::Options;
use fewest_core::{Context, Error};
use fewest_kernels::{Gaussian, Gram, NormalisedDelta};

use super::pairs;
use crate::table::standardised;
use crate::{EliminationCriterion, Round, TrainingTarget};

/// The change of the Hilbert-Schmidt independence criterion without the feature (Song, Smola, Gretton, Bedo
/// and Borgwardt 2007; HSIC of Yang and Ong 2011, Section V):
///
/// ```text
/// score(j) = tr(K L̄) − tr(K₍₋ⱼ₎ L̄),   L̄ = HLH
/// ```
///
/// with `K` the kernel over all features left, its `γ` as for the other criteria, and `L` the kernel of the
/// target: `exp(−(y − y′)²/2)` on the standardised target, or `1/n_y` for two samples of a class of `n_y`. It
/// trains no machine. Unlike BAHSIC, it keeps `γ` fixed while features are removed.
///
/// Cost per round: `d n²` exponentials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HsicChange;

impl Options for HsicChange {}

impl EliminationCriterion for HsicChange {
    fn name(&self) -> &'static str {
        "hsic-rfe"
    }

    fn needs_machines(&self) -> bool {
        false
    }

    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let n = round.n_samples();
        let gram = match round.truth {
            TrainingTarget::Real(values) => {
                let values = standardised(values.clone(), n).unwrap_or_else(|| vec![0.0; n]);
                Gram::new(&Gaussian::new(1.0)?, &values)
            }
            TrainingTarget::Classes(codes) => {
                let codes: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
                Gram::new(&NormalisedDelta::from_points(&codes), &codes)
            }
        };
        let centred = gram.centre();
        let samples: Vec<usize> = (0..n).collect();
        pairs::changes(round, &samples, |i, l| centred.get(i, l), context)
    }
}
