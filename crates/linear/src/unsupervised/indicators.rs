//! Non-negative indicators of clusters.

use fewest_neighbours::{NeighbourGraph, SpectralEmbedding};
use nalgebra::DMatrix;

use crate::alternation::{Factors, rotation_to_axes};

/// The largest eigenvalue of a normalised Laplacian, at most.
pub(crate) const LARGEST_EIGENVALUE: f64 = 2.0;

/// `tr(Gᵀ M G) + γ/2 ‖Gᵀ G − I‖²`.
pub(crate) struct Indicators<P> {
    /// `M G`: of the normalised Laplacian of a graph, or what else is positive semidefinite.
    pub(crate) product: P,
    /// About the largest eigenvalue of `M`.
    pub(crate) largest: f64,
    pub(crate) gamma: f64,
}

/// `𝓛 G` of the normalised Laplacian.
pub(crate) fn laplacian(graph: &NeighbourGraph, g: &DMatrix<f64>) -> DMatrix<f64> {
    g - graph.normalised_product(g)
}

/// `γ/2 ‖Gᵀ G − I‖²` of the products `Gᵀ G`, and the matrix by which `G` is multiplied for its gradient.
pub(crate) fn orthogonality(gamma: f64, products: DMatrix<f64>) -> (f64, DMatrix<f64>) {
    let apart = &products - DMatrix::identity(products.nrows(), products.ncols());
    (0.5 * gamma * apart.norm_squared(), apart * (2.0 * gamma))
}

impl<P: Fn(&DMatrix<f64>) -> DMatrix<f64>> Factors for Indicators<P> {
    fn quadratic(&self, g: &DMatrix<f64>) -> DMatrix<f64> {
        (self.product)(g) * 2.0
    }

    fn of_products(&self, products: DMatrix<f64>) -> (f64, DMatrix<f64>) {
        orthogonality(self.gamma, products)
    }

    fn curvature(&self) -> f64 {
        2.0 * self.largest + 8.0 * self.gamma
    }
}

/// Indicators of clusters, orthonormal columns, from the vectors of a graph: `c` samples far apart in the
/// space of the lowest eigenvectors, the rotation that takes them nearest to axes, and for each sample the
/// axis it is nearest to.
pub(crate) fn from_embedding(graph: &NeighbourGraph, embedding: &SpectralEmbedding) -> DMatrix<f64> {
    let (n, c) = (graph.n_samples(), embedding.n_vectors());
    let total: f64 = graph.degrees().iter().sum();
    let rows = DMatrix::from_fn(c, n, |k, i| {
        let root = graph.degrees()[i].sqrt();
        if k == 0 { root / total.sqrt() } else { root * embedding.vectors[k - 1][i] }
    });
    let rotated = rotation_to_axes(&rows).tr_mul(&rows);
    let nearest = |i: usize| {
        let column = rotated.column(i);
        (0..c).fold(0, |best, k| if column[k].abs() > column[best].abs() { k } else { best })
    };
    let cluster: Vec<usize> = (0..n).map(nearest).collect();
    let mut sizes = vec![0_usize; c];
    cluster.iter().for_each(|&k| sizes[k] += 1);
    DMatrix::from_fn(n, c, |i, k| if cluster[i] == k { (sizes[k] as f64).sqrt().recip() } else { 0.0 })
}
