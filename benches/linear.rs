//! Linear models with structure: groups, trees and graphs of features, found by correlation.

use criterion::Criterion;
use fewest::core::{Budget, Context};
use fewest::data::synthetic;
use fewest::registry::{Parameters, Registry};

/// Method and parameters.
const CASES: [(&str, &[&str]); 9] = [
    ("group-lasso", &["groups=correlation", "threshold=0.2"]),
    ("sparse-group-lasso", &["groups=correlation", "threshold=0.2"]),
    ("tree-lasso", &["groups=correlation", "threshold=0.2"]),
    ("fused-lasso", &[]),
    ("graph-lasso", &["threshold=0.2"]),
    ("gflasso", &["threshold=0.2"]),
    ("gflasso", &["threshold=0.2", "power=2"]),
    ("goscar", &["threshold=0.2"]),
    ("oscar", &[]),
];

/// Samples and features.
const SIZE: (usize, usize) = (200, 500);

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("linear");
    group.sample_size(10);
    let context = Context::default();
    let (n, d) = SIZE;
    let data = synthetic::data2(n, d, 0).expect("a problem").dataset;
    for (id, params) in CASES {
        let method = Registry::standard().find(id).expect("a method");
        let parameters = Parameters::parse(method, params).expect("parameters");
        let selector = method.build(&parameters).expect("a selector").into_selector();
        let name = [&[id], params].concat().join(" ");
        group.bench_function(format!("{name}, n = {n}, d = {d}"), |bencher| {
            bencher.iter(|| selector.select(&data, Budget::Count(10), &context).expect("a selection"));
        });
    }
    group.finish();
}
