use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fewest_core::{DenseColumns, Ranked, Scorer, Scores, Target};

use super::*;

/// Scores features by the absolute difference between the means of two classes.
struct Difference;

impl Scorer for Difference {
    fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
        let Target::Class(classes) = data.target() else {
            return Err(Error::UnsupportedTarget {
                method: "difference",
                expected: "classes",
                found: String::new(),
            });
        };
        let score = |j: usize| {
            let values = data.x().column(j, &mut Vec::new()).unwrap().to_vec(data.n_samples());
            let mean = |class: u32| {
                let own = values.iter().zip(classes.codes()).filter(|(_, code)| **code == class);
                let own: Vec<f64> = own.map(|(value, _)| *value).collect();
                own.iter().sum::<f64>() / own.len() as f64
            };
            (mean(0) - mean(1)).abs()
        };
        Ok(Scores::descending((0..data.n_features()).map(score).collect()))
    }
}

/// Features 3 and 7 of 30 differ between the classes.
fn data() -> Dataset {
    let columns: Vec<Vec<f64>> = (0..30_usize)
        .map(|j| {
            let value = |i: usize| {
                let noise = (derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64;
                noise + if (j == 3 || j == 7) && i.is_multiple_of(3) { 0.8 } else { 0.0 }
            };
            (0..61).map(value).collect()
        })
        .collect();
    let labels: Vec<bool> = (0..61).map(|i| i % 3 == 0).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap()
}

#[test]
fn stable_features_are_found_and_the_bound_is_reported() {
    for complementary_pairs in [false, true] {
        let selector = StabilitySelection {
            per_subsample: Some(4),
            complementary_pairs,
            ..StabilitySelection::new(Ranked::new(Difference))
        };
        let selection = selector.select(&data(), Budget::Count(10), &Context::seeded(3)).unwrap();
        let mut order = selection.order.clone();
        order.sort_unstable();
        assert_eq!(order, [3, 7]);
        assert!(selection.scores.iter().all(|share| (0.75..=1.0).contains(share)));
        // 4² / ((2 · 0.75 − 1) · 30) = 16/15.
        let Some(FalseDiscoveries::Number(number)) = selection.false_discoveries else { panic!("a bound") };
        assert!((number.target - 16.0 / 15.0).abs() < 1e-12 && number.per_half == 4.0, "{number:?}");
        assert_eq!((number.threshold, number.halves), (0.75, 100));
        // What a half chooses no more often than by chance needs samples alone with pairs.
        assert!(number.assumption.starts_with("samples are independent"));
        assert_eq!(!number.assumption.contains("exchangeable"), complementary_pairs);
        assert!(!number.assumption.contains("estimate"));
        let strict = selector.select(&data(), Budget::Threshold(1.0), &Context::seeded(3)).unwrap();
        assert!(strict.scores.iter().all(|share| *share == 1.0));
    }
}

/// The number of features in a half is the largest that keeps the bound.
#[test]
fn a_bound_decides_how_many_features_a_half_chooses() {
    // √(1 · (2 · 0.7 − 1) · 10) is 2, but for rounding.
    let exact = StabilitySelection::with_error(Ranked::new(Difference), 1.0, 0.7, 10).unwrap();
    assert_eq!(exact.per_subsample, Some(2));
    for (error, expected) in [(1.0, 3), (0.3, 2), (20.0, 17), (1e3, 30)] {
        let selector = StabilitySelection::with_error(Ranked::new(Difference), error, 0.75, 30).unwrap();
        assert_eq!(selector.per_subsample, Some(expected));
        let selection = selector.select(&data(), Budget::Auto, &Context::seeded(3)).unwrap();
        let bound = selection.false_discoveries.map(FalseDiscoveries::target);
        assert!(bound.is_some_and(|bound| bound <= error * (1.0 + 1e-12)), "{bound:?}");
    }
    for (error, threshold, name) in
        [(1e-3, 0.75, "per_family_error"), (f64::NAN, 0.75, "per_family_error"), (1.0, 0.5, "threshold")]
    {
        match StabilitySelection::with_error(Ranked::new(Difference), error, threshold, 30) {
            Err(Error::InvalidParameter { name: found, .. }) => assert_eq!(found, name),
            _ => panic!("{name}"),
        }
    }
}

#[test]
fn halves_are_halves_of_each_class_and_pairs_are_disjoint() {
    let selector =
        StabilitySelection { complementary_pairs: true, ..StabilitySelection::new(Ranked::new(Difference)) };
    let data = data();
    for pair in 0..20 {
        let (a, b) = (selector.half(&data, 2 * pair, 9), selector.half(&data, 2 * pair + 1, 9));
        assert!(a.len() == 30 && b.len() == 30 && a.iter().all(|row| !b.contains(row)));
        // 21 of 61 samples are of the second class.
        let count = a.iter().filter(|&&row| row % 3 == 0).count();
        assert!((9..=11).contains(&count), "{count}");
    }
    assert_ne!(selector.half(&data, 0, 9), selector.half(&data, 2, 9));
}

/// Chooses as [`Ranked`], 3 features unless told how many, and stops the run in call `last`.
struct Stops<'a> {
    flag: &'a AtomicBool,
    calls: AtomicUsize,
    last: usize,
}

impl Selector for Stops<'_> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let count = if budget == Budget::Auto { Budget::Count(3) } else { budget };
        let found = Ranked::new(Difference).select(data, count, context);
        if self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
            self.flag.store(true, Ordering::Relaxed);
        }
        found
    }
}

/// The bound is one of whole pairs: a half whose other half did not end does not count.
#[test]
fn a_run_that_is_stopped_keeps_the_bound_or_has_none() {
    let stopped = |complementary_pairs, last| {
        let flag = AtomicBool::new(false);
        let selector = StabilitySelection {
            per_subsample: Some(4),
            complementary_pairs,
            ..StabilitySelection::new(Stops { flag: &flag, calls: AtomicUsize::new(0), last })
        };
        let context = Context { interrupt: Some(&flag), ..Context::seeded(3) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| selector.select(&data(), Budget::Auto, &context))
    };
    for last in [4, 5] {
        let selection = stopped(true, last).unwrap();
        assert_eq!(selection.status, Status::Interrupted);
        let Some(FalseDiscoveries::Number(number)) = selection.false_discoveries else { panic!("a bound") };
        assert_eq!(number.halves, 4);
        // Of four halves.
        assert!(selection.scores.iter().all(|share| share * 4.0 == (share * 4.0).round()));
    }
    assert!(matches!(stopped(true, 1), Err(Error::Stopped { .. })));
    let selection = stopped(false, 5).unwrap();
    assert!(selection.status == Status::Interrupted && selection.false_discoveries.is_none());
    assert!(selection.notes.iter().any(|note| note.contains("no bound")), "{:?}", selection.notes);
}

/// Where the method decides how many features a half has, their mean number is an estimate; and constant
/// features cannot be chosen.
#[test]
fn the_bound_says_what_is_estimated_and_counts_features_that_vary() {
    let flag = AtomicBool::new(false);
    let selector = StabilitySelection {
        complementary_pairs: true,
        ..StabilitySelection::new(Stops { flag: &flag, calls: AtomicUsize::new(0), last: 0 })
    };
    let number = |budget, data: &Dataset| match selector
        .select(data, budget, &Context::seeded(3))
        .unwrap()
        .false_discoveries
    {
        Some(FalseDiscoveries::Number(number)) => number,
        other => panic!("{other:?}"),
    };
    assert!(number(Budget::Auto, &data()).assumption.contains("estimate"));
    let data = data();
    let columns: Vec<Vec<f64>> = (0..30)
        .map(|j| match j {
            20.. => vec![1.0; 61],
            _ => data.x().column(j, &mut Vec::new()).unwrap().to_vec(61),
        })
        .collect();
    let fewer = data.clone().with_x(DenseColumns::from_columns(&columns).unwrap()).unwrap();
    let number = number(Budget::Count(4), &fewer);
    assert!((number.target - 16.0 / (0.5 * 20.0)).abs() < 1e-12 && number.per_half == 4.0, "{number:?}");
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let selector = StabilitySelection::new(Ranked::new(Difference));
    let select = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| selector.select(&data(), Budget::Count(5), &Context::seeded(8)).unwrap())
    };
    assert_eq!(select(1), select(3));
}

#[test]
fn wrong_calls_are_errors_that_name_the_parameter() {
    let base = || StabilitySelection::new(Ranked::new(Difference));
    let named = |selector: StabilitySelection<Ranked<Difference>>, budget: Budget| match selector.select(
        &data(),
        budget,
        &Context::default(),
    ) {
        Err(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for threshold in [0.5, 1.1, f64::NAN] {
        assert_eq!(named(StabilitySelection { threshold, ..base() }, Budget::Count(2)), "threshold");
    }
    assert_eq!(named(base(), Budget::Threshold(0.2)), "threshold");
    assert_eq!(named(StabilitySelection { subsamples: 1, ..base() }, Budget::Count(2)), "subsamples");
    let odd = StabilitySelection { subsamples: 7, complementary_pairs: true, ..base() };
    assert_eq!(named(odd, Budget::Count(2)), "subsamples");
    for q in [0, 31] {
        let selector = StabilitySelection { per_subsample: Some(q), ..base() };
        assert_eq!(named(selector, Budget::Count(2)), "per_subsample");
    }
    assert_eq!(named(base(), Budget::Count(31)), "k");
    let few = data().subset(&[0, 1, 2]).unwrap();
    let error = base().select(&few, Budget::Count(2), &Context::default()).unwrap_err();
    assert!(matches!(error, Error::TooFew { minimum: 4, .. }), "{error}");
    let interrupt = AtomicBool::new(true);
    let context = Context { interrupt: Some(&interrupt), ..Context::default() };
    assert!(matches!(base().select(&data(), Budget::Count(2), &context), Err(Error::Stopped { .. })));
}
