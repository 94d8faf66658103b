//! A walk over all features.

use fewest_core::{Column, Context, Dataset, Error};
use rayon::prelude::*;

/// Features handled between two looks at the interruption flag.
const BATCH: usize = 256;

/// `work(j, column)` for every feature, in parallel, in index order; the error of the lowest index wins.
///
/// Every value handed to `work` is finite.
///
/// # Errors
/// [`Error::Unreadable`] of a feature, [`Error::NonFinite`] for the first NaN or infinity, [`Error::Stopped`]
/// when the context says so, and what `work` returns.
pub fn map_features<T: Send>(
    data: &Dataset,
    context: &Context<'_>,
    stage: &'static str,
    work: impl Fn(usize, Column<'_>) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let n_features = data.n_features();
    let mut results = Vec::with_capacity(n_features);
    for start in (0..n_features).step_by(BATCH) {
        if context.stopped().is_some() {
            return Err(Error::Stopped { before: "every feature had its score" });
        }
        let end = n_features.min(start + BATCH);
        let batch: Vec<Result<T, Error>> = (start..end)
            .into_par_iter()
            .map_init(Vec::new, |scratch, j| {
                let column = data.x().column(j, scratch)?;
                check_column(data, j, column)?;
                work(j, column)
            })
            .collect();
        for result in batch {
            results.push(result?);
        }
        context.report(stage, end, n_features);
    }
    Ok(results)
}

/// Whether all values of feature `j`, which `column` holds, are finite.
///
/// # Errors
/// [`Error::NonFinite`] naming the cell.
pub fn check_column(data: &Dataset, j: usize, column: Column<'_>) -> Result<(), Error> {
    match column {
        Column::Dense(values) => data.check_finite(j, values),
        Column::Sparse { rows, values } => match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Error::NonFinite {
                name: format!("`{}`", data.feature_name(j)),
                column: j,
                row: rows[at],
                value: values[at],
            }),
        },
    }
}
