//! The tests of this crate, as one program: each program is linked by itself.

mod argmin;
mod common;
mod golden;
mod hostile;
mod laws;
mod linear;
mod pairwise;
#[path = "../../../solver/tests/common/mod.rs"]
mod shared;
