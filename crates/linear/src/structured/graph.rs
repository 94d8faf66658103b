//! Where a graph of features comes from.

use fewest_core::{Context, Dataset, Error, choice, options};
use fewest_solver::{InnerProducts, SignedEdge};

use super::Fitting;
use super::correlation;
use crate::columns::LinearColumns;

choice! {
    /// Where the graph comes from.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum FeatureGraph {
        /// An edge of weight 1 between features whose absolute correlation is above a threshold.
        Correlation {
            /// Absolute correlation above which two features are joined by an edge.
            threshold: f64 = 0.5, ProperFraction;
        } = "correlation",
        /// The links between features given with the data, with their weights; without any, no edges.
        Given = "given",
    }
}

options! {
    /// What the methods on a graph of features share.
    #[derive(Debug, Clone)]
    pub struct OnGraph {
        /// Share of the l1 norm in the penalty; 1 is the lasso.
        pub l1_ratio: f64 = 0.5, Fraction;
        /// Where the graph comes from.
        pub graph: FeatureGraph = FeatureGraph::default();
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

impl FeatureGraph {
    /// The edges, each once, with the sign of the correlation of its ends (`+` where it is 0). Constant
    /// features have none.
    pub(super) fn edges(
        self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Vec<SignedEdge>, Error> {
        refuse_levels(columns, method)?;
        let Self::Correlation { threshold } = self else { return given(data, columns) };
        let edges = correlation::edges(columns, threshold, context)?;
        Ok(edges
            .into_iter()
            .map(|(a, b, r)| SignedEdge { ends: (a, b), weight: 1.0, opposite: r < 0.0 })
            .collect())
    }
}

/// Refuses categories of more than two levels, whose columns have no place in an order or a graph of
/// features.
pub(super) fn refuse_levels(columns: &LinearColumns<'_>, method: &'static str) -> Result<(), Error> {
    match (0..columns.n_atoms()).find(|&column| columns.is_level(column)) {
        Some(column) => Err(Error::Unsupported {
            method,
            what: format!("feature {}, a category of more than two levels", columns.feature(column)),
            instead: "leave it out, or replace it by a column for each level".to_owned(),
        }),
        None => Ok(()),
    }
}

fn given(data: &Dataset, columns: &LinearColumns<'_>) -> Result<Vec<SignedEdge>, Error> {
    let Some(graph) = data.feature_graph() else { return Ok(Vec::new()) };
    let varies = |j: usize| columns.squared_norms()[j] > 0.0;
    let mut edges = Vec::new();
    for a in (0..graph.n_nodes()).filter(|&a| varies(a)) {
        let later: Vec<(usize, f64)> = graph
            .neighbours(a)
            .iter()
            .zip(graph.weights(a))
            .map(|(&b, &weight)| (b as usize, weight))
            .filter(|&(b, _)| b > a && varies(b))
            .collect();
        let ends: Vec<usize> = later.iter().map(|(b, _)| *b).collect();
        let mut products = vec![0.0; ends.len()];
        columns.products(&ends, &[a], &mut products)?;
        edges.extend(later.into_iter().zip(products).map(|((b, weight), r)| SignedEdge {
            ends: (a, b),
            weight,
            opposite: r < 0.0,
        }));
    }
    Ok(edges)
}
