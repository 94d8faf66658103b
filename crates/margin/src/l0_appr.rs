//! The zero norm of a machine's weights, by training on rescaled features again and again.

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, options, words,
};
use fewest_solver::LinearOperator;

use super::design::Design;
use super::machine::{Task, train};
use super::problems::{
    Binary, Multiclass, NO_OTHERS, combined, control, feature_scores, select, two_classes,
};
use fewest_simplex::L1Hinge;

/// Most machines trained one after the other.
const MOST_ROUNDS: usize = 100;

/// Scales below this share of the largest are taken for the zeros they tend to.
const ZERO: f64 = 1e-6;

/// A round that changes no scale by more than this share of the largest is the last.
const STILL: f64 = 1e-6;

words! {
    /// The norm that each machine of [`L0Appr`] minimises.
    #[derive(Default)]
    pub enum InnerNorm {
        /// `½‖w‖²`: l2-AROM.
        #[default]
        L2 = "l2",
        /// `‖w‖₁`: l1-AROM, a linear program.
        L1 = "l1",
    }
}

options! {
    /// L0-appr: approximation of the zero-norm minimisation, AROM (Weston, Elisseeff, Schölkopf and Tipping
    /// 2003).
    ///
    /// Minimising `Σ_k ln(ε + |w_k|)`, which for small `ε` counts the weights that are not 0, by the steps of
    /// Frank and Wolfe gives a multiplicative update. Beginning with `z = 1`,
    ///
    /// ```text
    /// 1. ŵ = argmin over w, b   ½‖w‖² + C Σ_i max(0, 1 − y_i (⟨w, z ∘ x_i⟩ + b))          (l1-AROM: ‖w‖₁)
    /// 2. z ← z ∘ |ŵ|, and back to 1
    /// ```
    ///
    /// until at most `k` features have a scale above 1e-6 of the largest, or no scale moves; the `k` with the
    /// largest scale of the last round are selected, and `score(k) = |z_k|`, which at convergence is the size
    /// of the weight on the feature itself. Scales are those of standardised features. With more classes
    /// there is a machine for each ([`Multiclass`]), every one with scales of its own; the features of all
    /// count, and the score is the Euclidean norm, as it is over the level indicators of a category of more
    /// than two levels.
    ///
    /// Cost: that of a machine ([`SvmWeights`](crate::SvmWeights)) a round, on the features left; some 10 to
    /// 30 rounds are usual. The certificate in the selection is that of the last machine.
    ///
    /// # Errors
    /// As [`SvmWeights`](crate::SvmWeights).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::L0Appr;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.1, 0.3, 0.2, 0.1], vec![-2.0, -1.0, 1.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = L0Appr::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct L0Appr {
        /// C, cost of errors; features are standardised.
        pub c: f64 = 1.0, Positive;
        /// Norm that each machine minimises; l1 is a linear program.
        pub norm: InnerNorm = InnerNorm::L2;
        /// More than two classes: a machine for each class, or for each pair of classes.
        pub multiclass: Multiclass = Multiclass::OneVsRest;
        /// Relative duality gap to reach by each machine.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The scales of one machine, 1 at first.
struct Scales {
    /// Those of the last round, after multiplication with the weights: none is set to 0 yet.
    fresh: Vec<f64>,
    /// Those that the next round goes on with.
    kept: Vec<f64>,
    report: Option<SolverReport>,
    still: bool,
}

impl Scales {
    fn new(n: usize) -> Self {
        Self { fresh: vec![1.0; n], kept: vec![1.0; n], report: None, still: false }
    }
}

impl L0Appr {
    /// `|ŵ|` on `samples` with scales `z`, and the machine's report.
    fn machine(
        &self,
        samples: &Design,
        problem: &Binary,
        scales: &[f64],
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, SolverReport), Error> {
        match self.norm {
            InnerNorm::L2 => {
                let task = Task::Classes(problem.positive.clone());
                let fit = train(samples, Some(scales), &task, self.c, self.tolerance, context)?;
                Ok((fit.weights, fit.report))
            }
            InnerNorm::L1 => {
                // With u = z ∘ w the norm is Σ |u_j| / z_j, in the machine of the features as they are.
                let used: Vec<usize> = (0..scales.len()).filter(|&j| scales[j] > 0.0).collect();
                let penalties: Vec<f64> = used.iter().map(|&j| scales[j].recip()).collect();
                let (labels, restricted) = (problem.labels(), samples.restrict(&used));
                let costs = vec![self.c; labels.len()];
                let mut program = L1Hinge::new(&restricted, labels, costs, true)?;
                let found = program.minimise(&penalties, &control(self.tolerance, context)?)?;
                let mut weights = vec![0.0; scales.len()];
                for ((&j, w), penalty) in used.iter().zip(&found.weights).zip(&penalties) {
                    weights[j] = w * penalty;
                }
                let norm: f64 = weights.iter().map(|w| w.abs()).sum();
                let report = SolverReport::new(
                    "simplex",
                    found.status,
                    found.loss + norm,
                    Certificate::gap(found.gap),
                )
                .with_lambda(self.c.recip())
                .with_iterations(found.steps);
                Ok((weights, report))
            }
        }
    }

    /// One round for one machine.
    fn round(
        &self,
        samples: &Design,
        problem: &Binary,
        scales: &mut Scales,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        if scales.still {
            return Ok(());
        }
        let (weights, report) = match (self.machine(samples, problem, &scales.kept, context), &scales.report)
        {
            // A round that was stopped leaves the scales of the round before.
            (Err(Error::Stopped { .. }), Some(_)) => return Ok(()),
            (Ok((_, report)), Some(_)) if report.status.is_stopped() => return Ok(()),
            (found, _) => found?,
        };
        let fresh: Vec<f64> = scales.kept.iter().zip(&weights).map(|(z, w)| z * w.abs()).collect();
        let largest = fresh.iter().copied().fold(0.0, f64::max);
        let kept: Vec<f64> = fresh.iter().map(|z| if *z > ZERO * largest { *z } else { 0.0 }).collect();
        scales.still = kept.iter().zip(&scales.kept).all(|(new, old)| (new - old).abs() <= STILL * largest);
        if largest == 0.0 && scales.report.is_some() {
            // Nothing helps the machine any more: what was there before is the answer.
            scales.still = true;
        } else {
            (scales.fresh, scales.kept) = (fresh, kept);
        }
        scales.report = Some(report);
        Ok(())
    }
}

/// How many features have a scale that is not 0.
fn n_features(design: &Design, scales: &[Scales]) -> usize {
    let kept: Vec<Vec<f64>> = scales.iter().map(|scales| scales.kept.clone()).collect();
    feature_scores(design, &kept).iter().filter(|score| **score != 0.0).count()
}

impl Selector for L0Appr {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "l0-appr";
        self.check()?;
        let (problems, design) = two_classes(data, budget, METHOD, self.multiclass, context)?;
        let parts: Vec<Option<Design>> = problems.iter().map(|problem| problem.samples(&design)).collect();
        let mut scales: Vec<Scales> = problems.iter().map(|_| Scales::new(design.n_columns())).collect();
        let wanted = if let Budget::Count(k) = budget { k } else { 0 };
        let mut outside = None;
        for round in 0..MOST_ROUNDS {
            if round > 0 {
                outside = context.stopped();
                let done = scales.iter().all(|scales| scales.still) || n_features(&design, &scales) <= wanted;
                if done || outside.is_some() {
                    break;
                }
            }
            let rounds = fewest_parallel::chunks(&mut scales, 1, |at, scales| {
                let samples = parts[at].as_ref().unwrap_or(&design);
                scales.iter_mut().try_for_each(|scales| self.round(samples, &problems[at], scales, context))
            });
            rounds.into_iter().collect::<Result<(), Error>>()?;
            context.report("training on rescaled features", round + 1, MOST_ROUNDS);
        }
        let reports: Vec<SolverReport> = scales.iter().filter_map(|scales| scales.report.clone()).collect();
        let mut report =
            combined(reports).ok_or(Error::Stopped { before: "the first machine was trained" })?;
        report.status = match outside {
            Some(status) => status,
            None if report.status == Status::Converged
                && n_features(&design, &scales) > wanted
                && !scales.iter().all(|scales| scales.still) =>
            {
                Status::MaxIterations
            }
            None => report.status,
        };
        let weights: Vec<Vec<f64>> = match budget {
            // Features that vanished in the last round are still distinguished by how fast.
            Budget::Count(_) => scales.into_iter().map(|scales| scales.fresh).collect(),
            _ => scales.into_iter().map(|scales| scales.kept).collect(),
        };
        let no_others = match self.norm {
            InnerNorm::L1 => {
                "a machine with an l1 norm gives the others no weight at this `c`: raise it, or take `norm=l2`"
            }
            InnerNorm::L2 => NO_OTHERS,
        };
        select(&feature_scores(&design, &weights), budget, report, no_others)
    }
}
