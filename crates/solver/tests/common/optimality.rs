//! What every solver of a [`Quadratic`] does at the borders of its problem.

use fewest_solver::{Control, Error, L1, Quadratic, QuadraticSolver, Status};

use super::{Explicit, normals};

/// At the largest useful penalty, without a target and without atoms there is nothing to do.
pub(crate) fn nothing_to_do_takes_no_iteration(solver: &dyn QuadraticSolver) {
    let problem = Explicit::random(10, 8, 1.0, 7);
    let penalty = L1::new(problem.lambda_max(), 8).unwrap();
    let solution = solver.minimise(&problem.quadratic(), &penalty, &[], &Control::default()).unwrap();
    assert_eq!((solution.iterations, solution.status), (0, Status::Converged));
    assert_eq!(solution.coefficients, [0.0; 8]);

    let silent = Explicit { target: vec![0.0; 10], ..problem };
    for start in [vec![1.0; 8], normals(8, 1)] {
        let penalty = L1::new(1.0, 8).unwrap();
        let solution = solver.minimise(&silent.quadratic(), &penalty, &start, &Control::default()).unwrap();
        assert_eq!(solution.status, Status::Converged);
        assert_eq!(solution.coefficients, [0.0; 8]);
    }

    let empty = Quadratic::new(Vec::new(), Vec::new(), 1.0).unwrap();
    let none = L1::new(1.0, 0).unwrap();
    let solution = solver.minimise(&empty, &none, &[], &Control::default()).unwrap();
    assert_eq!((solution.objective, solution.status), (0.5, Status::Converged));
}

pub(crate) fn hostile_input_is_refused_by_name(solver: &dyn QuadraticSolver) {
    let problem = Explicit::random(10, 8, 1.0, 7).quadratic();
    let penalty = L1::new(1.0, 8).unwrap();
    let refusal = |start: &[f64], penalty: &L1, tolerance: f64| {
        let control = Control { tolerance, ..Control::default() };
        solver.minimise(&problem, penalty, start, &control).unwrap_err()
    };
    assert!(matches!(refusal(&[0.0; 7], &penalty, 1e-9), Error::ShapeMismatch { expected: 8, found: 7, .. }));
    let wide = L1::new(1.0, 9).unwrap();
    assert!(matches!(refusal(&[], &wide, 1e-9), Error::ShapeMismatch { expected: 8, found: 9, .. }));
    assert!(matches!(refusal(&[f64::NAN; 8], &penalty, 1e-9), Error::InvalidParameter { name: "start", .. }));
    for tolerance in [0.0, -1.0] {
        assert!(matches!(
            refusal(&[], &penalty, tolerance),
            Error::InvalidParameter { name: "tolerance", .. }
        ));
    }
}
