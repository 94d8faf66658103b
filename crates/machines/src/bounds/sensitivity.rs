//! Derivatives with respect to the scales of features.

use fewest_core::Error;
use fewest_kernels::{VectorKernel, VectorRows};
use nalgebra::{DMatrix, DVector};

use crate::Points;

/// The sensitivity of a bound to the kernel: `∂T = Σ_ab W_ab ∂K_ab` over some samples.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundSensitivity {
    /// The samples with non-zero `W`, increasing.
    pub samples: Vec<usize>,
    /// `W`, symmetric, in their order.
    pub weights: DMatrix<f64>,
}

impl BoundSensitivity {
    /// `∂T/∂θ_j` at `θ = 1` for each coordinate of `points`, in the kernel of the scaled points `θ_j x_j`:
    ///
    /// ```text
    /// Gaussian     ∂k/∂θ_j = −2γ (x_j − z_j)² k(x, z)
    /// linear       ∂k/∂θ_j = 2 x_j z_j
    /// polynomial   ∂k/∂θ_j = 2 γ p x_j z_j (γ ⟨x, z⟩ + c)^(p − 1)
    /// ```
    ///
    /// (Chapelle et al. 2002, Section 4; Rakotomamonjy 2003 and 2007: the importance of a feature is
    /// `|∂T/∂θ_j|`.) A feature of several coordinates with one scale has the sum of theirs. `O(m² d)` for
    /// `m` samples that matter.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if one of the samples is not there; as [`VectorRows::new`].
    pub fn scale_gradient(&self, kernel: VectorKernel, points: &Points) -> Result<Vec<f64>, Error> {
        let (m, width) = (self.samples.len(), points.width);
        if let Some(&i) = self.samples.iter().find(|&&i| i >= points.n_samples) {
            let (expected, found) = (i + 1, points.n_samples);
            return Err(Error::ShapeMismatch { what: "points", expected, found });
        }
        if m == 0 {
            kernel.check()?;
            return Ok(vec![0.0; width]);
        }
        let values: Vec<f64> = self.samples.iter().flat_map(|&i| points.point(i)).copied().collect();
        let x = DMatrix::from_row_slice(m, width, &values);
        let mut slopes = self.weights.clone();
        let factor = match kernel {
            VectorKernel::Linear => 2.0,
            VectorKernel::Gaussian { gamma } => -2.0 * gamma,
            VectorKernel::Polynomial { gamma, degree, .. } => 2.0 * gamma * f64::from(degree),
        };
        slopes *= factor;
        let lower = match kernel {
            VectorKernel::Linear => None,
            VectorKernel::Polynomial { degree: 1, .. } => None,
            VectorKernel::Polynomial { gamma, offset, degree } => {
                Some(VectorKernel::Polynomial { gamma, offset, degree: degree - 1 })
            }
            gaussian => Some(gaussian),
        };
        kernel.check()?;
        if let Some(lower) = lower {
            let rows = VectorRows::new(&values, m, lower)?;
            let mut row = vec![0.0; m];
            for (a, mut column) in slopes.column_iter_mut().enumerate() {
                rows.row(a, &mut row);
                column.iter_mut().zip(&row).for_each(|(slope, value)| *slope *= value);
            }
        }
        if matches!(kernel, VectorKernel::Gaussian { .. }) {
            let gradient = x.column_iter().map(|x| {
                let pull = |(a, column): (usize, nalgebra::DVectorView<'_, f64>)| -> f64 {
                    column.iter().zip(x.iter()).map(|(slope, z)| slope * (x[a] - z) * (x[a] - z)).sum()
                };
                slopes.column_iter().enumerate().map(pull).sum()
            });
            return Ok(gradient.collect());
        }
        let product = &slopes * &x;
        Ok(product.column_iter().zip(x.column_iter()).map(|(a, b)| a.dot(&b)).collect())
    }
}

/// `W += factor (a bᵀ + b aᵀ) / 2`.
pub(super) fn add_symmetric(weights: &mut DMatrix<f64>, factor: f64, a: &DVector<f64>, b: &DVector<f64>) {
    weights.ger(0.5 * factor, a, b, 1.0);
    weights.ger(0.5 * factor, b, a, 1.0);
}
