//! The centred kernel of a variable as features of its nodes.

use fewest_core::Error;
use fewest_kernels::{Factor, Gaussian};
use fewest_linalg::symmetric_eigen;
use nalgebra::DMatrix;

use crate::arriving::{Axis, entry_error};
use crate::atoms::Measure;

/// What may be left of the trace of a kernel on nodes.
const FACTOR_TOLERANCE: f64 = 1e-13;

/// The kernel of a variable between its nodes.
pub(super) enum Kernel<'a> {
    /// One of these numbers for two samples at one node, else 0.
    Levels(&'a [f64]),
    /// The Gaussian, of nodes so many widths from each other.
    Gaussian(f64),
}

/// `φ(x)` for each node of a variable: `⟨φ(x), φ(x′)⟩` is the centred kernel, or what a [`Measure`] makes
/// of its Gram matrix, for values that are shared among nodes.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    pub(super) axis: Axis,
    /// Number of features; 0 of a variable that does not vary.
    pub(super) rank: usize,
    /// Node after node, all features of each.
    values: Vec<f64>,
    /// The Frobenius norm of the matrix, and how far it may be from that of the samples, as a share of it.
    pub(super) norm: f64,
    pub(super) error: f64,
}

impl Nodes {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.values[..])
    }

    /// From the counts of the samples at the nodes. What is left of the matrix is at most a share
    /// `tolerance` of its norm.
    ///
    /// With a factor `F` of the kernel between nodes, less its mean over the samples, and the eigenvectors of
    /// `Fᵀ diag(counts) F = U diag(μ) Uᵀ`, the columns of `F U` are orthogonal over the samples: those of the
    /// largest `μ` are kept.
    pub(super) fn new(
        axis: &Axis,
        kernel: &Kernel<'_>,
        counts: &[f64],
        measure: Measure,
        tolerance: f64,
    ) -> Result<Self, Error> {
        let (n_nodes, n) = (counts.len(), counts.iter().sum::<f64>());
        let (mut factor, entry) = match kernel {
            Kernel::Levels(weights) => {
                let occurring: Vec<usize> =
                    (0..n_nodes).filter(|&node| counts[node] > 0.0 && weights[node] > 0.0).collect();
                let mut factor = DMatrix::zeros(n_nodes, occurring.len());
                for (column, node) in occurring.into_iter().enumerate() {
                    factor[(node, column)] = weights[node].sqrt();
                }
                (factor, 0.0)
            }
            Kernel::Gaussian(spacing) => {
                let nodes: Vec<f64> = (0..n_nodes).map(|node| node as f64 * spacing).collect();
                let factor = Factor::new(&Gaussian::new(1.0)?, &nodes, FACTOR_TOLERANCE, n_nodes)?;
                let matrix = DMatrix::from_column_slice(n_nodes, factor.rank(), factor.values());
                (matrix, entry_error(*spacing))
            }
        };
        if factor.ncols() < 1 {
            return Ok(Self { axis: axis.clone(), rank: 0, values: Vec::new(), norm: 0.0, error: 0.0 });
        }
        for mut column in factor.column_iter_mut() {
            let mean = column.iter().zip(counts).map(|(value, count)| value * count).sum::<f64>() / n;
            column.iter_mut().for_each(|value| *value -= mean);
        }
        let mut weighted = factor.clone();
        for mut column in weighted.column_iter_mut() {
            column.iter_mut().zip(counts).for_each(|(value, count)| *value *= count);
        }
        let eigen = symmetric_eigen(factor.tr_mul(&weighted)).ok_or_else(|| Error::Numerical {
            what: "the eigenvalues of a kernel on nodes",
            hint: "some values may be too far from the others: take a transformation, such as the logarithm"
                .to_owned(),
        })?;
        // Rounding, and shares below 0 at the ends, may leave eigenvalues below 0.
        let values: Vec<f64> = eigen.eigenvalues.iter().map(|value| value.max(0.0)).collect();
        let order = fewest_core::rank(&values, true);
        let ridge = match measure {
            Measure::Hsic => None,
            Measure::Nocco { epsilon } => Some(epsilon * n),
        };
        let made = |value: f64| ridge.map_or(value, |ridge| value / (value + ridge));
        let squares: Vec<f64> = order.iter().map(|&at| made(values[at]).powi(2)).collect();
        let whole: f64 = squares.iter().sum();
        let limit = tolerance * tolerance * whole;
        let mut left_out = 0.0;
        let small = squares.iter().rev().take_while(|square| {
            left_out += **square;
            left_out <= limit
        });
        let rank = squares.len() - small.count();
        let mut features = vec![0.0; n_nodes * rank];
        for (column, &at) in order.iter().take(rank).enumerate() {
            let scale = ridge.map_or(1.0, |ridge| (values[at] + ridge).sqrt().recip());
            let feature = &factor * eigen.eigenvectors.column(at);
            for (node, value) in feature.iter().enumerate() {
                features[node * rank + column] = value * scale;
            }
        }
        let norm = squares.iter().take(rank).sum::<f64>().sqrt();
        // The norm of a matrix of n² entries is at most n times the largest; a ridge divides by no less.
        let entries = n * entry * ridge.map_or(1.0, f64::recip);
        let error = if norm > 0.0 { tolerance + entries / norm } else { 0.0 };
        Ok(Self { axis: axis.clone(), rank, values: features, norm, error })
    }

    /// Writes the features of values, one after the other.
    ///
    /// # Errors
    /// [`Error::Unreadable`], about column `j`, for a value outside the nodes.
    pub(super) fn write(&self, j: usize, values: &[f64], out: &mut [f64]) -> Result<(), Error> {
        /// Values whose features are gathered before they are written column by column.
        const AT_ONCE: usize = 64;
        let rank = self.rank;
        let n = values.len();
        let mut gathered = vec![0.0; rank * AT_ONCE];
        for (first, values) in values.chunks(AT_ONCE).enumerate().map(|(at, values)| (at * AT_ONCE, values)) {
            for (value, features) in values.iter().zip(gathered.chunks_exact_mut(rank.max(1))) {
                if !self.axis.has_seen(*value) {
                    return Err(Error::unreadable(j, "the stream has other rows than in an earlier pass"));
                }
                let place = self.axis.place(*value);
                features.fill(0.0);
                for (i, share) in place.shares().iter().enumerate() {
                    let node = &self.values[(place.first + i) * rank..][..rank];
                    features.iter_mut().zip(node).for_each(|(feature, value)| *feature += share * value);
                }
            }
            for (column, out) in out.chunks_exact_mut(n.max(1)).enumerate() {
                let own = gathered.iter().skip(column).step_by(rank.max(1));
                out[first..first + values.len()].iter_mut().zip(own).for_each(|(out, value)| *out = *value);
            }
        }
        Ok(())
    }

    /// `‖Φᵀ Ψ‖²_F` of the features `Φ` of this variable and `Ψ` of the target, for samples that count at
    /// nodes of both as `counts` says: node after node of this variable.
    pub(super) fn dependence(&self, target: &Self, counts: &[f64]) -> f64 {
        let (r, s) = (self.rank, target.rank);
        let width = counts.len() / (self.values.len() / r.max(1)).max(1);
        let mut products = vec![0.0; r * s];
        let mut of_target = vec![0.0; s];
        for (counts, features) in counts.chunks_exact(width.max(1)).zip(self.values.chunks_exact(r.max(1))) {
            of_target.fill(0.0);
            for (count, values) in counts.iter().zip(target.values.chunks_exact(s.max(1))) {
                of_target.iter_mut().zip(values).for_each(|(sum, value)| *sum += count * value);
            }
            for (products, value) in products.chunks_exact_mut(s.max(1)).zip(features) {
                products.iter_mut().zip(&of_target).for_each(|(sum, of_target)| *sum += value * of_target);
            }
        }
        products.iter().map(|product| product * product).sum()
    }
}
