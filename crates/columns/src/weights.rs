//! Sample weights.

use fewest_core::{Dataset, Error};

/// How much every sample counts: at least 0, with a sum of the number of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    values: Vec<f64>,
    total: f64,
    n_counting: usize,
}

impl Weights {
    /// These weights, brought to that sum.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a weight that is negative or not finite, or where none is above 0.
    pub fn new(weights: &[f64]) -> Result<Self, Error> {
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::parameter("sample weight", weight, "finite and at least 0"));
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(Error::parameter("sample weights", "0 for every sample", "above 0 for some sample"));
        }
        // By the largest first, so that no sum overflows.
        let sum: f64 = weights.iter().map(|weight| weight / largest).sum();
        let unit = weights.len() as f64 / sum;
        let values: Vec<f64> = weights.iter().map(|weight| weight / largest * unit).collect();
        let n_counting = values.iter().filter(|weight| **weight > 0.0).count();
        Ok(Self { total: values.iter().sum(), values, n_counting })
    }

    /// The weights of the samples of `data`; `None` where all count alike.
    ///
    /// # Errors
    /// As [`Weights::new`].
    pub fn of(data: &Dataset) -> Result<Option<Self>, Error> {
        match data.sample_weights() {
            Some(weights) if weights.iter().all(|weight| *weight == weights[0] && *weight > 0.0) => Ok(None),
            Some(weights) => Self::new(weights).map(Some),
            None => Ok(None),
        }
    }

    /// One for each sample.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Their sum, the number of samples but for rounding.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Number of samples with a weight above 0.
    pub fn n_counting(&self) -> usize {
        self.n_counting
    }
}
