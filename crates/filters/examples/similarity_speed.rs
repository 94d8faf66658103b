//! Seconds that the similarity filters take: `similarity_speed [SAMPLES FEATURES]`, 1000 of each when left
//! out.

use std::time::Instant;

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Scorer, Selector, Target, derive_seed};
use fewest_filters::similarity::{
    FisherScore, GeneralizedFisher, LaplacianScore, MultiSurf, Relief, Relieff, Spec, SpecCriterion, Surf,
    TraceRatio,
};

fn main() -> Result<(), Error> {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let (n, d) = match sizes[..] {
        [n, d] => (n, d),
        _ => (1000, 1000),
    };
    let uniform = |at: usize| derive_seed(7, at as u64) as f64 / u64::MAX as f64;
    let labels: Vec<bool> = (0..n).map(|i| uniform(n * d + i) < 0.5).collect();
    let shift = |i: usize, j: usize| if j < 10 && labels[i] { 0.3 } else { 0.0 };
    let values = (0..n * d).map(|at| uniform(at) + shift(at % n, at / n)).collect();
    let data = Dataset::new(DenseColumns::new(values, n, d)?, Target::from_labels(&labels))?;
    let second = SpecCriterion::NormalisedSmoothness;
    let third = SpecCriterion::LeadingEigenvectors { m: None };
    let scorers: [(&str, Box<dyn Scorer>); 9] = [
        ("fisher", Box::new(FisherScore)),
        ("relief", Box::new(Relief)),
        ("relieff", Box::new(Relieff::default())),
        ("surf", Box::new(Surf)),
        ("multisurf", Box::new(MultiSurf)),
        ("laplacian", Box::new(LaplacianScore::default())),
        ("spec criterion=1", Box::new(Spec::default())),
        ("spec criterion=2", Box::new(Spec { criterion: second, ..Spec::default() })),
        ("spec criterion=3", Box::new(Spec { criterion: third, ..Spec::default() })),
    ];
    let selectors: [(&str, Box<dyn Selector>); 2] = [
        ("trace-ratio, k = 10", Box::new(TraceRatio::default())),
        ("generalized-fisher, k = 10", Box::new(GeneralizedFisher::default())),
    ];
    println!("{n} samples, {d} features, {} threads; the best of three runs", rayon::current_num_threads());
    let best = |name: &str, run: &dyn Fn() -> Result<(), Error>| -> Result<(), Error> {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            run()?;
            least = least.min(start.elapsed().as_secs_f64());
        }
        println!("{name:<28} {least:8.4} s");
        Ok(())
    };
    for (name, scorer) in &scorers {
        best(name, &|| scorer.score(&data, &Context::default()).map(drop))?;
    }
    for (name, selector) in &selectors {
        best(name, &|| selector.select(&data, Budget::Count(d.min(10)), &Context::default()).map(drop))?;
    }
    Ok(())
}
