//! Quantiles of values that come in parts, in bounded memory.

use fewest_core::order;

/// Quantiles of values of which only some are held, with a bound on their error.
///
/// Values are held in levels, up to `capacity` of them in each: one of level `l` stands for `2ˡ` values. A
/// level that has more gives the first of each two of its sorted values to the next level and leaves the
/// second out, as Munro and Paterson (1980) do. So there seem to be up to `2ˡ` values more up to some number
/// than there are, and never fewer; these errors are added up. No chance is involved: the result depends
/// only on the values of each part and on the tree of merges.
///
/// For `n` values in parts of equal size, ranks are wrong by at most about `n log₂(n/c) / (4c)` with
/// capacity `c`. Cost: `O(n log n)`; memory for `c log₂(n/c)` values at most, and for `c` where the parts
/// are merged in pairs of equal size.
///
/// ```
/// use fewest_counts::discretisation::Quantiles;
///
/// let mut quantiles = Quantiles::new(vec![3.0, 1.0, 2.0], 100);
/// quantiles.merge(Quantiles::new(vec![5.0, 4.0], 100));
/// // Few values are all held: the third smallest is 3.
/// assert_eq!((quantiles.count(), quantiles.rank_error()), (5, 0));
/// let third = quantiles.brackets(&[3])[0];
/// assert_eq!((third.low, third.middle, third.high), (3.0, 3.0, 3.0));
///
/// let mut quantiles = Quantiles::new((0..4096).map(f64::from).collect(), 256);
/// quantiles.merge(Quantiles::new((4096..8192).map(f64::from).collect(), 256));
/// assert_eq!(quantiles.rank_error(), 23);
/// // The smallest value of rank 4096 is 4095.
/// let median = quantiles.brackets(&[4096])[0];
/// assert!(median.low <= 4095.0 && 4095.0 <= median.high);
/// assert!((median.middle - 4095.0).abs() <= 23.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Quantiles {
    capacity: usize,
    /// Sorted; a value of level `l` stands for `2ˡ`.
    levels: Vec<Vec<f64>>,
    count: u64,
    largest: f64,
    /// By how much the number of values up to another may seem too large; never too small.
    excess: u64,
}

fewest_core::state!(Quantiles { capacity, levels, count, largest, excess });

/// Where the value of a rank is: certainly from `low` to `high`, both of which are values that occur.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bracket {
    /// A value that is not above the one of the rank.
    pub low: f64,
    /// A value between whose rank is wrong by at most [`Quantiles::rank_error`].
    pub middle: f64,
    /// A value that is not below the one of the rank.
    pub high: f64,
}

impl Quantiles {
    /// Of these values, all of them finite. A capacity of 0 counts as 1.
    pub fn new(mut values: Vec<f64>, capacity: usize) -> Self {
        order::sort(&mut values);
        let mut quantiles = Self {
            capacity: capacity.max(1),
            count: values.len() as u64,
            largest: values.last().copied().unwrap_or(f64::NEG_INFINITY),
            levels: vec![values],
            excess: 0,
        };
        quantiles.compact();
        quantiles
    }

    /// Adds the values of another one; the capacity stays.
    pub fn merge(&mut self, later: Self) {
        for (level, values) in later.levels.into_iter().enumerate() {
            self.add(level, values);
        }
        self.count += later.count;
        self.largest = self.largest.max(later.largest);
        self.excess += later.excess;
        self.compact();
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest difference between a rank that is asked for and the nearest rank of the
    /// [`middle`](Bracket::middle) that is answered: 0 while all values are held.
    pub fn rank_error(&self) -> u64 {
        self.excess.div_ceil(2)
    }

    /// Where the values of these ranks are; the smallest value has the rank 1. Minus infinity where there are
    /// no values.
    pub fn brackets(&self, ranks: &[u64]) -> Vec<Bracket> {
        let of_level = |(level, values): (usize, &Vec<f64>)| {
            values.iter().map(|value| (*value, 1_u64 << level)).collect::<Vec<_>>()
        };
        let mut held: Vec<(f64, u64)> = self.levels.iter().enumerate().flat_map(of_level).collect();
        held.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut up_to = 0;
        for (_, weight) in &mut held {
            up_to += *weight;
            *weight = up_to;
        }
        // The first value up to which there seem to be so many; the smallest one is always held.
        let at = |rank: u64| {
            held.get(held.partition_point(|(_, up_to)| *up_to < rank)).map_or(self.largest, |held| held.0)
        };
        let bracket = |&rank: &u64| Bracket {
            // Fewer than `rank` values seem to be below it, so there are no more than that.
            low: at(rank),
            middle: at(rank.saturating_add(self.excess / 2)),
            // At least `rank` values are up to it, even if all of the excess only seem to be.
            high: at(rank.saturating_add(self.excess)),
        };
        ranks.iter().map(bracket).collect()
    }

    fn add(&mut self, level: usize, values: Vec<f64>) {
        match self.levels.get_mut(level) {
            Some(own) => *own = merged(std::mem::take(own), values),
            None => self.levels.push(values),
        }
    }

    /// Halves the levels that have too many values.
    fn compact(&mut self) {
        let mut level = 0;
        while let Some(values) = self.levels.get_mut(level) {
            if values.len() > self.capacity {
                // The largest stays where it has no neighbour.
                let single = values.split_off(values.len() / 2 * 2);
                let pairs = std::mem::replace(values, single);
                self.excess += 1 << level;
                self.add(level + 1, pairs.into_iter().step_by(2).collect());
            }
            level += 1;
        }
    }
}

/// Sorted values in one sorted list.
fn merged(own: Vec<f64>, later: Vec<f64>) -> Vec<f64> {
    if own.is_empty() || later.is_empty() {
        return if own.is_empty() { later } else { own };
    }
    let mut all = Vec::with_capacity(own.len() + later.len());
    let mut own = own.into_iter().peekable();
    for value in later {
        while let Some(smaller) = own.next_if(|own| *own <= value) {
            all.push(smaller);
        }
        all.push(value);
    }
    all.extend(own);
    all
}
