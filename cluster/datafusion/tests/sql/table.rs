//! A table in a session with the functions, cut into partitions.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};

/// Whole numbers below `below`, the same in every run.
pub(crate) fn draw(i: usize, column: u64, below: u64) -> u64 {
    fewest_core::derive_seed(column, i as u64) % below
}

/// Rows with features of every kind, and targets that depend on them.
#[derive(Clone)]
pub(crate) struct Rows {
    pub(crate) number: Vec<Option<f64>>,
    pub(crate) whole: Vec<Option<i64>>,
    pub(crate) text: Vec<Option<String>>,
    pub(crate) flag: Vec<Option<bool>>,
    pub(crate) class: Vec<Option<String>>,
    pub(crate) two: Vec<Option<bool>>,
    pub(crate) real: Vec<Option<f64>>,
    pub(crate) part: Vec<i64>,
}

impl Rows {
    /// `n` rows, of whose cells none are missing.
    pub(crate) fn new(n: usize) -> Self {
        let class = |i: usize| draw(i, 1, 3);
        let number = |i: usize| draw(i, 2, 1000) as f64 / 7.0 + 20.0 * class(i) as f64 + 1e6;
        let is_one = |i: usize| class(i) + draw(i, 3, 3) > 2;
        let rows = || 0..n;
        Self {
            number: rows().map(|i| Some(number(i))).collect(),
            whole: rows().map(|i| Some((class(i) + draw(i, 4, 4)) as i64 - 2)).collect(),
            text: rows().map(|i| Some(format!("level {}", class(i) * draw(i, 5, 3)))).collect(),
            flag: rows().map(|i| Some(draw(i, 6, 2) + class(i) > 1)).collect(),
            class: rows().map(|i| Some(["well", "ill", "cured"][class(i) as usize].to_owned())).collect(),
            two: rows().map(|i| Some(is_one(i))).collect(),
            real: rows().map(|i| Some(number(i) / 3.0 + draw(i, 7, 100) as f64 - 3e5)).collect(),
            part: rows().map(|i| draw(i, 8, 5) as i64).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.part.len()
    }

    /// The rows of these numbers.
    pub(crate) fn of(&self, rows: &[usize]) -> Self {
        fn of<T: Clone>(column: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|row| column[*row].clone()).collect()
        }
        Self {
            number: of(&self.number, rows),
            whole: of(&self.whole, rows),
            text: of(&self.text, rows),
            flag: of(&self.flag, rows),
            class: of(&self.class, rows),
            two: of(&self.two, rows),
            real: of(&self.real, rows),
            part: of(&self.part, rows),
        }
    }

    fn batch(&self) -> RecordBatch {
        let columns: [(&str, ArrayRef); 8] = [
            ("number", Arc::new(Float64Array::from(self.number.clone()))),
            ("whole", Arc::new(Int64Array::from(self.whole.clone()))),
            ("text", Arc::new(StringArray::from(self.text.clone()))),
            ("flag", Arc::new(BooleanArray::from(self.flag.clone()))),
            ("class", Arc::new(StringArray::from(self.class.clone()))),
            ("two", Arc::new(BooleanArray::from(self.two.clone()))),
            ("real", Arc::new(Float64Array::from(self.real.clone()))),
            ("part", Arc::new(Int64Array::from(self.part.clone()))),
        ];
        let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
    }

    /// A session with the table `t`, in so many partitions of unequal sizes, and batches of few rows.
    pub(crate) fn session(&self, partitions: usize) -> SessionContext {
        let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(97);
        let mut context = SessionContext::new_with_config(config);
        fewest_datafusion::register_all(&mut context).unwrap();
        let whole = self.batch();
        // The first half of the rows in the first, half of the others in the second, ….
        let mut parts = Vec::new();
        let mut first = 0;
        for left in (0..partitions).rev() {
            let len = if left == 0 { self.len() - first } else { (self.len() - first) / 2 };
            parts.push(vec![whole.slice(first, len)]);
            first += len;
        }
        let table = MemTable::try_new(whole.schema(), parts).unwrap();
        context.register_table("t", Arc::new(table)).unwrap();
        context
    }
}

/// The numbers of a query: rows of columns.
pub(crate) async fn numbers(context: &SessionContext, query: &str) -> Result<Vec<Vec<Option<f64>>>> {
    let mut rows = Vec::new();
    for batch in context.sql(query).await?.collect().await? {
        let columns: Vec<ArrayRef> = batch
            .columns()
            .iter()
            .map(|column| datafusion::arrow::compute::cast(column, &DataType::Float64))
            .collect::<std::result::Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            let cell = |column: &ArrayRef| column.as_primitive::<Float64Type>().iter().nth(row).flatten();
            rows.push(columns.iter().map(cell).collect());
        }
    }
    Ok(rows)
}

/// The answer of `SELECT expression FROM t`.
pub(crate) async fn one(context: &SessionContext, expression: &str) -> Result<Option<f64>> {
    Ok(numbers(context, &format!("SELECT {expression} FROM t")).await?[0][0])
}
