//! The linear system of a Newton step.

use fewest_core::Context;
use fewest_linalg::{Cholesky, combination, gram_unless, transposed, transposed_products};

use crate::limits::over;

/// Corrections of a solution by its residual.
const REFINEMENTS: usize = 2;

/// The columns of the units in play: unit `j` has columns `offsets[j] … offsets[j + 1] − 1`, each of `n`
/// entries.
#[derive(Debug, Clone)]
pub(super) struct Factors {
    pub columns: Vec<f64>,
    pub offsets: Vec<usize>,
    pub n: usize,
}

impl Factors {
    /// Number of units.
    pub(super) fn units(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// `Fᵀβ` for every machine, one after the other.
    pub(super) fn products(&self, beta: &[f64]) -> Vec<f64> {
        transposed_products(&self.columns, beta, self.n)
    }

    /// `F w` for every machine, one after the other.
    pub(super) fn combine(&self, w: &[f64]) -> Vec<f64> {
        w.chunks_exact(self.width()).flat_map(|w| combination(&self.columns, w, self.n)).collect()
    }

    /// `‖Fⱼᵀβ‖²` of every unit, summed over the machines, given `z = Fᵀβ`.
    pub(super) fn squares(&self, z: &[f64]) -> Vec<f64> {
        let mut squares = vec![0.0; self.units()];
        for z in z.chunks_exact(self.width()) {
            for (j, square) in squares.iter_mut().enumerate() {
                *square += z[self.offsets[j]..self.offsets[j + 1]].iter().map(|z| z * z).sum::<f64>();
            }
        }
        squares
    }

    /// `zⱼᵀyⱼ` of every unit, summed over the machines.
    pub(super) fn inner(&self, z: &[f64], y: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.units()];
        for (z, y) in z.chunks_exact(self.width()).zip(y.chunks_exact(self.width())) {
            for (j, product) in products.iter_mut().enumerate() {
                let range = self.offsets[j]..self.offsets[j + 1];
                *product += z[range.clone()].iter().zip(&y[range]).map(|(z, y)| z * y).sum::<f64>();
            }
        }
        products
    }

    /// Every entry of `z` times the value of its unit.
    pub(super) fn scaled(&self, z: &[f64], by_unit: &[f64]) -> Vec<f64> {
        let mut out = z.to_vec();
        for out in out.chunks_exact_mut(self.width()) {
            for (j, value) in by_unit.iter().enumerate() {
                out[self.offsets[j]..self.offsets[j + 1]].iter_mut().for_each(|entry| *entry *= value);
            }
        }
        out
    }
}

/// `M = E⁻¹ + F G Fᵀ` with diagonal `E`, and for each unit the block `Gⱼ = pⱼ I + zⱼzⱼᵀ/θⱼ`, factorised in
/// the smaller of its two sizes: samples, or columns by Woodbury's identity. Variables with `E = 0` stay 0.
pub(super) struct System<'a> {
    factors: &'a Factors,
    e: &'a [f64],
    z: &'a [f64],
    squares: &'a [f64],
    p: &'a [f64],
    /// `1/θ`.
    curvature: &'a [f64],
    /// `Gⱼ^½ = √pⱼ I + roots[j] zⱼzⱼᵀ`.
    roots: Vec<f64>,
    by_columns: bool,
    cholesky: Cholesky,
}

/// `x = M⁻¹ r` and `u = G Fᵀ x`. With large `G` the latter is more exact than what follows from `x`.
pub(super) struct SystemSolution {
    pub x: Vec<f64>,
    pub u: Vec<f64>,
}

impl<'a> System<'a> {
    /// With `squares[j] = ‖zⱼ‖²`. It means nothing where it was stopped.
    pub(super) fn new(
        factors: &'a Factors,
        e: &'a [f64],
        z: &'a [f64],
        squares: &'a [f64],
        p: &'a [f64],
        curvature: &'a [f64],
        context: &Context<'_>,
    ) -> Self {
        let roots: Vec<f64> = (0..factors.units())
            .map(|j| {
                // (√(p + s) − √p) / ‖z‖² with s = ‖z‖²/θ, without cancellation.
                let sum = (p[j] + squares[j] * curvature[j]).sqrt() + p[j].sqrt();
                if sum > 0.0 { curvature[j] / sum } else { 0.0 }
            })
            .collect();
        let by_columns = factors.width() <= factors.n;
        let placeholder = Cholesky::above_identity(Vec::new(), 0);
        let mut system =
            Self { factors, e, z, squares, p, curvature, roots, by_columns, cholesky: placeholder };
        let is_stopped = over(context);
        system.cholesky =
            if by_columns { system.column_side(&is_stopped) } else { system.sample_side(&is_stopped) };
        system
    }

    /// `I + G^½ Fᵀ E F G^½`.
    fn column_side(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> Cholesky {
        let (n, q) = (self.factors.n, self.factors.width());
        let size = self.e.len() / n * q;
        let mut matrix = vec![0.0; size * size];
        for (k, e) in self.e.chunks_exact(n).enumerate() {
            let mut weighted = self.factors.columns.clone();
            let roots: Vec<f64> = e.iter().map(|e| e.sqrt()).collect();
            for column in weighted.chunks_exact_mut(n) {
                column.iter_mut().zip(&roots).for_each(|(value, root)| *value *= root);
            }
            for (j, column) in gram_unless(&weighted, n, is_stopped).chunks_exact(q).enumerate() {
                let start = (k * q + j) * size + k * q;
                matrix[start..start + q].copy_from_slice(column);
            }
        }
        for _ in 0..2 {
            for column in matrix.chunks_exact_mut(size) {
                // Of many machines columns are many and long.
                if is_stopped() {
                    return Cholesky::above_identity(Vec::new(), 0);
                }
                self.root(column);
            }
            for j in 0..size {
                for i in 0..j {
                    matrix.swap(i + j * size, j + i * size);
                }
            }
        }
        (0..size).for_each(|i| matrix[i + i * size] += 1.0);
        Cholesky::above_identity_unless(matrix, size, is_stopped)
    }

    /// `I + E^½ F G Fᵀ E^½`.
    fn sample_side(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> Cholesky {
        let (factors, n, q) = (self.factors, self.factors.n, self.factors.width());
        let (size, units) = (self.e.len(), self.factors.units());
        let roots: Vec<f64> = self.e.iter().map(|e| e.sqrt()).collect();
        let single = size == n && q == units;
        let weights: Vec<f64> = if single {
            (0..q).map(|j| (self.p[j] + self.curvature[j] * self.z[j] * self.z[j]).sqrt()).collect()
        } else {
            self.p.iter().map(|p| p.sqrt()).collect()
        };
        let ones = vec![1.0; q];
        let by_column = factors.scaled(&ones, &weights);
        let mut weighted = factors.columns.clone();
        for (column, weight) in weighted.chunks_exact_mut(n).zip(&by_column) {
            column.iter_mut().for_each(|value| *value *= weight);
        }
        let shared = gram_unless(&transposed(&weighted, n, &vec![1.0; n]), q, is_stopped);
        let mut matrix = if single {
            shared
        } else {
            let rank_one: Vec<f64> = self.curvature.iter().map(|c| c.sqrt()).collect();
            let mut along = Vec::with_capacity(size * units);
            let parts: Vec<Vec<f64>> = factors
                .scaled(self.z, &rank_one)
                .chunks_exact(q)
                .map(|z| {
                    let mut part = vec![0.0; n * units];
                    for (j, out) in part.chunks_exact_mut(n).enumerate() {
                        for column in factors.offsets[j]..factors.offsets[j + 1] {
                            let values = &factors.columns[column * n..(column + 1) * n];
                            out.iter_mut().zip(values).for_each(|(o, v)| *o += z[column] * v);
                        }
                    }
                    transposed(&part, n, &vec![1.0; n])
                })
                .collect();
            parts.iter().for_each(|part| along.extend_from_slice(part));
            let mut matrix = gram_unless(&along, units, is_stopped);
            for k in 0..size / n {
                for (i, column) in shared.chunks_exact(n).enumerate() {
                    let start = (k * n + i) * size + k * n;
                    matrix[start..start + n].iter_mut().zip(column).for_each(|(m, s)| *m += s);
                }
            }
            matrix
        };
        for (j, column) in matrix.chunks_exact_mut(size).enumerate() {
            column.iter_mut().zip(&roots).for_each(|(value, root)| *value *= root * roots[j]);
            column[j] += 1.0;
        }
        Cholesky::above_identity_unless(matrix, size, is_stopped)
    }

    /// Replaces `y` by `G^½ y`.
    fn root(&self, y: &mut [f64]) {
        let products = self.factors.inner(self.z, y);
        for (y, z) in y.chunks_exact_mut(self.factors.width()).zip(self.z.chunks_exact(self.factors.width()))
        {
            for (j, product) in products.iter().enumerate() {
                let (root, along) = (self.p[j].sqrt(), self.roots[j] * product);
                let range = self.factors.offsets[j]..self.factors.offsets[j + 1];
                for (y, z) in y[range.clone()].iter_mut().zip(&z[range]) {
                    *y = root * *y + along * z;
                }
            }
        }
    }

    /// `G y`.
    fn weighted(&self, y: &[f64]) -> Vec<f64> {
        let along: Vec<f64> =
            self.factors.inner(self.z, y).iter().zip(self.curvature).map(|(a, c)| a * c).collect();
        let mut weighted = self.factors.scaled(y, self.p);
        weighted.iter_mut().zip(self.factors.scaled(self.z, &along)).for_each(|(w, z)| *w += z);
        weighted
    }

    /// `E (r − F u)`.
    fn samples(&self, r: &[f64], u: &[f64]) -> Vec<f64> {
        let fitted = self.factors.combine(u);
        (0..r.len()).map(|i| self.e[i] * (r[i] - fitted[i])).collect()
    }

    /// `M⁻¹ r`.
    pub(super) fn solve(&self, r: &[f64]) -> SystemSolution {
        let mut solved = self.solve_once(r);
        let mut last = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            let (along_samples, along_columns) = self.residuals(r, &solved);
            let size: f64 = along_samples.iter().zip(self.e).map(|(r, e)| r * r * e).sum::<f64>()
                + self.weighted(&along_columns).iter().zip(&along_columns).map(|(a, b)| a * b).sum::<f64>();
            // So written, NaN ends it.
            let improves = size < 0.25 * last && size > 0.0;
            if !improves {
                break;
            }
            last = size;
            let correction = if self.by_columns {
                let from_samples: Vec<f64> = along_samples.iter().zip(self.e).map(|(r, e)| r * e).collect();
                let mut right = self.factors.products(&from_samples);
                right.iter_mut().zip(&along_columns).for_each(|(r, c)| *r += c);
                let u = self.columns(right);
                SystemSolution { x: self.samples(&along_samples, &u), u }
            } else {
                self.solve_once(&along_samples)
            };
            solved.x.iter_mut().zip(correction.x).for_each(|(x, c)| *x += c);
            solved.u.iter_mut().zip(correction.u).for_each(|(u, c)| *u += c);
        }
        solved
    }

    /// `r − E⁻¹ x − F u` and `Fᵀx − G⁻¹ u`.
    fn residuals(&self, r: &[f64], solved: &SystemSolution) -> (Vec<f64>, Vec<f64>) {
        let fitted = self.factors.combine(&solved.u);
        let left = |i: usize| if self.e[i] > 0.0 { r[i] - solved.x[i] / self.e[i] - fitted[i] } else { 0.0 };
        let along_samples = (0..r.len()).map(left).collect();
        if !self.by_columns {
            // There `u` follows from `x`.
            return (along_samples, vec![0.0; solved.u.len()]);
        }
        // Along `z` and across it on their own, since `1/p` may be huge; the second round takes off what
        // rounding left.
        let share =
            |product: f64, j: usize| if self.squares[j] > 0.0 { product / self.squares[j] } else { 0.0 };
        let mut across = solved.u.clone();
        let mut along = vec![0.0; self.factors.units()];
        for _ in 0..2 {
            let products: Vec<f64> =
                self.factors.inner(self.z, &across).iter().enumerate().map(|(j, &p)| share(p, j)).collect();
            let part = self.factors.scaled(self.z, &products);
            across.iter_mut().zip(part).for_each(|(a, part)| *a -= part);
            along.iter_mut().zip(products).for_each(|(a, p)| *a += p);
        }
        let inverse: Vec<f64> = self.p.iter().map(|p| p.recip()).collect();
        for (j, along) in along.iter_mut().enumerate() {
            *along /= self.p[j] + self.squares[j] * self.curvature[j];
        }
        let (across, along) = (self.factors.scaled(&across, &inverse), self.factors.scaled(self.z, &along));
        let mut along_columns = self.factors.products(&solved.x);
        along_columns.iter_mut().zip(across.iter().zip(along)).for_each(|(c, (a, b))| *c -= a + b);
        (along_samples, along_columns)
    }

    /// `(G⁻¹ + Fᵀ E F)⁻¹ right`.
    fn columns(&self, mut right: Vec<f64>) -> Vec<f64> {
        self.root(&mut right);
        self.cholesky.solve(&mut right);
        self.root(&mut right);
        right
    }

    fn solve_once(&self, r: &[f64]) -> SystemSolution {
        if self.by_columns {
            let weighted: Vec<f64> = r.iter().zip(self.e).map(|(r, e)| r * e).collect();
            let u = self.columns(self.factors.products(&weighted));
            SystemSolution { x: self.samples(r, &u), u }
        } else {
            let mut x: Vec<f64> = r.iter().zip(self.e).map(|(r, e)| r * e.sqrt()).collect();
            self.cholesky.solve(&mut x);
            x.iter_mut().zip(self.e).for_each(|(x, e)| *x *= e.sqrt());
            let u = self.weighted(&self.factors.products(&x));
            SystemSolution { x, u }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_solve_the_system() {
        let wave = |len: usize, step: usize| (0..len).map(move |i| ((i * step + 5) % 97) as f64 / 48.0 - 1.0);
        for (n, machines) in [(30, 1), (5, 1), (30, 2), (5, 3)] {
            let offsets = vec![0, 1, 3, 4, 7, 8];
            let factors = Factors { columns: wave(n * 8, 31).collect(), offsets, n };
            let beta: Vec<f64> = wave(n * machines, 17).collect();
            let z = factors.products(&beta);
            let squares = factors.squares(&z);
            let e: Vec<f64> = wave(n * machines, 11).map(|v| if v < -0.9 { 0.0 } else { v + 1.0 }).collect();
            let (p, curvature) = ([0.1, 0.9, 0.3, 1e-9, 0.5], [2.0, 0.1, 30.0, 1.0, 0.0]);
            let system = System::new(&factors, &e, &z, &squares, &p, &curvature, &Context::default());
            assert_eq!(system.by_columns, n == 30);
            let r: Vec<f64> = wave(n * machines, 7).collect();
            let SystemSolution { x, u } = system.solve(&r);
            let applied = factors.combine(&system.weighted(&factors.products(&x)));
            let fitted = factors.combine(&u);
            for i in 0..r.len() {
                if e[i] > 0.0 {
                    assert!((x[i] / e[i] + applied[i] - r[i]).abs() < 1e-9, "{n} {machines} {i}");
                    assert!((applied[i] - fitted[i]).abs() < 1e-9, "{n} {machines} {i}");
                } else {
                    assert_eq!(x[i], 0.0);
                }
            }
        }
    }
}
