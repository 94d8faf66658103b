//! Metrics of predictions.

mod classes;
mod clusters;
mod matching;
mod real;
mod redundancy;
mod scores;
mod survival;

pub use classes::{Accuracy, BalancedAccuracy, MacroF1, Matthews};
pub use clusters::{ClusteringAccuracy, MutualInformationScale, NormalisedMutualInformation};
pub(crate) use real::correlation_of_centred;
pub use real::{
    Correlation, Determination, MeanAbsoluteError, MeanSquaredError, QSquared, RootMeanSquaredError,
    SquaredCorrelation,
};
pub use redundancy::redundancy_rate;
pub use scores::{AreaUnderCurve, LogLoss};
pub use survival::Concordance;

use fewest_core::{Classes, Error, Target};

use crate::{ClassScoring, Predictions};

/// A metric: a number that measures the quality of predictions.
///
/// ```
/// use fewest_core::Target;
/// use fewest_eval::{Accuracy, Metric, Predictions};
///
/// let target = Target::from_labels(&["ill", "well", "well", "well"]);
/// let score = Accuracy.score(&target, &Predictions::Classes(vec![0, 0, 1, 1]))?;
/// assert_eq!(score, 0.75);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub trait Metric: Send + Sync {
    /// The name of the metric, for reports and messages: `accuracy`, …
    fn name(&self) -> &'static str;

    /// Whether a larger value is a better prediction.
    fn greater_is_better(&self) -> bool;

    /// What it needs to know of the classes, besides the predicted one. Default: nothing.
    fn needs(&self) -> ClassScoring {
        ClassScoring::None
    }

    /// The value for the predictions `predicted` of the true values `target`.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`] for a target or predictions of another kind; [`Error::ShapeMismatch`] for
    /// other numbers of samples; [`Error::TooFew`] if the metric is not defined, for example for constant
    /// true values.
    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error>;
}

impl<M: Metric + ?Sized> Metric for Box<M> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn greater_is_better(&self) -> bool {
        (**self).greater_is_better()
    }

    fn needs(&self) -> ClassScoring {
        (**self).needs()
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        (**self).score(target, predicted)
    }
}

fn check_samples(target: &Target, predicted: &Predictions) -> Result<(), Error> {
    let expected = target.n_samples().unwrap_or(0);
    if expected == 0 {
        return Err(Error::TooFew { what: "samples with predictions", minimum: 1, found: 0 });
    }
    if predicted.n_samples() != expected {
        let what = "samples with a prediction";
        return Err(Error::ShapeMismatch { what, expected, found: predicted.n_samples() });
    }
    Ok(())
}

/// Refuses true values of one class, for metrics that compare classes.
fn check_several_classes(classes: &Classes) -> Result<(), Error> {
    let found = classes.occurring().len();
    if found < 2 {
        let what = "classes in the test part, without which this metric is not defined (larger parts have more: \
                    fewer folds)";
        return Err(Error::TooFew { what, minimum: 2, found });
    }
    Ok(())
}

/// True and predicted classes, or the error that says `method` needs them.
fn both_classes<'a>(
    method: &'static str,
    target: &'a Target,
    predicted: &'a Predictions,
) -> Result<(&'a Classes, &'a [u32]), Error> {
    check_samples(target, predicted)?;
    match (target, predicted) {
        (Target::Class(classes), Predictions::Classes(codes)) => Ok((classes, codes)),
        (Target::Class(classes), Predictions::Scored(scored)) => Ok((classes, &scored.classes)),
        (Target::Class(_), _) => Err(Error::UnsupportedTarget {
            method,
            expected: "predicted classes",
            found: "predicted numbers".to_owned(),
        }),
        _ => Err(Error::UnsupportedTarget { method, expected: "classes", found: target.describe() }),
    }
}

/// `score(target, predicted)` of each output, averaged.
fn mean_over_outputs(
    method: &'static str,
    target: &Target,
    predicted: &Predictions,
    score: impl Fn(&[f64], &[f64]) -> Result<f64, Error>,
) -> Result<f64, Error> {
    check_samples(target, predicted)?;
    let (outputs, values) = match (target, predicted) {
        (Target::Real(outputs), Predictions::Real(values)) => (outputs, values),
        (Target::Real(_), _) => {
            let (expected, found) = ("predicted numbers", "predicted classes".to_owned());
            return Err(Error::UnsupportedTarget { method, expected, found });
        }
        _ => {
            return Err(Error::UnsupportedTarget {
                method,
                expected: "a real output",
                found: target.describe(),
            });
        }
    };
    let n_outputs = outputs.n_outputs();
    if values.len() != n_outputs {
        let what = "outputs with predictions";
        return Err(Error::ShapeMismatch { what, expected: n_outputs, found: values.len() });
    }
    let mut sum = 0.0;
    for (output, values) in values.iter().enumerate() {
        let target = outputs.output(output);
        if values.len() != target.len() {
            let what = "samples with a prediction";
            return Err(Error::ShapeMismatch { what, expected: target.len(), found: values.len() });
        }
        sum += score(target, values)?;
    }
    Ok(sum / n_outputs as f64)
}

#[cfg(test)]
mod tests;
