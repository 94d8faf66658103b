//! Feature selection by a concave penalty.

use fewest_core::method::{Options, Regularization};
use fewest_core::{Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, options};

use super::design::Design;
use super::problems::{Binary, Multiclass, combined, feature_scores, select, two_classes};
use super::program::{Program, SOLVER};

/// Most linear programs solved one after the other.
const MOST_ROUNDS: usize = 100;

/// The objective must decrease by this share of what it is at zero for another linear program.
const LEAST_DECREASE: f64 = 1e-9;

/// The smallest slope of the concave penalty as a share of that at zero: smaller ones would make the linear
/// program as good as unbounded in its dual conditions.
const SMALLEST_SLOPE: f64 = 1e-8;

options! {
    /// FSV: feature selection via concave minimisation (Bradley and Mangasarian 1998, problem (9) and
    /// Algorithm 2.1):
    ///
    /// ```text
    /// minimise over w, b  (1 − λ) (1/m Σ_{i: y_i = 1} ξ_i + 1/l Σ_{i: y_i = −1} ξ_i)
    ///                          + λ Σ_k (1 − exp(−α |w_k|)),      score(k) = w_k
    /// ```
    ///
    /// with `ξ_i = max(0, 1 − y_i (⟨w, x_i⟩ + b))`, `m` and `l` the numbers of samples of either class: the
    /// second sum nearly counts the weights that are not 0. It is concave in `|w|`; replaced by its
    /// linearisation at the current `w`, `λ α exp(−α |w_k|)` for each unit of `|w_k|`, it leaves a linear
    /// program, whose solution is the next `w`. The objective decreases with every program and the steps
    /// end, at a stationary point, when it no longer does. The first program is that of `w = 0`, where all
    /// slopes are `λ α`: an l1-SVM.
    ///
    /// On standardised features. With more classes there is a machine for each ([`Multiclass`]), and the
    /// score is `√Σ w_k²` over them; so it is over the level indicators of a category of more than two
    /// levels. How many features there are follows from `λ`; features are ranked by `|score|`, those with a
    /// weight of 0 are never selected.
    ///
    /// Cost: a few linear programs (2 to 10), each by an interior point method over few columns, to which
    /// columns are added until the dual conditions of all hold: `n d` for each pass over all columns. The
    /// report's gap is that of the last program: the larger of its relative duality gap and the violation of
    /// a dual condition.
    ///
    /// # Errors
    /// As [`L1Svm`](crate::L1Svm).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::Fsv;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.1, 0.3, 0.2, 0.1], vec![-2.0, -1.0, 1.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = Fsv::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Fsv {
        /// The penalty `λ`; errors have the weight `1 − λ`.
        pub regularization: Regularization = Regularization::Value(0.05), offers(ValueBelowOne);
        /// α: how fast the penalty of a weight saturates.
        ///
        /// The default is that of the paper.
        pub alpha: f64 = 5.0, Positive;
        /// Relative duality gap to reach by each linear program.
        pub tolerance: f64 = 1e-8, Positive;
        /// More than two classes: a machine for each class, or for each pair of classes.
        pub multiclass: Multiclass = Multiclass::OneVsRest;
    }
}

impl Fsv {
    /// The weights of one machine.
    fn machine(
        &self,
        samples: &Design,
        problem: &Binary,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, SolverReport), Error> {
        let lambda = self.regularization.lambda(None)?;
        let n = problem.positive.len() as f64;
        let positive = problem.positive.iter().filter(|positive| **positive).count() as f64;
        let cost = |&label: &bool| (1.0 - lambda) / if label { positive } else { n - positive };
        let costs: Vec<f64> = problem.positive.iter().map(cost).collect();
        let labels = problem.labels();
        let program = Program { design: samples, labels: &labels, costs: &costs };
        let slope = |w: &f64| lambda * self.alpha * (-self.alpha * w.abs()).exp().max(SMALLEST_SLOPE);
        let mut weights = vec![0.0; fewest_solver::LinearOperator::n_columns(samples)];
        let mut report: Option<SolverReport> = None;
        let mut iterations = 0;
        for _ in 0..MOST_ROUNDS {
            let penalties: Vec<f64> = weights.iter().map(slope).collect();
            let start: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
            let found = match (program.minimise(&penalties, &start, self.tolerance, context), &mut report) {
                // Stopped before the next program: the last one stands.
                (Err(Error::Stopped { .. }), Some(report)) => {
                    report.status = context.stopped().unwrap_or(report.status);
                    break;
                }
                (found, _) => found?,
            };
            let concave: f64 = found.weights.iter().map(|w| -(-self.alpha * w.abs()).exp_m1()).sum();
            let objective = found.loss + lambda * concave;
            iterations += found.iterations;
            let before = report.as_ref().map_or(f64::INFINITY, |report| report.objective);
            let outside = found.status.is_stopped();
            if objective < before {
                weights = found.weights;
                report = Some(
                    SolverReport::new(SOLVER, found.status, objective, Certificate::gap(found.gap))
                        .with_lambda(lambda)
                        .with_iterations(iterations),
                );
            } else if outside && let Some(report) = &mut report {
                report.status = found.status;
            }
            // At zero the objective is at most 2 (1 − λ).
            if outside || before - objective <= 2.0 * LEAST_DECREASE {
                break;
            }
        }
        let report = report.ok_or(Error::Stopped { before: "the first linear program was solved" })?;
        Ok((weights, report.with_iterations(iterations)))
    }
}

impl Selector for Fsv {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "fsv";
        self.check()?;
        let (problems, design) = two_classes(data, budget, METHOD, self.multiclass, context)?;
        let machines = fewest_parallel::try_map(problems.len(), |at| {
            let samples = problems[at].samples(&design);
            self.machine(samples.as_ref().unwrap_or(&design), &problems[at], context)
        })?;
        let (mut weights, mut reports) = (Vec::new(), Vec::new());
        for machine in machines {
            let (w, report) = machine;
            weights.push(w);
            reports.push(report);
        }
        let report =
            combined(reports).ok_or(Error::Stopped { before: "the first linear program was solved" })?;
        Ok(select(&feature_scores(&design, &weights), budget, report))
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};
    use fewest_solver::LinearOperator;

    use super::*;

    /// At a stationary point the linear program of its own linearisation has no better solution than the
    /// point itself.
    #[test]
    fn the_steps_end_where_the_linear_program_gains_nothing() -> Result<(), Error> {
        let n = 60;
        let wave = |step: usize| (0..n).map(|i| ((i * step) % 61) as f64 / 30.0 - 1.0).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = [1, 7, 12, 18, 23, 29].into_iter().map(wave).collect();
        let labels: Vec<bool> = (0..n).map(|i| columns[0][i] - 0.6 * columns[3][i] > 0.2).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
        let context = Context::default();
        let design = Design::new(&data, "fsv", &context)?;
        let problem = Binary { rows: None, positive: labels };
        for lambda in [0.01, 0.05, 0.3] {
            let method = Fsv { regularization: Regularization::Value(lambda), ..Fsv::default() };
            let (weights, report) = method.machine(&design, &problem, &context)?;
            let y = problem.labels();
            let positive = problem.positive.iter().filter(|positive| **positive).count() as f64;
            let costs: Vec<f64> = problem
                .positive
                .iter()
                .map(|&label| (1.0 - lambda) / if label { positive } else { n as f64 - positive })
                .collect();
            let penalties: Vec<f64> = weights.iter().map(|w| lambda * 5.0 * (-5.0 * w.abs()).exp()).collect();
            let linear = |w: &[f64], loss: f64| -> f64 {
                loss + w.iter().zip(&penalties).map(|(w, c)| c * w.abs()).sum::<f64>()
            };
            let concave: f64 = weights.iter().map(|w| 1.0 - (-5.0 * w.abs()).exp()).sum();
            let loss = report.objective - lambda * concave;
            // The loss, from the definition, with the bias tried at every breakpoint.
            let mut fitted = vec![0.0; n];
            design.apply(&weights, &mut fitted);
            let with =
                |b: f64| -> f64 { (0..n).map(|i| costs[i] * (1.0 - y[i] * (fitted[i] + b)).max(0.0)).sum() };
            let least = (0..n).map(|i| with(y[i] - fitted[i])).fold(f64::INFINITY, f64::min);
            assert!((loss - least).abs() <= 1e-12, "{loss} and {least}");
            let program = Program { design: &design, labels: &y, costs: &costs };
            let again = program.minimise(&penalties, &[], 1e-9, &context)?;
            let (here, there) = (linear(&weights, loss), linear(&again.weights, again.loss));
            assert!(there >= here - 1e-7, "λ = {lambda}: {here} and {there}");
        }
        Ok(())
    }
}
