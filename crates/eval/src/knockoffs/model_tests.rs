use super::*;

fn noise(n: usize, seed: u64) -> Vec<f64> {
    normal_numbers(seed, n)
}

/// Standardised columns with correlations: each is partly the one before.
fn table(n: usize, d: usize) -> Vec<f64> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let mut column = noise(n, j as u64);
        if let Some(before) = columns.last() {
            column.iter_mut().zip(before).for_each(|(value, other)| *value = 0.8 * *value + 0.6 * other);
        }
        assert!(fewest_columns::standardise(&mut column));
        columns.push(column);
    }
    columns.concat()
}

/// `C`, column after column.
fn correlations(a: &[f64], b: &[f64], n: usize) -> Vec<Vec<f64>> {
    a.chunks_exact(n).map(|a| b.chunks_exact(n).map(|b| dot(a, b) / n as f64).collect()).collect()
}

/// Knockoffs are as correlated with other features, and among each other, as the features are.
#[test]
fn knockoffs_have_the_correlations_of_the_features() {
    let (n, d) = (20_000, 5);
    let z = table(n, d);
    let expected = correlations(&z, &z, n);
    for construction in [Construction::Mvr, Construction::Sdp, Construction::Equicorrelated] {
        for covariance in [Covariance::Auto, Covariance::LedoitWolf, Covariance::Given(expected.concat())] {
            let model = NormalModel::new(&z, n, &covariance, construction, &Context::default()).unwrap();
            let knockoffs = model.draw(7, &Context::default()).unwrap();
            let among = correlations(&knockoffs, &knockoffs, n);
            let between = correlations(&z, &knockoffs, n);
            for i in 0..d {
                for j in 0..d {
                    // Three standard errors and more.
                    assert!((among[i][j] - expected[i][j]).abs() < 0.04, "{construction} {i} {j}");
                    let apart = (between[i][j] - expected[i][j]).abs();
                    assert!(i == j || apart < 0.04, "{construction} {i} {j}: {apart}");
                }
                assert!(between[i][i] < 0.85, "{construction}: a knockoff is its feature");
            }
        }
    }
}

/// The optimum of the semidefinite programme is 0 for a feature that nearly follows from two others.
#[test]
fn a_semidefinite_optimum_with_zeros_can_be_drawn_from() {
    let n = 20_000;
    let (first, second, own) = (noise(n, 1), noise(n, 2), noise(n, 3));
    let mut third: Vec<f64> = (0..n).map(|i| first[i] + second[i] + 0.3 * own[i]).collect();
    let mut columns = [first, second];
    columns.iter_mut().for_each(|column| assert!(fewest_columns::standardise(column)));
    assert!(fewest_columns::standardise(&mut third));
    let z = [columns.concat(), third].concat();
    let share = 0.998 / 2.09_f64.sqrt();
    let sigma = vec![1.0, 0.0, share, 0.0, 1.0, share, share, share, 1.0];
    let given = Covariance::Given(sigma.clone());
    let model = NormalModel::new(&z, n, &given, Construction::Sdp, &Context::default()).unwrap();
    let knockoffs = model.draw(7, &Context::default()).unwrap();
    let (among, between) = (correlations(&knockoffs, &knockoffs, n), correlations(&z, &knockoffs, n));
    for i in 0..3 {
        for j in 0..3 {
            assert!((among[i][j] - sigma[i + 3 * j]).abs() < 0.04, "{i} {j} {}", among[i][j]);
            assert!(i == j || (between[i][j] - sigma[i + 3 * j]).abs() < 0.04, "{i} {j} {}", between[i][j]);
        }
        // Not the feature itself.
        assert!(between[i][i] < 0.9999, "{}", between[i][i]);
    }
}

/// The two ways to draw with one `s` have the same distribution; here by their correlations, with more
/// features than samples, where those of the estimate are known.
#[test]
fn with_more_features_than_samples_no_matrix_of_all_features_is_needed() {
    let (n, d) = (30, 50);
    let z = table(n, d);
    let shrinkage = ledoit_wolf(&z, n, &Context::default()).unwrap();
    assert!(shrinkage > 0.05 && shrinkage < 1.0, "{shrinkage}");
    let context = Context::default();
    let Parts::Spectral { s, vectors, eigenvalues, rest } = spectral(&z, n, shrinkage, &context).unwrap()
    else {
        panic!("spectral")
    };
    assert!((s - INSIDE * (2.0 * shrinkage).min(1.0)).abs() < 1e-9, "{s} {shrinkage}");
    // Σ from its eigenvectors is Σ.
    let direct = correlations(&z, &z, n);
    for i in 0..d {
        for j in 0..d {
            let of = |vector: &[f64], mu: f64| (mu - rest) * vector[i] * vector[j];
            let mut found: f64 = vectors.chunks_exact(d).zip(&eigenvalues).map(|(v, mu)| of(v, *mu)).sum();
            found += if i == j { rest } else { 0.0 };
            let expected = (1.0 - shrinkage) * direct[i][j] + if i == j { shrinkage } else { 0.0 };
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
    // Drawn many times, knockoffs of one sample have the mean and the variance of the formula.
    let model =
        NormalModel::new(&z, n, &Covariance::LedoitWolf, Construction::Equicorrelated, &context).unwrap();
    let draws: Vec<Vec<f64>> = (0..2000).map(|seed| model.draw(seed, &context).unwrap()).collect();
    let sigma = DMatrix::from_fn(d, d, |i, j| {
        (1.0 - shrinkage) * direct[i][j] + if i == j { shrinkage } else { 0.0 }
    });
    let inverse = cholesky(sigma).unwrap().inverse();
    for j in [0, 17, 49] {
        let mean = z[j * n] - s * (0..d).map(|k| z[k * n] * inverse[(k, j)]).sum::<f64>();
        let variance = 2.0 * s - s * s * inverse[(j, j)];
        let values: Vec<f64> = draws.iter().map(|draw| draw[j * n]).collect();
        let found = values.iter().sum::<f64>() / 2000.0;
        let spread = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / 2000.0;
        assert!((found - mean).abs() < 5.0 * (variance / 2000.0).sqrt(), "{found} {mean}");
        assert!((spread - variance).abs() < 0.2 * variance, "{spread} {variance}");
    }
}

#[test]
fn the_shrinkage_is_that_of_the_definition() {
    for (n, d) in [(12, 5), (6, 9)] {
        let z = table(n, d);
        let c = correlations(&z, &z, n);
        let (mut apart, mut spread) = (0.0, 0.0);
        for i in 0..d {
            for j in 0..d {
                apart += (c[i][j] - f64::from(i == j)).powi(2);
                for k in 0..n {
                    spread += (z[i * n + k] * z[j * n + k] - c[i][j]).powi(2) / (n * n) as f64;
                }
            }
        }
        assert!((ledoit_wolf(&z, n, &Context::default()).unwrap() - (spread / apart).min(1.0)).abs() < 1e-12);
    }
}

fn inverse_of(sigma: &DMatrix<f64>) -> Vec<f64> {
    cholesky(sigma.clone()).unwrap().inverse().as_slice().to_vec()
}

/// Of equal correlations `ρ` the semidefinite programme has the solution `min(1, 2(1 − ρ))`.
#[test]
fn constructions_are_the_optima_of_their_problems() {
    let d = 12;
    let context = Context::default();
    let step = |s: f64, own: f64, _: &[f64], barrier: f64| (own.recip() - barrier).clamp(-s, 1.0 - s);
    for rho in [0.1_f64, 0.4, 0.7, 0.9] {
        let sigma = DMatrix::from_fn(d, d, |i, j| if i == j { 1.0 } else { rho });
        let expected = (2.0 * (1.0 - rho)).min(1.0);
        let sdp = by_coordinates(&inverse_of(&sigma), d, &BARRIERS, &context, step).unwrap();
        let mean = sdp.iter().sum::<f64>() / d as f64;
        assert!((mean - expected).abs() < 5e-3, "{rho}: {mean} {expected}");
        let same = equicorrelated(&inverse_of(&sigma), d, &context).unwrap();
        assert!((same[0] - expected).abs() < 1e-5);
    }
    // No single entry of the MVR solution can be improved, by the definition of its objective.
    let sigma = DMatrix::from_fn(d, d, |i, j| 0.7_f64.powi((i as i32 - j as i32).abs()));
    let mvr = by_coordinates(&inverse_of(&sigma), d, &[0.0], &context, |s, own, column, _| {
        let norm = dot(column, column).sqrt();
        (1.0 - norm * s) / (norm + own)
    })
    .unwrap();
    let objective = |s: &[f64]| {
        let matrix = DMatrix::from_fn(d, d, |i, j| 2.0 * sigma[(i, j)] - if i == j { s[i] } else { 0.0 });
        cholesky(matrix).map_or(f64::INFINITY, |factor| factor.inverse().trace())
            + s.iter().map(|s| s.recip()).sum::<f64>()
    };
    let best = objective(&mvr);
    for j in 0..d {
        for change in [-1e-2, 1e-2] {
            let mut other = mvr.clone();
            other[j] += change;
            assert!(objective(&other) > best, "{j} {change}");
        }
    }
}
