//! Hinge loss with an l1 norm: a linear program.

use fewest_core::method::Regularization;
use fewest_core::{Budget, Certificate, Context, Dataset, Error, Selection};
use fewest_newton::Start;
use fewest_simplex::L1Hinge;
use fewest_solver::{Design, Solution};

use super::columns::LinearColumns;
use super::loss::signs;
use super::penalised::{Penalised, Solved, each_budget, opened};
use super::search::Model;

/// One selection a budget. All of them share the columns.
pub(super) fn select_many(
    asked: &Model<'_>,
    intercept: bool,
    data: &Dataset,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Vec<Selection>, Error> {
    let (method, options) = (asked.method, asked.lasso);
    let unsupported = |what: &str, instead: &str| Error::Unsupported {
        method,
        what: format!("loss=hinge with {what}"),
        instead: instead.to_owned(),
    };
    if asked.l1_ratio < 1.0 || asked.adaptive.is_some() {
        return Err(unsupported("another penalty than the l1 norm", "use loss=squared-hinge"));
    }
    if options.solver.chosen().is_some() {
        return Err(unsupported("a `solver`: it is a linear program", "leave out `solver`"));
    }
    if options.sign.factor().is_some() {
        return Err(unsupported("a constraint on `sign`", "use loss=squared-hinge"));
    }
    if !options.covariates.is_empty() {
        return Err(unsupported("`covariates`", "use loss=squared-hinge"));
    }
    if options.regularization.is_chosen_by_data() {
        let what = options.regularization.to_string();
        return Err(unsupported(&what, "use loss=squared-hinge, or give `lambda` or `lambda_ratio`"));
    }
    let control = opened(data, budgets, options.tolerance, context)?;
    let labels = signs(method, data.target())?;
    let columns = LinearColumns::new(data, method, context)?;
    let n = labels.len();
    let mut correlations = vec![0.0; columns.n_columns()];
    columns.correlations(&dual_at_zero(&labels, intercept), &mut correlations)?;
    let largest = correlations.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let select = |budgets: &[Budget]| {
        // It begins where it ended at the `λ` before.
        let mut program = L1Hinge::new(&columns, labels.clone(), vec![1.0 / n as f64; n], intercept)?;
        let mut solve = |lambda: f64, _: Option<&Start>| {
            // Where nothing has a correlation any penalty selects nothing.
            let penalty = if lambda > 0.0 { lambda } else { 1.0 };
            let found = program.minimise(&vec![penalty; columns.n_columns()], &control)?;
            let solution = Solution {
                objective: found.loss + penalty * found.weights.iter().map(|w| w.abs()).sum::<f64>(),
                coefficients: found.weights,
                certificate: Certificate::gap(found.gap),
                iterations: found.steps as u64,
                status: found.status,
            };
            Ok(Solved { solution, intercepts: vec![found.intercept] })
        };
        let mut problem = Penalised {
            columns: &columns,
            n_outputs: 1,
            is_signed: true,
            regularization: options.regularization,
            n_path: options.lambda_path,
            largest,
            solver: "simplex",
            solve: &mut solve,
            profiled: None,
        };
        problem.select_many(budgets, data.n_features(), context)
    };
    match options.regularization {
        // Each number of features from the beginning: the answer does not depend on the others.
        Regularization::Count => each_budget(budgets, context, |budget| Selection::only(select(&[budget])?)),
        _ => select(budgets),
    }
}

/// A dual point of the model without features: every sample of the smaller class counts wholly, those of the
/// larger one, if there is an intercept, equally less. Where classes differ in size there are others, so that
/// a smaller `λ` than that of this one may select nothing.
fn dual_at_zero(labels: &[f64], intercept: bool) -> Vec<f64> {
    let count = |sign: f64| labels.iter().filter(|y| **y == sign).count() as f64;
    let least = count(1.0).min(count(-1.0));
    let share = |y: f64| if intercept { least / count(y) } else { 1.0 };
    let (above, below, n) = (share(1.0), share(-1.0), labels.len() as f64);
    labels.iter().map(|y| y * if *y > 0.0 { above } else { below } / n).collect()
}
