//! The program as processes, which end with the test.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// A program with arguments, which can write no byte to a file, as on a disk that is full.
fn without_disk(words: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    // Without the trap the system would end the process that writes too much.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]).args(words);
    shell
}

/// A process that is killed when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    fn start(arguments: &[&str], folder: &Path, environment: &[(&str, String)]) -> Self {
        Self::by(Command::new(env!("CARGO_BIN_EXE_fewest-cluster")), arguments, folder, environment)
    }

    fn by(mut command: Command, arguments: &[&str], folder: &Path, environment: &[(&str, String)]) -> Self {
        let child = command
            .args(arguments)
            .env("TMPDIR", folder)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(child.spawn().unwrap())
    }

    /// A scheduler on this port and so many executors on the next ones, by one command.
    pub(crate) fn local(n_executors: u16, port: u16, folder: &Path) -> Self {
        let words = ["local", &n_executors.to_string(), "--port", &port.to_string(), "--slots", "1"];
        let local = Self::start(&words, folder, &[]);
        wait(port);
        local
    }

    /// Ends it at once, as a machine that loses its power.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A scheduler with executors.
pub(crate) struct Machines {
    pub(crate) port: u16,
    pub(crate) scheduler: Process,
    pub(crate) executors: Vec<Process>,
    /// Variables for executors that join, and for commands.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// What executors that are killed leave behind.
    folder: tempfile::TempDir,
}

impl Machines {
    /// So many executors with one slot each, and these options.
    pub(crate) fn start(n_executors: usize, options: &[&str]) -> Self {
        let (port, folder) = (free_ports(), tempfile::tempdir().unwrap());
        let arguments = ["scheduler", "--port", &port.to_string(), "--lost-after", "4"];
        let scheduler = Process::start(&arguments, folder.path(), &[]);
        wait(port);
        let (executors, environment) = (Vec::new(), Vec::new());
        let mut machines = Self { port, scheduler, executors, environment, folder };
        (0..n_executors).for_each(|_| machines.join(options));
        machines
    }

    /// Adds an executor, and waits until it listens.
    pub(crate) fn join(&mut self, options: &[&str]) {
        self.join_at("127.0.0.1", options);
    }

    /// As [`join`](Self::join), of an executor that listens on this address.
    pub(crate) fn join_at(&mut self, bind: &str, options: &[&str]) {
        let port = free_ports();
        let (scheduler, own) = (self.address(), port.to_string());
        let mut arguments = vec!["executor", "--scheduler", &scheduler, "--bind", bind, "--port", &own];
        arguments.extend(["--slots", "1", "--interval", "1"]);
        arguments.extend(options);
        self.executors.push(Process::start(&arguments, self.folder.path(), &self.environment));
        wait_at(bind, port);
    }

    /// Adds an executor that can write no byte to a file, as on a disk that is full.
    pub(crate) fn join_without_disk(&mut self) {
        let port = free_ports();
        let (scheduler, own) = (self.address(), port.to_string());
        let shell = without_disk(&[env!("CARGO_BIN_EXE_fewest-cluster")]);
        let arguments = ["executor", "--scheduler", &scheduler, "--port", &own, "--slots", "1"];
        self.executors.push(Process::by(shell, &arguments, self.folder.path(), &self.environment));
        wait(port);
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The answer of `select`, with these arguments after the path.
    pub(crate) fn select(&self, path: &Path, arguments: &[&str]) -> Output {
        self.asked("select", path, arguments)
    }

    /// The answer of `score`.
    pub(crate) fn score(&self, path: &Path, arguments: &[&str]) -> Output {
        self.asked("score", path, arguments)
    }

    /// As [`select`](Self::select), by a command that can write no byte to a file.
    pub(crate) fn select_without_disk(&self, path: &Path, arguments: &[&str]) -> Output {
        let address = self.address();
        let program = [env!("CARGO_BIN_EXE_fewest-cluster"), "select", path.to_str().unwrap()];
        let words = [&program[..], &["--cluster", &address], arguments].concat();
        let mut command = without_disk(&words);
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).output().unwrap()
    }

    fn asked(&self, word: &str, path: &Path, arguments: &[&str]) -> Output {
        let mut command = command(&self.address(), word, path, arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).output().unwrap()
    }

    /// The JSON of a selection that has to succeed.
    pub(crate) fn json(&self, path: &Path, arguments: &[&str]) -> serde_json::Value {
        json(&self.select(path, &[arguments, &["--json", "-"]].concat()))
    }

    /// The JSON of scores that have to be there.
    pub(crate) fn scores(&self, path: &Path, arguments: &[&str]) -> serde_json::Value {
        json(&self.score(path, &[arguments, &["--json", "-"]].concat()))
    }

    /// As [`json`](Self::json), of a command that runs while the test goes on.
    pub(crate) fn begin(&self, path: &Path, arguments: &[&str]) -> Child {
        command(&self.address(), "select", path, &[arguments, &["--json", "-"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

fn command(address: &str, word: &str, path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fewest-cluster"));
    command.arg(word).arg(path).args(["--cluster", address]).args(arguments).stdin(Stdio::null());
    command
}

/// `select` with the scheduler at this address.
pub(crate) fn select(address: &str, path: &Path, arguments: &[&str]) -> Output {
    command(address, "select", path, arguments).output().unwrap()
}

/// `score` with the scheduler at this address.
pub(crate) fn score(address: &str, path: &Path, arguments: &[&str]) -> Output {
    command(address, "score", path, arguments).output().unwrap()
}

/// The JSON of a command that succeeded.
#[track_caller]
pub(crate) fn json(output: &Output) -> serde_json::Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The line of a command that failed as it should.
#[track_caller]
pub(crate) fn error(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{text}");
    assert!(output.stdout.is_empty());
    text.trim_end().to_owned()
}

/// The first of two ports in a row that are free, and that no other test of this process gets.
pub(crate) fn free_ports() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let at = NEXT.fetch_add(2, Ordering::Relaxed);
        // Below those that the system gives to connections.
        let port = 21_000 + (std::process::id() % 100) as u16 * 100 + at;
        let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if is_free(port) && is_free(port + 1) {
            return port;
        }
    }
}

/// Waits until something listens.
pub(crate) fn wait(port: u16) {
    wait_at("127.0.0.1", port);
}

fn wait_at(host: &str, port: u16) {
    let started = Instant::now();
    while TcpStream::connect((host, port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing listens on port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
