use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fewest_core::{
    Budget, Column, Columns, DenseColumns, OnDemand, Ranked, Scorer, Scores, Selection, Status,
};

use super::summary::choose_k;
use super::*;
use crate::{
    Accuracy, BalancedAccuracy, HoldOut, KFold, KernelLogistic, KernelRidge, LinearSvm, MeanSquaredError,
    NearestNeighbours, QSquared,
};

/// Scores features by the absolute covariance with the class codes or the first output.
struct Covariance;

impl Scorer for Covariance {
    fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
        let n = data.n_samples();
        let y: Vec<f64> = match data.target() {
            Target::Class(classes) => classes.codes().iter().map(|&code| f64::from(code)).collect(),
            Target::Real(outputs) => outputs.output(0).to_vec(),
            other => panic!("{other:?}"),
        };
        let mean = y.iter().sum::<f64>() / n as f64;
        let score = |j: usize| {
            let values = data.x().column(j, &mut Vec::new()).unwrap().to_vec(n);
            let centre = values.iter().sum::<f64>() / n as f64;
            values.iter().zip(&y).map(|(x, y)| (x - centre) * (y - mean)).sum::<f64>().abs()
        };
        Ok(Scores::descending((0..data.n_features()).map(score).collect()))
    }
}

fn noise(j: usize, i: usize) -> f64 {
    (derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

fn columns(n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..d)
        .map(|j| (0..n).map(|i| noise(j, i) + if j == 4 { (i % 2) as f64 } else { 0.0 }).collect())
        .collect()
}

fn data(n: usize, d: usize) -> Dataset {
    let labels: Vec<usize> = (0..n).map(|i| i % 2).collect();
    Dataset::new(DenseColumns::from_columns(&columns(n, d)).unwrap(), Target::from_labels(&labels)).unwrap()
}

const METRICS: &[&dyn Metric] = &[&Accuracy, &BalancedAccuracy];
const NEAREST: &NearestNeighbours = &NearestNeighbours { neighbours: 3 };
const FOLDS: &KFold = &KFold { folds: 5, stratified: true };

fn experiment<'a>(selector: &'a dyn Selector) -> Experiment<'a> {
    Experiment {
        label: "test".to_owned(),
        selector,
        learner: NEAREST,
        splitter: FOLDS,
        metrics: METRICS,
        ks: vec![3, 1],
        nested: true,
        prepare: None,
    }
}

fn without_seconds(mut evaluation: Evaluation) -> Evaluation {
    for outcome in evaluation.folds.iter_mut().flat_map(|fold| &mut fold.outcomes) {
        (outcome.selection_seconds, outcome.fit_seconds) = (0.0, 0.0);
    }
    evaluation
}

#[test]
fn selection_inside_the_folds_predicts_random_classes_no_better_than_chance() {
    // Classes are random and so are 2000 features. Selected from all samples, the best five predict them
    // well; selected inside the folds, they cannot (Ambroise and McLachlan 2002).
    let (n, d) = (40, 2000);
    let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| noise(j, i)).collect()).collect();
    let labels: Vec<bool> = (0..n).map(|i| noise(d + 1, i) > 0.0).collect();
    let target = Target::from_labels(&labels);
    let honest = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target.clone()).unwrap();
    let selector = Ranked::new(Covariance);
    let splitter = HoldOut { test_fraction: 0.25, repeats: 40, stratified: true };
    let accuracy = |data: &Dataset, k: usize| {
        let experiment = Experiment {
            splitter: &splitter,
            ks: vec![k],
            metrics: &[&BalancedAccuracy],
            ..experiment(&selector)
        };
        experiment.run(data, &Context::seeded(1)).unwrap().summaries()[0].mean
    };
    let chosen = selector.select(&honest, Budget::Count(5), &Context::default()).unwrap().order;
    let leaked: Vec<Vec<f64>> = chosen.iter().map(|&j| columns[j].clone()).collect();
    let leaked = Dataset::new(DenseColumns::from_columns(&leaked).unwrap(), target).unwrap();
    assert!(accuracy(&leaked, 5) > 0.75, "{}", accuracy(&leaked, 5));
    assert!((0.35..0.65).contains(&accuracy(&honest, 5)), "{}", accuracy(&honest, 5));
}

#[test]
fn data_are_prepared_by_the_training_samples_of_each_fold() {
    // Every value becomes the number of training samples: the preparation gets only those, and selector,
    // learner and test samples get its result.
    let (n, d) = (21, 6);
    let prepare = |train: &Dataset, whole: &Dataset| {
        assert_eq!(whole.n_samples(), n);
        let size = train.n_samples() as f64;
        whole.clone().with_x(OnDemand::new(n, d, move |j, out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(i, value)| *value = size + (i * j) as f64);
            Ok(())
        }))
    };
    struct First;
    impl Selector for First {
        fn select(&self, data: &Dataset, _: Budget, _: &Context<'_>) -> Result<Selection, Error> {
            let first = data.x().column(0, &mut Vec::new())?.to_vec(data.n_samples());
            assert!(first.iter().all(|value| *value == data.n_samples() as f64), "{first:?}");
            Ok(Selection::new(vec![0, 1], vec![1.0, 1.0], data.n_features(), Status::Converged))
        }
    }
    let experiment = Experiment {
        prepare: Some(&prepare),
        ks: vec![2],
        splitter: &KFold { folds: 4, stratified: false },
        ..experiment(&First)
    };
    let evaluation = experiment.run(&data(n, d), &Context::seeded(3)).unwrap();
    assert!(evaluation.is_complete());
    let broken = |_: &Dataset, whole: &Dataset| {
        whole.clone().with_x(OnDemand::new(n, d - 1, |_, _: &mut [f64]| Ok(())))
    };
    let error = Experiment { prepare: Some(&broken), ..experiment }
        .run(&data(n, d), &Context::seeded(3))
        .unwrap_err();
    assert!(
        error.to_string().starts_with("fold 0 of 4 (counted from 0), preparing the samples: "),
        "{error}"
    );
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let selector = Ranked::new(Covariance);
    for learner in [&KernelLogistic::default() as &dyn Learner, &LinearSvm::default()] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let experiment = Experiment { learner, ..experiment(&selector) };
            without_seconds(pool.install(|| experiment.run(&data(40, 9), &Context::seeded(2)).unwrap()))
        };
        assert_eq!(run(1), run(4));
    }
}

/// The same table as a dense one, stored sparsely.
struct Sparse {
    columns: Vec<(Vec<usize>, Vec<f64>)>,
    n_samples: usize,
}

impl Columns for Sparse {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, _: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let (rows, values) = &self.columns[j];
        Ok(Column::Sparse { rows, values })
    }
}

#[test]
fn dense_sparse_and_generated_columns_give_the_same_result() {
    let (n, d) = (40, 9);
    let mut dense = columns(n, d);
    dense.iter_mut().flatten().filter(|value| **value < 0.0).for_each(|value| *value = 0.0);
    let compress = |values: &Vec<f64>| -> (Vec<usize>, Vec<f64>) {
        values.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).unzip()
    };
    let sparse = Sparse { columns: dense.iter().map(compress).collect(), n_samples: n };
    let copy = dense.clone();
    let generated = OnDemand::new(n, d, move |j, out: &mut [f64]| {
        out.copy_from_slice(&copy[j]);
        Ok(())
    });
    let target = data(n, d).target().clone();
    let selector = Ranked::new(Covariance);
    let run = |data: Dataset| without_seconds(experiment(&selector).run(&data, &Context::seeded(2)).unwrap());
    let expected = run(Dataset::new(DenseColumns::from_columns(&dense).unwrap(), target.clone()).unwrap());
    assert_eq!(run(Dataset::new(sparse, target.clone()).unwrap()), expected);
    assert_eq!(run(Dataset::new(generated, target).unwrap()), expected);
}

#[test]
fn one_selection_serves_all_numbers_of_features_of_a_ranking() {
    let selector = Ranked::new(Covariance);
    let run = |nested: bool| {
        let experiment = Experiment { nested, ks: vec![1, 2, 5], ..experiment(&selector) };
        without_seconds(experiment.run(&data(40, 9), &Context::seeded(2)).unwrap())
    };
    let (nested, single) = (run(true), run(false));
    assert_eq!(nested.folds, single.folds);
    for fold in &nested.folds {
        assert_eq!((fold.n_train, fold.n_test), (32, 8));
        assert_eq!(fold.outcomes[0].features, [4], "the feature that carries the classes comes first");
        assert_eq!(fold.outcomes[2].features.len(), 5);
        assert!(fold.outcomes[0].redundancy.is_none() && fold.outcomes[1].redundancy.is_some());
    }
}

/// Feature 4 carries the classes: as a covariate it does so beside any selection, once, and is not reported.
#[test]
fn covariates_are_features_of_the_learner_alone() {
    /// The features 2 and 4, or 2 alone.
    struct Given(Vec<usize>);
    impl fewest_core::Selector for Given {
        fn select(&self, data: &Dataset, budget: Budget, _: &Context<'_>) -> Result<Selection, Error> {
            let Budget::Count(k) = budget else { panic!("{budget:?}") };
            let order: Vec<usize> = self.0.iter().copied().take(k).collect();
            let scores = vec![1.0; order.len()];
            Ok(Selection::new(order, scores, data.n_features(), Status::Converged))
        }
    }
    let data = data(60, 9);
    let run = |given: &[usize], ks: &[usize], covariates: &[usize]| {
        let selector = Given(given.to_vec());
        let experiment = Experiment { ks: ks.to_vec(), ..experiment(&selector) };
        let options = RunOptions { covariates, ..RunOptions::default() };
        experiment.run_with(&data, options, &Context::seeded(3)).unwrap()
    };
    let scores = |evaluation: &Evaluation, at: usize| -> Vec<Vec<f64>> {
        evaluation.folds.iter().map(|fold| fold.outcomes[at].scores.clone()).collect()
    };
    let both = run(&[2, 4], &[2], &[]);
    for covariates in [&[4][..], &[4, 4]] {
        let beside = run(&[2], &[1], covariates);
        assert_eq!(scores(&beside, 0), scores(&both, 0));
        assert!(beside.folds.iter().all(|fold| fold.outcomes[0].features == [2]));
    }
    // Selected as well: it counts once, also for the k that leave it out.
    let nested = run(&[2, 4], &[1, 2], &[4]);
    assert_eq!((scores(&nested, 0), scores(&nested, 1)), (scores(&both, 0), scores(&both, 0)));
    // Without a selection there is more to predict from than nothing.
    let none = run(&[], &[1], &[4]);
    assert_eq!(scores(&none, 0), scores(&run(&[4], &[1], &[]), 0));
    let selector = Given(vec![2]);
    let options = RunOptions { covariates: &[9], ..RunOptions::default() };
    let error = experiment(&selector).run_with(&data, options, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("below the number of features, 9"), "{error}");
}

#[test]
fn a_run_continues_from_stored_folds() {
    let selector = Ranked::new(Covariance);
    let data = data(40, 9);
    let context = Context::seeded(2);
    let stored = Mutex::new(Vec::new());
    let keep = |plan: &Plan, record: &FoldRecord| stored.lock().unwrap().push((plan.clone(), record.clone()));
    let whole = experiment(&selector)
        .run_with(&data, RunOptions { on_fold: Some(&keep), ..RunOptions::default() }, &context)
        .unwrap();
    assert_eq!(whole.status(), Status::Converged);
    let stored = stored.into_inner().unwrap();
    assert_eq!(stored.len(), 5);
    // Two folds, through JSON and back.
    let folds = whole.folds.iter().filter(|record| record.fold % 3 == 1).cloned().collect();
    let part = Evaluation { plan: stored[0].0.clone(), folds, out_of_time: false };
    assert_eq!(part.status(), Status::Interrupted);
    let part: Evaluation = serde_json::from_str(&serde_json::to_string(&part).unwrap()).unwrap();
    let again = Mutex::new(Vec::new());
    let count = |_: &Plan, record: &FoldRecord| again.lock().unwrap().push(record.fold);
    let resumed = experiment(&selector)
        .run_with(
            &data,
            RunOptions { finished: Some(&part), on_fold: Some(&count), ..RunOptions::default() },
            &context,
        )
        .unwrap();
    assert_eq!(without_seconds(resumed), without_seconds(whole));
    let mut again = again.into_inner().unwrap();
    again.sort_unstable();
    assert_eq!(again, [0, 2, 3], "finished folds are not run again");
    // Another seed, another label, another number of features, a broken record: not the same experiment.
    let refused = |experiment: &Experiment<'_>, part: &Evaluation, seed: u64| {
        let options = RunOptions { finished: Some(part), ..RunOptions::default() };
        let error = experiment.run_with(&data, options, &Context::seeded(seed)).unwrap_err();
        assert!(
            matches!(error, ExperimentError::Setup(Error::InvalidParameter { name: "finished", .. })),
            "{error}"
        );
    };
    refused(&experiment(&selector), &part, 3);
    refused(&Experiment { label: "other".to_owned(), ..experiment(&selector) }, &part, 2);
    refused(&Experiment { ks: vec![1], ..experiment(&selector) }, &part, 2);
    let mut broken = part;
    broken.folds[0].outcomes.pop();
    refused(&experiment(&selector), &broken, 2);
}

#[test]
fn another_learner_reuses_the_features_of_an_earlier_run() {
    let selector = Ranked::new(Covariance);
    let (data, context) = (data(40, 9), Context::seeded(2));
    for nested in [true, false] {
        let earlier = Experiment { ks: vec![1, 2, 3], nested, ..experiment(&selector) };
        let earlier = earlier.run(&data, &context).unwrap();
        let options = RunOptions { selections: Some(&earlier), ..RunOptions::default() };
        let other = Experiment { learner: &LinearSvm::default(), nested, ..experiment(&selector) };
        let expected = without_seconds(other.run(&data, &context).unwrap());
        // A selector that always fails is not called.
        let broken = FailsWith(columns(40, 9)[0][7]);
        let reusing = Experiment { selector: &broken, ..other };
        assert_eq!(without_seconds(reusing.run_with(&data, options, &context).unwrap()), expected);
        // Other folds, or more features than there are.
        let refused = |result: Result<Evaluation, ExperimentError>| {
            let error = result.unwrap_err();
            let fits =
                matches!(error, ExperimentError::Setup(Error::InvalidParameter { name: "selections", .. }));
            assert!(fits, "{error}");
        };
        refused(reusing.run_with(&data, options, &Context::seeded(3)));
        refused(Experiment { ks: vec![4], ..reusing }.run_with(&data, options, &context));
    }
}

#[test]
fn a_run_without_time_returns_the_finished_folds() {
    let selector = Ranked::new(Covariance);
    let context = Context { deadline: Some(Instant::now()), ..Context::default() };
    let evaluation = experiment(&selector).run(&data(40, 9), &context).unwrap();
    assert_eq!((evaluation.folds.len(), evaluation.status()), (0, Status::TimeLimit));
    assert!(evaluation.summaries().is_empty());
    assert!(matches!(evaluation.choose_k("accuracy", KRule::Best), Err(Error::TooFew { .. })));
    let interrupt = AtomicBool::new(true);
    let context = Context { interrupt: Some(&interrupt), ..Context::default() };
    let evaluation = experiment(&selector).run(&data(40, 9), &context).unwrap();
    assert_eq!(evaluation.status(), Status::Interrupted);
}

/// Fails if feature 0 has this value in a training sample; otherwise selects nothing.
struct FailsWith(f64);

impl Selector for FailsWith {
    fn select(&self, data: &Dataset, _: Budget, _: &Context<'_>) -> Result<Selection, Error> {
        let values = data.x().column(0, &mut Vec::new())?.to_vec(data.n_samples());
        if values.contains(&self.0) {
            return Err(Error::Numerical { what: "the selector", hint: "none".to_owned() });
        }
        Ok(Selection::new(Vec::new(), Vec::new(), data.n_features(), Status::Converged))
    }
}

/// A ranking whose first step tells that all take a thousand hours.
struct Slow;

impl Selector for Slow {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let mut steps = Forecast::start("steps", 1e15);
        std::thread::sleep(Duration::from_micros(10));
        steps.report(1, 2, context);
        Ranked::new(Covariance).select(data, budget, context)
    }
}

/// What is told from inside a fold is how long it takes, once, and of all folds.
#[test]
fn the_first_fold_tells_how_long_all_will_take() {
    #[derive(Default)]
    struct Told(Mutex<Vec<(String, Duration)>>);
    impl Progress for Told {
        fn update(&self, stage: &str, _: u64, _: u64) {
            assert!(stage.starts_with("folds"), "{stage}");
        }

        fn announce(&self, stage: &str, expected: Duration) {
            self.0.lock().unwrap().push((stage.to_owned(), expected));
        }
    }
    let told = Told::default();
    let context = Context { progress: Some(&told), ..Context::default() };
    experiment(&Slow).run(&data(40, 6), &context).unwrap();
    let told = told.0.into_inner().unwrap();
    let of_steps: Vec<_> = told.iter().filter(|(stage, _)| stage == "steps in every fold").collect();
    assert_eq!(of_steps.len(), 1, "{told:?}");
    assert!(of_steps[0].1 > Duration::from_secs(1000), "{told:?}");
}

#[test]
fn a_failing_selector_is_an_error_that_names_the_fold() {
    let data = data(40, 9);
    let splits = FOLDS.splits(&data, derive_seed(2, 0)).unwrap();
    // Sample 7 is in every training part but one.
    let spared = splits.iter().position(|split| split.test.contains(&7)).unwrap();
    let first = if spared == 0 { 1 } else { 0 };
    let selector = FailsWith(columns(40, 9)[0][7]);
    let error = experiment(&selector).run(&data, &Context::seeded(2)).unwrap_err();
    let expected =
        format!("fold {first} of 5 (counted from 0), selecting 3 features: the selector failed numerically");
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn without_any_feature_the_most_frequent_class_or_the_mean_is_predicted() {
    let evaluation = experiment(&FailsWith(99.0)).run(&data(41, 9), &Context::default()).unwrap();
    let accuracies = evaluation.scores(3, "balanced-accuracy").unwrap();
    assert_eq!(accuracies, [0.5; 5]);
    assert!(matches!(evaluation.stability(3), Err(Error::TooFew { .. })));
    assert_eq!(evaluation.summaries()[0].mean_features, 0.0);
    let target = Target::real((0..41).map(f64::from).collect()).unwrap();
    let numbers = Dataset::shared(data(41, 9).shared_x(), target).unwrap();
    let selector = FailsWith(99.0);
    let splitter = KFold { folds: 5, stratified: false };
    let experiment = Experiment {
        learner: &KernelRidge::default(),
        metrics: &[&QSquared, &MeanSquaredError],
        splitter: &splitter,
        ..experiment(&selector)
    };
    let evaluation = experiment.run(&numbers, &Context::default()).unwrap();
    assert!(evaluation.scores(1, "q2").unwrap().iter().all(|q| *q >= 1.0));
}

#[test]
fn impossible_experiments_are_errors() {
    let selector = Ranked::new(Covariance);
    let named = |experiment: Experiment<'_>| match experiment.run(&data(40, 9), &Context::default()) {
        Err(ExperimentError::Setup(Error::InvalidParameter { name, .. })) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(named(Experiment { ks: vec![], ..experiment(&selector) }), "ks");
    assert_eq!(named(Experiment { ks: vec![1, 10], ..experiment(&selector) }), "k");
    assert_eq!(named(Experiment { ks: vec![0], ..experiment(&selector) }), "k");
    assert_eq!(named(Experiment { metrics: &[], ..experiment(&selector) }), "metrics");
    // A missing value that only test samples have is named by its place in the whole table.
    let mut broken = columns(40, 9);
    broken[4][7] = f64::NAN;
    let broken =
        Dataset::new(DenseColumns::from_columns(&broken).unwrap(), data(40, 9).target().clone()).unwrap();
    let splitter = crate::GroupFolds { groups: (0..40).map(|i| usize::from(i == 7)).collect(), folds: None };
    let error = Experiment { splitter: &splitter, ..experiment(&selector) }
        .run(&broken, &Context::default())
        .unwrap_err();
    assert!(error.to_string().contains("sample 7 (counted from 0)"), "{error}");
    // A metric of numbers for classes.
    let error = Experiment { metrics: &[&QSquared], ..experiment(&selector) }
        .run(&data(40, 9), &Context::default())
        .unwrap_err();
    assert!(error.to_string().starts_with("fold 0 of 5 (counted from 0), q2 with 1 feature"), "{error}");
}

/// Folds as given.
struct Given(Vec<Split>);

impl Splitter for Given {
    fn splits(&self, _: &Dataset, _: u64) -> Result<Vec<Split>, Error> {
        Ok(self.0.clone())
    }
}

#[test]
fn folds_of_any_splitter_are_checked() {
    let selector = Ranked::new(Covariance);
    let cases = [
        (vec![], "folds"),
        (vec![Split { train: vec![0, 1], test: vec![] }], "test samples of a fold"),
        (vec![Split { train: vec![], test: vec![1] }], "training samples of a fold"),
        (vec![Split { train: vec![0, 40], test: vec![1] }], "rows of a fold"),
        (vec![Split { train: vec![0, 1], test: vec![2, 1] }], "rows of a fold"),
    ];
    for (splits, expected) in cases {
        let splitter = Given(splits);
        let error = Experiment { splitter: &splitter, ..experiment(&selector) }
            .run(&data(40, 9), &Context::default());
        assert!(error.as_ref().is_err_and(|error| error.to_string().contains(expected)), "{error:?}");
    }
    // All training samples of one class: that class is predicted.
    let one_class = Given(vec![Split {
        train: (0..20).map(|i| 2 * i).collect(),
        test: (0..20).map(|i| 2 * i + 1).collect(),
    }]);
    for learner in [&KernelLogistic::default() as &dyn Learner, &LinearSvm::default(), NEAREST] {
        let metrics: &[&dyn Metric] = &[&Accuracy];
        let experiment = Experiment { splitter: &one_class, learner, metrics, ..experiment(&selector) };
        let evaluation = experiment.run(&data(40, 9), &Context::default()).unwrap();
        assert_eq!(evaluation.scores(1, "accuracy").unwrap(), [0.0], "{}", learner.name());
    }
}

fn summary(k: usize, mean: f64, standard_error: impl Into<Option<f64>>) -> Summary {
    Summary {
        k,
        metric: "accuracy".to_owned(),
        n_folds: 5,
        mean,
        standard_deviation: None,
        standard_error: standard_error.into(),
        redundancy: None,
        mean_features: k as f64,
    }
}

#[test]
fn the_number_of_features_by_rule() {
    let summaries =
        [summary(20, 0.90, 0.02), summary(5, 0.885, 0.5), summary(1, 0.7, 0.01), summary(10, 0.90, 0.03)];
    assert_eq!(choose_k(&summaries, true, KRule::Best), Some(10));
    assert_eq!(choose_k(&summaries, true, KRule::OneStandardError), Some(5));
    assert_eq!(choose_k(&summaries, false, KRule::Best), Some(1));
    assert_eq!(choose_k(&[], true, KRule::Best), None);
    // A single fold has no error: the rule takes the best.
    let single = [summary(5, 0.885, None), summary(10, 0.90, None)];
    assert_eq!(choose_k(&single, true, KRule::OneStandardError), Some(10));
}

/// 67 of 70 hits in ten folds of seven, dealt in three ways: the means differ in their last bits only.
#[test]
fn means_that_rounding_parts_are_equal() {
    let dealt = |k: usize, hits: [u32; 10]| {
        assert_eq!(hits.iter().sum::<u32>(), 67);
        let mean = hits.iter().map(|&hits| f64::from(hits) / 7.0).sum::<f64>() / 10.0;
        summary(k, mean, 0.01)
    };
    let summaries = [
        dealt(20, [6, 6, 7, 7, 7, 7, 7, 7, 7, 6]),
        dealt(5, [6, 6, 6, 7, 7, 7, 7, 7, 7, 7]),
        dealt(100, [7, 7, 7, 7, 6, 6, 6, 7, 7, 7]),
        summary(2, 66.0 / 70.0, 0.01),
    ];
    assert!(summaries[..3].iter().any(|other| other.mean > summaries[1].mean), "what the rule is for");
    assert_eq!(choose_k(&summaries, true, KRule::Best), Some(5));
    assert_eq!(Summary::best(summaries.iter(), true), Some(0), "of equal ones the first");
    let errors: Vec<Summary> =
        summaries.iter().map(|summary| Summary { mean: 1.0 - summary.mean, ..summary.clone() }).collect();
    assert_eq!(choose_k(&errors, false, KRule::Best), Some(5));
    // One hit more is no rounding.
    let more = [summaries[1].clone(), summary(20, 68.0 / 70.0, 0.01)];
    assert_eq!(choose_k(&more, true, KRule::Best), Some(20));
    // Exactly one standard error below is within it, whatever rounding says.
    let edge = [summary(2, 0.3 - 0.1, 0.5), summary(7, 0.3, 0.1)];
    assert_eq!(choose_k(&edge, true, KRule::OneStandardError), Some(2));
    let edge = [summary(2, 0.2, 0.5), summary(7, 0.1 + 0.2, 0.1)];
    assert_eq!(choose_k(&edge, true, KRule::OneStandardError), Some(2));
}

#[test]
fn summaries_and_comparisons_by_hand() {
    let selector = Ranked::new(Covariance);
    let mut first = experiment(&selector).run(&data(40, 9), &Context::seeded(2)).unwrap();
    for (fold, score) in first.folds.iter_mut().zip([0.8, 0.9, 1.0, 0.7, 0.6]) {
        fold.outcomes[0].scores[0] = score;
    }
    let summary = &first.summaries()[0];
    assert_eq!((summary.k, summary.metric.as_str(), summary.n_folds), (1, "accuracy", 5));
    assert!((summary.mean - 0.8).abs() < 1e-12);
    assert!((summary.standard_deviation.unwrap() - 0.025_f64.sqrt()).abs() < 1e-12);
    assert!((summary.standard_error.unwrap() - 0.005_f64.sqrt()).abs() < 1e-12);
    let one_fold = Evaluation { folds: first.folds[..1].to_vec(), ..first.clone() };
    let summary = &one_fold.summaries()[0];
    assert_eq!((summary.standard_deviation, summary.standard_error), (None, None));
    // One feature in common to all folds.
    assert_eq!(first.stability(1).unwrap().phi, 1.0);
    let mut second = first.clone();
    for (fold, score) in second.folds.iter_mut().zip([0.7, 0.9, 0.8, 0.7, 0.5]) {
        fold.outcomes[0].scores[0] = score;
    }
    let comparison = compare(&first, &second, 1, "accuracy").unwrap();
    assert!((comparison.mean_difference - 0.08).abs() < 1e-12);
    assert!(comparison.corrected_t.p_value > comparison.paired_t.p_value);
    // 32 training and 8 test samples: √(1/5 + 1/4) instead of √(1/5).
    let ratio = comparison.paired_t.statistic / comparison.corrected_t.statistic;
    assert!((ratio - 2.25_f64.sqrt()).abs() < 1e-9);
    assert!(compare(&first, &second, 2, "accuracy").is_err() && compare(&first, &second, 1, "q2").is_err());
    second.plan.fingerprint ^= 1;
    assert!(compare(&first, &second, 1, "accuracy").is_err());
}

/// A method that is not nested and counts its calls.
struct Counted(AtomicUsize, AtomicUsize);

impl Selector for Counted {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if let Budget::Count(2) = budget
            && data.n_features() == 7
        {
            return Err(Error::TooFew { what: "features", minimum: 8, found: 7 });
        }
        let mut selection = Ranked::new(Covariance).select(data, budget, context)?;
        if let Budget::Count(k) = budget {
            selection.order.iter_mut().for_each(|j| *j = (*j + k) % data.n_features());
        }
        Ok(selection)
    }

    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.1.fetch_add(1, Ordering::Relaxed);
        budgets.iter().map(|&budget| self.select(data, budget, context)).collect()
    }
}

/// [`Counted`] with the default `select_many`, which selects one by one.
struct Alone(Counted);

impl Selector for Alone {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.0.select(data, budget, context)
    }
}

#[test]
fn features_for_all_ks_of_a_fold_are_selected_in_one_call() {
    let data = data(40, 8);
    let run = |selector: &dyn Selector, ks: &[usize]| {
        let experiment = Experiment { ks: ks.to_vec(), nested: false, ..experiment(selector) };
        without_seconds(experiment.run(&data, &Context::seeded(1)).unwrap())
    };
    let counted = Counted(AtomicUsize::new(0), AtomicUsize::new(0));
    let all = run(&counted, &[1, 2, 5]);
    assert_eq!((counted.0.into_inner(), counted.1.into_inner()), (15, 5));
    let alone = Alone(Counted(AtomicUsize::new(0), AtomicUsize::new(0)));
    assert_eq!(run(&alone, &[1, 2, 5]), all);
    for (at, k) in [1, 2, 5].into_iter().enumerate() {
        for (fold, one) in all.folds.iter().zip(run(&alone, &[k]).folds) {
            assert_eq!(fold.outcomes[at], one.outcomes[0]);
        }
    }
}

#[test]
fn the_number_of_features_that_fails_is_named() {
    let counted = Counted(AtomicUsize::new(0), AtomicUsize::new(0));
    let experiment = Experiment { ks: vec![1, 2, 5], nested: false, ..experiment(&counted) };
    let found = experiment.run(&data(40, 7), &Context::default());
    assert!(matches!(found, Err(ExperimentError::Fold { fold: 0, stage: Stage::Selection { k: 2 }, .. })));
}

/// An exclusive or with a multiplication never spreads the high bits: negating two values left it unchanged.
#[test]
fn a_fingerprint_tells_targets_and_folds_apart() {
    let splits = |test: usize| vec![Split { train: vec![0, 1, 3], test: vec![test] }];
    let of =
        |values: &[f64], test: usize| fingerprint(&splits(test), &Target::real(values.to_vec()).unwrap());
    let targets: Vec<[f64; 4]> = (0..256_u32)
        .map(|bits| [0, 1, 2, 3].map(|i| [1.0, -1.0, 0.0, 2.0][(bits >> (2 * i)) as usize % 4]))
        .collect();
    let mut all: Vec<u64> = targets.iter().flat_map(|values| [of(values, 2), of(values, 4)]).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 512);
    assert_eq!(of(&targets[7], 2), of(&targets[7], 2));
}

/// As many features as the selector decides, beside numbers: nested orders are asked for both.
#[test]
fn the_selector_may_decide_how_many() {
    let data = data(40, 8);
    for nested in [true, false] {
        let asked = Mutex::new(Vec::new());
        let selector = Deciding(&asked);
        let experiment = Experiment { ks: vec![AUTO_K, 4, 1, 2], nested, ..experiment(&selector) };
        let evaluation = experiment.run(&data, &Context::seeded(1)).unwrap();
        assert_eq!(evaluation.plan.ks, [1, 2, 4, AUTO_K]);
        for fold in &evaluation.folds {
            let counts: Vec<usize> = fold.outcomes.iter().map(|outcome| outcome.features.len()).collect();
            assert_eq!(counts, [1, 2, 4, 3]);
        }
        let asked = asked.into_inner().unwrap();
        let expected: &[Budget] = match nested {
            true => &[Budget::Count(4), Budget::Auto],
            false => &[Budget::Count(1), Budget::Count(2), Budget::Count(4), Budget::Auto],
        };
        // Once in each of five folds.
        assert_eq!(asked.len(), 5 * expected.len());
        for budget in expected {
            assert_eq!(asked.iter().filter(|asked| *asked == budget).count(), 5, "{budget:?}");
        }
        let summaries = evaluation.summaries();
        assert_eq!(summaries.last().map(|summary| (summary.k, summary.mean_features)), Some((AUTO_K, 3.0)));
    }
    // Of equal means the fewest features are chosen: three are fewer than four, and more than two.
    let summary = |k: usize, mean: f64, mean_features: f64| Summary {
        k,
        metric: "m".to_owned(),
        n_folds: 2,
        mean,
        standard_deviation: Some(0.0),
        standard_error: Some(0.0),
        redundancy: None,
        mean_features,
    };
    let of = |two: f64| [summary(2, two, 2.0), summary(4, 0.5, 4.0), summary(AUTO_K, 0.5, 3.0)];
    assert_eq!(choose_k(&of(0.4), true, KRule::Best), Some(AUTO_K));
    assert_eq!(choose_k(&of(0.5), true, KRule::Best), Some(2));
}

/// Takes the first features: three, where it is to decide.
struct Deciding<'a>(&'a Mutex<Vec<Budget>>);

impl Selector for Deciding<'_> {
    fn select(&self, data: &Dataset, budget: Budget, _: &Context<'_>) -> Result<Selection, Error> {
        self.0.lock().unwrap().push(budget);
        let k = budget.count(&[]).unwrap_or(3);
        Ok(Selection::new((0..k).collect(), vec![1.0; k], data.n_features(), Status::Converged))
    }
}
