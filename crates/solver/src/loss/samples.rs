//! Sample weights and offsets.

use crate::Error;

/// How much every sample counts in a loss, and what is added to its fitted values before.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    shares: Vec<f64>,
    /// One for each fitted value, or none.
    offsets: Vec<f64>,
}

impl Samples {
    /// The mean over `n` samples: each counts `1/n`.
    pub fn mean(n: usize) -> Self {
        Self::equal(n, (n as f64).recip())
    }

    /// `n` samples that count `share`, which is finite and at least 0, each.
    pub fn equal(n: usize, share: f64) -> Self {
        Self { shares: vec![share; n], offsets: Vec::new() }
    }

    /// The sum over `n` samples: each counts 1.
    pub fn sum(n: usize) -> Self {
        Self::equal(n, 1.0)
    }

    /// The weighted mean: sample `i` counts `weights[i] / Σ weights`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a weight that is negative or not finite, or where none is above 0.
    pub fn weighted(weights: &[f64]) -> Result<Self, Error> {
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::parameter("sample weight", weight, "finite and at least 0"));
        }
        let total: f64 = weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(Error::parameter("sample weights", format!("of sum {total}"), "of a sum above 0"));
        }
        Ok(Self { shares: weights.iter().map(|weight| weight / total).collect(), offsets: Vec::new() })
    }

    /// With `offsets`, one for each fitted value, output after output.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless they are whole outputs; [`Error::InvalidParameter`] for one that is
    /// not finite.
    pub fn with_offsets(self, offsets: Vec<f64>) -> Result<Self, Error> {
        if offsets.is_empty() || !offsets.len().is_multiple_of(self.len().max(1)) {
            return Err(Error::ShapeMismatch {
                what: "offsets (a multiple of the samples)",
                expected: self.len(),
                found: offsets.len(),
            });
        }
        if let Some(offset) = offsets.iter().find(|offset| !offset.is_finite()) {
            return Err(Error::parameter("offset", offset, "finite"));
        }
        Ok(Self { offsets, ..self })
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.shares.len()
    }

    /// What sample `i` counts.
    pub(super) fn share(&self, i: usize) -> f64 {
        self.shares[i]
    }

    /// What all samples count together.
    pub(super) fn total(&self) -> f64 {
        self.shares.iter().sum()
    }

    /// Whether anything is added to the fitted values.
    pub(super) fn have_offsets(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The offset of fitted value `at`.
    pub(super) fn offset(&self, at: usize) -> f64 {
        self.offsets.get(at).copied().unwrap_or(0.0)
    }

    /// Checks that there are samples, and that `found` values, and the offsets if there are any, are `c` for
    /// each; returns `c`.
    pub(super) fn check_outputs(&self, found: usize) -> Result<usize, Error> {
        let n = self.len();
        if n == 0 {
            return Err(Error::TooFew { what: "samples of a loss", minimum: 1, found: 0 });
        }
        let c = found / n;
        if c == 0 || found != c * n {
            return Err(Error::ShapeMismatch {
                what: "observations of a loss",
                expected: n * c.max(1),
                found,
            });
        }
        match self.offsets.len() {
            0 => Ok(c),
            found if found == n * c => Ok(c),
            found => Err(Error::ShapeMismatch { what: "offsets", expected: n * c, found }),
        }
    }
}
