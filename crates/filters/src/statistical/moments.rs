//! Means and squared deviations of a column, over all samples or class by class.

use fewest_core::{Classes, Column, Error, FeatureKind};
use fewest_counts::discretisation::{Levels, categories};

use super::levels::contingency;

/// Running sums kept side by side: enough for the compiler to use the widest registers.
const LANES: usize = 8;

/// Sums of squares outside these bounds are computed again on values divided by the largest.
const SAFE_SQUARES: std::ops::Range<f64> = 1e-280..1e300;

/// `Σ term(value)`, in an order that depends on the length only.
pub(super) fn sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
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
pub(super) const ROUNDING: f64 = 1e-12;

/// `Σ aᵢ bᵢ`, in an order that depends on the length only.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, others) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = chunks.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in chunks.zip(others) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The values centred and scaled to length 1; they are not all equal. Products of such vectors are correlations.
pub(super) fn unit(values: &[f64]) -> Vec<f64> {
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
pub(super) struct Moments {
    /// A value of the samples: what means are told relative to, so that equal values give exactly 0.
    origin: f64,
    /// The mean less `origin`.
    offset: f64,
    /// `Σ (x − mean)²`.
    pub(super) deviations: f64,
}

impl Moments {
    /// Of the `stored` values and `zeros` more that are zero; not both empty. Two passes, centred before anything
    /// is squared.
    pub(super) fn new(stored: &[f64], zeros: usize) -> Self {
        let origin = if zeros > 0 { 0.0 } else { stored.first().copied().unwrap_or(0.0) };
        let n = (stored.len() + zeros) as f64;
        let offset = sum(stored, |value| value - origin) / n;
        let deviations =
            sum(stored, |value| ((value - origin) - offset).powi(2)) + zeros as f64 * offset * offset;
        Self { origin, offset, deviations }
    }

    /// Of a column of `n` values.
    pub(super) fn of(column: Column<'_>, n: usize) -> Self {
        match column {
            Column::Dense(values) => Self::new(values, 0),
            Column::Sparse { values, .. } => Self::new(values, n - values.len()),
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.origin + self.offset
    }

    /// The mean less `origin`, a value near all means.
    fn mean_from(&self, origin: f64) -> f64 {
        (self.origin - origin) + self.offset
    }
}

/// Whether no square in a sum this large has overflowed or vanished; 0 may be of squares that all vanished.
pub(super) fn is_safe(squares: f64) -> bool {
    SAFE_SQUARES.contains(&squares)
}

/// The largest absolute value, or 1 when all are 0.
pub(super) fn magnitude(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

/// How a feature varies between classes and within them, up to a common factor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    /// `Σⱼ nⱼ ‖mⱼ − m‖²`.
    pub(super) between: f64,
    /// `Σ ‖x − mⱼ‖²` over the samples of each class.
    pub(super) within: Vec<f64>,
    /// Dimensions of the feature: 1, or the number of levels less 1 of a categorical one.
    pub(super) dimensions: usize,
}

/// The samples, class by class.
pub(super) struct ClassOrder {
    /// The class of each sample, among those that occur.
    codes: Vec<u32>,
    /// Samples by class.
    order: Vec<u32>,
    /// Samples in each class that occurs.
    pub(super) counts: Vec<usize>,
}

impl ClassOrder {
    /// Of the classes that occur.
    ///
    /// # Errors
    /// [`Error::TooFew`] for fewer than two.
    pub(super) fn new(classes: &Classes) -> Result<Self, Error> {
        let all = classes.counts();
        let mut compact = vec![0_u32; all.len()];
        let mut counts = Vec::new();
        for (class, &count) in all.iter().enumerate().filter(|(_, count)| **count > 0) {
            compact[class] = counts.len() as u32;
            counts.push(count);
        }
        if counts.len() < 2 {
            return Err(Error::TooFew { what: "classes with samples", minimum: 2, found: counts.len() });
        }
        let codes: Vec<u32> = classes.codes().iter().map(|&code| compact[code as usize]).collect();
        let mut order: Vec<u32> = (0..codes.len() as u32).collect();
        order.sort_by_key(|&i| codes[i as usize]);
        Ok(Self { codes, order, counts })
    }

    pub(super) fn n_samples(&self) -> usize {
        self.codes.len()
    }

    /// The class of each sample, as a code among those that occur.
    pub(super) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// How the feature varies between these classes and within them.
    pub(super) fn spread(&self, column: Column<'_>, kind: &FeatureKind) -> Spread {
        if let FeatureKind::Categorical { .. } = kind {
            return self.spread_of_levels(&categories(&column.to_vec(self.n_samples())));
        }
        let (mut values, stored) = self.by_class(column);
        let mut spread = self.spread_of_values(&values, &stored);
        let total = spread.between + spread.within.iter().sum::<f64>();
        if !is_safe(total) {
            let largest = magnitude(&values);
            values.iter_mut().for_each(|value| *value /= largest);
            spread = self.spread_of_values(&values, &stored);
        }
        spread
    }

    /// The stored values class by class, and how many of each.
    fn by_class(&self, column: Column<'_>) -> (Vec<f64>, Vec<usize>) {
        match column {
            Column::Dense(values) => {
                (self.order.iter().map(|&i| values[i as usize]).collect(), self.counts.clone())
            }
            Column::Sparse { rows, values } => {
                let mut stored = vec![0; self.counts.len()];
                for &row in rows {
                    stored[self.codes[row] as usize] += 1;
                }
                let mut next: Vec<usize> = Vec::with_capacity(stored.len());
                let mut first = 0;
                for count in &stored {
                    next.push(first);
                    first += count;
                }
                let mut sorted = vec![0.0; values.len()];
                for (&row, &value) in rows.iter().zip(values) {
                    let at = &mut next[self.codes[row] as usize];
                    sorted[*at] = value;
                    *at += 1;
                }
                (sorted, stored)
            }
        }
    }

    fn spread_of_values(&self, values: &[f64], stored: &[usize]) -> Spread {
        let mut rest = values;
        let moments: Vec<Moments> = self
            .counts
            .iter()
            .zip(stored)
            .map(|(count, &stored)| {
                let (own, others) = rest.split_at(stored);
                rest = others;
                Moments::new(own, count - stored)
            })
            .collect();
        let origin = moments[0].origin;
        let n = self.n_samples() as f64;
        let weighted = |term: &dyn Fn(f64) -> f64| -> f64 {
            moments.iter().zip(&self.counts).map(|(m, &count)| count as f64 * term(m.mean_from(origin))).sum()
        };
        let mean = weighted(&|mean| mean) / n;
        // Means that are equal but for rounding in `mean` differ by nothing.
        let all_equal = moments.iter().all(|m| m.mean_from(origin) == moments[0].mean_from(origin));
        let between = if all_equal { 0.0 } else { weighted(&|own| (own - mean).powi(2)) };
        Spread { between, within: moments.iter().map(|m| m.deviations).collect(), dimensions: 1 }
    }

    /// Half the squared distances of level indicators: for two levels, those of the codes 0 and 1.
    fn spread_of_levels(&self, levels: &Levels) -> Spread {
        let n_levels = levels.n_levels();
        let n = self.n_samples() as f64;
        let table = contingency(levels.codes(), n_levels, &self.codes, self.counts.len());
        let mut all = vec![0.0; n_levels];
        for column in table.chunks_exact(n_levels) {
            all.iter_mut().zip(column).for_each(|(all, count)| *all += count);
        }
        let (mut between, mut within) = (0.0, Vec::with_capacity(self.counts.len()));
        for (column, &count) in table.chunks_exact(n_levels).zip(&self.counts) {
            let own = count as f64;
            let squares: f64 = column.iter().map(|c| c * (own - c)).sum();
            within.push(0.5 * squares / own);
            let distance: f64 = column.iter().zip(&all).map(|(c, a)| (c * n - a * own).powi(2)).sum();
            between += 0.5 * distance / (own * n * n);
        }
        Spread { between, within, dimensions: n_levels.saturating_sub(1) }
    }
}
