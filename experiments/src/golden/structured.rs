//! Cases with groups and trees of features.

use fewest::core::{Dataset, Groups};
use fewest_testkit::golden::Case;
use serde_json::Value;

use crate::Result;

/// The data with the groups of the case; none where it has no groups.
pub(super) fn data(case: &Case, data: &Dataset) -> Result<Option<Dataset>> {
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
