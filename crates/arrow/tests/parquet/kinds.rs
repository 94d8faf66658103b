use super::*;

/// The file of all kinds, each column with what its first two rows are; the third is missing.
const NUMBERS: [(&str, f64, f64); 22] = [
    ("i8", 1.0, -2.0),
    ("i16", 1.0, -300.0),
    ("i32", 1.0, -70000.0),
    ("i64", 1.0, -1_099_511_627_776.0),
    ("u8", 1.0, 255.0),
    ("u16", 1.0, 65535.0),
    ("u32", 1.0, 4_294_967_295.0),
    ("u64", 1.0, 18_446_744_073_709_551_615.0),
    // The nearest number of half precision: −1365 / 2¹².
    ("f16", 1.5, -1364.0 / 4096.0),
    ("f32", 1.5, 0.100_000_001_490_116_12),
    ("f64", 1.5, 0.1),
    ("d32", 1.25, -99.99),
    ("d64", 1.25, -123_456_789.123),
    ("d128", 1.25, -12_345_678_901_234_567_890.5),
    ("d256", 1.25, -1e10),
    ("date", 1.0, -2.0),
    ("date64", 1.0, -2.0),
    ("ts_s", 1_709_209_815.0, 0.0),
    ("ts_ms", 1_709_209_815.25, 0.0),
    ("ts_us", 1_709_209_815.25, 0.0),
    ("time32", 3600.5, 0.0),
    ("time64", 3600.5, 0.0),
];

#[test]
fn every_kind_is_read_alike_from_every_file() {
    let files = ["kinds.parquet", "kinds_v2.parquet", "kinds.arrow", "kinds_lz4.arrow", "kinds_zstd.arrow"];
    for name in files {
        let table = read(name, &options()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(table.n_samples(), 3);
        for (column_name, first, second) in NUMBERS.into_iter().chain([("ts_ns", 1_709_209_815.25, 0.0)]) {
            let values = column(&table, column_name);
            assert_eq!(values[..2], [first, second], "{name} {column_name}");
            assert!(values[2].is_nan(), "{name} {column_name}");
        }
        let text = |column: &str| levels(&table, column).into_iter().map(Option::unwrap_or_default);
        for column in ["string", "large", "category"] {
            assert!(text(column).eq(["b", "a", ""]), "{name} {column}");
        }
        assert!(text("view").eq(["b", "a text of more than twelve letters", ""]), "{name}");
        assert!(text("bool").eq(["true", "false", ""]), "{name}");
        assert!(text("words").eq(["", "x", ""]), "{name}: words that mean missing do so here too");
        assert!(column(&table, "null").iter().all(|value| value.is_nan()));
        assert!(name.ends_with("parquet") == (table.format() == PARQUET));
    }
    // Dictionaries of numbers are categories; durations are seconds.
    let table = read("kinds.arrow", &options()).unwrap();
    assert_eq!(levels(&table, "number"), [Some("7".to_owned()), Some("9".to_owned()), None]);
    assert_eq!(column(&table, "duration")[..2], [1.5, -0.001]);
}

#[test]
fn polars_writes_texts_as_views() {
    let table = read("polars.arrow", &options()).unwrap();
    assert_eq!(column(&table, "f64")[..2], [1.5, 0.1]);
    let first = |column| levels(&table, column)[0].clone();
    assert_eq!([first("string"), first("view"), first("category")], [(); 3].map(|()| Some("b".to_owned())));
    let long = levels(&table, "view")[1].clone();
    assert_eq!(long.as_deref(), Some("a text of more than twelve letters"));
    assert_eq!(levels(&table, "bool"), [Some("true".to_owned()), Some("false".to_owned()), None]);
}

#[test]
fn a_table_is_the_same_as_text_and_in_every_compression() {
    let files = ["none", "snappy", "gzip", "zstd", "lz4"].map(|codec| format!("mixed_{codec}.parquet"));
    for name in files.iter().map(String::as_str).chain(["mixed.arrow"]) {
        for target in ["outcome", "dose", "ward", "smoker"] {
            same(read("mixed.csv", &with_target(target)).unwrap(), read(name, &with_target(target)).unwrap());
        }
        let chosen = ReadOptions {
            ignore: vec!["*o*".to_owned()],
            categorical: vec!["age".to_owned()],
            missing_tokens: ["", "south", "120.0"].map(str::to_owned).to_vec(),
            ..with_target("pressure")
        };
        same(read("mixed.csv", &chosen).unwrap(), read(name, &chosen).unwrap());
    }
}

#[test]
fn names_of_rows_are_ids() {
    let table = read("row_names.parquet", &with_target("outcome")).unwrap();
    let data = table.complete(Missing::Mean).unwrap().dataset;
    assert_eq!(data.sample_ids().unwrap()[..2], ["p0", "p1"]);
    assert_eq!(data.n_features(), 5);
    // Ids keep all their digits, also where they are numbers that floats do not hold.
    let ignore = vec!["null".to_owned()];
    let by_number = ReadOptions { id: Some("u64".to_owned()), ignore, ..with_target("f64") };
    for name in ["kinds.parquet", "kinds.arrow"] {
        let table = read(name, &by_number).unwrap();
        let data = table.complete(Missing::Mean).unwrap().dataset;
        assert_eq!(data.sample_ids().unwrap(), ["1", "18446744073709551615"], "{name}");
    }
}

#[test]
fn columns_that_are_none_of_a_table_are_named_and_can_be_left_out() {
    for name in ["nested.parquet", "nested.arrow"] {
        for (column, what) in [
            ("list", "lists"),
            ("struct", "structs"),
            ("map", "maps"),
            ("bytes", "bytes"),
            ("fixed", "bytes"),
        ] {
            let rest = ["list", "struct", "map", "bytes", "fixed", "lists", "threes"];
            let ignore = |left: &str| -> Vec<String> {
                let there = rest.iter().filter(|name| **name != left);
                let known =
                    there.filter(|column| name.ends_with("arrow") || !matches!(**column, "lists" | "threes"));
                known.map(|column| (*column).to_owned()).collect()
            };
            let message = told(name, &ReadOptions { ignore: ignore(column), ..with_target("y") });
            assert!(message.contains(&format!("the column holds {what},")), "{message}");
            assert!(message.contains(column) && message.contains("--ignore"), "{message}");
            let table = read(name, &ReadOptions { ignore: ignore(""), ..with_target("y") }).unwrap();
            assert_eq!(super::column(&table, "x"), [0.5, 1.5]);
            if name.ends_with("arrow") {
                // What follows nested columns is found all the same.
                assert_eq!(super::column(&table, "last"), [2.0, 4.0]);
                assert_eq!(levels(&table, "z"), [Some("q".to_owned()), None]);
            }
        }
    }
}

#[test]
fn a_wrong_target_is_told_with_the_columns() {
    let message = told("mixed_zstd.parquet", &with_target("outcom"));
    assert!(message.contains("outcome") && message.contains("pressure"), "{message}");
    let transposed = ReadOptions { transpose: true, ..options() };
    assert!(told("mixed_zstd.parquet", &transposed).contains("cannot be transposed"));
}
