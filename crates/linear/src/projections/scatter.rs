//! The matrix of a trace, and that of the constraint.

use std::borrow::Cow;
use std::sync::OnceLock;

use fewest_core::{Context, Error, room};
use fewest_linalg::{
    Cholesky, cholesky, gram_of_rows_unless, gram_unless, lowest, symmetric_eigen_unless, triangular_products,
};
use nalgebra::{DMatrix, DVector, Dyn, SymmetricEigen};

use super::table::Table;
use super::{combined, symmetric, transposed_times};
use crate::lines::WIDTH;
use crate::unsupervised::{not_finite, stopped};

/// Columns up to which a step looks at all of them.
pub(crate) const WHOLE: usize = 128;

/// Columns up to which all eigenvectors with respect to `B` are computed.
const DENSE: usize = 512;

/// What makes a matrix without full rank definite, relative to its mean eigenvalue.
const JITTER: f64 = 1e-12;

/// Eigenvalues of products of samples that are zero but for rounding, relative to the largest.
const ZERO: f64 = 1e-10;

/// Columns of which one task computes the products with `M`.
const COLUMNS: usize = 512;

/// Of the axes, one in so many is looked at first.
const LOOKED_AT: usize = 4;

/// A part of an axis, whose length is 1, that is rounding.
const SHORT: f64 = 1e-6;

/// The symmetric matrix `K` of `M = Xᵀ K X`, a row for each sample.
pub(crate) trait Between: Sync {
    fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64>;

    fn dense(&self) -> DMatrix<f64>;

    fn trace(&self) -> f64;

    /// Sets of samples, which together are all: `K v = 0` wherever `v` is constant on each of them. None
    /// where no such sets are known.
    fn null_sets(&self) -> Vec<Vec<usize>> {
        Vec::new()
    }
}

/// `M`, by its entries or as products of the table, and `B`.
pub(crate) struct Scatter<'a> {
    form: Form<'a>,
    /// The identity where there is none; a table has its own.
    metric: Option<Metric<'a>>,
    diagonal: Vec<f64>,
}

enum Form<'a> {
    /// `M` itself, for about as many samples as columns.
    Whole(DMatrix<f64>),
    /// `Xᵀ K X`, for fewer samples than columns.
    Products(Products<'a>),
    /// Products of the columns, for many of them and more samples, with `B`.
    Table(Table<'a>),
}

struct Products<'a> {
    x: &'a DMatrix<f64>,
    between: &'a dyn Between,
    root: OnceLock<Option<DMatrix<f64>>>,
}

impl Products<'_> {
    /// What makes `K` definite.
    fn jitter(&self) -> f64 {
        JITTER * self.between.trace() / self.x.nrows() as f64
    }

    /// `xᵀ (K + jitter I) x` for every column of the table: above 0, also where `K` has no product with it.
    fn diagonal(&self, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let (n, p) = self.x.shape();
        let jitter = self.jitter();
        let parts = fewest_parallel::try_map(p.div_ceil(COLUMNS), |part| {
            if context.stopped().is_some() {
                return Err(stopped(context));
            }
            let mut diagonal = Vec::with_capacity(COLUMNS);
            for columns in self.x.as_slice()[part * COLUMNS * n..].chunks(WIDTH * n).take(COLUMNS / WIDTH) {
                let columns = DMatrix::from_column_slice(n, columns.len() / n, columns);
                let product = self.between.product(&columns);
                for (x, kx) in columns.column_iter().zip(product.column_iter()) {
                    diagonal.push(x.dot(&kx).max(jitter * x.norm_squared()));
                }
            }
            Ok(diagonal)
        })?;
        Ok(parts.concat())
    }

    /// `A` with `M = A Aᵀ`, a row for each column of the table; computed where it is first asked for.
    fn root(&self) -> Result<&DMatrix<f64>, Error> {
        let compute = || {
            let (n, p) = self.x.shape();
            let (mut dense, jitter) = (self.between.dense(), self.jitter());
            dense.iter_mut().step_by(n + 1).for_each(|value| *value += jitter);
            // K = U Uᵀ; the columns of U are zero below the diagonal.
            let upper = upper_root(dense)?;
            let rows = triangular_products(upper.as_slice(), self.x.as_slice(), n);
            Some(DMatrix::from_vec(n, p, rows).transpose())
        };
        self.root.get_or_init(compute).as_ref().ok_or_else(not_finite)
    }

    /// The table, of which each sample has lost the mean of its null set: `M w = 0` wherever this times `w`
    /// is 0, and nowhere else where `K` has no further null vectors. Columns have the mean 0: the set of all
    /// samples takes nothing away.
    fn without_null_sets(&self) -> Cow<'_, DMatrix<f64>> {
        let sets = self.between.null_sets();
        if sets.len() < 2 {
            return Cow::Borrowed(self.x);
        }
        let mut x = self.x.clone();
        for mut column in x.column_iter_mut() {
            for set in &sets {
                let mean = set.iter().map(|&i| column[i]).sum::<f64>() / set.len() as f64;
                set.iter().for_each(|&i| column[i] -= mean);
            }
        }
        Cow::Owned(x)
    }
}

/// `B`.
enum Metric<'a> {
    /// The matrix, and its triangular factor.
    Whole { matrix: DMatrix<f64>, factor: DMatrix<f64> },
    /// `XᵀX + ridge I`.
    Products { x: &'a DMatrix<f64>, ridge: f64 },
}

/// Where a descent starts.
pub(crate) struct Start {
    pub(crate) w: DMatrix<f64>,
    /// The sum of the smallest eigenvalues of `M`, as far as its vectors are known:
    pub(crate) lowest: f64,
    /// `‖M W − B W (Wᵀ M W)‖`, 0 for those that a decomposition finds.
    pub(crate) residual: f64,
    pub(crate) name: &'static str,
}

impl<'a> Scatter<'a> {
    /// `M = Xᵀ K X` for projections on `clusters` vectors.
    pub(crate) fn new(
        x: &'a DMatrix<f64>,
        between: &'a dyn Between,
        clusters: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let (n, p) = x.shape();
        if p <= WHOLE.max(n + clusters) {
            // Not by tr_mul, which takes scalar products one by one.
            let product = x.transpose() * between.product(x);
            return Ok(Self::entries((&product + product.transpose()) * 0.5, None));
        }
        let what = "memory for a matrix of all samples";
        drop(room(what, &[3, n, n], method, "use fewer samples")?);
        let products = Products { x, between, root: OnceLock::new() };
        let diagonal = products.diagonal(context)?;
        Ok(Self { form: Form::Products(products), metric: None, diagonal })
    }

    /// [`new`](Self::new) with `B = XᵀX + ridge I`, `ridge > 0`.
    pub(crate) fn with_ridge(
        x: &'a DMatrix<f64>,
        between: &'a dyn Between,
        ridge: f64,
        clusters: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let scatter = Self::new(x, between, clusters, method, context)?;
        let metric = match scatter.form {
            Form::Whole(_) => {
                let mut matrix = x.tr_mul(x);
                matrix.iter_mut().step_by(x.ncols() + 1).for_each(|value| *value += ridge);
                Metric::whole(matrix)?
            }
            _ => Metric::Products { x, ridge },
        };
        Ok(Self { metric: Some(metric), ..scatter })
    }

    /// By the entries of `M` and `B`, which is positive definite.
    pub(crate) fn whole(m: DMatrix<f64>, b: DMatrix<f64>) -> Result<Self, Error> {
        Ok(Self::entries(m, Some(Metric::whole(b)?)))
    }

    /// By products of the columns of a table.
    pub(crate) fn of_table(table: Table<'a>) -> Self {
        let diagonal = table.diagonal.clone();
        Self { form: Form::Table(table), metric: None, diagonal }
    }

    fn entries(m: DMatrix<f64>, metric: Option<Metric<'a>>) -> Self {
        let diagonal = m.diagonal().iter().copied().collect();
        Self { form: Form::Whole(m), metric, diagonal }
    }

    pub(crate) fn trace(&self) -> f64 {
        self.diagonal.iter().sum()
    }

    /// The mean eigenvalue of `M`.
    pub(crate) fn mean_diagonal(&self) -> f64 {
        self.trace() / self.diagonal.len() as f64
    }

    /// `M v`, and `B v`, nothing where it is `v`.
    pub(crate) fn images(&self, v: &DMatrix<f64>) -> Result<(DMatrix<f64>, Option<DMatrix<f64>>), Error> {
        let image = match &self.form {
            Form::Whole(m) => m * v,
            Form::Products(Products { x, between, .. }) => {
                transposed_times(x, &between.product(&combined(x, v)))
            }
            Form::Table(table) => {
                let [image, weighted] = table.images(v)?;
                return Ok((image, Some(weighted)));
            }
        };
        let weighted = self.metric.as_ref().map(|metric| match metric {
            Metric::Whole { matrix, .. } => matrix * v,
            Metric::Products { x, ridge } => transposed_times(x, &combined(x, v)) + v * *ridge,
        });
        Ok((image, weighted))
    }

    /// The lowest `c` eigenvectors of `M` plus a diagonal, if `M` is known by its entries and small.
    pub(crate) fn lowest_with(
        &self,
        diagonal: &[f64],
        c: usize,
        context: &Context<'_>,
    ) -> Result<Option<DMatrix<f64>>, Error> {
        match &self.form {
            Form::Whole(m) if m.nrows() <= WHOLE => {
                let mut sum = m.clone();
                for (j, value) in diagonal.iter().enumerate() {
                    sum[(j, j)] += value;
                }
                Ok(Some(self.lowest_of(sum, c, context)?.1))
            }
            _ => Ok(None),
        }
    }

    /// The `c` smallest eigenvalues of a small matrix with respect to `B`, and their vectors.
    fn lowest_of(
        &self,
        matrix: DMatrix<f64>,
        c: usize,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, DMatrix<f64>), Error> {
        match &self.metric {
            Some(Metric::Whole { factor, .. }) => {
                let halfway = factor.solve_lower_triangular(&matrix).ok_or_else(not_finite)?;
                let both = factor.solve_lower_triangular(&halfway.transpose()).ok_or_else(not_finite)?;
                let (values, vectors) = lowest(&eigen(symmetric(both), context)?, c);
                let w = factor.tr_solve_lower_triangular(&vectors).ok_or_else(not_finite)?;
                Ok((values, w))
            }
            _ => Ok(lowest(&eigen(matrix, context)?, c)),
        }
    }

    /// Solves `(M + D) y = v` for a positive diagonal `D`.
    pub(crate) fn solve(
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
            Form::Table(table) => table.solve(diagonal, v, context),
            // By the matrix of Woodbury, of a row for each sample.
            Form::Products(products) => {
                let root = products.root()?;
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
                let mut inner = transposed_times(root, &y);
                inner.as_mut_slice().chunks_exact_mut(n).for_each(|column| factor.solve(column));
                let mut taken = combined(root, &inner);
                for mut column in taken.column_iter_mut() {
                    column.iter_mut().zip(diagonal).for_each(|(value, d)| *value /= d);
                }
                Ok(y - taken)
            }
        }
    }

    /// The lowest eigenvectors of `M` with respect to `B`, where they are found directly. Where the null
    /// space of `M` is larger: without `B` vectors of it near axes, up to directions that are rounding in the
    /// table, and else the lowest among combinations of samples.
    pub(crate) fn spectral_start(
        &self,
        clusters: usize,
        context: &Context<'_>,
    ) -> Result<Option<Start>, Error> {
        let is_stopped = || context.stopped().is_some();
        let name = "the lowest eigenvectors of M";
        match (&self.form, &self.metric) {
            // A descent without penalty finds them.
            (Form::Table(_), _) => Ok(None),
            (Form::Whole(m), Some(_)) if m.nrows() > DENSE => Ok(None),
            (Form::Whole(m), _) => {
                let (values, w) = self.lowest_of(m.clone(), clusters, context)?;
                Ok(Some(Start { w, lowest: values.iter().sum(), residual: 0.0, name }))
            }
            (Form::Products(Products { x, between, .. }), Some(Metric::Products { ridge, .. })) => {
                let w = lowest_of_samples(x, *between, *ridge, clusters, context)?;
                // Whatever has no product with any sample has no trace.
                let name = "the lowest eigenvectors of M among combinations of samples";
                Ok(Some(Start { w, lowest: 0.0, residual: 0.0, name }))
            }
            (Form::Products(products), _) => {
                let table = products.without_null_sets();
                let (n, p) = table.shape();
                let small = gram_of_rows_unless(table.as_slice(), n, &is_stopped);
                let factor = Cholesky::semidefinite_unless(small, n, ZERO, &is_stopped);
                if is_stopped() {
                    return Err(stopped(context));
                }
                // An axis is near where its part in the range of M is short: ‖R⁻¹ a‖² for its column a of the
                // table, whose rows have the products R Rᵀ. Those with a small product with M mostly are;
                // where they are not nearer than axes are in the mean, all are looked at.
                let mean = factor.rank() as f64 / p as f64;
                let smallest_first = fewest_core::order::ascending(&self.diagonal);
                let some = (p / LOOKED_AT).max(4 * clusters).min(p);
                let mut found = None;
                for (candidates, most) in [(&smallest_first[..some], mean), (&smallest_first, f64::INFINITY)]
                {
                    let axes = table.select_columns(candidates);
                    let in_range = factor.inverse_squares_unless(axes.as_slice(), &is_stopped);
                    if is_stopped() {
                        break;
                    }
                    let nearest_first = fewest_core::order::ascending(&in_range);
                    let near = nearest_first.iter().map(|&at| (candidates[at], in_range[at]));
                    let near: Vec<usize> =
                        near.take_while(|(_, part)| *part <= most).map(|(axis, _)| axis).collect();
                    found = outside(&table, &factor, &near, clusters);
                    if found.is_some() || is_stopped() {
                        break;
                    }
                }
                let Some(w) = found else {
                    return Err(if is_stopped() { stopped(context) } else { not_finite() });
                };
                let name = "vectors of the null space of M near axes";
                Ok(Some(Start { w, lowest: 0.0, residual: 0.0, name }))
            }
        }
    }

    /// Combinations of the columns of `v` that are orthonormal with respect to `B`.
    pub(crate) fn orthonormal(&self, v: &DMatrix<f64>) -> Result<DMatrix<f64>, Error> {
        let (_, weighted) = self.images(v)?;
        let inner = symmetric(v.tr_mul(weighted.as_ref().unwrap_or(v)));
        let root = cholesky(inner).ok_or_else(not_finite)?.l();
        let rows = root.solve_lower_triangular(&v.transpose()).ok_or_else(not_finite)?;
        Ok(rows.transpose())
    }

    /// The axes with the smallest entries on the diagonal.
    pub(crate) fn axes(&self, clusters: usize) -> DMatrix<f64> {
        let mut axes = DMatrix::zeros(self.diagonal.len(), clusters);
        let smallest_first = fewest_core::order::ascending(&self.diagonal);
        for (column, j) in smallest_first.into_iter().take(clusters).enumerate() {
            axes[(j, column)] = 1.0;
        }
        axes
    }
}

/// `c` orthonormal vectors without products with the rows of `table`, which have the products of `factor`:
/// from the parts of these axes, the first of them first, that have none. `None` where they are fewer.
fn outside(table: &DMatrix<f64>, factor: &Cholesky, axes: &[usize], c: usize) -> Option<DMatrix<f64>> {
    let (n, p) = table.shape();
    let mut kept: Vec<DVector<f64>> = Vec::with_capacity(c);
    for some in axes.chunks(c) {
        let mut parts = DMatrix::zeros(p, some.len());
        some.iter().enumerate().for_each(|(column, &axis)| parts[(axis, column)] = 1.0);
        // What is left after once has the rounding errors of what was taken off; after twice it has not.
        for _ in 0..2 {
            let mut inner = combined(table, &parts);
            inner.as_mut_slice().chunks_exact_mut(n).for_each(|column| factor.solve(column));
            parts -= transposed_times(table, &inner);
        }
        for part in parts.column_iter() {
            let mut part = part.into_owned();
            for _ in 0..2 {
                for own in &kept {
                    let along = own.dot(&part);
                    part.axpy(-along, own, 1.0);
                }
            }
            let length = part.norm();
            if length > SHORT {
                kept.push(part / length);
                if kept.len() == c {
                    return Some(DMatrix::from_columns(&kept));
                }
            }
        }
    }
    None
}

impl Metric<'_> {
    fn whole(matrix: DMatrix<f64>) -> Result<Self, Error> {
        let factor = cholesky(matrix.clone()).ok_or_else(not_finite)?.l();
        Ok(Self::Whole { matrix, factor })
    }
}

fn eigen(matrix: DMatrix<f64>, context: &Context<'_>) -> Result<SymmetricEigen<f64, Dyn>, Error> {
    symmetric_eigen_unless(matrix, &|| context.stopped().is_some()).ok_or_else(|| stopped(context))
}

/// The upper triangle `U` with `matrix = U Uᵀ`: the Cholesky factor of the rows and columns in reverse.
fn upper_root(mut matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    // Entry (i, j) is then that of (n − 1 − i, n − 1 − j).
    matrix.as_mut_slice().reverse();
    let mut factor = cholesky(matrix)?.l();
    factor.as_mut_slice().reverse();
    Some(factor)
}

/// The vectors of the smallest eigenvalues of `M w = μ B w`, `M = Xᵀ K X` and `B = XᵀX + ridge I`, among `w =
/// Xᵀ a`, with fewer samples than columns.
fn lowest_of_samples(
    x: &DMatrix<f64>,
    between: &dyn Between,
    ridge: f64,
    c: usize,
    context: &Context<'_>,
) -> Result<DMatrix<f64>, Error> {
    let found = eigen(x * x.transpose(), context)?;
    let largest = found.eigenvalues.amax();
    let kept: Vec<usize> = (0..x.nrows()).filter(|&i| found.eigenvalues[i] > ZERO * largest).collect();
    if kept.len() < c {
        let expected = format!("at most the rank of the table, {}", kept.len());
        return Err(Error::parameter("clusters", c, expected));
    }
    // Xᵀ Q Λ^−½ is a basis; in it XᵀX is Λ, and M is Λ^½ Qᵀ K Q Λ^½.
    let q = found.eigenvectors.select_columns(&kept);
    let values: Vec<f64> = kept.iter().map(|&i| found.eigenvalues[i]).collect();
    let by = |power: fn(f64, f64) -> f64| -> Vec<f64> { values.iter().map(|&v| power(v, ridge)).collect() };
    let scaled = |matrix: &DMatrix<f64>, weights: &[f64]| {
        let mut scaled = matrix.clone();
        scaled.column_iter_mut().zip(weights).for_each(|(mut column, weight)| column *= *weight);
        scaled
    };
    let ours = scaled(&q, &by(|value, ridge| (value / (value + ridge)).sqrt()));
    let (_, y) = lowest(&eigen(symmetric(ours.tr_mul(&between.product(&ours))), context)?, c);
    let w = scaled(&q, &by(|value, ridge| (value * (value + ridge)).sqrt().recip())) * y;
    Ok(x.tr_mul(&w))
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target};

    use super::*;
    use crate::columns::LinearColumns;
    use crate::projections::testing::{Dense, value};
    use crate::projections::{Descent, FeatureRows};

    fn table(n: usize, p: usize) -> (DMatrix<f64>, Dense) {
        let root = DMatrix::from_fn(n, n, |i, j| value(7 * n * p + i + n * j));
        (DMatrix::from_fn(n, p, |i, j| value(i + n * j)), Dense(&root * root.transpose()))
    }

    /// With more columns than samples: products and systems are those of one matrix, and the start is in its
    /// null space.
    #[test]
    fn products_and_systems_are_of_one_matrix() -> Result<(), Error> {
        let (n, p) = (20, 150);
        let (x, between) = table(n, p);
        let context = Context::default();
        let scatter = Scatter::new(&x, &between, 3, "udfs", &context)?;
        assert!(matches!(scatter.form, Form::Products(_)));
        let (whole, _) = scatter.images(&DMatrix::identity(p, p))?;
        assert!((&whole - x.tr_mul(&(&between.0 * &x))).amax() < 1e-10);
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
        let Some(start) = scatter.spectral_start(3, &context)? else { panic!("known at once") };
        assert!((start.w.tr_mul(&start.w) - DMatrix::identity(3, 3)).amax() < 1e-12);
        assert!(scatter.images(&start.w)?.0.amax() < 1e-8);
        Ok(())
    }

    /// Axes with a small product with `M` may be far from its null space: of columns in threes only those are
    /// near it, however small the others are. So it is where they are only two, and one direction.
    #[test]
    fn a_start_is_in_the_null_space_wherever_small_columns_are() -> Result<(), Error> {
        let n = 60;
        for (copies, n_small) in [(3, 40), (2, 59)] {
            let p = n_small + 120;
            let column = |j: usize| if j < n_small { j } else { n_small + (j - n_small) / copies };
            let size = |j: usize| if j < n_small { 1e-2 } else { 1.0 };
            let x = DMatrix::from_fn(n, p, |i, j| size(j) * value(i + n * column(j)));
            let between = table(n, 1).1;
            let scatter = Scatter::new(&x, &between, 4, "udfs", &Context::default())?;
            let Some(start) = scatter.spectral_start(4, &Context::default())? else { panic!("known") };
            assert!((start.w.tr_mul(&start.w) - DMatrix::identity(4, 4)).amax() < 1e-12, "{copies}");
            assert!(scatter.images(&start.w)?.0.amax() < 1e-8, "{copies}");
        }
        Ok(())
    }

    fn lowest_by_descent(scatter: &Scatter<'_>, x: &DMatrix<f64>, c: usize) -> Result<DMatrix<f64>, Error> {
        let table: Vec<Vec<f64>> = x.column_iter().map(|column| column.iter().copied().collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
        let context = Context::default();
        let columns = LinearColumns::with_outputs(&data, "lufs", Vec::new(), &context)?;
        let rows = &FeatureRows::new(&columns, x.ncols());
        let (alpha, smoothing, tolerance) = (1.0, 1e-6, 1e-6);
        let descent = Descent { rows, scatter, alpha, smoothing, tolerance, context: &context };
        Ok(descent.start(c)?.w)
    }

    /// Of every form the start is one of generalised eigenvectors, orthonormal with respect to `B`.
    #[test]
    fn starts_are_generalised_eigenvectors() -> Result<(), Error> {
        let (ridge, c) = (0.7, 3);
        let context = Context::default();
        for (n, p) in [(60, 20), (700, 530), (25, 150)] {
            let (x, between) = table(n, p);
            let scatter = Scatter::with_ridge(&x, &between, ridge, c, "lufs", &context)?;
            let w = match scatter.spectral_start(c, &context)? {
                Some(start) => start.w,
                None => lowest_by_descent(&scatter, &x, c)?,
            };
            let (image, weighted) = scatter.images(&w)?;
            let weighted = weighted.unwrap_or_else(|| w.clone());
            assert!((&weighted - (x.tr_mul(&(&x * &w)) + &w * ridge)).amax() < 1e-10);
            assert!((w.tr_mul(&weighted) - DMatrix::identity(c, c)).amax() < 1e-7, "{n}, {p}");
            let ritz = symmetric(w.tr_mul(&image));
            // The values among which they are the lowest: of all vectors, or of combinations of samples.
            let basis = if p <= n { DMatrix::identity(p, p) } else { x.transpose() };
            let root = cholesky(basis.tr_mul(&(x.tr_mul(&(&x * &basis)) + &basis * ridge)));
            let Some(root) = root.map(|root| root.l()) else { panic!("positive definite") };
            let inner = basis.tr_mul(&scatter.images(&basis)?.0);
            let half = root.solve_lower_triangular(&inner).map(|half| half.transpose());
            let both = half.and_then(|half| root.solve_lower_triangular(&half));
            let Some(both) = both else { panic!("not singular") };
            let mut known: Vec<f64> = symmetric(both).symmetric_eigenvalues().iter().copied().collect();
            known.sort_by(f64::total_cmp);
            let sum: f64 = known[..c].iter().sum();
            assert!((ritz.trace() - sum).abs() < 1e-6 * known[p.min(n) / 2], "{n}, {p}: {ritz} {sum}");
        }
        Ok(())
    }
}
