//! Features that arrive in groups.

mod cover;
mod gfssf;
mod ogfs;

use std::borrow::Cow;

use fewest_core::{Budget, Context, Dataset, Error, Groups, Selection, StreamSelector, choice};

use crate::arrivals::select_table;

pub use gfssf::{Gfssf, GfssfStream, GroupCost};
pub use ogfs::{Ogfs, OgfsStream};

choice! {
    /// Which features of a table arrive together. In a stream these are the features of one update.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum ArrivingGroups {
        /// The groups given with the data, by increasing number; without any, every feature by itself.
        Given = "given" selects_groups,
        /// Features in a row.
        Consecutive {
            /// Features of a group.
            width: usize = 10, Count(1);
        } = "consecutive",
    }
}

impl ArrivingGroups {
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
