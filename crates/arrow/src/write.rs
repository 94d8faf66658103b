//! Tables as Parquet files.

use std::path::Path;
use std::sync::Arc;

use fewest_core::Dataset;
use fewest_data::{Error, Written, write_atomically, written_columns};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::reading::ROW_NAMES;

/// Rows of a group: readers may take groups one by one.
const ROWS: usize = 1 << 20;

/// Writes features and the target: numbers as `DOUBLE`, texts, categories and classes as `STRING` with a
/// dictionary, missing values as nulls, pages compressed with Zstandard. Ids without a name get the one that
/// pandas gives them.
pub(crate) fn parquet(
    path: &Path,
    data: &Dataset,
    features: &[usize],
    names: &[String],
) -> std::result::Result<(), Error> {
    let columns = written_columns(data, features, names)?;
    let bytes = encoded(&columns, data.n_samples()).map_err(|error| {
        Error::unsupported(path, format!("a table that Parquet refuses ({error})"), "write a .csv file")
    })?;
    write_atomically(path, &bytes)
}

fn encoded(columns: &[(String, Written)], n_samples: usize) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
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
    writer.into_inner()
}

/// The values that are there, and 1 for each of them among zeros for those that are missing.
fn present(values: &[f64]) -> (Vec<f64>, Vec<i16>) {
    let there = values.iter().copied().filter(|value| !value.is_nan()).collect();
    (there, values.iter().map(|value| i16::from(!value.is_nan())).collect())
}

fn field(name: &str, column: &Written) -> Result<Arc<Type>> {
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
