//! Greedy searches for the set of features that depends most on the target.

mod backward;
mod criterion;
mod forward;

use fewest_core::{Budget, Error};

pub use backward::Bahsic;
pub use forward::Fhsic;

/// The number of features wanted, or `None` for as many as the criterion finds right.
fn wanted(budget: Budget, n_features: usize) -> Result<Option<usize>, Error> {
    budget.check(n_features)?;
    match budget {
        Budget::Count(k) => Ok(Some(k)),
        Budget::Auto => Ok(None),
        _ => Err(Error::parameter(
            "threshold",
            "given",
            "left out: the criterion belongs to a set, not to single features; ask for a number of them",
        )),
    }
}
