//! Clusters, and few features and views for each of them.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, options};

use super::ViewLoss;
use super::descent::{Descent, Part};
use super::several::{Opened, mean_square, open, select_by};
use crate::penalised::opened;
use crate::unsupervised::Clusters;

const METHOD: &str = "group-l1-l21-clusters";

options! {
    /// Multi-view clustering and feature learning via structured sparsity (Wang, Nie and Huang 2013; Section
    /// 4.3.3 of Li et al. 2016, Eq. 110): indicators of clusters, and few features and views that predict
    /// each.
    ///
    /// ```text
    /// minimise over F ≥ 0, W
    ///     ‖X W − F‖² + α [Σⱼ ‖Wⱼ‖ + view_ratio Σ_views Σ_clusters ‖W_vk‖] + γ/2 ‖FᵀF − I‖²
    ///
    /// score(k) = ‖W_k‖
    /// ```
    ///
    /// `W_vk` are the coefficients that the features of view `v` have for cluster `k`; the survey's `β` is
    /// `α view_ratio`. `α` is the share `alpha_ratio` of the smallest at which no feature predicts the
    /// indicators of the start. Nothing but the regression says what a cluster is: at `W = 0` all indicators
    /// have the objective `c`, so the share has to be small. [`Selection::views`] has the sum of the scores
    /// of the selected features of each view.
    ///
    /// With classes that are known, [`GroupL1L21`](crate::GroupL1L21) is the convex problem in `W` alone.
    ///
    /// Lengths are smoothed, `√(‖·‖² + ε)`. Start, descent, certificate and cost are those of
    /// [`Aumfs`](crate::Aumfs), with a factored matrix for each cluster.
    ///
    /// # Errors
    /// As of [`Aumfs`](crate::Aumfs).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, Views};
    /// use fewest_linear::{Clusters, GroupL1L21Clusters};
    ///
    /// let group = |step: i32| (0..40).map(move |i| f64::from(i % 2) * 9.0 + f64::from(i * step % 40) / 20.0);
    /// let noise = |step: i32| (0..40).map(|i| f64::from(i * step % 41)).collect::<Vec<f64>>();
    /// let columns = [noise(11), group(7).collect(), group(3).collect(), noise(17)];
    /// let views = Views::new(4, vec![("a".to_owned(), vec![0, 1]), ("b".to_owned(), vec![2, 3])])?;
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?.with_views(views)?;
    /// let clusters = Clusters { clusters: Some(2), ..Clusters::default() };
    /// let method = GroupL1L21Clusters { clusters, ..GroupL1L21Clusters::default() };
    /// let mut order = method.select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [1, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GroupL1L21Clusters {
        /// The graph that the first indicators are from, and the number of clusters.
        pub clusters: Clusters = Clusters::default();
        /// Penalty α as a share of the smallest at which no feature predicts the indicators of the start.
        pub alpha_ratio: f64 = 0.1, Positive;
        /// Weight of the norms of views, relative to those of features.
        pub view_ratio: f64 = 1.0, NonNegative;
        /// Weight γ of the orthogonality of the indicators.
        pub gamma: f64 = 1000.0, Positive;
        /// What is added to squared lengths, ε, as a share of the mean squared length of a row of F.
        pub smoothing: f64 = 1e-3, Positive;
        /// Stationarity to reach: the projected gradient, relative to its parts.
        pub tolerance: f64 = 1e-4, Positive;
    }
}

impl Selector for GroupL1L21Clusters {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One descent serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        data.refuse_sample_weights(METHOD)?;
        let views = data.needed_views(METHOD)?;
        opened(data, budgets, self.tolerance, context)?;
        let all = vec![(0..data.n_features()).collect()];
        let Opened { designs, indicators, notes } =
            match open(data, METHOD, all, &self.clusters, budgets, context)? {
                Ok(opened) => opened,
                Err(nothing) => return Ok(nothing),
            };
        let part = |(design, features): (crate::unsupervised::Design, Vec<usize>)| {
            let view_of = design.rows.features().iter().map(|&j| views.of_feature()[j]).collect();
            Part { design, features, view_of: Some(view_of) }
        };
        let parts: Vec<Part> = designs.into_iter().map(part).collect();
        let largest = |part: &Part| part.largest(&indicators, ViewLoss::Squared, self.view_ratio);
        let descent = Descent {
            alpha: self.alpha_ratio * parts.iter().map(largest).fold(0.0, f64::max),
            parts,
            graphs: Vec::new(),
            loss: ViewLoss::Squared,
            ratio: self.view_ratio,
            beta: 1.0,
            gamma: self.gamma,
            power: 1.0,
            smoothing: self.smoothing * mean_square(&indicators),
            tolerance: self.tolerance,
            context,
        };
        select_by(&descent, indicators, &notes, views, data.n_features(), budgets)
    }
}
