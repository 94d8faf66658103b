//! Joint counts of two variables and each of many others at once.

use crate::codes::{Rows, Sizes, Variable};
use crate::counts::{Scratch, words_each};

/// Variables that are compared at a time.
const LANES: usize = 64;

/// Number of samples whose bytes are compared and counted in the time of one word.
const COMPARISONS_PER_WORD: f64 = 24.0;

/// Variables of at most 256 levels side by side: the codes of all of them sample by sample.
pub struct SideBySide {
    codes: Vec<[u8; LANES]>,
    /// Blocks of [`LANES`] variables.
    n_blocks: usize,
    n_variables: usize,
    /// The largest number of levels of a variable.
    n_levels: usize,
    /// The class of each sample.
    classes: Vec<u32>,
}

impl SideBySide {
    /// `None` if a variable has more levels than fit in a byte.
    pub fn new(variables: &[&Variable], rows: &Rows) -> Option<Self> {
        let n_blocks = variables.len().div_ceil(LANES);
        let mut codes = vec![[0; LANES]; rows.n_samples() * n_blocks];
        for (at, variable) in variables.iter().enumerate() {
            let own = variable.codes(rows, &rows.all.rows);
            for (row, block) in codes.iter_mut().skip(at / LANES).step_by(n_blocks).enumerate() {
                block[at % LANES] = u8::try_from(own.at(row)).ok()?;
            }
        }
        let mut classes = vec![0; rows.n_samples()];
        for (class, stretch) in rows.classes.iter().enumerate() {
            classes[stretch.rows.clone()].fill(class as u32);
        }
        let n_levels = variables.iter().map(|variable| variable.n_levels).max().unwrap_or(0);
        Some(Self { codes, n_blocks, n_variables: variables.len(), n_levels, classes })
    }
}

/// Whether [`joint_conditional_entropies`] of variables with these numbers of levels is faster than counting
/// one variable after the other: with others of at most `most` levels, and so many samples in each cell of
/// both that has several classes.
fn is_faster(sizes: &Sizes, levels: [usize; 2], have_planes: bool, most: usize, open: &[usize]) -> bool {
    let comparisons: f64 = open.iter().map(|len| (len * len.min(&most)) as f64).sum();
    // Counts must fit a byte.
    levels[0].saturating_mul(levels[1]) <= u32::MAX as usize
        && open.iter().all(|len| *len <= usize::from(u8::MAX))
        && comparisons / COMPARISONS_PER_WORD <= words_each(sizes, levels, have_planes)
}

impl Sizes {
    /// Whether [`joint_conditional_entropies`] of variables in a table of these sizes is `Some`, so that what
    /// is counted without the table can be summed in the same order.
    ///
    /// The variables have so many `levels`, the others side by side at most `most`, and a cell of both that
    /// has samples of several classes has one of `open` samples.
    pub fn compares(&self, levels: [usize; 2], most: usize, open: &[usize]) -> bool {
        let have_planes = levels.iter().all(|n_levels| self.keeps_planes(*n_levels));
        most <= 1 << u8::BITS && is_faster(self, levels, have_planes, most, open)
    }
}

/// `Σ_c m_c c ln c` by increasing `c`, where a joint count of `c` samples occurs `m_c` times more often than
/// such a count within a class: `n H(Y | …)`.
pub fn conditional_entropy(occurrences: impl Iterator<Item = i64>, log_sum: impl Fn(usize) -> f64) -> f64 {
    occurrences.enumerate().skip(2).map(|(count, times)| times as f64 * log_sum(count)).sum()
}

/// `n Σ_c H(Y | a, b, c)` over each `c` of `variables`, or `None` if counting them one after the other
/// is faster.
///
/// Samples that `a` and `b` separate from all other classes give no further information. Among the others,
/// those that share levels of `a` and `b` are compared with each level of `c`, or with each other if they are
/// few, 64 variables at a time. The number of times each joint count occurs is counted, so the result does
/// not depend on the order.
pub fn joint_conditional_entropies(
    rows: &Rows,
    a: &Variable,
    b: &Variable,
    variables: &SideBySide,
    scratch: &mut Scratch,
) -> Option<f64> {
    if a.n_levels.saturating_mul(b.n_levels) > u32::MAX as usize {
        return None;
    }
    let width = b.n_levels as u64;
    let (of_a, of_b) = (a.codes(rows, &rows.all.rows), b.codes(rows, &rows.all.rows));
    let key = |row: usize| u64::from(of_a.at(row)) * width + u64::from(of_b.at(row));
    let keys = &mut scratch.keys;
    keys.clear();
    keys.extend((0..rows.n_samples()).map(|row| (key(row) << 32) | row as u64));
    keys.sort_unstable();
    let class = |key: &u64| variables.classes[*key as u32 as usize];
    // Samples are sorted by class: those of a cell have one class if its first and last have.
    let is_open = |cell: &&[u64]| matches!(cell, [first, .., last] if class(first) != class(last));
    let open = || keys.chunk_by(|a, b| a >> 32 == b >> 32).filter(is_open);
    let sizes: Vec<usize> = open().map(<[u64]>::len).collect();
    let have_planes = !a.planes.is_empty() && !b.planes.is_empty();
    if !is_faster(&rows.sizes(), [a.n_levels, b.n_levels], have_planes, variables.n_levels, &sizes) {
        return None;
    }
    let members: Vec<u32> = open().flatten().map(|key| *key as u32).collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut occurrences = Occurrences { of_samples: vec![0; largest + 1], of_levels: vec![0; largest + 1] };
    for block in 0..variables.n_blocks {
        let used = (variables.n_variables - block * LANES).min(LANES);
        compare(variables, block, used, &members, &sizes, &mut occurrences);
    }
    let Occurrences { of_samples, of_levels } = occurrences;
    // A count of c occurs once for each of c samples. There is none of 0 samples.
    let of_levels = of_samples.iter().zip(of_levels).zip(0..);
    let times = of_levels.map(|((samples, levels), count)| samples / i64::max(count, 1) + levels);
    Some(conditional_entropy(times, |count| rows.log_sums[count]))
}

/// How often each joint count occurs, less how often it occurs within a class.
struct Occurrences {
    /// Counted once for each sample.
    of_samples: Vec<i64>,
    /// Counted once for each level.
    of_levels: Vec<i64>,
}

/// The same in bytes, which are added to the sums before any can overflow.
struct Tally {
    all: Vec<[u8; LANES]>,
    within: Vec<[u8; LANES]>,
    room: usize,
}

impl Tally {
    fn new(n_counts: usize) -> Self {
        let empty = || vec![[0; LANES]; n_counts];
        Self { all: empty(), within: empty(), room: usize::from(u8::MAX) }
    }

    /// Prepares for this many increments.
    #[inline(always)]
    fn reserve(&mut self, increments: usize, used: usize, occurrences: &mut [i64]) {
        if self.room < increments {
            self.flush(used, occurrences);
        }
        self.room -= increments;
    }

    fn flush(&mut self, used: usize, occurrences: &mut [i64]) {
        for ((all, within), sum) in self.all.iter_mut().zip(&mut self.within).zip(occurrences) {
            *sum += all[..used].iter().map(|&times| i64::from(times)).sum::<i64>();
            *sum -= within[..used].iter().map(|&times| i64::from(times)).sum::<i64>();
            (*all, *within) = ([0; LANES], [0; LANES]);
        }
        self.room = usize::from(u8::MAX);
    }
}

/// Adds to `occurrences` those of one block of variables, of which the first `used` exist.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn compare(
    variables: &SideBySide,
    block: usize,
    used: usize,
    members: &[u32],
    sizes: &[usize],
    occurrences: &mut Occurrences,
) {
    let codes = |row: u32| &variables.codes[row as usize * variables.n_blocks + block];
    let class = |row: u32| variables.classes[row as usize];
    let n_counts = occurrences.of_samples.len();
    let (mut by_sample, mut by_level) = (Tally::new(n_counts), Tally::new(n_counts));
    let mut rest = members;
    for &size in sizes {
        let (cell, others) = rest.split_at(size);
        rest = others;
        if size <= variables.n_levels {
            by_sample.reserve(size, used, &mut occurrences.of_samples);
            for &row in cell {
                let (own, class_of_own) = (codes(row), class(row));
                let (mut within, mut outside) = ([0_u8; LANES], [0_u8; LANES]);
                let mut n_within = 0;
                for &other in cell {
                    let is_within = class(other) == class_of_own;
                    n_within += usize::from(is_within);
                    add_equal(if is_within { &mut within } else { &mut outside }, own, codes(other));
                }
                count(&mut by_sample.within[..=n_within], &within);
                for (outside, within) in outside.iter_mut().zip(within) {
                    *outside = outside.wrapping_add(within);
                }
                count(&mut by_sample.all[..=size], &outside);
            }
        } else {
            by_level.reserve(size, used, &mut occurrences.of_levels);
            for level in 0..variables.n_levels {
                let level = [level as u8; LANES];
                let mut all = [0_u8; LANES];
                for of_class in cell.chunk_by(|&a, &b| class(a) == class(b)) {
                    let mut within = [0_u8; LANES];
                    for &row in of_class {
                        add_equal(&mut within, &level, codes(row));
                    }
                    count(&mut by_level.within[..=of_class.len()], &within);
                    for (all, within) in all.iter_mut().zip(within) {
                        *all = all.wrapping_add(within);
                    }
                }
                count(&mut by_level.all[..=size], &all);
            }
        }
    }
    by_sample.flush(used, &mut occurrences.of_samples);
    by_level.flush(used, &mut occurrences.of_levels);
}

/// Adds 1, in each lane, to the tally of its count. Counts of 0 and 1 add nothing to an entropy.
#[inline(always)]
fn count(tally: &mut [[u8; LANES]], counts: &[u8; LANES]) {
    for (count, times) in tally.iter_mut().enumerate().skip(2) {
        add_equal(times, counts, &[count as u8; LANES]);
    }
}

/// Adds 1 in each lane where `a` and `b` are equal.
#[inline(always)]
fn add_equal(sum: &mut [u8; LANES], a: &[u8; LANES], b: &[u8; LANES]) {
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        *sum = sum.wrapping_add(u8::from(a == b));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Sizes tell which way a table is counted, also one of which features keep codes or planes alone.
    #[test]
    fn sizes_tell_whether_variables_are_compared() {
        let draw = |i: usize, j: usize, below: usize| {
            (fewest_core::derive_seed(j as u64, i as u64) % below as u64) as u32
        };
        let mut found = [0, 0];
        for (n, n_classes) in [(2, 2), (63, 2), (130, 30), (700, 3), (5000, 2), (30_000, 2)] {
            let classes: Vec<u32> = (0..n).map(|i| draw(i, 9, n_classes)).collect();
            let rows = Rows::of_classes(&classes, n_classes);
            let counts: Vec<usize> = rows.classes.iter().map(|class| class.rows.len()).collect();
            for levels in
                [[2, 2, 2], [5, 5, 5], [12, 2, 5], [2, 12, 5], [40, 40, 9], [300, 3, 2], [9, 9, 300]]
            {
                let codes: Vec<Vec<u32>> =
                    (0..3).map(|j| (0..n).map(|i| draw(i, j, levels[j])).collect()).collect();
                let mut of_cells = BTreeMap::<[u32; 2], (usize, Vec<bool>)>::new();
                for i in 0..n {
                    let (count, has) = of_cells.entry([codes[0][i], codes[1][i]]).or_default();
                    *count += 1;
                    has.resize(n_classes, false);
                    has[classes[i] as usize] = true;
                }
                let several = |has: &[bool]| has.iter().filter(|has| **has).count() > 1;
                let open: Vec<usize> =
                    of_cells.values().filter(|(_, has)| several(has)).map(|(count, _)| *count).collect();
                for n_features in [3, usize::MAX] {
                    let [a, b, c] = [0, 1, 2].map(|j| {
                        let mut variable = Variable::of_codes(&codes[j], levels[j], &rows);
                        if n_features > 3 {
                            variable.thin();
                        }
                        variable
                    });
                    let beside = SideBySide::new(&[&c], &rows);
                    let compared = beside.and_then(|others| {
                        joint_conditional_entropies(&rows, &a, &b, &others, &mut Scratch::default())
                    });
                    let sizes = Sizes::new(&counts, n_features);
                    let compares = sizes.compares([levels[0], levels[1]], levels[2], &open);
                    let all_occur = codes[2].iter().max().is_some_and(|code| *code as usize + 1 == levels[2]);
                    if all_occur {
                        assert_eq!(compares, compared.is_some(), "{n} {levels:?} {n_features}");
                        found[usize::from(compares)] += 1;
                    }
                }
            }
        }
        assert!(found.iter().all(|times| *times > 10), "{found:?}");
    }
}
