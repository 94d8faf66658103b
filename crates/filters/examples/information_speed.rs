//! Times of the information criteria on seeded synthetic data.
//!
//! `cargo run --release -p fewest-filters --example information_speed -- jmi 1000 5000 50`: method, samples,
//! features, picks; without arguments a list of cases. Two threads are used, as in the comparisons with other
//! programs; the time is that of the wall clock, of which the two threads make at most twice as much
//! processor time.

use std::time::Instant;

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Ranked, Selector, Target, derive_seed};
use fewest_filters::information::{Cfs, Estimator, Fcbf, Fcq, Forward, ForwardCriterion, Mim, MrmrForm};

/// Uniform numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Two classes; feature `j` is noise with the class mixed in, the less the higher `j`, and every tenth
/// resembles the one before.
fn problem(n: usize, d: usize) -> Result<Dataset, Error> {
    let mut numbers = Numbers(derive_seed(1, 0));
    let labels: Vec<bool> = (0..n).map(|_| numbers.next() < 0.5).collect();
    let mut values: Vec<f64> = Vec::with_capacity(n * d);
    for j in 0..d {
        let mut numbers = Numbers(derive_seed(1, j as u64 + 1));
        let share = 0.3 / (1.0 + j as f64 / 20.0);
        for (i, &label) in labels.iter().enumerate() {
            let base = if j % 10 == 9 { values[(j - 1) * n + i] } else { f64::from(u8::from(label)) };
            values.push((1.0 - share) * numbers.next() + share * base);
        }
    }
    Dataset::new(DenseColumns::new(values, n, d)?, Target::from_labels(&labels))
}

fn method(name: &str) -> Option<Box<dyn Selector>> {
    let forward = |criterion| Some(Box::new(Forward::new(criterion)) as Box<dyn Selector>);
    let mrmr = ForwardCriterion::Mrmr { form: MrmrForm::Difference };
    match name {
        "mim" => Some(Box::new(Ranked::new(Mim::default()))),
        "mifs" => forward(ForwardCriterion::Mifs { beta: 1.0 }),
        "mrmr" => forward(mrmr),
        "mrmr-parzen" => Some(Box::new(Forward {
            criterion: mrmr,
            estimator: Estimator::Parzen { bandwidth_factor: 1.0 },
        })),
        "mrmr-ksg" => {
            Some(Box::new(Forward { criterion: mrmr, estimator: Estimator::Kraskov { neighbours: 3 } }))
        }
        "cife" => forward(ForwardCriterion::Cife),
        "jmi" => forward(ForwardCriterion::Jmi),
        "cmim" => forward(ForwardCriterion::Cmim { capped: false }),
        "icap" => forward(ForwardCriterion::Icap),
        "disr" => forward(ForwardCriterion::Disr),
        "jmim" => forward(ForwardCriterion::Jmim),
        "jmi3" => forward(ForwardCriterion::Jmi3),
        "fcq" => Some(Box::new(Fcq::default())),
        "fcbf" => Some(Box::new(Fcbf::default())),
        "cfs" => Some(Box::new(Cfs::default())),
        _ => None,
    }
}

fn time(name: &str, n: usize, d: usize, k: usize, data: &Dataset) -> Result<(), Error> {
    let Some(method) = method(name) else {
        return Err(Error::parameter("method", name, "one that this example lists"));
    };
    let start = Instant::now();
    let selection = method.select(data, Budget::Count(k), &Context::default())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:<12} n={n:<7} d={d:<6} k={k:<4} {seconds:8.3} s, {} features", selection.order.len());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, n, d, k] = arguments.as_slice() {
        let (n, d, k) = (n.parse()?, d.parse()?, k.parse()?);
        let data = problem(n, d)?;
        return Ok(threads.install(|| time(name, n, d, k, &data))?);
    }
    let data = problem(1000, 5000)?;
    for name in ["mim", "mifs", "mrmr", "cife", "jmi", "cmim", "icap", "disr", "jmim", "fcbf", "cfs"] {
        threads.install(|| time(name, 1000, 5000, 50, &data))?;
    }
    let data = problem(1000, 50_000)?;
    for name in ["mrmr", "fcq"] {
        threads.install(|| time(name, 1000, 50_000, 50, &data))?;
    }
    Ok(())
}
