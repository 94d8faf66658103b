//! Unsupervised selection with social dimensions.

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{
    Budget, Certificate, Context, Dataset, DescentSummary, Error, Graph, Selection, Selector, SolverReport,
    options, room,
};
use nalgebra::DMatrix;

use super::affinity::{Affinity, SocialScatter};
use super::network::{Network, Operator};
use crate::columns::LinearColumns;
use crate::penalised::each_budget;
use crate::projections::{
    Between, Descent, FeatureRows, Found, OTHERS_ARE_CONSTANT, Scatter, Table, WHOLE, symmetric,
};

/// Columns multiplied at a time.
const PANEL: usize = 32;

/// Columns up to which `M` is computed, with as many samples or more: with few values stored, products with
/// these take less time sooner.
const SPARSE_WHOLE: usize = 512;
const DENSE_WHOLE: usize = 2048;

/// What is said where nothing is known of the samples.
const NOTE: &str = "no links between samples are known (--links): only attributes tell which are alike";

options! {
    /// LUFS, linked unsupervised feature selection (Tang and Liu 2012; Section 4.1.3 of Li et al. 2016,
    /// Eq. 103): features in few rows of a projection in which samples are near that have similar attributes
    /// or belong to the same communities of the links.
    ///
    /// ```text
    /// minimise over W   tr(Wᵀ Xᵀ [L + α (I − F Fᵀ)] X W) + β Σⱼ √(‖Wⱼ‖² + ε)   with Wᵀ (XᵀX + λ I) W = I
    ///
    /// L = D − S,   Sᵢⱼ = exp(−‖xᵢ − xⱼ‖²/t),   score(k) = ‖W_k‖
    /// ```
    ///
    /// `F` has the social dimensions: the leading eigenvectors of the modularity matrix `A − d dᵀ / Σ d` of
    /// the links, `d = A 1`. Only eigenvalues above zero count, and they are not made into clusters by
    /// k-means. The factor `X` behind `F Fᵀ` is missing in the survey. Features are standardised; constant
    /// ones are left out. A category of more than two levels enters by its level indicators, which are one
    /// row together.
    ///
    /// `β` is a share of `tr(M) / tr(XᵀX + λ I)`, `M` the matrix of the trace, and `ε` a share of `1/(n +
    /// λ)`, about the squared length of a row. Degrees of the affinity `S` grow with the number of samples:
    /// without `alpha`, `α` is their mean, so that attributes and links count alike.
    ///
    /// Above two million pairs of samples, `S` has drawn pairs only, the same number for each sample, and
    /// their affinity times the share that was drawn: `Xᵀ L X` of the drawn is an unbiased estimate of that
    /// of all. The notes tell it.
    ///
    /// The problem is not convex. The descent starts at the lowest generalised eigenvectors of `M`, with more
    /// features than samples among combinations of samples. Each step minimises `tr(Wᵀ (M + Q) W)`, `Q_jj = β
    /// / (2 √(‖Wⱼ‖² + ε))`, over all `W` for up to 128 columns, and else over the span of `W`, the solution
    /// of a system with `M + Q` and the step before: the objective never rises. The certificate is the
    /// stationarity at the answer, `‖G − (XᵀX + λ I) W WᵀG‖ / ‖G‖` with `G = (M + Q) W`. Whatever `W`, the
    /// objective is at least the sum of the smallest generalised eigenvalues of `M`: the notes tell it, less
    /// what the residual of their vectors leaves open, or 0 where the vectors were not found.
    ///
    /// With as many samples as columns or more, `M` is computed for up to 2048 columns, or 512 sparse ones.
    /// Beyond, only products with it are: a system is solved roughly, by at most ten steps of conjugate
    /// gradients. For more than 512 columns the eigenvectors to start at come from at most 200 steps without
    /// penalty.
    ///
    /// Cost: the affinity takes `O(pairs d)`, the social dimensions some hundred products with the links. A
    /// step takes `O(d³)` where `M` is computed, `O(n² d + n³)` with more columns than samples, and else
    /// some ten products of the columns with `clusters` vectors, `O((non-zeros + pairs) clusters)`. Memory
    /// proportional to links, drawn pairs and samples, besides `M`, or `n²` numbers with more columns.
    ///
    /// # Errors
    /// Fewer than two samples; more clusters than samples or features that vary; a NaN or an infinity, naming
    /// the cell; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Graph, Selector, Target};
    /// use fewest_linear::Lufs;
    ///
    /// // Two groups of linked samples; feature 1 tells them apart, the others are noise.
    /// let group = |i: usize| if i < 20 { 0.0 } else { 1.0 };
    /// let noise = |step: usize| (0..40).map(|i| (i * step % 41) as f64).collect();
    /// let own = (0..40).map(|i| 9.0 * group(i) + (i * 7 % 40) as f64 / 20.0).collect();
    /// let pairs = (0..40).flat_map(|i| (0..i).map(move |j| (j, i, 1.0)));
    /// let links: Vec<_> = pairs.filter(|&(j, i, _)| group(i) == group(j) && (i + j) % 3 == 0).collect();
    /// let x = DenseColumns::from_columns(&[noise(11), own, noise(17)])?;
    /// let data = Dataset::new(x, Target::None)?.with_sample_graph(Graph::undirected(40, &links)?)?;
    /// let lufs = Lufs { clusters: Some(1), ..Lufs::default() };
    /// assert_eq!(lufs.select(&data, Budget::Count(1), &Context::default())?.order, [1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Lufs {
        /// Number of social dimensions, and of columns of W; without, from 2 to 15, that with the largest gap
        /// between eigenvalues of the modularity.
        pub clusters: Option<usize> = None, Count(1);
        /// Weight α of the social dimensions; without, the mean degree of the affinity.
        pub alpha: Option<f64> = None, NonNegative;
        /// Ridge λ of the constraint.
        pub ridge: f64 = 1.0, Positive;
        /// Weight β of the penalty, as a share of tr(M) / tr(XᵀX + λ I).
        pub beta_ratio: f64 = 0.1, Positive;
        /// Scale of the affinity exp(−d²/t); median: the median squared distance.
        pub t: KernelWidth = KernelWidth::Median;
        /// Pairs drawn for each sample, where there are more than two million pairs.
        pub pairs: usize = 16, Count(1);
        /// Smoothing ε of the squared length of a row, as a share of 1/(n + λ).
        pub smoothing: f64 = 1e-6, Positive;
        /// Stationarity to reach: the gradient along the constraint, relative to the gradient.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

/// `Xᵀ K X` and `XᵀX + ridge I` of the columns that vary, without a table of all of them.
fn matrices(
    columns: &LinearColumns<'_>,
    rows: &FeatureRows,
    between: &dyn Between,
    ridge: f64,
    context: &Context<'_>,
) -> Result<[DMatrix<f64>; 2], Error> {
    let (n, p) = (columns.n_samples(), rows.len());
    let (mut m, mut b) = (DMatrix::zeros(p, p), DMatrix::zeros(p, p));
    for first in (0..p).step_by(PANEL) {
        context.go_on("a first point was found")?;
        let panel = &rows.columns[first..p.min(first + PANEL)];
        let x = DMatrix::from_vec(n, panel.len(), columns.gather(panel)?);
        let image = between.product(&x);
        // Entries below the diagonal follow.
        let others = &rows.columns[first..];
        let both: Vec<f64> = image.iter().chain(x.iter()).copied().collect();
        let products = columns.products_with(others, &both)?;
        for (at, products) in products.chunks_exact(2 * panel.len()).enumerate() {
            for (k, (own, plain)) in products[..panel.len()].iter().zip(&products[panel.len()..]).enumerate()
            {
                let (i, j) = (first + at, first + k);
                (m[(i, j)], m[(j, i)]) = (*own, *own);
                (b[(i, j)], b[(j, i)]) = (*plain, *plain);
            }
        }
        context.report("products of columns", p.min(first + PANEL), p);
    }
    b.iter_mut().step_by(p + 1).for_each(|value| *value += ridge);
    Ok([symmetric(m), symmetric(b)])
}

impl Lufs {
    fn descend(
        &self,
        scatter: &Scatter<'_>,
        rows: &FeatureRows,
        n: usize,
        clusters: usize,
        context: &Context<'_>,
    ) -> Result<(Found, DescentSummary, f64), Error> {
        let size = n as f64 + self.ridge;
        let beta = self.beta_ratio * scatter.trace() / (rows.len() as f64 * size);
        let descent = Descent {
            rows,
            scatter,
            alpha: beta,
            smoothing: self.smoothing / size,
            tolerance: self.tolerance,
            context,
        };
        let start = descent.start(clusters)?;
        // Eigenvalues are as near to those of vectors as the residual in the metric of the constraint, which
        // is at least the ridge.
        let bound = (start.lowest - start.residual * (clusters as f64 / self.ridge).sqrt()).max(0.0);
        let found = descent.from(start.w)?;
        let summary =
            DescentSummary::new(start.name, found.first_objective, found.objective).with_lower_bound(bound);
        Ok((found, summary, beta))
    }
}

impl Selector for Lufs {
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
        data.refuse_sample_weights("lufs")?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let columns = LinearColumns::with_outputs(data, "lufs", Vec::new(), context)?;
        let rows = FeatureRows::new(&columns, data.n_features());
        if let Some(nothing) = rows.nothing(budgets) {
            return Ok(nothing);
        }
        let none = Graph::undirected(n, &[])?;
        let network = Network::new(data.sample_graph().unwrap_or(&none));
        let leading = network.leading(Operator::Modularity, self.clusters, context)?;
        let mut notes = leading.notes;
        if data.sample_graph().is_none_or(|links| links.n_links() == 0) {
            notes.push(NOTE.to_owned());
        }
        let most = rows.len().min(n);
        let clusters = match self.clusters {
            Some(clusters) if clusters > most => {
                let expected = format!("at most the number of samples and of columns that vary, {most}");
                return Err(Error::parameter("clusters", clusters, expected));
            }
            Some(clusters) => clusters,
            None => {
                if leading.clusters > most {
                    notes.push(format!(
                        "`clusters` is {most} here: no more columns vary, or samples are there"
                    ));
                }
                leading.clusters.min(most)
            }
        };
        let affinity = Affinity::new(&columns, &rows, self.t, self.pairs, context)?;
        notes.extend(affinity.notes);
        let affinity = Network::new(&affinity.graph);
        let alpha = self.alpha.unwrap_or(affinity.degrees().iter().sum::<f64>() / n as f64);
        let between = SocialScatter { affinity, alpha, dimensions: leading.vectors };
        let most_computed = if columns.are_sparse(&rows.columns)? { SPARSE_WHOLE } else { DENSE_WHOLE };
        let (found, summary, beta) = if rows.len() <= WHOLE.max((n + clusters).min(most_computed)) {
            let [m, b] = matrices(&columns, &rows, &between, self.ridge, context)?;
            self.descend(&Scatter::whole(m, b)?, &rows, n, clusters, context)?
        } else if rows.len() <= n {
            let diagonal = between.diagonal_of_columns(&columns, &rows, context)?;
            let ridge = self.ridge;
            let table =
                Table { columns: &columns, chosen: &rows.columns, between: &between, ridge, diagonal };
            self.descend(&Scatter::of_table(table), &rows, n, clusters, context)?
        } else {
            let what = "memory for the standardised table";
            drop(room(what, &[3, n, rows.len()], "lufs", "use fewer samples or features")?);
            let x = DMatrix::from_vec(n, rows.len(), columns.gather(&rows.columns)?);
            let scatter = Scatter::with_ridge(&x, &between, self.ridge, clusters, "lufs", context)?;
            self.descend(&scatter, &rows, n, clusters, context)?
        };
        notes.push(summary.to_string());
        let certificate = Certificate::stationarity(found.stationarity);
        let report = SolverReport::new("irls", found.status, found.objective, certificate)
            .with_lambda(beta)
            .with_iterations(found.iterations);
        each_budget(budgets, context, |budget| {
            let weights = rows.scores(&found.w);
            let mut selection = Selection::by_weight(weights, data.n_features(), budget, found.status);
            selection.solver = Some(report.clone());
            selection.descent = Some(summary.clone());
            selection.notes.extend(notes.iter().cloned());
            selection.note_missing_features(budget, OTHERS_ARE_CONSTANT);
            Ok(selection)
        })
    }
}
