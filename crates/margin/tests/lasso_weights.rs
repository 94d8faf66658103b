//! The cross-validated lasso.

use crate::common::{self, all, read};
use fewest_core::method::Regularization;

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Status, Target};
use fewest_data::Task;
use fewest_linear::Lasso;
use fewest_margin::LassoWeights;
use fewest_testkit::StopAt;
use fewest_testkit::conformance::{check_selector, problem};

/// Stopped between two folds, those that were done choose; before, there is nothing to choose by.
#[test]
fn a_stopped_run_chooses_by_the_folds_that_were_done() {
    let data = read("auto_mpg.csv", Task::Regression);
    let (mut by_folds, mut before_folds) = (0, 0);
    for number in 1..200 {
        let stop = StopAt::report(number);
        match LassoWeights::default().select(&data, Budget::Count(3), &stop.context(0)) {
            Ok(selection) if selection.status == Status::Interrupted => {
                let has_note = |words: &str| selection.notes.iter().any(|note| note.contains(words));
                // Before any fold is done the path of all samples, as far as it was followed.
                if has_note("stopped before a fold was done") {
                    before_folds += 1;
                    assert!((1..=3).contains(&selection.order.len()));
                } else {
                    by_folds += 1;
                    assert_eq!(selection.order.len(), 3);
                    assert!(has_note("of 5 folds"));
                }
                assert!(selection.solver.unwrap().certificate.value() < 1e-9);
            }
            Ok(selection) => assert_eq!(selection.status, Status::Converged),
            Err(error) => assert!(matches!(error, Error::Stopped { .. }), "{error}"),
        }
    }
    assert!(by_folds > 0 && before_folds > 0, "{by_folds} {before_folds}");
}

#[test]
fn the_weights_are_those_of_the_lasso_at_the_penalty_reported() {
    for (name, task) in [("auto_mpg.csv", Task::Regression), ("wdbc.csv", Task::Classification)] {
        let data = read(name, task);
        let selection = all(&LassoWeights::default(), &data);
        let report = selection.solver.clone().unwrap();
        assert_eq!(selection.status, Status::Converged);
        let regularization = Regularization::Value(report.lambda);
        let lasso = Lasso { regularization, tolerance: 1e-13, ..Lasso::default() };
        let expected = all(&lasso, &data);
        assert_eq!(selection.order, expected.order);
        common::close(&selection.scores, &expected.scores, 1e-7);
    }
}

/// The error of a five-fold cross-validation changes little near its minimum, so the penalty may differ
/// between sets of folds, but not by much. scikit-learn 1.9.1, X and y standardised dividing by n,
/// `LassoCV(cv=KFold(5, shuffle=True, random_state=s), alphas=alpha_max * logspace(0, -3, 100))` over s = 0 …
/// 19 gives alpha from 0.00083 to 0.01793.
#[test]
fn the_penalty_is_in_the_range_of_other_folds() {
    let data = read("auto_mpg.csv", Task::Regression);
    let penalty = |seed: u64, selector: &LassoWeights| {
        let found = selector.select(&data, Budget::Count(7), &Context::seeded(seed)).unwrap();
        found.solver.unwrap().lambda
    };
    for seed in 0..5 {
        let least = penalty(seed, &LassoWeights::default());
        assert!((0.0008..=0.018).contains(&least), "seed {seed}: {least}");
        let larger = penalty(seed, &LassoWeights { one_standard_error: true, ..LassoWeights::default() });
        assert!(larger > 3.0 * least, "seed {seed}: {larger} and {least}");
    }
}

#[test]
fn laws_hold() {
    for classes in [false, true] {
        check_selector(&LassoWeights::default(), &problem(classes), 3);
    }
}

#[test]
fn several_outputs_share_the_penalty() {
    let data = problem(false);
    let Target::Real(real) = data.target() else { panic!("real") };
    let y = real.output(0).to_vec();
    let two = Target::outputs([y.clone(), y].concat(), 40).unwrap();
    let doubled = Dataset::shared(data.shared_x(), two).unwrap();
    let (single, double) = (all(&LassoWeights::default(), &data), all(&LassoWeights::default(), &doubled));
    assert_eq!(single.order, double.order);
    let expected: Vec<f64> = single.scores.iter().map(|score| score.abs() * 2.0_f64.sqrt()).collect();
    common::close(&double.scores, &expected, 1e-9);
}

#[test]
fn noise_alone_may_select_nothing_and_never_panics() {
    for n in [4, 7, 30] {
        let wave = |step: usize| (0..n).map(|i| ((i * step) % (n + 1)) as f64).collect::<Vec<f64>>();
        let target = (0..n).map(|i| f64::from(u8::from(i == 1))).collect();
        let table = DenseColumns::from_columns(&[wave(3), wave(5), wave(2)]).unwrap();
        let data = Dataset::new(table, Target::real(target).unwrap()).unwrap();
        for folds in [2, 4] {
            let selector = LassoWeights {
                regularization: Regularization::CrossValidated { folds },
                ..LassoWeights::default()
            };
            assert!(all(&selector, &data).order.len() <= 3);
        }
        let message = LassoWeights {
            regularization: Regularization::CrossValidated { folds: n + 1 },
            ..LassoWeights::default()
        };
        let error = message.select(&data, Budget::Count(1), &Context::default()).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: "lambda_folds", .. }), "{error}");
    }
}
