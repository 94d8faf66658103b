//! Whole evaluations: selection, learning and judging in every fold; and learners that choose their
//! parameters.

use criterion::Criterion;
use fewest::core::{Context, Ranked};
use fewest::eval::{Accuracy, Experiment, KFold, Learner, LinearSvm, NaiveBayes, TwinClassifier};
use fewest::filters::statistical::FScore;

use crate::filters::classes;

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evaluation");
    group.sample_size(10);
    let data = classes(200, 1000);
    let selector = Ranked::new(FScore);
    let splitter = KFold { folds: 10, stratified: true };
    let learners: [(&str, &dyn Learner); 2] =
        [("linear-svm", &LinearSvm::default()), ("naive-bayes", &NaiveBayes::default())];
    for (name, learner) in learners {
        let experiment = Experiment {
            label: name.to_owned(),
            selector: &selector,
            learner,
            splitter: &splitter,
            metrics: &[&Accuracy],
            ks: vec![5, 10, 20, 50],
            nested: true,
            prepare: None,
        };
        group.bench_function(format!("f-score, {name}, 10 folds, n = 200, d = 1000"), |bencher| {
            bencher.iter(|| experiment.run(&data, &Context::default()).expect("an evaluation"));
        });
    }
    for (name, learner) in [("twsvm", TwinClassifier::default()), ("tbsvm", TwinClassifier::tbsvm())] {
        let data = classes(100, 10);
        group.bench_function(format!("{name}, n = 100, d = 10"), |bencher| {
            bencher.iter(|| learner.fit(&data, &Context::default()).expect("a model"));
        });
    }
    group.finish();
}
