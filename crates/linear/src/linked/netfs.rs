//! Unsupervised selection with latent factors of the links.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, options};
use nalgebra::DMatrix;

use super::network::{Network, Operator};
use crate::alternation::{Alternation, Factors, Regression, SHARE_OF_TOLERANCE, rotation_to_axes};
use crate::columns::LinearColumns;
use crate::penalised::{each_budget, opened};
use crate::unsupervised::{RegressionStep, factors_of};

options! {
    /// NetFS, robust unsupervised feature selection on networked data (Li, Hu, Wu and Liu 2016; Section 4.1.4
    /// of Li et al. 2016, Eq. 104): features that predict latent factors of the links, which are found with
    /// them.
    ///
    /// ```text
    /// minimise over U ≥ 0, W   ‖X W − U‖²_F + α Σⱼ ‖Wⱼ‖₂ + β/2 ‖A − U Uᵀ‖²_F,     score(k) = ‖W_k‖₂
    /// ```
    ///
    /// `A` is the matrix of the links' weights, with every link in both directions and zeros on the diagonal.
    /// `U` has a row for each sample and a column for each cluster. Features are standardised; a category of
    /// more than two levels enters by its level indicators, which are one row together. `α` is a share of the
    /// smallest penalty at which no feature predicts the factors of the start, `2 maxⱼ ‖xⱼᵀ U₀‖`.
    ///
    /// The problem is not convex. `U` starts at the leading eigenvectors of `A`, times the roots of their
    /// eigenvalues, rotated to be nearest to axes (Damle, Minden and Ying 2019), without what is negative.
    /// Then two steps alternate, neither of which lets the objective rise: `W` to the optimum, which is a
    /// convex problem solved to a duality gap, and `U` along projected gradients. The certificate is the
    /// stationarity at the answer: the projected gradient in `U`, relative to its parts, or the gap in
    /// `W`, relative to the objective at zero, whichever is larger.
    ///
    /// Without links every answer is zero: data in which no links are known are an error, and a graph without
    /// any selects nothing. The target is not used.
    ///
    /// Cost: a step along a gradient takes `O(links c + n c²)`, the coefficients some passes over the table.
    /// Memory proportional to links and samples: `A` is never written out.
    ///
    /// # Errors
    /// No links between samples; more clusters than samples; a NaN or an infinity, naming the cell;
    /// parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Graph, Selector, Target};
    /// use fewest_linear::NetFs;
    ///
    /// // Two groups of linked samples; feature 1 tells them apart, feature 0 is noise.
    /// let group = |i: usize| if i < 20 { 0.0 } else { 1.0 };
    /// let noise = (0..40).map(|i| (i * 11 % 41) as f64).collect();
    /// let own = (0..40).map(|i| 9.0 * group(i) + (i * 7 % 40) as f64 / 20.0).collect();
    /// let pairs = (0..40).flat_map(|i| (0..i).map(move |j| (j, i, 1.0)));
    /// let links: Vec<_> = pairs.filter(|&(j, i, _)| group(i) == group(j) && (i + j) % 3 == 0).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[noise, own])?, Target::None)?
    ///     .with_sample_graph(Graph::undirected(40, &links)?)?;
    /// let netfs = NetFs { clusters: Some(2), ..NetFs::default() };
    /// assert_eq!(netfs.select(&data, Budget::Count(1), &Context::default())?.order, [1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct NetFs {
        /// Number of clusters; without, from 2 to 15, that with the largest gap between eigenvalues of the
        /// links.
        pub clusters: Option<usize> = None, Count(1);
        /// Penalty α as a share of the smallest at which no feature predicts the factors of the start.
        pub alpha_ratio: f64 = 0.1, Positive;
        /// Weight β of the links.
        pub beta: f64 = 1.0, Positive;
        /// Stationarity to reach: the projected gradient, relative to its parts.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

/// `β/2 ‖A − U Uᵀ‖²`.
struct Links<'a> {
    network: &'a Network<'a>,
    beta: f64,
    squared_norm: f64,
}

impl<'a> Links<'a> {
    fn new(network: &'a Network<'a>, beta: f64) -> Self {
        Self { squared_norm: network.squared_norm(), network, beta }
    }
}

impl Factors for Links<'_> {
    fn quadratic(&self, u: &DMatrix<f64>) -> DMatrix<f64> {
        self.network.product(u) * (-2.0 * self.beta)
    }

    fn of_products(&self, products: DMatrix<f64>) -> (f64, DMatrix<f64>) {
        let value = 0.5 * self.beta * (self.squared_norm + products.norm_squared());
        (value, products * (2.0 * self.beta))
    }

    fn curvature(&self) -> f64 {
        8.0 * self.beta * self.network.degrees().iter().copied().fold(0.0, f64::max)
    }
}

/// The factors at the start, and where they are from.
struct Given {
    u: DMatrix<f64>,
    from: &'static str,
    notes: Vec<String>,
}

impl NetFs {
    /// The convex half of the problem: the regression on given factors `u`, a column of values for each
    /// cluster, not changed.
    ///
    /// # Errors
    /// Those of the method; factors of another length than the samples, or not finite.
    pub fn regression(
        &self,
        data: &Dataset,
        u: &[Vec<f64>],
        context: &Context<'_>,
    ) -> Result<RegressionStep, Error> {
        self.check()?;
        let u = factors_of("u", u, data.n_samples())?;
        let network = network(data)?;
        let columns = LinearColumns::with_outputs(data, "netfs", Vec::new(), context)?;
        let control = opened(data, &[], self.tolerance, context)?;
        let mut regression = Regression { columns: &columns, alpha: 0.0, control };
        regression.alpha = self.alpha_ratio * regression.largest(&u)?;
        let graph = Links::new(&network, self.beta).value(&u);
        RegressionStep::new(&regression, &u, graph, data.n_features())
    }

    /// The answer that descends from given factors `u ≥ 0`, a column of values for each cluster.
    ///
    /// # Errors
    /// Those of the method; factors of another length than the samples, negative or not finite.
    pub fn select_from(
        &self,
        data: &Dataset,
        u: &[Vec<f64>],
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        self.check()?;
        if u.iter().flatten().any(|value| *value < 0.0) {
            return Err(Error::parameter("u", "negative values", "values of at least 0"));
        }
        let u = factors_of("u", u, data.n_samples())?;
        let given = Given { u, from: "the factors given", notes: Vec::new() };
        Selection::only(self.descend(data, &network(data)?, given, &[budget], context)?)
    }

    fn descend(
        &self,
        data: &Dataset,
        network: &Network<'_>,
        start: Given,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let Self { beta, tolerance, .. } = *self;
        let control = opened(data, budgets, SHARE_OF_TOLERANCE * tolerance, context)?;
        let columns = LinearColumns::with_outputs(data, "netfs", Vec::new(), context)?;
        let mut regression = Regression { columns: &columns, alpha: 0.0, control };
        let Given { u, from, mut notes } = start;
        regression.alpha = self.alpha_ratio * regression.largest(&u)?;
        if regression.alpha <= 0.0 {
            let reason = match u.amax() > 0.0 {
                true => "the others are constant",
                false => "without links the factors, and with them all coefficients, are zero",
            };
            return each_budget(budgets, context, |budget| {
                let mut none = Selection::by_weight(Vec::new(), data.n_features(), budget, Status::Converged);
                none.notes.extend(notes.iter().cloned());
                none.note_missing_features(budget, reason);
                Ok(none)
            });
        }
        let own = Links::new(network, beta);
        let alternation = Alternation { own: &own, weight: 1.0, regression: &regression, tolerance };
        let found = alternation.from(u)?;
        let (summary, report) = found.told(from, regression.alpha);
        notes.push(summary.to_string());
        each_budget(budgets, context, |budget| {
            let weights = regression.scores(&found.fit);
            let mut selection = Selection::by_weight(weights, data.n_features(), budget, found.status);
            selection.solver = Some(report.clone());
            selection.descent = Some(summary.clone());
            selection.notes.extend(notes.iter().cloned());
            let others = "a smaller `alpha_ratio` gives more features a coefficient";
            selection.note_missing_features(budget, others);
            selection.unless_stopped_before("a feature had a coefficient")
        })
    }
}

fn network(data: &Dataset) -> Result<Network<'_>, Error> {
    data.sample_graph().map(Network::new).ok_or_else(|| Error::Unsupported {
        method: "netfs",
        what: "a table without links between samples".to_owned(),
        instead: "name them (--links), or take a method without links, such as ndfs".to_owned(),
    })
}

impl Selector for NetFs {
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
        // The target is not used: all samples are alike.
        let data = data.surroundings().map_or(data, |(all, _)| all);
        data.refuse_sample_weights("netfs")?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let network = network(data)?;
        let leading = network.leading(Operator::Links, self.clusters, context)?;
        let mut rows = leading.vectors.transpose();
        for (mut row, value) in rows.row_iter_mut().zip(&leading.values) {
            row *= value.sqrt();
        }
        let u = match rows.nrows() {
            0 => DMatrix::zeros(data.n_samples(), 1),
            _ => rows.tr_mul(&rotation_to_axes(&rows)).map(|entry| entry.max(0.0)),
        };
        let from = "the leading eigenvectors of the links, rotated to axes";
        let start = Given { u, from, notes: leading.notes };
        self.descend(data, &network, start, budgets, context)
    }
}
