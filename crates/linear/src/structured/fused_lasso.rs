//! Fused lasso.

use fewest_core::{Context, Dataset, Error, options};
use fewest_solver::{GraphFusedLasso, InnerProducts, SignedEdge};

use super::Fitting;
use super::engine::{Structured, structured_selector};
use super::graph::refuse_levels;
use super::structure::Structure;
use crate::columns::LinearColumns;

options! {
    /// Fused lasso (Tibshirani, Saunders, Rosset, Zhu and Knight 2005): neighbouring features get the same
    /// coefficient, most of them none.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σⱼ |wⱼ₊₁ − wⱼ| ]
    /// ```
    ///
    /// Neighbours are features next to each other in the table: wave lengths, places on a chromosome, times.
    /// A constant feature is passed over. Data, scores and the meaning of a number of features are those of
    /// [`GroupLasso`](crate::GroupLasso).
    ///
    /// Cost: a prox of the penalty takes a number of steps proportional to the number of features; Newton
    /// steps have as many unknowns as there are different coefficients.
    ///
    /// # Errors
    /// As of the lasso; a category of more than two levels.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::FusedLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let columns = [wave(1), wave(17), wave(23), wave(29)];
    /// let target = columns[2].iter().zip(&columns[3]).map(|(a, b)| a + b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target)?)?;
    /// let selection = FusedLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// // Fused: of equal scores the feature that fits the target better is first.
    /// assert_eq!(selection.order, [3, 2]);
    /// assert_eq!(selection.scores[0], selection.scores[1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct FusedLasso {
        /// Share of the l1 norm in the penalty; 1 is the lasso.
        pub l1_ratio: f64 = 0.5, Fraction;
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

impl Structured for FusedLasso {
    const ID: &'static str = "fused-lasso";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        _data: &Dataset,
        columns: &LinearColumns<'_>,
        _context: &Context<'_>,
    ) -> Result<Structure, Error> {
        refuse_levels(columns, Self::ID)?;
        let (n, l1_ratio) = (columns.n_atoms(), self.l1_ratio);
        let varying: Vec<usize> = (0..n).filter(|&j| columns.squared_norms()[j] > 0.0).collect();
        Ok(Structure::coupled(move |lambda| {
            let weight = (1.0 - l1_ratio) * lambda;
            let edge = |pair: &[usize]| SignedEdge { ends: (pair[0], pair[1]), weight, opposite: false };
            let edges: Vec<SignedEdge> = varying.windows(2).map(edge).collect();
            GraphFusedLasso::new(l1_ratio * lambda, n, &edges)
        }))
    }
}

structured_selector!(FusedLasso);
