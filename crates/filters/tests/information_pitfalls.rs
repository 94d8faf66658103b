//! Errors that other programs made, one test each.

use crate::common::uniform;
use crate::criteria::criteria;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Scorer, Selector, Target};
use fewest_filters::discretisation::{Discretisation, Integers};
use fewest_filters::information::{
    Cfs, Estimator, Fcbf, Fcq, Forward, ForwardCriterion, Mim, MrmrForm, Observations, kraskov,
};

fn dataset(columns: &[Vec<f64>], labels: &[usize]) -> Dataset {
    Dataset::new(DenseColumns::from_columns(columns).unwrap(), Target::from_labels(labels)).unwrap()
}

/// Two classes and features that follow them ever less; the first two are alike but for a few samples.
fn problem(n: usize, d: usize) -> Dataset {
    let labels: Vec<usize> = uniform(n, 1).iter().map(|u| usize::from(*u < 0.5)).collect();
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|j| {
            // Feature 1 has the noise of feature 0.
            let noise = uniform(n, if j == 1 { 100 } else { 100 + j as u64 });
            let share = if j == 1 { 0.45 } else { 0.5 / (1.0 + j as f64) };
            noise.iter().zip(&labels).map(|(u, y)| (1.0 - share) * u + share * *y as f64).collect()
        })
        .collect();
    dataset(&columns, &labels)
}

fn forward() -> Vec<ForwardCriterion> {
    criteria(1.0, 0.5, 0.5)
}

fn select(selector: &dyn Selector, data: &Dataset, budget: Budget) -> fewest_core::Selection {
    selector.select(data, budget, &Context::default()).unwrap()
}

/// Interaction capping sums what each selected feature takes; others take the largest alone, which is CMIM.
#[test]
fn icap_sums_over_the_selected() {
    // Three copies of the class with one sample in eight changed, at different places, and one weaker
    // feature.
    let n = 64;
    let y: Vec<usize> = (0..n).map(|i| i % 2).collect();
    let copy = |period: usize, shift: usize| -> Vec<f64> {
        (0..n).map(|i| if i % period == shift { 1.0 - y[i] as f64 } else { y[i] as f64 }).collect()
    };
    let data = dataset(&[copy(8, 0), copy(7, 1), copy(6, 2), copy(5, 3)], &y);
    let icap = select(&Forward::new(ForwardCriterion::Icap), &data, Budget::Count(4));
    let cmim = select(&Forward::new(ForwardCriterion::Cmim { capped: true }), &data, Budget::Count(4));
    // With two features selected the sum is more than its largest term.
    assert!(icap.scores[2] < cmim.scores[2] - 0.01, "{:?} {:?}", icap.scores, cmim.scores);
}

/// Asked for all features, or without a number, no feature comes twice and the search ends with the
/// candidates.
#[test]
fn no_feature_comes_twice() {
    let data = problem(60, 6);
    for criterion in forward() {
        for budget in [Budget::Auto, Budget::Count(6), Budget::Threshold(f64::NEG_INFINITY)] {
            let selection = select(&Forward::new(criterion), &data, budget);
            let mut order = selection.order.clone();
            order.sort_unstable();
            order.dedup();
            assert_eq!(order.len(), selection.order.len(), "{criterion:?}: {:?}", selection.order);
        }
        assert_eq!(select(&Forward::new(criterion), &data, Budget::Count(6)).order.len(), 6);
        let too_many = Forward::new(criterion).select(&data, Budget::Count(7), &Context::default());
        assert!(matches!(too_many, Err(Error::InvalidParameter { name: "k", .. })));
        // What fails the test of the budget is not in the answer.
        let auto = select(&Forward::new(criterion), &data, Budget::Auto);
        assert!(auto.scores.iter().all(|score| *score > 0.0), "{criterion:?}: {:?}", auto.scores);
    }
}

/// FCBF ends although a feature resembles itself less than the class by rounding, and constants divide
/// nothing by 0.
#[test]
fn fcbf_ends_and_knows_constants() {
    let n = 99;
    let y: Vec<usize> = (0..n).map(|i| i * 7 % 3).collect();
    let class: Vec<f64> = y.iter().map(|y| *y as f64).collect();
    let columns = vec![vec![2.0; n], class.clone(), uniform(n, 3), class, vec![0.0; n]];
    let selection = select(&Fcbf::default(), &dataset(&columns, &y), Budget::Auto);
    assert_eq!(selection.order[0], 1);
    assert!(!selection.order.contains(&3), "a copy of a kept feature goes");
    assert!(!selection.order.contains(&0) && !selection.order.contains(&4), "a constant is never kept");
    assert!(selection.notes[0].starts_with("2 features"), "{:?}", selection.notes);
    // A table of constants has no answer, and that is no error.
    let nothing = select(&Fcbf::default(), &dataset(&[vec![1.0; n], vec![2.0; n]], &y), Budget::Auto);
    assert!(nothing.order.is_empty());
}

/// Five bins are five, and the maximum is not alone in one.
#[test]
fn five_bins_are_five() {
    let values: Vec<f64> = (0..1001).map(f64::from).collect();
    let levels = Discretisation::default().levels(&values, None).unwrap();
    assert_eq!(levels.n_levels, 5);
    let in_last = levels.codes.iter().filter(|code| **code == 4).count();
    assert_eq!(in_last, 201);
}

/// Ties are counted, not shaken: repeated values give the same finite answer every time.
#[test]
fn neighbours_need_no_noise_for_ties() {
    let x: Vec<f64> = (0..200).map(|i| f64::from(i % 4)).collect();
    let y: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
    let first = kraskov(Observations::Real(&x), Observations::Real(&y), 3).unwrap();
    assert!((first - 2_f64.ln()).abs() < 0.02, "{first}");
    assert_eq!(kraskov(Observations::Real(&x), Observations::Real(&y), 3).unwrap(), first);
    let constant = vec![1.0; 200];
    assert!(kraskov(Observations::Real(&x), Observations::Real(&constant), 3).unwrap() < 1e-12);
}

#[test]
fn cfs_says_why_there_are_fewer() {
    let column: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
    let data =
        dataset(&[column.clone(), column.clone(), column], &(0..40).map(|i| i % 2).collect::<Vec<_>>());
    let selection = select(&Cfs::default(), &data, Budget::Count(3));
    assert_eq!(
        (selection.order, selection.notes),
        (vec![0], vec!["1 of 3 features: no further feature raises the merit".to_owned()])
    );
}

/// CFS gives the best subset, not the last five steps beyond it, and no index that does not exist.
#[test]
fn cfs_gives_the_best_subset() {
    let data = problem(300, 7);
    let selection = select(&Cfs::default(), &data, Budget::Auto);
    let merit = |features: &[usize]| {
        let uncertainty = |a: &[f64], b: &[f64]| {
            let rule = Discretisation::default();
            let (a, b) = (rule.levels(a, None).unwrap(), rule.levels(b, None).unwrap());
            let entropy = |key: &dyn Fn(usize) -> (u32, u32)| {
                let mut counts = std::collections::BTreeMap::new();
                (0..300).for_each(|i| *counts.entry(key(i)).or_insert(0.0) += 1.0 / 300.0);
                counts.values().map(|p: &f64| -p * p.ln()).sum::<f64>()
            };
            let of_a = entropy(&|i| (a.codes[i], 0));
            let of_b = entropy(&|i| (0, b.codes[i]));
            2.0 * (of_a + of_b - entropy(&|i| (a.codes[i], b.codes[i]))) / (of_a + of_b)
        };
        let column = |j: usize| {
            let mut out = vec![0.0; 300];
            data.x().copy_column(j, &mut out).unwrap();
            out
        };
        let Target::Class(classes) = data.target() else { unreachable!() };
        let y: Vec<f64> = classes.codes().iter().map(|code| f64::from(*code)).collect();
        let (mut relevance, mut size) = (0.0, features.len() as f64);
        for (at, &i) in features.iter().enumerate() {
            relevance += uncertainty(&column(i), &y);
            for &j in &features[..at] {
                size += 2.0 * uncertainty(&column(i), &column(j));
            }
        }
        relevance / size.sqrt()
    };
    // Of all 127 subsets of seven features.
    let subsets = (1..128_u32).map(|mask| (0..7).filter(|j| mask >> j & 1 == 1).collect::<Vec<usize>>());
    let best = subsets.max_by(|a, b| merit(a).total_cmp(&merit(b))).unwrap();
    let mut found = selection.order.clone();
    found.sort_unstable();
    assert_eq!(found, best);
    assert!((selection.objective.unwrap() - merit(&best)).abs() < 1e-10);
    assert!(best.len() < 7, "there must be something to leave out");
    // Features run out before patience does.
    let few = select(&Cfs { patience: 1000, ..Cfs::default() }, &data, Budget::Auto);
    assert_eq!(few.objective, selection.objective);
}

/// Row 5: information is never negative, and never above the entropy of either variable; a duplicated feature
/// adds nothing.
#[test]
fn information_stays_between_zero_and_the_entropy() {
    let data = problem(80, 12);
    let entropy = 2_f64.ln();
    for estimator in [
        Estimator::default(),
        Estimator::Parzen { bandwidth_factor: 1.0 },
        Estimator::Kraskov { neighbours: 3 },
    ] {
        let scores = Mim { estimator }.score(&data, &Context::default()).unwrap().values;
        assert!(
            scores.iter().all(|score| (0.0..=entropy + 0.05).contains(score)),
            "{estimator:?}: {scores:?}"
        );
    }
    let y: Vec<usize> = (0..60).map(|i| i % 2).collect();
    let a: Vec<f64> = uniform(60, 4).iter().zip(&y).map(|(u, y)| u + *y as f64).collect();
    let twins = dataset(&[a.clone(), a, uniform(60, 6)], &y);
    for criterion in
        [ForwardCriterion::Mrmr { form: MrmrForm::Difference }, ForwardCriterion::Cmim { capped: false }]
    {
        let selection = select(&Forward::new(criterion), &twins, Budget::Count(3));
        assert_eq!(selection.order, [0, 2, 1], "{criterion:?}");
    }
}

/// Row 8: the maximum stays in the last bin: two features that order samples in opposite ways carry the same.
#[test]
fn the_maximum_is_not_wrapped_into_the_first_bin() {
    let n = 100;
    let up: Vec<f64> = (0..n).map(f64::from).collect();
    let y: Vec<usize> = (0..n).map(|i| usize::from(i >= 80)).collect();
    let scores = Mim::default().score(&dataset(&[up], &y), &Context::default()).unwrap().values;
    let share: f64 = 0.2;
    let entropy = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
    // Bins of 20 samples, the last of which is the second class: nothing is lost, as it would be with the
    // maximum in the first.
    assert!((scores[0] - entropy).abs() < 1e-12, "{} for {entropy}", scores[0]);
    let bins = Discretisation { bins: 5, ..Discretisation::default() };
    let levels = bins.levels(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], None).unwrap();
    assert_eq!(levels.codes, [0, 1, 2, 3, 4, 4]);
}

/// Row 9: CFS does not give the first features whatever the data.
#[test]
fn cfs_finds_features_of_continuous_data() {
    let n = 200;
    let y: Vec<usize> = uniform(n, 1).iter().map(|u| usize::from(*u < 0.5)).collect();
    let mut columns: Vec<Vec<f64>> = (0..12).map(|j| uniform(n, 50 + j)).collect();
    for (j, share) in [(7, 0.5), (10, 0.4)] {
        columns[j] = columns[j].iter().zip(&y).map(|(u, y)| (1.0 - share) * u + share * *y as f64).collect();
    }
    let mut found = select(&Cfs::default(), &dataset(&columns, &y), Budget::Count(2)).order;
    found.sort_unstable();
    assert_eq!(found, [7, 10]);
}

/// Row 10: criteria differ, and so do their rankings.
#[test]
fn criteria_rank_differently() {
    // Feature 1 nearly repeats feature 0; 2 and 3 tell the class together only; 4 is weak.
    let n = 400;
    let bits: Vec<Vec<usize>> =
        (0..4).map(|j| uniform(n, 20 + j).iter().map(|u| usize::from(*u < 0.5)).collect()).collect();
    let y: Vec<usize> = (0..n).map(|i| 2 * bits[0][i] + (bits[1][i] ^ bits[2][i])).collect();
    let noisy = |bit: &[usize], seed: u64, rate: f64| -> Vec<f64> {
        bit.iter()
            .zip(uniform(n, seed))
            .map(|(b, u)| if u < rate { 1.0 - *b as f64 } else { *b as f64 })
            .collect()
    };
    let columns = [
        noisy(&bits[0], 1, 0.05),
        noisy(&bits[0], 2, 0.06),
        noisy(&bits[1], 3, 0.0),
        noisy(&bits[2], 4, 0.0),
        noisy(&bits[0], 5, 0.35),
        noisy(&bits[3], 6, 0.0),
    ];
    let data = dataset(&columns, &y);
    let rankings: std::collections::BTreeSet<Vec<usize>> = forward()
        .iter()
        .map(|criterion| select(&Forward::new(*criterion), &data, Budget::Count(6)).order)
        .collect();
    assert!(rankings.len() >= 5, "{rankings:?}");
}

/// Row 15: constants and more features than carry anything end the search, with a note and without NaN.
#[test]
fn constants_and_too_few_features_end_the_search() {
    let n = 50;
    let y: Vec<usize> = (0..n).map(|i| i % 2).collect();
    let a: Vec<f64> = y.iter().map(|y| *y as f64).collect();
    let data = dataset(&[vec![3.0; n], a, vec![0.0; n]], &y);
    let mut selectors: Vec<Box<dyn Selector>> = vec![Box::new(Fcq::default()), Box::new(Fcbf::default())];
    selectors
        .extend(forward().iter().map(|criterion| Box::new(Forward::new(*criterion)) as Box<dyn Selector>));
    for selector in selectors {
        let selection = select(&*selector, &data, Budget::Count(3));
        assert_eq!(selection.order, [1]);
        assert!(selection.scores[0] > 0.0);
        assert_eq!(selection.notes.len(), 2, "{:?}", selection.notes);
        assert!(selection.notes[1].starts_with("1 of 3"), "{:?}", selection.notes);
    }
}

/// As many categories as samples: the tables would have a billion cells each.
#[test]
fn identifiers_neither_hang_nor_exhaust_memory() {
    let n = 2000_usize;
    let identifier: Vec<f64> = (0..n).map(|i| (i * 1237 % n) as f64).collect();
    let other: Vec<f64> = (0..n).map(|i| (i * 421 % n) as f64).collect();
    let y: Vec<usize> = (0..n).map(|i| i * 17 % n).collect();
    let data = dataset(&[identifier, other, uniform(n, 1)], &y);
    let rule = Discretisation { integers: Integers::Levels, ..Discretisation::default() };
    for criterion in forward() {
        let forward = Forward { criterion, estimator: Estimator::Discrete(rule) };
        assert_eq!(select(&forward, &data, Budget::Count(3)).order[0], 0, "{criterion:?}");
    }
}
