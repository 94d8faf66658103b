//! Selected features made again from the rows of other files.

use crate::support::{self, assert_says, columns};
use fewest_data::{Error, Missing, ReadOptions, Reduced, Reduction, Table, Unknown};

fn read(name: &str, text: &str, options: &ReadOptions) -> Result<Table, Error> {
    Table::read_bytes(name, text.as_bytes().into(), options)
}

/// The reduction to some features of a table.
fn reduction(name: &str, text: &str, options: &ReadOptions, features: &[usize]) -> Reduction {
    let missing = Missing::Mean;
    let complete = read(name, text, options).unwrap().complete(missing).unwrap();
    Reduction::of(&complete, missing, features).unwrap()
}

fn applied(reduction: &Reduction, name: &str, text: &str, options: ReadOptions) -> Result<Reduced, Error> {
    let options = ReadOptions { reduction: Some(reduction.clone()), ..options };
    reduction.apply(read(name, text, &options)?, Unknown::Error)
}

fn told(result: Result<Reduced, Error>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

fn values(result: Result<Reduced, Error>) -> Vec<Vec<f64>> {
    columns(result.unwrap().dataset.x())
}

fn default() -> ReadOptions {
    ReadOptions::default()
}

#[test]
fn indices_count_as_in_the_training_file() {
    let from_zero = reduction("t.svm", "1 0:1 3:4\n0 1:2 2:3\n", &default(), &[3, 1]);
    // No index is 0 here.
    let new = "1 1:10 3:30\n";
    assert_eq!(values(applied(&from_zero, "new.svm", new, default())), [[30.0], [10.0]]);
    let options = ReadOptions { first_index: Some(0), ..default() };
    assert_eq!(values(applied(&from_zero, "new.svm", new, options)), [[30.0], [10.0]]);
    let options = ReadOptions { first_index: Some(1), ..default() };
    assert_says(
        &told(applied(&from_zero, "new.svm", new, options)),
        &["`first_index` is 1", "must be 0, as in the training table"],
    );
    let from_one = reduction("t.svm", "1 1:1 3:4\n0 2:2\n", &default(), &[2]);
    assert_eq!(values(applied(&from_one, "new.svm", new, default())), [[30.0]]);
    let message = told(applied(&from_one, "new.svm", "1 0:10 3:30\n", default()));
    assert_says(&message, &["line 1: the index 0", "those of the training table count from 1"]);
    assert!(!message.contains("--first-index"), "{message}");
}

#[test]
fn words_for_missing_are_those_of_the_training_file() {
    let mut tokens = default().missing_tokens;
    tokens.push("-999".to_owned());
    let options = ReadOptions { missing_tokens: tokens, ..default() };
    let training = "a,b\n1,5\n-999,6\n3,7\n";
    let of = reduction("t.csv", training, &options, &[0]);
    let new = "a\n-999\n10\n";
    assert_eq!(values(applied(&of, "new.csv", new, default())), [[2.0, 10.0]]);
    assert_eq!(values(applied(&of, "new.csv", new, options.clone())), [[2.0, 10.0]]);
    let mut other = options.clone();
    other.missing_tokens.push("none".to_owned());
    assert_says(
        &told(applied(&of, "new.csv", new, other)),
        &["`missing_tokens` is `none`", "`-999`, as in the training table"],
    );
    // Where it was a value in the training table, it is one here.
    let of = reduction("t.csv", training, &default(), &[0]);
    assert_eq!(values(applied(&of, "new.csv", new, default())), [[-999.0, 10.0]]);
    assert_says(&told(applied(&of, "new.csv", new, options)), &["`missing_tokens` is `-999`", "left out"]);
}

/// A sparse file has numbers for columns, and nothing else.
#[test]
fn names_and_categories_are_not_looked_for_in_a_sparse_file() {
    let named = reduction("t.csv", "a,b\n1,5\n2,6\n", &default(), &[1]);
    let message = told(applied(&named, "new.svm", "1 1:2 2:3\n", default()));
    assert_says(&message, &["new.svm: svmlight files have no names", ".csv"]);
    let of = reduction("t.csv", "1,x\n2,y\n", &default(), &[1]);
    let message = told(applied(&of, "new.svm", "1 1:2 2:1\n", default()));
    assert_says(&message, &["new.svm: `f1` is categorical in the training table"]);
    // Numbers without names fit.
    let of = reduction("t.csv", "1,3\n2,4\n", &default(), &[1]);
    assert_eq!(values(applied(&of, "new.svm", "1 1:2 2:1\n", default())), [[1.0]]);
}

/// A column that is not there is no column of zeros, whatever options the table was read with.
#[test]
fn columns_of_a_dense_table_are_all_there() {
    let of = reduction("t.csv", "a,b\n1,5\n2,6\n", &default(), &[1]);
    let table = read("new.csv", "a,c\n1,5\n", &default()).unwrap();
    assert_says(
        &told(of.apply(table, Unknown::Error)),
        &["new.csv: the column `b` of the selection cannot be found"],
    );
}

#[test]
fn categories_that_are_numbers_have_any_spelling() {
    let options = ReadOptions { categorical: vec!["a".to_owned()], ..default() };
    let of = reduction("t.csv", "a,b\n2,5\n-0,6\n10,7\n", &options, &[0]);
    let found = values(applied(&of, "new.csv", "a\n1e1\n0\n2.0\n", default()));
    assert_eq!(found, [[2.0, 0.0, 1.0]]);
    assert_says(&told(applied(&of, "new.csv", "a\n3\n", default())), &["`3` is not among"]);
}

#[test]
fn the_digest_is_that_of_the_file() {
    let folder = support::Folder::new();
    let text = "a,b\n1,5\n2,6\n";
    let digest = |name: &str, content: &[u8], file_digest: bool| {
        let options = ReadOptions { file_digest, ..default() };
        let table = folder.read(name, content, &options).unwrap();
        assert_eq!(table.n_samples(), 2);
        table.file_digest().map(str::to_owned)
    };
    // By `sha256sum`.
    let expected = "98358f8af6257816d5d9c98c2d30f1770926eb2bc01a979206a74b006425c3e7";
    assert_eq!(digest("t.csv", text.as_bytes(), true).as_deref(), Some(expected));
    assert_eq!(digest("t.csv", text.as_bytes(), false), None);
    let compressed = digest("t.csv.gz", &support::gzip(text), true);
    assert!(compressed.is_some_and(|digest| digest.len() == 64 && digest != expected));
    let options = ReadOptions { file_digest: true, ..default() };
    assert_eq!(read("t.csv", text, &options).unwrap().file_digest(), None);
    let variables = Table::read(support::sample("plain.mat"), &options).unwrap();
    assert!(variables.file_digest().is_some());
}
