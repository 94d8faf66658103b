//! Hilbert-Schmidt feature selection.

use std::sync::Mutex;

use argmin::core::{Executor, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use fewest_core::method::{Options, Regularization};
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, derive_seed, options, rank};

use super::objective::{Objective, Seen, Watched};
use crate::OutputKernel;
use fewest_solver::Point;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 10;

/// The slope of the smoothed norm is that of the exact one, to four digits, from this multiple of `1/s` on:
/// tanh(5) = 0.9999. Below, what pulls at a weight is weaker than the penalty, and an exact norm would make
/// the weight zero.
const SATURATED: f64 = 5.0;

/// Weights up to this are what the tolerance leaves of 0.
const ZERO: f64 = 1e-6;

options! {
    /// Hilbert-Schmidt feature selection (Section 3.3 of Yamada et al. 2014; Masaeli, Fung and Dy 2010):
    ///
    /// ```text
    /// minimise over W (q × d)   −HSIC(WX, y) + λ Σⱼ ‖wⱼ‖_∞
    /// ```
    ///
    /// with one column `wⱼ` a feature. Features are standardised and ranked by `‖wⱼ‖_∞`; of a category it is
    /// the largest coefficient of its indicators, each standardised. `HSIC = tr(K L̄)/(n ‖L̄‖_F)` with a
    /// Gaussian kernel of width 1 on the projections, between 0 and 1, so that `λ` means the same for any
    /// number of samples. The original has `q = d`; fewer of them cost `q/d` of that, and give the same as
    /// far as the target depends on few directions.
    ///
    /// `‖v‖_∞` is smoothed to `1/s · ln(mean of cosh(s v))`, at most `ln(2q)/s` below it, and minimised by
    /// L-BFGS with the line search of Moré and Thuente. Weights below `5/s` are those that an exact norm
    /// would make zero. The problem is not convex: of several seeded starts the best end is taken, and
    /// nothing certifies that it is the best there is; `W = 0` is stationary too. The start of a feature's
    /// coefficients depends on its values and the seed, not on its place.
    ///
    /// `Budget::Count(k)` takes the `k` largest weights above 1e-6, which the tolerance may leave of 0;
    /// `Budget::Auto` those of at least `5/s`. A large `λ` leaves none.
    ///
    /// Cost: `O(n² q + n d q)` an evaluation, one or two evaluations an iteration; memory the features as
    /// dense columns, and `n²`. Practical up to a few thousand features.
    ///
    /// # Errors
    /// Fewer than two samples, a NaN or an infinity (naming the cell), a target without a kernel or that does
    /// not vary, parameters out of range, sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::Hsfs;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&b).map(|(a, b)| 2.0 * a + b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, c, b])?, Target::real(target)?)?;
    /// let selection = Hsfs::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Hsfs {
        /// The penalty `λ` on the norms; HSIC is between 0 and 1.
        pub regularization: Regularization = Regularization::Value(0.01), offers(ValueOrZero);
        /// Number q of projections, at most that of the features.
        pub projections: usize = 2, Count(1);
        /// Seeded starts, of which the best end is taken.
        pub starts: usize = 5, Count(1);
        /// Sharpness s of the smoothed norm, at most ln(2q)/s below the exact one.
        pub sharpness: f64 = 100.0, Positive;
        /// Most iterations from a start.
        pub iterations: usize = 500, Count(1);
        /// Stationarity to reach from a start: the norm of the gradient, where HSIC is between 0 and 1.
        ///
        /// Of the objective divided by `λ`, where that is above 1.
        pub tolerance: f64 = 1e-8, Positive;
        /// Kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is.
        pub output: OutputKernel = OutputKernel::Auto;
    }
}

/// Where a start has ended.
struct End {
    w: Vec<f64>,
    value: f64,
    gradient: f64,
    status: Status,
}

impl Hsfs {
    fn check_data(&self, data: &Dataset) -> Result<(), Error> {
        // Each of the at most d directions there are is a projection; more of them add nothing.
        if self.projections > data.n_features().max(1) {
            let expected = format!("from 1 to the number of features, {}", data.n_features());
            return Err(Error::parameter("projections", self.projections, expected));
        }
        data.refuse_sample_weights("hsfs")?;
        Ok(())
    }

    /// Minimises from `start`; `None` when stopped before anything was computed.
    fn run(
        &self,
        objective: &Objective,
        start: Vec<f64>,
        context: &Context<'_>,
    ) -> Result<Option<End>, Error> {
        let seen = Mutex::new(Seen::default());
        // L-BFGS begins with a step as long as the gradient, so an objective that is nearly all penalty is
        // brought to a size like HSIC's: else the first line search would not end.
        let unit = objective.lambda().max(1.0);
        let watched = Watched { objective, unit, context, seen: &seen };
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
            .with_tolerance_grad(self.tolerance)
            .and_then(|solver| solver.with_tolerance_cost(0.0))
            .map_err(|error| Error::Numerical { what: "L-BFGS", hint: error.to_string() })?;
        let outcome = Executor::new(watched, solver)
            .configure(|state| state.param(Point(start)).max_iters(self.iterations as u64))
            .timer(false)
            .run();
        let out_of_iterations =
            outcome.is_ok_and(|outcome| outcome.state().get_iter() >= self.iterations as u64);
        let seen = seen.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A line search may end where the gradient is all rounding, and a run that is stopped ends in an
        // error: what it has seen counts in any case.
        Ok(seen.best.map(|(w, value, gradient)| {
            let status = match Status::by_certificate(gradient, self.tolerance) {
                Status::Converged => Status::Converged,
                close => match context.stopped() {
                    Some(status) => status,
                    None if out_of_iterations && close == Status::Stalled => Status::MaxIterations,
                    None => close,
                },
            };
            End { w, value, gradient, status }
        }))
    }
}

/// Coefficients between ±√(3/p) for `p` columns, so that the projections have variance near 1. They depend on
/// the sorted values of a column, so that the order of features and samples changes nothing.
fn start(objective: &Objective, projections: usize, seed: u64) -> Vec<f64> {
    let bound = (3.0 / objective.n_columns() as f64).sqrt();
    (0..objective.n_columns())
        .flat_map(|column| {
            let own = objective.seed(column, seed);
            (0..projections as u64).map(move |a| {
                let share = derive_seed(own, a) as f64 / u64::MAX as f64;
                bound * (2.0 * share - 1.0)
            })
        })
        .collect()
}

impl Selector for Hsfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        budget.check(d)?;
        self.check()?;
        self.check_data(data)?;
        let lambda = self.regularization.lambda(None)?;
        let objective =
            Objective::new(data, &self.output, self.projections, lambda, self.sharpness, context)?;
        if objective.len() == 0 {
            let mut selection = Selection::new(Vec::new(), Vec::new(), d, Status::Converged);
            selection.notes.push("every feature is constant".to_owned());
            return Ok(selection);
        }
        let mut best: Option<End> = None;
        let mut done = 0;
        while done < self.starts && context.stopped().is_none() {
            let from = start(&objective, self.projections, derive_seed(context.seed, done as u64));
            let end = self.run(&objective, from, context)?;
            done += 1;
            // Ends that differ by rounding are one: the earlier start has it.
            let is_better = |end: &End| best.as_ref().is_none_or(|best| end.value < best.value - 1e-9);
            if let Some(end) = end.filter(is_better) {
                best = Some(end);
            }
            context.report("starts", done, self.starts);
        }
        let Some(best) = best else {
            return Err(Error::Stopped { before: "the first start was evaluated" });
        };
        let weights = objective.weights(&best.w);
        let mut order = rank(&weights, true);
        let least = match budget {
            Budget::Threshold(threshold) => threshold,
            Budget::Auto => SATURATED / self.sharpness,
            _ => 0.0,
        };
        order.retain(|&j| weights[j] > ZERO && weights[j] >= least);
        if let Budget::Count(k) = budget {
            order.truncate(k);
        }
        let scores = order.iter().map(|&j| weights[j]).collect();
        let status = match best.status {
            Status::Converged | Status::AlmostConverged if done < self.starts => {
                context.stopped().unwrap_or(best.status)
            }
            status => status,
        };
        let mut selection = Selection::new(order, scores, d, status);
        let (value, gradient) = (best.value, best.gradient);
        selection.notes.push(format!(
            "the best of {done} starts: objective {value:.6}, gradient of norm {gradient:.1e}; the problem is not convex"
        ));
        selection.note_missing_features(budget, "a smaller `lambda` gives more features a weight");
        selection.unless_stopped_before("a feature had a weight")
    }
}
