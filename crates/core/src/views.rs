//! Views: the columns of each source.

use std::collections::HashSet;
use std::ops::Range;

use crate::{Error, order};

/// The columns of one source: a view of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// Its name.
    pub name: String,
    /// Its features, counted from 0, the end not included.
    pub columns: Range<usize>,
}

impl View {
    /// The features `columns` under a name.
    pub fn new(name: impl Into<String>, columns: Range<usize>) -> Self {
        Self { name: name.into(), columns }
    }
}

/// [`Error::InvalidPart`] for the first view that is empty, outside `n_features`, named as an earlier
/// one, or overlaps one.
pub(crate) fn check(views: &[View], n_features: usize) -> Result<(), Error> {
    let mut names = HashSet::new();
    let starts: Vec<usize> = views.iter().map(|view| view.columns.start).collect();
    let by_start = order::by_key(&starts);
    let overlap = by_start.windows(2).find(|pair| views[pair[0]].columns.end > views[pair[1]].columns.start);
    for (number, View { name, columns }) in views.iter().enumerate() {
        let problem = if columns.is_empty() {
            format!("(`{name}`) has no column: leave it out")
        } else if columns.end > n_features {
            let last = columns.end - 1;
            format!("(`{name}`) ends at column {last}, but there are {n_features}, counted from 0")
        } else if !names.insert(name) {
            format!("has the name `{name}` of an earlier one: rename one")
        } else {
            continue;
        };
        return Err(Error::InvalidPart { part: "view", number, problem });
    }
    match overlap {
        None => Ok(()),
        Some(pair) => {
            let (number, other) = (pair[0].max(pair[1]), pair[0].min(pair[1]));
            let (name, earlier) = (&views[number].name, &views[other].name);
            let problem = format!("(`{name}`) shares columns with `{earlier}`: a column belongs to one view");
            Err(Error::InvalidPart { part: "view", number, problem })
        }
    }
}
