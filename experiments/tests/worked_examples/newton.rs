//! The example of the page `docs/solvers/newton.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::loss::{Cox, Samples, Ties};
use fewest::solver::{Control, DenseOperator, L1, Penalty};
use fewest::solvers::cd::CoordinateDescent;
use fewest::solvers::newton::LinearModel;

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // 60 samples, 12 features; the hazard rises with feature 3 and falls with feature 7. Every fourth sample
    // was last seen before its event.
    let (n, d) = (60, 12);
    let x = |i: usize, j: usize| ((i + 1) * (7 * j + 11) % 61) as f64 / 30.5 - 1.0;
    let columns = (0..n * d).map(|at| x(at % n, at / n)).collect();
    let hazard = |i: usize| (2.0 * x(i, 3) - 1.5 * x(i, 7)).exp();
    let times: Vec<f64> = (0..n).map(|i| (1.1 + (i * 37 % 60) as f64 / 60.0) / hazard(i)).collect();
    let events: Vec<bool> = (0..n).map(|i| i % 4 != 0).collect();

    let design = DenseOperator::new(columns, n, d)?;
    let loss = Cox::new(&times, &events, Ties::Efron, Samples::mean(n))?;
    let model = LinearModel { design: &design, loss: &loss, intercept: true };
    let control = Control::default();
    let null = model.null(&control)?;
    let largest = L1::new(1.0, d)?.dual_norm(&null.correlations);
    let penalty = L1::new(0.3 * largest, d)?;
    let found = model.minimise(&null, &penalty, &CoordinateDescent::default(), None, &control)?;

    let solution = &found.solution;
    writeln!(out, "{}, gap below 1e-9: {}", solution.status.name(), solution.certificate.value() < 1e-9)?;
    for (j, w) in solution.coefficients.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        writeln!(out, "feature {j}: {w:.4}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/newton.md");
    super::check(page, include_str!("newton.rs"), "// 60 samples", example);
}
