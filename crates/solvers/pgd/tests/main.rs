//! The tests of this crate, as one program: each program is linked by itself.

mod argmin;
#[path = "../../../solver/tests/common/mod.rs"]
mod common;
mod golden;
mod optimality;
