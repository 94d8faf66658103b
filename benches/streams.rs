//! Features, and samples, that arrive one after the other.

use criterion::Criterion;
use fewest::core::{Budget, Context, Target};
use fewest::data::synthetic;
use fewest::registry::{Parameters, Registry};

/// Method and parameters.
const CASES: [(&str, &[&str]); 11] = [
    ("alpha-investing", &[]),
    ("grafting", &["lambda_ratio=0.3"]),
    ("osfs", &["alpha=0.001"]),
    ("fast-osfs", &["alpha=0.001"]),
    ("fast-osfs", &["alpha=0.001", "test=g2"]),
    ("saola", &["alpha=0.001"]),
    ("ogfs", &["groups=consecutive", "lambda=0.1"]),
    ("gfssf", &["groups=consecutive"]),
    ("ofs", &["kept=10"]),
    ("ofs", &["kept=10", "input=partial"]),
    ("fsds", &[]),
];

/// Samples and features.
const SIZE: (usize, usize) = (500, 2000);

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("streams");
    group.sample_size(10);
    let context = Context::default();
    let (n, d) = SIZE;
    // An output above 0 or not: two classes.
    let data = synthetic::data1(n, d, 0).expect("a problem").dataset;
    let Target::Real(output) = data.target() else { unreachable!("the output is real") };
    let labels: Vec<bool> = output.output(0).iter().map(|value| *value > 0.0).collect();
    let data = data.with_target(Target::from_labels(&labels)).expect("classes");
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
