//! Whole selections: kernels, path, related features.

use criterion::{BenchmarkId, Criterion};
use fewest::core::{Budget, Context, Scorer, Selector};
use fewest::data::synthetic;
use fewest::dependence::{Hsic, HsicLasso, NoccoLasso};

/// Samples and features: few of many, many of few.
const SIZES: [(usize, usize); 2] = [(100, 2000), (2000, 100)];

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dependence");
    group.sample_size(10);
    for (n, d) in SIZES {
        let data = synthetic::data2(n, d, 0).expect("a problem of many features").dataset;
        let context = Context::default();
        let size = format!("n = {n}, d = {d}");
        group.bench_with_input(BenchmarkId::new("hsic", &size), &data, |bencher, data| {
            bencher.iter(|| Hsic::default().score(data, &context).expect("scores"));
        });
        let lassos: [(&str, Box<dyn Selector>); 2] = [
            ("hsic-lasso", Box::new(HsicLasso::default())),
            ("nocco-lasso", Box::new(NoccoLasso::default())),
        ];
        for (name, selector) in lassos {
            group.bench_with_input(BenchmarkId::new(name, &size), &data, |bencher, data| {
                bencher.iter(|| selector.select(data, Budget::Count(10), &context).expect("a selection"));
            });
        }
    }
    group.finish();
}
