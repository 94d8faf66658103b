//! Linear machines by dual coordinate descent.

use crate::common::Samples;
use crate::shared::{InMemory, Notes};
use argmin::core::observers::ObserverMode;
use argmin::core::{Executor, State};
use fewest_smo::{
    Classifier, DualCoordinateDescent, DualProblem, GramRows, KernelRows, LinearKernel, LinearProblem, Loss,
    Regressor, SampleRows, SignedRows, Smo,
};
use fewest_solver::{Control, Error, Status};

struct Rows(Vec<Vec<f64>>);

impl Rows {
    /// With a constant feature at the end.
    fn random(n: usize, d: usize, seed: u64) -> Self {
        let samples = Samples::random(n, d, seed);
        Self((0..n).map(|i| samples.columns.iter().map(|column| column[i]).chain([1.0]).collect()).collect())
    }
}

impl SampleRows for Rows {
    fn n_samples(&self) -> usize {
        self.0.len()
    }
    fn n_features(&self) -> usize {
        self.0[0].len()
    }
    fn squared_norm(&self, i: usize) -> f64 {
        self.product(i, &self.0[i])
    }
    fn product(&self, i: usize, w: &[f64]) -> f64 {
        self.0[i].iter().zip(w).map(|(x, w)| x * w).sum()
    }
    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        for (w, x) in w.iter_mut().zip(&self.0[i]) {
            *w += factor * x;
        }
    }
}

fn labels(rows: &Rows) -> Vec<bool> {
    rows.0.iter().enumerate().map(|(i, x)| (x[0] - 0.5 * x[1] > 0.1) != (i % 9 == 0)).collect()
}

fn targets(rows: &Rows) -> Vec<f64> {
    rows.0.iter().enumerate().map(|(i, x)| 2.0 * x[0] - x[1] + 0.5 * ((i % 5) as f64 - 2.0)).collect()
}

/// The gap of every kind of machine equals its primal minus its dual objective, and few passes reach it.
#[test]
fn the_gap_is_primal_minus_dual() {
    for (n, d) in [(150, 4), (40, 300)] {
        let rows = Rows::random(n, d, 3);
        let kernel = LinearKernel(&rows);
        let (labels, targets) = (labels(&rows), targets(&rows));
        for loss in [Loss::Linear, Loss::Squared] {
            let power = |excess: f64| if loss == Loss::Linear { excess } else { excess * excess };
            let classes = Classifier { cost: 0.7, loss, ..Classifier::default() };
            let numbers = Regressor { cost: 0.7, epsilon: 0.2, loss, ..Regressor::default() };
            let sign = |i: usize| if labels[i] { 1.0 } else { -1.0 };
            let hinge = |i: usize, f: f64| (1.0 - sign(i) * f).max(0.0);
            let tube = |i: usize, f: f64| ((targets[i] - f).abs() - 0.2).max(0.0);
            type Excess<'a> = &'a dyn Fn(usize, f64) -> f64;
            let problems: [(DualProblem<'_>, Excess<'_>); 2] = [
                (classes.problem(&kernel, &labels, &[]).unwrap(), &hinge),
                (numbers.problem(&kernel, &targets, &[]).unwrap(), &tube),
            ];
            for (dual, excess) in &problems {
                let problem = LinearProblem::new(dual, &rows).unwrap();
                let solver = DualCoordinateDescent::default();
                let found = solver
                    .minimise(&problem, &[], &Control { tolerance: 1e-6, ..Control::default() })
                    .unwrap();
                assert_eq!(found.solution.status, Status::Converged);
                let w = &found.weights;
                let losses: f64 = (0..n).map(|i| 0.7 * power(excess(i, rows.product(i, w)))).sum();
                let primal = 0.5 * w.iter().map(|w| w * w).sum::<f64>() + losses;
                let (objective, gap) = problem.certify(&found.solution.coefficients).unwrap();
                assert!((primal - (gap - objective)).abs() < 1e-12 * primal);
                assert!((-1e-12 * primal..=1e-6 * primal).contains(&gap), "{gap} of {primal}");
                assert_eq!(objective, found.solution.objective);
            }
        }
    }
}

/// Without a bias and with the condition `Σ β = Δ` met by a sample of norm zero, both solvers have the same
/// problem.
#[test]
fn it_agrees_with_pairs_on_the_same_problem() {
    let mut rows = Rows::random(60, 3, 5);
    let y = targets(&rows);
    let dual_kernel = LinearKernel(&rows);
    let learner = Regressor { cost: 0.5, epsilon: 0.1, ..Regressor::default() };
    let dual = learner.problem(&dual_kernel, &y, &[]).unwrap();
    let problem = LinearProblem::new(&dual, &rows).unwrap();
    let control = Control { tolerance: 1e-10, max_iterations: 100_000, ..Control::default() };
    let alone = DualCoordinateDescent::default().minimise(&problem, &[], &control).unwrap();

    // A sample at the origin with target 0 and no tube takes up any sum at no cost: the bias is then 0.
    rows.0.push(vec![0.0; 4]);
    let kernel = LinearKernel(&rows);
    let bound = |sign: f64| (0..61).map(|i| sign * if i < 60 { 0.5 } else { 100.0 }).collect::<Vec<f64>>();
    let with_zero = |mut values: Vec<f64>| {
        values.push(0.0);
        values
    };
    let paired = DualProblem::new(&kernel, with_zero(y), bound(-1.0), bound(1.0)).unwrap();
    let paired = paired.with_absolute_weights(with_zero(vec![0.1; 60])).unwrap();
    let pairs = Smo::default().minimise(&paired, &[], &control).unwrap();
    assert_eq!((alone.solution.status, pairs.solution.status), (Status::Converged, Status::Converged));
    assert!(
        (alone.solution.objective - pairs.solution.objective).abs() < 1e-8 * pairs.solution.objective.abs()
    );
    assert!(pairs.certificate.bias.abs() < 1e-6);
}

/// Successive over-relaxation reaches the same minimum for every factor below 2, also with breakpoints, and
/// never rises.
#[test]
fn relaxed_passes_end_at_the_same_minimum() {
    for (n, d) in [(150, 4), (40, 60)] {
        let rows = Rows::random(n, d, 11);
        let kernel = LinearKernel(&rows);
        let (labels, targets) = (labels(&rows), targets(&rows));
        let classes = Classifier { cost: 0.7, ..Classifier::default() };
        let numbers = Regressor { cost: 0.7, epsilon: 0.2, ..Regressor::default() };
        for dual in [
            classes.problem(&kernel, &labels, &[]).unwrap(),
            numbers.problem(&kernel, &targets, &[]).unwrap(),
        ] {
            let problem = LinearProblem::new(&dual, &rows).unwrap();
            let exact = Control { tolerance: 1e-10, max_iterations: 200_000, ..Control::default() };
            let reference = DualCoordinateDescent::default().minimise(&problem, &[], &exact).unwrap();
            for relaxation in [0.3, 1.3, 1.9] {
                let solver = DualCoordinateDescent::default().relaxation(relaxation);
                let found = solver.minimise(&problem, &[], &exact).unwrap();
                assert_eq!(found.solution.status, Status::Converged, "{relaxation}");
                let error = found.solution.objective - reference.solution.objective;
                assert!(error.abs() < 1e-9 * reference.solution.objective.abs());
                let mut last = 0.0_f64;
                for passes in 1..8 {
                    let few = Control { max_iterations: passes, ..exact };
                    let part = solver.minimise(&problem, &[], &few).unwrap().solution;
                    assert_eq!((part.status, part.iterations), (Status::MaxIterations, passes));
                    assert!(part.objective < last + 1e-12 * last.abs());
                    last = part.objective;
                }
            }
        }
    }
}

/// A matrix of products is as good as the samples: same gap, same minimum.
#[test]
fn products_alone_suffice() {
    let rows = Rows::random(70, 5, 2);
    let kernel = LinearKernel(&rows);
    let mut values = vec![0.0; 70 * 70];
    for (i, row) in values.chunks_exact_mut(70).enumerate() {
        kernel.row(i, row);
    }
    let gram = GramRows::new(values, 70).unwrap();
    let learner = Classifier { cost: 0.7, ..Classifier::default() };
    let labels = labels(&rows);
    let dual = learner.problem(&kernel, &labels, &[]).unwrap();
    let (by_samples, by_products) =
        (LinearProblem::new(&dual, &rows).unwrap(), LinearProblem::new(&dual, &gram).unwrap());
    let control = Control { tolerance: 1e-10, max_iterations: 100_000, ..Control::default() };
    let solver = DualCoordinateDescent::default().relaxation(1.2);
    let found = solver.minimise(&by_products, &[], &control).unwrap();
    assert_eq!(found.solution.status, Status::Converged);
    let (objective, gap) = by_samples.certify(&found.solution.coefficients).unwrap();
    assert!((objective - found.solution.objective).abs() < 1e-12 * objective.abs());
    assert!(gap < 2e-10 * objective.abs());
    let w = by_samples.weights(&found.solution.coefficients).unwrap();
    for (i, product) in found.weights.iter().enumerate() {
        assert!((product - rows.product(i, &w)).abs() < 1e-12);
    }
}

#[test]
fn a_resumed_run_ends_where_an_unbroken_one_does() {
    let rows = Rows::random(80, 5, 7);
    let kernel = LinearKernel(&rows);
    let dual =
        Classifier { cost: 3.0, ..Classifier::default() }.problem(&kernel, &labels(&rows), &[]).unwrap();
    let problem = LinearProblem::new(&dual, &rows).unwrap();
    let solver = DualCoordinateDescent::default().seed(4);
    let unbroken = Executor::new(&problem, solver.clone()).run().unwrap().state;
    assert!(unbroken.get_iter() > 5);
    let checkpoint = InMemory::default();
    let notes = Notes { break_at: Some(4), ..Notes::default() };
    let broken = Executor::new(&problem, solver.clone())
        .checkpointing(checkpoint.clone())
        .add_observer(notes, ObserverMode::Always)
        .run();
    assert!(broken.is_err());
    let resumed = Executor::new(&problem, solver).checkpointing(checkpoint).run().unwrap().state;
    assert_eq!(resumed.coefficients, unbroken.coefficients);
    assert_eq!(resumed.get_iter(), unbroken.get_iter());
}

#[test]
fn faults_are_named() {
    let mut rows = Rows::random(10, 2, 1);
    let control = Control::default();
    {
        let kernel = LinearKernel(&rows);
        let dual = Regressor::default().problem(&kernel, &targets(&rows), &[]).unwrap();
        let other = Rows::random(9, 2, 1);
        assert!(matches!(LinearProblem::new(&dual, &other), Err(Error::ShapeMismatch { found: 9, .. })));
        let problem = LinearProblem::new(&dual, &rows).unwrap();
        let solver = DualCoordinateDescent::default();
        let short = solver.minimise(&problem, &[1.0], &control);
        assert!(matches!(short, Err(Error::ShapeMismatch { found: 1, .. })));
        let nan = solver.minimise(&problem, &[f64::NAN; 10], &control);
        assert!(matches!(nan, Err(Error::InvalidParameter { name: "start", .. })));
        for relaxation in [0.0, 2.0, -1.0, f64::NAN] {
            let solver = DualCoordinateDescent::default().relaxation(relaxation);
            let error = solver.minimise(&problem, &[], &control);
            assert!(matches!(error, Err(Error::InvalidParameter { name: "relaxation", .. })));
        }
        let signed = SignedRows::new(&kernel, &[true; 10]).unwrap();
        let endless =
            DualProblem::from_standard_form(&signed, &[0.0; 10], &[f64::INFINITY; 10], 0.0).unwrap();
        assert!(matches!(
            LinearProblem::new(&endless, &rows),
            Err(Error::InvalidParameter { name: "ridges", .. })
        ));
    }
    // A sample of zeros is no trouble; one that is not finite is.
    rows.0[3].fill(0.0);
    let y = vec![1.0; 10];
    {
        let kernel = LinearKernel(&rows);
        let dual = Regressor::default().problem(&kernel, &y, &[]).unwrap();
        let problem = LinearProblem::new(&dual, &rows).unwrap();
        let found = DualCoordinateDescent::default().minimise(&problem, &[], &control).unwrap();
        assert_eq!(found.solution.status, Status::Converged);
    }
    rows.0[3][1] = f64::INFINITY;
    let kernel = LinearKernel(&rows);
    assert!(Regressor::default().problem(&kernel, &y, &[]).is_err());
}
