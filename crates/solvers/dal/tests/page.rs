//! The example of the page `docs/solvers/dal.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::{Control, DenseOperator, L1, SquaredLoss};

const PAGE: &str = include_str!("../../../../docs/solvers/dal.md");

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
    writeln!(out, "objective {:.6}, gap below 1e-9: {}", solution.objective, solution.duality_gap < 1e-9)?;
    for (j, w) in solution.coefficients.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        writeln!(out, "column {j}: {w:.6}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = String::new();
    example(&mut out)?;
    assert!(PAGE.contains(&format!("```text\n{out}```")), "the page must show:\n{out}");
    // Every line of the example's code is on the page.
    let source = include_str!("page.rs");
    let body =
        source.split("// 20 rows").nth(1).and_then(|rest| rest.split("    Ok(())").next()).unwrap_or("");
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains("writeln!")) {
        assert!(PAGE.contains(line), "not on the page: {line}");
    }
    Ok(())
}
