//! Permutations of the values of a feature.

use fewest_core::{Error, choice, derive_seed, order};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

choice! {
    /// How the values of a feature are permuted among the samples.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Permutation {
        /// A permutation drawn uniformly (Fisher and Yates), the same for all features of a round, so that
        /// differences of their scores come from the features and not from chance. It is drawn for samples
        /// in an order that depends on their values, so that neither the order of rows nor that of columns
        /// matters.
        Random {
            /// Random permutations that a score is averaged over.
            permutations: usize = 1, Count(1);
        } = "random",
        /// Sample `i` of `n` takes the value of sample `(i + 1 + 37 (j + 1) mod (n − 1)) mod n` for feature
        /// `j`: not random, and no sample keeps its own value.
        Shift = "shift",
    }
}

impl Permutation {
    /// For feature `j` the sample whose value each of `samples` takes, as positions in `samples`. `canonical`
    /// is the position of each of them in an order that depends on their values only; `draw` numbers the
    /// permutations.
    pub(crate) fn sources(self, j: usize, canonical: &[usize], seed: u64, draw: u64) -> Vec<usize> {
        let n = canonical.len();
        match self {
            Self::Random { .. } => {
                let order = order::by_key(canonical);
                let mut shuffled = order.clone();
                shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(derive_seed(seed, draw)));
                let mut sources = vec![0; n];
                for (&to, &from) in order.iter().zip(&shuffled) {
                    sources[to] = from;
                }
                sources
            }
            Self::Shift => {
                let step = if n > 1 { 1 + (37 * (j % (n - 1) + 1)) % (n - 1) } else { 0 };
                (0..n).map(|i| (i + step) % n).collect()
            }
        }
    }
}

/// The given permutation of `n` samples for feature `j`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless one is there and is a permutation of as many samples.
pub(crate) fn given(permutations: &[Vec<usize>], j: usize, n: usize) -> Result<Vec<usize>, Error> {
    let wrong = |what: &str| {
        let expected = format!("a permutation of 0 .. {n} for each feature");
        Err(Error::parameter("given", format!("{what} for feature {j}"), expected))
    };
    let Some(given) = permutations.get(j) else { return wrong("none") };
    let mut sorted = given.clone();
    order::sort_indices(&mut sorted);
    if sorted.iter().enumerate().any(|(i, &value)| i != value) || sorted.len() != n {
        return wrong("no permutation");
    }
    Ok(given.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: Permutation = Permutation::Random { permutations: 1 };

    #[test]
    fn draws_are_permutations_that_follow_the_samples() {
        let canonical = [4, 0, 3, 1, 2];
        let sources = RANDOM.sources(0, &canonical, 7, 3);
        let mut sorted = sources.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        // The same samples in reverse order.
        let reversed: Vec<usize> = canonical.iter().rev().copied().collect();
        let other = RANDOM.sources(5, &reversed, 7, 3);
        for i in 0..5 {
            assert_eq!(4 - other[4 - i], sources[i]);
        }
        assert_ne!(RANDOM.sources(0, &canonical, 7, 4), sources);
    }

    /// Every permutation of three is drawn about as often: swapping with any place would give some 5/27 of
    /// the draws.
    #[test]
    fn draws_are_uniform() {
        let mut counts = std::collections::BTreeMap::new();
        for draw in 0..6000 {
            *counts.entry(RANDOM.sources(0, &[0, 1, 2], 1, draw)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|&count: &i32| (count - 1000).abs() < 100), "{counts:?}");
    }

    #[test]
    fn shifts_are_those_of_the_formula() {
        for n in [2, 3, 40] {
            for j in [0, 5, 1000] {
                let sources = Permutation::Shift.sources(j, &vec![0; n], 0, 0);
                for (i, &source) in sources.iter().enumerate() {
                    assert_eq!(source, (i + 1 + (37 * (j + 1)) % (n - 1)) % n);
                    assert_ne!(source, i);
                }
            }
        }
        assert_eq!(Permutation::Shift.sources(3, &[0], 0, 0), [0]);
    }

    #[test]
    fn what_is_no_permutation_is_named() {
        for wrong in [vec![], vec![vec![0, 1]], vec![vec![0, 0, 2]], vec![vec![1, 2, 3]]] {
            let error = given(&wrong, 0, 3).unwrap_err();
            assert!(matches!(error, Error::InvalidParameter { name: "given", .. }));
        }
    }
}
