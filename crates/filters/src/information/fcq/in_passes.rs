//! F statistic and correlation quotient from rows that are read in passes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fewest_columns::{COPIES_OF_PRODUCTS, Made, rewind, stream_products};
use fewest_core::{Budget, Context, Dataset, Error, PassSelector, Returned, SampleStream, Selection};

use super::feature::Feature;
use super::{Fcq, LEAST_CORRELATION, finished};
use crate::information::criterion::MrmrForm;
use crate::information::forward::{self, few_microseconds, forward};
use crate::tables::not_the_same;

/// Bytes that correlations may take where the context gives no number.
const MOST_BYTES: usize = 256 << 20;

/// All pairs are multiplied in one pass where there are at most so many features for each wanted one:
/// reading a value takes longer than this many products.
const FEATURES_EACH: usize = 200;

/// From class moments and correlations of pairs: two passes where the correlations of all pairs are
/// computed in one, and otherwise one for each selected feature and one before. Of stored columns the
/// selection has the bits of the table in memory; of sparse ones scores differ by rounding.
impl PassSelector for Fcq {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let Some(first) = stream.next_batch()? else {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        };
        let example = first.subset(&[0])?;
        let mut returned = Returned { first: Some(first), stream };
        let features = Feature::of_stream(&mut returned, example.target(), context)?;
        let stream = returned.stream;
        let d = features.len();
        budget.check(d)?;
        let candidates: Vec<usize> = (0..d).filter(|&k| !features[k].is_constant()).collect();
        let wanted = if let Budget::Count(k) = budget { k } else { candidates.len() };
        let known = Known { stream, context, candidates: candidates.clone(), wanted, rows: HashMap::new() };
        let correlated = Correlated { form: self.form, features, known: Mutex::new(known) };
        let n_candidates = candidates.len();
        let selection = forward(&correlated, candidates, d, budget, context)?;
        Ok(finished(selection, &example, budget, d - n_candidates))
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
