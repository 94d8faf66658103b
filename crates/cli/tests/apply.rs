//! `fewest apply`: the selected features, made from the rows of another table.

use crate::common::{Place, words};

/// Categories, gaps, ids, and columns that are not selected; the target is `y`.
fn training() -> String {
    let mut text = String::from("name,colour,age,noise,y\n");
    for i in 0..40 {
        let colour = ["blue", "green", "red"][i % 3];
        let age = if i % 7 == 0 { String::new() } else { format!("{}.1", i % 11) };
        let y = 2.0 * (i % 3) as f64 + 0.3 * (i % 11) as f64;
        text.push_str(&format!("s{i},{colour},{age},{},{y}\n", i * 17 % 19));
    }
    text
}

/// A place with the result of a selection of both columns, and the reduced table of the training rows.
fn place(missing: &str) -> Place {
    let place = Place::new();
    let rows = if missing == "error" { training().replace(",,", ",3.1,") } else { training() };
    place.write("train.csv", &rows);
    let call = format!(
        "select train.csv -t y --id-column name --ignore noise -k 2 --missing {missing} --json r.json \
         --write-reduced reduced.csv"
    );
    place.done(&words(&call));
    place
}

/// The columns of a CSV text, by name, without the target.
fn cells(text: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let mut columns: Vec<Vec<String>> = (0..rows[0].len())
        .map(|j| rows.iter().map(|row| row[j].to_owned()).collect())
        .filter(|column: &Vec<String>| column[0] != "y")
        .collect();
    columns.sort();
    columns
}

#[test]
fn the_training_rows_give_the_reduced_table_again() {
    for missing in ["error", "drop-rows", "mean", "median"] {
        let place = place(missing);
        let ran = place.run(&words("apply r.json train.csv --id-column name --write-reduced again.csv"));
        assert!(ran.status == 0 && ran.stdout.contains("2 features of"), "{}", ran.stdout);
        // Rows that are left out are named.
        let told = "6 rows with missing values left out, as the selection did (--missing drop-rows): line 2, line 9, ";
        assert_eq!(ran.stderr.contains(told), missing == "drop-rows", "{}", ran.stderr);
        assert!(missing == "drop-rows" || ran.stderr.is_empty(), "{}", ran.stderr);
        assert_eq!(cells(&place.read("again.csv")), cells(&place.read("reduced.csv")), "{missing}");
        // The ids keep their name.
        assert!(place.read("reduced.csv").starts_with("name,"), "{}", place.read("reduced.csv"));
    }
}

#[test]
fn columns_are_found_by_name_and_gaps_filled_by_the_training_table() {
    let place = place("mean");
    let ages: Vec<f64> =
        training().lines().skip(1).filter_map(|line| line.split(',').nth(2)?.parse().ok()).collect();
    let mean = ages.iter().sum::<f64>() / ages.len() as f64;
    // Another order, columns of no concern (one of them mixed), no target, a single row, gaps only.
    place.write("new.csv", "mixed,age,colour\n1,,red\nx,5,\n");
    let out = place.done(&words("apply r.json new.csv --write-reduced out.csv"));
    assert!(out.contains("2 missing values filled by the mean or, of categorical features, the most frequent level of the training table"), "{out}");
    let found = cells(&place.read("out.csv"));
    assert_eq!(found[0], ["age", &mean.to_string(), "5"]);
    // Of equally frequent ones: `blue` occurs 14 times, the others 13.
    assert_eq!(found[1], ["colour", "red", "blue"]);
    // To stdout: the table alone.
    assert_eq!(place.done(&words("apply r.json new.csv --write-reduced -")), place.read("out.csv"));
    place.write("one.csv", "colour,age\ngreen,2\n");
    place.done(&words("apply r.json one.csv --write-reduced out.csv"));
    assert!(place.read("out.csv").contains("green"), "{}", place.read("out.csv"));
}

#[test]
fn what_does_not_fit_the_training_table_is_told() {
    let place = place("error");
    for (table, told) in [
        ("age\n1\n", &["new.csv", "the column `colour` of the selection cannot be found"][..]),
        ("x,y\n1,2\n", &["the columns", "`colour`", "`age`", "of the selection cannot be found"]),
        (
            "colour,age\nred,1\npink,2\n",
            &["line 3", "`colour`", "`pink` is not among", "`blue`, `green`, `red`"],
        ),
        (
            "colour,age\nred,1\nred,\n",
            &["line 3", "`age`", "the value is missing", "run `fewest select` again with"],
        ),
        ("colour,age\nred,old\n", &["line 2", "`age`", "`old` is not a number"]),
        (
            "colour,age\nred,5\nred,old\nred,older\n",
            &["line 3", "`age`", "`old` is text in a column of numbers"],
        ),
        ("colour,age\nred,1,3\n", &["line 2", "3 cells"]),
    ] {
        place.write("new.csv", table);
        place.refuses(&words("apply r.json new.csv --write-reduced out.csv"), told);
    }
    place.write("new.csv", "colour,age\nred,1\n");
    for (call, told) in [
        ("apply nothing.json new.csv --write-reduced out.csv", &["nothing.json", "cannot be read"][..]),
        ("apply new.csv new.csv --write-reduced out.csv", &["new.csv", "give the result first"]),
        ("apply r.json new.csv", &["--write-reduced"]),
        ("apply r.json new.csv --write-reduced new.csv", &["input file"]),
        ("apply r.json new.csv --write-reduced r.json", &["input file"]),
        ("apply r.json new.csv --write-reduced out.mat", &[".csv"]),
    ] {
        place.refuses(&words(call), told);
    }
    place.done(&words(
        "score train.csv -t y --id-column name --ignore colour,noise -m correlation --json s.json",
    ));
    place
        .refuses(&words("apply s.json new.csv --write-reduced out.csv"), &["s.json", "fewest select --json"]);
}

/// Columns without names are found by their numbers; a sparse file ends with its last value.
#[test]
fn tables_without_names_are_read_by_number() {
    let place = Place::new();
    let sparse: String =
        (0..30).map(|i| format!("{} 1:{} 4:{} 6:{}\n", i % 2, i * 7 % 5, i % 2 + 3, i * 11 % 13)).collect();
    place.write("t.svm", &sparse);
    place.done(&words("select t.svm -m f-score -k 2 --json r.json"));
    place.write("new.svm", "1 2:5 4:2.5\n0 1:1\n");
    place.done(&words("apply r.json new.svm --write-reduced out.csv"));
    let found = place.read("out.csv");
    let names: Vec<&str> = found.lines().next().unwrap().split(',').collect();
    assert_eq!(names[0], "f3", "{found}");
    assert!(
        found.lines().nth(1).unwrap().starts_with("2.5,") && found.lines().nth(2).unwrap().starts_with("0,")
    );
    // Where they count from is known from the training table.
    place.write("zero.svm", "1 0:1 3:5\n0 1:2 3:1\n1 2:1 3:6\n0 2:2 3:2\n");
    place.done(&words("select zero.svm -m f-score -k 1 --json zero.json"));
    place.write("new.svm", "1 1:9 3:7.5\n");
    place.done(&words("apply zero.json new.svm --write-reduced out.csv"));
    assert_eq!(place.read("out.csv"), "f3\n7.5\n");
    place.refuses(
        &words("apply zero.json new.svm --first-index 1 --write-reduced out.csv"),
        &["--first-index is 1, but must be 0, as in the training table"],
    );
    place.refuses(
        &words("apply zero.json new.svm --missing-token -999 --write-reduced out.csv"),
        &["--missing-token is `-999`, but must be left out"],
    );
    place.write("new.csv", "1,2,3,4\n");
    for (option, told) in [("--first-index 0", "--first-index is 0"), ("--encoding nothing", "--encoding is")]
    {
        place.refuses(&words(&format!("apply zero.json new.csv {option} --write-reduced out.csv")), &[told]);
    }
}

#[test]
fn other_categories_are_missing_values_where_that_is_wanted() {
    let rows = "colour,age\nred,1\npink,2\ngreen,\npink,4\nPink,5\n";
    let call = words("apply r.json new.csv --write-reduced out.csv --unknown missing");
    let told = "2 levels that the training table does not have, taken for missing values (--unknown missing): \
                `Pink` of `colour` (1 cell), `pink` of `colour` (2 cells)";
    for missing in ["mean", "drop-rows"] {
        let place = place(missing);
        place.write("new.csv", rows);
        for call in [&call[..5], &words("apply r.json new.csv --write-reduced out.csv --unknown error")] {
            place.refuses(
                call,
                &["line 3", "`pink` is not among", "(on the command line: --unknown missing)"],
            );
        }
        let ran = place.run(&call);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        let colours = cells(&place.read("out.csv")).into_iter().find(|column| column[0] == "colour").unwrap();
        if missing == "mean" {
            assert_eq!(colours[1..], ["red", "blue", "green", "blue", "blue"]);
            assert!(ran.stdout.contains("4 missing values filled"), "{}", ran.stdout);
        } else {
            assert_eq!(colours[1..], ["red"]);
            assert!(ran.stderr.contains("4 rows with missing values left out"), "{}", ran.stderr);
        }
    }
    // Nothing fills in missing values: what could be done is told.
    let place = place("error");
    place.write("new.csv", rows);
    place.refuses(&call, &["line 3", "`pink` is not among", "--missing drop-rows|mean|median"]);
    place.refuses(&words("apply r.json new.csv --write-reduced out.csv --unknown drop"), &["error, missing"]);
}

#[test]
fn names_that_are_nearly_the_same_are_told() {
    let place = place("mean");
    let call = words("apply r.json new.csv --write-reduced out.csv");
    for (header, told) in [
        ("colour,Age", "the column `age` of the selection cannot be found: rename `Age` to `age` if that"),
        ("color,Age", "`color` to `colour`"),
        ("colour,agee", "rename `agee` to `age`"),
        // What is another column of the selection is not meant.
        ("colour,weight", "cannot be found: add what is missing"),
    ] {
        place.write("new.csv", &format!("{header}\nred,1\n"));
        place.refuses(&call, &[told, "columns are found by the names"]);
    }
}

#[test]
fn a_column_without_values_is_told() {
    for (missing, fills) in [("mean", true), ("median", true), ("drop-rows", false), ("error", false)] {
        let place = place(missing);
        let call = words("apply r.json new.csv --write-reduced out.csv");
        for (rows, name) in [("red,\nblue,\n", "age"), (",1\n,2\n", "colour")] {
            place.write("new.csv", &format!("colour,age\n{rows}"));
            if fills {
                let ran = place.run(&call);
                assert_eq!(ran.status, 0, "{}", ran.stderr);
                assert!(ran.stderr.contains(&format!("no row has a value of `{name}`")), "{}", ran.stderr);
                assert!(ran.stdout.contains("2 missing values filled"), "{}", ran.stdout);
            } else {
                place
                    .refuses(&call, &[name, "the column of the selection is empty", "--missing mean|median"]);
            }
        }
        // A single row with a gap is nothing strange.
        place.write("new.csv", "colour,age\nred,\n");
        if fills {
            place.done(&call);
        }
    }
}
