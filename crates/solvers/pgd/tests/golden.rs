//! Reference results that were computed independently.

use crate::common;

#[test]
fn reference_results() {
    common::golden::check(&fewest_pgd::ProximalGradient::default());
}
