//! The standardised table, and the rows of coefficients of its features.

use fewest_core::{Budget, Context, Dataset, Error, Selection, Status, room};
use fewest_neighbours::{DistanceMetric, Distances, Neighbours, nearest, standardised_samples};
use fewest_solver::InnerProducts;
use nalgebra::DMatrix;

use crate::columns::LinearColumns;

/// Why there are no more features.
pub(crate) const OTHERS_ARE_CONSTANT: &str = "the others are constant";

/// The standardised columns of the features that vary.
pub(crate) struct Design {
    /// A sample a row, a column each.
    pub(crate) x: DMatrix<f64>,
    /// The feature of each column: the levels of a categorical feature have one row of coefficients together.
    features: Vec<usize>,
    n_features: usize,
}

impl Design {
    pub(crate) fn new(data: &Dataset, method: &'static str, context: &Context<'_>) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let columns = LinearColumns::with_outputs(data, method, Vec::new(), context)?;
        // A constant has no coefficient: it would be the smoothest feature of all.
        let squares = &columns.atoms().squared_norms;
        let varying: Vec<usize> = (0..columns.n_atoms()).filter(|&column| squares[column] > 0.0).collect();
        let what = "memory for the standardised table";
        drop(room(what, &[3, n, varying.len()], method, "use fewer samples or features")?);
        let x = DMatrix::from_vec(n, varying.len(), columns.gather(&varying)?);
        let features = varying.iter().map(|&column| columns.feature(column)).collect();
        Ok(Self { x, features, n_features: data.n_features() })
    }

    pub(crate) fn n_features(&self) -> usize {
        self.n_features
    }

    /// The feature of each column.
    pub(crate) fn features(&self) -> &[usize] {
        &self.features
    }

    /// An empty selection for each budget, where no feature varies.
    pub(crate) fn nothing(&self, budgets: &[Budget]) -> Option<Vec<Selection>> {
        let none = |&budget: &Budget| {
            let mut selection = Selection::by_weight(Vec::new(), self.n_features, budget, Status::Converged);
            selection.note_missing_features(budget, OTHERS_ARE_CONSTANT);
            selection
        };
        self.features.is_empty().then(|| budgets.iter().map(none).collect())
    }

    /// The columns of one feature after the other.
    fn rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let mut start = 0;
        self.features.chunk_by(|a, b| a == b).map(move |columns| {
            let range = start..start + columns.len();
            start = range.end;
            range
        })
    }

    /// The squared length of the row of coefficients of each feature, once for each of its columns.
    pub(crate) fn squared_lengths(&self, w: &DMatrix<f64>) -> Vec<f64> {
        let mut squares = vec![0.0; w.nrows()];
        for column in w.column_iter() {
            for (square, value) in squares.iter_mut().zip(column.iter()) {
                *square += value * value;
            }
        }
        for row in self.rows().filter(|row| row.len() > 1) {
            let square: f64 = squares[row.clone()].iter().sum();
            squares[row].fill(square);
        }
        squares
    }

    /// `Σⱼ √(‖wⱼ‖² + ε)` over the features, from [`Design::squared_lengths`].
    pub(crate) fn smoothed_sum(&self, squares: &[f64], smoothing: f64) -> f64 {
        self.rows().map(|row| (squares[row.start] + smoothing).sqrt()).sum()
    }

    /// The length of the row of each feature that varies.
    pub(crate) fn scores(&self, w: &DMatrix<f64>) -> Vec<(usize, f64)> {
        let squares = self.squared_lengths(w);
        self.rows().map(|row| (self.features[row.start], squares[row.start].sqrt())).collect()
    }

    /// The nearest neighbours of every sample.
    pub(super) fn neighbours(data: &Dataset, k: usize, context: &Context<'_>) -> Result<Neighbours, Error> {
        let samples = standardised_samples(data, DistanceMetric::SquaredEuclidean)?;
        nearest(&Distances::new(&samples), k, context)
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

    pub(super) fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
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

    pub(super) fn dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.rows.len(), self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            for &(j, value) in row {
                dense[(i, j)] = value;
            }
        }
        dense
    }
}

/// A diagonal times a matrix.
pub(crate) fn times(diagonal: &[f64], matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut product = matrix.clone();
    for mut column in product.column_iter_mut() {
        column.iter_mut().zip(diagonal).for_each(|(value, weight)| *value *= weight);
    }
    product
}

/// Half of a matrix and its transpose.
pub(super) fn symmetric(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let transposed = matrix.transpose();
    (matrix + transposed) * 0.5
}
