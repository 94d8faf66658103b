//! Scores that are sums over rows, while rows arrive.

use fewest_columns::{ColumnSums, RunningSums, SafeRunningSums};
use fewest_core::{BATCH_ROWS, Dataset, Error, RunningScores, Scores, State};

use crate::tables::{Bounds, Counts, LevelTable, Numbers};

/// What makes scores of the sums of all features.
type MakeScores<T> = Box<dyn Fn(Vec<T>) -> Result<Scores, Error> + Send>;

/// Scores by sums that may overflow.
pub(crate) struct Running<S: ColumnSums>
where
    S::Sums: Clone + State,
{
    sums: SafeRunningSums<S>,
    is_safe: fn(&S::Sums) -> bool,
    scores: MakeScores<S::Sums>,
}

impl<S: ColumnSums + Send> Running<S>
where
    S::Sums: Clone + State,
{
    pub(crate) fn new(
        sums: S,
        is_safe: fn(&S::Sums) -> bool,
        scores: impl Fn(Vec<S::Sums>) -> Result<Scores, Error> + Send + 'static,
    ) -> Self {
        Self { sums: SafeRunningSums::new(sums), is_safe, scores: Box::new(scores) }
    }
}

impl<S: ColumnSums + Send> RunningScores for Running<S>
where
    S::Sums: Clone + State,
{
    fn check(&self, batch: &Dataset) -> Result<(), Error> {
        self.sums.check(batch)
    }

    fn add(&mut self, batch: &Dataset) -> Result<(), Error> {
        self.sums.add(batch)
    }

    fn scores(&self, last: Option<&Dataset>) -> Result<Scores, Error> {
        (self.scores)(self.sums.total(last, self.is_safe)?)
    }

    fn save(&self, to: &mut Vec<u8>) {
        self.sums.save(to);
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), Error> {
        self.sums.load(from)
    }
}

/// Scores by counts of levels, numbers in bins of equal width over the range of the first
/// [`BATCH_ROWS`] samples. Later values beyond it count in the bins at the ends.
pub(crate) struct RunningTables {
    bins: usize,
    method: &'static str,
    /// The range of every number, and the counts, once a whole batch has come.
    begun: Option<(Vec<Bounds>, RunningSums<Counts>)>,
    scores: TableScores,
}

/// What makes scores of the tables of all features, and of which features are numbers.
type TableScores = Box<dyn Fn(Vec<LevelTable>, &dyn Fn(usize) -> bool) -> Result<Scores, Error> + Send>;

impl RunningTables {
    pub(crate) fn new(
        bins: usize,
        method: &'static str,
        scores: impl Fn(Vec<LevelTable>, &dyn Fn(usize) -> bool) -> Result<Scores, Error> + Send + 'static,
    ) -> Self {
        Self { bins, method, begun: None, scores: Box::new(scores) }
    }

    fn counts(&self, bounds: &[Bounds]) -> RunningSums<Counts> {
        RunningSums::new(Counts::equal_width(bounds, self.bins, self.method))
    }

    fn bounds(batch: &Dataset) -> Result<Vec<Bounds>, Error> {
        RunningSums::new(Numbers).total(Some(batch))
    }
}

fn is_number(bounds: &[Bounds], j: usize) -> bool {
    bounds.get(j).is_some_and(Option::is_some)
}

impl RunningScores for RunningTables {
    fn check(&self, batch: &Dataset) -> Result<(), Error> {
        self.counts(&Self::bounds(batch)?).check(batch)
    }

    fn add(&mut self, batch: &Dataset) -> Result<(), Error> {
        if self.begun.is_none() {
            let bounds = Self::bounds(batch)?;
            let counts = self.counts(&bounds);
            self.begun = Some((bounds, counts));
        }
        self.begun.as_mut().map_or(Ok(()), |(_, counts)| counts.add(batch))
    }

    fn scores(&self, last: Option<&Dataset>) -> Result<Scores, Error> {
        match (&self.begun, last) {
            (Some((bounds, counts)), _) => {
                let mut scores = (self.scores)(counts.total(last)?, &|j| is_number(bounds, j))?;
                if bounds.iter().any(Option::is_some) && (last.is_some() || counts.n_batches() > 1) {
                    scores.notes.push(format!(
                        "bins have equal widths over the range of the first {BATCH_ROWS} samples; values \
                         beyond it are in the bins at its ends"
                    ));
                }
                Ok(scores)
            }
            (None, Some(last)) => {
                let bounds = Self::bounds(last)?;
                (self.scores)(self.counts(&bounds).total(Some(last))?, &|j| is_number(&bounds, j))
            }
            (None, None) => Err(Error::TooFew { what: "samples", minimum: 1, found: 0 }),
        }
    }

    fn save(&self, to: &mut Vec<u8>) {
        self.begun.as_ref().map(|(bounds, _)| bounds.clone()).save(to);
        if let Some((_, counts)) = &self.begun {
            counts.save(to);
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), Error> {
        let bounds: Option<Vec<Bounds>> = State::load(from)?;
        self.begun = match bounds {
            None => None,
            Some(bounds) => {
                let mut counts = self.counts(&bounds);
                counts.load(from)?;
                Some((bounds, counts))
            }
        };
        Ok(())
    }
}
