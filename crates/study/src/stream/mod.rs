//! Data that arrive: read once, with an answer at any time, and a checkpoint to go on from.

mod checkpoint;
mod forgetting;
mod orders;
mod reading;

pub use forgetting::{Forgetting, InForce};
pub use orders::{Orders, orders};
pub use reading::StreamInput;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use fewest::core::{
    Alarm, Arrives, Budget, Context, Dataset, Error as CoreError, Held, Selection, Status, StreamSelector,
    Target,
};
use fewest::data::{ArrivedFeature, ArrivedSample, SampleSchema};

use crate::catalogue::{Method, Parameters, TargetKind};
use crate::error::Error;
use crate::text;
use checkpoint::Checkpoint;
use reading::{Arrived, Opened, Position};

/// How long is waited for arrivals before it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Arrivals between two checkpoints, where nobody says otherwise.
pub const CHECKPOINT_EVERY: usize = 10_000;

/// How long what had come is used after a stop before any answer.
const LATE: Duration = Duration::from_secs(2);

/// What is done with data that arrive.
#[derive(Debug, Clone)]
pub struct StreamPlan {
    /// The method; it [`arrives`](Method::arrives), or there is a [window](Forgetting::Window).
    pub method: Method,
    /// Its parameters.
    pub parameters: Parameters,
    /// Which samples count; all of them without it.
    pub forgetting: Option<Forgetting>,
    /// How many features are selected: at most as many as there are.
    pub budget: Budget,
    /// Whether that is an error where there are fewer features.
    pub is_strict: bool,
    /// An answer after so many arrivals.
    pub every: Option<usize>,
    /// An answer after so many seconds.
    pub every_seconds: Option<f64>,
    /// The file that is gone on from, and that is written.
    pub checkpoint: Option<PathBuf>,
    /// Arrivals between two checkpoints.
    pub checkpoint_every: usize,
    /// What else has to be the same where a checkpoint is gone on from: names of options and their values.
    pub command: Vec<(String, String)>,
    /// The file as messages call it.
    pub path: PathBuf,
}

/// What is known at one time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// What arrives.
    pub arrives: Arrives,
    /// How many arrived, without those that were left out.
    pub arrived: usize,
    /// How many were left out: samples with a missing value, features to ignore.
    pub left_out: usize,
    /// What is selected.
    pub selection: Selection,
    /// The names of the selected features, in their order.
    pub names: Vec<String>,
    /// The column of every feature in the file, from 0, where samples arrive.
    pub columns: Vec<usize>,
    /// What is kept in memory of what arrived.
    pub held: Held,
    /// How older samples are forgotten, where they are.
    pub forgetting: Option<InForce>,
    /// What watching for changes has found, with [`Forgetting::Drift`].
    pub drift: Option<Drift>,
    /// Whether it is the answer at the end.
    pub is_last: bool,
    /// The names of the target's columns.
    pub target_names: Vec<String>,
    /// How the target was found, where no option names it.
    pub target_found: Option<String>,
    /// `classification`, `regression` or `none`.
    pub task: &'static str,
    /// Number of classes.
    pub n_classes: usize,
    /// Number of samples seen.
    pub n_samples: usize,
    /// Number of features seen.
    pub n_features: usize,
}

/// What was found by watching whether a selection still holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Drift {
    /// Whether there was an alarm just now.
    pub is_new: bool,
    /// The last alarm, with how many there were.
    pub alarm: Option<Alarm>,
    /// The names of the features that left, and of those that came.
    pub left: Vec<String>,
    /// See there.
    pub entered: Vec<String>,
}

/// How a stream ended, after its last answer was told.
#[derive(Debug)]
#[non_exhaustive]
pub struct StreamEnd {
    /// Converged where all was read; else what stopped it.
    pub status: Status,
    /// What is wrong with the first line that could not be used.
    pub error: Option<Error>,
    /// How many had arrived before the run, where it went on from a checkpoint.
    pub resumed: Option<usize>,
}

/// Reads what arrives until it ends, or the context stops it, and tells the answers: after every so many
/// arrivals or seconds, and at the end. `tell` returns whether to go on.
///
/// A thread reads; where the method is slower, it waits, so that memory does not grow. After a stop it may
/// live until something more arrives. Answers do not depend
/// on when lines come, but for those of `every_seconds`.
///
/// With a checkpoint, the state is written after every `checkpoint_every` arrivals and at the end. Where the
/// file exists, the run goes on from it: as many lines are passed over as were used, and have to be the same
/// ones. What it then tells is what an uninterrupted run tells, bit for bit.
///
/// # Errors
/// Where there is no answer at all: input that cannot be opened, a method that needs all of a table, a
/// checkpoint of another command or of other data. A line that cannot be used is no such error: it ends the
/// stream, after the answer of those before it.
///
/// ```
/// use std::sync::{Arc, atomic::AtomicBool};
///
/// use fewest::core::{Arrives, Budget, Context};
/// use fewest::data::{Missing, ReadOptions};
/// use fewest::registry::{Parameters, Registry};
/// use fewest_study::{StreamInput, StreamPlan, stream};
///
/// let lines = (0..90).map(|i| format!("{},{},{}\n", i % 7, i % 2, if i % 2 == 0 { "even" } else { "odd" }));
/// let text = format!("seventh,second,y\n{}", lines.collect::<String>());
/// let input = StreamInput {
///     path: "text".into(),
///     open: Box::new(move || Ok(Box::new(std::io::Cursor::new(text)))),
///     options: ReadOptions::with_target("y"),
///     missing: Missing::Error,
///     arrives: Arrives::Samples,
///     target: None,
///     groups: None,
///     links: None,
///     first_rows: 20,
///     end: Arc::new(AtomicBool::new(false)),
/// };
/// let method = Registry::standard().find("mim")?;
/// let plan = StreamPlan::new(method.clone(), Parameters::defaults(method), Budget::Count(1));
/// let plan = StreamPlan { every: Some(40), ..plan };
/// let mut told = Vec::new();
/// let end = stream(&plan, input, &Context::default(), &mut |answer| {
///     told.push((answer.arrived, answer.names.clone()));
///     true
/// })?;
/// let best = vec!["second".to_owned()];
/// assert!(end.error.is_none() && told == [(40, best.clone()), (80, best.clone()), (90, best)]);
/// # Ok::<(), fewest_study::Error>(())
/// ```
pub fn stream(
    plan: &StreamPlan,
    input: StreamInput,
    context: &Context<'_>,
    tell: &mut dyn FnMut(&Answer) -> bool,
) -> Result<StreamEnd, Error> {
    let checkpoint = plan.checkpoint.as_ref().map(|path| Checkpoint::new(path, plan, context.seed));
    let saved = checkpoint.as_ref().map(Checkpoint::read).transpose()?.flatten();
    let position = saved.as_ref().map(|saved| saved.position());
    let resumed = saved.as_ref().map(|saved| saved.arrived);
    let mut run = Run {
        plan,
        checkpoint,
        context,
        opened: None,
        selector: None,
        at: position.clone().unwrap_or_default(),
        arrived: 0,
        left_out: 0,
        told: Instant::now(),
        told_at: 0,
        checkpoint_at: 0,
        n_alarms: 0,
        is_new_alarm: false,
        is_late: false,
    };
    let end = Arc::clone(&input.end);
    let started = reading::start(input, position)?;
    let mut lines = None;
    let mut late = None;
    let mut goes_on = true;
    let mut error = None;
    let mut stopped = None;
    while goes_on {
        stopped = stopped.or(context.stopped());
        let wait = run.patience();
        let next = match &lines {
            // What came so far is opened and used: otherwise there would be no answer.
            None => {
                end.store(stopped.is_some(), Ordering::Relaxed);
                run.is_late = stopped.is_some();
                match started.recv_timeout(wait) {
                    Ok(Ok(begun)) => {
                        lines = Some(begun.lines);
                        run.open(begun.opened, saved.as_ref()).map(|()| true)
                    }
                    Ok(Err(error)) => Err(error),
                    Err(RecvTimeoutError::Timeout) => Ok(true),
                    Err(_) => Ok(false),
                }
            }
            Some(_) if stopped.is_some() && !run.is_late => break,
            Some(lines) => {
                let (arrived, end) = lines.next(wait);
                match (run.take(&arrived, tell), end) {
                    // A fault is why there are too few lines before it to begin with.
                    (Err(_), Some(Err(fault))) if run.arrived == 0 => Err(fault),
                    (taken, Some(end)) => taken.and(end).map(|()| false),
                    (taken, None) => taken,
                }
            }
        };
        if run.is_late {
            late.get_or_insert_with(Instant::now);
        }
        match next {
            Ok(next) => goes_on = next && late.is_none_or(|late: Instant| late.elapsed() < LATE),
            // Without an answer it is an error of the run.
            Err(wrong) if run.arrived == 0 && stopped.is_none() => return Err(wrong),
            Err(wrong) => {
                error = Some(wrong).filter(|_| stopped.is_none());
                goes_on = false;
            }
        }
        if goes_on && stopped.is_none() && run.is_due() {
            goes_on = run.tell(tell);
        }
    }
    if run.arrived == 0 {
        return Err(
            stopped.map_or_else(|| Error::NothingArrived(plan.path.clone()), Error::NothingArrivedBefore)
        );
    }
    // What was found is told, too, where the state cannot be written.
    if let Err(unwritten) = run.save() {
        error.get_or_insert(unwritten);
    }
    match (run.answer(true, stopped), error) {
        // Of too few lines before a fault there is no answer.
        (Err(_), Some(fault)) => return Err(fault),
        (answer, fault) => {
            tell(&answer?);
            error = fault;
        }
    }
    Ok(StreamEnd { status: stopped.unwrap_or(Status::Converged), error, resumed })
}

/// A stream that is being read.
struct Run<'a> {
    plan: &'a StreamPlan,
    checkpoint: Option<Checkpoint>,
    context: &'a Context<'a>,
    opened: Option<Opened>,
    selector: Option<Box<dyn StreamSelector>>,
    /// Behind the last line that was used.
    at: Position,
    arrived: usize,
    left_out: usize,
    /// When the last answer was.
    told: Instant,
    /// The arrivals then.
    told_at: usize,
    /// The arrivals at the last checkpoint.
    checkpoint_at: usize,
    /// Alarms that were told.
    n_alarms: u64,
    /// Whether there was one behind the last line.
    is_new_alarm: bool,
    /// Whether a stop came before anything was used: what has come is used then.
    is_late: bool,
}

impl Run<'_> {
    /// What is known before the first arrival.
    fn open(&mut self, opened: Opened, saved: Option<&checkpoint::Saved>) -> Result<(), Error> {
        if let (Opened::Samples(schema), Budget::Count(k)) = (&opened, self.plan.budget)
            && self.plan.is_strict
        {
            Budget::Count(k).check(schema.feature_names().len())?;
        }
        let is_supervised = !self.plan.method.targets.contains(&TargetKind::None);
        if let (Opened::Samples(schema), true) = (&opened, is_supervised)
            && let [only] = schema.classes()
        {
            return Err(Error::OneClass {
                path: self.plan.path.clone(),
                class: only.clone(),
                n_first: schema.n_first(),
            });
        }
        let budget = match &opened {
            Opened::Samples(schema) => within(self.plan.budget, schema.feature_names().len()),
            Opened::Features { .. } => self.plan.budget,
        };
        let StreamPlan { method, parameters, forgetting, .. } = self.plan;
        let (n_features, seed) = (opened.feature_names().len(), self.context.seed);
        let mut selector = match forgetting {
            Some(forgetting) => forgetting.stream(method, parameters, budget, n_features, seed)?,
            None => method.stream(parameters, budget, seed)?,
        };
        if let Some(saved) = saved {
            selector.restore(&saved.state()?)?;
            (self.arrived, self.left_out) = (saved.arrived, saved.left_out);
            (self.checkpoint_at, self.told_at) = (saved.arrived, saved.arrived);
            self.n_alarms = selector.alarm().map_or(0, |alarm| alarm.number);
        }
        (self.opened, self.selector) = (Some(opened), Some(selector));
        Ok(())
    }

    /// How long to wait for the next message.
    fn patience(&self) -> Duration {
        let every = self.plan.every_seconds.filter(|_| self.arrived > self.told_at);
        every
            .map(Duration::from_secs_f64)
            .map_or(TICK, |every| every.saturating_sub(self.told.elapsed()).min(TICK))
    }

    /// Whether so many seconds have passed, and anything arrived.
    fn is_due(&self) -> bool {
        let every = self.plan.every_seconds;
        self.arrived > self.told_at && every.is_some_and(|every| self.told.elapsed().as_secs_f64() >= every)
    }

    /// Uses what arrived, with an answer and a checkpoint where they are due; whether to go on.
    fn take(&mut self, arrived: &Arrived, tell: &mut dyn FnMut(&Answer) -> bool) -> Result<bool, Error> {
        let mut first = 0;
        while first < arrived.len() {
            if !self.is_late && self.context.stopped().is_some() {
                break;
            }
            let room = self.room(arrived);
            // It ends with the last one there is room for, however lines came together.
            let (mut piece, mut n_used) = (0, 0);
            while first + piece < arrived.len() && n_used < room {
                n_used += arrived.lines(first + piece).1;
                piece += 1;
            }
            let before = self.arrived;
            match self.update(arrived, first, piece) {
                Ok(()) => first += piece,
                // An error leaves the selector as it was: the line at fault is the first that it does not
                // take.
                Err(_) if piece > 1 => {
                    for at in first..first + piece {
                        self.update(arrived, at, 1)?;
                    }
                    first += piece;
                }
                Err(error) => return Err(error),
            }
            // A group may be more than is waited for.
            let is_due = self.plan.every.is_some_and(|every| self.arrived / every > before / every);
            let n_alarms = self.selector.as_ref().and_then(|own| own.alarm()).map_or(0, |alarm| alarm.number);
            self.is_new_alarm = n_alarms > self.n_alarms;
            self.n_alarms = n_alarms;
            if (is_due || self.is_new_alarm) && !self.tell(tell) {
                return Ok(false);
            }
            if self.arrived - self.checkpoint_at >= self.plan.checkpoint_every {
                self.save()?;
            }
        }
        Ok(true)
    }

    /// How many arrivals may be used before an answer or a checkpoint is due.
    fn room(&self, arrived: &Arrived) -> usize {
        let until = |every: usize| every - self.arrived % every;
        let every = self.plan.every.map_or(usize::MAX, until);
        let checkpoint = match self.checkpoint {
            Some(_) => until(self.plan.checkpoint_every),
            None => usize::MAX,
        };
        // So that an alarm is told where it was found.
        let block = self.plan.forgetting.and_then(Forgetting::block).map_or(usize::MAX, until);
        match arrived {
            // One after the other: what came before one that is refused was used.
            Arrived::Features(_) => 1,
            Arrived::Samples(_) => every.min(checkpoint).min(block),
        }
    }

    /// Gives lines to the selector.
    fn update(&mut self, arrived: &Arrived, first: usize, count: usize) -> Result<(), Error> {
        let (Some(opened), Some(selector)) = (&self.opened, &mut self.selector) else { return Ok(()) };
        let Some((line, hash)) = arrived.at(first + count - 1) else { return Ok(()) };
        let used: Vec<usize> = (first..first + count).filter(|&at| !arrived.left_out(at)).collect();
        if !used.is_empty() {
            // With a checkpoint an arrival is used as a whole or not at all.
            let is_whole = self.checkpoint.is_some() || self.is_late;
            let whole = Context { deadline: None, interrupt: None, ..*self.context };
            let context = if is_whole { &whole } else { self.context };
            let group = arrived.dataset(&used, opened);
            group.and_then(|group| selector.update(&group, context)).map_err(|source| match source {
                // That of all lines.
                CoreError::UnsupportedTarget { .. } | CoreError::Unsupported { .. } => Error::Core(source),
                source => Error::AtLine { path: self.plan.path.clone(), line, source },
            })?;
        }
        for at in first..first + count {
            let (lines, used) = arrived.lines(at);
            self.arrived += used;
            self.left_out += lines - used;
            self.at.lines += lines as u64;
        }
        self.at = Position { hash, schema: None, lines: self.at.lines };
        Ok(())
    }

    /// Tells an answer; whether to go on.
    fn tell(&mut self, tell: &mut dyn FnMut(&Answer) -> bool) -> bool {
        (self.told, self.told_at) = (Instant::now(), self.arrived);
        let answer = self.answer(false, None);
        self.is_new_alarm = false;
        match answer {
            Ok(answer) => tell(&answer),
            // Too few samples so far, say: there may be an answer later.
            Err(_) => true,
        }
    }

    fn answer(&self, is_last: bool, stopped: Option<Status>) -> Result<Answer, Error> {
        let (Some(opened), Some(selector)) = (&self.opened, &self.selector) else {
            return Err(Error::NothingArrived(self.plan.path.clone()));
        };
        let schema_names = opened.feature_names();
        let (arrives, n_samples, n_features) = match opened {
            Opened::Samples(_) => (Arrives::Samples, self.arrived, schema_names.len()),
            Opened::Features { n_samples, .. } => (Arrives::Features, n_samples.unwrap_or(0), self.arrived),
        };
        let budget = within(self.plan.budget, n_features);
        let mut selection = selector.selection(budget)?;
        if let Some(status) = stopped {
            selection.status = status;
            let (one, many) = match arrives {
                Arrives::Features => ("feature was", "features were"),
                _ => ("sample was", "samples were"),
            };
            selection.notes.push(format!("{} seen before the stop", text::counted(self.arrived, one, many)));
        }
        let name = |&j: &usize| match (schema_names.get(j), selector.name(j)) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => format!("feature {j}"),
        };
        let names = selection.order.iter().map(name).collect();
        let (task, n_classes) = opened.task();
        Ok(Answer {
            arrives,
            arrived: self.arrived,
            left_out: self.left_out,
            names,
            columns: opened.schema().map_or_else(Vec::new, SampleSchema::columns),
            selection,
            held: selector.held(),
            forgetting: self.plan.forgetting.map(|own| own.in_force(budget, n_features)),
            drift: self.drift(&schema_names),
            is_last,
            target_names: opened.target_names(),
            target_found: opened.target_found(),
            task,
            n_classes,
            n_samples,
            n_features,
        })
    }

    /// What watching for changes has found.
    fn drift(&self, names: &[String]) -> Option<Drift> {
        if self.plan.forgetting != Some(Forgetting::Drift) {
            return None;
        }
        let alarm = self.selector.as_ref().and_then(|own| own.alarm()).cloned();
        let named = |features: Option<&Vec<usize>>| -> Vec<String> {
            features.into_iter().flatten().filter_map(|&j| names.get(j).cloned()).collect()
        };
        Some(Drift {
            is_new: self.is_new_alarm,
            left: named(alarm.as_ref().map(|alarm| &alarm.left)),
            entered: named(alarm.as_ref().map(|alarm| &alarm.entered)),
            alarm,
        })
    }

    /// Writes the checkpoint, where there is one.
    fn save(&mut self) -> Result<(), Error> {
        self.checkpoint_at = self.arrived;
        let (Some(checkpoint), Some(selector)) = (&self.checkpoint, &self.selector) else { return Ok(()) };
        let schema = self.opened.as_ref().and_then(Opened::schema);
        let position = Position { schema: schema.cloned(), ..self.at.clone() };
        checkpoint.write(&position, self.arrived, self.left_out, &selector.save()?)
    }
}

/// The budget, with no more features than there are.
fn within(budget: Budget, n_features: usize) -> Budget {
    match budget {
        Budget::Count(k) => Budget::Count(k.min(n_features)),
        other => other,
    }
}

impl Arrived {
    /// Those at these places as a data set.
    fn dataset(&self, used: &[usize], opened: &Opened) -> Result<Dataset, CoreError> {
        match (self, opened) {
            (Self::Samples(samples), Opened::Samples(schema)) => {
                let used: Vec<&ArrivedSample> = used.iter().filter_map(|&at| samples.get(at)).collect();
                schema.dataset(&used)
            }
            (Self::Features(groups), Opened::Features { target, links, .. }) => {
                let own = used.iter().filter_map(|&at| groups.get(at)).flatten();
                let own: Vec<&ArrivedFeature> = own.filter(|feature| !feature.left_out).collect();
                let together = ArrivedFeature::together(&own, target.clone())?;
                match links {
                    Some(links) => together.with_sample_graph(Arc::clone(links)),
                    None => Ok(together),
                }
            }
            _ => Err(CoreError::parameter("stream", "changed", "of samples, or of features")),
        }
    }
}

impl Opened {
    fn schema(&self) -> Option<&SampleSchema> {
        match self {
            Self::Samples(schema) => Some(schema),
            Self::Features { .. } => None,
        }
    }

    fn feature_names(&self) -> Vec<String> {
        self.schema().map_or_else(Vec::new, SampleSchema::feature_names)
    }

    fn target_names(&self) -> Vec<String> {
        match self {
            Self::Samples(schema) => schema.target_names(),
            Self::Features { target: Target::None, .. } => Vec::new(),
            Self::Features { target_name, .. } => vec![target_name.clone()],
        }
    }

    fn target_found(&self) -> Option<String> {
        self.schema().and_then(SampleSchema::target_found).map(str::to_owned)
    }

    /// The kind of target, and the number of classes.
    fn task(&self) -> (&'static str, usize) {
        match self {
            Self::Samples(schema) if !schema.classes().is_empty() => {
                ("classification", schema.classes().len())
            }
            Self::Samples(schema) if schema.target_names().is_empty() => ("none", 0),
            Self::Features { target: Target::Class(classes), .. } => ("classification", classes.n_classes()),
            Self::Features { target: Target::None, .. } => ("none", 0),
            _ => ("regression", 0),
        }
    }
}
