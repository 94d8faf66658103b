//! The tests of this crate, as one program: each program is linked by itself.

#[path = "../../filters/tests/common/mod.rs"]
mod common;
mod conic;
mod ikpca;
mod indefinite;
mod multiple;
mod nonmonotonic;
mod parameters;
