//! Laws that every selector must satisfy: one check for each, to call from the tests of a method.
//!
//! Each check panics with what went wrong. [`check_selector`] calls all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_core::{
    Authors, Budget, Column, Columns, Context, Dataset, DenseColumns, Error, Graph, Groups, Selector, Status,
    Target, Views,
};

use crate::StopAt;

/// Most stops of one method that are tried.
const MOST_STOPS: usize = 40;

/// A small supervised problem with a constant column: features 0 and 3 matter, 5 is constant.
///
/// Regression, or two classes when `classes` is set. 40 samples, 8 features, no two of them alike, in two
/// views of four.
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
    let views = vec![("first".to_owned(), (0..4).collect()), ("second".to_owned(), (4..8).collect())];
    must(
        must(Dataset::new(must(DenseColumns::from_columns(&columns)), target))
            .with_views(must(Views::new(8, views))),
    )
}

/// All checks, on `data` (for instance [`problem`]) with a budget of `k`.
pub fn check_selector(selector: &dyn Selector, data: &Dataset, k: usize) {
    check_by_place(selector, data, k);
    permuted_columns(selector, data, k);
}

/// [`check_selector`] for a selector that depends on the order of the columns: all checks but their
/// permutation.
pub fn check_by_place(selector: &dyn Selector, data: &Dataset, k: usize) {
    check_in_order(selector, data, k);
    permuted_rows(selector, data, k);
}

/// [`check_selector`] for a selector that depends on the order of the columns and of the rows: the checks
/// that permute nothing.
pub fn check_in_order(selector: &dyn Selector, data: &Dataset, k: usize) {
    shape(selector, data, k);
    same_answer_twice(selector, data, k);
    many_budgets_are_each_of_them(selector, data, k);
    constants_never_win(selector, data);
    bad_budgets_are_errors(selector, data);
    not_a_number_is_an_error(selector, data);
    a_column_that_fails_is_an_error(selector, data, k);
    weights_are_used_or_refused(selector, data, k);
    links_groups_and_views_are_used_or_refused_or_nothing(selector, data, k);
    sparse_is_dense(selector, data, k);
    a_stop_keeps_what_there_is(selector, data, k);
}

/// [`problem`] with links between its samples, which have a direction, in more than one component and not of
/// all of them; and with authors, who follow each other.
pub fn linked_problem(classes: bool) -> Dataset {
    let data = problem(classes);
    let n = data.n_samples();
    let mut links: Vec<(usize, usize, f64)> = Vec::new();
    for i in 0..n - 4 {
        for j in (0..i).filter(|j| i / 9 == j / 9 && (i * j + i + j) % 4 != 1) {
            links.push(if (i + j) % 2 == 0 { (i, j, 1.0) } else { (j, i, 0.5) });
        }
    }
    links.push((20, 30, 0.25));
    let follows = [(0, 1, 1.0), (1, 0, 1.0), (2, 1, 2.0), (6, 3, 1.0)];
    let authors = Authors::new((0..n).map(|i| i / 6).collect(), must(Graph::directed(8, &follows)));
    let data = must(data.with_sample_graph(must(Graph::directed(n, &links))));
    must(data.with_authors(must(authors)))
}

/// All checks for a method whose samples may be linked, on [`linked_problem`]: those of every selector, and
/// the laws of links.
pub fn check_linked(selector: &dyn Selector, classes: bool, k: usize) {
    let data = linked_problem(classes);
    check_selector(selector, &data, k);
    permuted_nodes(selector, &data, k);
    any_links_give_an_answer_or_a_message(selector, &data, k);
}

/// Samples in another order, with their links and authors, are the same problem.
fn permuted_nodes(selector: &dyn Selector, data: &Dataset, k: usize) {
    let n = data.n_samples();
    let rows: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % n).collect();
    let (order, scores) = select(selector, data, k);
    let (permuted, permuted_scores) = select(selector, &must(data.subset(&rows)), k);
    assert_eq!(order, permuted, "permuting the nodes changed the features");
    close(&scores, &permuted_scores, "permuting the nodes changed the scores");
}

/// No links, one, two components, all linked, and weights of any size: features that exist with scores that
/// are numbers, or an error of one line.
fn any_links_give_an_answer_or_a_message(selector: &dyn Selector, data: &Dataset, k: usize) {
    let n = data.n_samples();
    let all = |weight: f64, is_linked: fn(usize, usize) -> bool| -> Vec<(usize, usize, f64)> {
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (j, i, weight)));
        pairs.filter(|&(j, i, _)| is_linked(j, i)).collect()
    };
    let graphs = [
        ("no links", Vec::new()),
        ("one link", vec![(3, 17, 1.0)]),
        ("two components", all(1.0, |i, j| (i < 20) == (j < 20))),
        ("isolated samples", all(1.0, |i, j| i < 6 && j < 6)),
        ("a star", all(1.0, |i, j| i == 0 || j == 0)),
        ("all linked", all(1.0, |_, _| true)),
        ("tiny weights", all(1e-200, |i, j| (i + j) % 3 == 0)),
        ("huge weights", all(1e200, |i, j| (i + j) % 3 == 0)),
    ];
    for (name, links) in graphs {
        let linked = must(data.clone().with_sample_graph(must(Graph::undirected(n, &links))));
        match selector.select(&linked, Budget::Count(k), &Context::seeded(7)) {
            Ok(selection) => {
                assert!(selection.order.len() <= k, "{name}");
                assert!(selection.scores.iter().all(|score| !score.is_nan()), "{name}: {selection:?}");
                let has_constant = selection.order.contains(&5);
                assert!(!has_constant, "{name}: a constant feature was chosen");
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{name}: {error}"),
        }
    }
}

/// [`check_selector`] for a selector that depends on the order of the rows: all checks but their permutation.
pub fn check_by_row_order(selector: &dyn Selector, data: &Dataset, k: usize) {
    check_in_order(selector, data, k);
    permuted_columns(selector, data, k);
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
    (0..data.n_features()).map(|j| must(data.x().column(j, &mut scratch)).to_vec(data.n_samples())).collect()
}

/// Other columns in the place of those of `data`, of which nothing but the views is kept.
fn with_columns(data: &Dataset, columns: &[Vec<f64>]) -> Dataset {
    must(data.clone().with_x(must(DenseColumns::from_columns(columns))))
}

/// At most `k` different features of the data set, each with a score.
fn shape(selector: &dyn Selector, data: &Dataset, k: usize) {
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

/// The same seed gives the same result, bit for bit.
fn same_answer_twice(selector: &dyn Selector, data: &Dataset, k: usize) {
    assert_eq!(select(selector, data, k), select(selector, data, k), "two runs with one seed differ");
}

/// Selections for several budgets at once equal those for each budget, in all their fields.
fn many_budgets_are_each_of_them(selector: &dyn Selector, data: &Dataset, k: usize) {
    let context = Context::seeded(7);
    // More, fewer, and one twice: a budget must not affect the result of the next.
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

/// Reversing the columns reverses the indices and changes nothing else, up to the first tie, which the lower
/// index wins in both: what a greedy method selects after it may differ. The first feature is never tied in
/// [`problem`].
fn permuted_columns(selector: &dyn Selector, data: &Dataset, k: usize) {
    let mut reversed = columns(data);
    reversed.reverse();
    let last = data.n_features() - 1;
    let (order, scores) = select(selector, data, k);
    let mut moved = with_columns(data, &reversed);
    if let Some(views) = data.views() {
        moved = must(moved.with_views(must(views.subset(&(0..=last).rev().collect::<Vec<usize>>()))));
    }
    let (permuted, permuted_scores) = select(selector, &moved, k);
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
fn permuted_rows(selector: &dyn Selector, data: &Dataset, k: usize) {
    let rows: Vec<usize> = (0..data.n_samples()).rev().collect();
    let (order, scores) = select(selector, data, k);
    let (permuted, permuted_scores) = select(selector, &must(data.subset(&rows)), k);
    assert_eq!(order, permuted, "permuting the rows changed the features");
    close(&scores, &permuted_scores, "permuting the rows changed the scores");
}

/// A constant feature is never selected as relevant.
fn constants_never_win(selector: &dyn Selector, data: &Dataset) {
    let is_constant = |column: &[f64]| column.iter().all(|value| *value == column[0]);
    let constant: Vec<usize> =
        columns(data).iter().enumerate().filter(|(_, column)| is_constant(column)).map(|(j, _)| j).collect();
    let others = data.n_features() - constant.len();
    let (order, _) = select(selector, data, others);
    assert!(order.iter().all(|j| !constant.contains(j)), "a constant feature was chosen: {order:?}");
}

/// No feature, or more than there are, is an error that names `k`.
fn bad_budgets_are_errors(selector: &dyn Selector, data: &Dataset) {
    for k in [0, data.n_features() + 1] {
        match selector.select(data, Budget::Count(k), &Context::default()) {
            Err(Error::InvalidParameter { name: "k", .. }) => {}
            other => panic!("a budget of {k} gave {other:?}"),
        }
    }
}

/// A NaN or an infinity in a feature is an error that names the cell.
fn not_a_number_is_an_error(selector: &dyn Selector, data: &Dataset) {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut broken = columns(data);
        broken[1][2] = value;
        match selector.select(&with_columns(data, &broken), Budget::Count(1), &Context::default()) {
            Err(Error::NonFinite { column: 1, row: 2, .. }) => {}
            other => panic!("{value} in feature 1, sample 2 gave {other:?}"),
        }
    }
}

/// A table in which one column can be read a limited number of times.
struct Failing {
    table: Arc<dyn Columns>,
    column: usize,
    n_good: usize,
    n_reads: AtomicUsize,
}

impl Columns for Failing {
    fn n_samples(&self) -> usize {
        self.table.n_samples()
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        if j == self.column && self.n_reads.fetch_add(1, Ordering::Relaxed) >= self.n_good {
            return Err(Error::unreadable(j, "the disk is gone"));
        }
        self.table.column(j, scratch)
    }
}

/// A read of feature 3 that fails is an error that names the feature, for any read that fails: the first,
/// the second or the last. If none fails, nothing changes.
pub fn a_column_that_fails_is_an_error(selector: &dyn Selector, data: &Dataset, k: usize) {
    const FEATURE: usize = 3;
    let run = |n_good: usize| {
        let table = Failing { table: data.shared_x(), column: FEATURE, n_good, n_reads: AtomicUsize::new(0) };
        let failing = Arc::new(table);
        let broken = must(data.clone().with_x(Arc::clone(&failing)));
        let found = selector.select(&broken, Budget::Count(k), &Context::seeded(7));
        (found, failing.n_reads.load(Ordering::Relaxed))
    };
    let (whole, n_reads) = run(usize::MAX);
    let whole = must(whole);
    assert!(n_reads > 0, "feature {FEATURE} was never read");
    for n_good in [0, 1, n_reads - 1] {
        // How often a column is read may depend on which thread comes first.
        match run(n_good) {
            (Ok(selection), n_reads) if n_reads <= n_good => {
                assert_eq!((&selection.order, &selection.scores), (&whole.order, &whole.scores));
            }
            (Err(Error::Unreadable { column: FEATURE, .. }), _) => {}
            (other, _) => panic!("feature {FEATURE} could be read {n_good} times only: {other:?}"),
        }
    }
}

/// Sample weights are an [`Error::Unsupported`]; otherwise weights of 1 change nothing, and unequal weights
/// do.
fn weights_are_used_or_refused(selector: &dyn Selector, data: &Dataset, k: usize) {
    let with = |weight: fn(usize) -> f64| {
        let weighted = must(data.clone().with_sample_weights((0..data.n_samples()).map(weight).collect()));
        selector.select(&weighted, Budget::Count(k), &Context::seeded(7))
    };
    match with(|_| 1.0) {
        Err(Error::Unsupported { .. }) => {}
        Err(other) => panic!("weights of 1 gave: {other}"),
        Ok(even) => {
            assert_eq!(
                (even.order, even.scores),
                select(selector, data, k),
                "weights of 1 changed the answer"
            );
            let uneven = must(with(|i| if i % 3 == 0 { 0.05 } else { 5.0 }));
            let plain = select(selector, data, k);
            assert_ne!((uneven.order, uneven.scores), plain, "weights are neither used nor refused");
        }
    }
}

/// A selector works with links, groups and views, or returns an [`Error::Unsupported`].
fn links_groups_and_views_are_used_or_refused_or_nothing(selector: &dyn Selector, data: &Dataset, k: usize) {
    let chain = |n: usize| -> Vec<(usize, usize, f64)> { (1..n).map(|i| (i - 1, i, 1.0)).collect() };
    let (n, d) = (data.n_samples(), data.n_features());
    let known = || {
        let half = d / 2;
        data.clone()
            .with_sample_graph(Graph::directed(n, &chain(n))?)?
            .with_feature_graph(Graph::undirected(d, &chain(d))?)?
            .with_feature_groups(Groups::overlapping(d, vec![(0..=half).collect(), (half..d).collect()])?)?
            .with_views(Views::new(
                d,
                vec![("first".to_owned(), (0..half).collect()), ("second".to_owned(), (half..d).collect())],
            )?)
    };
    match selector.select(&must(known()), Budget::Count(k), &Context::seeded(7)) {
        Ok(selection) => assert!(!selection.order.is_empty() && selection.order.len() <= k),
        Err(Error::Unsupported { .. }) => {}
        Err(other) => panic!("links, groups and views gave: {other}"),
    }
}

/// A table all of whose columns are sparse.
struct Sparse {
    n_samples: usize,
    columns: Vec<(Vec<usize>, Vec<f64>)>,
}

impl Columns for Sparse {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let (rows, values) = &self.columns[j];
        Ok(Column::Sparse { rows, values })
    }
}

/// A sparse table gives the same selection as a dense one with the same values.
fn sparse_is_dense(selector: &dyn Selector, data: &Dataset, k: usize) {
    let mut columns = columns(data);
    for column in columns.iter_mut().skip(1).step_by(3) {
        column.iter_mut().filter(|value| value.abs() < 0.6).for_each(|value| *value = 0.0);
    }
    let stored = |column: &Vec<f64>| {
        let values = column.iter().enumerate().filter(|(_, value)| **value != 0.0);
        values.map(|(row, value)| (row, *value)).unzip()
    };
    let sparse = Sparse { n_samples: data.n_samples(), columns: columns.iter().map(stored).collect() };
    let (order, scores) = select(selector, &with_columns(data, &columns), k);
    let (from_sparse, from_sparse_scores) = select(selector, &must(data.clone().with_x(sparse)), k);
    assert_eq!(order, from_sparse, "a sparse table changed the features");
    close(&scores, &from_sparse_scores, "a sparse table changed the scores");
}

/// What came of the stops of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stops {
    /// Reports of progress of the whole run.
    pub n_reports: u64,
    /// Stops that gave a part of the answer.
    pub n_partial: usize,
}

/// A run that is stopped, at the start or at a report of progress, gives what it has and says so in its
/// status, or an [`Error::Stopped`] if it has nothing; never an empty selection, nor one of which no feature
/// has a score. A run that ends all the same gives the whole answer.
pub fn a_stop_keeps_what_there_is(selector: &dyn Selector, data: &Dataset, k: usize) -> Stops {
    let run = |stop: &StopAt| selector.select(data, Budget::Count(k), &stop.context(7));
    let never = StopAt::never();
    let whole = must(run(&never));
    let mut stops = Stops { n_reports: never.n_reports(), n_partial: 0 };
    for report in stops_to_try(stops.n_reports) {
        match run(&StopAt::report(report)) {
            Err(Error::Stopped { .. }) => {}
            Ok(found) if found.status == Status::Interrupted => {
                assert!(!found.order.is_empty(), "stopped at report {report}: an empty selection");
                assert!(
                    !found.scores.iter().all(|score| score.is_nan()),
                    "stopped at report {report}: no score"
                );
                stops.n_partial += 1;
            }
            Ok(found) => {
                assert_eq!(found.order, whole.order, "stopped at report {report}, with {:?}", found.status);
            }
            Err(other) => panic!("stopped at report {report}: {other}"),
        }
    }
    stops
}

/// Before the start, at the first reports and at some of the others, up to the last.
fn stops_to_try(n_reports: u64) -> Vec<u64> {
    let next = |report: &u64| (*report < n_reports).then(|| n_reports.min(report + 1 + report / 4));
    std::iter::successors(Some(0), next).take(MOST_STOPS).collect()
}

fn close(a: &[f64], b: &[f64], what: &str) {
    let largest = a.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-7 * largest, "{what}: {a} and {b}");
    }
}
