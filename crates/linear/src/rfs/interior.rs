//! The robust problem of few samples by an interior-point method in the lengths.
//!
//! ```text
//! minimise over η, ρ ≥ 0   ½ [ λ Σⱼ ηⱼ + Σᵢ ρᵢ + ⟨Y, Θ⟩ ],     Θ = M⁻¹ Y,     M = X diag(η) Xᵀ / λ + diag(ρ)
//! ```
//!
//! is convex, since `⟨Y, M⁻¹Y⟩` is in `M`, and has the minimum of RFS: `ηⱼ = ‖Wⱼ‖`, `ρᵢ = ‖rᵢ‖`, with
//! `W = diag(η) XᵀΘ / λ` and `R = diag(ρ) Θ`. There are as many unknowns as features and samples, whatever
//! the number of outputs, and a residual of zero is nothing special. With `z` all lengths and `s` the
//! multipliers of their bounds, a step solves `(H + diag(s/z)) Δz = −∇ + σμ/z` (Mehrotra 1992), where
//! `H_ab = ⟨u_a, u_b⟩ ⟨z_a, M⁻¹ z_b⟩` for the columns `z_a` of `[X/√λ, I]` and the rows `u_a` of
//! `[XᵀΘ/√λ; Θ]`.
//!
//! Lengths are the same in any orthonormal basis, so that outputs are taken in one of their own span: the
//! indicators of two classes are one output. And `H = VᵀV`, where column `a` of `V` is the product of `u_a`
//! and `L⁻¹z_a`, `M = LLᵀ`: a system in all lengths is solved by one of the size of `V Vᵀ` where that is
//! smaller.

use fewest_linalg::{
    Cholesky, combination, dot, gram, symmetric_eigen, transposed, transposed_products, triangular_products,
};
use fewest_solver::Control;
use nalgebra::DMatrix;

/// Most steps, and those after which a run ends in which neither the gap nor the products of lengths and
/// multipliers became smaller by a tenth.
const MOST_STEPS: u64 = 80;
const PATIENCE: usize = 6;

/// Reweighting steps (the method of the paper) from which the first point comes.
const REWEIGHTED: usize = 3;

/// How much of the way to the border a step goes.
const SHORT_OF_BORDER: f64 = 0.99;

/// A length whose bound is stiffer than the objective by this factor moves by itself.
const STIFF: f64 = 1e8;

/// After so many steps columns near the border leave, where they are at least one in so many of all: those
/// whose share of the largest length is below this part of their multiplier's share of the penalty. Near the
/// end many lengths are small: each time the part becomes smaller by this factor.
const FIRST_STEPS: u64 = 2;
const ONE_OF: usize = 2;
const NEAR_BORDER: f64 = 0.01;
const NEARER: f64 = 0.01;

/// A step is halved, so many times at most, where the matrix is not positive definite to rounding after it or
/// the gap is larger than before by more than this factor.
const MOST_HALVINGS: i32 = 8;
const WORSE: f64 = 3.0;

/// A direction of the outputs is left out where its eigenvalue is below this share of the largest.
const LEAST_EIGENVALUE: f64 = 1e-14;

/// The smaller system is solved where it is smaller by this factor: near the end it is less exact.
const SMALLER: usize = 2;

/// The problem over some columns.
pub(super) struct Interior {
    /// Columns of length `n`, and their transpose.
    x: Vec<f64>,
    rows: Vec<f64>,
    /// In the basis `directions`.
    outputs: Vec<f64>,
    /// Orthonormal, each with an entry for every output as given.
    directions: Vec<Vec<f64>>,
    n: usize,
    lambda: f64,
    /// Which of the columns given are here, and how many were given.
    kept: Vec<usize>,
    n_given: usize,
}

/// `I + VᵀV`, factorised.
enum System {
    Whole(Cholesky),
    /// By `I + V Vᵀ`, with the columns of `V` of length `rank`.
    Small {
        factor: Cholesky,
        v: Vec<f64>,
        rank: usize,
    },
}

impl System {
    fn solve(&self, right: &mut [f64]) {
        match self {
            Self::Whole(factor) => factor.solve(right),
            Self::Small { factor, v, rank } => {
                let mut solved = combination(v, right, *rank);
                factor.solve(&mut solved);
                for (value, column) in right.iter_mut().zip(v.chunks_exact(*rank)) {
                    *value -= dot(column, &solved);
                }
            }
        }
    }
}

/// Orthonormal directions that span the rows of a table of outputs of length `n`.
fn spanning(outputs: &[f64], n: usize) -> Option<Vec<Vec<f64>>> {
    let c = outputs.len() / n;
    let eigen = symmetric_eigen(DMatrix::from_vec(c, c, gram(outputs, n)))?;
    let least = LEAST_EIGENVALUE * eigen.eigenvalues.max();
    let kept = (0..c).filter(|&k| eigen.eigenvalues[k] > least);
    let directions: Vec<Vec<f64>> =
        kept.map(|k| eigen.eigenvectors.column(k).iter().copied().collect()).collect();
    (!directions.is_empty()).then_some(directions)
}

/// For every vector of `weights` the sum of the columns of length `n` in `table`, each so many times.
fn mixed<'w>(table: &[f64], n: usize, weights: impl Iterator<Item = &'w [f64]>) -> Vec<f64> {
    weights.flat_map(|weights| combination(table, weights, n)).collect()
}

/// What was found.
pub(super) struct Found {
    /// `W`, the coefficients of a column after each other; rows that end at the border are zero.
    pub(super) coefficients: Vec<f64>,
    /// `Θ`, output after output: no row is much longer than 1.
    pub(super) dual: Vec<f64>,
    pub(super) steps: u64,
    /// Whether columns were left out on the way.
    pub(super) is_narrowed: bool,
}

/// What follows from lengths.
struct Point {
    factor: Cholesky,
    /// `Θ`, output after output.
    dual: Vec<f64>,
    /// `u_a`, one after the other.
    pulls: Vec<f64>,
    /// `∇`.
    gradient: Vec<f64>,
    gap: f64,
}

impl Interior {
    /// `None` where the outputs have no span.
    pub(super) fn new(x: Vec<f64>, outputs: &[f64], n: usize, lambda: f64) -> Option<Self> {
        let rows = transposed(&x, n, &vec![1.0; n]);
        let directions = spanning(outputs, n)?;
        let outputs = mixed(outputs, n, directions.iter().map(Vec::as_slice));
        let n_given = x.len() / n;
        Some(Self { x, rows, outputs, directions, n, lambda, kept: (0..n_given).collect(), n_given })
    }

    /// Leaves out the columns nearer to the border than `near`, with their lengths and multipliers, if they
    /// are many: whether they were. The check of all features tells whether one of them is missed.
    fn narrow(&mut self, near: f64, z: &mut Vec<f64>, s: &mut Vec<f64>) -> bool {
        let (m, _) = self.sizes();
        let largest = z[..m].iter().copied().fold(0.0, f64::max);
        let stays: Vec<bool> =
            (0..z.len()).map(|a| a >= m || z[a] / largest > near * s[a] / self.lambda).collect();
        let n_left = stays.iter().filter(|stays| !**stays).count();
        if n_left == m || n_left * ONE_OF < m {
            return false;
        }
        let of_columns = || self.x.chunks_exact(self.n).zip(&stays);
        self.x = of_columns().filter(|(_, stays)| **stays).flat_map(|(column, _)| column).copied().collect();
        self.rows = transposed(&self.x, self.n, &vec![1.0; self.n]);
        for values in [z, s] {
            let mut stays = stays.iter();
            values.retain(|_| stays.next().is_some_and(|stays| *stays));
        }
        let mut stays = stays.iter();
        self.kept.retain(|_| stays.next().is_some_and(|stays| *stays));
        true
    }

    /// A table in the basis of the outputs as they were given.
    fn given(&self, table: &[f64], length: usize) -> Vec<f64> {
        let n_given = self.directions.first().map_or(0, Vec::len);
        let weights = transposed(&self.directions.concat(), n_given, &vec![1.0; n_given]);
        mixed(table, length, weights.chunks_exact(self.directions.len().max(1)))
    }

    fn sizes(&self) -> (usize, usize) {
        (self.x.len() / self.n, self.outputs.len() / self.n)
    }

    /// Steps until the gap over the columns here is at most `target`, or as small as it gets; where it
    /// `narrows`, over those that did not come near to the border. `None` where no point can be computed, at
    /// first or without the columns that left.
    pub(super) fn minimise(mut self, target: f64, narrows: bool, control: &Control<'_>) -> Option<Found> {
        let (m, _) = self.sizes();
        let mut z = self.first();
        let mut point = self.at(&z)?;
        for _ in 0..REWEIGHTED {
            let least = 1e-6 * z.iter().copied().fold(0.0, f64::max);
            let bound = |a: usize| if a < m { self.lambda.sqrt() } else { 1.0 };
            let share = |a: usize| norm(self.pull(&point, a)) / bound(a);
            z = (0..z.len()).map(|a| (z[a] * share(a)).max(least)).collect();
            point = self.at(&z)?;
        }
        let mean = point.gradient.iter().map(|g| g.abs()).sum::<f64>() / z.len() as f64;
        let mut s: Vec<f64> = point.gradient.iter().map(|g| g.max(0.05 * mean + 1e-3)).collect();
        let (mut best, mut least, mut without_progress, mut steps) = (f64::INFINITY, f64::INFINITY, 0, 0);
        let mut near = NEAR_BORDER;
        loop {
            // Far from the end the gap may grow while the products come nearer to zero.
            let products = dot(&z, &s);
            let is_nearer = point.gap < 0.9 * best || target < products && products < 0.9 * least;
            without_progress = if is_nearer { 0 } else { without_progress + 1 };
            best = best.min(point.gap);
            least = least.min(products);
            let ended = point.gap <= target || without_progress >= PATIENCE || steps >= MOST_STEPS;
            if ended || control.stopped().is_some() {
                return Some(self.found(&z, &s, &point, steps));
            }
            let (dz, ds) = self.direction(&z, &s, &point);
            z.iter_mut().zip(&dz).for_each(|(z, dz)| *z += dz);
            s.iter_mut().zip(&ds).for_each(|(s, ds)| *s += ds);
            steps += 1;
            let good = |next: &Point| next.gap <= WORSE * point.gap;
            let mut next = self.at(&z).filter(good);
            for halving in 1..=MOST_HALVINGS {
                if next.is_none() {
                    let back = 0.5_f64.powi(halving);
                    z.iter_mut().zip(&dz).for_each(|(z, dz)| *z -= dz * back);
                    s.iter_mut().zip(&ds).for_each(|(s, ds)| *s -= ds * back);
                    next = self.at(&z).filter(good);
                }
            }
            let Some(next) = next else {
                let back = 0.5_f64.powi(MOST_HALVINGS);
                z.iter_mut().zip(&dz).for_each(|(z, dz)| *z -= dz * back);
                s.iter_mut().zip(&ds).for_each(|(s, ds)| *s -= ds * back);
                return Some(self.found(&z, &s, &point, steps));
            };
            point = next;
            // Without progress lengths and multipliers say nothing any more.
            let narrows = narrows && steps >= FIRST_STEPS && without_progress == 0;
            if narrows && self.narrow(near, &mut z, &mut s) {
                // What was left out shows in the gap.
                (near, best) = (NEARER * near, f64::INFINITY);
                point = self.at(&z)?;
            }
        }
    }

    /// The lengths of the outputs, and as much together for the coefficients.
    fn first(&self) -> Vec<f64> {
        let (m, _) = self.sizes();
        let lengths = super::lengths(&self.outputs, self.n);
        let total: f64 = lengths.iter().sum();
        let least = 1e-3 * total / self.n as f64;
        let mut z = vec![total / (self.lambda * m as f64); m];
        z.extend(lengths.iter().map(|length| length.max(least)));
        z
    }

    fn pull<'p>(&self, point: &'p Point, a: usize) -> &'p [f64] {
        let (_, c) = self.sizes();
        &point.pulls[a * c..(a + 1) * c]
    }

    fn at(&self, z: &[f64]) -> Option<Point> {
        let ((m, c), n) = (self.sizes(), self.n);
        let (eta, rho) = z.split_at(m);
        let roots: Vec<f64> = eta.iter().map(|eta| (eta / self.lambda).sqrt()).collect();
        let scaled: Vec<f64> =
            self.rows.chunks_exact(m).flat_map(|row| row.iter().zip(&roots).map(|(x, r)| x * r)).collect();
        let mut matrix = gram(&scaled, m);
        rho.iter().enumerate().for_each(|(i, rho)| matrix[i + i * n] += rho);
        let factor = Cholesky::of(matrix, n)?;
        let mut dual = self.outputs.clone();
        dual.chunks_exact_mut(n).for_each(|dual| factor.solve(dual));
        let products = transposed_products(&self.x, &dual, n);
        let root = self.lambda.sqrt();
        let mut pulls = Vec::with_capacity(z.len() * c);
        pulls.extend(
            (0..m).flat_map(|j| (0..c).map(move |k| (j, k))).map(|(j, k)| products[j + k * m] / root),
        );
        pulls.extend((0..n).flat_map(|i| (0..c).map(move |k| (i, k))).map(|(i, k)| dual[i + k * n]));
        let squares: Vec<f64> = pulls.chunks_exact(c).map(|u| dot(u, u)).collect();
        let bound = |a: usize| if a < m { self.lambda } else { 1.0 };
        let gradient = squares.iter().enumerate().map(|(a, square)| 0.5 * (bound(a) - square)).collect();
        // With `t` the scale of the dual point, of each length `z ‖u‖ (√bound − t ‖u‖)`.
        let share = |a: usize| (squares[a] / bound(a)).sqrt();
        let t = (0..z.len()).map(share).fold(1.0, f64::max).recip();
        let term = |a: usize| z[a] * squares[a].sqrt() * (bound(a).sqrt() - t * squares[a].sqrt());
        let gap: f64 = (0..z.len()).map(term).sum();
        gap.is_finite().then_some(Point { factor, dual, pulls, gradient, gap })
    }

    /// The step of lengths and multipliers: the second of two, after one towards the border that says how far
    /// from it to stay.
    fn direction(&self, z: &[f64], s: &[f64], point: &Point) -> (Vec<f64>, Vec<f64>) {
        let ((m, c), n) = (self.sizes(), self.n);
        let root = self.lambda.sqrt().recip();
        // L⁻¹ [X/√λ, I]: products with L⁻¹ stay in the cache, where solutions for each column do not.
        let inverse = point.factor.inverse_lower_unless(&|| false);
        let by_rows = transposed(&inverse, n, &vec![root; n]);
        let mut whitened = triangular_products(&by_rows, &self.x, n);
        whitened.extend_from_slice(&inverse);
        let own = |a: usize| {
            let (u, b) = (self.pull(point, a), &whitened[a * n..(a + 1) * n]);
            dot(u, u) * dot(b, b)
        };
        let curvatures: Vec<f64> = (0..m + n).map(own).collect();
        let coupled: Vec<usize> = (0..m + n).filter(|&a| s[a] <= STIFF * z[a] * curvatures[a]).collect();
        let q = coupled.len();
        // I + D H D with D² = z/s: every pivot is at least 1.
        let widths: Vec<f64> = coupled.iter().map(|&a| (z[a] / s[a]).sqrt()).collect();
        let columns = coupled.iter().map(|&a| &whitened[a * n..(a + 1) * n]);
        let scaled: Vec<f64> = coupled
            .iter()
            .zip(&widths)
            .flat_map(|(&a, width)| self.pull(point, a).iter().map(move |u| width * u))
            .collect();
        let system = if q > SMALLER * n * c {
            let product = |(column, own): (&'_ [f64], &'_ [f64])| -> Vec<f64> {
                own.iter().flat_map(|u| column.iter().map(move |value| u * value)).collect()
            };
            let v: Vec<f64> = columns.zip(scaled.chunks_exact(c)).flat_map(product).collect();
            let mut matrix = gram(&transposed(&v, n * c, &vec![1.0; n * c]), q);
            matrix.iter_mut().step_by(n * c + 1).for_each(|value| *value += 1.0);
            System::Small { factor: Cholesky::above_identity(matrix, n * c), v, rank: n * c }
        } else {
            let mut matrix = gram(&columns.flatten().copied().collect::<Vec<f64>>(), n);
            fewest_parallel::chunks(&mut matrix, q.max(1), |b, column| {
                let right = &scaled[b * c..(b + 1) * c];
                for (value, left) in column.iter_mut().zip(scaled.chunks_exact(c)) {
                    *value *= left.iter().zip(right).map(|(x, y)| x * y).sum::<f64>();
                }
                column[b] += 1.0;
            });
            System::Whole(Cholesky::above_identity(matrix, q))
        };
        let towards = |product: f64| {
            let right = |a: usize| product / z[a] - point.gradient[a];
            let mut dz: Vec<f64> = (0..m + n).map(|a| right(a) / (s[a] / z[a] + curvatures[a])).collect();
            let mut solved: Vec<f64> =
                coupled.iter().zip(&widths).map(|(&a, width)| width * right(a)).collect();
            system.solve(&mut solved);
            for ((&a, width), value) in coupled.iter().zip(&widths).zip(solved) {
                dz[a] = width * value;
            }
            let ds: Vec<f64> = (0..m + n).map(|a| (product - s[a] * dz[a]) / z[a] - s[a]).collect();
            (dz, ds)
        };
        let mean = |z: &mut dyn Iterator<Item = f64>| z.sum::<f64>() / (m + n) as f64;
        let product = mean(&mut z.iter().zip(s).map(|(z, s)| z * s));
        let (dz, ds) = towards(0.0);
        let (of_z, of_s) = (longest(z, &dz), longest(s, &ds));
        let after = mean(&mut (0..m + n).map(|a| (z[a] + of_z * dz[a]) * (s[a] + of_s * ds[a])));
        let (mut dz, mut ds) = towards(product * (after / product).powi(3));
        let (of_z, of_s) = (SHORT_OF_BORDER * longest(z, &dz), SHORT_OF_BORDER * longest(s, &ds));
        dz.iter_mut().for_each(|value| *value *= of_z);
        ds.iter_mut().for_each(|value| *value *= of_s);
        (dz, ds)
    }

    fn found(&self, z: &[f64], s: &[f64], point: &Point, steps: u64) -> Found {
        let (m, c) = self.sizes();
        let largest = z[..m].iter().copied().fold(0.0, f64::max);
        // At the border the length is small beside the others and its multiplier is not. Of the lengths that
        // are left coefficients and residuals follow anew: where all residuals are zero, those of all lengths
        // would leave residuals that cost more than the coefficients that are zero save.
        let mut left = z.to_vec();
        for j in (0..m).filter(|&j| z[j] / largest <= s[j] / self.lambda) {
            left[j] = 0.0;
        }
        let anew = self.at(&left);
        // By features, then as the outputs are: coefficients of an output after each other.
        let mut coefficients = vec![0.0; m * c];
        for j in (0..m).filter(|&j| left[j] > 0.0) {
            for (k, u) in self.pull(anew.as_ref().unwrap_or(point), j).iter().enumerate() {
                coefficients[j + k * m] = z[j] * u / self.lambda.sqrt();
            }
        }
        let own = transposed(&self.given(&coefficients, m), m, &vec![1.0; m]);
        let c = own.len() / m.max(1);
        let mut coefficients = vec![0.0; self.n_given * c];
        for (&j, own) in self.kept.iter().zip(own.chunks_exact(c.max(1))) {
            coefficients[j * c..(j + 1) * c].copy_from_slice(own);
        }
        let is_narrowed = self.kept.len() < self.n_given;
        Found { coefficients, dual: self.given(&point.dual, self.n), steps, is_narrowed }
    }
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

/// The longest step, at most 1, that leaves no value below zero.
fn longest(values: &[f64], steps: &[f64]) -> f64 {
    let falling = values.iter().zip(steps).filter(|(_, step)| **step < 0.0);
    falling.map(|(value, step)| -value / step).fold(1.0, f64::min)
}
