//! Scores that are sums over rows, as a stream of samples.

use std::fmt::Debug;

use super::state::{broken, by_macro};
use super::{Cutter, RunningScorer};
use crate::{
    BATCH_ROWS, Budget, Column, Context, Dataset, DenseColumns, Error, FeatureKind, Held, Scores, Selection,
    State, StreamSelector, Target, scores,
};

/// The sums behind a score, over rows that arrive.
pub trait RunningScores: Send {
    /// An error where rows such as these can have no score: before any of them is taken.
    ///
    /// # Errors
    /// For another kind of target.
    fn check(&self, batch: &Dataset) -> Result<(), Error>;

    /// Adds the next rows: [`BATCH_ROWS`] of them.
    ///
    /// # Errors
    /// As [`Scorer::score`](crate::Scorer::score).
    fn add(&mut self, batch: &Dataset) -> Result<(), Error>;

    /// The scores of all rows that were added and, behind them, of `last`, which is not added.
    ///
    /// # Errors
    /// As [`Scorer::score`](crate::Scorer::score); [`Error::Unsupported`] where they would need a second
    /// pass.
    fn scores(&self, last: Option<&Dataset>) -> Result<Scores, Error>;

    /// Appends the sums.
    fn save(&self, to: &mut Vec<u8>);

    /// Takes the sums from the front.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for bytes that are none.
    fn load(&mut self, from: &mut &[u8]) -> Result<(), Error>;
}

/// A [`RunningScorer`] to which samples arrive: the [`StreamSelector`] that takes the best features by score.
///
/// It selects what [`Ranked`](crate::Ranked) selects from the same rows in one table, with the same bits,
/// where all columns are dense. Two things need a second pass over a table: values whose squares overflow,
/// which are an error of [`selection`](StreamSelector::selection) here, and bounds of bins, for which the
/// scorer says what it takes in place of the whole table.
///
/// Memory: the sums, and up to [`BATCH_ROWS`] rows, since these are summed together. That is
/// `4096 d` numbers and does not grow with what arrives.
///
/// # Errors
/// A NaN or an infinity, naming the cell; sample weights; batches with another number of features, other
/// classes or other levels than the first. An error leaves the stream as it was.
pub struct RankedStream {
    running: Box<dyn RunningScores>,
    /// The options of the scorer.
    made: String,
    rows: Cutter,
    seen: Vec<Seen>,
    n_seen: usize,
}

/// What is known of the values of a feature.
#[derive(Debug, Clone, Copy)]
struct Seen {
    first: f64,
    varies: bool,
}

crate::state!(Seen { first, varies });

impl RankedStream {
    /// With the sums of `scorer`.
    ///
    /// # Errors
    /// Those of [`RunningScorer::running`].
    pub fn new(scorer: &(impl RunningScorer + Debug)) -> Result<Self, Error> {
        Ok(Self {
            running: scorer.running()?,
            made: format!("{scorer:?}"),
            rows: Cutter::new(BATCH_ROWS),
            seen: Vec::new(),
            n_seen: 0,
        })
    }

    /// The score of every feature from all that has arrived.
    ///
    /// # Errors
    /// As [`RunningScores::scores`]; [`Error::TooFew`] before any sample.
    pub fn scores(&self) -> Result<Scores, Error> {
        if self.n_seen == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        self.running.scores(self.rows.waiting()?.as_ref())
    }

    /// Number of features; 0 before any sample.
    pub fn n_features(&self) -> usize {
        self.seen.len()
    }

    /// The features that had the same value in every sample so far.
    pub fn constant_features(&self) -> Vec<usize> {
        (0..self.seen.len()).filter(|&j| !self.seen[j].varies).collect()
    }

    /// Checks a batch, and what is known of the features with it.
    fn seen_with(&self, batch: &Dataset) -> Result<Vec<Seen>, Error> {
        batch.refuse_sample_weights("a sum over the rows of a stream")?;
        self.rows.check(batch)?;
        let (d, n) = (batch.n_features(), batch.n_samples());
        if self.n_seen == 0 {
            self.running.check(batch)?;
        } else if d != self.seen.len() {
            let expected = self.seen.len();
            return Err(Error::ShapeMismatch { what: "features of a batch", expected, found: d });
        }
        let (mut scratch, mut written_out) = (Vec::new(), Vec::new());
        let mut seen = Vec::with_capacity(d);
        for j in 0..d {
            let values = match batch.x().column(j, &mut scratch)? {
                Column::Dense(values) => values,
                sparse @ Column::Sparse { .. } => {
                    written_out.resize(n, 0.0);
                    sparse.copy_to(&mut written_out);
                    &written_out
                }
            };
            batch.check_finite(j, values)?;
            let before = self.seen.get(j).copied().unwrap_or(Seen { first: values[0], varies: false });
            let varies = before.varies || values.iter().any(|value| *value != before.first);
            seen.push(Seen { varies, ..before });
        }
        Ok(seen)
    }
}

impl StreamSelector for RankedStream {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        let seen = self.seen_with(arrived)?;
        self.rows.push(arrived.plain())?;
        self.seen = seen;
        self.n_seen += arrived.n_samples();
        while let Some(batch) = self.rows.whole()? {
            self.running.add(&batch)?;
        }
        self.rows.compact()
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        budget.check(self.seen.len())?;
        Ok(scores::cut(&self.scores()?, &self.constant_features(), budget))
    }

    fn held(&self) -> Held {
        let mut sums = Vec::new();
        self.running.save(&mut sums);
        let numbers = (self.rows.n_waiting() + 1) * self.seen.len();
        let mut held = Held::new(self.seen.len(), numbers);
        held.bytes += sums.len();
        held
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        let mut to = Vec::new();
        by_macro::save_maker::<Self>(&self.made, &mut to);
        self.n_seen.save(&mut to);
        self.seen.save(&mut to);
        self.rows.waiting()?.map(|rows| SavedRows::of(&rows)).transpose()?.save(&mut to);
        self.running.save(&mut to);
        Ok(to)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        let mut from = state;
        by_macro::check_maker::<Self>(&self.made, &mut from)?;
        let (n_seen, seen) = (usize::load(&mut from)?, Vec::<Seen>::load(&mut from)?);
        let waiting = Option::<SavedRows>::load(&mut from)?;
        let mut rows = Cutter::new(BATCH_ROWS);
        if let Some(waiting) = waiting {
            rows.push(waiting.dataset()?)?;
            rows.compact()?;
        }
        let mut before = Vec::new();
        self.running.save(&mut before);
        if let Err(error) = self.running.load(&mut from).and_then(|()| by_macro::check_end(from)) {
            self.running.load(&mut before.as_slice())?;
            return Err(error);
        }
        (self.n_seen, self.seen, self.rows) = (n_seen, seen, rows);
        Ok(())
    }
}

/// Rows of samples, written out: the features with their names and kinds, and the target, but nothing else of
/// a data set. It is how a stream that holds rows has them in its state.
pub struct SavedRows {
    names: Vec<String>,
    /// The levels of categories.
    kinds: Vec<Option<Vec<String>>>,
    columns: Vec<Vec<f64>>,
    target: Target,
}

crate::state!(SavedRows { names, kinds, columns, target });

impl SavedRows {
    /// Those of a data set.
    ///
    /// # Errors
    /// Those of its columns.
    pub fn of(rows: &Dataset) -> Result<Self, Error> {
        let d = rows.n_features();
        let column = |j| {
            let mut values = vec![0.0; rows.n_samples()];
            rows.x().copy_column(j, &mut values).map(|()| values)
        };
        let levels = |j| match rows.feature_kind(j) {
            FeatureKind::Categorical { levels } => Some(levels.clone()),
            FeatureKind::Numeric => None,
        };
        Ok(Self {
            names: (0..d).map(|j| rows.feature_name(j)).collect(),
            kinds: (0..d).map(levels).collect(),
            columns: (0..d).map(column).collect::<Result<_, Error>>()?,
            target: rows.target().clone(),
        })
    }

    /// As a data set.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where the state is none of rows.
    pub fn dataset(self) -> Result<Dataset, Error> {
        let n = self.columns.first().map_or(0, Vec::len);
        if self.columns.iter().any(|column| column.len() != n) {
            return Err(broken());
        }
        let kind = |levels: Option<Vec<String>>| match levels {
            Some(levels) => FeatureKind::Categorical { levels },
            None => FeatureKind::Numeric,
        };
        Dataset::new(DenseColumns::from_columns(&self.columns)?, self.target)?
            .with_feature_names(self.names)?
            .with_feature_kinds(self.kinds.into_iter().map(kind).collect())
    }
}
