#![doc = include_str!("../README.md")]

mod criteria;
mod elimination;
mod factor_sum;
pub mod forests;
mod kernel;
mod methods;
mod noise;
mod permutation;
mod sequential;
mod stepwise;
mod stop;
mod table;
mod training;

pub use criteria::{
    Bound, BoundChange, HsicChange, NormChange, Reference, Sensitivity, SensitivityNoise, SensitivityScorer,
};
pub use elimination::{
    CurvePoint, Eliminated, Elimination, EliminationCriterion, RecursiveElimination, Round, Schedule, Step,
};
pub use fewest_core::Error;
pub use kernel::Kernel;
pub use methods::METHODS;
pub use permutation::Permutation;
pub use sequential::{Direction, SequentialSearch};
pub use stepwise::Stepwise;
pub use training::{Trained, Training, TrainingTarget};
