//! What is lost costs time, and not the answer.

use std::time::{Duration, Instant};

use crate::processes::{Machines, error, json};
use crate::tables::{Rows, comparable, in_memory};

const ARGUMENTS: [&str; 10] =
    ["--method", "chi2", "--target", "class", "--ignore", "real", "-k", "6", "--tasks", "8"];

#[test]
fn an_executor_that_is_killed_costs_time_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(32_000).write(folder.path(), 3);
    let expected = comparable(in_memory(&path, ("class", "real"), "chi2", &[], 6));
    // Two passes of eight tasks of 300 ms or more each, on two executors: some 3 seconds.
    for moment in [0, 500, 1100, 1700, 2300] {
        let mut machines = Machines::start(2, &["--pause", "300"]);
        let mut command = machines.begin(&path, &ARGUMENTS);
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
