//! Reference results that were computed independently.

#[path = "../../../solver/tests/common/mod.rs"]
mod common;

#[test]
fn reference_results() {
    common::golden::check(&fewest_pgd::ProximalGradient::default());
}
