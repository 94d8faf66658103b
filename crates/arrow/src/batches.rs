//! Record batches as columns, in place.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fewest_core::{Column, Columns, Error};

/// Columns of numbers of record batches, one batch below the other, without a copy: a column of `Float64` in
/// one batch is read where it is; others are converted into the buffer of the caller at each reading.
///
/// Missing values and columns of other types are refused: a [`Table`](fewest_data::Table) has policies for
/// missing values and makes categories of text. It reads the bytes of an Arrow file, also from memory.
///
/// Cost of a column: none in place, otherwise linear in the rows.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
/// use fewest_arrow::Batches;
/// use fewest_core::{Column, Columns};
///
/// let dose: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5]));
/// let age: ArrayRef = Arc::new(Int32Array::from(vec![61, 47]));
/// let batch = RecordBatch::try_from_iter([("dose", dose), ("age", age)])?;
/// let x = Batches::new(&[batch], &["age", "dose"])?;
/// assert_eq!(x.column(0, &mut Vec::new())?, Column::Dense(&[61.0, 47.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batches {
    n_samples: usize,
    /// For each feature its arrays.
    columns: Vec<Vec<ArrayRef>>,
}

impl Batches {
    /// The columns of these names, in this order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where a batch lacks a column, or it has missing values or holds no
    /// numbers.
    pub fn new(batches: &[RecordBatch], names: &[&str]) -> Result<Self, Error> {
        let column = |name: &&str| {
            let wrong = |expected: &str| Error::parameter("column", format!("`{name}`"), expected);
            let array = |batch: &RecordBatch| {
                let array = batch.column_by_name(name).ok_or_else(|| wrong("a column of every batch"))?;
                if !add(array, &mut Vec::new(), 0) {
                    return Err(wrong("a column of whole numbers or floats: read others with a Table"));
                }
                if array.null_count() > 0 {
                    return Err(wrong("without missing values: fill them in, or read it with a Table"));
                }
                Ok(array.clone())
            };
            batches.iter().map(array).collect()
        };
        let columns = names.iter().map(column).collect::<Result<_, Error>>()?;
        Ok(Self { n_samples: batches.iter().map(RecordBatch::num_rows).sum(), columns })
    }
}

impl Columns for Batches {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let arrays = &self.columns[j];
        if let [array] = arrays.as_slice()
            && let Some(array) = array.as_primitive_opt::<Float64Type>()
        {
            return Ok(Column::Dense(array.values()));
        }
        scratch.clear();
        scratch.reserve(self.n_samples);
        for array in arrays {
            add(array, scratch, array.len());
        }
        Ok(Column::Dense(scratch))
    }
}

/// Adds the first values of an array of numbers. False for any other array.
fn add(array: &dyn Array, out: &mut Vec<f64>, count: usize) -> bool {
    fn all<T: ArrowPrimitiveType>(
        array: &dyn Array,
        out: &mut Vec<f64>,
        count: usize,
        number: impl Fn(T::Native) -> f64,
    ) {
        if let Some(array) = array.as_primitive_opt::<T>() {
            out.extend(array.values().iter().take(count).map(|value| number(*value)));
        }
    }
    match array.data_type() {
        DataType::Int8 => all::<Int8Type>(array, out, count, f64::from),
        DataType::Int16 => all::<Int16Type>(array, out, count, f64::from),
        DataType::Int32 => all::<Int32Type>(array, out, count, f64::from),
        DataType::Int64 => all::<Int64Type>(array, out, count, |value| value as f64),
        DataType::UInt8 => all::<UInt8Type>(array, out, count, f64::from),
        DataType::UInt16 => all::<UInt16Type>(array, out, count, f64::from),
        DataType::UInt32 => all::<UInt32Type>(array, out, count, f64::from),
        DataType::UInt64 => all::<UInt64Type>(array, out, count, |value| value as f64),
        DataType::Float16 => all::<Float16Type>(array, out, count, |value| value.to_f64()),
        DataType::Float32 => all::<Float32Type>(array, out, count, f64::from),
        DataType::Float64 => all::<Float64Type>(array, out, count, |value| value),
        _ => return false,
    }
    true
}
