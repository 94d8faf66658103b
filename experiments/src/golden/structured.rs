//! Cases with groups and trees of features, and with several outputs.

use fewest::core::{Dataset, Groups, Target};
use fewest_testkit::golden::Case;
use serde_json::Value;

use crate::Result;

/// The data with the groups or the outputs of the case; none where it has neither.
pub(super) fn data(case: &Case, data: &Dataset) -> Result<Option<Dataset>> {
    if case.params.contains_key("outputs") {
        return with_outputs(data).map(Some);
    }
    let list = |name: &str| case.params.get(name).and_then(Value::as_array);
    let d = data.n_features();
    let groups = match (list("groups"), list("tree")) {
        (Some(groups), _) => {
            let sets = groups.iter().map(|set| serde_json::from_value(set.clone()));
            partition_or_sets(d, sets.collect::<std::result::Result<_, _>>()?)?
        }
        (None, Some(nodes)) => {
            // The last level is every single feature, which the method has by itself.
            let features = |node: &Value| serde_json::from_value(node["features"].clone()).ok();
            Groups::overlapping(d, nodes.iter().filter_map(features).collect())?
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(data.clone().with_feature_groups(groups)?))
}

/// The last two features as outputs, after the target.
fn with_outputs(data: &Dataset) -> Result<Dataset> {
    let (n, d) = (data.n_samples(), data.n_features());
    let (Target::Real(target), Some(first)) = (data.target(), d.checked_sub(2)) else {
        return Err("a real target and two features are needed".into());
    };
    let mut outputs = target.output(0).to_vec();
    for j in first..d {
        let mut column = vec![0.0; n];
        data.x().copy_column(j, &mut column)?;
        outputs.extend(column);
    }
    let features = data.feature_subset(&(0..first).collect::<Vec<usize>>())?;
    Ok(features.with_target(Target::outputs(outputs, n)?)?)
}

/// What the objective of a method is multiplied by to be that of the case.
pub(super) fn unit(case: &Case, data: &Dataset) -> f64 {
    // Plain sums of squares, where the method has half their mean.
    if ["ls_l21", "linkedfs", "fsnet", "group_l1_l21"].contains(&case.method.as_str()) {
        2.0 * data.n_samples() as f64
    } else {
        1.0
    }
}

fn partition_or_sets(d: usize, sets: Vec<Vec<usize>>) -> Result<Groups> {
    let mut group_of = vec![None; d];
    for (group, &j) in sets.iter().enumerate().flat_map(|(group, set)| set.iter().map(move |j| (group, j))) {
        if group_of.get(j).is_none_or(Option::is_some) {
            return Ok(Groups::overlapping(d, sets)?);
        }
        group_of[j] = Some(group);
    }
    let all: Option<Vec<usize>> = group_of.into_iter().collect();
    Ok(Groups::partition(all.ok_or("a feature is in no group")?))
}
