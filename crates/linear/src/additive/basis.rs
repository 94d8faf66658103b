//! The functions of one feature, as an orthonormal basis of their values.

use fewest_columns::{finite_values, standardise};
use fewest_core::method::KernelWidth;
use fewest_core::{Dataset, Error, FeatureKind, order};
use fewest_kernels::{Factor, Gaussian, NormalisedDelta, kernel_width};
use fewest_linalg::dot_products;
use nalgebra::DMatrix;

/// Rank up to which the factor of one feature may grow.
const MOST_RANK: usize = 500;

/// How much of the trace a factor may leave out: so little that eigenvectors do not depend on the order of
/// samples.
const FACTOR_TOLERANCE: f64 = 1e-12;

/// `Q`: `n × rank`, orthonormal and centred, spanning the leading eigenvectors of the feature's centred Gram
/// matrix.
pub(super) struct Basis {
    values: Vec<f64>,
    rank: usize,
}

impl Basis {
    /// Of feature `j` under a Gaussian kernel of this width, categories under the delta kernel: the
    /// eigenvectors whose eigenvalue is at least `smallest` times the largest. Empty for a constant feature.
    pub(super) fn new(data: &Dataset, j: usize, width: KernelWidth, smallest: f64) -> Result<Self, Error> {
        let n = data.n_samples();
        let mut points = finite_values(data, j)?;
        let tolerance = FACTOR_TOLERANCE * smallest;
        let mut factor = if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
            Factor::new(&NormalisedDelta::from_points(&points), &points, tolerance, n)?
        } else if standardise(&mut points) {
            Factor::new(&Gaussian::new(kernel_width(width, &points)?)?, &points, tolerance, n.min(MOST_RANK))?
        } else {
            return Ok(Self { values: Vec::new(), rank: 0 });
        };
        factor.centre();
        let r = factor.rank();
        let mut gram = vec![0.0; r * r];
        dot_products(factor.values(), factor.values(), n, &mut gram);
        let Some(eigen) = fewest_linalg::symmetric_eigen(DMatrix::from_vec(r, r, gram)) else {
            let hint = "rescale the features".to_owned();
            return Err(Error::Numerical { what: "the functions of a feature", hint });
        };
        let largest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
        // Centring leaves rounding where a constant feature was.
        if largest <= 1e-12 * n as f64 {
            return Ok(Self { values: Vec::new(), rank: 0 });
        }
        let mut order = order::descending(eigen.eigenvalues.as_slice());
        order.retain(|&a| eigen.eigenvalues[a] >= smallest * largest);
        let mut values = Vec::with_capacity(n * order.len());
        for &a in &order {
            let start = values.len();
            values.resize(start + n, 0.0);
            let column = &mut values[start..];
            for (b, weight) in eigen.eigenvectors.column(a).iter().enumerate() {
                let weight = weight / eigen.eigenvalues[a].sqrt();
                column.iter_mut().zip(factor.column(b)).for_each(|(value, phi)| *value += weight * phi);
            }
        }
        Ok(Self { values, rank: order.len() })
    }

    /// Number of functions.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// `Qᵀ R` for `R` of `n` samples by some outputs.
    pub(super) fn project(&self, residual: &[f64], n: usize) -> Vec<f64> {
        let mut products = vec![0.0; self.rank * (residual.len() / n)];
        if self.rank > 0 {
            dot_products(&self.values, residual, n, &mut products);
        }
        products
    }

    /// `R ← R − Q B`.
    pub(super) fn subtract(&self, coefficients: &[f64], residual: &mut [f64], n: usize) {
        for (coefficients, residual) in
            coefficients.chunks_exact(self.rank.max(1)).zip(residual.chunks_exact_mut(n))
        {
            for (weight, column) in coefficients.iter().zip(self.values.chunks_exact(n)) {
                residual.iter_mut().zip(column).for_each(|(value, q)| *value -= weight * q);
            }
        }
    }
}
