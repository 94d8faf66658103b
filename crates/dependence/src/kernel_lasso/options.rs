//! What can be chosen about the lasso.

use fewest_core::method::Regularization;
use fewest_core::{Error, choice, options};
use fewest_solver::SolverChoice;

choice! {
    /// The penalty of the lasso over kernels.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum LassoPenalty {
        /// `λ Σ αₖ`.
        L1 = "l1",
        /// `λ Σ αₖ + ½ ridge Σ αₖ²` (Section 2.6).
        ElasticNet {
            /// Ridge, as a share of the largest squared norm of a Gram matrix.
            ///
            /// So it does not depend on the number of samples. The default is a moderate one.
            ridge: f64 = 0.1, Positive;
        } = "elastic-net",
        /// `λ Σ_g ‖α_g‖₂` over the data set's feature groups (Section 2.6).
        Group = "group" selects_groups,
    }
}

options! {
    /// How the lasso is solved, and where on its path the answer is.
    #[derive(Debug, Clone)]
    pub struct LassoOptions {
        /// Where on the path the answer is taken.
        ///
        /// [`Regularization::Paper`] is the rule in the caption of Fig. 1 for `Budget::Count(k)`: a λ with
        /// `k` to `k + 10` non-zero coefficients, here the smallest, and of these the `k` largest.
        pub regularization: Regularization = Regularization::Count, offers(ValueOrZero, Ratio, Paper);
        /// Penalty; elastic-net adds ½ ridge Σ αₖ², group takes the features of a group as one.
        pub penalty: LassoPenalty = LassoPenalty::L1;
        /// Solver; auto: the exact path for a number of features, coordinate descent for a given λ.
        pub solver: SolverChoice = SolverChoice::Auto;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
        /// Features that must be in: they carry no penalty and come first.
        ///
        /// They count towards the budget.
        pub forced: Vec<usize> = Vec::new();
        /// Features whose part in the target is taken out first; not selected themselves.
        ///
        /// Age, batch and the like: they carry no penalty and may have any sign.
        pub covariates: Vec<usize> = Vec::new();
        /// Most related features listed for each selected one; 0 saves a pass over the data.
        pub related: usize = 10;
    }
}

impl LassoOptions {
    /// Checks the lists of features against their number.
    pub(super) fn check_features(&self, n_features: usize) -> Result<(), Error> {
        for (name, features) in [("forced", &self.forced), ("covariates", &self.covariates)] {
            if let Some(j) = features.iter().find(|&&j| j >= n_features) {
                return Err(Error::parameter(name, j, format!("below the number of features, {n_features}")));
            }
        }
        if let Some(j) = self.forced.iter().find(|j| self.covariates.contains(j)) {
            return Err(Error::parameter(
                "covariates",
                j,
                "a feature that is not forced in as well: name it once",
            ));
        }
        Ok(())
    }
}
