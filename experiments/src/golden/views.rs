//! Cases whose features come from several sources.

use fewest::core::{Dataset, Views};
use fewest_testkit::golden::Case;
use serde_json::{Value, json};

use crate::Result;

/// The case with the parameters of our method, and the data with its views, those of the target view first,
/// by whose positions the case names features; none for other methods.
pub(super) fn sources(case: &Case, data: &Dataset) -> Result<Option<(Case, Dataset)>> {
    if !["gpcov_var", "gpcov_spca"].contains(&case.method.as_str()) {
        return Ok(None);
    }
    let mut case = case.clone();
    let ranges: Vec<(usize, usize)> =
        serde_json::from_value(case.params.remove("views").ok_or("a case without views")?)?;
    let target =
        case.params.remove("target_view").as_ref().and_then(Value::as_u64).ok_or("no target view")?;
    let target = usize::try_from(target)?;
    let &(first, last) = ranges.get(target).ok_or("a target view that does not exist")?;
    let d = data.n_features();
    let named = |(number, &(first, last)): (usize, &(usize, usize))| {
        (format!("view{number}"), (first..=last).collect())
    };
    let views = Views::new(d, ranges.iter().enumerate().map(named).collect())?;
    let order: Vec<usize> = (first..=last).chain(0..first).chain(last + 1..d).collect();
    let data = data.clone().with_views(views)?.feature_subset(&order)?;
    // The weights are equal and the scales medians; the penalty follows from its share.
    for name in ["weights", "t", "rho", "order"] {
        case.params.remove(name);
    }
    case.params.insert("view".to_owned(), json!(target));
    match case.params.remove("rho_over_max_abs_C") {
        Some(ratio) => {
            case.params.insert("rho_ratio".to_owned(), ratio);
            case.params.insert("solver".to_owned(), json!("semidefinite"));
        }
        None => {
            case.params.insert("n_selected".to_owned(), json!(last + 1 - first));
        }
    }
    Ok(Some((case, data)))
}
