//! Batches of one size from batches of any.

use std::ops::Range;

use super::SampleStream;
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
    /// Rows that came and are not returned yet.
    waiting: Vec<(Dataset, Range<usize>)>,
    n_waiting: usize,
}

impl Cutter {
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, common: None, n_batches: 0, waiting: Vec::new(), n_waiting: 0 }
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
        self.waiting.push((batch, 0..len));
        Ok(())
    }

    /// The next rows, if there are enough.
    pub(crate) fn whole(&mut self) -> Result<Option<Dataset>, Error> {
        if self.n_waiting < self.rows { Ok(None) } else { self.take() }
    }

    /// The next rows, fewer where there are not enough.
    fn take(&mut self) -> Result<Option<Dataset>, Error> {
        let mut missing = self.rows.min(self.n_waiting);
        if missing == 0 {
            return Ok(None);
        }
        self.n_waiting -= missing;
        let mut parts = Vec::new();
        let mut done = 0;
        for (batch, rows) in &mut self.waiting {
            let taken = missing.min(rows.len());
            parts.push((&*batch, rows.start..rows.start + taken));
            rows.start += taken;
            done += usize::from(rows.start == rows.end);
            missing -= taken;
            if missing == 0 {
                break;
            }
        }
        let whole = match parts.as_slice() {
            // Unchanged, if its size is already right.
            [(batch, rows)] if rows.len() == batch.n_samples() => (*batch).clone(),
            parts => Dataset::put_together(parts)?,
        };
        self.waiting.drain(..done);
        Ok(Some(whole))
    }

    /// All rows that wait, which stay.
    pub(crate) fn waiting(&self) -> Result<Option<Dataset>, Error> {
        let parts: Vec<_> = self.waiting.iter().map(|(batch, rows)| (batch, rows.clone())).collect();
        match parts.is_empty() {
            true => Ok(None),
            false => Dataset::put_together(&parts).map(Some),
        }
    }

    /// Copies what waits, so that nothing else of the batches is kept: a batch is put together with the one
    /// before it that is not larger, so that a row is copied as often as rows can be doubled.
    pub(crate) fn compact(&mut self) -> Result<(), Error> {
        if let Some((batch, rows)) = self.waiting.pop() {
            let mut last = Dataset::put_together(&[(&batch, rows)])?;
            while let Some((before, rows)) = self.waiting.pop_if(|(_, rows)| rows.len() <= last.n_samples()) {
                let len = last.n_samples();
                last = Dataset::put_together(&[(&before, rows), (&last, 0..len)])?;
            }
            let len = last.n_samples();
            self.waiting.push((last, 0..len));
        }
        Ok(())
    }
}

/// The batches of a [`Cutter`] from a stream, the last one with the remaining rows.
pub(crate) struct Whole<'a> {
    stream: &'a mut dyn SampleStream,
    cutter: Cutter,
}

impl<'a> Whole<'a> {
    pub(crate) fn new(stream: &'a mut dyn SampleStream, rows: usize) -> Self {
        Self { stream, cutter: Cutter::new(rows) }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Dataset>, Error> {
        while self.cutter.n_waiting() < self.cutter.rows {
            let Some(batch) = self.stream.next_batch()? else { break };
            self.cutter.push(batch)?;
        }
        self.cutter.take()
    }
}
