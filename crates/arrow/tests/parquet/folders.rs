use std::fs;

use tempfile::TempDir;

use super::*;

/// A folder with these files, each under the name that follows it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, below) in files {
        let path = folder.path().join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(file(name), path).unwrap();
    }
    folder
}

#[test]
fn a_folder_is_one_table_in_the_order_of_its_names() {
    let table = read("parts", &with_target("y")).unwrap();
    // `ward=__HIVE…` < `ward=a%20b%25` < `ward=north`, and months in it.
    assert_eq!(column(&table, "x"), [9.0, 10.0, 11.0, 6.0, 7.0, 8.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let texts = |name: &str| -> Vec<String> {
        levels(&table, name).into_iter().step_by(3).map(Option::unwrap_or_default).collect()
    };
    assert_eq!(texts("ward"), ["", "a b%", "north", "north"]);
    assert_eq!(texts("month"), ["3", "1", "1", "2"]);
    // Keys may be the target, be ignored, or name groups like any column.
    let by_ward = ReadOptions { ignore: vec!["month".to_owned(), "y".to_owned()], ..with_target("ward") };
    assert_eq!(read("parts", &by_ward).unwrap().n_features(), 1);
    // A pattern reads files side by side.
    let table = read("parts/ward=north/month=1/*.parquet", &with_target("y")).unwrap();
    assert_eq!(column(&table, "x"), [0.0, 1.0, 2.0]);
    let message = told("parts/ward=north/month=1/*.pq", &with_target("y"));
    assert!(message.contains("no file matches `*.pq`"), "{message}");
}

#[test]
fn one_file_and_the_same_in_parts_are_the_same_table() {
    let twice = folder(&[("mixed_zstd.parquet", "a.parquet"), ("mixed_lz4.parquet", "b.parquet")]);
    let table = Table::read(twice.path(), &with_target("dose")).unwrap();
    let csv = fs::read_to_string(file("mixed.csv")).unwrap();
    let rows = csv.split_once('\n').unwrap().1;
    let both = format!("{csv}{rows}").into_bytes();
    same(Table::read_bytes("both.csv", both.into(), &with_target("dose")).unwrap(), table);
    let arrow = folder(&[("mixed.arrow", "1.feather"), ("mixed.arrow", "2.feather")]);
    let arrow = Table::read(arrow.path(), &with_target("dose")).unwrap();
    same(Table::read(twice.path(), &with_target("dose")).unwrap(), arrow);
}

#[test]
fn a_part_that_differs_is_named() {
    for (files, part, words) in [
        (
            [("mixed_zstd.parquet", "a.parquet"), ("nested.parquet", "b.parquet")],
            "b.parquet",
            "7 columns, but",
        ),
        (
            [("mixed_zstd.parquet", "a.parquet"), ("mixed.csv", "b.csv")],
            "b.csv",
            "does not begin like one: say what it is",
        ),
        (
            [("mixed_zstd.parquet", "a.parquet"), ("mixed.arrow", "b.arrow")],
            "b.arrow",
            "does not begin like one",
        ),
        (
            [("mixed_zstd.parquet", "k=1/a.parquet"), ("mixed_zstd.parquet", "j=1/b.parquet")],
            "a.parquet",
            "it lies in folders for k",
        ),
        ([("mixed.csv", "a.csv"), ("mixed.csv", "b.csv")], "", "several csv files are not read as one table"),
    ] {
        let folder = folder(&files);
        let message = Table::read(folder.path(), &options()).expect_err(words).to_string();
        assert!(message.contains(words) && message.contains(part), "{message}");
    }
    let parts = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let options = options();
        let table = Table::read_bytes("t.csv", text.as_bytes().into(), &options).unwrap();
        let data = table.complete(Missing::Mean).unwrap().dataset;
        let features: Vec<usize> = (0..data.n_features()).collect();
        PARQUET.write(&parts.path().join(name), &data, &features, &[]).unwrap();
    };
    write("a.parquet", "x,y\n1,2\n3,4\n");
    write("b.parquet", "x,y\n1,p\n3,q\n");
    let message = Table::read(parts.path(), &options()).unwrap_err().to_string();
    assert!(
        message.contains("b.parquet") && message.contains("the column holds text, but numbers"),
        "{message}"
    );
    write("b.parquet", "x,z\n1,2\n3,4\n");
    let message = Table::read(parts.path(), &options()).unwrap_err().to_string();
    assert!(message.contains("b.parquet") && message.contains("the column is called `y`"), "{message}");
    let empty = TempDir::new().unwrap();
    fs::write(empty.path().join("_SUCCESS"), "").unwrap();
    let message = Table::read(empty.path(), &options()).unwrap_err().to_string();
    assert!(message.contains("there is no file in it"), "{message}");
}

#[test]
fn names_of_columns_and_keys_are_told_apart() {
    let clash = folder(&[("mixed_zstd.parquet", "dose=1/a.parquet")]);
    let message = Table::read(clash.path(), &with_target("age")).unwrap_err().to_string();
    assert!(message.contains("both called `dose`"), "{message}");
}

#[test]
fn threads_do_not_change_a_table() {
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (one, other) = pool.install(|| {
            (
                read("parts", &with_target("y")).unwrap(),
                read("mixed_gzip.parquet", &with_target("dose")).unwrap(),
            )
        });
        same(read("parts", &with_target("y")).unwrap(), one);
        same(read("mixed.csv", &with_target("dose")).unwrap(), other);
    }
}
