//! Non-negative indicators of clusters.

use fewest_linalg::symmetric_eigen;
use fewest_neighbours::{NeighbourGraph, SpectralEmbedding};
use nalgebra::DMatrix;

/// Steps along projected gradients, at most.
const MOST_STEPS: usize = 500;

/// Step lengths, in units of the inverse of the largest curvature.
const LONGEST: f64 = 1e6;

/// What of a value is rounding: where values are flat, gradients still tell the way.
const ROUNDING: f64 = 1e-15;

/// Share of what the gradient promises that a step must bring.
const SUFFICIENT: f64 = 1e-4;

/// The indicators' half of the problem: `tr(Gᵀ M G) + β ‖F − G‖² + γ/2 ‖Gᵀ G − I‖²` over `G ≥ 0`.
pub(crate) struct Indicators<'a> {
    /// `M G`: of the normalised Laplacian of a graph, or what else is positive semidefinite.
    pub(crate) product: &'a dyn Fn(&DMatrix<f64>) -> DMatrix<f64>,
    /// No eigenvalue of `M` is larger.
    pub(crate) curvature: f64,
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    /// `F = X W`.
    pub(crate) fitted: DMatrix<f64>,
    /// Asked before every step.
    pub(crate) is_stopped: &'a dyn Fn() -> bool,
}

impl Indicators<'_> {
    /// `Gᵀ G − I`.
    pub(crate) fn apart(g: &DMatrix<f64>) -> DMatrix<f64> {
        g.tr_mul(g) - DMatrix::identity(g.ncols(), g.ncols())
    }

    /// `tr(Gᵀ M G) + γ/2 ‖Gᵀ G − I‖²`.
    pub(super) fn without_regression(&self, g: &DMatrix<f64>) -> f64 {
        g.dot(&(self.product)(g)) + 0.5 * self.gamma * Self::apart(g).norm_squared()
    }

    /// The gradient by its parts: of `M`, the regression and the orthogonality.
    fn gradients(&self, g: &DMatrix<f64>) -> [DMatrix<f64>; 3] {
        let of_graph = (self.product)(g) * 2.0;
        let of_regression = (g - &self.fitted) * (2.0 * self.beta);
        [of_graph, of_regression, g * Self::apart(g) * (2.0 * self.gamma)]
    }

    fn value_and_gradient(&self, g: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
        let [of_graph, of_regression, of_length] = self.gradients(g);
        let regression = self.beta * (g - &self.fitted).norm_squared();
        let value = 0.5 * g.dot(&of_graph) + regression + 0.5 * self.gamma * Self::apart(g).norm_squared();
        (value, of_graph + of_regression + of_length)
    }

    /// The projected gradient, relative to the parts of the gradient.
    pub(super) fn stationarity(&self, g: &DMatrix<f64>) -> f64 {
        let [a, b, c] = self.gradients(g);
        let size = a.norm() + b.norm();
        let projected = projected(g, &(a + b + c)).norm();
        if size > 0.0 { projected / size } else { projected }
    }

    /// Steps along projected gradients of the length of Barzilai and Borwein, none of which lets the value
    /// rise (Birgin, Martínez and Raydan 2000), until the stationarity is at most `tolerance`.
    pub(crate) fn descend(&self, start: &DMatrix<f64>, tolerance: f64) -> DMatrix<f64> {
        let mut g = start.clone();
        let (mut value, mut gradient) = self.value_and_gradient(&g);
        let shortest = 1.0 / (2.0 * (self.curvature + self.beta + 4.0 * self.gamma));
        let mut length = shortest;
        let parts = self.gradients(&g);
        let size = (parts[0].norm() + parts[1].norm()).max(f64::MIN_POSITIVE);
        for _ in 0..MOST_STEPS {
            if projected(&g, &gradient).norm() <= tolerance * size || (self.is_stopped)() {
                break;
            }
            let next = (&g - &gradient * length).map(|entry| entry.max(0.0));
            let direction = next - &g;
            let slope = gradient.dot(&direction);
            let mut share = 1.0;
            let found = loop {
                let candidate = &g + &direction * share;
                let (next_value, next_gradient) = self.value_and_gradient(&candidate);
                if next_value <= value + SUFFICIENT * share * slope + ROUNDING * value {
                    break Some((candidate, next_value, next_gradient));
                }
                share *= 0.5;
                if share < 1e-12 {
                    break None;
                }
            };
            // Rounding allows no further step.
            let Some((candidate, next_value, next_gradient)) = found else { break };
            let moved = &candidate - &g;
            let bent = moved.dot(&(&next_gradient - &gradient));
            length = if bent > 0.0 { moved.norm_squared() / bent } else { LONGEST * shortest };
            length = length.clamp(1e-3 * shortest, LONGEST * shortest);
            (g, value, gradient) = (candidate, next_value, next_gradient);
        }
        g
    }
}

/// The gradient where an entry is above zero, and else what of it leads up.
pub(crate) fn projected(g: &DMatrix<f64>, gradient: &DMatrix<f64>) -> DMatrix<f64> {
    g.zip_map(gradient, |entry, slope| if entry > 0.0 { slope } else { slope.min(0.0) })
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
    let far_apart = rows.select_columns(&pivots(rows.clone()));
    let rotation = nearest_rotation(&far_apart);
    let rotated = rotation.tr_mul(&rows);
    let nearest = |i: usize| {
        let column = rotated.column(i);
        (0..c).fold(0, |best, k| if column[k].abs() > column[best].abs() { k } else { best })
    };
    let cluster: Vec<usize> = (0..n).map(nearest).collect();
    let mut sizes = vec![0_usize; c];
    cluster.iter().for_each(|&k| sizes[k] += 1);
    DMatrix::from_fn(n, c, |i, k| if cluster[i] == k { (sizes[k] as f64).sqrt().recip() } else { 0.0 })
}

/// As many columns as there are rows, each the farthest from the span of those before.
fn pivots(mut rest: DMatrix<f64>) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(rest.nrows());
    for _ in 0..rest.nrows() {
        let length = |j: usize| rest.column(j).norm_squared();
        let best = (0..rest.ncols()).fold(0, |best, j| if length(j) > length(best) { j } else { best });
        chosen.push(best);
        let direction = rest.column(best).into_owned();
        let square = direction.norm_squared();
        if square > 0.0 {
            for mut column in rest.column_iter_mut() {
                let along = direction.dot(&column) / square;
                column.axpy(-along, &direction, 1.0);
            }
        }
    }
    chosen
}

/// The orthogonal factor of the polar decomposition; the identity where there is none.
fn nearest_rotation(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let c = matrix.nrows();
    match symmetric_eigen(matrix.tr_mul(matrix)) {
        Some(found) if found.eigenvalues.iter().all(|value| *value > 0.0) => {
            let inverse = found.eigenvalues.map(|value| value.sqrt().recip());
            matrix * &found.eigenvectors * DMatrix::from_diagonal(&inverse) * found.eigenvectors.transpose()
        }
        _ => DMatrix::identity(c, c),
    }
}
