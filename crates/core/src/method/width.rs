//! The width of a kernel.

use super::{ParameterType, Range, Value};

/// The width of a kernel: a number, or a rule that finds one in the data.
///
/// Every kernel with a width uses this type. As text: a number above 0, or `median`. A kernel of samples with
/// several features may offer `dimension` as well, by a range of its own:
///
/// ```
/// use fewest_core::method::KernelWidth;
///
/// fewest_core::options! {
///     /// A method with a kernel between samples.
///     #[derive(Debug)]
///     pub struct Example {
///         /// Width σ of the kernel.
///         pub sigma: KernelWidth = KernelWidth::Dimension, PositiveOr(&["median", "dimension"]);
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum KernelWidth {
    /// The median of the distances between samples, in the unit that the kernel divides by.
    #[default]
    Median,
    /// This number, above 0.
    Value(f64),
    /// `√(d/2)` for `d` features that vary, so that `γ = 1/(2σ²)` is `1/d`.
    Dimension,
}

impl ParameterType for KernelWidth {
    fn range() -> Range {
        Range::PositiveOr(&["median"])
    }

    fn to_value(&self) -> Option<Value> {
        Some(match self {
            KernelWidth::Median => Value::Word("median"),
            KernelWidth::Value(width) => Value::Real(*width),
            KernelWidth::Dimension => Value::Word("dimension"),
        })
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Word("median")) => Some(KernelWidth::Median),
            Some(Value::Word("dimension")) => Some(KernelWidth::Dimension),
            Some(Value::Real(width)) => Some(KernelWidth::Value(*width)),
            _ => None,
        }
    }
}
