//! The table that columns make: features, target and ids by their roles.

use std::path::{Path, PathBuf};

use fewest_core::FeatureKind;
use nalgebra_sparse::CscMatrix;

use crate::error::{ColumnLabel, RowLabel};
use crate::levels::{Spellings, levels_of_numbers, number_text, sort_levels};
use crate::missing::first_where;
use crate::roles::{self, Guess, Role};
use crate::suspicions::{self, Suspicions};
use crate::table::{Features, Table};
use crate::target;
use crate::{Error, Format, Place, ReadOptions, Task};

/// A column as returned by a reader.
#[derive(Debug)]
pub(crate) enum ReadColumn {
    /// NaN where missing.
    Numbers {
        values: Vec<f64>,
        spellings: Spellings,
        /// The first sample whose number was written with a decimal comma, and how.
        decimal_comma: Option<(usize, String)>,
    },
    /// Codes, NaN where missing, in the order of the names.
    Levels {
        codes: Vec<f64>,
        names: Vec<String>,
    },
    Ids(Vec<String>),
    Ignored,
}

/// A dense table as returned by a reader.
pub(crate) struct Parts {
    pub path: PathBuf,
    pub format: Format,
    pub names: Option<Vec<String>>,
    pub roles: Vec<Role>,
    pub(crate) guess: Option<Guess>,
    pub columns: Vec<ReadColumn>,
    pub n_samples: usize,
    pub lines: Option<Vec<u64>>,
    /// A target that is not a column of the table.
    pub separate_target: Vec<(ColumnLabel, ReadColumn)>,
}

impl Table {
    /// Sorts the columns of a dense table into features, target and ids.
    pub(crate) fn assemble(parts: Parts, options: &ReadOptions) -> Result<Self, Error> {
        let Parts { path, format, names, roles, guess, columns, n_samples, lines, separate_target } = parts;
        let mut kinds = Vec::new();
        let mut features = Vec::new();
        let mut file_columns = Vec::new();
        let mut targets: Vec<(usize, ColumnLabel, ReadColumn)> = Vec::new();
        let mut ids = None;
        let mut id_name = None;
        let (mut weights, mut groups) = (None, None);
        let mut suspicions = Suspicions::default();
        let row = |i: usize| lines.as_ref().map_or(RowLabel::Sample(i), |lines| RowLabel::Line(lines[i]));
        for (number, (role, column)) in roles.into_iter().zip(columns).enumerate() {
            let label = || roles::label(names.as_deref(), number);
            if let (
                Role::Feature | Role::Target(_),
                ReadColumn::Numbers { decimal_comma: Some((i, text)), .. },
            ) = (role, &column)
            {
                suspicions.decimal_comma(text, row(*i), label());
            }
            match (role, column) {
                (Role::Target(output), column) => {
                    if let (ReadColumn::Levels { codes, names }, Task::Auto) = (&column, options.task) {
                        let levels = suspicions::levels(codes, names);
                        suspicions::check_target(&path, &label(), &levels, |level| row(level.first))
                            .map_err(|error| roles::explain(guess, error))?;
                    }
                    targets.push((output, label(), column));
                }
                (Role::Id, ReadColumn::Ids(texts)) => (ids, id_name) = (Some(texts), label().name),
                (Role::Id, ReadColumn::Numbers { values, .. }) => {
                    (ids, id_name) = (Some(values.into_iter().map(number_text).collect()), label().name);
                }
                (Role::Group, ReadColumn::Ids(texts)) => groups = Some((texts, label().name)),
                (Role::Group, ReadColumn::Numbers { values, .. }) => {
                    groups = Some((values.into_iter().map(number_text).collect(), label().name));
                }
                (Role::Weight, column) => weights = Some(sample_weights(&path, label(), column, row)?),
                (Role::Category, ReadColumn::Numbers { mut values, spellings, .. }) => {
                    let levels = levels_of_numbers(&mut values, &spellings);
                    suspicions.categories(&suspicions::levels(&values, &levels), label());
                    kinds.push(FeatureKind::Categorical { levels });
                    features.push(values);
                    file_columns.push(number);
                }
                (Role::Feature | Role::Category, ReadColumn::Levels { codes, names }) => {
                    let levels = suspicions::levels(&codes, &names);
                    match role {
                        Role::Feature => suspicions.text(&levels, label(), |level| row(level.first)),
                        _ => suspicions.categories(&levels, label()),
                    }
                    kinds.push(FeatureKind::Categorical { levels: names });
                    features.push(codes);
                    file_columns.push(number);
                }
                (Role::Feature, ReadColumn::Numbers { values, .. }) => {
                    kinds.push(FeatureKind::Numeric);
                    features.push(values);
                    file_columns.push(number);
                }
                _ => {}
            }
        }
        targets.sort_by_key(|(output, ..)| *output);
        let targets: Vec<_> =
            separate_target.into_iter().chain(targets.into_iter().map(|(_, l, c)| (l, c))).collect();
        let target_labels = targets.iter().map(|(label, _)| label.clone()).collect();
        let target =
            target::decide(&path, targets, options.task).map_err(|error| roles::explain(guess, error))?;
        let feature_names =
            names.map(|names| file_columns.iter().filter_map(|&column| names.get(column).cloned()).collect());
        let all_numeric = kinds.iter().all(|kind| *kind == FeatureKind::Numeric);
        let in_place = file_columns.iter().enumerate().all(|(feature, &column)| feature == column);
        Ok(Self {
            path,
            format,
            features: Features::Dense { columns: features, n_samples },
            names: feature_names,
            kinds: (!all_numeric).then_some(kinds),
            file_columns: (!in_place).then_some(file_columns),
            target,
            target_labels,
            guess,
            ids,
            id_name,
            weights,
            groups,
            sample_graph: None,
            lines,
            first_row: 0,
            first_index: None,
            missing_tokens: options.missing_tokens.clone(),
            not_samples: Vec::new(),
            file_digest: None,
            notes: suspicions.into_notes(),
            is_complete: false,
        })
    }

    /// A table of sparse features.
    pub(crate) fn sparse(
        path: PathBuf,
        format: Format,
        matrix: CscMatrix<f64>,
        targets: Vec<(ColumnLabel, ReadColumn)>,
        lines: Option<Vec<u64>>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let target_labels = targets.iter().map(|(label, _)| label.clone()).collect();
        let target = target::decide(&path, targets, options.task)?;
        Ok(Self {
            path,
            format,
            features: Features::Sparse(matrix),
            names: None,
            kinds: None,
            file_columns: None,
            target,
            target_labels,
            guess: None,
            ids: None,
            id_name: None,
            weights: None,
            groups: None,
            sample_graph: None,
            lines,
            first_row: 0,
            first_index: None,
            missing_tokens: options.missing_tokens.clone(),
            not_samples: Vec::new(),
            file_digest: None,
            notes: Vec::new(),
            is_complete: false,
        })
    }
}

/// The weights of samples: numbers of at least 0, one of them above.
fn sample_weights(
    path: &Path,
    label: ColumnLabel,
    column: ReadColumn,
    row: impl Fn(usize) -> RowLabel,
) -> Result<Vec<f64>, Error> {
    const ADVICE: &str =
        "weights are numbers of at least 0, one for each sample: correct it, or name another column";
    let ReadColumn::Numbers { values, .. } = column else {
        let problem = "the weights of the samples are text";
        return Err(Error::malformed(path, Place::Column(label), problem, ADVICE));
    };
    // Also where a value is missing.
    if let Some(at) = values.iter().position(|value| !(*value >= 0.0 && value.is_finite())) {
        let place = Place::Cell { row: row(at), column: label };
        let value = values[at];
        let problem =
            if value.is_nan() { "the weight is missing".to_owned() } else { format!("a weight is {value}") };
        return Err(Error::malformed(path, place, problem, ADVICE));
    }
    if values.iter().all(|value| *value == 0.0) {
        return Err(Error::malformed(path, Place::Column(label), "every weight is 0", ADVICE));
    }
    Ok(values)
}

/// An error for the first infinite value of a column of a binary file.
pub(crate) fn check_infinite(path: &Path, values: &[f64], column: &ColumnLabel) -> Result<(), Error> {
    match first_where(values, f64::is_infinite) {
        None => Ok(()),
        Some(row) => Err(Error::malformed(
            path,
            Place::Cell { row: RowLabel::Sample(row), column: column.clone() },
            format!("the value is {}", values[row]),
            "replace it (by NaN if the value is missing)",
        )),
    }
}

/// Codes and names of a text column in their final order.
pub(crate) fn text_column(mut codes: Vec<f64>, names: Vec<String>) -> ReadColumn {
    let names = sort_levels(&mut codes, names);
    ReadColumn::Levels { codes, names }
}
