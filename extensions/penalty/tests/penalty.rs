//! The penalty, solved by `pgd` and certified from the definition.

use example_penalty::AsymmetricL1;
use fewest_solver::{Composite, Control, DenseOperator, Error, Penalty, SquaredLoss, Status};

/// Two features of five samples, by columns.
const X: [f64; 10] = [1.0, 2.0, -1.0, 0.5, 0.0, 0.3, -1.0, 1.5, 1.0, -2.0];
/// Roughly the first less twice the second.
const Y: [f64; 5] = [0.5, 4.1, -3.9, -1.6, 4.0];

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_solution_is_certified_and_a_dear_sign_is_avoided() -> Result<(), Error> {
    let loss = SquaredLoss::new(DenseOperator::new(X.to_vec(), 5, 2)?, Y.to_vec())?;
    let solve = |above: f64, below: f64| {
        let penalty = AsymmetricL1::new(above, below, 2)?;
        fewest_pgd::solve(Composite::new(&loss, &penalty)?, &[], &Control::default())
    };
    let (above, below) = (0.5, 1.0);
    let solution = solve(above, below)?;
    assert_eq!(solution.status, Status::Converged);
    assert!(solution.certificate.value() <= 1e-9, "{}", solution.certificate.value());

    // P(w) − D, D of the residual scaled until its correlations are in [−below, above].
    let w = &solution.coefficients;
    let residual: Vec<f64> = (0..5).map(|i| Y[i] - X[i] * w[0] - X[5 + i] * w[1]).collect();
    let correlations = [dot(&X[..5], &residual), dot(&X[5..], &residual)];
    let most = |most: f64, &v: &f64| most.max(v / above).max(-v / below);
    let t = 1.0 / correlations.iter().fold(1.0, most);
    let dual = t * dot(&residual, &Y) - 0.5 * t * t * dot(&residual, &residual);
    let primal = 0.5 * dot(&residual, &residual) + AsymmetricL1::new(above, below, 2)?.value(w);
    assert!((primal - dual).abs() <= 1e-7 * 0.5 * dot(&Y, &Y), "{primal} {dual}");

    assert!(w[0] > 0.0 && w[1] < 0.0, "{w:?}");
    assert_eq!(solve(0.5, 1e6)?.coefficients[1], 0.0);
    Ok(())
}
