//! What is wrong is told in one line, with status 2.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fewest_cluster::{ExecutorOptions, executor};

use crate::processes::{Machines, error, free_ports, select, wait};
use crate::tables::{Rows, batch, with_list, write};

const ARGUMENTS: [&str; 6] = ["--method", "f-score", "--target", "class", "--ignore", "real"];

#[test]
fn a_cluster_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(100).write(folder.path(), 1);
    let address = format!("127.0.0.1:{}", free_ports());
    let told = error(&select(&address, &path, &ARGUMENTS));
    assert!(told.contains(&format!("--cluster {address}: no scheduler answers")), "{told}");
    let told = error(&select("no-such-machine.invalid:1", &path, &ARGUMENTS));
    assert!(told.contains("--cluster no-such-machine.invalid:1"), "{told}");
}

#[test]
fn wrong_tables_and_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let rows = Rows::new(20_000);
    let machines = Machines::start(1, &[]);
    let told = |path: &Path, arguments: &[&str]| error(&machines.select(path, arguments));

    let missing = told(&folder.path().join("none.parquet"), &ARGUMENTS);
    assert!(missing.contains("none.parquet"), "{missing}");

    // A part with another schema.
    let parts = rows.write(folder.path(), 3);
    let whole = rows.batch(0..100);
    let columns = (1..whole.num_columns()).map(|at| {
        let name = whole.schema().field(at).name().clone();
        (name, whole.column(at).clone())
    });
    write(&parts.join("part-03.parquet"), &batch(columns.collect()));
    let other = told(&parts, &ARGUMENTS);
    assert!(other.contains("part-03.parquet"), "{other}");

    // A part that is cut off at its end, and one whose pages are no pages: only who reads them sees it.
    let bytes = std::fs::read(parts.join("part-02.parquet")).unwrap();
    std::fs::write(parts.join("part-03.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    let cut = told(&parts, &ARGUMENTS);
    assert!(cut.contains("part-03.parquet"), "{cut}");
    let length: [u8; 4] = bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap();
    let footer = bytes.len() - 8 - u32::from_le_bytes(length) as usize;
    let damaged = [&bytes[..4], &vec![0xA5; footer - 4], &bytes[footer..]].concat();
    std::fs::write(parts.join("part-03.parquet"), &damaged).unwrap();
    let damaged = told(&parts, &ARGUMENTS);
    assert!(damaged.contains("part-03.parquet"), "{damaged}");
    // Of numbers, this machine reads the first rows only.
    let numbers = ["--method", "correlation", "--target", "real", "--task", "regression", "--ignore", "c*"];
    let read_there = told(&parts, &numbers);
    assert!(read_there.contains("part-03.parquet"), "{read_there}");

    // A list in a cell.
    let list = folder.path().join("list.parquet");
    write(&list, &with_list(5000));
    let told_list = told(&list, &["--method", "correlation", "--target", "y"]);
    assert!(told_list.contains("list"), "{told_list}");

    // Values that are missing or not finite, behind the rows that this machine looks at.
    let mut wrong = Rows::new(20_000);
    wrong.numbers[3][17_000] = f64::INFINITY;
    let path = wrong.write(folder.path(), 1);
    let infinite = told(&path, &ARGUMENTS);
    assert!(infinite.contains("x3") && infinite.contains("17000"), "{infinite}");
    wrong.numbers[3][17_000] = f64::NAN;
    let path = wrong.write(folder.path(), 1);
    let missing = told(&path, &ARGUMENTS);
    assert!(missing.contains("x3") && missing.contains("17000"), "{missing}");

    // Methods that need all rows at once, and arguments that are none.
    let path = rows.write(folder.path(), 1);
    let relieff = told(&path, &["--method", "relieff", "--target", "class"]);
    assert!(relieff.contains("relieff") && relieff.contains("f-score"), "{relieff}");
    let laplace = told(&path, &["--method", "hsic-lasso", "--target", "real", "-p", "kernel=laplace"]);
    assert!(laplace.contains("kernel"), "{laplace}");
    let logistic = told(&path, &["--method", "lasso", "--target", "class", "-p", "loss=logistic"]);
    assert!(logistic.contains("loss=logistic in passes"), "{logistic}");
    let unknown = told(&path, &["--method", "f-skore", "--target", "class"]);
    assert!(unknown.contains("f-skore"), "{unknown}");
    let k = told(&path, &[&ARGUMENTS[..], &["-k", "40"]].concat());
    assert!(k.contains("40"), "{k}");
    let auto = told(&path, &[&ARGUMENTS[..], &["-k", "auto"]].concat());
    assert!(auto.contains("leave -k out"), "{auto}");
    let target = told(&path, &["--method", "f-score", "--target", "klass"]);
    assert!(target.contains("klass"), "{target}");
}

#[test]
fn executors_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    let machines = Machines::start(0, &[]);
    let port = free_ports();
    let options = ExecutorOptions {
        scheduler: ("127.0.0.1".to_owned(), machines.port),
        address: ([127, 0, 0, 1], port).into(),
        slots: 1,
        interval: 1,
        version: "0.0.9".to_owned(),
        ..ExecutorOptions::new(folder.path().to_owned())
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(32 << 20).build().unwrap();
    runtime.spawn(executor(options));
    wait(port);
    let told = error(&machines.select(&path, &ARGUMENTS));
    assert!(told.contains("version 0.0.9") && told.contains(fewest_cluster::VERSION), "{told}");
    runtime.shutdown_timeout(Duration::from_millis(100));
}

/// Sums are written to the disk of the executor before they are fetched.
#[cfg(unix)]
#[test]
fn an_executor_whose_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    let mut machines = Machines::start(0, &[]);
    machines.join_without_disk();
    let told = error(&machines.select(&path, &ARGUMENTS));
    assert!(told.contains("File too large") && told.contains("room on the disk"), "{told}");
}

/// What a pass has summed is here, whether it can be kept or not.
#[cfg(unix)]
#[test]
fn the_disk_of_resume_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    let machines = Machines::start(1, &[]);
    let kept = folder.path().join("kept");
    let resume = [&ARGUMENTS[..], &["--resume", kept.to_str().unwrap(), "--json", "-"]].concat();
    let answer = machines.select_without_disk(&path, &resume);
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let found: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(found["features"], machines.json(&path, &ARGUMENTS)["features"]);
    let told = String::from_utf8(answer.stdout).unwrap() + &String::from_utf8(answer.stderr).unwrap();
    assert!(told.contains("was not kept") && told.contains("File too large"), "{told}");
}

#[test]
fn executors_with_another_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    let (own, other) = (folder.path().join("own"), folder.path().join("other"));
    std::fs::write(&own, "a secret of the cluster").unwrap();
    std::fs::write(&other, "a secret of somebody else").unwrap();
    let (own, other) = (own.to_str().unwrap(), other.to_str().unwrap());
    let machines = Machines::start(1, &["--secret", own]);
    machines.json(&path, &[&ARGUMENTS[..], &["--secret", own]].concat());
    for wrong in [&["--secret", other][..], &[]] {
        let told = error(&machines.select(&path, &[&ARGUMENTS[..], wrong].concat()));
        assert!(told.contains("--secret"), "{told}");
    }
    let machines = Machines::start(1, &[]);
    let told = error(&machines.select(&path, &[&ARGUMENTS[..], &["--secret", own]].concat()));
    assert!(told.contains("--secret"), "{told}");
    let told = error(&machines.select(&path, &[&ARGUMENTS[..], &["--secret", "/no/such/file"]].concat()));
    assert!(told.contains("--secret /no/such/file"), "{told}");
}

#[test]
fn addresses_that_others_reach_need_a_secret() {
    for (server, bind) in [
        ("scheduler", "0.0.0.0"),
        ("scheduler", "::"),
        ("executor", "0.0.0.0"),
        ("executor", "::"),
        ("executor", "192.0.2.1"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fewest-cluster"));
        let port = free_ports().to_string();
        let told = error(&command.args([server, "--bind", bind, "--port", &port]).output().unwrap());
        assert!(told.contains(&format!("--bind {bind}:")) && told.contains("--secret FILE"), "{told}");
    }
}

/// The port of an executor, or the next one, is that of another program.
#[test]
fn an_executor_needs_two_ports() {
    let port = free_ports();
    for taken in [port, port + 1] {
        let _other = TcpListener::bind(("127.0.0.1", taken)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fewest-cluster"));
        command.args(["executor", "--scheduler", "127.0.0.1:1", "--port", &port.to_string()]);
        let told = error(&command.output().unwrap());
        assert!(told.contains("are this port and the next one free (--port)"), "{told}");
    }
}

#[test]
fn an_executor_with_an_address_of_colons() {
    if TcpListener::bind(("::1", 0)).is_err() {
        // This machine has no such addresses.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    let mut machines = Machines::start(0, &[]);
    machines.join_at("::1", &[]);
    machines.json(&path, &ARGUMENTS);
}

#[test]
fn a_limit_that_no_clock_reaches() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9000).write(folder.path(), 1);
    let machines = Machines::start(1, &[]);
    let limit = ["--pass-limit", "18446744073709551615"];
    machines.json(&path, &[&ARGUMENTS[..], &limit].concat());
}
