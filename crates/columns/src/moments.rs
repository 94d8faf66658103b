//! Means and squared deviations of a column.

use fewest_core::Column;

/// Running sums kept side by side: enough for the compiler to use the widest registers.
const LANES: usize = 8;

/// Sums of squares outside these bounds are computed again on values divided by the largest.
const SAFE_SQUARES: std::ops::Range<f64> = 1e-280..1e300;

/// `Σ term(value)`, in an order that depends on the length only.
pub fn sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|&value| term(value)).sum();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += term(value);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Correlations that differ from 1 by less than this are of linear copies: rounding.
pub const ROUNDING: f64 = 1e-12;

/// The values centred and scaled to length 1; they are not all equal. Products of such vectors are
/// correlations.
pub fn unit(values: &[f64]) -> Vec<f64> {
    let largest = magnitude(values);
    let first = values.first().map_or(0.0, |value| value / largest);
    let mut unit: Vec<f64> = values.iter().map(|value| value / largest - first).collect();
    // Differences may be tiny even so: scaled again, their squares are not lost.
    let largest = magnitude(&unit);
    unit.iter_mut().for_each(|value| *value /= largest);
    let mean = sum(&unit, |value| value) / values.len() as f64;
    unit.iter_mut().for_each(|value| *value -= mean);
    let norm = sum(&unit, |value| value * value).sqrt();
    unit.iter_mut().for_each(|value| *value /= norm);
    unit
}

/// Mean and squared deviations of some samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// A value of the first samples: what means are told relative to, so that equal values give exactly 0.
    pub origin: f64,
    /// The mean less `origin`.
    offset: f64,
    /// `Σ (x − mean)²`.
    pub deviations: f64,
}

fewest_core::state!(Moments { origin, offset, deviations });

impl Moments {
    /// Of the `stored` values and `zeros` more that are zero; not both empty. Two passes, centred before
    /// anything is squared.
    pub fn new(stored: &[f64], zeros: usize) -> Self {
        let origin = if zeros > 0 { 0.0 } else { stored.first().copied().unwrap_or(0.0) };
        let n = (stored.len() + zeros) as f64;
        let offset = sum(stored, |value| value - origin) / n;
        let deviations =
            sum(stored, |value| ((value - origin) - offset).powi(2)) + zeros as f64 * offset * offset;
        Self { origin, offset, deviations }
    }

    /// Of a mean, told by a value near it and what is missing, and squared deviations.
    pub(crate) fn from_parts(origin: f64, offset: f64, deviations: f64) -> Self {
        Self { origin, offset, deviations }
    }

    /// Adds those of later samples, `n_later` of them to `n` (Chan, Golub & LeVeque 1979). Samples that are
    /// all equal stay so to the bit.
    pub fn merge(&mut self, n: usize, later: &Self, n_later: usize) {
        let (own, other) = (n as f64, n_later as f64);
        let difference = self.difference(later);
        self.offset += difference * (other / (own + other));
        self.deviations += later.deviations + difference * difference * (own * other / (own + other));
    }

    /// The mean of `later` less the mean here.
    pub fn difference(&self, later: &Self) -> f64 {
        later.mean_from(self.origin) - self.offset
    }

    /// Those of the samples times `factor`.
    pub fn times(&self, factor: f64) -> Self {
        Self {
            origin: self.origin * factor,
            offset: self.offset * factor,
            deviations: self.deviations * factor * factor,
        }
    }

    /// Of a column of `n` values.
    pub fn of(column: Column<'_>, n: usize) -> Self {
        match column {
            Column::Dense(values) => Self::new(values, 0),
            Column::Sparse { values, .. } => Self::new(values, n - values.len()),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.origin + self.offset
    }

    /// The mean less `origin`, a value near all means.
    pub fn mean_from(&self, origin: f64) -> f64 {
        (self.origin - origin) + self.offset
    }
}

/// Whether no square in a sum this large has overflowed or vanished; 0 may be of squares that all vanished.
pub fn is_safe(squares: f64) -> bool {
    SAFE_SQUARES.contains(&squares)
}

/// The largest absolute value, or 1 when all are 0.
pub fn magnitude(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}
