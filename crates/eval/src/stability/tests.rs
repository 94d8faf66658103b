use proptest::prelude::*;

use super::*;

#[test]
fn values_computed_by_hand() {
    // d = 4, shares 1, 2/3, 1/3, 0: Σ s² = 3/2 (2/9 + 2/9) = 2/3; k̄/d = 1/2; Φ = 1 − (2/3)/4 / (1/4) = 1/3.
    let selections: [&[usize]; 3] = [&[0, 1], &[1, 0], &[2, 0]];
    let stability = nogueira(&selections, 4, 0.95).unwrap();
    assert!((stability.phi - 1.0 / 3.0).abs() < 1e-12);
    assert!(stability.interval.is_some_and(|(lower, upper)| lower < stability.phi && stability.phi < upper));
    // Pairs share 2, 1, 1: Jaccard 1, 1/3, 1/3; Kuncheva 1, 0, 0.
    assert!((jaccard(&selections).unwrap() - 5.0 / 9.0).abs() < 1e-12);
    assert!((kuncheva(&selections, 4).unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(jaccard(&[&[], &[]]).unwrap(), 1.0);
}

/// The definitions on the whole binary matrix, as in the authors' own formulas.
fn by_definition(selections: &[Vec<usize>], d: usize) -> (f64, f64) {
    let m = selections.len() as f64;
    let z: Vec<Vec<f64>> = selections
        .iter()
        .map(|selection| (0..d).map(|f| if selection.contains(&f) { 1.0 } else { 0.0 }).collect())
        .collect();
    let p: Vec<f64> = (0..d).map(|f| z.iter().map(|row| row[f]).sum::<f64>() / m).collect();
    let k: Vec<f64> = z.iter().map(|row| row.iter().sum()).collect();
    let mean = k.iter().sum::<f64>() / m;
    let d = d as f64;
    let denominator = mean / d * (1.0 - mean / d);
    let phi = 1.0 - p.iter().map(|p| m / (m - 1.0) * p * (1.0 - p)).sum::<f64>() / d / denominator;
    let terms: Vec<f64> = (0..z.len())
        .map(|i| {
            let product = z[i].iter().zip(&p).map(|(z, p)| z * p).sum::<f64>() / d;
            let bracket = 2.0 * mean * k[i] / (d * d) - k[i] / d - mean / d + 1.0;
            (product - k[i] * mean / (d * d) + phi / 2.0 * bracket) / denominator
        })
        .collect();
    let average = terms.iter().sum::<f64>() / m;
    (phi, 4.0 / (m * m) * terms.iter().map(|term| (term - average).powi(2)).sum::<f64>())
}

/// Nine of ten agree fully: the normal interval would reach to 1.05.
#[test]
fn no_interval_leaves_the_range_of_the_measure() {
    let (same, other): (&[usize], &[usize]) = (&[0, 1], &[0, 2]);
    let mostly = [same, same, same, same, same, same, same, same, same, other];
    let stability = nogueira(&mostly, 30, 0.95).unwrap();
    let width = 1.959_963_984_540_054 * stability.variance.unwrap().sqrt();
    assert!(stability.phi + width > 1.0, "what the cut is for");
    assert_eq!(stability.interval, Some((stability.phi - width, 1.0)));
    let apart = nogueira(&[&[0, 1], &[2, 3], &[4, 1]], 6, 0.999).unwrap();
    assert!(apart.interval.is_some_and(|(lower, _)| lower >= -0.5 && lower <= apart.phi));
}

/// The estimate would be 0 and the interval a point, also where they have nothing in common.
#[test]
fn two_selections_have_no_interval() {
    for other in [[0, 1], [0, 2], [2, 3]] {
        let two = nogueira(&[&[0, 1], &other], 9, 0.95).unwrap();
        assert_eq!((two.variance, two.interval), (None, None));
    }
}

proptest! {
    #[test]
    fn counting_selected_features_only_gives_the_definition(sets in prop::collection::vec(prop::collection::btree_set(0_usize..12, 1..9), 2..8)) {
        let selections: Vec<Vec<usize>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
        let slices: Vec<&[usize]> = selections.iter().map(Vec::as_slice).collect();
        let stability = nogueira(&slices, 12, 0.9).unwrap();
        let (phi, variance) = by_definition(&selections, 12);
        prop_assert!((stability.phi - phi).abs() < 1e-12);
        prop_assert!(stability.variance.is_none_or(|found| (found - variance).abs() < 1e-12));
        prop_assert_eq!(stability.variance.is_none(), slices.len() == 2);
        prop_assert!(stability.phi <= 1.0 + 1e-12 && stability.phi >= -1.0 / (slices.len() as f64 - 1.0) - 1e-12);
        // For equal sizes it is Kuncheva's index (their Theorem 5).
        if slices.iter().all(|selection| selection.len() == slices[0].len()) {
            prop_assert!((kuncheva(&slices, 12).unwrap() - phi).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_selections_agree_fully(size in 1_usize..9, times in 2_usize..6) {
        let selection: Vec<usize> = (0..size).collect();
        let slices = vec![selection.as_slice(); times];
        let stability = nogueira(&slices, 10, 0.95).unwrap();
        prop_assert!((stability.phi - 1.0).abs() < 1e-12 && stability.variance.is_none_or(|found| found < 1e-24));
        prop_assert_eq!(jaccard(&slices).unwrap(), 1.0);
    }
}

#[test]
fn spearman_agrees_with_scipy() {
    // scipy 1.17.1: stats.spearmanr([1, 2, 2, 5, 4], [2, 1, 3, 5, 5]).statistic
    let (a, b) = ([1.0, 2.0, 2.0, 5.0, 4.0], [2.0, 1.0, 3.0, 5.0, 5.0]);
    assert!((spearman(&[&a, &b]).unwrap() - 0.7894736842105264).abs() < 1e-12);
    let reversed: Vec<f64> = a.iter().map(|value| -value).collect();
    assert!((spearman(&[&a, &reversed]).unwrap() + 1.0).abs() < 1e-12);
    assert_eq!(spearman(&[&a, &[3.0; 5]]).unwrap(), 0.0);
    let broken = [f64::NAN, 2.0, 2.0, 5.0, 4.0];
    assert!((spearman(&[&a, &broken]).unwrap() - 1.0).abs() < 1e-12);
    assert!(
        spearman(&[&a]).is_err() && spearman(&[&a, &[1.0]]).is_err() && spearman(&[&[1.0], &[1.0]]).is_err()
    );
}

#[test]
fn hostile_selections_are_errors() {
    assert!(matches!(nogueira(&[&[0]], 3, 0.95), Err(Error::TooFew { .. })));
    assert!(matches!(nogueira(&[&[0], &[3]], 3, 0.95), Err(Error::InvalidParameter { .. })));
    assert!(matches!(nogueira(&[&[0, 0], &[1]], 3, 0.95), Err(Error::InvalidParameter { .. })));
    assert!(matches!(nogueira(&[&[], &[]], 3, 0.95), Err(Error::TooFew { .. })));
    assert!(matches!(nogueira(&[&[0, 1], &[0, 1]], 2, 0.95), Err(Error::TooFew { .. })));
    assert!(matches!(nogueira(&[&[0], &[1]], 3, 1.0), Err(Error::InvalidParameter { .. })));
    assert!(matches!(kuncheva(&[&[0], &[1, 2]], 3), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(kuncheva(&[&[0, 1], &[0, 1]], 2), Err(Error::InvalidParameter { .. })));
}
