//! The methods, learners and metrics, from the registry of the caller.

pub(crate) use fewest::registry::{Built, Kind, Method, Parameters, Registry, TargetKind, Value};
