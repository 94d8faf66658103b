//! The columns of an Arrow file, and which buffers are theirs.

use super::flat::{Broken, Result, Table};
use crate::kind::Kind;
use crate::reading::Field;

/// Types in types that are looked into.
const DEEPEST: usize = 64;

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Type {
    Nothing,
    Truth,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    Decimal {
        width: usize,
        scale: i32,
    },
    /// Whole numbers of this many bytes, so many of which are one.
    Divided {
        width: usize,
        by: f64,
    },
    /// Letters behind each other, and where each text begins, in this many bytes.
    Text(usize),
    /// Short texts as they are, others by their place in one of several buffers.
    TextView,
}

/// A list of texts that columns refer to: its number, and how its values are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dictionary {
    pub(super) id: i64,
    pub(super) values: Type,
}

/// Where a column is among the arrays and buffers of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Extent {
    pub(super) nodes: usize,
    pub(super) buffers: usize,
    /// Arrays with buffers whose number is not fixed.
    pub(super) views: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    /// What comes before it.
    pub(super) first: Extent,
    /// How its values, or the places in its dictionary, are stored; `None` for what is no column of a table.
    pub(super) stored: Option<Type>,
    pub(super) dictionary: Option<Dictionary>,
}

/// The columns of a schema.
pub(super) fn columns(schema: Table<'_>, is_old: bool) -> Result<(Vec<Field>, Vec<Column>)> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    let mut first = Extent::default();
    for field in schema.tables(1)? {
        let field = field?;
        let name = field.text(0)?.trim().to_owned();
        let own = stored(field)?;
        let dictionary = field.table(4)?;
        let (kind, stored, dictionary) = match (own, dictionary) {
            (Err(what), _) => (Err(what), None, None),
            (Ok((kind, own)), None) => (Ok(kind), Some(own), None),
            (Ok((kind, values)), Some(encoding)) => {
                // Without a type, places are signed numbers of 32 bits.
                let places = encoding.table(1)?.map_or(Ok(Type::Signed(4)), whole)?;
                let kind = if kind == Kind::Truth { Kind::Truth } else { Kind::Category };
                (Ok(kind), Some(places), Some(Dictionary { id: encoding.i64(0, 0)?, values }))
            }
        };
        fields.push(Field { name, kind });
        columns.push(Column { first, stored, dictionary });
        add(&mut first, field, is_old, 0)?;
    }
    Ok((fields, columns))
}

/// Adds the arrays and buffers of a column, and of those in it.
fn add(extent: &mut Extent, field: Table<'_>, is_old: bool, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(Broken);
    }
    extent.nodes += 1;
    if field.table(4)?.is_some() {
        extent.buffers += 2;
        return Ok(());
    }
    let dense = |inner: Table<'_>| Ok(usize::from(inner.i16(0, 0)? == 1));
    extent.buffers += match field.u8(2, 0)? {
        1 | 22 => 0,
        13 | 16 => 1,
        2 | 3 | 6..=12 | 15 | 17 | 18 | 21 => 2,
        4 | 5 | 19 | 20 | 25 | 26 => 3,
        // Unions had a buffer for missing values once.
        14 => 1 + usize::from(is_old) + field.table(3)?.map_or(Ok(0), dense)?,
        23 | 24 => {
            extent.views += 1;
            2
        }
        _ => return Err(Broken),
    };
    for child in field.tables(5)? {
        add(extent, child?, is_old, depth + 1)?;
    }
    Ok(())
}

/// Whole numbers of a type.
fn whole(inner: Table<'_>) -> Result<Type> {
    let width = match inner.i32(0, 0)? {
        8 => 1,
        16 => 2,
        32 => 4,
        64 => 8,
        _ => return Err(Broken),
    };
    Ok(if inner.u8(1, 0)? != 0 { Type::Signed(width) } else { Type::Unsigned(width) })
}

/// How many of a unit are in a second.
fn in_a_second(unit: i16) -> Result<f64> {
    Ok(match unit {
        0 => 1.0,
        1 => 1e3,
        2 => 1e6,
        3 => 1e9,
        _ => return Err(Broken),
    })
}

/// What the values of a column are; what it holds where that is no column of a table.
fn stored(field: Table<'_>) -> Result<std::result::Result<(Kind, Type), &'static str>> {
    let inner = || field.table(3)?.ok_or(Broken);
    Ok(Ok(match field.u8(2, 0)? {
        1 => (Kind::Nothing, Type::Nothing),
        2 => (Kind::Number, whole(inner()?)?),
        3 => match inner()?.i16(0, 0)? {
            0 => (Kind::Number, Type::Float(2)),
            1 => (Kind::Number, Type::Float(4)),
            2 => (Kind::Number, Type::Float(8)),
            _ => return Err(Broken),
        },
        5 => (Kind::Category, Type::Text(4)),
        6 => (Kind::Truth, Type::Truth),
        7 => {
            let width = match inner()?.i32(2, 128)? {
                32 => 4,
                64 => 8,
                128 => 16,
                256 => 32,
                _ => return Err(Broken),
            };
            (Kind::Number, Type::Decimal { width, scale: inner()?.i32(1, 0)? })
        }
        8 => match inner()?.i16(0, 1)? {
            0 => (Kind::Date, Type::Signed(4)),
            1 => (Kind::Date, Type::Divided { width: 8, by: 86_400_000.0 }),
            _ => return Err(Broken),
        },
        9 => {
            let width = match inner()?.i32(1, 32)? {
                32 => 4,
                64 => 8,
                _ => return Err(Broken),
            };
            (Kind::TimeOfDay, Type::Divided { width, by: in_a_second(inner()?.i16(0, 1)?)? })
        }
        10 => (Kind::Moment, Type::Divided { width: 8, by: in_a_second(inner()?.i16(0, 0)?)? }),
        11 => return Ok(Err("intervals of the calendar")),
        12 | 16 | 21 | 25 | 26 => return Ok(Err("lists")),
        13 => return Ok(Err("structs")),
        14 => return Ok(Err("unions")),
        17 => return Ok(Err("maps")),
        18 => (Kind::Duration, Type::Divided { width: 8, by: in_a_second(inner()?.i16(0, 1)?)? }),
        20 => (Kind::Category, Type::Text(8)),
        22 => return Ok(Err("runs")),
        24 => (Kind::Category, Type::TextView),
        4 | 15 | 19 | 23 => return Ok(Err("bytes")),
        _ => return Err(Broken),
    }))
}
