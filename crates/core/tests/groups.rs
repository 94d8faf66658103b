//! Groups that can be, and those that cannot.

use fewest_core::{Error, Groups};
use proptest::prelude::*;

/// The part and number that the error names.
fn wrong(result: Result<Groups, Error>) -> (&'static str, usize) {
    match result {
        Err(Error::InvalidPart { part, number, .. }) => (part, number),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sets_that_cannot_be_are_named() {
    assert_eq!(wrong(Groups::overlapping(3, vec![vec![0], vec![]])), ("group", 1));
    assert_eq!(wrong(Groups::overlapping(3, vec![vec![0], vec![1, 3]])), ("group", 1));
    assert_eq!(wrong(Groups::overlapping(3, vec![vec![2, 0, 2]])), ("group", 0));
    // A feature may be in no group, and there may be no groups.
    assert!(Groups::overlapping(3, vec![vec![2, 0]]).is_ok_and(|groups| groups.sets() == [vec![0, 2]]));
    assert!(Groups::overlapping(3, vec![]).is_ok_and(|groups| groups.sets().is_empty()));
}

#[test]
fn trees_that_cannot_be_are_named() {
    // A group within itself, at once or through others; the one of the cycle with the lowest number is named.
    assert_eq!(wrong(Groups::tree(1, vec![Some(0), Some(0)])), ("group", 0));
    assert_eq!(wrong(Groups::tree(1, vec![Some(0), None, Some(2), Some(1)])), ("group", 1));
    assert_eq!(wrong(Groups::tree(1, vec![Some(0), Some(3), Some(3), Some(1), Some(2)])), ("group", 1));
    assert_eq!(wrong(Groups::tree(1, vec![Some(0), None, Some(0)])), ("group", 1));
    assert_eq!(wrong(Groups::tree(2, vec![None, Some(1), None])), ("feature", 1));
    assert_eq!(wrong(Groups::tree(2, vec![None, Some(0), Some(5)])), ("group", 0));
    assert!(matches!(Groups::tree(3, vec![None]), Err(Error::ShapeMismatch { .. })));
}

#[test]
fn the_sets_of_a_partition_come_by_number() {
    let groups = Groups::partition(vec![7, 2, 7, 2, 9]);
    assert_eq!(groups.sets(), [vec![1, 3], vec![0, 2], vec![4]]);
    assert_eq!(groups.n_features(), 5);
}

/// The sets of all groups of this chain have 5 billion features together.
#[test]
fn a_deep_tree_takes_memory_for_its_groups_only() {
    let n_groups = 100_000;
    // Every feature is in the group of its number, and that group in the next one.
    let parents = |n_groups: usize| {
        let chain = (1..n_groups).map(Some).chain([None]);
        (0..n_groups).map(Some).chain(chain).collect::<Vec<_>>()
    };
    let tree = Groups::tree(n_groups, parents(n_groups)).unwrap();
    assert_eq!(tree.n_features(), n_groups);
    let Ok(Groups::Tree(part)) = tree.subset(&[n_groups - 1, n_groups - 3]) else { panic!() };
    // Only the groups that the two features are in are left.
    assert_eq!((part.n_groups(), part.group_of(0), part.group_of(1)), (3, Some(2), Some(0)));
    // Nothing is in the lowest group.
    let mut empty = parents(n_groups);
    empty[0] = None;
    assert_eq!(wrong(Groups::tree(n_groups, empty)), ("group", 0));
}

#[test]
fn a_part_of_overlapping_groups_has_the_order_and_the_repeats_asked_for() {
    let groups = Groups::overlapping(5, vec![vec![0, 1, 4], vec![1, 2], vec![3]]).unwrap();
    let part = groups.subset(&[4, 1, 0, 1]).unwrap();
    assert_eq!(part.n_features(), 4);
    assert_eq!(part.sets(), [vec![0, 1, 2, 3], vec![1, 3]]);
    // A feature each, of as many groups: a search of every group for every feature would not end soon.
    let n = 100_000;
    let single = Groups::overlapping(n, (0..n).map(|j| vec![j]).collect()).unwrap();
    let back: Vec<usize> = (0..n).rev().collect();
    assert_eq!(single.subset(&back).unwrap().sets()[0], [n - 1]);
}

proptest! {
    /// In a tree two groups have no feature in common, or one is in the other.
    #[test]
    fn groups_of_a_tree_are_nested(
        features in prop::collection::vec(0_usize..6, 1..20),
        above in prop::collection::vec(prop::option::of(0_usize..6), 6),
    ) {
        // A parent of a higher number makes no cycle.
        let mut parents: Vec<Option<usize>> = features.iter().map(|group| Some(*group)).collect();
        parents.extend(above.iter().enumerate().map(|(g, parent)| parent.filter(|parent| *parent > g)));
        let Ok(tree) = Groups::tree(features.len(), parents.clone()) else {
            // Some group has no feature.
            let mut used = [false; 6];
            for j in 0..features.len() {
                let mut group = parents[j];
                while let Some(g) = group {
                    used[g] = true;
                    group = parents[features.len() + g];
                }
            }
            prop_assert!(used.contains(&false));
            return Ok(());
        };
        let sets = tree.sets();
        for a in &sets {
            for b in &sets {
                let common = a.iter().filter(|j| b.contains(j)).count();
                prop_assert!(common == 0 || common == a.len().min(b.len()));
            }
        }
    }
}
