//! Data for the tests of linear machines.

use fewest_core::{Budget, Context, Dataset, Selection, Selector};
use fewest_data::{Missing, ReadOptions, Table, Task};

/// A data set of the test kit.
pub(crate) fn read(name: &str, task: Task) -> Dataset {
    let mut options = ReadOptions::with_target("target");
    options.task = task;
    let path = fewest_testkit::datasets::path(name);
    Table::read(&path, &options).unwrap().complete(Missing::DropRows).unwrap().dataset
}

/// The selection of `selector` with all features allowed.
pub(crate) fn all(selector: &dyn Selector, data: &Dataset) -> Selection {
    selector.select(data, Budget::Count(data.n_features()), &Context::default()).unwrap()
}

/// The score of every feature, 0 for those not selected.
pub(crate) fn scores(selection: &Selection) -> Vec<f64> {
    let mut scores = vec![0.0; selection.n_features];
    for (&j, &score) in selection.order.iter().zip(&selection.scores) {
        scores[j] = score;
    }
    scores
}

/// Fails unless both are equal to `tolerance` of the largest.
pub(crate) fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (j, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * largest, "{j}: {a}, expected {b}");
    }
}
