//! What the first lines say about all columns.

use std::collections::HashMap;
use std::path::Path;

use fewest_core::{Dataset, DenseColumns, FeatureKind, Target};
use serde::{Deserialize, Serialize};

use super::ArrivedSample;
use crate::error::{ColumnLabel, RowLabel, listed, quoted};
use crate::readers::cells::{Cell, Classifier};
use crate::roles;
use crate::target::{TargetValues, unnamed_target};
use crate::{Error, Place, Table};

/// What the columns of a table are whose samples arrive: decided by its first lines, and kept for all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleSchema {
    /// The character between cells.
    pub(super) delimiter: char,
    /// The names of all columns, where the first line has names.
    pub(super) header: Option<Vec<String>>,
    pub(super) n_columns: usize,
    features: Vec<Column>,
    target: TargetColumn,
    /// What was noted about the first lines.
    notes: Vec<String>,
    /// How the target was found, where no option names it.
    target_found: Option<String>,
    /// The number of lines that decided.
    pub(super) n_first: usize,
}

/// A column that is a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Column {
    name: String,
    /// In the file, from 0.
    number: usize,
    /// The levels of a category.
    levels: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum TargetColumn {
    None,
    Class { number: usize, names: Vec<String> },
    Real { numbers: Vec<usize> },
}

/// The value of a sample's target.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TargetCell {
    None,
    Class(u32),
    Real(Vec<f64>),
}

impl SampleSchema {
    /// Of a table of the first lines.
    pub(super) fn of(
        table: &Table,
        delimiter: u8,
        header: Option<Vec<String>>,
        n_columns: usize,
        is_named: bool,
    ) -> Result<Self, Error> {
        let label = |j: usize| table.column_label(j);
        let features = (0..table.n_features()).map(|j| {
            let levels = match table.kinds.as_ref().and_then(|kinds| kinds.get(j)) {
                Some(FeatureKind::Categorical { levels }) => Some(levels.clone()),
                _ => None,
            };
            let number = label(j).number.unwrap_or(j);
            let name = label(j).name.unwrap_or_else(|| format!("f{j}"));
            Column { name, number, levels }
        });
        let numbers: Vec<usize> = table.target_labels.iter().filter_map(|label| label.number).collect();
        let target = match (&table.target, numbers.first()) {
            (TargetValues::None, _) | (_, None) => TargetColumn::None,
            (TargetValues::Class { names, .. }, Some(&number)) => {
                TargetColumn::Class { number, names: names.clone() }
            }
            (TargetValues::Real(_), _) => TargetColumn::Real { numbers },
            (TargetValues::Survival(_), _) => {
                return Err(Error::unsupported(
                    &table.path,
                    "survival times as the target of a stream",
                    "read the whole table (on the command line: fewest select)",
                ));
            }
        };
        let found = table.guess().filter(|_| !is_named);
        let target_found = found.map(|found| found.words().to_owned());
        Ok(Self {
            delimiter: char::from(delimiter),
            header,
            n_columns,
            features: features.collect(),
            target,
            notes: table.notes().to_vec(),
            target_found,
            n_first: table.n_samples(),
        })
    }

    /// The names of the features.
    pub fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|column| column.name.clone()).collect()
    }

    /// The column of every feature in the file, from 0.
    pub fn columns(&self) -> Vec<usize> {
        self.features.iter().map(|column| column.number).collect()
    }

    /// The names of the columns of the target, as [`Table::target_names`].
    pub fn target_names(&self) -> Vec<String> {
        let numbers = match &self.target {
            TargetColumn::None => &[][..],
            TargetColumn::Class { number, .. } => std::slice::from_ref(number),
            TargetColumn::Real { numbers } => numbers,
        };
        let name = |number: usize| self.header.as_ref().and_then(|names| names.get(number)).cloned();
        let name =
            |(output, &number): (usize, &usize)| name(number).unwrap_or_else(|| unnamed_target(output));
        numbers.iter().enumerate().map(name).collect()
    }

    /// How the target was found, where no option names it.
    pub fn target_found(&self) -> Option<&str> {
        self.target_found.as_deref()
    }

    /// The names of the classes; none of another target.
    pub fn classes(&self) -> &[String] {
        match &self.target {
            TargetColumn::Class { names, .. } => names,
            _ => &[],
        }
    }

    /// What was noted about the first lines.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The number of lines that decided.
    pub fn n_first(&self) -> usize {
        self.n_first
    }

    /// The lines that decided, as the subject of a sentence.
    fn first_lines(&self, one: &str, many: &str) -> String {
        match self.n_first {
            1 => format!("the first line {one}"),
            n => format!("the first {n} lines {many}"),
        }
    }

    /// The samples as a data set, with all classes and levels, also those without samples.
    ///
    /// # Errors
    /// [`fewest_core::Error::TooFew`] for no samples.
    pub fn dataset(&self, samples: &[&ArrivedSample]) -> Result<Dataset, fewest_core::Error> {
        let d = self.features.len();
        let columns: Vec<Vec<f64>> =
            (0..d).map(|j| samples.iter().map(|sample| sample.values[j]).collect()).collect();
        let target = match &self.target {
            TargetColumn::None => Target::None,
            TargetColumn::Class { names, .. } => {
                let code = |sample: &&ArrivedSample| match sample.target {
                    TargetCell::Class(code) => code,
                    _ => 0,
                };
                Target::classes(samples.iter().map(code).collect(), names.clone())?
            }
            TargetColumn::Real { numbers } => {
                let value = |sample: &ArrivedSample, output: usize| match &sample.target {
                    TargetCell::Real(values) => values.get(output).copied().unwrap_or(f64::NAN),
                    _ => f64::NAN,
                };
                let outputs = (0..numbers.len())
                    .flat_map(|output| samples.iter().map(move |sample| value(sample, output)));
                Target::outputs(outputs.collect(), samples.len())?
            }
        };
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?
            .with_feature_names(self.feature_names())?;
        if self.features.iter().all(|column| column.levels.is_none()) {
            return Ok(data);
        }
        let kind = |column: &Column| match &column.levels {
            Some(levels) => FeatureKind::Categorical { levels: levels.clone() },
            None => FeatureKind::Numeric,
        };
        data.with_feature_kinds(self.features.iter().map(kind).collect())
    }
}

/// Reads cells by a schema.
pub(super) struct Cells {
    classifier: Classifier,
    /// The levels of every feature that is a category.
    levels: Vec<Option<Codes>>,
    classes: Codes,
}

/// The code of each name; of names that are all numbers, by their value.
struct Codes {
    by_text: HashMap<String, u32>,
    by_number: Option<HashMap<u64, u32>>,
}

impl Codes {
    fn new(names: &[String]) -> Self {
        let bits = |name: &String| name.parse().ok().map(|number: f64| (number + 0.0).to_bits());
        let numbers: Option<Vec<u64>> = names.iter().map(bits).collect();
        Self {
            by_text: names.iter().cloned().zip(0..).collect(),
            by_number: numbers.map(|numbers| numbers.into_iter().zip(0..).collect()),
        }
    }

    fn of(&self, cell: &Cell<&str>) -> Option<u32> {
        let by_number = match (cell, &self.by_number) {
            (Cell::Number(number, _), Some(by_number)) => by_number.get(&(number + 0.0).to_bits()),
            _ => None,
        };
        by_number.or_else(|| self.by_text.get(*cell.text())).copied()
    }
}

impl Cells {
    pub(super) fn new(schema: &SampleSchema, missing_tokens: &[String]) -> Self {
        let levels = |column: &Column| column.levels.as_deref().map(Codes::new);
        Self {
            classifier: Classifier::new(missing_tokens, schema.delimiter != ','),
            levels: schema.features.iter().map(levels).collect(),
            classes: Codes::new(schema.classes()),
        }
    }

    /// The values and the target of a record; the first missing cell where there is one.
    pub(super) fn read(
        &self,
        schema: &SampleSchema,
        path: &Path,
        line: u64,
        record: &csv::ByteRecord,
    ) -> Result<Result<(Vec<f64>, TargetCell), ColumnLabel>, Error> {
        let label = |number: usize| roles::label(schema.header.as_deref(), number);
        let wrong = |number: usize, problem: String, advice: &str| {
            let place = Place::Cell { row: RowLabel::Line(line), column: label(number) };
            Error::malformed(path, place, problem, advice)
        };
        let cell = |number: usize| {
            self.classifier.classify(record.get(number).unwrap_or_default()).map_err(|text| {
                wrong(
                    number,
                    format!("{} is not UTF-8 text", quoted(&text)),
                    "name the encoding (--encoding)",
                )
            })
        };
        let as_number = |number: usize| match cell(number)? {
            Cell::Number(value, _) => Ok(Some(value)),
            Cell::Missing(_) => Ok(None),
            Cell::Infinite(text) => Err(wrong(
                number,
                format!("{} is infinite", quoted(text)),
                "replace it, or say that it means \"missing\" (on the command line: --missing-token)",
            )),
            Cell::Text(text) => Err(wrong(
                number,
                format!("{} is text, but {} numbers here", quoted(text), schema.first_lines("has", "have")),
                "correct it, or declare it as missing or the column as categorical (on the command line: \
                 --missing-token, --categorical)",
            )),
        };
        let as_code = |number: usize, codes: &Codes, names: &[String], what: &str| match cell(number)? {
            Cell::Missing(_) => Ok(None),
            found => codes.of(&found).map(Some).ok_or_else(|| {
                let known = listed(names.iter().map(String::as_str));
                let problem = format!(
                    "the {what} {} is not one that {}: {known}",
                    quoted(found.text()),
                    schema.first_lines("has", "have")
                );
                let advice = "let more lines decide (on the command line: --first-rows)";
                wrong(number, problem, advice)
            }),
        };
        let mut missing = None;
        let mut values = Vec::with_capacity(schema.features.len());
        for (column, codes) in schema.features.iter().zip(&self.levels) {
            let value = match (codes, &column.levels) {
                (Some(codes), Some(levels)) => as_code(column.number, codes, levels, "level")?.map(f64::from),
                _ => as_number(column.number)?,
            };
            if value.is_none() && missing.is_none() {
                missing = Some(column.number);
            }
            values.push(value.unwrap_or(f64::NAN));
        }
        let target = match &schema.target {
            TargetColumn::None => Some(TargetCell::None),
            TargetColumn::Class { number, names } => {
                let code = as_code(*number, &self.classes, names, "class")?;
                missing = missing.or(code.is_none().then_some(*number));
                code.map(TargetCell::Class)
            }
            TargetColumn::Real { numbers } => {
                let mut outputs = Vec::with_capacity(numbers.len());
                for &number in numbers {
                    let value = as_number(number)?;
                    missing = missing.or(value.is_none().then_some(number));
                    outputs.extend(value);
                }
                Some(TargetCell::Real(outputs))
            }
        };
        Ok(match (missing, target) {
            (None, Some(target)) => Ok((values, target)),
            (number, _) => Err(label(number.unwrap_or_default())),
        })
    }
}
