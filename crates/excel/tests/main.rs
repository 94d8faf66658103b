//! The tests of this crate, as one program: each program is linked by itself.

mod others;
mod workbooks;
