//! The example of the page `docs/solvers/smo.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::Control;
use fewest::solvers::smo::{Classifier, RowsBy};

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // 200 points on two spirals that turn around each other; the kernel is a Gaussian of width 0.5.
    let spiral = |i: usize| {
        let (turn, start) = ((i / 2) as f64 * 0.1, (i % 2) as f64 * std::f64::consts::PI);
        let radius = 0.3 + 0.3 * turn;
        [radius * (turn + start).cos(), radius * (turn + start).sin()]
    };
    let points: Vec<[f64; 2]> = (0..200).map(spiral).collect();
    let value = |a: [f64; 2], b: [f64; 2]| (-2.0 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
    let kernel = RowsBy::new(vec![1.0; 200], |i: usize, row: &mut [f64]| {
        for (entry, &point) in row.iter_mut().zip(&points) {
            *entry = value(points[i], point);
        }
    });
    let labels: Vec<bool> = (0..200).map(|i| i % 2 == 1).collect();

    let learner = Classifier { cost: 10.0, ..Classifier::default() };
    let machine = learner.train(&kernel, &labels, &[], &Control::default())?;

    let (solution, certificate) = (&machine.dual.solution, machine.dual.certificate);
    writeln!(out, "{}, gap below 1e-9: {}", solution.status.name(), certificate.relative_gap() < 1e-9)?;
    writeln!(out, "objective {:.6}, {} support vectors", solution.objective, machine.support.len())?;
    for x in [[0.2, 0.2], [-0.2, -0.2], [1.0, 1.0]] {
        let row: Vec<f64> = points.iter().map(|&point| value(x, point)).collect();
        writeln!(out, "f({x:?}) = {:.3}", machine.decision(&row)?)?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/smo.md");
    super::check(page, include_str!("smo.rs"), "// 200 points", example);
}
