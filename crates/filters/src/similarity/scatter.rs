//! How far a feature spreads between classes and within them.

use fewest_columns::parts;
use fewest_core::{Classes, Column, FeatureKind};

use super::feature::{is_constant, unit};

/// The two parts of a feature's scatter; their sum is that around the mean of all samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scatter {
    /// `Σ_j n_j (μ_j − μ)²`.
    pub(super) between: f64,
    /// `Σ_j n_j σ_j²`, `σ_j²` dividing by `n_j`.
    pub(super) within: f64,
    /// Both are in units of its square, which is 1 unless values are so extreme that squares would not be
    /// numbers.
    pub(super) unit: f64,
}

impl Scatter {
    /// Nothing, in units of 1.
    pub(super) const ZERO: Self = Self { between: 0.0, within: 0.0, unit: 1.0 };

    /// `between / within`, in which the unit cancels; 0 for 0/0.
    pub(super) fn ratio(&self) -> f64 {
        if self.between > 0.0 { self.between / self.within } else { 0.0 }
    }

    /// In units of 1, which extreme values may make infinite.
    pub(super) fn absolute(self) -> Self {
        let square = self.unit * self.unit;
        Self { between: self.between * square, within: self.within * square, unit: 1.0 }
    }
}

/// What is known of the values of one class.
#[derive(Clone, Copy)]
struct Class {
    count: f64,
    mean: f64,
    smallest: f64,
    largest: f64,
}

/// The scatter of a feature over the classes; zero for a constant one.
pub(super) fn scatter(column: Column<'_>, kind: &FeatureKind, classes: &Classes) -> Scatter {
    match (kind, column) {
        (FeatureKind::Categorical { .. }, _) => {
            of_levels(&parts(column.to_vec(classes.codes().len()), kind), classes)
        }
        (_, Column::Dense(values)) if is_constant(values) => Scatter::ZERO,
        (_, Column::Dense(values)) => {
            let unit = unit(values);
            let stored = || values.iter().map(|value| value / unit).zip(classes.codes().iter().copied());
            Scatter { unit, ..of_values(stored, &vec![0; classes.n_classes()], classes) }
        }
        (_, Column::Sparse { rows, values }) => {
            let mut zeros = classes.counts();
            for &row in rows {
                zeros[classes.codes()[row] as usize] -= 1;
            }
            let unit = unit(values);
            let of_row = |row: &usize| classes.codes()[*row];
            let stored = || values.iter().map(|value| value / unit).zip(rows.iter().map(of_row));
            Scatter { unit, ..of_values(stored, &zeros, classes) }
        }
    }
}

fn of_levels(indicators: &[Vec<f64>], classes: &Classes) -> Scatter {
    let none = vec![0; classes.n_classes()];
    let mut sum = Scatter::ZERO;
    for indicator in indicators.iter().filter(|indicator| !is_constant(indicator)) {
        let stored = || indicator.iter().copied().zip(classes.codes().iter().copied());
        let one = of_values(stored, &none, classes);
        sum.between += one.between;
        sum.within += one.within;
    }
    sum
}

/// From the stored values with their classes, and the number of values of each class that are zero.
fn of_values<I: Iterator<Item = (f64, u32)>>(
    stored: impl Fn() -> I,
    zeros: &[usize],
    classes: &Classes,
) -> Scatter {
    let n = classes.codes().len() as f64;
    // The mean of all, first roughly, so that every later sum is of small numbers whatever the offset.
    let rough = stored().map(|(value, _)| value / n).sum::<f64>();
    let at_zero = -rough;
    let mut by_class: Vec<Class> = classes
        .counts()
        .iter()
        .zip(zeros)
        .map(|(&count, &zeros)| {
            let (smallest, largest) =
                if zeros > 0 { (at_zero, at_zero) } else { (f64::INFINITY, f64::NEG_INFINITY) };
            Class { count: count as f64, mean: zeros as f64 * at_zero, smallest, largest }
        })
        .collect();
    for (value, code) in stored() {
        let class = &mut by_class[code as usize];
        let value = value - rough;
        class.mean += value;
        class.smallest = class.smallest.min(value);
        class.largest = class.largest.max(value);
    }
    let mean = by_class.iter().map(|class| class.mean).sum::<f64>() / n;
    let mut scatter = Scatter::ZERO;
    for (class, &zeros) in by_class.iter_mut().zip(zeros).filter(|(class, _)| class.count > 0.0) {
        class.mean /= class.count;
        scatter.between += class.count * (class.mean - mean).powi(2);
        scatter.within += zeros as f64 * (at_zero - class.mean).powi(2);
    }
    for (value, code) in stored() {
        scatter.within += (value - rough - by_class[code as usize].mean).powi(2);
    }
    // A mean is rounded: where no class varies, what is left within them is not scatter.
    if by_class.iter().all(|class| class.smallest >= class.largest) {
        scatter.within = 0.0;
    }
    let smallest = by_class.iter().fold(f64::INFINITY, |smallest, class| smallest.min(class.smallest));
    let largest = by_class.iter().fold(f64::NEG_INFINITY, |largest, class| largest.max(class.largest));
    if smallest >= largest {
        return Scatter::ZERO;
    }
    scatter
}
