//! The example of the page `docs/solvers/dca.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::{Control, Error, run};
use fewest::solvers::dca::{Dca, DifferenceOfConvex};

/// `½‖x − a‖² + λ Σ min(|xⱼ|, 1)`: a penalty that leaves large coefficients alone.
struct Capped {
    a: Vec<f64>,
    lambda: f64,
}

impl DifferenceOfConvex for Capped {
    fn n_coefficients(&self) -> usize {
        self.a.len()
    }

    fn g(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.a).map(|(x, a)| 0.5 * (x - a).powi(2) + self.lambda * x.abs()).sum()
    }

    fn h(&self, x: &[f64]) -> f64 {
        x.iter().map(|x| self.lambda * (x.abs() - 1.0).max(0.0)).sum()
    }

    fn subgradient_of_h(&self, x: &[f64], out: &mut [f64]) {
        for (s, x) in out.iter_mut().zip(x) {
            *s = if x.abs() > 1.0 { self.lambda * x.signum() } else { 0.0 };
        }
    }

    fn minimise_above(&self, slope: &[f64], _start: &[f64]) -> Result<Vec<f64>, Error> {
        let shrunk = |z: f64| (z.abs() - self.lambda).max(0.0).copysign(z);
        Ok(self.a.iter().zip(slope).map(|(a, s)| shrunk(a + s)).collect())
    }
}

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let problem = Capped { a: vec![3.0, 1.7, -0.8, 0.4], lambda: 0.5 };
    let mut solver = Dca::default();
    let solution = run(&problem, &mut solver, vec![0.0; 4], &Control::default())?;

    writeln!(out, "{} after {} iterations", solution.status.name(), solution.iterations)?;
    for (j, x) in solution.coefficients.iter().enumerate() {
        writeln!(out, "x[{j}] = {x:.6}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/dca.md");
    super::check(page, include_str!("dca.rs"), "struct Capped", example);
}
