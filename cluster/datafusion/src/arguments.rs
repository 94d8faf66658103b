//! Which columns the functions take, and as what.

use arrow::datatypes::DataType;
use datafusion_common::{Result, plan_err};

/// What a column is to a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Floating-point numbers and decimals.
    Real,
    Whole,
    /// Text and truth values.
    Name,
    Null,
    Other,
}

fn family(of: &DataType) -> Family {
    match of {
        DataType::Dictionary(_, values) => match &**values {
            DataType::Dictionary(..) => Family::Other,
            values => family(values),
        },
        DataType::Null => Family::Null,
        DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Family::Name,
        whole if whole.is_integer() => Family::Whole,
        real if real.is_floating() || real.is_decimal() => Family::Real,
        _ => Family::Other,
    }
}

/// As what labels of this type are read.
pub(crate) fn label_type(of: &DataType) -> DataType {
    match of {
        DataType::Dictionary(_, values) => label_type(values),
        DataType::Boolean | DataType::UInt64 => of.clone(),
        whole if whole.is_integer() => DataType::Int64,
        _ => DataType::Utf8View,
    }
}

/// Dictionaries stay what they are: their entries are read once.
fn labels(of: &DataType) -> DataType {
    if matches!(of, DataType::Dictionary(..)) { of.clone() } else { label_type(of) }
}

/// Whether the labels are numbers, which have an order.
pub(crate) fn are_numbers(of: &DataType) -> bool {
    family(of) == Family::Whole
}

/// What a function takes as its first argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Feature {
    /// Numbers as they are, text and truth values by level.
    NumbersOrLevels,
    /// Levels, of whole numbers too.
    Levels,
}

/// What a function takes as its second argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// None.
    Nothing,
    /// Classes, whole numbers too.
    Classes,
    /// Classes, whole numbers too; other numbers are a real target.
    ClassesOrReal,
    /// Numbers are a real target; text and truth values are two classes.
    RealOrTwoClasses,
}

const CAST_TO_LEVELS: &str =
    "cast them to BIGINT, or cut them into bins, as in CAST(floor(x / 10) AS BIGINT)";

impl Feature {
    /// The type that the column is cast to.
    fn coerced(self, function: &str, of: &DataType) -> Result<DataType> {
        match (self, family(of)) {
            (Feature::NumbersOrLevels, Family::Real | Family::Whole | Family::Null) => Ok(DataType::Float64),
            (Feature::NumbersOrLevels | Feature::Levels, Family::Name) => Ok(labels(of)),
            (Feature::Levels, Family::Whole | Family::Null) => Ok(labels(of)),
            (Feature::Levels, Family::Real) => {
                plan_err!("{function}: argument 1 (x) is {of}, numbers without levels: {CAST_TO_LEVELS}")
            }
            (_, Family::Other) => plan_err!(
                "{function}: argument 1 (x) is {of}, but must be numbers, text or truth values: cast it"
            ),
        }
    }
}

impl Target {
    fn coerced(self, function: &str, of: &DataType) -> Result<DataType> {
        match (self, family(of)) {
            (_, Family::Other) => {
                plan_err!("{function}: argument 2 (y) is {of}, but must be {}: cast it", self.words())
            }
            (Target::Classes, Family::Real) => plan_err!(
                "{function}: argument 2 (y) is {of}, but must be {}: cast it to BIGINT, or take \
                 fewest_correlation(x, y) or fewest_f(x, y) for a target of numbers",
                self.words()
            ),
            (Target::ClassesOrReal, Family::Real) => Ok(DataType::Float64),
            (Target::RealOrTwoClasses, Family::Real | Family::Whole) => Ok(DataType::Float64),
            _ => Ok(labels(of)),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Target::RealOrTwoClasses => "numbers, or two classes as text or truth values",
            Target::ClassesOrReal => "classes, which are text, truth values or integers, or other numbers",
            Target::Classes | Target::Nothing => "classes, which are text, truth values or integers",
        }
    }
}

/// The types that the columns are cast to.
///
/// # Errors
/// For another number of arguments, and types that the function does not take.
pub(crate) fn coerced(
    function: &str,
    feature: Feature,
    target: Target,
    types: &[DataType],
) -> Result<Vec<DataType>> {
    match (target, types) {
        (Target::Nothing, [x]) => Ok(vec![feature.coerced(function, x)?]),
        (Target::Nothing, _) => {
            plan_err!("{function} takes one argument, {function}(x), but was given {}", types.len())
        }
        (target, [x, y]) => Ok(vec![feature.coerced(function, x)?, target.coerced(function, y)?]),
        _ => plan_err!("{function} takes two arguments, {function}(x, y), but was given {}", types.len()),
    }
}
