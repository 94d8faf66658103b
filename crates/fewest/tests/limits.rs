//! Stops at any moment, and the largest values that parameters may have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, Progress, Status, Target, derive_seed};
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

/// Notes what is told of how long a stage will take, and ends the run then.
#[derive(Default)]
struct EndAtForecast {
    told: Mutex<Option<(String, Duration)>>,
    ends: AtomicBool,
}

impl Progress for EndAtForecast {
    fn update(&self, _stage: &str, _done: u64, _total: u64) {}

    fn announce(&self, stage: &str, expected: Duration) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get_or_insert_with(|| (stage.to_owned(), expected));
        self.ends.store(true, Ordering::Relaxed);
    }
}

/// Eliminations, searches and forests say after their first step how long all will take.
#[test]
fn long_searches_say_how_long_they_take() -> Result<(), Error> {
    let column = |j: u64| (0..60).map(|i| (derive_seed(j, i) >> 11) as f64).collect();
    let columns: Vec<Vec<f64>> = (0..40).map(column).collect();
    let labels: Vec<bool> = (0..60).map(|i| derive_seed(99, i).is_multiple_of(2)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    for (id, stage, k) in [
        ("svm-rfe", "recursive elimination", 1),
        ("sfs", "forward search", 39),
        ("sbs", "backward search", 1),
        ("sffs", "floating forward search", 39),
        ("sbfs", "floating backward search", 1),
        ("bahsic", "backward elimination", 1),
        ("fhsic", "forward selection", 39),
        ("boruta", "boruta", 5),
        ("permutation-importance", "permutation importance", 5),
    ] {
        let method = Registry::standard().find(id)?;
        let selector = method.build(&Parameters::defaults(method))?.into_selector();
        let end = EndAtForecast::default();
        let context = Context { progress: Some(&end), interrupt: Some(&end.ends), ..Context::seeded(1) };
        let selection = selector.select(&data, Budget::Count(k), &context)?;
        assert_eq!(selection.status, Status::Interrupted, "{id}");
        let told = end.told.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(told.as_ref().is_some_and(|(name, _)| name == stage), "{id}: {told:?}");
        assert!(told.is_some_and(|(_, expected)| expected > Duration::ZERO), "{id}");
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
