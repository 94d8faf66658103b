//! What the parts must keep, checked where their insides can be seen.

use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use fewest_core::method::KernelWidth;
use fewest_core::{Context, Dataset, DenseColumns, Error, Status, Target, derive_seed};
use fewest_dca::DifferenceOfConvex;
use fewest_kernels::{Gaussian, Gram, ScalarKernel, Sigmoid};
use fewest_solver::Control;
use nalgebra::{DMatrix, DVector};

use super::atoms::Atoms;
use super::base::BaseKernel;
use super::descent::Descent;
use super::fit::Limits;
use super::loss::Loss;
use super::machine::{FixedKernel, Machine};
use super::matrix::KernelMatrix;
use super::objective::Objective;
use super::screen::Screen;
use super::tasks::tasks;
use fewest_kernels::Form;
use fewest_solver::Point;

/// Uniform in [-1, 1].
fn random(seed: u64, stream: u64) -> f64 {
    2.0 * (derive_seed(seed, stream) as f64 / u64::MAX as f64) - 1.0
}

/// A centred Gram matrix of `n` points and labels that depend on them, not without errors.
fn problem(kernel: &dyn ScalarKernel, n: usize) -> Result<(KernelMatrix, DMatrix<f64>, Vec<f64>), Error> {
    let points: Vec<f64> = (0..n).map(|i| 2.0 * random(1, i as u64)).collect();
    let y = (0..n).map(|i| (points[i].powi(2) - 1.0 + 0.5 * random(2, i as u64)).signum()).collect();
    let gram = Gram::new(kernel, &points).centre();
    let matrix = DMatrix::from_column_slice(n, n, gram.as_slice());
    Ok((KernelMatrix::dense(matrix.clone())?, matrix, y))
}

fn zero(n: usize) -> Machine {
    Machine { beta: vec![0.0; n], bias: 0.0 }
}

/// The convex problem's solution from its optimality conditions `λ β = half_gradients`, `Σ β = 0`, by
/// Newton's method with a dense LU: nothing in common with what is tested.
fn convex_reference(matrix: &DMatrix<f64>, y: &[f64], lambda: f64) -> DVector<f64> {
    let n = y.len();
    let mut support = vec![true; n];
    for _ in 0..100 {
        let mut system = DMatrix::zeros(n + 1, n + 1);
        let mut right = DVector::zeros(n + 1);
        for i in 0..n {
            system[(i, i)] = lambda;
            if support[i] {
                for j in 0..n {
                    system[(i, j)] += matrix[(i, j)];
                }
                system[(i, n)] = 1.0;
                right[i] = y[i];
            }
            system[(n, i)] = 1.0;
        }
        let Some(solution) = system.lu().solve(&right) else { panic!("the reference is singular") };
        let values = matrix * solution.rows(0, n) + DVector::from_element(n, solution[n]);
        let now: Vec<bool> = (0..n).map(|i| y[i] * values[i] < 1.0).collect();
        if now == support {
            return values;
        }
        support = now;
    }
    panic!("the reference does not settle");
}

#[test]
fn a_positive_definite_kernel_gives_the_convex_solution() -> Result<(), Error> {
    let own = Context::default();
    let n = 60;
    for lambda in [0.1, 1.0] {
        let (kernel, matrix, y) = problem(&Gaussian::new(0.5)?, n)?;
        let reference = convex_reference(&matrix, &y, lambda);
        let machine = || FixedKernel::new(&kernel, &y, Loss::SquaredHinge, lambda, &own);
        // As a difference, and as the convex problem that it is.
        for (machine, iterations) in [(machine(), 20_000), (machine().adapted(&zero(n))?, 2)] {
            assert!(!machine.is_guarded());
            let control = Control { tolerance: 1e-20, max_iterations: 20_000, ..Control::default() };
            let fitted = machine.minimise(&zero(n), true, &control)?;
            assert!(fitted.iterations <= iterations, "{}", fitted.iterations);
            let fitted = fitted.machine;
            let values = kernel.apply(&fitted.beta);
            for (value, reference) in values.iter().zip(reference.iter()) {
                assert!(
                    (value + fitted.bias - reference).abs() < 1e-6,
                    "{value} {} {reference}",
                    fitted.bias
                );
            }
            assert!(machine.certificate() < 1e-9, "{}", machine.certificate());
        }
        // And as the point that is stationary.
        let machine = machine();
        let Some(stationary) = machine.stationary(&zero(n)) else { panic!("the minimum is stationary") };
        let values = kernel.apply(&stationary.beta);
        for (value, reference) in values.iter().zip(reference.iter()) {
            assert!((value + stationary.bias - reference).abs() < 1e-6, "{value} {reference}");
        }
        assert!(machine.certificate() < 1e-9, "{}", machine.certificate());
    }
    Ok(())
}

#[test]
fn every_step_falls_as_proposition_1_promises() -> Result<(), Error> {
    let own = Context::default();
    let n = 40;
    let lambda = 0.5;
    for loss in [Loss::SquaredHinge, Loss::SquaredInsensitive { epsilon: 0.1 }] {
        let (kernel, _, y) = problem(&Sigmoid::new(1.5, -0.3)?, n)?;
        assert!(kernel.is_indefinite()?);
        let machine = FixedKernel::new(&kernel, &y, loss, lambda, &own);
        let mut x: Vec<f64> = (0..n).map(|i| 0.1 * random(3, i as u64)).collect();
        fewest_linalg::centre(&mut x);
        x.push(0.1);
        let mut slope = vec![0.0; n + 1];
        for _ in 0..10 {
            machine.subgradient_of_h(&x, &mut slope);
            let difference = machine.g(&x) - machine.h(&x);
            assert!((difference - machine.objective(&x)).abs() < 1e-9 * machine.g(&x), "{difference}");
            let next = machine.minimise_above(&slope, &x)?;
            let squares: f64 = next[..n].iter().zip(&x[..n]).map(|(a, b)| (a - b).powi(2)).sum();
            // g alone has the modulus 2 λ₁ρ, so τ = λ₁ρ.
            let promised = lambda * kernel.rho() * squares;
            let (before, after) = (machine.objective(&x), machine.objective(&next));
            assert!(before - after >= promised - 1e-10 * (1.0 + before.abs()), "{before} {after} {promised}");
            x = next;
        }
        assert!(machine.certificate() < 1e-9);
    }
    Ok(())
}

struct Smooth<'a>(&'a FixedKernel<'a>, &'a DMatrix<f64>, &'a [f64], f64);

impl CostFunction for Smooth<'_> {
    type Param = Point;
    type Output = f64;
    fn cost(&self, x: &Point) -> Result<f64, argmin::core::Error> {
        Ok(self.0.objective(&x.0))
    }
}

impl Gradient for Smooth<'_> {
    type Param = Point;
    type Gradient = Point;
    fn gradient(&self, x: &Point) -> Result<Point, argmin::core::Error> {
        let x = &x.0;
        let n = self.2.len();
        let beta = DVector::from_column_slice(&x[..n]);
        let image = self.1 * &beta;
        let half_gradients =
            DVector::from_fn(n, |i, _| Loss::SquaredHinge.half_gradient(self.2[i], image[i] + x[n]));
        let mut gradient: Vec<f64> = (2.0 * (self.3 * &image - self.1 * &half_gradients)).data.into();
        gradient.push(-2.0 * half_gradients.sum());
        Ok(Point(gradient))
    }
}

/// A matrix with eigenvalues of both signs, the negative ones large against `λ₁`: the objective has a
/// minimum.
fn bounded_problem(n: usize) -> Result<(KernelMatrix, DMatrix<f64>, Vec<f64>), Error> {
    let mut basis = DMatrix::from_fn(n, 6, |i, j| random(5, (i * 6 + j) as u64));
    for mut column in basis.column_iter_mut() {
        let mean = column.mean();
        column.add_scalar_mut(-mean);
    }
    let q = basis.qr().q();
    let values = DVector::from_vec(vec![20.0, 12.0, 6.0, -4.0, -5.0, 3.0]);
    let matrix = &q * DMatrix::from_diagonal(&values) * q.transpose();
    let y = (0..n).map(|i| random(6, i as u64).signum()).collect();
    Ok((KernelMatrix::dense(matrix.clone())?, matrix, y))
}

#[test]
fn descent_ends_no_higher_than_l_bfgs_from_twenty_starts() -> Result<(), Box<dyn std::error::Error>> {
    let own = Context::default();
    let (n, lambda) = (30, 0.05);
    let (kernel, matrix, y) = bounded_problem(n)?;
    let machine = FixedKernel::new(&kernel, &y, Loss::SquaredHinge, lambda, &own);
    let control = Control { tolerance: 1e-16, max_iterations: 5000, ..Control::default() };
    let mut ours = f64::INFINITY;
    let mut theirs = f64::INFINITY;
    for start in 0..20 {
        let mut x: Vec<f64> = (0..n).map(|i| 0.3 * random(100 + start, i as u64)).collect();
        fewest_linalg::centre(&mut x);
        let fitted = machine.minimise(&Machine { beta: x.clone(), bias: 0.0 }, true, &control)?.machine;
        x.push(0.0);
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10).with_tolerance_grad(1e-9)?;
        let problem = Smooth(&machine, &matrix, &y, lambda);
        let mut end = fitted.beta;
        end.push(fitted.bias);
        ours = ours.min(machine.objective(&end));
        if let Ok(result) =
            Executor::new(problem, solver).configure(|state| state.param(Point(x)).max_iters(2000)).run()
        {
            theirs = theirs.min(result.state().get_best_cost());
        }
    }
    assert!(theirs.is_finite() && ours <= theirs + 1e-9 * theirs.abs(), "{ours} {theirs}");
    Ok(())
}

#[test]
fn where_negative_eigenvalues_are_small_the_machine_ends_stationary() -> Result<(), Box<dyn std::error::Error>>
{
    let own = Context::default();
    let (kernel, matrix, y) = problem(&Sigmoid::new(1.5, -0.3)?, 40)?;
    assert!(kernel.is_indefinite()?);
    let start = zero(40);
    let lambda = -2.0 * kernel.smallest();
    let machine = FixedKernel::new(&kernel, &y, Loss::SquaredHinge, lambda, &own).adapted(&start)?;
    let Some(stationary) = machine.stationary(&start) else { panic!("there is a stationary point") };
    let control = Control { tolerance: 1e-10, ..Control::default() };
    let fitted = machine.minimise(&stationary, true, &control)?.machine;
    let joined = |machine: &Machine| Point([&machine.beta[..], &[machine.bias]].concat());
    let slopes = Smooth(&machine, &matrix, &y, lambda);
    let norm = |at: &Machine| -> Result<f64, Box<dyn std::error::Error>> {
        Ok(slopes.gradient(&joined(at))?.0.iter().map(|g| g * g).sum::<f64>().sqrt())
    };
    assert!(norm(&fitted)? < 1e-9 * norm(&start)?, "{} {}", norm(&fitted)?, norm(&start)?);
    assert!(machine.objective(&joined(&fitted).0) < machine.objective(&joined(&start).0));
    Ok(())
}

/// Ten features of which the first two matter.
fn data(n: usize, seed: u64, n_classes: u32) -> Result<Dataset, Error> {
    let columns: Vec<Vec<f64>> =
        (0..10).map(|j| (0..n).map(|i| random(seed, (i * 10 + j) as u64)).collect()).collect();
    let codes: Vec<u32> = (0..n)
        .map(|i| {
            let signal = columns[0][i] + columns[1][i] + 0.2 * random(seed + 1, i as u64);
            (((signal + 2.0) / 4.0 * f64::from(n_classes)) as u32).min(n_classes - 1)
        })
        .collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&codes))
}

fn limits() -> Limits {
    Limits {
        tolerance: 1e-6,
        min_improvement: 1e-6,
        iterations: 100,
        inner_tolerance: 1e-8,
        inner_iterations: 1000,
        accelerated: true,
        working_set: true,
    }
}

#[test]
fn only_the_product_of_the_penalties_counts() -> Result<(), Error> {
    let data = data(50, 11, 2)?;
    let tasks = tasks(&data, 0.1, "test")?;
    for kernel in [BaseKernel::default(), BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }] {
        let atoms = Atoms::new(&data, &[kernel], 1e-6, Form::Auto, &Context::default())?;
        let fit = |c: f64| {
            let (lambda1, lambda2) = (c, 20.0 / c);
            let mut screen = Screen::default();
            let objective =
                Objective { atoms: &atoms, tasks: &tasks.tasks, loss: tasks.loss, lambda1, lambda2 };
            objective.alternate(objective.start(), &mut screen, &limits(), &Context::default())
        };
        // A power of two, so that scaling rounds nothing.
        let (one, other) = (fit(1.0)?, fit(8.0)?);
        for (a, b) in one.history.iter().zip(&other.history) {
            assert!((a - b).abs() < 1e-6 * a.abs(), "{a} {b}");
        }
        for (a, b) in one.point.weights.iter().zip(&other.point.weights) {
            assert!((8.0 * a - b).abs() < 1e-4 * (1.0 + b), "{a} {b}");
        }
    }
    Ok(())
}

#[test]
fn objectives_never_rise_and_are_what_their_definition_says() -> Result<(), Error> {
    let (mut n_fits, mut n_converged) = (0, 0);
    for seed in 0..6 {
        for n_classes in [2, 3] {
            let data = data(45, 20 + seed, n_classes)?;
            let tasks = tasks(&data, 0.1, "test")?;
            for form in [Form::LowRank, Form::Exact] {
                for kernel in [
                    BaseKernel::default(),
                    BaseKernel::Sigmoid { scale: 2.0, shift: 1.0 },
                    BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) },
                    BaseKernel::Polynomial { degree: 3, offset: -0.5, scale: 1.0 },
                ] {
                    let atoms = Atoms::new(&data, &[kernel], 1e-4, form, &Context::default())?;
                    let (lambda1, loss) = (1.0, tasks.loss);
                    let mut screen = Screen::default();
                    let mut objective =
                        Objective { atoms: &atoms, tasks: &tasks.tasks, loss, lambda1, lambda2: 1.0 };
                    objective.lambda2 = 0.1 * objective.largest_lambda2(&mut screen, &Context::default())?;
                    let fit = objective.alternate(
                        objective.start(),
                        &mut screen,
                        &limits(),
                        &Context::default(),
                    )?;
                    assert!(fit.history.windows(2).all(|pair| pair[1] <= pair[0]), "{:?}", fit.history);
                    let violation = fit.weight_violation.max(fit.point.machine_violation);
                    let within = violation <= limits().tolerance;
                    assert_eq!(fit.status == Status::Converged, within, "{:?} {violation}", fit.status);
                    n_fits += 1;
                    n_converged += usize::from(within);
                    assert!(fit.convex_gap < 1e-8, "{}", fit.convex_gap);
                    // Eq. 9 anew, from the combined matrices.
                    let mut value = objective.lambda2 * fit.point.weights.iter().sum::<f64>();
                    for (task, machine) in tasks.tasks.iter().zip(&fit.point.machines) {
                        let matrix = atoms.combine(&fit.point.weights, &task.rows, &Context::default())?;
                        let mut values = matrix.apply(&machine.beta);
                        value += fewest_linalg::dot(&values, &machine.beta);
                        values.iter_mut().for_each(|value| *value += machine.bias);
                        value += loss.sum(&task.y, &values);
                    }
                    let last = fit.history.last().copied().unwrap_or(f64::NAN);
                    assert!((value - last).abs() < 1e-8 * (1.0 + last.abs()), "{value} {last}");
                }
            }
        }
    }
    // Where the kernel is too indefinite for a stationary machine, that is said.
    assert!(n_converged * 10 >= n_fits * 8, "{n_converged} of {n_fits}");
    Ok(())
}

/// Both violations from the definition at the point that is returned, with whole matrices: of the weights
/// `|λ₂ + λ₁ βᵀK_mβ − 2 Σ rᵢ (K_mβ)ᵢ|/λ₂` or how far it is below 0 where `d_m = 0`, of the machine
/// `‖K (λ₁β − r)‖` relative to that at `β = 0`.
#[test]
fn the_certificate_is_that_of_the_point_that_is_returned() -> Result<(), Error> {
    let n = 60;
    for n_classes in [2, 3] {
        // Of the second kernel the machine need not have a stationary point that is reached.
        for (kernel, is_tame) in [
            (BaseKernel::default(), true),
            (BaseKernel::Sigmoid { scale: 5.0, shift: 0.3 }, false),
            (BaseKernel::Gaussian { sigma: KernelWidth::Value(0.5) }, true),
        ] {
            for (ratio, tolerance) in [(0.3, 1e-6), (0.02, 1e-6), (0.02, 1e-2)] {
                let data = data(n, 31, n_classes)?;
                let tasks = tasks(&data, 0.1, "test")?;
                let atoms =
                    Atoms::new(&data, std::slice::from_ref(&kernel), 1e-6, Form::Exact, &Context::default())?;
                let Some(mut descent) = Descent::new(&atoms, &tasks, 1.0, &Context::default())? else {
                    panic!("no weights")
                };
                let lambda2 = ratio * descent.largest();
                let limits = Limits { tolerance, min_improvement: 1e-5, ..limits() };
                let fit = descent.to(lambda2, &limits, &Context::default())?;
                let (mut slopes, mut machine_violation) = (vec![lambda2; atoms.len()], 0.0_f64);
                for (task, machine) in tasks.tasks.iter().zip(&fit.point.machines) {
                    let matrices: Vec<DMatrix<f64>> = (0..atoms.len())
                        .map(|m| {
                            let mut alone = vec![0.0; atoms.len()];
                            alone[m] = 1.0;
                            let matrix = atoms.combine(&alone, &task.rows, &Context::default())?;
                            let size = task.rows.len();
                            let unit = |i: usize| -> Vec<f64> {
                                (0..size).map(|j| f64::from(u8::from(i == j))).collect()
                            };
                            let columns: Vec<f64> = (0..size).flat_map(|i| matrix.apply(&unit(i))).collect();
                            Ok(DMatrix::from_vec(size, size, columns))
                        })
                        .collect::<Result<_, Error>>()?;
                    let mut sum = DMatrix::zeros(task.rows.len(), task.rows.len());
                    for (matrix, weight) in matrices.iter().zip(&fit.point.weights) {
                        sum += matrix * *weight;
                    }
                    let beta = DVector::from_column_slice(&machine.beta);
                    let pulls = |values: &DVector<f64>| {
                        DVector::from_fn(values.len(), |i, _| {
                            (1.0 - task.y[i] * values[i]).max(0.0) * task.y[i]
                        })
                    };
                    let pull = pulls(&(&sum * &beta).add_scalar(machine.bias));
                    for (slope, matrix) in slopes.iter_mut().zip(&matrices) {
                        let image = matrix * &beta;
                        *slope += beta.dot(&image) - 2.0 * pull.dot(&image);
                    }
                    let mean = task.y.iter().sum::<f64>() / task.y.len() as f64;
                    let constant = &sum * pulls(&DVector::from_element(task.y.len(), mean));
                    let gradient = &sum * (&beta - pull);
                    machine_violation = machine_violation.max(gradient.norm() / constant.norm());
                }
                let weight_violation = fit
                    .point
                    .weights
                    .iter()
                    .zip(&slopes)
                    .map(|(d, slope)| if *d > 0.0 { slope.abs() } else { (-slope).max(0.0) } / lambda2)
                    .fold(0.0, f64::max);
                let told = (fit.weight_violation, fit.point.machine_violation);
                let case = format!("{n_classes} {kernel:?} {ratio} {tolerance}");
                assert!((told.0 - weight_violation).abs() < 1e-8, "{case}: {told:?} {weight_violation}");
                assert!((told.1 - machine_violation).abs() < 1e-8, "{case}: {told:?} {machine_violation}");
                let within = weight_violation.max(machine_violation) <= tolerance;
                assert_eq!(fit.status == Status::Converged, within, "{case}: {:?} {told:?}", fit.status);
                assert!(within || !is_tame, "{case}: {told:?}");
            }
        }
    }
    Ok(())
}

/// Time that is over in a Newton step takes nothing of what was found before it.
#[test]
fn a_newton_step_that_is_stopped_leaves_the_point() -> Result<(), Error> {
    let data = data(45, 3, 2)?;
    let tasks = tasks(&data, 0.1, "test")?;
    let raised = std::sync::atomic::AtomicBool::new(true);
    let stopped = Context { interrupt: Some(&raised), ..Context::default() };
    for form in [Form::LowRank, Form::Exact] {
        let atoms = Atoms::new(&data, &[BaseKernel::default()], 1e-4, form, &Context::default())?;
        let (lambda1, loss) = (1.0, tasks.loss);
        let mut screen = Screen::default();
        let objective = Objective { atoms: &atoms, tasks: &tasks.tasks, loss, lambda1, lambda2: 1.0 };
        let fit = objective.alternate(objective.start(), &mut screen, &limits(), &Context::default())?;
        let members: Vec<usize> = (0..atoms.len()).collect();
        let responses = objective.responses(&fit.point.machines, &members, &Context::default())?;
        let step = objective.newton_step(&fit.point, &members, &responses, fit.history[0], &stopped);
        assert!(matches!(step, Ok(None)), "{:?}", step.err());
    }
    Ok(())
}

#[test]
fn factors_and_whole_matrices_give_the_same() -> Result<(), Error> {
    let data = data(60, 3, 2)?;
    let tasks = tasks(&data, 0.1, "test")?;
    let run = |form| {
        let kernels = [BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }];
        let atoms = Atoms::new(&data, &kernels, 1e-10, form, &Context::default())?;
        let (lambda1, loss) = (1.0, tasks.loss);
        let mut screen = Screen::default();
        let objective = Objective { atoms: &atoms, tasks: &tasks.tasks, loss, lambda1, lambda2: 10.0 };
        objective.alternate(
            objective.start(),
            &mut screen,
            &Limits { min_improvement: 1e-10, ..limits() },
            &Context::default(),
        )
    };
    let (thin, dense) = (run(Form::LowRank)?, run(Form::Exact)?);
    for (a, b) in thin.point.weights.iter().zip(&dense.point.weights) {
        assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{a} {b}");
    }
    Ok(())
}

#[test]
fn heavy_tails_are_factored_to_the_tolerance() -> Result<(), Error> {
    let mut worst: (f64, f64, u64) = (0.0, 0.0, 0);
    for seed in 0..300 {
        let n = 104;
        let mut points: Vec<f64> =
            (0..n).map(|i| (3.0 * random(seed, i)).exp() * random(seed + 999, i)).collect();
        assert!(fewest_columns::standardise(&mut points));
        let kernel = Sigmoid::new(1.0, 0.0)?;
        let factor = fewest_kernels::Factor::new(&kernel, &points, 1e-4, points.len())?;
        let (gram, own) = (Gram::new(&kernel, &points), factor.to_gram());
        let squares: f64 = gram.as_slice().iter().zip(own.as_slice()).map(|(a, b)| (a - b).powi(2)).sum();
        let error = squares.sqrt() / gram.frobenius_norm();
        if error > worst.0 {
            worst = (error, factor.trace_error(), seed);
        }
    }
    assert!(worst.0 < 1.1e-4, "{worst:?}");
    Ok(())
}
