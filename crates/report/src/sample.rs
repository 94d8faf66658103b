//! Which of many are drawn: always the same ones, and the first and the last among them.

/// At most `most` of the positions `0..n`, evenly spaced; the first and the last are among them.
pub(super) fn evenly(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = n.min(most);
    (0..taken).map(move |at| match taken {
        0 | 1 => 0,
        _ => (at as f64 * (n - 1) as f64 / (taken - 1) as f64).round() as usize,
    })
}

/// Numbers in `[0, 1)` that fill it evenly however many are taken (van der Corput): the place of the `i`-th
/// dot across its row.
pub(super) fn spread(i: usize) -> f64 {
    (i as u32).reverse_bits() as f64 / 2.0_f64.powi(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_few_and_evenly_of_many() {
        assert_eq!(evenly(3, 5).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(evenly(9, 5).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
        assert_eq!(evenly(1000, 2).collect::<Vec<_>>(), [0, 999]);
        assert_eq!(evenly(7, 1).collect::<Vec<_>>(), [0]);
        assert_eq!(evenly(0, 5).count(), 0);
        let many: Vec<usize> = evenly(1_000_003, 400).collect();
        assert!(many.len() == 400 && many.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn places_fill_their_row() {
        assert_eq!([0, 1, 2, 3].map(spread), [0.0, 0.5, 0.25, 0.75]);
    }
}
