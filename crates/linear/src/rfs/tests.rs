use fewest_core::derive_seed;
use fewest_core::{Context, Dataset, DenseColumns, Target};

use super::*;

type Tested = Result<(), Error>;

fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

/// Objective and gap of `w` with the dual point `Θ`, entry by entry.
fn by_definition(x: &[Vec<f64>], y: &[Vec<f64>], w: &[f64], lambda: f64, theta: &[f64]) -> (f64, f64) {
    let (n, c) = (y[0].len(), y.len());
    let row = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
    let residual = |i: usize, k: usize| y[k][i] - (0..x.len()).map(|j| w[j * c + k] * x[j][i]).sum::<f64>();
    let errors: f64 = (0..n).map(|i| row(&(0..c).map(|k| residual(i, k)).collect::<Vec<f64>>())).sum();
    let objective = errors + lambda * w.chunks(c).map(row).sum::<f64>();
    let of_sample = |i: usize| row(&(0..c).map(|k| theta[i + k * n]).collect::<Vec<f64>>());
    let pull = |j: usize, k: usize| (0..n).map(|i| x[j][i] * theta[i + k * n]).sum::<f64>();
    let of_column = |j: usize| row(&(0..c).map(|k| pull(j, k)).collect::<Vec<f64>>()) / lambda;
    let most = (0..n).map(of_sample).chain((0..x.len()).map(of_column)).fold(1.0_f64, f64::max);
    let along: f64 =
        (0..c).flat_map(|k| (0..n).map(move |i| (i, k))).map(|(i, k)| theta[i + k * n] * y[k][i]).sum();
    (objective, objective - along / most)
}

/// Fewer samples than features: the dual point that the interior-point method ends with certifies its
/// coefficients, and the method of multipliers finds the same objective. With a small penalty all residuals
/// are zero.
#[test]
fn few_samples_are_certified_by_the_definition() -> Tested {
    let (n, d) = (24, 60);
    let columns: Vec<Vec<f64>> = (0..d as u64).map(|j| noise(n, j)).collect();
    let labels: Vec<u8> =
        (0..n).map(|i| u8::from(columns[3][i] > 0.1) + 2 * u8::from(columns[7][i] > 0.0)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    let context = Context::default();
    let table = LinearColumns::new(&data, "rfs", &context)?;
    let outputs = robust_outputs(data.target(), &context)?;
    let x: Vec<Vec<f64>> =
        table.gather(&(0..d).collect::<Vec<_>>())?.chunks(n).map(<[f64]>::to_vec).collect();
    let y: Vec<Vec<f64>> = outputs.chunks(n).map(<[f64]>::to_vec).collect();
    let control = Control { tolerance: 1e-9, ..Control::default() };
    let robust = Robust::new(&table, outputs.clone(), n, control)?;
    let largest = GroupLasso::new(1.0, &robust.rows)?.dual_norm(&robust.null.correlations);
    let mut n_narrowed = 0;
    for ratio in [0.9, 0.5, 0.1, 0.02] {
        let lambda = ratio * largest;
        let penalty = GroupLasso::new(lambda, &robust.rows)?;
        let found = robust.interior(lambda, &penalty)?.ok_or(Error::Stopped { before: "an answer" })?;
        let w = &found.solution.coefficients;
        let problem = Interior::new(x.concat(), &outputs, n, lambda);
        let target = 1e-10 * robust.null.objective;
        let inner = problem.and_then(|problem| problem.minimise(target, true, &control));
        let inner = inner.ok_or(Error::Stopped { before: "a point" })?;
        n_narrowed += usize::from(inner.is_narrowed);
        let (objective, gap) = by_definition(&x, &y, w, lambda, &inner.dual);
        assert!((-1e-13..2e-9).contains(&(gap / robust.null.objective)), "{ratio}: {gap}");
        assert!((objective - found.solution.objective).abs() < 1e-12 * robust.null.objective, "{ratio}");
        assert_eq!(found.solution.status, Status::Converged);
        let other = robust.smoothed(&penalty, None)?;
        let difference = (objective - other.solution.objective) / robust.null.objective;
        assert!(difference.abs() < 1e-7, "{ratio}: {difference}");
        let n_rows = w.chunks(y.len()).filter(|row| row.iter().any(|w| *w != 0.0)).count();
        assert!(n_rows > 0 && n_rows < d, "{ratio}: {n_rows}");
    }
    assert!(n_narrowed > 0);
    Ok(())
}

/// Where all residuals are zero, the matrix of a step is singular to rounding before the gap is small enough:
/// the step is halved, and no other method needed.
#[test]
fn a_singular_step_is_halved() -> Tested {
    let (n, d) = (100, 500);
    let columns: Vec<Vec<f64>> = (0..d as u64).map(|j| noise(n, j)).collect();
    let sum = |i: usize| (0..10).map(|j| columns[50 * j][i]).sum::<f64>();
    let labels: Vec<bool> = (0..n).map(|i| sum(i) > 0.0).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    let context = Context::default();
    let table = LinearColumns::new(&data, "rfs", &context)?;
    let robust = Robust::new(&table, robust_outputs(data.target(), &context)?, n, Control::default())?;
    let largest = GroupLasso::new(1.0, &robust.rows)?.dual_norm(&robust.null.correlations);
    for ratio in [0.3, 0.1, 0.03, 0.01, 0.003] {
        let penalty = GroupLasso::new(ratio * largest, &robust.rows)?;
        let found = robust.interior(ratio * largest, &penalty)?.map(|found| found.solution.status);
        assert_eq!(found, Some(Status::Converged), "{ratio}");
    }
    Ok(())
}

/// Columns of three values each, and penalties down to ones so small that the residuals are zero long before:
/// the interior-point method reaches the tolerance, and where the residuals are zero the objective is the
/// penalty alone, in proportion to λ.
#[test]
fn residuals_of_zero_are_no_trouble() -> Tested {
    let (n, d) = (40, 160);
    let columns: Vec<Vec<f64>> =
        (0..d as u64).map(|j| noise(n, j).into_iter().map(|value| (3.0 * value).round()).collect()).collect();
    let labels: Vec<u8> = (0..n).map(|i| (i % 4) as u8).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    let context = Context::default();
    let table = LinearColumns::new(&data, "rfs", &context)?;
    let control = Control { tolerance: 1e-9, ..Control::default() };
    let robust = Robust::new(&table, robust_outputs(data.target(), &context)?, n, control)?;
    let largest = GroupLasso::new(1.0, &robust.rows)?.dual_norm(&robust.null.correlations);
    let mut before = f64::NAN;
    for ratio in [0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5] {
        let penalty = GroupLasso::new(ratio * largest, &robust.rows)?;
        let found = robust.interior(ratio * largest, &penalty)?.map(|found| found.solution);
        let Some(Solution { objective, status: Status::Converged, .. }) = found else {
            panic!("{ratio}: {:?}", found.map(|found| found.certificate))
        };
        if ratio < 0.02 {
            let apart = (objective - ratio * before).abs() / robust.null.objective;
            assert!(apart < 2e-9, "{ratio}: {apart}");
        }
        before = objective / ratio;
    }
    Ok(())
}

/// More columns than join at first.
#[test]
fn columns_join_until_none_is_left() -> Tested {
    let (n, d) = (10, 600);
    let columns: Vec<Vec<f64>> = (0..d as u64).map(|j| noise(n, j)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(noise(n, 9999))?)?;
    let context = Context::default();
    let table = LinearColumns::new(&data, "rfs", &context)?;
    let control = Control::default();
    let robust = Robust::new(&table, robust_outputs(data.target(), &context)?, n, control)?;
    assert!(robust.is_short && FACTOR * n + ROOM < d);
    let largest = GroupLasso::new(1.0, &robust.rows)?.dual_norm(&robust.null.correlations);
    let found = robust.at(0.05 * largest, None)?;
    assert_eq!(found.solution.status, Status::Converged, "{:?}", found.solution.certificate);
    assert!(robust.at(largest, None)?.solution.coefficients.iter().all(|w| *w == 0.0));
    Ok(())
}
