//! Columns as they are stored, standardised in every product.

use fewest_core::Column;
use fewest_linalg::{add_scaled, dot, lanes};

/// So many values are added without a call.
const SHORT: usize = 16;

/// The stored values of a column: standardised they are `scale · value − shift`.
pub(crate) struct Stored<'a> {
    pub(super) values: Column<'a>,
    pub(super) scale: f64,
    pub(super) shift: f64,
}

impl Stored<'_> {
    /// The product with `v`, whose sum is `sum`.
    pub(crate) fn product(&self, v: &[f64], sum: f64) -> f64 {
        let product = match self.values {
            Column::Dense(values) => dot(values, v),
            Column::Sparse { rows, values } => {
                rows.iter().zip(values).map(|(&row, value)| value * v[row]).sum()
            }
        };
        self.scale * product - self.shift * sum
    }

    /// The products with several vectors, which `right` has one after the other; `sums` are theirs.
    pub(super) fn products(&self, right: &[f64], sums: &[f64], out: &mut [f64]) {
        match self.values {
            Column::Dense(values) => {
                lanes::dots(values, right, out);
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = self.scale * *out - self.shift * sum;
                }
            }
            Column::Sparse { .. } => {
                let n = right.len() / sums.len().max(1);
                for ((out, v), sum) in out.iter_mut().zip(right.chunks_exact(n.max(1))).zip(sums) {
                    *out = self.product(v, *sum);
                }
            }
        }
    }

    /// Adds the column times `weight` to `out`, all but the shift, which it returns.
    pub(crate) fn add_to(&self, weight: f64, out: &mut [f64]) -> f64 {
        let scale = weight * self.scale;
        match self.values {
            Column::Dense(values) => add_scaled(out, scale, values),
            Column::Sparse { rows, values } => {
                for (&row, value) in rows.iter().zip(values) {
                    out[row] += scale * value;
                }
            }
        }
        weight * self.shift
    }

    pub(super) fn standardise(&self, out: &mut [f64]) {
        self.values.copy_to(out);
        out.iter_mut().for_each(|value| *value = self.scale * *value - self.shift);
    }
}

/// `out += scale x`, where there often are so few values that a call would take longer than they do.
#[inline(always)]
pub(super) fn add_row(out: &mut [f64], scale: f64, x: &[f64]) {
    if x.len() > SHORT {
        return add_scaled(out, scale, x);
    }
    let (outs, out_rest) = out.as_chunks_mut::<4>();
    let (xs, x_rest) = x.as_chunks::<4>();
    for (out, x) in outs.iter_mut().zip(xs) {
        for k in 0..4 {
            out[k] += scale * x[k];
        }
    }
    for (out, x) in out_rest.iter_mut().zip(x_rest) {
        *out += scale * x;
    }
}
