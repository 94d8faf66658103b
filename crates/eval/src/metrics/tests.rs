use fewest_core::DenseColumns;
use proptest::prelude::*;

use super::*;
use crate::ClassScores;

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
    close(real(&RootMeanSquaredError, &target, &predicted).unwrap(), 5.0_f64.sqrt() / 2.0);
    close(real(&MeanAbsoluteError, &target, &predicted).unwrap(), 3.0 / 4.0);
    close(real(&QSquared, &target, &predicted).unwrap(), 5.0 / 14.0);
    close(real(&Determination, &target, &predicted).unwrap(), 9.0 / 14.0);
    // Centred: (-2, -1, 0, 3) and (-1.75, 0.25, 0.25, 1.25).
    let correlation = (3.5 - 0.25 + 3.75) / (14.0_f64 * 4.75).sqrt();
    close(real(&Correlation, &target, &predicted).unwrap(), correlation);
    close(real(&SquaredCorrelation, &target, &predicted).unwrap(), correlation * correlation);
}

#[test]
fn undefined_metrics_are_errors_and_constant_predictions_are_not() {
    for metric in [&QSquared as &dyn Metric, &Determination, &Correlation, &SquaredCorrelation] {
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
    close(RootMeanSquaredError.score(&target, &predicted).unwrap(), 2.0_f64.sqrt() / 2.0);
    close(MeanAbsoluteError.score(&target, &predicted).unwrap(), 0.5);
}

/// With one sample a test part, the mean of such values would be 0 for Matthews whatever is predicted.
#[test]
fn one_class_defines_no_comparison_of_classes() {
    for metric in [&Matthews as &dyn Metric, &BalancedAccuracy, &MacroF1] {
        for truth in [&[1, 1][..], &[0]] {
            let predicted = Predictions::Classes(truth.to_vec());
            let error = metric.score(&classes(truth, 2), &predicted).unwrap_err();
            assert!(matches!(error, Error::TooFew { minimum: 2, found: 1, .. }), "{error}");
            assert!(error.to_string().contains("fewer folds"), "{error}");
        }
    }
    assert_eq!(score(&Accuracy, &[1, 1], &[1, 0]), 0.5);
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
        let of_several: [&dyn Metric; 2] = [&BalancedAccuracy, &MacroF1];
        let of_several = of_several.into_iter().filter(|_| target.iter().any(|class| *class != target[0]));
        for metric in [&nmi as &dyn Metric, &ClusteringAccuracy, &Accuracy].into_iter().chain(of_several) {
            prop_assert!((0.0..=1.0).contains(&score(metric, &target, &predicted)));
            prop_assert!((score(metric, &target, &target) - 1.0).abs() < 1e-12);
        }
    }
}

fn scored(classes: Vec<u32>, scores: Vec<(u32, Vec<f64>)>, scoring: ClassScoring) -> Predictions {
    Predictions::Scored(ClassScores { classes, scores, scoring })
}

/// Of the six pairs of a and b, four are in order and one is a tie.
#[test]
fn the_area_counts_pairs() {
    let truth = Target::from_labels(&["a", "b", "a", "b", "b"]);
    let of_b = vec![0.2, 0.3, 0.5, 0.5, 0.9];
    let of_a: Vec<f64> = of_b.iter().map(|score| 1.0 - score).collect();
    let predicted = scored(vec![0; 5], vec![(0, of_a), (1, of_b.clone())], ClassScoring::DecisionValues);
    assert!((AreaUnderCurve.score(&truth, &predicted).unwrap() - 4.5 / 6.0).abs() < 1e-15);
    // Three classes: the mean over each against the rest, by the definition.
    let truth = Target::from_labels(&["a", "a", "b", "b", "c", "c"]);
    let scores: Vec<(u32, Vec<f64>)> = vec![
        (0, vec![0.7, 0.2, 0.3, 0.1, 0.1, 0.2]),
        (1, vec![0.2, 0.5, 0.6, 0.3, 0.2, 0.3]),
        (2, vec![0.1, 0.3, 0.1, 0.6, 0.7, 0.5]),
    ];
    let codes = [0, 0, 1, 1, 2, 2];
    let mut expected = 0.0;
    for (code, values) in &scores {
        let mut wins = 0.0;
        for i in (0..6).filter(|&i| codes[i] == *code) {
            for j in (0..6).filter(|&j| codes[j] != *code) {
                wins += if values[i] > values[j] {
                    1.0
                } else if values[i] == values[j] {
                    0.5
                } else {
                    0.0
                };
            }
        }
        expected += wins / 8.0 / 3.0;
    }
    let predicted = scored(vec![0; 6], scores, ClassScoring::Probabilities);
    assert!((AreaUnderCurve.score(&truth, &predicted).unwrap() - expected).abs() < 1e-15);
    // A class without scores was not learned: its scores say nothing.
    let blind = scored(vec![0; 6], Vec::new(), ClassScoring::DecisionValues);
    assert_eq!(AreaUnderCurve.score(&truth, &blind), Ok(0.5));
    let one = Target::from_labels(&["a", "a", "a", "a", "a", "a"]);
    assert!(matches!(AreaUnderCurve.score(&one, &predicted), Err(Error::TooFew { .. })));
    assert!(AreaUnderCurve.score(&truth, &Predictions::Classes(codes.to_vec())).is_err());
}

#[test]
fn the_logarithmic_loss_is_that_of_the_true_class() {
    let truth = Target::from_labels(&["a", "b", "b"]);
    let scores = vec![(0, vec![0.5, 0.25, 1.0]), (1, vec![0.5, 0.75, 0.0])];
    let predicted = scored(vec![0, 1, 0], scores.clone(), ClassScoring::Probabilities);
    let expected = -(0.5_f64.ln() + 0.75_f64.ln() + f64::EPSILON.ln()) / 3.0;
    assert!((LogLoss.score(&truth, &predicted).unwrap() - expected).abs() < 1e-14);
    let values = scored(vec![0, 1, 0], scores, ClassScoring::DecisionValues);
    assert!(matches!(LogLoss.score(&truth, &values), Err(Error::UnsupportedTarget { .. })));
}

/// For two classes, `(tp tn − fp fn) / √(…)`.
#[test]
fn matthews_is_the_correlation_of_the_classes() {
    let score = |truth: &[u32], predicted: &[u32]| score(&Matthews, truth, predicted);
    // tp 3, tn 2, fp 1, fn 2.
    let (truth, predicted) = ([1, 1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 1, 0, 0]);
    assert!((score(&truth, &predicted) - 4.0 / (4.0_f64 * 5.0 * 3.0 * 4.0).sqrt()).abs() < 1e-15);
    // Three classes: c = 4, s = 6, t = (2, 2, 2), p = (2, 3, 1).
    let three = score(&[0, 0, 1, 1, 2, 2], &[0, 1, 1, 1, 2, 0]);
    assert!((three - 12.0 / (22.0_f64 * 24.0).sqrt()).abs() < 1e-15);
    assert_eq!((score(&truth, &truth), score(&truth, &[1; 8])), (1.0, 0.0));
}
