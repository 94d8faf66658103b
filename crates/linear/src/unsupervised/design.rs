//! The standardised table, and the rows of coefficients of its features.

use fewest_core::{Context, Dataset, Error, room};
use fewest_neighbours::{DistanceMetric, Neighbours, nearest, standardised_distances};
use nalgebra::DMatrix;

use crate::columns::LinearColumns;
use crate::projections::{Between, FeatureRows};

/// The standardised columns of the features that vary.
pub(crate) struct Design {
    /// A sample a row, a column each.
    pub(crate) x: DMatrix<f64>,
    pub(crate) rows: FeatureRows,
}

impl Design {
    pub(crate) fn new(data: &Dataset, method: &'static str, context: &Context<'_>) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let columns = LinearColumns::with_outputs(data, method, Vec::new(), context)?;
        let rows = FeatureRows::new(&columns, data.n_features());
        let what = "memory for the standardised table";
        drop(room(what, &[3, n, rows.len()], method, "use fewer samples or features")?);
        let x = DMatrix::from_vec(n, rows.len(), columns.gather(&rows.columns)?);
        Ok(Self { x, rows })
    }

    /// The nearest neighbours of every sample.
    pub(super) fn neighbours(data: &Dataset, k: usize, context: &Context<'_>) -> Result<Neighbours, Error> {
        nearest(&standardised_distances(data, DistanceMetric::SquaredEuclidean, context)?, k, context)
    }

    /// For every sample the products `(x_a − x_i)ᵀ (x_b − x_i)` of its neighbours `a`, `b`.
    pub(super) fn local_products(
        &self,
        neighbours: &Neighbours,
        context: &Context<'_>,
    ) -> Result<Vec<DMatrix<f64>>, Error> {
        let rows = self.x.transpose();
        let p = rows.nrows();
        let sample = |i: usize| &rows.as_slice()[i * p..(i + 1) * p];
        fewest_parallel::try_map(self.x.nrows(), |i| {
            context.go_on("the neighbourhoods were compared")?;
            let of = neighbours.of(i).indices;
            let mut apart = DMatrix::zeros(p, of.len());
            for (mut column, &a) in apart.column_iter_mut().zip(of) {
                for ((value, own), other) in column.iter_mut().zip(sample(i)).zip(sample(a)) {
                    *value = other - own;
                }
            }
            Ok(apart.tr_mul(&apart))
        })
    }
}

/// A sparse symmetric matrix, row by row.
pub(super) struct SparseSymmetric {
    rows: Vec<Vec<(usize, f64)>>,
}

impl SparseSymmetric {
    /// The sum of entries `(i, j, value)`, in any order.
    pub(super) fn of_sum(n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let mut rows = vec![Vec::new(); n];
        for (i, j, value) in entries {
            rows[i].push((j, value));
        }
        for row in &mut rows {
            // Stable, so that the terms of an entry are added in their order.
            row.sort_by_key(|(j, _)| *j);
            *row = row
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| (same[0].0, same.iter().map(|e| e.1).sum()))
                .collect();
        }
        Self { rows }
    }
}

impl Between for SparseSymmetric {
    fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        let n = self.rows.len();
        let mut product = DMatrix::zeros(n, v.ncols());
        for (out, from) in
            product.as_mut_slice().chunks_exact_mut(n.max(1)).zip(v.as_slice().chunks_exact(n.max(1)))
        {
            for (value, row) in out.iter_mut().zip(&self.rows) {
                *value = row.iter().map(|&(j, entry)| entry * from[j]).sum();
            }
        }
        product
    }

    fn dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.rows.len(), self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            for &(j, value) in row {
                dense[(i, j)] = value;
            }
        }
        dense
    }
}
