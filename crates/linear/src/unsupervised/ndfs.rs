//! Non-negative discriminative feature selection.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, options};
use fewest_neighbours::SpectralEmbedding;
use nalgebra::DMatrix;

use super::Clusters;
use super::indicators::{Indicators, LARGEST_EIGENVALUE, from_embedding, laplacian};
use crate::alternation::{Alternation, Regression, SHARE_OF_TOLERANCE};
use crate::columns::LinearColumns;
use crate::penalised::{each_budget, opened};

options! {
    /// NDFS, non-negative discriminative feature selection (Li, Yang, Liu, Zhou and Lu 2012; Eq. 73–75 of
    /// Li et al. 2016): features that predict cluster indicators, which are found with them.
    ///
    /// ```text
    /// minimise over G ≥ 0, W   tr(Gᵀ 𝓛 G) + β (‖X W − G‖² + α Σⱼ ‖Wⱼ‖) + γ/2 ‖Gᵀ G − I‖²
    ///
    /// 𝓛 = I − D^−½ S D^−½,   score(k) = ‖W_k‖
    /// ```
    ///
    /// `G` has a column for each cluster; non-negative and nearly orthogonal, it has about one positive entry
    /// a row. Features are standardised; a category of more than two levels enters by its level indicators,
    /// which are one row together.
    ///
    /// The problem is not convex. `G` starts at indicators from the lowest eigenvectors of `𝓛`, by the
    /// rotation that takes them nearest to `c` samples far apart (Damle, Minden and Ying 2019), which
    /// needs no random starts. Then two steps alternate, neither of which lets the objective rise: `W` to
    /// the optimum, which is a convex problem solved to a duality gap, and `G` along projected gradients.
    /// The multiplicative updates of the paper stay where an entry of `G` is zero. The certificate is the
    /// stationarity at the answer: the projected gradient in `G`, relative to its parts, or the gap in
    /// `W`, relative to the objective at zero, whichever is larger.
    ///
    /// Cost: the neighbours, `O(n² d)`; an alternation takes a few passes `n d c`. Memory: a copy of the
    /// table for the neighbours.
    ///
    /// # Errors
    /// Fewer than two samples; clusters not below the number of samples; a sample all of whose edges have
    /// weight 0; a NaN or an infinity, naming the cell; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::{Clusters, Ndfs};
    ///
    /// // Two features place the samples in groups; the third is noise.
    /// let group = |step: i32| (0..40).map(move |i| f64::from(i % 2) * 9.0 + f64::from(i * step % 40) / 20.0);
    /// let noise = (0..40).map(|i| f64::from(i * 11 % 41)).collect();
    /// let x = DenseColumns::from_columns(&[noise, group(7).collect(), group(3).collect()])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let ndfs = Ndfs { clusters: Clusters { clusters: Some(2), ..Clusters::default() }, ..Ndfs::default() };
    /// let mut order = ndfs.select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [1, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Ndfs {
        /// The graph and its clusters.
        pub clusters: Clusters = Clusters::default();
        /// Weight α of the penalty.
        pub alpha: f64 = 1.0, Positive;
        /// Weight β of the regression.
        pub beta: f64 = 1.0, Positive;
        /// Weight γ of the orthogonality of the indicators.
        pub gamma: f64 = 1000.0, Positive;
        /// Stationarity to reach: the projected gradient, relative to its parts.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

/// The regression at fixed factors: the convex half of the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionStep {
    /// What the graph says of the factors: `tr(Gᵀ 𝓛 G)`, or `β/2 ‖A − U Uᵀ‖²`.
    pub graph: f64,
    /// `min over W of ‖X W − G‖² + α Σⱼ ‖Wⱼ‖`.
    pub fit: f64,
    /// The duality gap, relative to that at `W = 0`.
    pub gap: f64,
    /// `‖W_k‖` of every feature.
    pub scores: Vec<f64>,
}

impl RegressionStep {
    /// The regression on `g`, of which the graph says `graph`.
    pub(crate) fn new(
        regression: &Regression<'_>,
        g: &DMatrix<f64>,
        graph: f64,
        n_features: usize,
    ) -> Result<Self, Error> {
        let fit = regression.solve(g, None)?;
        let mut scores = vec![0.0; n_features];
        for (j, length) in regression.scores(&fit) {
            scores[j] = length;
        }
        Ok(Self { graph, fit: fit.value, gap: fit.gap, scores })
    }
}

/// Columns of `n` finite numbers as a matrix.
pub(crate) fn factors_of(name: &'static str, g: &[Vec<f64>], n: usize) -> Result<DMatrix<f64>, Error> {
    if g.is_empty() || g.iter().any(|column| column.len() != n || column.iter().any(|v| !v.is_finite())) {
        return Err(Error::parameter(name, "other values", format!("columns of {n} finite numbers")));
    }
    Ok(DMatrix::from_vec(n, g.len(), g.concat()))
}

impl Ndfs {
    /// The convex half of the problem: the regression on given indicators `g`, a column of values for each
    /// cluster, not changed.
    ///
    /// # Errors
    /// Those of the method; indicators of another length than the samples, or not finite.
    pub fn regression(
        &self,
        data: &Dataset,
        g: &[Vec<f64>],
        context: &Context<'_>,
    ) -> Result<RegressionStep, Error> {
        self.check()?;
        let g = factors_of("g", g, data.n_samples())?;
        let graph = self.clusters.graph.build(data, context)?;
        let columns = LinearColumns::with_outputs(data, "ndfs", Vec::new(), context)?;
        let control = opened(data, &[], self.tolerance, context)?;
        let regression = Regression { columns: &columns, alpha: self.alpha, control };
        let trace = g.dot(&laplacian(&graph, &g));
        RegressionStep::new(&regression, &g, trace, data.n_features())
    }
}

impl Selector for Ndfs {
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
        data.refuse_sample_weights("ndfs")?;
        let control = opened(data, budgets, SHARE_OF_TOLERANCE * self.tolerance, context)?;
        let graph = self.clusters.graph.build(data, context)?;
        let embedding = SpectralEmbedding::of_clusters(&graph, self.clusters.clusters, context)?;
        let mut notes = self.clusters.notes(&embedding);
        let columns = LinearColumns::with_outputs(data, "ndfs", Vec::new(), context)?;
        let regression = Regression { columns: &columns, alpha: self.alpha, control };
        let product = |g: &DMatrix<f64>| laplacian(&graph, g);
        let own = Indicators { product, largest: LARGEST_EIGENVALUE, gamma: self.gamma };
        let (weight, tolerance) = (self.beta, self.tolerance);
        let alternation = Alternation { own: &own, weight, regression: &regression, tolerance };
        let found = alternation.from(from_embedding(&graph, &embedding))?;
        let (summary, report) = found.told("indicators of the graph's clusters", self.alpha);
        notes.push(summary.to_string());
        each_budget(budgets, context, |budget| {
            let weights = regression.scores(&found.fit);
            let mut selection = Selection::by_weight(weights, data.n_features(), budget, found.status);
            selection.solver = Some(report.clone());
            selection.descent = Some(summary.clone());
            selection.notes.extend(notes.iter().cloned());
            selection.note_missing_features(budget, "a smaller `alpha` gives more features a coefficient");
            selection.unless_stopped_before("a feature had a coefficient")
        })
    }
}
