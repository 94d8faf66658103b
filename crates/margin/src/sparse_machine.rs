//! Support vector machines with an l1 penalty.

use fewest_cd::SquaredHingeDescent;
use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, options, words,
};
use fewest_simplex::L1Hinge;
use fewest_solver::{Datafit, ElasticNetPenalty, L1, LinearOperator, Penalty, SquaredHinge};

use super::design::Design;
use super::problems::{Binary, Multiclass, TRAINED, binaries, combined, control, feature_scores, select};
use fewest_solver::bisection::{self, PenaltyCandidate, Tried};

/// The smallest `1/C` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-5;

/// Why there are no more features.
const NO_OTHERS_AT_C: &str = "the weights of the others are 0; a larger `c` gives more features a weight";

/// Weights below this, relative to the largest or 1, are what rounding and the tolerance leave of zero.
const ROUNDING: f64 = 1e-8;

words! {
    /// The loss of a sparse support vector machine.
    #[derive(Default)]
    pub enum HingeLoss {
        /// `ξ²`.
        #[default]
        Squared = "squared-hinge",
        /// `ξ`, which makes the problem a linear program.
        Plain = "hinge",
    }
}

options! {
    /// L1-SVM: few features of a linear machine, by the l1 norm in place of the l2 norm (Bradley and
    /// Mangasarian 1998; Fung and Mangasarian 2000; squared hinge: Fan, Chang, Hsieh, Wang and Lin 2008):
    ///
    /// ```text
    /// minimise over w, b   ‖w‖₁ + C Σ_i ξ_i²  (or Σ_i ξ_i),     ξ_i = max(0, 1 − y_i (⟨w, x_i⟩ + b))
    ///
    /// score(k) = w_k
    /// ```
    ///
    /// on standardised features, the bias without penalty; of two classes the one that sorts last is `y = 1`.
    /// With more classes every machine ([`Multiclass`]) has the same `C`, and the score is `√Σ w_k²` over
    /// them; so it is over the level indicators of a category of more than two levels. Without a `C` it is
    /// the largest that a search up from that which selects nothing, and then by bisection, finds to leave at
    /// most `k` features.
    ///
    /// Squared hinge: [`SquaredHingeDescent`], certified by the duality gap relative to the objective at
    /// `w = 0`. Plain hinge: a linear program by the simplex method with column generation ([`L1Hinge`]),
    /// whose dual point keeps all conditions. The report has `lambda = 1/C`.
    ///
    /// Cost: `n d` for each pass over all features, a few for each `C`; with `k` features chosen `n k²` a
    /// Newton step. Memory: a standardised copy of the data (sparse columns stay sparse).
    ///
    /// # Errors
    /// A target without classes or with one only; no number of features where there is no `C`; a NaN or an
    /// infinity, naming the cell; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::L1Svm;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.1, 0.3, 0.2, 0.1], vec![-2.0, -1.0, 1.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = L1Svm::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// assert!(selection.scores[0] > 0.0);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct L1Svm {
        /// C, cost of errors; when left out, the number of features decides.
        pub c: Option<f64> = None, Positive, decides_count;
        /// Loss of a sample inside the margin: ξ², or ξ by a linear program.
        pub loss: HingeLoss = HingeLoss::Squared;
        /// More than two classes: a machine for each class, or for each pair of classes.
        pub multiclass: Multiclass = Multiclass::OneVsRest;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

options! {
    /// The doubly regularised support vector machine (Wang, Zhu and Zou 2006), with the squared hinge:
    ///
    /// ```text
    /// minimise over w, b   r ‖w‖₁ + ½ (1 − r) ‖w‖² + C Σ_i ξ_i²,      score(k) = w_k
    /// ```
    ///
    /// with the share `r` of the l1 norm: similar features are selected together, where [`L1Svm`]
    /// takes one of them. All else as there.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::ElasticNetSvm;
    ///
    /// // Two copies of one feature share the weight.
    /// let (a, b) = (vec![-2.0, -1.0, 1.0, 2.0], vec![0.1, 0.3, 0.2, 0.1]);
    /// let x = DenseColumns::from_columns(&[a.clone(), b, a])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = ElasticNetSvm::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert!((selection.scores[0] - selection.scores[1]).abs() < 1e-6);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ElasticNetSvm {
        /// C, cost of errors; when left out, the number of features decides.
        pub c: Option<f64> = None, Positive, decides_count;
        /// Share r of the l1 norm in the penalty; 1 is l1-svm.
        pub l1_ratio: f64 = 0.5, Fraction;
        /// More than two classes: a machine for each class, or for each pair of classes.
        pub multiclass: Multiclass = Multiclass::OneVsRest;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// A machine of two classes to be made sparse.
struct Machine<'a> {
    datafit: SquaredHinge<&'a Design>,
    labels: Vec<f64>,
    /// For the plain hinge; it begins where it ended before.
    program: L1Hinge<'a, Design>,
}

impl<'a> Machine<'a> {
    fn new(problem: &Binary, samples: &'a Design) -> Result<Self, Error> {
        let labels = problem.labels();
        let costs = vec![1.0; labels.len()];
        let program = L1Hinge::new(samples, labels.clone(), costs, true)?;
        Ok(Self { datafit: SquaredHinge::new(samples, labels.clone())?, labels, program })
    }
}

/// The machines at one penalty.
#[derive(Clone)]
struct Fit {
    weights: Vec<Vec<f64>>,
    n_features: usize,
    report: SolverReport,
}

impl PenaltyCandidate for Fit {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn status(&self) -> Status {
        self.report.status
    }
}

/// What both selectors ask for.
struct Request {
    method: &'static str,
    c: Option<f64>,
    loss: HingeLoss,
    l1_ratio: f64,
    multiclass: Multiclass,
    tolerance: f64,
}

impl Request {
    /// `1/C` at and above which every weight is 0: exact for the squared hinge, a bound for the plain one.
    fn largest_penalty(&self, machine: &Machine<'_>) -> f64 {
        let n = machine.datafit.n_coefficients();
        let mut gradient = vec![0.0; n];
        let pull = |gradient: &[f64]| gradient.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        match self.loss {
            HingeLoss::Squared => {
                machine.datafit.gradient(&vec![0.0; n], &mut gradient);
                pull(&gradient) / self.l1_ratio
            }
            HingeLoss::Plain => {
                // With u = 1 for the smaller class, any u for the other makes an optimum at w = 0; this one
                // is balanced.
                let positive = machine.labels.iter().filter(|y| **y > 0.0).count() as f64;
                let negative = machine.labels.len() as f64 - positive;
                let least = positive.min(negative);
                let dual: Vec<f64> = machine
                    .labels
                    .iter()
                    .map(|y| if *y > 0.0 { least / positive } else { -least / negative })
                    .collect();
                machine.datafit.operator().apply_transpose(&dual, &mut gradient);
                pull(&gradient)
            }
        }
    }

    fn machine(
        &self,
        machine: &mut Machine<'_>,
        penalty: f64,
        start: Option<&Vec<f64>>,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, SolverReport), Error> {
        context.go_on(TRAINED)?;
        let n = machine.datafit.n_coefficients();
        // Solved is the problem divided by C.
        let report = |status, divided: f64, certificate, iterations| {
            SolverReport::new(
                if self.loss == HingeLoss::Squared { "cd" } else { "simplex" },
                status,
                divided / penalty,
                certificate,
            )
            .with_lambda(penalty)
            .with_iterations(iterations)
        };
        match self.loss {
            HingeLoss::Squared => {
                let l1 = L1::new(penalty * self.l1_ratio, n)?;
                let mixed: Box<dyn Penalty> = if self.l1_ratio < 1.0 {
                    Box::new(ElasticNetPenalty::new(l1, penalty * (1.0 - self.l1_ratio))?)
                } else {
                    Box::new(l1)
                };
                let start = start.map_or(&[][..], |start| start);
                let control = control(self.tolerance, context)?;
                let found =
                    SquaredHingeDescent::default().minimise(&machine.datafit, &*mixed, start, &control)?;
                let report =
                    report(found.status, found.objective, found.certificate, found.iterations as usize);
                Ok((found.coefficients, report))
            }
            HingeLoss::Plain => {
                let found =
                    machine.program.minimise(&vec![penalty; n], &control(self.tolerance, context)?)?;
                let norm: f64 = found.weights.iter().map(|w| w.abs()).sum();
                let objective = found.loss + penalty * norm;
                Ok((found.weights, report(found.status, objective, Certificate::gap(found.gap), found.steps)))
            }
        }
    }

    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        let problems = binaries(data, self.method, self.multiclass)?;
        let design = Design::new(data, self.method, context)?;
        let parts: Vec<Option<Design>> = problems.iter().map(|problem| problem.samples(&design)).collect();
        let mut machines = problems
            .iter()
            .zip(&parts)
            .map(|(problem, part)| match context.stopped() {
                Some(_) => Err(Error::Stopped { before: TRAINED }),
                None => Machine::new(problem, part.as_ref().unwrap_or(&design)),
            })
            .collect::<Result<Vec<Machine<'_>>, Error>>()?;
        let mut largest = 0.0_f64;
        if self.c.is_none() {
            for machine in &machines {
                context.go_on(TRAINED)?;
                largest = largest.max(self.largest_penalty(machine));
            }
        }
        let mut solve = |penalty: f64, before: Option<&Fit>| -> Result<Fit, Error> {
            let found = fewest_parallel::chunks(&mut machines, 1, |at, machine| {
                let start = before.map(|fit| &fit.weights[at]);
                machine.iter_mut().map(|machine| self.machine(machine, penalty, start, context)).collect()
            });
            let (mut weights, mut reports) = (Vec::new(), Vec::new());
            let found: Vec<Vec<(Vec<f64>, SolverReport)>> =
                found.into_iter().collect::<Result<_, Error>>()?;
            for (mut w, report) in found.into_iter().flatten() {
                if self.loss == HingeLoss::Squared {
                    // Features have variance 1 and margins are of size 1, so that these change no decision.
                    let least = ROUNDING * w.iter().fold(1.0_f64, |most, w| most.max(w.abs()));
                    w.iter_mut().filter(|w| w.abs() < least).for_each(|w| *w = 0.0);
                }
                weights.push(w);
                reports.push(report);
            }
            let n_features = feature_scores(&design, &weights).iter().filter(|score| **score != 0.0).count();
            let report =
                combined(reports).ok_or(Error::Stopped { before: "the first machine was trained" })?;
            Ok(Fit { weights, n_features, report })
        };
        let fit = match (self.c, budget) {
            (Some(c), _) => solve(c.recip(), None)?,
            (None, budget) => {
                let k = budget.count(&["c"])?;
                if largest > 0.0 {
                    let (mut fit, stopped) =
                        bisection::search(largest, SMALLEST_RATIO, k, context, &mut Tried::none(), solve)?;
                    fit.report.status = stopped.unwrap_or(fit.report.status);
                    fit
                } else {
                    solve(1.0, None)?
                }
            }
        };
        select(&feature_scores(&design, &fit.weights), budget, fit.report, NO_OTHERS_AT_C)
    }
}

impl Selector for L1Svm {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        let Self { c, loss, multiclass, tolerance } = *self;
        Request { method: "l1-svm", c, loss, l1_ratio: 1.0, multiclass, tolerance }
            .select(data, budget, context)
    }
}

impl Selector for ElasticNetSvm {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        let Self { c, l1_ratio, multiclass, tolerance } = *self;
        let loss = HingeLoss::Squared;
        Request { method: "enet-svm", c, loss, l1_ratio, multiclass, tolerance }.select(data, budget, context)
    }
}
