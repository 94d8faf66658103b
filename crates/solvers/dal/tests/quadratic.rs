//! The solver behind the interface of small dense problems.

use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::certificate::{certify, correlations};
use fewest_solver::{Control, L1, Quadratic, QuadraticSolver, Status};

#[test]
fn two_atoms_by_hand() -> Result<(), fewest_solver::Error> {
    // Orthonormal atoms with c = (3, 0.5): soft thresholding at 1 gives (2, 0).
    let problem = Quadratic::new(vec![1.0, 0.0, 0.0, 1.0], vec![3.0, 0.5], 10.0)?;
    let penalty = L1::new(1.0, 2)?.nonnegative();
    let solver: &dyn QuadraticSolver = &DualAugmentedLagrangian::default();
    let solution = solver.minimise(&problem, &penalty, &[0.0; 2], &Control::default())?;
    assert_eq!(solution.status, Status::Converged);
    assert!((solution.coefficients[0] - 2.0).abs() < 1e-9);
    assert_eq!(solution.coefficients[1], 0.0);
    let v = correlations(&problem, &solution.coefficients)?;
    let certificate = certify(&problem, &penalty, &solution.coefficients, &v);
    assert!((certificate.relative_gap() - solution.duality_gap).abs() <= 1e-15);
    Ok(())
}
