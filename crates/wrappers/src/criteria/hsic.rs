//! The change of the dependence on the target.

use fewest_core::method::Options;
use fewest_core::{Context, Error};
use fewest_kernels::{Gaussian, NormalisedDelta, ScalarKernel};

use super::pairs;
use crate::elimination::go_on_in_row;
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
        let (kernel, points): (Box<dyn ScalarKernel>, Vec<f64>) = match round.truth {
            TrainingTarget::Real(values) => {
                let values = standardised(values.clone(), n).unwrap_or_else(|| vec![0.0; n]);
                (Box::new(Gaussian::new(1.0)?), values)
            }
            TrainingTarget::Classes(codes) => {
                let codes: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
                (Box::new(NormalisedDelta::from_points(&codes)), codes)
            }
        };
        // L is not stored: it would be as large as all distances.
        let mean_of_row = |row: &mut Vec<f64>, i: usize| {
            go_on_in_row(n, context)?;
            row.resize(n, 0.0);
            kernel.eval_many(points[i], &points, row);
            Ok(row.iter().sum::<f64>() / n as f64)
        };
        let means = fewest_parallel::map_with(n, mean_of_row);
        let means = means.into_iter().collect::<Result<Vec<f64>, Error>>()?;
        let mean = means.iter().sum::<f64>() / n as f64;
        let column = |l: usize, out: &mut [f64]| {
            kernel.eval_many(points[l], &points[..out.len()], out);
            out.iter_mut().zip(&means).for_each(|(value, own)| *value += mean - own - means[l]);
        };
        let samples: Vec<usize> = (0..n).collect();
        round.whole(pairs::changes(round, &samples, &column, context)?, context)
    }
}
