//! Graph lasso and graph-guided fused lasso.

use fewest_core::{Context, Dataset, Error, options};
use fewest_solver::{GraphFusedLasso, InnerProducts, L1, SignedEdge};

use super::engine::{Structured, structured_selector};
use super::structure::Structure;
use super::{Fitting, OnGraph};
use crate::columns::LinearColumns;

options! {
    /// Graph lasso (Li and Li 2008; Eq. 91 and 92 of the survey): features joined by an edge get similar
    /// coefficients.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_edges aᵢⱼ (wᵢ − wⱼ)² ]
    /// ```
    ///
    /// Every edge counts once: Eq. 91 as printed is twice Eq. 92. Where features are correlated negatively,
    /// [`GfLasso`] with `power` 2 is the better choice. `λ_max`, of which `lambda_ratio` is a share, is that
    /// of the l1 norm: squared differences do not hold a coefficient at zero.
    ///
    /// Data, scores and the meaning of a number of features are those of [`GroupLasso`](crate::GroupLasso).
    /// A constant feature has no edges.
    ///
    /// Cost: as of the lasso; finding edges by correlation `n d²/2`.
    ///
    /// # Errors
    /// As of the lasso; a category of more than two levels; no links where they are asked for.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::GraphLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let near: Vec<f64> = wave(1).iter().zip(wave(23)).map(|(a, c)| a + 0.1 * c).collect();
    /// let target = wave(1);
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), near])?, Target::real(target)?)?;
    /// let selection = GraphLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct GraphLasso {
        /// The graph and the penalty's strength.
        pub on_graph: OnGraph = OnGraph::default();
    }
}

options! {
    /// Graph-guided fused lasso (Kim and Xing 2009; Eq. 93 of the survey): features joined by an edge get the
    /// same coefficient, up to the sign of their correlation.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_edges aᵢⱼ |wᵢ − sᵢⱼ wⱼ|^power ]
    /// ```
    ///
    /// with `sᵢⱼ` the sign of the correlation of features `i` and `j`. With `power` 1, as of Kim and Xing,
    /// coefficients are equal to the last bit; with 2, as printed in the survey, they are only close. The
    /// prox of the penalty is exact, by minimum cuts.
    ///
    /// Data, scores, errors and the meaning of a number of features are those of [`GraphLasso`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::GfLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let near: Vec<f64> = wave(1).iter().zip(wave(23)).map(|(a, c)| 0.2 * c - a).collect();
    /// let target = wave(1);
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), near])?, Target::real(target)?)?;
    /// let selection = GfLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert_eq!(selection.scores[0], -selection.scores[1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct GfLasso {
        /// Power of the differences: 1, or 2 as printed in the survey.
        pub power: usize = 1, Between(1, 2);
        /// The graph and the penalty's strength.
        pub on_graph: OnGraph = OnGraph::default();
    }
}

/// The l1 norm and squared differences.
fn squared(edges: Vec<SignedEdge>, n: usize, l1_ratio: f64) -> Structure {
    Structure::by_blocks(move |lambda| L1::new(l1_ratio * lambda, n)).linked(1.0 - l1_ratio, edges)
}

impl Structured for GraphLasso {
    const ID: &'static str = "graph-lasso";

    fn fitting(&self) -> &Fitting {
        &self.on_graph.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let mut edges = self.on_graph.graph.edges(data, columns, Self::ID, context)?;
        edges.iter_mut().for_each(|edge| edge.opposite = false);
        Ok(squared(edges, columns.n_atoms(), self.on_graph.l1_ratio))
    }
}

impl Structured for GfLasso {
    const ID: &'static str = "gflasso";

    fn fitting(&self) -> &Fitting {
        &self.on_graph.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let edges = self.on_graph.graph.edges(data, columns, Self::ID, context)?;
        let (n, l1_ratio) = (columns.n_atoms(), self.on_graph.l1_ratio);
        if self.power == 2 {
            return Ok(squared(edges, n, l1_ratio));
        }
        Ok(Structure::coupled(move |lambda| {
            let scaled =
                |edge: &SignedEdge| SignedEdge { weight: (1.0 - l1_ratio) * lambda * edge.weight, ..*edge };
            GraphFusedLasso::new(l1_ratio * lambda, n, &edges.iter().map(scaled).collect::<Vec<_>>())
        }))
    }
}

structured_selector!(GraphLasso);
structured_selector!(GfLasso);
