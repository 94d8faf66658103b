//! What can be chosen about the lasso.

use fewest_core::Error;
use fewest_solver::SolverChoice;

/// Where on the regularisation path the answer is taken.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Level {
    /// As many features as the budget asks for: the last point before one more would be active for the first
    /// time. Needs `Budget::Count`.
    #[default]
    Count,
    /// The paper's rule (caption of Fig. 1) for `Budget::Count(k)`: a λ with `k` to `k + 10` non-zero
    /// coefficients, here the smallest, and of these the `k` largest.
    Paper,
    /// This λ, in the unit of Eq. (3).
    Lambda(f64),
    /// This share, in `(0, 1]`, of the smallest λ for which all coefficients are zero.
    LambdaRatio(f64),
}

/// The penalty.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Regularizer {
    /// `λ Σ αₖ`.
    #[default]
    L1,
    /// `λ Σ αₖ + ½ ridge Σ αₖ²` (Section 2.6). The ridge is a share, above 0, of the largest squared norm of a
    /// Gram matrix, so that it means the same for any number of samples.
    ElasticNet {
        /// The share. 0.1 is a moderate one.
        ridge: f64,
    },
    /// `λ Σ_g ‖α_g‖₂` over the data set's feature groups (Section 2.6).
    Group,
}

/// How the lasso is solved.
#[derive(Debug, Clone)]
pub struct LassoOptions {
    /// Where on the path the answer is taken. Default: by number of features.
    pub level: Level,
    /// The penalty. Default: l1.
    pub regularizer: Regularizer,
    /// The solver. Default: automatic.
    pub solver: SolverChoice,
    /// Duality gap to reach, relative to the objective at zero. Default 1e-9; range above 0.
    pub tolerance: f64,
    /// Features that must be in: they carry no penalty, count towards the budget and come first.
    pub forced: Vec<usize>,
    /// Features whose part in the target is taken out before the others are judged (age, batch …): they carry
    /// no penalty and may have any sign, and are not selected themselves.
    pub covariates: Vec<usize>,
    /// For each selected feature, how many of its most related features are told. Default 10; 0 for none,
    /// which saves a pass.
    pub n_related: usize,
}

impl Default for LassoOptions {
    fn default() -> Self {
        Self {
            level: Level::default(),
            regularizer: Regularizer::default(),
            solver: SolverChoice::default(),
            tolerance: 1e-9,
            forced: Vec::new(),
            covariates: Vec::new(),
            n_related: 10,
        }
    }
}

impl LassoOptions {
    pub(super) fn check(&self, n_features: usize) -> Result<(), Error> {
        match self.level {
            Level::Lambda(lambda) if !(lambda.is_finite() && lambda >= 0.0) => {
                return Err(Error::parameter("lambda", lambda, "finite and at least 0"));
            }
            Level::LambdaRatio(ratio) if !(ratio > 0.0 && ratio <= 1.0) => {
                return Err(Error::parameter("lambda_ratio", ratio, "above 0 and at most 1"));
            }
            _ => {}
        }
        if let Regularizer::ElasticNet { ridge } = self.regularizer
            && !(ridge.is_finite() && ridge > 0.0)
        {
            return Err(Error::parameter("ridge", ridge, "finite and above 0"));
        }
        for (name, features) in [("forced", &self.forced), ("covariates", &self.covariates)] {
            if let Some(j) = features.iter().find(|&&j| j >= n_features) {
                return Err(Error::parameter(name, j, format!("below the number of features, {n_features}")));
            }
        }
        if let Some(j) = self.forced.iter().find(|j| self.covariates.contains(j)) {
            return Err(Error::parameter("covariates", j, "not among the forced features too"));
        }
        Ok(())
    }
}
