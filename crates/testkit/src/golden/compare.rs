//! The comparison of a result with a case.

use std::collections::BTreeSet;

use fewest_core::{Scores, Selection};
use serde_json::Value;

use super::case::{Case, Ranking};

/// The largest relative duality gap a solver may leave in any case.
const LARGEST_GAP: f64 = 1e-8;

/// The result of a method.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The score of every feature.
    pub scores: Vec<f64>,
    /// Features, best first, as many as the method ranks.
    pub ranking: Vec<usize>,
    /// The value of the criterion, for methods that have one.
    pub objective: Option<f64>,
    /// The duality gap relative to the objective at zero, for methods that solve a convex problem.
    pub gap: Option<f64>,
}

impl From<&Scores> for Observed {
    fn from(scores: &Scores) -> Self {
        Self { scores: scores.values.clone(), ranking: scores.ranking(), objective: None, gap: None }
    }
}

impl From<&Selection> for Observed {
    fn from(selection: &Selection) -> Self {
        let mut scores = vec![0.0; selection.n_features];
        for (&j, &score) in selection.order.iter().zip(&selection.scores) {
            scores[j] = score;
        }
        let report = selection.solver.as_ref();
        Self {
            scores,
            ranking: selection.order.clone(),
            objective: selection.objective.or(report.map(|report| report.objective)),
            gap: report.map(|report| report.certificate.value()),
        }
    }
}

/// The deviation of a part of the result from the case.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviation {
    /// `scores`, `ranking`, `objective` or `gap`.
    pub part: &'static str,
    /// The deviation in the unit of the tolerance; for the ranking, the number of positions that differ.
    pub value: f64,
    /// The tolerance.
    pub tolerance: f64,
    /// The place of this deviation.
    pub place: String,
}

impl Deviation {
    /// Whether it is within the tolerance.
    pub fn passes(&self) -> bool {
        // In this form NaN does not pass.
        self.value <= self.tolerance
    }
}

/// All deviations of a result from a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseComparison {
    /// One deviation for each part compared.
    pub deviations: Vec<Deviation>,
    /// Parts of the case that were not compared, with the reason.
    pub not_compared: Vec<String>,
}

impl CaseComparison {
    /// Whether at least one part was compared and all parts are within their tolerances.
    pub fn passes(&self) -> bool {
        !self.deviations.is_empty() && self.deviations.iter().all(Deviation::passes)
    }
}

/// Compares by the tolerances of `case`.
///
/// Scores: relative to the largest finite absolute score of the case, or absolute. Ranking: exact up to ties,
/// a prefix, or a set. A case whose optimum may not be unique is compared by its objective alone.
pub fn compare(case: &Case, observed: &Observed) -> CaseComparison {
    let mut result = CaseComparison { deviations: Vec::new(), not_compared: Vec::new() };
    let tolerance = &case.tolerance;
    if case.is_degenerate() {
        result.not_compared.push("scores and ranking: the optimum may not be unique".to_owned());
    } else {
        let largest = case
            .scores
            .values()
            .filter(|score| score.is_finite())
            .fold(0.0_f64, |most, score| most.max(score.abs()));
        if let Some(relative) = tolerance.scores {
            result.deviations.push(scores(case, &observed.scores, largest, relative));
        }
        if let Some(absolute) = tolerance.scores_absolute {
            result.deviations.push(scores(case, &observed.scores, 1.0, absolute));
        }
        match &tolerance.ranking {
            Some(Ranking::Words(words)) => result.not_compared.push(format!("ranking: {words}")),
            Some(rule) => result.deviations.push(ranking(case, rule, &observed.ranking)),
            None => {}
        }
    }
    if let (Some(expected), Some(relative)) = (case.objective, tolerance.objective) {
        let found = observed.objective.unwrap_or(f64::NAN);
        result.deviations.push(Deviation {
            part: "objective",
            value: (found - expected).abs() / expected.abs(),
            tolerance: relative,
            place: format!("{found} for {expected}"),
        });
    }
    if let Some(gap) = observed.gap {
        let place = "the certificate".to_owned();
        // A gap below zero by more than rounding is not a certificate either.
        result.deviations.push(Deviation { part: "gap", value: gap.abs(), tolerance: LARGEST_GAP, place });
    }
    result.not_compared.extend(tolerance.others.keys().cloned());
    result
}

fn scores(case: &Case, found: &[f64], unit: f64, tolerance: f64) -> Deviation {
    let mut worst = Deviation { part: "scores", value: 0.0, tolerance, place: "all equal".to_owned() };
    let mut consider = |j: usize, expected: f64, found: f64| {
        // Equal infinities agree; any other value that is not finite has an infinite deviation.
        let distance = if expected == found { 0.0 } else { (expected - found).abs() / unit };
        let distance = if distance.is_nan() { f64::INFINITY } else { distance };
        if distance > worst.value {
            worst.value = distance;
            worst.place = format!("feature {j}: {found} for {expected}");
        }
    };
    for (&j, &expected) in &case.scores {
        consider(j, expected, found.get(j).copied().unwrap_or(f64::NAN));
    }
    if case.is_sparse() {
        for (j, &found) in found.iter().enumerate() {
            if !case.scores.contains_key(&j) {
                consider(j, 0.0, found);
            }
        }
    }
    worst
}

fn ranking(case: &Case, rule: &Ranking, found: &[usize]) -> Deviation {
    let expected = case.ranking.as_slice();
    let wrong: Vec<String> = match rule {
        Ranking::Set => {
            let (expected, found): (BTreeSet<_>, BTreeSet<_>) =
                (expected.iter().collect(), found.iter().collect());
            // The corpus lists 50 features at most, and says how many there are.
            let listed = expected.len() as u64;
            let all = case.extra.get("n_selected").and_then(Value::as_u64).unwrap_or(listed);
            if all == listed {
                expected.symmetric_difference(&found).map(|j| format!("feature {j}")).collect()
            } else {
                let missing = expected.difference(&found).map(|j| format!("feature {j}"));
                let count =
                    (found.len() as u64 != all).then(|| format!("{} for {all} features", found.len()));
                missing.chain(count).collect()
            }
        }
        Ranking::Prefix(length) => {
            by_position(&expected[..expected.len().min(*length)], found, &case.tolerance.ties)
        }
        Ranking::Exact | Ranking::Words(_) => by_position(expected, found, &case.tolerance.ties),
    };
    Deviation {
        part: "ranking",
        value: wrong.len() as f64,
        tolerance: 0.0,
        place: wrong.first().cloned().unwrap_or_else(|| "all equal".to_owned()),
    }
}

/// Positions of `expected` that `found` does not confirm. Inside a stretch of ties any order is right; of a
/// stretch that the case cuts off, the features it lists must be somewhere in the whole stretch.
fn by_position(expected: &[usize], found: &[usize], ties: &[(usize, usize)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (position, &feature) in expected.iter().enumerate() {
        let stretch = ties.iter().find(|(first, last)| (*first..=*last).contains(&position));
        let right = match stretch {
            None => found.get(position) == Some(&feature),
            Some(&(first, last)) => found.iter().take(last + 1).skip(first).any(|&other| other == feature),
        };
        if !right {
            let instead = found.get(position).map_or_else(|| "nothing".to_owned(), usize::to_string);
            wrong.push(format!("position {position}: {instead} for {feature}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Map, json};

    use super::super::Tolerance;
    use super::*;

    fn case() -> Case {
        Case {
            name: "a".to_owned(),
            method: "hsic".to_owned(),
            dataset: "a.csv".to_owned(),
            params: Map::new(),
            scores: BTreeMap::from([(0, 1.0), (1, -2.0), (2, f64::INFINITY)]),
            ranking: vec![2, 0, 1],
            objective: Some(4.0),
            tolerance: Tolerance {
                scores: Some(1e-6),
                scores_absolute: None,
                objective: Some(1e-9),
                ranking: Some(Ranking::Exact),
                ties: Vec::new(),
                others: BTreeMap::new(),
            },
            extra: Map::new(),
        }
    }

    fn observed() -> Observed {
        Observed {
            scores: vec![1.0, -2.0, f64::INFINITY],
            ranking: vec![2, 0, 1],
            objective: Some(4.0),
            gap: Some(1e-9),
        }
    }

    fn failing(case: &Case, observed: &Observed) -> Vec<&'static str> {
        compare(case, observed)
            .deviations
            .iter()
            .filter(|part| !part.passes())
            .map(|part| part.part)
            .collect()
    }

    #[test]
    fn the_same_passes() {
        assert!(compare(&case(), &observed()).passes());
    }

    #[test]
    fn each_part_can_fail() {
        let mut far = observed();
        far.scores[0] += 2.1e-6;
        assert_eq!(failing(&case(), &far), ["scores"]);
        far.scores[0] = 1.0 - 2.1e-6;
        assert_eq!(failing(&case(), &far), ["scores"]);
        // Relative to the largest finite score, which is 2.
        far.scores[0] = 1.0 + 1.9e-6;
        assert_eq!(failing(&case(), &far), [""; 0]);
        for bad in [f64::NAN, f64::INFINITY] {
            far.scores[0] = bad;
            assert_eq!(failing(&case(), &far), ["scores"]);
        }
        for bad in [Some(4.0 + 5e-9), Some(4.0 - 5e-9), Some(f64::NAN), None] {
            assert_eq!(failing(&case(), &Observed { objective: bad, ..observed() }), ["objective"]);
        }
        for bad in [vec![0, 2, 1], vec![2, 0], vec![]] {
            assert_eq!(failing(&case(), &Observed { ranking: bad, ..observed() }), ["ranking"]);
        }
        assert_eq!(failing(&case(), &Observed { scores: vec![1.0], ..observed() }), ["scores"]);
        assert_eq!(failing(&case(), &Observed { gap: Some(2e-8), ..observed() }), ["gap"]);
    }

    #[test]
    fn unlisted_scores_of_sparse_methods_are_zero() {
        let mut more = observed();
        more.scores.push(0.1);
        assert_eq!(failing(&case(), &more), [""; 0]);
        let sparse = Case { method: "hsic_lasso".to_owned(), ..case() };
        assert_eq!(failing(&sparse, &more), ["scores"]);
    }

    #[test]
    fn absolute_tolerances_have_no_unit() {
        let mut case = case();
        case.tolerance.scores = None;
        case.tolerance.scores_absolute = Some(1e-6);
        let mut far = observed();
        far.scores[0] += 1.9e-6;
        assert_eq!(failing(&case, &far), ["scores"]);
    }

    #[test]
    fn a_prefix_and_a_set_compare_less() {
        let mut case = case();
        let swapped = Observed { ranking: vec![2, 1, 0], ..observed() };
        assert_eq!(failing(&case, &swapped), ["ranking"]);
        case.tolerance.ranking = Some(Ranking::Prefix(1));
        assert_eq!(failing(&case, &swapped), [""; 0]);
        case.tolerance.ranking = Some(Ranking::Prefix(2));
        assert_eq!(failing(&case, &swapped), ["ranking"]);
        case.tolerance.ranking = Some(Ranking::Set);
        assert_eq!(failing(&case, &swapped), [""; 0]);
        let other = Observed { ranking: vec![2, 1, 3], ..observed() };
        assert_eq!(failing(&case, &other), ["ranking"]);
    }

    #[test]
    fn a_set_that_the_corpus_cuts_off_must_hold_what_is_listed() {
        let mut case = case();
        case.tolerance.ranking = Some(Ranking::Set);
        case.extra.insert("n_selected".to_owned(), json!(4));
        let found = |ranking: &[usize]| failing(&case, &Observed { ranking: ranking.to_vec(), ..observed() });
        assert_eq!(found(&[0, 1, 2, 9]), [""; 0]);
        for bad in [&[0, 1, 2][..], &[0, 1, 8, 9], &[0, 1, 2, 8, 9]] {
            assert_eq!(found(bad), ["ranking"], "{bad:?}");
        }
    }

    #[test]
    fn ties_may_stand_in_any_order_but_not_outside_their_stretch() {
        let ties = [(1, 2), (4, 6)];
        let expected = [7, 1, 2, 9, 4];
        assert_eq!(by_position(&expected, &[7, 2, 1, 9, 5, 6, 4], &ties), [""; 0]);
        assert_eq!(by_position(&expected, &[1, 2, 7, 9, 5, 6, 4], &ties).len(), 2);
        // 4 stands behind its stretch.
        assert_eq!(by_position(&expected, &[7, 2, 1, 9, 5, 6, 3, 4], &ties).len(), 1);
    }

    #[test]
    fn a_degenerate_case_is_compared_by_its_objective() {
        let mut case = case();
        case.extra.insert("degenerate".to_owned(), json!([3]));
        let other = Observed { scores: vec![9.0], ranking: vec![], objective: Some(4.0), gap: None };
        let comparison = compare(&case, &other);
        assert!(comparison.passes());
        assert_eq!(comparison.not_compared.len(), 1);
    }

    #[test]
    fn nothing_compared_is_no_pass() {
        let mut case = case();
        case.tolerance = Tolerance { scores: None, objective: None, ranking: None, ..case.tolerance.clone() };
        assert!(!compare(&case, &Observed { gap: None, ..observed() }).passes());
    }
}
