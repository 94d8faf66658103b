//! One module a format, and what the formats of text share. A format more is a module here and an entry of
//! [`FORMATS`].

mod cells;
pub mod delimited;
mod lines;
pub mod matlab;
pub mod npy;
mod sparse;
pub mod svmlight;

use crate::Format;

/// The formats there are; where two look alike, the later one counts.
pub static FORMATS: [Format; 4] = [delimited::FORMAT, matlab::FORMAT, svmlight::FORMAT, npy::FORMAT];
