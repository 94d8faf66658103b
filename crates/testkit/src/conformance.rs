//! What every selector must do, whatever its method: one check a law, to call from the tests of a method.
//!
//! Each check panics with what went wrong. [`check_selector`] calls all of them.

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Target};

/// A small supervised problem with a constant column: features 0 and 3 matter, 5 is constant.
///
/// Regression, or two classes when `classes` is set. 40 samples, 8 features, no two of them alike.
pub fn problem(classes: bool) -> Dataset {
    let n = 40_usize;
    let wave = |step: usize, shift: usize| -> Vec<f64> {
        (0..n).map(|i| ((i * step + shift) % 41) as f64 / 20.0 - 1.0).collect()
    };
    let mut columns: Vec<Vec<f64>> = [(1, 0), (17, 3), (23, 11), (9, 7), (13, 19), (1, 1), (29, 5), (31, 2)]
        .into_iter()
        .map(|(step, shift)| wave(step, shift))
        .collect();
    columns[5] = vec![3.5; n];
    let signal: Vec<f64> =
        columns[0].iter().zip(&columns[3]).map(|(a, b)| 2.0 * a + b + 0.3 * a * b).collect();
    let target = if classes {
        let labels: Vec<bool> = signal.iter().map(|&value| value > 0.0).collect();
        Target::from_labels(&labels)
    } else {
        must(Target::real(signal))
    };
    must(Dataset::new(must(DenseColumns::from_columns(&columns)), target))
}

/// All checks, on `data` (for instance [`problem`]) with a budget of `k`.
pub fn check_selector(selector: &dyn Selector, data: &Dataset, k: usize) {
    shape(selector, data, k);
    same_answer_twice(selector, data, k);
    many_budgets_are_each_of_them(selector, data, k);
    permuted_columns(selector, data, k);
    permuted_rows(selector, data, k);
    constants_never_win(selector, data);
    bad_budgets_are_errors(selector, data);
    not_a_number_is_an_error(selector, data);
}

fn must<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

fn select(selector: &dyn Selector, data: &Dataset, k: usize) -> (Vec<usize>, Vec<f64>) {
    let selection = must(selector.select(data, Budget::Count(k), &Context::seeded(7)));
    (selection.order, selection.scores)
}

fn columns(data: &Dataset) -> Vec<Vec<f64>> {
    let mut scratch = Vec::new();
    (0..data.n_features()).map(|j| data.x().column(j, &mut scratch).to_vec(data.n_samples())).collect()
}

fn with_columns(data: &Dataset, columns: &[Vec<f64>]) -> Dataset {
    must(Dataset::new(must(DenseColumns::from_columns(columns)), data.target().clone()))
}

/// At most `k` different features of the data set, a score each.
pub fn shape(selector: &dyn Selector, data: &Dataset, k: usize) {
    let (order, scores) = select(selector, data, k);
    assert!(!order.is_empty() && order.len() <= k, "{} features for a budget of {k}", order.len());
    assert_eq!(order.len(), scores.len(), "one score a feature");
    let mut distinct = order.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), order.len(), "a feature is chosen once: {order:?}");
    assert!(order.iter().all(|&j| j < data.n_features()), "features exist: {order:?}");
    assert!(scores.iter().all(|score| !score.is_nan()), "a chosen feature has a score: {scores:?}");
}

/// The same seed gives the same answer, bit for bit.
pub fn same_answer_twice(selector: &dyn Selector, data: &Dataset, k: usize) {
    assert_eq!(select(selector, data, k), select(selector, data, k), "two runs with one seed differ");
}

/// Selections for several budgets at once are those for each of them, with all that they tell.
pub fn many_budgets_are_each_of_them(selector: &dyn Selector, data: &Dataset, k: usize) {
    let context = Context::seeded(7);
    // More, fewer, and one twice: what one budget leaves behind may not show in the next.
    let budgets = [k, 1, k + 1, k].map(Budget::Count);
    let many = must(selector.select_many(data, &budgets, &context));
    assert_eq!(many.len(), budgets.len(), "one selection a budget");
    for (budget, found) in budgets.into_iter().zip(many) {
        let alone = must(selector.select(data, budget, &context));
        // Written out, so that a NaN equals itself.
        assert_eq!(format!("{found:?}"), format!("{alone:?}"), "{budget:?} among others and alone");
    }
    assert!(must(selector.select_many(data, &[], &context)).is_empty(), "no budget, no selection");
}

/// Reversing the columns reverses the indices and changes nothing else, up to the first tie, which the lower index wins in
/// both: what a greedy method selects after it may differ. The first feature is never tied in [`problem`].
pub fn permuted_columns(selector: &dyn Selector, data: &Dataset, k: usize) {
    let mut reversed = columns(data);
    reversed.reverse();
    let last = data.n_features() - 1;
    let (order, scores) = select(selector, data, k);
    let (permuted, permuted_scores) = select(selector, &with_columns(data, &reversed), k);
    let back: Vec<usize> = permuted.iter().map(|j| last - j).collect();
    if let Some(at) = order.iter().zip(&back).position(|(a, b)| a != b)
        && at > 0
        && order[at] < back[at]
        && (scores[at] - permuted_scores[at]).abs() <= 1e-10 * scores[at].abs()
    {
        close(&scores[..at], &permuted_scores[..at], "permuting the columns changed the scores");
        return;
    }
    assert_eq!(order, back, "permuting the columns changed the features");
    close(&scores, &permuted_scores, "permuting the columns changed the scores");
}

/// Reversing the rows changes nothing.
pub fn permuted_rows(selector: &dyn Selector, data: &Dataset, k: usize) {
    let rows: Vec<usize> = (0..data.n_samples()).rev().collect();
    let (order, scores) = select(selector, data, k);
    let (permuted, permuted_scores) = select(selector, &must(data.subset(&rows)), k);
    assert_eq!(order, permuted, "permuting the rows changed the features");
    close(&scores, &permuted_scores, "permuting the rows changed the scores");
}

/// A constant feature is never among those that carry something.
pub fn constants_never_win(selector: &dyn Selector, data: &Dataset) {
    let is_constant = |column: &[f64]| column.iter().all(|value| *value == column[0]);
    let constant: Vec<usize> =
        columns(data).iter().enumerate().filter(|(_, column)| is_constant(column)).map(|(j, _)| j).collect();
    let others = data.n_features() - constant.len();
    let (order, _) = select(selector, data, others);
    assert!(order.iter().all(|j| !constant.contains(j)), "a constant feature was chosen: {order:?}");
}

/// No feature, or more than there are, is an error that names `k`.
pub fn bad_budgets_are_errors(selector: &dyn Selector, data: &Dataset) {
    for k in [0, data.n_features() + 1] {
        match selector.select(data, Budget::Count(k), &Context::default()) {
            Err(Error::InvalidParameter { name: "k", .. }) => {}
            other => panic!("a budget of {k} gave {other:?}"),
        }
    }
}

/// A NaN or an infinity in a feature is an error that names the cell.
pub fn not_a_number_is_an_error(selector: &dyn Selector, data: &Dataset) {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut broken = columns(data);
        broken[1][2] = value;
        match selector.select(&with_columns(data, &broken), Budget::Count(1), &Context::default()) {
            Err(Error::NonFinite { column: 1, row: 2, .. }) => {}
            other => panic!("{value} in feature 1, sample 2 gave {other:?}"),
        }
    }
}

fn close(a: &[f64], b: &[f64], what: &str) {
    let largest = a.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-7 * largest, "{what}: {a} and {b}");
    }
}
