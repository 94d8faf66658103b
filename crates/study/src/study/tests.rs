use std::error::Error as StdError;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use fewest::core::{DenseColumns, FeatureKind, Target};
use fewest::data::{Journal, write_atomically};
use fewest::eval::{FoldRecord, Learner, Model, NearestNeighbours};
use fewest::registry::{Parameters, Registry};

use super::*;
use crate::{Division, Mismatch, differences};

type Tested = Result<(), Box<dyn StdError>>;

/// Feature 1 tells the class, and feature 2 tells it less well.
fn data() -> Result<Dataset, Error> {
    let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61)).collect::<Vec<f64>>();
    let labels: Vec<bool> = wave(17).iter().map(|value| *value > 30.0).collect();
    let rough: Vec<f64> = wave(17).iter().zip(wave(23)).map(|(value, noise)| value + noise).collect();
    Ok(Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), rough])?, Target::from_labels(&labels))?)
}

fn candidates(ids: &[&str]) -> Result<Vec<Candidate>, Error> {
    let of = |id: &&str| {
        let method = Registry::standard().find(id)?;
        Candidate::new(method, Parameters::defaults(method))
    };
    ids.iter().map(of).collect()
}

fn options() -> StudyOptions {
    StudyOptions {
        ks: vec![1, 2, 3],
        learner: Some("knn".to_owned()),
        division: Division::Folds(5),
        ..StudyOptions::default()
    }
}

fn study<'a>(data: &'a Dataset, ids: &[&str], options: &StudyOptions) -> Result<Study<'a>, Error> {
    Study::new(Registry::standard(), data, DataInfo::new("waves", data), candidates(ids)?, options)
}

/// Runs `f-score` on the data with the store in this file.
fn run_on(data: &Dataset, path: &Path) -> Result<Report, Box<dyn StdError>> {
    Ok(study(data, &["f-score"], &options())?.run(Some(&Store::open(path)?), &Context::default())?)
}

/// The error of [`run_on`] on the data of the tests.
fn refused(path: &Path) -> Result<String, Box<dyn StdError>> {
    Ok(run_on(&data()?, path).err().ok_or("it was accepted")?.to_string())
}

fn lines_of(path: &Path) -> Result<Vec<String>, Box<dyn StdError>> {
    Ok(Journal::new(path).read()?)
}

/// Everything but times: a fold with the features and scores at each number of features.
type Fold = (usize, Vec<(Vec<usize>, Vec<f64>)>);

fn folds(report: &Report) -> Vec<Fold> {
    let records = report.methods.iter().flat_map(|method| &method.evaluation.folds);
    let outcome = |outcome: &fewest::eval::Outcome| (outcome.features.clone(), outcome.scores.clone());
    records.map(|record| (record.fold, record.outcomes.iter().map(outcome).collect())).collect()
}

#[test]
fn the_rules_choose_and_as_many_features_are_selected_on_all_samples() -> Tested {
    let data = data()?;
    for id in ["f-score", "mrmr", "hsic-lasso"] {
        let report = study(&data, &[id], &options())?.run(None, &Context::seeded(3))?;
        assert_eq!((report.status, report.seed, report.n_folds), (Status::Converged, 3, 5));
        let method = &report.methods[0];
        for rule in [KRule::Best, KRule::OneStandardError] {
            let chosen = method.chosen(rule).ok_or("chosen")?;
            assert_eq!(chosen.k, method.evaluation.choose_k("accuracy", rule)?);
            let parameters = Parameters::defaults(&method.method);
            let selector = method.method.build(&parameters)?.into_selector();
            let expected = selector.select(&data, Budget::Count(chosen.k), &Context::seeded(3))?.order;
            assert_eq!(chosen.features.as_ref(), Some(&expected), "{id}");
        }
        let rows = method.rows();
        assert_eq!(rows.iter().map(|row| row.k).collect::<Vec<_>>(), report.ks());
        assert!(rows.iter().all(|row| row.mean_features() <= row.k as f64));
    }
    Ok(())
}

#[test]
fn the_best_has_no_difference_and_the_others_have_theirs() -> Tested {
    let data = data()?;
    let report = study(&data, &["variance", "f-score"], &options())?.run(None, &Context::default())?;
    let columns = differences::columns(&report, 0);
    assert_eq!(columns.iter().map(|column| column.k).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(columns[0].best, Some(1), "one feature is enough for it");
    // All features are the same for both: of equal ones the first.
    assert_eq!(columns[2].best, Some(0));
    assert!(columns[2].cells.iter().all(|cell| cell.is_best) && !columns[0].cells[0].is_best);
    let (method, best) = differences::best(&report, 0).ok_or("best")?;
    assert_eq!((method, best.k), (1, 1), "all others are worse, or need more features");
    for column in &columns {
        for (i, cell) in column.cells.iter().enumerate() {
            let first = column.best.ok_or("best")?;
            assert_eq!(cell.difference.is_none(), i == first);
            let best = column.cells[first].mean;
            let mean = cell.difference.as_ref().map_or(0.0, |difference| difference.mean);
            assert!((best - cell.mean - mean).abs() < 1e-12 && mean >= 0.0);
        }
    }
    assert!(differences::columns(&report, 1).is_empty(), "there is one metric");
    Ok(())
}

/// One method left, or one with fewer folds, is the best of nothing; what was not reached is named.
#[test]
fn nothing_is_compared_after_a_stop() -> Tested {
    let data = data()?;
    let whole = study(&data, &["variance", "f-score"], &options())?.run(None, &Context::default())?;
    let untouched = |report: &Report| {
        let columns = differences::columns(report, 0);
        let cells = columns.iter().flat_map(|column| &column.cells);
        columns.iter().all(|column| column.best.is_none())
            && cells.into_iter().all(|cell| !cell.is_best && cell.difference.is_none())
    };
    let mut single = whole.clone();
    single.methods.truncate(1);
    let mut part = whole.clone();
    part.methods[1].evaluation.folds.truncate(3);
    assert!(untouched(&single) && untouched(&part) && !untouched(&whole));
    let document: serde_json::Value = serde_json::from_str(&crate::json::comparison(&part)?)?;
    assert_eq!(document["comparisons"], serde_json::json!([]));
    // The first method is stored, and the run is stopped before the second.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    let store = Store::open(&path)?;
    let evaluation = &whole.methods[0].evaluation;
    evaluation.folds.iter().for_each(|record| store.add(&evaluation.plan, record));
    let interrupt = AtomicBool::new(true);
    let context = Context { interrupt: Some(&interrupt), ..Context::default() };
    let report =
        study(&data, &["variance", "f-score"], &options())?.run(Some(&Store::open(&path)?), &context)?;
    assert_eq!((report.status, report.methods.len()), (Status::Interrupted, 1));
    assert!(
        report.notes.contains(&"stopped before a fold of f-score was finished".to_owned()),
        "{:?}",
        report.notes
    );
    Ok(())
}

/// What is reached without a selection is part of the answer, where it is better.
#[test]
fn a_better_baseline_is_told() -> Tested {
    let data = data()?;
    let told = |data: &Dataset, ids: &[&str], options: &StudyOptions| -> Result<String, Error> {
        Ok(study(data, ids, options)?.run(None, &Context::default())?.notes.concat())
    };
    assert_eq!(told(&data, &["f-score"], &options())?, "");
    // The classes have nothing to do with these features.
    let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61)).collect::<Vec<f64>>();
    let labels: Vec<bool> = (0..60).map(|i| i % 3 == 0).collect();
    let noise =
        Dataset::new(DenseColumns::from_columns(&[wave(7), wave(23)])?, Target::from_labels(&labels))?;
    let guessed = told(&noise, &["f-score"], &StudyOptions { ks: vec![1], ..options() })?;
    assert!(
        guessed.contains("by accuracy, no selection is better than guessing without features (none)"),
        "{guessed}"
    );
    // Variance takes the feature that says nothing, of three.
    let few = StudyOptions { ks: vec![1], ..options() };
    let spread: Vec<f64> = wave(1).iter().map(|value| value * 10.0).collect();
    let columns = DenseColumns::from_columns(&[spread, wave(17)])?;
    let labels: Vec<bool> = wave(17).iter().map(|value| *value > 30.0).collect();
    let missed = told(&Dataset::new(columns, Target::from_labels(&labels))?, &["variance"], &few)?;
    assert!(missed.contains("by accuracy, all features are better than every selection"), "{missed}");
    Ok(())
}

#[test]
fn finished_folds_are_not_run_again() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    let whole = study(&data, &["mrmr"], &options())?.run(None, &Context::default())?;
    let stored = study(&data, &["mrmr"], &options())?.run(Some(&Store::open(&path)?), &Context::default())?;
    assert_eq!(folds(&stored), folds(&whole));
    // Of the method, and of both baselines.
    assert_eq!(lines_of(&path)?.len(), 5 + 2 * 5);
    // Two folds are left, one of them with a score that no run gives: it is taken as it was stored.
    let path = folder.path().join("part.json");
    let store = Store::open(&path)?;
    let evaluation = &whole.methods[0].evaluation;
    for fold in [3, 0] {
        let mut record = evaluation.folds[fold].clone();
        if fold == 0 {
            record.outcomes[0].scores[0] = 0.125;
        }
        store.add(&evaluation.plan, &record);
    }
    // Other methods find a place in the same file.
    let both = study(&data, &["f-score", "mrmr"], &options())?;
    let report = both.run(Some(&Store::open(&path)?), &Context::default())?;
    let mut expected = folds(&whole);
    expected[0].1[0].1[0] = 0.125;
    assert_eq!(folds(&report)[5..], expected);
    assert!(report.not_stored.is_none());
    assert_eq!(lines_of(&path)?.len(), 10 + 2 * 5);
    Ok(())
}

/// Stored folds of the baselines are taken as they are, here with a score that no run gives; what is missing
/// is run.
#[test]
fn baselines_are_not_run_again() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    let whole = run_on(&data, &path)?;
    let means = |report: &Report| -> Vec<(&str, f64)> {
        report.baselines.iter().map(|known| (known.id, known.summaries[0].mean)).collect()
    };
    let [(none, _), (all, every)] = means(&whole)[..] else { return Err("two baselines".into()) };
    assert_eq!((none, all), ("majority-class", "all-features"));
    let again = run_on(&data, &path)?;
    assert_eq!(means(&again), means(&whole));
    let told = |report: &Report| format!("{:?}", report.baselines);
    assert_eq!(told(&again), told(&whole), "in all that is told");
    let design = study(&data, &["f-score"], &options())?.design;
    let stored = Store::open(&path)?;
    let other = Store::open(folder.path().join("other.json"))?;
    for (id, n_folds) in [(none, 5), (all, 3)] {
        let label = format!("baseline {id} | {}", design.identity);
        let evaluation = stored.finished(&label).ok_or("it is not stored")?;
        assert!(evaluation.folds.len() == 5 && evaluation.folds[0].outcomes[0].features.is_empty());
        for record in &evaluation.folds[..n_folds] {
            let mut record = record.clone();
            if id == none {
                record.outcomes[0].scores[0] = 0.125;
            }
            other.add(&evaluation.plan, &record);
        }
    }
    let path = folder.path().join("other.json");
    assert_eq!(means(&run_on(&data, &path)?), [(none, 0.125), (all, every)]);
    assert_eq!(lines_of(&path)?.len(), 5 + 2 * 5);
    Ok(())
}

#[test]
fn every_fold_is_in_the_file_as_soon_as_it_is_finished() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    let whole = study(&data, &["f-score"], &options())?.run(None, &Context::default())?;
    let evaluation = &whole.methods[0].evaluation;
    let store = Store::open(&path)?;
    for (at, fold) in [3, 0, 4, 2, 1].into_iter().enumerate() {
        store.add(&evaluation.plan, &evaluation.folds[fold]);
        assert_eq!(lines_of(&path)?.len(), at + 1);
    }
    assert_eq!(store.failure(), None);
    let label = &evaluation.plan.label;
    assert_eq!(Store::open(&path)?.finished(label).ok_or("none")?.folds, evaluation.folds, "in their order");
    Ok(())
}

#[test]
fn two_runs_on_one_file_lose_nothing() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    // Both are open before either stores a fold.
    let stores = [Store::open(&path)?, Store::open(&path)?, Store::open(&path)?];
    let studies = [
        study(&data, &["mrmr"], &options())?,
        study(&data, &["f-score"], &options())?,
        study(&data, &["f-score"], &options())?,
    ];
    std::thread::scope(|scope| {
        for (store, study) in stores.iter().zip(&studies) {
            scope.spawn(move || study.run(Some(store), &Context::default()).map(|_| ()));
        }
    });
    // Each run has its baselines, too.
    assert_eq!(lines_of(&path)?.len(), 15 + 3 * 10, "one run's folds are there twice");
    let both = study(&data, &["mrmr", "f-score"], &options())?;
    let before = lines_of(&path)?;
    let report = both.run(Some(&Store::open(&path)?), &Context::default())?;
    assert_eq!(folds(&report), folds(&both.run(None, &Context::default())?));
    assert_eq!(lines_of(&path)?, before, "no fold was run again");
    Ok(())
}

#[test]
fn other_data_are_told_apart_whatever_was_changed() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    run_on(&data, &path)?;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..3 {
        columns.push(data.x().column(j, &mut Vec::new())?.to_vec(60));
    }
    let changed = |change: &dyn Fn(usize, usize, f64) -> f64| {
        let mut columns = columns.clone();
        for (j, values) in columns.iter_mut().enumerate() {
            values.iter_mut().enumerate().for_each(|(i, value)| *value = change(i, j, *value));
        }
        Dataset::new(DenseColumns::from_columns(&columns)?, data.target().clone())
    };
    let kinds = |j: usize| match j {
        1 => FeatureKind::Categorical { levels: (0..61).map(|level| level.to_string()).collect() },
        _ => FeatureKind::Numeric,
    };
    let Target::Class(classes) = data.target() else { return Err("classes".into()) };
    let mut codes = classes.codes().to_vec();
    // Samples of different classes.
    codes.swap(1, 2);
    let swapped = Target::classes(codes, classes.names().to_vec())?;
    let renamed = Target::classes(classes.codes().to_vec(), vec!["no".to_owned(), "yes".to_owned()])?;
    for other in [
        changed(&|i, j, value| if j == 0 && (i == 3 || i == 4) { -value } else { value })?,
        changed(&|_, _, value| -value)?,
        changed(&|i, j, value| if j == 2 && i == 9 { value.next_up() } else { value })?,
        data.clone().with_feature_kinds((0..3).map(kinds).collect())?,
        data.clone().with_feature_names(["a", "b", "c"].map(str::to_owned).to_vec())?,
        data.clone().with_target(swapped)?,
        data.clone().with_target(renamed)?,
    ] {
        let told = run_on(&other, &path).err().ok_or("it was accepted")?;
        let mismatch = told.downcast_ref::<Error>();
        assert!(matches!(mismatch, Some(Error::OtherFolds { mismatch: Mismatch::Data, .. })), "{told}");
    }
    run_on(&changed(&|_, _, value| value)?, &path)?;
    Ok(())
}

#[test]
fn folds_of_another_study_are_refused_and_left_alone() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("folds.json");
    run_on(&data, &path)?;
    let content = lines_of(&path)?;
    let metrics = vec!["macro-f1".to_owned()];
    for (options, seed, expected) in [
        (StudyOptions { ks: vec![1], ..options() }, 0, Mismatch::Ks),
        (StudyOptions { learner: None, ..options() }, 0, Mismatch::Learner),
        (StudyOptions { metrics, ..options() }, 0, Mismatch::Metrics),
        (StudyOptions { division: Division::Folds(4), ..options() }, 0, Mismatch::Data),
        (options(), 1, Mismatch::Seed),
    ] {
        let error = study(&data, &["f-score"], &options)?
            .run(Some(&Store::open(&path)?), &Context::seeded(seed))
            .err();
        let found = match &error {
            Some(Error::OtherFolds { mismatch, .. }) => Some(*mismatch),
            _ => None,
        };
        assert_eq!(found, Some(expected), "{error:?}");
        assert_eq!(lines_of(&path)?, content);
    }
    let whole = study(&data, &["f-score"], &options())?.run(None, &Context::default())?;
    let evaluation = &whole.methods[0].evaluation;
    let stored = |name: &str, change: &dyn Fn(&mut FoldRecord)| {
        let path = folder.path().join(name);
        let mut record = evaluation.folds[2].clone();
        change(&mut record);
        Store::open(&path)?.add(&evaluation.plan, &record);
        refused(&path)
    };
    let told = stored("features", &|record| record.outcomes[0].features[0] = 77)?;
    assert!(told.contains("features that do not exist"), "{told}");
    let told = stored("fold", &|record| record.fold = 9)?;
    assert!(told.starts_with("the finished folds of f-score are incomplete"), "{told}");
    write_atomically(&path, b"a,b\n1,2\n")?;
    assert!(matches!(Store::open(&path), Err(Error::Unreadable(_))));
    let path = folder.path().join("steps");
    Journal::new(&path).append(r#"{"step":1}"#)?;
    assert!(refused(&path)?.contains("contains no finished folds"));
    Ok(())
}

#[test]
fn a_value_that_json_has_not_is_told() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let whole = study(&data, &["f-score"], &options())?.run(None, &Context::default())?;
    let evaluation = &whole.methods[0].evaluation;
    let store = Store::open(folder.path().join("folds.json"))?;
    let mut record = evaluation.folds[2].clone();
    record.outcomes[0].facts.push(("gap".to_owned(), f64::INFINITY));
    store.add(&evaluation.plan, &record);
    assert!(store.failure().is_some_and(|failure| failure.starts_with("fold 2 has a value")));
    store.add(&evaluation.plan, &evaluation.folds[3]);
    assert_eq!(lines_of(&folder.path().join("folds.json"))?.len(), 1);
    Ok(())
}

#[test]
fn a_store_that_cannot_be_written_is_told_and_costs_no_answer() -> Tested {
    let data = data()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("none").join("folds.json");
    let report =
        study(&data, &["f-score"], &options())?.run(Some(&Store::open(&path)?), &Context::default())?;
    assert_eq!(report.status, Status::Converged);
    assert!(report.not_stored.is_some_and(|failure| failure.contains("folds.json")));
    assert!(matches!(Store::open(folder.path()), Err(Error::Unreadable(_))));
    Ok(())
}

#[test]
fn a_stop_before_any_fold_is_an_error() -> Tested {
    let data = data()?;
    let study = study(&data, &["f-score"], &options())?;
    let interrupt = AtomicBool::new(true);
    let interrupted = study.run(None, &Context { interrupt: Some(&interrupt), ..Context::default() });
    assert!(matches!(interrupted, Err(Error::NothingFinished(Status::Interrupted))));
    let late = study.run(None, &Context { deadline: Some(Instant::now()), ..Context::default() });
    assert!(matches!(late, Err(Error::NothingFinished(Status::TimeLimit))));
    Ok(())
}

/// Stops a run at a stage of its progress.
struct StopAt {
    stage: &'static str,
    done: u64,
    interrupt: AtomicBool,
}

impl Progress for StopAt {
    fn update(&self, stage: &str, done: u64, _: u64) {
        if (stage, done) == (self.stage, self.done) {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_stop_after_the_last_fold_is_told_with_what_is_left_out() -> Tested {
    let data = data()?;
    let study = study(&data, &["mrmr"], &options())?;
    let run = |stage, done| {
        let stop = StopAt { stage, done, interrupt: AtomicBool::new(false) };
        let context =
            Context { progress: Some(&stop), interrupt: Some(&stop.interrupt), ..Context::default() };
        study.run(None, &context)
    };
    let ids = |report: &Report| report.baselines.iter().map(|baseline| baseline.id).collect::<Vec<_>>();
    let whole = run("none", 0)?;
    assert_eq!((whole.status, ids(&whole)), (Status::Converged, vec!["majority-class", "all-features"]));
    assert!(whole.notes.is_empty(), "{:?}", whole.notes);
    // While the features are selected on all samples.
    let report = run("mrmr: folds", 5)?;
    assert_eq!((report.status, ids(&report)), (Status::Interrupted, vec![]));
    assert!(report.methods[0].chosen.iter().all(|chosen| chosen.features.is_none()));
    let told = report.notes.join("; ");
    assert!(
        told.contains("interrupted: the features selected on all samples are left out for mrmr"),
        "{told}"
    );
    assert!(told.contains("the results without a selection are left out: interrupted"), "{told}");
    // While the learner runs without features.
    let report = run("folds", 1)?;
    assert_eq!((report.status, ids(&report)), (Status::Interrupted, vec![]));
    assert!(report.methods[0].chosen.iter().all(|chosen| chosen.features.is_some()));
    let told = report.notes.join("; ");
    assert!(told.contains("the results of majority-class are left out: interrupted"), "{told}");
    assert!(told.contains("the results of all-features are left out: interrupted"), "{told}");
    Ok(())
}

/// A learner that takes no table of several features.
struct OneFeature;

impl Learner for OneFeature {
    fn name(&self) -> &'static str {
        "one-feature"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, CoreError> {
        match data.n_features() {
            0 | 1 => NearestNeighbours::default().fit(data, context),
            several => Err(CoreError::parameter("features", several, "1")),
        }
    }
}

#[test]
fn a_baseline_that_fails_is_noted() -> Tested {
    let data = data()?;
    let mut study = study(&data, &["f-score"], &StudyOptions { ks: vec![1], ..options() })?;
    study.design.learner = Box::new(OneFeature);
    let report = study.run(None, &Context::default())?;
    assert_eq!(report.status, Status::Converged);
    assert_eq!(report.baselines.len(), 1);
    let told = report.notes.join("; ");
    assert!(told.starts_with("the results of all-features are left out: fold "), "{told}");
    assert!(told.contains("`features` is 3"), "{told}");
    Ok(())
}

#[test]
fn candidates_that_do_not_fit_are_errors() -> Tested {
    let data = data()?;
    let refused = |ids: &[&str]| study(&data, ids, &options()).err().map(|error| error.to_string());
    assert_eq!(
        refused(&["mrmr", "hsic", "mrmr"]).as_deref(),
        Some("method mrmr is listed twice: list it once")
    );
    assert_eq!(refused(&[]).as_deref(), Some("methods: at least 1 needed, found 0"));
    let numbers = Dataset::shared(data.shared_x(), Target::real((0..60).map(f64::from).collect())?)?;
    let options = StudyOptions { learner: None, ..options() };
    let refused = study(&numbers, &["hsic", "chi2"], &options).err().map(|error| error.to_string());
    let expected = "chi2 needs classes as target, but the target is a real output: use another method";
    assert_eq!(refused.as_deref(), Some(expected));
    Ok(())
}

#[test]
fn a_fold_that_fails_is_named() -> Tested {
    let numbers = Dataset::shared(data()?.shared_x(), Target::real((0..60).map(f64::from).collect())?)?;
    // One test sample has no variance to measure the error in.
    let metrics = vec!["q2".to_owned()];
    let options = StudyOptions { metrics, division: Division::Folds(60), ..options() };
    let failed = study(&numbers, &["f-score"], &options)?.run(None, &Context::default()).err();
    let told = failed.map(|error| error.to_string()).unwrap_or_default();
    assert!(told.starts_with("f-score: fold ") && told.contains("q2 with 1 feature"), "{told}");
    Ok(())
}
