//! Generalised Fisher score.

mod exchange;
mod master;

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Classes, Context, Dataset, Error, FeatureKind, RelaxationSummary, Selection,
    Selector, SolverReport, Status, options, order, rank,
};
use nalgebra::DMatrix;

use self::master::Master;
use super::feature::{centre, is_constant, standardise};
use fewest_columns::{finite_values, map_features, parts};

/// Relaxed indicators this near to 0 or 1, or to each other, are equal: below is the solver's noise.
const TIE: f64 = 1e-6;

options! {
    /// The `k` features that maximise a lower bound of the Fisher score of all of them together (Gu, Li and
    /// Han 2011; survey Eq. 11–12), so that a feature which repeats a chosen one adds little,
    ///
    /// ```text
    /// min_{p, W}  ½ ‖X diag(p) W − H‖² + γ/2 ‖W‖²,    p ∈ {0, 1}ᵈ,  1ᵀp = k
    /// H_ij = √(n/n_j) − √(n_j/n) where y_i = j, else −√(n_j/n)
    /// ```
    ///
    /// on standardised features. With `p` relaxed to the convex hull of its values, and `W` minimised out,
    /// this is
    ///
    /// ```text
    /// min_p  J(p) = ½ tr Hᵀ (I + 1/γ Σ_j p_j x_j x_jᵀ)⁻¹ H
    /// ```
    ///
    /// which is convex; its dual is the paper's quadratically constrained linear program. The cutting planes
    /// of the paper find it: the most violated constraint is given by the `k` features with the largest
    /// `‖x_jᵀ V‖²`, `V = (I + …)⁻¹ H`, and over the features of the constraints found so far a multiple
    /// kernel learning problem is solved by ridge regressions and projected gradient steps. The gap between
    /// `J(p)` and the bound that the last constraint gives is the certificate.
    ///
    /// The `k` features with the largest `p_j` (of equal ones those with the larger `‖x_jᵀ V‖²`) need not be
    /// the best set, so features are then exchanged, one for another, as long as that lowers the objective of
    /// the set. The score of a feature is how much that would rise without it, as a share of `J(0)`. Constant
    /// features are never chosen. The solver's report has `J(p)`, the gap relative to `J(0)`, and `γ`; the
    /// selection's relaxation has the objective of the set, and the lower bound for all sets.
    ///
    /// Cost: `O(n d c)` a constraint for `c` classes, of which some dozens are needed, and `O(n d k)` an
    /// exchange; memory: the columns of the features in any constraint.
    ///
    /// # Errors
    /// Only [`Budget::Count`] is offered. A target that is not classes, a single class with samples, or a
    /// parameter out of range.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_filters::similarity::GeneralizedFisher;
    ///
    /// // The second feature repeats the first; the third adds to it.
    /// let first: Vec<f64> = (0..16).map(|i| f64::from(i / 4)).collect();
    /// let second: Vec<f64> = first.iter().enumerate().map(|(i, x)| x + 0.1 * (i % 2) as f64).collect();
    /// let third: Vec<f64> = (0..16).map(|i| f64::from(i % 4)).collect();
    /// let labels: Vec<bool> = first.iter().zip(&third).map(|(a, b)| 3.0 * a + 2.0 * b > 7.6).collect();
    /// let x = DenseColumns::from_columns(&[first, second, third])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let selection = GeneralizedFisher::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert!(selection.order.contains(&2));
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GeneralizedFisher {
        /// Penalty γ on the regression, relative to the number of samples.
        pub ridge: f64 = 0.1, Positive;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-6, Positive;
        /// Constraints after which to stop.
        pub most_constraints: usize = 200, hidden;
    }
}

impl Selector for GeneralizedFisher {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("generalized-fisher")?;
        budget.check(data.n_features())?;
        self.check()?;
        let Budget::Count(wanted) = budget else {
            return Err(Error::Unsupported {
                method: "generalized-fisher",
                what: "a selection without a number of features".to_owned(),
                instead: "say how many features are wanted".to_owned(),
            });
        };
        let labels = label_matrix(data.classes("generalized-fisher")?, context)?;
        let constant = data.constant_features()?;
        let candidates: Vec<usize> =
            (0..data.n_features()).filter(|j| constant.binary_search(j).is_err()).collect();
        let k = wanted.min(candidates.len());
        let gamma = self.ridge * data.n_samples() as f64;
        let mut products = products(data, &labels, context)?;
        let mut master = Master::new(labels.clone(), gamma, k);
        let at_zero = master.objective();
        let mut gap = f64::INFINITY;
        let mut status = Status::MaxIterations;
        let mut iterations = 0;
        while iterations < self.most_constraints && k > 0 {
            iterations += 1;
            let strengths: Vec<f64> = candidates.iter().map(|&j| products[j]).collect();
            let constraint: Vec<usize> =
                rank(&strengths, true).into_iter().take(k).map(|at| candidates[at]).collect();
            // Far from the optimum, exactness among the features found so far is wasted.
            let tolerance = 0.1 * self.tolerance.max(gap.min(1.0)) * at_zero;
            master.add(&constraint, |j| prepared(data, j), tolerance, context)?;
            if !master.objective().is_finite() {
                return Err(exchange::too_small());
            }
            products = match self::products(data, master.residual(), context) {
                Ok(products) => products,
                Err(Error::Stopped { .. }) => {
                    status = context.stopped().unwrap_or(Status::TimeLimit);
                    break;
                }
                Err(error) => return Err(error),
            };
            let mut strongest: Vec<f64> = candidates.iter().map(|&j| products[j]).collect();
            order::sort(&mut strongest);
            let best: f64 = strongest.iter().rev().take(k).sum();
            let now: f64 = master.indicators().map(|(j, weight)| weight * products[j]).sum();
            gap = (best - now).max(0.0) / (2.0 * gamma) / at_zero;
            if gap <= self.tolerance {
                status = Status::Converged;
                break;
            }
        }
        let mut chosen: Vec<(usize, f64)> = master.indicators().collect();
        let level = |weight: f64| (weight / TIE).round();
        chosen.sort_by(|a, b| {
            level(b.1)
                .total_cmp(&level(a.1))
                .then(products[b.0].total_cmp(&products[a.0]))
                .then(a.0.cmp(&b.0))
        });
        let count = |is: fn(f64) -> bool| chosen.iter().filter(|(_, weight)| is(*weight)).count();
        let n_above = count(|weight| weight >= 1.0 - TIE);
        let n_tied = count(|weight| weight > TIE && weight < 1.0 - TIE);
        if k == 0 {
            let mut selection = Selection::new(Vec::new(), Vec::new(), data.n_features(), Status::Converged);
            selection.note_missing_features(budget, "all features are constant");
            return Ok(selection);
        }
        let first: Vec<usize> = chosen.into_iter().take(k).map(|(j, _)| j).collect();
        let set = exchange::improve(data, &labels, gamma, first, &candidates, context)?;
        let status = Status::worst([status, set.status]);
        let mut selection = Selection::new(Vec::new(), Vec::new(), data.n_features(), status);
        for at in rank(&set.losses, true) {
            selection.order.push(set.features[at]);
            selection.scores.push(set.losses[at] / at_zero);
        }
        let lower_bound = (master.objective() - gap * at_zero).max(0.0);
        let mut relaxation = RelaxationSummary::default();
        (relaxation.objective, relaxation.lower_bound, relaxation.n_swaps) =
            (set.objective, lower_bound, set.n_swaps);
        (relaxation.n_above, relaxation.n_tied) = (n_above, n_tied);
        relaxation.n_below = candidates.len() - n_above - n_tied;
        selection.notes.push(format!(
            "the set has the objective {:.6}, with {} exchanged; no set of {k} has less than {lower_bound:.6}",
            set.objective, set.n_swaps
        ));
        selection.objective = Some(set.objective);
        selection.relaxation = Some(relaxation);
        selection.note_missing_features(budget, "all others are constant");
        selection.solver = Some(
            SolverReport::new("cutting-plane", status, master.objective(), Certificate::gap(gap))
                .with_lambda(gamma)
                .with_iterations(iterations),
        );
        Ok(selection)
    }
}

/// `H` of Eq. (12), a column for each class with samples.
///
/// # Errors
/// [`Error::TooFew`] classes; [`Error::Stopped`], since there may be nearly as many as samples.
fn label_matrix(classes: &Classes, context: &Context<'_>) -> Result<DMatrix<f64>, Error> {
    let n = classes.codes().len() as f64;
    let (counts, occurring) = (classes.counts(), classes.occurring());
    if occurring.len() < 2 {
        return Err(Error::TooFew { what: "classes with samples", minimum: 2, found: occurring.len() });
    }
    let n_classes = occurring.len();
    let mut labels = Vec::with_capacity(classes.codes().len() * n_classes);
    for class in occurring {
        if context.stopped().is_some() {
            return Err(Error::Stopped { before: "the classes had been read" });
        }
        let count = counts[class as usize] as f64;
        let (indicator, mean) = ((n / count).sqrt(), (count / n).sqrt());
        labels.extend(
            classes.codes().iter().map(|code| if *code == class { indicator - mean } else { 0.0 - mean }),
        );
    }
    Ok(DMatrix::from_vec(classes.codes().len(), n_classes, labels))
}

/// The standardised columns of feature `j`; none for a constant. A categorical feature has an indicator a
/// level, all on the scale on which they add up, over all levels, to the length of one standardised column.
fn prepared(data: &Dataset, j: usize) -> Result<Vec<Vec<f64>>, Error> {
    Ok(standardised_parts(finite_values(data, j)?, data.feature_kind(j)))
}

fn standardised_parts(values: Vec<f64>, kind: &FeatureKind) -> Vec<Vec<f64>> {
    let mut columns = parts(values, kind);
    columns.retain(|column| !is_constant(column));
    match kind {
        FeatureKind::Categorical { .. } => {
            let variance: f64 = columns.iter_mut().map(|column| centre(column).powi(2)).sum();
            let scale = variance.sqrt();
            columns.iter_mut().flatten().for_each(|value| *value /= scale);
        }
        _ => columns.iter_mut().for_each(|column| standardise(column)),
    }
    columns
}

/// `‖x_jᵀ V‖²` for every feature.
fn products(data: &Dataset, v: &DMatrix<f64>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
    map_features(data, context, "generalized fisher", |j, column| {
        let columns = standardised_parts(column.to_vec(data.n_samples()), data.feature_kind(j));
        let product = |x: &[f64], v: &[f64]| x.iter().zip(v).map(|(x, v)| x * v).sum::<f64>();
        let squares = columns
            .iter()
            .flat_map(|x| v.as_slice().chunks_exact(v.nrows()).map(move |v| product(x, v).powi(2)));
        Ok(squares.sum())
    })
}
