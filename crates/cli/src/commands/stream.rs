//! `fewest stream`.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fewest::core::{Arrives, Budget};
use fewest::data::{ArrivingFeatures, FeatureTarget, GroupTable, Growing, Piped, ReadOptions, TargetChoice};
use fewest::registry::{Built, LinkTable, Method, Parameters, Registry};
use fewest_study::json::StreamInfo;
use fewest_study::{Answer, CHECKPOINT_EVERY, Forgetting, StreamInput, StreamPlan, USUAL_K, json};

use super::{instead, is_stdout};
use crate::args::{KArg, StreamArgs};
use crate::failure::Failure;
use crate::{input, output, runner, table};

/// Samples that decide what the columns are.
const FIRST_ROWS: usize = 1000;

/// Reads what arrives, and writes the answers.
pub(crate) fn stream(registry: &Registry, args: &StreamArgs) -> Result<ExitCode, Failure> {
    let method = registry.find(&args.method)?;
    let parameters = Parameters::parse(method, &args.run.param)?;
    let forgetting = forgetting(args);
    // A window is a table, which any method takes.
    let of_window = matches!(forgetting, Some(Forgetting::Window(_))).then_some(Arrives::Samples);
    let Some(arrives) = method.arrives.or(of_window) else {
        let all = registry.methods().iter().filter(|other| other.arrives.is_some());
        return Err(Failure::new(format!(
            "{} cannot select from data that arrive: take --window, `fewest select`, or one of {}",
            method.id,
            all.map(|other| other.id).collect::<Vec<_>>().join(", ")
        )));
    };
    if args.k == Some(KArg::Auto) && matches!(method.build(&parameters)?, Built::Scorer(_)) {
        return Err(Failure::no_number(method.id, &method.deciding_parameters()));
    }
    check_tables(registry, args, method, &parameters)?;
    if let Some(forgetting) = forgetting {
        check_forgetting(method, &parameters, forgetting)?;
    }
    let plan = StreamPlan { forgetting, ..plan(args, method, &parameters) };
    let json_file = args.run.json.as_deref().filter(|path| !is_stdout(path));
    output::check(
        &args.data.read.file,
        &[("--json", json_file), ("--checkpoint", args.checkpoint.as_deref())],
    )?;
    let info = StreamInfo {
        method: method.clone(),
        parameters,
        seed: args.run.seed,
        file: args.data.read.file.display().to_string(),
        missing: args.data.missing,
    };
    if let Some(n) = args.orders {
        return orders(registry, args, &plan, &info, n);
    }
    check_uses(args, method, arrives)?;
    let threads = runner::Threads::start(&args.run)?;
    let input = opened(registry, args, arrives)?;
    let is_resumed = args.checkpoint.as_ref().is_some_and(|path| path.exists());
    let mut teller = Teller::new(args, &info, is_resumed);
    let file = &args.data.read.file;
    let (end, _) = runner::run(&threads, &args.run, |context| {
        let end = fewest_study::stream(&plan, input, context, &mut |answer| teller.tell(answer));
        end.map_err(|error| match &error {
            fewest_study::Error::Core(fewest::core::Error::InvalidParameter { name: "k", .. })
                if plan.budget == Budget::Auto =>
            {
                Failure::no_number(method.id, &method.deciding_parameters())
            }
            error => Failure::in_study(file, error),
        })
        .and_then(|end| {
            let failure = teller.failure.take();
            failure.map_or(Ok(end), Err)
        })
    })?;
    match end.error {
        Some(error) => Err(Failure::in_study(file, &error)),
        None => Ok(super::exit_code(end.status)),
    }
}

fn plan(args: &StreamArgs, method: &Method, parameters: &Parameters) -> StreamPlan {
    let (budget, is_strict) = match args.k {
        Some(KArg::Count(k)) => (Budget::Count(k), true),
        Some(KArg::Auto) => (Budget::Auto, true),
        None if parameters.decides_count() => (Budget::Auto, true),
        None => (Budget::Count(USUAL_K), false),
    };
    StreamPlan {
        is_strict,
        every: args.every,
        every_seconds: args.every_seconds,
        checkpoint: args.checkpoint.clone(),
        checkpoint_every: args.checkpoint_every.unwrap_or(CHECKPOINT_EVERY),
        command: command(args),
        path: args.data.read.file.clone(),
        ..StreamPlan::new(method.clone(), parameters.clone(), budget)
    }
}

/// Refuses tables that the method has no use for, and one that it lacks.
fn check_tables(
    registry: &Registry,
    args: &StreamArgs,
    method: &Method,
    parameters: &Parameters,
) -> Result<(), Failure> {
    let takes_features = method.arrives == Some(Arrives::Features);
    let takers = |is_one: &dyn Fn(&Method) -> bool| {
        let all = registry.methods().iter().filter(|other| other.arrives == Some(Arrives::Features));
        let ids: Vec<&str> = all.filter(|other| is_one(other)).map(|other| other.id).collect();
        if ids.is_empty() { String::new() } else { format!(", or take {}", ids.join(" or ")) }
    };
    match (method.group_parameter(), &args.groups) {
        (Some(group), None) if parameters.selects_groups() => {
            let (name, word) = (group.name, group.group_word.unwrap_or_default());
            Err(Failure::new(format!(
                "--param {name}={word}: there is no table of groups: name one with --groups{}",
                instead(method, name, word)
            )))
        }
        (Some(group), Some(_)) if !parameters.selects_groups() => {
            let word = group.group_word.unwrap_or_default();
            Err(Failure::new(format!(
                "--groups: the parameter {0} says that groups are others: take --param {0}={word}, or leave \
                 --groups out",
                group.name
            )))
        }
        (None, Some(_)) => Err(Failure::new(format!(
            "--groups: {} uses no groups of features: leave it out{}",
            method.id,
            takers(&|other| other.group_parameter().is_some())
        ))),
        (_, Some(_)) if !takes_features => Err(Failure::new(format!(
            "--groups: {} takes samples that arrive, and features with them: take `fewest select`",
            method.id
        ))),
        _ => Ok(()),
    }?;
    let uses_links = |other: &Method| other.weights_of(LinkTable::Samples).is_some();
    if args.links.is_some() && !(takes_features && uses_links(method)) {
        return Err(Failure::new(format!(
            "--links: {} uses no links of samples that stay: leave it out{}",
            method.id,
            takers(&uses_links)
        )));
    }
    Ok(())
}

fn forgetting(args: &StreamArgs) -> Option<Forgetting> {
    let window = args.window.map(Forgetting::Window);
    window.or(args.half_life.map(Forgetting::HalfLife)).or(args.drift.then_some(Forgetting::Drift))
}

/// Refuses a method that cannot forget in this way.
fn check_forgetting(method: &Method, parameters: &Parameters, forgetting: Forgetting) -> Result<(), Failure> {
    let option = match forgetting {
        Forgetting::Window(_) => "--window",
        Forgetting::HalfLife(_) => "--half-life",
        Forgetting::Drift => "--drift",
    };
    forgetting.check(method, parameters).map_err(|error| Failure::new(format!("{option}: {error}")))
}

/// What a checkpoint depends on, beside the method.
fn command(args: &StreamArgs) -> Vec<(String, String)> {
    let data = &args.data;
    let read = &data.read;
    let mut options = Vec::new();
    let mut option = |name: &str, value: Option<String>| {
        options.extend(value.map(|value| (name.to_owned(), value)));
    };
    let list = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
    option("--target", list(&data.target));
    option("--target-file", args.target_file.as_ref().map(|path| path.display().to_string()));
    option("--task", Some(data.task.name().to_owned()));
    option("--missing", Some(data.missing.name().to_owned()));
    option("--ignore", list(&data.ignore));
    option("--categorical", list(&data.categorical));
    option("--id-column", read.id_column.clone());
    option("--missing-token", list(&read.missing_token));
    option("--header", Some(read.header.name().to_owned()));
    option("--delimiter", read.delimiter.map(String::from));
    option("--encoding", read.encoding.clone());
    option("--features-in-rows", read.transpose.then(|| "given".to_owned()));
    option("--first-rows", args.first_rows.map(|rows| rows.to_string()));
    let file = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    option("--groups", file(&args.groups));
    option("--links", file(&args.links));
    option("--window", args.window.map(|samples| samples.to_string()));
    option("--half-life", args.half_life.map(|samples| samples.to_string()));
    option("--drift", args.drift.then(|| "given".to_owned()));
    options
}

/// Refuses options without effect, and a method that takes lines of the other kind.
fn check_uses(args: &StreamArgs, method: &Method, arrives: Arrives) -> Result<(), Failure> {
    let read = &args.data.read;
    let is_csv = read.format.as_deref().is_none_or(|format| format.eq_ignore_ascii_case("csv"));
    let unused = [
        ("--format", !is_csv, "a stream is a CSV file"),
        ("--x-variable", read.x_variable.is_some(), "a stream is a CSV file"),
        ("--first-index", read.first_index.is_some(), "a stream is a CSV file"),
        ("--allow-large", read.allow_large, "a stream is never in memory as a whole"),
    ];
    if let Some((option, _, why)) = unused.iter().find(|(_, given, _)| *given) {
        return Err(Failure::new(format!("{option}: {why}: leave it out")));
    }
    check_follow(args)?;
    let by_features =
        [("--id-column", read.id_column.is_some()), ("--first-rows", args.first_rows.is_some())];
    match (arrives, read.transpose) {
        (Arrives::Features, false) => Err(Failure::new(format!(
            "{} takes features that arrive: give a file with a feature a line, its name first, and \
             --features-in-rows",
            method.id
        ))),
        (Arrives::Features, true) => match by_features.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::new(format!("{option}: lines are features: leave it out"))),
            None => Ok(()),
        },
        (_, true) => Err(Failure::new(format!(
            "--features-in-rows: {} takes samples that arrive: leave it out, and give a file with a sample a line",
            method.id
        ))),
        _ if args.target_file.is_some() => Err(Failure::new(
            "--target-file: lines are samples and have the target: name its column with --target",
        )),
        _ => Ok(()),
    }
}

/// Refuses to follow what is no file that may grow: a pipe is read until it is closed in any case.
fn check_follow(args: &StreamArgs) -> Result<(), Failure> {
    let file = args.data.read.file.as_path();
    let is_pipe = is_stdout(file) || file.metadata().is_ok_and(|known| !known.is_file());
    match args.follow && is_pipe {
        true => Err(Failure::new(
            "--follow: a pipe is read until it is closed in any case: leave it out, or give the name of a file that \
             grows",
        )),
        false => Ok(()),
    }
}

/// What is read, and how.
fn opened(registry: &Registry, args: &StreamArgs, arrives: Arrives) -> Result<StreamInput, Failure> {
    let data = &args.data;
    let user = input::User::method(registry.find(&args.method)?);
    let target = match data.target.is_empty() {
        // The first line is the target of features, but for a method that has none.
        true if arrives == Arrives::Features && !user.supervised => TargetChoice::None,
        true => TargetChoice::Guess { or_last: user.supervised },
        false => TargetChoice::Columns(data.target.clone()),
    };
    let options = ReadOptions {
        target,
        task: data.task,
        ignore: data.ignore.clone(),
        categorical: data.categorical.clone(),
        ..input::options(registry, &data.read)?
    };
    let path = data.read.file.clone();
    let target = args.target_file.as_deref().map(|file| target_of(file, &options)).transpose()?;
    let groups = args.groups.as_ref().map(GroupTable::read).transpose();
    let groups = groups.map_err(|error| Failure::new(format!("--groups: {error}")))?;
    let end = Arc::new(AtomicBool::new(false));
    let (follow, name, may_end) = (args.follow, path.clone(), Arc::clone(&end));
    let open = move || -> Result<Box<dyn Read>, fewest::data::Error> {
        let unreadable = |source| fewest::data::Error::Io { path: name.clone(), action: "read", source };
        let pipe: Box<dyn Read + Send> = if name.as_os_str() == "-" {
            Box::new(io::stdin())
        } else if name.metadata().map_err(unreadable)?.is_file() {
            let file = File::open(&name).map_err(unreadable)?;
            return Ok(if follow { Box::new(Growing::new(file, may_end)) } else { Box::new(file) });
        } else {
            Box::new(Pipe { path: name.clone(), file: None })
        };
        Ok(Box::new(Piped::new(pipe, may_end).map_err(unreadable)?))
    };
    Ok(StreamInput {
        path,
        open: Box::new(open),
        options,
        missing: data.missing,
        arrives,
        target,
        groups,
        links: args.links.clone(),
        first_rows: args.first_rows.unwrap_or(FIRST_ROWS),
        end,
    })
}

/// A named pipe, which is opened by who reads it: until another program opens it to write, that takes as long
/// as reading may.
struct Pipe {
    path: PathBuf,
    file: Option<File>,
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::open(&self.path)?),
        };
        file.read(out)
    }
}

fn target_of(file: &Path, options: &ReadOptions) -> Result<FeatureTarget, Failure> {
    let wrong = |error: fewest::data::Error| Failure::new(format!("--target-file: {error}"));
    let unreadable =
        |source| wrong(fewest::data::Error::Io { path: file.to_owned(), action: "read", source });
    let content = File::open(file).map_err(unreadable)?;
    ArrivingFeatures::read_target(file, content, options).map_err(wrong)
}

/// Writes answers as they come.
struct Teller<'a> {
    info: &'a StreamInfo,
    started: Instant,
    /// The file of JSON lines.
    path: Option<&'a Path>,
    /// The same, once there was an answer.
    file: Option<File>,
    /// Whether the lines before a checkpoint stay.
    is_resumed: bool,
    /// Whether stdout gets JSON.
    is_json: bool,
    has_heading: bool,
    failure: Option<Failure>,
}

impl<'a> Teller<'a> {
    fn new(args: &'a StreamArgs, info: &'a StreamInfo, is_resumed: bool) -> Self {
        let path = args.run.json.as_deref();
        Self {
            info,
            started: Instant::now(),
            path: path.filter(|path| !is_stdout(path)),
            file: None,
            is_resumed,
            is_json: path.is_some_and(is_stdout),
            has_heading: false,
            failure: None,
        }
    }

    /// Appends a line to the file, which is made with the first one: an error before leaves it as it was.
    fn append(&mut self, line: &str) -> Result<(), Failure> {
        let Some(path) = self.path else { return Ok(()) };
        let unwritten =
            |error: io::Error| Failure::new(format!("--json {}: cannot be written: {error}", path.display()));
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut options = OpenOptions::new();
                options.create(true).append(self.is_resumed);
                options.write(!self.is_resumed).truncate(!self.is_resumed);
                self.file.insert(options.open(path).map_err(unwritten)?)
            }
        };
        file.write_all(line.as_bytes()).map_err(unwritten)
    }

    /// Writes an answer; whether to go on.
    fn tell(&mut self, answer: &Answer) -> bool {
        match self.write(answer) {
            Ok(goes_on) => goes_on,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                false
            }
        }
    }

    fn write(&mut self, answer: &Answer) -> Result<bool, Failure> {
        let seconds = self.started.elapsed().as_secs_f64();
        let info = self.info;
        let line = || {
            json::stream_line(answer, info, seconds).map_err(|error| Failure::new(format!("--json: {error}")))
        };
        if self.path.is_some() {
            self.append(&line()?)?;
        }
        let shown = match self.is_json {
            true => line()?,
            false => {
                let heading =
                    if self.has_heading { String::new() } else { table::stream_heading(answer, self.info) };
                self.has_heading = true;
                heading + &table::stream_line(answer)
            }
        };
        let mut out = io::stdout().lock();
        match out.write_all(shown.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(true),
            // Nobody reads any more.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::new(format!("stdout: cannot be written: {error}"))),
        }
    }
}

/// Several orders of a whole file.
fn orders(
    registry: &Registry,
    args: &StreamArgs,
    plan: &StreamPlan,
    info: &StreamInfo,
    n: usize,
) -> Result<ExitCode, Failure> {
    if is_stdout(&args.data.read.file) {
        return Err(Failure::new(
            "--orders: a pipe is read once: give the name of a file, which is read as a whole",
        ));
    }
    if args.data.read.transpose && args.data.target.is_empty() {
        return Err(Failure::new(
            "--orders: the file is read as a whole: name the line of the target with --target",
        ));
    }
    let user = input::User::method(&plan.method);
    let needs = input::Needs { target: user.supervised, digest: false, weights: None, groups: None };
    let threads = runner::Threads::start(&args.run)?;
    let found = threads.install(|| input::read(registry, &args.data, needs))?;
    let (complete, data) = input::complete(found, &args.data, user)?;
    if let (Budget::Count(_), true) = (plan.budget, plan.is_strict) {
        plan.budget.check(data.n_features)?;
    }
    let (found, seconds) = runner::run(&threads, &args.run, |context| {
        fewest_study::orders(plan, &complete.dataset, n, context)
            .map_err(|error| Failure::in_study(&args.data.read.file, &error))
    })?;
    let json = args.run.json.as_ref().map(|_| json::orders(&found, info, &data, seconds)).transpose();
    let json = json.map_err(|error| Failure::in_study(&args.data.read.file, &error))?;
    let shown = table::orders(&found, info, &data, seconds);
    super::tell(args.run.json.as_deref(), json, &shown, Ok(()))?;
    Ok(super::exit_code(found.status))
}
