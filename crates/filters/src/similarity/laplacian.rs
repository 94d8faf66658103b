//! Laplacian score.

use fewest_core::{Context, Dataset, Error, Scorer, Scores, options};
use fewest_neighbours::GraphOptions;

use super::graph::along_edges;
use super::scatter::Scatter;
use fewest_columns::score_features;

options! {
    /// Laplacian score of each feature (He, Cai and Niyogi 2005; survey Eq. 2): how much a feature changes
    /// between neighbouring samples, in units of its variance,
    ///
    /// ```text
    /// score(k) = f̃ᵀ L f̃ / f̃ᵀ D f̃,   f̃ = f − (fᵀ D 1 / 1ᵀ D 1) 1,   L = D − S,   S_ij = exp(−d_ij² / t) on the edges
    /// ```
    ///
    /// In `[0, 2]`, smaller is better: a feature that follows the shape of the data changes little along the
    /// edges. Infinite for a feature that is constant (over the samples with an edge of some weight). The
    /// target is not used.
    ///
    /// Cost: `O(n² d)` for the neighbours, then `O(n k)` a feature; memory: `O(n k)`, and `n² / 2` distances
    /// where there are at least half as many features as samples, otherwise a copy of the data, which cosine
    /// weights make in any case.
    ///
    /// # Errors
    /// Fewer than two samples, `neighbours = 0`, a scale that is not above 0, or one so small that every
    /// weight is 0.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::similarity::{GraphOptions, LaplacianScore};
    ///
    /// // Three features place the samples in two groups; the last one is noise.
    /// let group: Vec<f64> = (0..12).map(|i| f64::from(i / 6) * 5.0 + f64::from(i % 6) * 0.1).collect();
    /// let noise: Vec<f64> = (0..12).map(|i| f64::from(i * 7 % 12)).collect();
    /// let x = DenseColumns::from_columns(&[group.clone(), group.clone(), group, noise])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let graph = GraphOptions { neighbours: 3, ..GraphOptions::default() };
    /// let scores = LaplacianScore { graph }.score(&data, &Context::default())?;
    /// assert!(scores.values[0] < 0.1 * scores.values[3]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy)]
    pub struct LaplacianScore {
        /// The graph.
        pub graph: GraphOptions = GraphOptions::default();
    }
}

impl Scorer for LaplacianScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("laplacian")?;
        let graph = self.graph.build(data, context)?;
        let (values, status) = score_features(data, context, "laplacian", f64::NAN, |j, column| {
            let Scatter { between, within, .. } = along_edges(&graph, column, data.feature_kind(j));
            Ok(if between > 0.0 { within / between } else { f64::INFINITY })
        })?;
        Ok(Scores::ascending(values).with_status(status))
    }
}
