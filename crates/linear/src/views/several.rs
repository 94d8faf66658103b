//! Indicators of clusters that all views share.

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, DescentSummary, Error, Selection, Selector, SolverReport, Status,
    ViewWeight, Views, options, room,
};
use fewest_neighbours::{NeighbourGraph, SpectralEmbedding};
use nalgebra::DMatrix;

use super::ViewLoss;
use super::descent::{Descent, Part};
use super::group_l1_l21::weigh_views;
use crate::alternation::Regression;
use crate::columns::LinearColumns;
use crate::penalised::{each_budget, opened};
use crate::projections::OTHERS_ARE_CONSTANT;
use crate::rfs::sum_of_lengths;
use crate::unsupervised::{Clusters, Design, factors_of, from_embedding, laplacian};

options! {
    /// What adaptive and plain multi-view feature selection have in common.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SharedIndicators {
        /// The graph of each view, and the clusters.
        pub clusters: Clusters = Clusters::default();
        /// Penalty α as a share of the smallest at which no feature predicts the indicators of the start.
        pub alpha_ratio: f64 = 0.5, Positive;
        /// Weight β of the regression.
        pub beta: f64 = 1.0, Positive;
        /// Weight γ of the orthogonality of the indicators.
        pub gamma: f64 = 1000.0, Positive;
        /// How errors count.
        pub loss: ViewLoss = ViewLoss::Squared;
        /// Power r of the weights of views; with 1, as printed in the survey, one view has all the weight.
        pub power: usize = 2, Count(1);
        /// What is added to squared lengths, ε, as a share of the mean squared length of a row of F.
        pub smoothing: f64 = 1e-3, Positive;
        /// Stationarity to reach: the projected gradient, relative to its parts.
        pub tolerance: f64 = 1e-4, Positive;
    }
}

options! {
    /// AUMFS, adaptive unsupervised multi-view feature selection (Feng, Xiao, Zhuang and Liu 2012; Eq.
    /// 106–108 of Li et al. 2016): features of all views together that predict indicators of clusters, which
    /// the graphs of the views share.
    ///
    /// ```text
    /// minimise over F ≥ 0, W, λ   Σ_v λ_vʳ tr(Fᵀ 𝓛_v F) + β [‖X W − F‖² + α Σⱼ ‖Wⱼ‖] + γ/2 ‖FᵀF − I‖²
    ///
    /// 𝓛_v = I − D_v^−½ S_v D_v^−½,   λ ≥ 0,   Σ_v λ_v = 1,   score(k) = ‖W_k‖
    /// ```
    ///
    /// `S_v` is the graph of the samples by the features of view `v`. In the survey the power `r` is
    /// missing: then one view has all the weight. `λ_v` is proportional to `tr(Fᵀ𝓛_vF)^(1/(1−r))`, and
    /// [`Selection::views`] has it. As printed, the errors are `Σᵢ ‖(X W − F)ᵢ‖` (`loss=l21`); but samples
    /// that can be fitted exactly then pull `F` away from the clusters, which is why squares are the
    /// default. Squared and with one view it is [`Ndfs`](crate::Ndfs). A view whose features are all
    /// constant has no graph, and no weight.
    ///
    /// `α` is the share `alpha_ratio` of the smallest at which no feature predicts the indicators `F₀` of the
    /// start, `2 maxⱼ ‖xⱼᵀF₀‖`, or `maxⱼ ‖xⱼᵀU₀‖` with the rows of `F₀` brought to length 1 where `loss=l21`.
    ///
    /// Lengths are smoothed, `√(‖·‖² + ε)`, as in the reweighting of the paper: below `√ε`, which is 0.03 of
    /// a typical row of `F` at the default, they count nearly as squares. Smaller `ε` takes more steps. The
    /// problem is not convex: the descent starts at indicators of the graph of all features (see
    /// [`Ndfs`](crate::Ndfs)); every step moves `F` and `W` together, on quadratic functions above the
    /// lengths, so that the objective never rises. The certificate is the stationarity at the answer: the
    /// projected gradient in `F`, relative to its parts, or that in `W`, relative to the one at zero,
    /// whichever is larger.
    ///
    /// Cost: the neighbours, `O(n² d)`; a step factors a matrix as large as there are features or samples,
    /// whichever are fewer, and takes up to 500 products with the table, `n d c`, or with a matrix of the
    /// samples, `n² c`, of at most 512 samples where that is less. Memory: three copies of the table.
    ///
    /// # Errors
    /// No views; fewer than two samples; clusters not below the number of samples; a sample all
    /// of whose edges have weight 0; a NaN or an infinity, naming the cell; parameters out of range; sample
    /// weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, Views};
    /// use fewest_linear::{Aumfs, Clusters, SharedIndicators};
    ///
    /// // A feature of each view places the samples in groups; the others are noise.
    /// let group = |step: i32| (0..40).map(move |i| f64::from(i % 2) * 9.0 + f64::from(i * step % 40) / 20.0);
    /// let noise = |step: i32| (0..40).map(|i| f64::from(i * step % 41)).collect::<Vec<f64>>();
    /// let columns = [noise(11), group(7).collect(), group(3).collect(), noise(17)];
    /// let views = Views::new(4, vec![("a".to_owned(), vec![0, 1]), ("b".to_owned(), vec![2, 3])])?;
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?.with_views(views)?;
    /// let clusters = Clusters { clusters: Some(2), ..Clusters::default() };
    /// let aumfs = Aumfs { shared: SharedIndicators { clusters, ..SharedIndicators::default() } };
    /// let selection = aumfs.select(&data, Budget::Count(2), &Context::default())?;
    /// let mut order = selection.order;
    /// order.sort();
    /// assert_eq!(order, [1, 2]);
    /// assert_eq!(selection.views.len(), 2);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Aumfs {
        /// The indicators and the regression.
        pub shared: SharedIndicators = SharedIndicators::default();
    }
}

options! {
    /// MVFS, multi-view feature selection (Tang, Hu, Gao and Liu 2013; Eq. 109 of Li et al. 2016, with the
    /// sum over the views): as [`Aumfs`], with a regression for every view by itself.
    ///
    /// ```text
    /// minimise over F ≥ 0, W, λ
    ///     Σ_v { λ_vʳ tr(Fᵀ 𝓛_v F) + β [‖X_v W_v − F‖² + α Σⱼ ‖W_vj‖] } + γ/2 ‖FᵀF − I‖²
    ///
    /// λ ≥ 0,   Σ_v λ_v = 1,   score(k) = ‖W_k‖
    /// ```
    ///
    /// A feature need not compete with those of other views: each view predicts the indicators alone. The
    /// text of the survey has squared errors, its formula their lengths (`loss=l21`). Features are
    /// standardised, and scores of all views ranked as they are. With one view it is [`Aumfs`].
    ///
    /// Everything else, cost and errors included, is as there.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, Views};
    /// use fewest_linear::{Clusters, Mvfs, SharedIndicators};
    ///
    /// let group = |step: i32| (0..40).map(move |i| f64::from(i % 2) * 9.0 + f64::from(i * step % 40) / 20.0);
    /// let noise = |step: i32| (0..40).map(|i| f64::from(i * step % 41)).collect::<Vec<f64>>();
    /// let columns = [noise(11), group(7).collect(), group(3).collect(), noise(17)];
    /// let views = Views::new(4, vec![("a".to_owned(), vec![0, 1]), ("b".to_owned(), vec![2, 3])])?;
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?.with_views(views)?;
    /// let clusters = Clusters { clusters: Some(2), ..Clusters::default() };
    /// let mvfs = Mvfs { shared: SharedIndicators { clusters, ..SharedIndicators::default() } };
    /// let mut order = mvfs.select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [1, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Mvfs {
        /// The indicators and the regressions.
        pub shared: SharedIndicators = SharedIndicators::default();
    }
}

/// The regressions at fixed indicators, with lengths that are not smoothed: the convex part of the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewRegression {
    /// `tr(Fᵀ 𝓛_v F)` of every view.
    pub traces: Vec<f64>,
    /// The penalty α.
    pub alpha: f64,
    /// The least `‖X W − F‖² + α Σⱼ ‖Wⱼ‖`, or with `Σᵢ ‖(X W − F)ᵢ‖`, summed over the regressions.
    pub fit: f64,
    /// The largest of their duality gaps, each relative to its objective at `W = 0`.
    pub gap: f64,
    /// `‖W_k‖` of every feature.
    pub scores: Vec<f64>,
}

/// The regressions of a method: on all features, or on those of each view.
fn regressions(data: &Dataset, views: &Views, method: &'static str) -> Vec<Vec<usize>> {
    if method == "mvfs" { views.sets() } else { vec![(0..data.n_features()).collect()] }
}

/// The smallest `α` at which no feature of any regression predicts `f`.
fn largest(parts: &[Part], f: &DMatrix<f64>, loss: ViewLoss) -> f64 {
    parts.iter().map(|part| part.largest(f, loss, 0.0)).fold(0.0, f64::max)
}

/// The graph of each view; none of one whose features are constant.
fn graphs(
    data: &Dataset,
    views: &Views,
    clusters: &Clusters,
    context: &Context<'_>,
) -> Result<Vec<Option<NeighbourGraph>>, Error> {
    let constant = data.constant_features()?;
    let graph = |features: &Vec<usize>| {
        if features.iter().all(|j| constant.contains(j)) {
            return Ok(None);
        }
        clusters.graph.build(&data.feature_subset(features)?, context).map(Some)
    };
    views.sets().iter().map(graph).collect()
}

/// What the methods with indicators begin with.
pub(super) struct Opened {
    pub(super) designs: Vec<(Design, Vec<usize>)>,
    pub(super) indicators: DMatrix<f64>,
    pub(super) notes: Vec<String>,
}

/// The standardised features of each regression that has some, and the first indicators; the selections where
/// no feature varies.
pub(super) fn open(
    data: &Dataset,
    method: &'static str,
    regressions: Vec<Vec<usize>>,
    clusters: &Clusters,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Result<Opened, Vec<Selection>>, Error> {
    // Of all features first: errors then name the cells of the whole table.
    let whole = Design::new(data, method, context)?;
    if let Some(nothing) = whole.rows.nothing(budgets) {
        return Ok(Err(nothing));
    }
    let (n, p) = whole.x.shape();
    let side = n.min(p);
    drop(room("memory for its matrices", &[4, side, side], method, "use fewer samples or features")?);
    let graph = clusters.graph.build(data, context)?;
    let embedding = SpectralEmbedding::of_clusters(&graph, clusters.clusters, context)?;
    let designs = if let [all] = &regressions[..]
        && all.len() == data.n_features()
    {
        vec![(whole, all.clone())]
    } else {
        let mut designs = Vec::with_capacity(regressions.len());
        for features in regressions {
            let design = Design::new(&data.feature_subset(&features)?, method, context)?;
            if design.x.ncols() > 0 {
                designs.push((design, features));
            }
        }
        designs
    };
    let (indicators, notes) = (from_embedding(&graph, &embedding), clusters.notes(&embedding));
    Ok(Ok(Opened { designs, indicators, notes }))
}

/// The mean squared length of a row.
pub(super) fn mean_square(f: &DMatrix<f64>) -> f64 {
    f.norm_squared() / f.nrows() as f64
}

/// The descent of a method, and a selection for each budget.
pub(super) fn select_by(
    descent: &Descent<'_>,
    indicators: DMatrix<f64>,
    notes: &[String],
    views: &Views,
    n_features: usize,
    budgets: &[Budget],
) -> Result<Vec<Selection>, Error> {
    if descent.alpha == 0.0 {
        return each_budget(budgets, descent.context, |budget| {
            let mut none = Selection::by_weight(Vec::new(), n_features, budget, Status::Converged);
            none.notes.extend(notes.iter().cloned());
            none.note_missing_features(budget, "no feature predicts the indicators of the start");
            Ok(none)
        });
    }
    let (end, status, steps, first_objective) = descent.minimise(indicators)?;
    let start = "indicators of the clusters of all features' graph";
    let summary = DescentSummary::new(start, first_objective, end.objective);
    let report =
        SolverReport::new("irls", status, end.objective, Certificate::stationarity(end.stationarity))
            .with_lambda(descent.alpha)
            .with_iterations(steps);
    let mut scores = Vec::new();
    for (part, w) in descent.parts.iter().zip(&end.w) {
        scores.extend(part.design.rows.scores(w).into_iter().map(|(j, score)| (part.features[j], score)));
    }
    each_budget(budgets, descent.context, |budget| {
        let mut selection = Selection::by_weight(scores.clone(), n_features, budget, status);
        selection.solver = Some(report.clone());
        selection.descent = Some(summary.clone());
        selection.notes.extend(notes.iter().cloned());
        selection.notes.push(summary.to_string());
        selection.note_missing_features(budget, OTHERS_ARE_CONSTANT);
        if descent.graphs.is_empty() {
            weigh_views(views, &mut selection);
        } else {
            selection.views = ViewWeight::of(views.names(), &end.weights);
        }
        Ok(selection)
    })
}

impl SharedIndicators {
    fn select_many(
        &self,
        method: &'static str,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        data.refuse_sample_weights(method)?;
        let views = data.needed_views(method)?;
        let regressions = regressions(data, views, method);
        opened(data, budgets, self.tolerance, context)?;
        let opened = match open(data, method, regressions, &self.clusters, budgets, context)? {
            Ok(opened) => opened,
            Err(nothing) => return Ok(nothing),
        };
        let part = |(design, features)| Part { design, features, view_of: None };
        let Self { alpha_ratio, beta, gamma, loss, smoothing, tolerance, .. } = *self;
        let parts: Vec<Part> = opened.designs.into_iter().map(part).collect();
        let descent = Descent {
            alpha: alpha_ratio * largest(&parts, &opened.indicators, loss),
            parts,
            graphs: graphs(data, views, &self.clusters, context)?,
            loss,
            ratio: 0.0,
            beta,
            gamma,
            power: self.power as f64,
            smoothing: smoothing * mean_square(&opened.indicators),
            tolerance,
            context,
        };
        select_by(&descent, opened.indicators, &opened.notes, views, data.n_features(), budgets)
    }

    fn regression(
        &self,
        method: &'static str,
        data: &Dataset,
        f: &[Vec<f64>],
        context: &Context<'_>,
    ) -> Result<ViewRegression, Error> {
        self.check()?;
        let indicators = factors_of("f", f, data.n_samples())?;
        let control = opened(data, &[], self.tolerance, context)?;
        let trace = |graph: &Option<NeighbourGraph>| {
            graph.as_ref().map_or(0.0, |graph| indicators.dot(&laplacian(graph, &indicators)))
        };
        let views = data.needed_views(method)?;
        let traces = graphs(data, views, &self.clusters, context)?.iter().map(trace).collect();
        let mut parts = Vec::new();
        for features in regressions(data, views, method) {
            let design = Design::new(&data.feature_subset(&features)?, method, context)?;
            parts.push(Part { design, features, view_of: None });
        }
        let alpha = self.alpha_ratio * largest(&parts, &indicators, self.loss);
        if alpha == 0.0 {
            return Err(Error::parameter("f", "indicators that no feature predicts", "others"));
        }
        let (mut fit, mut gap, mut scores) = (0.0, 0.0_f64, vec![0.0; data.n_features()]);
        for Part { features, .. } in parts {
            let own = data.feature_subset(&features)?;
            let (value, its_gap, its_scores) = match self.loss {
                ViewLoss::Squared => {
                    let columns = LinearColumns::with_outputs(&own, method, Vec::new(), context)?;
                    let regression = Regression { columns: &columns, alpha, control };
                    let found = regression.solve(&indicators, None)?;
                    (found.value, found.gap, regression.scores(&found))
                }
                ViewLoss::Lengths => {
                    let found = sum_of_lengths(&own, method, f.concat(), alpha, control, context)?;
                    (found.objective, found.gap, found.scores)
                }
            };
            fit += value;
            gap = gap.max(its_gap);
            its_scores.into_iter().for_each(|(j, score)| scores[features[j]] = score);
        }
        Ok(ViewRegression { traces, alpha, fit, gap, scores })
    }
}

/// Implements a method that is [`SharedIndicators`] with a name.
macro_rules! shared_indicators {
    ($method:ty, $id:literal) => {
        impl $method {
            /// The convex part of the problem: the regressions on given indicators `f`, a column of values
            /// for each cluster, by lengths as they are, not smoothed, to the duality gap `tolerance`. They
            /// take the place of the start in what `α` is a share of.
            ///
            /// # Errors
            /// Those of the method; indicators of another length than the samples, not finite, or such that
            /// no feature predicts them.
            pub fn regression(
                &self,
                data: &Dataset,
                f: &[Vec<f64>],
                context: &Context<'_>,
            ) -> Result<ViewRegression, Error> {
                self.shared.regression($id, data, f, context)
            }
        }

        impl Selector for $method {
            fn select(
                &self,
                data: &Dataset,
                budget: Budget,
                context: &Context<'_>,
            ) -> Result<Selection, Error> {
                Selection::only(self.select_many(data, &[budget], context)?)
            }

            /// One descent serves all budgets.
            fn select_many(
                &self,
                data: &Dataset,
                budgets: &[Budget],
                context: &Context<'_>,
            ) -> Result<Vec<Selection>, Error> {
                self.shared.select_many($id, data, budgets, context)
            }
        }
    };
}

shared_indicators!(Aumfs, "aumfs");
shared_indicators!(Mvfs, "mvfs");
