//! The example of the page `docs/solvers/dal.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::{Control, DenseOperator, L1, SquaredLoss};
use fewest::solvers::dal::DualAugmentedLagrangian;

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // 20 rows, 1000 columns of waves; the observations are made of columns 3 and 700.
    let (n_rows, n_columns) = (20, 1000);
    let wave = |i: usize, j: usize| ((i + 1) as f64 * (0.7 + 1.9 * j as f64)).sin();
    let matrix: Vec<f64> = (0..n_rows * n_columns).map(|k| wave(k % n_rows, k / n_rows)).collect();
    let b: Vec<f64> = (0..n_rows).map(|i| 2.0 * wave(i, 3) + wave(i, 700)).collect();

    let datafit = SquaredLoss::new(DenseOperator::new(matrix, n_rows, n_columns)?, b)?;
    let penalty = L1::new(0.5, n_columns)?.nonnegative();
    let start = vec![0.0; n_columns];
    let solution =
        DualAugmentedLagrangian::default().solve(&datafit, &penalty, &start, &Control::default())?;

    writeln!(out, "{} after {} outer iterations", solution.status.name(), solution.iterations)?;
    let gap = solution.certificate.value();
    writeln!(out, "objective {:.6}, gap below 1e-9: {}", solution.objective, gap < 1e-9)?;
    for (j, w) in solution.coefficients.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        writeln!(out, "column {j}: {w:.6}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/dal.md");
    super::check(page, include_str!("dal.rs"), "// 20 rows", example);
}
