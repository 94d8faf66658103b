//! The tests of this crate, as one program: each program is linked by itself.

mod graph;
mod groups;
