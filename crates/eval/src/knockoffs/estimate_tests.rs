use super::super::model::normal_numbers;
use super::*;

/// `n` samples of `d` standardised features, of which feature `j` is `value(noise, j, i)`; `noise(s, i)` is a
/// standard normal number.
fn table(
    n: usize,
    d: usize,
    value: impl Fn(&dyn Fn(usize, usize) -> f64, &[Vec<f64>], usize, usize) -> f64,
) -> Vec<f64> {
    let noise: Vec<Vec<f64>> = (0..d + 4).map(|stream| normal_numbers(stream as u64, n)).collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        columns.push((0..n).map(|i| value(&|stream, i| noise[stream][i], &columns, j, i)).collect());
    }
    columns.iter_mut().for_each(|column| assert!(fewest_columns::standardise(column)));
    columns.concat()
}

fn chain(n: usize, d: usize) -> Vec<f64> {
    table(n, d, |noise, columns, j, i| {
        columns
            .last()
            .map_or(noise(j, i), |before: &Vec<f64>| 0.5 * before[i] + 0.75_f64.sqrt() * noise(j, i))
    })
}

/// The mean squared distance of correlations from the true ones.
fn distance(values: &[f64], d: usize, truth: impl Fn(usize, usize) -> f64) -> f64 {
    let apart = values.iter().enumerate().map(|(at, value)| (value - truth(at % d, at / d)).powi(2));
    apart.sum::<f64>() / (d * d) as f64
}

#[test]
fn a_chain_is_a_graph_and_equal_correlations_are_a_factor() {
    let (n, d) = (200, 120);
    let z = chain(n, d);
    let estimate = Estimate::chosen(&z, n, &Context::default()).unwrap();
    let Rest::Graph(pairs) = estimate.rest else { panic!("{:?}", estimate.rest) };
    assert_eq!(estimate.factors, 0);
    assert!((d - 10..d + 20).contains(&pairs), "{pairs}");
    let truth = |i: usize, j: usize| 0.5_f64.powi(i.abs_diff(j) as i32);
    let by_samples = Samples::new(&z, n, &Context::default()).unwrap();
    let shrunk = by_samples.estimate(SHRUNK, &Context::default()).unwrap().unwrap();
    let (own, other) = (distance(&estimate.values, d, truth), distance(&shrunk.values, d, truth));
    assert!(5.0 * own < other, "{own} {other}");

    let equal = table(n, d, |noise, _, j, i| 0.5_f64.sqrt() * (noise(d, i) + noise(j, i)));
    let estimate = Estimate::chosen(&equal, n, &Context::default()).unwrap();
    assert_eq!(estimate.factors, 1);
    let truth = |i: usize, j: usize| if i == j { 1.0 } else { 0.5 };
    let own = distance(&estimate.values, d, truth);
    assert!(own < 5e-3, "{own}");
}

#[test]
fn of_independent_features_nearly_nothing_is_correlated() {
    let (n, d) = (150, 100);
    let estimate =
        Estimate::chosen(&table(n, d, |noise, _, j, i| noise(j, i)), n, &Context::default()).unwrap();
    let own = distance(&estimate.values, d, |i, j| f64::from(i == j));
    // Those of the samples are 1 / 150 away.
    assert!(own < 1e-4, "{own}");
}

/// Whatever is chosen is a correlation matrix, also where features repeat others, and of few samples.
#[test]
fn estimates_are_correlations() {
    let twice = table(60, 20, |noise, _, j, i| noise(j / 2, i));
    let few = chain(5, 8);
    let two_values = table(60, 20, |noise, _, j, i| f64::from(noise(j, i) > 1.0));
    let factors = table(90, 60, |noise, _, j, i| {
        noise(60 + j % 3, i) + if j % 2 == 0 { noise(63, i) } else { 0.0 } + 0.2 * noise(j, i)
    });
    for (z, n) in [
        (twice, 60),
        (few, 5),
        (two_values, 60),
        (factors, 90),
        (vec![1.5_f64.sqrt(), 0.0, -1.5_f64.sqrt()], 3),
    ] {
        let d = z.len() / n;
        let estimate = Estimate::chosen(&z, n, &Context::default()).unwrap();
        for j in 0..d {
            assert!((estimate.values[j * (d + 1)] - 1.0).abs() < 1e-6, "{}", estimate.values[j * (d + 1)]);
            for k in 0..j {
                assert!((estimate.values[j * d + k] - estimate.values[k * d + j]).abs() < 1e-12);
            }
        }
        assert!(Cholesky::of(estimate.values, d).is_some(), "{:?} {}", estimate.rest, estimate.factors);
    }
}

/// The loss by its definition.
#[test]
fn the_loss_is_that_of_the_normal_distribution() {
    let z = chain(40, 3);
    let sigma = vec![1.0, 0.4, 0.1, 0.4, 1.0, 0.3, 0.1, 0.3, 1.0];
    let matrix = nalgebra::DMatrix::from_vec(3, 3, sigma.clone());
    let rows = [4, 7, 30];
    let squares = rows.map(|i| {
        let row = nalgebra::DVector::from_fn(3, |j, _| z[j * 40 + i]);
        row.dot(&(matrix.clone().try_inverse().unwrap() * &row))
    });
    let expected = matrix.determinant().ln() + squares.iter().sum::<f64>() / 3.0;
    let found = HeldOut::new(&z, 40, &rows).loss(sigma, &Context::default()).unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    let indefinite = vec![1.0, 0.9, -0.9, 0.9, 1.0, 0.9, -0.9, 0.9, 1.0];
    assert_eq!(HeldOut::new(&z, 40, &rows).loss(indefinite, &Context::default()).unwrap(), f64::INFINITY);
}
