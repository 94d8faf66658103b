//! `--memory`: tables whose rows are read in passes, because they may not be in memory. The answer is that of
//! the whole table, bit for bit, for any number of files and threads.
#![cfg(feature = "arrow")]

use std::fs;
use std::io::Write;
use std::sync::OnceLock;

use crate::common::Place;
use fewest::core::{Dataset, DenseColumns, FeatureKind, Target};
use fewest::data::{Formats, Missing, ReadOptions, Table};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

/// Little enough for the table below, and enough for pieces of its rows.
const LITTLE: &str = "67MiB";

/// Rows of the tables: so many that half of [`LITTLE`] does not hold them.
const ROWS: usize = 500_000;

/// The table in files, and threads to read each with.
const FILES: [(&str, &str); 3] = [("whole.parquet", "1"), ("in-3", "2"), ("in-17", "7")];

fn noise(i: usize, j: usize) -> f64 {
    let mut state =
        (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64).wrapping_mul(0xD1B5_4A32_D192_ED03);
    state = (state ^ (state >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((state ^ (state >> 29)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn class(i: usize) -> usize {
    (noise(i, 77) * 3.0) as usize
}

/// Lines of a table: numbers, one of them with a large offset, text, a class.
fn lines(rows: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for i in rows {
        let y = class(i) as f64;
        let [a, b, c] = [y + 2.0 * noise(i, 0), 1e5 + noise(i, 1), (8.0 * noise(i, 2)).floor() + y];
        // The last level comes in the last rows only.
        let colour =
            if i + 5 > ROWS { "violet" } else { ["red", "green", "blue"][(3.0 * noise(i, 3)) as usize] };
        let kind = ["low", "middle", "high"][class(i)];
        text.push_str(&format!(
            "{a},{b},{c},{},{},{},{},{colour},{kind}\n",
            noise(i, 4),
            a * a,
            noise(i, 6),
            noise(i, 8)
        ));
    }
    text
}

const HEADER: &str = "a,b,c,d,e,f,g,colour,kind\n";

/// A place with the table as text, as Parquet in one file, in 3 and in 17.
fn place() -> Place {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let place = Place::new();
    fs::create_dir(place.path("in-3")).unwrap();
    fs::create_dir(place.path("in-17")).unwrap();
    for (name, bytes) in FILES.get_or_init(files) {
        fs::write(place.path(name), bytes).unwrap();
    }
    place
}

fn files() -> Vec<(String, Vec<u8>)> {
    let place = Place::new();
    let converted = |rows: std::ops::Range<usize>| {
        place.write("part.csv", &format!("{HEADER}{}", lines(rows)));
        convert(&place, "part.csv", "part.parquet");
        fs::read(place.path("part.parquet")).unwrap()
    };
    let mut files = vec![("whole.parquet".to_owned(), converted(0..ROWS))];
    files.push(("whole.csv".to_owned(), fs::read(place.path("part.csv")).unwrap()));
    // Whole batches, some rows more, and a single one.
    let in_3 = vec![0, 200_000, 200_001, ROWS];
    let first = [0, 4096 * 3, 4096 * 3 + 17, 200_000];
    let others = (0..13).map(|at| 200_001 + (ROWS - 200_001) / 13 * at);
    let in_17: Vec<usize> = first.into_iter().chain(others).chain([ROWS]).collect();
    for cuts in [in_3, in_17] {
        let folder = format!("in-{}", cuts.len() - 1);
        for (at, cut) in cuts.windows(2).enumerate() {
            files.push((format!("{folder}/{at:02}.parquet"), converted(cut[0]..cut[1])));
        }
    }
    files
}

/// A table of text as Parquet.
fn convert(place: &Place, from: &str, to: &str) {
    let table = Table::read(place.path(from), &ReadOptions::with_target("kind")).unwrap();
    let complete = table.with_gaps(Missing::Mean).unwrap();
    let features: Vec<usize> = (0..complete.dataset.n_features()).collect();
    let path = place.path(to);
    fewest_arrow::PARQUET.write(&path, &complete.dataset, &features, &complete.target_names).unwrap();
}

/// A result without what differs: the name of the file, how it was read, and the time.
fn lasting(json: &str) -> Value {
    let mut value: Value = serde_json::from_str(json).unwrap();
    value.as_object_mut().unwrap().remove("seconds");
    let data = value["data"].as_object_mut().unwrap();
    data.remove("file");
    data.remove("passes");
    value
}

fn passes(json: &str) -> Option<u64> {
    let value: Value = serde_json::from_str(json).unwrap();
    value["data"]["passes"]["passes"].as_u64()
}

#[test]
fn answers_are_those_of_the_whole_table() {
    let place = place();
    for (command, method, parameters, most) in [
        ("score", "f-score", &[][..], 2),
        ("select", "variance", &["-k", "4"], 2),
        ("score", "chi2", &[], 3),
        ("score", "fisher", &[], 2),
        ("select", "trace-ratio", &["-k", "4"], 2),
        // For all criteria of pairs: tests/selection_streams.rs of the filters.
        ("select", "mrmr", &["-k", "4"], 4),
        ("select", "fcq", &["-k", "4"], 3),
        // Tables of few columns take the products of passes in memory, too.
        ("select", "lasso", &["-k", "3"], 3),
        ("select", "elastic-net", &["-p", "lambda_ratio=0.1"], 3),
    ] {
        let run = |file: &str, more: &[&str]| {
            let words = [command, file, "--target", "kind", "-m", method, "--json", "-"];
            place.done(&[&words[..], parameters, more].concat())
        };
        let whole = run("whole.parquet", &[]);
        assert_eq!(passes(&whole), None);
        for (file, threads) in FILES {
            let found = run(file, &["--memory", LITTLE, "--threads", threads]);
            assert_eq!(lasting(&found), lasting(&whole), "{method} {file} {threads}");
            let passes = passes(&found);
            assert!(passes.is_some_and(|passes| passes <= most), "{method}: {passes:?}");
        }
    }
    // Rows that arrive in their order.
    let run = |file: &str, more: &[&str]| {
        let words = ["select", file, "--target", "kind", "-m", "fsds", "-k", "3", "--json", "-"];
        let words = [&words[..], &["--ignore", "colour"]].concat();
        place.done(&[&words[..], more].concat())
    };
    let in_passes = run("in-17", &["--memory", LITTLE]);
    assert_eq!(lasting(&in_passes), lasting(&run("whole.parquet", &[])));
    assert_eq!(passes(&in_passes), Some(3));
    // A folder of text.
    fs::create_dir(place.path("texts")).unwrap();
    for (at, cut) in [0, 70_001, 150_000, ROWS].windows(2).enumerate() {
        place.write(&format!("texts/{at}.csv"), &format!("{HEADER}{}", lines(cut[0]..cut[1])));
    }
    for method in ["f-score", "mrmr"] {
        let run = |file: &str, more: &[&str]| {
            let words = ["select", file, "--target", "kind", "-m", method, "-k", "4", "--json", "-"];
            place.done(&[&words[..], more].concat())
        };
        assert_eq!(
            lasting(&run("texts", &["--memory", LITTLE])),
            lasting(&run("whole.csv", &[])),
            "{method}"
        );
    }
    // A folder of one file is that file.
    fs::create_dir(place.path("text")).unwrap();
    fs::copy(place.path("whole.csv"), place.path("text/0.csv")).unwrap();
    for more in [&[][..], &["--memory", LITTLE], &["--memory", "2GiB"]] {
        let run = |file: &str, more: &[&str]| {
            let words = ["select", file, "--target", "kind", "-m", "f-score", "-k", "4", "--json", "-"];
            place.done(&[&words[..], more].concat())
        };
        assert_eq!(lasting(&run("text", more)), lasting(&run("whole.csv", &[])), "{more:?}");
    }
    // Text, and the line for people.
    let whole =
        place.done(&["select", "whole.csv", "--target", "kind", "-m", "mrmr", "-k", "4", "--json", "-"]);
    let text = ["select", "whole.csv", "--target", "kind", "-m", "mrmr", "-k", "4", "--memory", LITTLE];
    let found = place.done(&[&text[..], &["--json", "-"]].concat());
    assert_eq!(lasting(&found)["features"], lasting(&whole)["features"]);
    let table = place.done(&text);
    assert!(
        table.contains("read in 4 passes (2,000,000 rows)")
            && table.contains("too much for --memory 67.0 MiB"),
        "{table}"
    );
}

/// A number as target comes into bins by the rule of the method, whose bounds no further pass has to find.
#[test]
fn a_real_target_comes_into_the_bins_of_the_whole_table() {
    let place = place();
    for (words, most) in [
        // For all criteria: tests/selection_streams.rs of the filters. The first look is at the colours.
        (&["select", "-m", "mrmr", "-k", "4"][..], 4),
        (&["select", "-m", "mrmr", "-k", "4", "-p", "discretisation=equal-frequency", "-p", "bins=12"], 5),
        (&["score", "-m", "mim", "-p", "bins=9"], 3),
    ] {
        let run = |file: &str, more: &[&str]| {
            let target = [file, "--target", "e", "--task", "regression", "--ignore", "kind", "--json", "-"];
            place.done(&[words, &target, more].concat())
        };
        let whole = run("whole.parquet", &[]);
        assert_eq!(passes(&whole), None);
        for (file, threads) in FILES {
            let found = run(file, &["--memory", LITTLE, "--threads", threads]);
            assert_eq!(lasting(&found), lasting(&whole), "{words:?} {file} {threads}");
            let passes = passes(&found);
            assert!(passes.is_some_and(|passes| passes <= most), "{words:?}: {passes:?}");
        }
    }
    // Several numbers are no target of these methods, in passes as in memory.
    let words = ["select", "in-17", "-m", "mrmr", "--target", "e", "--target", "f", "--ignore", "kind"];
    let [whole, read] = [&[][..], &["--memory", LITTLE]].map(|more| place.run(&[&words[..], more].concat()));
    assert_eq!((read.status, &read.stderr), (2, &whole.stderr));
    assert!(read.stderr.contains("mrmr needs classes or one real output as target"), "{}", read.stderr);
    // Counts in bins by bins take more memory than there is.
    let words =
        ["select", "in-17", "-m", "mrmr", "--target", "e", "--task", "regression", "--ignore", "kind"];
    let ran = place.run(&[&words[..], &["--memory", LITTLE, "-p", "bins=300"]].concat());
    assert!(ran.status == 2 && ran.stderr.contains("bins` is 300, but must be at most"), "{}", ran.stderr);
}

/// Sums of products: the selection of the table, scores but for rounding or the error that is told, and the
/// same bits for any files and threads.
#[test]
fn answers_of_products_are_those_of_the_whole_table_but_for_rounding() {
    let place = place();
    for (method, more, most, tolerance) in [
        ("hsic-lasso", &[][..], 5, 1e-4),
        ("hsic-lasso", &["--force-in", "e", "-p", "related=0"], 5, 1e-4),
        ("nocco-lasso", &["-p", "related=0"], 4, 1e-3),
        ("hsic", &[], 4, 1e-4),
        ("nocco", &[], 4, 1e-3),
        ("gini", &["-p", "bins=64"], 3, 0.0),
        // The first look, two passes for the bounds of bins, the counts of features, and of pairs.
        ("mrmr", &["-p", "discretisation=equal-frequency"], 5, 0.0),
    ] {
        let run = |file: &str, last: &[&str]| {
            let words = ["select", file, "--target", "kind", "-m", method, "--json", "-"];
            place.done(&[&words[..], &["-k", "3"], more, last].concat())
        };
        let features = |json: &str| -> Vec<(String, f64)> {
            let value: Value = serde_json::from_str(json).unwrap();
            let list = value["features"].as_array().unwrap().iter();
            list.map(|one| (one["name"].as_str().unwrap().to_owned(), one["score"].as_f64().unwrap()))
                .collect()
        };
        let whole = features(&run("whole.parquet", &[]));
        let mut first: Option<Value> = None;
        for (file, threads) in FILES {
            let found = run(file, &["--memory", LITTLE, "--threads", threads]);
            let passes = passes(&found);
            assert!(passes.is_some_and(|passes| passes <= most), "{method}: {passes:?}");
            let own = features(&found);
            let largest = whole.iter().fold(0.0_f64, |most, (_, score)| most.max(score.abs()));
            assert_eq!(own.len(), whole.len(), "{method} {more:?}");
            for ((name, score), (expected, other)) in own.iter().zip(&whole) {
                assert_eq!(name, expected, "{method} {more:?} {own:?} {whole:?}");
                assert!((score - other).abs() <= tolerance * largest, "{method}: {own:?} {whole:?}");
            }
            let found = lasting(&found);
            assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "{method} {file} {threads}");
        }
    }
}

/// A thousand features, of which half of 77 MiB does not hold the 5000 rows.
fn wide() -> Dataset {
    let (n, d) = (5000, 1000);
    let value = |i: usize, j: usize| match j % 90 {
        7 => (noise(i, j) * 4.0).floor(),
        30 => 2.5,
        _ => noise(i, j) + (class(i) * (j % 7)) as f64 / 9.0,
    };
    let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let levels = || FeatureKind::Categorical { levels: ["p", "q", "r", "s"].map(str::to_owned).to_vec() };
    let kinds = (0..d).map(|j| if j % 90 == 7 { levels() } else { FeatureKind::Numeric }).collect();
    let labels: Vec<&str> = (0..n).map(|i| ["low", "middle", "high"][class(i)]).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels));
    data.unwrap().with_feature_kinds(kinds).unwrap()
}

fn write(place: &Place, data: &Dataset, to: &str) {
    let features: Vec<usize> = (0..data.n_features()).collect();
    fewest_arrow::PARQUET.write(&place.path(to), data, &features, &["kind".to_owned()]).unwrap();
}

/// The products of all columns would take more than a quarter of the memory: a working set of them decides,
/// and the document is that of the table, for any number of files and threads.
#[test]
fn a_lasso_of_more_columns_than_their_products_fit() {
    let place = Place::new();
    let data = wide();
    write(&place, &data, "wide.parquet");
    for n_files in [3, 17] {
        fs::create_dir(place.path(&format!("in-{n_files}"))).unwrap();
        let cut = |at: usize| data.n_samples() * at / n_files;
        for at in 0..n_files {
            let rows: Vec<usize> = (cut(at)..cut(at + 1)).collect();
            write(&place, &data.subset(&rows).unwrap(), &format!("in-{n_files}/{at:02}.parquet"));
        }
    }
    for (method, more) in [("lasso", ["-k", "3"]), ("elastic-net", ["-p", "lambda_ratio=0.7"])] {
        let run = |file: &str, last: &[&str]| -> String {
            let words = ["select", file, "--target", "kind", "-m", method, "--json", "-"];
            place.done(&[&words[..], &more, last].concat())
        };
        let whole = lasting(&run("wide.parquet", &[]));
        for (file, threads) in [("wide.parquet", "1"), ("in-3", "2"), ("in-17", "7")] {
            let found = run(file, &["--memory", "70MiB", "--threads", threads]);
            let value: Value = serde_json::from_str(&found).unwrap();
            assert!(value["data"]["passes"]["parts"].as_u64().is_some_and(|parts| parts > 1), "{found}");
            assert!(value["solver"]["gap"].as_f64().is_some_and(|gap| gap <= 1e-9), "{found}");
            assert_eq!(lasting(&found), whole, "{method} {file} {threads}");
        }
    }
    let words =
        ["select", "wide.parquet", "--target", "kind", "-m", "lasso", "--memory", "70MiB", "-k", "900"];
    let ran = place.run(&words);
    assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("give it more memory, ask for fewer features"), "{}", ran.stderr);
}

/// A batch of a wide table does not fit either: the features come in parts, for what scores each by itself.
#[test]
fn wide_tables_are_read_in_parts_of_their_features() {
    let place = Place::new();
    write(&place, &wide(), "wide.parquet");
    for (command, method, more) in [
        ("score", "f-score", &[][..]),
        ("score", "chi2", &[]),
        ("score", "mim", &[]),
        ("select", "variance", &["-k", "20"]),
        ("select", "f-score", &["-p", "alpha=1e-9"]),
    ] {
        let words = [command, "wide.parquet", "--target", "kind", "-m", method, "--json", "-"];
        let words = [&words[..], more].concat();
        let whole = place.done(&words);
        for threads in ["1", "3"] {
            let found = place.done(&[&words[..], &["--memory", "68MiB", "--threads", threads]].concat());
            assert_eq!(lasting(&found), lasting(&whole), "{method} {more:?}");
            let value: Value = serde_json::from_str(&found).unwrap();
            assert!(value["data"]["passes"]["parts"].as_u64().is_some_and(|parts| parts > 100), "{found}");
        }
    }
    let words = ["select", "wide.parquet", "--target", "kind", "--memory", "68MiB", "-k", "3", "-m"];
    let told = place.done(&[&words[..], &["f-score"]].concat());
    assert!(told.contains(" parts of the columns ("), "{told}");
    for (more, told) in [
        (&["mrmr"][..], "give it 77 MiB of memory, to read its 38.2 MiB at once"),
        (&["f-score", "--missing", "drop-rows"], "give it 77 MiB of memory, to read its 38.2 MiB at once"),
    ] {
        let ran = place.run(&[&words[..], more].concat());
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

/// A level of significance decides the number of features in passes, too.
#[test]
fn significance_decides_in_passes() {
    let place = place();
    let words = ["select", "in-17", "--target", "kind", "-m", "f-score", "-p", "alpha=1e-6", "--json", "-"];
    let whole = place.done(&words);
    let found = place.done(&[&words[..], &["--memory", LITTLE]].concat());
    assert_eq!(lasting(&found), lasting(&whole));
    assert!(lasting(&found)["features"].as_array().is_some_and(|features| features.len() < 8));
}

/// A reduced table is written in one more pass: what is written of the table in memory.
#[test]
fn reduced_tables_are_those_of_the_whole_table() {
    let place = place();
    let reduced = |file: &str, out: &str, more: &[&str]| {
        let words = ["select", file, "--target", "kind", "-m", "f-score", "-k", "3", "--write-reduced", out];
        place.done(&[&words[..], more].concat())
    };
    reduced("whole.parquet", "whole-small.csv", &["-q"]);
    let told = reduced("in-17", "small.csv", &["--memory", LITTLE]);
    assert!(told.contains("read in "), "{told}");
    let small = place.read("small.csv");
    assert_eq!(small.lines().count(), ROWS + 1);
    assert!(small == place.read("whole-small.csv"));
    reduced("in-17", "small.parquet", &["--memory", LITTLE, "--threads", "1"]);
    let read = |name: &str| {
        let formats = Formats::standard().with(fewest_arrow::PARQUET);
        let options = ReadOptions { formats, ..ReadOptions::with_target("kind") };
        Table::read(place.path(name), &options).unwrap().complete(Missing::Error).unwrap().dataset
    };
    #[cfg(target_os = "linux")]
    {
        let words = ["select", "in-17", "--target", "kind", "-m", "f-score", "-k", "3", "--memory", LITTLE];
        let ran = place.run(&[&words[..], &["--write-reduced", "/dev/full"]].concat());
        assert!(ran.status == 2 && ran.stdout.contains("read in "), "{}", ran.stdout);
        assert!(
            ran.stderr.contains("--write-reduced") && ran.stderr.contains("No space left"),
            "{}",
            ran.stderr
        );
    }
    let (csv, parquet) = (read("small.csv"), read("small.parquet"));
    assert!(csv.target() == parquet.target());
    for j in 0..3 {
        assert_eq!(csv.feature_name(j), parquet.feature_name(j));
        let column = |data: &Dataset| data.x().column(j, &mut Vec::new()).unwrap().to_vec(ROWS);
        assert!(column(&csv) == column(&parquet), "{j}");
    }
}

/// What is half written when a signal comes does not stay, nor when a second one ends the command at once.
#[cfg(unix)]
#[test]
fn signals_while_an_output_is_written_leave_no_part_of_it() {
    let place = place();
    for (more, n_signals) in [(&["--memory", LITTLE][..], 1), (&["--memory", LITTLE], 2), (&[], 2)] {
        // On a busy machine it may have ended before the signal.
        let ended = (0..10).find_map(|_| signalled(&place, more, n_signals));
        assert_eq!(ended, Some(130), "{more:?} {n_signals}");
    }
}

/// The status of a command that is sent signals while it writes a table; `None` where it was faster.
#[cfg(unix)]
fn signalled(place: &Place, more: &[&str], n_signals: usize) -> Option<i32> {
    place.write("small.csv", "before");
    let words = ["select", "in-17", "--target", "kind", "-m", "f-score", "-k", "8", "-q"];
    let words = [&words[..], &["--write-reduced", "small.csv"], more].concat();
    let null = std::process::Stdio::null;
    let mut running = place.command(&words).stdout(null()).stderr(null()).spawn().unwrap();
    let unfinished =
        || -> Vec<String> { place.files().into_iter().filter(|name| name.starts_with(".fewest")).collect() };
    let length = |name: &String| fs::metadata(place.path(name)).map_or(0, |told| told.len());
    while !unfinished().iter().any(|name| length(name) > 100_000) {
        if running.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // Until it is waited for, no other process has its number.
    for _ in 0..n_signals {
        let mut kill = std::process::Command::new("kill");
        kill.args(["-INT", &running.id().to_string()]).stderr(null()).status().unwrap();
    }
    let status = running.wait().unwrap().code();
    assert!(unfinished().is_empty(), "{more:?} {n_signals}: {:?}", unfinished());
    if status == Some(0) {
        return None;
    }
    assert_eq!(place.read("small.csv"), "before", "{more:?} {n_signals}");
    status
}

/// The largest resident set of the command, in KiB.
#[cfg(target_os = "linux")]
fn peak(place: &Place, arguments: &[&str]) -> u64 {
    let mut running = place.command(arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", running.id());
    let mut peak = 0;
    loop {
        // It only grows, so that the last look is the largest.
        let told = fs::read_to_string(&status).unwrap_or_default();
        let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = found.unwrap_or(peak);
        if let Some(status) = running.try_wait().unwrap() {
            assert!(status.success(), "{arguments:?}");
            return peak;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// `--memory` is kept, in passes and by tables that are read at once.
#[cfg(target_os = "linux")]
#[test]
fn no_more_memory_is_used() {
    let place = place();
    // 34.3 MiB of values: in pieces, and with the third one at once where that is possible.
    for (memory, mebibytes) in [(LITTLE, 67), ("90MiB", 90), ("136MiB", 136)] {
        for more in [
            &["f-score", "--write-reduced", "small.parquet"][..],
            &["mrmr"],
            &["lasso"],
            &["hsic-lasso", "-p", "related=0"],
        ] {
            let words = ["select", "in-17", "--target", "kind", "-k", "3", "-q", "--threads", "2"];
            let words = [&words[..], &["--memory", memory, "-m"]].concat();
            let found = peak(&place, &[&words[..], more].concat());
            assert!(found > 10 << 10 && found <= mebibytes << 10, "{more:?} {memory}: {found} KiB");
        }
    }
    for more in [&["jmi3"][..], &["fcq"], &["mrmr", "-p", "discretisation=equal-frequency"]] {
        let words = ["select", "in-17", "--target", "kind", "-k", "3", "-q", "--memory", LITTLE, "-m"];
        let found = peak(&place, &[&words[..], more].concat());
        assert!(found > 10 << 10 && found <= 67 << 10, "{more:?}: {found} KiB");
    }
    // In parts of the columns.
    write(&place, &wide(), "wide.parquet");
    for method in ["f-score", "mim"] {
        let words = ["score", "wide.parquet", "--target", "kind", "-q", "--memory", "68MiB", "-m", method];
        let found = peak(&place, &words);
        assert!(found > 10 << 10 && found <= 68 << 10, "{method}: {found} KiB");
    }
}

/// So do tables of text: in blocks of their text, with names of samples, which are read and written too.
#[cfg(target_os = "linux")]
#[test]
fn text_takes_no_more_memory_either() {
    let place = Place::new();
    let mut text = format!("id,{HEADER}");
    for (i, line) in lines(0..150_000).lines().enumerate() {
        // Some cells are in quotes, and some names of samples are long.
        let more = if i % 50 == 0 { ", which is written in several words" } else { "" };
        text.push_str(&format!("\"sample {i}{more}\",{line}\n"));
    }
    place.write("long.csv", &text);
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    zipped.write_all(text.as_bytes()).unwrap();
    fs::write(place.path("long.csv.gz"), zipped.finish().unwrap()).unwrap();
    // 20.5 MiB of values and names: in pieces, and with the third one at once.
    for (memory, mebibytes) in [("67MiB", 67), ("76MiB", 76), ("136MiB", 136)] {
        for file in ["long.csv", "long.csv.gz"] {
            for more in [&["--ignore", "id"][..], &["--id-column", "id", "--write-reduced", "small.csv"]] {
                let words = ["select", file, "--target", "kind", "-m", "f-score", "-k", "3", "-q"];
                let words = [&words[..], &["--threads", "2", "--memory", memory], more].concat();
                let found = peak(&place, &words);
                assert!(found > 10 << 10 && found <= mebibytes << 10, "{more:?} {memory}: {found} KiB");
            }
        }
    }
}

/// Who gives as much memory as a message names gets an answer.
#[test]
fn the_memory_that_is_named_is_enough() {
    let place = Place::new();
    let names: Vec<String> = (0..40).map(|j| format!("x{j}")).collect();
    let mut text = format!("id,{},y\n", names.join(","));
    for i in 0..4500 {
        let values: Vec<String> = (0..40).map(|j| format!("{:.4}", noise(i, j))).collect();
        text.push_str(&format!("the sample called {i},{},{}\n", values.join(","), ["no", "yes"][i % 2]));
    }
    place.write("wide.csv", &text);
    let words = ["select", "wide.csv", "--target", "y", "--id-column", "id", "-m", "variance", "-k", "40"];
    place.done(&[&words[..], &["-q", "--write-reduced", "wide.parquet"]].concat());
    for file in ["wide.csv", "wide.parquet"] {
        for (more, cause) in [
            (&["relieff"][..], "relieff"),
            (&["ofs"], "random order"),
            (&["f-score"], "memory"),
            (&["f-score", "--report", "x.html"], "--report"),
            (&["f-score", "--missing", "mean"], "--missing mean needs the whole table"),
            (&["mrmr", "-p", "discretisation=mdl"], "discretisation"),
            (&["lasso", "--covariates", "x3"], "covariates"),
        ] {
            let words = ["select", file, "--target", "y", "--id-column", "id", "-k", "3", "-q", "-m"];
            let words = [&words[..], more].concat();
            let ran = place.run(&[&words[..], &["--memory", "1MiB"]].concat());
            assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{file} {more:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(cause), "{file} {more:?}: {}", ran.stderr);
            let before = ran.stderr.split_once(" MiB of memory");
            let named = before.and_then(|(before, _)| before.rsplit(' ').next()).unwrap_or_default();
            place.done(&[&words[..], &["--memory", &format!("{named}MiB")]].concat());
        }
    }
}

#[test]
fn what_cannot_be_read_in_passes_is_told_in_one_line() {
    let place = place();
    let refused = |words: &[&str]| {
        let mut all = vec!["select", "in-17", "--target", "kind", "--memory", LITTLE];
        all.extend(words);
        let ran = place.run(&all);
        assert_eq!(
            (ran.status, ran.stderr.lines().count()),
            (2, 1),
            "{words:?}: {} {}",
            ran.stdout,
            ran.stderr
        );
        ran.stderr
    };
    let told = refused(&["-m", "relieff"]);
    assert!(told.contains("34.3 MiB") && told.contains("500,000 rows of 9 columns"), "{told}");
    assert!(told.contains("f-score") && told.contains("mrmr"), "{told}");
    assert!(refused(&["-m", "mrmr", "--report", "x.html"]).contains("--report needs the whole table"));
    let told = refused(&["-m", "f-score", "--write-reduced", "in-17/01.parquet"]);
    assert!(told.contains("this is the input file, which is never overwritten"), "{told}");
    assert!(refused(&["-m", "mrmr", "--missing", "mean"]).contains("drop-rows"));
    let told = refused(&["-m", "mrmr", "-p", "discretisation=mdl"]);
    assert!(told.contains("discretisation=equal-width or equal-frequency"), "{told}");
    assert!(refused(&["-m", "gini"]).contains("bins=256"));
    assert!(refused(&["-m", "lasso", "--covariates", "a"]).contains("covariates"));
    assert!(refused(&["-m", "lasso", "-p", "loss=logistic", "-k", "2"]).contains("loss"));
    assert!(refused(&["-m", "hsic-lasso", "-p", "kernel=laplace"]).contains("kernel=gaussian"));
    let words = ["select", "in-17", "--target", "kind", "-m", "mrmr", "--memory"];
    for (memory, expected) in [
        ("1MiB", "give it 67 MiB of memory, to read it in pieces of 4,096 rows of 9 columns"),
        ("none", "2GiB"),
        ("0", "2GiB"),
    ] {
        let ran = place.run(&[&words[..], &[memory]].concat());
        assert!(ran.status == 2 && ran.stderr.contains(expected), "{memory}: {}", ran.stderr);
    }
    // What passes cannot do is done at once where half of the memory is enough for the table.
    for more in [
        &["mrmr", "-p", "discretisation=mdl"][..],
        &["mrmr", "--missing", "mean"],
        &["f-score", "--report", "x.html"],
    ] {
        let words = ["select", "in-17", "--target", "kind", "--json", "-", "--memory", "80MiB", "-m"];
        assert_eq!(passes(&place.done(&[&words[..], more].concat())), None, "{more:?}");
    }
    let told = refused(&["-m", "f-score", "--json", "in-17/new.json"]);
    assert!(told.contains("the next run would read it as a part of the table in-17"), "{told}");
    // Enough for the table: read at once.
    assert_eq!(passes(&place.done(&[&words[..], &["1GiB", "--json", "-"]].concat())), None);
}

#[test]
fn faults_name_the_file_and_the_row() {
    let place = place();
    let refused = |file: &str, words: &[&str]| {
        let mut all = vec!["select", file, "--target", "kind", "-m", "f-score", "--memory", LITTLE];
        all.extend(words);
        let ran = place.run(&all);
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{file}: {} {}", ran.stdout, ran.stderr);
        ran.stderr
    };
    // A missing value in the last row of the last part.
    let mut text = format!("{HEADER}{}", lines(0..1000));
    text.push_str("1,2,3,4,5,6,,red,low\n");
    place.write("gap.csv", &text);
    convert(&place, "gap.csv", "in-3/9.parquet");
    let told = refused("in-3", &[]);
    assert!(told.contains("9.parquet: row 1000 (counted from 0), column `g`"), "{told}");
    fs::remove_file(place.path("in-3/9.parquet")).unwrap();
    place.write("long.csv", &format!("{HEADER}{}1,2,3,4,5,6,,red,low\n", lines(0..ROWS)));
    let told = refused("long.csv", &[]);
    assert!(told.contains(&format!("line {}", ROWS + 2)) && told.contains("`g`"), "{told}");
    let kept = place.done(&[
        "score",
        "long.csv",
        "--target",
        "kind",
        "-m",
        "f-score",
        "--memory",
        LITTLE,
        "--missing",
        "drop-rows",
        "--json",
        "-",
    ]);
    let whole = place.done(&["score", "whole.csv", "--target", "kind", "-m", "f-score", "--json", "-"]);
    assert_eq!(lasting(&kept)["features"], lasting(&whole)["features"]);

    // A part that is cut off, and one with another column.
    let bytes = fs::read(place.path("in-17/03.parquet")).unwrap();
    fs::write(place.path("in-17/03.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused("in-17", &[]).contains("03.parquet"));
    fs::write(place.path("in-17/03.parquet"), &bytes).unwrap();
    place.write("other.csv", &format!("{HEADER}{}", lines(0..10)).replace("a,b,c", "a,b,z"));
    convert(&place, "other.csv", "in-3/5.parquet");
    let told = refused("in-3", &[]);
    assert!(told.contains("5.parquet") && told.contains("`c`"), "{told}");
}
