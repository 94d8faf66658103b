//! Views: named ranges of columns.

use std::path::Path;

use fewest_core::View;

use super::{Fault, Lines, Nodes, at, wrong};
use crate::error::quoted;
use crate::{Error, Place};

/// A view from `NAME=FIRST:LAST` or `NAME=COLUMN`, both ends included, each a feature's name or else its
/// number from 0.
///
/// # Errors
/// [`fewest_core::Error::InvalidParameter`] for text of another form, an unknown feature, or a last column
/// before the first.
///
/// ```
/// use fewest_core::View;
/// use fewest_data::{Nodes, parse_view};
/// let features = Nodes::features(&["red", "green", "blue", "size"].map(str::to_owned));
/// assert_eq!(parse_view("colour=red:blue", &features)?, View::new("colour", 0..3));
/// assert_eq!(parse_view("rest=3", &features)?, View::new("rest", 3..4));
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub fn parse_view(text: &str, features: &Nodes) -> Result<View, fewest_core::Error> {
    let refused = |expected: &str| fewest_core::Error::parameter("view", quoted(text), expected);
    let form = || refused("NAME=FIRST:LAST or NAME=COLUMN");
    let (name, columns) = text.split_once('=').ok_or_else(form)?;
    // Names may contain colons: try the whole text as a name, then the first colon between two features.
    let ends = if features.find(columns).is_some() {
        Some((columns, columns))
    } else {
        let splits = || columns.match_indices(':').map(|(at, _)| (&columns[..at], &columns[at + 1..]));
        let both = |ends: &(&str, &str)| features.find(ends.0).is_some() && features.find(ends.1).is_some();
        splits().find(both).or_else(|| splits().next())
    };
    let (first, last) = ends.unwrap_or((columns, columns));
    view(name.trim(), first.trim(), last.trim(), features).map_err(|fault| match fault {
        Fault::Wrong { problem, advice } => refused(&format!("a view of features: {problem}: {advice}")),
        Fault::Unknown { name, expected, .. } => {
            refused(&format!("a view of features: there is no feature {}: {expected}", quoted(&name)))
        }
    })
}

/// Reads views from a table with the columns `view`, `first` and `last`: one view per line, both ends
/// included, each a feature's name or else its number from 0.
///
/// # Errors
/// [`Error::Unknown`] for a feature that does not exist; [`Error::Malformed`] names the line with a last
/// column before the first, the name or a column of an earlier view, or another number of cells.
pub fn read_views(path: impl AsRef<Path>, features: &Nodes) -> Result<Vec<View>, Error> {
    let path = path.as_ref();
    let mut file = Lines::open(path, None)?;
    let header = file.next()?.map(|(_, cells)| cells.join(",").to_ascii_lowercase());
    if header.as_deref() != Some("view,first,last") {
        let problem = "the columns are not `view`, `first` and `last`";
        return Err(Error::malformed(path, Place::Line(1), problem, "start the file with `view,first,last`"));
    }
    let mut views: Vec<(u64, View)> = Vec::new();
    while let Some((line, cells)) = file.next()? {
        let found = match cells[..] {
            [name, first, last] => view(name, first, last, features),
            _ => Err(wrong(format!("{} cells", cells.len()), "give a name, a first and a last column")),
        };
        let found = found.map_err(at(path, line))?;
        let clash = views.iter().find(|(_, other)| {
            other.name == found.name
                || (other.columns.start < found.columns.end && found.columns.start < other.columns.end)
        });
        if let Some((earlier, other)) = clash {
            let shared = if other.name == found.name { "name" } else { "columns" };
            let problem = format!("the view {} shares its {shared} with line {earlier}", quoted(&found.name));
            return Err(at(path, line)(wrong(problem, "use each name and each column in one view only")));
        }
        views.push((line, found));
    }
    Ok(views.into_iter().map(|(_, view)| view).collect())
}

fn view(name: &str, first: &str, last: &str, features: &Nodes) -> Result<View, Fault> {
    if name.is_empty() {
        return Err(wrong("the view has no name", "give it one"));
    }
    let (start, end) = (features.get(first)?, features.get(last)?);
    if end < start {
        let problem = format!("column {} comes after {}", quoted(first), quoted(last));
        return Err(wrong(problem, "name the first column first"));
    }
    Ok(View::new(name, start..end + 1))
}
