//! F statistic and correlation quotient from rows that are read in passes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fewest_columns::{
    COPIES_OF_PRODUCTS, ColumnSums, Made, Returned, rewind, safe_stream_sums, stream_products,
};
use fewest_core::{
    Budget, Column, Context, Dataset, Error, FeatureKind, PassSelector, SampleStream, Selection, State,
    Target,
};

use super::criterion::MrmrForm;
use super::fcq::{Fcq, LEAST_CORRELATION, PERFECT, note_categories};
use super::forward::{self, NO_OTHERS, add_notes, few_microseconds, forward};
use crate::statistical::classes::{ByClass, ClassSums, check_classes};
use crate::statistical::regression::{Products, Regression};
use crate::tables::not_the_same;

/// Bytes that correlations may take where the context gives no number.
const MOST_BYTES: usize = 256 << 20;

/// All pairs are multiplied in one pass where there are at most so many features for each wanted one:
/// reading a value takes longer than this many products.
const FEATURES_EACH: usize = 200;

/// The sums behind an F statistic; categories count by their codes.
enum Response {
    Classes(ByClass),
    Real(Regression),
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
    fn feature(&self, regression: Regression, divisor: f64) -> Result<Feature, Error> {
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
                let explained = regression.explained(std::iter::once(products))?.remove(0);
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

/// What is known of a feature beforehand: `(value / divisor − origin − offset) · inverse_norm` has norm 1.
#[derive(Debug, Clone, Copy)]
struct Feature {
    divisor: f64,
    origin: f64,
    offset: f64,
    /// 0 of a constant.
    inverse_norm: f64,
    f_statistic: f64,
    n: usize,
}

impl Feature {
    fn write(&self, column: Column<'_>, rows: &Range<usize>, out: &mut [f64]) {
        match column {
            Column::Dense(values) => out.copy_from_slice(values),
            Column::Sparse { rows: stored, values } => {
                out.fill(0.0);
                stored.iter().zip(values).for_each(|(row, value)| out[row - rows.start] = *value);
            }
        }
        out.iter_mut().for_each(|value| {
            *value = ((*value / self.divisor - self.origin) - self.offset) * self.inverse_norm;
        });
    }
}

/// From class moments and correlations of pairs: two passes where the correlations of all pairs are
/// computed in one, and otherwise one for each selected feature and one before. The selection is that of
/// the table, with the same scores but for rounding, and has the same bits for any batches and threads.
impl PassSelector for Fcq {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let regression = Regression { method: "fcq", expected: "classes or one real output" };
        let Some(first) = stream.next_batch()? else {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        };
        let response = match first.target() {
            Target::Class(_) => Response::Classes(ByClass { method: "fcq" }),
            target => {
                regression.numbers(target, 0..0)?;
                Response::Real(regression)
            }
        };
        let example = first.subset(&[0])?;
        let mut returned = Returned { first: Some(first), stream };
        let sums = safe_stream_sums(&mut returned, &response, Sums::is_safe, context)?;
        let stream = returned.stream;
        let features = sums.iter().map(|(sums, divisor)| sums.feature(regression, *divisor));
        let features = features.collect::<Result<Vec<Feature>, Error>>()?;
        let d = features.len();
        budget.check(d)?;
        let candidates: Vec<usize> = (0..d).filter(|&k| features[k].inverse_norm > 0.0).collect();
        let n_constant = d - candidates.len();
        let wanted = if let Budget::Count(k) = budget { k } else { candidates.len() };
        let known = Known { stream, context, candidates: candidates.clone(), wanted, rows: HashMap::new() };
        let correlated = Correlated { form: self.form, features, known: Mutex::new(known) };
        let mut selection = forward(&correlated, candidates, d, budget, context)?;
        note_categories(&mut selection, &example);
        add_notes(&mut selection, budget, n_constant, NO_OTHERS);
        Ok(selection)
    }
}

/// Correlations that are known.
struct Known<'a> {
    stream: &'a mut dyn SampleStream,
    context: &'a Context<'a>,
    candidates: Vec<usize>,
    wanted: usize,
    /// Of a feature with all others; of no effect for constants.
    rows: HashMap<usize, Vec<f64>>,
}

impl Known<'_> {
    /// The correlations of feature `j` with all others: by a pass, unless one before has computed them.
    fn with(&mut self, j: usize, features: &[Feature]) -> Result<Vec<f64>, Error> {
        if !self.rows.contains_key(&j) {
            let p = self.candidates.len();
            let bytes = self.context.memory.unwrap_or(MOST_BYTES);
            let all = p.saturating_mul(p).saturating_mul(COPIES_OF_PRODUCTS * size_of::<f64>());
            match all <= bytes && p <= FEATURES_EACH.saturating_mul(self.wanted) {
                true => self.multiply(&self.candidates.clone(), true, features, bytes - all)?,
                false => self.multiply(&[j], false, features, bytes)?,
            }
        }
        Ok(self.rows.get(&j).cloned().unwrap_or_default())
    }

    /// One pass: the correlations of `columns`, which are `all` candidates or not, with all candidates.
    fn multiply(
        &mut self,
        columns: &[usize],
        all: bool,
        features: &[Feature],
        bytes: usize,
    ) -> Result<(), Error> {
        rewind(self.stream)?;
        let write = |j: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            let feature = features.get(j).filter(|_| j < data.n_features()).ok_or_else(|| not_the_same(j))?;
            let mut scratch = Vec::new();
            feature.write(data.x().column(j, &mut scratch)?.stretch(rows.clone()), &rows, out);
            Ok(())
        };
        let candidates = &self.candidates;
        let of_all = |at: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            write(candidates[at], data, rows, out)
        };
        let of_columns = |at: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            write(columns[at], data, rows, out)
        };
        let left = Made { widths: vec![1; candidates.len()], write: &of_all };
        let right = Made { widths: vec![1; columns.len()], write: &of_columns };
        let right = (!all).then_some(&right);
        let n = features.first().map_or(0, |feature| feature.n);
        let products = stream_products(self.stream, &left, right, n, bytes, self.context)?;
        for (&j, products) in columns.iter().zip(products.chunks_exact(candidates.len().max(1))) {
            let mut row = vec![0.0; features.len()];
            candidates.iter().zip(products).for_each(|(&k, product)| row[k] = *product);
            self.rows.insert(j, row);
        }
        Ok(())
    }
}

struct Correlated<'a> {
    form: MrmrForm,
    features: Vec<Feature>,
    known: Mutex<Known<'a>>,
}

impl forward::Criterion for Correlated<'_> {
    /// The correlation of every feature with a selected one.
    type Partner = Vec<f64>;
    type Scratch = ();

    fn relevance(&self, k: usize) -> f64 {
        self.features[k].f_statistic
    }

    fn start(&self, _k: usize) -> f64 {
        0.0
    }

    fn partners(&self, selected: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        selected.last().map(|&last| known.with(last, &self.features)).into_iter().collect()
    }

    fn fold(&self, k: usize, fold: f64, partners: &[Vec<f64>], _scratch: &mut ()) -> Result<f64, Error> {
        let terms = partners.iter().map(|row| row[k].abs().clamp(LEAST_CORRELATION, 1.0));
        Ok(terms.fold(fold, |sum, term| sum + term))
    }

    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64 {
        self.form.combine(self.features[k].f_statistic, fold / n_selected as f64)
    }

    fn candidates_per_task(&self) -> usize {
        few_microseconds(1)
    }

    fn folds_bound(&self) -> bool {
        true
    }
}
