//! A linear support vector machine: by its Gram matrix for few samples, by their vectors for many.

use fewest_core::{Certificate, Context, Error, SolverReport, derive_seed};
use fewest_smo::{
    Classifier, DualCoordinateDescent, DualProblem, GramRows, LinearKernel, LinearProblem, Regressor,
    SampleRows,
};
use fewest_solver::{Control, LinearOperator, Status};

use super::design::Design;
use super::problems::{TRAINED, check_positive, control};
use super::rows::Samples;

/// Most samples whose Gram matrix is built: 32 MiB.
const MOST_IN_GRAM: usize = 2000;

/// Most steps of the bias.
const MOST_BIASES: usize = 300;

/// What the machine is to learn.
pub(super) enum Task {
    /// C-SVC; whether each sample is positive.
    Classes(Vec<bool>),
    /// ε-SVR: the values, and ε.
    Values(Vec<f64>, f64),
}

/// A machine, `f(x) = Σⱼ wⱼ zⱼ xⱼ + b` with scales `z`.
pub(super) struct Fit {
    /// `w`, one weight a column.
    pub(super) weights: Vec<f64>,
    pub(super) report: SolverReport,
}

/// Trains on `design` with column `j` multiplied by `scales[j]`.
///
/// With `n ≤ 2000` samples by sequential minimal optimisation on their Gram matrix; else by dual coordinate
/// descent, whose memory is that of the data.
pub(super) fn train(
    design: &Design,
    scales: Option<&[f64]>,
    task: &Task,
    cost: f64,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<Fit, Error> {
    let control = control(tolerance, context)?;
    // There may be many machines, each of which begins with a pass over all columns.
    control.go_on(TRAINED)?;
    if design.n_rows() <= MOST_IN_GRAM {
        by_gram(design, scales, task, cost, &control)
    } else {
        by_rows(design, scales, task, cost, &control, context)
    }
}

fn by_gram(
    design: &Design,
    scales: Option<&[f64]>,
    task: &Task,
    cost: f64,
    control: &Control<'_>,
) -> Result<Fit, Error> {
    let kernel = GramRows::new(design.gram(scales, control)?, design.n_rows())?;
    let machine = match task {
        Task::Classes(positive) => {
            Classifier { cost, ..Classifier::default() }.train(&kernel, positive, &[], control)?
        }
        Task::Values(values, epsilon) => Regressor { cost, epsilon: *epsilon, ..Regressor::default() }
            .train(&kernel, values, &[], control)?,
    };
    let (solution, certificate) = (machine.dual.solution, machine.dual.certificate);
    // That of the machine: the gap is the difference of both.
    let objective = certificate.duality_gap - certificate.objective;
    let mut weights = vec![0.0; design.n_columns()];
    design.apply_transpose(&solution.coefficients, &mut weights);
    for (w, scale) in weights.iter_mut().zip(scales.unwrap_or_default()) {
        *w *= scale;
    }
    let report = SolverReport::new("smo", solution.status, objective, solution.certificate)
        .with_lambda(cost.recip())
        .with_iterations(machine.dual.n_steps as usize);
    Ok(Fit { weights, report })
}

/// The dual of `task` for a machine whose bias is `bias` and stays so.
fn dual<'a>(
    kernel: &'a LinearKernel<'a>,
    task: &Task,
    cost: f64,
    bias: f64,
) -> Result<DualProblem<'a>, Error> {
    match task {
        Task::Classes(positive) => {
            let target = |&positive: &bool| if positive { 1.0 - bias } else { -1.0 - bias };
            let bound = |label: bool, bound: f64| {
                positive.iter().map(|&positive| if positive == label { bound } else { 0.0 }).collect()
            };
            let targets = positive.iter().map(target).collect();
            DualProblem::new(kernel, targets, bound(false, -cost), bound(true, cost))
        }
        Task::Values(values, epsilon) => {
            let n = values.len();
            let targets = values.iter().map(|value| value - bias).collect();
            DualProblem::new(kernel, targets, vec![-cost; n], vec![cost; n])?
                .with_absolute_weights(vec![*epsilon; n])
        }
    }
}

/// Dual coordinate descent knows no condition `Σ β = 0`, that is, no bias without a penalty. So the bias is
/// found by the proximal point method: `b ← argmin over b'  g(b') + (b' − b)² / (2 s²)`, `g` the machine's
/// objective with bias `b'`; each step is a machine with a feature that is constantly `s` and targets less
/// `b`. At its end the coefficients are moved to `Σ β = 0` and the gap computed from the definition.
fn by_rows(
    design: &Design,
    scales: Option<&[f64]>,
    task: &Task,
    cost: f64,
    control: &Control<'_>,
    context: &Context<'_>,
) -> Result<Fit, Error> {
    check_positive("c", cost)?;
    if let Task::Classes(positive) = task {
        let found = 1 + usize::from(positive.contains(&true) && positive.contains(&false));
        if found < 2 {
            return Err(Error::TooFew { what: "classes with a sample", minimum: 2, found });
        }
    }
    let samples = Samples::new(design, scales);
    let kernel = LinearKernel(&samples);
    let (s, last) = (samples.constant(), samples.n_features() - 1);
    let (mut bias, mut coefficients, mut inner) = (0.0, Vec::new(), 1e-2_f64);
    let (mut iterations, mut best): (u64, Option<Fit>) = (0, None);
    for step in 0..MOST_BIASES {
        let problem = dual(&kernel, task, cost, bias)?;
        let linear = LinearProblem::new(&problem, &samples)?;
        let solver = DualCoordinateDescent::default().seed(derive_seed(context.seed, step as u64));
        let found = solver.minimise(
            &linear,
            &coefficients,
            &Control { tolerance: inner.max(0.3 * control.tolerance), ..*control },
        )?;
        iterations += found.solution.iterations;
        coefficients = found.solution.coefficients;
        bias += s * found.weights[last];
        // The certificate of the whole problem.
        let problem = dual(&kernel, task, cost, bias)?;
        let balanced = problem.feasible_start(&coefficients)?;
        let linear = LinearProblem::new(&problem, &samples)?;
        let (objective, gap) = linear.certify(&balanced)?;
        let relative = gap.max(0.0) / (gap - objective).abs().max(objective.abs()).max(f64::MIN_POSITIVE);
        if best.as_ref().is_none_or(|best| relative < best.report.certificate.value()) {
            let weights = samples.columns(&linear.weights(&balanced)?, design.n_columns());
            let report = SolverReport::new(
                "dual-cd",
                found.solution.status,
                gap - objective,
                Certificate::gap(relative),
            )
            .with_lambda(cost.recip())
            .with_iterations(iterations as usize);
            best = Some(Fit { weights, report });
        }
        let outside = matches!(
            found.solution.status,
            fewest_solver::Status::Interrupted | fewest_solver::Status::TimeLimit
        );
        if relative <= control.tolerance || outside {
            break;
        }
        inner = (0.1 * relative).min(inner);
    }
    let mut fit = best.ok_or(Error::Stopped { before: "the first machine was trained" })?;
    fit.report.iterations = iterations as usize;
    fit.report.status = match fit.report.status {
        status if status.is_stopped() => status,
        _ => Status::by_certificate(fit.report.certificate.value(), control.tolerance),
    };
    Ok(fit)
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target};

    use super::*;

    /// Overlapping classes, or values with noise, of 150 samples.
    fn data() -> Result<(Design, Vec<f64>), Error> {
        let n = 150_usize;
        let wave = |step: usize, shift: usize| -> Vec<f64> {
            (0..n).map(|i| ((i * step + shift) % 151) as f64 / 75.0 - 1.0).collect()
        };
        let columns = [wave(1, 0), wave(17, 3), wave(23, 11), wave(9, 7), wave(41, 2)];
        let values =
            (0..n).map(|i| columns[0][i] - 0.5 * columns[2][i] + 0.6 * columns[4][i].powi(3) + 0.3).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns[..4])?, Target::None)?;
        Ok((Design::new(&data, "test", &Context::default())?, values))
    }

    #[test]
    fn both_solvers_find_the_same_machine() -> Result<(), Error> {
        let (design, values) = data()?;
        let scales = [1.0, 0.5, 2.0, 0.0];
        for cost in [0.01, 1.0, 30.0] {
            for task in [
                Task::Classes(values.iter().map(|&value| value > 0.2).collect()),
                Task::Values(values.clone(), 0.1),
            ] {
                for scales in [None, Some(&scales[..])] {
                    let context = Context::default();
                    let control = control(1e-10, &context)?;
                    let a = by_gram(&design, scales, &task, cost, &control)?;
                    let b = by_rows(&design, scales, &task, cost, &control, &context)?;
                    assert_eq!(b.report.status, fewest_core::Status::Converged, "{:?}", b.report);
                    let size = a.report.objective.abs();
                    assert!((a.report.objective - b.report.objective).abs() <= 1e-9 * size);
                    for (a, b) in a.weights.iter().zip(&b.weights) {
                        assert!((a - b).abs() <= 1e-4 * (1.0 + a.abs()), "C = {cost}: {a} and {b}");
                    }
                }
            }
        }
        Ok(())
    }
}
