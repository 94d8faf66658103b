//! The tests of this crate, as one program: each program is linked by itself.

mod arriving;
mod limits;
mod objectives;
mod registry;
mod windows;
