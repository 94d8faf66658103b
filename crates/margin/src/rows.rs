//! The samples of a design as vectors, for a solver that takes them one at a time.

use fewest_smo::SampleRows;
use fewest_solver::LinearOperator;

use super::design::Design;
use fewest_linalg::dot;

/// The samples with the columns in another order: dense ones first, then sparse ones, not centred, then a
/// constant.
///
/// A machine with a bias of its own does not see the centre, so sparse columns stay sparse.
pub(super) struct Samples {
    n: usize,
    /// The columns of the design in the order used here.
    order: Vec<usize>,
    n_dense: usize,
    /// Sample after sample.
    dense: Vec<f64>,
    /// Where each sample's sparse entries begin.
    offsets: Vec<usize>,
    places: Vec<usize>,
    values: Vec<f64>,
    constant: f64,
    squared_norms: Vec<f64>,
}

impl Samples {
    /// The samples of `design`, column `j` multiplied by `scales[j]`; the constant is the root of their mean
    /// squared norm.
    pub(super) fn new(design: &Design, scales: Option<&[f64]>) -> Self {
        let n = design.n_rows();
        let scale = |j: usize| scales.map_or(1.0, |scales| scales[j]);
        let used = (0..design.n_columns()).filter(|&j| scale(j) != 0.0);
        let (sparse, order): (Vec<usize>, Vec<usize>) = used.partition(|&j| design.sparse(j).is_some());
        let n_dense = order.len();
        let mut dense = vec![0.0; n * n_dense];
        let mut column = vec![0.0; n];
        for (at, &j) in order.iter().enumerate() {
            design.column(j, &mut column);
            for (i, value) in column.iter().enumerate() {
                dense[i * n_dense + at] = scale(j) * value;
            }
        }
        let mut entries: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for (at, &j) in sparse.iter().enumerate() {
            let (rows, values) = design.sparse(j).unwrap_or_default();
            for (&i, value) in rows.iter().zip(values) {
                entries[i].push((n_dense + at, scale(j) * value));
            }
        }
        let mut offsets = vec![0];
        offsets.extend(entries.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let (places, values) = entries.into_iter().flatten().unzip();
        let mut samples = Self {
            n,
            order: [order, sparse].concat(),
            n_dense,
            dense,
            offsets,
            places,
            values,
            constant: 0.0,
            squared_norms: Vec::new(),
        };
        let norm = |i: usize| {
            let (row, (_, values)) = (samples.dense_row(i), samples.sparse_row(i));
            dot(row, row) + dot(values, values)
        };
        let norms: Vec<f64> = (0..n).map(norm).collect();
        let mean = norms.iter().sum::<f64>() / n as f64;
        samples.constant = if mean > 0.0 { mean.sqrt() } else { 1.0 };
        samples.squared_norms = norms.iter().map(|norm| norm + samples.constant.powi(2)).collect();
        samples
    }

    /// The last feature's value.
    pub(super) fn constant(&self) -> f64 {
        self.constant
    }

    /// Weights in the order used here as weights of the design's columns.
    pub(super) fn columns(&self, w: &[f64], n_columns: usize) -> Vec<f64> {
        let mut weights = vec![0.0; n_columns];
        for (&j, &w) in self.order.iter().zip(w) {
            weights[j] = w;
        }
        weights
    }

    fn dense_row(&self, i: usize) -> &[f64] {
        &self.dense[i * self.n_dense..(i + 1) * self.n_dense]
    }

    fn sparse_row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.places[range.clone()], &self.values[range])
    }
}

impl SampleRows for Samples {
    fn n_samples(&self) -> usize {
        self.n
    }

    fn n_features(&self) -> usize {
        self.order.len() + 1
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.squared_norms[i]
    }

    fn product(&self, i: usize, w: &[f64]) -> f64 {
        let (places, values) = self.sparse_row(i);
        let sparse: f64 = places.iter().zip(values).map(|(&at, value)| value * w[at]).sum();
        dot(self.dense_row(i), &w[..self.n_dense]) + sparse + self.constant * w[self.order.len()]
    }

    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        for (w, value) in w.iter_mut().zip(self.dense_row(i)) {
            *w += factor * value;
        }
        let (places, values) = self.sparse_row(i);
        for (&at, value) in places.iter().zip(values) {
            w[at] += factor * value;
        }
        w[self.order.len()] += factor * self.constant;
    }
}
