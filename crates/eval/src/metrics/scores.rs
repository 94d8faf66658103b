//! Metrics of scores of classes.

use fewest_core::{Classes, Error, Target, order};

use super::{Metric, check_samples, check_several_classes};
use crate::{ClassScores, ClassScoring, Predictions};

/// The area under the receiver operating characteristic: the share of pairs of a sample of a class and one of
/// another class in which the first has the larger score of that class, a tie counting half. The mean over
/// the classes that occur, each against the rest; of two classes that is the usual area. In `[0, 1]`, 1/2 for
/// scores that say nothing.
///
/// Not defined where all samples are of one class, as in test parts of one sample: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AreaUnderCurve;

/// The logarithmic loss `−1/n Σᵢ ln p(yᵢ)`, `p(yᵢ)` the probability of the sample's class as predicted. 0 is
/// perfect; to say 1/2 of two classes always is `ln 2 ≈ 0.69`. A probability below `2⁻⁵²` counts as `2⁻⁵²`,
/// so that one confident error costs 36 and not all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogLoss;

/// True classes and scores of at least this kind, or the error that says `method` needs them.
fn scored<'a>(
    method: &'static str,
    needed: ClassScoring,
    truth: &'a Target,
    predicted: &'a Predictions,
) -> Result<(&'a Classes, &'a ClassScores), Error> {
    check_samples(truth, predicted)?;
    let Target::Class(classes) = truth else {
        return Err(Error::UnsupportedTarget { method, expected: "classes", found: truth.describe() });
    };
    match predicted {
        Predictions::Scored(scores) if scores.scoring >= needed => Ok((classes, scores)),
        _ => {
            let expected = match needed {
                ClassScoring::Probabilities => "predicted probabilities of the classes",
                _ => "predicted scores of the classes",
            };
            let found = "predictions without them".to_owned();
            Err(Error::UnsupportedTarget { method, expected, found })
        }
    }
}

/// Where class `code` is, and its scores; a class that was not learned has no score anywhere.
fn of_class(scores: &ClassScores, code: u32) -> Option<&[f64]> {
    scores.scores.iter().find(|(known, _)| *known == code).map(|(_, values)| values.as_slice())
}

/// The share of pairs of a member and another sample in which the member has the larger value, ties half.
fn area(values: &[f64], is_member: impl Fn(usize) -> bool) -> f64 {
    let order = order::ascending(values);
    let (mut below, mut wins, mut members) = (0_usize, 0.0, 0_usize);
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let own = run.iter().filter(|&&i| is_member(i)).count();
        let others = run.len() - own;
        wins += own as f64 * (below as f64 + 0.5 * others as f64);
        below += others;
        members += own;
    }
    wins / (members as f64 * below as f64)
}

impl Metric for AreaUnderCurve {
    fn name(&self) -> &'static str {
        "auc"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn needs(&self) -> ClassScoring {
        ClassScoring::DecisionValues
    }

    fn score(&self, truth: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, scores) = scored(self.name(), self.needs(), truth, predicted)?;
        check_several_classes(classes)?;
        let occurring = classes.occurring();
        let codes = classes.codes();
        let of = |code: &u32| match of_class(scores, *code) {
            Some(values) => area(values, |i| codes[i] == *code),
            None => 0.5,
        };
        Ok(occurring.iter().map(of).sum::<f64>() / occurring.len() as f64)
    }
}

impl Metric for LogLoss {
    fn name(&self) -> &'static str {
        "log-loss"
    }

    fn greater_is_better(&self) -> bool {
        false
    }

    fn needs(&self) -> ClassScoring {
        ClassScoring::Probabilities
    }

    fn score(&self, truth: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, scores) = scored(self.name(), self.needs(), truth, predicted)?;
        let codes = classes.codes();
        let loss = |(i, &code): (usize, &u32)| {
            let probability = of_class(scores, code).and_then(|values| values.get(i)).copied().unwrap_or(0.0);
            -probability.clamp(f64::EPSILON, 1.0).ln()
        };
        Ok(codes.iter().enumerate().map(loss).sum::<f64>() / codes.len() as f64)
    }
}
