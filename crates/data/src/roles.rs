//! The role of each column of a table.

use std::collections::HashMap;
use std::path::Path;

use fewest_core::method::nearest;

use crate::error::{RowLabel, listed, quoted};
use crate::lookup::find_all;
use crate::{ColumnLabel, Error, Place, ReadOptions, Reduction, TargetChoice, TargetFound};

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    /// A feature that was declared as categorical.
    Category,
    /// The target's output of this number.
    Target(usize),
    Id,
    /// The weight of each sample.
    Weight,
    /// The group of each sample.
    Group,
    Ignored,
}

/// Names of columns that are taken for the target where none is named, in this order.
pub(crate) const TARGET_NAMES: [&str; 4] = ["target", "label", "class", "y"];

/// The target that no option names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guess {
    column: usize,
    pub(crate) how: TargetFound,
}

impl Guess {
    /// An error that may come from the guess says so.
    fn explain(self, error: Error) -> Error {
        let Error::Malformed { path, place, problem, advice } = error else { return error };
        let column = match &*place {
            Place::Column(column) | Place::Cell { column, .. } => column.number,
            _ => None,
        };
        let advice = match column == Some(self.column) {
            true => format!(
                "{advice} ({} was used as the target; use --target to name another)",
                self.how.words()
            ),
            false => advice,
        };
        Error::Malformed { path, place, problem, advice }
    }
}

/// The error, with the guess where that may be its cause.
pub(crate) fn explain(guess: Option<Guess>, error: Error) -> Error {
    match guess {
        Some(guess) => guess.explain(error),
        None => error,
    }
}

/// The role of every column of a table that has these `names` (or none), and the target where it was guessed.
pub(crate) fn assign(
    path: &Path,
    names: Option<&[String]>,
    n_columns: usize,
    options: &ReadOptions,
) -> Result<(Vec<Role>, Option<Guess>), Error> {
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
            "name it once among target, id, weights, groups, ignored and categorical columns",
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
    if let Some(wanted) = &options.weights {
        take(&mut roles, find(wanted)?, Role::Weight)?;
    }
    if let Some(wanted) = &options.sample_groups {
        let column = find(wanted)?;
        match roles.get_mut(column) {
            // Ids that several samples have are groups, too.
            Some(role @ Role::Id) => *role = Role::Group,
            _ => take(&mut roles, column, Role::Group)?,
        }
    }
    if let Some(reduction) = &options.reduction {
        return reduced(path, names, roles, reduction).map(|roles| (roles, None));
    }
    for (several, role) in [(&options.ignore, Role::Ignored), (&options.categorical, Role::Category)] {
        // One look at all names, not one for each: a list may be as long as the table is wide.
        let known = names.unwrap_or_default().iter().map(String::as_str);
        let places = find_all(known, several.iter().map(String::as_str));
        for (wanted, place) in several.iter().zip(places) {
            let matching = match place {
                Some(_) => Vec::new(),
                None => matching_names(names.unwrap_or_default(), wanted),
            };
            // A pattern leaves the target and the ids alone.
            for &column in &matching {
                if roles[column] == Role::Feature {
                    roles[column] = role;
                }
            }
            if !matching.is_empty() {
                continue;
            }
            if place.is_none() && names.is_some() && wanted.contains(['*', '?']) && find(wanted).is_err() {
                let problem = format!("no column matches {}", quoted(wanted));
                let advice =
                    "`*` stands for any characters and `?` for one; small and capital letters differ";
                return Err(Error::malformed(path, Place::File, problem, advice));
            }
            take(&mut roles, place.map_or_else(|| find(wanted), Ok)?, role)?;
        }
    }
    let guess = match options.target {
        TargetChoice::Guess { or_last } => guess(names, &roles, or_last),
        _ => None,
    };
    if let Some(guess) = guess {
        let taken =
            if roles.get(guess.column) == Some(&Role::Ignored) { "it is ignored" } else { "it is in use" };
        take(&mut roles, guess.column, Role::Target(0)).map_err(|_| {
            Error::malformed(
                path,
                Place::Column(label(names, guess.column)),
                format!("{taken}, and no other is known to be the target ({} would be)", guess.how.words()),
                "name the target (on the command line: --target)",
            )
        })?;
    }
    if !roles.iter().any(is_feature) {
        return Err(Error::malformed(
            path,
            Place::File,
            "no column is left to be a feature",
            "check the delimiter, and which columns are the target, the ids and the ignored ones",
        ));
    }
    if let Some(wanted) = &options.features {
        let features = roles.iter_mut().filter(|role| is_feature(role));
        let others = features.enumerate().filter(|(j, _)| wanted.binary_search(j).is_err());
        others.for_each(|(_, role)| *role = Role::Ignored);
    }
    Ok((roles, guess))
}

/// Whether the column is read.
pub(crate) fn is_read(role: &Role) -> bool {
    !matches!(role, Role::Ignored | Role::Id)
}

pub(crate) fn is_feature(role: &Role) -> bool {
    matches!(role, Role::Feature | Role::Category)
}

/// The target that no option names. Where it would be the only feature, there is none.
fn guess(names: Option<&[String]>, roles: &[Role], or_last: bool) -> Option<Guess> {
    if roles.iter().filter(|role| is_feature(role)).count() < 2 {
        return None;
    }
    let called = |wanted: &&str| {
        let mut columns = names?.iter().zip(roles);
        columns.position(|(name, role)| is_feature(role) && name.eq_ignore_ascii_case(wanted))
    };
    match TARGET_NAMES.iter().find_map(called) {
        Some(column) => Some(Guess { column, how: TargetFound::ByName }),
        None => or_last.then(|| Guess { column: roles.len() - 1, how: TargetFound::Last }),
    }
}

/// The roles where only the columns of a selection are wanted: they are found by name, or else by number.
fn reduced(
    path: &Path,
    names: Option<&[String]>,
    mut roles: Vec<Role>,
    reduction: &Reduction,
) -> Result<Vec<Role>, Error> {
    let mut lacking = Vec::new();
    roles.iter_mut().filter(|role| **role == Role::Feature).for_each(|role| *role = Role::Ignored);
    let known: Vec<&str> = names.unwrap_or_default().iter().map(String::as_str).collect();
    let places = match reduction.named {
        true => find_all(known.iter().copied(), reduction.columns.iter().map(|wanted| wanted.name.as_str())),
        false => reduction.columns.iter().map(|wanted| Some(wanted.column)).collect(),
    };
    for (wanted, at) in reduction.columns.iter().zip(places) {
        let role = if wanted.levels.is_some() { Role::Category } else { Role::Feature };
        match at.and_then(|column| roles.get_mut(column)) {
            Some(free) if *free == Role::Ignored => *free = role,
            _ => lacking.push(wanted.name.as_str()),
        }
    }
    match (lacking.is_empty(), reduction.named, names) {
        (true, ..) => Ok(roles),
        (_, true, None) => {
            Err(lacks(path, &lacking, "give the file a first line with the names of its columns"))
        }
        _ => {
            let others: Vec<&str> = known
                .iter()
                .zip(&roles)
                .filter_map(|(name, role)| (*role == Role::Ignored).then_some(*name))
                .collect();
            Err(lacks(path, &lacking, &add_columns(&lacking, &others)))
        }
    }
}

/// Columns that a message names.
const NAMED: usize = 8;

/// What to do where columns of a selection are not in a file, which has these `others`.
pub(crate) fn add_columns(columns: &[&str], others: &[&str]) -> String {
    let renamed = columns.iter().take(NAMED).filter_map(|wanted| {
        let near = nearest(wanted, others).into_iter().next()?;
        Some(format!("{} to {}", quoted(&near), quoted(wanted)))
    });
    let renamed: Vec<String> = renamed.collect();
    let first = match renamed.as_slice() {
        [] => "add what is missing".to_owned(),
        [one] => format!("rename {one} if that is the same column"),
        several => format!("rename {} if these are the same columns", several.join(", ")),
    };
    format!("{first}: columns are found by the names that they have in the training table")
}

/// The error for a file without these columns of a selection.
pub(crate) fn lacks(path: &Path, columns: &[&str], advice: &str) -> Error {
    let what = if columns.len() == 1 { "the column" } else { "the columns" };
    let problem = format!("{what} {} of the selection cannot be found", listed(columns.iter().copied()));
    Error::malformed(path, Place::File, problem, advice)
}

/// The places of the names that a pattern with `*` (any characters) or `?` (one) matches as a whole; none for
/// a text without these.
///
/// ```
/// let names = ["age", "gene1", "gene2"].map(String::from);
/// assert_eq!(fewest_data::matching_names(&names, "gene*"), [1, 2]);
/// assert!(fewest_data::matching_names(&names, "age").is_empty());
/// ```
pub fn matching_names(names: &[String], pattern: &str) -> Vec<usize> {
    if !pattern.contains(['*', '?']) {
        return Vec::new();
    }
    let pattern: Vec<char> = pattern.chars().collect();
    (0..names.len()).filter(|&at| matches_pattern(&pattern, &names[at])).collect()
}

/// Whether `text` is what `pattern` says: `*` any characters, `?` one.
pub(crate) fn matches_pattern(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut of) = (0, 0);
    // Where the last `*` stands, and how much of the text it takes so far.
    let mut star: Option<(usize, usize)> = None;
    while of < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[of] => {
                at += 1;
                of += 1;
            }
            _ => match &mut star {
                Some((place, taken)) => {
                    *taken += 1;
                    (at, of) = (*place + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|c| *c == '*')
}

pub(crate) fn label(names: Option<&[String]>, column: usize) -> ColumnLabel {
    let name = names.and_then(|names| names.get(column)).filter(|name| !name.is_empty());
    ColumnLabel { name: name.cloned(), number: Some(column) }
}

/// An error for a needed column without a name, and for two of one name. The names stand at `place`.
pub(crate) fn check_names(
    path: &Path,
    place: &Place,
    names: Option<&[String]>,
    roles: &[Role],
) -> Result<(), Error> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (number, (name, role)) in names.unwrap_or_default().iter().zip(roles).enumerate() {
        if name.is_empty() && !matches!(role, Role::Id | Role::Group | Role::Ignored) {
            let column = label(names, number);
            let place = match place {
                Place::Line(line) => Place::Cell { row: RowLabel::Line(*line), column },
                _ => Place::Column(column),
            };
            let advice = "give it one, leave the column out (on the command line: --ignore), or delete a title \
                          above the names";
            return Err(Error::malformed(path, place, "the column has no name", advice));
        }
        if name.is_empty() {
            continue;
        }
        if let Some(earlier) = seen.insert(name, number) {
            return Err(Error::malformed(
                path,
                place.clone(),
                format!("columns {earlier} and {number} (counted from 0) are both called {}", quoted(name)),
                "rename one",
            ));
        }
    }
    Ok(())
}

/// A column by its name, or else by its number from 0, or else by the word `last`.
pub(crate) fn find_column(
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
        Some(names) => {
            format!("the columns are {}; {numbers} can be used too", listed(names.iter().map(String::as_str)))
        }
        None => format!(
            "the first line is read as values, so the columns have no names: use {numbers}, or say that it has \
             the names (on the command line: --header yes)"
        ),
    };
    let near = nearest(wanted, names.unwrap_or_default()).into_iter().next();
    Err(Error::NotFound { path: path.to_owned(), what: "column", name: wanted.to_owned(), expected, near })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, matches) in [
            ("GENE*", "GENE12", true),
            ("GENE*", "GENE", true),
            ("GENE*", "gene1", false),
            ("*_mean", "area_mean", true),
            ("*_mean", "area_mean2", false),
            ("a*b*c", "abcbc", true),
            ("a*b*c", "acb", false),
            ("x?", "x1", true),
            ("x?", "x", false),
            ("*", "", true),
            ("é?*", "éa", true),
        ] {
            let pattern: Vec<char> = pattern.chars().collect();
            assert_eq!(matches_pattern(&pattern, text), matches, "{pattern:?} {text}");
        }
    }
}
