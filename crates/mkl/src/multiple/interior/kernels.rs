//! The kernels in play on the samples of each machine, and the systems made of them.

use nalgebra::DMatrix;

use super::Interior;
use super::point::Part;
use crate::indefinite::matrix::signed_square;
use crate::limits::over;
use fewest_linalg::{Cholesky, dot, gram_unless, mirror_unless};

/// The columns of the kernels in play on the samples of a machine.
pub(super) struct Side {
    pub(super) labels: Vec<f64>,
    /// `n` numbers a column.
    pub(super) columns: Vec<f64>,
}

/// What a machine's multipliers are with the kernels.
pub(super) struct Seen {
    pub(super) beta: Vec<f64>,
    /// `K_mβ`, one after the other.
    pub(super) g: Vec<f64>,
    /// `K(d)β`.
    pub(super) fitted: Vec<f64>,
}

/// A machine's system, solved for what all steps need.
pub(super) struct System {
    /// `A⁻¹ = E^½ (I + E^½ K E^½)⁻¹ E^½`.
    pub(super) cholesky: Cholesky,
    pub(super) roots: Vec<f64>,
    /// `A⁻¹1` and its sum.
    pub(super) ones: Vec<f64>,
    pub(super) sum: f64,
    /// `P g_m`, `P = A⁻¹ − A⁻¹11ᵀA⁻¹/1ᵀA⁻¹1`.
    pub(super) projected: Vec<f64>,
}

impl Interior<'_> {
    /// `K_m v` for every kernel, one after the other.
    pub(super) fn products(&self, side: &Side, v: &[f64]) -> Vec<f64> {
        let n = v.len();
        let mut out = vec![0.0; n * self.chosen.len()];
        for (m, out) in out.chunks_exact_mut(n).enumerate() {
            let term = &self.terms.terms[self.chosen[m]];
            let columns = &side.columns[self.offsets[m] * n..self.offsets[m + 1] * n];
            for (a, column) in columns.chunks_exact(n).enumerate() {
                let weight = term.sign(a) * dot(column, v);
                out.iter_mut().zip(column).for_each(|(out, x)| *out += weight * x);
            }
            let shift = self.shift(m);
            if shift != 0.0 {
                out.iter_mut().zip(v).for_each(|(out, v)| *out += shift * v);
            }
        }
        out
    }

    pub(super) fn seen(&self, side: &Side, part: &Part, d: &[f64]) -> Seen {
        let beta: Vec<f64> = part.a.iter().zip(&side.labels).map(|(a, y)| a * y).collect();
        let g = self.products(side, &beta);
        let fitted = combined(&g, d, beta.len());
        Seen { beta, g, fitted }
    }

    /// `E^½ K(d) E^½ + I`, column after column.
    pub(super) fn matrix(&self, side: &Side, d: &[f64], roots: &[f64]) -> Vec<f64> {
        let n = roots.len();
        let scaled: Vec<f64> = (0..self.chosen.len())
            .flat_map(|m| {
                let scale = d[m].sqrt();
                side.columns[self.offsets[m] * n..self.offsets[m + 1] * n]
                    .chunks_exact(n)
                    .flat_map(move |column| column.iter().zip(roots).map(move |(x, root)| scale * root * x))
            })
            .collect();
        let width = scaled.len() / n;
        let columns = DMatrix::from_vec(n, width, scaled);
        let signed = self.chosen.iter().any(|&m| self.terms.terms[m].signs.is_some());
        let mut matrix = if width == 0 {
            vec![0.0; n * n]
        } else if signed {
            let sign = |m: usize| {
                let term = &self.terms.terms[self.chosen[m]];
                (0..self.offsets[m + 1] - self.offsets[m]).map(|a| term.sign(a))
            };
            let signs: Vec<f64> = (0..self.chosen.len()).flat_map(sign).collect();
            let mut product: Vec<f64> = signed_square(&columns, &signs, self.context).data.into();
            mirror_unless(&mut product, n, |upper, lower| 0.5 * (upper + lower), &over(self.context));
            product
        } else {
            gram_unless(columns.transpose().as_slice(), width, &over(self.context))
        };
        let shift: f64 = (0..d.len()).map(|m| d[m] * self.shift(m)).sum();
        for i in 0..n {
            matrix[i * (n + 1)] += 1.0 + shift * roots[i] * roots[i];
        }
        matrix
    }

    /// The system, which means nothing where it was stopped.
    pub(super) fn system(&self, side: &Side, part: &Part, seen: &Seen, d: &[f64]) -> System {
        let n = part.a.len();
        let roots: Vec<f64> =
            (0..n).map(|i| (part.nu[i] / part.a[i] + part.delta[i] / part.w[i]).sqrt().recip()).collect();
        let matrix = self.matrix(side, d, &roots);
        let cholesky = Cholesky::above_identity_unless(matrix, n, &over(self.context));
        let mut system = System { cholesky, roots, ones: Vec::new(), sum: 0.0, projected: Vec::new() };
        if self.context.stopped().is_some() {
            return system;
        }
        system.ones = system.solve(&vec![1.0; n]);
        system.sum = system.ones.iter().sum();
        for g in seen.g.chunks_exact(n) {
            if self.context.stopped().is_some() {
                break;
            }
            let projected = system.project(g).0;
            system.projected.extend(projected);
        }
        system
    }
}

/// `Σ w_m columns_m`.
pub(super) fn combined(columns: &[f64], weights: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    for (column, weight) in columns.chunks_exact(n).zip(weights) {
        out.iter_mut().zip(column).for_each(|(out, x)| *out += weight * x);
    }
    out
}

impl System {
    /// `A⁻¹v`.
    pub(super) fn solve(&self, v: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = v.iter().zip(&self.roots).map(|(v, root)| v * root).collect();
        self.cholesky.solve(&mut out);
        out.iter_mut().zip(&self.roots).for_each(|(out, root)| *out *= root);
        out
    }

    /// `Pv` and the bias that takes its sum off.
    pub(super) fn project(&self, v: &[f64]) -> (Vec<f64>, f64) {
        let mut out = self.solve(v);
        let bias = out.iter().sum::<f64>() / self.sum;
        out.iter_mut().zip(&self.ones).for_each(|(out, one)| *out -= bias * one);
        (out, bias)
    }
}
