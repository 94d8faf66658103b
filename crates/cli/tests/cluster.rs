//! `--cluster`, `fewest cluster`: calls of the program `fewest-cluster`.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Place, words};

/// What stands for the program here: the cluster's own tests start the real one.
const PROGRAM: &str = "#!/bin/sh\necho \"$# words: $*\"\necho told >&2\nexit 7\n";

#[test]
fn words_are_handed_over_and_the_status_comes_back() {
    let place = Place::new();
    place.write("fewest-cluster", PROGRAM);
    fs::set_permissions(place.path("fewest-cluster"), fs::Permissions::from_mode(0o755)).unwrap();
    for (call, handed) in [
        (
            "select s3://b/t --cluster h:1 --tasks 3 -k 5",
            "8 words: select s3://b/t --cluster h:1 --tasks 3 -k 5\n",
        ),
        ("score t.parquet --cluster=h:1", "3 words: score t.parquet --cluster=h:1\n"),
        ("cluster local 2", "2 words: local 2\n"),
        ("cluster --help", "1 words: --help\n"),
    ] {
        let ran = place.command(&words(call)).env("PATH", place.folder.path()).output().unwrap();
        assert_eq!(ran.status.code(), Some(7), "{call}: {ran:?}");
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), handed);
        assert_eq!(String::from_utf8(ran.stderr).unwrap(), "told\n");
    }
}

#[test]
fn without_the_program_a_line_says_how_to_get_it() {
    let place = Place::new();
    for call in ["select t.parquet --cluster h:1", "cluster scheduler"] {
        let ran = place.command(&words(call)).env("PATH", place.folder.path()).output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert_eq!((ran.status.code(), ran.stdout.len(), told.lines().count()), (Some(2), 0, 1), "{told}");
        assert!(told.contains("fewest-cluster is neither") && told.contains("cargo install"), "{told}");
    }
    let help = place.done(&["select", "--help"]);
    assert!(help.contains("--cluster <HOST:PORT>"), "{help}");
}
