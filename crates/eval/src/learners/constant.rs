//! The prediction without features.

use fewest_core::{Error, Target};

use super::{ClassScores, ClassScoring, Predictions};

/// The most frequent class of `target` (at a tie, the lowest code), with the share of each class as its
/// probability, or the means, for `n_samples` samples; the same risk for all where it is survival times.
pub(crate) fn predict(target: &Target, n_samples: usize) -> Result<Predictions, Error> {
    match target {
        Target::Class(classes) => {
            let counts = classes.counts();
            let code = (0..counts.len()).rev().max_by_key(|&code| counts[code]).unwrap_or(0);
            let all = classes.codes().len() as f64;
            let share = |(code, &count): (usize, &usize)| (code as u32, vec![count as f64 / all; n_samples]);
            Ok(Predictions::Scored(ClassScores {
                classes: vec![code as u32; n_samples],
                scores: counts.iter().enumerate().map(share).collect(),
                scoring: ClassScoring::Probabilities,
            }))
        }
        Target::Real(outputs) => {
            let mean = |output| {
                let values = outputs.output(output);
                values.iter().sum::<f64>() / values.len() as f64
            };
            Ok(Predictions::Real(
                (0..outputs.n_outputs()).map(|output| vec![mean(output); n_samples]).collect(),
            ))
        }
        Target::Survival(_) => Ok(Predictions::Real(vec![vec![0.0; n_samples]])),
        other => Err(Error::UnsupportedTarget {
            method: "prediction",
            expected: "classes, a real output or survival times",
            found: other.describe(),
        }),
    }
}
