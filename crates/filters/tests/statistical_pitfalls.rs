//! Errors that other packages made in these statistics, and laws the statistics must keep.

use crate::common::Sparse;
use fewest_core::{
    Budget, Column, Context, Dataset, DenseColumns, Error, FeatureKind, Ranked, Scorer, Scores, Selector,
    Target,
};
use fewest_filters::statistical::{
    ChiSquare, ClassVariance, Coefficient, Copies, Correction, CorrelationScore, Distinct, FScore, Gini,
    KruskalWallis, Significant, TScore, Uncorrelated, Variance,
};
use proptest::prelude::*;

type Tested = Result<(), Error>;

/// Numbers without pattern in [0, 1).
fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| fewest_core::derive_seed(seed, i) as f64 / u64::MAX as f64).collect()
}

fn data(columns: &[Vec<f64>], target: Target) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(columns)?, target)
}

fn halves(n: usize) -> Target {
    Target::from_labels(&(0..n).map(|i| i % 2).collect::<Vec<_>>())
}

fn categorical(n_levels: usize) -> FeatureKind {
    FeatureKind::Categorical { levels: (0..n_levels).map(|level| level.to_string()).collect() }
}

fn supervised() -> Vec<(&'static str, Box<dyn Scorer>)> {
    vec![
        ("t-score", Box::new(TScore::default())),
        ("t-score population", Box::new(TScore { variance: ClassVariance::Population })),
        ("f-score", Box::new(FScore)),
        ("chi2", Box::new(ChiSquare::default())),
        ("gini", Box::new(Gini::default())),
        ("kruskal-wallis", Box::new(KruskalWallis)),
        ("correlation", Box::new(CorrelationScore::default())),
        ("spearman", Box::new(CorrelationScore { coefficient: Coefficient::Spearman })),
    ]
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-300), "{what}: {a} and {b}");
}

/// Row 14: an impurity capped at one half makes every feature equal when there are ten classes.
#[test]
fn gini_of_ten_classes_goes_beyond_one_half() -> Tested {
    let n = 200;
    let labels: Vec<usize> = (0..n).map(|i| i % 10).collect();
    let ordered = labels.iter().map(|&label| label as f64).collect();
    let pair = labels.iter().map(|&label| f64::from(label == 3)).collect();
    let data = data(&[ordered, pair, vec![1.0; n]], Target::from_labels(&labels))?;
    let scores = Gini::default().score(&data, &Context::default())?;
    // Five classes against five: each part has impurity 1 − 1/5. One against nine: 0.9 (1 − 1/9).
    for (found, expected) in scores.values.iter().zip([0.8, 0.8, 0.9]) {
        close(*found, expected, 1e-12, "gini");
    }
    assert!(!scores.higher_is_better);
    Ok(())
}

/// Row 15: NaN of a constant column sorted first.
#[test]
fn a_constant_is_never_the_best() -> Tested {
    for constant in [0.0, 0.1, -1e300, 1e-310, 12_345.678_9] {
        let data = data(&[vec![constant; 30], noise(30, 1)], halves(30))?;
        for (name, scorer) in supervised() {
            let scores = scorer.score(&data, &Context::default())?;
            assert!(scores.values.iter().all(|score| !score.is_nan()), "{name}: {:?}", scores.values);
            if name != "gini" {
                assert_eq!(scores.values[0], 0.0, "{name} of {constant}");
            }
            // Nothing to test, and no test among the others, as scipy has it.
            let q_values = scores.q_values();
            assert_eq!(scores.p_values.as_ref().map(|p| p[1]), q_values.map(|q| q[1]), "{name}");
            assert!(scores.p_values.is_none_or(|p| p[0].is_nan()), "{name} of {constant}");
            let chosen = Ranked::new(scorer).select(&data, Budget::Auto, &Context::default())?;
            assert_eq!(chosen.order, [1], "{name}");
        }
        assert_eq!(Variance.score(&data, &Context::default())?.values[0], 0.0);
    }
    Ok(())
}

/// Row 16: `exit(0)` on three classes.
#[test]
fn what_a_statistic_does_not_know_is_a_typed_error() -> Tested {
    let three = data(&[noise(9, 1)], Target::from_labels(&[1, 2, 3, 1, 2, 3, 1, 2, 3]))?;
    let score = |scorer: &dyn Scorer, data: &Dataset| scorer.score(data, &Context::default());
    for scorer in [&TScore::default() as &dyn Scorer, &CorrelationScore::default()] {
        assert!(matches!(score(scorer, &three), Err(Error::UnsupportedTarget { .. })));
    }
    let one_class = data(&[noise(4, 1)], Target::from_labels(&["a"; 4]))?;
    let none = data(&[noise(4, 1)], Target::None)?;
    let weighted = data(&[noise(4, 1)], halves(4))?.with_sample_weights(vec![1.0; 4])?;
    for (name, scorer) in supervised() {
        assert!(score(&*scorer, &one_class).is_err(), "{name}");
        assert!(matches!(score(&*scorer, &none), Err(Error::UnsupportedTarget { .. })), "{name}");
        assert!(matches!(score(&*scorer, &weighted), Err(Error::Unsupported { .. })), "{name}");
    }
    let flat = data(&[noise(4, 1)], Target::real(vec![2.0; 4])?)?;
    assert!(matches!(score(&FScore, &flat), Err(Error::UnsupportedTarget { .. })));
    let each_its_own = data(&[noise(3, 1)], Target::from_labels(&[1, 2, 3]))?;
    assert!(matches!(score(&FScore, &each_its_own), Err(Error::TooFew { minimum: 4, found: 3, .. })));
    let bins = score(&ChiSquare { bins: 1 }, &data(&[noise(4, 1)], halves(4))?);
    assert!(matches!(bins, Err(Error::InvalidParameter { name: "bins", .. })));
    Ok(())
}

/// Users, row 7: a feature that separates the classes perfectly has an infinite F and must win.
#[test]
fn a_perfect_separator_wins() -> Tested {
    // 0.1 and 0.3 are no binary fractions: a mean computed by summing misses them.
    for (low, high, offset) in
        [(0.0, 1.0, 0.0), (0.1, 0.3, 0.0), (0.1, 0.3, 1e9), (1e-200, 3e-200, 0.0), (0.0, 1e200, 0.0)]
    {
        let separates = (0..41).map(|i| offset + if i % 2 == 0 { low } else { high }).collect();
        let data = data(&[noise(41, 3), separates], halves(41))?;
        for scorer in [&FScore as &dyn Scorer, &TScore::default()] {
            let scores = scorer.score(&data, &Context::default())?;
            assert_eq!(scores.values[1], f64::INFINITY, "{low} {high} {offset}");
            assert_eq!(scores.ranking(), [1, 0]);
            assert_eq!(scores.p_values.map(|p| p[1]), Some(0.0));
        }
    }
    let x = noise(30, 1);
    let line = x.iter().map(|x| 3.0 - 0.7 * x).collect();
    let data = data(&[noise(30, 2), x], Target::real(line)?)?;
    assert_eq!(FScore.score(&data, &Context::default())?.values[1], f64::INFINITY);
    assert_eq!(CorrelationScore::default().score(&data, &Context::default())?.values[1], 1.0);
    Ok(())
}

/// Users, row 6: the thresholds of Benjamini and Hochberg. The example of their paper (1995, Section 4.1): of
/// these 15 p-values the procedure rejects four at 0.05, Bonferroni's three.
#[test]
fn benjamini_and_hochberg_by_their_own_example() -> Tested {
    struct Given(Vec<f64>);
    impl Scorer for Given {
        fn score(&self, _: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
            let mut scores = Scores::ascending(self.0.clone());
            scores.p_values = Some(self.0.clone());
            Ok(scores)
        }
    }
    let p = vec![
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0,
    ];
    let columns: Vec<Vec<f64>> = (0..15).map(|j| noise(5, j)).collect();
    let data = data(&columns, Target::None)?;
    let count = |correction, p: Vec<f64>, alpha, budget| -> Result<usize, Error> {
        Ok(Significant::new(Given(p), alpha, correction)
            .select(&data, budget, &Context::default())?
            .order
            .len())
    };
    use Correction::{BenjaminiHochberg, Bonferroni};
    assert_eq!(count(BenjaminiHochberg, p.clone(), 0.05, Budget::Auto)?, 4);
    assert_eq!(count(Bonferroni, p.clone(), 0.05, Budget::Auto)?, 3);
    assert_eq!(count(BenjaminiHochberg, p.clone(), 0.05, Budget::Count(2))?, 2);
    assert_eq!(count(BenjaminiHochberg, p.clone(), 0.05, Budget::Threshold(0.0004))?, 2);
    // Step up: the last one passes its own threshold and takes with it those before that miss theirs.
    let step_up = vec![0.049; 15];
    assert_eq!(count(BenjaminiHochberg, step_up.clone(), 0.05, Budget::Auto)?, 15);
    assert_eq!(count(Bonferroni, step_up, 0.05, Budget::Auto)?, 0);
    assert!(count(Bonferroni, p.clone(), 1.0, Budget::Auto).is_err());
    assert!(count(Bonferroni, p, f64::NAN, Budget::Auto).is_err());
    let without =
        Significant::new(Variance, 0.05, Bonferroni).select(&data, Budget::Auto, &Context::default());
    assert!(matches!(without, Err(Error::Unsupported { .. })));
    Ok(())
}

/// Under independence p-values are uniform: a tenth of them is below 0.1.
#[test]
fn p_values_are_uniform_under_independence() -> Tested {
    let (n, d) = (60, 2000);
    let columns: Vec<Vec<f64>> = (0..d).map(|j| noise(n, j as u64)).collect();
    let data = data(&columns, halves(n))?;
    for (name, scorer) in supervised() {
        let Some(p) = scorer.score(&data, &Context::default())?.p_values else { continue };
        for level in [0.1, 0.5] {
            let share = p.iter().filter(|p| **p <= level).count() as f64 / d as f64;
            // Three standard errors, and what the approximations of small tables lack.
            assert!((share - level).abs() < 0.035, "{name}: {share} of the p-values are below {level}");
        }
    }
    Ok(())
}

#[test]
fn sparse_columns_score_as_dense_ones() -> Tested {
    let n = 50;
    let stored = |share: f64, seed: u64| -> (Vec<usize>, Vec<f64>) {
        let rows: Vec<usize> =
            noise(n, seed).iter().enumerate().filter(|(_, u)| **u < share).map(|(i, _)| i).collect();
        let values = noise(rows.len(), seed + 100).iter().map(|u| 1e4 + u).collect();
        (rows, values)
    };
    let table: Vec<_> =
        [(0.0, 1), (0.1, 2), (0.5, 3), (1.1, 4)].map(|(share, seed)| stored(share, seed)).to_vec();
    let dense: Vec<Vec<f64>> =
        table.iter().map(|(rows, values)| Column::Sparse { rows, values }.to_vec(n)).collect();
    for target in [halves(n), Target::real(noise(n, 9))?] {
        let sparse = Dataset::new(Sparse { n_samples: n, columns: table.clone() }, target.clone())?;
        let dense = data(&dense, target)?;
        for (name, scorer) in supervised() {
            let context = Context::default();
            let (a, b) = (scorer.score(&sparse, &context), scorer.score(&dense, &context));
            // Some refuse a real target; none the form of the columns.
            assert_eq!(a.is_ok(), b.is_ok(), "{name}: {:?} and {:?}", a.err(), b.err());
            let (Ok(a), Ok(b)) = (a, b) else {
                continue;
            };
            for (a, b) in a.values.iter().zip(&b.values) {
                close(*a, *b, 1e-9, name);
            }
        }
        let (a, b) =
            (Variance.score(&sparse, &Context::default())?, Variance.score(&dense, &Context::default())?);
        a.values.iter().zip(&b.values).for_each(|(a, b)| close(*a, *b, 1e-12, "variance"));
    }
    Ok(())
}

/// A category of two levels is its code; more levels do not depend on how they are numbered.
#[test]
fn categories_are_their_indicators() -> Tested {
    let n = 60;
    let codes = |levels: f64, seed: u64| -> Vec<f64> {
        noise(n, seed).iter().map(|u| (u * levels).floor()).collect()
    };
    let three = codes(3.0, 2);
    let renumbered: Vec<f64> = three.iter().map(|code| [2.0, 0.0, 1.0][*code as usize]).collect();
    let columns = [codes(2.0, 1), three, renumbered];
    let plain = data(&columns, halves(n))?;
    let kinds = vec![categorical(2), categorical(3), categorical(3)];
    let mixed = plain.clone().with_feature_kinds(kinds.clone())?;
    let mut scorers = supervised();
    scorers.push(("variance", Box::new(Variance)));
    for (name, scorer) in &scorers {
        let (a, b) = (scorer.score(&plain, &Context::default())?, scorer.score(&mixed, &Context::default())?);
        close(a.values[0], b.values[0], 1e-9, name);
        if *name == "kruskal-wallis" {
            assert!(b.values[1].is_nan() && b.values[2].is_nan());
            continue;
        }
        close(b.values[1], b.values[2], 1e-9, name);
        if let Some(p) = b.p_values {
            close(p[1], p[2], 1e-6, name);
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{name}: {p:?}");
        }
    }
    // A real target over levels: the analysis of variance the other way round.
    let target = noise(n, 7);
    let labels: Vec<u64> = columns[1].iter().map(|code| *code as u64).collect();
    let exchanged = data(std::slice::from_ref(&target), Target::from_labels(&labels))?;
    let by_levels = data(&columns, Target::real(target)?)?.with_feature_kinds(kinds)?;
    let f = FScore.score(&by_levels, &Context::default())?.values[1];
    close(f, FScore.score(&exchanged, &Context::default())?.values[0], 1e-9, "analysis of variance");
    Ok(())
}

/// With two classes F is the square of the pooled t, and of the regression's F on the class codes.
#[test]
fn two_roads_to_f_meet() -> Tested {
    let columns = [noise(40, 1), noise(40, 2)];
    let codes: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
    let by_class = FScore.score(&data(&columns, halves(40))?, &Context::default())?;
    let by_code = FScore.score(&data(&columns, Target::real(codes)?)?, &Context::default())?;
    let correlation = CorrelationScore::default().score(&data(&columns, halves(40))?, &Context::default())?;
    for j in 0..2 {
        close(by_class.values[j], by_code.values[j], 1e-9, "F");
        let r2 = correlation.values[j].powi(2);
        close(by_class.values[j], r2 * 38.0 / (1.0 - r2), 1e-9, "r² to F");
    }
    assert!(by_class.p_values.is_some());
    let p = |scores: &Scores| scores.p_values.clone().unwrap_or_default();
    p(&by_class).iter().zip(p(&correlation)).for_each(|(a, b)| close(*a, b, 1e-9, "p"));
    Ok(())
}

proptest! {
    /// Units and offsets do not matter, however large.
    #[test]
    fn scores_know_no_units(seed in 0_u64..1000, power in -280_i32..280, offset in -100_000_i32..100_000) {
        // Whole multiples of 2⁻²⁴, which an offset leaves exact: what differs is the scores' own rounding.
        let x: Vec<f64> = noise(33, seed).iter().map(|x| (x * 2.0_f64.powi(24)).round() / 2.0_f64.powi(24)).collect();
        let offset_x: Vec<f64> = x.iter().map(|x| x + f64::from(offset)).collect();
        let scaled: Vec<f64> = x.iter().map(|x| x * 2.0_f64.powi(power) * 2.0_f64.powi(power)).collect();
        let data = data(&[x, offset_x, scaled], halves(33)).unwrap();
        for (name, scorer) in supervised() {
            let scores = scorer.score(&data, &Context::default()).unwrap().values;
            // Bins may feel the rounding of their edges.
            if !["chi2"].contains(&name) {
                prop_assert!((scores[0] - scores[1]).abs() <= 1e-9 * scores[0], "{name}: {scores:?}");
            }
            prop_assert!((scores[0] - scores[2]).abs() <= 1e-12 * scores[0], "{name}: {scores:?}");
        }
    }
}

#[test]
fn repeated_features_are_removed() -> Tested {
    let n = 40;
    let (a, b) = (noise(n, 1), noise(n, 2));
    let near: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + 0.05 * b).collect();
    let codes: Vec<f64> = noise(n, 5).iter().map(|u| (u * 3.0).floor()).collect();
    let renumbered = codes.iter().map(|code| [1.0, 2.0, 0.0][*code as usize]).collect();
    let from_codes = codes.iter().map(|code| [7.0, -1.0, 1.5][*code as usize]).collect();
    let copy = a.iter().map(|x| 1e6 - 3e-4 * x).collect();
    let columns = [a, b, near, copy, codes, renumbered, from_codes, vec![4.0; n]];
    let mut kinds = vec![FeatureKind::Numeric; 8];
    kinds[4] = categorical(3);
    kinds[5] = categorical(3);
    let data = data(&columns, Target::real(noise(n, 8))?)?.with_feature_kinds(kinds)?;
    let kept = |threshold| -> Result<Vec<usize>, Error> {
        let mut order = Uncorrelated { threshold }.select(&data, Budget::Auto, &Context::default())?.order;
        order.sort_unstable();
        Ok(order)
    };
    let groups = |kept: &[usize]| {
        [[0, 3].as_slice(), &[1], &[2], &[4, 5, 6]]
            .map(|group| kept.iter().filter(|j| group.contains(j)).count())
    };
    assert_eq!(groups(&kept(1.0)?), [1, 1, 1, 1], "copies go: {:?}", kept(1.0)?);
    let close = kept(0.9)?;
    assert_eq!(close.iter().filter(|j| [0, 2, 3].contains(*j)).count(), 1, "{close:?}");
    for threshold in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(kept(threshold).is_err(), "{threshold}");
    }
    Ok(())
}

#[test]
fn of_several_copies_the_first_stays() -> Tested {
    let n = 50;
    let (a, b) = (noise(n, 1), noise(n, 2));
    // Slopes and offsets that round: the scores of the copies differ in their last digits.
    let copies: Vec<Vec<f64>> = (1..40)
        .map(|j| {
            let slope = if j % 2 == 0 { 0.1 } else { -0.7 } * f64::from(j);
            a.iter().map(|x| slope * x + f64::from(j) / 3.0).collect()
        })
        .collect();
    let mut columns = vec![vec![2.5; n], b.clone()];
    columns.extend(copies);
    columns.push(a.clone());
    columns.push(a.iter().zip(&b).map(|(a, b)| a + 1e-3 * b).collect());
    columns.push(b);
    let last = columns.len();
    for target in [halves(n), Target::real(noise(n, 9))?] {
        let data = data(&columns, target)?;
        let kept =
            |selector: &dyn Selector, budget: Budget| selector.select(&data, budget, &Context::default());
        let mut order = kept(&Uncorrelated { threshold: 1.0 }, Budget::Auto)?.order;
        order.sort_unstable();
        assert_eq!(order, [1, 2, last - 2], "uncorrelated");
        let distinct = kept(&Distinct::default(), Budget::Auto)?;
        assert_eq!(distinct.order, [1, 2, last - 2], "distinct");
        assert_eq!(
            distinct.notes,
            ["1 constant feature was removed", "40 copies of earlier features were removed"]
        );
        assert_eq!(kept(&Distinct::default(), Budget::Count(2))?.order, [1, 2]);
        // Only the last column has the values of another.
        let exact = kept(&Distinct { copies: Copies::Exact }, Budget::Auto)?.order;
        assert_eq!(exact, (1..last - 1).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn categories_are_copies_under_any_names_and_numbers_are_not() -> Tested {
    let n = 60;
    let codes: Vec<f64> = noise(n, 5).iter().map(|u| (u * 4.0).floor()).collect();
    let by = |names: [f64; 4]| codes.iter().map(|code| names[*code as usize]).collect::<Vec<f64>>();
    let merged = by([0.0, 1.0, 2.0, 2.0]);
    let columns = [codes.clone(), by([2.0, 0.0, 3.0, 1.0]), merged, by([5.0, 5.5, 7.0, -1.0]), codes.clone()];
    let kinds =
        vec![categorical(4), categorical(4), categorical(3), FeatureKind::Numeric, FeatureKind::Numeric];
    let data = data(&columns, Target::None)?.with_feature_kinds(kinds)?;
    let order =
        |copies| Ok::<_, Error>(Distinct { copies }.select(&data, Budget::Auto, &Context::default())?.order);
    assert_eq!(order(Copies::Linear)?, [0, 2, 3, 4]);
    assert_eq!(order(Copies::Exact)?, [0, 1, 2, 3, 4]);
    Ok(())
}
