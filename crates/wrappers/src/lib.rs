//! Wrappers: features judged by the machines that learn from them.

mod criteria;
mod elimination;
mod kernel;
mod permuter;
mod sequential;
mod stepwise;
mod table;
mod training;

pub use criteria::{
    Bound, BoundChange, HsicChange, NormChange, Reference, Sensitivity, SensitivityNoise, SensitivityScorer,
};
pub use elimination::{Criterion, CurvePoint, Eliminated, Elimination, RecursiveElimination, Round, Step};
pub use fewest_core::Error;
pub use kernel::Kernel;
pub use permuter::Permuter;
pub use sequential::{Direction, SequentialSearch};
pub use stepwise::Stepwise;
pub use training::{Trained, Training, Truth};
