//! One feature: the exponential, Gram matrices, low-rank factors, HSIC.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use fewest::data::synthetic;
use fewest::kernels::{
    Factor, Gaussian, Gram, Interpolated, Pair, ScalarKernel, SharedFactor, Sigmoid, TableGaussian,
    centred_packed, packed_len,
};

/// Relative trace error of low-rank factors, the default of the selectors.
const TOLERANCE: f64 = 1e-8;

pub(crate) fn benches(criterion: &mut Criterion) {
    exponential(criterion);
    gram(criterion);
    factor(criterion);
    quadratic_form(criterion);
    hsic(criterion);
}

/// `n` standard normal values.
fn feature(n: usize, j: usize) -> Vec<f64> {
    let problem = synthetic::data2_on_demand(n, 4, 0).expect("a problem of four features");
    let mut values = vec![0.0; n];
    problem.dataset.x().copy_column(j, &mut values).expect("generated");
    values
}

fn gaussian() -> Gaussian {
    Gaussian::new(1.0).expect("a width above 0")
}

/// A row of a Gaussian Gram matrix: vectorised, by the standard library, and from the paper's table of 4096
/// values.
fn exponential(criterion: &mut Criterion) {
    let n = 4096;
    let points = feature(n, 0);
    let table = TableGaussian::new(1.0).expect("a width above 0");
    let gaussian = Gaussian::new(1.0).expect("a width above 0");
    let mut out = vec![0.0; n];
    let mut group = criterion.benchmark_group("kernels/exponential");
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function("vectorised", |bencher| {
        bencher.iter(|| gaussian.eval_many(black_box(0.3), &points, &mut out));
    });
    group.bench_function("standard", |bencher| {
        bencher.iter(|| {
            let x = black_box(0.3);
            for (value, point) in out.iter_mut().zip(&points) {
                *value = (-0.5 * (x - point) * (x - point)).exp();
            }
        });
    });
    group.bench_function("table of 4096", |bencher| {
        bencher.iter(|| {
            let x = black_box(0.3);
            for (value, &point) in out.iter_mut().zip(&points) {
                *value = table.eval(x, point);
            }
        });
    });
    group.finish();
}

/// All pairs: the whole matrix, and half of the centred one.
fn gram(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernels/gram");
    for n in [100, 1000] {
        let points = feature(n, 0);
        let kernel = gaussian();
        group.throughput(Throughput::Elements((n * n) as u64));
        group.bench_with_input(BenchmarkId::new("whole", n), &points, |bencher, points| {
            bencher.iter(|| Gram::new(&kernel, points));
        });
        let (mut scratch, mut out) = (Vec::new(), vec![0.0; packed_len(n)]);
        group.bench_with_input(BenchmarkId::new("centred, packed", n), &points, |bencher, points| {
            bencher.iter(|| centred_packed(&kernel, points, &mut scratch, &mut out));
        });
    }
    group.finish();
}

/// The low-rank factor, centred: what a selector pays for a feature of many samples.
fn factor(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernels/factor");
    for n in [1000, 20_000] {
        let points = feature(n, 0);
        let kernel = gaussian();
        group.throughput(Throughput::Elements(n as u64));
        group.bench_with_input(BenchmarkId::new("centred", n), &points, |bencher, points| {
            bencher.iter(|| {
                let mut factor = Factor::new(&kernel, points, TOLERANCE, n).expect("a finite feature");
                factor.centre();
                factor
            });
        });
    }
    group.finish();
}

/// `vᵀKv` of a feature under an indefinite kernel that it is met with for the first time: from its matrix,
/// from its own factor, and from one that all features share.
fn quadratic_form(criterion: &mut Criterion) {
    let n = 100;
    let points = feature(n, 0);
    let v = feature(n, 1);
    let kernel = Sigmoid::new(1.0, 0.0).expect("a scale");
    let shared = SharedFactor::new(&kernel, -8.0, 8.0, 1e-4).expect("a smooth kernel");
    let mut group = criterion.benchmark_group("kernels/quadratic form");
    group.bench_function("matrix, n = 100", |bencher| {
        bencher.iter(|| {
            let gram = Gram::new(&kernel, black_box(&points));
            let mut sum = 0.0;
            for (column, v_j) in gram.as_slice().chunks_exact(n).zip(&v) {
                sum += v_j * column.iter().zip(&v).map(|(k, v_i)| k * v_i).sum::<f64>();
            }
            sum
        });
    });
    group.bench_function("own factor, n = 100", |bencher| {
        bencher.iter(|| {
            let factor = Factor::new(&kernel, black_box(&points), 1e-4, n).expect("a finite feature");
            let signs = factor.signs().expect("an indefinite kernel");
            let mut sum = 0.0;
            for (a, sign) in signs.iter().enumerate() {
                sum += sign * factor.column(a).iter().zip(&v).map(|(phi, v)| phi * v).sum::<f64>().powi(2);
            }
            sum
        });
    });
    let (mut memory, pair) = (Interpolated::default(), [Pair::new(&v, &v)]);
    group.bench_function("shared factor, n = 100", |bencher| {
        bencher.iter(|| shared.product(black_box(&points), &pair, &mut memory, |_, _| false));
    });
    group.finish();
}

/// `HSIC = tr(K̄ L̄)` of two features, from matrices and from factors that are there already.
fn hsic(criterion: &mut Criterion) {
    let n = 1000;
    let (first, second) = (feature(n, 0), feature(n, 1));
    let centred = |points: &[f64]| -> Factor {
        let mut factor = Factor::new(&gaussian(), points, TOLERANCE, n).expect("a finite feature");
        factor.centre();
        factor
    };
    let mut group = criterion.benchmark_group("kernels/hsic");
    group.bench_function("matrices, n = 1000", |bencher| {
        bencher.iter_batched_ref(
            || (Gram::new(&gaussian(), &first).centre(), Gram::new(&gaussian(), &second).centre()),
            |(first, second)| first.inner(second),
            BatchSize::LargeInput,
        );
    });
    let (first, second) = (centred(&first), centred(&second));
    group.bench_function("factors, n = 1000", |bencher| bencher.iter(|| first.inner(black_box(&second))));
    group.finish();
}
