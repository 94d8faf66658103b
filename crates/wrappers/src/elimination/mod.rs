//! Recursive elimination: train, judge every feature, take the worst away, and again.

mod curve;
mod problem;
mod round;

use std::sync::{Mutex, PoisonError};

use fewest_core::method::{Field, FieldInfo, Options, Parameter, Parameters, Range, Value};
use fewest_core::{Budget, Context, Dataset, Error, Forecast, Selection, Selector, Status, options};

pub use curve::CurvePoint;
use problem::Problem;
use round::LeftBehind;
pub use round::{EliminationCriterion, Round};
pub(crate) use round::{JUDGED, go_on_in_row};

use crate::stop::{UNJUDGED, how_stopped};
use crate::{Trained, Training};

/// How many features go in a round, one at least.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// So many; at least 1.
    Count(usize),
    /// This share of the features left, rounded down; above 0 and below 1.
    Fraction(f64),
    /// All beyond the next power of two, so that half of them go from then on (Guyon, Weston, Barnhill and
    /// Vapnik 2002).
    Halving,
}

const HALVING: &str = "halving";

impl Default for Step {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Field for Step {
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter> {
        let value = match *self {
            Self::Count(count) => Value::Real(count as f64),
            Self::Fraction(share) => Value::Real(share),
            Self::Halving => Value::Word(HALVING),
        };
        vec![field.parameter(Range::PositiveOr(&[HALVING]), Some(value))]
    }

    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        *self = match parameters.get(field.name) {
            Some(Value::Word(_)) => Self::Halving,
            _ => match parameters.real(field.name)? {
                count if count >= 1.0 && count.fract() == 0.0 && count < 1e15 => Self::Count(count as usize),
                share => Self::Fraction(share),
            },
        };
        Ok(())
    }

    fn check_field(&self, _field: &FieldInfo) -> Result<(), Error> {
        self.check()
    }
}

impl Step {
    fn check(self) -> Result<(), Error> {
        match self {
            Self::Count(0) => Err(Error::parameter("step", 0, "at least 1")),
            Self::Fraction(share) if !(share > 0.0 && share < 1.0) => {
                Err(Error::parameter("step", share, "a whole number, a share below 1, or halving"))
            }
            _ => Ok(()),
        }
    }

    /// How many of `left` features go.
    fn of(self, left: usize) -> usize {
        let count = match self {
            Self::Count(count) => count,
            Self::Fraction(share) => (share * left as f64).floor() as usize,
            Self::Halving => left - left.next_power_of_two() / 2,
        };
        count.clamp(1, left)
    }
}

/// Recursive feature elimination (Guyon, Weston, Barnhill and Vapnik 2002; Yang and Ong 2011, Section IV) by
/// any [`EliminationCriterion`]: machines are trained on the remaining features, each feature gets an
/// importance, and the least important ones are eliminated; at a tie the one with the higher index. The
/// result is the reverse order of elimination: the last remaining one is the best.
///
/// The matrix of kernel values is not computed again: the parts of the features that went are taken from it.
/// Each machine starts from the one before.
///
/// The score of a feature is its importance in the round in which it went. With `Budget::Auto` all features
/// that vary are ranked, or with `folds` the number of them with the least error is returned.
///
/// Cost: `O(n²)` for each feature and round in addition to training; memory `8 n²` bytes for the linear and
/// `16 n²` for the Gaussian kernel, and the data.
///
/// # Errors
/// Fewer than two samples, classes or target values; a NaN or an infinity (naming the cell); a target of
/// another kind; sample weights; parameters out of range; `Budget::Threshold`. Stopped early, the features
/// left are ranked by the last round; within the first those that were judged by then come first, and the
/// others follow in the order of the table, with NaN for importances.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_wrappers::{Kernel, NormChange, RecursiveElimination, Training};
///
/// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
/// let (a, b, c) = (wave(1), wave(17), wave(23));
/// let target = a.iter().zip(&c).map(|(a, c)| a + 0.5 * c).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
/// let training = Training { kernel: Kernel::Linear, ..Training::default() };
/// let elimination = RecursiveElimination { training, ..RecursiveElimination::new(NormChange) };
/// let selection = elimination.select(&data, Budget::Count(2), &Context::default())?;
/// assert_eq!(selection.order, [0, 2]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RecursiveElimination<C> {
    /// What judges the features.
    pub criterion: C,
    /// The machines.
    pub training: Training,
    /// How it goes.
    pub schedule: Schedule,
}

options! {
    /// The options of an elimination, for any criterion.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Schedule {
        /// Features that go in a round: a number, a share of those left if below 1, or down to the next power
        /// of two.
        pub step: Step = Step::Count(1);
        /// Whether to stop when the features wanted are left, in the order of the last importances.
        ///
        /// Otherwise elimination continues to the last one, so that a smaller selection is the beginning of
        /// a larger one.
        pub stop_early: bool = false;
        /// Folds of the cross-validated error by number of features, which with -k auto says how many.
        pub folds: Option<usize> = None, Count(2);
    }
}

impl<C: EliminationCriterion + Options> Options for RecursiveElimination<C> {
    fn parameters(&self) -> Vec<Parameter> {
        [self.criterion.parameters(), self.schedule.parameters(), self.training.parameters()].concat()
    }

    fn set(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.criterion.set(parameters)?;
        self.schedule.set(parameters)?;
        self.training.set(parameters)
    }

    fn check(&self) -> Result<(), Error> {
        self.criterion.check()?;
        self.schedule.check()?;
        self.training.check()
    }
}

/// What went in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Eliminated {
    /// The features that were judged, increasing.
    pub features: Vec<usize>,
    /// The importance of each of them.
    pub importances: Vec<f64>,
}

/// The outcome of an elimination.
#[derive(Debug, Clone, PartialEq)]
pub struct Elimination {
    /// The features that vary, best first.
    pub ranking: Vec<usize>,
    /// The last importance of each, in the order of `ranking`.
    pub importances: Vec<f64>,
    /// The rounds.
    pub rounds: Vec<Eliminated>,
    /// How it ended.
    pub status: Status,
    /// The worst end of training a machine, or of finding a smallest ball.
    pub training: Status,
    /// Whether some machine had no support vector: its output was the same everywhere.
    pub empty_machine: bool,
}

impl<C: EliminationCriterion> RecursiveElimination<C> {
    /// With default machines, one feature a round.
    pub fn new(criterion: C) -> Self {
        Self { criterion, training: Training::default(), schedule: Schedule::default() }
    }

    /// Ranks the features of `data`: those that are left when `keep` are, by their last importances.
    ///
    /// # Errors
    /// As the type's.
    pub fn run(&self, data: &Dataset, keep: usize, context: &Context<'_>) -> Result<Elimination, Error> {
        self.rounds().run(data, keep, context)
    }

    fn rounds(&self) -> Rounds<'_> {
        Rounds { criterion: &self.criterion, training: &self.training, schedule: &self.schedule }
    }
}

/// An elimination with a criterion of any type: compiled once for all of them.
struct Rounds<'a> {
    criterion: &'a dyn EliminationCriterion,
    training: &'a Training,
    schedule: &'a Schedule,
}

impl Rounds<'_> {
    fn run(&self, data: &Dataset, keep: usize, context: &Context<'_>) -> Result<Elimination, Error> {
        self.schedule.check()?;
        self.training.check()?;
        let problem = Problem::whole(data, self.training, self.criterion.name())?;
        self.eliminate(problem, keep.max(1), false, context, &mut |_, _| ())
    }

    /// Rounds until at most `keep` features are left; `after` sees the kernel and the machines of each.
    fn eliminate(
        &self,
        mut problem: Problem,
        keep: usize,
        machines_wanted: bool,
        context: &Context<'_>,
        after: &mut dyn FnMut(&problem::State<'_>, &[Trained]),
    ) -> Result<Elimination, Error> {
        let as_the_first = self.rounds_as_the_first(problem.varying.len(), keep);
        let kernel = problem.kernel(self.training, context);
        let machines_wanted = machines_wanted || self.criterion.needs_machines();
        // The kernel is made once: a forecast by the first round leaves it out.
        let mut progress = Forecast::start("recursive elimination", as_the_first);
        let Problem { varying, truth, canonical, .. } = problem;
        let mut left: Vec<usize> = (0..varying.len()).collect();
        let mut machines: Vec<Trained> = Vec::new();
        let mut outcome = Elimination {
            ranking: Vec::new(),
            importances: Vec::new(),
            rounds: Vec::new(),
            status: Status::Converged,
            training: Status::Converged,
            empty_machine: false,
        };
        let mut kernel = match kernel {
            Ok(kernel) => kernel,
            Err(Error::Stopped { .. }) => return Ok(outcome.judged_so_far(None, varying, context)),
            Err(error) => return Err(error),
        };
        // In the order in which they went.
        let mut gone: Vec<(usize, f64)> = Vec::new();
        let mut last: Vec<f64> = Vec::new();
        while !left.is_empty() {
            let trained = if machines_wanted {
                let loss = self.criterion.loss(&truth)?;
                context
                    .go_on(JUDGED)
                    .and_then(|()| self.training.train(&kernel, &truth, loss, &machines, context))
            } else {
                Ok(Vec::new())
            };
            let left_behind = Mutex::new(LeftBehind { ended: Status::Converged, so_far: None });
            let judged = trained.and_then(|trained| {
                machines = trained;
                // A machine that was stopped must not judge.
                context.go_on(JUDGED)?;
                let round = Round {
                    number: outcome.rounds.len(),
                    kernel: &kernel,
                    left: &left,
                    varying: &varying,
                    truth: &truth,
                    canonical: &canonical,
                    machines: &machines,
                    training: self.training,
                    left_behind: &left_behind,
                };
                self.criterion.importances(&round, context)
            });
            let LeftBehind { ended, so_far } =
                left_behind.into_inner().unwrap_or_else(PoisonError::into_inner);
            match judged {
                Ok(importances) => last = importances,
                Err(Error::Stopped { .. }) if outcome.rounds.is_empty() => {
                    return Ok(outcome.judged_so_far(so_far, varying, context));
                }
                Err(Error::Stopped { .. }) => {
                    outcome.status = how_stopped(context);
                    break;
                }
                Err(error) => return Err(error),
            }
            if let Some(at) = last.iter().position(|value| value.is_nan()) {
                let hint =
                    format!("feature {} has none: scale the target or lower the cost", varying[left[at]]);
                return Err(Error::Numerical { what: "the importance of a feature", hint });
            }
            outcome.training = Status::worst([outcome.training, ended]);
            for machine in &machines {
                outcome.training = Status::worst([outcome.training, machine.machine.dual.solution.status]);
                outcome.empty_machine |= machine.machine.support.is_empty();
            }
            after(&problem::State { kernel: &kernel, n_features: left.len() }, &machines);
            outcome.rounds.push(Eliminated {
                features: left.iter().map(|&slot| varying[slot]).collect(),
                importances: last.clone(),
            });
            if left.len() <= keep {
                break;
            }
            let room = if keep > 1 { left.len() - keep } else { left.len() };
            let count = self.schedule.step.of(left.len()).min(room);
            let mut worst = worst_first(&last);
            worst.truncate(count);
            gone.extend(worst.iter().map(|&at| (varying[left[at]], last[at])));
            let mut stays = vec![true; left.len()];
            worst.iter().for_each(|&at| stays[at] = false);
            let removed = worst.iter().try_for_each(|&at| kernel.remove(left[at], context));
            let staying = || stays.iter().enumerate().filter(|(_, stays)| **stays).map(|(at, _)| at);
            last = staying().map(|at| last[at]).collect();
            left = staying().map(|at| left[at]).collect();
            match removed {
                Err(Error::Stopped { .. }) => {
                    outcome.status = how_stopped(context);
                    break;
                }
                removed => removed?,
            }
            progress.report(gone.len(), varying.len(), context);
        }
        // Of those left the best goes last.
        gone.extend(worst_first(&last).iter().map(|&at| (varying[left[at]], last[at])));
        (outcome.ranking, outcome.importances) = gone.into_iter().rev().unzip();
        Ok(outcome)
    }

    /// How many of the first round all rounds are worth: what a round costs is about proportional to the
    /// features left.
    fn rounds_as_the_first(&self, n_features: usize, keep: usize) -> f64 {
        let (mut left, mut sum) = (n_features, 0);
        while left > 0 {
            sum += left;
            if left <= keep {
                break;
            }
            left -= self.schedule.step.of(left);
        }
        sum as f64 / n_features.max(1) as f64
    }
}

impl Elimination {
    /// Of a run that was stopped before the first round ended: features by what was known of their
    /// importances by then, the others last.
    fn judged_so_far(self, so_far: Option<Vec<f64>>, varying: Vec<usize>, context: &Context<'_>) -> Self {
        let known = so_far.unwrap_or_else(|| vec![f64::NAN; varying.len()]);
        let order = fewest_core::rank(&known, true);
        let ranking = order.iter().map(|&at| varying[at]).collect();
        let importances = order.iter().map(|&at| known[at]).collect();
        Self { ranking, importances, status: how_stopped(context), ..self }
    }
}

/// Positions by increasing importance, at a tie the higher first; the reverse of a ranking.
fn worst_first(importances: &[f64]) -> Vec<usize> {
    let mut order = fewest_core::rank(importances, true);
    order.reverse();
    order
}

impl<C: EliminationCriterion> Selector for RecursiveElimination<C> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.rounds().select(data, budget, context)
    }
}

impl Rounds<'_> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        let wanted = match budget {
            Budget::Count(k) => Some(k),
            Budget::Auto => None,
            _ => {
                let expected = "left out: importances of different rounds cannot be compared; ask for a number of features";
                return Err(Error::parameter("threshold", "given", expected));
            }
        };
        let keep = if self.schedule.stop_early { wanted.unwrap_or(1) } else { 1 };
        let outcome = self.run(data, keep, context)?;
        if outcome.status.is_stopped()
            && outcome.rounds.is_empty()
            && outcome.importances.iter().all(|importance| importance.is_nan())
        {
            return Err(UNJUDGED);
        }
        let n_varying = outcome.ranking.len();
        let mut notes = Vec::new();
        let mut status = outcome.status;
        let curve = match self.schedule.folds {
            Some(folds) if status == Status::Converged => match self.curve(data, folds, &outcome, context) {
                Ok(points) => Some(points),
                Err(Error::Stopped { .. }) => {
                    status = context.stopped().unwrap_or(Status::TimeLimit);
                    notes.push("there was no time for the cross-validated error".to_owned());
                    None
                }
                Err(error) => return Err(error),
            },
            _ => None,
        };
        let best = curve.as_deref().and_then(curve::best);
        let mut selection = Selection::new(outcome.ranking, outcome.importances, data.n_features(), status);
        let chosen = wanted.or(best.map(|point| point.n_features)).unwrap_or(n_varying);
        selection.order.truncate(chosen);
        selection.scores.truncate(chosen);
        if let Some(points) = &curve {
            notes.push(curve::describe(points, data));
            let at = |point: &&CurvePoint| point.n_features <= selection.order.len();
            selection.objective = points.iter().find(at).map(|point| point.error);
        }
        if outcome.status.is_stopped() {
            notes.push(match outcome.rounds.len() {
                0 => "stopped within the first round: the features are in the order of what was known of their \
                      importances, those not reached last"
                    .to_owned(),
                rounds => format!(
                    "stopped after {rounds} {}: the features left by then are in the order of its importances",
                    if rounds == 1 { "round" } else { "rounds" }
                ),
            });
        }
        if budget == Budget::Auto && self.schedule.folds.is_none() {
            notes.push(
                "all features that vary, ranked: with `folds` their number is the one with the least error"
                    .to_owned(),
            );
        }
        selection.notes = notes;
        selection.note_constant_features(data.n_features() - n_varying);
        if outcome.empty_machine {
            selection.notes.push(
                "a machine had no support vector: all outputs are within epsilon of one number".to_owned(),
            );
        }
        if outcome.training != Status::Converged {
            selection.notes.push(format!("training ended as {} at least once", outcome.training.name()));
            if selection.status == Status::Converged {
                selection.status = outcome.training;
            }
        }
        Ok(selection)
    }
}
