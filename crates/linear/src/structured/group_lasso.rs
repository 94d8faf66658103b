//! Group lasso and sparse group lasso.

use std::collections::BTreeMap;

use fewest_core::{Context, Dataset, Error, options};
use fewest_solver::GroupLasso as GroupPenalty;

use super::Fitting;
use super::engine::{Structured, structured_selector};
use super::groups::Grouping;
use super::structure::Structure;
use crate::columns::LinearColumns;

options! {
    /// Group lasso (Yuan and Lin 2006; Eq. 86 of the survey): all features of a group are selected, or none.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ Σ_g √|g| ‖w_g‖₂
    /// ```
    ///
    /// Features and target are standardised as for [`Lasso`](crate::Lasso), and several outputs, each with
    /// its own coefficients, share `λ`. The columns of a categorical feature are in one group. Features are
    /// ranked by the size of their coefficient, which is their score, with its sign; where there is one for
    /// each of several outputs or levels, by their Euclidean norm.
    ///
    /// With `Budget::Count(k)` the answer is for the smallest `λ` that a search by bisection finds to leave
    /// at most `k` features; where a group enters at once so that none leaves exactly `k`, for the next one,
    /// cut.
    ///
    /// Cost: as of the lasso; a group enters with all its features.
    ///
    /// # Errors
    /// As of the lasso; groups that overlap or are a tree.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Groups, Selector, Target};
    /// use fewest_linear::GroupLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let columns = [wave(1), wave(17), wave(23), wave(29)];
    /// let target = columns[0].iter().zip(&columns[1]).map(|(a, b)| 3.0 * a - 0.1 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target)?)?
    ///     .with_feature_groups(Groups::partition(vec![0, 0, 1, 1]))?;
    /// let selection = GroupLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct GroupLasso {
        /// Where the groups come from.
        pub groups: Grouping = Grouping::default();
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

options! {
    /// Sparse group lasso (Simon, Friedman, Hastie and Tibshirani 2013; Eq. 87 of the survey): few groups,
    /// and few features in each.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_g √|g| ‖w_g‖₂ ]
    /// ```
    ///
    /// Data, scores, errors and the meaning of a number of features are those of [`GroupLasso`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Groups, Selector, Target};
    /// use fewest_linear::SparseGroupLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let columns = [wave(1), wave(17), wave(23), wave(29)];
    /// let target = columns[0].iter().zip(&columns[2]).map(|(a, b)| 3.0 * a - 2.0 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target)?)?
    ///     .with_feature_groups(Groups::partition(vec![0, 0, 1, 1]))?;
    /// let selection = SparseGroupLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct SparseGroupLasso {
        /// Share of the l1 norm in the penalty; 1 is the lasso.
        pub l1_ratio: f64 = 0.5, Fraction;
        /// What it shares with the group lasso.
        pub group_lasso: GroupLasso = GroupLasso::default();
    }
}

/// Most columns of a group that descends by residuals: the products of its columns with each other are small
/// beside the columns.
const LARGEST_GROUP: usize = 100;

/// `λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_g √|g| ‖w_g‖₂]`.
fn structure(groups: Vec<usize>, l1_ratio: f64) -> Structure {
    let mut sizes = BTreeMap::new();
    groups.iter().for_each(|group| *sizes.entry(*group).or_insert(0) += 1);
    let largest = sizes.values().copied().max().unwrap_or(0);
    let structure = Structure::by_blocks(move |lambda| {
        let penalty = GroupPenalty::new((1.0 - l1_ratio) * lambda, &groups)?.weighted_by_size();
        penalty.with_l1(l1_ratio * lambda)
    });
    if (2..=LARGEST_GROUP).contains(&largest) { structure.by_residuals() } else { structure }
}

impl Structured for GroupLasso {
    const ID: &'static str = "group-lasso";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        Ok(structure(self.groups.partition(data, columns, Self::ID, context)?, 0.0))
    }
}

impl Structured for SparseGroupLasso {
    const ID: &'static str = "sparse-group-lasso";

    fn fitting(&self) -> &Fitting {
        &self.group_lasso.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let groups = self.group_lasso.groups.partition(data, columns, Self::ID, context)?;
        Ok(structure(groups, self.l1_ratio))
    }
}

structured_selector!(GroupLasso);
structured_selector!(SparseGroupLasso);
