//! `--cluster` and `fewest cluster`: calls of the program `fewest-cluster`.
#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::words;

/// Stands for the program, with its name: the cluster's own tests start the real one.
fn program(folder: &Path, name: &str) {
    let path = folder.join("fewest-cluster");
    let script = format!("#!/bin/sh\nprintf '%s' {name} \"[$#]\" \"$@\"\necho told >&2\nexit 7\n");
    write(&path, &script, "755");
}

/// Writes a program by another one: the system starts none that is open for writing, and what this
/// process has open, programs that other tests start have open for a moment, too.
fn write(path: &Path, text: &str, mode: &str) {
    let script = r#"cat > "$0" && chmod "$1" "$0""#;
    let mut sh = Command::new("sh");
    sh.args(["-c", script]).arg(path).arg(mode).stdin(Stdio::piped());
    let mut child = sh.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// A copy of the command in a folder of its own, with nothing beside it, and another folder as PATH.
struct Copied {
    own: tempfile::TempDir,
    path: tempfile::TempDir,
}

impl Copied {
    fn new() -> Self {
        let copied = Self { own: tempfile::tempdir().unwrap(), path: tempfile::tempdir().unwrap() };
        let mut copy = Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_fewest")).arg(copied.own.path().join("fewest"));
        assert!(copy.status().unwrap().success());
        copied
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        let mut command = Command::new(self.own.path().join("fewest"));
        command.args(arguments).env("PATH", self.path.path()).output().unwrap()
    }

    /// The line of a call that fails here.
    fn told(&self, call: &str) -> String {
        let output = self.run(&words(call));
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.len(), told.lines().count()),
            (Some(2), 0, 1),
            "{told}"
        );
        told
    }
}

#[test]
fn arguments_are_handed_over_and_the_status_comes_back() {
    let copied = Copied::new();
    program(copied.path.path(), "path");
    for (call, handed) in [
        ("select s3://b/t --cluster h:1 --tasks 3 -k 5", "path[8]selects3://b/t--clusterh:1--tasks3-k5"),
        ("score t.parquet --cluster=h:1", "path[3]scoret.parquet--cluster=h:1"),
        ("select --help --cluster h:1", "path[4]select--help--clusterh:1"),
        ("cluster local 2", "path[2]local2"),
        ("cluster --help", "path[1]--help"),
        ("cluster", "path[0]"),
    ] {
        let output = copied.run(&words(call));
        assert_eq!(output.status.code(), Some(7), "{call}: {output:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), handed);
        assert_eq!(output.stderr, b"told\n");
    }
    // The one beside the command comes first, and bytes that are no text are the same there.
    program(copied.own.path(), "beside");
    let odd = OsString::from_vec(b"t\xff.csv".to_vec());
    let output = copied.run(&["select".into(), odd, "--cluster".into(), "h:1".into()]);
    assert_eq!(output.stdout, b"beside[4]selectt\xff.csv--clusterh:1");
}

#[test]
fn without_the_program_a_line_says_what_to_do() {
    let copied = Copied::new();
    for call in ["select t.parquet --cluster h:1", "cluster scheduler"] {
        let told = copied.told(call);
        assert!(told.contains("neither in the folder") && told.contains("cargo install"), "{told}");
    }
    // It is there, but cannot be started.
    for (text, mode) in [("#!/no/such/shell\n", "755"), ("text", "644")] {
        let path = copied.own.path().join("fewest-cluster");
        write(&path, text, mode);
        let told = copied.told("cluster scheduler");
        assert!(told.contains(path.to_str().unwrap()) && told.contains("install it again"), "{told}");
    }
}

/// It is never ignored: what is no text is refused, too.
#[test]
fn the_option_is_known() {
    let copied = Copied::new();
    let odd = OsString::from_vec(b"--cluster=\xff".to_vec());
    let output = copied.run(&["select".into(), "t.csv".into(), odd]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
    for command in ["select", "score"] {
        let help = String::from_utf8(copied.run(&[command, "--help"]).stdout).unwrap();
        assert!(help.contains("--cluster <HOST:PORT>"), "{help}");
    }
}
