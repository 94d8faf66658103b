//! Online group feature selection: spectral criteria inside a group, the lasso across groups.

use fewest_cd::CoordinateDescent;
use fewest_columns::standardise;
use fewest_core::method::Options;
use fewest_core::{
    Arrives, Budget, Certificate, Context, Dataset, Error, Held, Selection, Selector, SolverReport, Status,
    StreamMethod, StreamSelector, Target, options, state, stream_state,
};
use fewest_newton::{LinearModel, Start};
use fewest_solver::loss::{Samples, Separable, Squared};
use fewest_solver::{Control, DenseOperator, GroupLasso, L1, Penalty};

use super::scatter::{Scatter, Taken};
use super::{ArrivingGroups, ByGroups};
use crate::arrivals::{Arrivals, Arrived, Outcome, Verdict, one_output};

const METHOD: &str = "ogfs";

/// Most Newton steps of a model.
const MOST_STEPS: u64 = 1_000_000;

options! {
    /// Online group feature selection (Wang, Zhao, Hu, Cheung, Wang and Wu 2013; Section 5.1.4 of Li et al.
    /// 2016): features arrive in groups; of a group those are taken that separate the classes, and of all
    /// taken so far those stay that a sparse linear model needs.
    ///
    /// ```text
    /// b(j) = Σ_c n_c (μ_jc − μ_j)²,   w(j) = Σ_c Σ_{i in c} (x_ij − μ_jc)²,   s(j) = b(j) / w(j)
    /// F(U) = Σ_{j in U} b(j) / Σ_{j in U} w(j),   F of no feature 0
    ///
    /// in a group, U those taken of it so far:
    ///   take f   if F(U ∪ f) − F(U) > ε
    ///   or       if s(f) is larger than the mean of s over U by Student's t: (s(f) − mean) √|U| / sd,
    ///            one-sided, |U| − 1 degrees of freedom, p < α
    /// after the group, over all taken so far:
    ///   minimise over β  1/(2n) ‖y − X β‖² + λ ‖β‖₁,   features with βⱼ = 0 leave;   score(j) = βⱼ
    /// ```
    ///
    /// This is a reconstruction. The paper was not available to us, and the survey gives neither thresholds
    /// nor `λ`: `ε = 0.001` and `λ = 0.001` are what the program of the authors takes (there `λ` times a sum
    /// of squares, not a mean), `α = 0.05` is the value that others report for the paper. `F` and `s` are
    /// trace ratios with the graphs of the Fisher score. The program takes features that separate worse as
    /// well (an absolute value), compares with all features taken, and ends after the first one; here a group
    /// is compared with itself, as the survey describes it. More than two classes have a centred indicator
    /// each and `λ Σⱼ ‖Bⱼ‖₂` in place of the l1 norm; the score is then `‖Bⱼ‖₂`. Features are standardised.
    ///
    /// What leaves is gone, so that the answer depends on the order of the groups, and of the features in a
    /// group. In a stream the features of one update are a group, or `width` features in a row; an answer
    /// before a group is complete is as if it ended there.
    ///
    /// Cost: `O(n)` a feature, and a warm-started sparse regression over those taken for a group. Memory: the
    /// columns of those taken.
    ///
    /// # Errors
    /// A target without classes; fewer than two classes that occur; a NaN or an infinity, naming the cell;
    /// sample weights; a category of more than two levels; groups that overlap; an arriving feature with
    /// other samples, another target, or the name of a selected one.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Groups, Selector, Target};
    /// use fewest_streams::Ogfs;
    ///
    /// let noise = |j: u64| (0..80).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let columns: Vec<Vec<f64>> = (0..8).map(noise).collect();
    /// let labels: Vec<bool> = columns[2].iter().zip(&columns[6]).map(|(a, b)| a > b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?
    ///     .with_feature_groups(Groups::partition((0..8).map(|j| j / 4).collect()))?;
    /// let selection = Ogfs::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert!(selection.order.contains(&2) && selection.order.contains(&6));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Ogfs {
        /// Which features of a table arrive together: the groups given, or features in a row.
        pub groups: ArrivingGroups = ArrivingGroups::Given;
        /// How much a feature must add to the ratio F of its group, ε.
        pub gain: f64 = 0.001, NonNegative;
        /// Significance at which a score above those of the group is enough, α.
        pub alpha: f64 = 0.05, ProperFraction;
        /// Penalty λ of the model across groups.
        pub lambda: f64 = 0.001, Positive;
        /// Duality gap to reach over the features taken, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

impl Ogfs {
    /// A selector to which groups of features arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<OgfsStream, Error> {
        self.check()?;
        Ok(OgfsStream {
            options: *self,
            arrivals: Arrivals::new(METHOD),
            classes: Vec::new(),
            outputs: Vec::new(),
            kept: Vec::new(),
            columns: Vec::new(),
            weights: Vec::new(),
            fit: Fit { objective: 0.0, gap: 0.0, n_steps: 0, status: Status::Converged },
            waiting: Vec::new(),
            last: Vec::new(),
        })
    }
}

impl StreamMethod for Ogfs {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for Ogfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One pass over the features serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let by_updates = Self { groups: ArrivingGroups::Given, ..*self };
        self.groups.select(|| by_updates.stream(), data, budgets, context)
    }
}

/// [`Ogfs`] on groups of features that arrive.
#[derive(Clone)]
pub struct OgfsStream {
    options: Ogfs,
    arrivals: Arrivals,
    /// The class of each sample, of those that occur.
    classes: Vec<usize>,
    /// What the model is to predict, output after output.
    outputs: Vec<f64>,
    kept: Vec<Kept>,
    /// Those of the features kept, standardised, one after the other.
    columns: Vec<f64>,
    /// Of each feature kept, one for each output.
    weights: Vec<f64>,
    fit: Fit,
    /// Features of a group that is not complete.
    waiting: Vec<Arrived>,
    last: Vec<Verdict>,
}

/// A feature that is kept.
#[derive(Clone)]
struct Kept {
    feature: usize,
    name: String,
}

state!(Kept { feature, name });

/// How the last model was found.
#[derive(Clone, Copy)]
struct Fit {
    objective: f64,
    gap: f64,
    n_steps: u64,
    status: Status,
}

state!(Fit { objective, gap, n_steps, status });

impl OgfsStream {
    /// What came of the features of the last group. The last of them says which older features left.
    pub fn last(&self) -> &[Verdict] {
        &self.last
    }

    /// The features kept, in the order of arrival; after a stopped run some may have no weight.
    pub fn kept(&self) -> Vec<usize> {
        self.kept.iter().map(|kept| kept.feature).collect()
    }

    fn n_outputs(&self) -> usize {
        self.outputs.len() / self.classes.len().max(1)
    }

    /// The sparse model of all in `columns`, from `start`.
    fn model(
        &self,
        columns: Vec<f64>,
        start: Vec<f64>,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Fit), Error> {
        let (n, c) = (self.classes.len(), self.n_outputs());
        let size = start.len() / c;
        let loss = Separable::new(Squared, self.outputs.clone(), Samples::mean(n))?;
        let design = DenseOperator::new(columns, n, size)?;
        let model = LinearModel { design: &design, loss: &loss, intercept: false };
        let Ogfs { lambda, tolerance, .. } = self.options;
        let penalty: Box<dyn Penalty> = if c == 1 {
            Box::new(L1::new(lambda, size)?)
        } else {
            let rows: Vec<usize> = (0..size).flat_map(|j| std::iter::repeat_n(j, c)).collect();
            Box::new(GroupLasso::new(lambda, &rows)?)
        };
        let control =
            Control { tolerance, max_iterations: MOST_STEPS, progress: None, ..Control::from(context) };
        let null = model.null(&control)?;
        let start = Start { coefficients: start, intercepts: vec![0.0; c] };
        let found =
            model.minimise(&null, &*penalty, &CoordinateDescent::default(), Some(&start), &control)?;
        let solution = found.solution;
        let fit = Fit {
            objective: solution.objective,
            gap: solution.certificate.value(),
            n_steps: self.fit.n_steps + solution.iterations,
            status: solution.status,
        };
        Ok((solution.coefficients, fit))
    }

    /// The weight of each feature kept: its coefficient, or the norm of its coefficients.
    fn sizes(&self) -> Vec<f64> {
        let size = |row: &[f64]| match row {
            [weight] => *weight,
            row => row.iter().map(|weight| weight * weight).sum::<f64>().sqrt(),
        };
        self.weights.chunks_exact(self.n_outputs().max(1)).map(size).collect()
    }
}

/// The class of each sample, and what a linear model is to predict.
fn learnt(target: &Target, context: &Context<'_>) -> Result<(Vec<usize>, Vec<f64>), Error> {
    let unsupported =
        || Error::UnsupportedTarget { method: METHOD, expected: "classes", found: target.describe() };
    let Target::Class(found) = target else { return Err(unsupported()) };
    let occurring = found.occurring();
    let place = |code: &u32| occurring.iter().position(|other| other == code);
    let classes: Vec<usize> = found.codes().iter().filter_map(place).collect();
    match occurring.len() {
        0 | 1 => Err(unsupported()),
        2 => Ok((classes, one_output(target, METHOD, "classes", context)?)),
        many => {
            let indicator = |class: usize| {
                let mut output: Vec<f64> =
                    classes.iter().map(|own| f64::from(u8::from(*own == class))).collect();
                fewest_linalg::centre(&mut output);
                output
            };
            let outputs = (0..many).flat_map(indicator).collect();
            Ok((classes, outputs))
        }
    }
}

impl ByGroups for OgfsStream {
    fn parts(&mut self) -> (ArrivingGroups, &mut Arrivals, &mut Vec<Arrived>) {
        (self.options.groups, &mut self.arrivals, &mut self.waiting)
    }

    fn learn(&mut self, group: &[Arrived], context: &Context<'_>) -> Result<(), Error> {
        let n_classes = self.classes.iter().max().map_or(0, |last| last + 1);
        let (n, c, n_before) = (self.classes.len(), self.n_outputs(), self.kept.len());
        let (mut taken, mut verdicts) = (Taken::default(), Vec::with_capacity(group.len()));
        let (mut kept, mut columns) = (self.kept.clone(), self.columns.clone());
        for own in group {
            let mut values = own.values.clone();
            let varies = standardise(&mut values);
            let scatter = varies.then(|| Scatter::of(&values, &self.classes, n_classes));
            let lacked = scatter.filter(|scatter| taken.lacks(*scatter, &self.options));
            verdicts.push(Verdict {
                feature: own.number,
                outcome: if lacked.is_some() { Outcome::Admitted } else { Outcome::Irrelevant },
                value: scatter.map_or(0.0, Scatter::score),
                left: Vec::new(),
            });
            if let Some(scatter) = lacked {
                taken.add(scatter);
                kept.push(Kept { feature: own.number, name: own.name.clone() });
                columns.extend(values);
            }
        }
        if kept.len() > n_before {
            let mut weights = self.weights.clone();
            weights.resize(kept.len() * c, 0.0);
            let (weights, fit) = self.model(columns.clone(), weights, context)?;
            self.fit = fit;
            // Of a model that was stopped a zero says nothing yet.
            let stays = |at: usize| {
                fit.status.is_stopped() || weights[at * c..][..c].iter().any(|weight| *weight != 0.0)
            };
            let (mut left, mut new) = (Vec::new(), Vec::new());
            (self.kept, self.columns, self.weights) = (Vec::new(), Vec::new(), Vec::new());
            for (at, own) in kept.into_iter().enumerate() {
                if stays(at) {
                    self.kept.push(own);
                    self.columns.extend_from_slice(&columns[at * n..][..n]);
                    self.weights.extend_from_slice(&weights[at * c..][..c]);
                } else if at < n_before {
                    left.push(own.feature);
                } else {
                    new.push(own.feature);
                }
            }
            for verdict in verdicts.iter_mut().filter(|verdict| new.contains(&verdict.feature)) {
                verdict.outcome = Outcome::Redundant;
            }
            if let Some(last) = verdicts.last_mut() {
                last.left = left;
            }
        }
        self.last = verdicts;
        Ok(())
    }
}

impl StreamSelector for OgfsStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        let Self { arrivals, kept, classes, outputs, waiting, .. } = self;
        let held = kept.iter().map(|own| &own.name).chain(waiting.iter().map(|own| &own.name));
        let arrived = arrivals.take(
            arrived,
            |name| held.clone().any(|own| own == name),
            |group| {
                (*classes, *outputs) = learnt(group.target(), context)?;
                Ok(())
            },
        )?;
        let instead = "leave it out, or make a column of 0 and 1 for each level";
        arrived.iter().try_for_each(|arrived| arrived.refuse_category(METHOD, instead))?;
        self.take(arrived, context)
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        if let Some(selection) = self.with_waiting(&self.waiting, budget)? {
            return Ok(selection);
        }
        let n_arrived = self.arrivals.n_arrived();
        budget.check(n_arrived)?;
        let weights = self.kept.iter().zip(self.sizes()).filter(|(_, weight)| *weight != 0.0);
        let weights = weights.map(|(kept, weight)| (kept.feature, weight)).collect();
        let Fit { objective, gap, n_steps, status } = self.fit;
        let mut selection = Selection::by_weight(weights, n_arrived, budget, status);
        if !self.kept.is_empty() {
            selection.solver = Some(
                SolverReport::new("newton", status, objective, Certificate::gap(gap))
                    .with_lambda(self.options.lambda)
                    .with_iterations(n_steps as usize),
            );
        }
        selection.note_missing_features(budget, "no other feature separates the classes and has a weight");
        Ok(selection)
    }

    fn held(&self) -> Held {
        let waiting: usize = self.waiting.iter().map(|own| own.values.len()).sum();
        let numbers = self.columns.len() + self.weights.len() + self.outputs.len();
        Held::new(self.kept.len() + self.waiting.len(), numbers + waiting)
    }

    fn name(&self, feature: usize) -> Option<&str> {
        let kept = self.kept.iter().map(|own| (own.feature, &own.name));
        let mut held = kept.chain(self.waiting.iter().map(|own| (own.number, &own.name)));
        held.find(|(own, _)| *own == feature).map(|(_, name)| name.as_str())
    }

    fn group_width(&self) -> usize {
        self.options.groups.width()
    }

    stream_state!(options; arrivals.target, arrivals.n_samples, arrivals.n_arrived, classes, outputs, kept,
        columns, weights, fit, waiting, last);
}
