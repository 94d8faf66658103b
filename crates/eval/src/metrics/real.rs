//! Metrics of predicted numbers. For several outputs, the mean over the outputs.

use fewest_core::{Error, Target};

use super::{Metric, mean_over_outputs};
use crate::Predictions;

/// The mean squared error `Σ (yᵢ − ŷᵢ)² / n`, in squared units of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanSquaredError;

/// The root of the mean squared error, `√(Σ (yᵢ − ŷᵢ)² / n)`, in units of the target. For several outputs,
/// the mean of their roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RootMeanSquaredError;

/// The mean absolute error `Σ |yᵢ − ŷᵢ| / n`, in units of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanAbsoluteError;

/// The coefficient of determination `R² = 1 − Σ (yᵢ − ŷᵢ)² / Σ (yᵢ − ȳ)²`, `ȳ` the mean of the test part's
/// targets: 1 is perfect, 0 as good as predicting `ȳ`, below 0 worse. It is `1 −` [`QSquared`].
///
/// Not defined for constant true values, as in test parts of one sample: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Determination;

/// `Q² = Σ (yᵢ − ŷᵢ)² / Σ (yᵢ − ȳ)²` (Yang et al. 2015, Section 5.1, where the second sum sign is missing):
/// the squared error divided by the variance of the true values. 0 is perfect, 1 is the error of
/// predicting the mean of the test targets. Despite its name smaller is better; `1 − Q²` is the coefficient
/// of determination, [`Determination`].
///
/// Not defined for constant true values, as in test parts of one sample: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QSquared;

/// Pearson's correlation between true values and predictions, in `[−1, 1]`. Constant predictions have
/// correlation 0.
///
/// Not defined for constant true values: [`Error::TooFew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Correlation;

/// The square of [`Correlation`], in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SquaredCorrelation;

fn squared_error(target: &[f64], predicted: &[f64]) -> f64 {
    target.iter().zip(predicted).map(|(target, predicted)| (target - predicted).powi(2)).sum()
}

/// Values minus their mean. All zeros, exactly, for a constant.
pub(super) fn centred(values: &[f64]) -> Vec<f64> {
    if values.iter().all(|value| *value == values[0]) {
        return vec![0.0; values.len()];
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

fn mean_squared_error(target: &[f64], predicted: &[f64]) -> f64 {
    squared_error(target, predicted) / target.len() as f64
}

/// [`QSquared`] of one output.
fn q_squared(target: &[f64], predicted: &[f64]) -> Result<f64, Error> {
    Ok(squared_error(target, predicted) / sum_of_squares(&centred_target(target)?))
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn centred_target(target: &[f64]) -> Result<Vec<f64>, Error> {
    let centred = centred(target);
    if sum_of_squares(&centred) > 0.0 {
        Ok(centred)
    } else {
        Err(Error::TooFew { what: "different target values in the test part", minimum: 2, found: 1 })
    }
}

/// Pearson's correlation of values that are centred; 0 when one is constant.
pub(crate) fn correlation_of_centred(a: &[f64], b: &[f64]) -> f64 {
    let scale = sum_of_squares(a).sqrt() * sum_of_squares(b).sqrt();
    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    if scale > 0.0 { (product / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

fn correlation(target: &[f64], predicted: &[f64]) -> Result<f64, Error> {
    Ok(correlation_of_centred(&centred_target(target)?, &centred(predicted)))
}

impl Metric for MeanSquaredError {
    fn name(&self) -> &'static str {
        "mse"
    }

    fn greater_is_better(&self) -> bool {
        false
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, |target, predicted| {
            Ok(mean_squared_error(target, predicted))
        })
    }
}

impl Metric for RootMeanSquaredError {
    fn name(&self) -> &'static str {
        "rmse"
    }

    fn greater_is_better(&self) -> bool {
        false
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, |target, predicted| {
            Ok(mean_squared_error(target, predicted).sqrt())
        })
    }
}

impl Metric for MeanAbsoluteError {
    fn name(&self) -> &'static str {
        "mae"
    }

    fn greater_is_better(&self) -> bool {
        false
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, |target, predicted| {
            let errors = target.iter().zip(predicted).map(|(target, predicted)| (target - predicted).abs());
            Ok(errors.sum::<f64>() / target.len() as f64)
        })
    }
}

impl Metric for Determination {
    fn name(&self) -> &'static str {
        "r2"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, |target, predicted| {
            q_squared(target, predicted).map(|q_squared| 1.0 - q_squared)
        })
    }
}

impl Metric for QSquared {
    fn name(&self) -> &'static str {
        "q2"
    }

    fn greater_is_better(&self) -> bool {
        false
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, q_squared)
    }
}

impl Metric for Correlation {
    fn name(&self) -> &'static str {
        "correlation"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, correlation)
    }
}

impl Metric for SquaredCorrelation {
    fn name(&self) -> &'static str {
        "squared-correlation"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        mean_over_outputs(self.name(), target, predicted, |target, predicted| {
            correlation(target, predicted).map(|correlation| correlation * correlation)
        })
    }
}
