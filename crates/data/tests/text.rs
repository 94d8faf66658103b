//! Tables of text and svmlight files: what is read, by which rules.

use crate::support::{Folder, assert_says, columns, format, gzip, message, read_csv};
use fewest_core::{FeatureKind, Target};
use fewest_data::{Header, Missing, ReadOptions, Table, TargetChoice, Task};

fn default() -> ReadOptions {
    ReadOptions::default()
}

fn levels(table: &Table, j: usize) -> Vec<String> {
    match table.feature_kind(j) {
        FeatureKind::Categorical { levels } => levels.clone(),
        kind => panic!("feature {j} is {kind:?}"),
    }
}

fn classes(table: Table) -> (Vec<u32>, Vec<String>) {
    match table.complete(Missing::Error).unwrap().dataset.target() {
        Target::Class(classes) => (classes.codes().to_vec(), classes.names().to_vec()),
        target => panic!("the target is {}", target.describe()),
    }
}

#[test]
fn names_kinds_and_codes() {
    let text = "size,colour,y\n1.5,red,a\n-2e3,blue,b\n+.25,red,a\n";
    let table = read_csv(text, &ReadOptions::with_target("y")).unwrap();
    assert_eq!(table.format(), format("csv"));
    assert_eq!((table.feature_name(0), table.feature_name(1)), ("size".to_owned(), "colour".to_owned()));
    assert_eq!(*table.feature_kind(0), FeatureKind::Numeric);
    assert_eq!(levels(&table, 1), ["blue", "red"]);
    assert_eq!(columns(table.features()), [[1.5, -2000.0, 0.25], [1.0, 0.0, 1.0]]);
    assert_eq!(table.target_names(), ["y"]);
    assert_eq!(classes(table), (vec![0, 1, 0], vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn the_same_table_in_many_writings() {
    let plain = read_csv("a,b,c\n1,2,x\n3,4,y\n", &default()).unwrap();
    let expected = columns(plain.features());
    let folder = Folder::new();
    for (name, content) in [
        ("crlf.csv", "a,b,c\r\n1,2,x\r\n3,4,y\r\n"),
        ("no-end.csv", "a,b,c\n1,2,x\n3,4,y"),
        ("mac.csv", "a,b,c\r1,2,x\r3,4,y\r"),
        ("mark.csv", "\u{feff}a,b,c\n1,2,x\n3,4,y\n"),
        ("quoted.csv", "\"a\",\"b\",\"c\"\n\"1\",\"2\",\"x\"\n\"3\",\"4\",\"y\"\n"),
        ("blank-lines.csv", "\n\na,b,c\n\n1,2,x\n3,4,y\n\n"),
        ("blanks.csv", "a , b,c\n 1,2 , x\n3,4,y \n"),
        ("table.tsv", "a\tb\tc\n1\t2\tx\n3\t4\ty\n"),
        ("tabs.csv", "a\tb\tc\n1\t2\tx\n3\t4\ty\n"),
        ("semicolons.csv", "a;b;c\n1;2;x\n3;4;y\n"),
        ("for-excel.csv", "sep=;\na;b;c\n1;2;x\n3;4;y\n"),
        ("for-excel.tsv", "\u{feff}SEP=:\r\na:b:c\r\n1:2:x\r\n3:4:y\r\n"),
        ("bars.txt", "a|b|c\n1|2|x\n3|4|y\n"),
        ("no-extension", "a,b,c\n1,2,x\n3,4,y\n"),
    ] {
        let table = folder.read(name, content, &default()).unwrap();
        assert_eq!(columns(table.features()), expected, "{name}");
        assert_eq!(table.feature_name(0), "a", "{name}");
        assert_eq!(table.feature_name(2), "c", "{name}");
        let table = folder.read(&format!("{name}.gz"), gzip(content), &default()).unwrap();
        assert_eq!(columns(table.features()), expected, "{name}.gz");
        // Compressed content is known by its first bytes, not by its name.
        let table = folder.read(name, gzip(content), &default()).unwrap();
        assert_eq!(columns(table.features()), expected, "{name}, compressed");
    }
}

#[test]
fn quoted_cells_may_hold_delimiters_quotes_and_line_ends() {
    let table = read_csv("a,b\n\"x, \"\"y\"\"\",1\n\"two\nlines\",2\nz,3\n", &default()).unwrap();
    assert_eq!(levels(&table, 0), ["two\nlines", "x, \"y\"", "z"]);
    // Lines are counted in the file, not by samples.
    let text = "a,b\n\"two\nlines\",1\n\nz,\n";
    let message =
        read_csv(text, &default()).unwrap().complete(Missing::Error).map(|_| ()).unwrap_err().to_string();
    assert_says(&message, &["line 5, column `b` (1, counted from 0)"]);
}

#[test]
fn header_is_found_by_text_over_numbers() {
    for (text, header, n_samples, first_name) in [
        ("a,b\n1,2\n", Header::Auto, 1, "a"),
        ("1,2\n3,4\n", Header::Auto, 2, "f0"),
        ("1,2\n3,4\n", Header::Yes, 1, "1"),
        // Names that are numbers, but one that is not.
        ("100,200,target\n3,4,5\n", Header::Auto, 1, "100"),
        // Text in the first line over text in the second is a value.
        ("M,0.5\nF,0.25\n", Header::Auto, 2, "f0"),
        // No number anywhere in the first line: names.
        ("a,b\nM,x\n", Header::Auto, 1, "a"),
        ("a,b\nM,x\n", Header::No, 2, "f0"),
        // A missing value is no name.
        ("NA,2\n3,4\n", Header::Auto, 2, "f0"),
    ] {
        let table = read_csv(text, &ReadOptions { header, ..default() }).unwrap();
        assert_eq!(
            (table.n_samples(), table.feature_name(0).as_str()),
            (n_samples, first_name),
            "{text:?} {header}"
        );
    }
}

#[test]
fn columns_are_named_by_name_then_number_then_last() {
    let text = "2,b,last,d\n10,20,30,45\n11,21,31,41\n12,22,32,42\n";
    for (target, expected) in [("b", 20.0), ("2", 10.0), ("0", 10.0), ("3", 45.0), ("last", 30.0)] {
        let options =
            ReadOptions { task: Task::Regression, header: Header::Yes, ..ReadOptions::with_target(target) };
        let complete = read_csv(text, &options).unwrap().complete(Missing::Error).unwrap();
        let Target::Real(outputs) = complete.dataset.target() else { panic!() };
        assert_eq!(outputs.output(0)[0], expected, "{target}");
    }
    let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target("last") };
    let table = read_csv("1,2,3\n4,5,6\n", &options).unwrap();
    assert_eq!(columns(table.features()), [[1.0, 4.0], [2.0, 5.0]]);
}

#[test]
fn several_targets_make_several_outputs() {
    let options =
        ReadOptions { target: TargetChoice::Columns(vec!["y2".to_owned(), "y1".to_owned()]), ..default() };
    let complete = read_csv("y1,x,y2\n1,2,3\n4,5,6\n", &options).unwrap().complete(Missing::Error).unwrap();
    let Target::Real(outputs) = complete.dataset.target() else { panic!() };
    assert_eq!((outputs.output(0), outputs.output(1)), (&[3.0, 6.0][..], &[1.0, 4.0][..]));
    assert_eq!(complete.target_names, ["y2", "y1"]);
}

#[test]
fn task_decides_what_a_target_is() {
    let text = "x,y\n1,2\n2,2\n3,10\n";
    let with = |task| ReadOptions { task, ..ReadOptions::with_target("y") };
    assert_eq!(classes(read_csv(text, &with(Task::Auto)).unwrap()).1, ["2", "10"]);
    let complete = read_csv(text, &with(Task::Regression)).unwrap().complete(Missing::Error).unwrap();
    assert!(matches!(complete.dataset.target(), Target::Real(_)));
    let text = "x,y\n1,0.5\n2,1.5\n3,0.50\n";
    let complete = read_csv(text, &with(Task::Auto)).unwrap().complete(Missing::Error).unwrap();
    assert!(matches!(complete.dataset.target(), Target::Real(_)));
    let (codes, names) = classes(read_csv(text, &with(Task::Classification)).unwrap());
    assert_eq!((codes, names), (vec![0, 1, 0], vec!["0.5".to_owned(), "1.5".to_owned()]));
    // How classes are written in the file is kept.
    let table = read_csv("x,y\n1,+1\n2,-1\n3,1.0\n", &with(Task::Auto)).unwrap();
    assert_eq!(classes(table), (vec![1, 0, 1], vec!["-1".to_owned(), "+1".to_owned()]));
}

#[test]
fn ids_ignored_and_categorical_columns() {
    let text = "name,x,sex,note,y\nann,1,2,n/a,0\nbob,2,1,whatever,1\ncy,3,10,7,1\n";
    let options = ReadOptions {
        id: Some("name".to_owned()),
        ignore: vec!["note".to_owned()],
        categorical: vec!["sex".to_owned()],
        ..ReadOptions::with_target("y")
    };
    let table = read_csv(text, &options).unwrap();
    assert_eq!(table.n_features(), 2);
    assert_eq!(levels(&table, 1), ["1", "2", "10"]);
    let complete = table.complete(Missing::Error).unwrap();
    assert_eq!(complete.dataset.sample_ids().unwrap(), ["ann", "bob", "cy"]);
    assert_eq!(columns(complete.dataset.x()), [[1.0, 2.0, 3.0], [1.0, 0.0, 2.0]]);
}

#[test]
fn a_first_column_without_a_name_holds_ids() {
    let complete = read_csv(",x\nr1,1\nr2,2\n", &default()).unwrap().complete(Missing::Error).unwrap();
    assert_eq!(complete.dataset.sample_ids().unwrap(), ["r1", "r2"]);
    assert_eq!(columns(complete.dataset.x()), [[1.0, 2.0]]);
}

#[test]
fn missing_tokens() {
    let text = "a,b\nNA,x\n?,n/a\n,y\nnan,NULL\n5,x\n";
    let table = read_csv(text, &default()).unwrap();
    let summary = table.summary();
    assert_eq!((summary.features[0].n_missing, summary.features[1].n_missing), (4, 2));
    let options = ReadOptions { missing_tokens: vec!["-999".to_owned(), "gone".to_owned()], ..default() };
    let table = read_csv("a,b\n-999.0,x\n1,GONE\n2,NA\n", &options).unwrap();
    let summary = table.summary();
    assert_eq!((summary.features[0].n_missing, summary.features[1].n_missing), (1, 1));
    assert_eq!(levels(&table, 1), ["NA", "x"]);
}

/// A point in a cell that means "missing" is not that of a number.
#[test]
fn two_decimal_marks_are_told_behind_a_missing_cell() {
    let options = ReadOptions { missing_tokens: vec!["-99.5".to_owned()], ..default() };
    let told = |text: &str| message(read_csv(text, &options));
    assert_says(&told("a;b\n-99.5;1\n2.5;1\n1,5;1\n"), &["line 4", "`1,5` and `2.5`", "decimal mark"]);
    assert_says(&told("a;b\n1,5;1\n-99.5;1\n2.5;1\n"), &["line 4", "`1,5` and `2.5`"]);
    let table = read_csv("a;b\n-99.5;1\n1,5;1\n", &options).unwrap();
    assert_eq!(table.summary().n_missing, 1);
}

#[test]
fn numbers_and_text_do_not_mix() {
    let text = "age,y\n31,1\n42,0\nunknown,1\n50,0\n";
    let says = message(read_csv(text, &ReadOptions::with_target("y")));
    assert_says(
        &says,
        &["line 4", "`age` (0, counted from 0)", "`unknown`", "--missing-token", "--categorical"],
    );
    let says = message(read_csv("a,b\nx,1\ny,1\n3,1\n", &default()));
    assert_says(&says, &["line 4", "`3` is a number", "`x`", "--categorical"]);
    let options = ReadOptions { categorical: vec!["age".to_owned()], ..ReadOptions::with_target("y") };
    assert_eq!(levels(&read_csv(text, &options).unwrap(), 0), ["31", "42", "50", "unknown"]);
    let options = ReadOptions { missing_tokens: vec!["unknown".to_owned()], ..ReadOptions::with_target("y") };
    assert_eq!(read_csv(text, &options).unwrap().summary().n_missing, 1);
}

#[test]
fn svmlight() {
    let text = "# made by hand\n+1 qid:3 1:0.5 4:-2 # first\n-1 2:1e3\n\n+1\n-1 1:1 2:nan 3:0\n";
    let folder = Folder::new();
    for (name, content) in [
        ("data.svm", text.as_bytes().to_vec()),
        ("data.svmlight.gz", gzip(text)),
        // Known by its first line.
        ("heart_scale", text.as_bytes().to_vec()),
        ("windows.libsvm", text.replace('\n', "\r\n").into_bytes()),
    ] {
        let table = folder.read(name, content, &default()).unwrap();
        assert_eq!(table.format(), format("svmlight"), "{name}");
        assert_eq!((table.n_samples(), table.n_features()), (4, 4), "{name}");
        let summary = table.summary();
        assert_eq!((summary.n_stored, summary.n_missing), (Some(6), 1), "{name}");
        let complete = table.complete(Missing::Mean).unwrap();
        let expected =
            [[0.5, 0.0, 0.0, 1.0], [0.0, 1000.0, 0.0, 1000.0 / 3.0], [0.0; 4], [-2.0, 0.0, 0.0, 0.0]];
        assert_eq!(columns(complete.dataset.x()), expected, "{name}");
        let Target::Class(classes) = complete.dataset.target() else { panic!() };
        assert_eq!(
            (classes.codes(), classes.names()),
            (&[1, 0, 1, 0][..], &["-1".to_owned(), "+1".to_owned()][..])
        );
    }
    let options = ReadOptions { target: TargetChoice::None, ..default() };
    let complete =
        folder.read("data.svm", "1 1:2\n2 1:3\n", &options).unwrap().complete(Missing::Error).unwrap();
    assert!(matches!(complete.dataset.target(), Target::None));
}
