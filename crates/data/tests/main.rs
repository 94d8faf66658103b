//! The tests of this crate, as one program: each program is linked by itself.

mod arriving;
mod binary;
mod collections;
mod encodings;
mod fuzz;
mod hostile;
mod in_pieces;
mod journal;
mod known;
mod large;
mod mapped;
mod matlab_bytes;
mod policies;
mod problems;
mod reduction;
mod scales;
mod support;
mod survival;
mod suspicions;
mod text;
mod writing;
