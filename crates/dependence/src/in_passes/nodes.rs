//! The centred kernel of a variable as features of its nodes.

use fewest_core::Error;
use fewest_linalg::symmetric_eigen;
use nalgebra::DMatrix;

use super::MOST_ERROR;
use crate::arriving::{Axis, entry_error};
use crate::atoms::Measure;

/// What may be left of the trace of a Gram matrix by its factor; of one with a ridge, times that.
const FACTOR_TOLERANCE: f64 = 1e-10;

/// Columns of a factor, whose eigenvectors take the cube of that: kernels that are narrow beside the range of
/// the values have more.
const MOST_RANK: usize = 300;

/// By how much a norm and a matrix with a ridge may be further off than an entry tells: they are made of the
/// squares of what is interpolated.
const OF_NORM: f64 = 1.5;
const OF_RIDGE: f64 = 11.0;

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

/// `F` with `F Fᵀ` the Gaussian kernel of nodes so many widths from each other, by pivots: `weights` say how
/// much each counts, of whose trace at most this share is left out. `None` for more than [`MOST_RANK`]
/// columns.
fn gaussian_factor(spacing: f64, weights: &[f64], tolerance: f64) -> Option<DMatrix<f64>> {
    let n = weights.len();
    let kernel: Vec<f64> = (0..n).map(|i| (-0.5 * (i as f64 * spacing).powi(2)).exp()).collect();
    // Shares below 0 at the ends are of no sample.
    let weights: Vec<f64> = weights.iter().map(|weight| weight.max(0.0)).collect();
    let limit = tolerance * weights.iter().sum::<f64>();
    let mut left = vec![1.0_f64; n];
    let mut columns: Vec<f64> = Vec::new();
    for rank in 0..=n {
        let each: Vec<f64> = weights.iter().zip(&left).map(|(weight, left)| weight * left.max(0.0)).collect();
        let pivot =
            each.iter().enumerate().fold(0, |best, (i, value)| if *value > each[best] { i } else { best });
        // What rounding leaves is no pivot.
        if each.iter().sum::<f64>() <= limit || left[pivot] <= f64::EPSILON {
            return Some(DMatrix::from_vec(n, rank, columns));
        }
        if rank == MOST_RANK {
            break;
        }
        let mut column: Vec<f64> = (0..n).map(|i| kernel[i.abs_diff(pivot)]).collect();
        for earlier in columns.chunks_exact(n) {
            let factor = earlier[pivot];
            column.iter_mut().zip(earlier).for_each(|(value, earlier)| *value -= factor * earlier);
        }
        let scale = left[pivot].sqrt().recip();
        for (value, left) in column.iter_mut().zip(&mut left) {
            *value *= scale;
            *left -= *value * *value;
        }
        left[pivot] = 0.0;
        columns.extend(column);
    }
    None
}

impl Nodes {
    /// What nodes do not tell.
    fn untold(axis: &Axis) -> Self {
        Self { axis: axis.clone(), rank: 0, values: Vec::new(), norm: 0.0, error: f64::INFINITY }
    }

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
                let ridge = if let Measure::Nocco { epsilon } = measure { epsilon.min(1.0) } else { 1.0 };
                let entry = entry_error(*spacing);
                let factor = (entry <= MOST_ERROR)
                    .then(|| gaussian_factor(*spacing, counts, FACTOR_TOLERANCE * ridge))
                    .flatten();
                let Some(factor) = factor else { return Ok(Self::untold(axis)) };
                (factor, entry)
            }
        };
        if factor.ncols() < 1 {
            return Ok(Self { error: 0.0, ..Self::untold(axis) });
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
        let entries = n * entry * ridge.map_or(OF_NORM, |ridge| OF_RIDGE / ridge);
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
