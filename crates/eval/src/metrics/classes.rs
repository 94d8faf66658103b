//! Metrics of predicted classes.

use std::collections::BTreeMap;

use fewest_core::{Classes, Error, Target};

use super::{Metric, both_classes, check_several_classes};
use crate::Predictions;

/// The share of samples whose class was predicted correctly. In `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accuracy;

/// The recall (share of the samples of a class predicted correctly), averaged over the classes that occur. In
/// `[0, 1]`.
///
/// Not defined where all samples are of one class, as in test parts of one sample: [`Error::TooFew`]. The
/// mean over such parts would be the accuracy, in which large classes count more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BalancedAccuracy;

/// The harmonic mean of precision and recall, averaged over the classes that occur or were predicted: the
/// mean of `2 tp / (2 tp + fp + fn)`. In `[0, 1]`.
///
/// Not defined where all samples are of one class, as in test parts of one sample: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MacroF1;

/// The correlation coefficient of Matthews for any number of classes (Gorodkin 2004, `R_K`):
/// `(c s − Σ_k p_k t_k) / √((s² − Σ_k p_k²) (s² − Σ_k t_k²))`, with `s` samples of which `c` are predicted
/// correctly, `t_k` of class `k` and `p_k` predicted as it. In `[−1, 1]`; 0 where all are predicted as one
/// class, as at random.
///
/// Not defined where all samples are of one class, as in test parts of one sample: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matthews;

/// For one class: its samples, the samples predicted as it, and the samples with both.
#[derive(Clone, Copy, Default)]
struct Count {
    actual: usize,
    predicted: usize,
    both: usize,
}

fn counts(classes: &Classes, predicted: &[u32]) -> impl Iterator<Item = Count> {
    let mut counts: BTreeMap<u32, Count> = BTreeMap::new();
    for (&actual, &predicted) in classes.codes().iter().zip(predicted) {
        counts.entry(actual).or_default().actual += 1;
        counts.entry(predicted).or_default().predicted += 1;
        counts.entry(actual).or_default().both += usize::from(actual == predicted);
    }
    counts.into_values()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    sum / count as f64
}

impl Metric for Accuracy {
    fn name(&self) -> &'static str {
        "accuracy"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, predicted) = both_classes(self.name(), target, predicted)?;
        let hits =
            classes.codes().iter().zip(predicted).filter(|(actual, predicted)| actual == predicted).count();
        Ok(hits as f64 / predicted.len() as f64)
    }
}

impl Metric for BalancedAccuracy {
    fn name(&self) -> &'static str {
        "balanced-accuracy"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, predicted) = both_classes(self.name(), target, predicted)?;
        check_several_classes(classes)?;
        let occurring = counts(classes, predicted).filter(|count| count.actual > 0);
        Ok(mean(occurring.map(|count| count.both as f64 / count.actual as f64)))
    }
}

impl Metric for MacroF1 {
    fn name(&self) -> &'static str {
        "macro-f1"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, predicted) = both_classes(self.name(), target, predicted)?;
        check_several_classes(classes)?;
        Ok(mean(
            counts(classes, predicted)
                .map(|count| 2.0 * count.both as f64 / (count.actual + count.predicted) as f64),
        ))
    }
}

impl Metric for Matthews {
    fn name(&self) -> &'static str {
        "matthews"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, truth: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, predicted) = both_classes(self.name(), truth, predicted)?;
        check_several_classes(classes)?;
        let samples = predicted.len() as f64;
        let (mut hits, mut product, mut actual, mut said) = (0.0, 0.0, 0.0, 0.0);
        for count in counts(classes, predicted) {
            let (t, p) = (count.actual as f64, count.predicted as f64);
            hits += count.both as f64;
            product += t * p;
            actual += t * t;
            said += p * p;
        }
        let scale = ((samples * samples - said) * (samples * samples - actual)).sqrt();
        Ok(if scale > 0.0 { ((hits * samples - product) / scale).clamp(-1.0, 1.0) } else { 0.0 })
    }
}
