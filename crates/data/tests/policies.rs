//! Missing values by policy, and what the summary says.

use crate::support::{Folder, assert_says, columns, read_csv};
use fewest_core::Target;
use fewest_data::{Error, Missing, ReadOptions, Table, TargetChoice, TargetSummary};

const TEXT: &str = "x,c,z,y\n\
                    1,b,10,u\n\
                    ,a,20,v\n\
                    3,,30,u\n\
                    8,b,40,?\n\
                    4,a,,w\n";

fn table() -> Table {
    read_csv(TEXT, &ReadOptions::with_target("y")).unwrap()
}

fn error(table: Table, missing: Missing) -> Error {
    table.complete(missing).map(|_| ()).unwrap_err()
}

#[test]
fn the_first_missing_cell_is_named() {
    let says = error(table(), Missing::Error).to_string();
    assert_says(
        &says,
        &["table.csv: line 3, column `x` (0, counted from 0): the value is missing", "--missing"],
    );
    // First in the order of reading, not of columns; the target counts too.
    let table = read_csv("a,y\n1,\n,1\n", &ReadOptions::with_target("y")).unwrap();
    assert_says(&error(table, Missing::Error).to_string(), &["line 2, column `y` (1, counted from 0)"]);
}

#[test]
fn samples_are_dropped_with_all_that_belongs_to_them() {
    let text = "id,x,c,y\np,1,b,u\nq,,a,v\nr,3,a,w\n";
    let options = ReadOptions { id: Some("id".to_owned()), ..ReadOptions::with_target("y") };
    let complete = read_csv(text, &options).unwrap().complete(Missing::DropRows).unwrap();
    assert_eq!((complete.dropped, complete.filled), (vec![1], 0));
    assert_eq!(columns(complete.dataset.x()), [[1.0, 3.0], [1.0, 0.0]]);
    assert_eq!(complete.dataset.sample_ids().unwrap(), ["p", "r"]);
    // The class of the dropped sample is gone.
    let Target::Class(classes) = complete.dataset.target() else { panic!() };
    assert_eq!((classes.codes(), classes.names()), (&[0, 1][..], &["u".to_owned(), "w".to_owned()][..]));
}

#[test]
fn gaps_are_filled_and_samples_without_target_left_out() {
    // Without line 5, whose target is missing: x holds 1, 3, 4; c holds b, a, a; z holds 10, 20, 30.
    let complete = table().complete(Missing::Mean).unwrap();
    assert_eq!((complete.dropped, complete.filled), (vec![3], 3));
    let expected = [[1.0, 8.0 / 3.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0], [10.0, 20.0, 30.0, 20.0]];
    assert_eq!(columns(complete.dataset.x()), expected);
    let complete = table().complete(Missing::Median).unwrap();
    let expected = [[1.0, 3.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0], [10.0, 20.0, 30.0, 20.0]];
    assert_eq!(columns(complete.dataset.x()), expected);
}

#[test]
fn a_column_without_values_is_named() {
    for missing in [Missing::DropRows, Missing::Mean, Missing::Median] {
        let table = read_csv("a,b,y\n1,NA,2\n2,?,3\n", &ReadOptions::with_target("y")).unwrap();
        let says = error(table, missing).to_string();
        assert_says(&says, &["column `b` (1, counted from 0) has no value", "--ignore"]);
        let table = read_csv("a,y\n1,NA\n2,?\n", &ReadOptions::with_target("y")).unwrap();
        assert_says(&error(table, missing).to_string(), &["column `y` (1, counted from 0) has no value"]);
    }
    // Only once the samples without target are gone.
    let table = read_csv("a,b,y\n1,,2\n2,5,\n", &ReadOptions::with_target("y")).unwrap();
    assert_says(&error(table, Missing::Mean).to_string(), &["column `b`"]);
    let table = read_csv("a,b\n1,\n,2\n", &ReadOptions::default()).unwrap();
    assert_says(
        &error(table, Missing::DropRows).to_string(),
        &["each of the 2 samples", "--missing mean|median"],
    );
}

#[test]
fn sparse_tables_too() {
    let folder = Folder::new();
    let text = "1 1:nan 2:4\n0 2:2\n1 1:6 2:3\nnan 1:1\n0 1:2 3:1\n";
    let table = folder.read("t.svm", text, &ReadOptions::default()).unwrap();
    let says = error(table.clone(), Missing::Error).to_string();
    assert_says(&says, &["line 1, column 0 (counted from 0)"]);
    let complete = table.clone().complete(Missing::DropRows).unwrap();
    assert_eq!(complete.dropped, [0, 3]);
    assert_eq!(columns(complete.dataset.x()), [[0.0, 6.0, 2.0], [2.0, 3.0, 0.0], [0.0, 0.0, 1.0]]);
    // The zeros that are not stored count: 0, 6, 2 have the mean 8/3 and the median 2.
    let complete = table.clone().complete(Missing::Mean).unwrap();
    assert_eq!((columns(complete.dataset.x())[0][0], complete.filled), (8.0 / 3.0, 1));
    let complete = table.complete(Missing::Median).unwrap();
    assert_eq!(columns(complete.dataset.x())[0], [2.0, 0.0, 6.0, 2.0]);
    let options = ReadOptions { target: TargetChoice::None, ..ReadOptions::default() };
    let table = folder.read("t.svm", "1 1:nan 2:1\n1 1:nan\n", &options).unwrap();
    assert_says(&error(table, Missing::Mean).to_string(), &["column 0 (counted from 0) has no value"]);
}

#[test]
fn summary_of_a_table() {
    let text = "x,c,k,x2,y\n1,b,5,1,u\n,a,5,,v\n-3,,5,-3,u\n0,b,,-0,\n";
    let table = read_csv(text, &ReadOptions::with_target("y")).unwrap();
    let summary = table.summary();
    assert_eq!((summary.n_samples, summary.n_features, summary.n_categorical), (4, 4, 1));
    assert_eq!((summary.n_missing, summary.n_incomplete_samples, summary.n_stored), (4, 3, None));
    assert_eq!(summary.duplicates, [(3, 0)]);
    let x = &summary.features[0];
    assert_eq!((x.name.as_str(), x.n_missing, x.constant), ("x", 1, false));
    assert_eq!((x.minimum, x.maximum), (Some(-3.0), Some(1.0)));
    assert!((x.mean.unwrap() + 2.0 / 3.0).abs() < 1e-15);
    let c = &summary.features[1];
    assert_eq!((c.levels.as_deref(), c.minimum), (Some(&["a".to_owned(), "b".to_owned()][..]), None));
    assert!(summary.features[2].constant);
    let expected = TargetSummary::Class {
        name: "y".to_owned(),
        classes: vec![("u".to_owned(), 2), ("v".to_owned(), 1)],
        n_missing: 1,
    };
    assert_eq!(summary.target, expected);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["target"]["kind"], "class");
}

#[test]
fn summary_is_the_same_for_sparse_and_dense() {
    let folder = Folder::new();
    let sparse =
        folder.read("t.svm", "1 1:2 3:2\n2 2:-1\n3 1:4 3:4\n4 4:0\n", &ReadOptions::default()).unwrap();
    let dense = folder
        .read("t.csv", "2,0,2,0,1\n0,-1,0,0,2\n4,0,4,0,3\n0,0,0,0,4\n", &ReadOptions::with_target("4"))
        .unwrap();
    let (sparse, dense) = (sparse.summary(), dense.summary());
    assert_eq!(sparse.features, dense.features);
    assert_eq!(sparse.duplicates, dense.duplicates);
    assert_eq!(dense.duplicates, [(2, 0)]);
    assert!(dense.features[3].constant && !dense.features[1].constant);
}
