use fewest_core::*;
use fewest_embedded::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let d: usize = args[2].parse().unwrap();
    let m: usize = args[3].parse().unwrap();
    let reg = args.get(4).is_some_and(|a| a == "reg");
    let tol: f64 = args.get(5).map_or(1e-8, |t| t.parse().unwrap());
    let mut state = 12345u64;
    let mut next = move || {
        state = state.wrapping_add(1);
        let mut s = 0.0;
        for k in 0..6 { s += derive_seed(state, k) as f64 / u64::MAX as f64 - 0.5; }
        s * 1.414
    };
    let cols: Vec<Vec<f64>> = (0..d).map(|_| (0..n).map(|_| next()).collect()).collect();
    let y: Vec<f64> = (0..n).map(|i| (0..20.min(d)).map(|j| cols[j][i] / (1.0 + j as f64).sqrt()).sum::<f64>() + next()).collect();
    let x = DenseColumns::from_columns(&cols).unwrap();
    let t = if reg { Target::real(y).unwrap() } else { Target::from_labels(&y.iter().map(|y| *y > 0.0).collect::<Vec<_>>()) };
    let data = Dataset::new(x, t).unwrap();
    let start = Instant::now();
    let o = NonMonotonic { tolerance: tol, ..Default::default() };
    let s = if reg { Nmmklr { options: o, ..Default::default() }.solve(&data, Budget::Count(m), &Context::default()) } else { Nmmkl { options: o, ..Default::default() }.solve(&data, Budget::Count(m), &Context::default()) }.unwrap();
    println!("{:.3}s obj {:.10} gap {:.2e} steps {} {:?} A {} B {} omega {} bound {:?} lambda {}", start.elapsed().as_secs_f64(), s.objective, s.gap, s.steps, s.status, s.above.len(), s.tied.len(), s.omega, s.bound, s.lambda);
}
