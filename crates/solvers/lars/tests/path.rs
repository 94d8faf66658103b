//! The path against its definition: the optimality conditions at every breakpoint.

use std::sync::{Arc, Mutex};

use argmin::core::checkpointing::{Checkpoint, CheckpointingFrequency};
use argmin::core::observers::{Observe, ObserverMode};
use argmin::core::{Executor, KV, State};
use fewest_lars::{Error, Event, Homotopy, Lars, LassoPath, PathOptions, path};
use fewest_solver::{
    Atoms, Control, ElasticNetPenalty, InnerProducts, L1, Quadratic, QuadraticSolver, SolverState, Status,
    certificate,
};
use proptest::prelude::*;

/// Atoms as columns of an explicit matrix, with non-negative entries when asked: then so are their products.
fn problem(columns: &[Vec<f64>], target: &[f64]) -> Quadratic {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let gram = columns.iter().flat_map(|b| columns.iter().map(|a| dot(a, b)).collect::<Vec<_>>()).collect();
    let products = columns.iter().map(|a| dot(a, target)).collect();
    Quadratic::new(gram, products, dot(target, target)).expect("finite entries")
}

fn dense(coefficients: &[(usize, f64)], n: usize) -> Vec<f64> {
    let mut w = vec![0.0; n];
    for &(j, value) in coefficients {
        w[j] = value;
    }
    w
}

/// The largest violation of `v ≤ λ weight`, with equality where `w > 0`, and of `w ≥ 0`.
fn violation(problem: &Quadratic, weights: &[f64], lambda: f64, w: &[f64]) -> f64 {
    let v = certificate::correlations(problem, w).expect("matching sizes");
    (0..w.len()).fold(0.0, |worst: f64, j| {
        let slack = lambda * weights[j] - v[j];
        worst.max(-slack).max(-w[j]).max(if w[j] > 0.0 { slack.abs() } else { 0.0 })
    })
}

/// What of a violation is rounding: relative to the correlations, and to the terms that cancel in them when
/// nearly parallel atoms have large coefficients.
fn rounding(problem: &Quadratic, w: &[f64]) -> f64 {
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let terms = w.iter().map(|value| value.abs()).sum::<f64>() * largest(problem.squared_norms());
    1e-9 * largest(problem.target_products()) + 1e-12 * terms
}

fn check_path(problem: &Quadratic, weights: &[f64], path: &LassoPath) {
    for pair in path.breakpoints.windows(2) {
        assert!(pair[0].lambda >= pair[1].lambda);
        // Linear in between: the middle must be optimal too.
        let (a, b) =
            (dense(&pair[0].coefficients, weights.len()), dense(&pair[1].coefficients, weights.len()));
        let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
        let lambda = 0.5 * (pair[0].lambda + pair[1].lambda);
        let found = violation(problem, weights, lambda, &middle);
        assert!(
            found <= rounding(problem, &middle),
            "violation {found} at lambda {lambda}, between breakpoints"
        );
    }
    for point in &path.breakpoints {
        let w = dense(&point.coefficients, weights.len());
        let found = violation(problem, weights, point.lambda, &w);
        assert!(found <= rounding(problem, &w), "violation {found} at lambda {}", point.lambda);
    }
}

fn columns(n_atoms: std::ops::Range<usize>, low: f64) -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    (n_atoms, 3..12_usize).prop_flat_map(move |(d, m)| {
        let vector = || prop::collection::vec(low..1.0, m);
        (prop::collection::vec(vector(), d), vector())
    })
}

/// A problem whose products are known to be non-negative, and cheap to bound from below.
struct Bounded {
    inner: Quadratic,
    atoms: Atoms,
    /// What a bound keeps of a product.
    share: f64,
    /// Exact products asked for.
    asked: std::sync::atomic::AtomicUsize,
}

impl Bounded {
    fn new(inner: &Quadratic, share: f64) -> Self {
        let atoms = Atoms { products_are_nonnegative: true, ..inner.atoms().clone() };
        Self { inner: inner.clone(), atoms, share, asked: Default::default() }
    }
}

impl InnerProducts for Bounded {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.asked.fetch_add(rows.len() * columns.len(), std::sync::atomic::Ordering::Relaxed);
        self.inner.products(rows, columns, out)
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        out.iter_mut().for_each(|value| *value *= self.share);
        Ok(())
    }
}

#[test]
fn bounds_spare_products_and_change_nothing() {
    // Far more atoms than a working set holds, of which few come near the target.
    let wave = |step: usize| -> Vec<f64> { (0..40).map(|i| ((i * step) % 41) as f64 / 41.0).collect() };
    let columns: Vec<Vec<f64>> = (0..900)
        .map(|j| wave(1 + j % 40).iter().zip(wave(1 + j / 40)).map(|(a, b)| a * a + 0.3 * b).collect())
        .collect();
    let problem = problem(&columns, &wave(7));
    let options = PathOptions { most_active: 10, ..PathOptions::default() };
    let plain = path(&problem, &options, &Control::default()).unwrap();
    let follow = |share: f64| {
        let bounded = Bounded::new(&problem, share);
        (path(&bounded, &options, &Control::default()).unwrap(), bounded.asked.into_inner())
    };
    let (loose, many) = follow(0.0);
    let (tight, few) = follow(0.95);
    for found in [&loose, &tight] {
        assert_eq!(found.breakpoints, plain.breakpoints);
        check_path(&problem, &vec![1.0; columns.len()], found);
    }
    assert!(few < many, "{few} of {many} products");
}

proptest! {
    #[test]
    fn every_breakpoint_is_optimal((columns, target) in columns(1..30, -1.0), weight in 0.5..2.0) {
        let problem = problem(&columns, &target);
        let weights: Vec<f64> = (0..columns.len()).map(|j| if j % 2 == 0 { 1.0 } else { weight }).collect();
        let options = PathOptions { weights: Some(weights.clone()), ..PathOptions::default() };
        let path = path(&problem, &options, &Control::default()).unwrap();
        // At no penalty, rounding leaves more of a gap where atoms depend on each other.
        let is_rounding = path.breakpoints.last().is_some_and(|end| end.lambda == 0.0) && path.duality_gap < 1e-4;
        prop_assert!(path.status == Status::Converged || is_rounding, "{:e}", path.duality_gap);
        check_path(&problem, &weights, &path);
    }

    #[test]
    fn working_on_few_atoms_gives_the_path_of_all((columns, target) in columns(150..300, 0.0)) {
        // All entries are positive, so the early way out of the check over all atoms is taken as well.
        let problem = problem(&columns, &target);
        let options = PathOptions { most_active: 3, ..PathOptions::default() };
        let few = path(&Bounded::new(&problem, 1.0), &options, &Control::default()).unwrap();
        check_path(&problem, &vec![1.0; columns.len()], &few);
        let signed = path(&problem, &options, &Control::default()).unwrap();
        prop_assert_eq!(few.breakpoints, signed.breakpoints);
    }

    #[test]
    fn the_number_of_active_atoms_is_exact((columns, target) in columns(5..30, -1.0), k in 1..4_usize) {
        let problem = problem(&columns, &target);
        let whole = path(&problem, &PathOptions::default(), &Control::default()).unwrap();
        let cut = path(&problem, &PathOptions { most_active: k, ..PathOptions::default() }, &Control::default()).unwrap();
        let most = whole.breakpoints.iter().map(|point| point.coefficients.len()).max().unwrap_or(0);
        let end = cut.breakpoints.last().unwrap();
        if most > k {
            prop_assert_eq!(end.coefficients.len(), k);
            prop_assert!(end.coefficients.iter().all(|&(_, value)| value > 0.0));
        }
        // Up to its end the shorter path is the longer one.
        let shared = cut.breakpoints.len() - 1;
        prop_assert_eq!(&cut.breakpoints[..shared], &whole.breakpoints[..shared]);
    }

    #[test]
    fn solves_one_penalty((columns, target) in columns(1..30, -1.0), ratio in 0.05..0.9) {
        let problem = problem(&columns, &target);
        let largest = problem.target_products().iter().copied().fold(0.0, f64::max);
        let penalty = L1::new(ratio * largest, columns.len()).unwrap().nonnegative();
        let start = vec![0.0; columns.len()];
        prop_assume!(largest > 0.0);
        let solution = Lars.minimise(&problem, &penalty, &start, &Control::default()).unwrap();
        prop_assert_eq!(solution.status, Status::Converged);
        prop_assert!(violation(&problem, &vec![1.0; columns.len()], ratio * largest, &solution.coefficients) <= 1e-9);
    }
}

#[test]
fn an_atom_that_repeats_another_is_tied_and_the_lower_index_stays() {
    let (a, b) = (vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 0.5]);
    let problem = problem(&[a.clone(), b, a], &[1.0, 0.7, 0.9]);
    let path = path(&problem, &PathOptions::default(), &Control::default()).unwrap();
    assert!(path.breakpoints.iter().all(|point| point.coefficients.iter().all(|&(j, _)| j != 2)));
    check_path(&problem, &[1.0; 3], &path);
}

#[test]
fn atoms_leave_again() {
    // The first atom resembles the target most, but two others together explain more of it.
    let atoms = [vec![1.0, 1.0, 0.4], vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
    let problem = problem(&atoms, &[1.0, 1.0, -0.2]);
    let path = path(&problem, &PathOptions::default(), &Control::default()).unwrap();
    assert_eq!(path.breakpoints[0].event, Event::Joined(0));
    assert!(path.breakpoints.iter().any(|point| point.event == Event::Left(0)));
    check_path(&problem, &[1.0; 3], &path);
}

#[test]
fn nothing_to_explain_gives_an_empty_path() {
    let opposite = problem(&[vec![-1.0, 0.0]], &[1.0, 0.0]);
    let nothing = problem(&[vec![1.0, 0.0], vec![0.0, 0.0]], &[0.0, 0.0]);
    for problem in [opposite, nothing] {
        let path = path(&problem, &PathOptions::default(), &Control::default()).unwrap();
        assert_eq!(path.status, Status::Converged);
        assert!(path.breakpoints.iter().all(|point| point.coefficients.is_empty()));
    }
}

#[test]
fn bad_options_are_named() {
    let problem = problem(&[vec![1.0]], &[1.0]);
    let call = |options: PathOptions| path(&problem, &options, &Control::default()).unwrap_err();
    let weights = |weights: Vec<f64>| call(PathOptions { weights: Some(weights), ..PathOptions::default() });
    assert!(matches!(weights(vec![0.0]), Error::InvalidParameter { name: "weight", .. }));
    assert!(matches!(weights(vec![f64::NAN]), Error::InvalidParameter { name: "weight", .. }));
    assert!(matches!(weights(vec![1.0; 2]), Error::ShapeMismatch { what: "weights", .. }));
    let lambda = call(PathOptions { smallest_lambda: f64::NAN, ..PathOptions::default() });
    assert!(matches!(lambda, Error::InvalidParameter { name: "smallest_lambda", .. }));
    let active = call(PathOptions { most_active: 0, ..PathOptions::default() });
    assert!(matches!(active, Error::InvalidParameter { name: "most_active", .. }));

    let net = ElasticNetPenalty::new(L1::new(0.1, 1).unwrap(), 0.1).unwrap();
    let error = Lars.minimise(&problem, &net, &[0.0], &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { method: "lars", .. }));
}

/// Both signs: the solution for `Aⱼ` and `−Aⱼ` with `w ≥ 0`, with the coefficient of the second taken off.
#[test]
fn coefficients_of_both_signs() {
    let columns: Vec<Vec<f64>> =
        (0..6).map(|j| (0..9).map(|i| f64::from((i * (j + 2) + j) % 7) - 3.0).collect()).collect();
    let problem = problem(&columns, &[1.0, -0.9, 0.5, -2.4, 0.2, 0.1, 1.0, 3.0, -1.0]);
    for lambda in [5.0, 1.0, 0.1] {
        let found = Lars.minimise(&problem, &L1::new(lambda, 6).unwrap(), &[], &Control::default()).unwrap();
        assert_eq!(found.status, Status::Converged);
        let has = |sign: f64| found.coefficients.iter().any(|value| sign * value > 0.0);
        assert!(has(1.0) && has(-1.0), "{:?}", found.coefficients);
        let mut correlations = vec![0.0; 6];
        problem.correlations(&found.coefficients, &mut correlations);
        for (value, correlation) in found.coefficients.iter().zip(correlations) {
            let expected =
                if *value == 0.0 { correlation.clamp(-lambda, lambda) } else { lambda * value.signum() };
            assert!((correlation - expected).abs() < 1e-9, "{correlation}, not {expected}");
        }
    }
}

#[test]
fn control_stops_it() {
    let columns: Vec<Vec<f64>> =
        (0..6).map(|j| (0..6).map(|i| f64::from(u8::from(i <= j))).collect()).collect();
    let problem = problem(&columns, &[1.0, 0.9, 0.5, 0.4, 0.2, 0.1]);
    let run = |control: Control<'_>| path(&problem, &PathOptions::default(), &control).unwrap().status;
    assert_eq!(run(Control { max_iterations: 1, ..Control::default() }), Status::MaxIterations);
    let past = std::time::Instant::now();
    assert_eq!(run(Control { deadline: Some(past), ..Control::default() }), Status::TimeLimit);
    let raised = std::sync::atomic::AtomicBool::new(true);
    assert_eq!(run(Control { interrupt: Some(&raised), ..Control::default() }), Status::Interrupted);
    let second = |state: &SolverState| state.get_iter() >= 2;
    assert_eq!(run(Control { stop: Some(&second), ..Control::default() }), Status::Interrupted);
}

/// Stages begin anew, and a path that is stopped is as long as the longest: the more steps, the longer.
#[test]
fn a_stop_keeps_what_earlier_stages_found() {
    let noise = |j: u64| -> Vec<f64> {
        (0..60).map(|i| (fewest_core::derive_seed(j, i) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5).collect()
    };
    let columns: Vec<Vec<f64>> = (0..40).map(noise).collect();
    let problem = problem(&columns, &noise(99));
    let whole = path(&problem, &PathOptions::default(), &Control::default()).unwrap();
    let mut lengths = Vec::new();
    for most in 1..400 {
        let steps = std::sync::atomic::AtomicUsize::new(0);
        let stop = |_: &SolverState| steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= most;
        let control = Control { stop: Some(&stop), ..Control::default() };
        let found = path(&problem, &PathOptions::default(), &control).unwrap();
        if found.status != Status::Interrupted {
            assert_eq!(found.breakpoints, whole.breakpoints);
            break;
        }
        check_path(&problem, &[1.0; 40], &found);
        lengths.push(found.breakpoints.len());
    }
    assert!(lengths.is_sorted() && lengths.len() > 40, "{lengths:?}");
}

/// Keeps the last checkpoint as text.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Option<String>>>);

impl Checkpoint<Homotopy, SolverState> for Memory {
    fn save(&self, solver: &Homotopy, state: &SolverState) -> Result<(), argmin::core::Error> {
        *self.0.lock().unwrap() = Some(serde_json::to_string(&(solver, state))?);
        Ok(())
    }
    fn load(&self) -> Result<Option<(Homotopy, SolverState)>, argmin::core::Error> {
        Ok(match &*self.0.lock().unwrap() {
            Some(text) => Some(serde_json::from_str(text)?),
            None => None,
        })
    }
    fn frequency(&self) -> CheckpointingFrequency {
        CheckpointingFrequency::Always
    }
}

#[derive(Clone, Default)]
struct Count(Arc<Mutex<u64>>);

impl Observe<SolverState> for Count {
    fn observe_iter(&mut self, _state: &SolverState, _kv: &KV) -> Result<(), argmin::core::Error> {
        *self.0.lock().unwrap() += 1;
        Ok(())
    }
}

#[test]
fn argmin_observes_checkpoints_and_resumes() {
    let columns: Vec<Vec<f64>> =
        (0..6).map(|j| (0..6).map(|i| f64::from(u8::from(i <= j))).collect()).collect();
    let problem = problem(&columns, &[1.0, 0.9, 0.5, 0.4, 0.2, 0.1]);
    let solver = || Homotopy::new(vec![1.0; 6], 0.0, usize::MAX).unwrap();
    let start = |state: SolverState| state.starting_at(vec![0.0; 6]);
    let count = Count::default();
    let whole = Executor::new(&problem, solver())
        .configure(start)
        .add_observer(count.clone(), ObserverMode::Always)
        .run()
        .unwrap();
    assert_eq!(*count.0.lock().unwrap(), whole.state.get_iter());

    let memory = Memory::default();
    Executor::new(&problem, solver())
        .configure(|state| start(state).max_iterations(2))
        .checkpointing(memory.clone())
        .run()
        .unwrap();
    let (saved, state) = memory.load().unwrap().unwrap();
    assert!(!saved.is_done());
    // A resumed run keeps the limit it was saved with: raise it first.
    memory.save(&saved, &state.max_iterations(1000)).unwrap();
    let resumed = Executor::new(&problem, solver()).checkpointing(memory).run().unwrap();
    assert_eq!(resumed.solver.breakpoints(), whole.solver.breakpoints());
    assert_eq!(resumed.state.coefficients, whole.state.coefficients);
}

/// A path that ends at a penalty of zero is certified too: its gap is no leftover of rounding.
#[test]
fn the_end_at_no_penalty_is_certified() {
    for seed in 0..20_u64 {
        // Multiples of an odd number, as good as random.
        let value = |i: usize| {
            ((i as u64 + 1000 * seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / 8e6 - 1.0
        };
        let columns: Vec<Vec<f64>> = (0..30).map(|j| (0..12).map(|i| value(12 * j + i)).collect()).collect();
        let target: Vec<f64> = (0..12).map(|i| value(500 + i)).collect();
        let path = path(&problem(&columns, &target), &PathOptions::default(), &Control::default()).unwrap();
        let end = path.breakpoints.last().unwrap();
        assert_eq!(end.lambda, 0.0);
        assert!((0.0..=1e-6).contains(&path.duality_gap), "{} {}", path.status.name(), path.duality_gap);
        // The conditions of non-negative least squares, from the definition.
        let w = dense(&end.coefficients, 30);
        let residual: Vec<f64> = (0..12)
            .map(|i| target[i] - columns.iter().zip(&w).map(|(column, w)| w * column[i]).sum::<f64>())
            .collect();
        for (column, w) in columns.iter().zip(&w) {
            let correlation: f64 = column.iter().zip(&residual).map(|(a, r)| a * r).sum();
            assert!(correlation <= 1e-7 && *w >= 0.0 && (w * correlation).abs() <= 1e-7, "{correlation} {w}");
        }
    }
}
