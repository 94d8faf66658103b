//! Trace ratio criterion.

use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, PassSelector, SampleStream, Selection, Selector,
    SolverReport, Status, Watched, choice, options, order, rank,
};
use fewest_neighbours::GraphOptions;

use super::graph::along_edges;
use super::scatter::Scatter;
use crate::statistical::classes::{ClassTable, check_classes, stream_sums};
use fewest_columns::map_features;

choice! {
    /// What lies between and within, in the [`TraceRatio`].
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum TraceRatioStyle {
        /// Scatter between and within classes (survey Eq. 14–16). Needs classes.
        Fisher = "fisher",
        /// Variance over the neighbour graph, and change along its edges (Eq. 19–21). The target is not used.
        Laplacian(GraphOptions) = "laplacian",
    }
}

options! {
    /// The `k` features with the largest trace ratio together (Nie, Xiang, Jia, Zhang and Yan 2008; survey
    /// Eq. 13),
    ///
    /// ```text
    /// max_{|S| = k}  λ(S) = Σ_{i∈S} b_i / Σ_{i∈S} w_i,     b_i = f_iᵀ L_b f_i,   w_i = f_iᵀ L_w f_i
    /// ```
    ///
    /// which ranking by the single ratios `b_i / w_i` does not give: a large ratio of two small numbers adds
    /// little to the sums. From the `k` best ratios on, the `k` largest `b_i − λ w_i` among *all* features
    /// are taken and `λ` is that of those, until it no longer grows. That is Dinkelbach's method: it
    /// converges superlinearly to the global maximum, where `Σ_{i∈S} (b_i − λ w_i) = 0` is the largest such
    /// sum.
    ///
    /// Features are taken as they are, so their units matter: standardise them where the units mean nothing.
    /// Scores are `b_i − λ w_i`, larger is better, and can be negative. Constant features are never chosen.
    /// The report of the solver has `λ` both as the objective and as the multiplier; its gap is the largest
    /// `Σ_{i∈S} (b_i − λ w_i)` relative to `Σ_{i∈S} b_i`, which is zero at the maximum.
    ///
    /// Cost: `O(n)` a feature for the scatters (for the graph see [`LaplacianScore`](super::LaplacianScore)),
    /// then `O(d log d)` a step, of which a handful are needed.
    ///
    /// # Errors
    /// Only [`Budget::Count`] is offered, since `λ` is largest for a single feature.
    /// [`TraceRatioStyle::Fisher`] needs two classes with samples; the graph's errors otherwise.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_filters::similarity::TraceRatio;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.0, 2.0, 4.0, 6.0], vec![1.0, 5.0, 1.0, 5.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = TraceRatio::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [0]);
    /// assert_eq!(selection.solver.map(|report| report.objective), Some(4.0));
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct TraceRatio {
        /// Between and within classes, or over the neighbour graph (which the other parameters describe).
        pub style: TraceRatioStyle = TraceRatioStyle::Fisher;
    }
}

impl TraceRatio {
    fn scatters(&self, data: &Dataset, context: &Context<'_>) -> Result<Vec<Scatter>, Error> {
        match self.style {
            TraceRatioStyle::Fisher => {
                let classes = data.classes("trace-ratio")?;
                let found = classes.occurring().len();
                if found < 2 {
                    return Err(Error::TooFew { what: "classes with samples", minimum: 2, found });
                }
                let table = ClassTable::new(data, "trace-ratio")?;
                map_features(data, context, "trace ratio", |j, column| {
                    absolute(data, j, table.scatter(j, column, data.feature_kind(j))?)
                })
            }
            TraceRatioStyle::Laplacian(options) => {
                let graph = options.build(data, context)?;
                map_features(data, context, "trace ratio", |j, column| {
                    absolute(data, j, along_edges(&graph, column, data.feature_kind(j)))
                })
            }
        }
    }
}

/// The scatter of feature `j` in its own unit.
fn absolute(data: &Dataset, j: usize, scatter: Scatter) -> Result<Scatter, Error> {
    let scatter = scatter.absolute();
    if scatter.is_finite() {
        return Ok(scatter);
    }
    Err(overflow(&format!("feature `{}`", data.feature_name(j))))
}

fn overflow(feature: &str) -> Error {
    let hint = format!("the squares of {feature} overflow: take it in a larger unit");
    Error::Numerical { what: "the scatter of a feature", hint }
}

impl Selector for TraceRatio {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("trace-ratio")?;
        budget.check(data.n_features())?;
        let wanted = wanted(budget)?;
        Ok(selection(&self.scatters(data, context)?, &data.constant_features()?, wanted))
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        (self.style == TraceRatioStyle::Fisher).then_some(self)
    }
}

/// Between and within classes only: a graph needs all samples.
impl PassSelector for TraceRatio {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let wanted = wanted(budget)?;
        let mut watched = Watched::new(stream);
        let sums = stream_sums(&mut watched, "trace-ratio", context)?;
        budget.check(sums.len())?;
        if let Some((sums, _)) = sums.first() {
            check_classes(&sums.spread().counts)?;
        }
        let scatters: Vec<Scatter> = sums.into_iter().map(|sums| Scatter::of(sums).absolute()).collect();
        if let Some(j) = scatters.iter().position(|scatter| !scatter.is_finite()) {
            return Err(overflow(&format!("feature {j} (counted from 0)")));
        }
        Ok(selection(&scatters, &watched.constant_features(), wanted))
    }
}

/// The number of features.
fn wanted(budget: Budget) -> Result<usize, Error> {
    match budget {
        Budget::Count(wanted) => Ok(wanted),
        _ => Err(Error::Unsupported {
            method: "trace-ratio",
            what: "a selection without a number of features".to_owned(),
            instead: "say how many features are wanted".to_owned(),
        }),
    }
}

/// The best set of `wanted` features that are not `constant`.
fn selection(scatters: &[Scatter], constant: &[usize], wanted: usize) -> Selection {
    let candidates: Vec<usize> = (0..scatters.len()).filter(|j| constant.binary_search(j).is_err()).collect();
    let k = wanted.min(candidates.len());
    let found = maximise(scatters, &candidates, k);
    let mut selection = Selection::new(found.order, found.scores, scatters.len(), Status::Converged);
    if k < wanted {
        selection.notes.push(format!("{k} of {wanted} features: all others are constant"));
    }
    selection.solver = (k > 0).then_some(
        SolverReport::new("dinkelbach", Status::Converged, found.lambda, Certificate::gap(found.gap))
            .with_lambda(found.lambda)
            .with_iterations(found.iterations),
    );
    selection
}

struct Maximum {
    order: Vec<usize>,
    scores: Vec<f64>,
    lambda: f64,
    gap: f64,
    iterations: usize,
}

/// `a / b` with `0 / 0 = 0`.
fn ratio(between: f64, within: f64) -> f64 {
    if between > 0.0 { between / within } else { 0.0 }
}

fn maximise(scatters: &[Scatter], candidates: &[usize], k: usize) -> Maximum {
    let top = |values: &[f64]| -> Vec<usize> {
        rank(values, true).into_iter().take(k).map(|at| candidates[at]).collect()
    };
    let sums = |chosen: &[usize]| {
        chosen.iter().fold((0.0, 0.0), |(between, within), &j| {
            (between + scatters[j].between, within + scatters[j].within)
        })
    };
    let ratios: Vec<f64> =
        candidates.iter().map(|&j| ratio(scatters[j].between, scatters[j].within)).collect();
    let mut order = top(&ratios);
    let (between, within) = sums(&order);
    let mut lambda = ratio(between, within);
    let mut iterations = 0;
    // Nothing varies within: any multiplier is too small, and only what lies between still tells features
    // apart.
    while lambda.is_finite() {
        iterations += 1;
        let merits: Vec<f64> =
            candidates.iter().map(|&j| scatters[j].between - lambda * scatters[j].within).collect();
        order = top(&merits);
        // The order of summation must not decide whether λ grows.
        let mut sorted = order.clone();
        order::sort_indices(&mut sorted);
        let (between, within) = sums(&sorted);
        let next = ratio(between, within);
        // Each step but the last increases λ; rounding may let it fall by a digit at the fixed point.
        let grows = next > lambda * (1.0 + 4.0 * f64::EPSILON);
        if !grows {
            let gap = if between > 0.0 { ((between - lambda * within) / between).max(0.0) } else { 0.0 };
            let scores = order.iter().map(|&j| scatters[j].between - lambda * scatters[j].within).collect();
            return Maximum { order, scores, lambda, gap, iterations };
        }
        lambda = next;
    }
    let merit = |j: usize| if scatters[j].within > 0.0 { f64::NEG_INFINITY } else { scatters[j].between };
    let merits: Vec<f64> = candidates.iter().map(|&j| merit(j)).collect();
    let order = top(&merits);
    let scores = order.iter().map(|&j| merit(j)).collect();
    Maximum { order, scores, lambda, gap: 0.0, iterations }
}
