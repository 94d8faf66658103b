use fewest_kernels::VectorKernel;
use fewest_smo::GramRows;
use fewest_solver::{Control, Status};

use super::*;
use fewest_machines::PointRows;

/// Samples near two planes that cross, in `d` coordinates.
fn samples(n: usize, d: usize) -> (Points, Vec<bool>) {
    let wave = |i: usize, step: usize| ((i * step + i * i) % 101) as f64 / 50.0 - 1.0;
    let first: Vec<bool> = (0..n).map(|i| i % 5 < 2).collect();
    let value = |i: usize, j: usize| match j {
        0 => wave(i, 7),
        1 => wave(i, 7) * if first[i] { 1.0 } else { -0.7 } + 0.2 * wave(i, 30),
        _ => wave(i, 11 + 4 * j),
    };
    let values = (0..n).flat_map(|i| (0..d).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
    (Points { values, n_samples: n, width: d }, first)
}

fn all(n: usize) -> Vec<usize> {
    (0..n).collect()
}

fn exact<'a>() -> Control<'a> {
    Control { tolerance: 1e-9, max_iterations: 200_000, ..Control::default() }
}

/// The rows `(x, 1)` of one class from the definition.
fn rows_of(features: &dyn Fn(usize) -> Vec<f64>, first: &[bool], class: bool) -> DMatrix<f64> {
    let own: Vec<usize> = (0..first.len()).filter(|&i| first[i] == class).collect();
    let width = features(0).len();
    DMatrix::from_fn(own.len(), width + 1, |r, j| features(own[r]).get(j).copied().unwrap_or(1.0))
}

/// Primal and dual objective and the worst violation of the optimality conditions, from the definition, by a
/// dense inverse.
fn conditions(
    near: &DMatrix<f64>,
    far: &DMatrix<f64>,
    plane: &Plane,
    cost: f64,
    ridge: f64,
    sign: f64,
) -> [f64; 3] {
    let u = DVector::from_iterator(near.ncols(), plane.weights.iter().copied().chain([plane.bias]));
    let losses: f64 = (far * &u).iter().map(|value| (1.0 + sign * value).max(0.0)).sum();
    let primal = 0.5 * (near * &u).norm_squared() + 0.5 * ridge * u.norm_squared() + cost * losses;
    let inverse = (near.transpose() * near + DMatrix::identity(near.ncols(), near.ncols()) * ridge)
        .try_inverse()
        .unwrap();
    let q = far * inverse * far.transpose();
    let alpha = DVector::from_vec(plane.dual.coefficients.clone());
    let slopes = &q * &alpha;
    let dual = alpha.sum() - 0.5 * alpha.dot(&slopes);
    let mut violation = 0.0_f64;
    for (value, slope) in alpha.iter().zip(&slopes) {
        assert!((0.0..=cost).contains(value));
        let gain = 1.0 - slope;
        let wrong = if *value == 0.0 {
            gain.max(0.0)
        } else if *value == cost {
            (-gain).max(0.0)
        } else {
            gain.abs()
        };
        violation = violation.max(wrong);
    }
    [primal, dual, violation]
}

/// Every form of the problem, with the features of a sample: fewer coordinates than samples, more, a kernel.
fn check_all_forms(n: usize, check: impl Fn(&TwinProblem, &dyn Fn(usize) -> Vec<f64>, &[bool])) {
    for d in [2, 5, n + 20] {
        let (points, first) = samples(n, d);
        let problem = TwinProblem::linear(&points, &all(n), &first).unwrap();
        assert_eq!(matches!(problem.products, Products::ByCoordinates(_)), d < n);
        check(&problem, &|i| points.point(i).to_vec(), &first);
    }
    let (points, first) = samples(n, 2);
    let rows = PointRows::new(&points, VectorKernel::Gaussian { gamma: 0.8 }).unwrap();
    let problem = TwinProblem::kernel(&rows, &all(n), &first).unwrap();
    let features = |i: usize| {
        let mut row = vec![0.0; n];
        rows.row(i, &mut row);
        row
    };
    check(&problem, &features, &first);
}

#[test]
fn planes_are_optimal_by_the_definition() {
    check_all_forms(45, |problem, features, first| {
        let (h, g) = (rows_of(features, first, true), rows_of(features, first, false));
        for (cost, ridge) in [(0.1, 1.0), (1.0, 1e-2), (30.0, 0.3)] {
            let dual = problem.regularised(ridge).unwrap();
            for relaxation in [1.0, 1.4] {
                let machine = dual.train(cost, relaxation, None, &exact()).unwrap();
                assert!(machine.certificate().value() <= 1e-9);
                let [one, two] = &machine.planes;
                for (plane, near, far, sign) in [(one, &h, &g, 1.0), (two, &g, &h, -1.0)] {
                    assert_eq!(plane.dual.status, Status::Converged);
                    let [primal, dual, violation] = conditions(near, far, plane, cost, ridge, sign);
                    assert!((primal - dual).abs() < 1e-8 * primal, "{primal} {dual}");
                    assert!((plane.dual.objective + dual).abs() < 1e-10 * primal);
                    assert!(violation < 1e-3, "{violation}");
                }
            }
        }
    });
}

/// Tries every division of the variables into those at 0, at the cost and in between.
#[test]
fn the_minimum_is_the_best_of_all_active_sets() {
    let (points, first) = samples(12, 2);
    let features = |i: usize| points.point(i).to_vec();
    let (h, g) = (rows_of(&features, &first, true), rows_of(&features, &first, false));
    let problem = TwinProblem::linear(&points, &all(12), &first).unwrap();
    for (cost, ridge) in [(0.2, 0.1), (2.0, 1.0)] {
        let machine = problem.regularised(ridge).unwrap().train(cost, 1.2, None, &exact()).unwrap();
        // The second plane has the fewer variables.
        let inverse = (g.transpose() * &g + DMatrix::identity(3, 3) * ridge).try_inverse().unwrap();
        let q = &h * inverse * h.transpose();
        let n = h.nrows();
        let mut least = 0.0_f64;
        for code in 0..3_usize.pow(n as u32) {
            let state = |i: usize| code / 3_usize.pow(i as u32) % 3;
            let mut alpha = DVector::from_fn(n, |i, _| if state(i) == 1 { cost } else { 0.0 });
            let free: Vec<usize> = (0..n).filter(|&i| state(i) == 2).collect();
            if !free.is_empty() {
                let slope = DVector::repeat(n, 1.0) - &q * &alpha;
                let (inner, right) = (q.select_rows(&free).select_columns(&free), slope.select_rows(&free));
                let Some(solution) = inner.lu().solve(&right) else { continue };
                for (value, &i) in solution.iter().zip(&free) {
                    alpha[i] = *value;
                }
            }
            if alpha.iter().all(|value| (0.0..=cost).contains(value)) {
                least = least.min(0.5 * alpha.dot(&(&q * &alpha)) - alpha.sum());
            }
        }
        let found = machine.planes[1].dual.objective;
        assert!((found - least).abs() < 1e-8 * least.abs(), "{found} {least}");
    }
}

/// Additional coordinates that are all zero change the form that is used, not the solution.
#[test]
fn both_forms_of_the_inverse_agree() {
    let (points, first) = samples(40, 3);
    let padded: Vec<f64> = points.values.chunks(3).flat_map(|x| x.iter().copied().chain([0.0; 60])).collect();
    let wide = Points { values: padded, n_samples: 40, width: 63 };
    let narrow = TwinProblem::linear(&points, &all(40), &first).unwrap();
    let wide = TwinProblem::linear(&wide, &all(40), &first).unwrap();
    assert!(matches!(wide.products, Products::BySamples(..)));
    for ridge in [1.0, 1e-3, 1e-6] {
        let narrow = narrow.regularised(ridge).unwrap().train(1.0, 1.0, None, &exact()).unwrap();
        let wide = wide.regularised(ridge).unwrap().train(1.0, 1.0, None, &exact()).unwrap();
        for (a, b) in narrow.planes.iter().zip(&wide.planes) {
            let weights = a.weights.iter().chain([&a.bias]).zip(b.weights[..3].iter().chain([&b.bias]));
            for (a, b) in weights {
                assert!((a - b).abs() < 1e-3, "{ridge}: {a} {b}");
            }
            assert!((a.dual.objective - b.dual.objective).abs() < 1e-7 * a.dual.objective.abs());
            assert!(b.weights[3..].iter().all(|weight| *weight == 0.0));
        }
    }
}

/// The linear kernel with enough samples spans the same planes; the norm is that of `w = Σ u_j x_j`.
#[test]
fn norms_are_those_of_the_directions() {
    let (points, first) = samples(30, 2);
    let rows = PointRows::new(&points, VectorKernel::Linear).unwrap();
    let problem = TwinProblem::kernel(&rows, &all(30), &first).unwrap();
    let machine = problem.regularised(1e-3).unwrap().train(1.0, 1.0, None, &exact()).unwrap();
    for plane in &machine.planes {
        let mut w = [0.0; 2];
        for (i, weight) in plane.weights.iter().enumerate() {
            w[0] += weight * points.point(i)[0];
            w[1] += weight * points.point(i)[1];
        }
        assert!((plane.norm - w[0].hypot(w[1])).abs() < 1e-9 * plane.norm);
    }
    let mut row = [0.0; 30];
    rows.row(4, &mut row);
    let (near, far) = (machine.planes[0].value(&row), machine.planes[1].value(&row));
    let expected = far.abs() / machine.planes[1].norm - near.abs() / machine.planes[0].norm;
    assert_eq!(machine.decision(&row).unwrap(), expected);
}

#[test]
fn a_start_saves_passes_and_a_limit_is_reported() {
    let (points, first) = samples(60, 4);
    let problem = TwinProblem::linear(&points, &all(60), &first).unwrap();
    let dual = problem.regularised(1e-2).unwrap();
    let cold = dual.train(1.0, 1.0, None, &exact()).unwrap();
    let again = dual.train(1.0, 1.0, Some(&cold), &exact()).unwrap();
    assert!(again.planes.iter().all(|plane| plane.dual.iterations == 0));
    let few = Control { max_iterations: 1, ..exact() };
    let machine = dual.train(1.0, 1.0, None, &few).unwrap();
    for plane in &machine.planes {
        assert_eq!((plane.dual.status, plane.dual.iterations), (Status::MaxIterations, 1));
        assert!(plane.dual.certificate.value() > 1e-9 && plane.dual.certificate.value().is_finite());
    }
    let raised = std::sync::atomic::AtomicBool::new(true);
    let stopped = Control { interrupt: Some(&raised), ..exact() };
    let machine = dual.train(1.0, 1.0, None, &stopped).unwrap();
    assert!(machine.planes.iter().all(|plane| plane.dual.status == Status::Interrupted));
}

/// The same points in both classes, duplicate samples, a class of one sample: the gaps are reached.
#[test]
fn degenerate_samples_have_a_solution() {
    let (mut points, mut first) = samples(30, 3);
    let copy = points.values.clone();
    points.values.extend(copy);
    points.n_samples = 60;
    let other: Vec<bool> = first.iter().enumerate().map(|(i, first)| *first != (i % 3 == 0)).collect();
    first.extend(other);
    let one: Vec<bool> = (0..60).map(|i| i == 17).collect();
    let gaussian = PointRows::new(&points, VectorKernel::Gaussian { gamma: 0.5 }).unwrap();
    let control = Control { tolerance: 1e-6, max_iterations: 200_000, ..Control::default() };
    for first in [&first, &one] {
        for problem in [
            TwinProblem::linear(&points, &all(60), first).unwrap(),
            TwinProblem::kernel(&gaussian, &all(60), first).unwrap(),
        ] {
            let machine = problem.regularised(1e-4).unwrap().train(1.0, 1.0, None, &control).unwrap();
            for plane in &machine.planes {
                assert_eq!(plane.dual.status, Status::Converged);
                assert!(plane.norm.is_finite() && plane.weights.iter().all(|weight| weight.is_finite()));
            }
        }
    }
}

#[test]
fn faults_are_named() {
    let (points, first) = samples(10, 2);
    let name = |error: Option<Error>| match error {
        Some(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let problem = TwinProblem::linear(&points, &all(10), &first).unwrap();
    for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(problem.regularised(ridge).err()), "regularization");
    }
    let dual = problem.regularised(1.0).unwrap();
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(dual.train(cost, 1.0, None, &exact()).err()), "cost");
    }
    for relaxation in [0.0, 2.0, f64::NAN] {
        assert_eq!(name(dual.train(1.0, relaxation, None, &exact()).err()), "relaxation");
    }
    let machine = dual.train(1.0, 1.0, None, &exact()).unwrap();
    assert!(matches!(machine.decision(&[1.0]), Err(Error::ShapeMismatch { expected: 2, found: 1, .. })));
    let less = TwinProblem::linear(&points, &all(8), &first[..8]).unwrap();
    let less = less.regularised(1.0).unwrap().train(1.0, 1.0, Some(&machine), &exact());
    assert!(matches!(less, Err(Error::ShapeMismatch { .. })));

    let shape = |samples: &[usize], first: &[bool]| TwinProblem::linear(&points, samples, first).err();
    assert!(matches!(shape(&[0, 10], &first[..2]), Some(Error::ShapeMismatch { found: 11, .. })));
    assert!(matches!(shape(&all(10), &first[..9]), Some(Error::ShapeMismatch { found: 9, .. })));
    assert!(matches!(shape(&all(10), &[true; 10]), Some(Error::TooFew { .. })));
    assert!(matches!(shape(&[], &[]), Some(Error::TooFew { .. })));
    let mut broken = points.clone();
    broken.values[3] = f64::NAN;
    let error = TwinProblem::linear(&broken, &all(10), &first).err();
    assert!(matches!(error, Some(Error::Numerical { .. })));

    // The same two samples in both classes: with so small a ridge, rounding cancels the whole program.
    let same = GramRows::new(vec![1e4; 16], 4).unwrap();
    let same = TwinProblem::kernel(&same, &all(4), &[true, true, false, false]).unwrap();
    assert!(matches!(same.regularised(1e-12).err(), Some(Error::Numerical { .. })));
}

#[test]
fn two_lines_that_cross_are_a_plane_each() {
    // y = x and y = −x: no line separates them, but each is a plane, with most of the other class on one
    // side.
    let t = [-1.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let values = t.iter().flat_map(|t| [*t, *t]).chain(t.iter().flat_map(|t| [*t, -*t])).collect();
    let points = Points { values, n_samples: 12, width: 2 };
    let first: Vec<bool> = (0..12).map(|i| i < 6).collect();
    let problem = TwinProblem::linear(&points, &all(12), &first).unwrap();
    let machine = problem.regularised(1e-3).unwrap().train(0.1, 1.0, None, &Control::default()).unwrap();
    for (i, &first) in first.iter().enumerate() {
        assert_eq!(machine.decision(points.point(i)).unwrap() > 0.0, first);
    }
}
