//! Sparse additive models by back-fitting.

use std::collections::BTreeMap;

use fewest_core::method::{KernelWidth, Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, options,
};
use fewest_solver::extrapolation_weights;

use super::basis::Basis;

/// Most rounds of back-fitting over the active features.
const MOST_SWEEPS: usize = 20_000;

/// Rounds between two checks of the certificate.
const SWEEPS_AT_ONCE: usize = 10;

/// Rounds from which a point further on is extrapolated.
const DEPTH: usize = 5;

/// Once the certificate is reached, back-fitting goes on until no function changes by more than this share of
/// the target, so that the answer does not depend on the order of the samples; or for this many rounds.
const SETTLED: f64 = 1e-11;
const MOST_SETTLING: usize = 2_000;

/// Most penalties tried in the search for a number of features.
const MOST_STEPS: usize = 120;

/// How much smaller each penalty is until there are features enough.
const STEP: f64 = 0.8;

/// Penalties this close, relatively, are taken for the same.
const CLOSE: f64 = 1e-9;

/// The smallest penalty tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

options! {
    /// Sparse additive models (Section 3.5 of Yamada et al. 2014; Ravikumar, Lafferty, Liu and Wasserman
    /// 2009): few features, each through a smooth function of its own,
    ///
    /// ```text
    /// minimise over f   ½ ‖Y − Σₖ fₖ‖²_F + λ Σₖ ‖fₖ‖_F
    /// ```
    ///
    /// which is the paper's objective halved, its `λ` being `2 √n` times this one. `fₖ = K⁽ᵏ⁾ βₖ` lies in the
    /// span of the leading eigenvectors of the feature's centred Gram matrix, so in an orthonormal basis this
    /// is a group lasso, and the step of back-fitting is exact: project the residual, shrink its norm by `λ`.
    /// Features are standardised; categories get the delta kernel. The outputs are standardised too: real
    /// ones, ±1 for two classes, an indicator for each of more, all sharing the choice of features.
    ///
    /// The score of a feature is `‖fₖ‖ / √n`. With `Budget::Count(k)` the answer is for the smallest `λ` that
    /// a search finds to leave at most `k` features.
    ///
    /// Cost: `O(n r²)` once and `O(n r)` a feature, output and check (`r` about 5 functions a feature).
    /// Memory `n r` numbers a feature.
    ///
    /// # Errors
    /// A target without numbers or classes, or that does not vary; a NaN or an infinity, naming the cell; no
    /// number of features where one is needed; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Spam;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a * a + c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let mut order = Spam::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Spam {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Ratio);
        /// Width of the Gaussian kernel on standardised features; median: the median distance of each.
        pub sigma: KernelWidth = KernelWidth::Value(1.0);
        /// Functions kept, by their eigenvalue as a share of the largest; smaller allows rougher ones.
        pub smallest_eigenvalue: f64 = 0.01, Fraction;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

/// The coefficients of each active feature: `rank` a output.
type Functions = BTreeMap<usize, Vec<f64>>;

/// Where back-fitting was after a round.
struct Point {
    /// Of all functions, one after the other.
    coefficients: Vec<f64>,
    residual: Vec<f64>,
}

impl Point {
    fn new(functions: &Functions, residual: &[f64]) -> Self {
        Self { coefficients: functions.values().flatten().copied().collect(), residual: residual.to_vec() }
    }
}

struct Fit {
    functions: Functions,
    report: SolverReport,
}

struct Problem<'a> {
    bases: Vec<Basis>,
    /// The outputs, one after the other.
    target: Vec<f64>,
    n: usize,
    tolerance: f64,
    context: &'a Context<'a>,
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

impl Problem<'_> {
    /// `‖Qₖᵀ R‖` of every feature.
    fn correlations(&self, residual: &[f64]) -> Vec<f64> {
        fewest_parallel::map(self.bases.len(), |j| norm(&self.bases[j].project(residual, self.n)))
    }

    /// The minimum at `lambda`; `settle` beyond the certificate asked for.
    fn solve(&self, lambda: f64, start: &Functions, settle: bool) -> Fit {
        let mut functions = start.clone();
        let mut residual = self.target.clone();
        for (&k, coefficients) in &functions {
            self.bases[k].subtract(coefficients, &mut residual, self.n);
        }
        let at_zero = 0.5 * norm(&self.target).powi(2);
        let mut sweeps = 0;
        let mut converged_at = None;
        let mut largest_change = f64::INFINITY;
        loop {
            let correlations = self.correlations(&residual);
            let (objective, gap) = certificate(self, lambda, &functions, &residual, &correlations);
            let gap = if at_zero > 0.0 { (gap / at_zero).max(0.0) } else { 0.0 };
            let settled = largest_change <= SETTLED * norm(&self.target);
            if gap <= self.tolerance {
                converged_at.get_or_insert(sweeps);
            }
            let enough = !settle || settled || converged_at.is_some_and(|at| sweeps - at >= MOST_SETTLING);
            let status = if gap <= self.tolerance && enough {
                Some(Status::Converged)
            } else if sweeps >= MOST_SWEEPS {
                Some(Status::MaxIterations)
            } else {
                self.context.stopped()
            };
            if let Some(status) = status {
                functions.retain(|_, coefficients| norm(coefficients) > 0.0);
                let report = SolverReport::new("back-fitting", status, objective, Certificate::gap(gap))
                    .with_lambda(lambda)
                    .with_iterations(sweeps);
                return Fit { functions, report };
            }
            for (k, correlation) in correlations.iter().enumerate() {
                if *correlation > lambda && !functions.contains_key(&k) {
                    functions.insert(k, vec![0.0; self.bases[k].rank() * (self.target.len() / self.n)]);
                }
            }
            largest_change = self.sweep(lambda, &mut functions, &mut residual);
            sweeps += SWEEPS_AT_ONCE;
        }
    }

    /// Some rounds of back-fitting: the first over all `functions`, the others over those that are not zero.
    /// Returns how far a function moved at most in its last round.
    fn sweep(&self, lambda: f64, functions: &mut Functions, residual: &mut Vec<f64>) -> f64 {
        let mut largest_at_zero = 0.0_f64;
        let mut largest_change = 0.0;
        let mut points = vec![Point::new(functions, residual)];
        for round in 0..SWEEPS_AT_ONCE {
            largest_change = 0.0;
            for (&k, coefficients) in functions.iter_mut() {
                // Of many outputs a function takes its time; the residual is that of all before it.
                if self.context.stopped().is_some() {
                    return f64::INFINITY;
                }
                let is_zero = coefficients.iter().all(|value| *value == 0.0);
                if round > 0 && is_zero {
                    continue;
                }
                let change = self.fit(lambda, k, coefficients, residual);
                largest_change = change.max(largest_change);
                if coefficients.iter().all(|value| *value == 0.0) {
                    largest_at_zero = change.max(largest_at_zero);
                }
            }
            points.push(Point::new(functions, residual));
            if points.len() > DEPTH {
                self.extrapolate(lambda, &points, functions, residual);
                points = vec![Point::new(functions, residual)];
            }
        }
        largest_change.max(largest_at_zero)
    }

    /// Moves to the affine combination of the last of `points` whose combined last steps are shortest, if
    /// that lowers the objective.
    fn extrapolate(&self, lambda: f64, points: &[Point], functions: &mut Functions, residual: &mut Vec<f64>) {
        let coefficients: Vec<&[f64]> = points.iter().map(|point| point.coefficients.as_slice()).collect();
        let Some(weights) = extrapolation_weights(&coefficients) else { return };
        let mixed = |of: &dyn Fn(&Point) -> &[f64]| {
            let mut sum = vec![0.0; of(&points[0]).len()];
            for (weight, point) in weights.iter().zip(&points[1..]) {
                sum.iter_mut().zip(of(point)).for_each(|(sum, value)| *sum += weight * value);
            }
            sum
        };
        // The residual is affine in the coefficients.
        let (coefficients, moved) = (mixed(&|point| &point.coefficients), mixed(&|point| &point.residual));
        let mut rest = coefficients.as_slice();
        let mut there = functions.clone();
        for values in there.values_mut() {
            let (own, others) = rest.split_at(values.len());
            values.copy_from_slice(own);
            rest = others;
        }
        let objective = |functions: &Functions, residual: &[f64]| {
            0.5 * norm(residual).powi(2) + lambda * functions.values().map(|values| norm(values)).sum::<f64>()
        };
        if objective(&there, &moved) < objective(functions, residual) {
            (*functions, *residual) = (there, moved);
        }
    }

    /// One step of back-fitting: the exact minimum over the function of feature `k`. Returns how far it
    /// moved.
    fn fit(&self, lambda: f64, k: usize, coefficients: &mut [f64], residual: &mut [f64]) -> f64 {
        let mut change = self.bases[k].project(residual, self.n);
        let length = change.iter().zip(&*coefficients).map(|(a, b)| (a + b).powi(2)).sum::<f64>().sqrt();
        let shrink = if length > lambda { 1.0 - lambda / length } else { 0.0 };
        for (change, coefficient) in change.iter_mut().zip(coefficients.iter_mut()) {
            let fitted = shrink * (*change + *coefficient);
            *change = fitted - *coefficient;
            *coefficient = fitted;
        }
        self.bases[k].subtract(&change, residual, self.n);
        norm(&change)
    }

    /// The fit at the smallest penalty found to leave at most `k` features.
    fn by_count(&self, k: usize, largest: f64) -> Fit {
        let (mut high, mut low) = (largest, None);
        let mut best = self.solve(high, &Functions::new(), false);
        let mut start = Functions::new();
        for step in 0..MOST_STEPS {
            let lambda = low.map_or(STEP * high, |low: f64| (high * low).sqrt());
            if lambda < SMALLEST_RATIO * largest || low.is_some_and(|low| high <= low * (1.0 + CLOSE)) {
                break;
            }
            let fit = self.solve(lambda, &start, false);
            if fit.report.status.is_stopped() {
                best.report.status = fit.report.status;
                return best;
            }
            start.clone_from(&fit.functions);
            let found = fit.functions.len();
            if found > k {
                low = Some(lambda);
            } else {
                (high, best) = (lambda, fit);
                if found == k {
                    break;
                }
            }
            self.context.report("search for lambda", step + 1, MOST_STEPS);
        }
        self.solve(high, &best.functions, true)
    }
}

/// The objective, and the duality gap of the residual scaled to be feasible:
/// `½ (1 − t)² ‖R‖² + λ Σ ‖fₖ‖ − t ⟨Σ fₖ, R⟩`.
fn certificate(
    problem: &Problem<'_>,
    lambda: f64,
    functions: &Functions,
    residual: &[f64],
    correlations: &[f64],
) -> (f64, f64) {
    let largest = correlations.iter().copied().fold(0.0, f64::max);
    let t = if largest > lambda { lambda / largest } else { 1.0 };
    let penalty: f64 = lambda * functions.values().map(|coefficients| norm(coefficients)).sum::<f64>();
    let fitted: f64 = problem.target.iter().zip(residual).map(|(y, r)| (y - r) * r).sum();
    let squares = norm(residual).powi(2);
    (0.5 * squares + penalty, 0.5 * (1.0 - t) * (1.0 - t) * squares + penalty - t * fitted)
}

impl Selector for Spam {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let (d, n) = (data.n_features(), data.n_samples());
        budget.check(d)?;
        self.check()?;
        data.refuse_sample_weights("spam")?;
        let target = fewest_columns::standardised_outputs(data.target(), "spam", context)?.concat();
        context.report("functions of the features", 0, d);
        let bases = fewest_parallel::try_map(d, |j| {
            context.go_on("every feature had been seen once")?;
            Basis::new(data, j, self.sigma, self.smallest_eigenvalue)
        })?;
        context.report("functions of the features", d, d);
        let problem = Problem { bases, target, n, tolerance: self.tolerance, context };
        let largest = problem.correlations(&problem.target).into_iter().fold(0.0, f64::max);
        let fit = match self.regularization {
            Regularization::Ratio(ratio) => problem.solve(ratio * largest, &Functions::new(), true),
            _ => problem.by_count(budget.count(&["lambda_ratio"])?, largest),
        };
        let scale = (n as f64).sqrt().recip();
        let norms = fit.functions.iter().map(|(&k, coefficients)| (k, scale * norm(coefficients)));
        let mut selection = Selection::by_weight(norms.collect(), d, budget, fit.report.status);
        selection.solver = Some(fit.report);
        let no_others = match self.regularization {
            Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a function",
            _ => "no others have a function at any penalty",
        };
        selection.note_missing_features(budget, no_others);
        selection.unless_stopped_before("a feature had a function")
    }
}

#[cfg(test)]
mod tests;
