//! Selections by support vector machines: weights, non-monotonic, a kernel a feature, elimination; search
//! over learners; and the Dantzig selector, by the linear programs of these machines.

use criterion::Criterion;
use fewest::core::{Budget, Context, Dataset, Target};
use fewest::data::synthetic;
use fewest::registry::{Parameters, Registry};

/// Method and parameters, with the samples and features of the problem.
const CASES: [(&str, &[&str], usize, usize); 17] = [
    ("svm-lw", &[], 200, 100),
    ("l1-svm", &[], 200, 100),
    ("l1-svm", &["loss=hinge", "c=0.05"], 200, 10_000),
    ("fsv", &[], 200, 100),
    ("nmmkl", &[], 200, 100),
    ("mik-fs", &[], 100, 50),
    ("rfmkl", &[], 100, 50),
    ("mkl", &[], 100, 50),
    ("gmkl", &[], 100, 50),
    ("ikpca", &[], 100, 50),
    ("dw-rfe", &["kernel=linear"], 200, 100),
    ("dw-rfe", &[], 200, 20),
    ("sd-l-rfe", &[], 200, 20),
    ("spanb-rfe", &[], 100, 10),
    ("hsic-rfe", &[], 200, 20),
    ("sfs", &[], 100, 20),
    ("dantzig", &["lambda_ratio=0.1"], 500, 20_000),
];

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("machines");
    group.sample_size(10);
    let context = Context::default();
    for (id, params, n, d) in CASES {
        let problem = synthetic::data2(n, d, 0).expect("a problem").dataset;
        let Target::Real(outputs) = problem.target() else { continue };
        let labels: Vec<bool> = outputs.output(0).iter().map(|value| *value > 0.0).collect();
        let data = Dataset::shared(problem.shared_x(), Target::from_labels(&labels)).expect("two classes");
        let method = Registry::standard().find(id).expect("a method");
        let parameters = Parameters::parse(method, params).expect("parameters");
        let selector = method.build(&parameters).expect("a selector").into_selector();
        let name = [&[id], params].concat().join(" ");
        group.bench_function(format!("{name}, n = {n}, d = {d}"), |bencher| {
            bencher.iter(|| selector.select(&data, Budget::Count(5), &context).expect("a selection"));
        });
    }
    group.finish();
}
