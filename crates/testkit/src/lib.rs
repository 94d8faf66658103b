//! What the tests of the workspace share, and those of a crate that adds a method to it.

pub mod conformance;
pub mod datasets;
pub mod golden;

/// The worked examples of the documentation, compiled and run as a crate that sees public items only.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/adding-a-method.md")]
    struct AddingAMethod;
    #[doc = include_str!("../../../docs/adding-a-solver.md")]
    struct AddingASolver;
    #[doc = include_str!("../../../docs/solvers/lars.md")]
    struct Lars;
    #[doc = include_str!("../../../README.md")]
    struct Readme;
}
