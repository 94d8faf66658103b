//! Features joined by an edge get coefficients of the same size, without shrinking these.

use fewest_core::{Context, Dataset, Error, options};
use fewest_solver::{BlockPenalty, GraphFusedLasso, InnerProducts, SignedEdge, Tilted};

use super::OnGraph;
use super::engine::{Structured, structured_selector};
use super::majorised::Majorised;
use super::structure::{Family, Structure};
use crate::columns::LinearColumns;

options! {
    /// Non-convex feature grouping and selection (Yang and others 2012; Eq. 96 of the survey): features
    /// joined by an edge get coefficients of the same size.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_edges aᵢⱼ | |wᵢ| − |wⱼ| | ]
    /// ```
    ///
    /// Every edge counts once. [`Goscar`](crate::Goscar) penalises the larger of two sizes and so shrinks
    /// both; this penalty is zero wherever they are equal, and not convex. Since `| |a| − |b| | =
    /// 2 max(|a|, |b|) − |a| − |b|`, it is a difference of convex functions, and is minimised as one: the
    /// second part is replaced by its tangent at the present point, again and again, and the objective never
    /// rises. Runs start at the solutions of [`Goscar`](crate::Goscar) and of
    /// [`GfLasso`](crate::GfLasso) for the same `λ`; the lower end is the answer, a stationary point and not
    /// certainly the minimum. The certificate is the duality gap of the convex problem that belongs to the
    /// point, at the point itself.
    ///
    /// Data, scores, errors and the meaning of a number of features are those of
    /// [`GraphLasso`](crate::GraphLasso).
    ///
    /// Cost: some tens of solutions of [`Goscar`](crate::Goscar), each from the one before.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::NonconvexGrouping;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let near: Vec<f64> = wave(1).iter().zip(wave(23)).map(|(a, c)| 0.2 * c - a).collect();
    /// let target = wave(1);
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), near])?, Target::real(target)?)?;
    /// let selection = NonconvexGrouping::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert_eq!(selection.scores[0], -selection.scores[1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct NonconvexGrouping {
        /// The graph and the penalty's strength.
        pub on_graph: OnGraph = OnGraph::default();
    }
}

/// A graph with the parts of the penalty on it, for a strength of 1.
#[derive(Clone)]
struct Parts {
    edges: Vec<SignedEdge>,
    n: usize,
    l1: f64,
    pairs: f64,
}

impl Parts {
    /// `λ [l1 ‖w‖₁ + factor · pairs Σ a max(|wᵢ|, |wⱼ|)]`.
    fn of_maxima(&self, lambda: f64, factor: f64) -> Result<GraphFusedLasso, Error> {
        let half = 0.5 * factor * self.pairs * lambda;
        let both = |edge: &SignedEdge| {
            [false, true].map(|opposite| SignedEdge { opposite, weight: half * edge.weight, ..*edge })
        };
        GraphFusedLasso::new(self.l1 * lambda, self.n, &self.edges.iter().flat_map(both).collect::<Vec<_>>())
    }

    /// `λ [l1 ‖w‖₁ + pairs Σ a |wᵢ − s wⱼ|]` with the signs of the edges.
    fn of_differences(&self, lambda: f64) -> Result<GraphFusedLasso, Error> {
        let scaled = |edge: &SignedEdge| SignedEdge { weight: self.pairs * lambda * edge.weight, ..*edge };
        GraphFusedLasso::new(self.l1 * lambda, self.n, &self.edges.iter().map(scaled).collect::<Vec<_>>())
    }

    fn value(&self, lambda: f64, w: &[f64]) -> f64 {
        let of_edge = |edge: &SignedEdge| edge.weight * (w[edge.ends.0].abs() - w[edge.ends.1].abs()).abs();
        let pairs: f64 = self.edges.iter().map(of_edge).sum();
        lambda * (self.l1 * w.iter().map(|w| w.abs()).sum::<f64>() + self.pairs * pairs)
    }

    /// A tangent of `λ · pairs Σ a (|wᵢ| + |wⱼ|)` at `w`. Where a coefficient is zero it is that on the side
    /// to which the correlations `v` point: the other side is no way down either.
    fn slope(&self, lambda: f64, w: &[f64], v: &[f64]) -> Vec<f64> {
        let mut slope = vec![0.0; self.n];
        for edge in &self.edges {
            for end in [edge.ends.0, edge.ends.1] {
                let side = if w[end] == 0.0 { v[end] } else { w[end] };
                slope[end] += (self.pairs * lambda * edge.weight).copysign(side);
            }
        }
        slope
    }
}

impl Structured for NonconvexGrouping {
    const ID: &'static str = "nonconvex-grouping";

    fn fitting(&self) -> &super::Fitting {
        &self.on_graph.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let l1 = self.on_graph.l1_ratio;
        let edges = self.on_graph.graph.edges(data, columns, Self::ID, context)?;
        let parts = Parts { edges, n: columns.n_atoms(), l1, pairs: 1.0 - l1 };
        let [a, b, c, d] = [parts.clone(), parts.clone(), parts.clone(), parts.clone()];
        let maxima: Family = Box::new(move |lambda| Ok(Box::new(a.of_maxima(lambda, 1.0)?)));
        let differences: Family = Box::new(move |lambda| Ok(Box::new(b.of_differences(lambda)?)));
        let structure = Structure::coupled(move |lambda| parts.of_maxima(lambda, 1.0));
        Ok(structure.majorised(Majorised {
            starts: vec![maxima, differences],
            value: Box::new(move |lambda, w| Ok(c.value(lambda, w))),
            majorant: Box::new(move |lambda, w, v| {
                let above = Box::new(d.of_maxima(lambda, 2.0)?);
                Ok(Box::new(Tilted::new(above, d.slope(lambda, w, v))?) as Box<dyn BlockPenalty>)
            }),
        }))
    }
}

structured_selector!(NonconvexGrouping);
