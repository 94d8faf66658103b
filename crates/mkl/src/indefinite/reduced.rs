//! Newton steps on weights and machines together.
//!
//! Where all eigenvalues of `K` are above `−λ₁`, the objective at the stationary machines is the maximum of
//! `2 rᵀt − rᵀr − rᵀKr/λ₁` over the half gradients `r`, linear in the weights for each `r`: a convex function
//! of the weights, with the slopes `λ₂ − λ₁ βᵀK_mβ`. The alternation nears its minimum slowly, since each of
//! its steps holds one half fixed.

use fewest_core::{Context, Error};
use fewest_linalg::dot;
use nalgebra::{DMatrix, DVector};

use super::fit::Fitted;
use super::machine::{FixedKernel, Machine};
use super::matrix::Power;
use super::objective::{Objective, Point, Responses};

/// Share of the decrease that the slope promises which a step must keep (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;

/// What is added to the diagonal of the Hessian, relative to its mean, one after the other until a step
/// decreases the objective.
const DAMPING: [f64; 3] = [1e-10, 1e-5, 1e-2];

/// Halvings of a step at most, each of which fits the machines.
const HALVINGS: usize = 6;

/// Weights that fall and are at most this share of the largest go straight to zero, one share after the other
/// until a step decreases the objective: where a Newton step of all weights takes many of them below zero,
/// what is left of it need not descend.
const SMALL: [f64; 3] = [0.0, 1e-3, 1e-1];

/// Where a Newton step leads.
pub(super) struct Reached {
    pub(super) point: Point,
    pub(super) responses: Responses,
    pub(super) value: f64,
    pub(super) convex_gap: f64,
}

impl Objective<'_> {
    /// A projected Newton step (Bertsekas 1982) from `point`, with what its machines make of `members` and
    /// the objective there; `None` where the machines are not the stationary ones, no step decreases the
    /// objective, or time is over.
    ///
    /// # Errors
    /// As the parts of it, except [`Error::Stopped`].
    pub(super) fn newton_step(
        &self,
        point: &Point,
        members: &[usize],
        responses: &Responses,
        value: f64,
        context: &Context<'_>,
    ) -> Result<Option<Reached>, Error> {
        // The point stands whatever becomes of the step.
        match self.whole_newton_step(point, members, responses, value, context) {
            Err(Error::Stopped { .. }) => Ok(None),
            found => found,
        }
    }

    /// [`newton_step`](Self::newton_step), which ends in an [`Error::Stopped`] where time is over in a part.
    fn whole_newton_step(
        &self,
        point: &Point,
        members: &[usize],
        responses: &Responses,
        value: f64,
        context: &Context<'_>,
    ) -> Result<Option<Reached>, Error> {
        let weights: Vec<f64> = members.iter().map(|&m| point.weights[m]).collect();
        let gradient = responses.problem(self.loss).gradient(&weights);
        let most = weights.iter().copied().fold(0.0, f64::max);
        for small in SMALL {
            let stays = |a: usize| weights[a] > small * most || gradient[a] < 0.0;
            let (free, falling): (Vec<usize>, Vec<usize>) = (0..members.len())
                .filter(|&a| weights[a] > 0.0 || gradient[a] < 0.0)
                .partition(|&a| stays(a));
            if small > 0.0 && falling.is_empty() {
                continue;
            }
            let Some(hessian) = self.hessian(point, &weights, responses, &free, context)? else {
                return Ok(None);
            };
            let mean = hessian.trace() / free.len().max(1) as f64;
            let slope = DVector::from_iterator(free.len(), free.iter().map(|&a| -gradient[a]));
            for damping in DAMPING {
                let mut damped = hessian.clone();
                for a in 0..free.len() {
                    damped[(a, a)] += damping * mean;
                }
                let Some(newton) = fewest_linalg::cholesky(damped).map(|factor| factor.solve(&slope)) else {
                    continue;
                };
                let newton = free.iter().zip(newton.iter()).map(|(&a, step)| (a, *step));
                let step: Vec<(usize, f64)> =
                    newton.chain(falling.iter().map(|&a| (a, -weights[a]))).collect();
                let found = self.along(point, members, (&weights, &gradient), &step, value, context)?;
                if found.is_some() || context.stopped().is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// The point on the way along `step`, entries of `members` with what is added to them, whose objective is
    /// below `value` by as much as its slope promises; `None` where there is none.
    fn along(
        &self,
        point: &Point,
        members: &[usize],
        (weights, gradient): (&[f64], &[f64]),
        step: &[(usize, f64)],
        value: f64,
        context: &Context<'_>,
    ) -> Result<Option<Reached>, Error> {
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let mut trial = weights.to_vec();
            for &(a, step) in step {
                trial[a] = (weights[a] + share * step).max(0.0);
            }
            let promised: f64 = step.iter().map(|&(a, _)| gradient[a] * (weights[a] - trial[a])).sum();
            let mut all = point.weights.clone();
            for (&m, weight) in members.iter().zip(&trial) {
                all[m] = *weight;
            }
            if promised > 0.0
                && let Some(fitted) = self.stationary(&point.machines, &all, context)?
            {
                let responses = self.responses(&fitted.machines, members, context)?;
                let reached = responses.problem(self.loss).value(&trial);
                if value - reached >= SUFFICIENT * promised {
                    let Fitted { machines, violation, convex_gap, .. } = fitted;
                    let point = Point { weights: all, machines, machine_violation: violation };
                    return Ok(Some(Reached { point, responses, value: reached, convex_gap }));
                }
            }
            if context.stopped().is_some() {
                return Ok(None);
            }
            share *= 0.5;
        }
        Ok(None)
    }

    /// The stationary machines with these weights; `None` where some kernel has none.
    fn stationary(
        &self,
        start: &[Machine],
        weights: &[f64],
        context: &Context<'_>,
    ) -> Result<Option<Fitted>, Error> {
        let fitted = fewest_parallel::try_map(self.tasks.len(), |at| {
            let task = &self.tasks[at];
            let matrix = self.atoms.combine(weights, &task.rows, context)?;
            let problem = FixedKernel::new(&matrix, &task.y, self.loss, self.lambda1, context);
            let Some(mut machine) = problem.stationary(&start[at]) else {
                return Ok::<_, Error>(None);
            };
            self.complete(task, &matrix, &mut machine, context)?;
            let violation = self.machine_violation(task, &matrix, &machine);
            Ok(Some((machine, violation, problem.certificate())))
        })?;
        let mut all = Fitted { machines: Vec::new(), violation: 0.0, convex_gap: 0.0, convex_problems: 0 };
        for fitted in fitted {
            let Some((machine, violation, gap)) = fitted else { return Ok(None) };
            all.machines.push(machine);
            all.violation = all.violation.max(violation);
            all.convex_gap = all.convex_gap.max(gap);
        }
        Ok(Some(all))
    }

    /// `2λ₁ Σ_t AᵀPA` over the weights `free`, with `A` the columns `K_mβ` where samples pull and `P` what a
    /// change there makes of `β`: the inverse of `K + λ₁I` on these samples, bordered by `Σβ = 0`. `None`
    /// where some eigenvalue of `K` is not above `−λ₁`.
    fn hessian(
        &self,
        point: &Point,
        weights: &[f64],
        responses: &Responses,
        free: &[usize],
        context: &Context<'_>,
    ) -> Result<Option<DMatrix<f64>>, Error> {
        let problem = responses.problem(self.loss);
        let half_gradients = problem.half_gradients(&problem.decisions(weights));
        let mut hessian = DMatrix::zeros(free.len(), free.len());
        let mut offset = 0;
        for task in self.tasks {
            let matrix = self.atoms.combine(&point.weights, &task.rows, context)?;
            if !matrix.exceeds(-self.lambda1, context) {
                return Ok(None);
            }
            let own = &half_gradients[offset..offset + task.rows.len()];
            let pulled: Vec<usize> = (0..own.len()).filter(|&i| own[i] != 0.0).collect();
            let start = offset;
            offset += task.rows.len();
            if pulled.is_empty() {
                continue;
            }
            let columns: Vec<Vec<f64>> = free
                .iter()
                .map(|&a| pulled.iter().map(|&i| problem.column(a)[start + i]).collect())
                .collect();
            let system = matrix.system(pulled, Power::First, self.lambda1, context)?;
            let ones = system.solve(&vec![1.0; system.rows().len()])?;
            let total: f64 = ones.iter().sum();
            let rows = fewest_parallel::try_map(columns.len(), |a| {
                let mut image = system.solve(&columns[a])?;
                let share = image.iter().sum::<f64>() / total;
                image.iter_mut().zip(&ones).for_each(|(image, one)| *image -= share * one);
                Ok::<_, Error>(columns.iter().map(|column| 2.0 * dot(column, &image)).collect::<Vec<_>>())
            })?;
            for (mut column, row) in hessian.column_iter_mut().zip(rows) {
                column += DVector::from_vec(row);
            }
        }
        Ok(Some(0.5 * (&hessian + hessian.transpose())))
    }
}
