//! The losses of linear models, from a target.

use std::borrow::Cow;

use fewest_columns::{Weights, weighted_outputs};
use fewest_core::{Context, Dataset, Error, Target, choice};
use fewest_solver::loss::{
    Cox, Huber, Logistic, Loss, Multinomial, Poisson, Samples, Separable, Squared, SquaredHinge, Ties,
};

choice! {
    /// The loss of a linear model, the mean over samples of what follows, with the fitted value `z`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum LinearLoss {
        /// By the target: `cox` for survival times, `squared` for all others.
        Auto = "auto",
        /// `½ (y − z)²`, for numbers and classes (by ±1 or indicators).
        Squared = "squared",
        /// `ln(1 + exp(−y z))`, two classes `y = ±1`, the one that sorts last `+1`.
        Logistic {
            /// Whether a constant without a penalty is fitted, too.
            intercept: bool = true;
        } = "logistic",
        /// `ln Σₖ exp(zₖ) − z` of the class, an output for each class (softmax).
        Multinomial {
            /// Whether a constant without a penalty is fitted, too.
            intercept: bool = true;
        } = "multinomial",
        /// `max(0, 1 − y z)²`, two classes `y = ±1`.
        SquaredHinge {
            /// Whether a constant without a penalty is fitted, too.
            intercept: bool = true;
        } = "squared-hinge",
        /// `max(0, 1 − y z)`, two classes `y = ±1`: a linear program, of the l1 norm alone.
        Hinge {
            /// Whether a constant without a penalty is fitted, too.
            intercept: bool = true;
        } = "hinge",
        /// Squared up to a residual of `delta` standard deviations of the output, linear beyond (Huber 1964).
        Huber {
            /// Whether a constant without a penalty is fitted, too.
            intercept: bool = true;
            /// Largest residual that counts squared, in standard deviations of the output.
            delta: f64 = 1.345, Positive;
        } = "huber",
        /// Half the Poisson deviance of counts of mean `exp(z)`.
        Poisson {
            /// Whether a constant without a penalty is fitted, too.
            intercept: bool = true;
        } = "poisson",
        /// The negative log partial likelihood (Cox 1972) of survival times, or of two outputs: the time, and
        /// 1 for an event or 0 where the sample was last seen without one.
        Cox {
            /// Events at the same time: all against all at risk, or one after the other.
            ties: Ties = Ties::Breslow;
        } = "cox",
    }
}

/// A loss, and whether the model has an intercept.
type WithIntercept = (Box<dyn Loss>, bool);

impl LinearLoss {
    /// The loss for `target`, which is not [`Auto`](Self::Auto).
    pub(super) fn resolved(self, target: &Target) -> Self {
        match (self, target) {
            (Self::Auto, Target::Survival(_)) => Self::Cox { ties: Ties::default() },
            (Self::Auto, _) => Self::Squared,
            (given, _) => given,
        }
    }

    /// What an answer tells of a loss that the target decided, unless it is that of squared errors.
    pub(super) fn note(self, target: &Target) -> Option<String> {
        match (self, self.resolved(target)) {
            (Self::Auto, Self::Cox { ties }) => {
                Some(format!("loss=cox, ties={}, since the target is survival times", ties.word()))
            }
            _ => None,
        }
    }

    /// The loss of `target`, and whether the model has an intercept. Real outputs are standardised by the
    /// samples with `weights`; the loss is a mean or sum over `samples`.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`] for a target that the loss is not defined for; [`Error::Stopped`].
    pub(super) fn of(
        self,
        method: &'static str,
        target: &Target,
        weights: Option<&Weights>,
        samples: Samples,
        context: &Context<'_>,
    ) -> Result<WithIntercept, Error> {
        let standardised = || -> Result<Vec<f64>, Error> {
            let outputs = weighted_outputs(target, weights, method, context)?;
            Ok(outputs.into_iter().flat_map(|output| output.values).collect())
        };
        Ok(match self.resolved(target) {
            Self::Auto | Self::Squared => {
                if matches!(target, Target::Survival(_)) {
                    let expected = "numbers or classes for loss=squared; survival times have loss=cox";
                    return Err(Error::UnsupportedTarget { method, expected, found: target.describe() });
                }
                let outputs = standardised()?;
                (Box::new(Separable::new(Squared, outputs, samples)?), false)
            }
            Self::Logistic { intercept } => {
                (Box::new(Separable::new(Logistic, signs(method, target)?, samples)?), intercept)
            }
            Self::SquaredHinge { intercept } => {
                (Box::new(Separable::new(SquaredHinge, signs(method, target)?, samples)?), intercept)
            }
            Self::Hinge { .. } => {
                return Err(Error::Unsupported {
                    method,
                    what: "loss=hinge, which has no gradient".to_owned(),
                    instead: "use loss=squared-hinge, or the method lasso".to_owned(),
                });
            }
            Self::Multinomial { intercept } => {
                let (classes, n_classes) = places(method, target)?;
                (Box::new(Multinomial::new(classes, n_classes, samples)?), intercept)
            }
            Self::Huber { intercept, delta } => {
                let expected = "real outputs for loss=huber";
                outputs(method, target, expected)?;
                let outputs = standardised()?;
                (Box::new(Separable::new(Huber::new(delta)?, outputs, samples)?), intercept)
            }
            Self::Poisson { intercept } => {
                let expected = "counts, real outputs of at least 0, for loss=poisson";
                let counts = outputs(method, target, expected)?;
                if let Some(at) = counts.iter().position(|count| *count < 0.0) {
                    let row = at % samples_of(target);
                    let found = format!("{} in sample {row} (counted from 0)", counts[at]);
                    return Err(Error::UnsupportedTarget { method, expected, found });
                }
                (Box::new(Separable::new(Poisson, counts, samples)?), intercept)
            }
            Self::Cox { ties } => {
                let (times, events) = survival(method, target)?;
                // A constant changes nothing, so an intercept costs nothing.
                (Box::new(Cox::new(&times, &events, ties, samples)?), true)
            }
        })
    }

    /// What the likelihood is a product over: `n_samples`, or the events among them (Volinsky and Raftery
    /// 2000).
    pub(super) fn n_observations(self, data: &Dataset, n_samples: usize) -> usize {
        let counts = |i: usize| data.sample_weights().is_none_or(|weights| weights[i] > 0.0);
        match (self, survival("lasso", data.target())) {
            (Self::Cox { .. }, Ok((_, events))) => {
                events.iter().enumerate().filter(|(i, event)| **event && counts(*i)).count()
            }
            _ => n_samples,
        }
    }
}

/// The mean over samples with `weights`, or over all `n` of them alike.
///
/// # Errors
/// Those of [`Samples::weighted`].
pub(super) fn mean_over(weights: Option<&Weights>, n: usize) -> Result<Samples, Error> {
    weights.map_or_else(|| Ok(Samples::mean(n)), |weights| Samples::weighted(weights.values()))
}

/// The mean over all samples but those of `rows`, with the weights that they have.
///
/// # Errors
/// Those of [`Samples::weighted`].
pub(super) fn samples_but(data: &Dataset, rows: &[bool]) -> Result<Samples, Error> {
    let weights = Weights::of(data)?;
    let mut weights =
        weights.map_or_else(|| vec![1.0; data.n_samples()], |weights| weights.values().to_vec());
    weights.iter_mut().zip(rows).filter(|(_, out)| **out).for_each(|(weight, _)| *weight = 0.0);
    Samples::weighted(&weights)
}

/// `data` with its two outputs as the survival times that they are for this loss, so that folds are dealt by
/// event and nothing is standardised.
///
/// # Errors
/// As [`LinearLoss::of`].
pub(super) fn as_survival<'d>(
    loss: LinearLoss,
    method: &'static str,
    data: &'d Dataset,
) -> Result<Cow<'d, Dataset>, Error> {
    match (loss, data.target()) {
        (LinearLoss::Cox { .. }, target @ Target::Real(_)) => {
            let (times, events) = survival(method, target)?;
            Ok(Cow::Owned(data.clone().with_target(Target::survival(times, events)?)?))
        }
        _ => Ok(Cow::Borrowed(data)),
    }
}

/// `data` without the classes that only samples of weight 0 have: these get a class that others have, so that
/// it is as if they were not there.
///
/// # Errors
/// None for a target of classes.
pub(super) fn with_counting_classes(data: &Dataset) -> Result<Cow<'_, Dataset>, Error> {
    let (Target::Class(classes), Some(weights)) = (data.target(), data.sample_weights()) else {
        return Ok(Cow::Borrowed(data));
    };
    let mut counts = vec![false; classes.n_classes()];
    let counting = classes.codes().iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    counting.for_each(|(&code, _)| counts[code as usize] = true);
    let Some(first) = counts.iter().position(|counts| *counts) else { return Ok(Cow::Borrowed(data)) };
    if classes.codes().iter().all(|&code| counts[code as usize]) {
        return Ok(Cow::Borrowed(data));
    }
    let own = |&code: &u32| if counts[code as usize] { code } else { first as u32 };
    let target = Target::classes(classes.codes().iter().map(own).collect(), classes.names().to_vec())?;
    Ok(Cow::Owned(data.clone().with_target(target)?))
}

impl LinearLoss {
    /// The losses of the outputs of `target` one by one, each with whether the model has an intercept, for
    /// methods that give every output a model of its own.
    ///
    /// # Errors
    /// As [`LinearLoss::of`]; [`Error::Unsupported`] for a loss of several outputs together.
    pub(super) fn of_each(
        self,
        method: &'static str,
        target: &Target,
        context: &Context<'_>,
    ) -> Result<Vec<WithIntercept>, Error> {
        let varies = |output: &&[f64]| output.iter().any(|value| *value != output[0]);
        let single: Vec<Target> = match (target, self) {
            (_, Self::Cox { .. }) => Vec::new(),
            (Target::Real(outputs), _) => {
                let outputs = (0..outputs.n_outputs()).map(|o| outputs.output(o)).filter(varies);
                outputs.map(|output| Target::real(output.to_vec())).collect::<Result<_, Error>>()?
            }
            _ => Vec::new(),
        };
        let targets: Vec<&Target> = if single.is_empty() { vec![target] } else { single.iter().collect() };
        let mut losses = Vec::with_capacity(targets.len());
        for target in targets {
            let (loss, intercept) =
                self.of(method, target, None, Samples::mean(target.n_samples().unwrap_or(0)), context)?;
            if loss.n_outputs() > 1 {
                return Err(Error::Unsupported {
                    method,
                    what: "a loss of all classes together".to_owned(),
                    instead: "use loss=squared, which has a model for each class, or lasso".to_owned(),
                });
            }
            losses.push((loss, intercept));
        }
        Ok(losses)
    }
}

fn samples_of(target: &Target) -> usize {
    target.n_samples().unwrap_or(0).max(1)
}

/// The place of every sample's class among those that occur, and their number.
pub(super) fn places(method: &'static str, target: &Target) -> Result<(Vec<usize>, usize), Error> {
    let expected = "classes, two or more,";
    let unsupported = || Error::UnsupportedTarget { method, expected, found: target.describe() };
    let Target::Class(classes) = target else { return Err(unsupported()) };
    let occurring = classes.occurring();
    if occurring.len() < 2 {
        return Err(Error::UnsupportedTarget { method, expected, found: "one class".to_owned() });
    }
    let place = |code: &u32| occurring.partition_point(|other| other < code);
    Ok((classes.codes().iter().map(place).collect(), occurring.len()))
}

/// `−1` for the class that sorts first of two, and `1`.
pub(super) fn signs(method: &'static str, target: &Target) -> Result<Vec<f64>, Error> {
    let (places, n_classes) = places(method, target)?;
    if n_classes > 2 {
        let expected = "two classes (for more: loss=multinomial)";
        return Err(Error::UnsupportedTarget { method, expected, found: target.describe() });
    }
    Ok(places.into_iter().map(|place| if place == 0 { -1.0 } else { 1.0 }).collect())
}

/// All real outputs, one after the other.
fn outputs(method: &'static str, target: &Target, expected: &'static str) -> Result<Vec<f64>, Error> {
    match target {
        Target::Real(outputs) => {
            Ok((0..outputs.n_outputs()).flat_map(|k| outputs.output(k)).copied().collect())
        }
        other => Err(Error::UnsupportedTarget { method, expected, found: other.describe() }),
    }
}

/// Times, and whether they are those of an event.
fn survival(method: &'static str, target: &Target) -> Result<(Vec<f64>, Vec<bool>), Error> {
    let expected = "survival times, or two real outputs, time and event (1 or 0), for loss=cox";
    let unsupported = |found| Error::UnsupportedTarget { method, expected, found };
    let (times, events) = match target {
        Target::Survival(survival) => return Ok((survival.times().to_vec(), survival.events().to_vec())),
        Target::Real(outputs) if outputs.n_outputs() == 2 => (outputs.output(0), outputs.output(1)),
        other => return Err(unsupported(other.describe())),
    };
    if let Some(row) = events.iter().position(|event| *event != 0.0 && *event != 1.0) {
        return Err(unsupported(format!("an event of {} in sample {row} (counted from 0)", events[row])));
    }
    Ok((times.to_vec(), events.iter().map(|event| *event == 1.0).collect()))
}
