//! Group lassos with squared errors where a descent by residuals is hard: more coefficients than samples, and
//! columns that are almost the same. Certificates from the definition.

use crate::common::{noise, standardised, weights};
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, Groups, Selection, Selector, Status, Target,
};
use fewest_linear::{Fitting, GroupLasso, SparseGroupLasso};

const N: usize = 40;
const D: usize = 200;
const SIZE: usize = 5;

fn table(alike: f64) -> Vec<Vec<f64>> {
    let base: Vec<Vec<f64>> = (0..6).map(|b| noise(N, 500 + b)).collect();
    let column = |j: usize| -> Vec<f64> {
        let own = noise(N, j as u64);
        // The same base in groups far apart, too.
        own.iter().zip(&base[j % 6]).map(|(own, base)| alike * base + (1.0 - alike) * own).collect()
    };
    (0..D).map(column).collect()
}

fn target(x: &[Vec<f64>]) -> Vec<f64> {
    let error = noise(N, 900);
    (0..N).map(|i| x[0][i] - 2.0 * x[7][i] + x[101][i] + 0.5 * error[i]).collect()
}

fn solved(alike: f64, ratio: f64, l1_ratio: Option<f64>) -> Result<Selection, Error> {
    let x = table(alike);
    let groups = Groups::partition((0..D).map(|j| j / SIZE).collect());
    let data = Dataset::new(DenseColumns::from_columns(&x)?, Target::real(target(&x))?)?
        .with_feature_groups(groups)?;
    let fitting = Fitting { regularization: Regularization::Ratio(ratio), ..Fitting::default() };
    let group_lasso = GroupLasso { fitting, ..GroupLasso::default() };
    match l1_ratio {
        None => group_lasso.select(&data, Budget::Auto, &Context::default()),
        Some(l1_ratio) => {
            SparseGroupLasso { l1_ratio, group_lasso }.select(&data, Budget::Auto, &Context::default())
        }
    }
}

/// The largest share of the correlations for which the penalty's conjugate is finite, by bisection: the
/// length of what is left of each group after its l1 part has been taken off.
fn scale(v: &[f64], lambda: f64, l1_ratio: f64) -> f64 {
    let holds = |t: f64| {
        v.chunks_exact(SIZE).all(|v| {
            let left = v.iter().map(|v| ((t * v).abs() - lambda * l1_ratio).max(0.0).powi(2)).sum::<f64>();
            left.sqrt() <= lambda * (1.0 - l1_ratio) * (SIZE as f64).sqrt()
        })
    };
    if holds(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

#[test]
fn gaps_are_small_by_the_definition() -> Result<(), Error> {
    for alike in [0.0, 0.5, 0.98] {
        for ratio in [0.3, 0.01, 0.001] {
            for l1_ratio in [None, Some(0.4)] {
                let selection = solved(alike, ratio, l1_ratio)?;
                let report =
                    selection.solver.clone().ok_or(Error::TooFew { what: "r", minimum: 1, found: 0 })?;
                let case = format!("{alike} {ratio} {l1_ratio:?}");
                let (x, w, share) = (table(alike), weights(&selection), l1_ratio.unwrap_or(0.0));
                let y = standardised(&target(&x));
                let x: Vec<Vec<f64>> = x.iter().map(|x| standardised(x)).collect();
                let r: Vec<f64> =
                    (0..N).map(|i| y[i] - x.iter().zip(&w).map(|(x, w)| w * x[i]).sum::<f64>()).collect();
                let v: Vec<f64> =
                    x.iter().map(|x| x.iter().zip(&r).map(|(x, r)| x * r).sum::<f64>() / N as f64).collect();
                let square = r.iter().map(|r| r * r).sum::<f64>() / N as f64;
                let lambda = report.lambda;
                let length = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt() * (SIZE as f64).sqrt();
                let penalty = lambda
                    * w.chunks_exact(SIZE)
                        .map(|w| share * w.iter().map(|w| w.abs()).sum::<f64>() + (1.0 - share) * length(w))
                        .sum::<f64>();
                let t = scale(&v, lambda, share);
                let along: f64 = w.iter().zip(&v).map(|(w, v)| w * v).sum();
                let gap = 0.5 * (1.0 - t) * (1.0 - t) * square + penalty - t * along;
                assert!(gap / 0.5 <= 1.1e-9, "{case}: {}", gap / 0.5);
                assert!((0.5 * square + penalty - report.objective).abs() < 1e-9, "{case}");
                assert_eq!(report.status, Status::Converged, "{case}");
                let many = w.iter().filter(|w| **w != 0.0).count();
                assert!(ratio > 0.01 || l1_ratio.is_some() || alike > 0.5 || many > N, "{case}: {many}");
            }
        }
    }
    Ok(())
}

#[test]
fn threads_change_nothing() -> Result<(), Error> {
    let with = |threads: usize| -> Result<Selection, Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::parameter("threads", error, "a pool"))?;
        pool.install(|| solved(0.5, 0.05, Some(0.4)))
    };
    let one = with(1)?;
    assert!(one == with(2)? && one == with(7)?);
    Ok(())
}
