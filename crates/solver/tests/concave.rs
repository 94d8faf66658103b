//! Penalties that are not convex, against their definitions.

use fewest_solver::{BlockPenalty, Concave, ConcavePenalty, Error, Mcp, Penalty, Root, Scad};
use proptest::prelude::*;

fn all(lambda: f64) -> Vec<Box<dyn Concave>> {
    vec![
        Box::new(Mcp::new(lambda, 3.0).unwrap()),
        Box::new(Mcp::new(lambda, 1.1).unwrap()),
        Box::new(Scad::new(lambda, 3.7).unwrap()),
        Box::new(Scad::new(lambda, 2.05).unwrap()),
        Box::new(Root::new(lambda).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_prox_is_the_minimum(size in 0.0..6.0_f64, step in 0.05..6.0_f64, lambda in 0.01..2.0_f64) {
        for concave in all(lambda) {
            let value = |u: f64| concave.value(u) + (u - size).powi(2) / (2.0 * step);
            let found = concave.prox(size, step);
            prop_assert!((0.0..=size).contains(&found), "{}: {found} of {size}", concave.name());
            for i in 0..=2000 {
                let other = f64::from(i) * 0.0005 * size;
                prop_assert!(value(found) <= value(other) + 1e-12, "{} {size} {step}: {found} {other}", concave.name());
            }
        }
    }

    #[test]
    fn the_slope_is_the_derivative(size in 0.01..6.0_f64, lambda in 0.01..2.0_f64) {
        for concave in all(lambda) {
            let slopes = [
                (concave.value(size + 1e-6) - concave.value(size)) / 1e-6,
                (concave.value(size) - concave.value(size - 1e-6)) / 1e-6,
            ];
            prop_assert!((concave.slope(size) - slopes[0]).abs() < 1e-3 * lambda.max(1.0) || size < 0.1);
            // Concave, and never falling.
            prop_assert!(slopes[0] <= slopes[1] + 1e-8 && slopes[0] >= -1e-8, "{}: {slopes:?}", concave.name());
            prop_assert_eq!(concave.value(0.0), 0.0);
        }
    }

    /// The majorant is above the penalty everywhere and touches it at the point.
    #[test]
    fn the_majorant_is_above(
        w in proptest::collection::vec(-3.0..3.0_f64, 4), u in proptest::collection::vec(-3.0..3.0_f64, 4),
        lambda in 0.01..2.0_f64,
    ) {
        fn check<C: Concave>(concave: C, w: &[f64], u: &[f64]) -> Result<(), TestCaseError> {
            let penalty = ConcavePenalty::new(concave, w.len());
            let majorant = penalty.majorant(w).unwrap();
            let constant = penalty.value(w) - majorant.value(w);
            prop_assert!(majorant.value(u) + constant >= penalty.value(u) - 1e-12);
            Ok(())
        }
        check(Mcp::new(lambda, 1.5).unwrap(), &w, &u)?;
        check(Scad::new(lambda, 2.5).unwrap(), &w, &u)?;
        check(Root::new(lambda).unwrap(), &w, &u)?;
    }
}

#[test]
fn zeros_of_the_root_stay() {
    let penalty = ConcavePenalty::new(Root::new(1.0).unwrap(), 2);
    let majorant = penalty.majorant(&[0.0, 4.0]).unwrap();
    let levels = majorant.as_l1().unwrap().levels();
    assert_eq!(levels[1], 0.25);
    assert!(levels[0] > 1e50 && majorant.value(&[0.0, 4.0]) == 1.0);
}

/// A coefficient without a level has a conjugate: that of a bounded one.
#[test]
fn a_flat_coefficient_leaves_a_dual_point() {
    let penalty = ConcavePenalty::new(Mcp::new(1.0, 2.0).unwrap(), 2);
    let majorant = penalty.majorant(&[0.0, 4.0]).unwrap();
    assert_eq!(majorant.as_l1().unwrap().levels(), [1.0, 0.0]);
    assert_eq!(majorant.dual_point(&[0.0, 4.0], &[2.0, 0.25]), (0.5, 40.0 * 0.125));
    // Fenchel and Young, for coefficients within the bound.
    let v = [0.7, -0.1];
    for w in [[3.0, 40.0], [-1.0, -40.0], [0.0, 1.0]] {
        assert!(majorant.value(&w) + majorant.conjugate(&v) >= w[0] * v[0] + w[1] * v[1]);
    }
    let part = majorant.restrict(&[1]);
    assert_eq!(part.conjugate(&[0.5]), 20.0);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |made: Result<(), Error>, parameter: &str| {
        assert!(matches!(made, Err(Error::InvalidParameter { name, .. }) if name == parameter));
    };
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        refused(Mcp::new(bad, 3.0).map(|_| ()), "lambda");
        refused(Scad::new(bad, 3.7).map(|_| ()), "lambda");
        refused(Root::new(bad).map(|_| ()), "lambda");
        refused(Mcp::new(1.0, bad).map(|_| ()), "gamma");
        refused(Scad::new(1.0, bad).map(|_| ()), "a");
    }
    refused(Mcp::new(1.0, 1.0).map(|_| ()), "gamma");
    refused(Scad::new(1.0, 2.0).map(|_| ()), "a");
}
