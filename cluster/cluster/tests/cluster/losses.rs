//! What is lost costs time, and not the answer.

use std::time::{Duration, Instant};

use crate::processes::{Machines, error, json};
use crate::tables::{Rows, comparable, in_memory};

const ARGUMENTS: [&str; 10] = arguments("chi2");

const fn arguments(method: &str) -> [&str; 10] {
    ["--method", method, "--target", "class", "--ignore", "real", "-k", "6", "--tasks", "8"]
}

#[test]
fn an_executor_that_is_killed_costs_time_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(32_000).write(folder.path(), 3);
    // Two passes or three of eight tasks of 300 ms or more each, on two executors: 3 seconds and more.
    for (moment, method) in [(0, "chi2"), (500, "mrmr"), (1100, "cife"), (1700, "lasso"), (2300, "mim")] {
        let expected = comparable(in_memory(&path, ("class", "real"), method, &[], 6));
        let mut machines = Machines::start(2, &["--pause", "300"]);
        let mut command = machines.begin(&path, &arguments(method));
        std::thread::sleep(Duration::from_millis(moment));
        assert!(command.try_wait().unwrap().is_none(), "the answer was there before {moment} ms");
        machines.executors[moment as usize % 200 / 100].kill();
        let found = json(&command.wait_with_output().unwrap());
        assert_eq!(comparable(found), expected, "killed after {moment} ms");
    }
}

#[test]
fn an_executor_that_joins_takes_the_tasks_of_one_that_was_the_only_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(20_000).write(folder.path(), 1);
    let expected = comparable(in_memory(&path, ("class", "real"), "chi2", &[], 6));
    let mut machines = Machines::start(1, &["--pause", "400"]);
    let command = machines.begin(&path, &ARGUMENTS);
    std::thread::sleep(Duration::from_millis(700));
    machines.executors[0].kill();
    machines.join(&[]);
    assert_eq!(comparable(json(&command.wait_with_output().unwrap())), expected);
}

/// The scheduler ends after the first of two passes; with the folder of passes that are over, the next run
/// needs the second only, unless the table is another.
#[test]
fn a_run_goes_on_behind_the_passes_that_were_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(32_000).write(folder.path(), 3);
    let kept = folder.path().join("kept");
    let resume = [&ARGUMENTS[..], &["--resume", kept.to_str().unwrap()]].concat();
    let n_kept = || std::fs::read_dir(&kept).map_or(0, Iterator::count);
    let mut machines = Machines::start(1, &["--pause", "200"]);
    let command = machines.begin(&path, &resume);
    let started = Instant::now();
    while n_kept() == 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "no pass was over");
        std::thread::sleep(Duration::from_millis(10));
    }
    machines.scheduler.kill();
    error(&command.wait_with_output().unwrap());
    assert_eq!(n_kept(), 1);

    let machines = Machines::start(1, &[]);
    let told = |resume: &[&str]| String::from_utf8(machines.select(&path, resume).stdout).unwrap();
    let again = told(&resume);
    assert!(again.contains("1 pass after 1 pass of --resume over 32000 rows"), "{again}");
    // Now all of it is there, and without a cluster the answer is the same.
    let expected = comparable(in_memory(&path, ("class", "real"), "chi2", &[], 6));
    let nobody = crate::processes::select("127.0.0.1:9", &path, &[&resume[..], &["--json", "-"]].concat());
    assert_eq!(comparable(json(&nobody)), expected);
    // Other options, and other rows: nothing is taken.
    let others = told(&[&resume[..], &["-p", "bins=7"]].concat());
    assert!(others.contains("2 passes over"), "{others}");
    Rows::new(31_000).write(folder.path(), 3);
    let others = told(&resume);
    assert!(others.contains("2 passes over 31000 rows"), "{others}");
    // What was changed is told.
    for entry in std::fs::read_dir(&kept).unwrap() {
        let file = entry.unwrap().path();
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.pop();
        std::fs::write(&file, bytes).unwrap();
    }
    let problem = error(&machines.select(&path, &resume));
    assert!(problem.contains("--resume") && problem.contains("remove it"), "{problem}");
}

#[test]
fn without_a_scheduler_or_executors_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    // No executor: time runs out.
    let machines = Machines::start(0, &[]);
    let told = error(&machines.select(&path, &[&ARGUMENTS[..], &["--pass-limit", "2"]].concat()));
    assert!(told.contains("--pass-limit") && told.contains("fewest-cluster executor"), "{told}");
    // The scheduler ends during a pass.
    let mut machines = Machines::start(1, &["--pause", "500"]);
    let started = Instant::now();
    let command = machines.begin(&path, &ARGUMENTS);
    std::thread::sleep(Duration::from_millis(700));
    machines.scheduler.kill();
    let told = error(&command.wait_with_output().unwrap());
    let address = machines.address();
    assert!(told.contains(&address) && told.contains("no scheduler answers"), "{told}");
    assert!(started.elapsed() < Duration::from_secs(40));
}
