use fewest_core::{DenseColumns, FeatureKind, Target};
use proptest::prelude::*;

use super::*;

/// Three overlapping classes in three features, 60 samples; even samples train, odd ones test.
fn blobs() -> (Vec<Vec<f64>>, Vec<u32>) {
    let labels: Vec<u32> = (0..60).map(|i| i * i % 7 % 3).collect();
    let noise = |i: u32, step: u32| f64::from((i * step + 5) % 61) / 30.0 - 1.0;
    let class = |i: u32| f64::from(i * i % 7 % 3);
    let a = (0..60).map(|i| class(i) + 1.3 * noise(i, 11)).collect();
    let b = (0..60).map(|i| 40.0 * (class(i) * 2.0 % 3.0) + 50.0 * noise(i, 17)).collect();
    let c = (0..60).map(|i| 0.01 * noise(i, 23)).collect();
    (vec![a, b, c], labels)
}

fn halves() -> (Dataset, Dataset) {
    let (columns, labels) = blobs();
    let data =
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap();
    let rows = |rest: usize| (0..60).filter(|i| i % 2 == rest).collect::<Vec<usize>>();
    (data.subset(&rows(0)).unwrap(), data.subset(&rows(1)).unwrap())
}

fn predicted(learner: &dyn Learner, train: &Dataset, test: &Dataset) -> Vec<u32> {
    let model = learner.fit(train, &Context::seeded(5)).unwrap();
    match model.predict(test.x()).unwrap() {
        Predictions::Classes(codes) => codes,
        other => panic!("{other:?}"),
    }
}

fn all() -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(DecisionTree::default()),
        Box::new(NaiveBayes::default()),
        Box::new(NearestNeighbours { neighbours: 1 }),
        Box::new(LinearSvm::default()),
        Box::new(KernelLogistic::default()),
    ]
}

#[test]
fn predictions_of_scikit_learn() {
    // scikit-learn 1.9.1 on the same numbers, features standardised by the training half: GaussianNB(),
    // KNeighborsClassifier(5), DecisionTreeClassifier(), LinearSVC(tol=1e-12, max_iter=10**6).
    let (train, test) = halves();
    assert_eq!(predicted(&NaiveBayes::default(), &train, &test), SK_BAYES);
    assert_eq!(predicted(&NearestNeighbours::default(), &train, &test), SK_NEIGHBOURS);
    assert_eq!(predicted(&DecisionTree { max_depth: Some(2), min_leaf: 3 }, &train, &test), SK_TREE);
    assert_eq!(predicted(&LinearSvm { tolerance: 1e-12, ..LinearSvm::default() }, &train, &test), SK_SVM);
    let model =
        LinearSvm { tolerance: 1e-13, ..LinearSvm::default() }.train(&train, &Context::default()).unwrap();
    for (found, expected) in model.weights.concat().iter().zip(SK_WEIGHTS) {
        assert!((found - expected).abs() < 1e-5, "{found} and {expected}");
    }
    // KMeans(3, n_init=1000).inertia_ on the same standardised features.
    let model = KMeans { restarts: 1000, ..KMeans::new(3) }.train(&train, &Context::default()).unwrap();
    assert!((model.inertia - SK_INERTIA).abs() < 1e-9, "{}", model.inertia);
}

#[test]
fn a_tree_finds_splits_between_tied_values() {
    // Only the value separates the classes: 0 has two samples of each class, 1 has two of the second. A
    // split search that skips neighbours of equal class finds nothing here.
    let x = DenseColumns::from_columns(&[vec![0.0, 0.0, 1.0, 1.0, 1.0, 0.0]]).unwrap();
    let data = Dataset::new(x, Target::from_labels(&[0, 1, 1, 1, 1, 0])).unwrap();
    assert_eq!(predicted(&DecisionTree::default(), &data, &data), [0, 0, 1, 1, 1, 0]);
    // XOR: the first split gains nothing.
    let x = DenseColumns::from_columns(&[vec![0.0, 0.0, 1.0, 1.0], vec![0.0, 1.0, 0.0, 1.0]]).unwrap();
    let data = Dataset::new(x, Target::from_labels(&[0, 1, 1, 0])).unwrap();
    assert_eq!(predicted(&DecisionTree::default(), &data, &data), [0, 1, 1, 0]);
    let stump = DecisionTree { max_depth: Some(0), min_leaf: 1 };
    assert_eq!(predicted(&stump, &data, &data), [0; 4]);
    // A level in the middle of the codes, which no single threshold separates.
    let levels = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 2.0, 1.0]]).unwrap();
    let data = Dataset::new(x, Target::from_labels(&[0, 1, 0, 1]))
        .unwrap()
        .with_feature_kinds(vec![FeatureKind::Categorical { levels }])
        .unwrap();
    let stump = DecisionTree { max_depth: Some(1), min_leaf: 1 };
    assert_eq!(predicted(&stump, &data, &data), [0, 1, 0, 1]);
}

/// One split of eight samples: the shares of the classes in both leaves.
#[test]
fn a_tree_gives_the_shares_of_its_leaves() {
    let x = DenseColumns::from_columns(&[(0..8).map(f64::from).collect()]).unwrap();
    let labels = [0, 0, 0, 1, 2, 2, 1, 2];
    let data = Dataset::new(x, Target::from_labels(&labels)).unwrap();
    let tree = DecisionTree { max_depth: Some(1), min_leaf: 4 };
    let model = tree.fit(&data, &Context::default()).unwrap();
    let halves = |low: f64, high: f64| [[low; 4], [high; 4]].concat();
    let expected = vec![(0, halves(0.75, 0.0)), (1, halves(0.25, 0.25)), (2, halves(0.0, 0.75))];
    assert_eq!(model.score_classes(data.x()).unwrap(), expected);
    assert_eq!(predicted(&tree, &data, &data), [0, 0, 0, 0, 2, 2, 2, 2]);
}

#[test]
fn the_gap_of_the_support_vector_machine_bounds_its_objective() {
    let (train, _) = halves();
    let objective = |tolerance: f64| {
        let model =
            LinearSvm { tolerance, ..LinearSvm::default() }.train(&train, &Context::default()).unwrap();
        let Target::Class(classes) = train.target() else { unreachable!() };
        let points = fewest_machines::Encoding::fit(&train).unwrap().encode(train.x()).unwrap();
        let weights = &model.weights[0];
        let mut value = 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        for (i, &code) in classes.codes().iter().enumerate() {
            let sign = if code == 0 { 1.0 } else { -1.0 };
            let sum: f64 = points.point(i).iter().zip(weights).map(|(x, w)| x * w).sum();
            value += (1.0 - sign * (sum + weights[3])).max(0.0).powi(2);
        }
        (value, model.gap * 30.0)
    };
    let (best, _) = objective(1e-13);
    for tolerance in [1e-1, 1e-3, 1e-6] {
        let (value, gap) = objective(tolerance);
        assert!(value >= best - 1e-9 && value <= best + gap + 1e-9, "{value}, {best}, {gap}");
        assert!(gap <= 30.0 * tolerance);
    }
}

#[test]
fn naive_bayes_counts_categories() {
    // Level 1 in 2 of 3 samples of class 0 and in 0 of 3 of class 1, with Laplace 3/5 and 1/5.
    let levels = vec!["a".to_owned(), "b".to_owned()];
    let x = DenseColumns::from_columns(&[vec![1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]).unwrap();
    let data = Dataset::new(x, Target::from_labels(&[0, 0, 0, 1, 1, 1]))
        .unwrap()
        .with_feature_kinds(vec![FeatureKind::Categorical { levels }])
        .unwrap();
    assert_eq!(predicted(&NaiveBayes::default(), &data, &data), [0, 0, 1, 1, 1, 1]);
}

#[test]
fn hostile_input_never_panics() {
    let names = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let columns = || DenseColumns::from_columns(&[vec![1.0, 1.0, 1.0, 9.0], vec![2.0; 4]]).unwrap();
    let cases = [
        // A class with one sample, a class without any, all one class.
        (vec![0, 0, 0, 2], vec![0, 0, 0, 2]),
        (vec![1, 1, 1, 1], vec![1, 1, 1, 1]),
    ];
    for (codes, expected) in cases {
        let data = Dataset::new(columns(), Target::classes(codes, names()).unwrap()).unwrap();
        for learner in all() {
            let found = predicted(&learner, &data, &data);
            if learner.name() == "kernel-logistic" {
                assert!(found.iter().all(|code| expected.contains(code)), "{}: {found:?}", learner.name());
            } else {
                assert_eq!(found, expected, "{}", learner.name());
            }
        }
    }
    // Nothing but constants: the most frequent class.
    let constants = DenseColumns::from_columns(&[vec![2.0; 5]]).unwrap();
    let data = Dataset::new(constants, Target::from_labels(&[0, 1, 1, 1, 0])).unwrap();
    for learner in all().iter().filter(|learner| learner.name() != "nearest-neighbours") {
        assert_eq!(predicted(learner, &data, &data), [1; 5], "{}", learner.name());
    }
    // Huge values are an error, not NaN; so are NaN, the wrong width and the wrong target.
    let huge = DenseColumns::from_columns(&[vec![1e300, -1e300, 1.0, 2.0]]).unwrap();
    let data = Dataset::new(huge, Target::from_labels(&[0, 1, 0, 1])).unwrap();
    for learner in all() {
        match learner.fit(&data, &Context::default()) {
            Ok(model) => assert!(learner.name() == "decision-tree" && model.predict(data.x()).is_ok()),
            Err(error) => assert!(matches!(error, Error::Numerical { .. }), "{}: {error}", learner.name()),
        }
    }
    let (train, test) = halves();
    let broken = DenseColumns::from_columns(&[vec![f64::NAN, 1.0], vec![1.0; 2], vec![1.0; 2]]).unwrap();
    let real = Dataset::new(broken.clone(), Target::real(vec![1.0, 2.0]).unwrap()).unwrap();
    let labelled = Dataset::new(broken.clone(), Target::from_labels(&[0, 1])).unwrap();
    for learner in all() {
        let model = learner.fit(&train, &Context::default()).unwrap();
        assert!(matches!(model.predict(&broken), Err(Error::NonFinite { column: 0, row: 0, .. })));
        let narrow = DenseColumns::new(vec![1.0; 2], 2, 1).unwrap();
        assert!(matches!(model.predict(&narrow), Err(Error::ShapeMismatch { expected: 3, found: 1, .. })));
        assert!(learner.fit(&real, &Context::default()).is_err(), "{}", learner.name());
        let error = learner.fit(&labelled, &Context::default()).err().unwrap();
        assert!(matches!(error, Error::NonFinite { column: 0, row: 0, .. }), "{}: {error}", learner.name());
    }
    let named = |learner: &dyn Learner| match learner.fit(&test, &Context::default()).err() {
        Some(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(named(&NearestNeighbours { neighbours: 0 }), "neighbours");
    assert_eq!(named(&NearestNeighbours { neighbours: 31 }), "neighbours");
    assert_eq!(named(&NaiveBayes { smoothing: 0.0 }), "smoothing");
    assert_eq!(named(&DecisionTree { max_depth: None, min_leaf: 0 }), "min_leaf");
    assert_eq!(named(&LinearSvm { c: -1.0, ..LinearSvm::default() }), "c");
    assert_eq!(named(&KMeans::new(0)), "clusters");
    assert_eq!(named(&KMeans::new(31)), "clusters");
    assert_eq!(named(&KMeans { restarts: 0, ..KMeans::new(2) }), "restarts");
}

#[test]
fn k_means_survives_duplicate_points() {
    let x = DenseColumns::from_columns(&[vec![1.0, 1.0, 1.0, 1.0, 7.0]]).unwrap();
    let data = Dataset::new(x, Target::None).unwrap();
    let model = KMeans::new(4).train(&data, &Context::default()).unwrap();
    assert_eq!(model.inertia, 0.0);
    assert_ne!(model.clusters[0], model.clusters[4]);
}

#[test]
fn nearest_neighbours_average_numbers() {
    let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 10.0, 11.0]]).unwrap();
    let data = Dataset::new(x, Target::real(vec![1.0, 3.0, 5.0, 9.0]).unwrap()).unwrap();
    let model = NearestNeighbours { neighbours: 2 }.fit(&data, &Context::default()).unwrap();
    let unseen = DenseColumns::new(vec![0.4, 12.0], 2, 1).unwrap();
    assert_eq!(model.predict(&unseen).unwrap(), Predictions::Real(vec![vec![2.0, 7.0]]));
}

proptest! {
    #[test]
    fn the_order_of_samples_and_the_scale_of_features_change_nothing(shift in 1_usize..60, scale in 0.01..100.0_f64) {
        // Samples are rotated and one feature is rescaled; test samples keep their predictions.
        let (train, test) = halves();
        let rows: Vec<usize> = (0..30).map(|i| (i + shift) % 30).collect();
        let rotated = train.subset(&rows).unwrap();
        let rescale = |data: &Dataset| {
            let mut columns: Vec<Vec<f64>> =
                (0..3).map(|j| data.x().column(j, &mut Vec::new()).unwrap().to_vec(30)).collect();
            columns[1].iter_mut().for_each(|value| *value *= scale);
            Dataset::new(DenseColumns::from_columns(&columns).unwrap(), data.target().clone()).unwrap()
        };
        // The kernel's parameters are chosen on folds, which depend on the order of samples.
        for learner in all().iter().filter(|learner| learner.name() != "kernel-logistic") {
            let expected = predicted(learner, &train, &test);
            prop_assert_eq!(&predicted(learner, &rescale(&train), &rescale(&test)), &expected);
            if learner.name() != "linear-svm" {
                prop_assert_eq!(&predicted(learner, &rotated, &test), &expected);
            }
        }
    }
}

const SK_BAYES: [u32; 30] =
    [1, 2, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 2, 2, 1, 2, 1, 0, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 2];
const SK_NEIGHBOURS: [u32; 30] =
    [1, 2, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2];
const SK_TREE: [u32; 30] =
    [1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 2];
const SK_SVM: [u32; 30] =
    [1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 2];
const SK_WEIGHTS: [f64; 12] = [
    -0.676477837,
    -0.497812497,
    -0.089572511,
    -0.910539099,
    -0.296571273,
    0.657800904,
    0.053934004,
    0.106082861,
    0.961732195,
    -0.403304686,
    0.003302817,
    -0.663732445,
];
const SK_INERTIA: f64 = 49.51129991157842;

/// A model that gives these scores, whatever its learner says.
struct Promising(Vec<(u32, Vec<f64>)>);

impl Model for Promising {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        Ok(Predictions::Classes(vec![0; x.n_samples()]))
    }

    fn score_classes(&self, _x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        Ok(self.0.clone())
    }
}

/// A learner that promises scores and gives none would get an area of 1/2, as if they said nothing.
#[test]
fn scores_that_are_promised_must_be_given() {
    let (train, _) = halves();
    let scored = |scores| {
        let scoring = ClassScoring::Probabilities;
        predict(&Promising(scores), scoring, ClassScoring::DecisionValues, train.x())
    };
    assert!(matches!(scored(Vec::new()), Err(Error::TooFew { minimum: 1, found: 0, .. })));
    let short = scored(vec![(0, vec![0.5; 30]), (1, vec![0.5; 29])]);
    assert!(matches!(short, Err(Error::ShapeMismatch { expected: 30, found: 29, .. })));
    assert!(matches!(scored(vec![(0, vec![0.5; 30])]), Ok(Predictions::Scored(_))));
}

/// Predictions for a part of the samples after the other are those for all.
#[test]
fn predictions_of_two_parts_are_joined() {
    let scored = |values: &[f64]| {
        let scores = vec![(3, values.to_vec()), (1, values.iter().map(|value| -value).collect())];
        let classes = values.iter().map(|value| u32::from(*value > 0.0)).collect();
        Predictions::Scored(ClassScores::new(classes, scores, ClassScoring::DecisionValues).unwrap())
    };
    assert_eq!(scored(&[1.0, -2.0]).followed_by(scored(&[3.0])), Ok(scored(&[1.0, -2.0, 3.0])));
    let real = |values: &[f64]| Predictions::Real(vec![values.to_vec()]);
    assert_eq!(real(&[1.0]).followed_by(real(&[2.0])), Ok(real(&[1.0, 2.0])));
    assert!(matches!(real(&[1.0]).followed_by(scored(&[1.0])), Err(Error::Unsupported { .. })));
    let two = Predictions::Real(vec![vec![1.0]; 2]);
    assert!(matches!(two.followed_by(real(&[1.0])), Err(Error::ShapeMismatch { expected: 2, found: 1, .. })));
}
