//! What a whole table tells of columns that may have been intended otherwise: row numbers among the
//! features, a number as target that was read as classes, or classes that are nearly as many as the
//! samples.

use fewest_core::{FeatureKind, order};

use crate::error::quoted;
use crate::suspicions::FEW_SAMPLES;
use crate::table::Features;
use crate::target::{FEW_CLASSES, TargetValues};
use crate::{ReadOptions, Table, Task};

/// Names that numbers of rows have, in small letters.
const ROW_NAMES: [&str; 7] = ["id", "index", "idx", "nr", "no", "row", "#"];

/// A note for each kind.
pub(crate) fn hints(table: &Table, options: &ReadOptions) -> Vec<String> {
    row_numbers(table).into_iter().chain(classes(table, options.task)).collect()
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
    let mut found = (0..columns.len()).filter(numbers_rows);
    let first = table.column_label(found.next()?);
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
    let n_samples = codes.iter().filter(|code| !code.is_nan()).count();
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
