//! Wrappers: features judged by the machines that learn from them.
//!
//! * [`RecursiveElimination`] trains support vector machines on the features left and takes away those that
//!   matter least, by any [`Criterion`]: [`Sensitivity`] (SD-L and SD-G), [`NormChange`] (SVM-RFE),
//!   [`BoundChange`], [`HsicChange`], and [`Reference`], what the sensitivity approximates; with a
//!   cross-validated error by number of features
//! * [`SensitivityScorer`] scores all features by one machine
//! * [`SequentialSearch`] adds or takes away the feature with which any learner predicts best, also floating
//! * [`Stepwise`] is linear regression with a test to enter
//!
//! Elimination keeps the kernel values of all pairs of samples and takes the parts of features from them: it
//! is for thousands of samples.
//!
//! # References
//!
//! - Guyon, Weston, Barnhill, Vapnik, *Gene selection for cancer classification using support vector
//!   machines*, 2002.
//! - Rakotomamonjy, *Variable selection using SVM-based criteria*, 2003; *Analysis of SVM regression bounds
//!   for variable ranking*, 2007.
//! - Shen, Ong, Li, Wilder-Smith, *Feature selection via sensitivity analysis of SVM probabilistic outputs*,
//!   2008.
//! - Yang, Ong, *Feature selection using probabilistic prediction of support vector regression*, 2011.
//! - Pudil, Novovičová, Kittler, *Floating search methods in feature selection*, 1994.

mod criteria;
mod elimination;
mod kernel;
mod methods;
mod permutation;
mod sequential;
mod stepwise;
mod table;
mod training;

pub use criteria::{
    Bound, BoundChange, HsicChange, NormChange, Reference, Sensitivity, SensitivityNoise, SensitivityScorer,
};
pub use elimination::{
    Criterion, CurvePoint, Eliminated, Elimination, RecursiveElimination, Round, Schedule, Step,
};
pub use fewest_core::Error;
pub use kernel::Kernel;
pub use methods::METHODS;
pub use permutation::Permutation;
pub use sequential::{Direction, SequentialSearch};
pub use stepwise::Stepwise;
pub use training::{Trained, Training, TrainingTarget};
