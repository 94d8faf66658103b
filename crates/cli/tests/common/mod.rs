//! Runs the program as a user would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A folder of its own for a test, with the program at hand.
pub(crate) struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with a table of two informative features, a copy, noise and a constant.
    pub(crate) fn with_table() -> Self {
        let place = Self::new();
        place.write("table.csv", &table());
        place
    }

    /// A folder with the breast cancer data.
    pub(crate) fn with_wdbc() -> Self {
        let place = Self::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/data/wdbc.csv");
        fs::copy(source, place.path("wdbc.csv")).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fewest"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Ran {
            status: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs what must succeed in silence, and gives its stdout.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        ran.stdout
    }

    /// Runs what must fail with one line on stderr and nothing else, and gives that line.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let before = self.files();
        let ran = self.run(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("fewest: ") && ran.stderr.ends_with('\n'), "{}", ran.stderr);
        assert_eq!(self.files(), before, "{arguments:?}: a file was left behind");
        ran.stderr
    }

    /// [`fails`](Place::fails), and says all of `told`.
    pub(crate) fn refuses(&self, arguments: &[&str], told: &[&str]) {
        let line = self.fails(arguments);
        for part in told {
            assert!(line.contains(part), "{arguments:?}: `{part}` is not in: {line}");
        }
    }

    /// Any number of threads gives the same answer, of which `compared` leaves out the times.
    pub(crate) fn threads_change_nothing(&self, arguments: &[&str], compared: impl Fn(&str) -> String) {
        let answers = ["1", "2", "7"].map(|threads| {
            compared(&self.done(&[arguments, &["--threads", threads, "--json", "-"]].concat()))
        });
        assert_eq!(answers[0], answers[1], "{arguments:?}");
        assert_eq!(answers[0], answers[2], "{arguments:?}");
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--json", "-"]);
        serde_json::from_str(&self.done(&arguments)).unwrap()
    }
}

/// The words of a call.
pub(crate) fn words(call: &str) -> Vec<&str> {
    call.split(' ').collect()
}

/// The keys of an object in the order in which they are written.
pub(crate) fn key_order(text: &str, indent: usize) -> String {
    let start = format!("{}\"", " ".repeat(indent));
    let keys: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix(&start))
        .filter_map(|rest| rest.split_once("\":").map(|(key, _)| key))
        .collect();
    keys.join(" ")
}

/// `square` matters through its square and `copy` repeats it, `line` matters linearly, `noise` and `fixed`
/// not at all.
pub(crate) fn table() -> String {
    let mut text = String::from("square,copy,line,noise,fixed,outcome\n");
    let wave = |i: i32, step: i32| f64::from(i * step % 61) / 30.0 - 1.0;
    for i in 0..60 {
        let (square, line, noise) = (wave(i, 1), wave(i, 17), wave(i, 23));
        let outcome = 3.0 * square * square + line;
        text.push_str(&format!("{square},{square},{line},{noise},7,{outcome}\n"));
    }
    text
}
