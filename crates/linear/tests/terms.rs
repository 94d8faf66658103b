//! Covariates without a penalty and offsets: certificates from the definition, laws, hostile input.

mod certificates;
mod laws;
mod refusals;

use crate::common::{columns, noise, real, standardised, weights};
use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, PathChoice, Selection, Selector, Target,
};
use fewest_linear::{AdaptiveLasso, ElasticNet, FirstEstimate, Lasso, LinearLoss, Sign};
use fewest_newton::LinearModel;
use fewest_solver::loss::{
    Cox, Huber, Logistic, Loss, Multinomial, Poisson, Samples, Separable, Squared, SquaredHinge, Ties,
};
use fewest_solver::{Control, DenseOperator, L1};

type Tested = Result<(), Error>;

const N: usize = 50;
const COVARIATES: [usize; 2] = [0, 5];
const OFFSET: usize = 9;

const LOGISTIC: LinearLoss = LinearLoss::Logistic { intercept: true };
const POISSON: LinearLoss = LinearLoss::Poisson { intercept: true };
const LOSSES: [LinearLoss; 9] = [
    LinearLoss::Squared,
    LOGISTIC,
    LinearLoss::Logistic { intercept: false },
    LinearLoss::Multinomial { intercept: true },
    LinearLoss::SquaredHinge { intercept: true },
    LinearLoss::Huber { intercept: true, delta: 0.8 },
    POISSON,
    LinearLoss::Cox { ties: Ties::Breslow },
    LinearLoss::Cox { ties: Ties::Efron },
];

fn takes_offset(loss: LinearLoss) -> bool {
    !matches!(loss, LinearLoss::Multinomial { .. } | LinearLoss::SquaredHinge { .. })
}

fn is_difference(loss: LinearLoss) -> bool {
    matches!(loss, LinearLoss::Squared | LinearLoss::Huber { .. })
}

fn labels(limits: &[f64]) -> Vec<usize> {
    real().iter().map(|y| limits.iter().filter(|limit| y > limit).count()).collect()
}

fn counts() -> Vec<f64> {
    real().iter().map(|y| (2.0 * y).exp().floor().min(40.0)).collect()
}

fn survival() -> (Vec<f64>, Vec<bool>) {
    (real().into_iter().map(|y| (10.0 * (-y).exp()).ceil()).collect(), (0..N).map(|i| i % 4 != 1).collect())
}

fn target(loss: LinearLoss) -> Result<Target, Error> {
    match loss {
        LinearLoss::Logistic { .. } | LinearLoss::SquaredHinge { .. } => {
            Ok(Target::from_labels(&labels(&[0.4])))
        }
        LinearLoss::Multinomial { .. } => Ok(Target::from_labels(&labels(&[0.2, 0.9]))),
        LinearLoss::Poisson { .. } => Target::real(counts()),
        LinearLoss::Cox { .. } => {
            let (times, events) = survival();
            Target::survival(times, events)
        }
        _ => Target::real(real()),
    }
}

fn data(loss: LinearLoss) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns())?, target(loss)?)
}

/// The loss again, by the solver's own types but from the target as it is, with the offset, and whether there
/// is an intercept that is not part of it.
fn loss_of(loss: LinearLoss, offset: &[f64]) -> Result<(Box<dyn Loss>, bool), Error> {
    let mean = || {
        if offset.is_empty() { Ok(Samples::mean(N)) } else { Samples::mean(N).with_offsets(offset.to_vec()) }
    };
    let less = || -> Vec<f64> {
        let offset = |i: usize| offset.get(i).copied().unwrap_or(0.0);
        standardised(&real().iter().enumerate().map(|(i, y)| y - offset(i)).collect::<Vec<f64>>())
    };
    let signs = || labels(&[0.4]).into_iter().map(|label| if label == 1 { 1.0 } else { -1.0 }).collect();
    Ok(match loss {
        LinearLoss::Auto | LinearLoss::Squared => {
            (Box::new(Separable::new(Squared, less(), Samples::mean(N))?), false)
        }
        LinearLoss::Logistic { intercept } => {
            (Box::new(Separable::new(Logistic, signs(), mean()?)?), intercept)
        }
        LinearLoss::SquaredHinge { intercept } => {
            (Box::new(Separable::new(SquaredHinge, signs(), mean()?)?), intercept)
        }
        LinearLoss::Multinomial { intercept } => {
            (Box::new(Multinomial::new(labels(&[0.2, 0.9]), 3, mean()?)?), intercept)
        }
        LinearLoss::Huber { delta, intercept } => {
            (Box::new(Separable::new(Huber::new(delta)?, less(), Samples::mean(N))?), intercept)
        }
        LinearLoss::Poisson { intercept } => {
            (Box::new(Separable::new(Poisson, counts(), mean()?)?), intercept)
        }
        LinearLoss::Cox { ties } => {
            let (times, events) = survival();
            (Box::new(Cox::new(&times, &events, ties, mean()?)?), false)
        }
        LinearLoss::Hinge { .. } => return Err(Error::parameter("loss", "hinge", "with a gradient")),
    })
}

fn at(loss: LinearLoss, ratio: f64) -> Lasso {
    let regularization = Regularization::Ratio(ratio);
    Lasso { loss, regularization, covariates: COVARIATES.to_vec(), ..Lasso::default() }
}

fn with_offset(loss: LinearLoss, ratio: f64) -> Lasso {
    let offset = if takes_offset(loss) { vec![OFFSET] } else { Vec::new() };
    Lasso { offset, ..at(loss, ratio) }
}

fn select(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::default())
}

fn report(selection: &Selection) -> Result<fewest_core::SolverReport, Error> {
    selection.solver.clone().ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The fitted values with the best coefficients of `free` columns, one after the other by bisection of the
/// derivative, again and again.
fn best(loss: &dyn Loss, free: &[Vec<f64>], fitted: &[f64]) -> Vec<f64> {
    let mut z = fitted.to_vec();
    let slope = |z: &[f64], column: &[f64]| {
        let mut dual = vec![0.0; z.len()];
        loss.dual_point(z, &mut dual);
        dot(&dual, column)
    };
    for _ in 0..400 {
        let mut moved = 0.0_f64;
        for column in free {
            let at = |t: f64| -> Vec<f64> { z.iter().zip(column).map(|(z, x)| z + t * x).collect() };
            let (mut low, mut high) = (-4.0, 4.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if slope(&at(middle), column) > 0.0 { low = middle } else { high = middle }
            }
            moved = moved.max(high.abs());
            z = at(high);
        }
        if moved < 1e-14 {
            break;
        }
    }
    z
}

/// As many copies of the standard deviation as there are samples.
fn whole_deviation(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    vec![square.sqrt(); values.len()]
}
