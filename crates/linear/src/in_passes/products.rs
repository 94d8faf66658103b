//! Products of standardised columns over rows that are read once more.

use std::ops::Range;

use fewest_columns::{COPIES_OF_PRODUCTS, Chosen, Made, stream_products};
use fewest_core::{BATCH_ROWS, Column, Context, Dataset, Error, SampleStream, Target};

use super::survey::{Columns, Standardised, unsupported_target};
use crate::columns::Source;

/// What the first pass has told of a table.
pub(super) struct Surveyed {
    pub(super) method: &'static str,
    /// Number of rows.
    pub(super) n: usize,
    /// The columns of each feature.
    pub(super) features: Vec<Columns>,
    /// The number of the first column of each feature, and that of all columns.
    first: Vec<usize>,
    /// The outputs that vary.
    pub(super) outputs: Vec<(usize, Standardised)>,
    /// Features that are read together: all, where the stream has them in one part.
    pub(super) parts: Vec<Range<usize>>,
}

/// Columns to be multiplied: those of some features, and perhaps of the outputs.
#[derive(Clone, Copy)]
struct Side<'a> {
    features: &'a [usize],
    has_outputs: bool,
}

/// Bytes that products of so many columns and the outputs take, with each other.
pub(super) fn bytes_of_square(n_columns: usize, table: &Surveyed) -> usize {
    let all = n_columns.saturating_add(table.outputs.len());
    bytes_of(all, all)
}

fn bytes_of(left: usize, right: usize) -> usize {
    left.saturating_mul(right).saturating_mul(COPIES_OF_PRODUCTS * size_of::<f64>())
}

impl Surveyed {
    pub(super) fn new(
        method: &'static str,
        n: usize,
        features: Vec<Columns>,
        outputs: Vec<(usize, Standardised)>,
        parts: Vec<Range<usize>>,
    ) -> Self {
        let mut first = vec![0];
        first.extend(features.iter().scan(0, |end, columns| {
            *end += columns.len();
            Some(*end)
        }));
        Self { method, n, features, first, outputs, parts }
    }

    /// Whether the table is a batch of rows that takes no more than so many bytes.
    pub(super) fn are_few_rows(&self, bytes: usize) -> bool {
        let values = self.n.saturating_mul(self.features.len().saturating_add(self.outputs.len()));
        self.n <= BATCH_ROWS && values.saturating_mul(size_of::<f64>()) <= bytes
    }

    /// The numbers of the columns of a feature.
    pub(super) fn columns(&self, feature: usize) -> Range<usize> {
        let at = |j: usize| self.first.get(j).copied().unwrap_or(0);
        at(feature)..at(feature + 1)
    }

    /// The feature of a column.
    pub(super) fn feature(&self, column: usize) -> usize {
        self.first.partition_point(|first| *first <= column).saturating_sub(1)
    }

    /// Number of columns of these features.
    pub(super) fn n_columns(&self, features: &[usize]) -> usize {
        features.iter().map(|&feature| self.columns(feature).len()).sum()
    }

    /// All features, in pieces of which products with so many columns take at most `most` bytes, but of one
    /// at least, and that are of one part of the table. The levels of categories in a batch take no more than
    /// `most` either, or than the features have there.
    pub(super) fn pieces(&self, n_others: usize, most: usize) -> Vec<Vec<usize>> {
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        for part in &self.parts {
            let mut n_columns = 0;
            let mut piece = Vec::new();
            for feature in part.clone() {
                n_columns += self.columns(feature).len();
                let in_batch = |columns: usize| columns.saturating_mul(size_of::<f64>() * BATCH_ROWS);
                let is_wide = in_batch(n_columns) > in_batch(piece.len() + 1).max(most);
                if !piece.is_empty() && (is_wide || bytes_of(n_columns, n_others) > most) {
                    pieces.push(std::mem::take(&mut piece));
                    n_columns = self.columns(feature).len();
                }
                piece.push(feature);
            }
            pieces.push(piece);
        }
        pieces
    }

    /// The columns of these features, one after the other.
    pub(super) fn sources(&self, features: &[usize]) -> Vec<Source> {
        let columns = features.iter().filter_map(|&feature| Some((feature, self.features.get(feature)?)));
        let source = |(feature, columns): (usize, &Columns)| -> Vec<Source> {
            columns.iter().map(|&(level, _)| Source { feature, level }).collect()
        };
        columns.flat_map(source).collect()
    }

    /// The products of the columns of `features` with each other, and with each output, divided by the number
    /// of samples.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub(super) fn square(
        &self,
        stream: &mut dyn SampleStream,
        features: &[usize],
        most: usize,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>), Error> {
        let side = Side { features, has_outputs: true };
        let products = self.sum(stream, side, None, most, context)?;
        let (p, all) = (self.n_columns(features), self.width(side));
        let mut columns = products.chunks_exact(all).filter_map(|column| column.get(..p));
        let mut gram = Vec::with_capacity(p * p);
        columns.by_ref().take(p).for_each(|column| gram.extend_from_slice(column));
        Ok((gram, columns.map(<[f64]>::to_vec).collect()))
    }

    /// The products of the columns of `features` with each output, output by output, divided by the number
    /// of samples.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub(super) fn with_outputs(
        &self,
        stream: &mut dyn SampleStream,
        features: &[usize],
        most: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let (left, right) =
            (Side { features, has_outputs: false }, Side { features: &[], has_outputs: true });
        self.sum(stream, left, Some(right), most, context)
    }

    /// The products of the columns of `features` with those of `others`, one of these after the other,
    /// divided by the number of samples.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub(super) fn with_features(
        &self,
        stream: &mut dyn SampleStream,
        features: &[usize],
        others: &[usize],
        most: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let side = |features| Side { features, has_outputs: false };
        self.sum(stream, side(features), Some(side(others)), most, context)
    }

    /// One pass for the products of `left` with `right`, or with itself, divided by the number of samples.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where they take more than `most` bytes; those of the stream.
    fn sum(
        &self,
        stream: &mut dyn SampleStream,
        left: Side<'_>,
        right: Option<Side<'_>>,
        most: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let (height, width) = (self.width(left), self.width(right.unwrap_or(left)));
        let bytes = bytes_of(height, width);
        if bytes > most {
            return Err(self.too_many(&format!("products of {height} with {width} columns"), bytes, most));
        }
        let mut read = [left.features, right.map_or(&[], |right| right.features)].concat();
        fewest_core::order::sort_indices(&mut read);
        read.dedup();
        let write_left = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            self.write(&read, left, source, data, rows, out)
        };
        let write_right = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            self.write(&read, right.unwrap_or(left), source, data, rows, out)
        };
        let of_left = Made { widths: self.widths(left), write: &write_left };
        let of_right = right.map(|right| Made { widths: self.widths(right), write: &write_right });
        let mut chosen = Chosen::of(stream, &read)?;
        if self.parts.len() > 1 && !chosen.leaves_others_out() {
            return Err(Error::Unsupported {
                method: self.method,
                what: format!(
                    "{} features that come in parts, of which the stream cannot leave any out",
                    self.features.len()
                ),
                instead: "give it memory for some batches of all features".to_owned(),
            });
        }
        let mut products =
            stream_products(&mut chosen, &of_left, of_right.as_ref(), self.n, most - bytes, context)?;
        products.iter_mut().for_each(|product| *product /= self.n as f64);
        Ok(products)
    }

    /// The error about products that take more memory than there is for sums.
    pub(super) fn too_many(&self, what: &str, bytes: usize, most: usize) -> Error {
        Error::Unsupported {
            method: self.method,
            what: format!(
                "{what} in passes, which take {} MiB where there are {} MiB for sums,",
                bytes.div_ceil(1 << 20),
                most >> 20
            ),
            instead:
                "give it more memory, ask for fewer features or a larger penalty, or leave out features, \
                      such as those of small f-score"
                    .to_owned(),
        }
    }

    fn widths(&self, side: Side<'_>) -> Vec<usize> {
        let outputs = side.has_outputs.then_some(self.outputs.len());
        side.features.iter().map(|&feature| self.columns(feature).len()).chain(outputs).collect()
    }

    fn width(&self, side: Side<'_>) -> usize {
        self.widths(side).iter().sum()
    }

    /// Writes the columns of a source of `side` for these rows of a batch that has the features `read`.
    fn write(
        &self,
        read: &[usize],
        side: Side<'_>,
        source: usize,
        data: &Dataset,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), Error> {
        let n = rows.len();
        let mut out = out.chunks_exact_mut(n.max(1));
        let feature = side.features.get(source);
        if let Some((columns, Ok(at))) =
            feature.and_then(|feature| Some((self.features.get(*feature)?, read.binary_search(feature))))
        {
            let mut scratch = Vec::new();
            let column = data.x().column(at, &mut scratch)?.stretch(rows.clone());
            let copied;
            let values = match column {
                Column::Dense(values) => values,
                Column::Sparse { rows: stored, values } => {
                    let mut written = vec![0.0; n];
                    stored.iter().zip(values).for_each(|(row, value)| written[row - rows.start] = *value);
                    copied = written;
                    &copied
                }
            };
            columns.iter().zip(out).for_each(|((_, standard), out)| standard.write(values, out));
            return Ok(());
        }
        for ((number, standard), out) in self.outputs.iter().zip(&mut out) {
            match data.target() {
                Target::Real(real) => standard.write(&real.output(*number)[rows.clone()], out),
                Target::Class(classes) => {
                    let codes: Vec<f64> =
                        classes.codes()[rows.clone()].iter().map(|&code| f64::from(code)).collect();
                    standard.write(&codes, out);
                }
                other => return Err(unsupported_target(self.method, other.describe())),
            }
        }
        Ok(())
    }
}
