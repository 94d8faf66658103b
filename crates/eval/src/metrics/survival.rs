//! Metrics of survival times.

use fewest_core::{Error, Target};

use super::{Metric, check_samples};
use crate::Predictions;

/// Harrell's index of concordance (Harrell, Califf, Pryor, Lee and Rosati 1982), in `[0, 1]`: of two samples
/// of which it is known which had its event first, the share of pairs where that one has the larger
/// predicted risk. Equal risks count one half, so 0.5 is guessing.
///
/// Known is the order of an event and of any sample with a later time, or with the same time and no event.
/// `O(n²)`.
///
/// Not defined without such a pair: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Concordance;

impl Metric for Concordance {
    fn name(&self) -> &'static str {
        "concordance"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        check_samples(target, predicted)?;
        let unsupported = |expected, found| Error::UnsupportedTarget { method: self.name(), expected, found };
        let Target::Survival(survival) = target else {
            return Err(unsupported("survival times", target.describe()));
        };
        let risks = match predicted {
            Predictions::Real(outputs) if outputs.len() == 1 => &outputs[0],
            Predictions::Real(outputs) => {
                let what = "outputs with predictions";
                return Err(Error::ShapeMismatch { what, expected: 1, found: outputs.len() });
            }
            _ => return Err(unsupported("predicted risks", "predicted classes".to_owned())),
        };
        let (times, events) = (survival.times(), survival.events());
        let (mut pairs, mut concordant, mut equal) = (0_u64, 0_u64, 0_u64);
        for i in (0..times.len()).filter(|&i| events[i]) {
            for j in 0..times.len() {
                if times[j] > times[i] || (times[j] == times[i] && !events[j]) {
                    pairs += 1;
                    concordant += u64::from(risks[i] > risks[j]);
                    equal += u64::from(risks[i] == risks[j]);
                }
            }
        }
        if pairs == 0 {
            let what = "pairs of samples in the test part of which it is known which had its event first \
                        (larger parts have more: fewer folds)";
            return Err(Error::TooFew { what, minimum: 1, found: 0 });
        }
        Ok((concordant as f64 + 0.5 * equal as f64) / pairs as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(times: &[f64], events: &[bool], risks: &[f64]) -> Result<f64, Error> {
        let target = Target::survival(times.to_vec(), events.to_vec())?;
        Concordance.score(&target, &Predictions::Real(vec![risks.to_vec()]))
    }

    #[test]
    fn pairs_by_hand() -> Result<(), Error> {
        let (times, events) = ([1.0, 2.0, 2.0, 3.0, 4.0], [true, true, false, false, true]);
        // Pairs: 0 with all four, 1 with 2, 3 and 4; the last event is later than all others.
        assert_eq!(score(&times, &events, &[5.0, 4.0, 3.0, 2.0, 1.0])?, 1.0);
        assert_eq!(score(&times, &events, &[1.0, 2.0, 3.0, 4.0, 5.0])?, 0.0);
        assert_eq!(score(&times, &events, &[0.0; 5])?, 0.5);
        assert_eq!(score(&times, &events, &[3.0, 3.0, 1.0, 9.0, 2.0])?, (0.5 + 1.0 + 1.0 + 1.0 + 1.0) / 7.0);
        // Two events at the same time say nothing of each other.
        assert!(score(&[1.0, 1.0], &[true, true], &[1.0, 2.0]).is_err());
        assert!(Concordance.score(&Target::real(vec![1.0])?, &Predictions::Real(vec![vec![1.0]])).is_err());
        Ok(())
    }
}
