//! Hinge loss with an l1 norm, of `lasso`, whose `λ` is the case's `alpha`; and of `l1-svm`, whose penalty is
//! on the other term and which always has an intercept.

use fewest::columns::standardise;
use fewest::core::{Budget, Context, Dataset};
use fewest::registry::{Parameters, Registry};
use fewest::solver::{Control, DenseOperator};
use fewest::solvers::simplex::L1Hinge;
use fewest_testkit::golden::{self, Case, CaseComparison, Observed};

use crate::Result;

/// Its name in the corpus.
pub(super) const METHOD: &str = "l1_hinge";

/// By the linear program itself, by `lasso`, and by `l1-svm` where there is an intercept.
pub(super) fn compare(case: &Case, data: &Dataset) -> Result<Vec<(String, CaseComparison)>> {
    let missing = |name: &str| format!("{} has no `{name}`", case.name);
    let alpha = case.params.get("alpha").and_then(|value| value.as_f64()).ok_or_else(|| missing("alpha"))?;
    let intercept =
        case.params.get("intercept").and_then(|value| value.as_bool()).ok_or_else(|| missing("intercept"))?;
    let (n, d) = (data.n_samples(), data.n_features());
    let mut values = vec![0.0; n * d];
    for (j, column) in values.chunks_exact_mut(n).enumerate() {
        data.x().copy_column(j, column)?;
        if !standardise(column) {
            column.fill(0.0);
        }
    }
    let operator = DenseOperator::new(values, n, d)?;
    let labels: Vec<f64> =
        data.classes(METHOD)?.codes().iter().map(|code| if *code == 1 { 1.0 } else { -1.0 }).collect();
    let costs = vec![1.0 / n as f64; n];
    let mut program = L1Hinge::new(&operator, labels, costs, intercept)?;
    let found = program.minimise(&vec![alpha; d], &Control { tolerance: 1e-13, ..Control::default() })?;
    let objective = found.loss + alpha * found.weights.iter().map(|w| w.abs()).sum::<f64>();
    let observed = Observed { objective: Some(objective), gap: Some(found.gap), ..Observed::default() };
    let mut results = vec![("program".to_owned(), golden::compare(case, &observed))];
    let (lambda, b) = (format!("lambda={alpha}"), format!("intercept={intercept}"));
    let mut methods = vec![("lasso", vec![lambda, b], 1.0)];
    if intercept {
        methods.push(("l1-svm", vec![format!("c={}", 1.0 / (n as f64 * alpha))], alpha));
    }
    for (id, mut assignments, unit) in methods {
        let method = Registry::standard().find(id)?;
        assignments.extend(["loss=hinge".to_owned(), "tolerance=1e-13".to_owned()]);
        let selector = method.build(&Parameters::parse(method, &assignments)?)?.into_selector();
        let selection = selector.select(data, Budget::Auto, &Context::default())?;
        let mut observed = Observed::from(&selection);
        observed.objective = observed.objective.map(|objective| unit * objective);
        results.push((id.to_owned(), golden::compare(case, &observed)));
    }
    Ok(results)
}
