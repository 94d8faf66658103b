use fewest_core::{Dataset, DenseColumns, Error, Target};
use proptest::prelude::*;

use super::*;

fn data(labels: &[u32]) -> Dataset {
    let x = DenseColumns::new(vec![0.0; labels.len()], labels.len(), 1).unwrap();
    Dataset::new(x, Target::from_labels(labels)).unwrap()
}

fn check(splits: &[Split], n_samples: usize) {
    for split in splits {
        assert!(!split.train.is_empty() && !split.test.is_empty());
        let mut all = [split.train.clone(), split.test.clone()].concat();
        assert!(split.train.is_sorted() && split.test.is_sorted());
        all.sort_unstable();
        assert_eq!(all, (0..n_samples).collect::<Vec<_>>());
    }
}

fn count(labels: &[u32], rows: &[usize], class: u32) -> usize {
    rows.iter().filter(|&&row| labels[row] == class).count()
}

proptest! {
    #[test]
    fn every_sample_is_tested_once(labels in prop::collection::vec(0_u32..4, 2..60), folds in 2_usize..8, stratified: bool, seed: u64) {
        prop_assume!(folds <= labels.len());
        let splits = KFold { folds, stratified }.splits(&data(&labels), seed).unwrap();
        check(&splits, labels.len());
        let mut tested: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        tested.sort_unstable();
        prop_assert_eq!(tested, (0..labels.len()).collect::<Vec<_>>());
        let sizes: Vec<usize> = splits.iter().map(|split| split.test.len()).collect();
        prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        if stratified {
            for class in 0..4 {
                let counts: Vec<usize> = splits.iter().map(|split| count(&labels, &split.test, class)).collect();
                prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn the_share_held_out_is_exact_also_by_class(labels in prop::collection::vec(0_u32..4, 2..60), fraction in 0.01..0.99_f64, stratified: bool, seed: u64) {
        let splitter = HoldOut { test_fraction: fraction, repeats: 3, stratified };
        let splits = splitter.splits(&data(&labels), seed).unwrap();
        check(&splits, labels.len());
        let n_test = ((labels.len() as f64 * fraction).round() as usize).clamp(1, labels.len() - 1);
        for split in &splits {
            prop_assert_eq!(split.test.len(), n_test);
            if stratified {
                for class in 0..4 {
                    let all: Vec<usize> = (0..labels.len()).collect();
                    let share = count(&labels, &all, class) as f64 * n_test as f64 / labels.len() as f64;
                    prop_assert!((count(&labels, &split.test, class) as f64 - share).abs() < 1.0 + 1e-9);
                }
            }
        }
        prop_assert_eq!(&splits, &splitter.splits(&data(&labels), seed).unwrap());
    }

    #[test]
    fn groups_stay_together(groups in prop::collection::vec(0_usize..9, 4..60), folds in 2_usize..5, seed: u64) {
        let data = data(&vec![0; groups.len()]);
        let splitter = GroupFolds { groups: groups.clone(), folds: Some(folds) };
        let distinct: std::collections::BTreeSet<_> = groups.iter().collect();
        match splitter.splits(&data, seed) {
            Ok(splits) => {
                check(&splits, groups.len());
                prop_assert_eq!(splits.len(), folds);
                for split in splits {
                    prop_assert!(split.test.iter().all(|&a| split.train.iter().all(|&b| groups[a] != groups[b])));
                }
            }
            Err(error) => prop_assert!(distinct.len() < folds || distinct.len() < 2, "{error}"),
        }
    }
}

#[test]
fn by_default_each_group_is_a_fold_by_number() {
    let splits = GroupFolds { groups: vec![7, 2, 7, 5], folds: None }.splits(&data(&[0; 4]), 0).unwrap();
    let tests: Vec<Vec<usize>> = splits.into_iter().map(|split| split.test).collect();
    assert_eq!(tests, [vec![1], vec![3], vec![0, 2]]);
}

#[test]
fn repeats_and_seeds_give_other_folds() {
    let data = data(&[0; 30]);
    let splits = Repeated { splitter: KFold::default(), repeats: 2 }.splits(&data, 3).unwrap();
    assert_eq!(splits.len(), 10);
    assert_ne!(splits[..5], splits[5..]);
    assert_ne!(KFold::default().splits(&data, 0).unwrap(), KFold::default().splits(&data, 1).unwrap());
}

#[test]
fn impossible_divisions_are_errors_that_name_the_parameter() {
    let (few, real) = (data(&[0, 1, 1]), data(&[0, 1, 1]));
    let x = DenseColumns::new(vec![0.0; 3], 3, 1).unwrap();
    let numbers = Dataset::new(x, Target::real(vec![0.0, 1.0, 2.0]).unwrap()).unwrap();
    let named = |result: Result<Vec<Split>, Error>| match result {
        Err(Error::InvalidParameter { name, .. }) => name,
        Err(Error::ShapeMismatch { what, .. } | Error::TooFew { what, .. }) => what,
        Err(Error::UnsupportedTarget { method, .. }) => method,
        other => panic!("{other:?}"),
    };
    assert_eq!(named(KFold { folds: 4, stratified: false }.splits(&few, 0)), "folds");
    assert_eq!(named(KFold { folds: 1, stratified: false }.splits(&few, 0)), "folds");
    assert_eq!(named(KFold { folds: 2, stratified: true }.splits(&numbers, 0)), "a stratified split");
    for test_fraction in [0.0, 1.0, f64::NAN, -0.5] {
        let splitter = HoldOut { test_fraction, ..HoldOut::default() };
        assert_eq!(named(splitter.splits(&few, 0)), "test_fraction");
    }
    assert_eq!(named(HoldOut { repeats: 0, ..HoldOut::default() }.splits(&few, 0)), "repeats");
    assert_eq!(named(HoldOut::default().splits(&data(&[0]), 0)), "samples to divide");
    assert_eq!(named(Repeated { splitter: KFold::default(), repeats: 0 }.splits(&few, 0)), "repeats");
    assert_eq!(named(GroupFolds { groups: vec![1], folds: None }.splits(&few, 0)), "groups of samples");
    assert_eq!(named(GroupFolds { groups: vec![1, 1, 1], folds: None }.splits(&few, 0)), "groups of samples");
    let splitter = GroupFolds { groups: vec![1, 2, 1], folds: Some(3) };
    assert_eq!(named(splitter.splits(&real, 0)), "folds");
}

#[test]
fn a_class_with_one_sample_is_in_one_test_part() {
    let splits = KFold { folds: 3, stratified: true }.splits(&data(&[0, 0, 0, 0, 0, 1]), 1).unwrap();
    check(&splits, 6);
    assert_eq!(splits.iter().filter(|split| split.test.contains(&5)).count(), 1);
}
