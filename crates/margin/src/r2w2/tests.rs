use fewest_core::{DenseColumns, Target};

use super::*;
use crate::problems::Binary;

fn wave(step: usize) -> Vec<f64> {
    (0..40).map(|i| ((i * step) % 41) as f64 / 20.0 - 1.0).collect()
}

fn scaled<'a>(
    problems: &'a [Binary],
    kernel: VectorKernel,
    owners: Vec<usize>,
    context: &Context<'a>,
) -> Result<Scaled<'a>, Error> {
    let columns = [wave(1), wave(7), wave(12), wave(18)];
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
    let design = Design::new(&data, "r2w2", context)?;
    let mut standardised = vec![vec![0.0; 40]; 4];
    for (j, column) in standardised.iter_mut().enumerate() {
        design.column(j, column);
    }
    let n_features = owners.iter().max().map_or(0, |last| last + 1);
    Ok(Scaled {
        cost: 3.0,
        kernel,
        problems,
        control: control(GAP, context)?,
        columns: standardised,
        owners,
        features: (0..n_features).collect(),
        scales: vec![1.0; n_features],
    })
}

fn labels() -> Vec<bool> {
    let (a, b) = (wave(1), wave(18));
    (0..40).map(|i| a[i] - 0.6 * b[i] > 0.1).collect()
}

fn on_sphere(scales: &[f64], squares: f64) -> Vec<f64> {
    let own: f64 = scales.iter().map(|scale| scale * scale).sum();
    scales.iter().map(|scale| scale * (squares / own).sqrt()).collect()
}

#[test]
fn the_slope_is_that_of_finite_differences() -> Result<(), Error> {
    let positive = labels();
    let pair = Binary {
        rows: Some((0..30).collect()),
        positive: positive[..30].iter().map(|positive| !positive).collect(),
    };
    let problems = [Binary { rows: None, positive }, pair];
    let context = Context::default();
    for kernel in [VectorKernel::Linear, VectorKernel::Gaussian { gamma: 0.3 }] {
        // The last two columns belong to one feature.
        let scaled = scaled(&problems, kernel, vec![0, 1, 2, 2], &context)?;
        let scales = [1.2, 0.4, 0.8];
        let squares = 1.2 * 1.2 + 0.4 * 0.4 + 0.8 * 0.8;
        let slope = scaled.slope(&scales, &scaled.bound(&scales, None)?)?;
        for j in 0..3 {
            let at = |step: f64| -> Result<f64, Error> {
                let mut moved = scales;
                moved[j] *= step.exp();
                Ok(scaled.bound(&on_sphere(&moved, squares), None)?.value.ln())
            };
            let difference = (at(1e-4)? - at(-1e-4)?) / 2e-4;
            let size = slope.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
            let found = slope[j];
            assert!((difference - found).abs() <= 1e-4 * size, "{kernel:?}, {j}: {difference} and {found}");
        }
    }
    Ok(())
}

#[test]
fn a_descent_ends_at_a_stationary_point_of_a_smaller_bound() -> Result<(), Error> {
    let problems = [Binary { rows: None, positive: labels() }];
    let context = Context::default();
    for kernel in [VectorKernel::Linear, VectorKernel::Gaussian { gamma: 0.3 }] {
        let mut scaled = scaled(&problems, kernel, vec![0, 1, 2, 3], &context)?;
        let before = scaled.bound(&scaled.scales, None)?.value;
        let end = descend(&mut scaled, Goal::Stationary(1e-7))?;
        assert!(end.steps > 0 && end.value < 0.8 * before, "{before} and {}", end.value);
        assert_eq!(end.status, Status::Converged);
        let squares: f64 = scaled.scales.iter().map(|scale| scale * scale).sum();
        assert!((squares - 4.0).abs() < 1e-9);
        // At the point that is left, from finite differences.
        for j in 0..4 {
            let at = |step: f64| -> Result<f64, Error> {
                let mut moved = scaled.scales.clone();
                moved[j] *= step.exp();
                Ok(scaled.bound(&on_sphere(&moved, 4.0), None)?.value.ln())
            };
            let difference = (at(1e-4)? - at(-1e-4)?) / 2e-4;
            assert!(difference.abs() < 1e-5, "{kernel:?}, {j}: {difference}");
        }
        let best = if kernel == VectorKernel::Linear { [0, 3] } else { [0, 1] };
        scaled.keep(2);
        assert_eq!(
            (&scaled.features[..], &scaled.owners[..], scaled.columns.len()),
            (&best[..], &[0, 1][..], 2)
        );
    }
    Ok(())
}

/// What is stopped has the scales it came to, and says that they are not the end.
#[test]
fn a_stopped_descent_keeps_its_scales() -> Result<(), Error> {
    let interrupt = std::sync::atomic::AtomicBool::new(true);
    let problems = [Binary { rows: None, positive: labels() }];
    let context = Context { interrupt: Some(&interrupt), ..Context::default() };
    let mut scaled = {
        let free = Context::default();
        Scaled {
            control: control(GAP, &context)?,
            ..scaled(&problems, VectorKernel::Linear, vec![0; 4], &free)?
        }
    };
    assert_eq!(
        descend(&mut scaled, Goal::Elimination).err(),
        Some(Error::Stopped { before: bound::STEPPED })
    );
    assert_eq!(scaled.scales, [1.0]);
    Ok(())
}
