//! What streams tell and need that forget.

use crate::Error;

/// A score by sums in which samples can lose weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FadingScore {
    /// The F statistic: of the classes, or of the regression of a real target on the feature.
    F,
    /// The absolute correlation (Pearson's) with a real target or two classes.
    Correlation,
    /// The variance.
    Variance,
}

impl FadingScore {
    /// The error of a method without such sums.
    pub fn missing() -> Error {
        Error::Unsupported {
            method: "samples that lose weight",
            what: "a method without sums of weighted samples".to_owned(),
            instead:
                "take f-score, correlation or variance, or a window of the last samples, which any method \
                      of samples can have"
                    .to_owned(),
        }
    }
}

/// When a stream found that its selection no longer holds, and what came in its place.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Alarm {
    /// How many alarms there were, with this one.
    pub number: u64,
    /// Number of samples that had been seen.
    pub sample: u64,
    /// The first sample that counts from now on, from 0: the change was found between this block and those
    /// before it.
    pub since: u64,
    /// Mean disagreement of the blocks before, from 0 to 1.
    pub before: f64,
    /// Mean disagreement of the blocks after: about ½ if the features watched are as good as others.
    pub after: f64,
    /// Spearman's rank correlation of the scores of the reference and those of the samples that count now.
    pub rank_correlation: f64,
    /// The features watched that are no longer among the best of as many, the best first.
    pub left: Vec<usize>,
    /// Those that are instead.
    pub entered: Vec<usize>,
}

crate::state!(Alarm { number, sample, since, before, after, rank_correlation, left, entered });
