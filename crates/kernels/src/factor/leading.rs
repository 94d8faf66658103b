//! The leading directions of a factor, with most of the norm of its matrix.

use fewest_linalg::lanes::{self, fold};
use fewest_linalg::{LaidOut, dispatched, multiply_add};

use super::{Factor, Stacked, pivots, squared_cross_norms};

/// Rows and columns of small matrices are filled up with zeros to a multiple of this.
const WIDTH: usize = 8;

/// Power iterations for a direction. Any direction gives a lower bound; a better one leaves out less.
const POWER_ITERATIONS: usize = 4;

/// The result of [`Factor::leading`].
#[derive(Debug, Clone, PartialEq)]
pub struct Leading {
    /// `‖Φ Φᵀ‖²_F`.
    pub squared_norm: f64,
    /// The leading part, and the Frobenius norm of what it leaves out; `None` when half of the columns would
    /// not suffice.
    pub part: Option<(Factor, f64)>,
}

/// Buffers of [`Factor::leading_and_products`], which can be used again for the next factor.
#[derive(Debug, Clone, Default)]
pub struct LeadingBuffers {
    own: Stacked,
    gram: Vec<f64>,
}

impl Factor {
    /// A thinner factor below this one: `Φ V Vᵀ Φᵀ` with the fewest orthonormal directions `V` that leave out
    /// at most `share` of the Frobenius norm, found by power iteration on `ΦᵀΦ`.
    ///
    /// What is left out, `Φ (I − V Vᵀ) Φᵀ`, is positive semidefinite for **any** such `V`, and products of
    /// positive semidefinite matrices have no negative trace: inner products of leading parts are lower
    /// bounds of those of the full factors. `O(n r²)`.
    ///
    /// ```
    /// use fewest_kernels::{Factor, Gaussian};
    /// let points: Vec<f64> = (0..100).map(|i| (i as f64 * 0.7).sin()).collect();
    /// let mut factor = Factor::new(&Gaussian::new(1.0)?, &points, 1e-8, 50)?;
    /// factor.centre();
    /// let found = factor.leading(0.1);
    /// let (part, left_out) = found.part.ok_or_else(|| fewest_core::Error::parameter("share", 0.1, "enough"))?;
    /// assert!(part.rank() <= 3 && left_out <= 0.1 * found.squared_norm.sqrt());
    /// assert!(part.inner(&factor) <= factor.inner(&factor));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn leading(&self, share: f64) -> Leading {
        self.leading_of(share, &LaidOut::new(&self.values, self.n_samples), &mut Vec::new())
    }

    /// [`Factor::leading`], and [`squared_cross_norms`] with the factors of `others`, in less time than one
    /// after the other.
    ///
    /// # Panics
    /// As [`squared_cross_norms`].
    pub fn leading_and_products(
        &self,
        share: f64,
        others: &Stacked,
        out: &mut [f64],
        buffers: &mut LeadingBuffers,
    ) -> Leading {
        let LeadingBuffers { own, gram } = buffers;
        own.renew(self);
        squared_cross_norms(own, others, out);
        self.leading_of(share, &own.columns, gram)
    }

    /// [`Factor::leading`] by the columns of the factor, in the memory of `gram`.
    fn leading_of(&self, share: f64, columns: &LaidOut, gram: &mut Vec<f64>) -> Leading {
        let r = self.rank;
        let stride = r.next_multiple_of(WIDTH);
        gram.clear();
        gram.resize(stride * (stride + 1) + r * r, 0.0);
        let (gram, rest) = gram.split_at_mut(stride * stride);
        let (product, small) = rest.split_at_mut(stride);
        columns.own_products(small);
        for (out, column) in gram.chunks_exact_mut(stride.max(1)).zip(small.chunks_exact(r.max(1))) {
            out[..r].copy_from_slice(column);
        }
        let squared_norm = match &self.signs {
            None => lanes::dot(gram, gram),
            Some(_) => self.inner(self),
        };
        let mut directions: Vec<f64> = Vec::with_capacity(4 * stride);
        let mut left = squared_norm;
        while left > share * share * squared_norm {
            // With signs the part left out is indefinite, so there is no bound.
            let start = directions.len();
            if self.signs.is_some() || 2 * (start / stride + 1) > r {
                return Leading { squared_norm, part: None };
            }
            directions.resize(start + stride, 0.0);
            let direction = &mut directions[start..];
            if !principal(gram, direction, product) {
                return Leading { squared_norm, part: None };
            }
            left = deflate(gram, direction, product);
        }
        let rank = directions.len().checked_div(stride).unwrap_or(0);
        let mut values = vec![0.0; rank * self.n_samples];
        for (out, direction) in
            values.chunks_exact_mut(self.n_samples.max(1)).zip(directions.chunks_exact(stride.max(1)))
        {
            pivots::add_combination(&self.values, &direction[..r], out);
        }
        let part = Factor::exact(self.n_samples, rank, values);
        Leading { squared_norm, part: Some((part, left.sqrt())) }
    }
}

dispatched! {
    /// Writes the direction of norm 1 in which the symmetric matrix is largest, about: power iteration from
    /// its longest column. `false` when it is zero or not finite. `product` is a buffer.
    fn principal(gram: &[f64], direction: &mut [f64], product: &mut [f64]) -> bool = principal_body
}

#[inline(always)]
fn principal_body<const FMA: bool>(gram: &[f64], direction: &mut [f64], product: &mut [f64]) -> bool {
    let stride = direction.len();
    let (mut trace, mut longest, mut place) = (0.0, 0.0, 0);
    for (at, &value) in gram.iter().step_by(stride + 1).enumerate() {
        trace += value;
        // The largest entry of a positive semidefinite matrix is on its diagonal.
        if value > longest {
            (longest, place) = (value, at);
        }
    }
    // The matrix over its trace has no eigenvalue above 1, and one of at least 1/r: after so few products
    // nothing is too large or too small.
    let scale = 1.0 / trace;
    for (out, value) in direction.iter_mut().zip(&gram[place * stride..]) {
        *out = value * scale;
    }
    for _ in 0..POWER_ITERATIONS {
        times::<FMA>(gram, direction, product);
        for (out, value) in direction.iter_mut().zip(&*product) {
            *out = value * scale;
        }
    }
    let norm = lanes::dot_body::<FMA>(direction, direction).sqrt();
    let inverse = 1.0 / norm;
    direction.iter_mut().for_each(|value| *value *= inverse);
    norm > 0.0 && norm.is_finite()
}

/// `G v`, column by column: for so few rows faster than dot products.
#[inline(always)]
fn times<const FMA: bool>(gram: &[f64], vector: &[f64], out: &mut [f64]) {
    let stride = out.len();
    for (block, out) in out.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
        // Even and odd columns on their own: their sums do not wait on each other.
        let (mut even, mut odd) = ([0.0; WIDTH], [0.0; WIDTH]);
        for (columns, weights) in gram.chunks_exact(2 * stride).zip(vector.as_chunks::<2>().0) {
            let (first, second) = columns.split_at(stride);
            let (first, second) = (&first[block * WIDTH..][..WIDTH], &second[block * WIDTH..][..WIDTH]);
            for k in 0..WIDTH {
                even[k] = multiply_add::<FMA>(weights[0], first[k], even[k]);
                odd[k] = multiply_add::<FMA>(weights[1], second[k], odd[k]);
            }
        }
        for k in 0..WIDTH {
            out[k] = even[k] + odd[k];
        }
    }
}

dispatched! {
    /// `(I − v vᵀ) G (I − v vᵀ)` in place of `G`; the squared norm of it. `product` is a buffer.
    fn deflate(gram: &mut [f64], direction: &[f64], product: &mut [f64]) -> f64 = deflate_body
}

#[inline(always)]
fn deflate_body<const FMA: bool>(gram: &mut [f64], direction: &[f64], product: &mut [f64]) -> f64 {
    let stride = direction.len();
    times::<FMA>(gram, direction, product);
    // With h = G v − (vᵀ G v / 2) v it is G − v hᵀ − h vᵀ.
    let half = 0.5 * lanes::dot_body::<FMA>(product, direction);
    for (h, v) in product.iter_mut().zip(direction) {
        *h -= half * v;
    }
    let mut squares = [0.0; WIDTH];
    for (j, column) in gram.chunks_exact_mut(stride).enumerate() {
        let (h_j, v_j) = (product[j], direction[j]);
        let rows = direction.as_chunks::<WIDTH>().0.iter().zip(product.as_chunks::<WIDTH>().0);
        for (values, (v, h)) in column.as_chunks_mut::<WIDTH>().0.iter_mut().zip(rows) {
            for k in 0..WIDTH {
                values[k] -= multiply_add::<FMA>(v[k], h_j, h[k] * v_j);
                squares[k] = multiply_add::<FMA>(values[k], values[k], squares[k]);
            }
        }
    }
    fold(squares)
}
