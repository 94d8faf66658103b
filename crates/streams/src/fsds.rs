//! Unsupervised selection by a sketch of the samples.

use fewest_columns::Standard;
use fewest_core::method::Options;
use fewest_core::{
    Arrives, BATCH_ROWS, Budget, Context, Dataset, Error, FadingScore, Held, RowBatches, SampleStream,
    Scorer, Scores, Selection, StreamMethod, StreamScorer, StreamSelector, Whole, options, rewind, state,
    stream_state,
};
use fewest_linalg::{left_singular, qr_unless};
use nalgebra::DMatrix;

use crate::samples::{Rows, by_score, scaling};

const METHOD: &str = "fsds";

/// Samples that a table is read by.
const BATCH: usize = 256;

options! {
    /// Unsupervised feature selection on data streams (Huang, Yoo and Kasiviswanathan 2015; Section 5.2.2 of
    /// Li et al. 2016, Eq. 115, 116): a feature matters that carries the leading directions of the samples,
    /// which a sketch of `l` rows keeps, by frequent directions.
    ///
    /// ```text
    /// for each block of rows:  singular values s₁ ≥ s₂ ≥ … and right vectors v of [B; block],
    ///                          row i of B = √(max(0, sᵢ² − s_l²)) vᵢᵀ,   i = 1 … l
    /// W = (BᵀB + ridge I)⁻¹ Bᵀ [e₁ … e_k],     score(j) = maxᵢ |Wⱼᵢ| = maxᵢ σᵢ / (σᵢ² + ridge) |vᵢⱼ|
    /// ```
    ///
    /// `0 ≤ xᵀ(XᵀX − BᵀB)x ≤ δ ‖x‖²` for every direction, where `δ` is the sum of the `s_l²` taken off
    /// ([`FsdsStream::bound`]). The survey shrinks by a value in the middle; the program of the authors, and
    /// this one, by the last. It is a linear combination of the leading components that is fitted: with
    /// `ridge` far below `σ²` the small ones of the `k` weigh most.
    ///
    /// A table is standardised. A stream is taken as it comes: centre features and bring them to one scale
    /// first. A constant feature of a table has score 0. The answer depends on the order of the samples, and
    /// on `block_rows`, but not on how a stream cuts them into batches.
    ///
    /// Cost: `O(d (l + b)² / b)` a sample, `b = block_rows`. Memory: `(l + b) d` numbers, whatever arrives,
    /// and the batch.
    ///
    /// # Errors
    /// A NaN or an infinity, naming the cell; sample weights; a category of more than two levels; batches
    /// with another number of features than the first; values so large that their squares overflow.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_streams::Fsds;
    ///
    /// let noise = |j: u64| (0..80).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// // Features 0, 1 and 2 are nearly the same; 3 to 5 are alone.
    /// let common = noise(9);
    /// let columns: Vec<Vec<f64>> = (0..6)
    ///     .map(|j| noise(j).iter().zip(&common).map(|(own, all)| if j < 3 { all + 0.1 * own } else { *own }).collect())
    ///     .collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
    /// let scores = Fsds { components: 1, ..Fsds::default() }.score(&data, &Context::default())?;
    /// assert!(scores.ranking()[..3].iter().all(|&j| j < 3));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Fsds {
        /// Rows of the sketch, l.
        pub sketch_rows: usize = 20, Count(2);
        /// Components that are fitted, k: the number of clusters.
        pub components: usize = 5, Count(1);
        /// Weight of the squared coefficients.
        pub ridge: f64 = 1.0, Positive;
        /// Rows that are merged into the sketch at once.
        pub block_rows: usize = 25, Count(1);
    }
}

impl Fsds {
    /// A selector to which samples arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<FsdsStream, Error> {
        self.check()?;
        Ok(FsdsStream {
            options: *self,
            rows: Rows::new(METHOD, None),
            n_features: 0,
            sketch: Sketch { directions: Vec::new(), values: Vec::new(), bound: 0.0 },
            waiting: Vec::new(),
            n_seen: 0,
        })
    }
}

impl StreamMethod for Fsds {
    const ARRIVES: Arrives = Arrives::Samples;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        Err(Error::Unsupported {
            method: METHOD,
            what: "a weight of samples".to_owned(),
            instead: "its sketch has directions in place of samples: take a window of the last samples"
                .to_owned(),
        })
    }
}

impl Scorer for Fsds {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        data.refuse_sample_weights(METHOD)?;
        let scaling = scaling(&mut RowBatches::new(data, BATCH_ROWS)?, METHOD, context)?;
        self.sketched(&mut RowBatches::new(data, BATCH)?, Some(data.n_samples()), scaling, context)
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// A pass for the scales of features, and one for the sketch: with the bits of the table in memory.
impl StreamScorer for Fsds {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        let scaling = scaling(stream, METHOD, context)?;
        rewind(stream)?;
        self.sketched(stream, None, scaling, context)
    }

    fn sums_rows(&self) -> bool {
        false
    }
}

impl Fsds {
    /// The scores of the rows of `stream`, of which there are `all`, where that is known.
    fn sketched(
        &self,
        stream: &mut dyn SampleStream,
        all: Option<usize>,
        scaling: Vec<Option<Standard>>,
        context: &Context<'_>,
    ) -> Result<Scores, Error> {
        let mut sketch = self.stream()?;
        sketch.rows = Rows::new(METHOD, Some(scaling));
        let mut batches = Whole::new(stream, BATCH);
        while let Some(batch) = batches.next_batch()? {
            if let Some(stopped) = context.stopped().filter(|_| sketch.n_seen > 0) {
                return Ok(sketch.scores()?.with_status(stopped));
            }
            sketch.update(&batch, context)?;
            if let Some(all) = all {
                context.report("samples", sketch.n_seen, all);
            }
        }
        sketch.scores()
    }
}

/// A sketch `B`, by its singular values and right vectors.
#[derive(Clone, Default)]
struct Sketch {
    /// Of length `d` each.
    directions: Vec<f64>,
    values: Vec<f64>,
    /// Sum of what was taken off the squares.
    bound: f64,
}

state!(Sketch { directions, values, bound });

/// [`Fsds`] on samples that arrive.
pub struct FsdsStream {
    options: Fsds,
    rows: Rows,
    n_features: usize,
    sketch: Sketch,
    /// Rows that do not fill a block yet.
    waiting: Vec<f64>,
    n_seen: usize,
}

impl FsdsStream {
    /// The rows of the sketch with all that has arrived, one after the other.
    ///
    /// # Errors
    /// [`Error::Numerical`] where the squares of the values overflow.
    pub fn sketch(&self) -> Result<Vec<Vec<f64>>, Error> {
        let sketch = self.current()?;
        let rows = sketch.directions.chunks_exact(self.n_features.max(1)).zip(&sketch.values);
        Ok(rows.map(|(row, value)| row.iter().map(|entry| entry * value).collect()).collect())
    }

    /// `δ`: no direction has lost more than this of its sum of squares.
    ///
    /// # Errors
    /// As [`sketch`](Self::sketch).
    pub fn bound(&self) -> Result<f64, Error> {
        self.current().map(|sketch| sketch.bound)
    }

    /// The score of every feature from all that has arrived.
    ///
    /// # Errors
    /// As [`sketch`](Self::sketch); [`Error::TooFew`] before any sample.
    pub fn scores(&self) -> Result<Scores, Error> {
        if self.n_seen == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        let sketch = self.current()?;
        let mut scores = vec![0.0_f64; self.n_features];
        let leading = sketch.directions.chunks_exact(self.n_features).zip(&sketch.values);
        for (direction, value) in leading.take(self.options.components) {
            let weight = value / (value * value + self.options.ridge);
            for (score, entry) in scores.iter_mut().zip(direction) {
                *score = score.max((weight * entry).abs());
            }
        }
        Ok(Scores::descending(scores))
    }

    /// The sketch with the rows that wait.
    fn current(&self) -> Result<Sketch, Error> {
        let mut sketch = self.sketch.clone();
        if !self.waiting.is_empty() {
            sketch.merge(&self.waiting, self.n_features, self.options.sketch_rows)?;
        }
        Ok(sketch)
    }
}

impl Sketch {
    /// Adds the rows of `block`, of length `d` each.
    fn merge(&mut self, block: &[f64], d: usize, l: usize) -> Result<(), Error> {
        let overflow = || Error::Numerical {
            what: "the sketch",
            hint: "bring the features to one scale first: the squares of their values overflow".to_owned(),
        };
        // Columns are the rows of [B; block].
        let mut columns = self.directions.clone();
        for (column, value) in columns.chunks_exact_mut(d).zip(&self.values) {
            column.iter_mut().for_each(|entry| *entry *= value);
        }
        columns.extend_from_slice(block);
        let m = columns.len() / d;
        let columns = DMatrix::from_vec(d, m, columns);
        let (values, directions) = if m < d {
            let (q, r) = qr_unless(columns, &|| false).ok_or_else(overflow)?;
            let (values, left) = left_singular(r).ok_or_else(overflow)?;
            (values, q * left)
        } else {
            left_singular(columns).ok_or_else(overflow)?
        };
        let last = if l <= values.len() { values[l - 1] * values[l - 1] } else { 0.0 };
        let n_kept = values.iter().take(l).take_while(|value| **value * **value > last).count();
        self.values = values.iter().take(n_kept).map(|value| (value * value - last).sqrt()).collect();
        self.directions = directions.as_slice()[..n_kept * d].to_vec();
        self.bound += last;
        if self.bound.is_finite() { Ok(()) } else { Err(overflow()) }
    }
}

impl StreamSelector for FsdsStream {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        let values = self.rows.read(arrived)?;
        let (d, l) = (arrived.n_features(), self.options.sketch_rows);
        let block = self.options.block_rows.saturating_mul(d);
        let mut waiting = self.waiting.clone();
        // Of its own, so that an error leaves the stream as it was.
        let mut sketch: Option<Sketch> = None;
        for row in values.chunks_exact(d) {
            waiting.extend_from_slice(row);
            if waiting.len() == block {
                sketch.get_or_insert_with(|| self.sketch.clone()).merge(&waiting, d, l)?;
                waiting.clear();
            }
        }
        (self.n_features, self.waiting) = (d, waiting);
        self.sketch = sketch.unwrap_or_else(|| std::mem::take(&mut self.sketch));
        self.n_seen += arrived.n_samples();
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        budget.check(self.n_features)?;
        by_score(&self.scores()?, budget)
    }

    fn held(&self) -> Held {
        let sketch = self.sketch.directions.len() + self.sketch.values.len();
        Held::new(self.n_features, sketch + self.waiting.len())
    }

    stream_state!(options; rows.n_features, n_features, sketch, waiting, n_seen);
}
