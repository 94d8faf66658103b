//! Tables in files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, ListArray, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{Field, Float64Type, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use fewest::core::{Budget, Context, Dataset, Error, RowBatches, Scorer, Scores, Selection, Selector};
use fewest::data::{Complete, Missing, Passes, ReadOptions, Reduction, Table};
use fewest::registry::{Built, Parameters, Registry};
use fewest_study::{DataInfo, RunInfo};

/// Features of the table.
pub(crate) const FEATURES: usize = 9;

/// Whole numbers below `below`, the same in every run.
fn draw(i: usize, column: u64, below: u64) -> u64 {
    fewest::core::derive_seed(column, i as u64) % below
}

/// Rows with numbers of many sizes, categories, classes and a real target.
pub(crate) struct Rows {
    pub(crate) class: Vec<String>,
    pub(crate) real: Vec<f64>,
    pub(crate) numbers: Vec<Vec<f64>>,
    pub(crate) category: Vec<String>,
}

impl Rows {
    pub(crate) fn new(n: usize) -> Self {
        let class = |i: usize| draw(i, 1, 3);
        let number = |i: usize, j: usize| {
            let noise = draw(i, 10 + j as u64, 100_000) as f64 / 7.0;
            (class(i) as f64 * 1000.0 * (j % 4) as f64 + noise) * 10_f64.powi(3 * j as i32 - 9) + 1e3
        };
        let numbers: Vec<Vec<f64>> =
            (0..FEATURES - 1).map(|j| (0..n).map(|i| number(i, j)).collect()).collect();
        Self {
            class: (0..n).map(|i| ["well", "ill", "cured"][class(i) as usize].to_owned()).collect(),
            real: (0..n).map(|i| class(i) as f64 * 3.7 + draw(i, 2, 1000) as f64 / 13.0).collect(),
            category: (0..n).map(|i| format!("level {}", (class(i) + draw(i, 3, 3)) % 4)).collect(),
            numbers,
        }
    }

    /// The same with two classes: some methods take no more.
    pub(crate) fn of_two_classes(mut self) -> Self {
        let third = self.class.iter_mut().filter(|class| *class == "cured");
        third.for_each(|class| *class = "well".to_owned());
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.class.len()
    }

    pub(crate) fn batch(&self, rows: std::ops::Range<usize>) -> RecordBatch {
        let texts =
            |column: &[String]| Arc::new(StringArray::from(column[rows.clone()].to_vec())) as ArrayRef;
        let numbers =
            |column: &[f64]| Arc::new(Float64Array::from(column[rows.clone()].to_vec())) as ArrayRef;
        let mut columns =
            vec![("class".to_owned(), texts(&self.class)), ("real".to_owned(), numbers(&self.real))];
        let named = self.numbers.iter().enumerate().map(|(j, column)| (format!("x{j}"), numbers(column)));
        columns.extend(named);
        columns.push(("category".to_owned(), texts(&self.category)));
        batch(columns)
    }

    /// Writes the rows in so many files of unequal sizes, below `folder`; returns what to read.
    pub(crate) fn write(&self, folder: &Path, parts: usize) -> PathBuf {
        if parts == 1 {
            let path = folder.join("whole.parquet");
            write(&path, &self.batch(0..self.len()));
            return path;
        }
        let path = folder.join(format!("parts-{parts}"));
        std::fs::create_dir_all(&path).unwrap();
        // Each has one row more than the last, and the rest goes to the last.
        let each = (self.len() / parts).saturating_sub(parts / 2);
        let mut first = 0;
        for part in 0..parts {
            let end = if part + 1 == parts { self.len() } else { first + each + part };
            write(&path.join(format!("part-{part:02}.parquet")), &self.batch(first..end));
            first = end;
        }
        path
    }

    pub(crate) fn write_csv(&self, path: &Path) {
        let names: String = (0..FEATURES - 1).map(|j| format!("x{j},")).collect();
        let mut text = format!("class,real,{names}category\n");
        for i in 0..self.len() {
            let numbers: String = self.numbers.iter().map(|column| format!("{:?},", column[i])).collect();
            text += &format!("{},{:?},{numbers}{}\n", self.class[i], self.real[i], self.category[i]);
        }
        std::fs::write(path, text).unwrap();
    }
}

pub(crate) fn batch(columns: Vec<(String, ArrayRef)>) -> RecordBatch {
    let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect()).unwrap()
}

/// Two numbers in each row, and a list.
pub(crate) fn with_list(n: usize) -> RecordBatch {
    let lists = (0..n).map(|i| Some(vec![Some(i as f64)]));
    let list = ListArray::from_iter_primitive::<Float64Type, _, _>(lists);
    let numbers = || Arc::new(Float64Array::from((0..n).map(|i| i as f64).collect::<Vec<_>>())) as ArrayRef;
    let columns = [("x", numbers()), ("list", Arc::new(list)), ("y", numbers())];
    batch(columns.map(|(name, column)| (name.to_owned(), column)).to_vec())
}

/// Writes a Parquet file with groups of 3000 rows.
pub(crate) fn write(path: &Path, batch: &RecordBatch) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3000)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// The document of a selection in memory, as `fewest select` writes it; rows with missing values are left
/// out.
pub(crate) fn in_memory(
    path: &Path,
    (target, ignored): (&str, &str),
    method: &str,
    parameters: &[&str],
    k: usize,
) -> serde_json::Value {
    document(path, (target, ignored), method, parameters, |selector, data, context| {
        selector.select(data, Budget::Count(k), context)
    })
}

/// The document of the same selection by passes over the rows, all of them on this machine.
pub(crate) fn in_passes(
    path: &Path,
    (target, ignored): (&str, &str),
    method: &str,
    parameters: &[&str],
    k: usize,
) -> serde_json::Value {
    document(path, (target, ignored), method, parameters, |selector, data, context| {
        let rows = &mut RowBatches::new(data, 5000)?;
        selector.in_passes().unwrap().select_stream(rows, Budget::Count(k), context)
    })
}

/// The document of the same selection by passes, of a file whose features come in parts where so many bytes
/// are too few for all.
pub(crate) fn in_parts(path: &Path, target: &str, method: &str, k: usize, memory: u64) -> serde_json::Value {
    document(path, (target, ""), method, &[], |selector, _, context| {
        let options = ReadOptions {
            formats: Registry::standard().clone().with_format(fewest_arrow::PARQUET)?.formats().clone(),
            ..ReadOptions::with_target(target)
        };
        let passes = Passes::open(path, &options).unwrap().unwrap();
        let mut rows = passes.rows_in_parts(Missing::Error, memory).unwrap();
        assert!(rows.n_parts() > 1);
        // The command leaves as much for sums.
        let context = Context { memory: Some((memory / 4) as usize), ..*context };
        selector.in_passes().unwrap().select_stream(&mut rows, Budget::Count(k), &context)
    })
}

/// The document of the scores of all features in memory, as `fewest score` writes it.
pub(crate) fn scores_in_memory(
    path: &Path,
    (target, ignored): (&str, &str),
    method: &str,
    parameters: &[&str],
) -> serde_json::Value {
    scores(path, (target, ignored), method, parameters, |scorer, data, context| scorer.score(data, context))
}

fn document(
    path: &Path,
    columns: (&str, &str),
    method: &str,
    parameters: &[&str],
    select: impl Fn(&dyn Selector, &Dataset, &Context<'_>) -> Result<Selection, Error>,
) -> serde_json::Value {
    let (complete, run) = read(path, columns, method, parameters);
    let selector = run.method.build(&run.parameters).unwrap().into_selector();
    let mut selection = select(&*selector, &complete.dataset, &Context::default()).unwrap();
    selection.notes.extend(fewest_study::rounds_note(&run.method, &selection));
    let reduction = Reduction::of(&complete, run.data.missing, &selection.order).unwrap();
    let text = fewest_study::json::selection(&selection, Some(&reduction), &run).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn scores(
    path: &Path,
    columns: (&str, &str),
    method: &str,
    parameters: &[&str],
    score: impl Fn(&dyn Scorer, &Dataset, &Context<'_>) -> Result<Scores, Error>,
) -> serde_json::Value {
    let (complete, run) = read(path, columns, method, parameters);
    let Ok(Built::Scorer(scorer)) = run.method.build(&run.parameters) else { panic!("{method} selects") };
    let scores = score(&*scorer, &complete.dataset, &Context::default()).unwrap();
    let text = fewest_study::json::scores(&scores, None, &run).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The table in memory, and what is told of it and the method.
fn read(
    path: &Path,
    (target, ignored): (&str, &str),
    method: &str,
    parameters: &[&str],
) -> (Complete, RunInfo) {
    let registry = Registry::standard().clone().with_format(fewest_arrow::PARQUET).unwrap();
    let method = registry.find(method).unwrap();
    let parameters = Parameters::parse(method, parameters).unwrap();
    let options = ReadOptions {
        formats: registry.formats().clone(),
        ignore: Some(ignored.to_owned()).filter(|ignored| !ignored.is_empty()).into_iter().collect(),
        ..ReadOptions::with_target(target)
    };
    let complete = Table::read(path, &options).unwrap().complete(Missing::DropRows).unwrap();
    let missing = if complete.dropped.is_empty() { Missing::Error } else { Missing::DropRows };
    let data = DataInfo {
        targets: complete.target_names.clone(),
        columns: complete.columns.clone(),
        missing,
        ..DataInfo::new(path.display().to_string(), &complete.dataset)
    };
    let seed = Context::default().seed;
    let run = RunInfo { method: method.clone(), parameters, seed, data, seconds: 0.0 };
    (complete, run)
}

/// The document without what may differ: the file, and the time.
pub(crate) fn comparable(mut document: serde_json::Value) -> String {
    document["seconds"] = 0.into();
    document["data"]["file"] = "".into();
    document.to_string()
}
