//! Sequential search and stepwise regression.

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Status, Target};
use fewest_eval::{DecisionTree, NearestNeighbours};
use fewest_testkit::StopAt;
use fewest_testkit::conformance::{check_selector, problem};
use fewest_wrappers::{Direction, SequentialSearch, Stepwise};

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];

fn search(direction: Direction, floating: bool) -> SequentialSearch {
    SequentialSearch { floating, ..SequentialSearch::new(NearestNeighbours::default(), direction) }
}

#[test]
fn searches_keep_the_laws() {
    for direction in DIRECTIONS {
        for floating in [false, true] {
            check_selector(&search(direction, floating), &problem(false), 3);
        }
    }
    check_selector(&Stepwise { p_enter: 1.0 }, &problem(false), 3);
    check_selector(&Stepwise::default(), &problem(false), 1);
}

/// The sum of three features times a constant: the best set of two does not hold the best single feature.
fn nested_badly() -> Dataset {
    let n = 80;
    let wave =
        |step: usize| -> Vec<f64> { (0..n).map(|i| ((i * step + 5) % 83) as f64 / 41.0 - 1.0).collect() };
    let (a, b) = (wave(7), wave(31));
    let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    // Feature 2 says a little of the product, which the other two say together but not alone.
    let hint: Vec<f64> = y.iter().zip(wave(19)).map(|(y, noise)| y + 0.7 * noise).collect();
    let columns = [a, b, hint, wave(13)];
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::real(y).unwrap()).unwrap()
}

#[test]
fn floating_search_takes_choices_back() {
    let data = nested_badly();
    let found = |direction, floating, k| {
        let selection =
            search(direction, floating).select(&data, Budget::Count(k), &Context::seeded(1)).unwrap();
        let mut order = selection.order.clone();
        order.sort_unstable();
        (order, selection.objective.unwrap())
    };
    // The hint comes first and stays; taking it back makes a better set than any that holds it.
    let mut best_with_hint = f64::NEG_INFINITY;
    for k in 1..=4 {
        let (order, objective) = found(Direction::Forward, false, k);
        assert!(order.contains(&2), "{k}: {order:?}");
        best_with_hint = objective.max(best_with_hint);
    }
    let floating = search(Direction::Forward, true).select(&data, Budget::Auto, &Context::seeded(1)).unwrap();
    let mut order = floating.order.clone();
    order.sort_unstable();
    assert_eq!(order, [0, 1]);
    assert!(floating.objective.unwrap() > best_with_hint, "{floating:?} {best_with_hint}");
    for direction in DIRECTIONS {
        for k in 1..=4 {
            let (plain, floating) = (found(direction, false, k), found(direction, true, k));
            assert!(floating.1 >= plain.1, "{direction:?} {k}: {floating:?} {plain:?}");
        }
    }
    // Without a number the best of all sets met.
    for direction in DIRECTIONS {
        let selection = search(direction, true).select(&data, Budget::Auto, &Context::seeded(1)).unwrap();
        let best = (1..=4).map(|k| found(direction, true, k).1).fold(f64::NEG_INFINITY, f64::max);
        assert!(selection.objective.unwrap() >= best);
    }
}

#[test]
fn forward_search_without_a_number_stops_when_nothing_helps() {
    let data = problem(true);
    let search = SequentialSearch::new(DecisionTree::default(), Direction::Forward);
    let selection = search.select(&data, Budget::Auto, &Context::default()).unwrap();
    assert!(selection.scores.windows(2).all(|pair| pair[1] > pair[0]), "{selection:?}");
    assert!(selection.order.len() < 7);
    let backward = SequentialSearch::new(DecisionTree::default(), Direction::Backward);
    let selection = backward.select(&data, Budget::Auto, &Context::default()).unwrap();
    assert_eq!(selection.objective, selection.scores.last().copied());
    assert!(selection.objective.unwrap() >= 0.8);
}

#[test]
fn threads_and_seeds() {
    let data = problem(false);
    for direction in DIRECTIONS {
        for floating in [false, true] {
            let answer = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let search = search(direction, floating);
                pool.install(|| search.select(&data, Budget::Count(4), &Context::seeded(3)).unwrap())
            };
            assert_eq!(answer(1), answer(2));
            assert_eq!(answer(1), answer(7));
        }
    }
}

#[test]
fn a_search_stopped_at_once_has_no_answer() {
    let data = problem(false);
    let searches = DIRECTIONS.iter().flat_map(|&d| [false, true].map(|floating| search(d, floating)));
    let searches = searches.map(|search| Box::new(search) as Box<dyn Selector>);
    for search in searches.chain([Box::new(Stepwise::default()) as Box<dyn Selector>]) {
        let stop = StopAt::report(0);
        let error = search.select(&data, Budget::Count(6), &stop.context(1)).unwrap_err();
        assert_eq!(error, Error::Stopped { before: "any feature was judged" });
    }
}

#[test]
fn a_search_that_is_stopped_gives_what_it_has() {
    let data = problem(false);
    let stopped_after = |search: &SequentialSearch, reports: usize, k: usize| {
        let stop = StopAt::report(reports as u64);
        let selection = search.select(&data, Budget::Count(k), &stop.context(1)).unwrap();
        assert_eq!(selection.status, Status::Interrupted);
        selection
    };
    let whole = |search: &SequentialSearch, k: usize| {
        search.select(&data, Budget::Count(k), &Context::seeded(1)).unwrap()
    };
    let forward = search(Direction::Forward, false);
    for reports in 1..5 {
        let (stopped, whole) = (stopped_after(&forward, reports, 6), whole(&forward, 6));
        assert_eq!(stopped.order, whole.order[..reports]);
        assert_eq!(stopped.scores, whole.scores[..reports]);
    }
    assert_eq!(stopped_after(&search(Direction::Forward, true), 1, 6).order.len(), 1);
    let backward = search(Direction::Backward, false);
    for reports in 1..6 {
        let (stopped, whole) = (stopped_after(&backward, reports, 7), whole(&backward, 7));
        let n_left = 7 - reports;
        assert_eq!(stopped.order.len(), 7);
        // What had gone by then had gone for good.
        assert_eq!(stopped.order[n_left..], whole.order[n_left..]);
        assert_eq!(stopped.scores[n_left..], whole.scores[n_left..]);
        assert!(stopped.notes[0].contains(&format!("with {n_left} features left")), "{:?}", stopped.notes);
        // The feature that goes next in the whole search is not the first of those left.
        assert!(n_left < 2 || stopped.order[0] != whole.order[n_left - 1]);
        let one = stopped_after(&backward, reports, 1);
        assert_eq!((&one.order[..], one.objective), (&stopped.order[..1], None));
    }
    let floating = stopped_after(&search(Direction::Backward, true), 2, 3);
    assert_eq!(floating.order.len(), 3);
    assert!(floating.scores.iter().all(|score| score.is_finite()) && floating.objective.is_none());
}

/// Neither features nor target in another unit change folds, order or, but for that unit, scores.
#[test]
fn searches_do_not_depend_on_units() {
    let data = problem(false);
    let scaled = |feature: f64, target: f64| {
        let mut columns: Vec<Vec<f64>> =
            (0..8).map(|j| data.x().column(j, &mut Vec::new()).unwrap().to_vec(40)).collect();
        columns[3].iter_mut().for_each(|value| *value *= feature);
        let Target::Real(outputs) = data.target() else { panic!("numbers") };
        let target = Target::real(outputs.output(0).iter().map(|value| value * target).collect()).unwrap();
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap()
    };
    let large = 2.0_f64.powi(996);
    for direction in DIRECTIONS {
        for floating in [false, true] {
            let search = search(direction, floating);
            let select = |data: &Dataset| search.select(data, Budget::Count(4), &Context::seeded(2));
            let expected = select(&data).unwrap();
            assert_eq!(select(&scaled(2.0_f64.powi(20), 1.0)).unwrap(), expected);
            let other = select(&scaled(1.0, 1024.0)).unwrap();
            assert_eq!(other.order, expected.order);
            for (score, expected) in other.scores.iter().zip(&expected.scores) {
                assert_eq!(*score, expected * 1024.0 * 1024.0);
            }
            // Squares of a small unit vanish, those of a large one are no numbers.
            assert_eq!(select(&scaled(1.0, 1.0 / large)).unwrap().order, expected.order);
            let error = select(&scaled(1.0, large)).unwrap_err();
            assert!(matches!(error, Error::Numerical { what: "the mean squared error", .. }), "{error}");
        }
    }
}

#[test]
fn faults_are_named() {
    let data = problem(false);
    let context = Context::default();
    for folds in [0, 1, 41] {
        let search = SequentialSearch { folds, ..search(Direction::Forward, false) };
        let error = search.select(&data, Budget::Count(1), &context);
        assert!(matches!(error, Err(Error::InvalidParameter { name: "folds", .. })));
    }
    let tree = SequentialSearch::new(DecisionTree::default(), Direction::Forward);
    assert!(matches!(tree.select(&data, Budget::Count(1), &context), Err(Error::UnsupportedTarget { .. })));
    for p_enter in [0.0, -0.1, 1.1, f64::NAN] {
        let error = Stepwise { p_enter }.select(&data, Budget::Count(1), &context);
        assert!(matches!(error, Err(Error::InvalidParameter { name: "p_enter", .. })));
    }
    let classes = Stepwise::default().select(&problem(true), Budget::Count(1), &context);
    assert!(matches!(classes, Err(Error::UnsupportedTarget { .. })));
    let flat = Dataset::shared(data.shared_x(), Target::real(vec![1e9; 40]).unwrap()).unwrap();
    let flat = Stepwise::default().select(&flat, Budget::Count(1), &context);
    assert!(matches!(flat, Err(Error::TooFew { .. })));
    for selector in [&Stepwise::default() as &dyn Selector, &search(Direction::Forward, false)] {
        let error = selector.select(&data, Budget::Threshold(0.5), &context);
        assert!(matches!(error, Err(Error::InvalidParameter { name: "threshold", .. })));
    }
}

/// The tests of the classical table: regression of ten points on two features, by the closed form of one
/// predictor, and a category by the analysis of variance.
#[test]
fn stepwise_tests_are_those_of_regression() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
    let y = [2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.8, 16.1, 18.0, 20.3];
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let (sxx, syy): (f64, f64) =
        (x.iter().map(|x| (x - mx).powi(2)).sum(), y.iter().map(|y| (y - my).powi(2)).sum());
    let expected = (sxy * sxy / sxx) / ((syy - sxy * sxy / sxx) / 8.0);
    let table = |columns: &[Vec<f64>], y: &[f64]| {
        let x = DenseColumns::from_columns(columns).unwrap();
        Dataset::new(x, Target::real(y.to_vec()).unwrap()).unwrap()
    };
    let data = table(&[x.to_vec(), x.iter().map(|x| 3.0 * x - 1e3).collect()], &y);
    let selection = Stepwise::default().select(&data, Budget::Count(2), &Context::default()).unwrap();
    // The second feature is the first on another scale: it never enters.
    assert_eq!(selection.order, [0]);
    assert!((selection.scores[0] / expected - 1.0).abs() < 1e-9, "{} {expected}", selection.scores[0]);
    assert!(selection.notes.iter().any(|note| note.contains("no other feature enters")));

    let codes = vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0];
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let data = table(std::slice::from_ref(&codes), &y)
        .with_feature_kinds(vec![FeatureKind::Categorical { levels }])
        .unwrap();
    let selection = Stepwise::default().select(&data, Budget::Count(1), &Context::default()).unwrap();
    let groups = [&y[..3], &y[3..6], &y[6..]];
    let between: f64 = groups.iter().map(|g| g.len() as f64 * (mean(g) - my).powi(2)).sum();
    let within: f64 = groups.iter().flat_map(|g| g.iter().map(|y| (y - mean(g)).powi(2))).sum();
    let expected = (between / 2.0) / (within / 7.0);
    assert!((selection.scores[0] / expected - 1.0).abs() < 1e-9, "{} {expected}", selection.scores[0]);
}

#[test]
fn nothing_enters_where_nothing_is_related() {
    let wave = |step: usize| -> Vec<f64> { (0..52).map(|i| ((i * step) % 53) as f64).collect() };
    let noise: Vec<f64> = (0..52).map(|i| ((i * i * 7) % 53) as f64).collect();
    let x = DenseColumns::from_columns(&[wave(3), wave(10)]).unwrap();
    let data = Dataset::new(x, Target::real(noise).unwrap()).unwrap();
    let selection = Stepwise { p_enter: 1e-6 }.select(&data, Budget::Count(2), &Context::default()).unwrap();
    assert!(selection.order.is_empty());
    assert_eq!(selection.notes, ["no other feature enters at p_enter = 0.000001"]);
}
