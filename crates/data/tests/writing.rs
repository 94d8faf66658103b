//! What is written reads back as the same, and nothing half-written is left.

use std::fs;
use std::path::Path;

use crate::support::{Folder, assert_says, columns, read_csv};
use fewest_core::{Dataset, DenseColumns, FeatureKind, Target};
use fewest_data::{
    Missing, ReadOptions, Table, TargetChoice, Task, check_writable, write_atomically, write_csv, write_json,
};
use proptest::prelude::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_is_no_file_to_write() {
    let folder = Folder::new();
    let told = check_writable(folder.path()).unwrap_err().to_string();
    assert_says(&told, &["this is a folder", "name a file in it"]);
    assert!(check_writable(folder.path().join("new.csv")).is_ok());
}

#[test]
fn a_reduced_table_keeps_names_levels_classes_and_ids() {
    let text =
        "who,a,\"b, \"\"c\"\"\",colour,y\nr1,1,0.1,dark red,+1\nr2,2,1e-300,blue,-1\nr3,3,-7e22,blue,+1\n";
    let options = ReadOptions { id: Some("who".to_owned()), ..ReadOptions::with_target("y") };
    let complete = read_csv(text, &options).unwrap().complete(Missing::Error).unwrap();
    let folder = Folder::new();
    let path = folder.path().join("reduced.csv");
    write_csv(&path, &complete.dataset, &[2, 1], &complete.target_names).unwrap();
    let expected = "who,colour,\"b, \"\"c\"\"\",y\nr1,dark red,0.1,+1\nr2,blue,1e-300,-1\nr3,blue,-7e22,+1\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let again = Table::read(&path, &options).unwrap().complete(Missing::Error).unwrap();
    assert_eq!(again.dataset.sample_id_name(), Some("who"));
    assert_eq!(again.dataset.sample_ids(), complete.dataset.sample_ids());
    assert_eq!(again.dataset.target(), complete.dataset.target());
    let original = columns(complete.dataset.x());
    assert_eq!(columns(again.dataset.x()), [original[2].clone(), original[1].clone()]);
}

#[test]
fn tables_that_cannot_be_written_leave_no_file() {
    let x = DenseColumns::from_columns(&[vec![1.0, 2.0], vec![3.0, 4.0]]).unwrap();
    let data = Dataset::new(x, Target::real(vec![1.0, 2.0]).unwrap()).unwrap();
    let folder = Folder::new();
    let path = folder.path().join("t.csv");
    let says = |result: Result<(), fewest_data::Error>| result.unwrap_err().to_string();
    assert_says(&says(write_csv(&path, &data, &[2], &[])), &["`feature` is 2", "number of features, 2"]);
    assert_says(&says(write_csv(&path, &data, &[0, 0], &[])), &["column name", "`f0`"]);
    assert_says(&says(write_csv(&path, &data, &[0], &["f0".to_owned()])), &["column name", "`f0`"]);
    let affinity = Target::affinity(vec![1.0, 0.0, 0.0, 1.0], 2).unwrap();
    let linked = Dataset::shared(data.shared_x(), affinity).unwrap();
    assert_says(&says(write_csv(&path, &linked, &[0], &[])), &["affinity"]);
    assert!(names(folder.path()).is_empty());
    let nowhere = folder.path().join("no/such/folder/t.csv");
    assert_says(&says(write_csv(nowhere, &data, &[0], &[])), &["t.csv: cannot be written"]);
    assert_says(&says(write_atomically(folder.path(), b"x")), &["cannot be written"]);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_failure_half_way_leaves_the_old_content() {
    struct Fails;
    impl serde::Serialize for Fails {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut list = serializer.serialize_seq(None)?;
            list.serialize_element(&"written before the failure")?;
            Err(serde::ser::Error::custom("no more"))
        }
    }
    let folder = Folder::new();
    let path = folder.write("answer.json", "old");
    let error = write_json(&path, &Fails).unwrap_err().to_string();
    assert_says(&error, &["answer.json: cannot be written: no more"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    write_json(&path, &"new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "\"new\"\n");
    assert_eq!(names(folder.path()), ["answer.json"]);
}

#[cfg(unix)]
#[test]
fn links_modes_and_devices() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let real = folder.write("real.txt", "old");
    let link = folder.path().join("link.txt");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_atomically(&link, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    // As readable as a file that is made in the usual way.
    let usual = folder.write("usual.txt", "");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&real), mode(&usual));
    write_atomically("/dev/null", b"gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        -1000.0..1000.0,
        Just(0.0),
        Just(-0.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        (-5..5).prop_map(f64::from),
    ]
}

fn level() -> impl Strategy<Value = String> {
    // Text that is no number and no word for missing; blanks around are not part of a cell.
    "[A-Zäöü][ -~\n]{0,8}[!-~]".prop_filter("no word for missing", |text| {
        !["NA", "N/A", "NAN", "NULL"].contains(&text.to_uppercase().as_str()) && text.parse::<f64>().is_err()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn tables_read_back_bit_for_bit(
        (n, values, codes, classes, levels, labels, ids) in (1_usize..8).prop_flat_map(|n| (
            Just(n),
            prop::collection::vec(number(), 3 * n),
            prop::collection::vec(0_usize..3, n),
            prop::collection::vec(0_usize..2, n),
            prop::collection::btree_set(level(), 3),
            prop::collection::btree_set(level(), 2),
            prop::collection::vec("[a-z0-9 ,\"]{0,5}[a-z]", n),
        )),
        classification in any::<bool>(),
    ) {
        // Levels that do not occur are not in the file: let all that is there begin with one of each.
        let present = |codes: &[usize], names: &std::collections::BTreeSet<String>| {
            let names: Vec<String> =
                names.iter().enumerate().filter(|(code, _)| codes.contains(code)).map(|(_, name)| name.clone()).collect();
            let distinct: std::collections::BTreeSet<usize> = codes.iter().copied().collect();
            let dense: Vec<usize> = codes.iter().map(|code| distinct.range(..code).count()).collect();
            (dense, names)
        };
        let (codes, levels) = present(&codes, &levels);
        let (classes, labels) = present(&classes, &labels);
        let target = if classification {
            Target::classes(classes.iter().map(|&code| code as u32).collect(), labels).unwrap()
        } else {
            Target::real(values[2 * n..].to_vec()).unwrap()
        };
        let categories: Vec<f64> = codes.iter().map(|&code| code as f64).collect();
        let all = [&values[..2 * n], &categories].concat();
        let data = Dataset::new(DenseColumns::new(all, n, 3).unwrap(), target).unwrap()
            .with_feature_names(vec!["first".to_owned(), "second, \"quoted\"".to_owned(), "third".to_owned()]).unwrap()
            .with_feature_kinds(vec![FeatureKind::Numeric, FeatureKind::Numeric, FeatureKind::Categorical { levels: levels.clone() }]).unwrap()
            .with_sample_ids(ids.iter().map(|id| id.trim().to_owned()).collect()).unwrap();
        let folder = Folder::new();
        let path = folder.path().join("t.csv");
        write_csv(&path, &data, &[2, 0, 1], &["answer".to_owned()]).unwrap();
        let options = ReadOptions {
            target: TargetChoice::Columns(vec!["answer".to_owned()]),
            task: if classification { Task::Classification } else { Task::Regression },
            header: fewest_data::Header::Yes,
            ..ReadOptions::default()
        };
        let again = Table::read(&path, &options).unwrap().complete(Missing::Error).unwrap().dataset;
        prop_assert_eq!(again.target(), data.target());
        prop_assert_eq!(again.sample_ids(), data.sample_ids());
        prop_assert_eq!(again.feature_kind(0), &FeatureKind::Categorical { levels });
        let bits = |data: &Dataset, j: usize| -> Vec<u64> {
            let values = data.x().column(j, &mut Vec::new()).unwrap().to_vec(n);
            values.iter().map(|value| value.to_bits()).collect()
        };
        for (written, read) in [(2, 0), (0, 1), (1, 2)] {
            prop_assert_eq!(bits(&data, written), bits(&again, read));
            prop_assert_eq!(data.feature_name(written), again.feature_name(read));
        }
    }
}
