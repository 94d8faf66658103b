//! `--cluster` and `fewest cluster`: calls of the program `fewest-cluster`.
#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::words;

/// Stands for the program, with its name: the cluster's own tests start the real one.
fn program(folder: &Path, name: &str) {
    let path = folder.join("fewest-cluster");
    let script = format!("#!/bin/sh\nprintf '%s' {name} \"[$#]\" \"$@\"\necho told >&2\nexit 7\n");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A copy of the command in a folder of its own, with nothing beside it, and another folder as PATH.
struct Copied {
    own: tempfile::TempDir,
    path: tempfile::TempDir,
}

impl Copied {
    fn new() -> Self {
        let copied = Self { own: tempfile::tempdir().unwrap(), path: tempfile::tempdir().unwrap() };
        fs::copy(env!("CARGO_BIN_EXE_fewest"), copied.own.path().join("fewest")).unwrap();
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
    for (text, mode) in [("#!/no/such/shell\n", 0o755), ("text", 0o644)] {
        let path = copied.own.path().join("fewest-cluster");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
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
