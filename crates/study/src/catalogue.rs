//! Where methods, learners and metrics come from: nothing else here asks the registry.

pub use fewest::eval::{LEARNERS, METRICS, find_learner, find_metric};
pub use fewest::registry::{Method, Parameters, TargetKind, Value};
