//! What most programs need: `use fewest::prelude::*`.

pub use fewest_core::{
    Budget, Columns, Context, Dataset, DenseColumns, Error, Ranked, Scorer, Scores, Selection, Selector,
    Status, Target,
};
pub use fewest_data::{Missing, ReadOptions, Table};
#[cfg(feature = "dependence")]
pub use fewest_dependence::{Hsic, HsicLasso, Nocco, NoccoLasso};
