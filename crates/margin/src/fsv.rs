//! Feature selection by a concave penalty.

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, derive_seed,
    options,
};

use super::design::Design;
use super::problems::{Binary, Multiclass, combined, control, feature_scores, select, two_classes};
use fewest_simplex::L1Hinge;

/// The solver's name in reports.
const SOLVER: &str = "simplex";

/// Most linear programs solved one after the other.
const MOST_ROUNDS: usize = 100;

/// The objective must decrease by this share of what it is at zero; else the steps end where they were.
const LEAST_DECREASE: f64 = 1e-9;

/// Ends whose objectives differ by less than this share of what it is at most at zero are one.
const SAME_END: f64 = 5e-8;

/// Most machines and starts at a time, whose weights are held until the best of each machine is known.
const AT_ONCE: usize = 64;

/// Weights of a start are at most this many times 1/α, in turn: with 5 all features have some penalty
/// left, with 50 most have none, which is where a table whose classes can be told apart exactly has
/// its best points.
const SPREADS: [f64; 2] = [50.0, 5.0];

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
    /// program, whose solution is the next `w`. The objective decreases with every program and the steps end,
    /// at a stationary point, when it no longer does. There are many such points: of several starts the best
    /// end is taken, and nothing certifies that it is the best there is. The first start is `w = 0`, where
    /// all slopes are `λ α`: an l1-SVM; the others are random weights, by the seed and the values of a
    /// column.
    ///
    /// On standardised features. With more classes there is a machine for each ([`Multiclass`]), and the
    /// score is `√Σ w_k²` over them; so it is over the level indicators of a category of more than two
    /// levels. How many features there are follows from `λ`; features are ranked by `|score|`, those with a
    /// weight of 0 are never selected.
    ///
    /// Cost: a few linear programs a start (2 to 10), each by the simplex method from the solution
    /// before, over few columns, to which columns are added until the dual conditions of all hold: `n d` for
    /// each pass over all columns.
    /// The certificate is the stationarity of the result: by how much, at most, the linear program of its own
    /// slopes has a better solution, relative to the objective at zero, or the violation of a dual condition
    /// where that is larger.
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
        /// Seeded starts of each machine, of which the best end is taken; the first is at 0.
        pub starts: usize = 10, Between(1, 1_000_000);
    }
}

/// The weights of a machine, and the report on them.
type End = (Vec<f64>, SolverReport);

impl Fsv {
    /// The weights of one machine, from weights `start`; `None` when stopped before there were any.
    fn machine(
        &self,
        samples: &Design,
        problem: &Binary,
        start: Vec<f64>,
        context: &Context<'_>,
    ) -> Result<Option<End>, Error> {
        // There may be many machines and starts, each of which begins with a pass over all columns.
        if context.stopped().is_some() {
            return Ok(None);
        }
        let lambda = self.regularization.lambda(None)?;
        let n = problem.positive.len() as f64;
        let positive = problem.positive.iter().filter(|positive| **positive).count() as f64;
        let cost = |&label: &bool| (1.0 - lambda) / if label { positive } else { n - positive };
        let costs: Vec<f64> = problem.positive.iter().map(cost).collect();
        let labels = problem.labels();
        let mut program = L1Hinge::new(samples, labels, costs, true)?;
        let control = &control(self.tolerance, context)?;
        let slope = |w: &f64| lambda * self.alpha * (-self.alpha * w.abs()).exp().max(SMALLEST_SLOPE);
        let mut weights = start;
        let mut report: Option<SolverReport> = None;
        let (mut loss, mut iterations) = (0.0, 0);
        for _ in 0..MOST_ROUNDS {
            let penalties: Vec<f64> = weights.iter().map(slope).collect();
            let found = match (program.minimise(&penalties, control), &mut report) {
                // Stopped before the next program: the last one stands.
                (Err(Error::Stopped { .. }), Some(report)) => {
                    report.status = context.stopped().unwrap_or(report.status);
                    break;
                }
                (Err(Error::Stopped { .. }), None) => return Ok(None),
                (found, _) => found?,
            };
            let concave: f64 = found.weights.iter().map(|w| -(-self.alpha * w.abs()).exp_m1()).sum();
            let objective = found.loss + lambda * concave;
            iterations += found.steps;
            let at_zero = most_at_zero(lambda);
            let outside = found.status.is_stopped();
            let least = |report: &SolverReport| report.objective - LEAST_DECREASE * at_zero;
            match &mut report {
                Some(report) if objective >= least(report) => {
                    // No better point: by how much, at most, the program of this one's own slopes has.
                    let linear = |w: &[f64]| penalties.iter().zip(w).map(|(c, w)| c * w.abs()).sum::<f64>();
                    let gain = loss + linear(&weights) - found.loss - linear(&found.weights);
                    report.certificate = Certificate::stationarity(gain.max(0.0) / at_zero + found.gap);
                    report.status = found.status;
                    break;
                }
                _ => {
                    (weights, loss) = (found.weights, found.loss);
                    let status = if outside { found.status } else { Status::MaxIterations };
                    // That is measured by the next program.
                    let open = Certificate::None;
                    report = Some(SolverReport::new(SOLVER, status, objective, open).with_lambda(lambda));
                }
            }
            if outside {
                break;
            }
        }
        Ok(report.map(|report| (weights, report.with_iterations(iterations))))
    }
}

/// The largest objective there is at zero, `2 (1 − λ)`.
fn most_at_zero(lambda: f64) -> f64 {
    2.0 * (1.0 - lambda)
}

/// The best end of the starts of one machine; of ends that differ by rounding the one of the first start.
#[derive(Default)]
struct Best {
    end: Option<End>,
    n_ended: usize,
    iterations: usize,
}

impl Best {
    /// Takes note of how the next start has ended.
    fn compare(&mut self, end: End, lambda: f64) {
        self.n_ended += 1;
        self.iterations += end.1.iterations;
        let same = SAME_END * most_at_zero(lambda);
        let is_better = |(_, best): &End| end.1.objective < best.objective - same;
        if self.end.as_ref().is_none_or(is_better) {
            self.end = Some(end);
        }
    }

    /// That of all starts, or of those that have ended, by the status.
    fn of(self, starts: usize, context: &Context<'_>) -> Option<End> {
        let (weights, mut report) = self.end?;
        if self.n_ended < starts {
            report.status = context.stopped().unwrap_or(Status::TimeLimit);
        }
        Some((weights, report.with_iterations(self.iterations)))
    }
}

/// The weights from which start `number` begins: zeros, then values between 0 and a spread. They depend on
/// the sorted values of a column, so that the order of features and samples changes nothing.
fn start(seeds: &[u64], number: usize, alpha: f64) -> Vec<f64> {
    let share = |&seed: &u64| derive_seed(seed, number as u64) as f64 / u64::MAX as f64;
    match number {
        0 => vec![0.0; seeds.len()],
        _ => seeds.iter().map(|seed| SPREADS[number % 2] / alpha * share(seed)).collect(),
    }
}

impl Selector for Fsv {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "fsv";
        const STOPPED: Error = Error::Stopped { before: "the first linear program was solved" };
        self.check()?;
        let (problems, design) = two_classes(data, budget, METHOD, self.multiclass, context)?;
        let parts: Vec<Option<Design>> = problems.iter().map(|problem| problem.samples(&design)).collect();
        let seeds = design.seeds(context.seed);
        let lambda = self.regularization.lambda(None)?;
        let mut best: Vec<Best> = problems.iter().map(|_| Best::default()).collect();
        let mut tasks = (0..problems.len()).flat_map(|at| (0..self.starts).map(move |number| (at, number)));
        while context.stopped().is_none() {
            let next: Vec<(usize, usize)> = tasks.by_ref().take(AT_ONCE).collect();
            if next.is_empty() {
                break;
            }
            let ends = fewest_parallel::try_map(next.len(), |task| {
                let (at, number) = next[task];
                let samples = parts[at].as_ref().unwrap_or(&design);
                self.machine(samples, &problems[at], start(&seeds, number, self.alpha), context)
            })?;
            for ((at, _), end) in next.into_iter().zip(ends) {
                end.into_iter().for_each(|end| best[at].compare(end, lambda));
            }
        }
        let (mut weights, mut reports) = (Vec::new(), Vec::new());
        for best in best {
            let (w, report) = best.of(self.starts, context).ok_or(STOPPED)?;
            weights.push(w);
            reports.push(report);
        }
        let report = combined(reports).ok_or(STOPPED)?;
        let no_others = "the others have a weight of 0; a smaller `lambda` gives more features a weight";
        select(&feature_scores(&design, &weights), budget, report, no_others)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};
    use fewest_solver::LinearOperator;

    use super::*;

    /// Near λ = 1 the objective is small everywhere: a better end is one by its share.
    #[test]
    fn ends_are_compared_by_the_size_of_the_objective() {
        for lambda in [0.05, 1.0 - 1e-9] {
            let with = |share: f64| {
                let objective = share * most_at_zero(lambda);
                (vec![share], SolverReport::new(SOLVER, Status::Converged, objective, Certificate::None))
            };
            let mut best = Best::default();
            [0.9, 0.9 - 1e-9, 0.5, 0.7].into_iter().for_each(|share| best.compare(with(share), lambda));
            let found = best.of(5, &Context::default()).map(|(weights, report)| (weights, report.status));
            assert_eq!(found, Some((vec![0.5], Status::TimeLimit)), "{lambda}");
        }
    }

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
            let zeros = vec![0.0; columns.len()];
            let end = method.machine(&design, &problem, zeros, &context)?;
            let (weights, report) = end.ok_or(Error::Stopped { before: "anything" })?;
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
            let mut program = L1Hinge::new(&design, y, costs, true)?;
            let again = program.minimise(&penalties, &control(1e-9, &context)?)?;
            let (here, there) = (linear(&weights, loss), linear(&again.weights, again.loss));
            assert!(there >= here - 1e-7, "λ = {lambda}: {here} and {there}");
        }
        Ok(())
    }
}
