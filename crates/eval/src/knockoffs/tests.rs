use std::sync::atomic::AtomicBool;

use fewest_core::{Graph, Groups, Scorer, Scores, Views};

use super::*;

/// The absolute product of a feature with a real target.
struct Product;

impl Scorer for Product {
    fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
        let Target::Real(outputs) = data.target() else {
            let (method, expected) = ("product", "a real target");
            return Err(Error::UnsupportedTarget { method, expected, found: data.target().describe() });
        };
        let score = |j: usize| {
            let values = finite_values(data, j)?;
            Ok(values.iter().zip(outputs.output(0)).map(|(x, y)| x * y).sum::<f64>().abs())
        };
        let scores = (0..data.n_features()).map(score).collect::<Result<Vec<f64>, Error>>()?;
        Ok(Scores::descending(scores))
    }
}

fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

/// 30 features, of which the first `relevant` matter, far from zero and on their own scales.
fn data(relevant: usize, seed: u64) -> Dataset {
    let n = 120;
    let columns: Vec<Vec<f64>> = (0..30).map(|j| noise(n, 1000 * seed + j)).collect();
    let noise = noise(n, 1000 * seed + 999);
    let y = (0..n).map(|i| columns[..relevant].iter().map(|x| x[i]).sum::<f64>() + 0.5 * noise[i]).collect();
    let moved: Vec<Vec<f64>> = columns
        .iter()
        .enumerate()
        .map(|(j, column)| column.iter().map(|x| 100.0 + 10.0_f64.powi(j as i32 % 5) * x).collect())
        .collect();
    Dataset::new(DenseColumns::from_columns(&moved).unwrap(), Target::real(y).unwrap()).unwrap()
}

/// A scale of its own for each feature.
struct Standard<S>(S);

impl<S: Scorer> Scorer for Standard<S> {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        let columns: Vec<Vec<f64>> = (0..data.n_features())
            .map(|j| {
                let mut values = finite_values(data, j).unwrap();
                standardise(&mut values);
                values
            })
            .collect();
        self.0.score(&data.clone().with_x(DenseColumns::from_columns(&columns)?)?, context)
    }
}

fn knockoffs(options: KnockoffOptions) -> Knockoffs<ScoreDifference<Standard<Product>>> {
    Knockoffs { statistic: ScoreDifference(Standard(Product)), options }
}

fn select(options: KnockoffOptions, data: &Dataset, seed: u64) -> Selection {
    knockoffs(options).select(data, Budget::Auto, &Context::seeded(seed)).unwrap()
}

#[test]
fn relevant_features_are_found_and_the_bound_is_told() {
    for construction in [Construction::Auto, Construction::Sdp, Construction::Equicorrelated] {
        let options = KnockoffOptions { fdr: 0.2, construction, ..KnockoffOptions::default() };
        let (mut found, mut wrong, mut total) = (0, 0, 0);
        for seed in 0..10 {
            let selection = select(options.clone(), &data(10, seed), seed);
            found += selection.order.iter().filter(|j| **j < 10).count();
            wrong += selection.order.iter().filter(|j| **j >= 10).count();
            total += selection.order.len();
            assert!(
                selection.scores.is_sorted_by(|a, b| a >= b) && selection.scores.iter().all(|w| *w > 0.0)
            );
            let Some(FalseDiscoveries::Rate(bound)) = selection.false_discoveries else { panic!("a bound") };
            assert_eq!((bound.target, bound.offset, bound.draws), (0.2, 1, 1));
            match bound.covariance {
                "graph" => assert!(bound.pairs < 100 && bound.shrinkage == 0.0, "{bound:?}"),
                other => assert!(other == "shrunk" && bound.shrinkage <= 1.0, "{bound:?}"),
            }
            assert_ne!(bound.construction, "auto");
            assert_eq!((bound.statistic, bound.folds), ("score", 0));
        }
        assert!(found > 70, "{construction}: {found} of 100");
        assert!((wrong as f64) < 0.3 * f64::from(total as u32), "{construction}: {wrong} of {total}");
    }
}

/// Without relevant features, and where there are too few for the bound, nothing is selected in most runs.
#[test]
fn of_noise_nothing_is_selected_in_most_runs() {
    let empty = |relevant| {
        (0..20)
            .filter(|&seed| select(KnockoffOptions::default(), &data(relevant, seed), seed).order.is_empty())
            .count()
    };
    assert!(empty(0) >= 17);
    let selection = select(KnockoffOptions { fdr: 0.05, ..KnockoffOptions::default() }, &data(3, 1), 1);
    assert!(selection.order.is_empty() && selection.notes[0].contains("no feature was selected"));
}

/// Normal features of which each is correlated with the next, where every fourth is relevant: to the target
/// those beside it look relevant, too. By the true covariance the mean share of irrelevant ones is
/// kept, and would not be by a wrong one.
#[test]
fn irrelevant_features_beside_relevant_ones_are_not_taken_for_them() {
    let (n, d, n_runs) = (150, 30, 40);
    let share = |covariance: Covariance| {
        let mut sum = 0.0;
        for seed in 0..n_runs {
            let mut columns: Vec<Vec<f64>> = Vec::new();
            for j in 0..d {
                let mut column = model::normal_numbers(1000 * seed + j, n);
                if let Some(before) = columns.last() {
                    column
                        .iter_mut()
                        .zip(before)
                        .for_each(|(x, other)| *x = 0.51_f64.sqrt() * *x + 0.7 * other);
                }
                columns.push(column);
            }
            let noise = model::normal_numbers(1000 * seed + 999, n);
            let target =
                (0..n).map(|i| columns.iter().step_by(4).map(|x| x[i]).sum::<f64>() + noise[i]).collect();
            let table = DenseColumns::from_columns(&columns).unwrap();
            let data = Dataset::new(table, Target::real(target).unwrap()).unwrap();
            let options =
                KnockoffOptions { fdr: 0.2, covariance: covariance.clone(), ..KnockoffOptions::default() };
            let order = select(options, &data, seed).order;
            let wrong = order.iter().filter(|j| **j % 4 != 0).count();
            sum += wrong as f64 / order.len().max(1) as f64;
        }
        sum / n_runs as f64
    };
    let given = |rho: f64| {
        let entry = |at: usize| rho.powi((at % 30).abs_diff(at / 30) as i32);
        Covariance::Given((0..900).map(entry).collect())
    };
    let kept = share(given(0.7));
    let broken = share(given(0.0));
    assert!(kept < 0.25 && broken > 0.4, "{kept} {broken}");
    let by_samples = share(Covariance::Empirical);
    assert!(by_samples < 0.25, "{by_samples}");
    let chosen = share(Covariance::Auto);
    assert!(chosen < 0.25, "{chosen}");
    // Shrunk, knockoffs are less like the relevant features than those beside them are: what the page says.
    let shrunk = share(Covariance::LedoitWolf);
    assert!(shrunk > 0.3, "{shrunk}");
}

#[test]
fn several_draws_vote() {
    let options = KnockoffOptions { fdr: 0.3, draws: 9, ..KnockoffOptions::default() };
    let (mut wrong, mut total) = (0, 0);
    for seed in 3..9 {
        let order = select(options.clone(), &data(12, seed), 1).order;
        wrong += order.iter().filter(|j| **j >= 12).count();
        total += order.len();
    }
    assert!(total > 40 && 10 * wrong < 3 * total, "{wrong} of {total}");
    let first = select(options, &data(12, 3), 1);
    assert!(first.order.iter().filter(|j| **j < 12).count() >= 9, "{:?}", first.order);
    // The score is the mean e-value: at most all 30 features by a count of at least 1.
    assert!(first.scores.iter().all(|e| *e > 0.0 && *e <= 30.0));
    let Some(FalseDiscoveries::Rate(bound)) = first.false_discoveries else { panic!("a bound") };
    assert_eq!((bound.draws, bound.target), (9, 0.3));
}

#[test]
fn several_bounds_share_what_takes_the_time() {
    let (data, context) = (data(12, 3), Context::seeded(1));
    for draws in [1, 3] {
        let of = |fdr| KnockoffOptions { fdr, draws, ..KnockoffOptions::default() };
        let rates = [0.1, 0.2, 0.5];
        let together = knockoffs(of(0.3)).select_for(&data, &rates, &context).unwrap();
        let alone: Vec<Selection> = rates.iter().map(|&fdr| select(of(fdr), &data, 1)).collect();
        assert_eq!(together, alone);
        assert!(together[0].order.len() < together[2].order.len());
    }
    assert!(knockoffs(KnockoffOptions::default()).select_for(&data, &[0.1, 1.5], &context).is_err());
}

#[test]
fn the_answer_depends_on_the_seed_and_not_on_threads() {
    let of = |threads: usize, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            select(KnockoffOptions { fdr: 0.2, ..KnockoffOptions::default() }, &data(10, 5), seed)
        })
    };
    let one = of(1, 3);
    assert_eq!(one, of(2, 3));
    assert_eq!(one, of(7, 3));
    assert_ne!(one.scores, of(2, 4).scores);
}

/// A statistic that prefers what comes first in the table has no preference between features and knockoffs.
#[test]
fn which_column_is_first_says_nothing() {
    struct First;
    impl KnockoffStatistic for First {
        fn differences(&self, pairs: &Dataset, _: &Context<'_>) -> Result<Vec<f64>, Error> {
            Ok((0..pairs.n_features() / 2).map(|j| 1.0 + j as f64).collect())
        }
    }
    let selector =
        Knockoffs { statistic: First, options: KnockoffOptions { fdr: 0.2, ..KnockoffOptions::default() } };
    let selected = (0..20).filter(|&seed| {
        let found = selector.select(&data(0, 1), Budget::Auto, &Context::seeded(seed)).unwrap();
        !found.order.is_empty()
    });
    assert!(selected.count() <= 5);
}

/// What a constant feature says is nothing.
#[test]
fn constant_features_are_left_out() {
    let n = 60;
    let mut columns: Vec<Vec<f64>> = (0..8).map(|j| noise(n, j)).collect();
    let y = (0..n).map(|i| columns[..7].iter().map(|x| x[i]).sum()).collect();
    columns[3] = vec![2.0; n];
    let table = DenseColumns::from_columns(&columns).unwrap();
    let data = Dataset::new(table, Target::real(y).unwrap()).unwrap();
    let found = select(KnockoffOptions { fdr: 0.5, offset: 0, ..KnockoffOptions::default() }, &data, 1);
    assert!(!found.order.contains(&3) && found.notes.iter().any(|note| note.contains("constant")));
    let flat = Dataset::new(
        DenseColumns::from_columns(&[vec![1.0; 9]]).unwrap(),
        Target::real(noise(9, 1)).unwrap(),
    );
    assert!(select(KnockoffOptions::default(), &flat.unwrap(), 1).order.is_empty());
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    let context = Context::default();
    let refused = |options: KnockoffOptions, data: &Dataset, budget: Budget| {
        knockoffs(options).select(data, budget, &context).unwrap_err()
    };
    let fine = KnockoffOptions::default;
    for fdr in [0.0, 1.0, -0.1, f64::NAN] {
        let error = refused(KnockoffOptions { fdr, ..fine() }, &data(3, 1), Budget::Auto);
        assert!(matches!(error, Error::InvalidParameter { name: "fdr", .. }), "{error}");
    }
    for (name, options) in [
        ("offset", KnockoffOptions { offset: 2, ..fine() }),
        ("offset", KnockoffOptions { offset: 0, draws: 2, ..fine() }),
        ("draws", KnockoffOptions { draws: 0, ..fine() }),
    ] {
        match refused(options, &data(3, 1), Budget::Auto) {
            Error::InvalidParameter { name: found, .. } => assert_eq!(found, name),
            other => panic!("{other}"),
        }
    }
    let error = refused(fine(), &data(3, 1), Budget::Count(3));
    assert!(matches!(error, Error::InvalidParameter { name: "k", .. }), "{error}");
    let given = KnockoffOptions { covariance: Covariance::Given(vec![1.0; 4]), ..fine() };
    assert!(matches!(refused(given, &data(3, 1), Budget::Auto), Error::ShapeMismatch { .. }));
    let given = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut values: Vec<f64> = (0..900).map(|at| f64::from(at % 30 == at / 30)).collect();
        change(&mut values);
        KnockoffOptions { covariance: Covariance::Given(values), fdr: 0.5, ..fine() }
    };
    assert!(knockoffs(given(&|_| ())).select(&data(3, 1), Budget::Auto, &context).is_ok());
    for (wrong, told) in [
        (given(&|values| values[5] = f64::NAN), "row 6 and column 1"),
        (given(&|values| values[31] = 2.0), "row 2 and column 2"),
        (given(&|values| values[30] = 0.2), "symmetric"),
    ] {
        let error = refused(wrong, &data(3, 1), Budget::Auto);
        assert!(matches!(error, Error::InvalidParameter { name: "covariance", .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    // Knockoffs have no groups, links or views: nothing is left out silently.
    for (lacking, told) in [
        (data(3, 1).with_feature_groups(Groups::partition(vec![0; 30])).unwrap(), "groups"),
        (data(3, 1).with_feature_graph(Graph::undirected(30, &[(0, 1, 1.0)]).unwrap()).unwrap(), "features"),
        (data(3, 1).with_sample_graph(Graph::undirected(120, &[(0, 1, 1.0)]).unwrap()).unwrap(), "samples"),
        (
            data(3, 1)
                .with_views(Views::new(30, vec![("a".to_owned(), (0..30).collect())]).unwrap())
                .unwrap(),
            "views",
        ),
    ] {
        let error = refused(fine(), &lacking, Budget::Auto);
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains(told), "{error}");
    }
    let error = refused(fine(), &data(3, 1).with_target(Target::None).unwrap(), Budget::Auto);
    assert!(matches!(error, Error::UnsupportedTarget { method: "knockoffs", .. }), "{error}");
    let weighted = data(3, 1).with_sample_weights(vec![1.0; 120]).unwrap();
    assert!(matches!(refused(fine(), &weighted, Budget::Auto), Error::Unsupported { .. }));
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let kinds = (0..30).map(|j| match j {
        4 => FeatureKind::Categorical { levels: levels.clone() },
        _ => FeatureKind::Numeric,
    });
    let categories = data(3, 1).with_feature_kinds(kinds.collect()).unwrap();
    assert!(refused(fine(), &categories, Budget::Auto).to_string().contains("f4"));
    let mut columns: Vec<Vec<f64>> = (0..4).map(|j| noise(20, j)).collect();
    columns[2][7] = f64::NAN;
    let target = || Target::real(noise(20, 9)).unwrap();
    let broken = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target()).unwrap();
    assert!(matches!(refused(fine(), &broken, Budget::Auto), Error::NonFinite { column: 2, row: 7, .. }));
    // Two equal columns: their covariance is singular without shrinkage.
    columns[2] = columns[1].clone();
    let twice = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target()).unwrap();
    for construction in [Construction::Mvr, Construction::Equicorrelated] {
        let options = KnockoffOptions { covariance: Covariance::Empirical, construction, ..fine() };
        assert!(matches!(refused(options, &twice, Budget::Auto), Error::Numerical { .. }));
    }
    let few = data(3, 1).subset(&[0, 1]).unwrap();
    assert!(matches!(refused(fine(), &few, Budget::Auto), Error::TooFew { .. }));
}

#[test]
fn a_run_that_is_stopped_says_so() {
    let flag = AtomicBool::new(true);
    let context = Context { interrupt: Some(&flag), ..Context::default() };
    let stopped = knockoffs(KnockoffOptions::default()).select(&data(3, 1), Budget::Auto, &context);
    assert!(matches!(stopped, Err(Error::Stopped { .. })), "{stopped:?}");
}

/// Normal and uniform features are not noted; those of two values, skewed ones and heavy tails are.
#[test]
fn features_that_are_far_from_normal_are_noted() {
    let n = 200;
    let noted = |value: &dyn Fn(f64) -> f64| {
        let mut columns: Vec<Vec<f64>> = (0..4).map(|j| noise(n, j)).collect();
        columns[2].iter_mut().for_each(|x| *x = value(*x));
        let target = Target::real(noise(n, 9)).unwrap();
        let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap();
        let notes = select(KnockoffOptions::default(), &data, 1).notes;
        notes.iter().any(|note| note.contains("1 of 4 features") && note.contains("f2"))
    };
    assert!(!noted(&|x| x));
    assert!(!noted(&|x| (0..12).map(|k| (x * 7919.0 * f64::from(k + 1)).fract()).sum()));
    assert!(noted(&|x| f64::from(x > 0.1)));
    assert!(noted(&|x| (6.0 * x).exp()));
    assert!(noted(&|x| x / (0.51 - x.abs())));
}

/// What a vote needs is told where there is none.
#[test]
fn several_draws_tell_how_many_features_they_need() {
    let options = KnockoffOptions { fdr: 0.3, draws: 3, ..KnockoffOptions::default() };
    let none = select(options, &data(0, 1), 1);
    assert!(none.order.is_empty() && none.notes[0].contains("fewer than 7 features"), "{:?}", none.notes);
}

/// Small is better: the sign turns.
#[test]
fn the_better_score_is_positive() {
    struct Place(bool);
    impl Scorer for Place {
        fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
            let values = (0..data.n_features()).map(|j| j as f64).collect();
            Ok(if self.0 { Scores::descending(values) } else { Scores::ascending(values) })
        }
    }
    let data = data(0, 1);
    let of = |higher| ScoreDifference(Place(higher)).differences(&data, &Context::default()).unwrap();
    assert_eq!(of(true), vec![-15.0; 15]);
    assert_eq!(of(false), vec![15.0; 15]);
}
