//! Few rows of coefficients: features chosen for all outputs together.

use fewest_cd::CoordinateDescent;
use fewest_columns::standardised_outputs;
use fewest_core::method::{Options, Regularization};
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Target, options, room, words};
use fewest_linalg::centre;
use fewest_newton::{LinearModel, Start};
use fewest_solver::loss::{Logistic, Loss, Multinomial, Samples, Separable, Squared};
use fewest_solver::{GroupLasso, Links, Penalty};

use super::columns::LinearColumns;
use super::linked::{LinkedSamples, MOST_ROWS, Relation, n_rows};
use super::loss::places;
use super::penalised::{Penalised, Solved, opened};

words! {
    /// The logistic loss of several classes.
    #[derive(Default)]
    pub enum ClassLoss {
        /// `ln Σₖ exp(zₖ) − z` of the class: the probabilities of the classes add up to one.
        #[default]
        Softmax = "softmax",
        /// `Σₖ ln(1 + exp(−yₖ zₖ))`, `yₖ = ±1`: each class against the rest.
        OneVsRest = "ovr",
    }
}

options! {
    /// Least squares with an l2,1 norm: few features that predict all outputs (Section 2.3.2 of Li et al.
    /// 2016, Eq. 61; Obozinski, Taskar and Jordan 2010; Liu, Ji and Ye 2009; the group lasso of several
    /// tasks).
    ///
    /// ```text
    /// minimise over W   1/(2n) ‖Y − X W‖²_F + λ Σⱼ ‖Wⱼ‖₂,     score(k) = ‖W_k‖₂
    /// ```
    ///
    /// Features are standardised; a category of more than two levels enters by its level indicators, which
    /// are one row together. Real outputs are standardised; of classes `Y` has a centred indicator each. As
    /// printed, without the factor `1/(2n)`, the penalty is `2n λ`. With one output it is the lasso.
    ///
    /// With `Budget::Count(k)` the answer is for the smallest `λ` that a search by bisection finds to leave
    /// at most `k` features.
    ///
    /// Cost: `n d c` for each of a handful of passes; with `k` features chosen `n k c` a sweep over them.
    ///
    /// # Errors
    /// A target without numbers or classes, or that does not vary; a NaN or an infinity, naming the cell; no
    /// number of features where one is needed; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::L21;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// // Two outputs, the second after the first: of features 0 and 2, and of 2 alone.
    /// let sum = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c);
    /// let outputs = sum.chain(c.iter().copied()).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c.clone()])?, Target::outputs(outputs, 60)?)?;
    /// let selection = L21::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [2, 0]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct L21 {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

options! {
    /// l2,1 logistic regression: few features that tell all classes apart (Section 2.3.2 of Li et al. 2016;
    /// Obozinski, Taskar and Jordan 2010; Liu, Ji and Ye 2009).
    ///
    /// ```text
    /// minimise over W, b   1/n Σᵢ [ln Σₖ exp(fᵢₖ) − fᵢ of the class of i] + λ Σⱼ ‖Wⱼ‖₂,     F = X W + 1 bᵀ
    ///
    /// score(k) = ‖W_k‖₂
    /// ```
    ///
    /// Features are standardised; a category of more than two levels enters by its level indicators, which
    /// are one row together. With `loss=ovr` the loss is the sum of the logistic losses of each class against
    /// the rest (Eq. 61 with that loss). Two classes and the softmax are `lasso` with `loss=logistic` and
    /// `λ/√2`.
    ///
    /// Cost: `n d c` for each of a handful of passes; with `k` features chosen `n k² c²/2` a Newton step.
    ///
    /// # Errors
    /// A target without classes or with one only; a NaN or an infinity, naming the cell; no number of
    /// features where one is needed; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::L21Logistic;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let classes = a.iter().zip(&c).map(|(a, c)| u8::from(*a > 0.0) + u8::from(*c > 0.3));
    /// let target = Target::from_labels(&classes.collect::<Vec<u8>>());
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, target)?;
    /// let selection = L21Logistic::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct L21Logistic {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Loss: one model of all classes, or a sum of models of one class against the rest.
        pub loss: ClassLoss = ClassLoss::Softmax;
        /// Whether a constant for each class is fitted without a penalty, too.
        pub intercept: bool = true;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The rows of the coefficients, those of all columns of a feature together: its number for each coefficient.
pub(super) fn rows(columns: &LinearColumns<'_>, n_columns: usize, n_outputs: usize) -> Vec<usize> {
    (0..n_columns).flat_map(|j| std::iter::repeat_n(columns.feature(j), n_outputs)).collect()
}

/// The outputs of classes, or an error for `method`: a centred indicator each.
pub(super) fn class_outputs(
    target: &Target,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let (classes, n_classes) = places(method, target)?;
    let size = [classes.len(), n_classes];
    let instead = "are these classes, or names? use fewer samples or classes";
    let mut all = room("memory for an indicator of each class", &size, method, instead)?;
    for k in 0..n_classes {
        // With thousands of classes this is work.
        context.go_on("the target was standardised")?;
        let mut output: Vec<f64> = classes.iter().map(|&class| f64::from(class == k)).collect();
        centre(&mut output);
        all.extend(output);
    }
    Ok(all)
}

/// A model whose features are chosen by the norms of their rows.
struct RowModel<'a> {
    method: &'static str,
    /// Of the samples, and of the rows of the relations below them.
    loss: &'a dyn Loss,
    intercept: bool,
    relations: &'a [Relation],
    /// All samples without a target, and which of them have one, where not all have.
    around: Option<(&'a Dataset, &'a [usize])>,
    /// Weight of half the squared coefficients.
    ridge: f64,
    regularization: Regularization,
    tolerance: f64,
}

/// `1/(2n) [‖Y − X W‖² + ridge ‖W‖² + Σ ‖B X W‖²] + λ Σⱼ ‖Wⱼ‖₂`, with a matrix `B` for every relation.
pub(super) struct LeastSquares<'a> {
    pub(super) method: &'static str,
    pub(super) relations: &'a [Relation],
    /// All samples that are related, and which of them the data are, where these are not all.
    pub(super) around: Option<(&'a Dataset, &'a [usize])>,
    pub(super) ridge: f64,
    pub(super) regularization: Regularization,
    pub(super) tolerance: f64,
}

impl LeastSquares<'_> {
    pub(super) fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let Self { method, relations, around, ridge, regularization, tolerance } = *self;
        let outputs = match data.target() {
            target @ Target::Class(_) => class_outputs(target, method, context)?,
            target => standardised_outputs(target, method, context)?.concat(),
        };
        let n = data.n_samples();
        let below = n_rows(relations);
        let n_outputs = outputs.len() / n.max(1);
        if below.saturating_mul(n_outputs) > MOST_ROWS {
            return Err(Error::Unsupported {
                method,
                what: format!("{below} differences of related samples, times {n_outputs} outputs"),
                instead: format!("give links or relations of at most {MOST_ROWS} in all"),
            });
        }
        let targets = outputs
            .chunks_exact(n.max(1))
            .flat_map(|output| output.iter().copied().chain(std::iter::repeat_n(0.0, below)));
        let share = (n as f64).recip();
        let loss = Separable::new(Squared, targets.collect(), Samples::equal(n + below, share))?;
        let (loss, ridge) = (&loss, ridge * share);
        RowModel { method, loss, intercept: false, relations, around, ridge, regularization, tolerance }
            .select_many(data, budgets, context)
    }
}

impl RowModel<'_> {
    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let control = opened(data, budgets, self.tolerance, context)?;
        data.refuse_sample_weights(self.method)?;
        let all = self.around.map_or(data, |(all, _)| all);
        let columns = LinearColumns::with_outputs(all, self.method, Vec::new(), context)?;
        let labelled = self.around.map(|(_, rows)| rows);
        let design = LinkedSamples { inner: &columns, labelled, relations: self.relations };
        let model = LinearModel { design: &design, loss: self.loss, intercept: self.intercept };
        let ridge = (self.ridge > 0.0).then(|| Links::ridge(model.n_coefficients(), self.ridge));
        let null = model.null(&control)?;
        let n_outputs = self.loss.n_outputs();
        let rows = rows(&columns, model.n_coefficients() / n_outputs, n_outputs);
        let mut solve = |lambda: f64, start: Option<&Start>| {
            let penalty = GroupLasso::new(lambda, &rows)?;
            let solver = CoordinateDescent::default();
            let solved = model.minimise_linked(&null, &penalty, ridge.as_ref(), &solver, start, &control);
            solved.map(Solved::from)
        };
        let mut problem = Penalised {
            columns: &columns,
            n_outputs,
            regularization: self.regularization,
            n_path: 1,
            is_signed: false,
            largest: GroupLasso::new(1.0, &rows)?.dual_norm(&null.correlations),
            solver: "newton",
            solve: &mut solve,
            profiled: None,
        };
        problem.select_many(budgets, data.n_features(), context)
    }
}

impl Selector for L21 {
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
        let Self { regularization, tolerance } = *self;
        LeastSquares { method: "l21", relations: &[], around: None, ridge: 0.0, regularization, tolerance }
            .select_many(data, budgets, context)
    }
}

impl Selector for L21Logistic {
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
        let method = "l21-logistic";
        let (classes, n_classes) = places(method, data.target())?;
        let samples = Samples::mean(classes.len());
        let loss: Box<dyn Loss> = match self.loss {
            ClassLoss::Softmax => Box::new(Multinomial::new(classes, n_classes, samples)?),
            ClassLoss::OneVsRest => {
                let sign = |own: bool| if own { 1.0 } else { -1.0 };
                let labels = (0..n_classes).flat_map(|k| classes.iter().map(move |&class| sign(class == k)));
                Box::new(Separable::new(Logistic, labels.collect(), samples)?)
            }
        };
        let Self { regularization, intercept, tolerance, .. } = *self;
        let loss = &*loss;
        RowModel {
            method,
            loss,
            intercept,
            relations: &[],
            around: None,
            ridge: 0.0,
            regularization,
            tolerance,
        }
        .select_many(data, budgets, context)
    }
}
