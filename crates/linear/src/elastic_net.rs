//! Lasso and elastic net.

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Context, Dataset, Error, PassSelector, SampleStream, Selection, Selector, options, words,
};
use fewest_solver::SolverChoice;

use super::LinearLoss;
use super::search::Model;

words! {
    /// A constraint on the signs of coefficients.
    #[derive(Default)]
    pub enum Sign {
        /// None.
        #[default]
        Any = "any",
        /// At least 0.
        Positive = "positive",
        /// At most 0.
        Negative = "negative",
    }
}

impl Sign {
    /// What coefficients are multiplied by so that none may be below 0; `None` without a constraint.
    pub(super) fn factor(self) -> Option<f64> {
        match self {
            Self::Any => None,
            Self::Positive => Some(1.0),
            Self::Negative => Some(-1.0),
        }
    }
}

options! {
    /// Lasso (Tibshirani 1996): few features whose linear combination predicts the target.
    ///
    /// ```text
    /// minimise over W   1/(2n) ‖Y − X W‖²_F + λ ‖W‖₁
    /// ```
    ///
    /// Features and outputs are standardised (mean 0, standard deviation 1, dividing by n). The outputs of
    /// two classes are ±1, of more an indicator each. A categorical feature of more than two levels enters by
    /// its level indicators. Features are ranked by the size of their coefficient, which is their score,
    /// with its sign; where there is one for each of several outputs or levels, by their Euclidean norm,
    /// which has none.
    ///
    /// With `Budget::Count(k)` the answer is a point of the exact path ([`fewest_lars`]): the middle of its
    /// last segment before more than `k` features would be active for the first time.
    ///
    /// With another loss ([`LinearLoss`]; Lokhorst 1999 for the logistic one) the fitted values are `X W + b`
    /// and
    ///
    /// ```text
    /// minimise over W, b   1/n Σᵢ loss(yᵢ, zᵢ) + λ ‖W‖₁
    /// ```
    ///
    /// by proximal Newton steps ([`fewest_newton`]); for `k` features at the smallest `λ` that a search by
    /// bisection finds to leave at most `k`. Real outputs are standardised for `huber` and taken as they are
    /// for `poisson`; survival times have the loss `cox`.
    ///
    /// The data choose `λ` among a hundred by a cross-validation ([`Regularization::CrossValidated`],
    /// [`Regularization::OneStandardError`]), where every fold standardises its own training samples, or by
    /// an information criterion ([`Regularization::Information`]) with the number of non-zero coefficients
    /// as degrees of freedom, of at most half of the samples that it counts.
    ///
    /// Samples may have weights, brought to a mean of 1: at a given penalty, and for a number of features, a
    /// weight of 2 is a sample that is there twice, and one of weight 0, or a class of such samples alone, is
    /// not there. Exceptions: of ties by Efron's rule copies share a time, a weight has it alone; and where
    /// the data choose `λ`, the `n` of an information criterion is the number of samples with a weight above
    /// 0 (of events among them with the loss `cox`), and a fold has samples, not copies. `hinge` has no
    /// weights.
    ///
    /// With covariates `U` and an offset `o` the fitted values are `U V + X W + o`, with no penalty on `V`:
    /// the problem is solved with `V` (and the intercept) minimised out, for the squared loss by projection
    /// (Frisch and Waugh 1933), for another by [`Profiled`](fewest_solver::loss::Profiled). Its gap is
    /// relative to the objective of the model of covariates alone, which decides on the largest `λ`, too. A
    /// category enters `U` by its level indicators; columns that depend on others count once.
    ///
    /// Cost: at a given penalty a few passes over the data, fewer and fewer features each, and products of
    /// the features that are ever in a working set with each other; on the exact path products of those with
    /// all others. Sparse columns cost their stored values. Memory: little besides the table; a table that is
    /// not in memory is copied, standardised, up to 1 GiB, and beyond, columns are computed again. Of more
    /// than 4096 samples with squared errors and few dense features (128, or 20 for each that is asked for,
    /// at most 1024) all products, `n d² / 2`, in three times `d²` numbers. Of more than 4096 samples the
    /// answer has the bits of [passes](PassSelector), for one more pass over the table.
    ///
    /// # Errors
    /// A target without numbers or classes, or that does not vary, or that the loss is not defined for; a NaN
    /// or an infinity, naming the cell; no number of features where one is needed; parameters out of range;
    /// more folds than samples; an information criterion for a loss that has no likelihood; covariates that
    /// explain the target exactly, or that have no best coefficient, such as one that separates two classes.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Lasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = Lasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert!(selection.scores[0] > 0.0 && selection.scores[1] < 0.0);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Lasso {
        /// Loss of a fitted value.
        pub loss: LinearLoss = LinearLoss::Auto;
        /// How strong the penalty is.
        pub regularization: Regularization =
            Regularization::Count, offers(Value, Ratio, CrossValidated, OneStandardError, Information);
        /// Penalties from the largest useful one to the given one, each solved from the one before.
        ///
        /// They are evenly spaced in their logarithm. With more than 1 all are reported, as a path; where a
        /// number of features is asked for, the exact path is reported anyway. Where the data choose `λ` they
        /// do so on a path of their own, and more than 1 is an error.
        pub lambda_path: usize = 1, Count(1);
        /// Sign that coefficients may have.
        ///
        /// With `positive` the problem has the constraint `W ≥ 0`, and with `negative` `W ≤ 0`; the
        /// certificate is the duality gap of this problem, whose dual has no bound on correlations of the
        /// other sign.
        pub sign: Sign = Sign::Any;
        /// Features that are in the model without a penalty; not selected themselves.
        ///
        /// Age, batch and the like. Not with `hinge`.
        pub covariates: Vec<usize> = Vec::new();
        /// Features whose sum is added to the fitted values as it is; not selected themselves.
        ///
        /// Such as the logarithm of an exposure with `poisson`. In the unit of the target for real outputs,
        /// which are then standardised less the offset, of log odds with `logistic`, and of log hazards with
        /// `cox`. Not with other losses.
        pub offset: Vec<usize> = Vec::new();
        /// Solver; auto: the exact path for a number of features and squared errors, else coordinate descent.
        pub solver: SolverChoice = SolverChoice::Auto;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

options! {
    /// Elastic net (Zou and Hastie 2005): [`Lasso`] with a ridge, so that features that resemble each other
    /// are taken alike.
    ///
    /// ```text
    /// minimise over W   1/(2n) ‖Y − X W‖²_F + λ l1_ratio ‖W‖₁ + ½ λ (1 − l1_ratio) ‖W‖²_F
    /// ```
    ///
    /// With `Budget::Count(k)` the answer is for the first `λ` at which a search by bisection finds `k`
    /// features, or else for the smallest that it finds to leave fewer.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::ElasticNet;
    ///
    /// // Two copies of one feature: the ridge shares the coefficient between them.
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b) = (wave(1), wave(17));
    /// let target = Target::real(a.iter().map(|a| 3.0 * a).collect())?;
    /// let data = Dataset::new(DenseColumns::from_columns(&[a.clone(), b, a])?, target)?;
    /// let selection = ElasticNet::default().select(&data, Budget::Count(2), &Context::default())?;
    /// // Which of the two is first is a matter of rounding.
    /// assert!(selection.order.contains(&0) && selection.order.contains(&2));
    /// assert!((selection.scores[0] - selection.scores[1]).abs() < 1e-6);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct ElasticNet {
        /// Share of the l1 norm in the penalty; 1 is the lasso.
        pub l1_ratio: f64 = 0.5, Fraction;
        /// What it shares with the lasso.
        pub lasso: Lasso = Lasso::default();
    }
}

impl Selector for Lasso {
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
        let model = Model { method: "lasso", lasso: self, l1_ratio: 1.0, adaptive: None };
        model.select_many(data, budgets, context)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// From the products of all columns, where there is memory for them: two passes, for means and deviations and
/// for the products. Of more columns from the products of a working set: two passes, and two more for each
/// working set, one for its products and one that checks all columns. With squared errors, at a given penalty
/// or for a number of features, without covariates and offset. The selection has the bits of the table in
/// memory: both end with the problem of the columns that decide on the answer. At most 4096 rows are read as
/// they are, if there is memory for them: otherwise coefficients differ by rounding, about `1e-14` times the
/// condition number of the columns with one.
///
/// Memory: 24 bytes for each pair of columns whose products are summed.
impl PassSelector for Lasso {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        self.check()?;
        let model = Model { method: "lasso", lasso: self, l1_ratio: 1.0, adaptive: None };
        model.select_stream(stream, budget, context)
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl Selector for ElasticNet {
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
        let l1_ratio = self.l1_ratio;
        let model = Model { method: "elastic-net", lasso: &self.lasso, l1_ratio, adaptive: None };
        model.select_many(data, budgets, context)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// From the products of all columns, where there is memory for them: two passes, for means and deviations and
/// for the products. Of more columns from the products of a working set: two passes, and two more for each
/// working set, one for its products and one that checks all columns. With squared errors, at a given penalty
/// or for a number of features, without covariates and offset. The selection has the bits of the table in
/// memory: both end with the problem of the columns that decide on the answer. At most 4096 rows are read as
/// they are, if there is memory for them: otherwise coefficients differ by rounding, about `1e-14` times the
/// condition number of the columns with one.
///
/// Memory: 24 bytes for each pair of columns whose products are summed.
impl PassSelector for ElasticNet {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        self.check()?;
        let model =
            Model { method: "elastic-net", lasso: &self.lasso, l1_ratio: self.l1_ratio, adaptive: None };
        model.select_stream(stream, budget, context)
    }

    fn reads_parts(&self) -> bool {
        true
    }
}
