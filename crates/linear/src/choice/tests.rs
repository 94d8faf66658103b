//! Choices of penalties: of runs that are stopped, and of the numbers they are made of.

use fewest_core::{Context, Dataset, DenseColumns, Target};

use super::folds::{Losses, least};
use super::*;
use crate::columns::MOST_BYTES;

/// A ladder whose solution at step `t` has `t` coefficients, of a run that is stopped at one of the steps.
struct Counting<'a> {
    columns: &'a LinearColumns<'a>,
    stopped_at: Option<usize>,
}

struct Counted(usize, Status);

impl Ladder for Counting<'_> {
    type Fit = Counted;

    fn columns(&self) -> &LinearColumns<'_> {
        self.columns
    }

    fn largest(&self) -> f64 {
        1.0
    }

    fn walk(&mut self, lambdas: &[f64], visit: &mut Visit<'_, Self>) -> Result<Option<Status>, Error> {
        for at in 0..lambdas.len() {
            let is_last = self.stopped_at == Some(at);
            let status = if is_last { Status::TimeLimit } else { Status::Converged };
            let go_on = visit(self, Counted(at, status))?;
            if is_last {
                return Ok(Some(status));
            }
            if !go_on {
                break;
            }
        }
        Ok(None)
    }

    fn step(&self, fit: &Counted) -> Step {
        let coefficients = vec![(0..fit.0).map(|j| (j, 1.0)).collect()];
        Step { coefficients, intercepts: Vec::new(), status: fit.1 }
    }

    fn end_with(fit: &mut Counted, status: Status) {
        fit.1 = status;
    }
}

fn with_columns<R>(
    n_features: usize,
    use_it: impl FnOnce(&LinearColumns<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    let column = |j: usize| (0..30).map(|i| ((i * (j + 2)) % 11) as f64).collect::<Vec<f64>>();
    let table: Vec<Vec<f64>> = (0..n_features).map(column).collect();
    let target = Target::real((0..30).map(|i| ((i * i) % 17) as f64).collect())?;
    let data = Dataset::new(DenseColumns::from_columns(&table)?, target)?;
    use_it(&LinearColumns::weighted(&data, "lasso", MOST_BYTES, &Context::default())?)
}

const LAMBDAS: [f64; 5] = [1.0, 0.8, 0.6, 0.4, 0.2];

/// The criterion is least at the second penalty: the answer of a run that was stopped later has that penalty,
/// but not the status of a run that saw all of them. What was not finished is no candidate.
#[test]
fn a_criterion_that_did_not_see_every_penalty_says_so() -> Result<(), Error> {
    with_columns(5, |columns| {
        let deviance = |fitted: &[f64]| if fitted.iter().all(|z| *z == 0.0) { 100.0 } else { 0.0 };
        let likelihood =
            Likelihood { deviance: &deviance, n_observations: 30, what: "samples", n_coefficients: 5 };
        let run =
            |stopped_at| by_information(&mut Counting { columns, stopped_at }, 0.0, &LAMBDAS, &likelihood);
        let whole = run(None)?;
        assert_eq!((whole.fit.0, whole.fit.1, whole.path.points.len()), (1, Status::Converged, 5));
        for stopped_at in [1, 3, 4] {
            let part = run(Some(stopped_at))?;
            assert_eq!(part.fit.1, Status::TimeLimit, "{stopped_at}");
            assert_eq!((part.fit.0, part.path.points.len()), (usize::from(stopped_at > 1), stopped_at));
            assert!(part.note.contains("before the run was stopped"), "{}", part.note);
        }
        Ok(())
    })
}

/// Coefficients of the same size count one by one: the penalty is that of the lasso, not of a fused one.
#[test]
fn every_coefficient_is_a_degree_of_freedom() -> Result<(), Error> {
    with_columns(5, |columns| {
        let likelihood =
            Likelihood { deviance: &|_| 7.0, n_observations: 30, what: "samples", n_coefficients: 5 };
        let found = by_information(&mut Counting { columns, stopped_at: None }, 0.5, &LAMBDAS, &likelihood)?;
        let Some(choice) = found.path.choice else { panic!("no choice") };
        for (k, value) in choice.values.iter().enumerate() {
            let expected = 7.0 + k as f64 * (30.0_f64.ln() + 5.0_f64.ln());
            assert!((value - expected).abs() < 1e-12 * expected, "{k}: {value} {expected}");
        }
        Ok(())
    })
}

/// Half of the samples is the most coefficients a candidate may have: told where that ended the search.
#[test]
fn a_search_that_ends_at_half_of_the_samples_says_so() -> Result<(), Error> {
    with_columns(5, |columns| {
        let run = |n_observations| {
            let likelihood =
                Likelihood { deviance: &|_| 7.0, n_observations, what: "events", n_coefficients: 5 };
            by_information(&mut Counting { columns, stopped_at: None }, 0.0, &LAMBDAS, &likelihood)
        };
        let cut = run(4)?;
        assert!(cut.note.contains("more than 2 coefficients, half of the 4 events"), "{}", cut.note);
        assert_eq!(cut.path.points.len(), 4);
        assert!(!run(8)?.note.contains("half"));
        Ok(())
    })
}

/// Where a cross-validation has chosen, a run that is stopped on the way there, or on the way to the smallest
/// penalty, tells it, too.
#[test]
fn a_path_that_is_cut_says_so() -> Result<(), Error> {
    with_columns(5, |columns| {
        let how = PathChoice {
            criterion: "cross-validated loss".to_owned(),
            values: vec![3.0, 2.0, 1.0, 2.0, 3.0],
            standard_errors: vec![0.1; 5],
            chosen: 2,
        };
        let run = |stopped_at| {
            let choice = Choice { lambdas: LAMBDAS.to_vec(), how: how.clone(), note: String::new() };
            solve(&mut Counting { columns, stopped_at }, choice)
        };
        assert_eq!(run(None)?.fit.1, Status::Converged);
        for (stopped_at, chosen) in [(1, 1), (2, 2), (3, 2)] {
            let part = run(Some(stopped_at))?;
            assert_eq!((part.fit.0, part.fit.1), (chosen, Status::TimeLimit), "{stopped_at}");
            assert_eq!(part.path.choice.is_some(), stopped_at >= 2);
        }
        let fold = fold_losses(&mut Counting { columns, stopped_at: Some(3) }, &LAMBDAS, |_| Losses {
            training: 1.0,
            held_out: 1.0,
        });
        assert_eq!(fold, Err(Error::Stopped { before: CHOSEN }));
        Ok(())
    })
}

#[test]
fn penalties_are_evenly_spaced_and_end_where_they_should() {
    let lambdas = spaced(1.0, 0.01, 3);
    assert!((lambdas[0] - 1.0).abs() < 1e-15 && (lambdas[1] - 0.1).abs() < 1e-15);
    assert_eq!(lambdas[2], 0.01);
    assert_eq!(spaced(1.0, 0.5, 1), [0.5]);
}

#[test]
fn the_first_of_equal_values_is_the_least() {
    assert_eq!(least(&[f64::NAN, 3.0, 1.0, f64::INFINITY, 1.0]), Some(2));
    assert_eq!(least(&[f64::NAN, f64::INFINITY]), None);
}
