//! Batches of one size from batches of any.

use std::collections::VecDeque;
use std::ops::Range;

use super::SampleStream;
use crate::dataset::Gathered;
use crate::{Dataset, Error, FeatureKind, Target};

/// The properties of the first batch, which all batches of a stream must share.
struct Common {
    /// The target of one sample: its kind, its number of outputs, all names of classes.
    target: Target,
    kinds: Vec<FeatureKind>,
}

impl Common {
    fn of(batch: &Dataset) -> Self {
        let kinds = (0..batch.n_features()).map(|j| batch.feature_kind(j).clone()).collect();
        Self { target: batch.target().subset(&[0]), kinds }
    }

    /// [`Error::InvalidParameter`] where `batch`, the one of that `number`, is not like the first.
    fn check(&self, batch: &Dataset, number: usize) -> Result<(), Error> {
        let different = |name: &'static str, found: String, first: String, advice: &str| {
            let found = format!("{found} in batch {number} (counted from 0)");
            Err(Error::parameter(name, found, format!("{first} as in batch 0: {advice}")))
        };
        let (found, first) = (batch.n_features(), self.kinds.len());
        if found != first {
            let advice = "give every batch the same features in one order";
            return different("features of a batch", found.to_string(), first.to_string(), advice);
        }
        let same_target = match (batch.target(), &self.target) {
            (Target::None, Target::None)
            | (Target::Affinity(_), Target::Affinity(_))
            | (Target::Survival(_), Target::Survival(_)) => true,
            (Target::Real(found), Target::Real(first)) => found.n_outputs() == first.n_outputs(),
            (Target::Class(found), Target::Class(first)) => {
                if let Some((found, first)) = first_difference("class", found.names(), first.names()) {
                    let advice = "name all classes in every batch, in one order";
                    return different("classes of a batch", found, first, advice);
                }
                true
            }
            _ => false,
        };
        if !same_target {
            let (found, first) = (batch.target().describe(), self.target.describe());
            return different("target of a batch", found, first, "give every batch the same kind of target");
        }
        for (j, first) in self.kinds.iter().enumerate() {
            let found = batch.feature_kind(j);
            if found == first {
                continue;
            }
            let (found, first) = match (found, first) {
                (FeatureKind::Categorical { levels: found }, FeatureKind::Categorical { levels: first }) => {
                    first_difference("level", found, first).unwrap_or_default()
                }
                _ => (kind_name(found).to_owned(), kind_name(first).to_owned()),
            };
            let found = format!("{found} for `{}` (column {j})", batch.feature_name(j));
            let advice = "give each feature one kind in all batches, with all of its levels in one order";
            return different("kind of a feature", found, first, advice);
        }
        Ok(())
    }
}

/// The first place where two lists of names differ, in words for each; `None` where they are equal.
fn first_difference(what: &str, found: &[String], first: &[String]) -> Option<(String, String)> {
    let longer = found.len().max(first.len());
    let at = (0..longer).find(|&at| found.get(at) != first.get(at))?;
    let words = |names: &[String]| match names.get(at) {
        Some(name) => format!("`{name}` as {what} {at}"),
        None => format!("no {what} {at}"),
    };
    Some((words(found), words(first)))
}

fn kind_name(kind: &FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Numeric => "numeric",
        FeatureKind::Categorical { .. } => "categorical",
    }
}

/// Batches of exactly `rows` rows from batches of any size.
///
/// A batch with other features, classes or levels than the first is an error: its sums could not be combined
/// with those of the others.
pub(crate) struct Cutter {
    rows: usize,
    /// That of the first batch, once it has come.
    common: Option<Common>,
    n_batches: usize,
    /// The first rows that are not returned yet, copied; fewer than `rows`.
    gathered: Gathered,
    /// Batches behind them, with their rows that are not returned yet.
    waiting: VecDeque<(Dataset, Range<usize>)>,
    n_waiting: usize,
}

impl Cutter {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            rows,
            common: None,
            n_batches: 0,
            gathered: Gathered::default(),
            waiting: VecDeque::new(),
            n_waiting: 0,
        }
    }

    pub(crate) fn n_waiting(&self) -> usize {
        self.n_waiting
    }

    /// Checks a batch as [`push`](Self::push) does.
    pub(crate) fn check(&self, batch: &Dataset) -> Result<(), Error> {
        self.common.as_ref().map_or(Ok(()), |common| common.check(batch, self.n_batches))
    }

    /// Takes a batch.
    pub(crate) fn push(&mut self, batch: Dataset) -> Result<(), Error> {
        self.check(&batch)?;
        self.common.get_or_insert_with(|| Common::of(&batch));
        self.n_batches += 1;
        let len = batch.n_samples();
        self.n_waiting += len;
        self.waiting.push_back((batch, 0..len));
        Ok(())
    }

    /// The next rows, if there are enough.
    pub(crate) fn whole(&mut self) -> Result<Option<Dataset>, Error> {
        if self.n_waiting < self.rows { Ok(None) } else { self.take() }
    }

    /// The next rows, fewer where there are not enough.
    fn take(&mut self) -> Result<Option<Dataset>, Error> {
        let wanted = self.rows.min(self.n_waiting);
        // Unchanged, if its size is already right.
        let is_right = |(batch, rows): &(Dataset, Range<usize>)| {
            self.gathered.n_samples() == 0 && rows.len() == wanted && batch.n_samples() == wanted
        };
        if self.waiting.front().is_some_and(is_right) {
            self.n_waiting -= wanted;
            return Ok(self.waiting.pop_front().map(|(batch, _)| batch));
        }
        if let Some((batch, rows)) = self.waiting.front_mut()
            && self.gathered.n_samples() == 0
            && rows.len() > wanted
            && let Some(part) = batch.stretch(rows.start..rows.start + wanted)?
        {
            rows.start += wanted;
            self.n_waiting -= wanted;
            return Ok(Some(part));
        }
        self.gather(wanted)?;
        self.n_waiting -= self.gathered.n_samples();
        self.gathered.take()
    }

    /// Copies rows that wait, up to `wanted` of them in all.
    fn gather(&mut self, wanted: usize) -> Result<(), Error> {
        while let Some((batch, rows)) = self.waiting.front_mut() {
            let taken = rows.len().min(wanted - self.gathered.n_samples());
            if taken == 0 {
                break;
            }
            self.gathered.push(batch, rows.start..rows.start + taken, self.rows)?;
            rows.start += taken;
            if rows.start == rows.end {
                self.waiting.pop_front();
            }
        }
        Ok(())
    }

    /// All rows that wait, which stay, once they were copied by [`compact`](Self::compact).
    pub(crate) fn waiting(&self) -> Result<Option<Dataset>, Error> {
        self.gathered.dataset()
    }

    /// Copies what waits, so that nothing else of the batches is kept.
    pub(crate) fn compact(&mut self) -> Result<(), Error> {
        self.gather(self.rows)
    }
}

/// Batches of exactly so many rows from a stream with batches of any size; the last one has the remaining
/// rows. A batch of the stream that has the right size is passed on, and one with more rows is cut without a
/// copy where its columns lie in memory; others are copied.
pub struct Whole<'a> {
    stream: &'a mut dyn SampleStream,
    cutter: Cutter,
}

impl<'a> Whole<'a> {
    /// Batches of `rows` rows; 0 counts as 1.
    pub fn new(stream: &'a mut dyn SampleStream, rows: usize) -> Self {
        Self { stream, cutter: Cutter::new(rows.max(1)) }
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// Those of the stream; [`Error::InvalidParameter`] for a batch with other features, classes or levels
    /// than the first.
    pub fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        while self.cutter.n_waiting() < self.cutter.rows {
            let Some(batch) = self.stream.next_batch()? else { break };
            self.cutter.push(batch)?;
        }
        self.cutter.take()
    }
}
