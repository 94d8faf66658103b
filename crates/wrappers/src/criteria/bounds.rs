//! The change of a bound on the leave-one-out error.

use fewest_core::{Context, Error, options};
use fewest_machines::{RadiusMargin, SpanBound};
use fewest_smo::{DualProblem, KernelRows, Loss, Machine, certificate};

use crate::elimination::JUDGED;
use crate::training::settled;
use crate::{EliminationCriterion, Round, Trained, TrainingTarget};

/// A bound on the leave-one-out error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// [`RadiusMargin`]: `4 R² Σ|β| + Σ ξ + n ε` for regression, `R² ‖ω‖²` for classes.
    RadiusMargin,
    /// [`SpanBound`]: `Σ |β_p| S_p² + Σ ξ`, and `+ n ε` for regression.
    Span,
}

options! {
    /// The change of a bound on the leave-one-out error without the feature (Rakotomamonjy 2003, for
    /// regression 2007; RMB and SpanB of Yang and Ong 2011, Section V):
    ///
    /// ```text
    /// score(j) = bound(K₍₋ⱼ₎) − bound(K)
    /// ```
    ///
    /// the feature without which the bound is smallest is removed. With `retrain` the machine is trained
    /// with `K₍₋ⱼ₎` (RMB-RFE*, SpanB-RFE* in the paper); otherwise its coefficients are kept and only the
    /// bound uses the other kernel (RMB-RFE, SpanB-RFE). The tables of the paper show that this is a poor
    /// criterion: it is here for comparison. Bounds of all pairs of classes are added. The last feature left
    /// has the score 0: without it there is no kernel.
    ///
    /// Cost per round: for each feature a smallest enclosing ball, or `O(m³)` for `m` free support vectors;
    /// and a training with `retrain`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct BoundChange {
        /// The bound.
        pub bound: Bound = Bound::RadiusMargin, hidden;
        /// Loss of the machines, `C ξ` or `C ξ²`; with squared, both bounds are those of the kernel
        /// `K + I/(2C)`, without slacks; left out, squared for the radius and the margin, linear for the
        /// span.
        ///
        /// The radius–margin bound of classes holds for squared losses only.
        pub loss: Option<Loss> = None;
        /// Whether a machine is trained without each feature in turn; otherwise the coefficients are kept.
        pub retrain: bool = false;
    }
}

impl BoundChange {
    /// With the losses of this bound; coefficients are kept.
    pub fn new(bound: Bound) -> Self {
        Self { bound, ..Self::default() }
    }

    fn own_loss(self) -> Loss {
        self.loss.unwrap_or(match self.bound {
            Bound::RadiusMargin => Loss::Squared,
            Bound::Span => Loss::Linear,
        })
    }

    fn of(
        self,
        round: &Round<'_>,
        kernel: &dyn KernelRows,
        machines: &[Trained],
        context: &Context<'_>,
    ) -> Result<f64, Error> {
        let loss = self.own_loss();
        let control = round.training.control(context);
        let mut machines = machines.iter();
        let mut sum = 0.0;
        round.training.each(kernel, round.truth, loss, |part| {
            context.go_on(JUDGED)?;
            let (Some(trained), problem) = (machines.next(), &part.problem) else { return Ok(()) };
            let machine = &settled(problem, &trained.machine, loss, round.training.c)?;
            sum += match self.bound {
                Bound::Span => SpanBound::new(problem, machine, &control, false)?.value,
                Bound::RadiusMargin => {
                    let bound = if trained.classes.is_some() {
                        let machine = with_norm(problem, machine)?;
                        RadiusMargin::of_classifier(problem, &machine, &control, false)?
                    } else {
                        RadiusMargin::of_regressor(problem, machine, &control, false)?
                    };
                    round.note_end(bound.ball.status);
                    bound.value
                }
            };
            Ok(())
        })?;
        Ok(sum)
    }
}

/// The machine with the objective `−½ βᵀK̃β`, half of minus the squared norm of its weights whatever the
/// kernel: at an optimum it is that already.
fn with_norm(problem: &DualProblem<'_>, machine: &Machine) -> Result<Machine, Error> {
    let coefficients = &machine.dual.solution.coefficients;
    let errors = certificate::errors(problem, coefficients)?;
    let outputs = problem.targets().iter().zip(&errors).map(|(target, error)| target - error);
    let norm: f64 = coefficients.iter().zip(outputs).map(|(value, output)| value * output).sum();
    let mut machine = machine.clone();
    machine.dual.solution.objective = -0.5 * norm;
    Ok(machine)
}

impl EliminationCriterion for BoundChange {
    fn name(&self) -> &'static str {
        match self.bound {
            Bound::RadiusMargin => "rmb-rfe",
            Bound::Span => "spanb-rfe",
        }
    }

    fn loss(&self, truth: &TrainingTarget) -> Result<Loss, Error> {
        match (self.bound, truth, self.own_loss()) {
            (Bound::RadiusMargin, TrainingTarget::Classes(_), loss @ Loss::Linear) => {
                let expected = "squared where the target is classes: their radius-margin bound needs it";
                Err(Error::parameter("loss", loss, expected))
            }
            (_, _, loss) => Ok(loss),
        }
    }

    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let n_features = round.n_features();
        if n_features == 1 {
            return Ok(vec![0.0]);
        }
        let whole = self.of(round, round.kernel, round.machines, context)?;
        let judge = |at: usize| -> Result<f64, Error> {
            let kernel = round.without(at);
            let bound = if self.retrain {
                let machines = round.retrained(&kernel, self.own_loss(), context)?;
                self.of(round, &kernel, &machines, context)?
            } else {
                self.of(round, &kernel, round.machines, context)?
            };
            Ok(bound - whole)
        };
        let changes = fewest_parallel::try_map(n_features, |at| {
            let judged = context.go_on(JUDGED).and_then(|()| judge(at));
            // Scores computed after the deadline come from unfinished machines.
            match judged.and_then(|change| context.go_on(JUDGED).map(|()| change)) {
                Err(Error::Stopped { .. }) => Ok(f64::NAN),
                change => change,
            }
        })?;
        round.whole(changes, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_losses_are_those_of_the_bound_unless_given() {
        for (bound, own) in [(Bound::RadiusMargin, Loss::Squared), (Bound::Span, Loss::Linear)] {
            let criterion = BoundChange { bound, ..BoundChange::default() };
            assert_eq!((criterion, criterion.own_loss()), (BoundChange::new(bound), own));
            let given = BoundChange { loss: Some(Loss::Squared), ..criterion };
            assert_eq!(given.own_loss(), Loss::Squared);
        }
    }
}
