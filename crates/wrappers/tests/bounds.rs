//! The radius-margin bound of regression, with both losses.

use fewest_core::method::KernelWidth;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Target};
use fewest_data::synthetic::{Interaction, interactive};
use fewest_machines::Ball;
use fewest_smo::{GramRows, Loss, Regressor};
use fewest_solver::Control;
use fewest_wrappers::{Bound, BoundChange, Kernel, RecursiveElimination, Training};

const GAMMA: f64 = 0.2;
const COST: f64 = 3.0;
const EPSILON: f64 = 0.1;

fn elimination(loss: Loss, c: f64, gamma: f64, epsilon: f64) -> RecursiveElimination<BoundChange> {
    let sigma = KernelWidth::Value((0.5_f64 / gamma).sqrt());
    let kernel = Kernel::Gaussian { sigma };
    let training = Training { kernel, c, epsilon, standardise_target: false, ..Training::default() };
    let criterion = BoundChange { loss: Some(loss), retrain: true, ..BoundChange::new(Bound::RadiusMargin) };
    RecursiveElimination { training, ..RecursiveElimination::new(criterion) }
}

/// `4 R̃² Σ|β| + Σ ξ + n ε` of the machine of these columns, from the definition: machines with squared
/// losses are machines that may make no error beyond ε, in the kernel `K + I/(2C)`.
fn bound(columns: &[&Vec<f64>], y: &[f64], loss: Loss) -> Result<f64, Error> {
    let n = y.len();
    let ridge = if loss == Loss::Squared { 0.5 / COST } else { 0.0 };
    let value = |i: usize, l: usize| {
        let distance: f64 = columns.iter().map(|column| (column[i] - column[l]).powi(2)).sum();
        (-GAMMA * distance).exp() + if i == l { ridge } else { 0.0 }
    };
    let rows = GramRows::new((0..n * n).map(|at| value(at / n, at % n)).collect(), n)?;
    let control = Control { tolerance: 1e-14, max_iterations: 100_000, ..Control::default() };
    let cost = if loss == Loss::Squared { 1e6 } else { COST };
    let machine =
        Regressor { cost, epsilon: EPSILON, ..Regressor::default() }.train(&rows, y, &[], &control)?;
    let ball = Ball::enclosing(&rows, 0.0, &[], &control)?;
    let coefficients = &machine.dual.solution.coefficients;
    let size: f64 = coefficients.iter().map(|value| value.abs()).sum();
    let output =
        |i: usize| -> f64 { (0..n).map(|l| coefficients[l] * value(i, l)).sum::<f64>() + machine.bias };
    let slack = |i: usize| ((y[i] - output(i)).abs() - EPSILON).max(0.0);
    Ok(4.0 * ball.upper * size + (0..n).map(slack).sum::<f64>() + n as f64 * EPSILON)
}

#[test]
fn scores_are_differences_of_the_bound() -> Result<(), Error> {
    let n = 30;
    // Standardised already, so that the elimination sees the same numbers.
    let wave = |step: usize| -> Vec<f64> {
        let mut values: Vec<f64> = (0..n).map(|i| ((i * step + 3) % 31) as f64).collect();
        fewest_columns::standardise(&mut values);
        values
    };
    let columns = [wave(7), wave(11), wave(17), wave(23)];
    let y: Vec<f64> = (0..n).map(|i| columns[0][i] + columns[1][i].powi(2) + 0.1 * columns[2][i]).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y.clone())?)?;
    for loss in [Loss::Squared, Loss::Linear] {
        let all: Vec<&Vec<f64>> = columns.iter().collect();
        let whole = bound(&all, &y, loss)?;
        let run = elimination(loss, COST, GAMMA, EPSILON).run(&data, 4, &Context::default())?;
        for (j, score) in run.rounds[0].importances.iter().enumerate() {
            let others: Vec<&Vec<f64>> = (0..4).filter(|other| *other != j).map(|at| &columns[at]).collect();
            let expected = bound(&others, &y, loss)? - whole;
            assert!((score - expected).abs() < 1e-5 * whole, "{loss} {j}: {score}, {expected}");
        }
    }
    Ok(())
}

/// Five of ten features matter, each together with another. The bound of linear losses does not see it with
/// 70 samples, that of squared ones does.
#[test]
fn squared_losses_find_features_that_matter_together() -> Result<(), Error> {
    let mut found = [0, 0];
    for seed in 0..3 {
        let data = interactive(70, Interaction::Squared, 0.1, seed).unwrap().dataset;
        for (count, loss) in found.iter_mut().zip([Loss::Squared, Loss::Linear]) {
            let elimination = elimination(loss, 64.0, 0.015_625, 0.031_25);
            let selection = elimination.select(&data, Budget::Count(5), &Context::default())?;
            *count += usize::from(selection.order.iter().all(|&j| j < 5));
        }
    }
    assert_eq!(found[0], 3, "of squared losses; of linear ones {}", found[1]);
    assert!(found[1] < 3, "linear losses are as good");
    Ok(())
}

#[test]
fn linear_losses_of_classes_are_refused() -> Result<(), Error> {
    let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0, 4.0]])?;
    let data = Dataset::new(x, Target::from_labels(&[0, 1, 0, 1]))?;
    let error = elimination(Loss::Linear, 1.0, 1.0, 0.1).run(&data, 1, &Context::default()).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { name: "loss", .. }), "{error}");
    Ok(())
}
