//! Group lasso with groups that overlap.

use fewest_core::{Context, Dataset, Error, Groups, options, words};
use fewest_solver::{GroupLasso as GroupPenalty, InnerProducts, OverlappingGroupLasso as OverlappingPenalty};

use super::Fitting;
use super::engine::{Structured, structured_selector};
use super::groups::Grouping;
use super::structure::Structure;
use crate::columns::LinearColumns;

words! {
    /// What groups that overlap mean.
    #[derive(Default)]
    pub enum Overlap {
        /// The norm of every group as it is: a group that is zero takes its features from all others.
        #[default]
        Norm = "norm",
        /// A coefficient is a sum with one part for each of its groups: features of a group that is chosen
        /// are chosen.
        Latent = "latent",
    }
}

options! {
    /// Group lasso with groups that share features (Jenatton, Audibert and Bach 2011; Jacob, Obozinski and
    /// Vert 2009; Eq. 88 of the survey).
    ///
    /// ```text
    /// norm     minimise over w    1/(2n) ‖y − X w‖² + λ [ l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_g √|g| ‖w_g‖₂ ]
    /// latent   minimise over v_g  1/(2n) ‖y − X w‖² + λ Σ_g [ l1_ratio ‖v_g‖₁ + (1 − l1_ratio) √|g| ‖v_g‖₂ ]
    ///          where              w = Σ_g v_g, and v_g is zero outside group g
    /// ```
    ///
    /// They select differently: with the norms of the groups as they are, the features that are **not**
    /// selected are a union of groups; with latent parts those that **are**. The survey prints the first and
    /// cites the second. A feature in no group is one of its own.
    ///
    /// The prox of the first penalty has no closed form: it is found to rounding, and so is the dual point of
    /// the certificate ([`OverlappingGroupLasso`](fewest_solver::OverlappingGroupLasso)). The second is the
    /// [`GroupLasso`](crate::GroupLasso) of copied columns. Data, scores and the meaning of a number of
    /// features are those of that.
    ///
    /// Cost: as of the group lasso, of the copied columns where `overlap` is `latent`.
    ///
    /// # Errors
    /// As of the lasso.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Groups, Selector, Target};
    /// use fewest_linear::{Overlap, OverlappingGroupLasso};
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let columns = [wave(1), wave(17), wave(23)];
    /// let target = columns[0].iter().zip(&columns[1]).map(|(a, b)| 2.0 * a - b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target)?)?
    ///     .with_feature_groups(Groups::overlapping(3, vec![vec![0, 1], vec![1, 2]])?)?;
    /// let latent = OverlappingGroupLasso { overlap: Overlap::Latent, ..OverlappingGroupLasso::default() };
    /// let selection = latent.select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct OverlappingGroupLasso {
        /// What groups that share features mean.
        pub overlap: Overlap = Overlap::Norm;
        /// Share of the l1 norm in the penalty.
        pub l1_ratio: f64 = 0.0, BelowOne;
        /// Where the groups come from.
        pub groups: Grouping = Grouping::default();
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

impl Structured for OverlappingGroupLasso {
    const ID: &'static str = "overlapping-group-lasso";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        data: &Dataset,
        columns: &LinearColumns<'_>,
        context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let mut groups = match (self.groups, data.feature_groups()) {
            (Grouping::Given, Some(groups)) => columns.sets(&groups.sets()),
            _ => Groups::partition(self.groups.partition(data, columns, Self::ID, context)?).sets(),
        };
        let (n, l1_ratio) = (columns.n_atoms(), self.l1_ratio);
        let mut alone = vec![true; n];
        groups.iter().flatten().for_each(|&column| alone[column] = false);
        groups.extend((0..n).filter(|&column| alone[column]).map(|column| vec![column]));
        Ok(match self.overlap {
            Overlap::Norm => Structure::coupled(move |lambda| {
                let penalty = OverlappingPenalty::new((1.0 - l1_ratio) * lambda, n, &groups)?;
                penalty.with_l1(l1_ratio * lambda)
            }),
            Overlap::Latent => {
                let repeated = |(g, group): (usize, &Vec<usize>)| vec![g; group.len()];
                let numbers: Vec<usize> = groups.iter().enumerate().flat_map(repeated).collect();
                let penalty = move |lambda: f64| {
                    let penalty = GroupPenalty::new((1.0 - l1_ratio) * lambda, &numbers)?.weighted_by_size();
                    penalty.with_l1(l1_ratio * lambda)
                };
                Structure::by_blocks(penalty).copied(groups.concat())
            }
        })
    }
}

structured_selector!(OverlappingGroupLasso);
