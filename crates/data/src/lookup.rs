//! Many things found among many, each looked at once.

use std::collections::HashMap;
use std::hash::Hash;

/// For each of `wanted`, the number of the first of `known` that is the same.
pub(crate) fn find_all<K: Eq + Hash>(
    known: impl Iterator<Item = K>,
    wanted: impl Iterator<Item = K> + Clone,
) -> Vec<Option<usize>> {
    let mut found: HashMap<K, Option<usize>> = wanted.clone().map(|key| (key, None)).collect();
    for (number, key) in known.enumerate() {
        if let Some(place) = found.get_mut(&key) {
            place.get_or_insert(number);
        }
    }
    wanted.map(|key| found.get(&key).copied().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::*;

    #[test]
    fn the_first_of_equal_ones_is_found() {
        let found = find_all(["a", "b", "a", "c"].into_iter(), ["c", "a", "x", "a"].into_iter());
        assert_eq!(found, [Some(3), Some(0), None, Some(0)]);
    }

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// A key that counts how often it is compared.
    struct Counted(usize);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Counted {}

    impl Hash for Counted {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn a_hundred_thousand_columns_are_not_compared_with_each_other() {
        let n = 100_000;
        let found = find_all((0..n).map(Counted), (0..n).rev().map(Counted));
        assert!(found.iter().rev().copied().eq((0..n).map(Some)));
        let compared = COMPARED.get();
        assert!((n..10 * n).contains(&compared), "{compared} comparisons");
    }
}
