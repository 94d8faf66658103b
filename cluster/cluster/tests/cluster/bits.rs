//! The bits of a selection by a cluster are those of memory.

use std::path::Path;

use crate::processes::{Machines, Process, json, select};
use crate::tables::{FEATURES, Rows, comparable, in_memory, in_parts, in_passes, scores_in_memory};

/// Methods with their parameters, and the target: `class` or `real`.
const METHODS: &[(&str, &[&str], &str)] = &[
    ("variance", &[], "class"),
    ("f-score", &[], "class"),
    ("f-score", &[], "real"),
    ("fisher", &[], "class"),
    ("correlation", &[], "real"),
    ("trace-ratio", &[], "class"),
    ("chi2", &["bins=5"], "class"),
    ("gini", &["bins=4"], "class"),
    ("mim", &[], "class"),
    ("mrmr", &[], "class"),
    ("jmi", &["bins=7"], "class"),
    ("cmim", &[], "class"),
    ("jmi3", &[], "class"),
    ("mim", &["discretisation=equal-frequency"], "class"),
    ("mim", &[], "real"),
    ("mrmr", &["discretisation=equal-frequency"], "real"),
    ("fcq", &[], "class"),
    ("fcq", &["form=difference"], "real"),
    // A table in memory of more rows than a batch, and of few columns, takes the products of passes.
    ("lasso", &[], "real"),
    ("elastic-net", &["l1_ratio=0.5"], "class"),
];

/// Methods for two classes.
const OF_TWO_CLASSES: &[(&str, &[&str], &str)] = &[("t-score", &[], "class"), ("cife", &[], "class")];

/// Methods whose passes sum products, or shares of counts.
const OF_PRODUCTS: &[(&str, &[&str], &str)] = &[
    ("fcq", &[], "class"),
    ("lasso", &[], "real"),
    ("elastic-net", &["l1_ratio=0.5"], "class"),
    ("hsic", &[], "real"),
    ("hsic-lasso", &[], "class"),
    ("nocco-lasso", &["related=0"], "real"),
];

fn arguments<'a>((method, parameters, target): (&'a str, &[&'a str], &'a str)) -> Vec<&'a str> {
    let ignored = other(target);
    let mut arguments = vec!["--method", method, "--target", target, "--ignore", ignored, "-k", "6"];
    parameters.iter().for_each(|parameter| arguments.extend(["-p", parameter]));
    arguments
}

fn other(target: &str) -> &'static str {
    if target == "class" { "real" } else { "class" }
}

fn expected(path: &Path, (method, parameters, target): (&str, &[&str], &str)) -> String {
    comparable(in_memory(path, (target, other(target)), method, parameters, 6))
}

#[test]
fn the_document_is_that_of_memory_for_any_files_tasks_and_executors() {
    let folder = tempfile::tempdir().unwrap();
    let two = folder.path().join("two");
    std::fs::create_dir(&two).unwrap();
    let paths = [1, 3, 17].map(|parts| Rows::new(30_011).write(folder.path(), parts));
    let of_two = [1, 3, 17].map(|parts| Rows::new(30_011).of_two_classes().write(&two, parts));
    let methods = METHODS.iter().map(|method| (method, &paths));
    let methods = methods.chain(OF_TWO_CLASSES.iter().map(|method| (method, &of_two)));
    let cases: Vec<_> =
        methods.map(|(method, paths)| (method, paths, expected(&paths[0], *method))).collect();
    let mut machines = Machines::start(1, &[]);
    for tasks in [["3", "1", "64"], ["64", "3", "5"]] {
        for (method, paths, expected) in &cases {
            for (path, tasks) in paths.iter().zip(tasks) {
                let found = machines.json(path, &[&arguments(**method)[..], &["--tasks", tasks]].concat());
                let executors = machines.executors.len();
                assert_eq!(&comparable(found), expected, "{method:?} {} {executors}", path.display());
            }
        }
        machines.join(&[]);
    }
}

/// One command starts all of a cluster on this machine.
#[test]
fn a_local_cluster_has_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 3);
    let port = 15_000 + (std::process::id() % 900) as u16 * 6;
    let _local = Process::local(2, port, folder.path());
    for method in [("f-score", &[][..], "class"), ("lasso", &[], "real"), ("fcq", &[], "real")] {
        let asked = [&arguments(method)[..], &["--json", "-"]].concat();
        let found = json(&select(&format!("127.0.0.1:{port}"), &path, &asked));
        assert_eq!(comparable(found), expected(&path, method), "{method:?}");
    }
    // A batch of rows, which a lasso reads as they are.
    let few = folder.path().join("few");
    std::fs::create_dir(&few).unwrap();
    let path = Rows::new(700).write(&few, 3);
    for method in [
        ("lasso", &[][..], "class"),
        ("elastic-net", &["l1_ratio=0.8"], "real"),
        ("hsic-lasso", &[], "class"),
        ("nocco", &[], "real"),
    ] {
        let asked = [&arguments(method)[..], &["--json", "-"]].concat();
        let found = json(&select(&format!("127.0.0.1:{port}"), &path, &asked));
        assert_eq!(comparable(found), expected(&path, method), "{method:?}");
    }
}

/// The table has more batches than parts, so that a part is of several.
#[test]
fn products_have_the_bits_of_memory_and_of_passes_on_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let rows = Rows::new(270_011);
    let paths = [1, 3].map(|parts| rows.write(folder.path(), parts));
    let mut machines = Machines::start(1, &[]);
    for &method in OF_PRODUCTS {
        let (name, parameters, target) = method;
        let found = comparable(in_passes(&paths[0], (target, other(target)), name, parameters, 6));
        assert_eq!(found, expected(&paths[0], method), "{method:?}");
        let arguments = arguments(method);
        for (path, tasks) in paths.iter().zip(["3", "64"]) {
            let of_cluster = machines.json(path, &[&arguments[..], &["--tasks", tasks]].concat());
            assert_eq!(comparable(of_cluster), found, "{method:?} {tasks}");
        }
        if machines.executors.len() == 1 {
            machines.join(&[]);
        }
    }
}

#[test]
fn text_and_wide_tables_have_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let rows = Rows::new(9500);
    let csv = folder.path().join("table.csv");
    rows.write_csv(&csv);
    let machines = Machines::start(1, &[]);
    for method in [("f-score", &[][..], "class"), ("mrmr", &[], "class"), ("correlation", &[], "real")] {
        let found = machines.json(&csv, &arguments(method));
        assert_eq!(comparable(found), expected(&csv, method), "{method:?}");
    }
    // So little memory that the features come in parts.
    let columns: Vec<_> = (0..300)
        .map(|j| {
            let column = &rows.numbers[j % (FEATURES - 1)];
            let values: Vec<f64> = (0..rows.len()).map(|i| column[i] + (i * j % 977) as f64).collect();
            (format!("x{j}"), std::sync::Arc::new(datafusion::arrow::array::Float64Array::from(values)) as _)
        })
        .chain([("class".to_owned(), rows.batch(0..rows.len()).column(0).clone())])
        .collect();
    let wide = folder.path().join("wide.parquet");
    crate::tables::write(&wide, &crate::tables::batch(columns));
    for method in ["f-score", "chi2", "mim"] {
        let arguments = ["--method", method, "--target", "class", "-k", "20", "--memory", "100MiB"];
        let expected = comparable(in_memory(&wide, ("class", ""), method, &[], 20));
        assert_eq!(comparable(in_parts(&wide, "class", method, 20, 100 << 20)), expected, "{method}");
        assert_eq!(comparable(machines.json(&wide, &arguments)), expected, "{method}");
        let expected = comparable(scores_in_memory(&wide, ("class", ""), method, &[]));
        let arguments = ["--method", method, "--target", "class", "--memory", "100MiB"];
        assert_eq!(comparable(machines.scores(&wide, &arguments)), expected, "{method}, scores");
    }
    // All parts in each pass, and some features of several.
    for method in ["lasso", "elastic-net"] {
        let arguments = ["--method", method, "--target", "class", "-k", "20", "--memory", "100MiB"];
        let expected = comparable(in_memory(&wide, ("class", ""), method, &[], 20));
        assert_eq!(comparable(machines.json(&wide, &arguments)), expected, "{method}");
    }
}

/// Rows with missing values, alone and many in a row, are left out wherever the parts are.
#[test]
fn rows_that_are_left_out_are_those_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Rows::new(30_011);
    let gaps = (0..rows.len()).filter(|i| i % 11 == 4 || (9000..17_000).contains(i)).collect::<Vec<_>>();
    gaps.into_iter().for_each(|i| rows.numbers[i % 5][i] = f64::NAN);
    let paths = [1, 3].map(|parts| rows.write(folder.path(), parts));
    let machines = Machines::start(2, &[]);
    for method in [("f-score", &[][..], "class"), ("mrmr", &[], "class"), ("correlation", &[], "real")] {
        let expected = expected(&paths[0], method);
        for (path, tasks) in paths.iter().zip(["64", "3"]) {
            let more = ["--missing", "drop-rows", "--tasks", tasks];
            let found = machines.json(path, &[&arguments(method)[..], &more].concat());
            assert_eq!(comparable(found), expected, "{method:?} {tasks}");
        }
    }
}

/// Squares that overflow are summed again, of values that are divided.
#[test]
fn values_of_any_size_are_summed_in_a_second_pass() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Rows::new(9000);
    rows.numbers[2].iter_mut().for_each(|value| *value *= 1e200);
    rows.numbers[5].iter_mut().for_each(|value| *value = *value * 1e-220 / 1e10);
    rows.numbers[7].fill(3.25);
    let path = rows.write(folder.path(), 3);
    let machines = Machines::start(1, &[]);
    for method in [
        ("f-score", &[][..], "class"),
        ("variance", &[], "class"),
        ("correlation", &[], "real"),
        ("fcq", &[], "real"),
    ] {
        let found = machines.json(&path, &arguments(method));
        assert_eq!(comparable(found), expected(&path, method), "{method:?}");
    }
}
