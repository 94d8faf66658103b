//! The example of the page `docs/solvers/pgd.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::{Composite, Control, Datafit, L1, run};
use fewest::solvers::pgd::ProximalGradient;

/// Sum of `cosh(wⱼ − aⱼ) − 1`: a loss of our own. It knows no dual.
struct Cosh(Vec<f64>);

impl Datafit for Cosh {
    fn n_coefficients(&self) -> usize {
        self.0.len()
    }

    fn value(&self, w: &[f64]) -> f64 {
        w.iter().zip(&self.0).map(|(w, a)| (w - a).cosh() - 1.0).sum()
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        for ((g, w), a) in out.iter_mut().zip(w).zip(&self.0) {
            *g = (w - a).sinh();
        }
        self.value(w)
    }
}

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // Over w >= 0: projected gradient descent with Armijo steps.
    let datafit = Cosh(vec![2.0, -1.0, 0.5, -3.0]);
    let orthant = L1::new(0.0, 4)?.nonnegative();
    let mut solver = ProximalGradient::default().accelerated(false);
    let problem = Composite::new(&datafit, &orthant)?;
    let solution = run(problem, &mut solver, vec![1.0; 4], &Control::default())?;

    writeln!(out, "{}", solution.status.name())?;
    for (j, w) in solution.coefficients.iter().enumerate() {
        writeln!(out, "w[{j}] = {w:.6}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/pgd.md");
    super::check(page, include_str!("pgd.rs"), "/// Sum of", example);
}
