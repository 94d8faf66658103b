//! OSCAR and graph OSCAR.

use fewest_core::{Context, Dataset, Error, options};
use fewest_solver::{GraphFusedLasso, InnerProducts, SignedEdge, SortedL1};

use super::engine::{Structured, structured_selector};
use super::structure::Structure;
use super::{Fitting, OnGraph};
use crate::columns::LinearColumns;

options! {
    /// OSCAR (Bondell and Reich 2008): features that predict alike get coefficients of the same size.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_{i<j} max(|wᵢ|, |wⱼ|) ]
    /// ```
    ///
    /// It is a sorted l1 norm, whose prox is a sort and an isotonic regression. Data, scores, errors and the
    /// meaning of a number of features are those of [`GroupLasso`](crate::GroupLasso).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Oscar;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let target = wave(1).iter().zip(wave(17)).map(|(a, b)| a - 0.9 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), wave(23)])?, Target::real(target)?)?;
    /// let selection = Oscar::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 1]);
    /// assert_eq!(selection.scores[0], -selection.scores[1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Oscar {
        /// Share of the l1 norm in the penalty; 1 is the lasso.
        pub l1_ratio: f64 = 0.5, Fraction;
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

options! {
    /// Graph OSCAR (Yang and others 2012; Eq. 94 of the survey): features joined by an edge get coefficients
    /// of the same size.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_edges aᵢⱼ max(|wᵢ|, |wⱼ|) ]
    /// ```
    ///
    /// Every edge counts once. Since `max(|a|, |b|) = ½ |a − b| + ½ |a + b|`, the penalty is that of
    /// [`GfLasso`](crate::GfLasso) with both signs on each edge. Data, scores, errors and the meaning of a
    /// number of features are those of [`GraphLasso`](crate::GraphLasso).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Goscar;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let near: Vec<f64> = wave(1).iter().zip(wave(23)).map(|(a, c)| 0.2 * c - a).collect();
    /// let target = wave(1);
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), near])?, Target::real(target)?)?;
    /// let selection = Goscar::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert_eq!(selection.scores[0], -selection.scores[1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Goscar {
        /// The graph and the penalty's strength.
        pub on_graph: OnGraph = OnGraph::default();
    }
}

impl Structured for Oscar {
    const ID: &'static str = "oscar";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        _data: &Dataset,
        columns: &LinearColumns<'_>,
        _context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let (n, l1_ratio) = (columns.n_atoms(), self.l1_ratio);
        Ok(Structure::coupled(move |lambda| SortedL1::oscar(l1_ratio * lambda, (1.0 - l1_ratio) * lambda, n)))
    }
}

impl Structured for Goscar {
    const ID: &'static str = "goscar";

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
        Ok(Structure::coupled(move |lambda| {
            let half = 0.5 * (1.0 - l1_ratio) * lambda;
            let both = |edge: &SignedEdge| {
                [false, true].map(|opposite| SignedEdge { opposite, weight: half * edge.weight, ..*edge })
            };
            GraphFusedLasso::new(l1_ratio * lambda, n, &edges.iter().flat_map(both).collect::<Vec<_>>())
        }))
    }
}

structured_selector!(Oscar);
structured_selector!(Goscar);
