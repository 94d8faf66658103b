//! The solver crates on one problem: the lasso over the features of an HSIC Lasso, whole.

use criterion::Criterion;
use fewest::data::synthetic;
use fewest::kernels::{Factor, Gaussian};
use fewest::solver::{Control, InnerProducts, L1, Quadratic, QuadraticSolver};
use fewest_cd::CoordinateDescent;
use fewest_dal::DualAugmentedLagrangian;
use fewest_lars::Lars;
use fewest_pgd::ProximalGradient;

const SAMPLES: usize = 200;
const FEATURES: usize = 300;
const TOLERANCE: f64 = 1e-9;

/// Shares of the smallest penalty that selects nothing: few features, and many.
const RATIOS: [f64; 2] = [0.5, 0.1];

pub(crate) fn benches(criterion: &mut Criterion) {
    let problem = problem();
    let largest = problem.target_products().iter().copied().fold(0.0, f64::max);
    let solvers: [(&str, Box<dyn QuadraticSolver>); 4] = [
        ("cd", Box::new(CoordinateDescent::default())),
        ("dal", Box::new(DualAugmentedLagrangian::default())),
        ("lars", Box::new(Lars)),
        ("pgd", Box::new(ProximalGradient::default())),
    ];
    let start = vec![0.0; FEATURES];
    let control = Control { tolerance: TOLERANCE, ..Control::default() };
    for ratio in RATIOS {
        let penalty = L1::new(ratio * largest, FEATURES).expect("a penalty above 0").nonnegative();
        let mut group = criterion.benchmark_group(format!("solvers/{FEATURES} atoms, λ = {ratio} λmax"));
        for (name, solver) in &solvers {
            group.bench_function(*name, |bencher| {
                bencher
                    .iter(|| solver.minimise(&problem, &penalty, &start, &control).expect("a legal problem"));
            });
        }
        group.finish();
    }
}

/// All products between centred Gram matrices of Data2, by their factors.
fn problem() -> Quadratic {
    let drawn = synthetic::data2(SAMPLES, FEATURES, 0).expect("a problem of many features");
    let fewest::core::Target::Real(outputs) = drawn.dataset.target() else {
        unreachable!("Data2 has a real target")
    };
    let mut column = vec![0.0; SAMPLES];
    let atoms: Vec<Factor> = (0..FEATURES)
        .map(|j| {
            drawn.dataset.x().copy_column(j, &mut column).expect("generated");
            atom(&mut column)
        })
        .collect();
    let target = atom(&mut outputs.output(0).to_vec());
    let gram = atoms.iter().flat_map(|a| atoms.iter().map(|b| a.inner(b))).collect();
    let target_products = atoms.iter().map(|atom| atom.inner(&target)).collect();
    Quadratic::new(gram, target_products, target.inner(&target)).expect("finite products")
}

fn atom(values: &mut [f64]) -> Factor {
    fewest::columns::standardise(values);
    let mut factor = Gaussian::new(1.0)
        .and_then(|kernel| Factor::new(&kernel, values, 1e-8, SAMPLES))
        .expect("a finite feature");
    factor.centre();
    factor
}
