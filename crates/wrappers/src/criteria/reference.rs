//! The sensitivity that permutation approximates.

use fewest_core::{Context, Error};
use fewest_smo::{KernelRows, Loss};

use super::divergence::Predictions;
use crate::elimination::JUDGED;
use crate::{EliminationCriterion, Round, SensitivityNoise};

/// The sensitivity `S_D` of Yang and Ong (2011), Eq. (12), with machines trained without each feature in
/// turn; [`Sensitivity`](crate::Sensitivity) approximates it by permuting (Theorem 1). With `f` the output
/// of the machine of all remaining features and `g` that of the machine without feature `j`, the score is
/// that of [`SensitivityNoise`].
///
/// It trains `d` machines per round: it is a slow reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The measure of differences.
    pub noise: SensitivityNoise,
}

impl EliminationCriterion for Reference {
    fn name(&self) -> &'static str {
        "sd-retrained"
    }

    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let mut row = vec![0.0; round.n_samples()];
        let mut models = Vec::with_capacity(round.machines.len());
        for machine in round.machines {
            let mut outputs = Vec::with_capacity(machine.samples.len());
            for &i in &machine.samples {
                round.kernel_row(i, &mut row);
                outputs.push(machine.output(&row));
            }
            models.push(Predictions::new(self.noise, machine, outputs)?);
        }
        let mut importances = Vec::with_capacity(round.n_features());
        for at in 0..round.n_features() {
            context.go_on(JUDGED)?;
            let kernel = round.without(at);
            let machines = round.retrained(&kernel, Loss::Linear, context)?;
            let mut sum = 0.0;
            for (model, machine) in models.iter().zip(&machines) {
                let mut outputs = Vec::with_capacity(machine.samples.len());
                for &i in &machine.samples {
                    kernel.row(i, &mut row);
                    outputs.push(machine.output(&row));
                }
                sum += model.score(&outputs)?;
            }
            importances.push(sum);
        }
        Ok(importances)
    }
}
