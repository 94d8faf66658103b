//! Boruta and the importance by permutation, on drawn tables with known answers and on hostile ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Progress, Ranked, Scorer, Selection,
    Selector, Status, Target, derive_seed,
};
use fewest_testkit::conformance::{check_selector, problem};
use fewest_wrappers::forests::{Boruta, PermutationImportance};

type Tested = Result<(), Error>;

const N: usize = 120;

/// Uniform in [−½, ½).
fn noise(stream: u64, i: usize) -> f64 {
    (derive_seed(stream, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

fn column(stream: u64) -> Vec<f64> {
    (0..N).map(|i| noise(stream, i)).collect()
}

/// Twelve features. 2 and 5 decide; 7 nearly repeats 2; 9 is a category that decides too; 10 is a category
/// of eight levels that has nothing to do with it, like all others.
fn drawn(seed: u64, classes: bool) -> Result<Dataset, Error> {
    let mut columns: Vec<Vec<f64>> = (0..12).map(|j| column(100 * seed + j)).collect();
    columns[7] = columns[2].iter().zip(&columns[7]).map(|(a, b)| a + 0.02 * b).collect();
    for (j, levels) in [(9, 3.0), (10, 8.0)] {
        columns[j].iter_mut().for_each(|value| *value = ((*value + 0.5) * levels).floor());
    }
    let signal: Vec<f64> = (0..N)
        .map(|i| 3.0 * columns[2][i] + 3.0 * columns[5][i] + if columns[9][i] == 1.0 { 1.5 } else { 0.0 })
        .collect();
    let mut kinds = vec![FeatureKind::Numeric; 12];
    for (j, n) in [(9, 3), (10, 8)] {
        kinds[j] = FeatureKind::Categorical { levels: (0..n).map(|level: u32| level.to_string()).collect() };
    }
    let target = match classes {
        true => Target::from_labels(&signal.iter().map(|value| *value > 0.5).collect::<Vec<_>>()),
        false => Target::real(signal)?,
    };
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds)
}

fn quick() -> Boruta {
    Boruta { trees: 150, rounds: 60, ..Boruta::default() }
}

fn importance() -> PermutationImportance {
    PermutationImportance { trees: 60, permutations: 19, ..PermutationImportance::default() }
}

fn sorted(mut features: Vec<usize>) -> Vec<usize> {
    features.sort_unstable();
    features
}

#[test]
fn the_laws_of_selectors_hold() {
    let boruta = Boruta { trees: 60, rounds: 15, ..Boruta::default() };
    let scorer = PermutationImportance { trees: 60, permutations: 5, ..PermutationImportance::default() };
    for classes in [false, true] {
        check_selector(&boruta, &problem(classes), 3);
        check_selector(&Ranked::new(scorer), &problem(classes), 3);
    }
}

/// Those that decide, with what repeats one of them, and hardly any noise.
#[test]
fn all_relevant_features_are_confirmed_and_noise_is_rejected() -> Tested {
    let mut n_others = 0;
    for classes in [false, true] {
        for seed in 1..4 {
            let data = drawn(seed, classes)?;
            let found = quick().select(&data, Budget::Auto, &Context::seeded(seed))?;
            assert_eq!(sorted(found.order[..4].to_vec()), [2, 5, 7, 9], "{seed}, {classes}: {found:?}");
            n_others += found.order.len() - 4;
            let told = format!("of 12 features {} are confirmed, ", found.order.len());
            assert!(found.notes[0].starts_with(&told), "{:?}", found.notes);
        }
    }
    // Of eight noise features in six tables.
    assert!(n_others <= 6, "{n_others}");
    Ok(())
}

/// Where nothing is related, up to ln 2 features of a table are confirmed, as documented: more than level α.
#[test]
fn little_noise_is_confirmed() -> Tested {
    let (mut n_confirmed, n_tables) = (0, 20);
    for seed in 0..n_tables {
        let columns: Vec<Vec<f64>> = (0..8).map(|j| column(1000 + 10 * seed + j)).collect();
        let labels: Vec<bool> = column(1009 + 10 * seed).iter().map(|value| *value > 0.0).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
        let boruta = Boruta { trees: 60, rounds: 40, ..Boruta::default() };
        let found = boruta.select(&data, Budget::Auto, &Context::seeded(seed))?;
        n_confirmed += found.order.len();
        if found.order.is_empty() {
            let told = |note: &String| note.starts_with("no feature was selected: ");
            assert!(found.notes[0].contains("0 are confirmed") && found.notes.iter().any(told), "{found:?}");
        }
    }
    // At most some 14 are expected after many rounds, of 160.
    assert!((1..=14).contains(&n_confirmed), "{n_confirmed}");
    Ok(())
}

/// Confirmed features first, then those that are tentative; those rejected are not selected.
#[test]
fn the_order_is_that_of_the_decisions() -> Tested {
    let data = drawn(1, true)?;
    let all = quick().select(&data, Budget::Count(12), &Context::seeded(1))?;
    let confirmed = quick().select(&data, Budget::Auto, &Context::seeded(1))?;
    assert!(all.order.starts_with(&confirmed.order) && all.order.len() < 12);
    let best = quick().select(&data, Budget::Count(2), &Context::seeded(1))?;
    assert_eq!(best.order, all.order[..2]);
    // One round decides nothing.
    let once = Boruta { rounds: 1, ..quick() };
    let found = once.select(&data, Budget::Count(12), &Context::seeded(1))?;
    assert_eq!((found.order.len(), found.status), (12, Status::MaxIterations));
    assert!(found.notes[0].contains("12 tentative"), "{:?}", found.notes);
    assert!(once.select(&data, Budget::Auto, &Context::seeded(1))?.order.is_empty());
    Ok(())
}

/// A lower quantile of the shadows is easier to exceed.
#[test]
fn a_lower_quantile_confirms_more() -> Tested {
    let data = drawn(2, false)?;
    let confirmed = |quantile: f64| -> Result<usize, Error> {
        let boruta = Boruta { quantile, ..quick() };
        Ok(boruta.select(&data, Budget::Auto, &Context::seeded(1))?.order.len())
    };
    assert!(confirmed(0.3)? > confirmed(1.0)?);
    Ok(())
}

#[test]
fn threads_change_nothing() -> Tested {
    for classes in [false, true] {
        let data = drawn(3, classes)?;
        let answer = |threads: usize| -> Result<(Selection, Selection), Error> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let Ok(pool) = pool else { panic!("threads") };
            pool.install(|| {
                let boruta = Boruta { trees: 40, rounds: 12, ..Boruta::default() };
                let scores = importance().score(&data, &Context::seeded(9))?;
                Ok((boruta.select(&data, Budget::Count(12), &Context::seeded(9))?, scores.best(None)))
            })
        };
        let one = answer(1)?;
        assert_eq!(one, answer(2)?);
        assert_eq!(one, answer(7)?);
    }
    Ok(())
}

#[test]
fn importance_finds_what_decides() -> Tested {
    for classes in [false, true] {
        let scores = importance().score(&drawn(1, classes)?, &Context::default())?;
        assert_eq!(sorted(scores.ranking()[..4].to_vec()), [2, 5, 7, 9]);
        let Some(p) = scores.p_values else { panic!("p-values") };
        assert!([2, 5, 7, 9].iter().all(|&j| p[j] == 0.05), "{p:?}");
        assert!(p.iter().all(|p| *p >= 0.05 && *p <= 1.0));
    }
    Ok(())
}

/// Under no relation the p-values are uniform on 1/20, 2/20, …: a tenth of them is at most 0.1.
#[test]
fn p_values_of_noise_are_uniform() -> Tested {
    let (mut small, mut sum, n_tables) = (0, 0.0, 24);
    for seed in 0..n_tables {
        let columns: Vec<Vec<f64>> = (0..5).map(|j| column(5000 + 10 * seed + j)).collect();
        let target = Target::real(column(5009 + 10 * seed))?;
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
        let scorer = PermutationImportance { trees: 25, ..importance() };
        let p = scorer.score(&data, &Context::seeded(seed))?.p_values.unwrap_or_default();
        small += p.iter().filter(|p| **p <= 0.1).count();
        sum += p.iter().sum::<f64>();
    }
    // 120 values: 12 ± 3.3 are expected, and a mean of 0.525 ± 0.026.
    assert!((3..=22).contains(&small), "{small}");
    assert!((sum / 120.0 - 0.525).abs() < 0.08, "{}", sum / 120.0);
    Ok(())
}

/// Copies share what they say of the target, in importance, but not in Boruta's decisions.
#[test]
fn a_copy_halves_the_importance() -> Tested {
    let x = column(1);
    let target = Target::real(x.iter().map(|value| value * value * value).collect())?;
    let data = |n_copies: usize| {
        let columns = [vec![x.clone(); n_copies], (2..6).map(column).collect()].concat();
        Dataset::new(DenseColumns::from_columns(&columns)?, target.clone())
    };
    let of = |n_copies: usize| -> Result<f64, Error> {
        Ok(importance().score(&data(n_copies)?, &Context::default())?.values[0])
    };
    assert!(of(3)? < 0.6 * of(1)?);
    let found = quick().select(&data(3)?, Budget::Auto, &Context::default())?;
    assert_eq!(sorted(found.order), [0, 1, 2]);
    Ok(())
}

/// Stopped in the middle of the first forest, within a second or so, with what its trees say.
#[test]
fn a_forest_that_never_ends_is_stopped() -> Tested {
    let data = drawn(1, true)?;
    let endless = 1_000_000;
    let boruta = Boruta { trees: endless, ..Boruta::default() };
    let scorer = PermutationImportance { trees: endless, ..PermutationImportance::default() };
    let stopped = |select: &(dyn Fn(&Context<'_>) -> Result<Selection, Error> + Sync)| {
        let flag = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                flag.store(true, Ordering::Relaxed);
            });
            let start = Instant::now();
            let found = select(&Context { interrupt: Some(&flag), ..Context::default() });
            // The whole forest would take a minute; a busy machine may take its time to come back.
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
            found
        })
    };
    let found = stopped(&|context| boruta.select(&data, Budget::Auto, context))?;
    assert_eq!((found.status, found.order.len()), (Status::Interrupted, 12));
    assert!(found.notes[0].ends_with(" of 1000000 trees of the first round"), "{:?}", found.notes);
    let scores = stopped(&|context| Ok(scorer.score(&data, context)?.best(None)))?;
    assert_eq!((scores.status, scores.p_values), (Status::Interrupted, None));
    assert!(scores.notes[0].ends_with(" of 1000000 trees: no p-values"), "{:?}", scores.notes);
    assert_eq!(sorted(found.order[..4].to_vec()), sorted(scores.order[..4].to_vec()));
    Ok(())
}

/// Sets a flag at a report of progress.
struct StopAfter(u64, AtomicBool);

impl Progress for StopAfter {
    fn update(&self, _stage: &str, done: u64, _total: u64) {
        self.1.fetch_or(done >= self.0, Ordering::Relaxed);
    }
}

/// The permutations by then give p-values that hold.
#[test]
fn a_run_that_is_stopped_keeps_what_it_has() -> Tested {
    let data = drawn(1, false)?;
    // In the last report of the fourth forest, its trees are there.
    let after = StopAfter(4 * 60, AtomicBool::new(false));
    let context = Context { progress: Some(&after), interrupt: Some(&after.1), ..Context::seeded(2) };
    let scores = importance().score(&data, &context)?;
    assert_eq!(scores.status, Status::Interrupted);
    assert_eq!(scores.notes, ["stopped after 3 of 19 permutations of the target"]);
    let three = PermutationImportance { permutations: 3, ..importance() };
    assert_eq!(scores.p_values, three.score(&data, &Context::seeded(2))?.p_values);

    let after = StopAfter(3 * 150, AtomicBool::new(false));
    let context = Context { progress: Some(&after), interrupt: Some(&after.1), ..Context::seeded(2) };
    let found = quick().select(&data, Budget::Auto, &context)?;
    let three = Boruta { rounds: 3, ..quick() }.select(&data, Budget::Count(12), &Context::seeded(2))?;
    assert_eq!((found.order, found.scores, found.status), (three.order, three.scores, Status::Interrupted));
    Ok(())
}

/// What was told of the progress.
#[derive(Default)]
struct Told(Mutex<Vec<(u64, u64)>>);

impl Progress for Told {
    fn update(&self, _stage: &str, done: u64, total: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((done, total));
    }
}

/// From some trees of the first forest on, so that long runs are told early; never backwards.
#[test]
fn progress_counts_the_trees_of_all_forests() -> Tested {
    let data = drawn(1, true)?;
    let boruta = Boruta { rounds: 3, ..quick() };
    let methods: [(Box<dyn Selector>, u64, u64); 2] =
        [(Box::new(boruta), 150, 3), (Box::new(Ranked::new(importance())), 60, 20)];
    for (method, trees, n_forests) in methods {
        let told = Told::default();
        let context = Context { progress: Some(&told), ..Context::default() };
        method.select(&data, Budget::Count(3), &context)?;
        let told = told.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(told[0].0 <= trees / 10 && told.len() as u64 <= 20 * n_forests, "{told:?}");
        assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told:?}");
        assert!(told.iter().all(|(_, total)| *total == trees * n_forests), "{told:?}");
    }
    Ok(())
}

fn methods() -> [(&'static str, Box<dyn Selector>); 2] {
    [("boruta", Box::new(quick())), ("permutation-importance", Box::new(Ranked::new(importance())))]
}

#[test]
fn faults_are_named() -> Tested {
    let data = drawn(1, true)?;
    let refused = |data: &Dataset, told: &str| {
        for (id, method) in methods() {
            match method.select(data, Budget::Count(1), &Context::default()) {
                Ok(found) => panic!("{id}: {found:?}"),
                Err(error) => assert!(error.to_string().contains(told), "{id}: {error}"),
            }
        }
    };
    refused(&data.clone().with_target(Target::None)?, "classes or a real output");
    refused(&data.clone().with_target(Target::from_labels(&["a"; N]))?, "different values of the target");
    refused(&data.clone().with_target(Target::real(vec![0.1; N])?)?, "different values of the target");
    refused(&data.clone().with_sample_weights(vec![0.5; N])?, "weights");
    let constant = DenseColumns::from_columns(&vec![vec![1.0; N]; 2])?;
    refused(&Dataset::new(constant, data.target().clone())?, "features that vary");
    for value in [f64::NAN, f64::INFINITY] {
        let mut columns = vec![vec![1.0; N], column(3)];
        columns[1][5] = value;
        let broken = Dataset::new(DenseColumns::from_columns(&columns)?, data.target().clone())?;
        refused(&broken, "column 1");
    }
    let error = quick().select(&data, Budget::Threshold(0.5), &Context::default());
    assert!(matches!(error, Err(Error::InvalidParameter { name: "threshold", .. })));
    for (name, wrong) in [
        ("trees", Boruta { trees: 1, ..quick() }),
        ("rounds", Boruta { rounds: 0, ..quick() }),
        ("alpha", Boruta { alpha: 1.0, ..quick() }),
        ("alpha", Boruta { alpha: f64::NAN, ..quick() }),
        ("quantile", Boruta { quantile: 0.0, ..quick() }),
        ("quantile", Boruta { quantile: 1.5, ..quick() }),
    ] {
        let error = wrong.select(&data, Budget::Auto, &Context::default()).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: told, .. } if told == name), "{error}");
    }
    Ok(())
}

/// Two samples, huge values, a class of one sample, a class for each sample: numbers, or an error.
#[test]
fn extremes_give_an_answer() -> Tested {
    let large: Vec<f64> = column(3).iter().map(|value| value * 1e308).collect();
    let tables = [
        (vec![large, column(4)], Target::real(column(5).iter().map(|value| value * 1e300).collect())?),
        (vec![column(3), column(4)], Target::from_labels(&(0..N).map(|i| i == 4).collect::<Vec<_>>())),
        (vec![column(3), column(4)], Target::from_labels(&(0..N).collect::<Vec<_>>())),
        (vec![vec![0.0, 1.0], vec![1.0, 5.0]], Target::from_labels(&["a", "b"])),
        (vec![vec![0.0, 1.0]], Target::real(vec![-1.0, 1.0])?),
    ];
    for (columns, target) in tables {
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
        for (id, method) in methods() {
            let found = method.select(&data, Budget::Count(1), &Context::default())?;
            assert!(found.scores.iter().all(|score| score.is_finite()), "{id}: {found:?}");
        }
    }
    Ok(())
}

/// Of a few samples a tree may be drawn from all, and has none to judge by: nobody stopped the run for that.
#[test]
fn trees_without_samples_out_of_bag_are_no_stop() -> Tested {
    let columns: Vec<Vec<f64>> = (0..3).map(|j| (0..7).map(|i| noise(j, i)).collect()).collect();
    let target = Target::from_labels(&[0, 1, 0, 1, 0, 1, 0]);
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
    let scores = importance().score(&data, &Context::default())?;
    assert_eq!(scores.status, Status::Converged);
    assert!(scores.p_values.is_some() && scores.notes.is_empty(), "{:?}", scores.notes);
    let selection = quick().select(&data, Budget::Auto, &Context::default())?;
    assert!(!selection.status.is_stopped(), "{selection:?}");
    Ok(())
}
