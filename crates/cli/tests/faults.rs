//! Faults of files, pipes, disks and signals: what is kept, and what is told.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::common::{Place, Ran, table};
use fewest::registry::{Registry, TargetKind};

fn outcome(output: Output) -> Ran {
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program with this file as stdin.
fn with_stdin(place: &Place, arguments: &[&str], file: &str) -> Ran {
    outcome(place.command(arguments).stdin(File::open(place.path(file)).unwrap()).output().unwrap())
}

#[test]
fn the_file_behind_stdin_is_not_replaced() {
    let place = Place::with_table();
    fs::hard_link(place.path("table.csv"), place.path("linked.csv")).unwrap();
    for option in ["--write-reduced", "--json", "--report"] {
        for name in ["table.csv", "linked.csv"] {
            let ran = with_stdin(&place, &["select", "-", "-k", "2", option, name], "table.csv");
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{option} {name}");
            assert!(ran.stderr.contains("this is the input file"), "{}", ran.stderr);
            assert_eq!(place.read("table.csv"), table());
        }
    }
    let ran = with_stdin(&place, &["select", "-", "-k", "2", "--write-reduced", "new.csv"], "table.csv");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(place.read("new.csv").lines().count() == 61);
}

#[test]
fn the_report_on_a_pipe_does_not_wait_for_it_again() {
    let place = Place::new();
    let pipe = place.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = place.command(&["select", "pipe.csv", "-k", "2", "--report", "r.html"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    File::options().write(true).open(&pipe).unwrap().write_all(table().as_bytes()).unwrap();
    let ran = outcome(child.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(place.read("r.html").contains("square"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_one_output_and_not_the_answer() {
    let place = Place::with_table();
    let expected = place.done(&["select", "table.csv", "-k", "2"]);
    let shown =
        |out: &str| out.lines().filter(|line| !line.contains(" s")).map(str::to_owned).collect::<Vec<_>>();
    for option in ["--json", "--write-reduced", "--report"] {
        let ran = place.run(&["select", "table.csv", "-k", "2", option, "/dev/full"]);
        assert_eq!(ran.status, 2, "{option}");
        assert_eq!(shown(&ran.stdout), shown(&expected), "{option}");
        assert!(ran.stderr.contains(option) && ran.stderr.contains("No space left"), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
    // The others are written.
    let call = ["select", "table.csv", "-k", "2", "--report", "/dev/full", "--json", "a.json"];
    assert_eq!(place.run(&call).status, 2);
    assert!(place.read("a.json").contains("\"features\""));
    let call =
        ["evaluate", "table.csv", "-k", "1", "--folds", "2", "--report", "/dev/full", "--json", "b.json"];
    let ran = place.run(&call);
    assert!(ran.status == 2 && ran.stdout.contains("k") && place.read("b.json").contains("\"folds\""));
    assert_eq!(place.files(), ["a.json", "b.json", "table.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_can_never_be_written_is_told_before_the_data_are_read() {
    let place = Place::new();
    let outputs = [("--json", "fewest.json"), ("--write-reduced", "fewest.csv"), ("--report", "fewest.html")];
    for (option, name) in outputs {
        // There is no input: it is not looked at yet.
        let told = place.fails(&["select", "none.csv", option, &format!("/proc/{name}")]);
        assert!(told.contains(option) && told.contains("cannot be written"), "{told}");
    }
    let told = place.fails(&["evaluate", "none.csv", "--resume", "/proc/fewest.json"]);
    assert!(told.contains("--resume") && told.contains("cannot be written"), "{told}");
}

#[test]
fn matlab_files_are_read_from_pipes() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/tests/files/compressed.mat");
    fs::copy(sample, place.path("x.mat")).unwrap();
    let lines = |out: &str| out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let expected = lines(&place.done(&["info", "x.mat"]));
    // A file of that name is not what is meant.
    place.write("-", "not,this\n1,2\n");
    let ran = with_stdin(&place, &["info", "-"], "x.mat");
    assert_eq!((ran.status, lines(&ran.stdout)), (0, expected.clone()), "{}", ran.stderr);

    let pipe = place.path("pipe.mat");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = place.command(&["info", "pipe.mat"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    File::options().write(true).open(&pipe).unwrap().write_all(&fs::read(sample).unwrap()).unwrap();
    let ran = outcome(child.wait_with_output().unwrap());
    assert_eq!((ran.status, lines(&ran.stdout)), (0, expected), "{}", ran.stderr);
}

/// Runs the program where it may use 2 GiB of addresses.
#[cfg(target_os = "linux")]
fn in_two_gib(place: &Place, arguments: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_fewest");
    let script = format!("ulimit -v 2097152; exec {program} {arguments}");
    outcome(Command::new("sh").args(["-c", &script]).current_dir(place.folder.path()).output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn small_files_that_ask_for_much_memory_get_one_line() {
    let place = Place::new();
    place.write("wide.svm", "1 100000000:1\n-1 1:1\n");
    place.write("wide.csv", &format!("{}\n", ",".repeat(9_000_000)));
    place.write("cell.csv", &format!("a,b\n1,\"{}", "x".repeat(40 << 20)));
    for (call, told) in [
        ("info wide.svm", "more than half"),
        ("score wide.svm -m variance", "more than half"),
        ("info wide.csv", "more than half"),
        ("info cell.csv", "a cell of more than 1 MiB"),
    ] {
        let ran = in_two_gib(&place, call);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{call}: {}", ran.stderr);
        assert!(ran.stderr.lines().count() == 1 && ran.stderr.contains(told), "{call}: {}", ran.stderr);
    }
}

#[test]
fn one_column_is_described_and_nothing_can_be_selected_from_it() {
    let place = Place::new();
    place.write("one.csv", "a\n1\n2\n2\n");
    let out = place.done(&["info", "one.csv"]);
    assert!(out.contains("3 samples, 1 feature") && out.contains("target: none"), "{out}");
    place.refuses(&["select", "one.csv"], &["one.csv", "only one column", "--delimiter"]);
}

#[test]
fn names_cannot_turn_the_direction_of_a_line() {
    let place = Place::new();
    let name = "a\u{2067}b\u{202e}c\u{61c}";
    let rows: String = (0..20).map(|i| format!("{},{},{}\n", i % 7, i % 3, i % 2)).collect();
    place.write("t.csv", &format!("{name},other,y\n{rows}"));
    for call in [
        &["info", "t.csv"][..],
        &["select", "t.csv", "-k", "2"],
        &["score", "t.csv"],
        &["evaluate", "t.csv", "-k", "1", "--folds", "2"],
        &["select", "t.csv", "--target", name],
        &["select", "t.csv", "--target", "b\u{2067}"],
    ] {
        let ran = place.run(call);
        let all = ran.stdout + &ran.stderr;
        assert!(!all.contains(['\u{2067}', '\u{202e}', '\u{61c}']), "{call:?}: {all:?}");
    }
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// A run of minutes that has stored this many folds.
fn long_run(place: &Place, store: &str, folds: usize) -> Child {
    let call = [
        "evaluate",
        "wdbc.csv",
        "-k",
        "1-20",
        "--repeats",
        "200",
        "--learner",
        "naive-bayes",
        "--resume",
        store,
        "--quiet",
        "--json",
        "answer.json",
    ];
    let mut child = place.command(&call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    let stored = || fs::read_to_string(place.path(store)).map_or(0, |text| text.matches('\n').count());
    while stored() < folds {
        if child.try_wait().unwrap().is_some() || started.elapsed() > Duration::from_secs(120) {
            panic!("no fold {folds} in two minutes");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// A pipe in which nothing ever comes: its other end is held open, or not there at all.
#[test]
fn what_stops_a_run_is_heard_while_it_reads() {
    let place = Place::with_table();
    let pipe = place.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let calls: [&[&str]; 10] = [
        &["select", "pipe.csv", "-k", "2"],
        &["select", "-", "-k", "2"],
        &["score", "pipe.csv"],
        &["evaluate", "pipe.csv", "-k", "2"],
        &["compare", "pipe.csv", "-k", "2", "--methods", "f-score,variance"],
        &["select", "table.csv", "-m", "lufs", "-k", "2", "--links", "pipe.csv"],
        &[
            "select",
            "table.csv",
            "-m",
            "group-lasso",
            "-p",
            "groups=given",
            "-k",
            "2",
            "--groups",
            "pipe.csv",
        ],
        &["stream", "pipe.csv", "--method", "ofs", "-k", "2", "--orders", "2"],
        &["stream", "pipe.csv", "--method", "ofs", "-k", "2"],
        &["stream", "-", "--method", "ofs", "-k", "2"],
    ];
    for call in calls {
        for (stop, status, told) in
            [("limit", 124, "--time-limit: the limit was reached "), ("-TERM", 130, "interrupted ")]
        {
            let limit = if stop == "limit" { &["--time-limit", "0.3"][..] } else { &[] };
            let started = Instant::now();
            let mut command = place.command(&[call, limit].concat());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let _open = child.stdin.take();
            if stop != "limit" {
                until_it_hears(&child);
                signal(&child, stop);
            }
            let ran = outcome(child.wait_with_output().unwrap());
            assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{call:?} {stop}: {}", ran.stderr);
            assert!(ran.stderr.contains(told) && ran.stderr.lines().count() == 1, "{call:?}: {}", ran.stderr);
            assert!(started.elapsed() < Duration::from_secs(8), "{call:?} {stop}: {:?}", started.elapsed());
        }
    }
    assert_eq!(place.files(), ["pipe.csv", "table.csv"]);
}

/// Who should read what is told may not.
#[test]
fn a_message_that_nobody_reads_does_not_hold_up_the_end() {
    let place = Place::with_table();
    for limit in [&["--time-limit", "0.3"][..], &[]] {
        let (_unread, mut full) = std::io::pipe().unwrap();
        full.write_all(&[b'.'; 1 << 16]).unwrap();
        let mut command = place.command(&[&["select", "-", "-k", "2"][..], limit].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(full).spawn().unwrap();
        let _open = child.stdin.take();
        if limit.is_empty() {
            until_it_hears(&child);
            signal(&child, "-TERM");
        }
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > Duration::from_secs(10) {
                child.kill().unwrap();
                panic!("{limit:?}: it goes on");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let status = if limit.is_empty() { 130 } else { 124 };
        assert_eq!(child.wait().unwrap().code(), Some(status), "{limit:?}");
    }
}

/// As `nohup` starts it.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_was_ignored_stays_so() {
    let place = Place::with_table();
    let script = format!("trap '' HUP; exec {} select - -k 2", env!("CARGO_BIN_EXE_fewest"));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.current_dir(place.folder.path()).spawn().unwrap();
    until_it_hears(&child);
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    child.stdin.take().unwrap().write_all(table().as_bytes()).unwrap();
    let ran = outcome(child.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

/// Waits until a program hears SIGTERM.
fn until_it_hears(child: &Child) {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        let Ok(status) = fs::read_to_string(format!("/proc/{}/status", child.id())) else {
            // Another system: it has had the time.
            return std::thread::sleep(Duration::from_secs(2));
        };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
        if caught >> 14 & 1 == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no handler of SIGTERM in 20 seconds");
}

#[test]
fn sigterm_and_sighup_are_answered_like_ctrl_c() {
    let place = Place::with_wdbc();
    for name in ["-INT", "-TERM", "-HUP"] {
        let child = long_run(&place, &format!("folds{name}.json"), 1);
        signal(&child, name);
        let ran = outcome(child.wait_with_output().unwrap());
        assert_eq!((ran.status, ran.stderr.as_str()), (130, ""), "{name}");
        assert!(ran.stdout.contains("note: interrupted after "), "{name}: {}", ran.stdout);
        assert!(place.read("answer.json").contains("\"interrupted\""), "{name}");
    }
    assert!(place.files().iter().all(|name| !name.starts_with(".fewest")), "{:?}", place.files());
}

#[test]
fn a_kill_loses_the_folds_at_work_only() {
    let place = Place::with_wdbc();
    let mut child = long_run(&place, "folds.json", 1);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let stored = fs::read_to_string(place.path("folds.json")).unwrap();
    let whole = stored.matches('\n').count();
    assert!(whole > 0);
    let child = long_run(&place, "folds.json", whole + 1);
    signal(&child, "-INT");
    child.wait_with_output().unwrap();
    let more = place.read("folds.json");
    let kept = stored.rfind('\n').unwrap() + 1;
    assert!(more.starts_with(&stored[..kept]) && more.matches('\n').count() > whole);
}

#[test]
fn two_processes_share_a_file_of_folds() {
    let place = Place::with_wdbc();
    let call = |method| {
        ["evaluate", "wdbc.csv", "-m", method, "-k", "1-5", "--learner", "knn", "--resume", "folds.json"]
    };
    let start =
        |method| place.command(&call(method)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let children = ["f-score", "mrmr", "f-score"].map(start);
    for child in children {
        let ran = outcome(child.wait_with_output().unwrap());
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        assert!(!ran.stdout.contains("not stored"), "{}", ran.stdout);
    }
    let lines = place.read("folds.json").lines().count();
    // Of each method, and of both baselines for each run that did not find them.
    assert!((40..=90).contains(&lines), "{lines}");
    let before = place.read("folds.json");
    let methods = ["compare", "wdbc.csv", "-m", "f-score,mrmr", "-k", "1-5", "--learner", "knn"];
    place.done(&[&methods[..], &["--resume", "folds.json"]].concat());
    assert_eq!(place.read("folds.json"), before, "no fold was run again");
}

/// So many samples of so many classes.
fn many_samples(n: u64, n_classes: u64) -> String {
    let mut text = "a,b,c,d,kind\n".to_owned();
    for i in 0..n {
        let noise = |j: u64| (fewest::core::derive_seed(j, i) >> 40) as f64 / 16_777_216.0;
        let kind = if n_classes > 2 { i % n_classes } else { u64::from(noise(0) + noise(4) > 1.0) };
        text.push_str(&format!("{},{},{},{},k{kind}\n", noise(0), noise(1), noise(2), noise(3)));
    }
    text
}

/// Runs the program with one thread, and a bound on its memory in KiB.
#[cfg(target_os = "linux")]
fn bounded(place: &Place, kibibytes: u64, arguments: &[&str]) -> Ran {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\" --threads 1")]);
    let program = place.command(arguments);
    shell.arg(program.get_program()).args(program.get_args());
    outcome(shell.current_dir(program.get_current_dir().unwrap()).output().unwrap())
}

/// What needs the memory of all pairs of samples, or of classes, says so at once where there is less.
#[cfg(target_os = "linux")]
#[test]
fn memory_for_all_pairs_of_samples_is_asked_for_first() {
    let place = Place::new();
    place.write("long.csv", &many_samples(20_000, 2));
    place.write("many.csv", &many_samples(20_000, 300));
    let select = |file, method| {
        let words = ["select", file, "--target", "kind", "-m", method, "-k", "2", "--time-limit", "5"];
        bounded(&place, 2_000_000, &words)
    };
    for method in ["gmkl", "rfmkl", "mkl", "svm-rfe"] {
        let started = Instant::now();
        let ran = select("long.csv", method);
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{method}: {}", ran.stderr);
        assert!(ran.stderr.contains(" GiB, more than there is: use fewer samples"), "{}", ran.stderr);
        assert!(started.elapsed() < Duration::from_secs(15), "{method}");
    }
    // A linear kernel needs no pairs.
    let ran = select("long.csv", "nmmkl");
    assert!(ran.status == 0 || ran.status == 124, "{} {}", ran.status, ran.stderr);
    // The curvature of all samples.
    let ran = select("many.csv", "l21-logistic");
    assert!(ran.status == 2 && ran.stderr.contains("Newton's method needs 13 GiB"), "{}", ran.stderr);
}

/// One at a time: what is measured is how soon each ends.
static ALONE: Mutex<()> = Mutex::new(());

/// Methods whose single steps take minutes of such a table hear a limit within them.
#[test]
fn a_time_limit_is_heard_within_a_step() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    place.write("long.csv", &many_samples(20_000, 2));
    for method in ["r2w2", "fhsic", "bahsic", "hsfs", "sbs", "sbfs", "svm-rfe", "boruta", "rfmkl", "mkl"] {
        let started = Instant::now();
        let words = ["select", "long.csv", "--target", "kind", "-m", method, "-k", "2", "--time-limit", "1"];
        let ran = place.run(&words);
        // Machines may be busy: without an ear for it these take from 10 seconds to hours.
        assert!(started.elapsed() < Duration::from_secs(8), "{method}: {:?}", started.elapsed());
        let told = ran.stdout.contains("(time-limit)") || ran.stderr.contains("--time-limit");
        // Where there is too little memory for all pairs of samples, that is told before.
        let refused = ran.status == 2 && ran.stderr.contains("more than there is");
        assert!(
            refused || ran.status == 124 && told,
            "{method}: {} {} {}",
            ran.status,
            ran.stdout,
            ran.stderr
        );
    }
}

/// A column of names as target is told as what it is, before a method begins.
#[test]
fn nearly_as_many_classes_as_samples_are_told_at_once() {
    let place = Place::new();
    place.write("names.csv", &many_samples(20_000, 10_000));
    for method in ["f-score", "nmmkl", "r2w2", "svm-rfe", "hsic-lasso"] {
        let started = Instant::now();
        let ran = place.run(&["select", "names.csv", "--target", "kind", "-m", method, "-k", "2"]);
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{method}: {}", ran.stderr);
        assert!(ran.stderr.contains("10000 classes"), "{method}: {}", ran.stderr);
        assert!(started.elapsed() < Duration::from_secs(8), "{method}: {:?}", started.elapsed());
    }
}

/// Where such a column is said to be classes, and where there are hundreds of them with many features, a
/// limit is heard by every method, and memory is asked for before it is taken.
#[cfg(target_os = "linux")]
#[test]
fn hundreds_and_thousands_of_classes_end_in_time() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    place.write("names.csv", &many_samples(10_000, 5000));
    place.write("hundreds.csv", &hundreds_of_classes());
    let methods = Registry::standard().methods().iter();
    for method in methods.filter(|method| method.targets.contains(&TargetKind::Classes)) {
        for table in ["names.csv", "hundreds.csv"] {
            let words = ["select", table, "--target", "kind", "--task", "classification", "-k", "2"];
            let words = [&words[..], &["--time-limit", "0.3", "--quiet", "-m", method.id]].concat();
            let started = Instant::now();
            let ran = bounded(&place, 8_000_000, &words);
            println!("{} {table} {} {:?} {}", method.id, ran.status, started.elapsed(), ran.stderr);
            assert!(started.elapsed() < Duration::from_secs(8), "{}: {:?}", method.id, started.elapsed());
            let is_refused = ran.status == 2 && !ran.stderr.contains("no method");
            assert!(ran.status == 0 || ran.status == 124 || is_refused, "{}: {}", method.id, ran.status);
            assert!(ran.stderr.lines().count() <= 1, "{}: {}", method.id, ran.stderr);
        }
    }
}

/// Three hundred classes of twenty samples, of sixty features that have a part in common.
#[cfg(target_os = "linux")]
fn hundreds_of_classes() -> String {
    let noise = |i: usize, j: usize| (((i * 2_654_435_761) ^ (j * 40_503_001)) % 10_007) as f64 / 10_007.0;
    let mut text = (0..60).map(|j| format!("x{j},")).collect::<String>() + "kind\n";
    for i in 0..6000 {
        (0..60).for_each(|j| text.push_str(&format!("{:.4},", noise(i, 997) + 0.4 * noise(i, j))));
        text.push_str(&format!("k{}\n", i % 300));
    }
    text
}
