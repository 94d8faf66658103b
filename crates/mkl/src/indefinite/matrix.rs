//! The matrix `H K H` of a weighted sum of kernels on the samples of one machine, and linear systems with its
//! square.

use std::cell::OnceCell;

use fewest_core::{Context, Error};
use nalgebra::{DMatrix, DMatrixViewMut, DVector, Dyn, LU};

use crate::limits::over;
use fewest_linalg::{Cholesky, add_scaled, dot, gram_unless, orthonormal_unless};

/// Eigenvalues below this, relative to the largest in size, are rounding.
const ROUNDING: f64 = 1e-14;

/// Eigenvalues below minus this, relative to the largest in size, make a matrix indefinite.
const INDEFINITE: f64 = 1e-10;

/// Factors with this many times fewer columns than samples are not multiplied out: systems with the product
/// cost less than the eigenvalues that would be needed instead.
const THIN: usize = 4;

/// Share of the largest eigenvalue in size that `ρ` lies above what is needed.
const OFFSET: f64 = 1e-3;

/// A symmetric matrix, known by factors where they are thinner than it is large.
pub(crate) struct KernelMatrix {
    form: Form,
    n: usize,
    /// The smallest and the largest eigenvalue, 0 for a matrix of zeros, once they are asked for; NaN where
    /// they are not found, which [`KernelMatrix::is_indefinite`] refuses.
    ends: OnceCell<(f64, f64)>,
}

enum Form {
    /// The matrix and, once it is asked for, its square; and columns that span its image, where these are
    /// fewer than it has.
    Dense { matrix: DMatrix<f64>, square: OnceCell<DMatrix<f64>>, columns: Option<DMatrix<f64>> },
    /// Orthonormal columns and eigenvalues.
    Thin { vectors: DMatrix<f64>, values: Vec<f64> },
}

/// Which power of the matrix a system is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    /// `K`; the system need not be positive definite.
    First,
    /// `K²`.
    Second,
}

/// `I + K/scale` or `I + K²/scale` restricted to some samples, ready to solve with.
pub(crate) struct System {
    rows: Vec<usize>,
    form: SystemForm,
}

enum SystemForm {
    Definite(Cholesky),
    Indefinite(LU<f64, Dyn, Dyn>),
    /// `U_S`, the diagonal `D` of `Λ/scale` or `Λ²/scale`, and the decomposition of `I + D U_SᵀU_S`.
    Thin {
        columns: DMatrix<f64>,
        diagonal: DVector<f64>,
        small: LU<f64, Dyn, Dyn>,
    },
}

fn broke_down() -> Error {
    Error::Numerical {
        what: "a sum of kernel matrices",
        hint: "its values are too large or not finite: use smaller kernel parameters or a larger lambda"
            .to_owned(),
    }
}

/// Columns of a product that are computed between two looks at the clock.
const PANEL: usize = 64;

/// `Φ S Φᵀ`, which means nothing where it was stopped.
pub(crate) fn signed_square(columns: &DMatrix<f64>, signs: &[f64], context: &Context<'_>) -> DMatrix<f64> {
    let (n, rank) = columns.shape();
    let mut product = DMatrix::zeros(n, n);
    if rank == 0 {
        return product;
    }
    let mut signed = columns.clone();
    for (mut column, sign) in signed.column_iter_mut().zip(signs) {
        column *= *sign;
    }
    fewest_parallel::chunks(product.as_mut_slice(), PANEL * n, |at, out| {
        if context.stopped().is_none() {
            let width = out.len() / n;
            let right = columns.rows(at * PANEL, width).transpose();
            DMatrixViewMut::from_slice(out, n, width).gemm(1.0, &signed, &right, 0.0);
        }
    });
    product
}

impl KernelMatrix {
    /// `Φ S Φᵀ` from `n x r` columns and the diagonal of `S`, in the form that costs less.
    ///
    /// # Errors
    /// [`Error::Numerical`] on overflow; [`Error::Stopped`].
    pub(crate) fn from_columns(
        columns: DMatrix<f64>,
        signs: &[f64],
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let (n, rank) = columns.shape();
        if rank * THIN < n {
            return Self::thin(columns, signs, context);
        }
        let product = signed_square(&columns, signs, context);
        context.go_on("a sum of kernels was known")?;
        let mut kernel = Self::dense(product)?;
        if rank < n
            && let Form::Dense { columns: image, .. } = &mut kernel.form
        {
            *image = Some(columns);
        }
        Ok(kernel)
    }

    /// From its entries.
    pub(crate) fn dense(matrix: DMatrix<f64>) -> Result<Self, Error> {
        let n = matrix.nrows();
        // Which no entry of its square exceeds.
        if !matrix.norm_squared().is_finite() {
            return Err(broke_down());
        }
        let form = Form::Dense { matrix, square: OnceCell::new(), columns: None };
        Ok(Self { form, n, ends: OnceCell::new() })
    }

    /// `Φ S Φᵀ` from `n x r` columns, `r <= n`, and the diagonal of `S`. `O(n r² + r³)`.
    ///
    /// # Errors
    /// [`Error::Numerical`] on overflow; [`Error::Stopped`].
    pub(crate) fn thin(columns: DMatrix<f64>, signs: &[f64], context: &Context<'_>) -> Result<Self, Error> {
        let (n, rank) = columns.shape();
        if columns.iter().any(|value| !value.is_finite()) {
            return Err(broke_down());
        }
        if rank == 0 {
            let form = Form::Thin { vectors: DMatrix::zeros(n, 0), values: Vec::new() };
            return Ok(Self { form, n, ends: OnceCell::new() });
        }
        const BEFORE: &str = "a sum of kernels was known";
        let Some((basis, triangle)) = fewest_linalg::qr_unless(columns, &over(context)) else {
            return Err(Error::Stopped { before: BEFORE });
        };
        let mut signed = triangle.clone();
        for (mut column, sign) in signed.column_iter_mut().zip(signs) {
            column *= *sign;
        }
        let small = signed * triangle.transpose();
        let small = 0.5 * (&small + small.transpose());
        let eigen = fewest_linalg::symmetric_eigen_unless(small, &over(context));
        context.go_on(BEFORE)?;
        let eigen = eigen.ok_or_else(broke_down)?;
        let size = eigen.eigenvalues.amax();
        let kept: Vec<usize> = (0..rank).filter(|&a| eigen.eigenvalues[a].abs() > ROUNDING * size).collect();
        let vectors = basis * eigen.eigenvectors.select_columns(&kept);
        let values: Vec<f64> = kept.iter().map(|&a| eigen.eigenvalues[a]).collect();
        Ok(Self { form: Form::Thin { vectors, values }, n, ends: OnceCell::new() })
    }

    /// Eigenvectors and eigenvalues, those left out that are zero but for rounding.
    ///
    /// # Errors
    /// [`Error::Numerical`] where they are not found; [`Error::Stopped`].
    pub(crate) fn spectrum(&self, context: &Context<'_>) -> Result<(DMatrix<f64>, Vec<f64>), Error> {
        match &self.form {
            Form::Thin { vectors, values } => Ok((vectors.clone(), values.clone())),
            Form::Dense { matrix, .. } => {
                let eigen = fewest_linalg::symmetric_eigen_unless(matrix.clone(), &over(context));
                context.go_on("the eigenvectors of the kernel were known")?;
                let eigen = eigen.ok_or_else(broke_down)?;
                let least = ROUNDING * eigen.eigenvalues.amax();
                let kept: Vec<usize> = (0..self.n).filter(|&a| eigen.eigenvalues[a].abs() > least).collect();
                let values = kept.iter().map(|&a| eigen.eigenvalues[a]).collect();
                Ok((eigen.eigenvectors.select_columns(&kept), values))
            }
        }
    }

    /// Number of samples.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The largest eigenvalue as the Lanczos iteration finds it, and a thousandth of the size more; above 0
    /// (Algorithm 2, step 3, which takes `|η| + δ`: where the largest eigenvalue `η` is negative, 0 is enough
    /// of a bound).
    pub(crate) fn rho(&self) -> f64 {
        let size = self.size();
        if size > 0.0 { self.ends().1.max(0.0) + OFFSET * size } else { 1.0 }
    }

    fn ends(&self) -> (f64, f64) {
        *self.ends.get_or_init(|| match &self.form {
            Form::Dense { .. } => self.lanczos(),
            Form::Thin { values, .. } => {
                let ends = |(low, high): (f64, f64), value: &f64| (low.min(*value), high.max(*value));
                values.iter().fold((0.0, 0.0), ends)
            }
        })
    }

    fn size(&self) -> f64 {
        let (smallest, largest) = self.ends();
        largest.max(-smallest)
    }

    /// The smallest eigenvalue.
    pub(crate) fn smallest(&self) -> f64 {
        self.ends().0
    }

    /// Whether all eigenvalues are above `bound`, which is below 0. `O(n³/3)` for a dense matrix, far below
    /// what its eigenvalues cost. False where it is stopped.
    pub(crate) fn exceeds(&self, bound: f64, context: &Context<'_>) -> bool {
        match &self.form {
            Form::Thin { .. } => self.smallest() > bound,
            Form::Dense { matrix, .. } => {
                let mut shifted = matrix.clone();
                for i in 0..self.n {
                    shifted[(i, i)] -= bound;
                }
                Cholesky::of_unless(shifted.data.into(), self.n, &over(context)).is_some()
            }
        }
    }

    /// Whether some eigenvalue is negative by more than rounding.
    ///
    /// # Errors
    /// [`Error::Numerical`] where the ends of the spectrum are not found.
    pub(crate) fn is_indefinite(&self) -> Result<bool, Error> {
        let size = self.size();
        if size.is_finite() { Ok(self.smallest() < -INDEFINITE * size) } else { Err(broke_down()) }
    }

    /// `K v`.
    pub(crate) fn apply(&self, v: &[f64]) -> Vec<f64> {
        match &self.form {
            Form::Dense { matrix, .. } => {
                let mut out = vec![0.0; self.n];
                for (column, &weight) in matrix.column_iter().zip(v) {
                    add_scaled(&mut out, weight, column.as_slice());
                }
                out
            }
            Form::Thin { vectors, values } => {
                let mut out = vec![0.0; self.n];
                for (column, value) in vectors.column_iter().zip(values) {
                    add_scaled(&mut out, value * dot(column.as_slice(), v), column.as_slice());
                }
                out
            }
        }
    }

    /// What of `v` the matrix maps to zero, where the matrix is known to map anything there.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn null_part(&self, v: &[f64], context: &Context<'_>) -> Result<Option<Vec<f64>>, Error> {
        let basis;
        let vectors = match &self.form {
            Form::Thin { vectors, .. } => vectors,
            Form::Dense { columns, .. } => {
                let Some(columns) = columns else { return Ok(None) };
                let found = orthonormal_unless(columns, &over(context));
                let before = "the directions that a kernel maps to zero were known";
                basis = found.ok_or(Error::Stopped { before })?;
                &basis
            }
        };
        let mut out = v.to_vec();
        for column in vectors.column_iter() {
            let weight = dot(column.as_slice(), &out);
            add_scaled(&mut out, -weight, column.as_slice());
        }
        Ok(Some(out))
    }

    /// `I + K/scale` or `I + K²/scale` on the samples `rows`.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn system(
        &self,
        rows: Vec<usize>,
        power: Power,
        scale: f64,
        context: &Context<'_>,
    ) -> Result<System, Error> {
        const BEFORE: &str = "a machine was fitted";
        let form = match &self.form {
            Form::Dense { matrix, square, .. } => {
                let powered = match power {
                    Power::First => matrix,
                    Power::Second => {
                        if square.get().is_none() {
                            let product = gram_unless(matrix.as_slice(), self.n, &over(context));
                            context.go_on(BEFORE)?;
                            // Nothing else sets it in between.
                            square.get_or_init(|| DMatrix::from_vec(self.n, self.n, product));
                        }
                        square.get_or_init(|| DMatrix::zeros(0, 0))
                    }
                };
                let (m, inverse) = (rows.len(), scale.recip());
                let mut system = DMatrix::from_fn(m, m, |i, j| powered[(rows[i], rows[j])] * inverse);
                for i in 0..m {
                    system[(i, i)] += 1.0;
                }
                match Cholesky::of_unless(system.as_slice().to_vec(), m, &over(context)) {
                    Some(cholesky) => SystemForm::Definite(cholesky),
                    None => {
                        context.go_on(BEFORE)?;
                        SystemForm::Indefinite(fewest_linalg::lu(system))
                    }
                }
            }
            Form::Thin { vectors, values } => {
                let columns = vectors.select_rows(&rows);
                let powered = values.iter().map(|value| match power {
                    Power::First => value / scale,
                    Power::Second => value * value / scale,
                });
                let diagonal = DVector::from_iterator(values.len(), powered);
                let mut small = columns.tr_mul(&columns);
                for (a, mut row) in small.row_iter_mut().enumerate() {
                    row *= diagonal[a];
                    row[a] += 1.0;
                }
                SystemForm::Thin { columns, diagonal, small: fewest_linalg::lu(small) }
            }
        };
        Ok(System { rows, form })
    }
}

impl System {
    /// The samples it is about.
    pub(crate) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The solution for one right-hand side.
    ///
    /// # Errors
    /// [`Error::Numerical`] where the system is singular.
    pub(crate) fn solve(&self, right: &[f64]) -> Result<Vec<f64>, Error> {
        let right = DVector::from_column_slice(right);
        let solution = match &self.form {
            SystemForm::Definite(cholesky) => {
                let mut solution = right;
                cholesky.solve(solution.as_mut_slice());
                Some(solution)
            }
            SystemForm::Indefinite(lu) => lu.solve(&right),
            // A matrix of zeros, which an LU decomposition does not take.
            SystemForm::Thin { diagonal, .. } if diagonal.is_empty() => Some(right),
            SystemForm::Thin { columns, diagonal, small } => {
                let inner = small.solve(&columns.tr_mul(&right).component_mul(diagonal));
                inner.map(|inner| right - columns * inner)
            }
        };
        let solution = solution.filter(|solution| solution.iter().all(|value| value.is_finite()));
        Ok(solution.ok_or_else(broke_down)?.data.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> (DMatrix<f64>, Vec<f64>) {
        let columns = DMatrix::from_fn(12, 4, |i, j| ((i * 7 + j * 5) % 11) as f64 / 5.0 - 1.0);
        (columns, vec![1.0, -1.0, 1.0, -1.0])
    }

    #[test]
    fn both_forms_are_one_matrix() -> Result<(), Error> {
        let own = Context::default();
        let (columns, signs) = columns();
        let full = &columns * DMatrix::from_diagonal(&DVector::from_vec(signs.clone())) * columns.transpose();
        let thin = KernelMatrix::thin(columns, &signs, &Context::default())?;
        let eigen = fewest_linalg::symmetric_eigenvalues(full.clone()).ok_or_else(broke_down)?;
        let dense = KernelMatrix::dense(full.clone())?;
        assert!((dense.ends().1 - eigen.max()).abs() < 1e-9 * eigen.amax());
        assert!((thin.ends().1 - eigen.max()).abs() < 1e-9 * eigen.amax());
        assert!((dense.smallest() - eigen.min()).abs() < 1e-9 * eigen.amax());
        assert!((thin.smallest() - eigen.min()).abs() < 1e-9 * eigen.amax());
        assert!(dense.is_indefinite()? && thin.is_indefinite()?);
        assert!(dense.rho() > eigen.max());
        for matrix in [&thin, &dense] {
            assert!(matrix.exceeds(1.001 * eigen.min(), &own) && !matrix.exceeds(0.999 * eigen.min(), &own));
        }
        let v: Vec<f64> = (0..12).map(|i| f64::from(i * i % 7) - 3.0).collect();
        let rows = vec![0, 2, 3, 7, 11];
        let right = [1.0, -2.0, 0.5, 0.0, 3.0];
        let (a, b) = (
            thin.system(rows.clone(), Power::Second, 0.7, &own)?,
            dense.system(rows, Power::Second, 0.7, &own)?,
        );
        let pairs = thin.apply(&v).into_iter().zip(dense.apply(&v));
        for (a, b) in pairs.chain(a.solve(&right)?.into_iter().zip(b.solve(&right)?)) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        for matrix in [&thin, &dense] {
            let (vectors, values) = matrix.spectrum(&own)?;
            let rebuilt = &vectors * DMatrix::from_diagonal(&DVector::from_vec(values)) * vectors.transpose();
            assert!((rebuilt - &full).amax() < 1e-9);
        }
        let null = thin.null_part(&v, &Context::default())?.unwrap_or_default();
        assert!(dense.apply(&null).iter().all(|value| value.abs() < 1e-9));
        Ok(())
    }

    #[test]
    fn both_forms_solve_with_the_first_power() -> Result<(), Error> {
        let own = Context::default();
        let (columns, mixed) = columns();
        for signs in [mixed, vec![1.0; 4]] {
            let full =
                &columns * DMatrix::from_diagonal(&DVector::from_vec(signs.clone())) * columns.transpose();
            let thin = KernelMatrix::thin(columns.clone(), &signs, &Context::default())?;
            let dense = KernelMatrix::dense(full.clone())?;
            let rows = vec![1, 4, 5, 9];
            let right = [1.0, -2.0, 0.5, 3.0];
            for form in [thin, dense] {
                let solution = form.system(rows.clone(), Power::First, 0.7, &own)?.solve(&right)?;
                for (&i, (own, right)) in rows.iter().zip(solution.iter().zip(&right)) {
                    let image: f64 = rows.iter().zip(&solution).map(|(&j, v)| full[(i, j)] * v).sum();
                    assert!((own + image / 0.7 - right).abs() < 1e-9);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn nothing_and_overflow_are_told_apart() -> Result<(), Error> {
        let nothing = KernelMatrix::thin(DMatrix::zeros(3, 0), &[], &Context::default())?;
        assert_eq!(nothing.rho(), 1.0);
        assert_eq!(
            nothing.system(vec![0, 2], Power::First, 1.0, &Context::default())?.solve(&[1.0, -1.0])?,
            [1.0, -1.0]
        );
        assert_eq!(KernelMatrix::dense(DMatrix::zeros(3, 3))?.rho(), 1.0);
        assert!(KernelMatrix::dense(DMatrix::from_element(3, 3, 1e200)).is_err());
        assert!(
            KernelMatrix::thin(DMatrix::from_element(3, 1, f64::NAN), &[1.0], &Context::default()).is_err()
        );
        Ok(())
    }

    /// Whatever takes long looks at the clock, and what was stopped is no answer.
    #[test]
    fn what_is_stopped_says_so() -> Result<(), Error> {
        let raised = std::sync::atomic::AtomicBool::new(true);
        let (own, over) = (Context::default(), Context { interrupt: Some(&raised), ..Context::default() });
        let (columns, _) = columns();
        let is_over = |found: Result<(), Error>| matches!(found, Err(Error::Stopped { .. }));
        let wide = DMatrix::from_fn(12, 11, |i, j| columns[(i, j % 4)] + (i * j) as f64);
        let all = [1.0; 11];
        assert!(is_over(KernelMatrix::from_columns(wide.clone(), &all, &over).map(drop)));
        let kernel = KernelMatrix::from_columns(wide, &all, &own)?;
        assert!(is_over(kernel.spectrum(&over).map(drop)));
        assert!(kernel.exceeds(-1.0, &own) && !kernel.exceeds(-1.0, &over));
        for power in [Power::First, Power::Second] {
            assert!(is_over(kernel.system(vec![0, 3], power, 1.0, &over).map(drop)));
            assert!(kernel.system(vec![0, 3], power, 1.0, &own).is_ok());
        }
        Ok(())
    }
}
