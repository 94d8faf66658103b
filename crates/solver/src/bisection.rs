//! The penalty that leaves a number of features, for models without an exact path.

use fewest_core::{Context, Error, Status};

/// Largest number of penalties tried.
const MOST_STEPS: usize = 120;

/// Factor between penalties until there are enough features.
const STEP: f64 = 0.8;

/// Penalties with a smaller relative difference are not distinguished: the tolerance of `solve` would
/// decide.
const CLOSE: f64 = 1e-6;

/// The properties of a solution at a penalty, which a model must provide.
pub trait PenaltyCandidate {
    /// Number of features it selects.
    fn n_features(&self) -> usize;

    /// How the computation ended.
    fn status(&self) -> Status;
}

/// The solution at the smallest penalty found that selects at most `k` features. The penalty decreases from
/// `largest`, which must select few or none, until more than `k` are selected or it is `smallest_ratio` of
/// the largest; then it is bisected. If several features enter at once, so that no penalty selects `k`, it is
/// the solution at the largest penalty found that selects more. `solve` gets a penalty and the previous
/// solution, to start from.
///
/// Also returns how the run was stopped from outside, if it was.
pub fn search<F: PenaltyCandidate>(
    largest: f64,
    smallest_ratio: f64,
    k: usize,
    context: &Context<'_>,
    mut solve: impl FnMut(f64, Option<&F>) -> Result<F, Error>,
) -> Result<(F, Option<Status>), Error> {
    let (mut high, mut low) = (largest, None);
    let mut best = solve(high, None)?;
    // The solution at `low`, and whether it was the last.
    let (mut above, mut is_last): (Option<F>, bool) = (None, false);
    for step in 0..MOST_STEPS {
        let penalty = low.map_or(STEP * high, |low: f64| (high * low).sqrt());
        if penalty < smallest_ratio * largest || low.is_some_and(|low| high <= low * (1.0 + CLOSE)) {
            break;
        }
        let found = match solve(penalty, Some(above.as_ref().filter(|_| is_last).unwrap_or(&best))) {
            // Stopped before this penalty had a solution: the one of an earlier penalty is returned.
            Err(Error::Stopped { .. }) => {
                return Ok((best, Some(context.stopped().unwrap_or(Status::Interrupted))));
            }
            found => found?,
        };
        if let status @ (Status::Interrupted | Status::TimeLimit) = found.status() {
            return Ok((best, Some(status)));
        }
        if found.n_features() > k {
            (low, above, is_last) = (Some(penalty), Some(found), true);
        } else {
            let complete = found.n_features() == k;
            (high, best, is_last) = (penalty, found, false);
            // A smaller penalty would change nothing but the coefficients.
            if complete {
                break;
            }
        }
        context.report("search for the penalty", step + 1, MOST_STEPS);
    }
    let above = above.filter(|_| best.n_features() < k);
    Ok((above.unwrap_or(best), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Found(usize);

    impl PenaltyCandidate for Found {
        fn n_features(&self) -> usize {
            self.0
        }

        fn status(&self) -> Status {
            Status::Converged
        }
    }

    #[test]
    fn a_stop_before_a_penalty_has_a_solution_leaves_the_one_before() -> Result<(), Error> {
        let stopped = || Err(Error::Stopped { before: "the model was fitted" });
        let mut solutions = [Ok(Found(0)), Ok(Found(2)), stopped()].into_iter();
        let solve = |_: f64, _: Option<&Found>| solutions.next().unwrap_or_else(stopped);
        let (found, status) = search(1.0, 1e-3, 5, &Context::default(), solve)?;
        assert_eq!((found.0, status), (2, Some(Status::Interrupted)));
        let never = search(1.0, 1e-3, 5, &Context::default(), |_, _: Option<&Found>| stopped());
        assert!(matches!(never, Err(Error::Stopped { .. })));
        Ok(())
    }
}
