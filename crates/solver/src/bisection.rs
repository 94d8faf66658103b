//! The penalty that leaves a number of features, for models without an exact path.

use std::collections::HashMap;
use std::rc::Rc;

use fewest_core::{Context, Error, Status};

/// Largest number of penalties tried.
const MOST_STEPS: usize = 120;

/// Factor between penalties until there are enough features.
const STEP: f64 = 0.8;

/// Numbers that the shared solutions of several searches may hold: 64 MB.
const MOST_NUMBERS: usize = 1 << 23;

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

/// Solutions that several searches for different numbers of features share.
///
/// Each search goes down the same penalties, and halves an interval in the same way as long as the next half
/// is the same, so that a penalty is always reached from the same solution before it. What is taken from here
/// is what a search of its own would compute again, to the last bit.
pub struct Tried<F> {
    solutions: HashMap<u64, Rc<F>>,
    most: usize,
}

impl<F> Tried<F> {
    /// For `n_searches`, with solutions of `n_coefficients`: as many are kept as there is reasonable memory
    /// for, and none where there is a single search.
    pub fn new(n_searches: usize, n_coefficients: usize) -> Self {
        let most = if n_searches > 1 { MOST_NUMBERS / n_coefficients.max(1) } else { 0 };
        Self { solutions: HashMap::new(), most }
    }

    /// For a single search.
    pub fn none() -> Self {
        Self::new(1, 0)
    }

    /// The solution at `penalty`, by `solve` where it is not known yet.
    fn at(&mut self, penalty: f64, solve: impl FnOnce() -> Result<F, Error>) -> Result<Rc<F>, Error>
    where
        F: PenaltyCandidate,
    {
        if let Some(known) = self.solutions.get(&penalty.to_bits()) {
            return Ok(Rc::clone(known));
        }
        let found = Rc::new(solve()?);
        if self.solutions.len() < self.most && !found.status().is_stopped() {
            self.solutions.insert(penalty.to_bits(), Rc::clone(&found));
        }
        Ok(found)
    }
}

/// The solution at the smallest penalty found that selects at most `k` features. The penalty decreases from
/// `largest`, which must select few or none, until more than `k` are selected or it is `smallest_ratio` of
/// the largest; then it is bisected. If several features enter at once, so that no penalty selects `k`, it is
/// the solution at the largest penalty found that selects more. `solve` gets a penalty and the previous
/// solution, to start from.
///
/// Also returns how the run was stopped from outside, if it was. `tried` has the solutions of earlier
/// searches with the same `largest`, `smallest_ratio` and `solve`.
pub fn search<F: PenaltyCandidate + Clone>(
    largest: f64,
    smallest_ratio: f64,
    k: usize,
    context: &Context<'_>,
    tried: &mut Tried<F>,
    mut solve: impl FnMut(f64, Option<&F>) -> Result<F, Error>,
) -> Result<(F, Option<Status>), Error> {
    let (mut high, mut low) = (largest, None);
    let mut best = tried.at(high, || solve(high, None))?;
    let mut last = Rc::clone(&best);
    let mut above: Option<Rc<F>> = None;
    let mut stopped = None;
    for step in 0..MOST_STEPS {
        let penalty = low.map_or(STEP * high, |low: f64| (high * low).sqrt());
        if penalty < smallest_ratio * largest || low.is_some_and(|low| high <= low * (1.0 + CLOSE)) {
            break;
        }
        let found = match tried.at(penalty, || solve(penalty, Some(&last))) {
            // Stopped before this penalty had a solution: the one of an earlier penalty is returned.
            Err(Error::Stopped { .. }) => {
                stopped = Some(context.stopped().unwrap_or(Status::Interrupted));
                break;
            }
            found => found?,
        };
        if found.status().is_stopped() {
            stopped = Some(found.status());
            break;
        }
        last = Rc::clone(&found);
        if found.n_features() > k {
            (low, above) = (Some(penalty), Some(found));
        } else {
            let complete = found.n_features() == k;
            (high, best) = (penalty, found);
            // A smaller penalty would change nothing but the coefficients.
            if complete {
                break;
            }
        }
        context.report("search for the penalty", step + 1, MOST_STEPS);
    }
    let above = above.filter(|_| stopped.is_none() && best.n_features() < k);
    drop(last);
    Ok((Rc::unwrap_or_clone(above.unwrap_or(best)), stopped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
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
        let (found, status) = search(1.0, 1e-3, 5, &Context::default(), &mut Tried::none(), solve)?;
        assert_eq!((found.0, status), (2, Some(Status::Interrupted)));
        let never =
            search(1.0, 1e-3, 5, &Context::default(), &mut Tried::none(), |_, _: Option<&Found>| stopped());
        assert!(matches!(never, Err(Error::Stopped { .. })));
        Ok(())
    }

    /// What a search finds depends on where each solution started, which is as in a search of its own; and
    /// fewer solutions are computed.
    #[test]
    fn searches_that_share_solutions_find_what_each_finds_alone() -> Result<(), Error> {
        #[derive(Clone, Debug, PartialEq)]
        struct Chain(Vec<f64>);

        impl PenaltyCandidate for Chain {
            fn n_features(&self) -> usize {
                (10.0 / self.0.last().unwrap_or(&f64::INFINITY)) as usize
            }

            fn status(&self) -> Status {
                Status::Converged
            }
        }

        let mut n_solved = 0;
        let mut run = |k: usize, tried: &mut Tried<Chain>| {
            let solve = |penalty: f64, before: Option<&Chain>| {
                n_solved += 1;
                Ok(Chain(before.iter().flat_map(|before| before.0.clone()).chain([penalty]).collect()))
            };
            search(10.0, 1e-4, k, &Context::default(), tried, solve).map(|(found, _)| found)
        };
        let numbers = [40, 3, 7, 8, 9, 100];
        let mut tried = Tried::new(numbers.len(), 1);
        let shared: Vec<Chain> = numbers.iter().map(|&k| run(k, &mut tried)).collect::<Result<_, _>>()?;
        let alone: Vec<Chain> =
            numbers.iter().map(|&k| run(k, &mut Tried::none())).collect::<Result<_, _>>()?;
        assert_eq!(shared, alone);
        let n_tried = tried.solutions.len();
        assert!(2 * n_tried < n_solved - n_tried, "{n_tried} of {n_solved}");
        Ok(())
    }
}
