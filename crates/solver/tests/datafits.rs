//! Losses and inner products against explicit matrices.

use crate::common::{Explicit, dot, normals, penalties};
use fewest_solver::{
    Composite, Datafit, DenseOperator, Error, InnerProducts, L1, LinearOperator, Logistic, Projected,
    Quadratic, Ridged, Scaled, SquaredLoss, certificate,
};
use proptest::prelude::*;

fn operator(problem: &Explicit) -> DenseOperator {
    DenseOperator::new(problem.atoms.concat(), problem.target.len(), problem.atoms.len()).unwrap()
}

fn labels(problem: &Explicit) -> Vec<f64> {
    problem.target.iter().map(|value| value.signum()).collect()
}

fn datafits(problem: &Explicit) -> Vec<(&'static str, Box<dyn Datafit>)> {
    vec![
        ("squared", Box::new(SquaredLoss::new(operator(problem), problem.target.clone()).unwrap())),
        ("quadratic", Box::new(problem.quadratic())),
        ("logistic", Box::new(Logistic::new(operator(problem), labels(problem)).unwrap())),
    ]
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn gradients_are_derivatives(n_rows in 1_usize..12, n in 1_usize..8, seed in 0_u64..1000) {
        let problem = Explicit::random(n_rows, n, 3.0, seed);
        let w = normals(n, seed + 1);
        for (name, datafit) in datafits(&problem) {
            let mut gradient = vec![f64::NAN; n];
            let value = datafit.gradient(&w, &mut gradient);
            prop_assert!(close(value, datafit.value(&w), 1e-12), "{name}");
            for j in 0..n {
                let moved = |by: f64| {
                    let mut at = w.clone();
                    at[j] += by;
                    datafit.value(&at)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!(close(slope, gradient[j], 1e-6), "{name}: {slope} {}", gradient[j]);
            }
        }
    }

    /// The dual value of any point is below the objective of every other.
    #[test]
    fn duality_is_weak(n_rows in 1_usize..12, n in 1_usize..8, seed in 0_u64..1000, lambda in 0.01..5.0_f64) {
        let problem = Explicit::random(n_rows, n, 3.0, seed);
        let (w, u) = (normals(n, seed + 1), normals(n, seed + 2));
        for (name, datafit) in datafits(&problem) {
            for (penalty_name, penalty) in penalties(lambda, n) {
                let mut u = u.clone();
                penalty.prox(&mut u, 0.0);
                let mut gradient = vec![0.0; n];
                datafit.gradient(&w, &mut gradient);
                let v: Vec<f64> = gradient.iter().map(|g| -g).collect();
                let largest = penalty.dual_scale(&v);
                for t in [0.0, 0.3 * largest, largest] {
                    let scaled: Vec<f64> = v.iter().map(|v| t * v).collect();
                    let dual = datafit.dual_value(&w, t) - penalty.conjugate(&scaled);
                    for point in [&u, &vec![0.0; n]] {
                        let primal = datafit.value(point) + penalty.value(point);
                        prop_assert!(dual <= primal + 1e-9 * (1.0 + primal), "{name}, {penalty_name}: {dual} {primal}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_quadratic_is_the_squared_loss(n_rows in 1_usize..12, n in 1_usize..8, seed in 0_u64..1000, t in 0.0..1.0_f64) {
        let problem = Explicit::random(n_rows, n, 3.0, seed);
        let w = normals(n, seed + 1);
        let squared = SquaredLoss::new(operator(&problem), problem.target.clone()).unwrap();
        let quadratic = problem.quadratic();
        let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
        prop_assert!(close(squared.gradient(&w, &mut a), quadratic.gradient(&w, &mut b), 1e-10));
        prop_assert!(a.iter().zip(&b).all(|(a, b)| close(*a, *b, 1e-10)));
        prop_assert!(close(squared.dual_value(&w, t), quadratic.dual_value(&w, t), 1e-10));
        let residual = problem.residual(&w);
        prop_assert!(close(squared.value(&w), 0.5 * dot(&residual, &residual), 1e-12));
    }

    #[test]
    fn certificates_are_what_the_definition_says(
        n_rows in 2_usize..12, n in 6_usize..10, seed in 0_u64..1000, lambda in 0.1..20.0_f64, size in 0.0..0.3_f64,
    ) {
        let problem = Explicit::random(n_rows, n, 3.0, seed).with_degenerate_atoms();
        let quadratic = problem.quadratic();
        for (name, penalty) in penalties(lambda, n) {
            let mut w: Vec<f64> = normals(n, seed + 1).iter().map(|value| size * value).collect();
            penalty.prox(&mut w, 0.0);
            let correlations = certificate::correlations(&quadratic, &w).unwrap();
            let residual = problem.residual(&w);
            for (v, atom) in correlations.iter().zip(&problem.atoms) {
                prop_assert!(close(*v, dot(atom, &residual), 1e-10));
            }
            let found = certificate::certify(&quadratic, &*penalty, &w, &correlations);
            let (objective, gap) = problem.certificate(&*penalty, &w);
            prop_assert!(close(found.objective, objective, 1e-10), "{name}");
            prop_assert!(close(found.relative_gap(), gap, 1e-8), "{name}: {} {gap}", found.relative_gap());
            prop_assert!(found.duality_gap >= -1e-12 * (1.0 + objective));
        }
    }

    #[test]
    fn normalised_atoms_have_unit_norm(n_rows in 2_usize..8, n in 6_usize..9, seed in 0_u64..1000) {
        let problem = Explicit::random(n_rows, n, 3.0, seed).with_degenerate_atoms();
        let divide = |values: &[f64]| -> Vec<f64> {
            let norm = dot(values, values).sqrt();
            values.iter().map(|value| if norm > 0.0 { value / norm } else { 0.0 }).collect()
        };
        let expected = Explicit {
            atoms: problem.atoms.iter().map(|atom| divide(atom)).collect(),
            target: divide(&problem.target),
        };
        same_products(&Scaled::to_norm_one(problem.quadratic()), &expected)?;
    }

    #[test]
    fn a_ridge_is_a_dimension_of_its_own(n_rows in 1_usize..8, n in 1_usize..8, seed in 0_u64..1000, ridge in 0.0..3.0_f64) {
        let mut problem = Explicit::random(n_rows, n, 3.0, seed);
        let ridged = Ridged::new(problem.quadratic(), ridge).unwrap();
        for (j, atom) in problem.atoms.iter_mut().enumerate() {
            atom.extend((0..n).map(|i| if i == j { ridge.sqrt() } else { 0.0 }));
        }
        problem.target.extend(vec![0.0; n]);
        same_products(&ridged, &problem)?;
    }

    #[test]
    fn free_atoms_are_projected_out(n in 6_usize..9, seed in 0_u64..1000) {
        let problem = Explicit::random(12, n, 3.0, seed).with_degenerate_atoms();
        let free = vec![2, 0];
        let projected = Projected::new(problem.quadratic(), free.clone()).unwrap();
        // An orthonormal basis of the free atoms, by Gram and Schmidt.
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let remove = |basis: &[Vec<f64>], values: &[f64]| -> Vec<f64> {
            basis.iter().fold(values.to_vec(), |left, q| {
                let share = dot(q, &left);
                left.iter().zip(q).map(|(value, q)| value - share * q).collect()
            })
        };
        for &j in &free {
            let left = remove(&basis, &problem.atoms[j]);
            let norm = dot(&left, &left).sqrt();
            basis.push(left.iter().map(|value| value / norm).collect());
        }
        let expected = Explicit {
            atoms: problem.atoms.iter().map(|atom| remove(&basis, atom)).collect(),
            target: remove(&basis, &problem.target),
        };
        same_products(&projected, &expected)?;
        // Atoms 3 and 4 are multiples of the free atom 0: nothing is left of them, not even rounding.
        for j in [0, 2, 3, 4] {
            prop_assert_eq!(projected.squared_norms()[j], 0.0);
        }

        // The free coefficients make the residual orthogonal to the free atoms.
        let mut w = normals(n, seed + 1);
        free.iter().for_each(|&j| w[j] = 0.0);
        for (&j, u) in free.iter().zip(projected.free_coefficients(&w).unwrap()) {
            w[j] = u;
        }
        let residual = problem.residual(&w);
        for &j in &free {
            prop_assert!(dot(&problem.atoms[j], &residual).abs() <= 1e-9);
        }
    }
}

/// `found` shows the atoms and target of `expected`, also in rectangles with repetitions.
fn same_products(found: &dyn InnerProducts, expected: &Explicit) -> Result<(), TestCaseError> {
    let n = expected.atoms.len();
    prop_assert_eq!(found.n_atoms(), n);
    prop_assert!(close(found.target_squared_norm(), dot(&expected.target, &expected.target), 1e-10));
    for (j, atom) in expected.atoms.iter().enumerate() {
        prop_assert!(close(found.target_products()[j], dot(atom, &expected.target), 1e-9));
        prop_assert!(close(found.squared_norms()[j], dot(atom, atom), 1e-9));
    }
    let rows: Vec<usize> = (0..n).rev().chain([0]).collect();
    let columns = [n - 1, 0, 0];
    let mut out = vec![f64::NAN; rows.len() * columns.len()];
    found.products(&rows, &columns, &mut out).unwrap();
    for (column, out) in columns.iter().zip(out.chunks(rows.len())) {
        for (row, value) in rows.iter().zip(out) {
            prop_assert!(close(*value, dot(&expected.atoms[*row], &expected.atoms[*column]), 1e-9));
        }
    }
    found.products(&[], &columns, &mut []).unwrap();
    found.products(&rows, &[], &mut []).unwrap();
    Ok(())
}

#[test]
fn the_logistic_loss_does_not_overflow() {
    let operator = DenseOperator::new(vec![1.0, -1.0], 2, 1).unwrap();
    let logistic = Logistic::new(operator, vec![1.0, 1.0]).unwrap();
    let mut gradient = [0.0];
    assert_eq!(logistic.gradient(&[1e6], &mut gradient), 1e6);
    assert_eq!(gradient, [1.0]);
    assert_eq!(logistic.dual_value(&[1e6], 1.0), 0.0);
    assert!((logistic.value(&[0.0]) - 2.0 * 2_f64.ln()).abs() < 1e-15);
    assert!((logistic.dual_value(&[0.0], 1.0) - 2.0 * 2_f64.ln()).abs() < 1e-15);
}

#[test]
fn the_violation_is_zero_at_the_optimum_only() {
    // Orthonormal atoms: soft thresholds of the products.
    let (products, penalty) = ([3.0, 0.5], L1::new(1.0, 2).unwrap());
    let violation = |w: [f64; 2], step: f64| {
        certificate::kkt_violation(&penalty, &w, &[w[0] - products[0], w[1] - products[1]], step)
    };
    for step in [0.1, 1.0, 7.0] {
        assert!(violation([2.0, 0.0], step) < 1e-15);
        assert!(violation([2.5, 0.0], step) > 0.1);
        assert!(violation([2.0, -0.1], step) > 0.1 / step.max(1.0) - 1e-12);
    }
}

#[test]
fn operators_in_memory() {
    let matrix = DenseOperator::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2).unwrap();
    let (mut column, mut by_default) = ([0.0; 3], [0.0; 3]);
    matrix.column(1, &mut column);
    matrix.apply(&[0.0, 1.0], &mut by_default);
    assert_eq!((column, by_default), ([4.0, 5.0, 6.0], [4.0, 5.0, 6.0]));
    let mut back = [0.0; 2];
    matrix.apply_transpose(&[1.0, 0.0, -1.0], &mut back);
    assert_eq!(back, [-2.0, -2.0]);
}

#[test]
fn hostile_input_is_refused_by_name() {
    let two = || DenseOperator::new(vec![1.0; 2], 2, 1).unwrap();
    assert!(matches!(DenseOperator::new(vec![1.0; 5], 2, 3), Err(Error::ShapeMismatch { expected: 6, .. })));
    assert!(matches!(
        SquaredLoss::new(two(), vec![1.0]),
        Err(Error::ShapeMismatch { expected: 2, found: 1, .. })
    ));
    assert!(matches!(
        SquaredLoss::new(two(), vec![1.0, f64::NAN]),
        Err(Error::NonFiniteTarget { row: 1, .. })
    ));
    assert!(matches!(
        Logistic::new(two(), vec![1.0, 0.0]),
        Err(Error::InvalidParameter { name: "label", .. })
    ));
    assert!(matches!(Quadratic::new(vec![1.0; 3], vec![1.0; 2], 1.0), Err(Error::ShapeMismatch { .. })));
    for (gram, product, norm) in [(f64::NAN, 1.0, 1.0), (1.0, f64::INFINITY, 1.0), (1.0, 1.0, f64::NAN)] {
        assert!(matches!(Quadratic::new(vec![gram], vec![product], norm), Err(Error::Numerical { .. })));
    }
    let quadratic = || Quadratic::new(vec![1.0, 1.0, 1.0, 1.0], vec![1.0; 2], 1.0).unwrap();
    for ridge in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            Ridged::new(quadratic(), ridge),
            Err(Error::InvalidParameter { name: "ridge", .. })
        ));
    }
    let out_of_range = Projected::new(quadratic(), vec![2]);
    assert!(matches!(out_of_range, Err(Error::InvalidParameter { name: "unpenalised", .. })));
    let dependent = Projected::new(quadratic(), vec![0, 1]);
    assert!(matches!(dependent, Err(Error::Numerical { .. })));
    let short = certificate::correlations(&quadratic(), &[1.0]);
    assert!(matches!(short, Err(Error::ShapeMismatch { expected: 2, found: 1, .. })));
    let penalty = L1::new(1.0, 3).unwrap();
    assert!(matches!(Composite::new(&quadratic(), &penalty), Err(Error::ShapeMismatch { found: 3, .. })));
}

#[test]
fn no_atoms_are_no_trouble() {
    let nothing = Quadratic::new(Vec::new(), Vec::new(), 2.0).unwrap();
    assert!(nothing.n_atoms() == 0);
    assert_eq!(certificate::correlations(&nothing, &[]).unwrap(), Vec::<f64>::new());
    let found = certificate::certify(&nothing, &L1::new(1.0, 0).unwrap(), &[], &[]);
    assert_eq!((found.objective, found.duality_gap), (1.0, 0.0));
    assert_eq!(Projected::new(&nothing, Vec::new()).unwrap().target_squared_norm(), 2.0);
}
