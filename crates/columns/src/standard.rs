//! Mean 0 and standard deviation 1.

use fewest_core::{Column, derive_seed, order};
use multiversion::multiversion;

use crate::Weights;
use crate::moments::Moments;

/// Subtracts the mean and divides by the standard deviation (dividing by n); false when all values are equal.
pub fn standardise(values: &mut [f64]) -> bool {
    let standard = Standard::of(values, range(values));
    if let Some(standard) = &standard {
        standard.apply(values);
    }
    standard.is_some()
}

/// A seed for a standardised column, by its values and `seed`, whatever their order: random numbers of a
/// feature that change neither with its place in the table nor with the order of samples.
pub fn seed_of_values(seed: u64, mut values: Vec<f64>) -> u64 {
    order::sort(&mut values);
    // Standardising rounds differently for another order of the samples: nine digits do not feel that. And
    // there is one zero.
    let rounded = |value: &f64| (value * 1e9).round() as i64 as u64;
    values.iter().fold(seed, |seed, value| derive_seed(seed, rounded(value)))
}

/// The largest size of a standardised value: its square is finite.
const FARTHEST: f64 = 1e150;

/// Values that differ by less than this share of their size are offset: their differences are taken first.
const OFFSET: f64 = 1.0 / 1024.0;

/// What brings some values to mean 0 and standard deviation 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standard {
    /// A power of two, which changes no digits.
    scale: f64,
    /// One of the values, where all are far from 0 compared with their differences, which are then exact;
    /// else 0.
    pivot: f64,
    mean: f64,
    /// What rounding left of the mean.
    rest: f64,
    inverse_deviation: f64,
}

impl Standard {
    /// That of `values`, which lie in this [`range`]; `None` when all are equal.
    ///
    /// The mean is taken off before anything is squared, so a large offset costs no accuracy, and the values
    /// are first brought near 1, so that no square overflows.
    pub fn of(values: &[f64], (low, high): (f64, f64)) -> Option<Self> {
        Self::with_zeros(values, 0, (low, high))
    }

    /// That of the stored `values` of a sparse column of `n_samples`, whose other values are 0; `None` when
    /// all are equal.
    pub fn of_sparse(values: &[f64], n_samples: usize) -> Option<Self> {
        let n_zeros = n_samples - values.len();
        let (low, high) = range(values);
        let range = if n_zeros > 0 { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        Self::with_zeros(values, n_zeros, range)
    }

    /// Of the moments of `n` values that were divided by `divisor`, which is positive; `None` when all are
    /// equal. For values that are summed in passes; the factor by which those of a table are brought near 1
    /// is the one that is near `1 / divisor`.
    ///
    /// ```
    /// use fewest_columns::{Standard, moments::Moments};
    ///
    /// let moments = Moments::new(&[1.0, 2.0, 3.0], 0);
    /// let standard = Standard::of_moments(&moments, 3, 1.0).expect("not all equal");
    /// let mut values = [2.0, 3.0];
    /// standard.apply(&mut values);
    /// assert_eq!(values, [0.0, 1.5_f64.sqrt()]);
    /// assert!(Standard::of_moments(&Moments::new(&[5.0, 5.0], 0), 2, 1.0).is_none());
    /// ```
    pub fn of_moments(moments: &Moments, n: usize, divisor: f64) -> Option<Self> {
        let scale = inverse_power(divisor);
        let near_one = moments.times(divisor * scale);
        let inverse_deviation = (near_one.deviations / n as f64).sqrt().recip();
        let standard = Self {
            scale,
            pivot: near_one.origin,
            mean: near_one.mean_from(near_one.origin),
            rest: 0.0,
            inverse_deviation,
        };
        standard.inverse_deviation.is_finite().then_some(standard)
    }

    /// That of a column whose samples have `weights`: it brings the weighted mean to 0 and the weighted mean
    /// of the squares to 1. `None` when all values that count are equal.
    ///
    /// Values of samples that do not count have no influence. [`apply`](Self::apply) maps them as well: a
    /// size above 1e150 standard deviations becomes that, so that none overflows.
    pub fn weighted(column: Column<'_>, weights: &Weights) -> Option<Self> {
        let (values, of_stored): (&[f64], Option<Vec<f64>>) = match column {
            Column::Dense(values) => (values, None),
            Column::Sparse { rows, values } => {
                (values, Some(rows.iter().map(|&row| weights.values()[row]).collect()))
            }
        };
        let own = of_stored.as_deref().unwrap_or(weights.values());
        let n_zeros = weights.n_counting() - own.iter().filter(|weight| **weight > 0.0).count();
        let stored: f64 = own.iter().sum();
        let zeros = if n_zeros > 0 { (weights.total() - stored).max(0.0) } else { 0.0 };
        let counting = || values.iter().zip(own).filter(|(_, weight)| **weight > 0.0);
        let (mut low, mut high) = if n_zeros > 0 { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        for (&value, _) in counting() {
            (low, high) = (value.min(low), value.max(high));
        }
        // NaN too.
        if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
            return None;
        }
        let scale = inverse_power(low.abs().max(high.abs()));
        let is_offset =
            low * scale * (high * scale) > 0.0 && (high - low) * scale < OFFSET * (low * scale).abs();
        let pivot = if is_offset { low * scale } else { 0.0 };
        let total = stored + zeros;
        // Where there are zeros, no offset is common to all: the pivot is 0.
        let mean = counting().map(|(value, weight)| weight * (value * scale - pivot)).sum::<f64>() / total;
        let rest = counting().map(|(value, weight)| weight * ((value * scale - pivot) - mean)).sum::<f64>();
        let rest = (rest - zeros * mean) / total;
        let mut standard = Self { scale, pivot, mean, rest, inverse_deviation: 0.0 };
        let square = |value: f64| standard.centred(value).powi(2);
        let squares = counting().map(|(value, weight)| weight * square(*value)).sum::<f64>();
        standard.inverse_deviation = ((squares + zeros * square(0.0)) / total).sqrt().recip();
        standard.inverse_deviation.is_finite().then_some(standard)
    }

    fn with_zeros(values: &[f64], n_zeros: usize, (low, high): (f64, f64)) -> Option<Self> {
        if low == high {
            return None;
        }
        let scale = inverse_power(low.abs().max(high.abs()));
        let (low, high) = (low * scale, high * scale);
        let is_offset = low * high > 0.0 && high - low < OFFSET * low.abs();
        let pivot = if is_offset { values.first().copied().unwrap_or(0.0) * scale } else { 0.0 };
        let standard = with_scale(values, n_zeros as f64, scale, pivot);
        standard.inverse_deviation.is_finite().then_some(standard)
    }

    /// The mean of the values.
    pub fn mean(&self) -> f64 {
        (self.pivot + (self.mean + self.rest)) / self.scale
    }

    /// The standard deviation of the values, dividing by their number.
    pub fn deviation(&self) -> f64 {
        (self.inverse_deviation * self.scale).recip()
    }

    /// The map that standardises, as `(scale, centre, deviation)`: `value ↦ (scale · value − centre) /
    /// deviation`. For sparse columns, whose zeros are mapped without being written.
    pub fn affine(&self) -> (f64, f64, f64) {
        (self.scale, self.pivot + (self.mean + self.rest), self.inverse_deviation.recip())
    }

    /// Standardises `values`, those it was made of or others of the same feature.
    pub fn apply(&self, values: &mut [f64]) {
        apply(*self, values);
        // A finite value that was not among those it was made of.
        values.iter_mut().for_each(|value| *value = value.clamp(-FARTHEST, FARTHEST));
    }

    #[inline(always)]
    fn centred(&self, value: f64) -> f64 {
        ((value * self.scale - self.pivot) - self.mean) - self.rest
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn with_scale(values: &[f64], n_zeros: f64, scale: f64, pivot: f64) -> Standard {
    let n = values.len() as f64 + n_zeros;
    // Where there are zeros, no offset is common to all: the pivot is 0.
    let sum = in_lanes(values, 0.0, |sum, value| sum + (value * scale - pivot)).iter().sum::<f64>();
    let mean = sum / n;
    let sum = in_lanes(values, 0.0, |sum, value| sum + ((value * scale - pivot) - mean)).iter().sum::<f64>();
    let rest = (sum - n_zeros * mean) / n;
    let mut standard = Standard { scale, pivot, mean, rest, inverse_deviation: 0.0 };
    let squares = in_lanes(values, 0.0, |sum, value| {
        let value = standard.centred(value);
        sum + value * value
    });
    let zero = standard.centred(0.0);
    standard.inverse_deviation = ((squares.iter().sum::<f64>() + n_zeros * zero * zero) / n).sqrt().recip();
    standard
}

#[multiversion(targets("x86_64+avx2"))]
fn apply(standard: Standard, values: &mut [f64]) {
    values.iter_mut().for_each(|value| *value = standard.centred(*value) * standard.inverse_deviation);
}

/// The power of two that brings a size to between 1 and 2, or as near as one can.
///
/// ```
/// assert_eq!(fewest_columns::inverse_power(6.0), 0.25);
/// ```
pub fn inverse_power(size: f64) -> f64 {
    // The exponent of the inverse of a power of two is what is left of twice the exponent of 1.
    const ONE: u64 = 1023;
    let exponent = size.to_bits() >> 52;
    f64::from_bits((2 * ONE).saturating_sub(exponent).max(1) << 52)
}

/// The smallest and the largest value.
#[multiversion(targets("x86_64+avx2"))]
pub fn range(values: &[f64]) -> (f64, f64) {
    let first = values.first().copied().unwrap_or(0.0);
    let low = in_lanes(values, first, |low, value| if value < low { value } else { low });
    let high = in_lanes(values, first, |high, value| if value > high { value } else { high });
    (low.into_iter().fold(first, f64::min), high.into_iter().fold(first, f64::max))
}

/// Folds every eighth value each, from `start`: eight independent chains of operations, which processors work
/// on at once.
#[inline(always)]
fn in_lanes(values: &[f64], start: f64, fold: impl Fn(f64, f64) -> f64) -> [f64; 8] {
    let mut lanes = [start; 8];
    let chunks = values.chunks_exact(8);
    for (lane, &value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = fold(*lane, value);
    }
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = fold(*lane, value);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_size_and_offset_are_standardised() {
        for n in [2_usize, 7, 8, 9, 30] {
            for (size, offset) in [
                (1e-320, 0.0),
                (1e-300, 0.0),
                (1.0, 0.0),
                (1.0, 1e9),
                (1e-6, 1.0),
                (1e300, 0.0),
                (1e305, -5e307),
            ] {
                let mut values: Vec<f64> =
                    (0..n).map(|i| offset + size * (i * i) as f64 / n as f64).collect();
                assert!(standardise(&mut values), "{n} {size} {offset}");
                let mean = values.iter().sum::<f64>() / n as f64;
                let variance = values.iter().map(|value| value * value).sum::<f64>() / n as f64;
                assert!(
                    mean.abs() < 1e-12 && (variance - 1.0).abs() < 1e-12,
                    "{n} {size} {offset}: {mean} {variance}"
                );
                let (low, high) = range(&values);
                assert!(low == values[0] && high == values[n - 1]);
            }
        }
        for (sparse, n) in [(&[1.0, 1e-3, -4.0][..], 9), (&[7.0][..], 2), (&[1e300, -1e300][..], 5)] {
            let mut whole = sparse.to_vec();
            whole.resize(n, 0.0);
            let (scale, centre, deviation) = Standard::of_sparse(sparse, n).unwrap().affine();
            let mapped: Vec<f64> = whole.iter().map(|value| (scale * value - centre) / deviation).collect();
            assert!(standardise(&mut whole));
            for (a, b) in whole.iter().zip(&mapped) {
                assert!((a - b).abs() < 1e-14, "{whole:?} {mapped:?}");
            }
        }
        assert!(Standard::of_sparse(&[], 4).is_none() && Standard::of_sparse(&[2.0; 4], 4).is_none());
        assert!(Standard::of_sparse(&[0.0; 2], 4).is_none());
        for equal in [0.0, -3.0, 1e-320, f64::MAX] {
            assert!(!standardise(&mut [equal; 5]));
        }
        assert!(!standardise(&mut []));
        assert!(standardise(&mut [f64::MAX, -f64::MAX, 0.0]));
    }

    /// Weights are numbers of copies; samples that do not count may have any value.
    #[test]
    fn weights_are_numbers_of_copies() -> Result<(), fewest_core::Error> {
        let weights = [2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 1.0];
        for (size, offset) in [(1.0, 0.0), (1e-300, 0.0), (1.0, 1e9), (1e290, 0.0)] {
            let values: Vec<f64> = (0..7).map(|i| offset + size * ((i * i * 5) % 11) as f64).collect();
            let copies = values.iter().zip(&weights).flat_map(|(value, &n)| vec![*value; n as usize]);
            let copies: Vec<f64> = copies.collect();
            let (Some(expected), Some(found)) = (
                Standard::of(&copies, range(&copies)),
                Standard::weighted(Column::Dense(&values), &Weights::new(&weights)?),
            ) else {
                panic!("{size} {offset}")
            };
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * a.abs().max(b.abs());
            assert!(near(expected.mean(), found.mean()), "{expected:?} {found:?}");
            assert!(near(expected.deviation(), found.deviation()), "{expected:?} {found:?}");
            let rows: Vec<usize> = (0..7).filter(|&i| values[i] != 0.0).collect();
            let stored: Vec<f64> = rows.iter().map(|&i| values[i]).collect();
            let column = Column::Sparse { rows: &rows, values: &stored };
            let Some(sparse) = Standard::weighted(column, &Weights::new(&weights)?) else { panic!() };
            assert!(near(sparse.mean(), found.mean()) && near(sparse.deviation(), found.deviation()));
        }
        let weights = Weights::new(&[1.0, 0.0, 1.0])?;
        assert_eq!(Standard::weighted(Column::Dense(&[4.0, 1.0, 4.0]), &weights), None);
        assert_eq!(Standard::weighted(Column::Sparse { rows: &[1], values: &[1.0] }, &weights), None);
        for size in [1.0, 1e-200] {
            let mut values = [size, 1e308, 2.0 * size];
            let Some(far) = Standard::weighted(Column::Dense(&values), &weights) else { panic!("{size}") };
            far.apply(&mut values);
            assert!((values[0] + 1.0).abs() < 1e-12 && (values[2] - 1.0).abs() < 1e-12, "{values:?}");
            assert!(values[1] > 1e100 && values[1].is_finite(), "{values:?}");
        }
        Ok(())
    }
}
