//! Products of standardised columns over rows that are read once more.

use std::ops::Range;

use fewest_columns::{COPIES_OF_PRODUCTS, Chosen, Made, stream_products};
use fewest_core::{BATCH_ROWS, Column, Context, Dataset, Error, SampleStream, State, Target, state};

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
#[derive(Clone)]
struct Side {
    features: Vec<usize>,
    has_outputs: bool,
}

state!(Side { features, has_outputs });

/// A pass for products of columns, with all that it takes to sum them over some rows.
pub(super) struct ProductPass {
    /// Number of rows of the table.
    n: usize,
    /// Which features are read, increasing, and the columns of each.
    read: Vec<usize>,
    features: Vec<Columns>,
    outputs: Vec<(usize, Standardised)>,
    /// By the places of features among those that are read.
    left: Side,
    /// The same as `left` where there is none.
    right: Option<Side>,
    /// Whether the stream must leave the other features out, since it has them in parts.
    in_parts: bool,
}

state!(ProductPass { n, read, features, outputs, left, right, in_parts });

/// Bytes that products of so many columns and the outputs take, with each other.
pub(super) fn bytes_of_square(n_columns: usize, table: &Surveyed) -> usize {
    let all = n_columns.saturating_add(table.outputs.len());
    bytes_of(all, all)
}

/// The error about products that take more memory than there is for sums.
pub(super) fn too_many(method: &'static str, what: &str, bytes: usize, most: usize) -> Error {
    Error::Unsupported {
        method,
        what: format!(
            "{what} in passes, which take {} MiB where there are {} MiB for sums,",
            bytes.div_ceil(1 << 20),
            most >> 20
        ),
        instead:
            "give it more memory, ask for fewer features or a larger penalty, or leave out features, such \
                  as those of small f-score"
                .to_owned(),
    }
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
        let products = self.sum(stream, (features, true), None, most, context)?;
        let p = self.n_columns(features);
        let all = p + self.outputs.len();
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
        self.sum(stream, (features, false), Some((&[], true)), most, context)
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
        self.sum(stream, (features, false), Some((others, false)), most, context)
    }

    /// One pass for the products of `left` with `right`, or with itself, divided by the number of samples:
    /// columns of some features, and of the outputs or not.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where they take more than `most` bytes; those of the stream.
    fn sum(
        &self,
        stream: &mut dyn SampleStream,
        left: (&[usize], bool),
        right: Option<(&[usize], bool)>,
        most: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let mut read = [left.0, right.map_or(&[], |right| right.0)].concat();
        fewest_core::order::sort_indices(&mut read);
        read.dedup();
        let side = |(features, has_outputs): (&[usize], bool)| {
            let places = features.iter().filter_map(|feature| read.binary_search(feature).ok());
            Side { features: places.collect(), has_outputs }
        };
        let pass = ProductPass {
            n: self.n,
            features: read.iter().filter_map(|&feature| self.features.get(feature).cloned()).collect(),
            outputs: self.outputs.clone(),
            left: side(left),
            right: right.map(side),
            in_parts: self.parts.len() > 1,
            read,
        };
        let mut instructions = Vec::new();
        pass.save(&mut instructions);
        stream.instruct(instructions);
        pass.sum(stream, self.method, most, context)
    }
}

impl ProductPass {
    /// What was [instructed](SampleStream::instruct).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for bytes that are no such pass.
    pub(super) fn instructed(mut instructions: &[u8]) -> Result<Self, Error> {
        let pass = Self::load(&mut instructions)?;
        let are_increasing = |numbers: &[usize]| numbers.is_sorted_by(|a, b| a < b);
        let are_places = |side: &Side| {
            are_increasing(&side.features) && side.features.last().is_none_or(|last| *last < pass.read.len())
        };
        let are_features = are_increasing(&pass.read) && pass.features.len() == pass.read.len();
        let are_sides = are_places(&pass.left) && pass.right.as_ref().is_none_or(are_places);
        let (height, width) = pass.size();
        // Columns of which there are no products would be made all the same.
        if are_features && are_sides && height > 0 && width > 0 {
            return Ok(pass);
        }
        let expected = "features that are read, by increasing number, and places among them";
        Err(Error::parameter("instructions", "others", expected))
    }

    /// The products of all rows of `stream`, or what [executors](SampleStream::sum_elsewhere) sum of them,
    /// divided by the number of samples. They and the rows that are worked on take at most `most` bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a stream that has features in parts and cannot leave any out; those of the
    /// stream.
    pub(super) fn sum(
        &self,
        stream: &mut dyn SampleStream,
        method: &'static str,
        most: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let (height, width) = self.size();
        let bytes = bytes_of(height, width);
        if bytes > most {
            let what = format!("products of {height} with {width} columns");
            return Err(too_many(method, &what, bytes, most));
        }
        let write_left = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            self.write(&self.left, source, (data, rows), out, method)
        };
        let right = self.right.as_ref();
        let write_right = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            self.write(right.unwrap_or(&self.left), source, (data, rows), out, method)
        };
        let of_left = Made { widths: self.widths(&self.left), write: &write_left };
        let of_right = right.map(|right| Made { widths: self.widths(right), write: &write_right });
        let mut chosen = Chosen::of(stream, &self.read)?;
        if self.in_parts && !chosen.leaves_others_out() {
            return Err(Error::Unsupported {
                method,
                what: "features that come in parts, of which the stream cannot leave any out,".to_owned(),
                instead: "give it memory for some batches of all features".to_owned(),
            });
        }
        let mut products =
            stream_products(&mut chosen, &of_left, of_right.as_ref(), self.n, most - bytes, context)?;
        products.iter_mut().for_each(|product| *product /= self.n as f64);
        Ok(products)
    }

    /// Numbers of columns of both sides.
    fn size(&self) -> (usize, usize) {
        let width = |side: &Side| self.widths(side).iter().sum();
        (width(&self.left), width(self.right.as_ref().unwrap_or(&self.left)))
    }

    fn widths(&self, side: &Side) -> Vec<usize> {
        let of_features = side.features.iter().filter_map(|&place| self.features.get(place));
        of_features.map(Vec::len).chain(side.has_outputs.then_some(self.outputs.len())).collect()
    }

    /// Writes the columns of a source of `side` for these rows of a batch of the features that are read.
    fn write(
        &self,
        side: &Side,
        source: usize,
        (data, rows): (&Dataset, Range<usize>),
        out: &mut [f64],
        method: &'static str,
    ) -> Result<(), Error> {
        let n = rows.len();
        let mut out = out.chunks_exact_mut(n.max(1));
        let place = side.features.get(source).copied();
        if let Some((place, columns)) = place.and_then(|place| Some((place, self.features.get(place)?))) {
            let mut scratch = Vec::new();
            let column = data.x().column(place, &mut scratch)?.stretch(rows.clone());
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
                Target::Real(real) if *number < real.n_outputs() => {
                    standard.write(&real.output(*number)[rows.clone()], out)
                }
                Target::Class(classes) => {
                    let codes: Vec<f64> =
                        classes.codes()[rows.clone()].iter().map(|&code| f64::from(code)).collect();
                    standard.write(&codes, out);
                }
                other => return Err(unsupported_target(method, other.describe())),
            }
        }
        Ok(())
    }
}
