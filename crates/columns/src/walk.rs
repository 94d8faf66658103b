//! A walk over all features.

use std::sync::{Mutex, PoisonError};

use fewest_core::{Column, Context, Dataset, Error};

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
    let mut results = Vec::with_capacity(data.n_features());
    for start in (0..data.n_features()).step_by(BATCH) {
        let batch: Vec<Mutex<Option<Result<T, Error>>>> =
            (start..data.n_features().min(start + BATCH)).map(|_| Mutex::new(None)).collect();
        walk_batch(data, context, start, batch.len(), &|j, column| {
            let result = match column {
                Ok(column) => work(j, column),
                Err(error) => Err(error),
            };
            *batch[j - start].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        })?;
        for result in batch {
            results.extend(result.into_inner().unwrap_or_else(PoisonError::into_inner).transpose()?);
        }
        context.report(stage, results.len(), data.n_features());
    }
    Ok(results)
}

/// `work(j, column)` for the `len` features from `start`, in parallel. What threads share is compiled here
/// once and not for every method: one call through a pointer is nothing beside a column.
fn walk_batch(
    data: &Dataset,
    context: &Context<'_>,
    start: usize,
    len: usize,
    work: &(dyn Fn(usize, Result<Column<'_>, Error>) + Sync),
) -> Result<(), Error> {
    if context.stopped().is_some() {
        return Err(Error::Stopped { before: "every feature had been read" });
    }
    fewest_parallel::map_with(len, |scratch, at| {
        let j = start + at;
        let column = data.x().column(j, scratch).and_then(|column| {
            check_column(data, j, column)?;
            Ok(column)
        });
        work(j, column);
    });
    Ok(())
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
