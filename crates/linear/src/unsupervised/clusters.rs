//! The number of clusters, and the graph that tells it.

use fewest_core::{Context, Dataset, Error, options};
use fewest_neighbours::{GraphOptions, SpectralEmbedding};

/// Eigenvalues closer than this belong to vectors that could as well be rotated.
const SAME: f64 = 1e-6;

options! {
    /// The graph of the samples and the number of its clusters.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Clusters {
        /// The graph.
        pub graph: GraphOptions = GraphOptions::default();
        /// Number of clusters; without, from 2 to 15, that with the largest gap between eigenvalues of the
        /// graph.
        pub clusters: Option<usize> = None, Count(1);
    }
}

impl Clusters {
    /// What is to be said of the vectors of the clusters.
    pub(crate) fn notes(&self, embedding: &SpectralEmbedding) -> Vec<String> {
        let mut notes = Vec::new();
        if self.clusters.is_none() {
            notes.push(found(embedding.n_vectors()));
        }
        if embedding.eigenvalues.windows(2).any(|pair| pair[1] - pair[0] < SAME) {
            notes.push(
                "two eigenvalues of the graph agree to 1e-6: their vectors could be rotated, and scores with \
                 them"
                    .to_owned(),
            );
        }
        notes
    }
}

options! {
    /// The neighbourhoods of the samples and the number of clusters.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Neighbourhoods {
        /// Nearest neighbours of a sample that make its neighbourhood.
        pub neighbours: usize = 5, Count(1);
        /// Number of clusters; without, from 2 to 15, that with the largest gap between eigenvalues of the
        /// graph of the neighbours.
        pub clusters: Option<usize> = None, Count(1);
    }
}

impl Neighbourhoods {
    /// The number of clusters, no more than `most` where it is not given, and what is to be said of it.
    pub(super) fn number(
        &self,
        data: &Dataset,
        most: usize,
        context: &Context<'_>,
    ) -> Result<(usize, Vec<String>), Error> {
        if let Some(clusters) = self.clusters {
            return Ok((clusters, Vec::new()));
        }
        let graph = GraphOptions { neighbours: self.neighbours, ..GraphOptions::default() };
        let clusters =
            SpectralEmbedding::of_clusters(&graph.build(data, context)?, None, context)?.n_vectors();
        let clusters = clusters.min(most);
        Ok((clusters, vec![found(clusters)]))
    }
}

fn found(clusters: usize) -> String {
    format!("`clusters` was not given: it is {clusters}, by the largest gap between eigenvalues of the graph")
}
