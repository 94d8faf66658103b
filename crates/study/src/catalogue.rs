//! Where methods, learners and metrics come from: from a registry that the caller has.

pub(crate) use fewest::registry::{Method, Parameters, Registry, TargetKind, Value};
