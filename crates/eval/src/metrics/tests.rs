use fewest_core::DenseColumns;
use proptest::prelude::*;

use super::*;

fn classes(codes: &[u32], n_classes: usize) -> Target {
    Target::classes(codes.to_vec(), (0..n_classes).map(|class| class.to_string()).collect()).unwrap()
}

fn score(metric: &dyn Metric, target: &[u32], predicted: &[u32]) -> f64 {
    let n_classes = target.iter().max().unwrap() + 1;
    metric.score(&classes(target, n_classes as usize), &Predictions::Classes(predicted.to_vec())).unwrap()
}

fn real(metric: &dyn Metric, target: &[f64], predicted: &[f64]) -> Result<f64, Error> {
    metric.score(&Target::real(target.to_vec()).unwrap(), &Predictions::Real(vec![predicted.to_vec()]))
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} and {b}");
}

// sklearn.metrics of scikit-learn 1.9.1: accuracy_score, balanced_accuracy_score, f1_score(average="macro"),
// normalized_mutual_info_score(average_method="max" and "arithmetic").
const TARGET: [u32; 10] = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
const PREDICTED: [u32; 10] = [0, 0, 1, 1, 1, 2, 3, 2, 0, 2];

#[test]
fn values_agree_with_an_independent_implementation() {
    close(score(&Accuracy, &TARGET, &PREDICTED), 0.6);
    close(score(&BalancedAccuracy, &TARGET, &PREDICTED), (2.0 / 3.0 + 0.5 + 2.0 / 3.0) / 3.0);
    // Per class 2·2/(3+3), 2·2/(4+3), 2·2/(3+3) and 0 for the class that does not exist.
    close(score(&MacroF1, &TARGET, &PREDICTED), (2.0 / 3.0 + 4.0 / 7.0 + 2.0 / 3.0) / 4.0);
    close(score(&NormalisedMutualInformation::default(), &TARGET, &PREDICTED), SKLEARN_NMI_MAX);
    let mean = NormalisedMutualInformation { scale: MutualInformationScale::Mean };
    close(score(&mean, &TARGET, &PREDICTED), SKLEARN_NMI_MEAN);
    close(score(&ClusteringAccuracy, &TARGET, &PREDICTED), 0.6);
}

const SKLEARN_NMI_MAX: f64 = 0.3927720022793675;
const SKLEARN_NMI_MEAN: f64 = 0.42954169878661974;

#[test]
fn metrics_of_numbers_by_hand() {
    let (target, predicted) = ([1.0, 2.0, 3.0, 6.0], [1.0, 3.0, 3.0, 4.0]);
    close(real(&MeanSquaredError, &target, &predicted).unwrap(), 5.0 / 4.0);
    close(real(&QSquared, &target, &predicted).unwrap(), 5.0 / 14.0);
    // Centred: (-2, -1, 0, 3) and (-1.75, 0.25, 0.25, 1.25).
    let correlation = (3.5 - 0.25 + 3.75) / (14.0_f64 * 4.75).sqrt();
    close(real(&Correlation, &target, &predicted).unwrap(), correlation);
    close(real(&SquaredCorrelation, &target, &predicted).unwrap(), correlation * correlation);
}

#[test]
fn undefined_metrics_are_errors_and_constant_predictions_are_not() {
    for metric in [&QSquared as &dyn Metric, &Correlation, &SquaredCorrelation] {
        let error = real(metric, &[2.1, 2.1, 2.1], &[1.0, 2.0, 3.0]).unwrap_err();
        assert!(matches!(error, Error::TooFew { .. }), "{error}");
    }
    assert_eq!(real(&Correlation, &[1.0, 2.0], &[0.1, 0.1]).unwrap(), 0.0);
    let target = Target::real(vec![1.0, 2.0]).unwrap();
    let codes = Predictions::Classes(vec![0, 1]);
    assert!(matches!(Accuracy.score(&target, &codes), Err(Error::UnsupportedTarget { .. })));
    assert!(matches!(QSquared.score(&target, &codes), Err(Error::UnsupportedTarget { .. })));
    let short = Predictions::Real(vec![vec![1.0]]);
    assert!(matches!(QSquared.score(&target, &short), Err(Error::ShapeMismatch { .. })));
    let ragged = Predictions::Real(vec![vec![1.0, 2.0], vec![1.0]]);
    assert!(matches!(QSquared.score(&target, &ragged), Err(Error::ShapeMismatch { .. })));
}

#[test]
fn several_outputs_are_averaged() {
    let target = Target::outputs(vec![1.0, 2.0, 5.0, 7.0], 2).unwrap();
    let predicted = Predictions::Real(vec![vec![1.0, 4.0], vec![5.0, 7.0]]);
    close(MeanSquaredError.score(&target, &predicted).unwrap(), 1.0);
}

#[test]
fn redundancy_is_half_the_mean_absolute_correlation() {
    let x = DenseColumns::from_columns(&[
        vec![1.0, 2.0, 3.0, 4.0],
        vec![-2.0, -4.0, -6.0, -8.0],
        vec![1.0, -1.0, -1.0, 1.0],
        vec![5.0; 4],
    ])
    .unwrap();
    close(redundancy_rate(&x, &[0, 1]).unwrap().unwrap(), 0.5);
    close(redundancy_rate(&x, &[2, 0, 1]).unwrap().unwrap(), 1.0 / 6.0);
    close(redundancy_rate(&x, &[0, 1, 3]).unwrap().unwrap(), 1.0 / 6.0);
    assert_eq!(redundancy_rate(&x, &[0]).unwrap(), None);
    assert!(redundancy_rate(&x, &[4]).is_err());
}

/// The best of all assignments, by trying each.
fn by_force(table: &[Vec<usize>], row: usize, used: &mut Vec<bool>) -> usize {
    if row == table.len() {
        return 0;
    }
    let mut best = by_force(table, row + 1, used);
    for j in 0..used.len() {
        if !used[j] {
            used[j] = true;
            best = best.max(table[row][j] + by_force(table, row + 1, used));
            used[j] = false;
        }
    }
    best
}

proptest! {
    #[test]
    fn the_matching_is_optimal(
        (columns, cells) in (1_usize..6, prop::collection::vec(0_usize..9, 30)), rows in 1_usize..6,
    ) {
        let table: Vec<Vec<usize>> = cells.chunks(columns).take(rows.min(30 / columns)).map(<[usize]>::to_vec).collect();
        prop_assume!(table.iter().all(|row| row.len() == columns));
        prop_assert_eq!(matching::best_matching(&table), by_force(&table, 0, &mut vec![false; columns]));
    }

    #[test]
    fn renumbering_clusters_changes_nothing(pairs in prop::collection::vec((0_u32..4, 0_u32..5), 1..40)) {
        let (target, predicted): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let renumbered: Vec<u32> = predicted.iter().map(|&cluster| 1000 - 7 * cluster).collect();
        let nmi = NormalisedMutualInformation::default();
        prop_assert!((score(&nmi, &target, &predicted) - score(&nmi, &target, &renumbered)).abs() < 1e-12);
        prop_assert_eq!(score(&ClusteringAccuracy, &target, &predicted), score(&ClusteringAccuracy, &target, &renumbered));
        prop_assert!((score(&nmi, &target, &target) - 1.0).abs() < 1e-12);
        for metric in [&nmi as &dyn Metric, &ClusteringAccuracy, &Accuracy, &BalancedAccuracy, &MacroF1] {
            prop_assert!((0.0..=1.0).contains(&score(metric, &target, &predicted)));
            prop_assert!((score(metric, &target, &target) - 1.0).abs() < 1e-12);
        }
    }
}
