//! The thread that reads.

use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use fewest::core::{Arrives, Target};
use fewest::data::{
    ArrivedFeature, ArrivedSample, ArrivingFeatures, ArrivingSamples, FeatureTarget, Missing, ReadOptions,
    SampleSchema,
};

use crate::error::Error;

/// Groups of lines that may wait for the method.
const WAITING: usize = 4;
/// Most values of such a group, unless one line has more, and most lines.
const MOST_VALUES: usize = 1 << 18;
const MOST_LINES: usize = 1024;

/// Opens what is read, in the thread that reads it.
type Open = Box<dyn FnOnce() -> Result<Box<dyn Read>, fewest::data::Error> + Send>;

/// Where lines come from.
pub struct StreamInput {
    /// What messages call it.
    pub path: PathBuf,
    /// Opens it.
    pub open: Open,
    /// How it is read.
    pub options: ReadOptions,
    /// What is done with missing values.
    pub missing: Missing,
    /// Whether lines are samples or features.
    pub arrives: Arrives,
    /// The target of features, where it is not their first line.
    pub target: Option<FeatureTarget>,
    /// Samples that decide what the columns are.
    pub first_rows: usize,
}

/// Behind a line.
#[derive(Debug, Clone, Default)]
pub(super) struct Position {
    /// Lines of values before it.
    pub(super) lines: u64,
    /// The hash of all lines before it.
    pub(super) hash: u64,
    /// What the first lines had decided, of samples.
    pub(super) schema: Option<SampleSchema>,
}

/// What is known before anything arrives.
pub(super) enum Opened {
    Samples(SampleSchema),
    Features { target: Target, target_name: String },
}

/// Lines that arrived.
pub(super) enum Arrived {
    Samples(Vec<ArrivedSample>),
    Features(Vec<ArrivedFeature>),
}

impl Arrived {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Samples(samples) => samples.len(),
            Self::Features(features) => features.len(),
        }
    }

    pub(super) fn left_out(&self, at: usize) -> bool {
        match self {
            Self::Samples(samples) => samples.get(at).is_some_and(|sample| sample.left_out),
            Self::Features(features) => features.get(at).is_some_and(|feature| feature.left_out),
        }
    }

    /// The line of one, and the hash up to it.
    pub(super) fn at(&self, at: usize) -> Option<(u64, u64)> {
        match self {
            Self::Samples(samples) => samples.get(at).map(|sample| (sample.line, sample.hash)),
            Self::Features(features) => features.get(at).map(|feature| (feature.line, feature.hash)),
        }
    }
}

/// What the thread says.
pub(super) enum Message {
    Opened(Opened),
    Arrived(Arrived),
    /// Nothing comes after it.
    End(Result<(), Error>),
}

/// Starts to read behind `position`. The thread waits where [`WAITING`] groups of lines wait, and ends with
/// the receiver.
pub(super) fn start(input: StreamInput, position: Option<Position>) -> Result<Receiver<Message>, Error> {
    let (sender, receiver) = sync_channel(WAITING);
    let work = move || {
        let end = match input.arrives {
            Arrives::Features => features(input, position, &sender),
            _ => samples(input, position, &sender),
        };
        // Nobody may listen any more.
        let _ = sender.send(Message::End(end));
    };
    thread::Builder::new().name("reader".to_owned()).spawn(work).map_err(|error| {
        Error::Core(fewest::core::Error::Unsupported {
            method: "a stream",
            what: format!("reading in a thread ({error})"),
            instead: "close other programs".to_owned(),
        })
    })?;
    Ok(receiver)
}

fn samples(
    input: StreamInput,
    position: Option<Position>,
    sender: &SyncSender<Message>,
) -> Result<(), Error> {
    let StreamInput { path, open, options, missing, first_rows, .. } = input;
    let content = open().map_err(Error::Input)?;
    let schema = position.as_ref().and_then(|position| position.schema.clone());
    let opened = match schema {
        Some(schema) => ArrivingSamples::with_schema(&path, content, &options, missing, schema),
        None => ArrivingSamples::open(&path, content, &options, missing, first_rows),
    };
    let mut lines = opened.map_err(Error::Input)?;
    if let Some(position) = position {
        let hash = lines.skip(position.lines).map_err(Error::Input)?;
        check_hash(path, position, hash)?;
    }
    let width = lines.schema().feature_names().len();
    if sender.send(Message::Opened(Opened::Samples(lines.schema().clone()))).is_err() {
        return Ok(());
    }
    forward(width, sender, || lines.next_sample().map_err(Error::Input), Arrived::Samples, |arrived| {
        match arrived {
            Arrived::Samples(samples) => samples,
            Arrived::Features(_) => Vec::new(),
        }
    })
}

fn features(
    input: StreamInput,
    position: Option<Position>,
    sender: &SyncSender<Message>,
) -> Result<(), Error> {
    let StreamInput { path, open, options, missing, target, .. } = input;
    let content = open().map_err(Error::Input)?;
    let opened = ArrivingFeatures::open(&path, content, &options, missing, target);
    let mut lines = opened.map_err(Error::Input)?;
    if let Some(position) = position {
        let hash = lines.skip(position.lines).map_err(Error::Input)?;
        check_hash(path, position, hash)?;
    }
    let (target, target_name) = (lines.target().clone(), lines.target_name().to_owned());
    let width = target.n_samples().unwrap_or(1);
    if sender.send(Message::Opened(Opened::Features { target, target_name })).is_err() {
        return Ok(());
    }
    forward(width, sender, || lines.next_feature().map_err(Error::Input), Arrived::Features, |arrived| {
        match arrived {
            Arrived::Features(features) => features,
            Arrived::Samples(_) => Vec::new(),
        }
    })
}

fn check_hash(path: PathBuf, position: Position, found: u64) -> Result<(), Error> {
    if found == position.hash { Ok(()) } else { Err(Error::OtherLines { path, lines: position.lines }) }
}

/// Hands over lines: at once where the method waits for them, else in groups.
fn forward<T>(
    width: usize,
    sender: &SyncSender<Message>,
    mut next: impl FnMut() -> Result<Option<T>, Error>,
    group: impl Fn(Vec<T>) -> Arrived,
    lines_of: impl Fn(Arrived) -> Vec<T>,
) -> Result<(), Error> {
    let most = (MOST_VALUES / width.max(1)).clamp(1, MOST_LINES);
    let mut lines = Vec::new();
    let end = loop {
        match next() {
            Ok(Some(line)) => lines.push(line),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        let ready = Message::Arrived(group(std::mem::take(&mut lines)));
        if let Message::Arrived(arrived) = &ready
            && arrived.len() >= most
        {
            if sender.send(ready).is_err() {
                return Ok(());
            }
            continue;
        }
        match sender.try_send(ready) {
            Ok(()) => {}
            Err(TrySendError::Full(Message::Arrived(arrived))) => lines = lines_of(arrived),
            Err(_) => return Ok(()),
        }
    };
    if !lines.is_empty() {
        let _ = sender.send(Message::Arrived(group(lines)));
    }
    end
}
