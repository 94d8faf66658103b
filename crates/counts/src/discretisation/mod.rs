//! Discretisation of numbers, for criteria that count.
//!
//! Discretisation is part of a method, not of reading the data: bounds of bins are computed from the samples
//! the method gets, so that in cross-validation no bound depends on the samples held out.

mod mdl;
mod quantiles;

use fewest_core::method::Options;
use fewest_core::{Classes, Error, options, words};

pub use quantiles::{Bracket, Quantiles};

words! {
    /// How the values of a feature become levels.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum DiscretisationRule {
        /// Bins of equal width over the range: `min(b - 1, ⌊b (x - min)/(max - min)⌋)`, so the last bin is
        /// closed. A value within `1e-12 b` bins of a bound is on it: rounding must not decide, or the bins
        /// would depend on the unit of a feature.
        #[default]
        EqualWidth = "equal-width",
        /// Bins of equally many samples: `⌊b r/n⌋` with `r` the number of samples below `x`, so that equal
        /// values share a bin.
        EqualFrequency = "equal-frequency",
        /// Supervised: cut where the entropy of the classes decreases by more than the description length of
        /// the cut (Fayyad & Irani 1993). A feature that no cut pays for has one level.
        Mdl = "mdl",
    }
}

words! {
    /// How a feature with whole numbers only is discretised.
    #[derive(Default)]
    pub enum Integers {
        /// Into bins, as any other feature.
        #[default]
        Bins = "bins",
        /// Each number is a level.
        Levels = "levels",
    }
}

options! {
    /// How features and real targets become levels. Categories are their own levels.
    ///
    /// ```
    /// use fewest_counts::discretisation::Discretisation;
    ///
    /// let levels = Discretisation::default().levels(&[0.0, 1.9, 2.0, 9.9, 10.0], None)?;
    /// // The maximum is in the last bin, not in one of its own; bins without a sample are not counted.
    /// assert_eq!(levels.codes, [0, 0, 1, 2, 2]);
    /// assert_eq!(levels.n_levels, 3);
    /// # Ok::<(), fewest_counts::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Discretisation {
        /// How numbers, and a real target, become levels; mdl: cuts that separate the classes.
        pub discretisation: DiscretisationRule = DiscretisationRule::EqualWidth;
        /// Number of bins; with mdl those of a real target, of equally many samples.
        pub bins: usize = 5, Between(2, 65536);
        /// Levels: a feature with whole numbers only is used unchanged.
        pub integers: Integers = Integers::Bins;
    }
}

/// A level for every sample: codes `0 .. n_levels`, by increasing value, each of which occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Levels {
    /// The level of every sample.
    pub codes: Vec<u32>,
    /// Number of levels.
    pub n_levels: usize,
}

fewest_core::state!(Levels { codes, n_levels });

impl Levels {
    /// The levels of keys, by increasing key.
    pub(crate) fn from_keys<K: Ord + Copy>(keys: &[K]) -> Self {
        let mut distinct = keys.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let codes = keys.iter().map(|key| distinct.partition_point(|other| other < key) as u32).collect();
        Self { codes, n_levels: distinct.len() }
    }

    /// The levels of codes below `bound`; codes that do not occur are left out.
    fn from_codes(mut codes: Vec<u32>, bound: usize) -> Self {
        let mut level = vec![0_u32; bound];
        for &code in &codes {
            level[code as usize] = 1;
        }
        let mut n_levels = 0;
        for entry in &mut level {
            let occurs = *entry;
            *entry = n_levels;
            n_levels += occurs;
        }
        for code in &mut codes {
            *code = level[*code as usize];
        }
        Self { codes, n_levels: n_levels as usize }
    }

    /// The classes of a target.
    pub fn of_classes(classes: &Classes) -> Self {
        Self::from_codes(classes.codes().to_vec(), classes.n_classes())
    }
}

impl Discretisation {
    /// The levels of numbers, all of them finite. [`DiscretisationRule::Mdl`] uses the `classes`; without
    /// classes there is a single level.
    ///
    /// Cost: `O(n)` for bins of equal width, else `O(n log n)`.
    ///
    /// # Errors
    /// For a number of bins out of range.
    pub fn levels(&self, values: &[f64], classes: Option<&Levels>) -> Result<Levels, Error> {
        self.check()?;
        if self.integers == Integers::Levels && values.iter().all(|value| value.fract() == 0.0) {
            return Ok(categories(values));
        }
        Ok(match (self.discretisation, classes) {
            (DiscretisationRule::EqualWidth, _) => equal_width(values, self.bins),
            (DiscretisationRule::EqualFrequency, _) => equal_frequency(values, self.bins),
            (DiscretisationRule::Mdl, Some(classes)) => mdl::levels(values, classes),
            (DiscretisationRule::Mdl, None) => Levels { codes: vec![0; values.len()], n_levels: 1 },
        })
    }

    /// The levels of a real target: by the same rule, except for [`DiscretisationRule::Mdl`], which needs
    /// classes: then in bins of equally many samples.
    ///
    /// # Errors
    /// For a number of bins out of range.
    pub fn target_levels(&self, values: &[f64]) -> Result<Levels, Error> {
        let discretisation = match self.discretisation {
            DiscretisationRule::Mdl => DiscretisationRule::EqualFrequency,
            other => other,
        };
        Self { discretisation, ..*self }.levels(values, None)
    }
}

/// One level for each distinct value.
pub fn categories(values: &[f64]) -> Levels {
    let small = |value: &f64| *value >= 0.0 && *value < 65536.0 && value.fract() == 0.0;
    if values.iter().all(small) {
        let codes: Vec<u32> = values.iter().map(|value| *value as u32).collect();
        let bound = codes.iter().max().map_or(0, |most| *most as usize + 1);
        return Levels::from_codes(codes, bound);
    }
    let keys: Vec<u64> = values.iter().map(|value| ordered_bits(*value)).collect();
    Levels::from_keys(&keys)
}

fn equal_width(values: &[f64], bins: usize) -> Levels {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for &value in values {
        low = low.min(value);
        high = high.max(value);
    }
    let rule = EqualWidth::new(low, high, bins);
    Levels::from_codes(values.iter().map(|value| rule.code(*value)).collect(), bins)
}

/// A value this close below the bound of a bin, relative to the range, is on it.
const ON_BOUND: f64 = 1e-12;

/// Bins of equal width over a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EqualWidth {
    low: f64,
    range: f64,
    scale: f64,
    count: f64,
    last: u32,
}

impl EqualWidth {
    /// `bins` bins, at least one, from `low` to `high`; a single bin if `high` is not larger.
    pub fn new(low: f64, high: f64, bins: usize) -> Self {
        if low >= high {
            return Self { low, range: 1.0, scale: 1.0, count: 0.0, last: 0 };
        }
        // The range of very large numbers may overflow; halving changes no digit of them.
        let scale = if (high - low).is_finite() { 1.0 } else { 0.5 };
        let (low, range) = (low * scale, high * scale - low * scale);
        Self { low, range, scale, count: bins as f64, last: bins.saturating_sub(1) as u32 }
    }

    /// The bin of a value within the range.
    #[inline]
    pub fn code(&self, value: f64) -> u32 {
        // The next bound below, where that is within the rounding.
        let position = self.count * ((value * self.scale - self.low) / self.range + ON_BOUND);
        (position as u32).min(self.last)
    }
}

fn equal_frequency(values: &[f64], bins: usize) -> Levels {
    let order = sorted_order(values);
    let mut codes = vec![0; values.len()];
    let mut below = 0;
    for (rank, &row) in order.iter().enumerate() {
        if rank > 0 && values[row as usize] > values[order[rank - 1] as usize] {
            below = rank;
        }
        codes[row as usize] = (bins * below / values.len()) as u32;
    }
    Levels::from_codes(codes, bins)
}

/// Sample indices by increasing value.
pub fn sorted_order(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by_key(|&row| (ordered_bits(values[row as usize]), row));
    order
}

/// Bits in the order of the numbers; 0 and −0 are the same.
fn ordered_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(discretisation: DiscretisationRule, bins: usize, values: &[f64]) -> Vec<u32> {
        let rule = Discretisation { discretisation, bins, ..Discretisation::default() };
        rule.levels(values, None).unwrap().codes
    }

    #[test]
    fn equal_width_closes_the_last_bin() {
        let values: Vec<f64> = (0..1001).map(f64::from).collect();
        let codes = levels(DiscretisationRule::EqualWidth, 5, &values);
        let counts: Vec<usize> =
            (0..5).map(|bin| codes.iter().filter(|code| **code == bin).count()).collect();
        assert_eq!(counts, [200, 200, 200, 200, 201]);
        assert_eq!(levels(DiscretisationRule::EqualWidth, 5, &[3.0, 3.0]), [0, 0]);
    }

    #[test]
    fn equal_width_does_not_depend_on_the_unit() {
        let table = include_str!("../../../testkit/data/wine.csv");
        let mut lines = table.lines();
        let n_columns = lines.next().unwrap().split(',').count();
        let rows: Vec<Vec<f64>> =
            lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap_or(0.0)).collect()).collect();
        for j in 0..n_columns {
            let column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
            for bins in [5, 7, 10] {
                let plain = levels(DiscretisationRule::EqualWidth, bins, &column);
                for factor in [1e-9, 0.1, 3.0, 100.0] {
                    let scaled: Vec<f64> = column.iter().map(|value| value * factor).collect();
                    let found = levels(DiscretisationRule::EqualWidth, bins, &scaled);
                    assert_eq!(found, plain, "column {j} by {factor} in {bins} bins");
                }
            }
        }
        // 0.8 of the range of total phenols from 0.98 to 3.88, by rounding 3.9999999999999996 of 5 bins.
        assert_eq!(levels(DiscretisationRule::EqualWidth, 5, &[0.98, 3.2, 3.3, 3.88]), [0, 1, 2, 2]);
    }

    #[test]
    fn equal_width_at_the_ends_of_the_numbers() {
        for (low, high) in [(f64::MIN, f64::MAX), (0.0, f64::from_bits(1)), (-f64::MIN_POSITIVE, 0.0)] {
            let codes = levels(DiscretisationRule::EqualWidth, 4, &[low, high, low]);
            assert_eq!(codes, [0, 1, 0], "{low} to {high}");
        }
        assert_eq!(
            levels(DiscretisationRule::EqualWidth, 4, &[f64::MIN, f64::MIN / 4.0, f64::MAX / 4.0, f64::MAX]),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn equal_frequency_keeps_equal_values_together() {
        assert_eq!(levels(DiscretisationRule::EqualFrequency, 2, &[4.0, 1.0, 3.0, 2.0]), [1, 0, 1, 0]);
        // Six of ten are zero: they share a bin in any case.
        let mut zeros = vec![0.0, -0.0, 0.0, -0.0, 0.0, 0.0];
        zeros.extend([1.0, 2.0, 3.0, 4.0]);
        assert_eq!(levels(DiscretisationRule::EqualFrequency, 5, &zeros), [0, 0, 0, 0, 0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn both_zeros_are_one_category() {
        let levels = categories(&[3.5, -0.0, 7.0, 0.0, 3.5]);
        assert_eq!((&levels.codes[..], levels.n_levels), (&[1, 0, 2, 0, 1][..], 3));
    }

    #[test]
    fn whole_numbers_may_be_levels() {
        let as_levels = Discretisation { integers: Integers::Levels, ..Discretisation::default() };
        let codes = |values: &[f64]| as_levels.levels(values, None).unwrap().codes;
        assert_eq!(codes(&[-7.0, 1e300, 0.0, -7.0]), [0, 2, 1, 0]);
        assert_eq!(codes(&[5.0, 70.0, 5.0]), [0, 1, 0]);
        assert_eq!(codes(&[0.0, 0.5, 1.0]), [0, 1, 2], "with one fraction, bins are used");
    }

    #[test]
    fn bins_out_of_range_are_an_error() {
        for bins in [0, 1, 65537, usize::MAX] {
            for &discretisation in DiscretisationRule::ALL {
                let rule = Discretisation { discretisation, bins, ..Discretisation::default() };
                let found = rule.levels(&[1.0], None);
                assert!(matches!(found, Err(Error::InvalidParameter { name: "bins", .. })));
            }
        }
    }
}
