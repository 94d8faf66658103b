//! The linear equations of a step.

use fewest_linalg::{Cholesky, combination, dot, gram, transposed, transposed_products};

use super::interior::{Conditions, Pair, Point, largest};

/// Most corrections of a solution of the linear system by its residual.
const MOST_REFINEMENTS: usize = 5;

/// A correction below this share of the solution is the last.
const REFINED: f64 = 1e-7;

/// Up to this number of columns the larger system of equations costs nothing.
const FEW_COLUMNS: usize = 300;

/// Added to the diagonal of that system, as a share of it: rounding errors of pivots that should be small
/// stay below.
const DIAGONAL: f64 = 1e-14;

/// The equations of a step after elimination: `D δu + Z δw + y δb = a`, `Zᵀ δu − Θ⁻¹ δw = e` and
/// `y·δu = f`.
pub(super) struct Reduced<'a> {
    conditions: &'a Conditions<'a>,
    /// `D`.
    samples: Vec<f64>,
    /// `Θ`.
    pub(super) columns: Vec<f64>,
    /// Whether `factor` is that of `I + AᵀA`, one row a column of `Z`, or of `I + AAᵀ`, one row a sample;
    /// `A = D^(-1/2) Z Θ^(1/2)`. All pivots are at least 1, also where columns depend on each other. Near an
    /// optimum fewer columns than samples matter, and only the first of these matrices keeps its digits then;
    /// the other one is for many more columns than samples.
    by_columns: bool,
    factor: Cholesky,
    /// `δu` and `δw` at `δb = 0` for `a = y` and zeros, and the product of that `δu` with `y`.
    of_labels: (Vec<f64>, Vec<f64>),
    product: f64,
}

/// `δu`, `δw` and `δb`.
pub(super) type Direction = (Vec<f64>, Vec<f64>, f64);

impl<'a> Reduced<'a> {
    pub(super) fn new(conditions: &'a Conditions<'a>, point: &Point) -> Self {
        let (n, k) = (conditions.labels.len(), conditions.penalties.len());
        let [p, q, xi, t] = point.pairs();
        let ratio = |pair: &Pair, at: usize| pair.primal[at] / pair.dual[at];
        let samples: Vec<f64> = (0..n).map(|i| ratio(xi, i) + ratio(t, i)).collect();
        let columns: Vec<f64> = (0..k).map(|j| ratio(p, j) + ratio(q, j)).collect();
        let mut scaled = conditions.signed.to_vec();
        for (column, theta) in scaled.chunks_exact_mut(n).zip(&columns) {
            for (value, d) in column.iter_mut().zip(&samples) {
                *value *= (theta / d).sqrt();
            }
        }
        let by_columns = k <= n.saturating_mul(2).max(FEW_COLUMNS);
        let size = if by_columns { k } else { n };
        let mut matrix =
            if by_columns { gram(&scaled, n) } else { gram(&transposed(&scaled, n, &vec![1.0; n]), k) };
        matrix.iter_mut().step_by(size + 1).for_each(|value| *value += 1.0 + DIAGONAL * *value);
        let factor = Cholesky::above_identity(matrix, size);
        let zeros = vec![0.0; k];
        let mut reduced = Self {
            conditions,
            samples,
            columns,
            by_columns,
            factor,
            of_labels: (vec![0.0; n], zeros.clone()),
            product: 1.0,
        };
        // The solution with a bias is one without it, minus a multiple of this one.
        let (u, w, _) = reduced.refined(conditions.labels, &zeros, 0.0, Self::without_bias);
        // y·δu, as a sum of squares: so it is positive, however small.
        let samples: f64 = u.iter().zip(&reduced.samples).map(|(u, d)| d * u * u).sum();
        let columns: f64 = w.iter().zip(&reduced.columns).map(|(w, theta)| w * w / theta).sum();
        reduced.product = samples + columns;
        reduced.of_labels = (u, w);
        reduced
    }

    /// The solution by `eliminate`. The elimination loses digits where `D` and `Θ` have very different sizes;
    /// solving again for the residual brings them back.
    pub(super) fn refined(
        &self,
        a: &[f64],
        e: &[f64],
        f: f64,
        eliminate: impl Fn(&Self, &[f64], &[f64], f64) -> Direction,
    ) -> Direction {
        let mut found = (vec![0.0; a.len()], vec![0.0; e.len()], 0.0);
        let (mut a, mut e, mut f) = (a.to_vec(), e.to_vec(), f);
        let mut before = f64::INFINITY;
        for _ in 0..=MOST_REFINEMENTS {
            let (du, dw, db) = eliminate(self, &a, &e, f);
            for (i, product) in combination(self.conditions.signed, &dw, a.len()).into_iter().enumerate() {
                a[i] -= self.samples[i] * du[i] + product + self.conditions.labels[i] * db;
            }
            for (j, product) in
                transposed_products(self.conditions.signed, &du, a.len()).into_iter().enumerate()
            {
                e[j] -= product - dw[j] / self.columns[j];
            }
            f -= dot(self.conditions.labels, &du);
            let left = self.size(&a, &e);
            if left >= before {
                break;
            }
            let small =
                largest(&du) <= REFINED * largest(&found.0) && largest(&dw) <= REFINED * largest(&found.1);
            found.0.iter_mut().zip(du).for_each(|(u, du)| *u += du);
            found.1.iter_mut().zip(dw).for_each(|(w, dw)| *w += dw);
            found.2 += db;
            before = left;
            if small {
                break;
            }
        }
        found
    }

    /// The size of a residual: `aᵀD⁻¹a + eᵀΘe`.
    fn size(&self, a: &[f64], e: &[f64]) -> f64 {
        let samples: f64 = a.iter().zip(&self.samples).map(|(a, d)| a * a / d).sum();
        samples + e.iter().zip(&self.columns).map(|(e, theta)| e * e * theta).sum::<f64>()
    }

    /// `δu`, `δw` and `δb`.
    pub(super) fn with_bias(&self, a: &[f64], e: &[f64], f: f64) -> Direction {
        let (mut u, mut w, _) = self.without_bias(a, e, f);
        let (of_u, of_w) = &self.of_labels;
        // y·δu at δb = 0, since the matrix is symmetric.
        let bias = (dot(of_u, a) + dot(of_w, e) - f) / self.product;
        u.iter_mut().zip(of_u).for_each(|(u, of)| *u -= bias * of);
        w.iter_mut().zip(of_w).for_each(|(w, of)| *w -= bias * of);
        (u, w, bias)
    }

    /// `δu` and `δw` at `δb = 0`.
    fn without_bias(&self, a: &[f64], e: &[f64], _: f64) -> Direction {
        let (n, signed) = (self.samples.len(), self.conditions.signed);
        if self.by_columns {
            let divided: Vec<f64> = a.iter().zip(&self.samples).map(|(a, d)| a / d).collect();
            let mut w = transposed_products(signed, &divided, n);
            w.iter_mut().zip(e).zip(&self.columns).for_each(|((w, e), theta)| *w = (*w - e) * theta.sqrt());
            self.factor.solve(&mut w);
            w.iter_mut().zip(&self.columns).for_each(|(w, theta)| *w *= theta.sqrt());
            let mut u = combination(signed, &w, n);
            u.iter_mut().zip(a).zip(&self.samples).for_each(|((u, a), d)| *u = (a - *u) / d);
            (u, w, 0.0)
        } else {
            let weighted: Vec<f64> = e.iter().zip(&self.columns).map(|(e, theta)| theta * e).collect();
            let mut u = combination(signed, &weighted, n);
            u.iter_mut().zip(a).zip(&self.samples).for_each(|((u, a), d)| *u = (*u + a) / d.sqrt());
            self.factor.solve(&mut u);
            u.iter_mut().zip(&self.samples).for_each(|(u, d)| *u /= d.sqrt());
            let mut w = transposed_products(signed, &u, n);
            w.iter_mut().zip(e).zip(&self.columns).for_each(|((w, e), theta)| *w = theta * (*w - e));
            (u, w, 0.0)
        }
    }
}
