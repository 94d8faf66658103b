//! One module a format, and what the formats of text share. A format more is a module here and an entry of
//! [`FORMATS`].

mod cells;
pub(crate) mod delimited;
mod lines;
pub(crate) mod matlab;
pub(crate) mod npy;
mod sparse;
pub(crate) mod svmlight;

use crate::Format;

/// The formats there are; where two look alike, the later one counts.
pub(crate) static FORMATS: [Format; 4] = [delimited::FORMAT, matlab::FORMAT, svmlight::FORMAT, npy::FORMAT];
