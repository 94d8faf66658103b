//! One signed factor of a kernel on an interval, shared by every feature with values there.

use super::Factor;
use crate::fast::{dispatched, multiply_add};
use crate::{ScalarKernel, lanes};

/// Nodes of the first attempt; each further one doubles them.
const FEWEST_NODES: usize = 256;

/// Nodes at most.
const MOST_NODES: usize = 4096;

/// Rank at most: beyond it a product costs more than it saves.
const MOST_COLUMNS: usize = 64;

/// Columns between nodes that are computed anew to find the error.
const CHECKED: usize = 33;

/// Columns of the factor that lie next to each other: as wide as most registers.
const WIDTH: usize = 4;

/// `2^52`: a sum of it and a smaller integer holds the integer in its lowest bits.
const INTEGER: f64 = 4_503_599_627_370_496.0;

/// Share of the error that the factorisation of the nodes may use up in the mean: the largest is some times that, and the rest is
/// interpolation's. Each further attempt takes this share of the share before.
const SHARE: f64 = 0.25;

/// `k(x, y) ≈ φ(x)ᵀ S φ(y)` for all `x, y` of an interval: a signed factor of the kernel on equally spaced nodes whose rows are
/// interpolated in between by cubics.
///
/// The Gram matrix of every feature with values in the interval is known at once, without a kernel evaluation: `uᵀKv` costs
/// `4 n r` multiplications, with the same `r` for all. A factor of each feature's own is thinner and as exact as one likes, but costs
/// some hundred times that: this one serves to find the few features that are worth it.
///
/// ```
/// use fewest_kernels::{Gram, Interpolated, SharedFactor, Sigmoid};
/// let kernel = Sigmoid::new(1.0, 0.0)?;
/// let Some(shared) = SharedFactor::new(&kernel, -3.0, 3.0, 1e-5) else { panic!("tanh is smooth") };
/// let points: Vec<f64> = (0..50).map(|i| 3.0 * (i as f64).sin()).collect();
/// let ones = vec![1.0; 50];
/// let mut projected = vec![0.0; shared.width()];
/// shared.project(&points, &ones, &mut Interpolated::default(), &mut projected);
/// let sum = shared.inner(&projected, &projected);
/// let exact: f64 = Gram::new(&kernel, &points).as_slice().iter().sum();
/// assert!((sum - exact).abs() < shared.error() * 50.0 * 50.0);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedFactor {
    low: f64,
    inverse_step: f64,
    n_nodes: usize,
    /// Blocks of [`WIDTH`] columns; within one, node after node.
    blocks: Vec<f64>,
    signs: Vec<f64>,
    error: f64,
    largest: f64,
}

/// Memory that [`SharedFactor::project`] works in, to be used again for the next feature.
#[derive(Debug, Clone, Default)]
pub struct Interpolated {
    /// The first of the four nodes around every point.
    cells: Vec<u32>,
    /// The four weights of the cubic.
    weights: Vec<f64>,
    /// Some columns of the factor at every point.
    rows: Vec<f64>,
}

impl SharedFactor {
    /// A factor of `kernel` for values from `low` to `high` that is wrong by at most `tolerance`, wherever that is checked: halfway
    /// between all nodes against 33 places spread over the interval.
    ///
    /// `None` where there is none of at most 64 columns on at most 4096 nodes: the kernel has kinks or jumps, changes too fast for
    /// the interval, or takes values that are not finite; or where `low < high` does not hold or `tolerance` is not above 0.
    pub fn new(kernel: &dyn ScalarKernel, low: f64, high: f64, tolerance: f64) -> Option<Self> {
        if !(low.is_finite() && high.is_finite() && low < high && tolerance > 0.0) {
            return None;
        }
        let (mut n_nodes, mut share) = (FEWEST_NODES, SHARE);
        while n_nodes <= MOST_NODES {
            let shared = Self::on_nodes(kernel, low, high, n_nodes, share * tolerance)?;
            if shared.error <= tolerance {
                return Some(shared);
            }
            // Either of the two causes may be to blame.
            n_nodes *= 2;
            share *= SHARE;
        }
        None
    }

    fn on_nodes(
        kernel: &dyn ScalarKernel,
        low: f64,
        high: f64,
        n_nodes: usize,
        tolerance: f64,
    ) -> Option<Self> {
        let step = (high - low) / (n_nodes - 1) as f64;
        let at = |place: f64| low + place * step;
        let nodes: Vec<f64> = (0..n_nodes).map(|k| at(k as f64)).collect();
        let spread = |k: usize| (k * (n_nodes - 2) / (CHECKED - 1)) as f64 + 0.5;
        let (mut squares, mut largest) = (0.0, 0.0_f64);
        for k in 0..CHECKED {
            let mut column = vec![0.0; n_nodes];
            kernel.eval_many(at(spread(k)), &nodes, &mut column);
            squares += lanes::dot(&column, &column) / (CHECKED * n_nodes) as f64;
            largest = largest.max(lanes::largest_size(&column));
        }
        let relative = (tolerance / squares.sqrt()).min(0.5);
        if relative.is_nan() || relative <= 0.0 {
            return None;
        }
        // Elimination keeps more columns than it takes.
        let factor = Factor::new(kernel, &nodes, 0.1 * relative, 2 * MOST_COLUMNS).ok()?;
        let factor = factor.compress(relative).ok()?;
        if factor.rank() > MOST_COLUMNS {
            return None;
        }
        let n_blocks = factor.rank().div_ceil(WIDTH).max(1);
        let mut blocks = vec![0.0; n_blocks * WIDTH * n_nodes];
        let mut signs = vec![0.0; n_blocks * WIDTH];
        for a in 0..factor.rank() {
            let block = &mut blocks[a / WIDTH * WIDTH * n_nodes..][..WIDTH * n_nodes];
            for (out, value) in block.iter_mut().skip(a % WIDTH).step_by(WIDTH).zip(factor.column(a)) {
                *out = *value;
            }
            signs[a] = factor.signs().map_or(1.0, |signs| signs[a]);
        }
        let mut shared =
            Self { low, inverse_step: step.recip(), n_nodes, blocks, signs, error: 0.0, largest: 0.0 };
        let between: Vec<f64> = (0..n_nodes - 1).map(|k| at(k as f64 + 0.5)).collect();
        let mut memory = Interpolated::default();
        let mut row = |x: f64| {
            let mut row = vec![0.0; shared.width()];
            shared.project(&[x], &[1.0], &mut memory, &mut row);
            row
        };
        let rows: Vec<Vec<f64>> = between.iter().map(|&x| row(x)).collect();
        let mut column = vec![0.0; between.len()];
        let mut error = 0.0;
        for k in 0..CHECKED {
            let y = at(spread(k));
            kernel.eval_many(y, &between, &mut column);
            let row = row(y);
            for (exact, other) in column.iter().zip(&rows) {
                let found = (shared.inner(&row, other) - exact).abs();
                if found > error || found.is_nan() {
                    error = found;
                }
            }
        }
        (shared.error, shared.largest) = (error, largest);
        error.is_finite().then_some(shared)
    }

    /// Length of [`SharedFactor::project`]'s result: the rank, rounded up to a multiple of 4.
    pub fn width(&self) -> usize {
        self.signs.len()
    }

    /// The largest error found: `|uᵀKv − inner|` is at most this times `‖u‖₁ ‖v‖₁` as far as the check goes.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The size of the largest value of the kernel that was met.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// `Φᵀv` for the rows `Φ` of `points` and each of the `vectors`, one after the other, each as long as `points`; `out` has
    /// [`SharedFactor::width`] entries a vector. Points outside the interval are extrapolated: keep them inside.
    ///
    /// # Panics
    /// Where the lengths do not fit.
    pub fn project(&self, points: &[f64], vectors: &[f64], memory: &mut Interpolated, out: &mut [f64]) {
        let n = points.len();
        let width = self.width();
        assert!(
            vectors.len() * width == out.len() * n,
            "{} numbers are not vectors of {n} samples that become {} numbers, {width} each",
            vectors.len(),
            out.len()
        );
        let Interpolated { cells, weights, rows } = memory;
        cells.resize(n, 0);
        weights.resize(WIDTH * n, 0.0);
        rows.resize(WIDTH * n, 0.0);
        place(points, self.low, self.inverse_step, self.n_nodes, cells, weights);
        for (b, block) in self.blocks.chunks_exact(WIDTH * self.n_nodes).enumerate() {
            interpolate(block, cells, weights, rows);
            for (vector, out) in vectors.chunks_exact(n.max(1)).zip(out.chunks_exact_mut(width)) {
                weigh(rows, vector, &mut out[b * WIDTH..(b + 1) * WIDTH]);
            }
        }
    }

    /// `uᵀKv` from what [`SharedFactor::project`] made of `u` and `v`.
    pub fn inner(&self, u: &[f64], v: &[f64]) -> f64 {
        self.signs.iter().zip(u.iter().zip(v)).map(|(sign, (u, v))| sign * u * v).sum()
    }
}

dispatched! {
    /// The first of four nodes around every point, and the weights of the cubic through them: those of all points for the first
    /// node, then for the second and so on.
    fn place(points: &[f64], low: f64, inverse_step: f64, n_nodes: usize, cells: &mut [u32], weights: &mut [f64]) = place_body
}

#[inline(always)]
fn place_body<const FMA: bool>(
    points: &[f64],
    low: f64,
    inverse_step: f64,
    n_nodes: usize,
    cells: &mut [u32],
    weights: &mut [f64],
) {
    let last = (n_nodes - WIDTH) as f64;
    let (first, rest) = weights.split_at_mut(points.len());
    let (second, rest) = rest.split_at_mut(points.len());
    let (third, fourth) = rest.split_at_mut(points.len());
    let weights = first.iter_mut().zip(second).zip(third.iter_mut().zip(fourth));
    for ((&x, cell), ((first, second), (third, fourth))) in points.iter().zip(cells).zip(weights) {
        let place = (x - low) * inverse_step;
        // The point lies between the second and the third node, but near the ends.
        let start = (place - 1.0).floor().clamp(0.0, last);
        // The lowest bits of the sum are the integer itself, without the cases of a conversion.
        *cell = (start + INTEGER).to_bits() as u32;
        let s = place - start;
        let (a, b, c) = (s - 1.0, s - 2.0, s - 3.0);
        *first = a * b * c * (-1.0 / 6.0);
        *second = s * b * c * 0.5;
        *third = s * a * c * -0.5;
        *fourth = s * a * b * (1.0 / 6.0);
    }
}

dispatched! {
    /// Four columns of the factor at every point.
    fn interpolate(block: &[f64], cells: &[u32], weights: &[f64], rows: &mut [f64]) = interpolate_body
}

#[inline(always)]
fn interpolate_body<const FMA: bool>(block: &[f64], cells: &[u32], weights: &[f64], rows: &mut [f64]) {
    let n = cells.len();
    let (first, rest) = weights.split_at(n);
    let (second, rest) = rest.split_at(n);
    let (third, fourth) = rest.split_at(n);
    let weights = first.iter().zip(second).zip(third.iter().zip(fourth));
    for ((&cell, ((first, second), (third, fourth))), row) in
        cells.iter().zip(weights).zip(rows.chunks_exact_mut(WIDTH))
    {
        let start = cell as usize * WIDTH;
        let Some(nodes) = block.get(start..start + WIDTH * WIDTH) else { continue };
        for k in 0..WIDTH {
            let low = multiply_add::<FMA>(*second, nodes[WIDTH + k], first * nodes[k]);
            let high = multiply_add::<FMA>(*fourth, nodes[3 * WIDTH + k], third * nodes[2 * WIDTH + k]);
            row[k] = low + high;
        }
    }
}

dispatched! {
    /// `out = Σ_i vector[i] rows[i]`, four columns at once.
    fn weigh(rows: &[f64], vector: &[f64], out: &mut [f64]) = weigh_body
}

#[inline(always)]
fn weigh_body<const FMA: bool>(rows: &[f64], vector: &[f64], out: &mut [f64]) {
    // Several sums at once: each alone would wait for its last addition.
    let mut sums = [[0.0; WIDTH]; WIDTH];
    let (groups, values) = (rows.chunks_exact(WIDTH * WIDTH), vector.chunks_exact(WIDTH));
    let rest = groups.remainder().chunks_exact(WIDTH).zip(values.remainder());
    for (row, &value) in rest {
        for k in 0..WIDTH {
            sums[0][k] = multiply_add::<FMA>(value, row[k], sums[0][k]);
        }
    }
    for (group, values) in groups.zip(values) {
        for (g, row) in group.chunks_exact(WIDTH).enumerate() {
            for k in 0..WIDTH {
                sums[g][k] = multiply_add::<FMA>(values[g], row[k], sums[g][k]);
            }
        }
    }
    for (k, out) in out.iter_mut().enumerate() {
        *out = (sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]);
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Error, derive_seed};

    use super::*;
    use crate::{Definiteness, Gaussian, Gram, Laplace, Polynomial, Sigmoid};

    /// Uniform in [-1, 1].
    fn random(seed: u64, stream: u64) -> f64 {
        2.0 * (derive_seed(seed, stream) as f64 / u64::MAX as f64) - 1.0
    }

    #[test]
    fn products_are_those_of_the_gram_matrix_within_the_error() -> Result<(), Error> {
        let kernels: [(&dyn ScalarKernel, f64); 5] = [
            (&Sigmoid::new(1.0, 0.0)?, 1e-5),
            (&Sigmoid::new(2.0, -1.0)?, 1e-4),
            (&Gaussian::new(1.0)?, 1e-6),
            (&Polynomial::new(3, -0.5, 1.0)?, 1e-3),
            (&crate::Linear, 1e-8),
        ];
        for (kernel, tolerance) in kernels {
            for (low, high) in [(-2.0, 3.0), (-8.4, 8.4)] {
                let Some(shared) = SharedFactor::new(kernel, low, high, tolerance) else {
                    panic!("no factor from {low} to {high} to {tolerance}")
                };
                assert!(shared.error() <= tolerance);
                for n in [1, 3, 4, 37] {
                    let mut points: Vec<f64> =
                        (0..n).map(|i| low + 0.5 * (high - low) * (1.0 + random(n, i))).collect();
                    (points[0], points[n as usize - 1]) = (low, high);
                    let vectors: Vec<f64> = (0..2 * n).map(|i| random(n + 1, i)).collect();
                    let mut projected = vec![0.0; 2 * shared.width()];
                    shared.project(&points, &vectors, &mut Interpolated::default(), &mut projected);
                    let (u, v) = vectors.split_at(n as usize);
                    let (pu, pv) = projected.split_at(shared.width());
                    let gram = Gram::new(kernel, &points);
                    let mut exact = 0.0;
                    for (column, v) in gram.as_slice().chunks_exact(n as usize).zip(v) {
                        exact += v * column.iter().zip(u).map(|(k, u)| k * u).sum::<f64>();
                    }
                    let sizes: f64 = [u, v].iter().map(|x| x.iter().map(|x| x.abs()).sum::<f64>()).product();
                    let error = (shared.inner(pu, pv) - exact).abs();
                    assert!(error <= 2.0 * tolerance * sizes, "{error} {tolerance} {sizes} {n}");
                }
            }
        }
        Ok(())
    }

    struct Hostile(fn(f64, f64) -> f64);

    impl ScalarKernel for Hostile {
        fn eval(&self, a: f64, b: f64) -> f64 {
            self.0(a, b)
        }
        fn definiteness(&self) -> Definiteness {
            Definiteness::Unknown
        }
    }

    #[test]
    fn what_cannot_be_interpolated_has_none() -> Result<(), Error> {
        let smooth = Sigmoid::new(1.0, 0.0)?;
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(SharedFactor::new(&smooth, low, high, 1e-5).is_none());
        }
        assert!(SharedFactor::new(&smooth, -1.0, 1.0, 0.0).is_none());
        assert!(SharedFactor::new(&smooth, -1.0, 1.0, f64::NAN).is_none());
        // A kink, a jump, too many bends, no numbers, one place without a number.
        assert!(SharedFactor::new(&Laplace::new(1.0)?, -1.0, 1.0, 1e-5).is_none());
        assert!(SharedFactor::new(&Gaussian::new(1e-3)?, -1.0, 1.0, 1e-5).is_none());
        for hostile in [
            (|a, b| if a * b > 0.1 { 1.0 } else { 0.0 }) as fn(f64, f64) -> f64,
            |_, _| f64::NAN,
            |_, _| f64::INFINITY,
            |a, b| if a * b > 0.99 { f64::NAN } else { 1.0 },
        ] {
            assert!(SharedFactor::new(&Hostile(hostile), -1.0, 1.0, 1e-5).is_none());
        }
        Ok(())
    }
}
