//! What all filters do first: take the classes, walk over the features.

use fewest_core::{Classes, Dataset, Error, Target};

pub(crate) use fewest_columns::map_features;

/// The classes of the target, or the error that says `method` needs them.
pub(crate) fn classes<'a>(data: &'a Dataset, method: &'static str) -> Result<&'a Classes, Error> {
    match data.target() {
        Target::Class(classes) => Ok(classes),
        other => Err(Error::UnsupportedTarget { method, expected: "classes", found: other.describe() }),
    }
}
