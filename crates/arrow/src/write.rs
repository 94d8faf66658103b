//! Tables as Parquet files.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use fewest_data::{Error, NextPiece, Written, write_through};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::reading::ROW_NAMES;

/// Rows of a group: readers may take groups one by one.
const ROWS: usize = 1 << 20;

/// Values of a group that pieces of rows are gathered for.
const VALUES: usize = 1 << 20;

/// Writes numbers as `DOUBLE`, texts, categories and classes as `STRING` with a dictionary, missing values as
/// nulls, pages compressed with Zstandard. Ids without a name get the one that pandas gives them.
pub(crate) fn parquet(path: &Path, next: NextPiece<'_>) -> Result<(), Error> {
    write_through(path, |out| {
        let refused = |error: ParquetError| match error {
            ParquetError::External(error) if error.is::<io::Error>() => {
                let error = error.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error);
                Error::writing(path, error)
            }
            error => {
                let what = format!("a table that Parquet refuses ({error})");
                Error::unsupported(path, what, "write a .csv file")
            }
        };
        let Some(first) = next()? else { return Ok(()) };
        let mut writer = opened(out, &first).map_err(refused)?;
        let mut waiting = first;
        while let Some(piece) = next()? {
            // Short groups would each have a dictionary of their own.
            if is_group(&waiting) {
                write_groups(&mut writer, &waiting).map_err(refused)?;
                waiting = piece;
            } else {
                waiting.iter_mut().zip(piece).for_each(|((_, own), (_, more))| own.append(more));
            }
        }
        write_groups(&mut writer, &waiting).map_err(refused)?;
        writer.close().map(drop).map_err(refused)
    })
}

/// Whether rows are enough for a group.
fn is_group(columns: &[(String, Written)]) -> bool {
    let rows = columns.first().map_or(0, |(_, column)| column.n_samples());
    rows >= ROWS || rows.saturating_mul(columns.len()) >= VALUES
}

/// A writer of tables with these columns.
fn opened<W: Write + Send>(
    out: W,
    columns: &[(String, Written)],
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    SerializedFileWriter::new(out, schema, properties)
}

fn write_groups<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[(String, Written)],
) -> Result<(), ParquetError> {
    let n_samples = columns.first().map_or(0, |(_, column)| column.n_samples());
    for first in (0..n_samples).step_by(ROWS) {
        let rows = first..n_samples.min(first + ROWS);
        let mut group = writer.next_row_group()?;
        for (_, column) in columns {
            let Some(mut out) = group.next_column()? else { break };
            match column {
                Written::Texts(texts) => {
                    let texts: Vec<ByteArray> =
                        texts[rows.clone()].iter().map(|text| text.as_str().into()).collect();
                    let levels = vec![1; texts.len()];
                    out.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                }
                Written::Numbers(values) => {
                    let (values, levels) = present(&values[rows.clone()]);
                    out.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                Written::Levels(codes, names) => {
                    let (codes, levels) = present(&codes[rows.clone()]);
                    let names: Vec<ByteArray> = names.iter().map(|name| name.as_str().into()).collect();
                    let texts: Vec<ByteArray> = codes
                        .iter()
                        .map(|code| names.get(*code as usize).cloned().unwrap_or_default())
                        .collect();
                    out.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                }
            }
            out.close()?;
        }
        group.close()?;
    }
    Ok(())
}

/// The values that are there, and 1 for each of them among zeros for those that are missing.
fn present(values: &[f64]) -> (Vec<f64>, Vec<i16>) {
    let there = values.iter().copied().filter(|value| !value.is_nan()).collect();
    (there, values.iter().map(|value| i16::from(!value.is_nan())).collect())
}

fn field(name: &str, column: &Written) -> Result<Arc<Type>, ParquetError> {
    let name = if name.is_empty() { ROW_NAMES } else { name };
    let (physical, logical) = match column {
        Written::Numbers(_) => (Physical::DOUBLE, None),
        Written::Texts(_) | Written::Levels(..) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let built = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(built))
}
