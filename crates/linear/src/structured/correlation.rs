//! Correlations between columns that are above a threshold.

use fewest_core::{Context, Error};
use fewest_solver::InnerProducts;

use crate::columns::LinearColumns;

/// Columns multiplied with as many others at a time.
const PANEL: usize = 1024;

/// Two columns with their correlation.
pub(super) type Edge = (usize, usize, f64);

/// The pairs of columns `i < j` with an absolute correlation above `threshold`, in order.
///
/// Cost: `n d²/2` multiplications.
pub(super) fn edges(
    columns: &LinearColumns<'_>,
    threshold: f64,
    context: &Context<'_>,
) -> Result<Vec<Edge>, Error> {
    let all: Vec<usize> = (0..columns.n_atoms()).collect();
    let mut edges = Vec::new();
    let mut products = Vec::new();
    for (at, left) in all.chunks(PANEL).enumerate() {
        for right in all[at * PANEL..].chunks(PANEL) {
            context.go_on("the correlations of the features were known")?;
            products.clear();
            products.resize(left.len() * right.len(), 0.0);
            columns.products(left, right, &mut products)?;
            for (&j, products) in right.iter().zip(products.chunks_exact(left.len())) {
                let is_edge = |(i, r): &(usize, f64)| *i < j && r.abs() > threshold;
                let of_column = left.iter().copied().zip(products.iter().copied()).filter(is_edge);
                edges.extend(of_column.map(|(i, r)| (i, j, r)));
            }
        }
    }
    edges.sort_unstable_by_key(|&(i, j, _)| (i, j));
    Ok(edges)
}

/// The connected component of each of `n_features` features, by its first feature.
pub(super) fn components(n_features: usize, columns: &LinearColumns<'_>, edges: &[Edge]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..n_features).collect();
    let find = |first: &mut Vec<usize>, mut j: usize| {
        while first[j] != j {
            first[j] = first[first[j]];
            j = first[j];
        }
        j
    };
    for &(i, j, _) in edges {
        let (a, b) = (find(&mut first, columns.feature(i)), find(&mut first, columns.feature(j)));
        first[a.max(b)] = a.min(b);
    }
    (0..n_features).map(|j| find(&mut first, j)).collect()
}
