//! Features by the weights of a lasso at a cross-validated penalty.

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, options,
};
use fewest_lars::{PathOptions, path};
use fewest_solver::{Atoms, Control, InnerProducts, L1, LinearOperator, Signed, certificate};

use super::design::Design;
use super::folds;
use super::problems::{combined, control, feature_scores, select};
use fewest_columns::standardised_outputs;

/// Penalties tried.
const N_PENALTIES: usize = 100;

/// The smallest penalty tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-3;

options! {
    /// LASSO-LW: features by the size of their weight in the lasso (Tibshirani 1996; Yang, Xu, Lyu and King
    /// 2015, Section 5), whose penalty is chosen by cross-validation:
    ///
    /// ```text
    /// minimise over w, b   1/(2n) Σ_i (y_i − ⟨w, x_i⟩ − b)² + λ ‖w‖₁,      score(k) = w_k
    /// ```
    ///
    /// on features and outputs standardised once (mean 0, standard deviation 1, dividing by n); the outputs
    /// of two classes are ±1, of more an indicator each, all with one `λ`. The penalties tried are 100 from
    /// the smallest that selects nothing down to a thousandth of it, in equal ratios. Every training part has
    /// a `b` of its own, and its exact path ([`fewest_lars`]) gives the weights at all penalties. The one
    /// with the smallest mean squared error is taken, or the largest within one standard error of it.
    ///
    /// Unlike [`Lasso`](crate::Lasso), whose penalty follows from the number of features, the weights do not
    /// depend on the budget; features whose weight is 0 are never selected.
    ///
    /// Folds come from the context's seed and keep the distribution of the target; reordering the samples
    /// does not change them.
    ///
    /// Cost: an exact path a fold and one more, each about that of [`Lasso`](crate::Lasso). Memory: a
    /// standardised copy of the data. Where the run is stopped, the folds that were done choose the penalty.
    ///
    /// # Errors
    /// A target without numbers or classes, or that does not vary; a NaN or an infinity, naming the cell;
    /// more folds than samples; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::LassoWeights;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = LassoWeights::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct LassoWeights {
        /// How `λ` is chosen: by a cross-validation with at most as many folds as samples.
        pub regularization: Regularization = Regularization::CrossValidated { folds: 5 },
            offers(CrossValidated);
        /// The largest λ within one standard error of the least error, instead of that with the least.
        pub one_standard_error: bool = false;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The weights that are not 0, with their columns.
type Sparse = Vec<(usize, f64)>;

/// Columns and an output less their means over the samples there are, with products divided by their number.
struct Centred<'a> {
    design: &'a Design,
    means: Vec<f64>,
    target_mean: f64,
    atoms: Atoms,
}

impl<'a> Centred<'a> {
    fn new(design: &'a Design, target: &[f64]) -> Self {
        let n = target.len() as f64;
        let target_mean = target.iter().sum::<f64>() / n;
        let target: Vec<f64> = target.iter().map(|value| value - target_mean).collect();
        let product = |r: &[f64]| {
            let mut out = vec![0.0; design.n_columns()];
            design.apply_transpose(r, &mut out);
            out.iter_mut().for_each(|value| *value /= n);
            out
        };
        let means = product(&vec![1.0; target.len()]);
        let squared_norm = |j: usize| (design.squared_norm(j) / n - means[j] * means[j]).max(0.0);
        let mut squared_norms = vec![0.0; means.len()];
        fewest_parallel::fill(&mut squared_norms, 64, squared_norm);
        let atoms = Atoms {
            target_squared_norm: target.iter().map(|value| value * value).sum::<f64>() / n,
            target_products: product(&target),
            squared_norms,
            ..Atoms::default()
        };
        Self { design, means, target_mean, atoms }
    }

    fn largest_penalty(&self) -> f64 {
        self.target_products().iter().fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// The exact path down to `smallest`, or as far as it was followed when the run was stopped.
    fn path(&self, smallest: f64, control: &Control<'_>) -> Result<Followed, Error> {
        let options = PathOptions { smallest_lambda: smallest, ..PathOptions::default() };
        let found = path(&Signed::new(self), &options, control)?;
        let points = found.breakpoints.into_iter().map(|point| (point.lambda, point.coefficients)).collect();
        Ok(Followed { points, status: found.status, iterations: found.iterations as usize })
    }

    /// The weights at `penalty` on the path `followed`.
    fn weights(&self, followed: &Followed, penalty: f64) -> Sparse {
        Signed::new(self).merge(&between(&followed.points, penalty))
    }

    /// The report on these weights, certified over all columns.
    fn report(&self, followed: &Followed, penalty: f64, tolerance: f64) -> Result<SolverReport, Error> {
        let signed = Signed::new(self);
        let mut dense = vec![0.0; signed.n_atoms()];
        for (atom, value) in between(&followed.points, penalty) {
            dense[atom] = value;
        }
        let correlations = certificate::correlations(&signed, &dense)?;
        let largest = self.largest_penalty();
        let certified = certificate::certifiable_penalty(penalty, largest, correlations.iter().copied());
        let l1 = L1::new(certified, dense.len())?.nonnegative();
        let found = certificate::certify(&signed, &l1, &dense, &correlations);
        let by_gap = Status::by_certificate(found.relative_gap(), tolerance);
        let status = Status::worst([followed.status, by_gap]);
        Ok(SolverReport::new("lars", status, found.objective, Certificate::gap(found.relative_gap()))
            .with_lambda(penalty)
            .with_iterations(followed.iterations))
    }
}

/// A path of signed atoms, by decreasing penalty.
struct Followed {
    points: Vec<(f64, Sparse)>,
    status: Status,
    iterations: usize,
}

impl Followed {
    /// `penalty`, or the smallest one that was reached where the path ends before.
    fn down_to(&self, penalty: f64) -> f64 {
        self.points.last().map_or(f64::INFINITY, |(lambda, _)| penalty.max(*lambda))
    }
}

/// The weights at `penalty` on a path that is linear between its points.
fn between(points: &[(f64, Sparse)], penalty: f64) -> Sparse {
    let after = points.partition_point(|(lambda, _)| *lambda > penalty);
    match (after.checked_sub(1).and_then(|at| points.get(at)), points.get(after)) {
        (None, _) => Vec::new(),
        (Some((_, last)), None) => last.clone(),
        (Some((high, first)), Some((low, second))) => {
            let share = (high - penalty) / (high - low);
            let mut mixed: std::collections::BTreeMap<usize, f64> =
                first.iter().map(|&(j, value)| (j, (1.0 - share) * value)).collect();
            for &(j, value) in second {
                *mixed.entry(j).or_insert(0.0) += share * value;
            }
            mixed.into_iter().filter(|(_, value)| *value != 0.0).collect()
        }
    }
}

impl InnerProducts for Centred<'_> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let n = self.design.n_rows();
        let mut column = vec![0.0; n];
        for (&c, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            self.design.column(c, &mut column);
            self.design.products(rows, &column, out);
            for (&r, value) in rows.iter().zip(out) {
                *value = if r == c {
                    self.atoms.squared_norms[c]
                } else {
                    *value / n as f64 - self.means[r] * self.means[c]
                };
            }
        }
        Ok(())
    }
}

impl LassoWeights {
    /// Squared errors of the held-out samples at every penalty, one row a fold: their sum and number; of the
    /// folds that were done before the run was stopped.
    fn errors(
        n_folds: usize,
        design: &Design,
        targets: &[Vec<f64>],
        penalties: &[f64],
        control: &Control<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<(Vec<f64>, usize)>, Error> {
        let folds = folds::assign(design, targets, n_folds, context.seed)?;
        let smallest = penalties.last().copied().unwrap_or(0.0);
        let done = fewest_parallel::try_map(n_folds, |fold| {
            let (held_out, kept): (Vec<usize>, Vec<usize>) =
                (0..folds.len()).partition(|&i| folds[i] == fold);
            if control.stopped().is_some() {
                return Ok(None);
            }
            let (inside, outside) = (design.subset(&kept), design.subset(&held_out));
            let mut sums = vec![0.0; penalties.len()];
            let mut fitted = vec![0.0; held_out.len()];
            let mut w = vec![0.0; design.n_columns()];
            for target in targets {
                let inner: Vec<f64> = kept.iter().map(|&i| target[i]).collect();
                let problem = Centred::new(&inside, &inner);
                let followed = problem.path(smallest, control)?;
                if followed.status.is_stopped() {
                    return Ok(None);
                }
                for (sum, &penalty) in sums.iter_mut().zip(penalties) {
                    w.fill(0.0);
                    let mut bias = problem.target_mean;
                    for (j, value) in problem.weights(&followed, penalty) {
                        w[j] = value;
                        bias -= value * problem.means[j];
                    }
                    outside.apply(&w, &mut fitted);
                    *sum += held_out
                        .iter()
                        .zip(&fitted)
                        .map(|(&i, fitted)| (target[i] - fitted - bias).powi(2))
                        .sum::<f64>();
                }
            }
            Ok::<_, Error>(Some((sums, held_out.len())))
        })?;
        Ok(done.into_iter().flatten().collect())
    }

    /// The penalty chosen, by its place.
    fn choose(&self, errors: &[(Vec<f64>, usize)]) -> usize {
        let n_penalties = errors.first().map_or(0, |(sums, _)| sums.len());
        let total: f64 = errors.iter().map(|(_, n)| *n as f64).sum();
        let mean = |at: usize| errors.iter().map(|(sums, _)| sums[at]).sum::<f64>() / total;
        let means: Vec<f64> = (0..n_penalties).map(mean).collect();
        let best = (0..n_penalties).fold(0, |best, at| if means[at] < means[best] { at } else { best });
        if !self.one_standard_error {
            return best;
        }
        let folds = errors.len() as f64;
        let spread: f64 = errors.iter().map(|(sums, n)| (sums[best] / *n as f64 - means[best]).powi(2)).sum();
        let within = means[best] + (spread / (folds - 1.0) / folds).sqrt();
        (0..=best).find(|&at| means[at] <= within).unwrap_or(best)
    }
}

impl Selector for LassoWeights {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "lasso-lw";
        self.check()?;
        budget.check(data.n_features())?;
        let n_folds = self.regularization.folds()?;
        let control = control(self.tolerance, context)?;
        let targets = standardised_outputs(data.target(), METHOD, context)?;
        let design = Design::new(data, METHOD, context)?;
        const CHOSEN: &str = "the penalty was chosen";
        const STOPPED: Error = Error::Stopped { before: CHOSEN };
        let mut problems = Vec::with_capacity(targets.len());
        for target in &targets {
            control.go_on(CHOSEN)?;
            problems.push(Centred::new(&design, target));
        }
        let largest = problems.iter().map(Centred::largest_penalty).fold(0.0, f64::max);
        let step = SMALLEST_RATIO.powf(1.0 / (N_PENALTIES - 1) as f64);
        let penalties: Vec<f64> = (0..N_PENALTIES).map(|at| largest * step.powi(at as i32)).collect();
        // The path of all samples first: so whatever folds are done when the run is stopped, there are
        // weights.
        let smallest = penalties.last().copied().unwrap_or(0.0);
        let mut paths = Vec::with_capacity(problems.len());
        for problem in &problems {
            paths.push(problem.path(smallest, &control)?);
        }
        let weights_at = |penalty: f64| -> Vec<Vec<f64>> {
            let of = |(problem, path): (&Centred<'_>, &Followed)| {
                let mut w = vec![0.0; design.n_columns()];
                for (j, value) in problem.weights(path, path.down_to(penalty)) {
                    w[j] = value;
                }
                w
            };
            problems.iter().zip(&paths).map(of).collect()
        };
        let errors = Self::errors(n_folds, &design, &targets, &penalties, &control, context)?;
        let chosen = if !errors.is_empty() {
            penalties[self.choose(&errors)]
        } else if let Budget::Count(k) = budget {
            // Nothing but the number of features tells a penalty then.
            let has_enough = |&&penalty: &&f64| {
                let scores = feature_scores(&design, &weights_at(penalty));
                scores.iter().filter(|score| **score != 0.0).count() >= k
            };
            penalties.iter().find(has_enough).copied().unwrap_or(smallest)
        } else {
            return Err(STOPPED);
        };
        let mut reports = Vec::new();
        for (problem, path) in problems.iter().zip(&paths).filter(|(_, path)| !path.points.is_empty()) {
            reports.push(problem.report(path, path.down_to(chosen), self.tolerance)?);
        }
        let mut report = combined(reports).ok_or(STOPPED)?;
        let missing = errors.len() < n_folds;
        if missing {
            report.status = context.stopped().unwrap_or(Status::TimeLimit);
        }
        let no_others = match errors.is_empty() {
            true => "the others have a weight of 0 at the penalties that were reached",
            false => "the others have a weight of 0 at the penalty that the cross-validation chose",
        };
        let scores = feature_scores(&design, &weights_at(chosen));
        let mut selection = select(&scores, budget, report, no_others)?;
        if errors.is_empty() {
            selection.notes.push(
                "stopped before a fold was done: the penalty is the largest that gives as many features, or the \
                 smallest that was reached"
                    .to_owned(),
            );
        } else if missing {
            let done = errors.len();
            selection
                .notes
                .push(format!("the penalty was chosen by {done} of {n_folds} folds: the run was stopped"));
        }
        selection.unless_stopped_before(CHOSEN)
    }
}
