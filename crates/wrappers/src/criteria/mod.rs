//! Elimination criteria.

mod bounds;
mod divergence;
mod hsic;
mod norm;
mod pairs;
mod reference;
mod sensitivity;

pub use bounds::{Bound, BoundChange};
pub use divergence::SensitivityNoise;
pub use hsic::HsicChange;
pub use norm::NormChange;
pub use reference::Reference;
pub use sensitivity::{Sensitivity, SensitivityScorer};
