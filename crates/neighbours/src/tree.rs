//! The search by a k-d tree, for few coordinates and many samples.

use fewest_core::{Context, Error};

use crate::DistanceMetric;
use crate::samples::Samples;
use crate::search::{TIE, closest};

/// Smallest number of samples for which a tree is faster than the distances of all pairs.
const FEWEST_SAMPLES: usize = 2000;

/// Largest number of coordinates for which it is.
const MOST_COORDINATES: usize = 6;

/// Number of samples of a leaf.
const LEAF: usize = 16;

/// Leaves between two checks of the interruption flag.
const BATCH: usize = 256;

/// Beyond this, squares might overflow.
const LARGEST: f64 = 1e150;

/// One distance is clearly less than another when they are farther apart than this, relatively: a long way
/// from the tolerance for ties.
const SLACK: f64 = 1e-9;

/// Neighbours of each sample as `(distance, index)`, nearest first.
type Lists = Vec<Vec<(f64, usize)>>;

/// The result of [`nearest`](crate::nearest), bit for bit; `None` where a tree does not help: for
/// metrics that are not sums over the coordinates, categories, more than six coordinates, few samples.
pub(crate) fn nearest(samples: &Samples, k: usize, context: &Context<'_>) -> Result<Option<Lists>, Error> {
    let (n, d) = (samples.n_samples(), samples.n_coordinates());
    let is_no_sum = samples.metric() == DistanceMetric::Cosine || samples.has_categories();
    if n < FEWEST_SAMPLES || k == 0 || k >= n - 1 || is_no_sum || d == 0 || d > MOST_COORDINATES {
        return Ok(None);
    }
    let points: Vec<f64> = (0..n).flat_map(|i| samples.numbers(i)).collect();
    if points.iter().any(|value| value.abs() > LARGEST) {
        return Ok(None);
    }
    let tree = Tree::new(&points, d);
    let neighbours = |leaf: usize| Search::new(&tree, samples.metric(), k).of_leaf(leaf);
    let mut lists = vec![Vec::new(); n];
    let n_leaves = n.div_ceil(LEAF);
    for start in (0..n_leaves).step_by(BATCH) {
        context.go_on("the neighbours of all samples were known")?;
        let end = n_leaves.min(start + BATCH);
        let found = fewest_parallel::map(end - start, |at| neighbours(start + at));
        for (&i, list) in tree.order[start * LEAF..].iter().zip(found.into_iter().flatten()) {
            lists[i] = list;
        }
    }
    Ok(Some(lists))
}

/// Samples halved at the median of their widest coordinate until they fit a leaf. All leaves but the last are
/// full, so that positions follow from the numbers of leaves.
struct Tree {
    n_coordinates: usize,
    /// The samples, leaf after leaf; in each, they increase.
    order: Vec<usize>,
    /// Leaf after leaf; in each, coordinate after coordinate.
    values: Vec<f64>,
    /// Every node before those of its left side, and these before those of its right side.
    nodes: Vec<Node>,
}

/// Where the samples of several leaves are halved.
#[derive(Clone, Copy)]
struct Node {
    coordinate: usize,
    /// The largest value on the left side and the smallest on the right side.
    edges: [f64; 2],
    /// The lowest index on each side.
    lowest: [usize; 2],
}

impl Tree {
    /// The tree of `points`, `d` values each.
    fn new(points: &[f64], d: usize) -> Self {
        let n = points.len() / d;
        let mut order: Vec<usize> = (0..n).collect();
        let mut nodes = Vec::with_capacity(n.div_ceil(LEAF));
        halve(points, d, &mut order, &mut vec![(0.0, 0); n], &mut nodes);
        let mut values = vec![0.0; n.div_ceil(LEAF) * LEAF * d];
        for (members, leaf) in order.chunks(LEAF).zip(values.chunks_exact_mut(LEAF * d)) {
            for (s, &i) in members.iter().enumerate() {
                for j in 0..d {
                    leaf[j * LEAF + s] = points[i * d + j];
                }
            }
        }
        Self { n_coordinates: d, order, values, nodes }
    }
}

/// Puts `members` in the order of the leaves; the lowest of them.
fn halve(
    points: &[f64],
    d: usize,
    members: &mut [usize],
    pairs: &mut [(f64, usize)],
    nodes: &mut Vec<Node>,
) -> usize {
    if members.len() <= LEAF {
        members.sort_unstable();
        return members[0];
    }
    let (mut low, mut high) = ([f64::INFINITY; MOST_COORDINATES], [f64::NEG_INFINITY; MOST_COORDINATES]);
    for &i in &*members {
        for (j, &value) in points[i * d..(i + 1) * d].iter().enumerate() {
            low[j] = if value < low[j] { value } else { low[j] };
            high[j] = if value > high[j] { value } else { high[j] };
        }
    }
    let width = |j: usize| high[j] - low[j];
    let coordinate = (1..d).fold(0, |widest, j| if width(j) > width(widest) { j } else { widest });
    for (pair, &i) in pairs.iter_mut().zip(&*members) {
        *pair = (points[i * d + coordinate], i);
    }
    // Equal values are ordered by the index: low indices are then found first, and the others need no visit.
    let middle = members.len().div_ceil(LEAF) / 2 * LEAF;
    pairs.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (to, &(_, i)) in members.iter_mut().zip(&*pairs) {
        *to = i;
    }
    let left = pairs[..middle].iter().fold(f64::NEG_INFINITY, |most, (value, _)| most.max(*value));
    let at = nodes.len();
    nodes.push(Node { coordinate, edges: [left, pairs[middle].0], lowest: [0; 2] });
    let (left, right) = members.split_at_mut(middle);
    let (left_pairs, right_pairs) = pairs.split_at_mut(middle);
    let lowest = [halve(points, d, left, left_pairs, nodes), halve(points, d, right, right_pairs, nodes)];
    nodes[at].lowest = lowest;
    lowest[0].min(lowest[1])
}

/// The search for the neighbours of one sample after the other: what [`closest`] would choose of all others.
///
/// It is exact. A distance is a sum of terms in the order of the coordinates. A bound is the same sum with
/// differences to the edge of a side in place of those to a sample beyond the edge, which are no smaller.
/// Rounding never reverses the order of two results of one operation, so no bound exceeds a distance that
/// it bounds, not even in the last digit.
struct Search<'a> {
    tree: &'a Tree,
    metric: DistanceMetric,
    k: usize,
    sample: usize,
    point: Vec<f64>,
    /// A lower bound, for each coordinate, of its contribution to the distance to any sample of the visited
    /// side.
    terms: Vec<f64>,
    /// The candidates for neighbours found so far.
    found: Vec<(f64, usize)>,
    /// At least `k` samples are as near as this.
    last: f64,
    /// Nothing beyond this is a neighbour.
    tied: f64,
    /// Nothing as far as `last` is a neighbour where its index is above this.
    highest: usize,
}

impl<'a> Search<'a> {
    fn new(tree: &'a Tree, metric: DistanceMetric, k: usize) -> Self {
        let nothing = vec![0.0; tree.n_coordinates];
        let found = Vec::with_capacity(2 * k + LEAF);
        let (point, terms) = (nothing.clone(), nothing);
        Self { tree, metric, k, sample: 0, point, terms, found, last: 0.0, tied: 0.0, highest: 0 }
    }

    /// The neighbours of the samples of a leaf.
    fn of_leaf(&mut self, leaf: usize) -> Lists {
        let tree = self.tree;
        let members = tree.order[leaf * LEAF..].iter().take(LEAF);
        let n_leaves = tree.nodes.len() + 1;
        let values = &tree.values[leaf * LEAF * tree.n_coordinates..];
        let of_sample = |(s, &i): (usize, &usize)| {
            self.sample = i;
            self.point.iter_mut().enumerate().for_each(|(j, x)| *x = values[j * LEAF + s]);
            self.found.clear();
            (self.last, self.tied, self.highest) = (f64::MAX, f64::MAX, usize::MAX);
            self.visit(0, 0, n_leaves);
            self.found.sort_unstable_by_key(|(_, j)| *j);
            closest(self.found.iter().copied(), self.k)
        };
        members.enumerate().map(of_sample).collect()
    }

    /// Visits the `n_leaves` leaves from `leaf` on, which `node` halves.
    fn visit(&mut self, node: usize, leaf: usize, n_leaves: usize) {
        if n_leaves == 1 {
            return self.scan(leaf);
        }
        let Node { coordinate, edges: [left, right], lowest } = self.tree.nodes[node];
        let half = n_leaves / 2;
        let sides = [(node + 1, leaf, half), (node + half, leaf + half, n_leaves - half)];
        let value = self.point[coordinate];
        let (near, gap) = if value <= left { (0, right - value) } else { (1, value - left) };
        self.visit(sides[near].0, sides[near].1, sides[near].2);
        let before = self.terms[coordinate];
        self.terms[coordinate] = if self.metric == DistanceMetric::Manhattan { gap } else { gap * gap };
        let bound = self.terms.iter().fold(0.0, |sum, term| sum + term);
        let far = 1 - near;
        if self.may_be_one(bound, lowest[far]) {
            self.visit(sides[far].0, sides[far].1, sides[far].2);
        }
        self.terms[coordinate] = before;
    }

    /// Whether samples at least this far whose indices are at least this may be neighbours.
    fn may_be_one(&self, distance: f64, index: usize) -> bool {
        distance < self.last || (distance <= self.tied && index <= self.highest)
    }

    /// Visits the samples of a leaf.
    fn scan(&mut self, leaf: usize) {
        let length = LEAF * self.point.len();
        let values = &self.tree.values[leaf * length..(leaf + 1) * length];
        let mut sums = [0.0; LEAF];
        match self.metric {
            DistanceMetric::Manhattan => add(values, &self.point, &mut sums, |a, b| (a - b).abs()),
            _ => add(values, &self.point, &mut sums, |a, b| (a - b) * (a - b)),
        }
        for (&distance, &j) in sums.iter().zip(&self.tree.order[leaf * LEAF..]) {
            if self.may_be_one(distance, j) && j != self.sample {
                self.found.push((distance, j));
            }
        }
        if self.found.len() > self.k + self.k / 2 {
            self.narrow();
        }
    }

    /// Drops samples that cannot be neighbours, given the `k` nearest so far.
    ///
    /// The last of all `k` neighbours will be no farther than the last of these: beyond its ties, nothing
    /// counts. A sample no nearer than `last` can only be one of the final ties, whose lowest indices
    /// take the places that nearer samples leave. Each of these `k` comes before it if its own index is
    /// lower; if not, and the sample's index is above `highest`, it is clearly nearer than `last`, hence
    /// no tie. So the sample finds no place, and what has none changes nothing for the others.
    fn narrow(&mut self) {
        self.found.select_nth_unstable_by(self.k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let nearest = &self.found[..self.k];
        self.last = nearest[self.k - 1].0;
        self.tied = self.last * (1.0 + TIE);
        let clearly = self.last * (1.0 - SLACK);
        let ties = nearest.iter().filter(|(distance, _)| *distance >= clearly);
        self.highest = ties.fold(0, |highest, (_, j)| highest.max(*j));
        let mut rest = self.k;
        for at in self.k..self.found.len() {
            let (distance, j) = self.found[at];
            if distance <= self.tied && j <= self.highest {
                self.found.swap(rest, at);
                rest += 1;
            }
        }
        self.found.truncate(rest);
    }
}

/// Adds the terms of every coordinate of a leaf, in the order of the distances of all pairs.
#[inline(always)]
fn add(values: &[f64], point: &[f64], sums: &mut [f64; LEAF], term: impl Fn(f64, f64) -> f64) {
    for (values, &x) in values.chunks_exact(LEAF).zip(point) {
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum += term(value, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::by_all_pairs;
    use crate::{Coordinate, Distances};

    fn pack(metric: DistanceMetric, columns: &[Vec<f64>]) -> Samples {
        let kinds = vec![Coordinate::Numeric; columns.len()];
        let packed = Samples::pack(metric, columns[0].len(), &kinds, |j, out| {
            out.copy_from_slice(&columns[j]);
            Ok(())
        });
        packed.unwrap()
    }

    fn compare(columns: &[Vec<f64>], k: usize) {
        for metric in [DistanceMetric::Manhattan, DistanceMetric::SquaredEuclidean] {
            let context = Context::default();
            let found = nearest(&pack(metric, columns), k, &context).unwrap().expect("a tree was built");
            let kinds = vec![Coordinate::Numeric; columns.len()];
            let fill = |j: usize, out: &mut [f64]| {
                out.copy_from_slice(&columns[j]);
                Ok(())
            };
            let distances = Distances::new(metric, columns[0].len(), &kinds, fill, &context).unwrap();
            let expected = by_all_pairs(&distances, k, &context).unwrap();
            let bits = |list: &[(f64, usize)]| -> Vec<(u64, usize)> {
                list.iter().map(|(distance, j)| (distance.to_bits(), *j)).collect()
            };
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(
                    bits(found),
                    bits(expected),
                    "{metric:?}, {} coordinates, k = {k}, sample {i}",
                    columns.len()
                );
            }
        }
    }

    #[test]
    fn the_tree_finds_what_the_distances_of_all_pairs_find() {
        let n = FEWEST_SAMPLES + 7;
        let noise = |j: usize, i: usize| {
            (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / 2.0_f64.powi(53)
        };
        for d in 1..=6 {
            let column =
                |j: usize| (0..n).map(|i| noise(j, i) * 10.0_f64.powi(j as i32 - 2) + 100.0).collect();
            let columns: Vec<Vec<f64>> = (0..d).map(column).collect();
            compare(&columns, 5);
        }
        // Ties everywhere: whole numbers, and all samples in three places.
        let lattice = |step: usize| -> Vec<f64> { (0..n).map(|i| (i * step % 13) as f64 * 0.1).collect() };
        compare(&[lattice(1), lattice(5), lattice(7)], 4);
        compare(&[(0..n).map(|i| (i % 3) as f64).collect(), vec![2.0; n]], 3);
        compare(&[vec![1.0; n], vec![2.0; n]], 70);
        // Many ties between different digits; coordinates that are whole, constant or 0 of both signs.
        compare(&[lattice(1), lattice(1)], 200);
        let bit = |j: usize| (0..n).map(|i| noise(j, i).round()).collect::<Vec<f64>>();
        compare(&(0..6).map(bit).collect::<Vec<_>>(), 9);
        compare(&[vec![-3.5; n], (0..n).map(|i| noise(0, i)).collect(), bit(1)], 6);
        compare(&[(0..n).map(|i| if i % 2 == 0 { 0.0 } else { -0.0 }).collect(), bit(2)], 5);
        // Where all samples are in one place, and where one is far from all others.
        compare(&[vec![7.0; n]], 1);
        compare(&[(0..n).map(|i| if i == 1234 { 1e6 } else { 0.1 }).collect()], 3);
        compare(&[(0..n).map(|i| (n - i) as f64 * 0.1).collect()], n - 2);
        // Very small and large numbers.
        compare(
            &[(0..n).map(|i| noise(0, i) * 1e-170).collect(), (0..n).map(|i| noise(1, i) * 1e149).collect()],
            3,
        );
        compare(&[(0..n).map(|i| f64::from_bits(i as u64 * 7 % 97)).collect()], 4);
        compare(&[(0..n).map(|i| if noise(3, i) < 0.5 { -LARGEST } else { LARGEST }).collect(), bit(4)], 4);
    }

    #[test]
    fn every_number_of_samples_in_the_last_leaf_will_do() {
        for n in FEWEST_SAMPLES..=FEWEST_SAMPLES + LEAF {
            let column = |step: usize| (0..n).map(|i| (i * step % 1009) as f64 / 3.0).collect::<Vec<f64>>();
            compare(&[column(17), column(401)], 3);
        }
    }

    #[test]
    fn where_a_tree_is_of_no_use_there_is_none() {
        let n = FEWEST_SAMPLES;
        let column = |scale: f64| (0..n).map(|i| i as f64 * scale).collect::<Vec<f64>>();
        let none = |metric: DistanceMetric, columns: &[Vec<f64>], k: usize| {
            nearest(&pack(metric, columns), k, &Context::default()).unwrap().is_none()
        };
        assert!(none(DistanceMetric::Cosine, &[column(1.0)], 3));
        assert!(none(DistanceMetric::Manhattan, &vec![column(1.0); 7], 3));
        assert!(none(DistanceMetric::Manhattan, &[column(1e200)], 3));
        assert!(none(DistanceMetric::Manhattan, &[column(1.0)[1..].to_vec()], 3));
        for k in [0, n - 1, n, usize::MAX - 1] {
            assert!(none(DistanceMetric::Manhattan, &[column(1.0)], k), "{k}");
        }
        assert!(!none(DistanceMetric::Manhattan, &[column(1.0)], 3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn coarse_numbers_tie_alike(seed in 0_u64..10_000, levels in 2_u64..40, d in 1_usize..4, k in 1_usize..30) {
            let n = FEWEST_SAMPLES;
            let value = |j: usize, i: usize| (fewest_core::derive_seed(seed + j as u64, i as u64) % levels) as f64 / 7.0;
            let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(j, i)).collect()).collect();
            compare(&columns, k);
        }
    }
}
