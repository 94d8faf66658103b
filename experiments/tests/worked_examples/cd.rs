//! The example of the page `docs/solvers/cd.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::{Control, L1, Quadratic, working_set};
use fewest::solvers::cd::CoordinateDescent;

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // 300 atoms, bumps along 200 points that overlap with some ten neighbours; the target is the sum of
    // three.
    let (n_points, n_atoms) = (200, 300);
    let bump = |i: usize, j: usize| {
        let distance = i as f64 / n_points as f64 - j as f64 / n_atoms as f64;
        (-0.5 * (distance / 0.02).powi(2)).exp()
    };
    let product = |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| -> f64 {
        (0..n_points).map(|i| a(i) * b(i)).sum()
    };
    let target = |i: usize| bump(i, 40) + 2.0 * bump(i, 150) + bump(i, 155);
    let gram = (0..n_atoms * n_atoms)
        .map(|k| product(&|i| bump(i, k / n_atoms), &|i| bump(i, k % n_atoms)))
        .collect();
    let products = (0..n_atoms).map(|j| product(&|i| bump(i, j), &target)).collect();
    let problem = Quadratic::new(gram, products, product(&target, &target))?;

    let penalty = L1::new(0.01, n_atoms)?.nonnegative();
    let solver = CoordinateDescent::default();
    let start = vec![0.0; n_atoms];
    let found = working_set::solve(&problem, &penalty, &solver, &start, &Control::default())?;

    let solution = &found.solution;
    writeln!(out, "{}, gap below 1e-9: {}", solution.status.name(), solution.certificate.value() < 1e-9)?;
    for (j, w) in solution.coefficients.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        writeln!(out, "atom {j}: {w:.4}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/cd.md");
    super::check(page, include_str!("cd.rs"), "// 300 atoms", example);
}
