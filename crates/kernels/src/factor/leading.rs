//! The leading directions of a factor, with most of the norm of its matrix.

use super::Factor;
use fewest_linalg::lanes;

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
        let r = self.rank;
        let mut gram = self.small_gram().as_slice().to_vec();
        let squared_norm = match &self.signs {
            None => lanes::dot(&gram, &gram),
            Some(_) => self.inner(self),
        };
        let mut directions: Vec<f64> = Vec::new();
        let mut left = squared_norm;
        while left > share * share * squared_norm {
            // With signs the part left out is indefinite, so there is no bound.
            if self.signs.is_some() || 2 * (directions.len() / r + 1) > r {
                return Leading { squared_norm, part: None };
            }
            let Some(direction) = principal(&gram, r) else { return Leading { squared_norm, part: None } };
            deflate(&mut gram, &direction);
            left = lanes::dot(&gram, &gram);
            directions.extend(direction);
        }
        let rank = directions.len().checked_div(r).unwrap_or(0);
        let mut values = vec![0.0; rank * self.n_samples];
        for (out, direction) in
            values.chunks_exact_mut(self.n_samples.max(1)).zip(directions.chunks_exact(r.max(1)))
        {
            for (column, weight) in self.values.chunks_exact(self.n_samples.max(1)).zip(direction) {
                for (out, value) in out.iter_mut().zip(column) {
                    *out += weight * value;
                }
            }
        }
        let part = Factor::exact(self.n_samples, rank, values);
        Leading { squared_norm, part: Some((part, left.sqrt())) }
    }
}

/// The direction in which the symmetric `r x r` matrix is largest, about: power iteration from its longest
/// column. `None` when it is zero or not finite.
fn principal(gram: &[f64], r: usize) -> Option<Vec<f64>> {
    // The largest entry of a positive semidefinite matrix is on its diagonal.
    let longest = (0..r).max_by(|&a, &b| gram[a * (r + 1)].total_cmp(&gram[b * (r + 1)]))?;
    let mut direction = normalised(gram[longest * r..(longest + 1) * r].to_vec())?;
    for _ in 0..POWER_ITERATIONS {
        direction = normalised(times(gram, &direction))?;
    }
    Some(direction)
}

/// `G v`, column by column: for so few rows faster than dot products.
fn times(gram: &[f64], vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; vector.len()];
    for (column, weight) in gram.chunks_exact(vector.len()).zip(vector) {
        for (product, value) in product.iter_mut().zip(column) {
            *product += weight * value;
        }
    }
    product
}

fn normalised(mut vector: Vec<f64>) -> Option<Vec<f64>> {
    let norm = lanes::dot(&vector, &vector).sqrt();
    if !(norm.is_finite() && norm > 0.0) {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= norm);
    Some(vector)
}

/// `(I − v vᵀ) G (I − v vᵀ)` in place of `G`.
fn deflate(gram: &mut [f64], direction: &[f64]) {
    let r = direction.len();
    let product = times(gram, direction);
    let curvature = lanes::dot(&product, direction);
    for (j, column) in gram.chunks_exact_mut(r).enumerate() {
        for (i, value) in column.iter_mut().enumerate() {
            *value += curvature * direction[i] * direction[j]
                - product[i] * direction[j]
                - direction[i] * product[j];
        }
    }
}
