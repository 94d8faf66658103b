//! The role of each column of a table.

use std::path::Path;

use crate::error::{listed, quoted};
use crate::{ColumnLabel, Error, Place, ReadOptions, TargetChoice};

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    /// A feature that was declared as categorical.
    Category,
    /// The target's output of this number.
    Target(usize),
    Id,
    Ignored,
}

/// The role of every column of a table that has these `names` (or none).
pub(crate) fn assign(
    path: &Path,
    names: Option<&[String]>,
    n_columns: usize,
    options: &ReadOptions,
) -> Result<Vec<Role>, Error> {
    let find = |wanted: &str| find_column(path, names, n_columns, wanted);
    let mut roles = vec![Role::Feature; n_columns];
    let take = |roles: &mut Vec<Role>, column: usize, role: Role| match roles.get_mut(column) {
        Some(free) if *free == Role::Feature => {
            *free = role;
            Ok(())
        }
        _ => Err(Error::malformed(
            path,
            Place::Column(label(names, column)),
            "the column was given two roles",
            "name it once among target, id, ignored and categorical columns",
        )),
    };
    if let TargetChoice::Columns(targets) = &options.target {
        for (output, wanted) in targets.iter().enumerate() {
            take(&mut roles, find(wanted)?, Role::Target(output))?;
        }
    }
    match &options.id {
        Some(wanted) => take(&mut roles, find(wanted)?, Role::Id)?,
        None => {
            let nameless = names.and_then(<[String]>::first).is_some_and(String::is_empty);
            if nameless && roles.first() == Some(&Role::Feature) {
                take(&mut roles, 0, Role::Id)?;
            }
        }
    }
    for wanted in &options.ignore {
        take(&mut roles, find(wanted)?, Role::Ignored)?;
    }
    for wanted in &options.categorical {
        take(&mut roles, find(wanted)?, Role::Category)?;
    }
    if !roles.iter().any(|role| matches!(role, Role::Feature | Role::Category)) {
        return Err(Error::malformed(
            path,
            Place::File,
            "no column is left to be a feature",
            "check the delimiter, and which columns are the target, the ids and the ignored ones",
        ));
    }
    Ok(roles)
}

pub(crate) fn label(names: Option<&[String]>, column: usize) -> ColumnLabel {
    let name = names.and_then(|names| names.get(column)).filter(|name| !name.is_empty());
    ColumnLabel { name: name.cloned(), number: Some(column) }
}

/// A column by its name, or else by its number from 0, or else by the word `last`.
fn find_column(
    path: &Path,
    names: Option<&[String]>,
    n_columns: usize,
    wanted: &str,
) -> Result<usize, Error> {
    if let Some(column) = names.and_then(|names| names.iter().position(|name| name == wanted)) {
        return Ok(column);
    }
    match wanted.parse::<usize>() {
        Ok(column) if column < n_columns => return Ok(column),
        _ if wanted == "last" && n_columns > 0 => return Ok(n_columns - 1),
        _ => {}
    }
    let numbers = format!("the numbers 0 to {} or `last`", n_columns.saturating_sub(1));
    let expected = match names {
        Some(names) => match names.iter().find(|name| name.eq_ignore_ascii_case(wanted)) {
            Some(close) => format!("did you mean {}?", quoted(close)),
            None => format!(
                "the columns are {}; {numbers} can be used too",
                listed(names.iter().map(String::as_str))
            ),
        },
        None => format!("the columns have no names here, use {numbers}"),
    };
    Err(Error::NotFound { path: path.to_owned(), what: "column", name: wanted.to_owned(), expected })
}
