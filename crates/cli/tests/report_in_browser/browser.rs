//! A headless Chromium, driven by its DevTools protocol through a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Variable with the browser's program; with it, a test without a browser fails.
const VARIABLE: &str = "FEWEST_BROWSER";
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Seconds after which it is ended, whatever it does.
const LONGEST: &str = "300";
/// Descriptor 3 is where the browser reads commands, 4 where it answers.
const PIPES: &str = "exec \"$@\" 3<&0 4>&1 1>&2";

pub(crate) struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    last_id: u64,
    /// The addresses that pages asked for.
    pub requested: Vec<String>,
    has_loaded: bool,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser; `None`, with a sentence, where there is none and none is required.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            eprintln!("skipped: no Chromium on the path; install one, or name it in {VARIABLE}");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", PIPES, "sh", "timeout", LONGEST])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (commands, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self {
            child,
            commands,
            answers,
            session: None,
            last_id: 0,
            requested: Vec::new(),
            has_loaded: false,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Network.enable", "Accessibility.enable"] {
            browser.call(domain, json!({}));
        }
        Some(browser)
    }

    /// Calls a method and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut message = serde_json::to_vec(&command).unwrap();
        message.push(0);
        let commands = self.commands.as_mut().unwrap();
        commands.write_all(&message).unwrap();
        commands.flush().unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == self.last_id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// The next answer or event.
    fn read(&mut self) -> Value {
        let mut message = Vec::new();
        self.answers.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        let answer: Value = serde_json::from_slice(&message).unwrap();
        match answer["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let address = answer["params"]["request"]["url"].as_str().unwrap_or_default();
                self.requested.push(address.to_owned());
            }
            Some("Page.loadEventFired") => self.has_loaded = true,
            _ => {}
        }
        answer
    }

    /// Shows a file in a window of this width, high enough for the whole page.
    pub(crate) fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
        self.resize(width, 900);
        self.has_loaded = false;
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while !self.has_loaded {
            self.read();
        }
        let height = self.evaluate("document.scrollingElement.scrollHeight").as_u64().unwrap();
        self.resize(width, height.min(20_000) as u32);
    }

    fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// The value of a JavaScript expression.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses a key of the keyboard.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
            });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// The nodes that assistive technology is told of: `(role, name, node)`.
    pub(crate) fn accessibility(&mut self) -> Vec<(String, String, Value)> {
        let tree = self.call("Accessibility.getFullAXTree", json!({}));
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let nodes = tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] == false);
        nodes.map(|node| (text(&node["role"]), text(&node["name"]), node.clone())).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends when its pipe is closed; killed, it would leave its own children.
        drop(self.commands.take());
        let _ = self.child.wait();
    }
}

/// The browser that the variable names, or one on the path.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let on_path = std::env::split_paths(&path).flat_map(|folder| PROGRAMS.map(|name| folder.join(name)));
    on_path.into_iter().find(|file| file.is_file())
}
