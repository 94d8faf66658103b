//! Kernel values by rows.

use fewest_solver::Error;

use crate::SampleRows;

/// How far two values that should be equal may differ, relative to the larger diagonal entry.
pub(crate) const SYMMETRY: f64 = 1e-6;

/// A symmetric matrix by its rows. The solver stores the rows it uses most, so each row is computed a few
/// times at most, and never the whole matrix at once.
pub trait KernelRows: Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entry `(i, i)`.
    fn diagonal(&self, i: usize) -> f64;

    /// Writes row `i` to `out`, which has one place for each entry. The same row must have the same values
    /// every time.
    fn row(&self, i: usize, out: &mut [f64]);

    /// The name of the kernel in messages.
    fn name(&self) -> String {
        format!("the kernel matrix of {} samples", self.len())
    }

    /// Writes the rows `indices` to `out`, one after the other: for kernels that are faster with several at a
    /// time.
    fn rows(&self, indices: &[usize], out: &mut [f64]) {
        for (&i, row) in indices.iter().zip(out.chunks_exact_mut(self.len().max(1))) {
            self.row(i, row);
        }
    }
}

/// A whole matrix in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct GramRows {
    values: Vec<f64>,
    n: usize,
}

impl GramRows {
    /// From all `n × n` values.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are `n²`; [`Error::InvalidParameter`] for a value that is not
    /// finite and for a pair `(i, j)`, `(j, i)` that differs by more than 1e-9 of the larger.
    pub fn new(values: Vec<f64>, n: usize) -> Result<Self, Error> {
        let rows = Self::trusted(values, n)?;
        let values = &rows.values;
        if let Some(k) = values.iter().position(|value| !value.is_finite()) {
            return Err(not_finite(k / n, k % n, values[k]));
        }
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (values[i * n + j], values[j * n + i]);
                if (a - b).abs() > 1e-9 * a.abs().max(b.abs()) {
                    return Err(not_symmetric(i, j, a, b));
                }
            }
        }
        Ok(rows)
    }

    /// From all `n × n` values of a matrix that is known to be finite and symmetric: this is not checked.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are `n²`.
    pub fn trusted(values: Vec<f64>, n: usize) -> Result<Self, Error> {
        let (expected, found) = (n.saturating_mul(n), values.len());
        if n.checked_mul(n) != Some(found) {
            return Err(Error::ShapeMismatch { what: "values of the kernel", expected, found });
        }
        Ok(Self { values, n })
    }

    fn values_of(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }
}

impl KernelRows for GramRows {
    fn len(&self) -> usize {
        self.n
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.values_of(i)[i]
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        out.copy_from_slice(self.values_of(i));
    }
}

/// Samples of which only the products are known; `Kβ` represents `w`, so a variable that does not move costs
/// nothing.
impl SampleRows for GramRows {
    fn n_samples(&self) -> usize {
        self.n
    }

    fn n_features(&self) -> usize {
        self.n
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.diagonal(i)
    }

    fn product(&self, i: usize, w: &[f64]) -> f64 {
        w[i]
    }

    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        for (w, value) in w.iter_mut().zip(self.values_of(i)) {
            *w += factor * value;
        }
    }
}

/// Rows computed by a function `(i, out)`.
pub struct RowsBy<F> {
    diagonal: Vec<f64>,
    row: F,
}

impl<F: Fn(usize, &mut [f64]) + Sync> RowsBy<F> {
    /// From the diagonal and the function that writes a row.
    pub fn new(diagonal: Vec<f64>, row: F) -> Self {
        Self { diagonal, row }
    }
}

impl<F: Fn(usize, &mut [f64]) + Sync> KernelRows for RowsBy<F> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.diagonal[i]
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        (self.row)(i, out);
    }
}

/// The matrix `K_ij = y_i y_j Q_ij` with signs `y`: what turns `yᵀa = Δ` into `Σ β = Δ` by `β_i = y_i a_i`.
pub struct SignedRows<'a> {
    rows: &'a dyn KernelRows,
    signs: Vec<f64>,
}

impl<'a> SignedRows<'a> {
    /// `Q` by its rows, and whether each `y_i` is +1.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is one sign for each row.
    pub fn new(rows: &'a dyn KernelRows, positive: &[bool]) -> Result<Self, Error> {
        if positive.len() != rows.len() {
            let (expected, found) = (rows.len(), positive.len());
            return Err(Error::ShapeMismatch { what: "signs", expected, found });
        }
        Ok(Self { rows, signs: positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect() })
    }

    /// The signs, ±1.
    pub(crate) fn signs(&self) -> &[f64] {
        &self.signs
    }
}

impl KernelRows for SignedRows<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.rows.diagonal(i)
    }

    fn name(&self) -> String {
        self.rows.name()
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        self.rows.row(i, out);
        for (value, sign) in out.iter_mut().zip(&self.signs) {
            *value *= self.signs[i] * sign;
        }
    }
}

pub(crate) fn not_finite(i: usize, j: usize, value: f64) -> Error {
    let expected = "finite: check the samples and the kernel's parameters";
    Error::parameter("kernel", format!("{value} in row {i}, column {j} (counted from 0)"), expected)
}

pub(crate) fn not_symmetric(i: usize, j: usize, a: f64, b: f64) -> Error {
    let value = format!("{a} in row {i}, column {j}, and {b} in row {j}, column {i} (counted from 0)");
    Error::parameter("kernel", value, "symmetric: average it with its transpose")
}
