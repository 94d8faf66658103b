//! Hilbert-Schmidt feature selection: what it finds, stationarity by its own report, laws of its parameters.

use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Status, Target, derive_seed};
use fewest_dependence::Hsfs;

type Tested = Result<(), Error>;

fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

/// Twenty features, of which 2 and 11 matter together only: each alone tells nothing of the target.
fn parity() -> Result<Dataset, Error> {
    let columns: Vec<Vec<f64>> = (0..20).map(|j| noise(150, j)).collect();
    let labels: Vec<bool> = columns[2].iter().zip(&columns[11]).map(|(a, b)| a * b > 0.0).collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
}

fn additive() -> Result<Dataset, Error> {
    let columns: Vec<Vec<f64>> = (0..20).map(|j| noise(100, j)).collect();
    let y = (0..100).map(|i| 2.0 * columns[4][i] + (6.0 * columns[9][i]).sin()).collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)
}

#[test]
fn finds_features_that_matter_together_only() -> Tested {
    let selection =
        Hsfs { starts: 10, ..Hsfs::default() }.select(&parity()?, Budget::Count(2), &Context::seeded(1))?;
    let mut order = selection.order;
    order.sort_unstable();
    assert_eq!(order, [2, 11], "{:?} {:?}", selection.scores, selection.notes);
    Ok(())
}

#[test]
fn converges_and_tells_what_has_a_weight() -> Tested {
    let method = Hsfs { regularization: Regularization::Value(0.05), ..Hsfs::default() };
    let selection = method.select(&additive()?, Budget::Auto, &Context::default())?;
    let mut first = selection.order[..2].to_vec();
    first.sort_unstable();
    assert_eq!(first, [4, 9]);
    assert!(selection.order.len() < 8, "{:?} {:?}", selection.order, selection.scores);
    assert!(matches!(selection.status, Status::Converged | Status::AlmostConverged), "{:?}", selection.notes);
    assert!(selection.scores.windows(2).all(|pair| pair[0] >= pair[1]));
    Ok(())
}

/// A larger penalty leaves less weight in sum, each being the best of several starts.
#[test]
fn the_penalty_takes_weight_away() -> Tested {
    let data = additive()?;
    let sum = |lambda: f64| -> Result<f64, Error> {
        let method = Hsfs { regularization: Regularization::Value(lambda), ..Hsfs::default() };
        Ok(method.select(&data, Budget::Count(20), &Context::default())?.scores.iter().sum())
    };
    let sums = [sum(0.0)?, sum(0.01)?, sum(0.05)?];
    assert!(sums[0] > sums[1] && sums[1] > sums[2], "{sums:?}");
    Ok(())
}

/// More starts never end higher, and the first of them is the same.
#[test]
fn the_best_start_is_taken() -> Tested {
    let data = parity()?;
    let objective = |starts: usize| -> Result<f64, Error> {
        let method = Hsfs { starts, ..Hsfs::default() };
        let selection = method.select(&data, Budget::Count(2), &Context::seeded(3))?;
        let note = &selection.notes[0];
        let after = note.split("objective ").nth(1).and_then(|rest| rest.split(',').next());
        Ok(after.and_then(|number| number.parse().ok()).expect("the note tells the objective"))
    };
    let values = [objective(1)?, objective(4)?, objective(8)?];
    assert!(values[0] >= values[1] && values[1] >= values[2] && values[2] < -0.1, "{values:?}");
    Ok(())
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads() -> Tested {
    let data = additive()?;
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| Hsfs::default().select(&data, Budget::Count(5), &Context::seeded(2)))
    };
    assert_eq!(run(1)?, run(3)?);
    Ok(())
}

/// A penalty far too large leaves nothing, says what to do, and ends.
#[test]
fn a_large_penalty_leaves_nothing_and_says_so() -> Tested {
    let data = additive()?;
    for lambda in [1e6, 1e9, 1e300] {
        let method = Hsfs { regularization: Regularization::Value(lambda), starts: 2, ..Hsfs::default() };
        let selection = method.select(&data, Budget::Count(5), &Context::default())?;
        assert!(selection.order.is_empty(), "{lambda}: {:?}", selection.scores);
        assert!(selection.notes.iter().any(|note| note.contains("lambda")), "{:?}", selection.notes);
    }
    Ok(())
}
