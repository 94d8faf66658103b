//! What is to be known of a column, and what is kept of its values.

use fewest_columns::{Standard, check_column, finite_values, range};
use fewest_core::{Column, Error};
use fewest_linalg::lanes;

use super::stored::Stored;
use super::{LinearColumns, Place, Source};

/// Standard deviations that the mean of a column may be away from zero if it is standardised in every
/// product: each of them costs the product as many units of rounding.
const FARTHEST: f64 = 64.0;

/// The largest and, inverted, the smallest standard deviation of such a column, so that nothing overflows.
const LARGEST: f64 = 1e100;

/// Vectors to be multiplied by columns, one after the other, with their sums.
pub(super) struct Right {
    pub(super) vectors: Vec<f64>,
    pub(super) sums: Vec<f64>,
}

/// What is to be known of a column.
pub(super) struct Examined {
    varies: bool,
    values: Kept,
    /// Its product with each output.
    products: Vec<f64>,
}

/// What is kept of the values of a column.
enum Kept {
    /// Nothing: the table has them in memory, or the rows of a level are kept.
    Table { scale: f64, shift: f64 },
    /// The values of the table.
    Read { values: Vec<f64>, scale: f64, shift: f64 },
    /// Standardised values.
    Built(Vec<f64>),
}

impl Examined {
    /// A column that the table does not have in memory, or not as it is needed.
    fn copied(values: Vec<f64>, varies: bool, targets: &Right) -> Self {
        let mut products = vec![0.0; targets.sums.len()];
        lanes::dots(&values, &targets.vectors, &mut products);
        products.iter_mut().for_each(|product| *product /= values.len() as f64);
        Self { varies, values: Kept::Built(values), products }
    }
}

impl LinearColumns<'_> {
    pub(super) fn examine(
        &self,
        column: usize,
        targets: &Right,
        scratch: &mut Vec<f64>,
    ) -> Result<Examined, Error> {
        let n = self.data.n_samples();
        let Source { feature, level } = self.sources[column];
        if level.is_none() || self.levels.column(column).is_some() {
            scratch.clear();
            let values = self.values(column, scratch)?;
            let standard = match (&self.weights, values) {
                (Some(weights), values) => {
                    // Also those of samples that do not count.
                    check_column(self.data, feature, values)?;
                    Standard::weighted(values, weights)
                }
                (None, Column::Dense(values)) => Standard::of(values, range(values)),
                (None, Column::Sparse { values, .. }) => Standard::of_sparse(values, n),
            };
            let Some(standard) = standard else {
                // Constant, or not finite: else there is a standard deviation.
                check_column(self.data, feature, values)?;
                return Ok(Examined {
                    varies: false,
                    values: Kept::Table { scale: 0.0, shift: 0.0 },
                    products: vec![0.0; targets.sums.len()],
                });
            };
            let (scale, centre, deviation) = standard.affine();
            let (scale, shift) = (scale / deviation, centre / deviation);
            let stored = Stored { values, scale, shift };
            let mut products = vec![0.0; targets.sums.len()];
            stored.products(&targets.vectors, &targets.sums, &mut products);
            products.iter_mut().for_each(|product| *product /= n as f64);
            let first = if let Column::Dense(values) = values { Some(values.as_ptr()) } else { None };
            // A table that has the column in memory needs no buffer.
            let is_near = shift.abs() <= FARTHEST && (LARGEST.recip()..=LARGEST).contains(&scale);
            // Also those of samples that do not count, of which the scale knows nothing.
            let is_near = is_near
                && (self.weights.is_none() || {
                    let (low, high) = range(match values {
                        Column::Dense(values) | Column::Sparse { values, .. } => values,
                    });
                    low.abs().max(high.abs()) <= LARGEST / scale
                });
            if is_near && scratch.is_empty() {
                return Ok(Examined { varies: true, values: Kept::Table { scale, shift }, products });
            }
            if scratch.len() == n && first.is_some_and(|first| std::ptr::eq(first, scratch.as_ptr())) {
                let mut values = scratch.clone();
                if is_near {
                    let values = Kept::Read { values, scale, shift };
                    return Ok(Examined { varies: true, values, products });
                }
                standard.apply(&mut values);
                return Ok(Examined::copied(values, true, targets));
            }
        }
        let (values, varies) = self.build(column)?;
        Ok(Examined::copied(values, varies, targets))
    }

    pub(super) fn add(&mut self, column: Examined) {
        for (output, product) in self.outputs.iter_mut().zip(column.products) {
            output.push(product);
        }
        self.atoms.squared_norms.push(if column.varies { 1.0 } else { 0.0 });
        let place = match column.values {
            Kept::Table { scale, shift } => Place::Table { scale, shift },
            Kept::Read { values, scale, shift } => match self.copy(&values) {
                Some(start) => Place::Copy { start, scale, shift },
                None => Place::Read { scale, shift },
            },
            Kept::Built(values) => match self.copy(&values) {
                Some(start) => Place::Copy { start, scale: 1.0, shift: 0.0 },
                None => Place::Nowhere,
            },
        };
        self.places.push(place);
    }

    /// Keeps the values of the next column, if there is room; where they start.
    fn copy(&mut self, values: &[f64]) -> Option<usize> {
        let most = self.bytes / size_of::<f64>();
        if self.copies.is_empty() {
            let left = self.places.len()..self.sources.len();
            let left = left.filter(|column| self.levels.column(*column).is_none()).count();
            self.copies.reserve_exact(left.saturating_mul(values.len()).min(most));
        }
        let start = self.copies.len();
        if start + values.len() > most {
            return None;
        }
        self.copies.extend_from_slice(values);
        Some(start)
    }

    /// Column `column` standardised, or zeros with `false` where it is constant.
    pub(super) fn build(&self, column: usize) -> Result<(Vec<f64>, bool), Error> {
        let Source { feature, level } = self.sources[column];
        let mut values = finite_values(self.data, feature)?;
        if let Some(level) = level {
            values.iter_mut().for_each(|value| *value = f64::from(*value == level));
        }
        let standard = match &self.weights {
            Some(weights) => Standard::weighted(Column::Dense(&values), weights),
            None => Standard::of(&values, range(&values)),
        };
        match standard {
            Some(standard) => standard.apply(&mut values),
            None => values.fill(0.0),
        }
        Ok((values, standard.is_some()))
    }
}
