//! Joint counts of two variables, which every criterion is computed from.
//!
//! Variables with few levels are stored as one bit per sample and level. A joint count is then the number of
//! ones in the conjunction of two bit strings, 64 samples per word, and the last level follows from the
//! others. Otherwise samples are counted into a table, or sorted if the table would be mostly empty.

use crate::codes::{Codes, Rows, Sizes, Stretch, Variable};

/// The fixed cost of a conjunction of two bit strings, and the cost of counting a sample into a table, both
/// in words: measured for 200 to 20 000 samples, 2 and 10 classes, 2 to 20 levels.
const WORDS_PER_CALL: f64 = 7.0;
const WORDS_PER_SAMPLE: f64 = 1.8;

/// Number of table cells per sample above which sorting is faster.
const CELLS_PER_SAMPLE: usize = 16;

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    cells: Vec<u32>,
    halves: Vec<u32>,
    totals: Vec<u32>,
    pub(crate) keys: Vec<u64>,
}

/// `Σ c ln c` over the joint counts of two variables, and over those within each class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// Over the joint counts.
    pub joint: f64,
    /// Over those within each class.
    pub with_target: f64,
}

/// The sum over joint counts alone; half the work of [`sums`] or less.
pub fn joint_sum(rows: &Rows, a: &Variable, b: &Variable, scratch: &mut Scratch) -> f64 {
    match way(rows, a, b, 1) {
        Way::Sorted => sorted_sums(rows, a, b, &mut scratch.keys).joint,
        way => {
            fill(way, rows, (&rows.all, None), a, b, scratch);
            scratch.cells.iter().map(|&count| rows.log_sums[count as usize]).sum()
        }
    }
}

/// Both sums.
pub fn sums(rows: &Rows, a: &Variable, b: &Variable, scratch: &mut Scratch) -> Sums {
    let way = way(rows, a, b, rows.classes.len());
    if let Way::Sorted = way {
        return sorted_sums(rows, a, b, &mut scratch.keys);
    }
    scratch.totals.clear();
    scratch.totals.resize(a.n_levels * b.n_levels, 0);
    let mut with_target = 0.0;
    for (class, stretch) in rows.classes.iter().enumerate() {
        fill(way, rows, (stretch, Some(class)), a, b, scratch);
        for (total, &count) in scratch.totals.iter_mut().zip(&scratch.cells) {
            *total += count;
            with_target += rows.log_sums[count as usize];
        }
    }
    let joint = scratch.totals.iter().map(|&count| rows.log_sums[count as usize]).sum();
    Sums { joint, with_target }
}

/// Adds how often each pair of levels occurs in each class to `counts[(class · levels of a + level of a) ·
/// levels of b + level of b]`.
pub fn add_joint_counts(rows: &Rows, a: &Variable, b: &Variable, scratch: &mut Scratch, counts: &mut [u64]) {
    let way = match way(rows, a, b, rows.classes.len()) {
        Way::Sorted => Way::Table,
        way => way,
    };
    let cells = (a.n_levels * b.n_levels).max(1);
    for ((class, stretch), counts) in rows.classes.iter().enumerate().zip(counts.chunks_exact_mut(cells)) {
        if !stretch.rows.is_empty() {
            fill(way, rows, (stretch, Some(class)), a, b, scratch);
            counts.iter_mut().zip(&scratch.cells).for_each(|(count, more)| *count += u64::from(*more));
        }
    }
}

/// Calls `visit` with the class and the levels of each sample.
pub fn each_joint<const N: usize>(
    rows: &Rows,
    variables: [&Variable; N],
    mut visit: impl FnMut(u32, [u32; N]),
) {
    for (class, stretch) in rows.classes.iter().enumerate() {
        let codes = variables.map(|variable| variable.codes(rows, &stretch.rows));
        for at in 0..stretch.rows.len() {
            visit(class as u32, std::array::from_fn(|variable| codes[variable].at(at)));
        }
    }
}

/// The approximate cost, in words, of counting the joint variable of two with these numbers of levels against
/// another one.
pub(crate) fn words_each(sizes: &Sizes, [a, b]: [usize; 2], have_planes: bool) -> f64 {
    let by_row = WORDS_PER_SAMPLE * sizes.n_samples as f64;
    if !have_planes {
        return by_row;
    }
    let levels = (a * b - 1) as f64 * (b - 1) as f64;
    by_row.min(levels * (WORDS_PER_CALL * sizes.n_classes as f64 + sizes.n_words as f64))
}

#[derive(Clone, Copy)]
enum Way {
    Planes,
    Table,
    Sorted,
}

fn way(rows: &Rows, a: &Variable, b: &Variable, n_tables: usize) -> Way {
    let n = rows.n_samples();
    let cells = a.n_levels.saturating_mul(b.n_levels);
    let conjunctions = (a.n_levels - 1) as f64 * (b.n_levels - 1) as f64;
    let words = conjunctions * (WORDS_PER_CALL * n_tables as f64 + rows.all.words.end as f64);
    if !a.planes.is_empty() && !b.planes.is_empty() && words <= WORDS_PER_SAMPLE * n as f64 + 64.0 {
        Way::Planes
    } else if cells.saturating_mul(n_tables) <= CELLS_PER_SAMPLE * n + 1024 {
        Way::Table
    } else {
        Way::Sorted
    }
}

/// Joint counts over a stretch, all samples or a class, into `scratch.cells`, at `level of a * levels of b +
/// level of b`.
fn fill(
    way: Way,
    rows: &Rows,
    (stretch, class): (&Stretch, Option<usize>),
    a: &Variable,
    b: &Variable,
    scratch: &mut Scratch,
) {
    let Scratch { cells, halves, .. } = scratch;
    cells.clear();
    cells.resize(a.n_levels * b.n_levels, 0);
    if let Way::Planes = way {
        let start = stretch.words.start;
        let n_words = stretch.words.len();
        let (a_planes, b_planes) = (&a.planes[start..], &b.planes[start..]);
        let stride = a.planes.len() / (a.n_levels - 1);
        count_ones(a_planes, b_planes, n_words, stride, a.n_levels, b.n_levels, cells);
        infer_last(marginal(a, class), marginal(b, class), cells);
    } else {
        halves.clear();
        halves.resize(cells.len(), 0);
        match (&a.codes(rows, &stretch.rows), &b.codes(rows, &stretch.rows)) {
            (Codes::Narrow(a), Codes::Narrow(c)) => tally(a, c, b.n_levels, cells, halves),
            (Codes::Narrow(a), Codes::Wide(c)) => tally(a, c, b.n_levels, cells, halves),
            (Codes::Wide(a), Codes::Narrow(c)) => tally(a, c, b.n_levels, cells, halves),
            (Codes::Wide(a), Codes::Wide(c)) => tally(a, c, b.n_levels, cells, halves),
        }
    }
}

/// Counts of the levels over all samples, or within a class.
fn marginal(variable: &Variable, class: Option<usize>) -> &[u32] {
    match class {
        None => &variable.totals,
        Some(class) => &variable.counts[class * variable.n_levels..(class + 1) * variable.n_levels],
    }
}

/// Counts of the last level of each variable, from those of the others.
fn infer_last(a: &[u32], b: &[u32], cells: &mut [u32]) {
    let width = b.len();
    let (last_a, last_b) = (a.len() - 1, width - 1);
    for (row, &total) in cells.chunks_exact_mut(width).zip(&a[..last_a]) {
        row[last_b] = total - row[..last_b].iter().sum::<u32>();
    }
    let (above, last) = cells.split_at_mut(last_a * width);
    for (column, (cell, &total)) in last.iter_mut().zip(b).enumerate() {
        *cell = total - above.iter().skip(column).step_by(width).sum::<u32>();
    }
}

/// The ones in the conjunction of each plane of `a` with each of `b`, over `n_words` words of planes `stride`
/// words apart.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx512vpopcntdq+avx2+bmi1+popcnt",
    "x86_64+avx2+bmi1+popcnt",
    "x86_64+popcnt",
))]
fn count_ones(
    a: &[u64],
    b: &[u64],
    n_words: usize,
    stride: usize,
    a_levels: usize,
    b_levels: usize,
    cells: &mut [u32],
) {
    for level_a in 0..a_levels - 1 {
        let plane_a = &a[level_a * stride..level_a * stride + n_words];
        for level_b in 0..b_levels - 1 {
            let plane_b = &b[level_b * stride..level_b * stride + n_words];
            let ones: u64 = plane_a.iter().zip(plane_b).map(|(a, b)| u64::from((a & b).count_ones())).sum();
            cells[level_a * b_levels + level_b] = ones as u32;
        }
    }
}

/// A code that can index.
trait Code: Copy {
    fn index(self) -> usize;
}

impl Code for u8 {
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Code for u32 {
    fn index(self) -> usize {
        self as usize
    }
}

/// Counts sample by sample. Samples alternate between two tables, so that a run of equal levels does not wait
/// for its own last increment.
fn tally<A: Code, B: Code>(a: &[A], b: &[B], b_levels: usize, cells: &mut [u32], halves: &mut [u32]) {
    let (pairs_a, rest_a) = a.as_chunks::<2>();
    let (pairs_b, rest_b) = b.as_chunks::<2>();
    for (a, b) in pairs_a.iter().zip(pairs_b) {
        cells[a[0].index() * b_levels + b[0].index()] += 1;
        halves[a[1].index() * b_levels + b[1].index()] += 1;
    }
    for (a, b) in rest_a.iter().zip(rest_b) {
        cells[a.index() * b_levels + b.index()] += 1;
    }
    for (cell, half) in cells.iter_mut().zip(halves) {
        *cell += *half;
    }
}

/// Both sums from sorted pairs of levels: for tables that would be mostly empty.
fn sorted_sums(rows: &Rows, a: &Variable, b: &Variable, keys: &mut Vec<u64>) -> Sums {
    let (of_a, of_b) = (a.codes(rows, &rows.all.rows), b.codes(rows, &rows.all.rows));
    let key = |row: usize| u64::from(of_a.at(row)) * b.n_levels as u64 + u64::from(of_b.at(row));
    let mut add_runs = |range: std::ops::Range<usize>, sum: &mut f64| {
        keys.clear();
        keys.extend(range.map(key));
        keys.sort_unstable();
        keys.chunk_by(|a, b| a == b).for_each(|run| *sum += rows.log_sums[run.len()]);
    };
    // In the order of the cells of a table, so that both ways give the same bits.
    let mut sums = Sums { joint: 0.0, with_target: 0.0 };
    rows.classes.iter().for_each(|class| add_runs(class.rows.clone(), &mut sums.with_target));
    add_runs(rows.all.rows.clone(), &mut sums.joint);
    sums
}

#[cfg(test)]
mod tests {
    use fewest_core::{Context, Dataset, DenseColumns, Target};

    use super::*;
    use crate::codes::Coded;
    use crate::discretisation::{Discretisation, Integers};
    use crate::side_by_side::{SideBySide, joint_conditional_entropies};

    /// Features with these numbers of levels, pseudo-random but fixed.
    fn coded(n: usize, levels: &[u64], classes: u64) -> Coded {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as f64
        };
        let columns: Vec<Vec<f64>> =
            levels.iter().map(|&below| (0..n).map(|_| draw(below)).collect()).collect();
        let mut labels: Vec<u64> = (0..n).map(|_| draw(classes) as u64).collect();
        (labels[0], labels[1]) = (0, 1);
        let x = DenseColumns::from_columns(&columns).unwrap();
        let data = Dataset::new(x, Target::from_labels(&labels)).unwrap();
        let rule = Discretisation { integers: Integers::Levels, ..Discretisation::default() };
        Coded::new(&data, &rule, "test", &Context::default()).unwrap()
    }

    #[test]
    fn planes_tables_and_sorting_agree() {
        let levels = [2, 3, 5, 9, 40, 300, 5000];
        for (n, classes) in [(2, 2), (63, 2), (64, 3), (65, 2), (130, 30), (1000, 2), (1000, 7)] {
            let Coded { rows, features } = coded(n, &levels, classes);
            let scratch = &mut Scratch::default();
            for a in &features {
                for b in &features {
                    let expected = sorted_sums(&rows, a, b, &mut Vec::new());
                    assert_eq!(sums(&rows, a, b, scratch), expected);
                    assert_eq!(joint_sum(&rows, a, b, scratch), expected.joint);
                    if !a.planes.is_empty() && !b.planes.is_empty() {
                        for (class, stretch) in rows.classes.iter().enumerate() {
                            fill(Way::Planes, &rows, (stretch, Some(class)), a, b, scratch);
                            let planes = scratch.cells.clone();
                            fill(Way::Table, &rows, (stretch, Some(class)), a, b, scratch);
                            assert_eq!(planes, scratch.cells);
                        }
                    }
                }
            }
        }
    }

    /// Added over parts of the samples, of which some lack classes and levels: the counts of all.
    #[test]
    fn counts_of_parts_add_up() {
        let draw = |i: usize, j: u64, below: u64| (fewest_core::derive_seed(j, i as u64) % below) as u32;
        for (n, levels) in [(3, [1, 2]), (300, [5, 5]), (500, [40, 3]), (700, [300, 20])] {
            let code = |j: u64, below: u64| (0..n).map(|i| draw(i, j, below)).collect::<Vec<u32>>();
            let (a, b, classes) = (code(0, levels[0]), code(1, levels[1]), code(2, 3));
            let [n_a, n_b] = levels.map(|n| n as usize);
            let mut expected = vec![0; 4 * n_a * n_b];
            for ((&a, &b), &class) in a.iter().zip(&b).zip(&classes) {
                expected[((class as usize) * n_a + a as usize) * n_b + b as usize] += 1;
            }
            for cut in [n, 7, 64] {
                let (mut found, mut visited) = (vec![0; expected.len()], vec![0; expected.len()]);
                for part in (0..n).step_by(cut).map(|first| first..n.min(first + cut)) {
                    let rows = Rows::of_classes(&classes[part.clone()], 4);
                    let a = Variable::of_codes(&a[part.clone()], n_a, &rows);
                    let b = Variable::of_codes(&b[part], n_b, &rows);
                    add_joint_counts(&rows, &a, &b, &mut Scratch::default(), &mut found);
                    each_joint(&rows, [&a, &b], |class, [a, b]| {
                        visited[(class as usize * n_a + a as usize) * n_b + b as usize] += 1;
                    });
                }
                assert!(found == expected && visited == expected, "{n} {levels:?} {cut}");
            }
        }
    }

    #[test]
    fn codes_or_planes_alone_give_the_bits_of_both() {
        let levels = [2, 3, 5, 9, 300];
        for (n, classes) in [(2, 2), (64, 3), (65, 2), (130, 30), (1000, 7)] {
            let Coded { rows, features } = coded(n, &levels, classes);
            let mut thin = coded(n, &levels, classes).features;
            thin.iter_mut().for_each(Variable::thin);
            assert!(n < 1000 || thin.iter().zip(levels).all(|(thin, n)| thin.planes.is_empty() == (n > 5)));
            let scratch = &mut Scratch::default();
            for (a, thin_a) in features.iter().zip(&thin) {
                for (b, thin_b) in features.iter().zip(&thin) {
                    let [whole, by_planes] = [[a, b], [thin_a, thin_b]].map(|[a, b]| {
                        let pair = Variable::joint(a, b, &rows);
                        let others = SideBySide::new(&[b, a, b], &rows);
                        let entropies = others.map(|others| {
                            joint_conditional_entropies(&rows, a, b, &others, &mut Scratch::default())
                        });
                        let alone = joint_sum(&rows, a, b, scratch);
                        let sorted = sorted_sums(&rows, a, b, &mut Vec::new());
                        (sums(&rows, a, b, scratch), alone, sorted, pair.sum, pair.target_sum, entropies)
                    });
                    assert_eq!(whole, by_planes);
                    for (class, stretch) in rows.classes.iter().enumerate() {
                        fill(Way::Table, &rows, (stretch, Some(class)), a, b, scratch);
                        let cells = scratch.cells.clone();
                        fill(Way::Table, &rows, (stretch, Some(class)), thin_a, thin_b, scratch);
                        assert_eq!(cells, scratch.cells);
                    }
                }
            }
        }
    }

    #[test]
    fn many_variables_at_once_give_the_counts_of_one_by_one() {
        let levels: Vec<u64> = (0..150).map(|j| [2, 3, 5, 9, 1][j % 5]).collect();
        for (n, classes) in [(2, 2), (63, 2), (130, 30), (300, 7)] {
            let Coded { rows, features } = coded(n, &levels, classes);
            let scratch = &mut Scratch::default();
            for (a, b, many) in [(0, 1, 0..150), (2, 3, 5..70), (2, 2, 0..64), (3, 7, 9..10)] {
                let (a, b) = (&features[a], &features[b]);
                let variables: Vec<&Variable> = many.map(|j| &features[j]).collect();
                let others = SideBySide::new(&variables, &rows).unwrap();
                let Some(found) = joint_conditional_entropies(&rows, a, b, &others, scratch) else {
                    // With few levels, cells are too large to compare all samples with each other.
                    assert!(n > 100, "{n}");
                    continue;
                };
                let pair = Variable::joint(a, b, &rows);
                let one_by_one: f64 = variables
                    .iter()
                    .map(|variable| {
                        let sums = sums(&rows, &pair, variable, scratch);
                        sums.joint - sums.with_target
                    })
                    .sum();
                assert!((found - one_by_one).abs() < 1e-9 * (1.0 + one_by_one), "{found} {one_by_one}");
            }
        }
    }

    #[test]
    fn more_levels_than_a_byte_holds_are_not_counted_at_once() {
        let Coded { rows, features } = coded(1000, &[300, 2], 2);
        assert!(SideBySide::new(&[&features[1], &features[0]], &rows).is_none());
        assert!(SideBySide::new(&[&features[1]], &rows).is_some());
    }

    #[test]
    fn a_joint_variable_determines_both() {
        let Coded { rows, features } = coded(200, &[3, 4, 2], 2);
        let both = Variable::joint(&features[0], &features[1], &rows);
        let scratch = &mut Scratch::default();
        let pair = sums(&rows, &features[0], &features[1], scratch);
        assert!((both.sum - pair.joint).abs() < 1e-10);
        assert!((both.target_sum - pair.with_target).abs() < 1e-10);
        // Joined with itself it is itself.
        assert!((joint_sum(&rows, &both, &both, scratch) - both.sum).abs() < 1e-10);
    }
}
