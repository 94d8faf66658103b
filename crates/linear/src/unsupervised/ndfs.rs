//! Non-negative discriminative feature selection.

use fewest_cd::CoordinateDescent;
use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, DescentSummary, Error, Selection, Selector, SolverReport, Status,
    options,
};
use fewest_neighbours::{NeighbourGraph, SpectralEmbedding};
use fewest_newton::{LinearModel, Start};
use fewest_solver::loss::{Samples, Separable, Squared};
use fewest_solver::{Control, GroupLasso, InnerProducts};
use nalgebra::DMatrix;

use super::indicators::{Indicators, from_embedding};
use super::{Clusters, lengths_of_features};
use crate::columns::LinearColumns;
use crate::penalised::{each_budget, opened};
use crate::rows::rows;

/// Most alternations, and alternations in a row without progress after which it ends.
const MOST_ROUNDS: usize = 2000;
const PATIENCE: usize = 100;

/// Of a normalised Laplacian.
pub(crate) const LARGEST_EIGENVALUE: f64 = 2.0;

/// A decrease that is rounding, relative to the objective.
const ROUNDING: f64 = 1e-14;

/// Gap of the coefficients, as a share of the stationarity to reach.
const SHARE_OF_TOLERANCE: f64 = 1e-3;

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

/// The regression at fixed indicators: the convex half of the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionStep {
    /// `tr(Gᵀ 𝓛 G)`.
    pub trace: f64,
    /// `min over W of ‖X W − G‖² + α Σⱼ ‖Wⱼ‖`.
    pub fit: f64,
    /// The duality gap, relative to that at `W = 0`.
    pub gap: f64,
    /// `‖W_k‖` of every feature.
    pub scores: Vec<f64>,
}

/// Coefficients, one row a column of the table after the other, with the objective of the regression.
struct Fit {
    start: Start,
    value: f64,
    gap: f64,
    fitted: DMatrix<f64>,
}

struct Problem<'a> {
    options: &'a Ndfs,
    columns: &'a LinearColumns<'a>,
    graph: &'a NeighbourGraph,
    control: Control<'a>,
}

impl Problem<'_> {
    /// `W` to the optimum, from other coefficients or from zero.
    fn regression(&self, g: &DMatrix<f64>, before: Option<&Start>) -> Result<Fit, Error> {
        let (n, c) = g.shape();
        let loss = Separable::new(Squared, g.as_slice().to_vec(), Samples::mean(n))?;
        let model = LinearModel { design: self.columns, loss: &loss, intercept: false };
        let null = model.null(&self.control)?;
        let unit = 2.0 * n as f64;
        let rows = rows(self.columns, self.columns.n_atoms(), c);
        let penalty = GroupLasso::new(self.options.alpha / unit, &rows)?;
        let found = model.minimise(&null, &penalty, &CoordinateDescent::default(), before, &self.control)?;
        let coefficients = found.solution.coefficients;
        let used: Vec<usize> = (0..self.columns.n_atoms())
            .filter(|j| coefficients[j * c..(j + 1) * c].iter().any(|w| *w != 0.0))
            .collect();
        let values = DMatrix::from_vec(n, used.len(), self.columns.gather(&used)?);
        let fitted = values * DMatrix::from_fn(used.len(), c, |at, k| coefficients[used[at] * c + k]);
        Ok(Fit {
            value: unit * found.solution.objective,
            gap: found.solution.certificate.value(),
            fitted,
            start: Start { coefficients, intercepts: found.intercepts },
        })
    }

    fn scores(&self, fit: &Fit, c: usize) -> Vec<(usize, f64)> {
        lengths_of_features(self.columns, &fit.start.coefficients, c)
    }

    /// Alternates from `g`: the coefficients, how it ended, stationarity, alternations, first and last
    /// objective.
    fn alternate(&self, g: DMatrix<f64>) -> Result<(Fit, Status, f64, usize, [f64; 2]), Error> {
        let Ndfs { beta, gamma, tolerance, .. } = *self.options;
        let product = |g: &DMatrix<f64>| g - self.graph.normalised_product(g);
        let is_stopped = || self.control.stopped().is_some();
        let (fitted, curvature) = (DMatrix::zeros(0, 0), LARGEST_EIGENVALUE);
        let mut indicators =
            Indicators { product: &product, curvature, beta, gamma, fitted, is_stopped: &is_stopped };
        let mut g = g;
        let mut fit = self.regression(&g, None)?;
        let objective = |g: &DMatrix<f64>, fit: &Fit, indicators: &Indicators<'_>| {
            indicators.without_regression(g) + beta * fit.value
        };
        let first = objective(&g, &fit, &indicators);
        let (mut last, mut rounds, mut without_progress) = (first, 0, 0);
        loop {
            indicators.fitted = std::mem::replace(&mut fit.fitted, DMatrix::zeros(0, 0));
            let stationarity = indicators.stationarity(&g).max(fit.gap);
            let ended = match self.control.stopped() {
                Some(status) => Some(status),
                None if stationarity <= tolerance => Some(Status::Converged),
                None if rounds >= MOST_ROUNDS => Some(Status::MaxIterations),
                None => {
                    (without_progress >= PATIENCE).then(|| Status::by_certificate(stationarity, tolerance))
                }
            };
            if let Some(status) = ended {
                return Ok((fit, status, stationarity, rounds, [first, last]));
            }
            let next_g = indicators.descend(&g, 0.1 * tolerance.min(stationarity));
            let next = self.regression(&next_g, Some(&fit.start))?;
            let value = objective(&next_g, &next, &indicators);
            rounds += 1;
            without_progress = if last - value > ROUNDING * last { 0 } else { without_progress + 1 };
            // The same but for rounding is as good: points still come closer where values are flat.
            if value <= last + ROUNDING * last {
                (g, fit, last) = (next_g, next, value);
            } else {
                fit.fitted = indicators.fitted.clone();
                without_progress = PATIENCE;
            }
        }
    }
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
        let n = data.n_samples();
        if g.is_empty() || g.iter().any(|column| column.len() != n || column.iter().any(|v| !v.is_finite())) {
            return Err(Error::parameter("g", "other values", format!("columns of {n} finite numbers")));
        }
        let graph = self.clusters.graph.build(data, context)?;
        let columns = LinearColumns::with_outputs(data, "ndfs", Vec::new(), context)?;
        let control = opened(data, &[], self.tolerance, context)?;
        let problem = Problem { options: self, columns: &columns, graph: &graph, control };
        let g = DMatrix::from_vec(n, g.len(), g.concat());
        let fit = problem.regression(&g, None)?;
        let mut scores = vec![0.0; data.n_features()];
        for (j, length) in problem.scores(&fit, g.ncols()) {
            scores[j] = length;
        }
        let trace = g.norm_squared() - g.dot(&graph.normalised_product(&g));
        Ok(RegressionStep { trace, fit: fit.value, gap: fit.gap, scores })
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
        let problem = Problem { options: self, columns: &columns, graph: &graph, control };
        let g = from_embedding(&graph, &embedding);
        let clusters = g.ncols();
        let (fit, status, stationarity, rounds, [first, last]) = problem.alternate(g)?;
        let summary = DescentSummary::new("indicators of the graph's clusters", first, last);
        notes.push(summary.to_string());
        let report = SolverReport::new("alternating", status, last, Certificate::stationarity(stationarity))
            .with_lambda(self.alpha)
            .with_iterations(rounds);
        each_budget(budgets, context, |budget| {
            let weights = problem.scores(&fit, clusters);
            let mut selection = Selection::by_weight(weights, data.n_features(), budget, status);
            selection.solver = Some(report.clone());
            selection.descent = Some(summary.clone());
            selection.notes.extend(notes.iter().cloned());
            selection.note_missing_features(budget, "a smaller `alpha` gives more features a coefficient");
            selection.unless_stopped_before("a feature had a coefficient")
        })
    }
}
