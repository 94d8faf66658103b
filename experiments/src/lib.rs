//! The worked examples of the documentation, compiled and run as a crate that sees public items only.
//!
//! The program of this member is in `main.rs`; this library holds nothing else.

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/adding-a-method.md")]
    struct AddingAMethod;
    #[doc = include_str!("../../docs/adding-a-solver.md")]
    struct AddingASolver;
    #[doc = include_str!("../../docs/solvers/lars.md")]
    struct Lars;
    #[doc = include_str!("../../README.md")]
    struct Readme;
}
