use fewest_core::Error;
use fewest_kernels::VectorKernel;
use fewest_smo::{Classifier, DualProblem, GramRows, KernelRows, Loss, Machine, Regressor, Smo, certificate};
use fewest_solver::Control;

use super::*;
use crate::{PointRows, Points, squared_distance};

const KERNELS: [VectorKernel; 3] = [
    VectorKernel::Gaussian { gamma: 0.4 },
    VectorKernel::Linear,
    VectorKernel::Polynomial { gamma: 0.5, offset: 1.0, degree: 3 },
];

/// As far as it goes: what is not stationary in the coefficients errs by the root of the gap.
fn control() -> Control<'static> {
    Control { tolerance: 1e-18, ..Control::default() }
}

/// Points without structure, and a target that depends on their first two coordinates and on noise.
fn problem(n: usize) -> (Points, Vec<f64>) {
    let noise = |k: usize| (((k * k + 3 * k) as f64 * 0.618).fract() - 0.5) * 2.0;
    let values: Vec<f64> = (0..3 * n).map(|k| noise(7 * k + 1)).collect();
    let targets = (0..n).map(|i| values[3 * i] + values[3 * i + 1] + 0.6 * noise(5 * i + 2)).collect();
    (Points { values, n_samples: n, width: 3 }, targets)
}

fn scaled(points: &Points, coordinate: usize, scale: f64) -> Points {
    let mut points = points.clone();
    points.values.iter_mut().skip(coordinate).step_by(points.width).for_each(|value| *value *= scale);
    points
}

/// What is trained, and what of it is looked at.
#[derive(Debug, Clone, Copy)]
struct Setting {
    regression: bool,
    loss: Loss,
    span: bool,
    cost: f64,
}

const SETTINGS: [Setting; 7] = [
    Setting { regression: false, loss: Loss::Squared, span: false, cost: 2.0 },
    Setting { regression: true, loss: Loss::Squared, span: false, cost: 2.0 },
    Setting { regression: true, loss: Loss::Linear, span: false, cost: 1.5 },
    Setting { regression: false, loss: Loss::Squared, span: true, cost: 2.0 },
    Setting { regression: false, loss: Loss::Linear, span: true, cost: 1.5 },
    Setting { regression: true, loss: Loss::Squared, span: true, cost: 2.0 },
    Setting { regression: true, loss: Loss::Linear, span: true, cost: 1.5 },
];

impl Setting {
    fn with<T>(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        then: impl FnOnce(&DualProblem<'_>, &Machine) -> T,
    ) -> T {
        if self.regression {
            let learner = Regressor { cost: self.cost, loss: self.loss, ..Regressor::default() };
            let machine = learner.train(kernel, targets, &[], &control()).unwrap();
            then(&learner.problem(kernel, targets, &[]).unwrap(), &machine)
        } else {
            let labels: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
            let learner = Classifier { cost: self.cost, loss: self.loss, ..Classifier::default() };
            let machine = learner.train(kernel, &labels, &[], &control()).unwrap();
            then(&learner.problem(kernel, &labels, &[]).unwrap(), &machine)
        }
    }

    fn bound(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        gradient: bool,
    ) -> (f64, Option<BoundSensitivity>) {
        self.with(kernel, targets, |problem, machine| {
            if self.span {
                let bound = SpanBound::new(problem, machine, &control(), gradient).unwrap();
                (bound.value, bound.sensitivity)
            } else if self.regression {
                let bound = RadiusMargin::of_regressor(problem, machine, &control(), gradient).unwrap();
                (bound.value, bound.sensitivity)
            } else {
                let bound = RadiusMargin::of_classifier(problem, machine, &control(), gradient).unwrap();
                (bound.value, bound.sensitivity)
            }
        })
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (points, targets) = problem(24);
    for kernel in KERNELS {
        for setting in SETTINGS {
            let value =
                |points: &Points| setting.bound(&PointRows::new(points, kernel).unwrap(), &targets, false).0;
            let (_, sensitivity) = setting.bound(&PointRows::new(&points, kernel).unwrap(), &targets, true);
            let gradient = sensitivity.unwrap().scale_gradient(kernel, &points).unwrap();
            for (j, found) in gradient.iter().enumerate() {
                let h = 1e-5;
                let (up, down) = (value(&scaled(&points, j, 1.0 + h)), value(&scaled(&points, j, 1.0 - h)));
                let expected = (up - down) / (2.0 * h);
                let error = (found - expected).abs();
                let size = expected.abs().max(1.0);
                assert!(error < 2e-4 * size, "{kernel:?} {setting:?} {j}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn the_ball_is_the_smallest() {
    for n in 1..7 {
        let (points, _) = problem(n);
        let plane: Vec<[f64; 2]> = (0..n).map(|i| [points.point(i)[0], 3.0 * points.point(i)[1]]).collect();
        let holds = |centre: [f64; 2]| -> f64 {
            plane.iter().map(|point| squared_distance(point, &centre)).fold(0.0, f64::max)
        };
        // The smallest circle has two of the points on a diameter, or three on it.
        let mut best = if n == 1 { 0.0 } else { f64::INFINITY };
        for a in 0..n {
            for b in 0..a {
                best =
                    best.min(holds([0.5 * (plane[a][0] + plane[b][0]), 0.5 * (plane[a][1] + plane[b][1])]));
                for c in 0..b {
                    let side = |k: usize| [plane[k][0] - plane[c][0], plane[k][1] - plane[c][1]];
                    let (u, v) = (side(a), side(b));
                    let (uu, vv) = (u[0] * u[0] + u[1] * u[1], v[0] * v[0] + v[1] * v[1]);
                    let twice = 2.0 * (u[0] * v[1] - u[1] * v[0]);
                    let x = (v[1] * uu - u[1] * vv) / twice;
                    let y = (u[0] * vv - v[0] * uu) / twice;
                    best = best.min(holds([plane[c][0] + x, plane[c][1] + y]));
                }
            }
        }
        let points = Points { values: plane.concat(), n_samples: n, width: 2 };
        let kernel = PointRows::new(&points, VectorKernel::Linear).unwrap();
        let ball = Ball::enclosing(&kernel, 0.0, &[], &control()).unwrap();
        assert!((ball.squared_radius - best).abs() < 1e-10, "{n}: {} and {best}", ball.squared_radius);
        assert!(ball.gap() < 1e-5 && ball.upper >= best - 1e-12);
        let rough =
            Ball::enclosing(&kernel, 0.0, &[], &Control { tolerance: 1e-2, ..Control::default() }).unwrap();
        assert!(rough.squared_radius <= best + 1e-12 && rough.upper >= best - 1e-12);
    }
}

/// `K̃` of a problem, whole.
fn matrix(problem: &DualProblem<'_>) -> Vec<Vec<f64>> {
    let n = problem.n_variables();
    let row = |i: usize| {
        let mut row = vec![0.0; n];
        problem.kernel().row(i, &mut row);
        row[i] += problem.ridges()[i];
        row
    };
    (0..n).map(row).collect()
}

#[test]
fn spans_are_distances_from_the_hull_of_the_others() {
    let (points, targets) = problem(22);
    for kernel in KERNELS {
        let rows = PointRows::new(&points, kernel).unwrap();
        for setting in SETTINGS.iter().filter(|setting| setting.span) {
            setting.with(&rows, &targets, |problem, machine| {
                let bound = SpanBound::new(problem, machine, &control(), false).unwrap();
                let kernel = matrix(problem);
                let coefficients = &machine.dual.solution.coefficients;
                for (&p, &span) in machine.support.iter().zip(&bound.squared_spans) {
                    let others: Vec<usize> = (0..problem.n_variables())
                        .filter(|&i| i != p && problem.is_free(i, coefficients[i]))
                        .collect();
                    let gram =
                        others.iter().flat_map(|&i| others.iter().map(|&j| kernel[i][j]).collect::<Vec<_>>());
                    let gram = GramRows::new(gram.collect(), others.len()).unwrap();
                    let linear = others.iter().map(|&i| kernel[i][p]).collect();
                    let bounds = |value: f64| vec![value; others.len()];
                    let program = DualProblem::new(&gram, linear, bounds(-100.0), bounds(100.0))
                        .unwrap()
                        .with_sum(1.0)
                        .unwrap();
                    let found = Smo::default().minimise(&program, &[], &control()).unwrap();
                    let expected = kernel[p][p] + 2.0 * found.certificate.objective;
                    assert!(
                        (span - expected).abs() < 1e-6 * kernel[p][p],
                        "{setting:?}: {span}, {expected} of {p}"
                    );
                }
            });
        }
    }
}

/// `f^p(x_p)` of every sample, the decision of the machine trained without it, if free and bounded support
/// vectors stay the same.
fn leave_one_out(bound: &SpanBound, problem: &DualProblem<'_>, machine: &Machine) -> Vec<f64> {
    let coefficients = &machine.dual.solution.coefficients;
    let errors = fewest_smo::certificate::errors(problem, coefficients).unwrap();
    let mut decisions: Vec<f64> =
        problem.targets().iter().zip(&errors).map(|(t, e)| t - e + machine.bias).collect();
    for (&i, span) in machine.support.iter().zip(&bound.squared_spans) {
        decisions[i] -= coefficients[i] * span;
    }
    decisions
}

#[test]
fn leaving_one_out_is_as_the_span_says_while_the_sets_stay() {
    let (points, targets) = problem(20);
    let kernel = VectorKernel::Gaussian { gamma: 1.0 };
    for setting in SETTINGS.iter().filter(|setting| setting.span) {
        let rows = PointRows::new(&points, kernel).unwrap();
        let (kept, total, bound, error) = setting.with(&rows, &targets, |problem, machine| {
            let bound = SpanBound::new(problem, machine, &control(), false).unwrap();
            let estimates = leave_one_out(&bound, problem, machine);
            let coefficients = &machine.dual.solution.coefficients;
            let kind = |problem: &DualProblem<'_>, i: usize, value: f64| {
                (problem.is_free(i, value), problem.is_bounded(i, value))
            };
            let (mut kept, mut error) = (0, 0.0);
            for &p in &machine.support {
                let rest: Vec<usize> = (0..20).filter(|&i| i != p).collect();
                let values = rest.iter().flat_map(|&i| points.point(i)).copied().collect();
                let part = Points { values, n_samples: 19, width: 3 };
                let part_rows = PointRows::new(&part, kernel).unwrap();
                let part_targets: Vec<f64> = rest.iter().map(|&i| targets[i]).collect();
                let mut row = vec![0.0; 19];
                part_rows.0.row_at(points.point(p), &mut row).unwrap();
                setting.with(&part_rows, &part_targets, |other, without| {
                    let decision = without.decision(&row).unwrap();
                    error += if setting.regression {
                        (decision - targets[p]).abs()
                    } else {
                        f64::from(u8::from(decision * (targets[p]).signum() <= 0.0))
                    };
                    let same = rest.iter().enumerate().all(|(k, &i)| {
                        let left = kind(problem, i, coefficients[i]);
                        left == kind(other, k, without.dual.solution.coefficients[k])
                    });
                    if same {
                        kept += 1;
                        let estimate = estimates[p];
                        assert!((decision - estimate).abs() < 1e-6, "{setting:?} {p}: {decision} {estimate}");
                    }
                });
            }
            (kept, machine.support.len(), bound.value, error)
        });
        assert!(kept > 0, "{setting:?}: none of {total}");
        assert!(error <= bound, "{setting:?}: {error}, {bound}");
    }
}

#[test]
fn equal_samples_and_single_support_vectors_have_spans() {
    // Every sample twice: each is in the hull of its twin.
    let (points, targets) = problem(12);
    let twice = Points { values: points.values.repeat(2), n_samples: 24, width: 3 };
    let kernel = PointRows::new(&twice, KERNELS[0]).unwrap();
    let setting = Setting { regression: true, loss: Loss::Linear, span: true, cost: 100.0 };
    setting.with(&kernel, &targets.repeat(2), |problem, machine| {
        let bound = SpanBound::new(problem, machine, &control(), true).unwrap();
        let coefficients = &machine.dual.solution.coefficients;
        for (&p, span) in machine.support.iter().zip(&bound.squared_spans) {
            let twin = (p + 12) % 24;
            if problem.is_free(p, coefficients[p]) && problem.is_free(twin, coefficients[twin]) {
                assert!(*span < 1e-9, "{span} of {p}");
            }
        }
        assert!(bound.value.is_finite());
    });
    // Nothing free: a target of two values, both beyond reach.
    let kernel = PointRows::new(&points, KERNELS[0]).unwrap();
    let far: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 1e3 } else { -1e3 }).collect();
    let setting = Setting { regression: true, loss: Loss::Linear, span: true, cost: 1e-3 };
    setting.with(&kernel, &far, |problem, machine| {
        assert_eq!(machine.n_bounded, 12);
        let bound = SpanBound::new(problem, machine, &control(), true).unwrap();
        assert!(bound.sensitivity.is_none() && bound.value > 1e3 && bound.value.is_finite());
        let bound = RadiusMargin::of_regressor(problem, machine, &control(), true).unwrap();
        assert!(bound.sensitivity.is_none() && bound.value.is_finite());
    });
    // No support vectors at all.
    let setting = Setting { regression: true, loss: Loss::Linear, span: true, cost: 1.0 };
    setting.with(&kernel, &[1.0; 12], |problem, machine| {
        let bound = SpanBound::new(problem, machine, &control(), true).unwrap();
        assert!((bound.value - 1.2).abs() < 1e-12 && bound.squared_spans.is_empty());
    });
}

#[test]
fn faults_are_named() {
    let (points, targets) = problem(10);
    let kernel = PointRows::new(&points, KERNELS[0]).unwrap();
    for ridge in [-1.0, f64::NAN, f64::INFINITY] {
        let error = Ball::enclosing(&kernel, ridge, &[], &control());
        assert!(matches!(error, Err(Error::InvalidParameter { name: "ridge", .. })));
    }
    let linear = Setting { regression: false, loss: Loss::Linear, span: true, cost: 1.0 };
    linear.with(&kernel, &targets, |problem, machine| {
        let error = RadiusMargin::of_classifier(problem, machine, &control(), false);
        assert!(matches!(error, Err(Error::Unsupported { .. })));
        let mut short = machine.clone();
        short.dual.solution.coefficients.pop();
        assert!(matches!(
            SpanBound::new(problem, &short, &control(), false),
            Err(Error::ShapeMismatch { .. })
        ));
        let sensitivity = SpanBound::new(problem, machine, &control(), true).unwrap().sensitivity.unwrap();
        let few = Points { values: vec![0.0; 3], n_samples: 1, width: 3 };
        assert!(matches!(sensitivity.scale_gradient(KERNELS[0], &few), Err(Error::ShapeMismatch { .. })));
        let bad = VectorKernel::Gaussian { gamma: f64::NAN };
        assert!(sensitivity.scale_gradient(bad, &points).is_err());
    });
    let labels: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
    let weights: Vec<f64> = (0..10).map(|i| 1.0 + f64::from(i)).collect();
    let learner = Classifier { loss: Loss::Squared, ..Classifier::default() };
    let unlike = learner.problem(&kernel, &labels, &weights).unwrap();
    let machine = learner.train(&kernel, &labels, &weights, &control()).unwrap();
    assert!(certificate::certify(&unlike, &machine.dual.solution.coefficients).is_ok());
    let error = RadiusMargin::of_classifier(&unlike, &machine, &control(), false);
    assert!(matches!(error, Err(Error::Unsupported { .. })));
    assert!(SpanBound::new(&unlike, &machine, &control(), true).is_ok());
    // A matrix that is not symmetric, and one that is not finite.
    let skew = GramRows::new(vec![1.0, 0.5, 0.4, 1.0], 2);
    assert!(matches!(skew, Err(Error::InvalidParameter { name: "kernel", .. })));
    let nan = GramRows::new(vec![1.0, f64::NAN, f64::NAN, 1.0], 2);
    assert!(matches!(nan, Err(Error::InvalidParameter { name: "kernel", .. })));
}

#[test]
fn who_says_stop_is_heard() {
    let (points, targets) = problem(30);
    let kernel = PointRows::new(&points, KERNELS[0]).unwrap();
    let flag = std::sync::atomic::AtomicBool::new(true);
    let stop = Control { interrupt: Some(&flag), ..control() };
    for setting in SETTINGS.iter().filter(|setting| setting.span) {
        setting.with(&kernel, &targets, |problem, machine| {
            let bound = SpanBound::new(problem, machine, &stop, false);
            assert!(matches!(bound, Err(Error::Stopped { .. })), "{setting:?}");
        });
    }
}

/// With the coefficients of another kernel samples without a coefficient, and those between the bounds, have
/// slacks too: both bounds sum those of all samples.
#[test]
fn kept_coefficients_pay_for_the_slacks_of_all_samples() {
    let (points, targets) = problem(40);
    for setting in SETTINGS.iter().filter(|setting| setting.loss == Loss::Linear) {
        let rows = PointRows::new(&points, KERNELS[0]).unwrap();
        let machine = setting.with(&rows, &targets, |_, machine| machine.clone());
        // A coordinate is gone.
        let fewer = scaled(&points, 0, 0.0);
        let rows = PointRows::new(&fewer, KERNELS[0]).unwrap();
        setting.with(&rows, &targets, |problem, _| {
            let kernel = matrix(problem);
            let coefficients = &machine.dual.solution.coefficients;
            let (mut all, mut at_bounds) = (0.0, 0.0);
            for i in 0..40 {
                let output: f64 = kernel[i].iter().zip(coefficients).map(|(k, b)| k * b).sum();
                let residual = problem.targets()[i] - output - machine.bias;
                let slack = if setting.regression {
                    residual.abs() - problem.absolute_weights()[i]
                } else {
                    residual * problem.targets()[i]
                };
                all += slack.max(0.0);
                at_bounds += if problem.is_bounded(i, coefficients[i]) { slack.max(0.0) } else { 0.0 };
            }
            assert!(all > 1.01 * at_bounds, "{setting:?}: {all} {at_bounds}");
            let tube: f64 = problem.absolute_weights().iter().sum();
            let slacks = if setting.span {
                let bound = SpanBound::new(problem, &machine, &control(), false).unwrap();
                let span = |(&i, span): (&usize, &f64)| coefficients[i].abs() * span;
                bound.value - machine.support.iter().zip(&bound.squared_spans).map(span).sum::<f64>()
            } else {
                let bound = RadiusMargin::of_regressor(problem, &machine, &control(), false).unwrap();
                bound.value - 4.0 * bound.ball.squared_radius * bound.size
            } - tube;
            assert!((slacks - all).abs() < 1e-9 * all, "{setting:?}: {slacks} {all}");
        });
    }
}
