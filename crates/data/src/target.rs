//! Whether a target is read as classes or numbers.

use std::path::Path;

use fewest_core::order;

use crate::assembly::ReadColumn;
use crate::error::listed;
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
    /// Times, and 1 for an event or 0.
    Survival([Vec<f64>; 2]),
}

impl TargetValues {
    /// The columns of numbers or codes.
    pub(crate) fn columns(&self) -> &[Vec<f64>] {
        match self {
            TargetValues::None => &[],
            TargetValues::Real(outputs) => outputs,
            TargetValues::Class { codes, .. } => std::slice::from_ref(codes),
            TargetValues::Survival(columns) => columns,
        }
    }
}

/// The target as classes or numbers, by the rule of [`Task`].
pub(crate) fn decide(
    path: &Path,
    mut columns: Vec<(ColumnLabel, ReadColumn)>,
    task: Task,
) -> Result<TargetValues, Error> {
    if task == Task::Survival {
        return survival(path, columns);
    }
    if columns.len() > 1 {
        return several(path, columns, task);
    }
    let Some((label, column)) = columns.pop() else { return Ok(TargetValues::None) };
    match column {
        ReadColumn::Levels { codes, names } if task != Task::Regression => {
            let samples = codes.iter().filter(|code| !code.is_nan()).count();
            if task == Task::Auto {
                check_names_of_samples(path, &label, names.len(), samples)?;
            }
            Ok(TargetValues::Class { codes, names })
        }
        ReadColumn::Numbers { mut values, spellings, .. } => {
            let classes = match task {
                Task::Auto => are_classes(&values),
                Task::Classification => true,
                Task::Regression | Task::Survival => false,
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

/// Refuses text of so many levels that it is likely the names of samples.
pub(crate) fn check_names_of_samples(
    path: &Path,
    label: &ColumnLabel,
    n_names: usize,
    n_samples: usize,
) -> Result<(), Error> {
    if n_names <= MANY_CLASSES || n_samples >= LEAST_OF_CLASS * n_names {
        return Ok(());
    }
    Err(Error::malformed(
        path,
        Place::Column(label.clone()),
        format!("the target has {n_names} classes in {n_samples} samples, as a column of names has"),
        "name another target, or say that these are classes (on the command line: --task classification)",
    ))
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

/// Times until an event and whether it happened, from two columns: numbers of at least 0, and 1 or 0 (or two
/// words, such as `dead` and `alive`, of which one says so).
fn survival(path: &Path, columns: Vec<(ColumnLabel, ReadColumn)>) -> Result<TargetValues, Error> {
    let n_columns = columns.len();
    let [(time_label, time), (event_label, event)] = <[_; 2]>::try_from(columns).map_err(|_| {
        Error::unsupported(
            path,
            format!("survival with {}", if n_columns == 1 { "one target column" } else { "these targets" }),
            "name two target columns, the time and the event, in this order (on the command line: --target \
                 TIME,EVENT)",
        )
    })?;
    let wrong = |label: &ColumnLabel, problem: String, advice: &str| {
        Err(Error::malformed(path, Place::Column(label.clone()), problem, advice))
    };
    let ReadColumn::Numbers { values: times, .. } = time else {
        return wrong(
            &time_label,
            "the time until an event is text".to_owned(),
            "name first the column of times, then that of events",
        );
    };
    if let Some(time) = times.iter().find(|time| **time < 0.0) {
        let advice =
            "times until an event are at least 0: name first the column of times, then that of events";
        return wrong(&time_label, format!("a time is {time}"), advice);
    }
    const ONE_OR_ZERO: &str = "write 1 for an event and 0 for a sample that was seen without one until then";
    let events = match event {
        ReadColumn::Numbers { values, .. } => values,
        ReadColumn::Levels { mut codes, names } => {
            let says = |name: &String| event_word(name);
            let known: Option<Vec<bool>> = names.iter().map(says).collect();
            let Some(known) = known else {
                let problem = format!("the event is text ({})", listed(names.iter().map(String::as_str)));
                return wrong(&event_label, problem, ONE_OR_ZERO);
            };
            let present = codes.iter_mut().filter(|code| !code.is_nan());
            present.for_each(|code| *code = f64::from(known[*code as usize]));
            codes
        }
        _ => return wrong(&event_label, "there is no event in it".to_owned(), ONE_OR_ZERO),
    };
    if let Some(event) = events.iter().find(|event| !event.is_nan() && **event != 0.0 && **event != 1.0) {
        return wrong(&event_label, format!("an event is {event}, neither 1 nor 0"), ONE_OR_ZERO);
    }
    if !events.contains(&1.0) {
        let problem = "no sample has an event, so nothing is known about survival".to_owned();
        return wrong(&event_label, problem, ONE_OR_ZERO);
    }
    Ok(TargetValues::Survival([times, events]))
}

/// Whether a word says that there was an event, where it says something about it.
fn event_word(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "true" | "yes" | "event" | "dead" | "died" | "deceased" => Some(true),
        "false" | "no" | "censored" | "alive" | "living" => Some(false),
        _ => None,
    }
}

/// What a column of the target without a name is called.
pub(crate) fn unnamed_target(output: usize) -> String {
    if output == 0 { "target".to_owned() } else { format!("target{output}") }
}

/// Whether numbers are read as classes unless the user says otherwise: whole numbers, either at most 10
/// different ones and fewer than there are values, or at most 100 that each occur twice. NaN is no value.
///
/// ```
/// use fewest_data::are_classes;
/// assert!(are_classes(&[0.0, 1.0, 1.0]));
/// assert!(!are_classes(&[0.0, 1.0, 2.0]) && !are_classes(&[0.5, 0.5, 1.0]));
/// ```
pub fn are_classes(values: &[f64]) -> bool {
    let present: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    if present.is_empty() || present.iter().any(|value| value.fract() != 0.0) {
        return false;
    }
    are_classes_counted(&order::counted(present))
}

/// As [`are_classes`], of different numbers with how often each occurs.
pub(crate) fn are_classes_counted(counted: &[(f64, usize)]) -> bool {
    if counted.is_empty() || counted.iter().any(|(value, _)| value.fract() != 0.0) {
        return false;
    }
    let n_present: usize = counted.iter().map(|(_, count)| count).sum();
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
