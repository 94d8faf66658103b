//! Features by the weights of a linear support vector machine.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Target, options};

use super::design::Design;
use super::machine::{Fit, Task, train};
use super::problems::{Multiclass, NO_OTHERS, combined, feature_scores, select, two_classes};
use fewest_columns::standardised_outputs;

options! {
    /// SVM-LW: features by the size of their weight in a linear machine (the greedy method of Vapnik 1998
    /// that Yang, Xu, Lyu and King 2015 compare with):
    ///
    /// ```text
    /// minimise over w, b   ½‖w‖² + C Σ_i max(0, 1 − y_i (⟨w, x_i⟩ + b)),      score(k) = w_k
    /// ```
    ///
    /// on standardised features (mean 0, standard deviation 1, dividing by n); of two classes the one that
    /// sorts last is `y = 1`. With more classes there are several machines ([`Multiclass`]) and the score is
    /// `√Σ w_k²` over them; so it is over the level indicators of a category of more than two levels.
    /// Features are ranked by `|score|`; those with a weight of 0 are never selected.
    ///
    /// Cost: `n² d` and sequential minimal optimisation for up to 2000 samples; else dual coordinate descent,
    /// `n d` a pass. Memory: a standardised copy of the data (sparse columns stay sparse), and 8 n² bytes for
    /// up to 2000 samples. The certificate in the selection is the largest relative duality gap of the
    /// machines.
    ///
    /// # Errors
    /// A target without classes or with one only; a NaN or an infinity, naming the cell; parameters out of
    /// range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::SvmWeights;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.1, 0.3, 0.2, 0.1], vec![-2.0, -1.0, 1.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = SvmWeights::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// assert!(selection.scores[0] > 0.0);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SvmWeights {
        /// C, cost of errors; features are standardised.
        pub c: f64 = 1.0, Positive;
        /// More than two classes: a machine for each class, or for each pair of classes.
        pub multiclass: Multiclass = Multiclass::OneVsRest;
        /// Duality gap to reach, relative to the larger of the primal and the dual objective.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

options! {
    /// SVR-LW: features by the size of their weight in linear support vector regression (Smola and Schölkopf
    /// 2004; Yang, Xu, Lyu and King 2015, Section 5):
    ///
    /// ```text
    /// minimise over w, b   ½‖w‖² + C Σ_i max(0, |y_i − ⟨w, x_i⟩ − b| − ε),      score(k) = w_k
    /// ```
    ///
    /// on standardised features **and target**, so `ε` is in standard deviations of the target. With several
    /// outputs the score is `√Σ w_k²` over a machine for each. Ranking, cost, memory and certificate as for
    /// [`SvmWeights`].
    ///
    /// # Errors
    /// A target that is not real or does not vary; else as [`SvmWeights`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::SvrWeights;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = SvrWeights::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SvrWeights {
        /// C, cost of errors; features and target are standardised.
        pub c: f64 = 1.0, Positive;
        /// Error that costs nothing, in standard deviations of the target.
        pub epsilon: f64 = 0.1, NonNegative;
        /// Duality gap to reach, relative to the larger of the primal and the dual objective.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The selection that machines trained side by side make.
fn selection(design: &Design, fits: Vec<Result<Fit, Error>>, budget: Budget) -> Result<Selection, Error> {
    let mut weights = Vec::new();
    let mut reports = Vec::new();
    for fit in fits {
        let fit = fit?;
        weights.push(fit.weights);
        reports.push(fit.report);
    }
    let report = combined(reports).ok_or(Error::Stopped { before: "the first machine was trained" })?;
    select(&feature_scores(design, &weights), budget, report, NO_OTHERS)
}

impl Selector for SvmWeights {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "svm-lw";
        self.check()?;
        let (problems, design) = two_classes(data, budget, METHOD, self.multiclass, context)?;
        let fits = fewest_parallel::map(problems.len(), |at| {
            let samples = problems[at].samples(&design);
            let task = Task::Classes(problems[at].positive.clone());
            train(samples.as_ref().unwrap_or(&design), None, &task, self.c, self.tolerance, context)
        });
        selection(&design, fits, budget)
    }
}

impl Selector for SvrWeights {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "svr-lw";
        self.check()?;
        budget.check(data.n_features())?;
        let Target::Real(_) = data.target() else {
            let (expected, found) = ("real outputs", data.target().describe());
            return Err(Error::UnsupportedTarget { method: METHOD, expected, found });
        };
        let targets = standardised_outputs(data.target(), METHOD, context)?;
        let design = Design::new(data, METHOD, context)?;
        let fits = fewest_parallel::map(targets.len(), |at| {
            let task = Task::Values(targets[at].clone(), self.epsilon);
            train(&design, None, &task, self.c, self.tolerance, context)
        });
        selection(&design, fits, budget)
    }
}
