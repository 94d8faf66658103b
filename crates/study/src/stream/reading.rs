//! The thread that reads.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use fewest::core::{Arrives, Graph, Target};
use fewest::data::{
    ArrivedFeature, ArrivedSample, ArrivingFeatures, ArrivingSamples, FeatureTarget, GroupTable, LinkOptions,
    Missing, Nodes, Place, ReadOptions, SampleSchema, read_links,
};

use crate::error::Error;

/// Most values of the lines that wait for the method, unless one line has more, and most such lines.
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
    /// Which features are a group; each by itself without it.
    pub groups: Option<GroupTable>,
    /// The file with the links of the samples, by their names, where features arrive.
    pub links: Option<PathBuf>,
    /// Samples that decide what the columns are.
    pub first_rows: usize,
    /// Where what is read waits for more: true makes it end.
    pub end: Arc<AtomicBool>,
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
    Features { target: Target, target_name: String, n_samples: Option<usize>, links: Option<Arc<Graph>> },
}

/// Lines that arrived.
pub(super) enum Arrived {
    Samples(Vec<ArrivedSample>),
    /// The features of a group each; of one, where there are no groups.
    Features(Vec<Vec<ArrivedFeature>>),
}

impl Arrived {
    /// How many samples, or groups of features.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Samples(samples) => samples.len(),
            Self::Features(groups) => groups.len(),
        }
    }

    pub(super) fn left_out(&self, at: usize) -> bool {
        match self {
            Self::Samples(samples) => samples.get(at).is_some_and(|sample| sample.left_out),
            Self::Features(groups) => {
                groups.get(at).is_some_and(|group| group.iter().all(|own| own.left_out))
            }
        }
    }

    /// Lines of one, and how many of them are used.
    pub(super) fn lines(&self, at: usize) -> (usize, usize) {
        match self {
            Self::Samples(_) => (1, usize::from(!self.left_out(at))),
            Self::Features(groups) => groups
                .get(at)
                .map_or((0, 0), |group| (group.len(), group.iter().filter(|own| !own.left_out).count())),
        }
    }

    /// The line of one, and the hash up to it.
    pub(super) fn at(&self, at: usize) -> Option<(u64, u64)> {
        match self {
            Self::Samples(samples) => samples.get(at).map(|sample| (sample.line, sample.hash)),
            Self::Features(groups) => {
                groups.get(at).and_then(|group| group.last()).map(|own| (own.line, own.hash))
            }
        }
    }
}

/// A stream that was opened.
pub(super) struct Started {
    pub(super) opened: Opened,
    pub(super) lines: Lines,
}

/// What the thread says.
enum Message {
    Sample(ArrivedSample),
    Group(Vec<ArrivedFeature>),
    /// Nothing comes after it.
    End(Result<(), Error>),
}

/// The lines behind an opened stream.
pub(super) struct Lines {
    messages: Receiver<Message>,
    most: usize,
}

impl Lines {
    /// All lines that wait, at least one unless none comes in time, and how the stream ended if it did.
    pub(super) fn next(&self, patience: Duration) -> (Arrived, Option<Result<(), Error>>) {
        let (mut samples, mut features) = (Vec::new(), Vec::new());
        let mut end = None;
        let mut next = match self.messages.recv_timeout(patience) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::End(Ok(()))),
        };
        while let Some(message) = next {
            match message {
                Message::Sample(sample) => samples.push(sample),
                Message::Group(group) => features.push(group),
                Message::End(how) => end = Some(how),
            }
            let is_full = samples.len() + features.len() >= self.most;
            next = if is_full || end.is_some() { None } else { self.messages.try_recv().ok() };
        }
        (if features.is_empty() { Arrived::Samples(samples) } else { Arrived::Features(features) }, end)
    }
}

/// Starts to read behind `position`. The thread waits where many lines wait, and ends with the receiver.
pub(super) fn start(
    input: StreamInput,
    position: Option<Position>,
) -> Result<Receiver<Result<Started, Error>>, Error> {
    let (sender, receiver) = sync_channel(1);
    let work = move || {
        let read = match input.arrives {
            Arrives::Features => features(input, position, &sender),
            _ => samples(input, position, &sender),
        };
        if let Err(error) = read {
            // Nobody may listen any more.
            let _ = sender.send(Err(error));
        }
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

type Sender = SyncSender<Result<Started, Error>>;

fn samples(input: StreamInput, position: Option<Position>, sender: &Sender) -> Result<(), Error> {
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
    let opened = Opened::Samples(lines.schema().clone());
    let width = lines.schema().feature_names().len();
    forward(opened, width, sender, || Ok(lines.next_sample()?.map(Message::Sample)));
    Ok(())
}

fn features(input: StreamInput, position: Option<Position>, sender: &Sender) -> Result<(), Error> {
    let StreamInput { path, open, options, missing, target, groups, links, .. } = input;
    let content = open().map_err(Error::Input)?;
    let opened = ArrivingFeatures::open(&path, content, &options, missing, target);
    let mut lines = opened.map_err(Error::Input)?;
    if let Some(position) = position {
        let hash = lines.skip(position.lines).map_err(Error::Input)?;
        check_hash(path.clone(), position, hash)?;
    }
    let (target, target_name) = (lines.target().clone(), lines.target_name().to_owned());
    let largest = groups.as_ref().map_or(1, GroupTable::largest);
    let width = target.n_samples().unwrap_or(1).saturating_mul(largest);
    let n_samples = target.n_samples().or(lines.sample_names().map(<[String]>::len));
    let links = links.map(|file| linked(&path, lines.sample_names(), &file)).transpose()?;
    let opened = Opened::Features { target, target_name, n_samples, links: links.map(Arc::new) };
    match groups {
        None => {
            forward(opened, width, sender, || Ok(lines.next_feature()?.map(|own| Message::Group(vec![own]))));
        }
        Some(groups) => {
            let mut arriving = ArrivingGroup { groups, path, waiting: Vec::new() };
            forward(opened, width, sender, || Ok(arriving.next(&mut lines)?.map(Message::Group)));
        }
    }
    Ok(())
}

/// The links between the samples of these names.
fn linked(path: &Path, names: Option<&[String]>, file: &Path) -> Result<Graph, Error> {
    let Some(names) = names else {
        return Err(Error::NoSampleNames(path.to_owned()));
    };
    let nodes = Nodes::arriving(path, names).map_err(Error::Input)?;
    Ok(read_links(file, &nodes, &LinkOptions::default()).map_err(Error::Input)?.graph)
}

/// Puts features together that are a group.
struct ArrivingGroup {
    groups: GroupTable,
    path: PathBuf,
    /// Those of a group of which others are to come.
    waiting: Vec<ArrivedFeature>,
}

impl ArrivingGroup {
    /// The next group, once all of it has come.
    fn next(
        &mut self,
        lines: &mut ArrivingFeatures,
    ) -> Result<Option<Vec<ArrivedFeature>>, fewest::data::Error> {
        loop {
            let Some(feature) = lines.next_feature()? else {
                return match self.waiting.last() {
                    None => Ok(None),
                    Some(last) => Err(self.broken(last.line, "the file ends")),
                };
            };
            let group = self.groups.group_of(&feature.name);
            if let Some(last) = self.waiting.last()
                && self.groups.group_of(&last.name) != group
            {
                return Err(self.broken(feature.line, &format!("feature `{}` comes", feature.name)));
            }
            let Some(group) = group else { return Ok(Some(vec![feature])) };
            self.waiting.push(feature);
            if self.missing(group).next().is_none() {
                return Ok(Some(std::mem::take(&mut self.waiting)));
            }
        }
    }

    /// The features of a group that have not come yet.
    fn missing(&self, group: usize) -> impl Iterator<Item = &String> {
        let members = self.groups.members(group).iter();
        members.filter(|member| self.waiting.iter().all(|own| own.name != **member))
    }

    /// The error where a group is cut off.
    fn broken(&self, line: u64, what: &str) -> fewest::data::Error {
        let group = self.waiting.last().and_then(|own| self.groups.group_of(&own.name)).unwrap_or_default();
        let missing: Vec<String> = self.missing(group).take(3).map(|name| format!("`{name}`")).collect();
        let (count, name) = (self.missing(group).count(), self.groups.name(group));
        let more = if count > missing.len() { ", …" } else { "" };
        fewest::data::Error::malformed(
            &self.path,
            Place::Line(line),
            format!("{what} before group `{name}` is complete: {}{more} did not come", missing.join(", ")),
            "give the features of a group in lines that follow each other, or correct the table of groups",
        )
    }
}

fn check_hash(path: PathBuf, position: Position, found: u64) -> Result<(), Error> {
    if found == position.hash { Ok(()) } else { Err(Error::OtherLines { path, lines: position.lines }) }
}

/// Hands over lines, one by one, so that none is kept back while the next is waited for.
fn forward(
    opened: Opened,
    width: usize,
    sender: &Sender,
    mut next: impl FnMut() -> Result<Option<Message>, fewest::data::Error>,
) {
    let most = (MOST_VALUES / width.max(1)).clamp(1, MOST_LINES);
    let (line, messages) = sync_channel(most);
    if sender.send(Ok(Started { opened, lines: Lines { messages, most } })).is_err() {
        return;
    }
    loop {
        let message = match next() {
            Ok(Some(message)) => message,
            Ok(None) => Message::End(Ok(())),
            Err(error) => Message::End(Err(Error::Input(error))),
        };
        let is_end = matches!(message, Message::End(_));
        if line.send(message).is_err() || is_end {
            return;
        }
    }
}
