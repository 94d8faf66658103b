//! The example of the page `docs/machines.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::kernels::VectorKernel;
use fewest::machines::{PointRows, Points, SpanBound};
use fewest::solver::Control;
use fewest::solvers::smo::Regressor;

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // The target is the square of the first of three coordinates.
    let wave = |i: usize, step: usize| ((i * step) % 41) as f64 / 20.0 - 1.0;
    let values: Vec<f64> = (0..40).flat_map(|i| [wave(i, 7), wave(i, 16), wave(i, 24)]).collect();
    let targets: Vec<f64> = values.chunks(3).map(|x| x[0] * x[0]).collect();
    let points = Points { values, n_samples: 40, width: 3 };
    let gaussian = VectorKernel::Gaussian { gamma: 0.3 };
    let kernel = PointRows::new(&points, gaussian)?;

    let learner = Regressor { cost: 10.0, epsilon: 0.02, ..Regressor::default() };
    let control = Control::default();
    let machine = learner.train(&kernel, &targets, &[], &control)?;
    let problem = learner.problem(&kernel, &targets, &[])?;
    let bound = SpanBound::new(&problem, &machine, &control, true)?;
    writeln!(out, "{} support vectors, bound {:.2}", machine.support.len(), bound.value)?;
    if let Some(sensitivity) = &bound.sensitivity {
        // What the bound changes by with each coordinate's scale.
        let gradient = sensitivity.scale_gradient(gaussian, &points)?;
        writeln!(out, "{gradient:.2?}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/machines.md");
    super::check(page, include_str!("machines.rs"), "// The target", example);
}
