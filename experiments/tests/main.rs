//! The tests of this crate, as one program: each program is linked by itself.

mod pages;
mod places;
mod solvers;
mod worked_examples;
