//! MIK-FS as a selector.

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    AlternationSummary, Budget, Context, Dataset, Error, Selection, Selector, SolverReport, Status,
    ValidatedPenalty, options,
};

use super::base::BaseKernels;
use super::fit::Limits;
use fewest_kernels::Form;

options! {
    /// Multiple indefinite kernel learning for feature selection (Xue, Song and Xu 2017, Eq. 8, Algorithms 1
    /// to 3):
    ///
    /// ```text
    /// minimise over β, b, d ≥ 0   λ₁ βᵀKβ + λ₂ Σ d_m + Σᵢ max(0, 1 − yᵢ((Kβ)ᵢ + b))²,
    ///                            K = Σ d_m K_m     (Eq. 8)
    /// ```
    ///
    /// with a kernel for each feature, which need not be positive semidefinite. The weights `d` are the
    /// scores. In turn, the machine `β, b` is fitted with fixed weights by difference-of-convex programming
    /// (Algorithm 2, [`fewest_dca`]), whose convex problems a Newton method solves on the support (a positive
    /// semidefinite `K` leaves one such problem, the machine's own), and the weights with a fixed machine by
    /// projected gradient descent under Armijo's rule (Algorithm 3, [`fewest_pgd`]), which finds the weights
    /// that are zero, and projected Newton steps (Bertsekas 1982) on the others, stopped by the projected
    /// gradient. `F`, Eq. 8, never rises (Proposition 2).
    ///
    /// - Several classes: a machine for each pair, one `d` for all. A real output: `max(0, |y − f| − ε)²` on
    ///   the standardised output.
    /// - Several kernels a feature: each has a weight of its own under the same penalty; the score of a
    ///   feature is their sum.
    /// - Features are standardised; kernel matrices are thin signed factors. Categories get the delta kernel,
    ///   1 for two samples of one level.
    ///
    /// # Where this differs from the paper as printed
    ///
    /// - The gradient of `h` is `2λ₁(ρI − K)β`, that of the squared hinge has its factor 2 in Eq. 17, and
    ///   projected gradients decide (Algorithm 3 stops on the plain one, which need not vanish).
    /// - `K` is centred on the samples of a machine, so that `β` sums to zero. The bias takes up constants
    ///   anyway, and for positive semidefinite kernels the solution is the same. For others, a negative
    ///   eigenvalue in the direction of the constant would make `F` decrease without bound for every `λ₁`.
    /// - Only `λ₁λ₂` counts: `(β, d) → (β/c, c d)` turns the problem of `(λ₁, λ₂)` into that of
    ///   `(c λ₁, λ₂/c)`. The start, which the paper leaves open, keeps that law: no weights, and the best
    ///   constant.
    /// - A working set of weights takes part at a time: those above zero and those that would rise the
    ///   steepest. When they have settled all others are looked at, and those that would rise take part
    ///   as well, until there are none ([`MikFs::working_set`]). Penalties below a tenth of the largest are
    ///   approached by fits at larger ones.
    /// - With indefinite kernels `F` is not bounded below: `β = t v, d = e_m/t` with `vᵀK_m v < 0` makes it
    ///   decrease without bound. So the machine goes to the stationary point `β = half_gradients/λ₁`, as
    ///   with other kernels, where all eigenvalues of `K` are above `−λ₁` and it is no higher than where the
    ///   machine stands: a fixed point of Algorithm 2. Else Algorithm 2 descends, kept from leaving the ball
    ///   in which stationary points lie. What is found is where this settles, not a minimum:
    ///   [`Selection::alternation`] has objective and violations, and so have the notes.
    ///
    /// `Budget::Count(k)` takes the `k` largest weights, lowering `λ₂` by steps of 0.7 from warm starts while
    /// fewer than `k` features have one, until six steps bring no more, since hardly more features than
    /// samples ever have one; `Budget::Auto` takes the weights above `threshold` times the largest.
    ///
    /// # Cost
    /// Every feature: some `50 n` multiplications with the eight largest columns of the factor that all
    /// features share ([`fewest_kernels::SharedFactor`]), twice or three times in all, and more columns
    /// where these do not decide. A feature of the working set, which has half as many features as
    /// samples at first: `n² + n r²` for a factor of its own, then `n r` in an iteration. The machine:
    /// `n³/3`, or `n R²` where the active factors have fewer than `n/4` columns in all; the weights: `n
    /// s²` a Newton step on `s` of them. Memory in addition to the data: some hundred bytes a feature, `8
    /// n r` for each of the working set. A kernel with a kink has no shared factor: all features get
    /// their own.
    ///
    /// # Errors
    /// A NaN or an infinity (naming the cell), fewer than two classes, an output that does not vary, another
    /// kind of target, parameters out of range, sample weights; [`Error::Stopped`] when stopped before the
    /// first iteration; [`Error::Numerical`] where kernels overflow.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_mkl::MikFs;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let labels: Vec<bool> = a.iter().zip(&b).map(|(a, b)| 2.0 * a + b > 0.0).collect();
    /// let target = Target::from_labels(&labels);
    /// let data = Dataset::new(DenseColumns::from_columns(&[c, a, b])?, target)?;
    /// let selection = MikFs::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [1, 2]);
    /// # Ok::<(), fewest_mkl::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct MikFs {
        /// Kernel of standardised features; mixed: sigmoid, Gaussian and polynomial, a weight each.
        pub kernel: BaseKernels = BaseKernels::default();
        /// Ridge λ₁ on the machines, no cost c: only λ₁λ₂ counts, and beside lambda_ratio it rescales the
        /// scores alone.
        pub lambda1: f64 = 1.0, Positive;
        /// The penalty `λ₂`; where it decreases, its first value.
        ///
        /// A ratio is relative to the smallest at which no feature gains more than its penalty; a
        /// cross-validation takes the ratio of the best score, of equal ones the largest.
        pub regularization: Regularization = Regularization::Ratio(0.1),
            offers(Value, Ratio, CrossValidated);
        /// Half the tube of a real target's loss, in its standard deviations.
        pub epsilon: f64 = 0.1, NonNegative;
        /// Weights below this part of the largest count as zero.
        pub threshold: f64 = 1e-5, BelowOne;
        /// Most alternations between machine and weights, Newton steps included.
        pub iterations: usize = 200, Count(1);
        /// Smallest relative decrease of the objective for another alternation; then Newton steps follow.
        pub min_improvement: f64 = 1e-5, Positive;
        /// Stationarity to reach: gradients of weights, relative to lambda, and of machines, relative to
        /// those at zero.
        pub tolerance: f64 = 1e-6, Positive;
        /// Difference-of-convex steps with momentum.
        pub accelerated: bool = true;
        /// A working set of weights takes part; else all, as in the paper, for comparison.
        ///
        /// All are looked at when the set has settled.
        pub working_set: bool = true;
        /// Thin signed factors for the features of the working set or for all, or n² numbers a feature, for
        /// comparison.
        pub form: Form = Form::Auto;
        /// Error allowed to low-rank factors, relative to the Frobenius norm.
        pub factor_tolerance: f64 = 1e-4, ProperFraction;
        /// Tolerance of the two inner solvers, above 0: relative decrease for machines, relative projected
        /// gradient for weights.
        pub inner_tolerance: f64 = 1e-10, hidden;
        /// Most iterations of the inner solvers, at least 1.
        pub inner_iterations: u64 = 1000, hidden;
    }
}

impl MikFs {
    /// Checks the options, and that no samples are weighted.
    pub(super) fn check_with(&self, data: &Dataset) -> Result<(), Error> {
        self.check()?;
        // No parameters, so that their ranges stand here.
        if !(self.inner_tolerance.is_finite() && self.inner_tolerance > 0.0) {
            return Err(Error::parameter("inner_tolerance", self.inner_tolerance, "finite and above 0"));
        }
        if self.inner_iterations == 0 {
            return Err(Error::parameter("inner_iterations", 0, "at least 1"));
        }
        data.refuse_sample_weights("mik-fs")
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            tolerance: self.tolerance,
            min_improvement: self.min_improvement,
            iterations: self.iterations,
            inner_tolerance: self.inner_tolerance,
            inner_iterations: self.inner_iterations,
            accelerated: self.accelerated,
            working_set: self.working_set,
        }
    }
}

/// A summary in sentences.
fn notes(summary: &AlternationSummary) -> Vec<String> {
    let mut notes = vec![
        format!(
            "objective {:.6} at the start, {:.6} after {} alternation{}; lambda = {:.4e}",
            summary.first_objective,
            summary.last_objective,
            summary.n_alternations,
            if summary.n_alternations == 1 { "" } else { "s" },
            summary.lambda
        ),
        format!(
            "projected gradient of the weights {:.1e}, relative to lambda, gradient of the machines {:.1e}, \
             relative to that at zero; the problem is not convex",
            summary.weight_violation, summary.machine_violation
        ),
    ];
    if let Some(best) = summary.validation {
        notes.push(format!("cross-validation: score {:.4} at lambda_ratio = {}", best.score, best.ratio));
    }
    notes
}

impl Selector for MikFs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        budget.check(d)?;
        let wanted = if let Budget::Count(k) = budget { k } else { 0 };
        let run = self.run(data, wanted, context)?;
        let Some(model) = run.model else {
            let mut selection = Selection::new(Vec::new(), Vec::new(), d, Status::Converged);
            if run.n_constant == d {
                selection.notes.push("every feature is constant".to_owned());
            } else {
                selection.notes.push("no feature's kernel has anything in common with the target".to_owned());
                selection.note_constant_features(run.n_constant);
            }
            return Ok(selection);
        };
        let scores = model.scores();
        let counted = self.above_threshold(&scores);
        let weights = counted.iter().map(|&j| (j, scores[j])).collect();
        let status = run.stopped.unwrap_or(model.alternation.status);
        let mut selection = Selection::by_weight(weights, d, budget, status);
        let alternation = &model.alternation;
        let objective = alternation.history.last().copied();
        selection.objective = objective;
        let certificate = alternation.certificate();
        selection.solver = Some(
            SolverReport::new("alternation", status, objective.unwrap_or(f64::NAN), certificate)
                .with_lambda(alternation.lambda)
                .with_iterations(alternation.history.len() - 1),
        );
        let best = run.validation.iter().reduce(|a, b| if b.score > a.score { b } else { a });
        let mut summary = AlternationSummary::default();
        summary.first_objective = alternation.history.first().copied().unwrap_or(f64::NAN);
        summary.last_objective = alternation.history.last().copied().unwrap_or(f64::NAN);
        summary.n_alternations = alternation.history.len() - 1;
        summary.lambda = alternation.lambda;
        summary.weight_violation = alternation.weight_violation;
        summary.machine_violation = alternation.machine_violation;
        summary.n_penalties = run.n_penalties;
        summary.n_kept = counted.len();
        summary.validation = best.map(|best| ValidatedPenalty { ratio: best.ratio, score: best.score });
        selection.notes.extend(notes(&summary));
        selection.alternation = Some(summary);
        selection.note_missing_features(budget, "no others have a weight");
        selection.note_constant_features(run.n_constant);
        selection.path = Some(run.path);
        Ok(selection)
    }
}
