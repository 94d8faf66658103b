//! The tests of this crate, as one program: each program is linked by itself.

mod common;
mod hostile;
mod optimality;
