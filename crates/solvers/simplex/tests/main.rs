//! The tests of this crate, as one program: each program is linked by itself.

mod hinge;
mod inputs;
mod laws;
mod restarts;
