//! A regression problem, and what every selector of a family must do with strange tables: for the tests of
//! linear models and of the baselines of HSIC Lasso.
#![allow(dead_code, reason = "the tests of several crates use it, each its own part")]

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, Target, derive_seed};
use fewest_testkit::conformance::{check_selector, problem};

/// Selectors by name.
pub(crate) type Selectors = Vec<(&'static str, Box<dyn Selector>)>;

pub(crate) fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

pub(crate) fn standardised(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let deviation = (centred.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    centred.iter().map(|value| value / deviation).collect()
}

/// Twelve features of fifty samples, the target a function of three.
pub(crate) fn columns() -> Vec<Vec<f64>> {
    (0..12).map(|j| noise(50, j)).collect()
}

pub(crate) fn real() -> Vec<f64> {
    let x = columns();
    (0..50).map(|i| 2.0 * x[0][i] + 6.0 * x[3][i] * x[3][i] - x[7][i] + 0.05 * x[11][i]).collect()
}

pub(crate) fn regression() -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns())?, Target::real(real())?)
}

pub(crate) fn three_classes() -> Result<Dataset, Error> {
    let labels: Vec<u8> = real().iter().map(|y| u8::from(*y > 0.2) + u8::from(*y > 0.9)).collect();
    Dataset::new(DenseColumns::from_columns(&columns())?, Target::from_labels(&labels))
}

pub(crate) fn weights(selection: &Selection) -> Vec<f64> {
    let mut weights = vec![0.0; selection.n_features];
    for (&j, &score) in selection.order.iter().zip(&selection.scores) {
        weights[j] = score;
    }
    weights
}

/// The laws of all selectors, with classes and with numbers.
pub(crate) fn every_method_keeps_the_laws_with_classes_too(selectors: &Selectors) {
    for (name, selector) in selectors {
        println!("{name}");
        check_selector(&**selector, &problem(true), 3);
        check_selector(&**selector, &problem(false), 3);
    }
}

/// What is constant is never selected, huge values are answered, and what cannot be answered is an error.
pub(crate) fn hostile_tables_are_answered_or_refused(selectors: &Selectors) -> Result<(), Error> {
    let context = Context::default();
    let constant =
        Dataset::new(DenseColumns::from_columns(&vec![vec![3.0; 8]; 3])?, Target::real(noise(8, 1))?)?;
    let huge: Vec<Vec<f64>> = (0..3).map(|j| noise(8, j).iter().map(|x| x * 1e300).collect()).collect();
    let huge = Dataset::new(DenseColumns::from_columns(&huge)?, Target::real(noise(8, 1))?)?;
    let flat = Dataset::new(DenseColumns::from_columns(&[noise(8, 1)])?, Target::real(vec![1.0; 8])?)?;
    let none = Dataset::new(DenseColumns::from_columns(&[noise(8, 1)])?, Target::None)?;
    let single = Dataset::new(DenseColumns::from_columns(&[vec![1.0]])?, Target::real(vec![1.0])?)?;
    let weighted = regression()?.with_sample_weights(vec![1.0; 50])?;
    for (name, selector) in selectors {
        let none_left = selector.select(&constant, Budget::Count(2), &context)?;
        assert!(none_left.order.is_empty(), "{name}: {:?}", none_left.order);
        let answered = selector.select(&huge, Budget::Count(2), &context)?;
        assert!(
            !answered.order.is_empty() && answered.scores.iter().all(|score| score.is_finite()),
            "{name}"
        );
        for refused in [&flat, &none, &single] {
            assert!(selector.select(refused, Budget::Count(1), &context).is_err(), "{name}");
        }
        // Weights are refused, or of no effect where all are equal.
        match selector.select(&weighted, Budget::Count(1), &context) {
            Err(error) => assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error}"),
            Ok(found) => {
                let plain = selector.select(&regression()?, Budget::Count(1), &context)?;
                assert_eq!((found.order, found.scores), (plain.order, plain.scores), "{name}");
            }
        }
    }
    Ok(())
}

pub(crate) fn a_run_that_is_stopped_at_once_says_so(selectors: &Selectors) -> Result<(), Error> {
    let flag = std::sync::atomic::AtomicBool::new(true);
    let context = Context { interrupt: Some(&flag), ..Context::default() };
    for (name, selector) in selectors {
        let stopped = selector.select(&regression()?, Budget::Count(2), &context);
        assert!(matches!(stopped, Err(Error::Stopped { .. })), "{name}: {stopped:?}");
    }
    Ok(())
}

/// `selector` refuses its parameter `name`.
pub(crate) fn refuses_parameter(name: &str, selector: &dyn Selector, budget: Budget) {
    match regression().and_then(|data| selector.select(&data, budget, &Context::default())) {
        Err(Error::InvalidParameter { name: found, .. }) => assert_eq!(found, name),
        other => panic!("{name}: {other:?}"),
    }
}
