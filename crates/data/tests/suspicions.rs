//! Columns that are valid, but possibly not what the user intended.

use crate::support::{assert_says, columns, message, read_csv};
use fewest_core::FeatureKind;
use fewest_data::{Missing, ReadOptions, Table, TargetChoice, Task};

fn default() -> ReadOptions {
    ReadOptions::default()
}

/// The single note, which must be one line.
fn note(table: &Table) -> &str {
    let [note] = table.notes() else { panic!("{:?}", table.notes()) };
    assert_eq!(note.lines().count(), 1);
    note
}

#[test]
fn decimal_commas_are_numbers_where_no_comma_divides_cells() {
    let plain = read_csv("a,b,c\n1.5,2,-3e2\n2,4,.5\n", &default()).unwrap();
    assert!(plain.notes().is_empty());
    for mark in [";", "\t", "|"] {
        let text = "a;b;c\n1,5;2;-3,0e2\n2;4;,5\n".replace(';', mark);
        let table = read_csv(&text, &default()).unwrap();
        assert_eq!(columns(table.features()), columns(plain.features()), "{text}");
        let expected =
            ["line 2, column `a` (0", "`1,5`", "decimal comma", "the same in 1 more column", "--categorical"];
        assert_says(note(&table), &expected);
    }
    // Without names, commas outnumber semicolons in the first line.
    let table = read_csv("1,5;2,5;3,5\n4;5;6,25\n", &default()).unwrap();
    assert_eq!(columns(table.features()), [[1.5, 4.0], [2.5, 5.0], [3.5, 6.25]]);
    let options = ReadOptions { categorical: vec!["a".to_owned()], ..default() };
    let table = read_csv("a;b\n1,5;2\n1,5;4\n", &options).unwrap();
    assert_eq!(*table.feature_kind(0), FeatureKind::Categorical { levels: vec!["1,5".to_owned()] });
    assert!(table.notes().is_empty());
    let table = read_csv("a;y\n1;1,5\n2;0,25\n3;2\n", &ReadOptions::with_target("y")).unwrap();
    let complete = table.complete(Missing::Error).unwrap();
    assert_eq!(complete.dataset.target().describe(), "1 real output");
}

#[test]
fn decimal_commas_and_points_in_one_column_are_an_error() {
    let error = message(read_csv("a;b\n1,234;2\n12.5;4\n", &default()));
    assert_says(&error, &["line 3", "column `a` (0", "`1,234` and `12.5`", "one decimal mark"]);
    let error = message(read_csv("a;b\n1,5;2\n1.234,5;4\n", &default()));
    assert_says(&error, &["line 3", "`1.234,5` is text in a column of numbers"]);
}

#[test]
fn text_that_looks_like_something_else_has_a_note() {
    for (cells, looks) in [
        (["\"1,234\"", "\"2,500\"", "\"300\""], "a number with commas"),
        (["12%", "5 %", "7.5%"], "a percentage"),
        (["2021-03-04", "2021-03-05", "unknown"], "a date"),
    ] {
        let [a, b, c] = cells;
        let text = format!("a,b\n{a},1\n{b},2\n{},3\n", if c == "\"300\"" { "\"3,0\"" } else { c });
        let table = read_csv(&text, &default()).unwrap();
        let expected = ["line 2, column `a` (0", a.trim_matches('"'), looks, "--categorical"];
        assert_says(note(&table), &expected);
        let options = ReadOptions { categorical: vec!["a".to_owned()], ..default() };
        assert!(read_csv(&text, &options).unwrap().notes().is_empty());
        let error = message(read_csv(&text, &ReadOptions::with_target("a")));
        assert_says(&error, &["line 2", "column `a` (0", looks, "--task classification"]);
        let options = ReadOptions { task: Task::Classification, ..ReadOptions::with_target("a") };
        assert!(read_csv(&text, &options).unwrap().notes().is_empty());
    }
    // One of three is not most.
    let table = read_csv("a,b\nred,1\n5%,2\nblue,3\n", &default()).unwrap();
    assert!(table.notes().is_empty());
}

#[test]
fn a_level_for_each_sample_has_a_note() {
    let rows = |levels: usize, n: usize| {
        (0..n).fold("id,b\n".to_owned(), |text, i| format!("{text}s{},{}\n", i % levels, i % 7))
    };
    let table = read_csv(rows(40, 40), &default()).unwrap();
    let expected = ["column `id` (0", "40 levels in 40 samples", "--id-column", "--ignore"];
    assert_says(note(&table), &expected);
    assert_says(note(&read_csv(rows(30, 40), &default()).unwrap()), &["30 levels in 40 samples"]);
    for (levels, n) in [(20, 40), (9, 9)] {
        assert!(read_csv(rows(levels, n), &default()).unwrap().notes().is_empty());
    }
    for options in [
        ReadOptions { id: Some("id".to_owned()), ..default() },
        ReadOptions { ignore: vec!["id".to_owned()], ..default() },
    ] {
        assert!(read_csv(rows(40, 40), &options).unwrap().notes().is_empty());
    }
}

#[test]
fn summaries_number_columns_as_the_file_does() {
    let options = ReadOptions { ignore: vec!["b".to_owned()], ..ReadOptions::with_target("a") };
    let summary = read_csv("a,b,c,d\n1.5,2,3,4\n5,6,7,8\n", &options).unwrap().summary();
    let numbers: Vec<_> = summary.features.iter().map(|feature| feature.number).collect();
    assert_eq!(numbers, [Some(2), Some(3)]);
}

/// Twenty rows of columns, each from the number of the row.
fn rows(header: &str, row: impl Fn(usize) -> String) -> String {
    format!("{header}\n") + &(0..20).map(|i| row(i) + "\n").collect::<String>()
}

#[test]
fn numbers_of_rows_are_noted() {
    let told = |text: &str| read_csv(text, &ReadOptions::with_target("y")).unwrap().notes().to_vec();
    let increasing = rows("a,b,y", |i| format!("{},{},{}", 3 * i, i * 7 % 20, i as f64 / 8.0));
    assert_says(
        &told(&increasing)[0],
        &["column `a` (0", "looks like a row number", "--id-column a", "--ignore"],
    );
    // In any order, if the name says so.
    for (name, expected) in [("Nr", 1), ("id", 1), ("age", 0)] {
        let mixed = rows(&format!("b,{name},y"), |i| format!("{},{},{}", i % 3, i * 7 % 20, i as f64 / 8.0));
        assert_eq!(told(&mixed).len(), expected, "{name}");
    }
    // Repeated, with a fraction, or few.
    assert!(told(&rows("id,y", |i| format!("{},{}", i / 2, i as f64 / 8.0))).is_empty());
    assert!(told(&rows("a,y", |i| format!("{}.5,{}", i, i as f64 / 8.0))).is_empty());
    assert!(told("a,y\n1,0.5\n2,0.25\n3,0.125\n").is_empty());
    let options = ReadOptions { id: Some("a".to_owned()), ..ReadOptions::with_target("y") };
    assert!(read_csv(&increasing, &options).unwrap().notes().is_empty());
}

#[test]
fn numbers_as_classes_are_noted() {
    let noted = |n_classes: usize, task: Task| {
        let text = rows("a,y", |i| format!("{},{}", i * 7 % 5, i % n_classes));
        let table = read_csv(&text, &ReadOptions { task, ..ReadOptions::with_target("y") }).unwrap();
        table.notes().concat()
    };
    // Each twice, or few: classes.
    let counts: String = (0..24).map(|i| format!("{},{}\n", i * 7 % 5, i % 12)).collect();
    let table = read_csv(format!("a,y\n{counts}"), &ReadOptions::with_target("y")).unwrap();
    assert_says(note(&table), &["12 different whole numbers", "read as classes", "--task regression"]);
    assert!(noted(3, Task::Auto).is_empty());
    let many = noted(19, Task::Classification);
    assert_says(&many, &["19 classes in 20 samples", "--task regression, --target"]);
    assert!(noted(10, Task::Classification).is_empty());
}

/// What was left out by name is no target, and the error says why it would be one.
#[test]
fn an_ignored_column_is_not_guessed_as_the_target() {
    let target = TargetChoice::Guess { or_last: true };
    let options = ReadOptions { ignore: vec!["c".to_owned()], target, ..default() };
    let told = message(read_csv("a,b,c\n1,2.5,7\n2,4.5,9\n", &options));
    assert_says(
        &told,
        &[
            "column `c`",
            "it is ignored, and no other is known to be the target",
            "the last column",
            "--target",
        ],
    );
}
