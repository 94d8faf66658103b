//! A walk over all features.

use fewest_core::{Column, Context, Dataset, Error};

/// Features processed between two reports of progress.
const BATCH: usize = 256;

const READ: &str = "every feature had been read";

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
    let mut all = Vec::with_capacity(data.n_features());
    for start in (0..data.n_features()).step_by(BATCH) {
        context.go_on(READ)?;
        let len = BATCH.min(data.n_features() - start);
        let results = fewest_parallel::map_with(len, |scratch, at| {
            // Also between two features of a batch: with many samples or classes one is work enough.
            context.go_on(READ)?;
            let column = data.x().column(start + at, scratch)?;
            check_column(data, start + at, column)?;
            work(start + at, column)
        });
        for result in results {
            all.push(result?);
        }
        context.report(stage, start + len, data.n_features());
    }
    Ok(all)
}

/// Whether all values of feature `j`, which `column` holds, are finite.
///
/// # Errors
/// [`Error::NonFinite`] naming the cell.
fn check_column(data: &Dataset, j: usize, column: Column<'_>) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fewest_core::{DenseColumns, Target};

    use super::*;

    /// The walk serves scores and design matrices alike, so its message names neither.
    #[test]
    fn a_walk_that_was_stopped_says_what_had_not_been_done() -> Result<(), Error> {
        let data = Dataset::new(DenseColumns::from_columns(&[vec![1.0, 2.0]])?, Target::None)?;
        let interrupt = AtomicBool::new(true);
        let context = Context { interrupt: Some(&interrupt), ..Context::default() };
        let stopped = map_features(&data, &context, "walk", |j, _| Ok(j));
        assert_eq!(stopped, Err(Error::Stopped { before: "every feature had been read" }));
        assert_eq!(map_features(&data, &Context::default(), "walk", |j, _| Ok(j))?, [0]);
        Ok(())
    }
}
