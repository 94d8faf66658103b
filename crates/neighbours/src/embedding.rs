//! Samples placed by the eigenvectors of their graph.

use fewest_core::{Context, Error, derive_seed};
use fewest_linalg::{Krylov, largest_eigenpairs};
use nalgebra::{DMatrix, DVector};

use crate::NeighbourGraph;

/// Vectors beyond those wanted, and blocks in the Krylov space: graphs of clusters have many eigenvalues
/// close together.
const EXTRA: usize = 6;
const BLOCKS: usize = 12;

/// Residual of an eigenpair of a matrix of norm 1, and the largest that is an answer.
const TOLERANCE: f64 = 1e-12;
const WORST: f64 = 1e-8;

/// Clusters looked for by the gap between eigenvalues, at most.
const MOST_CLUSTERS: usize = 15;

/// The spectral embedding of the samples of a graph (Shi and Malik 2000; Belkin and Niyogi 2001; Eq. 63
/// and 64 of Li et al. 2016): the vectors that change least along the edges,
///
/// ```text
/// L e = λ D e,   eᵀ D e = 1,   L = D − S,   0 = λ₀ ≤ λ₁ ≤ λ₂ ≤ …
/// ```
///
/// without the constant one, of `λ₀`. Of a graph in several parts, as many eigenvalues less one are zero.
///
/// ```
/// use fewest_core::Context;
/// use fewest_neighbours::{
///     Coordinate, DistanceMetric, Distances, NeighbourGraph, Rule, SpectralEmbedding, Weights, nearest,
/// };
///
/// // Two groups of samples that no edge joins.
/// let values: Vec<f64> = (0..12).map(|i| f64::from(i) + if i < 6 { 0.0 } else { 100.0 }).collect();
/// let fill = |_, out: &mut [f64]| {
///     out.copy_from_slice(&values);
///     Ok(())
/// };
/// let (metric, context) = (DistanceMetric::SquaredEuclidean, Context::default());
/// let distances = Distances::new(metric, 12, &[Coordinate::Numeric], fill, &context)?;
/// let neighbours = nearest(&distances, 2, &context)?;
/// let graph = NeighbourGraph::new(&neighbours, Rule::Either, Weights::Binary)?;
/// let embedding = SpectralEmbedding::new(&graph, 1, &context)?;
/// assert!(embedding.eigenvalues[0].abs() < 1e-12);
/// let first = &embedding.vectors[0];
/// assert!((0..12).all(|i| (first[i] * first[0] > 0.0) == (i < 6)));
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralEmbedding {
    /// The eigenvectors, a value for each sample. The largest value of each, by size, is above 0.
    pub vectors: Vec<Vec<f64>>,
    /// Their eigenvalues, increasing, between 0 and 2.
    pub eigenvalues: Vec<f64>,
    /// The largest residual `‖𝓛 v − λ v‖` of `v = D^½ e`, `𝓛 = D^−½ L D^−½`.
    pub residual: f64,
}

impl SpectralEmbedding {
    /// The first `k` vectors of `graph`; `k ≥ 1`, below the number of samples.
    ///
    /// Cost: `O(n k)` for each of the products with the graph, some hundreds of them for `k` eigenvalues
    /// close to others, and `O(n k²)` for each tenth.
    ///
    /// # Errors
    /// A `k` out of range; a sample without an edge of any weight, by its number; [`Error::Numerical`] where
    /// the eigenvectors are not found; [`Error::Stopped`] when `context` says so.
    pub fn new(graph: &NeighbourGraph, k: usize, context: &Context<'_>) -> Result<Self, Error> {
        let n = graph.n_samples();
        if k == 0 || k >= n {
            let expected = format!("at least 1 and below the number of samples, {n}");
            return Err(Error::parameter("clusters", k, expected));
        }
        if let Some(i) = graph.degrees().iter().position(|degree| degree.is_nan() || *degree <= 0.0) {
            return Err(Error::Numerical {
                what: "the neighbour graph",
                hint: format!(
                    "every edge of sample {i} has weight 0, so it has no place among the others: take a larger \
                     t, or weights=binary"
                ),
            });
        }
        let roots: Vec<f64> = graph.degrees().iter().map(|degree| degree.sqrt()).collect();
        // The constant vector: known, and left out.
        let constant = DVector::from_column_slice(&roots).normalize();
        let uniform = |at: usize| derive_seed(0, at as u64) as f64 / u64::MAX as f64 - 0.5;
        let start = DMatrix::from_fn(n, (k + EXTRA).min(n - 1), |i, j| uniform(i + j * n));
        let product = |v: &DMatrix<f64>| {
            context.go_on("the eigenvectors of the graph were known")?;
            Ok::<_, Error>(graph.normalised_product(v))
        };
        let apart = std::slice::from_ref(&constant);
        let found = largest_eigenpairs(start, k, apart, Krylov::new(BLOCKS, TOLERANCE), product)?;
        let enough = |found: &fewest_linalg::Eigenpairs| found.residual <= WORST && found.values.len() == k;
        let Some(found) = found.filter(enough) else {
            return Err(Error::Numerical {
                what: "the eigenvectors of the graph",
                hint: "take more neighbours or fewer clusters".to_owned(),
            });
        };
        let vector = |column: &[f64]| {
            let largest = column.iter().fold(0.0_f64, |most, v| if v.abs() > most.abs() { *v } else { most });
            let sign = largest.signum();
            column.iter().zip(&roots).map(|(value, root)| sign * value / root).collect()
        };
        let vectors = found.vectors.as_slice().chunks_exact(n).map(vector).collect();
        let eigenvalues = found.values.iter().map(|value| (1.0 - value).max(0.0)).collect();
        Ok(Self { vectors, eigenvalues, residual: found.residual })
    }

    /// The first `k` vectors, or, without `k`, as many as there are clusters by the largest gap: between 2
    /// and 15 clusters `c`, that where `λ_c − λ_{c−1}` is largest.
    ///
    /// # Errors
    /// Those of [`SpectralEmbedding::new`].
    pub fn of_clusters(
        graph: &NeighbourGraph,
        clusters: Option<usize>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        if let Some(k) = clusters {
            return Self::new(graph, k, context);
        }
        let most = MOST_CLUSTERS.min(graph.n_samples().saturating_sub(1)).max(1);
        let mut embedding = Self::new(graph, most, context)?;
        let mut best = (0.0, most.min(2));
        for (c, pair) in (2..).zip(embedding.eigenvalues.windows(2)) {
            let gap = pair[1] - pair[0];
            if gap > best.0 {
                best = (gap, c);
            }
        }
        embedding.vectors.truncate(best.1);
        embedding.eigenvalues.truncate(best.1);
        Ok(embedding)
    }

    /// Number of vectors.
    pub fn n_vectors(&self) -> usize {
        self.vectors.len()
    }
}
