//! The state of a stream in a file, to go on from.

use std::path::{Path, PathBuf};

use fewest::core::Budget;
use fewest::data::{Journal, SampleSchema};
use serde::{Deserialize, Serialize};

use super::StreamPlan;
use super::reading::Position;
use crate::VERSION;
use crate::error::Error;

/// Written where an option has no value.
const NONE: &str = "none";

/// The file of a checkpoint, for one command.
pub(super) struct Checkpoint {
    journal: Journal,
    /// What has to be the same: names of options and their values.
    command: Vec<(String, String)>,
}

/// What the file holds.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    command: Vec<(String, String)>,
    schema: Option<SampleSchema>,
    lines: u64,
    hash: u64,
    pub(super) arrived: usize,
    pub(super) left_out: usize,
    /// In hexadecimal digits.
    state: String,
}

impl Saved {
    pub(super) fn position(&self) -> Position {
        Position { lines: self.lines, hash: self.hash, schema: self.schema.clone() }
    }

    /// The state of the selector.
    pub(super) fn state(&self) -> Result<Vec<u8>, fewest::core::Error> {
        let wrong = || fewest::core::Error::parameter("state", "not hexadecimal", "as it was written");
        let digits = self.state.as_bytes().chunks(2);
        let byte = |pair: &[u8]| {
            let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
            u8::from_str_radix(text, 16).ok()
        };
        digits.map(|pair| byte(pair).ok_or_else(wrong)).collect()
    }
}

impl Checkpoint {
    pub(super) fn new(path: &Path, plan: &StreamPlan, seed: u64) -> Self {
        let option = |name: &str, value: String| (name.to_owned(), value);
        let mut command = vec![
            option("the version", VERSION.to_owned()),
            option("--method", plan.method.id.to_owned()),
            option("--seed", seed.to_string()),
        ];
        let parameters = plan.parameters.iter();
        command.extend(parameters.map(|(name, value)| (format!("--param {name}"), value.to_string())));
        command.push(option("-k", budget_text(plan.budget)));
        command.extend(plan.command.iter().cloned());
        Self { journal: Journal::new(path), command }
    }

    /// What the file holds; `None` where there is none yet.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for a file that was changed; [`Error::NoCheckpoint`], [`Error::OtherCommand`].
    pub(super) fn read(&self) -> Result<Option<Saved>, Error> {
        let path = || self.journal.path().to_owned();
        let objects = self.journal.read().map_err(Error::Checkpoint)?;
        let object = match objects.as_slice() {
            [] => return Ok(None),
            [object] => object,
            _ => return Err(Error::NoCheckpoint(path())),
        };
        let saved: Saved = serde_json::from_str(object).map_err(|_| Error::NoCheckpoint(path()))?;
        self.check(&saved.command, path)?;
        Ok(Some(saved))
    }

    /// Refuses the checkpoint of another command.
    fn check(&self, saved: &[(String, String)], path: impl Fn() -> PathBuf) -> Result<(), Error> {
        let value = |options: &[(String, String)], name: &str| {
            let found = options.iter().find(|(own, _)| own == name);
            found.map_or_else(|| NONE.to_owned(), |(_, value)| value.clone())
        };
        for (name, _) in self.command.iter().chain(saved) {
            let (own, saved) = (value(&self.command, name), value(saved, name));
            if own != saved {
                return Err(Error::OtherCommand { path: path(), what: name.clone(), saved, own });
            }
        }
        Ok(())
    }

    pub(super) fn write(
        &self,
        position: &Position,
        arrived: usize,
        left_out: usize,
        state: &[u8],
    ) -> Result<(), Error> {
        let saved = Saved {
            command: self.command.clone(),
            schema: position.schema.clone(),
            lines: position.lines,
            hash: position.hash,
            arrived,
            left_out,
            state: hexadecimal(state),
        };
        self.journal.replace(&serde_json::to_string(&saved)?).map_err(Error::Checkpoint)
    }
}

fn budget_text(budget: Budget) -> String {
    match budget {
        Budget::Count(k) => k.to_string(),
        Budget::Threshold(threshold) => format!("{threshold:?} at least"),
        _ => "auto".to_owned(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}
