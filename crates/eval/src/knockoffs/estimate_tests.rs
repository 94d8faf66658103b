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
    assert_eq!((estimate.made.name, estimate.made.factors), ("graph", 0));
    assert!((d - 10..d + 20).contains(&estimate.made.pairs), "{:?}", estimate.made);
    let truth = |i: usize, j: usize| 0.5_f64.powi(i.abs_diff(j) as i32);
    let shrunk = shrunk(&z, n, ledoit_wolf(&z, n, &Context::default()).unwrap());
    let (own, other) = (distance(&estimate.values, d, truth), distance(&shrunk, d, truth));
    assert!(5.0 * own < other, "{own} {other}");

    let equal = table(n, d, |noise, _, j, i| 0.5_f64.sqrt() * (noise(d, i) + noise(j, i)));
    let estimate = Estimate::chosen(&equal, n, &Context::default()).unwrap();
    assert_eq!(estimate.made.factors, 1);
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
        assert!(Cholesky::of(estimate.values, d).is_some(), "{:?}", estimate.made);
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
    let of = |rows: &[usize]| HeldOut {
        rows: rows.iter().flat_map(|&i| (0..3).map(move |j| j * 40 + i)).map(|at| z[at]).collect(),
        d: 3,
        n: rows.len(),
    };
    let found = of(&rows).loss(sigma, &Context::default()).unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    let indefinite = vec![1.0, 0.9, -0.9, 0.9, 1.0, 0.9, -0.9, 0.9, 1.0];
    assert_eq!(of(&rows).loss(indefinite, &Context::default()).unwrap(), f64::INFINITY);
    // A copy: without this, the more likely the more singular.
    let singular = vec![1.0, 1.0 - 1e-12, 0.0, 1.0 - 1e-12, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(of(&rows).loss(singular, &Context::default()).unwrap(), f64::INFINITY);
}

/// A column that the kept samples know nothing of leaves the others' graph as it is.
#[test]
fn a_rare_value_does_not_decide() {
    let (n, d) = (150, 30);
    let z = chain(n, d);
    let pairs = |z: &[f64]| Estimate::chosen(z, n, &Context::default()).unwrap().made;
    let without = pairs(&z);
    assert_eq!(without.name, "graph");
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| derive_seed(0, i as u64));
    // In two held-out samples, and in one of them.
    for rows in [&order[..2], &order[..1]] {
        let mut rare = vec![0.0; n];
        rows.iter().zip([1.0, -1.0]).for_each(|(&i, value)| rare[i] = value);
        assert!(fewest_columns::standardise(&mut rare));
        let with = pairs(&[z.clone(), rare].concat());
        assert_eq!(with.name, "graph");
        assert!(with.pairs.abs_diff(without.pairs) <= 3, "{without:?} {with:?}");
    }
}

/// Copies and sums: what samples that are held out obey as well must not make a singular matrix likely.
#[test]
fn features_that_follow_from_others_leave_a_regular_matrix() {
    let (n, d) = (200, 11);
    for seed in 0..8 {
        let copy = table(n, d, |noise, columns, j, i| match j {
            10 => columns[seed][i],
            _ => noise(j, i),
        });
        let sum = table(n, d, |noise, columns, j, i| match j {
            10 => columns[..3 + seed % 7].iter().map(|column| column[i]).sum(),
            _ => noise(j, i),
        });
        for z in [copy, sum] {
            let estimate = Estimate::chosen(&z, n, &Context::default()).unwrap();
            let factor = Cholesky::of(estimate.values, d).unwrap();
            assert!(factor.least_pivot() > LEAST_PIVOT, "{:?} {}", estimate.made, factor.least_pivot());
        }
    }
}
