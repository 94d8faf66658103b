//! `M = Xᵀ K X` and `B = XᵀX + ridge I` by products of the columns of a table.

use fewest_core::{Context, Error};
use nalgebra::DMatrix;

use super::{Between, times};
use crate::columns::LinearColumns;
use crate::unsupervised::{not_finite, stopped};

/// How well a system is solved: the residual relative to the right side, both with the inverse of the
/// diagonal as metric, and steps at most.
const RESIDUAL: f64 = 0.1;
const MOST_STEPS: usize = 10;

/// The smallest entry of a diagonal that systems are divided by, relative to its mean.
const LEAST: f64 = 1e-12;

pub(crate) struct Table<'a> {
    pub(crate) columns: &'a LinearColumns<'a>,
    /// Those that vary.
    pub(crate) chosen: &'a [usize],
    pub(crate) between: &'a dyn Between,
    pub(crate) ridge: f64,
    /// That of `M`.
    pub(crate) diagonal: Vec<f64>,
}

impl Table<'_> {
    /// `X v`.
    fn combined(&self, v: &DMatrix<f64>) -> Result<DMatrix<f64>, Error> {
        let by_columns = v.transpose();
        let combined = self.columns.combined(self.chosen, by_columns.as_slice())?;
        Ok(DMatrix::from_vec(self.columns.n_samples(), v.ncols(), combined))
    }

    /// `M v` and `B v`.
    pub(crate) fn images(&self, v: &DMatrix<f64>) -> Result<[DMatrix<f64>; 2], Error> {
        let k = v.ncols();
        let combined = self.combined(v)?;
        let mut both: Vec<f64> = self.between.product(&combined).data.into();
        both.extend_from_slice(combined.as_slice());
        let products = self.transposed_times(&both)?;
        Ok([products.columns(0, k).into_owned(), products.columns(k, k) + v * self.ridge])
    }

    /// `Xᵀ u` of vectors one after the other.
    fn transposed_times(&self, u: &[f64]) -> Result<DMatrix<f64>, Error> {
        let products = self.columns.products_with(self.chosen, u)?;
        let p = self.chosen.len();
        Ok(DMatrix::from_vec(products.len() / p.max(1), p, products).transpose())
    }

    /// Solves `(M + D) y = v` for a diagonal `D` that is not negative, roughly: by conjugate gradients for
    /// each column, after division by the diagonal.
    pub(crate) fn solve(
        &self,
        diagonal: &[f64],
        v: &DMatrix<f64>,
        context: &Context<'_>,
    ) -> Result<DMatrix<f64>, Error> {
        let sum: Vec<f64> = self.diagonal.iter().zip(diagonal).map(|(own, other)| own + other).collect();
        let least = LEAST * sum.iter().sum::<f64>() / sum.len() as f64;
        if !(least > 0.0 && least.is_finite()) {
            return Err(not_finite());
        }
        let inverse: Vec<f64> = sum.iter().map(|value| value.max(least).recip()).collect();
        let inner = |a: &DMatrix<f64>, b: &DMatrix<f64>| -> Vec<f64> {
            a.column_iter().zip(b.column_iter()).map(|(a, b)| a.dot(&b)).collect()
        };
        let mut y = DMatrix::zeros(v.nrows(), v.ncols());
        let mut residual = v.clone();
        let mut reduced = times(&inverse, &residual);
        let mut direction = reduced.clone();
        let mut size = inner(&residual, &reduced);
        let enough: Vec<f64> = size.iter().map(|size| size * RESIDUAL * RESIDUAL).collect();
        for _ in 0..MOST_STEPS {
            if size.iter().zip(&enough).all(|(size, enough)| size <= enough) {
                break;
            }
            if context.stopped().is_some() {
                return Err(stopped(context));
            }
            let between = self.between.product(&self.combined(&direction)?);
            let image = self.transposed_times(between.as_slice())? + times(diagonal, &direction);
            let curvature = inner(&direction, &image);
            for k in 0..v.ncols() {
                // A column that is solved stays.
                if size[k] > enough[k] && curvature[k] > 0.0 {
                    let step = size[k] / curvature[k];
                    y.column_mut(k).axpy(step, &direction.column(k), 1.0);
                    residual.column_mut(k).axpy(-step, &image.column(k), 1.0);
                }
            }
            reduced = times(&inverse, &residual);
            let next = inner(&residual, &reduced);
            for k in 0..v.ncols() {
                let share = if size[k] > 0.0 { next[k] / size[k] } else { 0.0 };
                let mut column = direction.column_mut(k);
                column *= share;
                column += reduced.column(k);
            }
            size = next;
        }
        Ok(y)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target};

    use super::*;
    use crate::projections::testing::{Dense, value};
    use crate::projections::{Descent, FeatureRows, Scatter};

    /// Products, systems, start and answer are those of the matrices.
    #[test]
    fn a_table_has_the_answer_of_its_matrices() -> Result<(), Error> {
        let (n, p, c, ridge) = (80, 30, 3, 0.7);
        let table: Vec<Vec<f64>> = (0..p).map(|j| (0..n).map(|i| value(i + n * j)).collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
        let context = Context::default();
        let columns = LinearColumns::with_outputs(&data, "lufs", Vec::new(), &context)?;
        let rows = FeatureRows::new(&columns, p);
        let root = DMatrix::from_fn(n, n, |i, j| value(n * p + i + n * j));
        let between = Dense(&root * root.transpose() + DMatrix::identity(n, n));
        let x = DMatrix::from_vec(n, p, columns.gather(&rows.columns)?);
        let m = x.tr_mul(&(&between.0 * &x));
        let b = x.tr_mul(&x) + DMatrix::identity(p, p) * ridge;
        let diagonal: Vec<f64> = m.diagonal().iter().copied().collect();
        let by_products =
            Table { columns: &columns, chosen: &rows.columns, between: &between, ridge, diagonal };

        let v = DMatrix::from_fn(p, 11, |i, j| value(7 * i + j));
        let [image, weighted] = by_products.images(&v)?;
        assert!((image - &m * &v).amax() < 1e-9 * m.amax());
        assert!((weighted - &b * &v).amax() < 1e-9 * b.amax());

        let added: Vec<f64> = (0..p).map(|j| m.trace() / p as f64 * 10.0_f64.powi(j as i32 % 4)).collect();
        let solved = by_products.solve(&added, &v, &context)?;
        let rest = &v - (&m * &solved + times(&added, &solved));
        assert!(rest.norm() < 0.5 * v.norm(), "{} of {}", rest.norm(), v.norm());

        let (of_table, whole) = (Scatter::of_table(by_products), Scatter::whole(m, b)?);
        let found = |scatter: &Scatter<'_>| {
            let (alpha, smoothing) = (0.2 * scatter.trace() / (p * n) as f64, 1e-6 / n as f64);
            let tolerance = 1e-7;
            let rows = &rows;
            let descent = Descent { rows, scatter, alpha, smoothing, tolerance, context: &context };
            let start = descent.start(c)?;
            Ok::<_, Error>((start.lowest, descent.from(start.w)?))
        };
        let ((lowest, answer), (known_lowest, known)) = (found(&of_table)?, found(&whole)?);
        // Its residual is at most 1e-6 of the products.
        assert!((lowest - known_lowest).abs() < 1e-9 * known_lowest);
        assert!(answer.stationarity <= 1e-7);
        assert!((answer.objective - known.objective).abs() < 1e-9 * known.objective);
        Ok(())
    }
}
