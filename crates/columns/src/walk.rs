//! A walk over all features.

use fewest_core::{Column, Context, Dataset, Error, Status};

/// Features processed between two reports of progress.
const BATCH: usize = 256;

const STOPPED: Error = Error::Stopped { before: "every feature had been read" };

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
    let all = walk(data, context, stage, work)?;
    let n_features = data.n_features();
    let all: Vec<T> = all.into_iter().map_while(|found| found).collect();
    if all.len() < n_features { Err(STOPPED) } else { Ok(all) }
}

/// [`map_features`] for scores, which a stopped run may have for some features: the others get `unknown`.
/// The status is [`Status::Converged`], or how the run was stopped.
///
/// # Errors
/// As [`map_features`]; [`Error::Stopped`] where no feature has a score.
pub fn score_features<T: Send + Clone>(
    data: &Dataset,
    context: &Context<'_>,
    stage: &'static str,
    unknown: T,
    work: impl Fn(usize, Column<'_>) -> Result<T, Error> + Sync,
) -> Result<(Vec<T>, Status), Error> {
    let found = walk(data, context, stage, |j, column| match work(j, column) {
        Err(Error::Stopped { .. }) if context.stopped().is_some() => Ok(None),
        found => found.map(Some),
    });
    let mut all: Vec<Option<T>> = found?.into_iter().map(Option::flatten).collect();
    all.resize_with(data.n_features(), || None);
    if all.iter().all(Option::is_some) {
        return Ok((all.into_iter().flatten().collect(), Status::Converged));
    }
    if all.iter().all(Option::is_none) {
        return Err(STOPPED);
    }
    let scores = all.into_iter().map(|found| found.unwrap_or_else(|| unknown.clone())).collect();
    Ok((scores, context.stopped().unwrap_or(Status::TimeLimit)))
}

/// What `work` finds, up to the batch in which the walk is stopped; `None` for its features that were not
/// reached.
fn walk<T: Send>(
    data: &Dataset,
    context: &Context<'_>,
    stage: &'static str,
    work: impl Fn(usize, Column<'_>) -> Result<T, Error> + Sync,
) -> Result<Vec<Option<T>>, Error> {
    let mut all = Vec::with_capacity(data.n_features());
    for start in (0..data.n_features()).step_by(BATCH) {
        if context.stopped().is_some() {
            break;
        }
        let len = BATCH.min(data.n_features() - start);
        let results = fewest_parallel::map_with(len, |scratch, at| {
            // Also between two features of a batch: with many samples or classes one is work enough.
            if context.stopped().is_some() {
                return Ok(None);
            }
            let column = data.x().column(start + at, scratch)?;
            check_column(data, start + at, column)?;
            work(start + at, column).map(Some)
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
    use std::sync::atomic::{AtomicBool, Ordering};

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

    /// Stopped within the second of three batches: what is known by then is kept.
    #[test]
    fn scores_that_a_stopped_walk_has_are_kept() -> Result<(), Error> {
        let columns: Vec<Vec<f64>> = (0..600).map(|j| vec![f64::from(j), 0.0]).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let interrupt = AtomicBool::new(false);
        let context = Context { interrupt: Some(&interrupt), ..Context::default() };
        let (scores, status) = score_features(&data, &context, "walk", f64::NAN, |j, _| {
            if j == 300 {
                interrupt.store(true, Ordering::Relaxed);
            }
            Ok(j as f64)
        })?;
        assert_eq!((status, scores.len(), scores[300]), (Status::Interrupted, 600, 300.0));
        assert!((0..256).all(|j| scores[j] == j as f64) && scores[512..].iter().all(|score| score.is_nan()));
        let none = score_features(&data, &context, "walk", f64::NAN, |j, _| Ok(j as f64));
        assert_eq!(none, Err(STOPPED));
        let all = score_features(&data, &Context::default(), "walk", f64::NAN, |j, _| Ok(j as f64))?;
        assert_eq!((all.0[599], all.1), (599.0, Status::Converged));
        Ok(())
    }
}
