use fewest::core::DenseColumns;

use super::*;

/// As many samples as labels.
fn data(labels: &[&str]) -> Result<Dataset, Error> {
    let n = labels.len() as u32;
    let columns: Vec<Vec<f64>> =
        (1..4).map(|step| (0..n).map(|i| f64::from(i * step * 7 % 31)).collect()).collect();
    Ok(Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(labels))?)
}

fn halves(n: usize) -> Vec<&'static str> {
    (0..n).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect()
}

fn design(options: &StudyOptions, data: &Dataset) -> Result<Design, Error> {
    Design::new(Registry::standard(), options, data, &DataInfo::new("t", data), Terms::default())
}

#[test]
fn what_is_left_out_depends_on_the_data() -> Result<(), Error> {
    let data = data(&halves(40))?;
    let found = design(&StudyOptions::default(), &data)?;
    assert_eq!((found.ks.as_slice(), found.learner_id), (&[1, 2, 3][..], "linear-svm"));
    assert_eq!(found.metrics.iter().map(|metric| metric.name()).collect::<Vec<_>>(), ["accuracy"]);
    assert_eq!((found.splitter_text.as_str(), found.notes.len()), ("10 folds, stratified", 0));
    let wide = |d| ks(&StudyOptions::default(), d, 0);
    assert_eq!(wide(100)?, [1, 2, 5, 10, 20, 50, 100]);
    assert_eq!(wide(99)?, [1, 2, 5, 10, 20, 50, 99]);
    assert_eq!(wide(101)?, [1, 2, 5, 10, 20, 50, 100]);
    let numbers = Dataset::shared(data.shared_x(), Target::real((0..40).map(f64::from).collect())?)?;
    let found = design(&StudyOptions::default(), &numbers)?;
    assert_eq!((found.learner_id, found.metrics[0].name()), ("kernel-ridge", "mse"));
    assert_eq!(found.splitter_text, "10 folds");
    Ok(())
}

#[test]
fn numbers_of_features_are_in_order_and_in_range() -> Result<(), Error> {
    let of = |ks: &[usize], left_out| {
        super::ks(&StudyOptions { ks: ks.to_vec(), ..StudyOptions::default() }, 5, left_out)
    };
    assert_eq!(of(&[3, 1, 3], 0)?, [1, 3]);
    assert!(matches!(of(&[0], 0), Err(Error::Core(_))) && matches!(of(&[2, 6], 0), Err(Error::Core(_))));
    // One of five is a covariate: four can be selected, and none where all are.
    assert_eq!(of(&[4], 1)?, [4]);
    assert!(matches!(of(&[5], 1), Err(Error::NotSelectable { k: 5, selectable: 4, .. })));
    assert!(matches!(of(&[], 5), Err(Error::NotSelectable { selectable: 0, .. })));
    Ok(())
}

#[test]
fn options_that_do_not_fit_are_errors() -> Result<(), Error> {
    let data = data(&halves(20))?;
    let refused = |options: StudyOptions| match design(&options, &data) {
        Ok(_) => panic!("{options:?}"),
        Err(error) => error,
    };
    let plain = StudyOptions::default;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let groups = |folds| Division::Groups { name: "batch".to_owned(), folds };
    assert!(matches!(refused(StudyOptions { learner: Some("svn".to_owned()), ..plain() }), Error::Core(_)));
    assert!(matches!(
        refused(StudyOptions { metrics: words(&["accuracy", "accuracy"]), ..plain() }),
        Error::Twice { what: "metric", .. }
    ));
    assert!(matches!(refused(StudyOptions { repeats: 0, ..plain() }), Error::NoRepeats));
    assert!(matches!(
        refused(StudyOptions { division: groups(None), repeats: 2, ..plain() }),
        Error::SameFolds
    ));
    for share in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(matches!(
            refused(StudyOptions { division: Division::HeldOut(share), ..plain() }),
            Error::Share(_)
        ));
    }
    assert!(matches!(
        refused(StudyOptions { repeats: usize::MAX, ..plain() }),
        Error::TooManyFolds { n_samples: 20, .. }
    ));
    let unfit = refused(StudyOptions { learner: Some("kernel-ridge".to_owned()), ..plain() });
    let Error::NotForTarget { what: "learner", id: "kernel-ridge", instead, .. } = &unfit else {
        panic!("{unfit}")
    };
    assert_eq!(instead.first(), Some(&"linear-svm"));
    let unfit = refused(StudyOptions { metrics: words(&["mse"]), ..plain() });
    assert!(matches!(unfit, Error::NotForTarget { what: "metric", id: "mse", .. }), "{unfit}");
    Ok(())
}

#[test]
fn rare_classes_are_noted_or_refused() -> Result<(), Error> {
    let with = |rare: usize| {
        let mut labels = halves(30);
        labels[..rare].fill("rare");
        data(&labels)
    };
    let few = with(3)?;
    let found = design(&StudyOptions::default(), &few)?;
    assert_eq!(found.notes.len(), 1);
    assert!(found.notes[0].starts_with("class `rare` has 3 samples, fewer than the 10 folds"));
    for division in [Division::Folds(3), Division::HeldOut(0.3)] {
        assert!(design(&StudyOptions { division, ..StudyOptions::default() }, &few)?.notes.is_empty());
    }
    let single = with(1)?;
    let refused = design(&StudyOptions::default(), &single).err();
    assert!(matches!(refused, Some(Error::SingleSample(name)) if name == "rare"));
    Ok(())
}

#[test]
fn groups_are_the_ids_of_samples() -> Result<(), Error> {
    let ids = |empty: bool| {
        let id = |i: usize| if empty && i == 4 { String::new() } else { format!("p{}", i * 5 % 3) };
        (0..20).map(id).collect()
    };
    let data = |empty| Ok::<_, Error>(data(&halves(20))?.with_sample_ids(ids(empty))?);
    assert_eq!(groups("batch", &data(false)?)?[..6], [0, 2, 1, 0, 2, 1]);
    assert!(matches!(groups("batch", &data(true)?), Err(Error::NoGroup { row: 4, .. })));
    let division = |folds| Division::Groups { name: "batch".to_owned(), folds };
    let of = |division| design(&StudyOptions { division, ..StudyOptions::default() }, &data(false)?);
    assert_eq!(of(division(None))?.splitter_text, "a fold for each group of `batch`");
    let found = of(division(Some(2)))?;
    assert_eq!(found.splitter_text, "2 folds, groups of `batch` kept together");
    let folds = found.splitter.splits(&data(false)?, 0)?;
    for split in &folds {
        let group = |row: &usize| row * 5 % 3;
        assert!(split.test.iter().all(|row| split.train.iter().all(|other| group(row) != group(other))));
    }
    Ok(())
}

#[test]
fn the_identity_depends_on_data_missing_values_and_parameters() -> Result<(), Error> {
    let knn = |parameters: &[&str]| StudyOptions {
        learner: Some("knn".to_owned()),
        learner_parameters: parameters.iter().map(|word| (*word).to_owned()).collect(),
        ..StudyOptions::default()
    };
    let (first, second) = (data(&halves(20))?, data(&halves(22))?);
    let plain = design(&knn(&[]), &first)?.identity;
    assert_eq!(design(&knn(&[]), &first)?.identity, plain);
    assert_ne!(design(&knn(&[]), &second)?.identity, plain);
    let info = DataInfo { gaps: 1, ..DataInfo::new("t", &first) };
    assert_ne!(
        Design::new(Registry::standard(), &knn(&[]), &first, &info, Terms::default())?.identity,
        plain
    );
    let found = design(&knn(&["neighbours=3"]), &first)?;
    assert_ne!(found.identity, plain);
    assert_eq!(found.notes, ["nearest-neighbours with neighbours=3"]);
    Ok(())
}

/// Of ten against ten the class of the one left out is the rarer one.
#[test]
fn leaving_one_out_of_equal_classes_misleads_guessing() -> Result<(), Error> {
    let told = |labels: &[&str], folds: usize| -> Result<bool, Error> {
        let options = StudyOptions { division: Division::Folds(folds), ..StudyOptions::default() };
        Ok(design(&options, &data(labels)?)?.notes.iter().any(|note| note.contains("(none)")))
    };
    assert!(told(&halves(20), 20)? && !told(&halves(20), 10)?);
    let mostly = [&["a"; 12][..], &["b"; 8]].concat();
    assert!(!told(&mostly, 20)?);
    Ok(())
}
