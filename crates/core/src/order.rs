//! Sorting, for all crates: one compiled copy, and one rule for ties.
//!
//! Numbers are ordered as [`f64::total_cmp`] does: −0.0 before 0.0, NaN at the ends. Of equal numbers the one
//! with the lower index comes first. For scores use [`rank`](crate::rank): it treats both zeros as
//! equal and puts NaN last.

use std::collections::BTreeMap;

/// Sorts numbers, increasing.
///
/// ```
/// let mut values = [2.0, -1.0, 0.5];
/// fewest_core::order::sort(&mut values);
/// assert_eq!(values, [-1.0, 0.5, 2.0]);
/// ```
pub fn sort(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

/// Sorts indices, increasing.
///
/// ```
/// let mut indices = [7, 0, 3];
/// fewest_core::order::sort_indices(&mut indices);
/// assert_eq!(indices, [0, 3, 7]);
/// ```
pub fn sort_indices(indices: &mut [usize]) {
    indices.sort_unstable();
}

/// Sorts the entries `(index, value)` of a sparse vector by index; entries with the same index keep their
/// order.
///
/// ```
/// let mut entries = [(4, 1.0), (1, 0.5), (4, -1.0)];
/// fewest_core::order::sort_entries(&mut entries);
/// assert_eq!(entries, [(1, 0.5), (4, 1.0), (4, -1.0)]);
/// ```
pub fn sort_entries(entries: &mut [(usize, f64)]) {
    entries.sort_by_key(|&(index, _)| index);
}

/// Sorts pairs of a number and an index: the largest number first, of equal ones the lower index.
///
/// ```
/// let mut pairs = [(0.5, 3), (2.0, 4), (2.0, 1)];
/// fewest_core::order::largest_first(&mut pairs);
/// assert_eq!(pairs, [(2.0, 1), (2.0, 4), (0.5, 3)]);
/// ```
pub fn largest_first(pairs: &mut [(f64, usize)]) {
    pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
}

/// The indices of numbers from the smallest to the largest; ties go to the lower index.
///
/// ```
/// assert_eq!(fewest_core::order::ascending(&[2.0, 0.5, 2.0, 1.0]), [1, 3, 0, 2]);
/// ```
pub fn ascending(values: &[f64]) -> Vec<usize> {
    // The negated numbers have the reverse order, also for zeros and NaN.
    let negated: Vec<f64> = values.iter().map(|value| -value).collect();
    descending(&negated)
}

/// The indices of numbers from the largest to the smallest; ties go to the lower index.
///
/// ```
/// assert_eq!(fewest_core::order::descending(&[2.0, 0.5, 2.0, 1.0]), [0, 2, 3, 1]);
/// ```
pub fn descending(values: &[f64]) -> Vec<usize> {
    let mut pairs: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    largest_first(&mut pairs);
    pairs.into_iter().map(|(_, index)| index).collect()
}

/// The indices of integers, such as groups or places, from the smallest to the largest; ties go to the lower
/// index.
///
/// ```
/// assert_eq!(fewest_core::order::by_key(&[2, 0, 2, 1]), [1, 3, 0, 2]);
/// ```
pub fn by_key(keys: &[usize]) -> Vec<usize> {
    let mut pairs: Vec<(usize, usize)> = keys.iter().copied().zip(0..).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(_, index)| index).collect()
}

/// The distinct numbers, increasing; −0.0 stands for both zeros if it occurs. Without NaN.
///
/// ```
/// assert_eq!(fewest_core::order::distinct(vec![2.0, 1.0, 2.0]), [1.0, 2.0]);
/// ```
pub fn distinct(mut values: Vec<f64>) -> Vec<f64> {
    sort(&mut values);
    values.dedup();
    values
}

/// The distinct numbers, increasing, each with the number of times it occurs; both zeros are one. No NaN.
///
/// ```
/// assert_eq!(fewest_core::order::counted(vec![2.0, 1.0, 2.0]), [(1.0, 1), (2.0, 2)]);
/// ```
pub fn counted(mut values: Vec<f64>) -> Vec<(f64, usize)> {
    sort(&mut values);
    values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

/// The distinct codes, such as those of classes, increasing.
///
/// ```
/// assert_eq!(fewest_core::order::distinct_codes(vec![2, 0, 2]), [0, 2]);
/// ```
pub fn distinct_codes(mut codes: Vec<u32>) -> Vec<u32> {
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The pairs of different codes, such as those of classes, and where either of the two is: the smaller first,
/// in the order (0, 1), (0, 2), …, (1, 2), …. There may be more of them than fit into memory.
///
/// ```
/// let mut pairs = fewest_core::order::code_pairs(&[2, 0, 2, 5]);
/// assert_eq!(pairs.next(), Some(([0, 2], vec![0, 1, 2])));
/// assert!(pairs.eq([([0, 5], vec![1, 3]), ([2, 5], vec![0, 2, 3])]));
/// ```
pub fn code_pairs(codes: &[u32]) -> impl Iterator<Item = ([u32; 2], Vec<usize>)> {
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, &code) in codes.iter().enumerate() {
        places.entry(code).or_default().push(i);
    }
    let places: Vec<(u32, Vec<usize>)> = places.into_iter().collect();
    let n = places.len();
    let pairs = (0..n).flat_map(move |at| (at + 1..n).map(move |other| (at, other)));
    pairs.map(move |(at, other)| {
        let ((first, of_first), (second, of_second)) = (&places[at], &places[other]);
        let mut either = [of_first.as_slice(), of_second.as_slice()].concat();
        sort_indices(&mut either);
        ([*first, *second], either)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros of both signs, NaN of both signs, infinities and ties.
    fn awkward() -> Vec<f64> {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        let few = [0.0, nan, -1.0, infinity, -0.0, 1e-310, -nan, 3.5, 0.0, -infinity, nan, -0.0, 3.5];
        few.iter().cycle().take(9 * few.len()).copied().collect()
    }

    #[test]
    fn both_directions_are_stable_sorts_by_the_total_order() {
        let values = awkward();
        let mut expected: Vec<usize> = (0..values.len()).collect();
        expected.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        assert_eq!(ascending(&values), expected);
        expected.sort_unstable();
        expected.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        assert_eq!(descending(&values), expected);
    }

    #[test]
    fn sorted_numbers_are_those_in_ascending_order() {
        let mut values = awkward();
        let expected: Vec<u64> = ascending(&values).into_iter().map(|at| values[at].to_bits()).collect();
        sort(&mut values);
        assert_eq!(values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn of_both_zeros_one_is_left() {
        let left = distinct(vec![0.0, 1.0, -0.0, 0.0]);
        assert_eq!(left, [0.0, 1.0]);
        assert!(left[0].is_sign_negative());
    }
}
