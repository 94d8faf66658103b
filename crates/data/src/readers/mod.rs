//! One module for each format, and what the text formats share. A new format is a module here and an entry of
//! [`FORMATS`].

pub(crate) mod arriving;
mod cells;
pub(crate) mod delimited;
mod growing;
mod lines;
pub(crate) mod matlab;
pub(crate) mod npy;
mod parts;
mod pieces;
mod sparse;
pub(crate) mod svmlight;
mod text;
mod transpose;
mod unread;

use crate::Format;

/// All formats. If several are equally likely for a file, the last one is used.
pub(crate) static FORMATS: [Format; 4] = [delimited::FORMAT, matlab::FORMAT, svmlight::FORMAT, npy::FORMAT];
