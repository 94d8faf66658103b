//! The tests of this crate, as one program: each program is linked by itself.

mod bounds;
mod elimination;
mod forests;
mod golden;
mod hostile;
mod search;
