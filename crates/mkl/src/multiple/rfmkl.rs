//! Multiple kernel learning with a sum of kernels.

use fewest_core::method::{KernelWidth, Options, Regularization};
use fewest_core::{Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, options};

use super::terms::{Spectrum, Terms};
use super::working::{Solution, largest_penalty, no_weights, solve, worths};
use super::{THRESHOLD, machines};
use crate::decreasing::DecreasingPenalty;
use crate::indefinite::BaseKernel;
use crate::limits::check_memory;

options! {
    /// Multiple kernel learning with one kernel for each feature (RFMKL: Dileep and Sekhar 2009; Eq. 1 and 3
    /// of Xue, Song and Xu 2017):
    ///
    /// ```text
    /// minimise over d ≥ 0   max { Σ α − ½ Σ αᵢαⱼyᵢyⱼ Σ dₘ kₘ(xᵢₘ, xⱼₘ) : 0 ≤ α ≤ C, αᵀy = 0 } + λ Σ d
    ///
    /// score(m) = dₘ
    /// ```
    ///
    /// The problem is convex, and its dual is `maximise Σ α` where no kernel has `½ (α∘y)ᵀKₘ(α∘y)` above `λ`.
    /// Both are solved by an interior-point method over a growing set of kernels; all others are looked at
    /// between. The duality gap over **all** kernels is reported. Only `λ/C²` counts: a factor on `C` divides
    /// the weights, so `C` is 1. That is also the problem with `Σ d` fixed, whose multiplier is `λ`. With
    /// more classes there is a machine for each pair, all with the same weights. Categories have the delta
    /// kernel, 1 for two samples of one level. Of exact copies of a feature the first has the weight.
    ///
    /// The penalty `λ` is, as a ratio, relative to the smallest at which no kernel has a weight.
    /// `Budget::Count(k)` lowers it in steps of 0.7 while fewer than `k` features have a weight, until six
    /// steps in a row have brought no more of them.
    ///
    /// The kernels must be positive semidefinite: another is an error, unless its matrices are [made
    /// so](Spectrum). These are the matrices of the samples given, so what such a machine would predict
    /// elsewhere is not defined.
    ///
    /// Cost: `n r²` a feature for its factor of rank `r`, and `n r` for a look. A Newton step takes
    /// `n² q r + n³/3` with `q` kernels in the set, some 30 to 100, for each machine of `n` samples; about 15
    /// steps for each of two or three sets. Memory: `8 n r` bytes a feature and `n²` numbers a machine.
    ///
    /// # Errors
    /// An indefinite kernel without a spectrum ([`Error::Unsupported`], naming kernel and solver); a NaN or
    /// an infinity, naming the cell; a target without classes or with one only; parameters out of range;
    /// sample weights; [`Error::Stopped`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_mkl::Rfmkl;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b) = (wave(1), wave(17));
    /// let target = Target::from_labels(&a.iter().map(|a| a.abs() > 0.5).collect::<Vec<_>>());
    /// let data = Dataset::new(DenseColumns::from_columns(&[b, a])?, target)?;
    /// let selection = Rfmkl::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Rfmkl {
        /// Kernel of standardised features.
        pub kernel: BaseKernel = BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) };
        /// What becomes of an indefinite kernel's negative eigenvalues; when left out, such a kernel is an
        /// error.
        pub spectrum: Option<Spectrum> = None;
        /// How strong the penalty is; where it decreases, its first value.
        pub regularization: Regularization = Regularization::Ratio(0.1), offers(Value, Ratio);
        /// Duality gap to reach, relative to the objective.
        pub tolerance: f64 = 1e-10, Positive;
    }
}

impl Rfmkl {
    /// The method `mkl`: a sigmoid kernel, whose negative eigenvalues are clipped.
    pub(crate) fn mkl() -> Self {
        Self { kernel: BaseKernel::default(), spectrum: Some(Spectrum::Clip), ..Self::default() }
    }

    fn method(&self) -> &'static str {
        if self.spectrum.is_some() { "mkl" } else { "rfmkl" }
    }
}

/// The places of the weights that count: none where no weights at all, whose objective is `without`, are as
/// good within the gap. Before they have converged, interior points give every kernel a weight.
fn counted(solution: &Solution, without: f64) -> Vec<usize> {
    let weights = &solution.weights;
    if without - solution.objective <= solution.gap {
        return Vec::new();
    }
    let least = THRESHOLD * weights.iter().copied().fold(0.0, f64::max);
    (0..weights.len()).filter(|&m| weights[m] > 0.0 && weights[m] >= least).collect()
}

impl Selector for Rfmkl {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        self.check()?;
        budget.check(d)?;
        data.refuse_sample_weights(self.method())?;
        let machines = machines(data, self.method())?;
        let largest_machine = machines.iter().map(|machine| machine.rows.len()).max().unwrap_or(0);
        check_memory(self.method(), &[2, largest_machine, largest_machine], "use fewer samples, or mik-fs")?;
        let terms = Terms::new(data, &self.kernel, self.spectrum, context)?;
        let worths = worths(&terms, &machines, context)?;
        let mut hints = worths.clone();
        if hints.iter().all(|worth| *worth <= 0.0) {
            return Ok(super::nothing(d));
        }
        let unsolved = || super::by_worth(&worths, &terms.features, d, budget, context);
        let largest = match self.regularization {
            Regularization::Value(_) => None,
            _ => match largest_penalty(&terms, &machines, &hints, context) {
                Err(Error::Stopped { .. }) => return unsolved(),
                largest => Some(largest?),
            },
        };
        let without = no_weights(&machines);
        let wanted = if let Budget::Count(k) = budget { k.min(terms.len()) } else { 0 };
        let mut decreasing = DecreasingPenalty::new(self.regularization.lambda(largest)?, wanted);
        let mut best: Option<(Solution, Vec<usize>, f64)> = None;
        let stopped = loop {
            let lambda = decreasing.penalty();
            let solution = match solve(&terms, &machines, lambda, &hints, self.tolerance, context) {
                Err(Error::Stopped { .. }) if best.is_some() => break context.stopped(),
                Err(Error::Stopped { .. }) => return unsolved(),
                solution => solution?,
            };
            let stopped = solution.status.is_stopped();
            if stopped && best.is_some() {
                // Before it has converged the interior point gives every kernel a weight.
                break Some(solution.status);
            }
            if stopped && solution.steps == 0 {
                return unsolved();
            }
            let places = counted(&solution, without);
            // Those with a weight come first, then those of the largest gain.
            let most = hints.iter().copied().fold(0.0, f64::max);
            for &m in &places {
                hints[m] = hints[m].max(most) + solution.weights[m];
            }
            let status = stopped.then_some(solution.status);
            if stopped && places.is_empty() {
                return unsolved();
            }
            if decreasing.is_best(places.len()) {
                best = Some((solution, places, lambda));
            }
            if stopped || !decreasing.decrease() {
                break status;
            }
        };
        let Some((solution, places, lambda)) = best else { return Ok(super::nothing(d)) };
        let mut scores = vec![0.0; d];
        for m in places {
            scores[terms.features[m]] = solution.weights[m];
        }
        let status = stopped.unwrap_or(solution.status);
        let mut selection = super::selection(&scores, budget, status);
        selection.objective = Some(solution.objective);
        selection.solver = Some(
            SolverReport::new(
                "interior-point",
                solution.status,
                solution.objective,
                Certificate::gap(solution.relative_gap()),
            )
            .with_lambda(lambda)
            .with_iterations(solution.steps),
        );
        selection.note_constant_features(terms.n_constant);
        Ok(selection)
    }
}
