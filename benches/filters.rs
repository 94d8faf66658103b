//! One filter of each family, and the neighbour search below them.

use criterion::{BenchmarkId, Criterion};
use fewest::core::{Budget, Context, Dataset, Selector, Target};
use fewest::data::synthetic;
use fewest::neighbours::{Coordinate, DistanceMetric, Distances, nearest, nearest_among};
use fewest::registry::{Parameters, Registry};

/// Samples and features: few of many, many of few.
const SIZES: [(usize, usize); 2] = [(100, 2000), (1000, 200)];

/// Statistics, similarity by samples and by a graph, information, repeated features.
const METHODS: [&str; 7] = ["f-score", "relieff", "laplacian", "trace-ratio", "mrmr", "fcbf", "distinct"];

/// The features of a synthetic problem, whose output is above or below its median.
pub(crate) fn classes(n: usize, d: usize) -> Dataset {
    let data = synthetic::data2(n, d, 0).expect("a problem of many features").dataset;
    let Target::Real(outputs) = data.target() else { unreachable!("the problem has a real output") };
    let mut sorted = outputs.output(0).to_vec();
    sorted.sort_by(f64::total_cmp);
    let labels: Vec<bool> = outputs.output(0).iter().map(|value| *value > sorted[n / 2]).collect();
    Dataset::shared(data.shared_x(), Target::from_labels(&labels)).expect("a class a sample")
}

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filters");
    group.sample_size(10);
    let context = Context::default();
    for (n, d) in SIZES {
        let data = classes(n, d);
        for id in METHODS {
            let method = Registry::standard().find(id).expect("a registered method");
            let selector: Box<dyn Selector> =
                method.build(&Parameters::defaults(method)).expect("default parameters").into_selector();
            group.bench_with_input(
                BenchmarkId::new(id, format!("n = {n}, d = {d}")),
                &data,
                |bencher, data| {
                    bencher.iter(|| selector.select(data, Budget::Count(20), &context).expect("a selection"));
                },
            );
        }
    }
    group.finish();
    neighbours(criterion);
}

/// The five nearest neighbours of every sample: as they are found, and from the distances of all pairs.
fn neighbours(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("neighbours");
    group.sample_size(10);
    let context = Context::default();
    for (n, d) in [(20_000, 3), (20_000, 6)] {
        let x = synthetic::data2(n, d, 0).expect("a problem").dataset.shared_x();
        let (metric, coordinates) = (DistanceMetric::SquaredEuclidean, vec![Coordinate::Numeric; d]);
        let fill = |j: usize, out: &mut [f64]| x.copy_column(j, out);
        let distances = Distances::new(metric, n, &coordinates, fill, &context).expect("finite numbers");
        let size = format!("n = {n}, d = {d}");
        group.bench_function(BenchmarkId::new("nearest", &size), |bencher| {
            bencher.iter(|| nearest(&distances, 5, &context).expect("neighbours"));
        });
        group.bench_function(BenchmarkId::new("all pairs", &size), |bencher| {
            bencher.iter(|| {
                let visit = |i: usize, row: &[f64]| nearest_among(row, (0..n).filter(move |j| *j != i), 5);
                distances.map_rows(0..n, &context, visit).expect("neighbours")
            });
        });
    }
    group.finish();
}
