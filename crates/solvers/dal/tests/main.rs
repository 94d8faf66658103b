//! The tests of this crate, as one program: each program is linked by itself.

mod agreement;
mod common;
mod control;
mod hostile;
mod ill_conditioned;
mod quadratic;
mod work;
