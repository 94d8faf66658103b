//! What the values of a Parquet column mean.

use half::f16;
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::Int96;
use parquet::schema::types::Type;

use crate::builder::Cell;
use crate::kind::{Kind, decimal, divided, whole};

/// How a stored value becomes a number or a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stored {
    /// As it is.
    Plain,
    /// A whole number without a sign, stored with one.
    Unsigned,
    /// So many in a second.
    Seconds(f64),
    /// Digits and how many of them are behind the point.
    Decimal(i32),
    /// Two bytes.
    Half,
    /// Letters.
    Text,
}

impl Stored {
    /// The kind of a column and how it is stored; for one that is no column of a table, what it is.
    pub(crate) fn of(column: &Type) -> Result<(Kind, Self), &'static str> {
        let info = column.get_basic_info();
        let logical = info.logical_type_ref();
        let converted = info.converted_type();
        if info.has_repetition() && info.repetition() == Repetition::REPEATED {
            return Err("lists");
        }
        let Type::PrimitiveType { physical_type, scale, .. } = column else {
            return Err(match (logical, converted) {
                (Some(LogicalType::List), _) | (_, ConvertedType::LIST) => "lists",
                (Some(LogicalType::Map), _) | (_, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => {
                    "maps"
                }
                _ => "structs",
            });
        };
        if let Some(logical) = logical {
            Self::of_logical(logical, *physical_type)
        } else {
            Self::of_converted(converted, *physical_type, *scale)
        }
    }

    fn of_logical(logical: &LogicalType, physical: Physical) -> Result<(Kind, Self), &'static str> {
        use LogicalType as L;
        Ok(match (logical, physical) {
            (L::Unknown, _) => (Kind::Nothing, Stored::Plain),
            (L::String | L::Enum | L::Json, Physical::BYTE_ARRAY) => (Kind::Category, Stored::Text),
            (L::Decimal(decimal), _) => (Kind::Number, Stored::Decimal(decimal.scale)),
            (L::Date, _) => (Kind::Date, Stored::Plain),
            (L::Time(time), _) => (Kind::TimeOfDay, Stored::Seconds(in_a_second(&time.unit)?)),
            (L::Timestamp(moment), _) => (Kind::Moment, Stored::Seconds(in_a_second(&moment.unit)?)),
            (L::Integer(integer), Physical::INT32 | Physical::INT64) => match integer.is_signed {
                true => (Kind::Number, Stored::Plain),
                false => (Kind::Number, Stored::Unsigned),
            },
            (L::Float16, Physical::FIXED_LEN_BYTE_ARRAY) => (Kind::Number, Stored::Half),
            (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => return Err("bytes"),
            _ => return Self::of_converted(ConvertedType::NONE, physical, 0),
        })
    }

    fn of_converted(
        converted: ConvertedType,
        physical: Physical,
        scale: i32,
    ) -> Result<(Kind, Self), &'static str> {
        use ConvertedType as C;
        Ok(match (converted, physical) {
            (C::DECIMAL, _) => (Kind::Number, Stored::Decimal(scale)),
            (C::DATE, Physical::INT32) => (Kind::Date, Stored::Plain),
            (C::TIME_MILLIS, Physical::INT32) => (Kind::TimeOfDay, Stored::Seconds(1e3)),
            (C::TIME_MICROS, Physical::INT64) => (Kind::TimeOfDay, Stored::Seconds(1e6)),
            (C::TIMESTAMP_MILLIS, Physical::INT64) => (Kind::Moment, Stored::Seconds(1e3)),
            (C::TIMESTAMP_MICROS, Physical::INT64) => (Kind::Moment, Stored::Seconds(1e6)),
            (C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64, Physical::INT32 | Physical::INT64) => {
                (Kind::Number, Stored::Unsigned)
            }
            (C::UTF8 | C::ENUM | C::JSON, Physical::BYTE_ARRAY) => (Kind::Category, Stored::Text),
            (C::INTERVAL, _) => return Err("intervals of the calendar"),
            (_, Physical::BOOLEAN) => (Kind::Truth, Stored::Plain),
            (_, Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE) => {
                (Kind::Number, Stored::Plain)
            }
            (_, Physical::INT96) => (Kind::Moment, Stored::Plain),
            (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => return Err("bytes"),
        })
    }

    pub(crate) fn int32(self, value: i32) -> Cell<'static> {
        match self {
            Stored::Unsigned => Cell::Number(f64::from(value as u32)),
            Stored::Seconds(in_a_second) => Cell::Number(divided(value.into(), in_a_second)),
            Stored::Decimal(scale) => Cell::Number(decimal(value.into(), scale)),
            _ => Cell::Number(value.into()),
        }
    }

    pub(crate) fn int64(self, value: i64) -> Cell<'static> {
        match self {
            Stored::Unsigned => Cell::Unsigned(value as u64),
            Stored::Seconds(in_a_second) => Cell::Number(divided(value, in_a_second)),
            Stored::Decimal(scale) => Cell::Number(decimal(value.into(), scale)),
            _ => Cell::Signed(value),
        }
    }

    /// A moment as older programs store it: nanoseconds of a day, and the number of the day.
    pub(crate) fn int96(value: &Int96) -> Cell<'static> {
        Cell::Number(divided(value.to_nanos(), 1e9))
    }

    /// A value of several bytes; for one that cannot be read, why.
    pub(crate) fn bytes(self, value: &[u8]) -> Result<Cell<'_>, &'static str> {
        match self {
            Stored::Text => std::str::from_utf8(value).map(Cell::Text).map_err(|_| "a text is not UTF-8"),
            Stored::Decimal(scale) => {
                let digits = whole(value).ok_or("a decimal number has more than 38 digits")?;
                Ok(Cell::Number(decimal(digits, scale)))
            }
            Stored::Half => match *value {
                [low, high] => Ok(Cell::Number(f16::from_le_bytes([low, high]).to_f64())),
                _ => Err("a number of half precision has not two bytes"),
            },
            _ => Err("a column of bytes"),
        }
    }
}

fn in_a_second(unit: &TimeUnit) -> Result<f64, &'static str> {
    Ok(match unit {
        TimeUnit::MILLIS => 1e3,
        TimeUnit::MICROS => 1e6,
        TimeUnit::NANOS => 1e9,
    })
}
