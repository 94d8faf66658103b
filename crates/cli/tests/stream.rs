//! `fewest stream`: data that arrive, answers while they do, and checkpoints.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Place, Ran};
use serde_json::Value;

const FEATURES: usize = 12;

/// A number from 0 to 1 that follows from its place.
fn noise(i: usize, j: usize) -> f64 {
    let mut z =
        (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64 + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z = (z ^ (z >> 27)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn class(i: usize) -> &'static str {
    if noise(i, 3) + 0.7 * noise(i, 8) > 0.85 { "yes" } else { "no" }
}

/// Samples as lines.
fn samples(n: usize) -> String {
    let names: Vec<String> = (0..FEATURES).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for i in 0..n {
        let values: Vec<String> = (0..FEATURES).map(|j| (noise(i, j) - 0.5).to_string()).collect();
        text.push_str(&format!("{},{}\n", values.join(","), class(i)));
    }
    text
}

/// Features as lines, of 60 samples; the first is the target.
fn features(d: usize) -> String {
    let names: Vec<String> = (0..60).map(|i| format!("s{i}")).collect();
    let classes: Vec<&str> = (0..60).map(class).collect();
    let mut text = format!("id,{}\ny,{}\n", names.join(","), classes.join(","));
    for j in 0..d {
        let values: Vec<String> = (0..60).map(|i| noise(i, j).to_string()).collect();
        text.push_str(&format!("x{j},{}\n", values.join(",")));
    }
    text
}

/// Groups of these features, of two sizes; the last of all features is in none.
fn groups(d: usize) -> String {
    let line = |j: usize| format!("x{j},g{}\n", 2 * (j / 8) + usize::from(j % 8 > 2));
    "feature,group\n".to_owned() + &(0..d - 1).map(line).collect::<String>()
}

fn piped(place: &Place, arguments: &[&str], text: &str) -> Ran {
    let mut child = started(place, arguments);
    let text = text.to_owned();
    let mut stdin = child.stdin.take().unwrap();
    // A program that stops early reads no further.
    let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let ran = ended(child);
    writer.join().unwrap();
    ran
}

fn started(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The lines of JSON, without the times.
fn lines(text: &str) -> Vec<Value> {
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        assert!(value["seconds"].take().is_number());
        value["data"]["file"].take();
        value
    };
    text.lines().map(line).collect()
}

fn last(text: &str) -> Value {
    lines(text).pop().unwrap()
}

fn names(answer: &Value) -> Vec<String> {
    let features = answer["features"].as_array().unwrap();
    features.iter().map(|feature| feature["name"].as_str().unwrap().to_owned()).collect()
}

const BY_SAMPLES: [&[&str]; 8] = [
    &["ofs", "-k", "4", "--param", "margin=1"],
    &["fsds", "--param", "block_rows=7"],
    &["f-score"],
    &["chi2"],
    &["mim"],
    &["correlation", "-k", "3"],
    &["t-score", "--param", "alpha=0.01"],
    &["hsic", "--param", "normalization=unit"],
];

const BY_FEATURES: [&[&str]; 7] = [
    &["alpha-investing"],
    &["grafting", "--param", "lambda=0.1"],
    &["osfs"],
    &["fast-osfs"],
    &["saola"],
    // The last of 40 features are no whole group.
    &["ogfs", "--param", "groups=consecutive", "--param", "width=7"],
    &["gfssf", "--param", "groups=consecutive", "--param", "width=7", "--param", "bins=2"],
];

/// A stream of all samples of a table is the method for tables, where sums are all there is.
#[test]
fn scores_of_a_stream_are_those_of_the_table() {
    let place = Place::new();
    place.write("t.csv", &samples(700));
    for method in ["variance", "t-score", "f-score", "chi2", "mim", "correlation"] {
        let table: Value = serde_json::from_str(
            &place.done(&["select", "t.csv", "--method", method, "-k", "5", "--json", "-", "-q"]),
        )
        .unwrap();
        let arrived = place.done(&["stream", "t.csv", "--method", method, "-k", "5", "--json", "-"]);
        let arrived = last(&arrived);
        assert_eq!(arrived["features"], table["features"], "{method}");
        assert_eq!((&arrived["arrived"], &arrived["last"]), (&700.into(), &true.into()));
        // The rows that wait, and sums: nothing else.
        assert!(arrived["held"]["bytes"].as_u64().unwrap() < 120_000, "{}", arrived["held"]);
    }
}

/// The same for features: the table is the other way round.
#[test]
fn features_that_arrive_give_what_the_table_gives() {
    let place = Place::new();
    place.write("t.csv", &features(40));
    for method in BY_FEATURES {
        let call = |command: &'static str| {
            let start = [command, "t.csv", "--features-in-rows", "--json", "-", "-q", "-k", "3", "--method"];
            [&start[..], method].concat()
        };
        let table = [&call("select")[..], &["--target", "y"]].concat();
        let table: Value = serde_json::from_str(&place.done(&table)).unwrap();
        let arrived = last(&place.done(&call("stream")));
        let named: Vec<String> = names(&table);
        assert_eq!(names(&arrived), named, "{method:?}");
        assert!(named.contains(&"x3".to_owned()), "{method:?} {named:?}");
    }
    // From a file of its own, in the order of the columns.
    let labels: String = (0..60).map(|i| format!("s{i},{}\n", class(i))).collect();
    place.write("y.csv", &format!("sample,label\n{labels}"));
    let text = features(40);
    let without: String =
        text.lines().filter(|line| !line.starts_with("y,")).map(|l| format!("{l}\n")).collect();
    place.write("x.csv", &without);
    let call =
        |file: &'static str| ["stream", file, "--features-in-rows", "--method", "saola", "--json", "-"];
    let own = last(&place.done(&[&call("x.csv")[..], &["--target-file", "y.csv"]].concat()));
    assert_eq!(own["features"], last(&place.done(&call("t.csv")))["features"]);
    place.write("y.csv", &format!("sample,label\n{}", labels.replace("s7,", "s70,")));
    let ran = place.run(&[&call("x.csv")[..], &["--target-file", "y.csv"]].concat());
    assert!(ran.status == 2 && ran.stderr.contains("sample `s70`"), "{}", ran.stderr);
}

#[test]
fn answers_come_after_every_so_many_arrivals_however_lines_come() {
    let place = Place::new();
    let text = samples(250);
    place.write("t.csv", &text);
    for method in BY_SAMPLES {
        let call = |file: &'static str| {
            [&["stream", file, "--json", "-", "--every", "100", "--method"][..], method].concat()
        };
        let whole = lines(&place.done(&call("t.csv")));
        let arrived: Vec<u64> = whole.iter().map(|line| line["arrived"].as_u64().unwrap()).collect();
        assert_eq!(arrived, [100, 200, 250], "{method:?}");
        let ran = piped(&place, &call("-"), &text);
        assert_eq!((ran.status, lines(&ran.stdout)), (0, whole), "{method:?} {}", ran.stderr);
    }
    // As text, and into a file at the same time.
    let told = place.done(&["stream", "t.csv", "--method", "f-score", "--every", "100", "--json", "a.json"]);
    assert!(
        told.starts_with("t.csv: samples that arrive, of 12 features, target `y`, 2 classes (the column"),
        "{told}"
    );
    assert!(told.contains("\n100 samples: x3, x8"), "{told}");
    assert!(told.contains("\nat the end, 250 samples: x3, x8"), "{told}");
    assert_eq!(lines(&place.read("a.json")).len(), 3);
}

/// A slow pipe is told about while it lasts.
#[test]
fn answers_come_while_a_pipe_is_open() {
    let place = Place::new();
    let text = samples(60);
    let call =
        ["stream", "-", "--method", "f-score", "--json", "a.json", "--every", "10", "--first-rows", "20"];
    let mut child = started(&place, &call);
    let mut stdin = child.stdin.take().unwrap();
    let cut = text.lines().take(1 + 35).map(|line| line.len() + 1).sum();
    stdin.write_all(&text.as_bytes()[..cut]).unwrap();
    let begun = Instant::now();
    while !place.path("a.json").exists() || place.read("a.json").lines().count() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no answer while the pipe is open");
        std::thread::sleep(Duration::from_millis(10));
    }
    stdin.write_all(&text.as_bytes()[cut..]).unwrap();
    drop(stdin);
    assert_eq!(ended(child).status, 0);
    assert_eq!(lines(&place.read("a.json")).len(), 7);
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// 20 runs are killed at moments that a seed decides, while they read; each is continued to its end.
#[test]
fn a_killed_stream_goes_on_to_the_same_answer() {
    let place = Place::new();
    let (by_samples, by_features) = (samples(9_500), features(1200));
    place.write("samples.csv", &by_samples);
    place.write("features.csv", &by_features);
    place.write("groups.csv", &groups(1200));
    let cases: [(&[&str], &str, &str); 9] = [
        (&["f-score", "--window", "800"], "samples.csv", &by_samples),
        (&["correlation", "--half-life", "900"], "samples.csv", &by_samples),
        (&["f-score", "--drift"], "samples.csv", &by_samples),
        (&["gfssf", "--features-in-rows", "--groups", "groups.csv"], "features.csv", &by_features),
        (&["ofs", "-k", "4", "--param", "margin=1"], "samples.csv", &by_samples),
        (&["f-score"], "samples.csv", &by_samples),
        (&["fsds"], "samples.csv", &by_samples),
        (&["saola", "--features-in-rows"], "features.csv", &by_features),
        // Checkpoints fall inside of groups.
        (
            &["ogfs", "--features-in-rows", "-p", "groups=consecutive", "-p", "width=7", "-p", "lambda=0.1"],
            "features.csv",
            &by_features,
        ),
    ];
    let call = |file: &str, method: &[&str], more: &[&str]| -> Vec<String> {
        let words = [&["stream", file, "--json", "-", "--method"][..], method, more].concat();
        words.into_iter().map(str::to_owned).collect()
    };
    let mut n_resumed = 0;
    for (at, (method, file, text)) in cases.iter().enumerate() {
        let plain = call(file, method, &[]);
        let words = |call: &[String]| place.done(&call.iter().map(String::as_str).collect::<Vec<_>>());
        let expected = last(&words(&plain));
        for kill in 0..5 {
            let checkpoint = format!("state-{at}-{kill}.json");
            let more = ["--checkpoint", &checkpoint, "--checkpoint-every", "300"];
            let piped = call("-", method, &more);
            let mut child = started(&place, &piped.iter().map(String::as_str).collect::<Vec<_>>());
            let mut stdin = child.stdin.take().unwrap();
            // As much as that was written when it is killed; what of it was used, nobody knows.
            let written = (text.len() as f64 * noise(kill, 100 + at)) as usize;
            stdin.write_all(&text.as_bytes()[..written]).unwrap();
            std::thread::sleep(Duration::from_micros((noise(kill, 200 + at) * 30_000.0) as u64));
            signal(&child, "-KILL");
            child.wait().unwrap();
            drop(stdin);
            n_resumed += usize::from(place.path(&checkpoint).exists());
            let found = last(&words(&call(file, method, &more)));
            assert_eq!(found, expected, "{method:?} killed after {written} bytes");
            // At its end it goes on with nothing.
            assert_eq!(last(&words(&call(file, method, &more))), expected);
        }
    }
    assert!(n_resumed >= 5, "only {n_resumed} of 45 had a checkpoint");
}

#[test]
fn a_file_that_grew_is_gone_on_with() {
    let place = Place::new();
    let text = samples(900);
    let cut: usize = text.lines().take(1 + 400).map(|line| line.len() + 1).sum();
    for method in BY_SAMPLES {
        place.write("t.csv", &text[..cut]);
        // As many lines decide in both runs.
        let first = ["--first-rows", "300"];
        let call = [&["stream", "t.csv", "--json", "-", "--method"][..], method, &first].concat();
        let state = format!("{}.json", method[0]);
        let kept = [&call[..], &["--checkpoint", &state]].concat();
        place.done(&kept);
        place.write("t.csv", &text);
        assert_eq!(last(&place.done(&kept)), last(&place.done(&call)), "{method:?}");
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let place = Place::new();
    let text = samples(300);
    place.write("t.csv", &text);
    let call = ["stream", "t.csv", "--method", "f-score", "--checkpoint", "c.json"];
    place.done(&call);
    let state = place.read("c.json");
    let refused = |call: &[&str], told: &str| {
        let ran = place.run(call);
        assert!(ran.status == 2 && ran.stderr.contains(told), "{call:?}: {}", ran.stderr);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1));
        assert_eq!(place.read("c.json"), state, "the file stays as it was");
    };
    let other = |more: &[&'static str]| [&call[..], more].concat();
    refused(
        &["stream", "t.csv", "--method", "t-score", "--checkpoint", "c.json"],
        "--checkpoint c.json: this is the checkpoint of another command (--method f-score, not t-score)",
    );
    refused(&other(&["--param", "alpha=0.1"]), "--param alpha none, not 0.1");
    refused(&other(&["-k", "3"]), "-k 10, not 3");
    refused(&other(&["--seed", "3"]), "--seed 0, not 3");
    refused(&other(&["--ignore", "x1"]), "--ignore none, not x1");
    refused(&other(&["--missing", "drop-rows"]), "--missing error, not drop-rows");
    // Other data: an earlier line, the names, fewer lines.
    place.write("t.csv", &text.replacen("-0.", "0.", 1));
    refused(&call, "the first 300 lines of values are not those");
    place.write("t.csv", &text.replacen("x1,", "z1,", 1));
    refused(&call, "the names of the columns are not those of the checkpoint");
    place.write("t.csv", &samples(200));
    refused(&call, "300 lines of it were read before, but it has 200");
    place.write("t.csv", &text);
    // An edited file, and one of something else.
    place.write("c.json", &state.replacen("\"arrived\":300", "\"arrived\":301", 1));
    let ran = place.run(&call);
    assert!(
        ran.status == 2 && ran.stderr.contains("the line was changed after it was written"),
        "{}",
        ran.stderr
    );
    place.write("c.json", "1,2,3\n");
    let ran = place.run(&call);
    assert!(ran.status == 2 && ran.stderr.contains("was not written by this program"), "{}", ran.stderr);
    // An empty one is new.
    place.write("c.json", "");
    place.done(&call);
    assert_eq!(place.read("c.json"), state);
}

/// Each fault comes after 200 good lines: their answer is told first, and then what is wrong.
#[test]
fn a_line_that_cannot_be_used_ends_the_stream_with_the_answer_before_it() {
    let place = Place::new();
    let text = samples(260);
    let replaced = |line: usize, with: &dyn Fn(&str) -> String| -> String {
        let changed = |(at, old): (usize, &str)| if at == line { with(old) } else { format!("{old}\n") };
        text.lines().enumerate().map(changed).collect()
    };
    let line = 201;
    let rest = |old: &str| old.split_once(',').unwrap().1.to_owned();
    let faults: [(&str, String, &str); 8] = [
        ("short", replaced(line, &|old| format!("{}\n", rest(old))), "line 202: 12 cells, but line 1 has 13"),
        ("long", replaced(line, &|old| format!("1,{old}\n")), "line 202: 14 cells, but line 1 has 13"),
        (
            "nan",
            replaced(line, &|old| format!("NaN,{}\n", rest(old))),
            "line 202, column `x0` (0, counted from 0): the value is missing",
        ),
        (
            "infinite",
            replaced(line, &|old| format!("inf,{}\n", rest(old))),
            "line 202, column `x0` (0, counted from 0): `inf` is infinite",
        ),
        (
            "text",
            replaced(line, &|old| format!("red,{}\n", rest(old))),
            "line 202, column `x0` (0, counted from 0): `red` is text",
        ),
        (
            "class",
            replaced(line, &|old| format!("{}maybe\n", &old[..old.rfind(',').unwrap() + 1])),
            "line 202, column `y` (12, counted from 0): the class `maybe` is not one that the first",
        ),
        (
            "label",
            replaced(line, &|old| format!("{}\n", &old[..old.rfind(',').unwrap() + 1])),
            "line 202, column `y` (12, counted from 0): the value is missing",
        ),
        (
            "quote",
            replaced(line, &|old| format!("\"{old}\n")),
            "line 202: a double quote is opened here and never closed",
        ),
    ];
    for first_rows in ["50", "1000"] {
        // A class among the lines that decide is one of the classes.
        for (name, text, told) in faults.iter().filter(|(name, ..)| *name != "class" || first_rows == "50") {
            place.write("t.csv", text);
            let call = ["stream", "t.csv", "--method", "f-score", "--json", "-", "--first-rows", first_rows];
            for ran in [place.run(&call), piped(&place, &[&["stream", "-"][..], &call[2..]].concat(), text)] {
                assert_eq!(ran.status, 2, "{name}: {}", ran.stderr);
                assert!(ran.stderr.contains(told), "{name}: {}", ran.stderr);
                assert_eq!(ran.stderr.lines().count(), 1);
                let answer = last(&ran.stdout);
                assert_eq!(
                    (answer["arrived"].as_u64(), names(&answer)[0].as_str()),
                    (Some(200), "x3"),
                    "{name}"
                );
            }
        }
    }
    // Samples with a missing value are left out where that is asked for.
    place.write("t.csv", &faults[2].1);
    let call = ["stream", "t.csv", "--method", "f-score", "--json", "-", "--missing", "drop-rows"];
    let answer = last(&place.done(&call));
    assert_eq!((&answer["arrived"], &answer["left_out"]), (&259.into(), &1.into()));
    // An end in the middle of a line.
    let cut: String = text.lines().take(201).map(|line| format!("{line}\n")).collect::<String>() + "0.1,0.2";
    let ran = piped(&place, &["stream", "-", "--method", "ofs", "-k", "3", "--json", "-"], &cut);
    assert_eq!((ran.status, last(&ran.stdout)["arrived"].as_u64()), (2, Some(200)));
    assert!(
        ran.stderr.contains("line 202: 2 cells, and the file ends in it, but line 1 has 13"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_feature_that_cannot_be_used_ends_the_stream_with_the_answer_before_it() {
    let place = Place::new();
    let text = features(40);
    let lines: Vec<&str> = text.lines().collect();
    let with = |extra: &str| lines[..22].iter().chain([&extra]).map(|l| format!("{l}\n")).collect::<String>();
    let again = lines[5];
    let wide = format!("{},1", lines[30]);
    let narrow = lines[30].rsplit_once(',').unwrap().0.to_owned();
    let nan = format!("x99,NaN{}", ",1.5".repeat(59));
    let mixed = format!("x99,red{}", ",1.5".repeat(59));
    let nameless = format!(",1{}", ",1.5".repeat(59));
    for (extra, told) in [
        (again, "line 23: parameter `name of a feature` is `x3`"),
        (&wide, "line 23: 62 cells, but line 1 has 61"),
        (&narrow, "line 23: 60 cells, but line 1 has 61"),
        (&nan, "line 23, column `s0` (1, counted from 0): the value is missing"),
        (&mixed, "line 23, column `s1` (2, counted from 0): `1.5` is a number in a column of text"),
        (&nameless, "line 23: the feature has no name"),
    ] {
        let ran = piped(
            &place,
            &["stream", "-", "--features-in-rows", "--method", "saola", "--json", "-"],
            &with(extra),
        );
        assert_eq!(ran.status, 2, "{told}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        let answer = last(&ran.stdout);
        assert_eq!(answer["arrived"].as_u64(), Some(20), "{told}");
        assert!(names(&answer).contains(&"x3".to_owned()));
    }
    // Missing values of a feature that arrives as a whole can be filled in.
    let call = ["stream", "-", "--features-in-rows", "--method", "saola", "--missing", "mean", "--json", "-"];
    assert_eq!(piped(&place, &call, &with(&nan)).status, 0);
}

#[test]
fn nothing_to_read_and_wrong_calls_are_told_in_one_line() {
    let place = Place::new();
    place.write("t.csv", &samples(30));
    place.write("empty.csv", "");
    place.write("header.csv", "a,b,y\n");
    place.write("x.csv", &features(5));
    place.write("target.csv", &features(0));
    place.write("early.csv", "a,b,target\n1,2,no\n1,3\n2,1,yes\n4,4,no\n");
    let cases: &[(&[&str], &str)] = &[
        (&["empty.csv", "--method", "f-score"], "empty.csv: the file is empty"),
        (&["header.csv", "--method", "f-score"], "there is a header, but no line of values follows"),
        (&["target.csv", "--method", "saola", "--features-in-rows"], "nothing arrived"),
        (&["header.csv", "--method", "saola", "--features-in-rows"], "there is no line of values"),
        (&["nofile.csv", "--method", "f-score"], "nofile.csv: cannot be read"),
        // Before the fault there is one class, with one sample.
        (&["early.csv", "--method", "f-score"], "early.csv: line 3"),
        (&["early.csv", "--method", "ofs", "-k", "1"], "early.csv: line 3"),
        (
            &["t.csv", "--method", "mrmr"],
            "mrmr cannot select from data that arrive: take --window, `fewest select`, or one of",
        ),
        (&["t.csv", "--method", "saola"], "saola takes features that arrive"),
        (
            &["x.csv", "--method", "ogfs", "--features-in-rows"],
            "--param groups=given: there is no table of groups: name one with --groups, or \
             use --param groups=consecutive",
        ),
        (&["x.csv", "--method", "ofs", "--features-in-rows"], "ofs takes samples that arrive"),
        (&["x.csv", "--method", "saola", "--features-in-rows", "--target", "z"], "not the target `z`"),
        (&["x.csv", "--method", "grafting", "--features-in-rows"], "lambda"),
        (
            &["t.csv", "--method", "f-score", "--missing", "mean"],
            "--missing is mean, but must be error or drop-rows",
        ),
        (
            &["x.csv", "--method", "saola", "--features-in-rows", "--missing", "drop-rows"],
            "--missing is drop-rows, but must be error, mean or median",
        ),
        (
            &["t.csv", "--method", "f-score", "-k", "99"],
            "-k is 99, but must be at most the number of features, 12",
        ),
        (&["t.csv", "--method", "f-score", "-k", "auto"], "-k auto: f-score does not decide"),
        (&["t.csv", "--method", "f-score", "--format", "mat"], "--format: a stream is a CSV file"),
        (&["t.csv", "--method", "f-score", "--checkpoint-every", "5"], "--checkpoint"),
        (&["-", "--method", "f-score", "--orders", "5"], "--orders: a pipe is read once"),
        (
            &["x.csv", "--method", "saola", "--features-in-rows", "--orders", "5"],
            "name the line of the target",
        ),
        (&["t.csv", "--method", "f-score", "--checkpoint", "t.csv"], "this is the input file"),
        (
            &["t.csv", "--method", "correlation", "--param", "coefficient=spearman"],
            "the coefficient spearman",
        ),
    ];
    for (call, told) in cases {
        let ran = place.run(&[&["stream"][..], call].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{call:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{call:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

/// Ctrl-C and SIGTERM give the answer so far, with a checkpoint from which the stream goes on.
#[test]
fn a_stop_gives_the_answer_so_far() {
    let place = Place::new();
    let text = samples(500);
    place.write("t.csv", &text);
    // The last one is stopped before as many lines came as were to decide.
    for (name, status, first) in
        [("-INT", 130, "100"), ("-TERM", 130, "100"), ("limit", 124, "100"), ("early", 124, "1000")]
    {
        let state = format!("state{name}.json");
        let limit = if status == 124 { &["--time-limit", "3"][..] } else { &[] };
        let start = ["stream", "t.csv", "--method", "ofs", "-k", "3", "--first-rows", first];
        let start = [&start[..], &["--every", "500", "--json", "a.json"]].concat();
        let call = [&start[..], &["--follow", "--checkpoint", &state], limit].concat();
        let child = started(&place, &call);
        let begun = Instant::now();
        while status == 130
            && place.files().iter().all(|name| name != "a.json" || place.read("a.json").is_empty())
        {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
        if status == 130 {
            signal(&child, name);
        }
        let ran = ended(child);
        assert_eq!((ran.status, ran.stderr.as_str()), (status, ""), "{name}");
        assert!(ran.stdout.contains("at the end, 500 samples: "), "{name}: {}", ran.stdout);
        assert!(ran.stdout.contains("note: 500 samples were seen before the stop"), "{}", ran.stdout);
        let more = [&start[..], &["--checkpoint", &state]].concat();
        place.done(&more);
        let resumed = last(&place.read("a.json"));
        place.done(&start);
        assert_eq!(resumed, last(&place.read("a.json")), "{name}");
        std::fs::remove_file(place.path("a.json")).unwrap();
    }
}

/// The resident memory of a process in KiB.
#[cfg(target_os = "linux")]
fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("0 0");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A stream that does not end: memory is what it was after a tenth of it.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_what_arrives() {
    let place = Place::new();
    let (by_samples, by_features) = (samples(500), features(500));
    for (call, text, with_names) in [
        (&["--method", "f-score"][..], &by_samples, false),
        (&["--method", "saola", "--features-in-rows"], &by_features, true),
    ] {
        let call = [&["stream", "-", "--json", "a.json", "--every", "500"][..], call].concat();
        let mut child = started(&place, &call);
        let mut stdin = child.stdin.take().unwrap();
        let n_head = if with_names { 2 } else { 1 };
        let split = text.lines().take(n_head).map(|line| line.len() + 1).sum();
        let (head, body) = text.split_at(split);
        stdin.write_all(head.as_bytes()).unwrap();
        let mut early = 0;
        for round in 0..40 {
            match with_names {
                // Names that were not there before; values of noise, so that they are refused.
                true => stdin.write_all(body.replace('x', &format!("z{round}x")).as_bytes()).unwrap(),
                false => stdin.write_all(body.as_bytes()).unwrap(),
            }
            if round == 15 {
                // What waits in the pipe and in the channel is bounded.
                early = resident(&child);
            }
        }
        let late = resident(&child);
        drop(stdin);
        let ran = ended(child);
        // The same features under other names are known by then: they are refused as redundant.
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(early > 0 && late < early + 4096, "{early} KiB, then {late} KiB: {call:?}");
        let told = lines(&place.read("a.json"));
        let bytes = |at: usize| told[at]["held"]["bytes"].as_u64().unwrap();
        // Up to 4096 samples wait to be summed.
        let waiting = if with_names { 0 } else { 4096 * 8 * (FEATURES as u64 + 1) };
        let (early, late) = (bytes(10), bytes(told.len() - 1));
        assert!(late <= 2 * early + waiting, "{early} and {late}");
    }
}

/// Groups of features in a row stay together in every order: of a feature and its copy the first is taken.
#[test]
fn orders_shuffle_groups_as_a_whole() {
    let place = Place::new();
    let mut text = String::new();
    for line in features(21).lines() {
        let copy = if line.starts_with('x') { format!("copy-{line}\n") } else { String::new() };
        text.push_str(&format!("{line}\n{copy}"));
    }
    place.write("x.csv", &text);
    let call =
        ["stream", "x.csv", "--method", "ogfs", "--features-in-rows", "--target", "y", "--orders", "6"];
    let in_pairs = ["-p", "groups=consecutive", "-p", "width=2", "-k", "auto", "--json", "-", "-q"];
    let found: Value = serde_json::from_str(&place.done(&[&call[..], &in_pairs].concat())).unwrap();
    let chosen = names(&found);
    assert!(chosen.len() > 5 && chosen.iter().all(|name| name.starts_with('x')), "{chosen:?}");
    // In groups of three a copy may come before what it repeats.
    let in_threes = in_pairs.map(|word| if word == "width=2" { "width=3" } else { word });
    let found: Value = serde_json::from_str(&place.done(&[&call[..], &in_threes].concat())).unwrap();
    assert!(names(&found).iter().any(|name| name.starts_with("copy")), "{found}");
}

#[test]
fn orders_tell_how_stable_the_answer_is() {
    let place = Place::new();
    place.write("t.csv", &samples(300));
    place.write("x.csv", &features(30));
    let by_sums = ["stream", "t.csv", "--method", "f-score", "-k", "3", "--orders", "5", "--json", "-", "-q"];
    let found: Value = serde_json::from_str(&place.done(&by_sums)).unwrap();
    // Sums do not depend on the order but for rounding.
    assert_eq!(
        (&found["orders"], &found["stability"]["phi"], &found["jaccard"]),
        (&5.into(), &1.0.into(), &1.0.into())
    );
    assert_eq!(found["features"].as_array().unwrap().len(), 3);
    let call = [
        "stream",
        "x.csv",
        "--method",
        "alpha-investing",
        "--features-in-rows",
        "--target",
        "y",
        "--orders",
        "6",
    ];
    let json = |seed: &str| -> Value {
        let more = ["--seed", seed, "--json", "-", "-q"];
        let mut value: Value = serde_json::from_str(&place.done(&[&call[..], &more].concat())).unwrap();
        value["seconds"].take();
        value
    };
    let (one, again) = (json("1"), json("1"));
    assert_eq!(one, again);
    assert_eq!(
        (one["features"][0]["name"].as_str(), one["features"][0]["orders"].as_u64()),
        (Some("x3"), Some(6))
    );
    assert!(one["selections"].as_array().unwrap().len() == 6);
    let told = place.done(&call);
    assert!(
        told.contains("6 shuffled orders in") && told.contains("mean Jaccard index of two orders: "),
        "{told}"
    );
}

/// The window is a table: whatever the method, the answer is that of `select` on the last lines.
#[test]
fn the_answer_of_a_window_is_that_of_a_table_of_its_samples() {
    let place = Place::new();
    let text = samples(900);
    place.write("t.csv", &text);
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for method in [&["f-score"][..], &["chi2"], &["ofs", "-k", "3"], &["mrmr"], &["relieff"]] {
        let call =
            [&["stream", "t.csv", "--json", "-", "--window", "150", "--every", "400", "-m"][..], method];
        let told = lines(&place.done(&call.concat()));
        assert_eq!(told.len(), 3, "{method:?}");
        for answer in &told {
            let arrived = answer["arrived"].as_u64().unwrap() as usize;
            let own = rows[arrived - 150..arrived].join("\n");
            place.write("window.csv", &format!("{header}\n{own}\n"));
            let call = [&["select", "window.csv", "--json", "-", "-m"][..], method].concat();
            let table: Value = serde_json::from_str(&place.done(&call)).unwrap();
            let chosen = |features: &Value| -> Vec<(String, String)> {
                let features = features.as_array().unwrap().iter();
                features.map(|own| (own["name"].to_string(), own["score"].to_string())).collect()
            };
            assert_eq!(chosen(&answer["features"]), chosen(&table["features"]), "{method:?} {arrived}");
        }
    }
}

/// Sums on grids: the exact score but for the error that a note tells, and the same ranking.
#[test]
fn hsic_of_a_stream_is_that_of_the_table_but_for_what_is_told() {
    let place = Place::new();
    place.write("t.csv", &samples(700));
    let call = |verb: &'static str| [verb, "t.csv", "-m", "hsic", "-k", "5", "--json", "-", "-q"];
    let table: Value = serde_json::from_str(&place.done(&call("select"))).unwrap();
    let arrived = last(&place.done(&call("stream")[..8]));
    assert_eq!(names(&arrived), names(&table));
    let score = |of: &Value, at: usize| of["features"][at]["score"].as_f64().unwrap();
    let note = arrived["notes"][0].as_str().unwrap();
    let told: f64 = note.strip_prefix("scores to ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(told < 1e-4, "{note}");
    for at in 0..5 {
        // The factors of the table have an error of their own.
        let most = (told + 1e-5) * score(&table, 0);
        assert!((score(&arrived, at) - score(&table, at)).abs() < most, "{at}: {arrived} and {table}");
    }
    let ran = place.run(&["stream", "t.csv", "-m", "hsic", "-p", "kernel=laplace"]);
    assert!(ran.status == 2 && ran.stderr.contains("take kernel=gaussian"), "{}", ran.stderr);
}

/// Samples of which feature 3 tells the target, and behind the first `n` feature 7.
fn changing(n: usize) -> String {
    let names: Vec<String> = (0..FEATURES).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for i in 0..2 * n {
        let values: Vec<String> = (0..FEATURES).map(|j| noise(i, j).to_string()).collect();
        let y = noise(i, if i < n { 3 } else { 7 }) + 0.2 * noise(i, 99);
        text.push_str(&format!("{},{y}\n", values.join(",")));
    }
    text
}

#[test]
fn a_change_raises_an_alarm_and_old_samples_are_forgotten() {
    let place = Place::new();
    place.write("t.csv", &changing(4000));
    let call = |more: &[&'static str]| {
        [&["stream", "t.csv", "--target", "y", "-k", "1", "-m", "correlation"][..], more].concat()
    };
    let best = |more: &[&'static str]| {
        names(&last(&place.done(&call(&[&["--json", "-"], more].concat()))))[0].clone()
    };
    assert_eq!([best(&["--half-life", "500"]), best(&["--window", "1000"])], ["x7", "x7"]);
    let settings = |more: &[&'static str]| {
        last(&place.done(&call(&[&["--json", "-"], more].concat())))["forgetting"].clone()
    };
    let of = |kind: &str, samples: f64| serde_json::json!({"kind": kind, "samples": samples});
    assert_eq!(settings(&["--window", "1000"])["samples"].as_u64(), Some(1000));
    assert_eq!(settings(&["--window", "1000"])["kind"], "window");
    let mut halves = of("half-life", 500.0);
    halves["block"] = 5.into();
    assert_eq!((settings(&["--half-life", "500"]), settings(&[])), (halves, Value::Null));
    let told = lines(&place.done(&call(&["--json", "-", "--drift"])));
    // An answer where the alarm was, and one at the end.
    assert_eq!(told.len(), 2, "{told:?}");
    let settings = serde_json::json!({
        "kind": "drift", "block": 50, "reference": 20, "watched": 1, "delta": 0.002
    });
    assert_eq!((&told[0]["forgetting"], &told[1]["forgetting"]), (&settings, &settings));
    let alarm = &told[0]["drift"]["last"];
    let at = told[0]["arrived"].as_u64().unwrap();
    assert!((4001..6500).contains(&at) && alarm["sample"].as_u64() == Some(at), "{alarm}");
    assert_eq!((&alarm["left"][0], &alarm["entered"][0]), (&Value::from("x3"), &Value::from("x7")));
    assert!(alarm["rank_correlation"].as_f64().is_some_and(|rank| rank < 0.9));
    assert_eq!((&told[1]["drift"]["alarms"], names(&told[1])), (&Value::from(1), vec!["x7".to_owned()]));
    // However lines come, with a checkpoint between them, and as text.
    let again = piped(
        &place,
        &["stream", "-", "--target", "y", "-k", "1", "-m", "correlation", "--json", "-", "--drift"],
        &changing(4000),
    );
    assert_eq!(lines(&again.stdout), told);
    let shown = place.done(&call(&["--drift"]));
    assert!(shown.contains("alarm 1 at ") && shown.contains("left x3, new x7, rank correlation"), "{shown}");
    // Equal weights: a half-life longer than any stream has the score of all samples.
    let score = |more: &[&'static str]| {
        let answer = last(&place.done(&call(&[&["--json", "-"], more].concat())));
        answer["features"][0]["score"].as_f64().unwrap()
    };
    assert!((score(&["--half-life", "1e15"]) - score(&[])).abs() < 1e-9);
}

#[test]
fn what_cannot_be_forgotten_is_refused_with_the_reason() {
    let place = Place::new();
    place.write("t.csv", &samples(300));
    place.write("f.csv", &features(5));
    let refused = |call: &[&str], told: &str| {
        let ran = place.run(call);
        assert!(ran.status == 2 && ran.stderr.contains(told), "{call:?}: {}", ran.stderr);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1));
    };
    let of =
        |method: &'static str, more: &[&'static str]| [&["stream", "t.csv", "-m", method][..], more].concat();
    refused(&of("ofs", &["--half-life", "50"]), "--half-life: a weight of samples is not supported by ofs");
    refused(&of("fsds", &["--drift"]), "--drift: a weight of samples is not supported by fsds");
    refused(&of("chi2", &["--half-life", "50"]), "take f-score, correlation or variance, or a window");
    refused(&of("f-score", &["--drift", "-p", "alpha=0.1"]), "leave out alpha");
    refused(&of("relieff", &[]), "relieff cannot select from data that arrive: take --window");
    refused(
        &of("fsnet", &["--window", "50"]),
        "--window: forgetting older samples is not supported by fsnet: it needs links or views",
    );
    refused(&of("f-score", &["--half-life", "0.9"]), "give a number of samples of at least 1");
    refused(&of("hsic", &["--half-life", "50"]), "take f-score, correlation or variance, or a window");
    refused(&of("t-score", &["--drift"]), "take f-score, correlation or variance, or a window");
    for forgetting in [&["--window", "50"][..], &["--half-life", "50"], &["--drift"]] {
        let both = [&["stream", "t.csv", "-m", "f-score", "--orders", "3"][..], forgetting].concat();
        let ran = place.run(&both);
        assert!(ran.status == 2 && ran.stdout.is_empty(), "{}", ran.stderr);
        assert!(ran.stderr.contains("--orders <N>' cannot be used with"), "{}", ran.stderr);
        assert!(ran.stderr.contains(forgetting[0]), "{}", ran.stderr);
    }
    refused(&of("f-score", &["--groups", "g.csv"]), "--groups: f-score uses no groups of features");
    refused(&of("f-score", &["--links", "g.csv"]), "--links: f-score uses no links");
    refused(
        &["stream", "f.csv", "--features-in-rows", "-m", "saola", "--window", "50"],
        "--window: forgetting older samples is not supported by saola: features arrive and the samples stay",
    );
}

/// Groups of several sizes by their table: what `select --groups` takes, and errors that name what is wrong.
#[test]
fn features_arrive_in_the_groups_of_a_table() {
    let place = Place::new();
    let text = features(60);
    place.write("f.csv", &text);
    place.write("g.csv", &groups(60));
    for method in [&["gfssf"][..], &["ogfs", "-p", "lambda=0.05"]] {
        let call = |verb: &'static str| {
            [
                &[
                    verb,
                    "f.csv",
                    "--features-in-rows",
                    "--groups",
                    "g.csv",
                    "-k",
                    "auto",
                    "--json",
                    "-",
                    "-m",
                ][..],
                method,
            ]
            .concat()
        };
        let streamed = last(&place.done(&call("stream")));
        let select = [&call("select")[..], &["--target", "y"]].concat();
        let table: Value = serde_json::from_str(&place.done(&select)).unwrap();
        let scores = |answer: &Value| -> Vec<(String, String)> {
            let features = answer["features"].as_array().unwrap().iter();
            features.map(|own| (own["name"].to_string(), own["score"].to_string())).collect()
        };
        assert!(!scores(&table).is_empty());
        assert_eq!(scores(&streamed), scores(&table), "{method:?}");
        assert_eq!(streamed["arrived"], 60);
    }
    let call = ["stream", "f.csv", "--features-in-rows", "-m", "gfssf", "--groups", "g.csv"];
    let refused = |groups: &str, told: &str| {
        place.write("g.csv", groups);
        let ran = place.run(&call);
        assert!(ran.status == 2 && ran.stderr.contains(told), "{}", ran.stderr);
    };
    refused(
        "feature,group\nx1,a\nx5,a\n",
        "line 5: feature `x2` comes before group `a` is complete: `x5` did not come",
    );
    refused(
        "feature,group\nx58,a\nx59,a\nx60,a\n",
        "the file ends before group `a` is complete: `x60` did not come",
    );
    refused("feature,group\nx1,a\nx1,b\n", "--groups: g.csv: line 3: feature `x1` is already in group `a`");
    refused("node,parent\nx1,a\n", "a tree of groups");
    let consecutive = [&call[..], &["-p", "groups=consecutive"]].concat();
    let ran = place.run(&consecutive);
    assert!(
        ran.stderr.contains("--groups: the parameter groups says that groups are others"),
        "{}",
        ran.stderr
    );
}
