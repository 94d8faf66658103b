//! The Dantzig selector.

mod program;

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, Selection, Selector, SolverReport, Status, options,
};
use fewest_linalg::Cholesky;
use fewest_simplex::{Program, Simplex};
use fewest_solver::bisection::{self, PenaltyCandidate, Tried};
use fewest_solver::{Control, InnerProducts};

use self::program::{OutputProgram, Point};
use super::choice::{self, CrossValidation, FOLD_TOLERANCE, Ladder, Likelihood, Step, Visit};
use super::columns::{LinearColumns, MOST_BYTES};
use super::loss::with_counting_classes;
use super::penalised::{each_fit, opened, others_left_out};

const METHOD: &str = "dantzig";

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// Duality gap of the solutions on the way to a `λ`.
const ROUGH: f64 = 0.05;

/// The next `λ` on the way is at most this share of the one before.
const LARGEST_STEP: f64 = 0.8;

/// The error of a run that ended before there were coefficients.
const SOLVED: &str = "the first linear program was solved";

options! {
    /// The Dantzig selector (Candès and Tao 2007; Li et al. 2017, Eq. 60): the smallest
    /// coefficients that leave no feature a large correlation with the residual.
    ///
    /// ```text
    /// minimise over w   ‖w‖₁     subject to   |xⱼᵀ (y − X w)| / n ≤ λ  for every feature j
    /// ```
    ///
    /// Features and outputs are standardised as for [`Lasso`](crate::Lasso), and `λ` is on the same scale:
    /// the same `λ` is the smallest that selects nothing, and the coefficients of the lasso keep the
    /// conditions, so that `‖w‖₁` is never above that of the lasso. With several outputs each has its own
    /// program, with the same `λ`; the score is then the norm of the coefficients of a feature, and so it is
    /// over the level indicators of a category of more than two levels.
    ///
    /// With `refit` the scores are the coefficients of least squares on the selected features (the
    /// Gauss-Dantzig selector of the same paper), which are not shrunk; what is selected at a `λ` remains the
    /// same. Where the data choose `λ`, it is by the loss of these coefficients.
    ///
    /// With `Budget::Count(k)` the answer is for the smallest `λ` that a search by bisection finds to leave
    /// at most `k` features.
    ///
    /// A linear program, solved in its dual by the simplex method over few rows and columns: those whose
    /// condition a solution breaks join, until none does ([`fewest_simplex`]). The certificate is the gap
    /// between `‖w‖₁` and a dual point that keeps all conditions, as a share of `‖w‖₁`, or the largest
    /// violation of a condition as a share of the largest useful `λ`, whichever is larger.
    ///
    /// Cost: a few passes over the data, `n d` each, for a `λ`; with `k` rows and columns `k²` a step.
    /// Memory: a standardised copy of the data, up to 1 GiB; beyond, columns are computed again.
    ///
    /// # Errors
    /// As [`Lasso`](crate::Lasso).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Dantzig;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = Dantzig::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert!(selection.scores[0] > 0.0 && selection.scores[1] < 0.0);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Dantzig {
        /// The largest correlation that may remain.
        pub regularization: Regularization =
            Regularization::Count, offers(Value, Ratio, CrossValidated, OneStandardError, Information);
        /// Scores by least squares on the selected features.
        pub refit: bool = false;
        /// Relative duality gap to reach.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The coefficients of all outputs at one `λ`.
#[derive(Clone)]
struct Fit {
    outputs: Vec<Point>,
    n_features: usize,
    report: SolverReport,
}

/// A fit with the path to it.
struct Found {
    fit: Fit,
    path: Option<Path>,
    notes: Vec<String>,
}

impl PenaltyCandidate for Fit {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn status(&self) -> Status {
        self.report.status
    }
}

struct Problem<'a> {
    data: &'a Dataset,
    columns: &'a LinearColumns<'a>,
    options: &'a Dantzig,
    control: Control<'a>,
    /// The smallest `λ` that selects nothing.
    largest_lambda: f64,
}

impl<'a> Problem<'a> {
    fn new(
        data: &'a Dataset,
        columns: &'a LinearColumns<'a>,
        options: &'a Dantzig,
        control: Control<'a>,
    ) -> Self {
        let all = columns.outputs.iter().flatten();
        let largest_lambda = all.fold(0.0_f64, |most, product| most.max(product.abs()));
        Self { data, columns, options, control, largest_lambda }
    }

    fn fit(&self, budget: Budget, context: &Context<'_>) -> Result<Found, Error> {
        // Each begins where it ended at the `λ` before.
        let mut programs = vec![Simplex::default(); self.columns.outputs.len()];
        let (mut path, mut notes) = (None, Vec::new());
        let mut fit = match self.options.regularization {
            Regularization::Count => {
                let k = budget.count(&["lambda", "lambda_ratio"])?;
                if self.largest_lambda > 0.0 {
                    let solve = |lambda: f64, _: Option<&Fit>| self.at(lambda, &mut programs);
                    let (mut fit, stopped) = bisection::search(
                        self.largest_lambda,
                        SMALLEST_RATIO,
                        k,
                        context,
                        &mut Tried::none(),
                        solve,
                    )?;
                    fit.report.status = stopped.unwrap_or(fit.report.status);
                    fit
                } else {
                    self.at(1.0, &mut programs)?
                }
            }
            Regularization::Value(_) | Regularization::Ratio(_) => {
                let lambda = self.options.regularization.lambda(Some(self.largest_lambda))?;
                self.at(lambda, &mut programs)?
            }
            given => {
                let chosen = self.chosen(given, context)?;
                path = Some(chosen.path);
                notes.push(chosen.note);
                chosen.fit
            }
        };
        if !self.options.regularization.is_chosen_by_data() {
            self.refit(&mut fit)?;
        }
        Ok(Found { fit, path, notes })
    }

    fn selection(&self, found: &Found, budget: Budget, n_features: usize) -> Result<Selection, Error> {
        let Found { fit, path, notes } = found;
        let coefficients: Vec<Vec<(usize, f64)>> =
            fit.outputs.iter().map(|point| point.coefficients.clone()).collect();
        let weights = self.columns.feature_scores(&coefficients).into_iter().collect();
        let mut selection = Selection::by_weight(weights, n_features, budget, fit.report.status);
        selection.solver = Some(fit.report.clone());
        (selection.path, selection.notes) = (path.clone(), notes.clone());
        selection.note_missing_features(budget, others_left_out(self.options.regularization));
        selection.unless_stopped_before("a feature had a coefficient")
    }

    /// The solution at the `λ` that the data choose.
    fn chosen(&self, given: Regularization, context: &Context<'_>) -> Result<choice::Chosen<Fit>, Error> {
        let lambdas = choice::candidates(&self);
        let mut ladder = self;
        let Some(rule) = CrossValidation::of(given) else {
            let deviance = |fitted: &[f64]| choice::normal_deviance(self.columns, fitted);
            let likelihood = Likelihood {
                deviance: &deviance,
                n_observations: self.columns.n_counting(),
                what: "samples",
                n_coefficients: self.columns.n_atoms() * self.columns.outputs.len(),
            };
            return choice::by_information(&mut ladder, given.gamma()?, &lambdas, &likelihood);
        };
        let whole = self.columns.targets();
        let choice = choice::cross_validate(rule, self.data, lambdas, context, &|held, lambdas| {
            let columns = LinearColumns::weighted(held.training, METHOD, held.bytes, held.context)?;
            let tolerance = self.control.tolerance.max(FOLD_TOLERANCE);
            let control = Control { progress: None, tolerance, ..self.control };
            let problem = Problem::new(held.training, &columns, self.options, control);
            choice::fold_losses(&mut &problem, lambdas, |fitted| {
                choice::residual_losses(&columns, whole, held.test, fitted, |r| r * r)
            })
        })?;
        choice::solve(&mut ladder, choice)
    }

    /// The coefficients at `lambda`, each output from where its program is.
    fn at(&self, lambda: f64, programs: &mut [Simplex]) -> Result<Fit, Error> {
        let before: u64 = programs.iter().map(Simplex::n_steps).sum();
        // Progress is reported from one thread.
        let control = &Control { progress: None, ..self.control };
        let found = fewest_parallel::chunks(programs, 1, |at, simplex| {
            simplex.iter_mut().map(|simplex| self.output(at, lambda, simplex, control)).collect()
        });
        let found = found.into_iter().collect::<Result<Vec<Vec<Point>>, Error>>()?;
        let outputs: Vec<Point> = found.into_iter().flatten().collect();
        let gap = outputs.iter().map(|point| point.gap).fold(0.0, f64::max);
        let steps = programs.iter().map(Simplex::n_steps).sum::<u64>() - before;
        let report = SolverReport::new(
            "simplex",
            Status::by_certificate(gap, self.control.tolerance),
            outputs.iter().map(|point| point.norm).sum(),
            Certificate::gap(gap),
        )
        .with_lambda(lambda)
        .with_iterations(steps as usize);
        let coefficients: Vec<_> = outputs.iter().map(|point| point.coefficients.clone()).collect();
        let n_features = self.columns.feature_scores(&coefficients).len();
        Ok(Fit { outputs, n_features, report })
    }

    fn output(
        &self,
        output: usize,
        lambda: f64,
        simplex: &mut Simplex,
        control: &Control<'_>,
    ) -> Result<Point, Error> {
        let mut program = OutputProgram {
            columns: self.columns,
            products: &self.columns.outputs[output],
            lambda: 0.0,
            largest_lambda: self.largest_lambda,
            tolerance: control.tolerance,
            found: None,
        };
        // Where many columns would join at once, most of them for nothing, a larger `λ` comes before.
        let mut next = program.next_lambda(simplex, &self.columns.outputs[output]);
        loop {
            program.lambda = next.max(lambda);
            let last = program.lambda == lambda;
            program.tolerance = if last { control.tolerance } else { control.tolerance.max(ROUGH) };
            simplex.set_column_costs(|j| program.column_cost(j))?;
            let status = fewest_simplex::solve(&mut program, simplex, control)?;
            let point = program.found.take().ok_or(Error::Stopped { before: SOLVED })?;
            // Before the end its coefficients keep no conditions.
            if status.is_stopped() && (!last || point.gap > control.tolerance) {
                return Err(Error::Stopped { before: SOLVED });
            }
            if last {
                return Ok(point);
            }
            next = point.next_lambda.min(LARGEST_STEP * program.lambda);
        }
    }

    /// Least squares on the columns of each output, if that is asked for: there are no more of them than
    /// samples, and none depends on the others, as at a vertex their products with as many columns make a
    /// regular matrix.
    fn refit(&self, fit: &mut Fit) -> Result<(), Error> {
        if !self.options.refit {
            return Ok(());
        }
        let outputs = fit.outputs.iter_mut().map(|point| &mut point.coefficients);
        for (coefficients, products) in outputs.zip(&self.columns.outputs) {
            let support: Vec<usize> = coefficients.iter().map(|(j, _)| *j).collect();
            let mut gram = vec![0.0; support.len() * support.len()];
            self.columns.products(&support, &support, &mut gram)?;
            let Some(factor) = Cholesky::of(gram, support.len()) else {
                return Err(Error::Numerical {
                    what: "least squares on the selected features",
                    hint: "they depend on each other: leave out `refit`".to_owned(),
                });
            };
            let mut fitted: Vec<f64> = support.iter().map(|&j| products[j]).collect();
            factor.solve(&mut fitted);
            for ((_, w), fitted) in coefficients.iter_mut().zip(fitted) {
                *w = fitted;
            }
        }
        Ok(())
    }
}

impl Ladder for &Problem<'_> {
    type Fit = Fit;

    fn columns(&self) -> &LinearColumns<'_> {
        self.columns
    }

    fn largest(&self) -> f64 {
        self.largest_lambda
    }

    fn walk(&mut self, lambdas: &[f64], visit: &mut Visit<'_, Self>) -> Result<Option<Status>, Error> {
        let mut programs = vec![Simplex::default(); self.columns.outputs.len()];
        for (step, &lambda) in lambdas.iter().enumerate() {
            let mut fit = match self.at(lambda, &mut programs) {
                // A program that is not solved has no coefficients: those of the ones before are returned.
                Err(Error::Stopped { .. }) if step > 0 => {
                    return Ok(Some(self.control.stopped().unwrap_or(Status::Interrupted)));
                }
                fit => fit?,
            };
            self.refit(&mut fit)?;
            if !visit(self, fit)? {
                break;
            }
        }
        Ok(None)
    }

    fn end_with(fit: &mut Fit, status: Status) {
        fit.report.status = status;
    }

    fn step(&self, fit: &Fit) -> Step {
        let coefficients = fit.outputs.iter().map(|point| point.coefficients.clone()).collect();
        Step { coefficients, intercepts: Vec::new(), status: fit.report.status }
    }
}

impl Selector for Dantzig {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let limits = opened(data, budgets, self.tolerance, context)?;
        let control = Control { max_iterations: u64::MAX, ..limits };
        let data = &*with_counting_classes(data)?;
        let columns = LinearColumns::weighted(data, METHOD, MOST_BYTES, context)?;
        let problem = Problem::new(data, &columns, self, control);
        let fit = |budget| problem.fit(budget, context);
        each_fit(self.regularization, budgets, context, fit, |found, budget| {
            problem.selection(found, budget, data.n_features())
        })
    }
}
