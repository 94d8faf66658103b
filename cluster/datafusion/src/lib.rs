#![doc = include_str!("../README.md")]

mod arguments;
mod error;
mod function;
mod labels;
mod statistics;
mod sums;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::AggregateUDF;
use datafusion_expr::registry::FunctionRegistry;

pub use error::Error;

/// Registers every function with a session, `register_all(&mut context)`, or with the registry of an
/// executor.
///
/// # Errors
/// Those of the registry.
pub fn register_all(registry: &mut dyn FunctionRegistry) -> Result<()> {
    all_functions().into_iter().try_for_each(|function| registry.register_udaf(function).map(drop))
}

/// Every function, for a `SessionStateBuilder` and for expressions made in Rust.
pub fn all_functions() -> Vec<Arc<AggregateUDF>> {
    let function = |statistic| Arc::new(AggregateUDF::from(function::Function::new(statistic)));
    statistics::STATISTICS.iter().map(function).collect()
}
