//! Samples in the order of a feature: values are compared once, and whole numbers afterwards.

use fewest_core::order;

/// Fewer samples than this are sorted by comparison.
const FEW: usize = 256;

/// The most bits of a digit.
const DIGIT: u32 = 10;

/// The place of each sample's value among the distinct values of a feature.
pub(super) struct Ranks {
    ranks: Vec<u32>,
    /// The bits of the largest rank.
    bits: u32,
}

impl Ranks {
    /// The ranks of fewer than 2³² values without NaN; both zeros are one value.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut ranks = vec![0; values.len()];
        let mut rank = 0_u32;
        let mut previous: Option<f64> = None;
        for i in order::ascending(values) {
            rank += u32::from(previous.is_some_and(|previous| previous != values[i]));
            previous = Some(values[i]);
            ranks[i] = rank;
        }
        Self { ranks, bits: u32::BITS - rank.leading_zeros() }
    }
}

/// A sample with its rank. Its order is that of the ranks, then that of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Ranked(u64);

impl Ranked {
    fn new(rank: u32, sample: u32) -> Self {
        Self(u64::from(rank) << u32::BITS | u64::from(sample))
    }

    pub(super) fn rank(self) -> u32 {
        (self.0 >> u32::BITS) as u32
    }

    pub(super) fn sample(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Sorts again and again in the same memory.
#[derive(Default)]
pub(super) struct Sorter {
    sorted: Vec<Ranked>,
    spare: Vec<Ranked>,
    starts: Vec<usize>,
}

impl Sorter {
    /// `samples`, which increase, by their ranks, then by their numbers.
    pub(super) fn sorted(&mut self, ranks: &Ranks, samples: &[u32]) -> &[Ranked] {
        self.sorted.clear();
        self.sorted.extend(samples.iter().map(|&i| Ranked::new(ranks.ranks[i as usize], i)));
        if samples.len() < FEW {
            self.sorted.sort_unstable();
        } else {
            self.sort_by_digits(ranks.bits);
        }
        &self.sorted
    }

    /// By the digits of the ranks, from the last to the first: each pass keeps the order of equal digits.
    fn sort_by_digits(&mut self, bits: u32) {
        let n_passes = bits.div_ceil(DIGIT);
        let width = bits.div_ceil(n_passes.max(1));
        for pass in 0..n_passes {
            let digit = |ranked: &Ranked| (ranked.rank() >> (pass * width)) as usize & ((1 << width) - 1);
            self.starts.clear();
            self.starts.resize(1 << width, 0);
            self.sorted.iter().for_each(|ranked| self.starts[digit(ranked)] += 1);
            let mut start = 0;
            for place in &mut self.starts {
                start += std::mem::replace(place, start);
            }
            self.spare.resize(self.sorted.len(), Ranked::default());
            for ranked in &self.sorted {
                let place = &mut self.starts[digit(ranked)];
                self.spare[*place] = *ranked;
                *place += 1;
            }
            std::mem::swap(&mut self.sorted, &mut self.spare);
        }
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::derive_seed;

    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        let ranks = Ranks::of(&[2.0, -1.0, 0.0, 2.0, -0.0, 1e300]);
        assert_eq!((ranks.ranks, ranks.bits), (vec![2, 0, 1, 2, 1, 3], 2));
        let constant = Ranks::of(&[7.0; 3]);
        assert_eq!((constant.ranks, constant.bits), (vec![0; 3], 0));
    }

    /// The order by comparing values is the same, whatever the number of samples and of distinct values.
    #[test]
    fn samples_are_in_the_order_of_their_values() {
        let mut sorter = Sorter::default();
        for (n, distinct) in [(10, 4), (300, 1), (300, 2), (300, 1000), (3000, 70), (3000, 1 << 40)] {
            let values: Vec<f64> = (0..n).map(|i| (derive_seed(n, i) % distinct) as f64 - 30.0).collect();
            let ranks = Ranks::of(&values);
            for share in [1, 3] {
                let samples: Vec<u32> = (0..n as u32).filter(|i| i % share == 0).collect();
                let mut expected: Vec<usize> = samples.iter().map(|&i| i as usize).collect();
                expected.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
                let sorted = sorter.sorted(&ranks, &samples);
                assert!(sorted.iter().map(|ranked| ranked.sample()).eq(expected), "{n} {distinct} {share}");
                assert!(sorted.iter().all(|ranked| ranks.ranks[ranked.sample()] == ranked.rank()));
            }
        }
    }
}
