//! Lasso and elastic net.

use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector};

use super::search;
use fewest_solver::SolverChoice;

/// How strong the penalty is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Strength {
    /// As strong as leaves the features that the budget asks for. Needs `Budget::Count`.
    #[default]
    Count,
    /// This `alpha`, above 0, in the unit of the objective.
    Alpha(f64),
    /// This share, in `(0, 1]`, of the smallest `alpha` that selects nothing.
    Ratio(f64),
}

/// Lasso (Tibshirani 1996): few features whose linear combination predicts the target.
///
/// ```text
/// minimise over W   1/(2n) ‖Y − X W‖²_F + alpha ‖W‖₁
/// ```
///
/// Features and outputs are standardised (mean 0, standard deviation 1, dividing by n). The outputs of two classes are ±1, of more
/// an indicator each. A categorical feature of more than two levels enters by its level indicators. Features are ranked by the
/// size of their coefficient, which is their score; where a feature has several, by their Euclidean norm.
///
/// With `Budget::Count(k)` the answer is the point of the exact path, from the largest `alpha` down, just before more
/// than `k` features would be active for the first time ([`fewest_lars`]).
///
/// Cost: one pass over the data, and products of the features that are ever active with all others. Memory: a standardised
/// copy of the data, up to 1 GiB; beyond, columns are computed again.
///
/// # Errors
/// A target without numbers or classes, or that does not vary; a NaN or an infinity, naming the cell; no number of features
/// where one is needed; parameters out of range; sample weights.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_linear::Lasso;
///
/// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
/// let (a, b, c) = (wave(1), wave(17), wave(23));
/// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
/// let selection = Lasso::default().select(&data, Budget::Count(2), &Context::default())?;
/// assert_eq!(selection.order, [0, 2]);
/// assert!(selection.scores[0] > 0.0 && selection.scores[1] < 0.0);
/// # Ok::<(), fewest_linear::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lasso {
    /// How strong the penalty is. Default: by number of features.
    pub strength: Strength,
    /// The solver. Default: the exact path for a number of features, coordinate descent for a given penalty.
    pub solver: SolverChoice,
    /// Duality gap to reach, relative to the objective at zero. Default 1e-9; range above 0.
    pub tolerance: f64,
}

impl Default for Lasso {
    fn default() -> Self {
        Self { strength: Strength::default(), solver: SolverChoice::default(), tolerance: 1e-9 }
    }
}

/// Elastic net (Zou and Hastie 2005): [`Lasso`] with a ridge, so that features that resemble each other come together.
///
/// ```text
/// minimise over W   1/(2n) ‖Y − X W‖²_F + alpha l1_ratio ‖W‖₁ + ½ alpha (1 − l1_ratio) ‖W‖²_F
/// ```
///
/// With `Budget::Count(k)` the answer is for the smallest `alpha` that a search by bisection finds to leave at most `k` features.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_linear::ElasticNet;
///
/// // Two copies of one feature: the ridge shares the coefficient between them.
/// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
/// let (a, b) = (wave(1), wave(17));
/// let target = Target::real(a.iter().map(|a| 3.0 * a).collect())?;
/// let data = Dataset::new(DenseColumns::from_columns(&[a.clone(), b, a])?, target)?;
/// let selection = ElasticNet::default().select(&data, Budget::Count(2), &Context::default())?;
/// assert_eq!(selection.order, [0, 2]);
/// assert!((selection.scores[0] - selection.scores[1]).abs() < 1e-6);
/// # Ok::<(), fewest_linear::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ElasticNet {
    /// The share of the l1 norm in the penalty, above 0 and at most 1. Default 0.5.
    pub l1_ratio: f64,
    /// What it shares with the lasso.
    pub lasso: Lasso,
}

impl Default for ElasticNet {
    fn default() -> Self {
        Self { l1_ratio: 0.5, lasso: Lasso::default() }
    }
}

impl Selector for Lasso {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        search::select_many("lasso", data, 1.0, self, budgets, context)
    }
}

impl Selector for ElasticNet {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        if !(self.l1_ratio > 0.0 && self.l1_ratio <= 1.0) {
            return Err(Error::parameter("l1_ratio", self.l1_ratio, "above 0 and at most 1"));
        }
        search::select_many("elastic-net", data, self.l1_ratio, &self.lasso, budgets, context)
    }
}
