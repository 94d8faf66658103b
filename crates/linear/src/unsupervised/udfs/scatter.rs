//! The scatter of all neighbourhoods.

use fewest_core::{Context, Error, room};
use fewest_linalg::{Cholesky, cholesky, gram_unless, lowest, orthonormal_unless, symmetric_eigen_unless};
use fewest_neighbours::Neighbours;
use nalgebra::DMatrix;

use super::super::design::{Design, SparseSymmetric};
use super::super::{not_finite, stopped};

/// Columns up to which a step looks at all of them.
pub(super) const WHOLE: usize = 128;

/// What makes a matrix without full rank definite, relative to its mean eigenvalue.
const JITTER: f64 = 1e-12;

/// `M`, by its entries or as products of the table.
pub(super) struct Scatter<'a> {
    design: &'a Design,
    form: Form,
    diagonal: Vec<f64>,
}

enum Form {
    /// `M` itself, for about as many samples as columns.
    Whole(DMatrix<f64>),
    /// `M = A Aᵀ` by `A`, a row for each column of the table, and the matrix between `Xᵀ` and `X`.
    Products { root: DMatrix<f64>, between: SparseSymmetric },
}

/// Where a descent starts.
pub(super) struct Start {
    pub(super) w: DMatrix<f64>,
    /// The smallest eigenvalues of `M`.
    pub(super) lowest: Vec<f64>,
    pub(super) name: &'static str,
}

impl<'a> Scatter<'a> {
    pub(super) fn new(
        design: &'a Design,
        neighbours: &Neighbours,
        ridge: f64,
        clusters: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let (n, p) = design.x.shape();
        let mut entries = Vec::new();
        for (i, products) in design.local_products(neighbours, context)?.into_iter().enumerate() {
            let members: Vec<usize> =
                [i].into_iter().chain(neighbours.of(i).indices.iter().copied()).collect();
            let local = of_neighbourhood(&products, ridge).ok_or_else(not_finite)?;
            for (a, &row) in members.iter().enumerate() {
                entries.extend(members.iter().enumerate().map(|(b, &column)| (row, column, local[(a, b)])));
            }
        }
        let between = SparseSymmetric::of_sum(n, entries.into_iter());
        let form = if p <= WHOLE.max(n + clusters) {
            let product = design.x.tr_mul(&between.product(&design.x));
            Form::Whole((&product + product.transpose()) * 0.5)
        } else {
            let what = "memory for the scatter of the neighbourhoods";
            drop(room(what, &[3, n, n], "udfs", "use fewer samples")?);
            let mut dense = between.dense();
            let jitter = JITTER * dense.trace() / n as f64;
            dense.iter_mut().step_by(n + 1).for_each(|value| *value += jitter);
            let factor = cholesky(dense).ok_or_else(not_finite)?;
            Form::Products { root: design.x.tr_mul(&factor.l()), between }
        };
        let diagonal = match &form {
            Form::Whole(m) => m.diagonal().iter().copied().collect(),
            Form::Products { root, .. } => squared_rows(root),
        };
        Ok(Self { design, form, diagonal })
    }

    pub(super) fn trace(&self) -> f64 {
        self.diagonal.iter().sum()
    }

    /// `M v`.
    pub(super) fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        match &self.form {
            Form::Whole(m) => m * v,
            Form::Products { between, .. } => {
                let x = &self.design.x;
                x.tr_mul(&between.product(&(x * v)))
            }
        }
    }

    /// `M` plus a diagonal, if `M` is known by its entries and small.
    pub(super) fn with_diagonal(&self, diagonal: &[f64]) -> Option<DMatrix<f64>> {
        match &self.form {
            Form::Whole(m) if m.nrows() <= WHOLE => {
                let mut sum = m.clone();
                for (j, value) in diagonal.iter().enumerate() {
                    sum[(j, j)] += value;
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// Solves `(M + D) y = v` for a positive diagonal `D`.
    pub(super) fn solve(
        &self,
        diagonal: &[f64],
        v: &DMatrix<f64>,
        context: &Context<'_>,
    ) -> Result<DMatrix<f64>, Error> {
        let is_stopped = || context.stopped().is_some();
        let p = diagonal.len();
        match &self.form {
            Form::Whole(m) => {
                let mut sum = m.clone();
                for (j, value) in diagonal.iter().enumerate() {
                    sum[(j, j)] += value;
                }
                let factor =
                    Cholesky::of_unless(sum.data.into(), p, &is_stopped).ok_or_else(|| stopped(context))?;
                let mut y = v.clone();
                y.as_mut_slice().chunks_exact_mut(p).for_each(|column| factor.solve(column));
                Ok(y)
            }
            // By the matrix of Woodbury, of a row for each sample.
            Form::Products { root, .. } => {
                let n = root.ncols();
                let mut scaled = root.clone();
                let weights: Vec<f64> = diagonal.iter().map(|value| value.sqrt().recip()).collect();
                for mut column in scaled.column_iter_mut() {
                    column.iter_mut().zip(&weights).for_each(|(value, weight)| *value *= weight);
                }
                let mut small = gram_unless(scaled.as_slice(), p, &is_stopped);
                small.iter_mut().step_by(n + 1).for_each(|value| *value += 1.0);
                let factor = Cholesky::above_identity_unless(small, n, &is_stopped);
                if is_stopped() {
                    return Err(stopped(context));
                }
                let mut y = v.clone();
                for mut column in y.column_iter_mut() {
                    column.iter_mut().zip(diagonal).for_each(|(value, d)| *value /= d);
                }
                let mut inner = root.tr_mul(&y);
                inner.as_mut_slice().chunks_exact_mut(n).for_each(|column| factor.solve(column));
                let mut taken = root * inner;
                for mut column in taken.column_iter_mut() {
                    column.iter_mut().zip(diagonal).for_each(|(value, d)| *value /= d);
                }
                Ok(y - taken)
            }
        }
    }

    /// The lowest eigenvectors of `M`, or, where its null space is larger, those of its vectors that are
    /// nearest to axes.
    pub(super) fn spectral_start(&self, clusters: usize, context: &Context<'_>) -> Result<Start, Error> {
        let is_stopped = || context.stopped().is_some();
        let eigen = |matrix| symmetric_eigen_unless(matrix, &is_stopped).ok_or_else(|| stopped(context));
        match &self.form {
            Form::Whole(m) => {
                let (values, w) = lowest(&eigen(m.clone())?, clusters);
                Ok(Start { w, lowest: values, name: "the lowest eigenvectors of M" })
            }
            Form::Products { root, .. } => {
                let p = root.nrows();
                let small = DMatrix::from_vec(
                    root.ncols(),
                    root.ncols(),
                    gram_unless(root.as_slice(), p, &is_stopped),
                );
                let found = eigen(small)?;
                let largest = found.eigenvalues.amax();
                let mut range = root * &found.eigenvectors;
                for (mut column, &value) in range.column_iter_mut().zip(found.eigenvalues.iter()) {
                    let is_kept = value > 1e-10 * largest;
                    column *= if is_kept { value.sqrt().recip() } else { 0.0 };
                }
                let axes = self.axes_by(&squared_rows(&range), clusters);
                let projected = &axes - &range * range.tr_mul(&axes);
                let w = orthonormal_unless(&projected, &is_stopped).ok_or_else(|| stopped(context))?;
                if w.ncols() < clusters {
                    return Err(not_finite());
                }
                let name = "the vectors of the null space of M nearest to axes";
                Ok(Start { w, lowest: vec![0.0; clusters], name })
            }
        }
    }

    /// The axes with the smallest entries on the diagonal.
    pub(super) fn axes(&self, clusters: usize) -> DMatrix<f64> {
        self.axes_by(&self.diagonal, clusters)
    }

    fn axes_by(&self, values: &[f64], clusters: usize) -> DMatrix<f64> {
        let mut axes = DMatrix::zeros(values.len(), clusters);
        let smallest_first = fewest_core::order::ascending(values);
        for (column, j) in smallest_first.into_iter().take(clusters).enumerate() {
            axes[(j, column)] = 1.0;
        }
        axes
    }
}

/// `H (H XᵢXᵢᵀ H + λ I)⁻¹ H` from the products of the neighbours' differences from sample `i`, which comes
/// first.
fn of_neighbourhood(products: &DMatrix<f64>, ridge: f64) -> Option<DMatrix<f64>> {
    let m = products.nrows() + 1;
    let centred = |matrix: DMatrix<f64>| {
        let rows = matrix.column_mean();
        let columns = matrix.row_mean();
        let mean = rows.mean();
        DMatrix::from_fn(m, m, |a, b| matrix[(a, b)] - rows[a] - columns[b] + mean)
    };
    let whole = DMatrix::from_fn(m, m, |a, b| if a * b == 0 { 0.0 } else { products[(a - 1, b - 1)] });
    let mut matrix = centred(whole);
    matrix.iter_mut().step_by(m + 1).for_each(|value| *value += ridge);
    Some(centred(cholesky(matrix)?.inverse()))
}

fn squared_rows(matrix: &DMatrix<f64>) -> Vec<f64> {
    let mut squares = vec![0.0; matrix.nrows()];
    for column in matrix.column_iter() {
        squares.iter_mut().zip(column.iter()).for_each(|(square, value)| *square += value * value);
    }
    squares
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target, derive_seed};

    use super::*;

    /// With more columns than samples: products and systems are those of one matrix, and the start is in its
    /// null space.
    #[test]
    fn products_and_systems_are_of_one_matrix() -> Result<(), Error> {
        let (n, p) = (20, 150);
        let value = |at: usize| derive_seed(1, at as u64) as f64 / u64::MAX as f64 - 0.5;
        let columns: Vec<Vec<f64>> = (0..p).map(|j| (0..n).map(|i| value(i + n * j)).collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let context = Context::default();
        let design = Design::new(&data, "udfs", &context)?;
        let neighbours = Design::neighbours(&data, 4, &context)?;
        let scatter = Scatter::new(&design, &neighbours, 1.0, 3, &context)?;
        assert!(matches!(scatter.form, Form::Products { .. }));
        let whole = scatter.product(&DMatrix::identity(p, p));
        assert!((&whole - whole.transpose()).amax() < 1e-10);
        for (j, value) in scatter.diagonal.iter().enumerate() {
            assert!((value - whole[(j, j)]).abs() < 1e-9);
        }
        let diagonal: Vec<f64> = (0..p).map(|j| 0.1 + 10.0_f64.powi((j % 5) as i32)).collect();
        let v = DMatrix::from_fn(p, 3, |i, j| value(i * 3 + j));
        let mut sum = whole;
        for (j, value) in diagonal.iter().enumerate() {
            sum[(j, j)] += value;
        }
        let solved = scatter.solve(&diagonal, &v, &context)?;
        assert!((sum * solved - v).amax() < 1e-8);
        let start = scatter.spectral_start(3, &context)?;
        assert!((start.w.tr_mul(&start.w) - DMatrix::identity(3, 3)).amax() < 1e-12);
        assert!(scatter.product(&start.w).amax() < 1e-8);
        Ok(())
    }
}
