//! The prediction without features.

use fewest_core::{Error, Target};

use super::Predictions;

/// The most frequent class of `target` (at a tie, the lowest code) or its means, for `n_samples` samples.
pub(crate) fn predict(target: &Target, n_samples: usize) -> Result<Predictions, Error> {
    match target {
        Target::Class(classes) => {
            let counts = classes.counts();
            let code = (0..counts.len()).rev().max_by_key(|&code| counts[code]).unwrap_or(0);
            Ok(Predictions::Classes(vec![code as u32; n_samples]))
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
        other => Err(Error::UnsupportedTarget {
            method: "prediction",
            expected: "classes or a real output",
            found: other.describe(),
        }),
    }
}
