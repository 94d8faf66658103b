//! One signed factor of a kernel on an interval, shared by every feature with values there.

mod checks;
mod cubic;

use super::Factor;
use crate::ScalarKernel;
use checks::{Checks, FEWEST_INTERVALS, grid};
use cubic::{Entry, NODES, WIDTH};

/// Largest number of intervals.
const MOST_INTERVALS: usize = 4096;

/// Largest rank: above it a product costs more than it saves.
const MOST_COLUMNS: usize = 64;

/// Share of the tolerance for interpolating the columns of the kernel: both rows and columns are
/// interpolated.
const INTERPOLATED: f64 = 0.25;

/// Share of the tolerance for the mean error of the factorisation of the nodes: the largest error is many
/// times larger.
const FACTORED: f64 = 0.02;

/// `k(x, y) ≈ φ(x)ᵀ S φ(y)` for all `x, y` of an interval: a signed factor of the kernel on equally spaced
/// nodes whose rows are interpolated in between by cubics.
///
/// The Gram matrix of every feature with values in the interval is known at once, without a kernel
/// evaluation: `uᵀKv` costs at most `4 n r` multiplications, with the same `r` for all. A separate factor
/// for each feature has a smaller rank and any accuracy, but costs about a hundred times more: use this
/// one to find the few features that need their own factor.
///
/// ```
/// use fewest_kernels::{Gram, Interpolated, Pair, SharedFactor, Sigmoid};
/// let kernel = Sigmoid::new(1.0, 0.0)?;
/// let Some(shared) = SharedFactor::new(&kernel, -3.0, 3.0, 1e-5) else { panic!("tanh is smooth") };
/// let points: Vec<f64> = (0..50).map(|i| 3.0 * (i as f64).sin()).collect();
/// let ones = vec![1.0; 50];
/// let pairs = [Pair::new(&ones, &ones)];
/// let (sum, error) = shared.product(&points, &pairs, &mut Interpolated::default(), |_, error| error < 1e-3);
/// let exact: f64 = Gram::new(&kernel, &points).as_slice().iter().sum();
/// assert!((sum - exact).abs() < error * 50.0 * 50.0);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedFactor {
    low: f64,
    inverse_step: f64,
    n_nodes: usize,
    /// Blocks of [`WIDTH`] columns, the largest first; within one, node after node. In single precision a
    /// block of a thousand nodes stays in cache; its rounding is part of the error.
    blocks: Vec<f32>,
    signs: Vec<f64>,
    /// The error of all blocks up to each.
    errors: Vec<f64>,
    largest: f64,
}

/// Buffers of [`SharedFactor::product`], which can be used again for the next feature.
#[derive(Debug, Clone, Default)]
pub struct Interpolated {
    /// The first of the four nodes around every point.
    cells: Vec<u32>,
    /// The four weights of the cubic.
    weights: Vec<f32>,
    /// Some columns of the factor at every point.
    rows: Vec<f32>,
}

impl SharedFactor {
    /// A factor of `kernel` for values from `low` to `high` with an error of at most `tolerance` at all
    /// points checked: halfway between all nodes against 33 points spread over the interval.
    ///
    /// `None` where there is none of at most 64 columns on at most 4097 nodes: the kernel is not smooth or
    /// has jumps, changes too fast for the interval, or takes values that are not finite; where `low < high`
    /// does not hold or `tolerance` is not above 0; or where `tolerance` is below what single precision
    /// leaves, some 1e-6 of the largest value.
    pub fn new(kernel: &dyn ScalarKernel, low: f64, high: f64, tolerance: f64) -> Option<Self> {
        if !(low.is_finite() && high.is_finite() && low < high && tolerance > 0.0) {
            return None;
        }
        let checks = Checks::new(kernel, low, high)?;
        // The error of cubic interpolation is proportional to the fourth power of the distance of nodes.
        let (mut n_intervals, mut error) = (FEWEST_INTERVALS, checks.cubic_error());
        while error > INTERPOLATED * tolerance && n_intervals <= MOST_INTERVALS {
            (n_intervals, error) = (2 * n_intervals, error / 16.0);
        }
        let relative = (FACTORED * tolerance / checks.mean()).min(0.5);
        while n_intervals <= MOST_INTERVALS && relative > 0.0 {
            let (nodes, between) = grid(low, high, n_intervals);
            // Elimination keeps more columns than it takes.
            let factor = Factor::new(kernel, &nodes, 0.1 * relative, 2 * MOST_COLUMNS).ok()?;
            let factor = factor.compress(relative).ok()?;
            let mut shared = Self {
                low,
                inverse_step: n_intervals as f64 / (high - low),
                n_nodes: nodes.len(),
                blocks: Vec::new(),
                signs: Vec::new(),
                errors: Vec::new(),
                largest: checks.largest(),
            };
            if shared.take(&factor, &checks.places, checks.columns(kernel, &between)?, &between, tolerance) {
                return Some(shared);
            }
            n_intervals *= 2;
        }
        None
    }

    /// Uses as many columns of `factor` as needed for an error of at most `tolerance` on the kernel's
    /// columns `left`, those of `places` at the points `between`; returns whether that was reached.
    fn take(
        &mut self,
        factor: &Factor,
        places: &[f64],
        mut left: Vec<Vec<f64>>,
        between: &[f64],
        tolerance: f64,
    ) -> bool {
        let (mut columns, mut rows) = (Interpolated::default(), Interpolated::default());
        columns.place(self, places);
        rows.place(self, between);
        for start in (0..factor.rank().clamp(1, MOST_COLUMNS)).step_by(WIDTH) {
            let mut block = vec![0.0_f32; WIDTH * self.n_nodes];
            let mut signs = [0.0; WIDTH];
            for a in start..factor.rank().min(start + WIDTH) {
                for (out, value) in block.iter_mut().skip(a - start).step_by(WIDTH).zip(factor.column(a)) {
                    *out = *value as f32;
                }
                signs[a - start] = factor.signs().map_or(1.0, |signs| signs[a]);
            }
            columns.interpolate(&block);
            rows.interpolate(&block);
            let mut error = 0.0;
            for (left, column) in left.iter_mut().zip(columns.rows.chunks_exact(WIDTH)) {
                let column: [f64; WIDTH] = std::array::from_fn(|k| signs[k] * f64::from(column[k]));
                for (left, row) in left.iter_mut().zip(rows.rows.chunks_exact(WIDTH)) {
                    *left -=
                        row.iter().zip(&column).map(|(row, column)| f64::from(*row) * column).sum::<f64>();
                    if left.abs() > error || left.is_nan() {
                        error = left.abs();
                    }
                }
            }
            self.blocks.append(&mut block);
            self.signs.extend(signs);
            self.errors.push(error);
            if error <= tolerance || !error.is_finite() {
                break;
            }
        }
        self.error() <= tolerance
    }

    /// The largest error found: with all columns, `|uᵀKv − product|` is at most this times `‖u‖₁ ‖v‖₁`,
    /// as far as it was checked.
    pub fn error(&self) -> f64 {
        self.errors.last().copied().unwrap_or(f64::INFINITY)
    }

    /// The largest absolute value of the kernel found.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// `Σ uᵀKv` over `pairs` for the Gram matrix `K` of `points`, and its error as in
    /// [`SharedFactor::error`]. Columns are added in blocks of eight, the largest first, until `is_enough`
    /// accepts the value and the error so far. Points outside the interval are extrapolated: keep them
    /// inside.
    ///
    /// # Panics
    /// Where a pair is not as long as `points`.
    pub fn product(
        &self,
        points: &[f64],
        pairs: &[Pair],
        memory: &mut Interpolated,
        is_enough: impl Fn(f64, f64) -> bool,
    ) -> (f64, f64) {
        for pair in pairs {
            assert!(pair.length == points.len(), "{} entries for {} points", pair.length, points.len());
        }
        memory.place(self, points);
        let mut value = 0.0;
        let blocks = self.blocks.chunks_exact(WIDTH * self.n_nodes).zip(self.signs.chunks_exact(WIDTH));
        for ((block, signs), &error) in blocks.zip(&self.errors) {
            memory.interpolate(block);
            for pair in pairs {
                let mut weighed = [[0.0; WIDTH]; 2];
                cubic::weigh(&memory.rows, &pair.entries, &mut weighed);
                value += signed_product(signs, &weighed[0], &weighed[1]);
            }
            if is_enough(value, error) {
                return (value, error);
            }
        }
        (value, self.error())
    }
}

/// Two vectors `u` and `v` for which [`SharedFactor::product`] is asked.
#[derive(Debug, Clone)]
pub struct Pair {
    length: usize,
    entries: Vec<Entry>,
}

impl Pair {
    /// Where `u` and `v` are both zero costs nothing.
    ///
    /// # Panics
    /// Where they are not of one length.
    pub fn new(u: &[f64], v: &[f64]) -> Self {
        assert!(u.len() == v.len(), "{} and {} entries", u.len(), v.len());
        let entries = u.iter().zip(v).enumerate().map(|(place, (&u, &v))| Entry { place, values: [u, v] });
        Self { length: u.len(), entries: entries.filter(|entry| entry.values != [0.0; 2]).collect() }
    }
}

/// `Σ_k signs[k] u[k] v[k]`.
fn signed_product(signs: &[f64], u: &[f64], v: &[f64]) -> f64 {
    signs.iter().zip(u.iter().zip(v)).map(|(sign, (u, v))| sign * u * v).sum()
}

impl Interpolated {
    /// Finds the nodes around `points`.
    fn place(&mut self, factor: &SharedFactor, points: &[f64]) {
        self.cells.resize(points.len(), 0);
        self.weights.resize(NODES * points.len(), 0.0);
        self.rows.resize(WIDTH * points.len(), 0.0);
        let SharedFactor { low, inverse_step, n_nodes, .. } = *factor;
        cubic::place(points, low, inverse_step, n_nodes, &mut self.cells, &mut self.weights);
    }

    /// The rows of a block at the points.
    fn interpolate(&mut self, block: &[f32]) {
        cubic::interpolate(block, &self.cells, &self.weights, &mut self.rows);
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
            (&Polynomial::new(3, -0.5, 1.0)?, 1.0),
            (&crate::Linear, 1e-4),
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
                    let mut memory = Interpolated::default();
                    let (u, v) = vectors.split_at(n as usize);
                    let pairs = [Pair::new(u, v)];
                    let gram = Gram::new(kernel, &points);
                    let mut exact = 0.0;
                    for (column, v) in gram.as_slice().chunks_exact(n as usize).zip(v) {
                        exact += v * column.iter().zip(u).map(|(k, u)| k * u).sum::<f64>();
                    }
                    let sizes: f64 = [u, v].iter().map(|x| x.iter().map(|x| x.abs()).sum::<f64>()).product();
                    // Of all columns, and of as few as it takes.
                    for allowed in [0.0, 1e-3, 1e-1] {
                        let is_enough = |_, error| error <= allowed;
                        let (found, said) = shared.product(&points, &pairs, &mut memory, is_enough);
                        let error = (found - exact).abs();
                        assert!(said <= tolerance.max(allowed));
                        assert!(error <= 2.0 * said * sizes, "{error} {said} {sizes} {n}");
                    }
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
        assert!(SharedFactor::new(&smooth, -1.0, 1.0, 1e-12).is_none());
        assert!(SharedFactor::new(&smooth, -1.0, 1.0, f64::NAN).is_none());
        // Not differentiable, a jump, too narrow, no numbers, one point without a number.
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
