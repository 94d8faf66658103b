//! Stops at any moment, and the largest values that parameters may have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, Progress, Target, derive_seed};
use fewest::registry::{Method, Parameter, Parameters, Range, Registry, Relation, TargetKind};
use fewest_testkit::conformance::{a_stop_keeps_what_there_is, linked_problem, problem};

/// Whether a method must be given classes: it knows no real target.
fn needs_classes(method: &Method) -> bool {
    !method.targets.contains(&TargetKind::Real) && method.targets.contains(&TargetKind::Classes)
}

/// Methods whose reports are of the features that were read, before the one problem that is solved.
const NOTHING_BEFORE_THE_END: &[&str] =
    &["ckta", "qpfs", "fvm", "hsic-lasso", "nocco-lasso", "spec", "ikpca"];

/// Methods that look at many features between two reports: they have a part of the answer where there are
/// more.
const IN_BLOCKS: &[&str] = &["distinct", "uncorrelated"];

/// Methods to which samples arrive: all samples of this table come at once.
const IN_ONE_BATCH: &[&str] = &["ofs", "fsds"];

/// Noise in more features than any block has.
fn wide() -> Result<Dataset, Error> {
    let (n, d) = (20, 700);
    let noise = |j: u64| (0..n).map(|i| (derive_seed(j, i) >> 11) as f64).collect();
    let columns: Vec<Vec<f64>> = (0..d).map(noise).collect();
    let labels: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
}

/// Where there are several reports, a stop at one of them has a part of the answer.
#[test]
fn a_stop_has_a_part_of_the_answer_where_there_is_one() -> Result<(), Error> {
    for method in Registry::standard().methods() {
        // Shown where a check fails.
        println!("{}", method.id);
        let parameters = match method.id {
            // Forty samples tell no more levels apart.
            "gfssf" => Parameters::parse(method, &["bins=2", "alpha=0.2"])?,
            _ => Parameters::defaults(method),
        };
        let selector = method.build(&parameters)?.into_selector();
        let stops = match IN_BLOCKS.contains(&method.id) {
            true => a_stop_keeps_what_there_is(&*selector, &wide()?, 699),
            // They have no answer without links.
            false if method.id == "netfs" || method.id == "usfs" => {
                a_stop_keeps_what_there_is(&*selector, &linked_problem(false), 3)
            }
            false => a_stop_keeps_what_there_is(&*selector, &problem(needs_classes(method)), 3),
        };
        if IN_ONE_BATCH.contains(&method.id) {
            continue;
        }
        let has_none = stops.n_reports > 1 && stops.n_partial == 0;
        assert_eq!(has_none, NOTHING_BEFORE_THE_END.contains(&method.id), "{}: {stops:?}", method.id);
    }
    Ok(())
}

/// Ends a run where it is told that it will take minutes.
#[derive(Default)]
struct EndAtForecast {
    told: Mutex<Option<String>>,
    ends: AtomicBool,
}

impl Progress for EndAtForecast {
    fn update(&self, _stage: &str, _done: u64, _total: u64) {}

    fn announce(&self, told: &str) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| told.to_owned());
        self.ends.store(true, Ordering::Relaxed);
    }
}

/// Eliminations, searches and forests say so after their first step.
#[test]
fn what_takes_minutes_says_so() -> Result<(), Error> {
    let noise = |n: u64, d: u64| -> Result<Dataset, Error> {
        let column = |j: u64| (0..n).map(|i| (derive_seed(j, i) >> 11) as f64).collect();
        let columns: Vec<Vec<f64>> = (0..d).map(column).collect();
        let labels: Vec<bool> = (0..n).map(|i| derive_seed(d, i).is_multiple_of(2)).collect();
        Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
    };
    let (wide, long, shorter) = (noise(150, 3000)?, noise(1500, 100)?, noise(800, 100)?);
    let table: &[(&str, &[&str], &Dataset, usize)] = &[
        ("svm-rfe", &["step=1"], &wide, 1),
        ("sfs", &[], &long, 99),
        ("sbs", &[], &shorter, 10),
        ("sffs", &[], &long, 99),
        ("sbfs", &[], &shorter, 10),
        ("bahsic", &["fraction=0"], &wide, 1),
        ("fhsic", &[], &wide, 3000),
        ("boruta", &["trees=10000", "rounds=1000"], &shorter, 10),
        ("permutation-importance", &["trees=2000", "permutations=1000"], &shorter, 10),
    ];
    for &(id, parameters, data, k) in table {
        let method = Registry::standard().find(id)?;
        let selector = method.build(&Parameters::parse(method, parameters)?)?.into_selector();
        let end = EndAtForecast::default();
        let deadline = Some(Instant::now() + Duration::from_secs(60));
        let context =
            Context { progress: Some(&end), interrupt: Some(&end.ends), deadline, ..Context::seeded(1) };
        let start = Instant::now();
        let ended = selector.select(data, Budget::Count(k), &context).map(|selection| selection.status);
        println!("{id} {:?} {ended:?}", start.elapsed());
        let told = end.told.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(told.as_deref().is_some_and(|told| told.ends_with(" in all")), "{id}: {told:?}");
    }
    Ok(())
}

/// The largest value that a whole number may have, where the parameter is one.
fn largest(range: Range) -> Option<usize> {
    match range {
        Range::Count(_) => Some(usize::MAX),
        Range::Between(_, most) => Some(most),
        _ => None,
    }
}

/// For each whole number of `parameters` the largest that it may be, with what it needs besides.
fn largest_counts(parameters: &[Parameter]) -> Vec<Vec<String>> {
    let with_relations = |parameter: &Parameter| {
        let mut assignments = vec![format!("{}={}", parameter.name, largest(parameter.range)?)];
        for relation in &parameter.relations {
            match relation {
                Relation::With { parameter, words } => assignments.push(format!("{parameter}={}", words[0])),
                Relation::Needs(other) => assignments.push(format!("{other}=0.5")),
                _ => {}
            }
        }
        Some(assignments)
    };
    parameters.iter().filter_map(with_relations).collect()
}

/// Counts that no table has are errors, or stop at what there is: never a panic, nor memory for all of them.
#[test]
fn the_largest_counts_give_an_answer_or_a_message() -> Result<(), Error> {
    let wave = |step: usize| -> Vec<f64> { (0..14).map(|i| ((i * step + 3) % 15) as f64).collect() };
    let x = DenseColumns::from_columns(&[wave(4), wave(7), wave(11)])?;
    let labels: Vec<bool> = (0..14).map(|i| i % 3 == 0).collect();
    let classes = Dataset::new(x.clone(), Target::from_labels(&labels))?;
    let tables = [classes, Dataset::new(x, Target::real(wave(2))?)?];
    let check =
        |id: &str, assignments: &[String], run: &dyn Fn(&Dataset, &Context<'_>) -> Result<(), Error>| {
            println!("{id} {assignments:?}");
            for data in &tables {
                let deadline = Some(Instant::now() + Duration::from_millis(100));
                if let Err(error) = run(data, &Context { deadline, ..Context::seeded(1) }) {
                    assert!(!error.to_string().contains('\n'), "{id} {assignments:?}: {error}");
                }
            }
        };
    let (methods, learners) = (Registry::standard().methods(), Registry::standard().learners());
    for method in methods {
        for assignments in largest_counts(&method.parameters()) {
            check(method.id, &assignments, &|data, context| {
                let selector = method.build(&Parameters::parse(method, &assignments)?)?.into_selector();
                selector.select(data, Budget::Count(2), context).map(|_| ())
            });
        }
    }
    for learner in learners {
        for assignments in largest_counts(&learner.parameters()) {
            check(learner.id, &assignments, &|data, context| {
                learner.build_with(&assignments)?.fit(data, context)?.predict(data.x()).map(|_| ())
            });
        }
    }
    Ok(())
}
