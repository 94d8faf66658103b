//! The methods, learners and metrics, from the registry of the caller.

pub(crate) use fewest::registry::{Built, Method, Parameters, Registry, TargetKind, Value};
