//! The information criteria against their definitions, computed here from probabilities and without any
//! shortcut.

use std::collections::BTreeMap;

use crate::criteria::criteria;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Ranked, Scorer, Selection, Selector, Status,
    Target,
};
use fewest_filters::discretisation::{Discretisation, DiscretisationRule, Integers};
use fewest_filters::information::{
    Cfs, Estimator, Fcbf, Fcq, Forward, ForwardCriterion, Mim, MrmrForm, Observations, kraskov, parzen,
};

type Columns = Vec<Vec<usize>>;

/// Levels in a deterministic disorder, the later features partly copies of earlier ones and of the classes.
fn levels(n: usize, seed: u64) -> (Columns, Vec<usize>) {
    let mut state = seed;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let y: Vec<usize> = (0..n).map(|_| draw(3)).collect();
    let mut columns: Columns = Vec::new();
    for j in 0..9 {
        let noise: Vec<usize> = (0..n).map(|_| draw(2 + j % 4)).collect();
        let mixed = (0..n).map(|i| match draw(4) {
            0 => y[i],
            1 if j > 2 => columns[j - 2][i],
            _ => noise[i],
        });
        let mixed = mixed.collect();
        columns.push(mixed);
    }
    (columns, y)
}

fn dataset(columns: &Columns, y: &[usize]) -> Dataset {
    let columns: Vec<Vec<f64>> = columns.iter().map(|c| c.iter().map(|v| *v as f64).collect()).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(y)).unwrap()
}

fn entropy(variables: &[&[usize]]) -> f64 {
    let n = variables[0].len();
    let mut counts: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    for i in 0..n {
        *counts.entry(variables.iter().map(|variable| variable[i]).collect()).or_default() += 1.0 / n as f64;
    }
    counts.values().map(|p| -p * p.ln()).sum()
}

fn information(a: &[&[usize]], b: &[&[usize]]) -> f64 {
    entropy(a) + entropy(b) - entropy(&[a, b].concat())
}

fn given(a: &[usize], b: &[usize], c: &[usize]) -> f64 {
    entropy(&[a, c]) + entropy(&[b, c]) - entropy(&[a, b, c]) - entropy(&[c])
}

/// The criterion of candidate `k`, by its formula.
fn definition(criterion: ForwardCriterion, x: &Columns, y: &[usize], k: usize, selected: &[usize]) -> f64 {
    let relevance = information(&[&x[k]], &[y]);
    if selected.is_empty() {
        return relevance;
    }
    let count = selected.len() as f64;
    let sum = |term: &dyn Fn(&[usize]) -> f64| selected.iter().map(|&j| term(&x[j])).sum::<f64>();
    let least =
        |term: &dyn Fn(&[usize]) -> f64| selected.iter().map(|&j| term(&x[j])).fold(f64::INFINITY, f64::min);
    let redundancy = |j: &[usize]| information(&[&x[k]], &[j]);
    let within = |j: &[usize]| given(&x[k], j, y);
    let jointly = |j: &[usize]| information(&[&x[k], j], &[y]);
    let normalised = |j: &[usize]| jointly(j) / entropy(&[&x[k], j, y]);
    match criterion {
        ForwardCriterion::Mifs { beta } => relevance - beta * sum(&redundancy),
        ForwardCriterion::Mrmr { form: MrmrForm::Difference } => relevance - sum(&redundancy) / count,
        ForwardCriterion::Mrmr { form: MrmrForm::Quotient } => {
            relevance / (sum(&redundancy) / count).max(1e-3)
        }
        ForwardCriterion::Cife => relevance - sum(&redundancy) + sum(&within),
        ForwardCriterion::Jmi => relevance - (sum(&redundancy) - sum(&within)) / count,
        ForwardCriterion::Cmim { capped } => {
            let least = least(&|j| given(&x[k], y, j));
            if capped { least.min(relevance) } else { least }
        }
        ForwardCriterion::InformativeFragments => least(&|j| jointly(j) - information(&[j], &[y])),
        ForwardCriterion::Icap => relevance - sum(&|j| (redundancy(j) - within(j)).max(0.0)),
        ForwardCriterion::Disr => sum(&normalised),
        ForwardCriterion::Jmim => least(&jointly),
        ForwardCriterion::Njmim => least(&normalised),
        ForwardCriterion::Jmi3 if selected.len() == 1 => sum(&jointly),
        ForwardCriterion::Jmi3 => {
            let mut total = 0.0;
            for (at, &j) in selected.iter().enumerate() {
                for &i in &selected[..at] {
                    total += information(&[&x[k], &x[i], &x[j]], &[y]);
                }
            }
            total
        }
        ForwardCriterion::General { beta, lambda } => {
            relevance - beta * sum(&redundancy) + lambda * sum(&within)
        }
        other => panic!("no definition of {other:?}"),
    }
}

fn all() -> Vec<ForwardCriterion> {
    criteria(0.7, 0.4, 0.9)
}

const AS_LEVELS: Discretisation =
    Discretisation { discretisation: DiscretisationRule::EqualWidth, bins: 5, integers: Integers::Levels };

fn run(criterion: ForwardCriterion, data: &Dataset, budget: Budget) -> Selection {
    let forward = Forward { criterion, estimator: Estimator::Discrete(AS_LEVELS) };
    forward.select(data, budget, &Context::default()).unwrap()
}

#[test]
fn every_criterion_is_its_formula_at_every_step() {
    for (n, seed) in [(60, 1), (200, 2), (331, 3)] {
        let (x, y) = levels(n, seed);
        let data = dataset(&x, &y);
        for criterion in all() {
            let selection = run(criterion, &data, Budget::Count(x.len()));
            assert_eq!(selection.order.len(), x.len(), "{criterion:?}");
            for (step, (&picked, score)) in selection.order.iter().zip(&selection.scores).enumerate() {
                let selected = &selection.order[..step];
                let best = (0..x.len())
                    .filter(|k| !selected.contains(k))
                    .map(|k| definition(criterion, &x, &y, k, selected))
                    .fold(f64::NEG_INFINITY, f64::max);
                let value = definition(criterion, &x, &y, picked, selected);
                assert!((score - value).abs() < 1e-10, "{criterion:?} step {step}: {score} for {value}");
                assert!(value >= best - 1e-10, "{criterion:?} step {step}: {value}, but {best} is there");
            }
        }
    }
}

/// Far more candidates than are tried first: what old folds rule out must not have been the best.
#[test]
fn bounds_rule_out_no_winner() {
    let n = 90;
    let (mut x, y) = levels(n, 5);
    for seed in 6..60 {
        x.extend(levels(n, seed).0);
    }
    let data = dataset(&x, &y);
    for criterion in [
        ForwardCriterion::Mrmr { form: MrmrForm::Difference },
        ForwardCriterion::Cmim { capped: false },
        ForwardCriterion::Icap,
        ForwardCriterion::Jmim,
    ] {
        let selection = run(criterion, &data, Budget::Count(6));
        for step in 0..6 {
            let selected = &selection.order[..step];
            let value = |k| definition(criterion, &x, &y, k, selected);
            let best =
                (0..x.len()).filter(|k| !selected.contains(k)).map(value).fold(f64::NEG_INFINITY, f64::max);
            let first = (0..x.len()).find(|&k| !selected.contains(&k) && value(k) >= best - 1e-11);
            assert_eq!(Some(selection.order[step]), first, "{criterion:?} step {step}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (mut x, y) = levels(120, 5);
    for seed in 6..40 {
        x.extend(levels(120, seed).0);
    }
    let data = dataset(&x, &y);
    let with = |threads: usize, select: &(dyn Fn() -> Selection + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(select)
    };
    let context = Context::default();
    for criterion in all() {
        let select = || run(criterion, &data, Budget::Count(8));
        assert_eq!(with(1, &select), with(3, &select), "{criterion:?}");
    }
    for selector in [&Fcbf::default() as &dyn Selector, &Cfs::default(), &Fcq::default()] {
        let select = || selector.select(&data, Budget::Count(8), &context).unwrap();
        assert_eq!(with(1, &select), with(3, &select));
    }
}

#[test]
fn fragments_are_conditional_information() {
    let (x, y) = levels(150, 9);
    let data = dataset(&x, &y);
    let fragments = run(ForwardCriterion::InformativeFragments, &data, Budget::Count(9));
    let cmim = run(ForwardCriterion::Cmim { capped: false }, &data, Budget::Count(9));
    assert_eq!(fragments.order, cmim.order);
}

#[test]
fn a_real_target_goes_by_the_same_rule() {
    let (x, y) = levels(100, 4);
    let classes = dataset(&x, &y);
    let spread: Vec<f64> = y.iter().map(|class| *class as f64 * 7.0 - 3.0).collect();
    let real = Dataset::shared(classes.shared_x(), Target::real(spread).unwrap()).unwrap();
    for criterion in all() {
        let (a, b) = (run(criterion, &classes, Budget::Count(4)), run(criterion, &real, Budget::Count(4)));
        assert_eq!(a, b);
    }
}

#[test]
fn categories_are_levels_whatever_their_codes() {
    let (x, y) = levels(100, 4);
    let numbers = dataset(&x, &y);
    let scrambled: Vec<Vec<f64>> =
        x.iter().map(|column| column.iter().map(|level| ((level * 7 + 3) % 11) as f64).collect()).collect();
    let kinds = (0..x.len()).map(|_| FeatureKind::Categorical { levels: Vec::new() }).collect();
    let table = DenseColumns::from_columns(&scrambled).unwrap();
    let categories =
        Dataset::new(table, numbers.target().clone()).unwrap().with_feature_kinds(kinds).unwrap();
    let scores = |data: &Dataset, rule| {
        let estimator = Estimator::Discrete(rule);
        Mim { estimator }.score(data, &Context::default()).unwrap().values
    };
    for (a, b) in scores(&numbers, AS_LEVELS).iter().zip(scores(&categories, Discretisation::default())) {
        assert!((a - b).abs() < 1e-12);
    }
}

#[test]
fn budgets_bound_the_number_or_the_criterion() {
    let (x, y) = levels(200, 2);
    let data = dataset(&x, &y);
    let criterion = ForwardCriterion::Mifs { beta: 1.0 };
    let all = run(criterion, &data, Budget::Count(9));
    assert!(all.scores[8] < 0.0 && all.scores[1] > 0.0, "{:?}", all.scores);
    let auto = run(criterion, &data, Budget::Auto);
    let positive = all.scores.iter().take_while(|score| **score > 0.0).count();
    assert_eq!(auto.order, all.order[..positive]);
    let threshold = run(criterion, &data, Budget::Threshold(all.scores[2]));
    assert!(threshold.scores.iter().all(|score| *score >= all.scores[2]) && threshold.order.len() >= 2);
    assert_eq!(threshold.order, all.order[..threshold.order.len()]);
}

#[test]
fn a_stopped_run_gives_what_it_has() {
    let (x, y) = levels(200, 2);
    let data = dataset(&x, &y);
    let stop = fewest_testkit::StopAt::report_of("selection", 2);
    let context = stop.context(0);
    let selection = Forward::new(ForwardCriterion::Jmi).select(&data, Budget::Count(5), &context).unwrap();
    assert_eq!((selection.order.len(), selection.status), (2, Status::Interrupted));
    for selector in [
        &Forward::new(ForwardCriterion::Jmi) as &dyn Selector,
        &Fcbf::default(),
        &Cfs::default(),
        &Fcq::default(),
    ] {
        assert!(matches!(selector.select(&data, Budget::Count(5), &context), Err(Error::Stopped { .. })));
    }
}

#[test]
fn targets_and_parameters_that_make_no_sense_are_errors() {
    let (x, y) = levels(30, 2);
    let data = dataset(&x, &y);
    let with = |target| Dataset::shared(data.shared_x(), target).unwrap();
    let context = Context::default();
    let selectors: [&dyn Selector; 4] =
        [&Forward::new(ForwardCriterion::Jmi), &Fcbf::default(), &Cfs::default(), &Fcq::default()];
    for selector in selectors {
        let select = |data: &Dataset| selector.select(data, Budget::Count(2), &context);
        assert!(matches!(select(&with(Target::None)), Err(Error::UnsupportedTarget { .. })));
        let two = Target::outputs(vec![0.5; 60], 30).unwrap();
        assert!(matches!(select(&with(two)), Err(Error::UnsupportedTarget { .. })));
        let constant = select(&with(Target::real(vec![0.5; 30]).unwrap())).unwrap_err();
        let is_told = match &constant {
            Error::TooFew { .. } => true,
            Error::UnsupportedTarget { method, expected, .. } => {
                (*method, *expected) == ("fcq", "values that vary")
            }
            _ => false,
        };
        assert!(is_told, "{constant}");
        assert!(matches!(select(&with(Target::from_labels(&[1; 30]))), Err(Error::TooFew { .. })));
    }
    let select = |selector: &dyn Selector| selector.select(&data, Budget::Count(2), &context).unwrap_err();
    let invalid = |selector: &dyn Selector, expected: &str| match select(selector) {
        Error::InvalidParameter { name, .. } => assert_eq!(name, expected),
        other => panic!("{other}"),
    };
    invalid(&Forward::new(ForwardCriterion::Mifs { beta: -1.0 }), "beta");
    invalid(&Forward::new(ForwardCriterion::General { beta: 1.0, lambda: f64::NAN }), "lambda");
    invalid(&Fcbf { delta: 1.0, ..Fcbf::default() }, "delta");
    invalid(&Cfs { patience: 0, ..Cfs::default() }, "patience");
    let rule = Discretisation { bins: 1, ..Discretisation::default() };
    invalid(&Cfs { discretisation: rule, ..Cfs::default() }, "bins");
    let mrmr = ForwardCriterion::Mrmr { form: MrmrForm::Difference };
    invalid(
        &Forward { criterion: mrmr, estimator: Estimator::Parzen { bandwidth_factor: 0.0 } },
        "bandwidth_factor",
    );
    for neighbours in [0, 30] {
        invalid(&Forward { criterion: mrmr, estimator: Estimator::Kraskov { neighbours } }, "neighbours");
    }
    let jmi =
        Forward { criterion: ForwardCriterion::Jmi, estimator: Estimator::Parzen { bandwidth_factor: 1.0 } };
    assert!(matches!(select(&jmi), Error::Unsupported { .. }));
}

/// Two standard normals of correlation `r`, by Box and Muller from a fixed sequence.
fn normal_pair(n: usize, r: f64) -> (Vec<f64>, Vec<f64>) {
    let mut state = 11_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    (0..n)
        .map(|_| {
            let (radius, angle) = ((-2.0 * uniform().ln()).sqrt(), std::f64::consts::TAU * uniform());
            let (a, b) = (radius * angle.cos(), radius * angle.sin());
            (a, r * a + (1.0 - r * r).sqrt() * b)
        })
        .unzip()
}

#[test]
fn estimators_find_the_information_of_normal_variables() {
    for r in [0.0_f64, 0.6, 0.9] {
        let (x, y) = normal_pair(2000, r);
        let exact = -0.5 * (1.0 - r * r).ln();
        let (x, y) = (Observations::Real(&x), Observations::Real(&y));
        let by_neighbours = kraskov(x, y, 3).unwrap();
        assert!((by_neighbours - exact).abs() < 0.05, "r = {r}: {by_neighbours} for {exact}");
        // Windows blur the dependence and find some in noise.
        let by_windows = parzen(x, y, 1.0).unwrap();
        assert!((by_windows - exact).abs() < 0.05 + 0.2 * exact, "r = {r}: {by_windows} for {exact}");
    }
}

#[test]
fn neighbours_by_the_definition() {
    let (x, y) = normal_pair(60, 0.7);
    let digamma = |m: usize| (1..m).map(|i| 1.0 / i as f64).sum::<f64>() - 0.577_215_664_901_532_9;
    let deviation = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        (v.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / v.len() as f64).sqrt()
    };
    let (sx, sy) = (deviation(&x), deviation(&y));
    for k in [1, 3, 7] {
        let mut expected = digamma(60) + digamma(k);
        for i in 0..60 {
            let dx = |l: usize| (x[i] - x[l]).abs() / sx;
            let dy = |l: usize| (y[i] - y[l]).abs() / sy;
            let mut distances: Vec<f64> = (0..60).filter(|l| *l != i).map(|l| dx(l).max(dy(l))).collect();
            distances.sort_by(f64::total_cmp);
            let near = |d: &dyn Fn(usize) -> f64| {
                // A hair less, since the distances here are rounded otherwise.
                (0..60).filter(|l| *l != i && d(*l) < distances[k - 1] * (1.0 - 1e-12)).count()
            };
            expected -= (digamma(near(&dx) + 1) + digamma(near(&dy) + 1)) / 60.0;
        }
        let found = kraskov(Observations::Real(&x), Observations::Real(&y), k).unwrap();
        assert!((found - expected.max(0.0)).abs() < 1e-10, "{found} for {expected}");
    }
}

#[test]
fn estimators_agree_on_categories() {
    let (x, y) = levels(100, 4);
    let rule = Discretisation { integers: Integers::Levels, ..Discretisation::default() };
    let as_levels =
        |values: &[usize]| rule.levels(&values.iter().map(|v| *v as f64).collect::<Vec<_>>(), None).unwrap();
    let target = as_levels(&y);
    for column in &x {
        let expected = information(&[column], &[&y]);
        let feature = as_levels(column);
        let (a, b) = (Observations::Levels(&feature), Observations::Levels(&target));
        assert!((parzen(a, b, 1.0).unwrap() - expected).abs() < 1e-12);
        assert!((kraskov(a, b, 3).unwrap() - expected).abs() < 1e-12);
    }
}

#[test]
fn a_class_told_apart_is_told_by_every_estimator() {
    let x: Vec<f64> = (0..100).map(|i| f64::from(i % 50) + if i < 50 { 0.0 } else { 1000.0 }).collect();
    let labels: Vec<bool> = (0..100).map(|i| i < 50).collect();
    let noise: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100)).collect();
    let data =
        Dataset::new(DenseColumns::from_columns(&[noise, x]).unwrap(), Target::from_labels(&labels)).unwrap();
    for estimator in [
        Estimator::default(),
        Estimator::Parzen { bandwidth_factor: 1.0 },
        Estimator::Kraskov { neighbours: 3 },
    ] {
        let scores = Mim { estimator }.score(&data, &Context::default()).unwrap().values;
        assert!((scores[1] - 2_f64.ln()).abs() < 0.05 && scores[0] < 0.1, "{estimator:?}: {scores:?}");
        let mrmr = Forward { criterion: ForwardCriterion::Mrmr { form: MrmrForm::Difference }, estimator };
        let selection = mrmr.select(&data, Budget::Count(2), &Context::default()).unwrap();
        assert_eq!(selection.order, [1, 0]);
    }
}

/// The laws of every selector, for the choices that are not defaults.
#[test]
fn every_choice_keeps_the_laws() {
    use fewest_testkit::conformance::{check_selector, problem};
    let estimators = [
        (DiscretisationRule::EqualWidth, 4),
        (DiscretisationRule::EqualFrequency, 3),
        (DiscretisationRule::EqualFrequency, 7),
    ]
    .map(|(discretisation, bins)| {
        Estimator::Discrete(Discretisation { discretisation, bins, ..Discretisation::default() })
    });
    for classes in [false, true] {
        let data = problem(classes);
        for estimator in estimators {
            for criterion in all() {
                check_selector(&Forward { criterion, estimator }, &data, 3);
            }
        }
        for estimator in [Estimator::Parzen { bandwidth_factor: 0.7 }, Estimator::Kraskov { neighbours: 2 }] {
            for criterion in &all()[..3] {
                check_selector(&Forward { criterion: *criterion, estimator }, &data, 3);
            }
            check_selector(&Ranked::new(Mim { estimator }), &data, 3);
        }
        for form in [MrmrForm::Difference, MrmrForm::Quotient] {
            check_selector(&Fcq { form }, &data, 3);
        }
        check_selector(&Fcbf::default(), &data, 3);
        check_selector(&Cfs::default(), &data, 3);
    }
}
