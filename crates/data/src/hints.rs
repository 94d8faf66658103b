//! What a whole table tells of columns that may have been intended otherwise: row numbers among the
//! features, a feature that is called like a target, a number as target that was read as classes, or classes
//! that are nearly as many as the samples.

use fewest_core::{FeatureKind, order};

use crate::error::quoted;
use crate::suspicions::FEW_SAMPLES;
use crate::table::Features;
use crate::target::{FEW_CLASSES, TargetValues};
use crate::{ColumnLabel, ReadOptions, Table, TargetChoice, Task};

/// Names that numbers of rows have, in small letters.
const ROW_NAMES: [&str; 7] = ["id", "index", "idx", "nr", "no", "row", "#"];

/// Words that are names of targets.
const TARGETS: [&str; 3] = ["target", "label", "class"];

/// A note for each kind.
pub(crate) fn hints(table: &Table, options: &ReadOptions) -> Vec<String> {
    let names = (0..table.n_features()).map(|j| table.feature_name(j));
    let other_target = other_target(names, options);
    row_numbers(table).into_iter().chain(classes(table, options.task)).chain(other_target).collect()
}

/// Where the target was named: a feature of these names that has the name of one. It may tell the answer.
pub(crate) fn other_target(mut names: impl Iterator<Item = String>, options: &ReadOptions) -> Option<String> {
    let TargetChoice::Columns(_) = options.target else { return None };
    let name = names.find(|name| TARGETS.iter().any(|word| name.eq_ignore_ascii_case(word)))?;
    Some(format!(
        "column `{name}` is used as a feature: if it is another target, or made from one, leave it out with --ignore \
         {name}"
    ))
}

/// Features of whole numbers, all different, that increase or have a name of row numbers.
fn row_numbers(table: &Table) -> Option<String> {
    let Features::Dense { columns, n_samples } = &table.features else { return None };
    if *n_samples < FEW_SAMPLES {
        return None;
    }
    let numbers_rows = |j: &usize| {
        let name = table.names.as_ref().and_then(|names| names.get(*j)).map(|name| name.to_lowercase());
        let is_named = name.is_some_and(|name| ROW_NAMES.contains(&name.as_str()));
        let values = &columns[*j];
        *table.feature_kind(*j) == FeatureKind::Numeric
            && (values.windows(2).all(|pair| pair[0] < pair[1]) || is_named && all_different(values))
            && values.iter().all(|value| value.fract() == 0.0)
    };
    row_numbers_in((0..columns.len()).filter(numbers_rows).map(|j| table.column_label(j)))
}

/// Whether values go on as numbers of rows do, which increase and are whole: `last` came before them, and
/// becomes the last of them.
pub(crate) fn go_on_as_row_numbers(last: &mut f64, values: &[f64]) -> bool {
    values.iter().all(|&value| value.fract() == 0.0 && std::mem::replace(last, value) < value)
}

/// The note about columns of numbers of rows, where there are any.
pub(crate) fn row_numbers_in(mut found: impl Iterator<Item = ColumnLabel>) -> Option<String> {
    let first = found.next()?;
    let more = match found.count() {
        0 => String::new(),
        1 => " (the same in 1 more column)".to_owned(),
        n => format!(" (the same in {n} more columns)"),
    };
    let by = match (&first.name, first.number) {
        (Some(name), _) => format!(": --id-column {}", quoted(name).trim_matches('`')),
        (None, Some(number)) => format!(": --id-column {number}"),
        _ => String::new(),
    };
    Some(format!(
        "{first} looks like a row number, but is used as a feature{more}: if it names the samples, say so, or leave \
         it out with --ignore (on the command line{by})"
    ))
}

fn all_different(values: &[f64]) -> bool {
    order::counted(values.to_vec()).len() == values.len()
}

/// A target of many whole numbers that was read as classes, or of classes that nearly all occur once.
fn classes(table: &Table, task: Task) -> Option<String> {
    let TargetValues::Class { codes, names } = &table.target else { return None };
    classes_of(names, codes.iter().filter(|code| !code.is_nan()).count(), task)
}

/// The note about the classes `names` of `n_samples`.
pub(crate) fn classes_of(names: &[String], n_samples: usize, task: Task) -> Option<String> {
    let n_classes = names.len();
    if task == Task::Auto && n_classes > FEW_CLASSES && names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Some(format!(
            "the target has {n_classes} different whole numbers and is read as classes: if it is a number, say so (on \
             the command line: --task regression)"
        ));
    }
    (n_samples >= FEW_SAMPLES && 2 * n_classes > n_samples).then(|| {
        format!(
            "the target has {n_classes} classes in {n_samples} samples, so that most classes occur once: if it is a \
             number, say so, or name another target (on the command line: --task regression, --target)"
        )
    })
}
