//! What exact moments cost beside others: nanoseconds a value, the least of five runs, on one thread.
//!
//! `cargo run --release -p fewest-columns --example exact_sums`

use std::hint::black_box;
use std::time::Instant;

use fewest_columns::moments::{Moments, sum};
use fewest_columns::{ExactMoments, ExactProducts, Unit};

const N: usize = 1_000_000;

fn main() {
    let draw = |i: usize, column: u64| fewest_core::derive_seed(column, i as u64) as f64 / 2_f64.powi(64);
    // Of one size, and of very different ones.
    let usual: Vec<f64> = (0..N).map(|i| 20.0 + 5.0 * (draw(i, 0) + draw(i, 1) - 1.0)).collect();
    let wide: Vec<f64> = (0..N).map(|i| (80.0 * (draw(i, 0) - 0.5)).exp()).collect();
    for (name, values) in [("of one size", usual), ("from e-40 to e40", wide)] {
        println!("values {name}");
        report("Σ x, Σ x², row by row", || {
            values.iter().fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value)).1
        });
        report("Σ x, Σ x² in eight lanes", || {
            sum(&values, |value| value) + sum(&values, |value| value * value)
        });
        report("centred, in two passes", || Moments::new(&values, 0).deviations);
        report("exact", || {
            let mut moments = ExactMoments::default();
            values.iter().for_each(|value| moments.add(*value).unwrap());
            moments.moments(Unit::of([&moments])).map_or(0.0, |moments| moments.deviations)
        });
        report("exact, with products", || {
            let mut products = ExactProducts::default();
            values.iter().zip(values.iter().rev()).for_each(|(x, y)| products.add(*x, *y).unwrap());
            products.product(Unit::of([&products.x]), Unit::of([&products.y]))
        });
    }
}

fn report(name: &str, work: impl Fn() -> f64) {
    let seconds = (0..5).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    });
    println!("  {name}: {:.2} ns", seconds.fold(f64::INFINITY, f64::min) * 1e9 / N as f64);
}
