//! Components of an indefinite kernel from outside: the definition on whole matrices, laws, hostile input.

use std::sync::atomic::AtomicBool;

use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Ranked, Scorer, Selector, Target,
};
use fewest_mkl::{BaseKernel, Ikpca};
use fewest_testkit::conformance::{check_selector, problem};
use nalgebra::DMatrix;

fn columns(data: &Dataset) -> Vec<Vec<f64>> {
    let mut scratch = Vec::new();
    (0..data.n_features())
        .map(|j| data.x().column(j, &mut scratch).unwrap().to_vec(data.n_samples()))
        .collect()
}

fn standardised(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.iter().map(|value| (value - mean) / deviation).collect()
}

/// The centred matrix of a feature, from the definition.
fn matrix(values: &[f64], kernel: impl Fn(f64, f64) -> f64) -> DMatrix<f64> {
    let n = values.len();
    let whole = DMatrix::from_fn(n, n, |i, j| kernel(values[i], values[j]));
    let centring = DMatrix::identity(n, n) - DMatrix::from_element(n, n, 1.0 / n as f64);
    &centring * whole * &centring
}

#[test]
fn scores_are_those_of_whole_matrices() -> Result<(), Error> {
    let data = problem(true);
    let kernel = |a: f64, b: f64| (1.7 * a * b - 0.6).tanh();
    let matrices: Vec<Option<DMatrix<f64>>> = columns(&data)
        .iter()
        .map(|column| column.iter().any(|v| *v != column[0]).then(|| matrix(&standardised(column), kernel)))
        .collect();
    let sum: DMatrix<f64> = matrices.iter().flatten().sum();
    let eigen = sum.symmetric_eigen();
    assert!(eigen.eigenvalues.min() < -0.1, "indefinite: {}", eigen.eigenvalues.min());
    let mut order: Vec<usize> = (0..40).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].abs().total_cmp(&eigen.eigenvalues[a].abs()));
    for components in [1, 5, 12, 1000] {
        let method = Ikpca { kernel: BaseKernel::Sigmoid { scale: 1.7, shift: 0.6 }, components };
        let scores = method.score(&data, &Context::default())?.values;
        let chosen = &order[..components.min(40)];
        let total: f64 = chosen.iter().map(|&c| eigen.eigenvalues[c].abs()).sum();
        let mut found = 0.0;
        for (score, matrix) in scores.iter().zip(&matrices) {
            let Some(matrix) = matrix else { continue };
            let share = |&c: &usize| {
                let vector = eigen.eigenvectors.column(c);
                eigen.eigenvalues[c].signum() * (vector.transpose() * matrix * vector)[0]
            };
            let expected: f64 = chosen.iter().map(share).sum();
            assert!((score - expected).abs() < 1e-6 * total, "{components}: {score} {expected}");
            found += score;
        }
        assert!((found - total).abs() < 1e-6 * total, "{found} {total}");
    }
    Ok(())
}

/// With the linear kernel they are the principal components of the features.
#[test]
fn the_linear_kernel_gives_loadings() -> Result<(), Error> {
    let data = problem(true);
    let table: Vec<Vec<f64>> = columns(&data)
        .iter()
        .map(|column| if column[0] == column[1] { vec![0.0; 40] } else { standardised(column) })
        .collect();
    let table = DMatrix::from_fn(40, 8, |i, j| table[j][i]);
    let eigen = (table.transpose() * &table).symmetric_eigen();
    let mut order: Vec<usize> = (0..8).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let method = Ikpca { kernel: BaseKernel::Linear, components: 3 };
    let scores = method.score(&data, &Context::default())?.values;
    for (j, score) in scores.iter().enumerate() {
        let expected: f64 =
            order[..3].iter().map(|&c| eigen.eigenvalues[c] * eigen.eigenvectors[(j, c)].powi(2)).sum();
        assert!((score - expected).abs() < 1e-8 * eigen.eigenvalues.max(), "{j}: {score} {expected}");
    }
    Ok(())
}

#[test]
fn laws_threads_and_kinds() -> Result<(), Box<dyn std::error::Error>> {
    let ranked = Ranked::new(Ikpca::default());
    check_selector(&ranked, &problem(true), 3);
    let data = problem(true);
    let run = |threads: usize| -> Result<_, Box<dyn std::error::Error>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(pool.install(|| Ikpca::default().score(&data, &Context::default()))?.values)
    };
    assert_eq!(run(1)?, run(3)?);
    // A category beside numbers, a copy, a constant, no target.
    let code: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let wave: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 41)).collect();
    let mut kinds = vec![FeatureKind::Numeric; 4];
    kinds[1] = FeatureKind::Categorical { levels: vec!["a".into(), "b".into(), "c".into()] };
    let x = DenseColumns::from_columns(&[wave.clone(), code, wave, vec![1.0; 40]])?;
    let mixed = Dataset::new(x, Target::None)?.with_feature_kinds(kinds)?;
    let scores = Ikpca::default().score(&mixed, &Context::default())?.values;
    assert!((scores[0] - scores[2]).abs() < 1e-9 * scores[0] && scores[1] > 0.0, "{scores:?}");
    assert!(scores.iter().all(|score| *score >= scores[3]), "{scores:?}");
    Ok(())
}

#[test]
fn what_cannot_be_done_is_said() -> Result<(), Error> {
    let data = problem(true);
    let none = Ikpca { components: 0, ..Ikpca::default() };
    let Err(error) = none.score(&data, &Context::default()) else { panic!("no components") };
    assert!(error.to_string().contains("components"));
    let wrong = Ikpca { kernel: BaseKernel::Sigmoid { scale: f64::NAN, shift: 0.0 }, ..Ikpca::default() };
    assert!(wrong.score(&data, &Context::default()).is_err());
    let raised = AtomicBool::new(true);
    let interrupted = Context { interrupt: Some(&raised), ..Context::default() };
    let outcome = Ikpca::default().score(&data, &interrupted);
    assert!(matches!(outcome, Err(Error::Stopped { .. })), "{outcome:?}");
    let constant = Dataset::new(DenseColumns::from_columns(&[vec![1.0; 4], vec![2.0; 4]])?, Target::None)?;
    assert_eq!(Ikpca::default().score(&constant, &Context::default())?.values, [0.0, 0.0]);
    let ranked = Ranked::new(Ikpca::default());
    assert!(ranked.select(&constant, Budget::Count(1), &Context::default())?.order.is_empty());
    Ok(())
}
