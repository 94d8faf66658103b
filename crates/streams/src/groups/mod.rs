//! Features that arrive in groups.

mod cover;
mod gfssf;
mod ogfs;
mod scatter;

use std::borrow::Cow;

use fewest_core::{Budget, Context, Dataset, Error, Groups, Selection, StreamSelector, choice};

use crate::arrivals::{Arrivals, Arrived, select_table};

pub use gfssf::{Gfssf, GfssfStream, GroupCost};
pub use ogfs::{Ogfs, OgfsStream};

choice! {
    /// Which features arrive together.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum ArrivingGroups {
        /// Of a table the groups given with the data, by increasing number; without any, every feature by
        /// itself. Of a stream the features of one update.
        Given = "given" selects_groups,
        /// Features in a row, of a stream however updates hand them over. The last group may have fewer.
        Consecutive {
            /// Features of a group.
            width: usize = 10, Count(1);
        } = "consecutive",
    }
}

impl ArrivingGroups {
    /// Features in a row that are a group, where they come one by one.
    fn width(self) -> usize {
        match self {
            Self::Given => 1,
            Self::Consecutive { width } => width,
        }
    }

    /// Whether a group of so many features is complete, with so many more in the update.
    fn is_complete(self, size: usize, n_more: usize) -> bool {
        match self {
            Self::Given => n_more == 0,
            Self::Consecutive { width } => size >= width,
        }
    }

    /// The table with these groups.
    fn of(self, data: &Dataset) -> Result<Cow<'_, Dataset>, Error> {
        match self {
            Self::Given => Ok(Cow::Borrowed(data)),
            Self::Consecutive { width } => {
                let groups = Groups::partition((0..data.n_features()).map(|j| j / width).collect());
                Ok(Cow::Owned(data.clone().with_feature_groups(groups)?))
            }
        }
    }

    /// The selections of a table whose features arrive in these groups.
    fn select<S: StreamSelector>(
        self,
        make: impl Fn() -> Result<S, Error> + Send + Sync,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        select_table(make, &*self.of(data)?, budgets, context)
    }
}

/// A stream that learns group by group.
trait ByGroups: StreamSelector + Clone {
    /// What its groups are, what is known of the arrivals, and the features of a group that is not complete.
    fn parts(&mut self) -> (ArrivingGroups, &mut Arrivals, &mut Vec<Arrived>);

    /// Uses a group, or returns an error and stays as it was.
    fn learn(&mut self, group: &[Arrived], context: &Context<'_>) -> Result<(), Error>;

    /// Uses the groups that what arrived completes; the rest waits. The group at fault is left out, as far as
    /// it arrived now.
    fn take(&mut self, arrived: Vec<Arrived>, context: &Context<'_>) -> Result<(), Error> {
        let n_new = arrived.len();
        let first_new = arrived.first().map_or(0, |own| own.number);
        for (at, own) in arrived.into_iter().enumerate() {
            let (groups, arrivals, waiting) = self.parts();
            arrivals.done();
            waiting.push(own);
            if !groups.is_complete(waiting.len(), n_new - at - 1) {
                continue;
            }
            let mut group = std::mem::take(waiting);
            if let Err(error) = self.learn(&group, context) {
                let (_, arrivals, waiting) = self.parts();
                arrivals.n_arrived = group.first().map_or(first_new, |own| own.number.max(first_new));
                group.retain(|own| own.number < first_new);
                *waiting = group;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The answer as if the group that waits ended here; `None` where none does.
    fn with_waiting(&self, waiting: &[Arrived], budget: Budget) -> Result<Option<Selection>, Error> {
        if waiting.is_empty() {
            return Ok(None);
        }
        let mut ended = self.clone();
        let (groups, _, unused) = ended.parts();
        let width = groups.width();
        unused.clear();
        ended.learn(waiting, &Context::default())?;
        let mut selection = ended.selection(budget)?;
        selection.notes.push(format!("the last group has {} of {width} features so far", waiting.len()));
        Ok(Some(selection))
    }
}
