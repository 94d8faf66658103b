use fewest_core::{DenseColumns, FeatureKind, Target, derive_seed};
use fewest_kernels::{Gaussian, Gram, NormalisedDelta};
use nalgebra::DMatrix;

use super::*;

const N: usize = 40;

fn noise(seed: u64) -> Vec<f64> {
    (0..N as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

fn standardised(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / N as f64;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / N as f64).sqrt();
    values.iter().map(|value| (value - mean) / deviation).collect()
}

/// Four numeric features, the last without a say, and a category of three levels.
fn columns() -> Vec<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = (1..5).map(noise).collect();
    columns.push(noise(5).iter().map(|u| (3.0 * (u + 0.5)).floor()).collect());
    columns
}

/// The outputs `Y`, one after the other, two of them.
fn outputs() -> Vec<Vec<f64>> {
    let x = columns();
    let first = (0..N).map(|i| 8.0 * x[0][i] * x[0][i] + x[1][i] + 0.2 * x[3][i]).collect();
    let second = (0..N).map(|i| f64::from(x[4][i] == 1.0) + (6.0 * x[2][i]).sin()).collect();
    vec![first, second]
}

fn data() -> Result<Dataset, Error> {
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut kinds = vec![FeatureKind::Numeric; 4];
    kinds.push(FeatureKind::Categorical { levels });
    Dataset::new(DenseColumns::from_columns(&columns())?, Target::outputs(outputs().concat(), N)?)?
        .with_feature_kinds(kinds)
}

/// The projections `Q Qᵀ` onto what a function of each feature may be: the eigenvectors of its whole centred
/// Gram matrix whose eigenvalue is at least a hundredth of the largest.
fn projections() -> Result<Vec<DMatrix<f64>>, Error> {
    let projection = |(k, column): (usize, &Vec<f64>)| {
        let gram = match k {
            4 => Gram::new(&NormalisedDelta::from_points(column), column),
            _ => Gram::new(&Gaussian::new(1.0)?, &standardised(column)),
        };
        let eigen = DMatrix::from_column_slice(N, N, gram.centre().as_slice()).symmetric_eigen();
        let least = 0.01 * eigen.eigenvalues.max();
        let leading = eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter());
        Ok(leading
            .filter(|(value, _)| **value >= least)
            .fold(DMatrix::<f64>::zeros(N, N), |sum, (_, vector)| sum + vector * vector.transpose()))
    };
    columns().iter().enumerate().map(projection).collect()
}

/// The minimised objective at the functions `f` of the features, `n` by outputs each; and the value of the
/// dual,
///
/// ```text
/// maximise over θ   ½ ‖Y‖² − ½ ‖Y − θ‖²   where ‖Qₖᵀ θ‖ ≤ λ for every feature k
/// ```
///
/// at the residual scaled to be feasible.
fn primal_and_dual(
    projections: &[DMatrix<f64>],
    y: &DMatrix<f64>,
    f: &[DMatrix<f64>],
    lambda: f64,
) -> (f64, f64) {
    let residual = f.iter().fold(y.clone(), |rest, f| rest - f);
    let primal = 0.5 * residual.norm_squared() + lambda * f.iter().map(DMatrix::norm).sum::<f64>();
    let largest = projections.iter().map(|p| (p * &residual).norm()).fold(0.0, f64::max);
    let theta = residual * (lambda / largest).min(1.0);
    (primal, 0.5 * y.norm_squared() - 0.5 * (y - theta).norm_squared())
}

/// Objective and duality gap are those of the definition, far from the optimum and close to it; the gap
/// bounds the distance to an optimum found by plain back-fitting with whole matrices.
#[test]
fn the_certificate_is_that_of_the_definition() -> Result<(), Error> {
    let (data, projections, context) = (data()?, projections()?, Context::default());
    let target: Vec<f64> = outputs().iter().flat_map(|output| standardised(output)).collect();
    let y = DMatrix::from_column_slice(N, 2, &target);
    let at_zero = 0.5 * y.norm_squared();
    let largest = projections.iter().map(|p| (p * &y).norm()).fold(0.0, f64::max);
    let mut loosest_gap = 0.0_f64;
    for ratio in [0.8, 0.3, 0.05] {
        let lambda = ratio * largest;
        let mut best = vec![DMatrix::<f64>::zeros(N, 2); 5];
        for _ in 0..2000 {
            for k in 0..5 {
                let others = (0..5).filter(|&j| j != k).fold(y.clone(), |rest, j| rest - &best[j]);
                let fitted = &projections[k] * others;
                best[k] = &fitted * (1.0 - lambda / fitted.norm()).max(0.0);
            }
        }
        let (optimum, bound) = primal_and_dual(&projections, &y, &best, lambda);
        assert!((optimum - bound).abs() <= 1e-10 * at_zero, "{optimum} and {bound}");

        for tolerance in [1.0, 0.1, 1e-3, 1e-9] {
            let bases = (0..5)
                .map(|j| Basis::new(&data, j, KernelWidth::Value(1.0), 0.01))
                .collect::<Result<_, _>>()?;
            let problem = Problem { bases, target: target.clone(), n: N, tolerance, context: &context };
            let fit = problem.solve(lambda, &Functions::new(), false);
            let functions: Vec<DMatrix<f64>> = (0..5)
                .map(|k| {
                    let mut minus = vec![0.0; 2 * N];
                    if let Some(coefficients) = fit.functions.get(&k) {
                        problem.bases[k].subtract(coefficients, &mut minus, N);
                    }
                    -DMatrix::from_column_slice(N, 2, &minus)
                })
                .collect();
            for (p, f) in projections.iter().zip(&functions) {
                assert!((p * f - f).norm() <= 1e-7 * y.norm(), "not a function of the feature");
            }
            let (primal, dual) = primal_and_dual(&projections, &y, &functions, lambda);
            let report = &fit.report;
            assert_eq!(report.status, Status::Converged);
            assert!((report.objective - primal).abs() <= 1e-7 * at_zero, "{report:?} {primal}");
            let gap = (primal - dual) / at_zero;
            assert!((report.certificate.value() - gap).abs() <= 1e-7, "{report:?} {gap}");
            assert!((0.0..=tolerance).contains(&report.certificate.value()), "{report:?}");
            let beyond = (report.objective - optimum) / at_zero;
            assert!((-1e-7..=report.certificate.value() + 1e-7).contains(&beyond), "{report:?} {optimum}");
            loosest_gap = loosest_gap.max(gap);
        }
        let method = Spam { regularization: Regularization::Ratio(ratio), ..Spam::default() };
        let selection = method.select(&data, Budget::Auto, &context)?;
        let mut scores = [0.0; 5];
        selection.order.iter().zip(&selection.scores).for_each(|(&k, &score)| scores[k] = score);
        for (score, f) in scores.iter().zip(&best) {
            let expected = f.norm() / (N as f64).sqrt();
            assert!((score - expected).abs() <= 1e-5, "{score} and {expected}");
        }
    }
    // Else the gaps above would all have been zero, as any formula may be at the optimum.
    assert!(loosest_gap > 0.1, "{loosest_gap}");
    Ok(())
}
