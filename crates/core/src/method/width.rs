//! The width of a kernel.

use super::{ParameterType, Range, Value};

/// The width of a kernel: a number, or a rule that finds one in the data.
///
/// Every kernel with a width is given it so. As text: a number above 0, or `median`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum KernelWidth {
    /// The median of the distances between samples, in the unit that the kernel divides by.
    #[default]
    Median,
    /// This number, above 0.
    Value(f64),
}

impl ParameterType for KernelWidth {
    fn range() -> Range {
        Range::PositiveOr(&["median"])
    }

    fn to_value(&self) -> Option<Value> {
        Some(match self {
            KernelWidth::Median => Value::Word("median"),
            KernelWidth::Value(width) => Value::Real(*width),
        })
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Word("median")) => Some(KernelWidth::Median),
            Some(Value::Real(width)) => Some(KernelWidth::Value(*width)),
            _ => None,
        }
    }
}
