//! Grafting: a penalised model that grows by the features that improve it.

use fewest_cd::CoordinateDescent;
use fewest_columns::standardise;
use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Arrives, Budget, Certificate, Context, Dataset, Error, FedByFeatures, Held, Selection, Selector,
    SolverReport, State, Status, StreamMethod, StreamSelector, Target, options, streams_state,
};
use fewest_linalg::dot;
use fewest_newton::{LinearModel, Start};
use fewest_solver::loss::{Logistic, Loss, Samples, Separable, Squared};
use fewest_solver::{Control, DenseOperator, L1};

use crate::arrivals::{Arrivals, Arrived, Outcome, Verdict, one_output};
use crate::penalty;

const METHOD: &str = "grafting";
const TARGETS: &str = "one real output or two classes";

/// Most Newton steps after an admission.
const MOST_STEPS: u64 = 1_000_000;

options! {
    /// Grafting (Perkins and Theiler 2003; Section 5.1.1 of Li et al. 2016, Eq. 111, 112): a feature that
    /// arrives enters an l1-penalised linear model where it decreases the objective, and all of the model is
    /// then fitted again.
    ///
    /// ```text
    /// minimise over w, b    1/n Σ ℓ(yᵢ, xᵢᵀw + b) + λ ‖w‖₁           of the features admitted
    /// admit j               if |∂ loss / ∂wⱼ| > λ at the optimum of those admitted before
    /// ```
    ///
    /// (Eq. 112 as printed lacks the absolute value.) The loss is `½ (y − z)²` without `b` for a real output,
    /// which is standardised, and `ln(1 + exp(−y z))` with `b` for two classes `±1`, the one that sorts last
    /// `+1`. Features are standardised. A feature that is refused is not looked at again; one whose weight
    /// becomes 0 stays admitted, and may return. So the result depends on the order, and its objective is at
    /// least that of the [lasso](https://docs.rs/fewest-linear) over all features. The score is the weight.
    ///
    /// A stream needs the `λ` of `Regularization::Value`. For a table, `Ratio` is a share of the largest
    /// gradient without any feature, and `Count` the smallest `λ` found that leaves at most so many weights,
    /// each of which is a pass.
    ///
    /// Cost: `O(n)` for a refused feature, and a warm-started solve over those admitted for another. Memory:
    /// the admitted columns.
    ///
    /// # Errors
    /// As of [`AlphaInvesting`](crate::AlphaInvesting); a category of more than two levels.
    ///
    /// ```
    /// use fewest_core::method::Regularization;
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_streams::Grafting;
    ///
    /// let noise = |j: u64| (0..60).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let columns: Vec<Vec<f64>> = (0..9).map(noise).collect();
    /// let y = columns[2].iter().zip(&columns[6]).map(|(a, b)| a - 2.0 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
    /// let grafting = Grafting { regularization: Regularization::Ratio(0.4), ..Grafting::default() };
    /// assert_eq!(grafting.select(&data, Budget::Auto, &Context::default())?.order, [6, 2]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Grafting {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Duality gap to reach over the admitted features, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

impl Grafting {
    /// A selector to which features arrive.
    ///
    /// # Errors
    /// For options out of range, and for a penalty that is no number: it would take all features to find it.
    pub fn stream(&self) -> Result<GraftingStream, Error> {
        self.check()?;
        Ok(GraftingStream::new(self.regularization.lambda_of_stream()?, self.tolerance))
    }

    /// The answer at `lambda` after all features of `data`.
    fn run(&self, data: &Dataset, lambda: f64, context: &Context<'_>) -> Result<Selection, Error> {
        let make = || Ok(GraftingStream::new(lambda, self.tolerance));
        FedByFeatures::new(make, 1)?.select(data, Budget::Auto, context)
    }
}

impl StreamMethod for Grafting {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for Grafting {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        budget.check(data.n_features())?;
        let largest = || largest_gradient(data, context);
        penalty::select(self.regularization, budget, context, largest, |lambda| {
            self.run(data, lambda, context)
        })
    }
}

/// The largest absolute gradient without any feature: the smallest `lambda` that admits none.
fn largest_gradient(data: &Dataset, context: &Context<'_>) -> Result<f64, Error> {
    data.refuse_sample_weights(METHOD)?;
    let model = Model::of(data.target(), 1e-9, context)?;
    let gradients = fewest_columns::map_features(data, context, "gradients", |_, column| {
        let mut values = column.to_vec(data.n_samples());
        Ok(if standardise(&mut values) { dot(&values, &model.dual).abs() } else { 0.0 })
    })?;
    let largest = gradients.into_iter().fold(0.0, f64::max);
    if largest > 0.0 {
        return Ok(largest);
    }
    let expected = "a table with a feature that has anything to do with the target";
    Err(Error::parameter("lambda_ratio", "of a largest gradient of 0", expected))
}

/// The model of the admitted features at its optimum.
struct Model {
    loss: Box<dyn Loss + Send>,
    intercept: bool,
    columns: Vec<f64>,
    weights: Vec<f64>,
    intercepts: Vec<f64>,
    /// Minus the gradient of the loss with respect to the fitted values.
    dual: Vec<f64>,
    objective: f64,
    gap: f64,
    n_steps: u64,
}

impl Model {
    /// The best one without a feature.
    fn of(target: &Target, tolerance: f64, context: &Context<'_>) -> Result<Self, Error> {
        let y = one_output(target, METHOD, TARGETS, context)?;
        let samples = Samples::mean(y.len());
        let (loss, intercept): (Box<dyn Loss + Send>, bool) = match target {
            Target::Class(_) => {
                let signs = y.iter().map(|value| value.signum()).collect();
                (Box::new(Separable::new(Logistic, signs, samples)?), true)
            }
            _ => (Box::new(Separable::new(Squared, y, samples)?), false),
        };
        let mut model = Self {
            loss,
            intercept,
            columns: Vec::new(),
            weights: Vec::new(),
            intercepts: Vec::new(),
            dual: Vec::new(),
            objective: 0.0,
            gap: 0.0,
            n_steps: 0,
        };
        let control = Control { tolerance, ..Control::from(context) };
        let design = DenseOperator::new(Vec::new(), model.loss.n_samples(), 0)?;
        let null = model.with(&design).null(&control)?;
        (model.intercepts, model.dual, model.objective) = (null.intercepts, null.dual, null.objective);
        Ok(model)
    }

    fn with<'a>(&'a self, design: &'a DenseOperator) -> LinearModel<'a> {
        LinearModel { design, loss: &*self.loss, intercept: self.intercept }
    }

    /// Fits again, with another column.
    fn admit(
        &mut self,
        column: Vec<f64>,
        lambda: f64,
        tolerance: f64,
        context: &Context<'_>,
    ) -> Result<Status, Error> {
        let control =
            Control { tolerance, max_iterations: MOST_STEPS, progress: None, ..Control::from(context) };
        self.columns.extend(column);
        self.weights.push(0.0);
        let design = DenseOperator::new(self.columns.clone(), self.loss.n_samples(), self.weights.len())?;
        let model = self.with(&design);
        let null = model.null(&control)?;
        let start = Start { coefficients: self.weights.clone(), intercepts: self.intercepts.clone() };
        let penalty = L1::new(lambda, self.weights.len())?;
        let solver = CoordinateDescent::default();
        let found = model.minimise(&null, &penalty, &solver, Some(&start), &control)?;
        (self.weights, self.intercepts) = (found.solution.coefficients, found.intercepts);
        let mut fitted = vec![self.intercepts.first().copied().unwrap_or(0.0); self.loss.n_samples()];
        for (column, &weight) in self.columns.chunks_exact(fitted.len()).zip(&self.weights) {
            fewest_linalg::add_scaled(&mut fitted, weight, column);
        }
        self.loss.dual_point(&fitted, &mut self.dual);
        (self.objective, self.gap) = (found.solution.objective, found.solution.certificate.value());
        self.n_steps += found.solution.iterations;
        Ok(found.solution.status)
    }
}

/// [`Grafting`] on features that arrive.
pub struct GraftingStream {
    lambda: f64,
    tolerance: f64,
    arrivals: Arrivals,
    model: Option<Model>,
    admitted: Vec<(usize, String)>,
    status: Status,
    last: Option<Verdict>,
}

impl GraftingStream {
    fn new(lambda: f64, tolerance: f64) -> Self {
        Self {
            lambda,
            tolerance,
            arrivals: Arrivals::new(METHOD),
            model: None,
            admitted: Vec::new(),
            status: Status::Converged,
            last: None,
        }
    }

    /// What it was made with.
    fn made(&self) -> String {
        format!("lambda {:?} and tolerance {:?}", self.lambda, self.tolerance)
    }

    /// What came of the feature that arrived last.
    pub fn last(&self) -> Option<&Verdict> {
        self.last.as_ref()
    }

    /// The admitted features in the order of arrival; some may have no weight.
    pub fn admitted(&self) -> Vec<usize> {
        self.admitted.iter().map(|(feature, _)| *feature).collect()
    }

    fn decide(&mut self, arrived: Arrived, context: &Context<'_>) -> Result<(), Error> {
        let Some(model) = &mut self.model else { return Ok(()) };
        let mut column = arrived.values;
        let varies = standardise(&mut column);
        let gradient = if varies { dot(&column, &model.dual).abs() } else { 0.0 };
        let is_taken = gradient > self.lambda;
        if is_taken {
            let status = model.admit(column, self.lambda, self.tolerance, context)?;
            self.status = if status.is_stopped() { status } else { Status::worst([self.status, status]) };
            self.admitted.push((arrived.number, arrived.name));
        }
        self.last = Some(Verdict {
            feature: arrived.number,
            outcome: if is_taken { Outcome::Admitted } else { Outcome::Irrelevant },
            value: gradient,
            left: Vec::new(),
        });
        self.arrivals.done();
        Ok(())
    }
}

impl StreamSelector for GraftingStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        let Self { arrivals, admitted, model, tolerance, .. } = self;
        let group = arrivals.take(
            arrived,
            |name| admitted.iter().any(|(_, own)| own == name),
            |group| {
                *model = Some(Model::of(group.target(), *tolerance, context)?);
                Ok(())
            },
        )?;
        let instead = "leave it out, or make a column of 0 and 1 for each level";
        group.iter().try_for_each(|arrived| arrived.refuse_category(METHOD, instead))?;
        group.into_iter().try_for_each(|arrived| self.decide(arrived, context))
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        let n_arrived = self.arrivals.n_arrived();
        budget.check(n_arrived)?;
        let Some(model) = &self.model else {
            return Ok(Selection::new(Vec::new(), Vec::new(), n_arrived, self.status));
        };
        let weights = self.admitted.iter().zip(&model.weights).filter(|(_, weight)| **weight != 0.0);
        let weights = weights.map(|((feature, _), &weight)| (*feature, weight)).collect();
        let mut selection = Selection::by_weight(weights, n_arrived, budget, self.status);
        let certificate = Certificate::gap(model.gap);
        selection.solver = Some(
            SolverReport::new("newton", self.status, model.objective, certificate)
                .with_lambda(self.lambda)
                .with_iterations(model.n_steps as usize),
        );
        selection.notes.push(format!(
            "{} of {n_arrived} features were admitted: the model, and its gap, are of these alone",
            self.admitted.len()
        ));
        Ok(selection)
    }

    fn held(&self) -> Held {
        let numbers = self.model.as_ref().map_or(0, |model| {
            // The target is part of the loss.
            model.columns.len() + model.weights.len() + 2 * model.dual.len()
        });
        Held::new(self.admitted.len(), numbers)
    }

    fn name(&self, feature: usize) -> Option<&str> {
        self.admitted.iter().find(|(own, _)| *own == feature).map(|(_, name)| name.as_str())
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        let mut to = Vec::new();
        streams_state::save_maker::<Self>(&self.made(), &mut to);
        self.arrivals.target.save(&mut to);
        self.arrivals.n_arrived.save(&mut to);
        (self.admitted.clone(), self.status, self.last.clone()).save(&mut to);
        if let Some(model) = &self.model {
            (model.columns.clone(), model.weights.clone(), model.intercepts.clone()).save(&mut to);
            (model.dual.clone(), model.objective, model.gap).save(&mut to);
            model.n_steps.save(&mut to);
        }
        Ok(to)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        let mut from = state;
        streams_state::check_maker::<Self>(&self.made(), &mut from)?;
        let mut arrivals = Arrivals::new(METHOD);
        arrivals.target = State::load(&mut from)?;
        arrivals.n_arrived = State::load(&mut from)?;
        let (admitted, status, last) = State::load(&mut from)?;
        let mut model = None;
        if let Some(target) = &arrivals.target {
            arrivals.n_samples = target.n_samples().unwrap_or(0);
            // The loss is that of the target.
            let mut own = Model::of(target, self.tolerance, &Context::default())?;
            (own.columns, own.weights, own.intercepts) = State::load(&mut from)?;
            (own.dual, own.objective, own.gap) = State::load(&mut from)?;
            own.n_steps = State::load(&mut from)?;
            model = Some(own);
        }
        streams_state::check_end(from)?;
        (self.arrivals, self.admitted, self.status, self.last, self.model) =
            (arrivals, admitted, status, last, model);
        Ok(())
    }
}
