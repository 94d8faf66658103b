//! Tree-structured group lasso.

use std::collections::BTreeSet;

use fewest_core::{Context, Dataset, Error, choice, options};
use fewest_solver::{InnerProducts, TreeLasso as TreePenalty};

use super::Fitting;
use super::correlation;
use super::engine::{Structured, structured_selector};
use super::structure::Structure;
use crate::columns::LinearColumns;

choice! {
    /// Where groups within groups come from.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Hierarchy {
        /// The groups given with the data, which must be nested.
        Given = "given" selects_groups,
        /// Features that are connected by absolute correlations above a threshold, for several thresholds.
        Correlation {
            /// Absolute correlation above which two features are in one of the outermost groups.
            threshold: f64 = 0.5, ProperFraction;
            /// Number of thresholds, at equal distances from the first to 1, which is left out.
            levels: usize = 3, Between(1, 64);
        } = "correlation",
    }
}

options! {
    /// Tree-structured group lasso (Kim and Xing 2010; Liu and Ye 2010; Eq. 90 of the survey): a group that
    /// is not selected excludes all groups in it.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ Σ_G √|G| ‖w_G‖₂
    /// ```
    ///
    /// over all groups `G` of a tree and, with `leaves`, over single features. Without them a feature in no
    /// group is still one of its own. The prox of the penalty is exact, in one pass from the leaves to the
    /// root. Groups that are the same count as often as they are given.
    ///
    /// Data, scores and the meaning of a number of features are those of [`GroupLasso`](crate::GroupLasso).
    ///
    /// # Errors
    /// As of the lasso; groups of which two overlap and neither contains the other.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Groups, Selector, Target};
    /// use fewest_linear::TreeLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let columns = [wave(1), wave(17), wave(23), wave(29)];
    /// let target = columns[0].iter().zip(&columns[1]).map(|(a, b)| 3.0 * a - b).collect();
    /// // Features 0 and 1 in group 0, which is in group 1 together with 2 and 3.
    /// let groups = Groups::tree(4, vec![Some(0), Some(0), Some(1), Some(1), Some(1), None])?;
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target)?)?
    ///     .with_feature_groups(groups)?;
    /// let selection = TreeLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct TreeLasso {
        /// Where the groups come from.
        pub groups: Hierarchy = Hierarchy::default();
        /// Whether every single feature is a group, too.
        pub leaves: bool = true;
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

impl Structured for TreeLasso {
    const ID: &'static str = "tree-lasso";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let mut sets = self.groups.sets(data, columns, context)?;
        let mut alone = vec![true; data.n_features()];
        sets.iter().flatten().for_each(|&j| alone[j] &= self.leaves);
        sets.extend((0..data.n_features()).filter(|&j| alone[j]).map(|j| vec![j]));
        // The columns of a feature are together wherever it is.
        let (sets, n) = (columns.sets(&sets), columns.n_atoms());
        TreePenalty::new(1.0, n, &sets).map_err(|error| Error::Unsupported {
            method: Self::ID,
            what: format!("groups that are no tree: {error}"),
            instead: "give groups of which one contains the other, or that have nothing in common".to_owned(),
        })?;
        Ok(Structure::coupled(move |lambda| TreePenalty::new(lambda, n, &sets)))
    }
}

impl Hierarchy {
    /// The features of every group.
    fn sets(
        self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Vec<usize>>, Error> {
        let Self::Correlation { threshold, levels } = self else {
            return Ok(data.feature_groups().map_or_else(Vec::new, fewest_core::Groups::sets));
        };
        let mut edges = correlation::edges(columns, threshold, context)?;
        let (mut sets, mut known) = (Vec::new(), BTreeSet::new());
        for level in 0..levels {
            let least = threshold + (1.0 - threshold) * level as f64 / levels as f64;
            edges.retain(|(_, _, r)| r.abs() > least);
            let component = correlation::components(data.n_features(), columns, &edges);
            let found = fewest_core::Groups::partition(component).sets();
            // A group that no edge has left is the same group: it has the same first feature and size.
            sets.extend(found.into_iter().filter(|set| set.len() > 1 && known.insert((set[0], set.len()))));
        }
        Ok(sets)
    }
}

structured_selector!(TreeLasso);
