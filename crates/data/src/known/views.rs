//! Views: which features come from which source.

use std::collections::HashMap;
use std::path::Path;

use fewest_core::Views;

use super::{Fault, Lines, Nodes, at, wrong};
use crate::error::quoted;
use crate::levels::Interner;
use crate::roles::matches_pattern;
use crate::{Error, Place};

/// The views from texts `NAME=COLUMNS`, one for each view. The columns, separated by commas, are each a
/// feature's name or else its number from 0, `FIRST:LAST` with both ends included, or a name with `*` for any
/// characters and `?` for one.
///
/// # Errors
/// [`fewest_core::Error::InvalidParameter`] for text of another form, an unknown feature, a pattern that no
/// feature has, a last column before the first, a view without a name, and a feature in two views or in none.
///
/// ```
/// use fewest_data::{Nodes, parse_views};
/// let features = Nodes::features(&["red", "green", "blue", "size", "size2"].map(str::to_owned));
/// let views = parse_views(&["colour=red:blue", "form=size*"], &features)?;
/// assert_eq!(views.sets(), [vec![0, 1, 2], vec![3, 4]]);
/// assert_eq!(parse_views(&["a=green,0", "b=2:4"], &features)?.sets(), [vec![0, 1], vec![2, 3, 4]]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub fn parse_views(texts: &[impl AsRef<str>], features: &Nodes) -> Result<Views, fewest_core::Error> {
    let mut members = Members::new(features);
    for (number, text) in texts.iter().map(AsRef::as_ref).enumerate() {
        let refused = |expected: &str| fewest_core::Error::parameter("view", quoted(text), expected);
        let fault = |fault| match fault {
            Fault::Wrong { problem, advice } => refused(&format!("a view of features: {problem}: {advice}")),
            Fault::Unknown { name, expected, .. } => {
                refused(&format!("a view of features: there is no feature {}: {expected}", quoted(&name)))
            }
        };
        let form = || refused("NAME=COLUMNS, such as text=word1:word9 or image=pixel*");
        let (name, list) = text.split_once('=').ok_or_else(form)?;
        let place = format!("view {} of the list", number + 1);
        let view = members.view(name.trim()).map_err(fault)?;
        if !members.members[view].is_empty() {
            return Err(fault(wrong("the name is that of an earlier one", "name its columns there")));
        }
        // A name may contain commas.
        let items: Vec<&str> =
            if features.find(list).is_some() { vec![list] } else { list.split(',').map(str::trim).collect() };
        for item in items {
            for feature in columns(item, features).map_err(fault)? {
                members.add(view, feature, &place).map_err(fault)?;
            }
        }
    }
    members.views(features).map_err(|fault| match fault {
        Fault::Wrong { problem, advice } => fewest_core::Error::parameter(
            "view",
            "not complete",
            format!("of all features: {problem}: {advice}"),
        ),
        Fault::Unknown { name, expected, .. } => fewest_core::Error::parameter("view", name, expected),
    })
}

/// Reads views under one of two headers: `feature,view`, a line for each feature, or `view,first,last`, a
/// line for each range of columns, both ends included. Features are named by name or else by number from 0.
/// Views are in the order in which the file names them first; every feature belongs to one.
///
/// # Errors
/// [`Error::Unknown`] for a feature that does not exist; [`Error::Malformed`] for another header, and names
/// the line with a feature of an earlier line, a last column before the first, a view without a name, or
/// another number of cells; else a feature in no view.
///
/// ```
/// use fewest_data::{Nodes, read_views};
/// # let folder = std::env::temp_dir().join(format!("fewest-views-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("views.csv");
/// let features = Nodes::features(&["height", "weight", "age"].map(str::to_owned));
/// std::fs::write(&path, "feature,view\nheight,scan\nage,form\nweight,scan\n")?;
/// let views = read_views(&path, &features)?;
/// assert_eq!((views.names(), views.sets()), (&["scan".to_owned(), "form".to_owned()][..], vec![vec![0, 1], vec![2]]));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_views(path: impl AsRef<Path>, features: &Nodes) -> Result<Views, Error> {
    let path = path.as_ref();
    let mut file = Lines::open(path, None)?;
    let header = file.next()?.map(|(line, cells)| (line, cells.join(",").to_ascii_lowercase()));
    let by_range = match header.as_ref().map(|(line, header)| (*line, header.as_str())) {
        Some((_, "feature,view")) => false,
        Some((_, "view,first,last")) => true,
        other => {
            let place = other.map_or(Place::File, |(line, _)| Place::Line(line));
            let problem = "the columns are not `feature` and `view`, nor `view`, `first` and `last`";
            let advice = "start the file with `feature,view` or `view,first,last`";
            return Err(Error::malformed(path, place, problem, advice));
        }
    };
    let mut members = Members::new(features);
    while let Some((line, cells)) = file.next()? {
        let fault = at(path, line);
        let place = format!("line {line}");
        let (name, added) = match cells[..] {
            [feature, view] if !by_range => (view, features.get(feature).map(|j| vec![j])),
            [view, first, last] if by_range => (view, range(first, last, features)),
            _ => {
                let expected =
                    if by_range { "a view, a first and a last column" } else { "a feature and its view" };
                return Err(fault(wrong(format!("{} cells", cells.len()), format!("give {expected}"))));
            }
        };
        let view = members.view(name).map_err(&fault)?;
        for feature in added.map_err(&fault)? {
            members.add(view, feature, &place).map_err(&fault)?;
        }
    }
    members.views(features).map_err(|fault| match fault {
        Fault::Wrong { problem, advice } => Error::malformed(path, Place::File, problem, advice),
        other => at(path, 0)(other),
    })
}

/// The features of each view, and where each was given.
struct Members {
    names: Interner,
    members: Vec<Vec<usize>>,
    of_feature: HashMap<usize, (usize, String)>,
    texts: Vec<String>,
}

impl Members {
    fn new(features: &Nodes) -> Self {
        let mut texts: Vec<String> = (0..features.len()).map(|j| j.to_string()).collect();
        features.by_name.iter().for_each(|(name, &j)| texts[j].clone_from(name));
        Self { names: Interner::default(), members: Vec::new(), of_feature: HashMap::new(), texts }
    }

    /// The number of the view of this name.
    fn view(&mut self, name: &str) -> Result<usize, Fault> {
        if name.is_empty() {
            return Err(wrong("the view has no name", "give it one"));
        }
        let view = self.names.code(name) as usize;
        self.members.resize(self.members.len().max(view + 1), Vec::new());
        Ok(view)
    }

    fn add(&mut self, view: usize, feature: usize, place: &str) -> Result<(), Fault> {
        if let Some((earlier, at)) = self.of_feature.insert(feature, (view, place.to_owned())) {
            let (feature, name) = (quoted(&self.texts[feature]), quoted(&self.names.names()[earlier]));
            let problem = format!("feature {feature} is in the view {name} already ({at})");
            return Err(wrong(problem, "give each feature one view"));
        }
        self.members[view].push(feature);
        Ok(())
    }

    fn views(self, features: &Nodes) -> Result<Views, Fault> {
        let missing: Vec<usize> =
            (0..features.len()).filter(|feature| !self.of_feature.contains_key(feature)).collect();
        if let Some(&first) = missing.first() {
            let others = match missing.len() - 1 {
                0 => String::new(),
                1 => " and 1 other".to_owned(),
                n => format!(" and {n} others"),
            };
            let problem = format!("feature {}{others} in no view", quoted(&self.texts[first]));
            return Err(wrong(problem, "give each feature a view, or ignore its column"));
        }
        let named = self.names.names().iter().cloned().zip(self.members).collect();
        Views::new(features.len(), named).map_err(|error| wrong(error.to_string(), "check the views"))
    }
}

/// The features that an item of a list names.
fn columns(item: &str, features: &Nodes) -> Result<Vec<usize>, Fault> {
    if item.is_empty() {
        return Err(wrong("a column is not named", "name a feature"));
    }
    if let Some(feature) = features.find(item) {
        return Ok(vec![feature]);
    }
    // Names may contain colons: the first colon between two features counts.
    let splits = || item.match_indices(':').map(|(at, _)| (item[..at].trim(), item[at + 1..].trim()));
    let both = |ends: &(&str, &str)| features.find(ends.0).is_some() && features.find(ends.1).is_some();
    if let Some((first, last)) = splits().find(both).or_else(|| splits().next()) {
        return range(first, last, features);
    }
    if item.contains(['*', '?']) {
        let pattern: Vec<char> = item.chars().collect();
        let named = features.by_name.iter().filter(|(name, _)| matches_pattern(&pattern, name));
        let mut found: Vec<usize> = named.map(|(_, &feature)| feature).collect();
        fewest_core::order::sort_indices(&mut found);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    features.get(item).map(|feature| vec![feature])
}

fn range(first: &str, last: &str, features: &Nodes) -> Result<Vec<usize>, Fault> {
    let (start, end) = (features.get(first)?, features.get(last)?);
    if end < start {
        let problem = format!("column {} comes after {}", quoted(first), quoted(last));
        return Err(wrong(problem, "name the first column first"));
    }
    Ok((start..=end).collect())
}
