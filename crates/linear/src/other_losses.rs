//! Lasso, elastic net and adaptive lasso with another loss than squared errors.

use fewest_cd::CoordinateDescent;
use fewest_columns::{Weights, weighted_outputs};
use fewest_core::method::Choice as _;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Target};
use fewest_newton::{LinearModel, Start};
use fewest_solver::loss::{Huber, Loss, Profiled, ScalarLoss};
use fewest_solver::{BlockPenalty, Control, ElasticNetPenalty, InnerProducts, L1, Penalty, QuadraticSolver};

use super::choice::{self, FOLD_TOLERANCE, Held, Likelihood};
use super::columns::MOST_BYTES;
use super::design::Turned;
use super::loss::{as_survival, mean_over, samples_but, with_counting_classes};
use super::penalised::{ByData, Penalised, Solved, opened};
use super::search::Model;
use super::terms::{self, Terms};
use super::{LinearLoss, hinge};

/// A penalty that no coefficient overcomes.
const HELD: f64 = 1e200;

/// One selection a budget. All of them share the columns.
pub(super) fn select_many(
    asked: &Model<'_>,
    data: &Dataset,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    let (method, options) = (asked.method, asked.lasso);
    if let LinearLoss::Hinge { intercept } = options.loss {
        return hinge::select_many(asked, intercept, data, budgets, context);
    }
    let control = opened(data, budgets, options.tolerance, context)?;
    let data = &*as_survival(options.loss, method, data)?;
    with(asked, data, MOST_BYTES, control, context, |problem, loss, terms| {
        let n = problem.columns.n_counting();
        let deviance = |fitted: &[f64]| 2.0 * n as f64 * loss.value(fitted);
        let no_likelihood = Error::Unsupported {
            method,
            what: format!("an information criterion with loss={}", options.loss.word()),
            instead: "take a cross-validation (`lambda_folds`): the loss has no likelihood".to_owned(),
        };
        let likelihood = match options.loss {
            LinearLoss::Huber { .. } | LinearLoss::SquaredHinge { .. } => Err(&no_likelihood),
            _ => Ok(Likelihood {
                deviance: &deviance,
                n_observations: options.loss.n_observations(data, n),
                what: if let LinearLoss::Cox { .. } = options.loss { "events" } else { "samples" },
                n_coefficients: (problem.columns.n_atoms() - terms.left_out.len()) * problem.n_outputs,
            }),
        };
        let fold = |held: &Held<'_>, lambdas: &[f64]| fold_losses(asked, data, held, control, lambdas);
        let by_data = ByData { data, fold: &fold, likelihood };
        problem.select_with(Some(by_data), budgets, data.n_features(), context)
    })
}

/// The held-out losses of one fold of `data`.
fn fold_losses(
    asked: &Model<'_>,
    data: &Dataset,
    held: &Held<'_>,
    control: Control<'_>,
    lambdas: &[f64],
) -> Result<Vec<f64>, Error> {
    let control = Control { progress: None, tolerance: control.tolerance.max(FOLD_TOLERANCE), ..control };
    if let LinearLoss::Huber { delta, .. } = asked.lasso.loss {
        // In units of the deviation of all samples, as `delta` is: those of a fold differ.
        let huber = Huber::new(delta)?;
        let whole = weighted_outputs(data.target(), Weights::of(data)?.as_ref(), asked.method, held.context)?;
        return with(asked, held.training, held.bytes, control, held.context, |problem, _, _| {
            let columns = problem.columns;
            choice::fold_losses(problem, lambdas, |fitted| {
                choice::residual_losses(columns, &whole, held.test, fitted, |r| huber.value(r, 0.0))
            })
        });
    }
    // The model is one of the classes that training samples have.
    let learnt = with_counting_classes(held.training)?;
    let classes = if let Target::Class(classes) = data.target() { Some(classes) } else { None };
    let unknown = held.unknown(classes);
    with(asked, &learnt, held.bytes, control, held.context, |problem, training, _| {
        let (columns, loss) = (problem.columns, asked.lasso.loss);
        let samples = terms::with_offset(samples_but(data, &unknown.rows)?, asked.lasso, data)?;
        let (all, _) = loss.of(asked.method, learnt.target(), columns.weights(), samples, held.context)?;
        choice::fold_losses(problem, lambdas, |fitted| {
            held.difference(all.value(fitted), training.value(fitted), &unknown)
        })
    })
}

/// What `use_it` makes of the model of `data`, of which standardised copies may take so many `bytes`.
fn with<R>(
    asked: &Model<'_>,
    data: &Dataset,
    bytes: usize,
    control: Control<'_>,
    context: &Context<'_>,
    use_it: impl FnOnce(&mut Penalised<'_>, &dyn Loss, &Terms) -> Result<R, Error>,
) -> Result<R, Error> {
    let (method, options, l1_ratio) = (asked.method, asked.lasso, asked.l1_ratio);
    let columns = asked.columns(data, bytes, context)?;
    let terms = Terms::of(options, &columns)?;
    let samples = terms::with_offset(mean_over(columns.weights(), data.n_samples())?, options, data)?;
    let (loss, intercept) = options.loss.of(method, data.target(), columns.weights(), samples, context)?;
    let factor = options.sign.factor();
    let turned = Turned { inner: &columns, factor: factor.unwrap_or(1.0) };
    let profiled = match &terms.basis {
        // A constant changes nothing in the loss of Cox.
        Some(basis) => {
            let constant = intercept && !matches!(options.loss, LinearLoss::Cox { .. });
            Some(Profiled::new(&*loss, basis.vectors.clone(), constant)?)
        }
        None => None,
    };
    let model = match &profiled {
        Some(profiled) => LinearModel { design: &turned, loss: profiled, intercept: false },
        None => LinearModel { design: &turned, loss: &*loss, intercept },
    };
    let null = model.null(&control)?;
    if profiled.is_some() {
        terms::check_left(null.objective, loss.value(&vec![0.0; null.dual.len()]))?;
    }
    let automatic = CoordinateDescent::default();
    let solver: &dyn QuadraticSolver = options.solver.chosen().unwrap_or(&automatic);
    let n_outputs = loss.n_outputs();
    let mut weights = match asked.adaptive {
        None => vec![1.0; model.n_coefficients()],
        Some(adaptive) => {
            let sizes = adaptive.sizes(&columns, &terms, &null.dual, method, context)?;
            (0..columns.n_atoms()).flat_map(|j| sizes.iter().map(move |sizes| sizes[j].recip())).collect()
        }
    };
    for &column in &terms.left_out {
        weights[column * n_outputs..(column + 1) * n_outputs].fill(f64::INFINITY);
    }
    let l1 = |lambda: f64| {
        let levels: Vec<f64> = weights.iter().map(|weight| (lambda * weight).min(HELD)).collect();
        let l1 = L1::weighted(1.0, &levels)?;
        Ok::<L1, Error>(if factor.is_some() { l1.nonnegative() } else { l1 })
    };
    let mut solve = |lambda: f64, start: Option<&Start>| {
        let l1 = l1(lambda * l1_ratio)?;
        let penalty: Box<dyn BlockPenalty> = if l1_ratio < 1.0 {
            Box::new(ElasticNetPenalty::new(l1, lambda * (1.0 - l1_ratio))?)
        } else {
            Box::new(l1)
        };
        let turn = |coefficients: &mut [f64]| coefficients.iter_mut().for_each(|w| *w *= turned.factor);
        let mut start = start.cloned();
        start.iter_mut().for_each(|start| turn(&mut start.coefficients));
        let mut found = model.minimise(&null, &*penalty, solver, start.as_ref(), &control)?;
        turn(&mut found.solution.coefficients);
        Ok(Solved::from(found))
    };
    let mut problem = Penalised {
        columns: &columns,
        n_outputs,
        regularization: options.regularization,
        n_path: options.lambda_path,
        is_signed: loss.n_outputs() == 1,
        largest: l1(1.0)?.dual_norm(&null.correlations) / l1_ratio,
        solver: "newton",
        solve: &mut solve,
        profiled: profiled.as_ref(),
    };
    use_it(&mut problem, &*loss, &terms)
}
