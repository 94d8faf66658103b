//! What is known of each feature before the first is selected: mean, norm and F statistic.

use std::ops::Range;

use fewest_columns::{ColumnSums, TableSums, map_features, safe_stream_sums};
use fewest_core::{Column, Context, Dataset, Error, FeatureKind, SampleStream, State, Target};

use super::PERFECT;
use crate::statistical::classes::{ByClass, ClassSums, check_classes};
use crate::statistical::regression::{Products, Regression};
use crate::tables::not_the_same;

/// Mean, norm and F statistic: `(value / divisor − origin − offset) · inverse_norm` has norm 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Feature {
    divisor: f64,
    origin: f64,
    offset: f64,
    /// 0 of a constant.
    inverse_norm: f64,
    pub(super) f_statistic: f64,
    pub(super) n: usize,
}

impl Feature {
    /// The features of a table in memory, with the bits of [`of_stream`](Self::of_stream).
    pub(super) fn of_table(data: &Dataset, context: &Context<'_>) -> Result<Vec<Self>, Error> {
        let table = TableSums::new(Response::of(data.target())?, data.target(), data.n_samples())?;
        map_features(data, context, "F statistics", |j, column| {
            let (sums, divisor) = table.safe_of(j, &FeatureKind::Numeric, column, Sums::is_safe)?;
            sums.feature(divisor)
        })
    }

    /// The features of a stream, which begins with rows of `target`.
    pub(super) fn of_stream(
        stream: &mut dyn SampleStream,
        target: &Target,
        context: &Context<'_>,
    ) -> Result<Vec<Self>, Error> {
        let sums = safe_stream_sums(stream, &Response::of(target)?, Sums::is_safe, context)?;
        sums.iter().map(|(sums, divisor)| sums.feature(*divisor)).collect()
    }

    pub(super) fn is_constant(&self) -> bool {
        self.inverse_norm == 0.0
    }

    /// Writes the values of a stretch of a column, centred and scaled to norm 1, to `out`.
    pub(super) fn write(&self, column: Column<'_>, rows: &Range<usize>, out: &mut [f64]) {
        match column {
            Column::Dense(values) => out.copy_from_slice(values),
            Column::Sparse { rows: stored, values } => {
                out.fill(0.0);
                stored.iter().zip(values).for_each(|(row, value)| out[row - rows.start] = *value);
            }
        }
        if self.divisor != 1.0 {
            out.iter_mut().for_each(|value| *value /= self.divisor);
        }
        out.iter_mut().for_each(|value| *value = ((*value - self.origin) - self.offset) * self.inverse_norm);
    }

    /// The correlation with a column that has sum 0 and norm 1, from the stored values of this one: the mean,
    /// and with it the zeros, drop out.
    pub(super) fn sparse_correlation(&self, rows: &[usize], values: &[f64], with: &[f64]) -> f64 {
        let terms = rows.iter().zip(values).map(|(&row, value)| value / self.divisor * with[row]);
        terms.sum::<f64>() * self.inverse_norm
    }
}

/// The sums behind an F statistic; categories count by their codes.
enum Response {
    Classes(ByClass),
    Real(Regression),
}

const REGRESSION: Regression = Regression { method: "fcq", expected: "classes or one real output" };

impl Response {
    fn of(target: &Target) -> Result<Self, Error> {
        if let Target::Class(_) = target {
            return Ok(Self::Classes(ByClass { method: REGRESSION.method }));
        }
        REGRESSION.numbers(target, 0..0)?;
        Ok(Self::Real(REGRESSION))
    }
}

#[derive(Clone)]
enum Sums {
    Classes(ClassSums),
    Real(Products),
}

impl ColumnSums for Response {
    type Batch = (Option<<ByClass as ColumnSums>::Batch>, Option<<Regression as ColumnSums>::Batch>);
    type Sums = Sums;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        Ok(match self {
            Self::Classes(sums) => (Some(sums.batch(target, rows)?), None),
            Self::Real(sums) => (None, Some(sums.batch(target, rows)?)),
        })
    }

    fn sums(
        &self,
        j: usize,
        _: &FeatureKind,
        batch: &Self::Batch,
        column: Column<'_>,
    ) -> Result<Sums, Error> {
        match (self, batch) {
            (Self::Classes(sums), (Some(batch), _)) => {
                sums.sums(j, &FeatureKind::Numeric, batch, column).map(Sums::Classes)
            }
            (Self::Real(sums), (_, Some(batch))) => {
                sums.sums(j, &FeatureKind::Numeric, batch, column).map(Sums::Real)
            }
            _ => Err(not_the_same(j)),
        }
    }

    fn merge(&self, sums: &mut Sums, later: Sums) {
        match (self, sums, later) {
            (Self::Classes(of), Sums::Classes(own), Sums::Classes(later)) => of.merge(own, later),
            (Self::Real(of), Sums::Real(own), Sums::Real(later)) => of.merge(own, later),
            // One target is of one kind in all batches.
            _ => {}
        }
    }
}

impl State for Sums {
    fn save(&self, to: &mut Vec<u8>) {
        let (classes, real) = match self {
            Self::Classes(sums) => (Some(sums.clone()), None),
            Self::Real(sums) => (None, Some(sums.clone())),
        };
        (classes, real).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        match State::load(from)? {
            (Some(sums), _) => Ok(Self::Classes(sums)),
            (_, Some(sums)) => Ok(Self::Real(sums)),
            (None, None) => Err(Error::parameter("sums", "none", "those of classes or of a real output")),
        }
    }
}

impl Sums {
    fn is_safe(&self) -> bool {
        match self {
            Self::Classes(sums) => sums.is_safe(),
            Self::Real(sums) => sums.is_safe(),
        }
    }

    /// Of values that were divided by `divisor`.
    fn feature(&self, divisor: f64) -> Result<Feature, Error> {
        let (origin, offset, squares, f_statistic, n) = match self {
            Self::Classes(sums) => {
                let spread = sums.spread();
                check_classes(&spread.counts)?;
                let (n, c) = (spread.counts.iter().sum::<usize>(), spread.counts.len());
                if n <= c {
                    let what = "samples (more than there are classes)";
                    return Err(Error::TooFew { what, minimum: c + 1, found: n });
                }
                let within = spread.within.iter().sum::<f64>();
                let f = spread.between / (c - 1) as f64 / (within / (n - c) as f64);
                let (origin, offset) = sums.mean();
                (origin, offset, spread.between + within, f, n)
            }
            Self::Real(products) => {
                let explained = REGRESSION.explained(std::iter::once(products))?.remove(0);
                let f = (explained.n - 2.0) * explained.share / (1.0 - explained.share);
                let (origin, offset, squares) = products.moments();
                (origin, offset, squares, f, explained.n as usize)
            }
        };
        let inverse_norm = if squares > 0.0 { squares.sqrt().recip() } else { 0.0 };
        let f_statistic = if squares > 0.0 { f_statistic.min(PERFECT) } else { 0.0 };
        Ok(Feature { divisor, origin, offset, inverse_norm, f_statistic, n })
    }
}
