//! Times the hot paths of this crate on the machine it runs on: the smallest of several repetitions.
//!
//! `cargo run --release -p fewest-kernels --example kernel_speed`

use std::hint::black_box;
use std::time::Instant;

use fewest_kernels::{
    Factor, Gaussian, ScalarKernel, Sigmoid, Stacked, TableGaussian, centred_packed, exp_in_place,
    packed_len, squared_cross_norms,
};
use fewest_linalg::dot_products;

/// Seconds of the fastest of several calls.
fn fastest(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// `n` values that look normal, the same at every call.
fn normal_like(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        state = fewest_core::derive_seed(state, 1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}

fn main() -> Result<(), fewest_core::Error> {
    elementary()?;
    packed()?;
    factors()?;
    products()
}

fn elementary() -> Result<(), fewest_core::Error> {
    let (n, repetitions) = (4096, 100);
    let points = normal_like(n, 1);
    let mut out = vec![0.0; n];
    let mut report = |name: &str, work: &mut dyn FnMut(&mut [f64])| {
        let seconds = fastest(|| (0..repetitions).for_each(|_| work(black_box(&mut out))));
        println!("{name:<34} {:8.2} ns an element", 1e9 * seconds / (n * repetitions) as f64);
    };
    let (gaussian, table) = (Gaussian::new(1.0)?, TableGaussian::new(1.0)?);
    let sigmoid = Sigmoid::new(0.5, -0.2)?;
    report("exp, standard library", &mut |out| {
        for (value, &x) in out.iter_mut().zip(&points) {
            *value = x.exp();
        }
    });
    report("exp, fast", &mut |out| {
        for (value, &x) in out.iter_mut().zip(&points) {
            *value = x;
        }
        exp_in_place(out);
    });
    report("Gaussian row", &mut |out| gaussian.eval_many(0.3, &points, out));
    report("Gaussian row, table of 4096", &mut |out| table.eval_many(0.3, &points, out));
    report("tanh row", &mut |out| sigmoid.eval_many(0.3, &points, out));
    Ok(())
}

fn packed() -> Result<(), fewest_core::Error> {
    let kernel = Gaussian::new(1.0)?;
    for n in [60, 100, 300] {
        let points = normal_like(n, 2);
        let (mut scratch, mut out) = (Vec::new(), vec![0.0; packed_len(n)]);
        let repetitions = 200;
        let seconds = fastest(|| {
            for _ in 0..repetitions {
                centred_packed(&kernel, &points, &mut scratch, black_box(&mut out));
            }
        });
        println!("centred_packed n = {n:<15} {:8.2} us a feature", 1e6 * seconds / repetitions as f64);
    }
    Ok(())
}

fn factors() -> Result<(), fewest_core::Error> {
    let kernel = Gaussian::new(1.0)?;
    for n in [100, 1000, 20_000, 100_000] {
        let points = normal_like(n, 3);
        let mut factor = Factor::new(&kernel, &points, 1e-6, 100)?;
        let seconds = fastest(|| {
            factor = Factor::new(&kernel, black_box(&points), 1e-6, 100).unwrap_or(factor.clone())
        });
        let rank = factor.rank();
        factor.centre();
        let mut small = factor.clone();
        let compressing = fastest(|| small = factor.compress(1e-6).unwrap_or(factor.clone()));
        println!(
            "factor n = {n:<23} {:8.3} ms, rank {rank}; compressed to {} in {:.3} ms",
            1e3 * seconds,
            small.rank(),
            1e3 * compressing
        );
    }
    let points = normal_like(20_000, 3);
    let sigmoid = Sigmoid::new(0.5, -0.2)?;
    let mut rank = 0;
    let seconds =
        fastest(|| rank = Factor::new(&sigmoid, &points, 1e-6, 100).map_or(0, |factor| factor.rank()));
    println!("signed factor of tanh n = 20000    {:8.3} ms, rank {rank}", 1e3 * seconds);
    Ok(())
}

fn products() -> Result<(), fewest_core::Error> {
    let m = packed_len(100);
    for (a, b) in [(1, 500), (2000, 1), (2000, 8), (2000, 50), (500, 500)] {
        let (left, right) = (normal_like(m * a, 4), normal_like(m * b, 5));
        let mut out = vec![0.0; a * b];
        let seconds = fastest(|| dot_products(&left, &right, m, black_box(&mut out)));
        println!("dot_products m = {m}, {a:>4} x {b:<6} {:8.1} GFLOP/s", 2e-9 * (m * a * b) as f64 / seconds);
    }
    let kernel = Gaussian::new(1.0)?;
    for (n, lefts, rights) in [(1000, 1, 200), (1000, 16, 50), (20_000, 1, 100), (20_000, 16, 40)] {
        let make = |count: usize, seed: u64| -> Result<Vec<Factor>, fewest_core::Error> {
            let factor = |k: usize| {
                let mut factor = Factor::new(&kernel, &normal_like(n, seed + k as u64), 1e-6, 50)?;
                factor.centre();
                Ok(factor)
            };
            (0..count).map(factor).collect()
        };
        let (left_factors, right_factors) = (make(lefts, 100)?, make(rights, 1000)?);
        let (left, right) =
            (Stacked::from_factors(n, &left_factors)?, Stacked::from_factors(n, &right_factors)?);
        let mut out = vec![0.0; lefts * rights];
        let seconds = fastest(|| {
            squared_cross_norms(&left, &right, black_box(&mut out));
        });
        let total_rank = |factors: &[Factor]| factors.iter().map(Factor::rank).sum::<usize>();
        let operations = 2e-9 * (n * total_rank(&left_factors) * total_rank(&right_factors)) as f64;
        println!(
            "cross norms n = {n}, {lefts:>2} x {rights:<10} {:8.1} GFLOP/s, {:.2} us a pair",
            operations / seconds,
            1e6 * seconds / (lefts * rights) as f64
        );
    }
    Ok(())
}
