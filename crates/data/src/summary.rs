//! The summary of a table.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use fewest_core::{Column, Columns, FeatureKind, order};
use serde::Serialize;

use crate::missing::mark_missing;
use crate::table::{Features, Table};
use crate::target::TargetValues;

/// The content of a table, before missing values are handled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableSummary {
    /// Number of samples.
    pub n_samples: usize,
    /// Number of features.
    pub n_features: usize,
    /// How many features are categorical.
    pub n_categorical: usize,
    /// Values stored, for sparse tables.
    pub n_stored: Option<usize>,
    /// Missing values among the features.
    pub n_missing: usize,
    /// Samples with a missing value, features and target alike: those that
    /// [`Missing::DropRows`](crate::Missing::DropRows) drops.
    pub n_incomplete_samples: usize,
    /// Every feature, in order.
    pub features: Vec<ColumnSummary>,
    /// Features equal to an earlier one in every sample: `(feature, the first equal one)`.
    pub duplicates: Vec<(usize, usize)>,
    /// The target.
    pub target: TargetSummary,
}

/// The content of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its number in the file, from 0; `None` if it is not a column, such as the labels of svmlight.
    pub number: Option<usize>,
    /// The names of its levels, for categories.
    pub levels: Option<Vec<String>>,
    /// Missing values.
    pub n_missing: usize,
    /// Whether all values present are equal (also if there is none).
    pub constant: bool,
    /// The smallest value, for numbers.
    pub minimum: Option<f64>,
    /// The largest value, for numbers.
    pub maximum: Option<f64>,
    /// The mean of the values present, for numbers.
    pub mean: Option<f64>,
}

/// The content of the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TargetSummary {
    /// There is none.
    None,
    /// Real outputs.
    Real {
        /// Every output, in order.
        outputs: Vec<ColumnSummary>,
    },
    /// Times until an event.
    Survival {
        /// The column of the times.
        time: ColumnSummary,
        /// The name of the column of the events.
        event: String,
        /// Number of events.
        n_events: usize,
    },
    /// Classes.
    Class {
        /// The column's name.
        name: String,
        /// The name of every class and its number of samples, by code.
        classes: Vec<(String, usize)>,
        /// Samples without a class.
        n_missing: usize,
    },
}

impl Table {
    /// Counts and ranges of everything in the table. O(n·d).
    pub fn summary(&self) -> TableSummary {
        let n_samples = self.n_samples();
        let mut incomplete = vec![false; n_samples];
        self.mark_missing_features(&mut incomplete);
        self.target.columns().iter().for_each(|values| mark_missing(values, &mut incomplete));
        let features: Vec<ColumnSummary> = (0..self.n_features())
            .map(|j| {
                let levels = match self.feature_kind(j) {
                    FeatureKind::Categorical { levels } => Some(levels.clone()),
                    _ => None,
                };
                let place = (self.feature_name(j), self.column_label(j).number);
                summarise(place, levels, self.features.stored(j), n_samples)
            })
            .collect();
        TableSummary {
            n_samples,
            n_features: features.len(),
            n_categorical: features.iter().filter(|column| column.levels.is_some()).count(),
            n_stored: match &self.features {
                Features::Dense { .. } => None,
                Features::Sparse(matrix) => Some(matrix.nnz()),
            },
            n_missing: features.iter().map(|column| column.n_missing).sum(),
            n_incomplete_samples: incomplete.iter().filter(|incomplete| **incomplete).count(),
            features,
            duplicates: duplicates(&self.features),
            target: self.summarise_target(),
        }
    }

    /// The number of different values of a feature, or of levels that occur; missing ones are none. O(n
    /// log n).
    pub fn n_distinct(&self, j: usize) -> usize {
        let (stored, has_zeros) = match self.features.stored(j) {
            Column::Dense(values) => (values, false),
            Column::Sparse { values, .. } => (values, values.len() < self.n_samples()),
        };
        // 0 and -0 are the same.
        let mut values: Vec<f64> =
            stored.iter().filter(|value| !value.is_nan()).map(|value| value + 0.0).collect();
        values.extend(has_zeros.then_some(0.0));
        order::counted(values).len()
    }

    fn summarise_target(&self) -> TargetSummary {
        let mut places =
            self.target_names().into_iter().zip(self.target_labels.iter().map(|label| label.number));
        match &self.target {
            TargetValues::None => TargetSummary::None,
            TargetValues::Real(outputs) => TargetSummary::Real {
                outputs: places
                    .zip(outputs)
                    .map(|(place, values)| summarise(place, None, Column::Dense(values), values.len()))
                    .collect(),
            },
            TargetValues::Survival([times, events]) => {
                let time = places.next().unwrap_or_default();
                TargetSummary::Survival {
                    time: summarise(time, None, Column::Dense(times), times.len()),
                    event: places.next().map(|(name, _)| name).unwrap_or_default(),
                    n_events: events.iter().filter(|event| **event == 1.0).count(),
                }
            }
            TargetValues::Class { codes, names: classes } => {
                let mut counts = vec![0; classes.len()];
                let present = codes.iter().filter(|code| !code.is_nan());
                present.for_each(|&code| counts[code as usize] += 1);
                TargetSummary::Class {
                    name: places.next().map(|(name, _)| name).unwrap_or_default(),
                    n_missing: codes.len() - counts.iter().sum::<usize>(),
                    classes: classes.iter().cloned().zip(counts).collect(),
                }
            }
        }
    }
}

fn summarise(
    (name, number): (String, Option<usize>),
    levels: Option<Vec<String>>,
    column: Column<'_>,
    n_samples: usize,
) -> ColumnSummary {
    let (stored, zeros) = match column {
        Column::Dense(values) => (values, 0),
        Column::Sparse { values, .. } => (values, n_samples - values.len()),
    };
    let n_missing = stored.iter().filter(|value| value.is_nan()).count();
    let present = n_samples - n_missing;
    let (mut minimum, mut maximum) = if zeros > 0 { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let mut mean = 0.0;
    for &value in stored.iter().filter(|value| !value.is_nan()) {
        minimum = f64::min(minimum, value);
        maximum = f64::max(maximum, value);
        mean += value / present as f64;
    }
    let range = levels.is_none() && present > 0;
    ColumnSummary {
        name,
        number,
        levels,
        n_missing,
        constant: present == 0 || minimum == maximum,
        minimum: range.then_some(minimum),
        maximum: range.then_some(maximum),
        mean: range.then_some(mean),
    }
}

/// The nonzero values as (sample, bits). 0 and -0 are the same, and so are all NaN.
fn content<'a>(column: Column<'a>) -> Box<dyn Iterator<Item = (usize, u64)> + 'a> {
    let bits = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
    match column {
        Column::Dense(values) => Box::new(
            values
                .iter()
                .enumerate()
                .filter(|(_, value)| **value != 0.0)
                .map(move |(row, &v)| (row, bits(v))),
        ),
        Column::Sparse { rows, values } => Box::new(
            rows.iter().zip(values).filter(|(_, value)| **value != 0.0).map(move |(&row, &v)| (row, bits(v))),
        ),
    }
}

fn duplicates(features: &Features) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for j in 0..features.n_features() {
        let mut hasher = DefaultHasher::new();
        for (row, bits) in content(features.stored(j)) {
            hasher.write_usize(row);
            hasher.write_u64(bits);
        }
        let alike = seen.entry(hasher.finish()).or_default();
        let first =
            alike.iter().copied().find(|&i| content(features.stored(i)).eq(content(features.stored(j))));
        match first {
            Some(first) => found.push((j, first)),
            None => alike.push(j),
        }
    }
    found
}
