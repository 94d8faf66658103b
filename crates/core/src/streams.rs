//! Streams of samples and features, and selectors that process them as they arrive.

use crate::{Budget, Context, Dataset, Error, Scorer, Scores, Selection, Selector, order};

mod cutter;
mod elsewhere;
mod forgetting;
mod method;
mod passes;
mod ranked;
mod returned;
pub(crate) mod state;

pub(crate) use cutter::Cutter;
pub use cutter::Whole;
pub use elsewhere::{AskedPass, RowSums, SummedElsewhere, sum_part};
pub use forgetting::{Alarm, FadingScore};
pub use method::{Arrives, StreamMethod};
pub(crate) use passes::ranked;
pub use passes::{PassSelector, TIMES_IN_MEMORY, Watched, score_parts};
pub use ranked::{RankedStream, RunningScores, SavedRows};
pub use returned::Returned;
pub use state::State;

/// Samples that come in batches of the same features: rows of a file, of a data base, of a machine.
///
/// Every batch lists all classes of the stream and all levels of its categorical features, in one order,
/// including those without samples in the batch.
pub trait SampleStream: Send {
    /// The next samples, at least one of them, or `None` at the end. Whoever sums over them may ask for the
    /// next ones on another thread before it is done with those.
    ///
    /// # Errors
    /// When they cannot be read.
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error>;

    /// Starts again from the first sample; false where a second pass is impossible.
    ///
    /// # Errors
    /// When starting again fails although it is possible in principle.
    fn rewind(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Starts again from the first sample with the next features; false where there are no more. Only a table
    /// that is too wide for all features of a batch to be in memory has its features in parts, and only for
    /// what asks for them: [`score_parts`].
    ///
    /// # Errors
    /// When starting again fails.
    fn next_part(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Starts again from the first sample, with these of all features alone, by increasing number, until it
    /// is called again; no other [part](Self::next_part) comes after that. False where nothing has changed,
    /// since the stream cannot leave features out: the default.
    ///
    /// # Errors
    /// When starting again fails; for a feature that there is not.
    fn take_features(&mut self, features: &[usize]) -> Result<bool, Error> {
        let _ = features;
        Ok(false)
    }

    /// The sums of one pass over all rows from the first, where the rows are not read here but summed where
    /// they are, in parts ([`SummedElsewhere`]). By default there are none, and who asks reads the rows.
    ///
    /// A stream around another one hands the question on, with the sums of what it makes of the rows.
    ///
    /// # Errors
    /// Those of the sums, and of getting them.
    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        let _ = sums;
        Ok(None)
    }

    /// Says what the next [sums](Self::sum_elsewhere) are of, so that they can be taken elsewhere without
    /// those of the passes before: once a method has instructed, it does so before each pass. By default, and
    /// where rows are read here, nobody listens. A stream around another one hands both on.
    fn instruct(&mut self, instructions: Vec<u8>) {
        drop(instructions);
    }

    /// What the method said of the sums that are to be taken of these rows ([`instruct`](Self::instruct)), if
    /// it did. A method that finds instructions sums that pass, and skips all before it.
    fn instructions(&self) -> Option<&[u8]> {
        None
    }
}

/// Starts a second pass.
///
/// # Errors
/// [`Error::Unsupported`] if the stream cannot be rewound; the errors of the stream.
pub fn rewind(stream: &mut dyn SampleStream) -> Result<(), Error> {
    if stream.rewind()? {
        return Ok(());
    }
    Err(Error::Unsupported {
        method: "a stream that cannot be rewound",
        what: "a second pass over the rows".to_owned(),
        instead: "keep the rows in a file or in memory".to_owned(),
    })
}

/// Features that come in groups, for samples that stay. Every group has the same samples and target.
pub trait FeatureStream: Send {
    /// The next features, at least one of them, or `None` at the end.
    ///
    /// # Errors
    /// When they cannot be read.
    fn next_group(&mut self) -> Result<Option<Dataset>, Error>;
}

/// A method that selects while data arrive, and can return a selection at any time.
///
/// The method decides whether samples or features arrive: [`FedBySamples`] or [`FedByFeatures`] turns
/// it into a [`Selector`].
pub trait StreamSelector: Send {
    /// Adds a batch of samples, or a group of features.
    ///
    /// # Errors
    /// When the data or the method's parameters do not allow it.
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error>;

    /// The features chosen from all that has arrived. Features that arrived in groups are numbered from 0 in
    /// the order in which they came.
    ///
    /// # Errors
    /// When the budget or what has arrived does not allow it.
    fn selection(&self, budget: Budget) -> Result<Selection, Error>;

    /// What is kept of all that has arrived.
    fn held(&self) -> Held;

    /// The name of a feature that arrived and is held; `None` where samples arrive, of which every batch has
    /// the names.
    fn name(&self, feature: usize) -> Option<&str> {
        let _ = feature;
        None
    }

    /// Features in a row that are used together, however they arrive: 1 where each is used by itself.
    fn group_width(&self) -> usize {
        1
    }

    /// The last alarm of a stream that watches whether its selection still holds, if there was one.
    fn alarm(&self) -> Option<&Alarm> {
        None
    }

    /// All that is held, as bytes: a stream made in the same way that takes them by
    /// [`restore`](Self::restore) goes on as this one would, bit for bit. They may differ between versions of
    /// this crate. [`stream_state!`](crate::stream_state) writes both functions.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a stream that has no such form.
    fn save(&self) -> Result<Vec<u8>, Error> {
        Err(no_state())
    }

    /// Takes what [`save`](Self::save) returned in place of all that is held.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for the state of another stream, or of one with other options, and for
    /// bytes that are no state: nothing has changed then. [`Error::Unsupported`] as above.
    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        let _ = state;
        Err(no_state())
    }
}

fn no_state() -> Error {
    Error::Unsupported {
        method: "a stream without `save`",
        what: "to go on from a state".to_owned(),
        instead: "leave out the checkpoint, or take another method".to_owned(),
    }
}

/// What a [`StreamSelector`] keeps in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Held {
    /// Number of features whose values, or whose statistics, are kept.
    pub features: usize,
    /// Bytes of these numbers: all that may grow with what arrives, without names and fixed parts.
    pub bytes: usize,
}

impl Held {
    /// This number of features, and of floating-point numbers.
    pub fn new(features: usize, numbers: usize) -> Self {
        Self { features, bytes: numbers.saturating_mul(size_of::<f64>()) }
    }
}

/// A [`Scorer`] by sums over rows, which need not be in memory.
pub trait StreamScorer: Scorer {
    /// The score of every feature: that of [`Scorer::score`] on the same rows in one table, with the same
    /// bits.
    ///
    /// Some methods read the rows twice, and all do if squares of the values overflow.
    ///
    /// # Errors
    /// As [`Scorer::score`]; those of the stream; [`Error::Unsupported`] for a stream that cannot be rewound
    /// where a second pass is needed.
    fn score_stream(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        let mut scores = self.score_part(stream, context)?;
        self.settle(&mut scores);
        Ok(scores)
    }

    /// The scores of the features of `stream`, which may be a part of them ([`score_parts`]): they still have
    /// to be [settled](StreamScorer::settle).
    ///
    /// # Errors
    /// As [`score_stream`](StreamScorer::score_stream).
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error>;

    /// What the scores of all features together decide, such as which of them are equal. By default nothing.
    fn settle(&self, _scores: &mut Scores) {}

    /// Whether the score of a feature depends on its values and the target alone, but for what is
    /// [settled](StreamScorer::settle), so that the features of a table that is too wide may come in parts
    /// ([`score_parts`]). By default it is not said to.
    fn reads_parts(&self) -> bool {
        false
    }

    /// About how many times the bytes of a table its answer from a table in memory takes, with the table: who
    /// limits memory reads the rows in passes where that is too much. By default [`TIMES_IN_MEMORY`].
    fn times_in_memory(&self) -> u64 {
        TIMES_IN_MEMORY
    }

    /// Whether the passes are sums over parts of the rows, which may be taken
    /// [elsewhere](crate::SummedElsewhere). By default they are.
    fn sums_rows(&self) -> bool {
        true
    }
}

/// A [`StreamScorer`] whose sums can also be taken over rows that arrive.
pub trait RunningScorer: StreamScorer {
    /// The sums: [`RankedStream`] makes a [`StreamSelector`] of them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for options that need all rows at once.
    fn running(&self) -> Result<Box<dyn RunningScores>, Error>;

    /// The same score, or one of the same ranking, by sums in which samples can lose weight.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where there are none: the default.
    fn fading(&self) -> Result<FadingScore, Error> {
        Err(FadingScore::missing())
    }
}

/// The rows of a table in memory as a [`SampleStream`].
///
/// A batch is copied, so that it may outlive the table; every column is read once per batch.
pub struct RowBatches<'a> {
    data: &'a Dataset,
    /// Some of its features, where they alone are wanted.
    taken: Option<Dataset>,
    rows: usize,
    next: usize,
}

impl<'a> RowBatches<'a> {
    /// Batches of `rows` samples; the last batch has the remaining ones.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for batches of no rows.
    pub fn new(data: &'a Dataset, rows: usize) -> Result<Self, Error> {
        check_size("rows of a batch", rows)?;
        Ok(Self { data, taken: None, rows, next: 0 })
    }
}

impl SampleStream for RowBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let data = self.taken.as_ref().unwrap_or(self.data);
        let n = data.n_samples();
        let rows = self.next..n.min(self.next.saturating_add(self.rows));
        self.next = rows.end;
        match rows.len() {
            0 => Ok(None),
            len if len == n => Ok(Some(data.clone())),
            _ => data.copy_rows(rows).map(Some),
        }
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.next = 0;
        Ok(true)
    }

    fn take_features(&mut self, features: &[usize]) -> Result<bool, Error> {
        self.taken = Some(self.data.feature_subset(features)?);
        self.rewind()
    }
}

/// The features of a table in memory as a [`FeatureStream`].
pub struct FeatureBatches<'a> {
    data: &'a Dataset,
    groups: std::vec::IntoIter<Vec<usize>>,
}

impl<'a> FeatureBatches<'a> {
    /// The features `groups`, one group after the other.
    pub fn new(data: &'a Dataset, groups: Vec<Vec<usize>>) -> Self {
        Self { data, groups: groups.into_iter() }
    }
}

impl FeatureStream for FeatureBatches<'_> {
    fn next_group(&mut self) -> Result<Option<Dataset>, Error> {
        self.groups.next().map(|group| self.data.feature_subset(&group)).transpose()
    }
}

/// The [`Selector`] that feeds a [`StreamSelector`] the rows of a table, batch by batch.
///
/// A stopped run returns the selection from the rows read so far, with the status of the stop.
///
/// ```
/// # use fewest_core::*;
/// /// Scores features by their largest value so far.
/// #[derive(Default)]
/// struct Largest(Vec<f64>);
///
/// impl StreamSelector for Largest {
///     fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
///         self.0.resize(arrived.n_features(), f64::NEG_INFINITY);
///         let mut values = vec![0.0; arrived.n_samples()];
///         for (j, largest) in self.0.iter_mut().enumerate() {
///             arrived.x().copy_column(j, &mut values)?;
///             *largest = values.iter().copied().fold(*largest, f64::max);
///         }
///         Ok(())
///     }
///     fn selection(&self, budget: Budget) -> Result<Selection, Error> {
///         budget.check(self.0.len())?;
///         let mut order = rank(&self.0, true);
///         if let Budget::Count(k) = budget {
///             order.truncate(k);
///         }
///         let scores = order.iter().map(|&j| self.0[j]).collect();
///         Ok(Selection::new(order, scores, self.0.len(), Status::Converged))
///     }
///     fn held(&self) -> Held {
///         Held::new(self.0.len(), self.0.len())
///     }
/// }
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 7.0, 1.0], vec![2.0, 3.0, 9.0]])?;
/// let selector = FedBySamples::new(|| Ok(Largest::default()), 2)?;
/// let data = Dataset::new(x, Target::None)?;
/// assert_eq!(selector.select(&data, Budget::Count(1), &Context::default())?.order, [1]);
/// # Ok::<(), Error>(())
/// ```
pub struct FedBySamples<F> {
    make: F,
    rows: usize,
}

impl<F> FedBySamples<F> {
    /// Feeds batches of `rows` samples to what `make` returns, anew for every selection.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for batches of no rows.
    pub fn new(make: F, rows: usize) -> Result<Self, Error> {
        check_size("rows of a batch", rows)?;
        Ok(Self { make, rows })
    }
}

impl<F, S> Selector for FedBySamples<F>
where
    F: Fn() -> Result<S, Error> + Send + Sync,
    S: StreamSelector,
{
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One pass over the rows serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let mut selector = (self.make)()?;
        let mut stream = RowBatches::new(data, self.rows)?;
        let mut first_row = 0;
        while let Some(batch) = stream.next_batch()? {
            selector.update(&batch, context).map_err(|error| error.in_rows_from(first_row))?;
            first_row = stream.next;
            context.report("samples", first_row, data.n_samples());
            if first_row < data.n_samples() && context.stopped().is_some() {
                break;
            }
        }
        let all = first_row == data.n_samples();
        let select = |&budget: &Budget| {
            let mut selection = selector.selection(budget)?;
            if let Some(stopped) = context.stopped().filter(|_| !all) {
                selection.status = stopped;
                selection.notes.push(format!("{first_row} of {} samples were seen", data.n_samples()));
            }
            Ok(selection)
        };
        budgets.iter().map(select).collect()
    }
}

/// The [`Selector`] that feeds a [`StreamSelector`] the features of a table, group by group.
///
/// Groups are those of [`Dataset::feature_groups`], by increasing number, where there are some; otherwise
/// they are of `width` features in a row. The result has the feature numbers of the table. A stopped run
/// returns the selection from the features read so far, with the status of the stop.
pub struct FedByFeatures<F> {
    make: F,
    width: usize,
}

impl<F> FedByFeatures<F> {
    /// Feeds groups of features to what `make` returns, anew for every selection.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for groups of no features.
    pub fn new(make: F, width: usize) -> Result<Self, Error> {
        check_size("features of a group", width)?;
        Ok(Self { make, width })
    }

    fn groups(&self, data: &Dataset) -> Result<Vec<Vec<usize>>, Error> {
        let d = data.n_features();
        // With overlapping groups a feature would be added twice.
        data.feature_partition("a stream of features")?;
        Ok(match data.feature_groups() {
            Some(groups) => groups.sets(),
            None => {
                (0..d).step_by(self.width).map(|first| (first..d.min(first + self.width)).collect()).collect()
            }
        })
    }
}

impl<F, S> Selector for FedByFeatures<F>
where
    F: Fn() -> Result<S, Error> + Send + Sync,
    S: StreamSelector,
{
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One pass over the features serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let d = data.n_features();
        budgets.iter().try_for_each(|budget| budget.check(d))?;
        let mut selector = (self.make)()?;
        let groups = self.groups(data)?;
        let arrival = groups.concat();
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let mut stream = FeatureBatches::new(data, groups);
        let mut n_arrived = 0;
        for size in sizes {
            let Some(group) = stream.next_group()? else { break };
            let own = &arrival[n_arrived..n_arrived + size];
            selector.update(&group, context).map_err(|error| error.in_columns(own))?;
            n_arrived += size;
            context.report("features", n_arrived, d);
            if n_arrived < d && context.stopped().is_some() {
                break;
            }
        }
        let select = |&budget: &Budget| {
            // After a stop there may be fewer than requested.
            let within = match budget {
                Budget::Count(k) => Budget::Count(k.min(n_arrived)),
                other => other,
            };
            let mut selection = renumbered(selector.selection(within)?, &arrival);
            selection.n_features = d;
            if let Some(stopped) = context.stopped().filter(|_| n_arrived < d) {
                selection.status = stopped;
                selection.notes.push(format!("{n_arrived} of {d} features were seen"));
            }
            Ok(selection)
        };
        budgets.iter().map(select).collect()
    }
}

/// With `names[j]` for feature `j`.
fn renumbered(mut selection: Selection, names: &[usize]) -> Selection {
    let name = |j: &mut usize| *j = names[*j];
    selection.order.iter_mut().for_each(name);
    selection.related.iter_mut().flatten().for_each(|related| name(&mut related.feature));
    if let Some(path) = &mut selection.path {
        path.entered.iter_mut().for_each(name);
        for point in &mut path.points {
            point.coefficients.iter_mut().for_each(|(j, _)| name(j));
            order::sort_entries(&mut point.coefficients);
        }
    }
    selection
}

fn check_size(name: &'static str, size: usize) -> Result<(), Error> {
    if size == 0 { Err(Error::parameter(name, 0, "at least 1")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
