//! Working sets against the direct solution over all atoms, and what they cost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use crate::common::{Explicit, Sweeps, dot, normals, penalties};
use fewest_solver::{
    Atoms, Certificate, Control, Error, InnerProducts, L1, Penalty, Quadratic, QuadraticSolver, Solution,
    Status, certificate,
    working_set::{self, WorkingSet},
};
use proptest::prelude::*;

/// Atoms whose products are computed when asked for, and counted.
struct Counted {
    problem: Explicit,
    atoms: Atoms,
    asked: AtomicUsize,
}

impl Counted {
    fn new(problem: Explicit) -> Self {
        let target_products = problem.atoms.iter().map(|atom| dot(atom, &problem.target)).collect();
        let squared_norms = problem.atoms.iter().map(|atom| dot(atom, atom)).collect();
        let target_squared_norm = dot(&problem.target, &problem.target);
        let atoms = Atoms { target_squared_norm, target_products, squared_norms, ..Atoms::default() };
        Self { problem, atoms, asked: AtomicUsize::new(0) }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl InnerProducts for Counted {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.asked.fetch_add(rows.len() * columns.len(), Ordering::Relaxed);
        for (j, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (i, value) in rows.iter().zip(out) {
                *value = dot(&self.problem.atoms[*i], &self.problem.atoms[*j]);
            }
        }
        Ok(())
    }
}

fn to(tolerance: f64) -> Control<'static> {
    Control { tolerance, ..Control::default() }
}

#[test]
fn the_working_set_finds_the_direct_solution() {
    let problem = Explicit::random(200, 500, 1.0, 1).with_degenerate_atoms();
    let quadratic = problem.quadratic();
    for ratio in [0.5, 0.2] {
        for (name, penalty) in penalties(ratio * problem.lambda_max(), 500) {
            let start = vec![0.0; 500];
            let found = working_set::solve(&quadratic, &*penalty, &Sweeps, &start, &to(1e-9)).unwrap();
            let direct = Sweeps.minimise(&quadratic, &*penalty, &start, &to(1e-9)).unwrap();
            assert_eq!(
                (found.solution.status, direct.status),
                (Status::Converged, Status::Converged),
                "{name}"
            );
            let difference = (found.solution.objective - direct.objective).abs();
            assert!(difference <= 2e-9 * found.certificate.objective_at_zero, "{name}: {difference}");
            let (objective, gap) = problem.certificate(&*penalty, &found.solution.coefficients);
            assert!(gap.abs() <= 1.1e-9, "{name}: {gap}");
            assert!((objective - found.solution.objective).abs() <= 1e-12 * objective, "{name}");
        }
    }
}

#[test]
fn correlations_returned_are_those_of_the_residual() {
    let problem = Explicit::random(60, 100, 1.0, 2);
    let penalty = L1::new(0.3 * problem.lambda_max(), 100).unwrap();
    let found = working_set::solve(&problem.quadratic(), &penalty, &Sweeps, &[0.0; 100], &to(1e-10)).unwrap();
    let residual = problem.residual(&found.solution.coefficients);
    for (j, v) in found.correlations.iter().enumerate() {
        if found.solution.coefficients[j] != 0.0 {
            assert!((v - dot(&problem.atoms[j], &residual)).abs() <= 1e-9 * problem.lambda_max());
        }
        assert!(v.abs() <= penalty.levels()[j] * (1.0 + 1e-8));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// What the gap-safe sphere of any point drops is zero in an accurate solution.
    #[test]
    fn screening_drops_zeros_only(
        n_rows in 5_usize..30, n in 6_usize..40, seed in 0_u64..1000, ratio in 0.1..0.9_f64, sweeps in 0_u64..30,
    ) {
        let problem = Explicit::random(n_rows, n, 1.0, seed).with_degenerate_atoms();
        let quadratic = problem.quadratic();
        for (name, penalty) in penalties(ratio * problem.lambda_max(), n) {
            let few = Control { max_iterations: sweeps, ..to(1e-14) };
            let early = Sweeps.minimise(&quadratic, &*penalty, &vec![0.0; n], &few).unwrap().coefficients;
            let correlations = certificate::correlations(&quadratic, &early).unwrap();
            let found = certificate::certify(&quadratic, &*penalty, &early, &correlations);
            let late = Sweeps.minimise(&quadratic, &*penalty, &early, &to(1e-13)).unwrap().coefficients;
            for b in 0..penalty.blocks().n_blocks() {
                if certificate::is_screened(&quadratic, &*penalty, &found, &correlations, b) {
                    for &j in penalty.blocks().block(b) {
                        prop_assert!(late[j].abs() <= 1e-6, "{name}: coefficient {j} is {}", late[j]);
                    }
                }
            }
        }
    }
}

/// The work: products asked for, not seconds. A Gram matrix of 2000 atoms would be 4 000 000.
#[test]
fn few_products_are_asked_for() {
    let n = 2000;
    let counted = Counted::new(Explicit::random(300, n, 1.0, 3));
    let penalty = L1::new(0.6 * counted.problem.lambda_max(), n).unwrap();
    let found = working_set::solve(&counted, &penalty, &Sweeps, &vec![0.0; n], &to(1e-9)).unwrap();
    let n_nonzero = found.solution.coefficients.iter().filter(|w| **w != 0.0).count();
    assert_eq!(found.solution.status, Status::Converged);
    assert!(n_nonzero >= 10, "{n_nonzero}");
    // A column of the Gram matrix for each non-zero and pass, and the Gram matrices of the working sets.
    let bound = found.passes * n_nonzero * n + 50_000;
    assert!(counted.asked() <= bound, "{} > {bound}", counted.asked());
    assert!(counted.asked() < n * n / 10, "{} of {}", counted.asked(), n * n);
    assert!(found.passes <= 8, "{}", found.passes);
    assert!(found.n_screened > n / 2, "{}", found.n_screened);
}

#[test]
fn above_the_largest_penalty_nothing_is_asked_for() {
    let counted = Counted::new(Explicit::random(50, 100, 1.0, 4));
    for factor in [1.0, 1.5] {
        let penalty = L1::new(factor * counted.problem.lambda_max(), 100).unwrap();
        let found = working_set::solve(&counted, &penalty, &Sweeps, &[0.0; 100], &to(1e-9)).unwrap();
        assert_eq!((found.passes, found.solution.iterations, counted.asked()), (0, 0, 0));
        assert_eq!(found.solution.coefficients, [0.0; 100]);
        assert_eq!(found.solution.status, Status::Converged);
    }
}

#[test]
fn a_target_of_zero_and_no_atoms() {
    let problem = Explicit { target: vec![0.0; 20], ..Explicit::random(20, 30, 1.0, 5) };
    let penalty = L1::new(1.0, 30).unwrap();
    let found = working_set::solve(&problem.quadratic(), &penalty, &Sweeps, &[0.0; 30], &to(1e-9)).unwrap();
    assert_eq!((found.passes, found.solution.objective), (0, 0.0));
    assert_eq!(found.solution.status, Status::Converged);
    let warm = working_set::solve(&problem.quadratic(), &penalty, &Sweeps, &[1.0; 30], &to(1e-9)).unwrap();
    assert_eq!(warm.solution.coefficients, [0.0; 30]);

    let nothing = Quadratic::new(Vec::new(), Vec::new(), 1.0).unwrap();
    let found = working_set::solve(&nothing, &L1::new(1.0, 0).unwrap(), &Sweeps, &[], &to(1e-9)).unwrap();
    assert_eq!((found.solution.objective, found.solution.status), (0.5, Status::Converged));

    let zeros = Explicit { atoms: vec![vec![0.0; 20]; 30], target: normals(20, 1) };
    let found = working_set::solve(&zeros.quadratic(), &penalty, &Sweeps, &[0.0; 30], &to(1e-9)).unwrap();
    assert_eq!((found.solution.coefficients, found.passes), (vec![0.0; 30], 0));
}

#[test]
fn control_reaches_the_outer_loop() {
    let problem = Explicit::random(60, 100, 1.0, 6).quadratic();
    let penalty = L1::new(1.0, 100).unwrap();
    let run = |control: &Control<'_>| {
        working_set::solve(&problem, &penalty, &Sweeps, &[0.0; 100], control).unwrap().solution
    };
    assert_eq!(run(&Control { deadline: Some(Instant::now()), ..to(1e-9) }).status, Status::TimeLimit);
    let flag = AtomicBool::new(true);
    assert_eq!(run(&Control { interrupt: Some(&flag), ..to(1e-9) }).status, Status::Interrupted);
    let few = run(&Control { max_iterations: 3, ..to(1e-9) });
    assert_eq!((few.status, few.iterations), (Status::MaxIterations, 3));
    assert!(few.certificate.value() > 1e-9 && few.objective < 0.5 * problem.target_squared_norm());
}

/// Sweeps once and says that it was stopped.
struct Stopped(Status);

impl QuadraticSolver for Stopped {
    fn name(&self) -> &'static str {
        "stopped"
    }

    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let control = Control { max_iterations: 1, ..*control };
        Ok(Solution { status: self.0, ..Sweeps.minimise(problem, penalty, start, &control)? })
    }
}

/// The outer loop ends by the status of the inner solver alone: its own test for a stop says no.
#[test]
fn a_stopped_solver_ends_the_outer_loop() {
    let problem = Explicit::random(60, 100, 1.0, 6);
    let penalty = L1::new(1.0, 100).unwrap();
    for status in [Status::Interrupted, Status::TimeLimit] {
        let quadratic = problem.quadratic();
        let found =
            working_set::solve(&quadratic, &penalty, &Stopped(status), &[0.0; 100], &to(1e-9)).unwrap();
        assert_eq!((found.solution.status, found.passes, found.solution.iterations), (status, 1, 1));
        // The certificate is that of the point returned, over all atoms.
        let (objective, gap) = problem.certificate(&penalty, &found.solution.coefficients);
        assert!((objective - found.solution.objective).abs() <= 1e-9 * objective);
        assert!((gap - found.solution.certificate.value()).abs() <= 1e-9, "{gap}");
        assert!(objective < 0.5 * quadratic.target_squared_norm());
    }
    // What is solved all the same has converged.
    let large = L1::new(2.0 * problem.lambda_max(), 100).unwrap();
    let quadratic = problem.quadratic();
    let solver = Stopped(Status::Interrupted);
    let found = working_set::solve(&quadratic, &large, &solver, &[1.0; 100], &to(1e-9)).unwrap();
    assert_eq!((found.solution.status, found.passes), (Status::Converged, 1));
}

/// A solver that never gets anywhere.
struct Idle;

impl QuadraticSolver for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn minimise(
        &self,
        problem: &Quadratic,
        _penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        assert!(problem.n_atoms() == start.len() && control.tolerance > 0.0);
        Ok(Solution {
            coefficients: start.to_vec(),
            objective: f64::MAX,
            certificate: Certificate::None,
            iterations: 0,
            status: Status::MaxIterations,
        })
    }
}

#[test]
fn a_useless_solver_does_not_hang_it() {
    let problem = Explicit::random(60, 100, 1.0, 7);
    let penalty = L1::new(0.1 * problem.lambda_max(), 100).unwrap();
    let found = working_set::solve(&problem.quadratic(), &penalty, &Idle, &[0.0; 100], &to(1e-9)).unwrap();
    assert_eq!(found.solution.status, Status::Stalled);
    assert_eq!(found.solution.coefficients, [0.0; 100]);
}

#[test]
fn hostile_input_is_refused_by_name() {
    let problem = Explicit::random(10, 8, 1.0, 8);
    let solve = |n: usize, start: &[f64], tolerance: f64| {
        let penalty = L1::new(1.0, n).unwrap();
        working_set::solve(&problem.quadratic(), &penalty, &Sweeps, start, &to(tolerance)).unwrap_err()
    };
    assert!(matches!(solve(9, &[0.0; 8], 1e-9), Error::ShapeMismatch { expected: 8, found: 9, .. }));
    assert!(matches!(solve(8, &[0.0; 7], 1e-9), Error::ShapeMismatch { expected: 8, found: 7, .. }));
    assert!(matches!(solve(8, &[f64::NAN; 8], 1e-9), Error::InvalidParameter { name: "start", .. }));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = solve(8, &[0.0; 8], tolerance);
        assert!(matches!(error, Error::InvalidParameter { name: "tolerance", .. }), "{error}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let mut atoms = problem.atoms.clone();
        atoms[3][2] = bad;
        let broken = Counted::new(Explicit { atoms, target: problem.target.clone() });
        let penalty = L1::new(1.0, 8).unwrap();
        let error = working_set::solve(&broken, &penalty, &Sweeps, &[0.0; 8], &to(1e-9)).unwrap_err();
        assert!(matches!(error, Error::Numerical { .. }), "{error}");
    }
}

/// From penalty to penalty: the same solutions as from zero, with fewer products.
#[test]
fn a_working_set_goes_on_to_the_next_penalty() {
    let counted = Counted::new(Explicit::random(100, 400, 1.0, 9));
    let largest = counted.problem.lambda_max();
    let mut set = WorkingSet::new(&counted, &[0.0; 400]).unwrap();
    let (mut kept, mut fresh) = (0, 0);
    for ratio in [0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.6, 1.1] {
        let penalty = L1::new(ratio * largest, 400).unwrap();
        let before = counted.asked();
        let found = set.solve(&penalty, &Sweeps, &to(1e-9)).unwrap();
        kept += counted.asked() - before;
        assert_eq!(found.solution.status, Status::Converged);
        let (objective, gap) = counted.problem.certificate(&penalty, &found.solution.coefficients);
        assert!(gap.abs() <= 1.1e-9, "{ratio}: {gap}");
        assert!((objective - found.solution.objective).abs() <= 1e-12 * objective, "{ratio}");
        let before = counted.asked();
        let alone = working_set::solve(&counted, &penalty, &Sweeps, &[0.0; 400], &to(1e-9)).unwrap();
        fresh += counted.asked() - before;
        let difference = (alone.solution.objective - found.solution.objective).abs();
        assert!(difference <= 1.1e-9 * found.certificate.objective_at_zero, "{ratio}: {difference}");
        // There is nothing more to do, or to ask for.
        let before = counted.asked();
        let again = set.solve(&penalty, &Sweeps, &to(1e-9)).unwrap();
        assert_eq!((again.passes, counted.asked()), (0, before));
        assert_eq!(again.solution.coefficients, found.solution.coefficients);
    }
    assert!(2 * kept < fresh, "{kept} of {fresh}");
    let wide = set.solve(&L1::new(1.0, 401).unwrap(), &Sweeps, &to(1e-9)).unwrap_err();
    assert!(matches!(wide, Error::ShapeMismatch { expected: 400, found: 401, .. }));
}

/// A problem that builds combinations of its atoms, and counts the atoms they are multiplied with.
struct Rows(Quadratic, AtomicUsize);

impl InnerProducts for Rows {
    fn atoms(&self) -> &Atoms {
        self.0.atoms()
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.0.products(rows, columns, out)
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        self.1.fetch_add(rows.len(), Ordering::Relaxed);
        self.0.subtract_fitted(rows, support, weights, out)
    }
}

/// Near the end only atoms whose correlation can have come up to the penalty are looked at, and few of them
/// are proved to be zero: on the way to a penalty far below the largest, most checks leave most atoms out.
#[test]
fn a_check_leaves_out_what_cannot_have_come_up_to_the_penalty() {
    let (problem, n) = (Explicit::random(40, 1500, 1.0, 10), 1500);
    let rows = Rows(problem.quadratic(), AtomicUsize::new(0));
    let mut set = WorkingSet::new(&rows, &vec![0.0; n]).unwrap();
    let (mut most, mut ends) = (0, Vec::new());
    for step in 1..12 {
        let penalty = L1::new(0.8_f64.powi(step) * problem.lambda_max(), n).unwrap();
        let found = set.solve(&penalty, &Sweeps, &to(1e-9)).unwrap();
        assert_eq!(found.solution.status, Status::Converged);
        most += (found.passes + 1) * n - found.n_screened;
        ends.push(problem.certificate(&penalty, &found.solution.coefficients).1);
    }
    let asked = rows.1.load(Ordering::Relaxed);
    assert!(2 * asked < most, "{asked} of {most}");
    assert!(ends.iter().all(|gap| *gap <= 1.1e-9), "{ends:?}");
}
