//! Least squares with an l2,1 norm: the minimum from the definition, laws.

use crate::common::{self, columns, noise, real, regression, standardised, three_classes, weights};
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, Status, Target};
use fewest_linear::{L21, Lasso};

type Tested = Result<(), Error>;

const N: usize = 50;
const D: usize = 12;

fn at(regularization: Regularization) -> L21 {
    L21 { regularization, tolerance: 1e-13 }
}

fn run(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::default())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Row norms and objective of the minimum, by many sweeps over rows: `(‖u‖ − λ)₊` of each.
fn reference(x: &[Vec<f64>], outputs: &[Vec<f64>], lambda: f64) -> (Vec<f64>, f64) {
    let mut w = vec![vec![0.0; outputs.len()]; x.len()];
    let mut residuals = outputs.to_vec();
    for _ in 0..3000 {
        for (w, x) in w.iter_mut().zip(x) {
            let u: Vec<f64> = w.iter().zip(&residuals).map(|(w, r)| w + dot(x, r) / N as f64).collect();
            let norm = dot(&u, &u).sqrt();
            for ((w, u), r) in w.iter_mut().zip(&u).zip(&mut residuals) {
                let next = if norm > lambda { (1.0 - lambda / norm) * u } else { 0.0 };
                r.iter_mut().zip(x).for_each(|(r, x)| *r -= (next - *w) * x);
                *w = next;
            }
        }
    }
    let norms: Vec<f64> = w.iter().map(|w| dot(w, w).sqrt()).collect();
    let squares: f64 = residuals.iter().map(|r| dot(r, r)).sum();
    let objective = squares / (2 * N) as f64 + lambda * norms.iter().sum::<f64>();
    (norms, objective)
}

#[test]
fn the_rows_are_those_of_the_minimum() -> Tested {
    let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(x)).collect();
    let three = three_classes()?;
    let indicators: Vec<Vec<f64>> = (0..3)
        .map(|class| {
            let own = |y: &f64| f64::from(usize::from(*y > 0.2) + usize::from(*y > 0.9) == class);
            let values: Vec<f64> = real().iter().map(own).collect();
            let mean = values.iter().sum::<f64>() / N as f64;
            values.iter().map(|value| value - mean).collect()
        })
        .collect();
    let raw = [real(), noise(N, 99), x[4].iter().zip(noise(N, 3)).map(|(x, e)| x + e).collect()];
    let numbers = regression()?.with_target(Target::outputs(raw.concat(), N)?)?;
    let standard: Vec<Vec<f64>> = raw.iter().map(|y| standardised(y)).collect();
    for (data, outputs) in [(three, indicators), (numbers, standard)] {
        let length = |x: &Vec<f64>| {
            let products: Vec<f64> = outputs.iter().map(|y| dot(x, y) / N as f64).collect();
            dot(&products, &products).sqrt()
        };
        let largest = x.iter().map(length).fold(0.0, f64::max);
        for ratio in [0.8, 0.3, 0.05, 0.001] {
            let selection = run(&at(Regularization::Ratio(ratio)), &data)?;
            let (norms, objective) = reference(&x, &outputs, ratio * largest);
            let report = selection.solver.clone();
            let report = report.ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })?;
            assert!((report.lambda / (ratio * largest) - 1.0).abs() < 1e-12, "{ratio}");
            assert!(
                (report.objective - objective).abs() < 1e-12,
                "{ratio}: {} {objective}",
                report.objective
            );
            assert!(report.certificate.value() <= 1e-12, "{report:?}");
            let found = weights(&selection);
            assert!(found.iter().zip(&norms).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {norms:?}");
        }
        assert!(run(&at(Regularization::Ratio(1.0)), &data)?.order.is_empty());
        assert_eq!(run(&at(Regularization::Ratio(0.999)), &data)?.order.len(), 1);
    }
    Ok(())
}

/// One output is the lasso; two copies of it are the lasso with `λ/√2`, each with its coefficients.
#[test]
fn copies_of_an_output_are_the_lasso() -> Tested {
    let lambda = 0.1;
    let lasso = Lasso { regularization: Regularization::Value(lambda), tolerance: 1e-13, ..Lasso::default() };
    let expected: Vec<f64> = weights(&run(&lasso, &regression()?)?).iter().map(|w| w.abs()).collect();
    let root = 2.0_f64.sqrt();
    for (copies, scale) in [(1, 1.0), (2, root)] {
        let target = Target::outputs(real().repeat(copies), N)?;
        let data = regression()?.with_target(target)?;
        let found = weights(&run(&at(Regularization::Value(scale * lambda)), &data)?);
        for (found, w) in found.iter().zip(&expected) {
            assert!((found - scale * w).abs() < 1e-6, "{copies}: {found} {w}");
        }
    }
    Ok(())
}

/// More rows than a Newton step would take, and than samples; the number of threads changes no bit.
#[test]
fn many_rows_are_certified() -> Tested {
    let wide: Vec<Vec<f64>> = (0..300).map(|j| noise(N, j)).collect();
    let outputs: Vec<f64> = (0..8).flat_map(|k| noise(N, 500 + k)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&wide)?, Target::outputs(outputs, N)?)?;
    let method = L21 { regularization: Regularization::Ratio(0.05), ..L21::default() };
    let with = |threads: usize| -> Result<Selection, Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::parameter("threads", error, "a pool"))?;
        pool.install(|| run(&method, &data))
    };
    let one = with(1)?;
    assert!(one == with(2)? && one == with(7)?);
    assert!(one.status == Status::Converged && one.order.len() > 2 * N, "{:?}", one.solver);
    Ok(())
}

#[test]
fn exactly_as_many_features_as_asked_for() -> Tested {
    for data in [regression()?, three_classes()?] {
        for k in [1, 4, D - 1] {
            let found = L21::default().select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!((found.order.len(), found.status), (k, Status::Converged));
            assert!(found.scores.iter().all(|score| *score > 0.0), "norms have no sign");
        }
    }
    Ok(())
}

#[test]
fn bad_parameters_are_typed_errors() {
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let method = L21 { tolerance: bad, ..L21::default() };
        common::refuses_parameter("tolerance", &method, Budget::Count(2));
        common::refuses_parameter("lambda", &at(Regularization::Value(bad)), Budget::Auto);
    }
    common::refuses_parameter("k", &L21::default(), Budget::Auto);
}
