//! Features on the neighbour graph.

use fewest_columns::parts;
use fewest_core::{Column, FeatureKind};
use fewest_neighbours::NeighbourGraph;

use super::feature::{is_constant, unit};
use super::scatter::Scatter;

/// A feature's weighted variance over the graph, `f̃ᵀ D f̃`, as what lies between, and its change along the
/// edges, `fᵀ L f`, as what lies within; zero for a constant one.
pub(super) fn along_edges(graph: &NeighbourGraph, column: Column<'_>, kind: &FeatureKind) -> Scatter {
    let mut sum = Scatter::ZERO;
    for mut f in parts(column.to_vec(graph.n_samples()), kind) {
        if is_constant(&f) {
            continue;
        }
        let unit = unit(&f);
        if unit != 1.0 {
            f.iter_mut().for_each(|value| *value /= unit);
        }
        sum.between += graph.spread(&f);
        sum.within += graph.roughness(&f);
        // The indicators of a categorical feature all have the unit 1.
        sum.unit = unit;
    }
    sum
}
