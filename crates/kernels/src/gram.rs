//! Full Gram matrices.

use fewest_core::Error;

use fewest_linalg::lanes;

use crate::ScalarKernel;

/// Largest difference of mirrored entries that counts as rounding, relative to the largest entry.
const ASYMMETRY: f64 = 1e-9;

/// A symmetric `n x n` matrix of kernel values, all entries stored column after column: `8 n²` bytes.
///
/// ```
/// use fewest_kernels::{Gaussian, Gram};
/// let gram = Gram::new(&Gaussian::new(1.0)?, &[0.0, 1.0, 3.0]);
/// let centred = gram.centre();
/// let row_sum: f64 = (0..3).map(|j| centred.get(0, j)).sum();
/// assert!(row_sum.abs() < 1e-15);
/// // tr(HKHL) is the inner product of centred matrices.
/// assert!((centred.inner(&gram) - centred.inner(&centred)).abs() < 1e-15);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gram {
    n: usize,
    values: Vec<f64>,
}

impl Gram {
    /// `K_ij = k(points[i], points[j])`. `n²` evaluations.
    pub fn new(kernel: &dyn ScalarKernel, points: &[f64]) -> Self {
        let n = points.len();
        let mut values = vec![0.0; n * n];
        for (column, &x) in values.chunks_exact_mut(n.max(1)).zip(points) {
            kernel.eval_many(x, points, column);
        }
        Self { n, values }
    }

    /// `K_ij = f(i, j)`, called for `i <= j` only: a kernel of any kind of samples.
    pub fn from_fn(n: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = vec![0.0; n * n];
        for j in 0..n {
            for i in 0..=j {
                let value = f(i, j);
                values[j * n + i] = value;
                values[i * n + j] = value;
            }
        }
        Self { n, values }
    }

    /// From `n²` entries, column after column (a symmetric matrix reads the same row after row).
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are `n²` entries; [`Error::InvalidParameter`] when one is NaN or
    /// infinite, or differs from its mirror image by more than 1e-9 of the largest entry. Smaller
    /// differences are averaged out.
    pub fn from_values(values: Vec<f64>, n: usize) -> Result<Self, Error> {
        let expected = n.saturating_mul(n);
        if values.len() != expected {
            return Err(Error::ShapeMismatch {
                what: "entries of the Gram matrix",
                expected,
                found: values.len(),
            });
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::parameter(
                "gram",
                format!("{} at ({}, {})", values[position], position % n, position / n),
                "finite in every entry",
            ));
        }
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let mut values = values;
        for j in 0..n {
            for i in 0..j {
                let (upper, lower) = (values[j * n + i], values[i * n + j]);
                if (upper - lower).abs() > ASYMMETRY * largest {
                    return Err(Error::parameter(
                        "gram",
                        format!("{upper} at ({i}, {j}) and {lower} at ({j}, {i})"),
                        "symmetric: pass (K + Kᵀ)/2 if that is what is meant",
                    ));
                }
                let mean = 0.5 * upper + 0.5 * lower;
                values[j * n + i] = mean;
                values[i * n + j] = mean;
            }
        }
        Ok(Self { n, values })
    }

    /// From entries that are symmetric by construction.
    pub(crate) fn from_symmetric(values: Vec<f64>, n: usize) -> Self {
        Self { n, values }
    }

    /// Number of samples.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Entry `(i, j)`, both below [`Gram::n`].
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.column(j)[i]
    }

    /// Column `j`, which is also row `j`.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.n..(j + 1) * self.n]
    }

    /// All entries, column after column.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// The diagonal.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        (0..self.n).map(|i| self.get(i, i)).collect()
    }

    /// `H K H` with `H = I - 11ᵀ/n`: `K_ij - m_i - m_j + m` with the row means `m_i` and the mean `m`. Rows
    /// and columns of the result sum to zero; centring again changes it only by rounding. `O(n²)`.
    pub fn centre(&self) -> Gram {
        let n = self.n;
        let count = n.max(1) as f64;
        // Shifted by one of its entries first, so that a constant matrix becomes exactly zero.
        let first = self.values.first().copied().unwrap_or(0.0);
        let mut values: Vec<f64> = self.values.iter().map(|value| value - first).collect();
        let means: Vec<f64> =
            values.chunks_exact(n.max(1)).map(|column| lanes::sum(column) / count).collect();
        let mean = lanes::sum(&means) / count;
        for (column, &column_mean) in values.chunks_exact_mut(n.max(1)).zip(&means) {
            for (value, &row_mean) in column.iter_mut().zip(&means) {
                // The two means first: their sum is the same for (i, j) and (j, i), so symmetry stays exact.
                *value -= (row_mean + column_mean) - mean;
            }
        }
        Gram { n, values }
    }

    /// `Σ_i K_ii`.
    pub fn trace(&self) -> f64 {
        lanes::sum(&self.diagonal())
    }

    /// `‖K‖_F = sqrt(Σ_ij K_ij²)`.
    pub fn frobenius_norm(&self) -> f64 {
        lanes::dot(&self.values, &self.values).sqrt()
    }

    /// `<K, L>_F = Σ_ij K_ij L_ij = tr(K L)`.
    ///
    /// # Panics
    /// When the other matrix has another size.
    pub fn inner(&self, other: &Gram) -> f64 {
        assert_eq!(self.n, other.n, "Gram matrices of different sizes have no inner product");
        lanes::dot(&self.values, &other.values)
    }
}
