//! Greedy searches for the set of features that depends most on the target.

mod backward;
mod criterion;
mod forward;

use fewest_core::method::KernelWidth;
use fewest_core::{Budget, Context, Dataset, Error};

use crate::OutputKernel;
use criterion::Criterion;

pub use backward::Bahsic;
pub use forward::Fhsic;

/// The number of features [wanted], the criterion, and the features that vary.
fn begin(
    data: &Dataset,
    budget: Budget,
    output: &OutputKernel,
    sigma_x: KernelWidth,
    method: &'static str,
    context: &Context<'_>,
) -> Result<(Option<usize>, Criterion, Vec<usize>), Error> {
    let most = wanted(budget, data.n_features())?;
    let criterion = Criterion::new(data, output, sigma_x, method, context)?;
    let varying = criterion.candidates();
    Ok((most, criterion, varying))
}

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
