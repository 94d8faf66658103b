//! Whether a target is read as classes or numbers.

use std::path::Path;

use fewest_core::order;

use crate::assembly::ReadColumn;
use crate::levels::{Spellings, levels_of_numbers};
use crate::{ColumnLabel, Error, Place, Task};

/// Up to this many different integers are classes, if there are fewer of them than samples.
pub(crate) const FEW_CLASSES: usize = 10;
/// Up to this many different integers are classes, if each occurs at least twice.
pub(crate) const MANY_CLASSES: usize = 100;

/// More text labels than [`MANY_CLASSES`], of fewer samples each than this on average, are likely the names
/// of samples.
const LEAST_OF_CLASS: usize = 3;

/// A target as read: NaN where missing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TargetValues {
    None,
    Real(Vec<Vec<f64>>),
    /// Codes in the order of the names.
    Class {
        codes: Vec<f64>,
        names: Vec<String>,
    },
}

impl TargetValues {
    /// The columns of numbers or codes.
    pub(crate) fn columns(&self) -> &[Vec<f64>] {
        match self {
            TargetValues::None => &[],
            TargetValues::Real(outputs) => outputs,
            TargetValues::Class { codes, .. } => std::slice::from_ref(codes),
        }
    }
}

/// The target as classes or numbers, by the rule of [`Task`].
pub(crate) fn decide(
    path: &Path,
    mut columns: Vec<(ColumnLabel, ReadColumn)>,
    task: Task,
) -> Result<TargetValues, Error> {
    if columns.len() > 1 {
        return several(path, columns, task);
    }
    let Some((label, column)) = columns.pop() else { return Ok(TargetValues::None) };
    match column {
        ReadColumn::Levels { codes, names } if task != Task::Regression => {
            let samples = codes.iter().filter(|code| !code.is_nan()).count();
            if task == Task::Auto && names.len() > MANY_CLASSES && samples < LEAST_OF_CLASS * names.len() {
                return Err(Error::malformed(
                    path,
                    Place::Column(label),
                    format!(
                        "the target has {} classes in {samples} samples, as a column of names has",
                        names.len()
                    ),
                    "name another target, or say that these are classes (on the command line: --task \
                     classification)",
                ));
            }
            Ok(TargetValues::Class { codes, names })
        }
        ReadColumn::Numbers { mut values, spellings, .. } => {
            let classes = match task {
                Task::Auto => are_classes(&values),
                Task::Classification => true,
                Task::Regression => false,
            };
            if classes {
                let names = levels_of_numbers(&mut values, &spellings);
                Ok(TargetValues::Class { codes: values, names })
            } else {
                Ok(TargetValues::Real(vec![values]))
            }
        }
        _ => Err(Error::malformed(
            path,
            Place::Column(label),
            "the target is text, but numbers are needed",
            "name another target, or read it as classes (on the command line: --task classification)",
        )),
    }
}

fn several(path: &Path, columns: Vec<(ColumnLabel, ReadColumn)>, task: Task) -> Result<TargetValues, Error> {
    if task == Task::Classification {
        return Err(Error::unsupported(
            path,
            format!("a classification with {} target columns", columns.len()),
            "name one target column (several must be real outputs)",
        ));
    }
    let outputs = columns.into_iter().map(|(label, column)| match column {
        ReadColumn::Numbers { values, .. } => Ok(values),
        _ => Err(Error::malformed(
            path,
            Place::Column(label),
            "the column is text, but one of several targets, which must be numbers",
            "name one target column",
        )),
    });
    Ok(TargetValues::Real(outputs.collect::<Result<_, _>>()?))
}

fn are_classes(values: &[f64]) -> bool {
    let present: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    if present.is_empty() || present.iter().any(|value| value.fract() != 0.0) {
        return false;
    }
    let n_present = present.len();
    let counted = order::counted(present);
    let few = counted.len() <= FEW_CLASSES && counted.len() < n_present;
    let many = counted.len() <= MANY_CLASSES && counted.iter().all(|&(_, count)| count >= 2);
    few || many
}

/// A column of numbers whose spelling is not needed.
pub(crate) fn plain(values: Vec<f64>) -> ReadColumn {
    ReadColumn::Numbers { values, spellings: Spellings::default(), decimal_comma: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_with_few_levels_are_classes() {
        assert!(are_classes(&[1.0, -1.0, 1.0]));
        assert!(are_classes(&[0.0, 1.0, 1.0, f64::NAN]));
        // A class with a single sample is a class as long as there are few.
        assert!(are_classes(&(0..20).map(|i| f64::from(i.min(9))).collect::<Vec<_>>()));
        // Forty persons with ten pictures each are classes.
        assert!(are_classes(&(0..400).map(|i| f64::from(i / 10)).collect::<Vec<_>>()));
    }

    /// Names of samples are no classes, unless somebody says so.
    #[test]
    fn nearly_as_many_classes_as_samples_are_told() {
        let decide = |n: usize, per_class: usize, task: Task| {
            let codes: Vec<f64> = (0..n).map(|i| (i / per_class) as f64).collect();
            let names = (0..n.div_ceil(per_class)).map(|class| format!("s{class}")).collect();
            let label = ColumnLabel { name: Some("id".to_owned()), number: Some(0) };
            decide(Path::new("t.csv"), vec![(label, ReadColumn::Levels { codes, names })], task)
        };
        let told = decide(400, 2, Task::Auto).map_err(|error| error.to_string());
        assert!(told.is_err_and(|message| message.contains("200 classes in 400 samples")));
        assert!(decide(400, 2, Task::Classification).is_ok());
        assert!(decide(400, 4, Task::Auto).is_ok());
        assert!(decide(40, 1, Task::Auto).is_ok());
    }

    #[test]
    fn counts_and_measurements_are_numbers() {
        assert!(!are_classes(&[0.5, 1.0, 1.0]));
        assert!(!are_classes(&[1.0, 2.0, 3.0]));
        // Eleven levels, one of which occurs once: a count.
        assert!(!are_classes(&(0..21).map(|i| f64::from(i / 2)).collect::<Vec<_>>()));
        assert!(!are_classes(&(0..404).map(|i| f64::from(i / 4)).collect::<Vec<_>>()));
        assert!(!are_classes(&[f64::NAN]));
        assert!(!are_classes(&[]));
    }
}
