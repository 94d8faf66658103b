//! Tables larger than `--memory`: their rows are read in passes.

use std::path::Path;

use fewest::core::{BATCH_ROWS, Context, Error, Selection, Status, TIMES_IN_MEMORY};
use fewest::data::{Complete, Format, Missing, Passes, ReadOptions, Rows, Task, bytes_text};
use fewest::registry::{Built, Method, Parameters, Registry};
use fewest_study::{DataInfo, PassInfo};

use super::select::not_written;
use crate::args::{DataArgs, SelectArgs};
use crate::failure::{Failure, STATUS_INTERRUPTED};
use crate::input::{self, User};
use crate::{runner, text};

/// One over the share of the memory that sums may take.
const SHARE: u64 = 4;

/// Bytes of the program itself, and of what it reads a table with.
const PROGRAM: u64 = 32 << 20;

/// How a table is read.
pub(super) enum Road {
    /// At once, by these options.
    AtOnce(ReadOptions),
    /// In passes over its rows.
    InPasses(InPasses),
}

/// A table that is read in passes.
pub(super) struct InPasses {
    passes: Passes,
    /// Whether the method takes features of wide tables in parts.
    reads_parts: bool,
    memory: u64,
    table_bytes: u64,
}

/// The road for a method as `built`: in passes where the table and what the method makes of it may take more
/// than `memory` bytes. Otherwise at once, and so where one of the options in `whole_table`, which are given
/// or not, needs it, or passes need more memory. What cannot be read in pieces is read at once, too: its
/// reader says whether it is too large.
pub(super) fn road(
    registry: &Registry,
    (method, built): (&Method, &Built),
    args: &DataArgs,
    options: ReadOptions,
    whole_table: &[(&str, bool)],
) -> Result<Road, Failure> {
    // What comes through a pipe comes once.
    let is_pipe = std::fs::metadata(&args.read.file).is_ok_and(|file| !file.is_file() && !file.is_dir());
    let at_once =
        options.transpose || options.encoding.is_some() || is_pipe || args.read.file.as_os_str() == "-";
    let Some(memory) = options.memory.filter(|_| !at_once) else { return Ok(Road::AtOnce(options)) };
    // What these options need is the whole table: it decides below whether there is room for it.
    let task = if options.task == Task::Survival { Task::Auto } else { options.task };
    let asked = ReadOptions { weights: None, task, ..options.clone() };
    let Some(passes) = Passes::open(&args.read.file, &asked).map_err(|error| input::wrong_file(&error))?
    else {
        return Ok(Road::AtOnce(options));
    };
    let own = [
        ("--task survival", options.task == Task::Survival),
        ("--missing mean", args.missing == Missing::Mean),
        ("--missing median", args.missing == Missing::Median),
    ];
    let option = whole_table.iter().chain(&own).find(|(_, is_given)| *is_given).map(|(option, _)| *option);
    let table_bytes = passes.table_bytes();
    let twice = table_bytes.saturating_mul(2);
    let (whole_bytes, enough) = match built.times_in_memory() {
        Some(times) => {
            let whole_bytes = table_bytes.saturating_mul(times).saturating_add(PROGRAM);
            (whole_bytes, if times > TIMES_IN_MEMORY { whole_bytes } else { twice })
        }
        None => (twice, twice),
    };
    let needs = Needs { passes: &passes, file: &args.read.file, memory, enough };
    let refusal = built.refusal_of_passes();
    let needs_all = !built.reads_in_passes() || refusal.is_some() || option.is_some();
    if needs_all && !passes.can_come_at_once() {
        // Its reader says so.
        return Ok(Road::AtOnce(options));
    }
    // Parts of the columns do not tell which rows are complete.
    let reads_parts = built.reads_parts() && args.missing != Missing::DropRows;
    // What cannot be read in passes is read at once with `enough`, and so are short tables, of which a batch
    // of rows is all or more.
    let least = passes.least_memory(reads_parts);
    let is_short = memory < least || passes.n_rows().0 <= BATCH_ROWS as u64;
    let fits = enough <= memory && (option.is_some() || refusal.is_some() || is_short);
    if passes.can_come_at_once() && (whole_bytes <= memory || fits) {
        return Ok(Road::AtOnce(ReadOptions { room: Some(memory), ..options }));
    }
    if !built.reads_in_passes() {
        return Err(needs.whole_table_for(registry, method));
    }
    if let Some(option) = option {
        return Err(needs.whole_table_by(option));
    }
    if let Some(error) = refusal {
        return Err(needs.whole_table_since(&error));
    }
    if memory < least {
        return Err(needs.more(method, least, built.reads_parts(), args.missing));
    }
    Ok(Road::InPasses(InPasses { passes, reads_parts, memory, table_bytes }))
}

/// What needs more memory.
struct Needs<'a> {
    passes: &'a Passes,
    file: &'a Path,
    memory: u64,
    /// With so many bytes the table is read at once.
    enough: u64,
}

impl Needs<'_> {
    /// As much memory as is enough: no less, though rounded.
    fn enough(&self) -> String {
        mebibytes(self.enough)
    }

    /// For what can read the rows in passes, with `least` bytes; in parts of the columns where it
    /// `reads_parts` and no row is left out.
    fn more(&self, method: &Method, least: u64, reads_parts: bool, missing: Missing) -> Failure {
        let (rows, in_parts) = (text::count(BATCH_ROWS), reads_parts && self.passes.n_rows().1);
        let columns = text::counted(self.passes.n_columns(), "column", "columns");
        let (enough, why) = match (self.enough < least && self.passes.can_come_at_once(), in_parts) {
            (true, _) => {
                (self.enough, format!("to read its {} at once", bytes_text(self.passes.table_bytes())))
            }
            (false, true) if missing == Missing::DropRows => (
                least,
                format!(
                    "to read it in pieces of {rows} rows of {columns}, or leave out --missing drop-rows: without it \
                     columns come in parts"
                ),
            ),
            (false, true) => (least, format!("to read {rows} rows of a column at a time")),
            (false, false) => (least, format!("to read it in pieces of {rows} rows of {columns}")),
        };
        Failure::new(format!(
            "{}: --memory {} is too little for {}: give it {}, {why}",
            self.file.display(),
            bytes_text(self.memory),
            method.id,
            mebibytes(enough)
        ))
    }

    fn whole_table_for(&self, registry: &Registry, method: &Method) -> Failure {
        let able = |method: &&Method| {
            method.build(&Parameters::defaults(method)).is_ok_and(|built| built.reads_in_passes())
        };
        let able: Vec<&str> = registry.methods().iter().filter(able).map(|method| method.id).collect();
        let (rows, is_exact) = self.passes.n_rows();
        let about = if is_exact { "" } else { "about " };
        Failure::new(format!(
            "{}: {} needs the whole table, {about}{} ({about}{} rows of {}), for which --memory {} is too little: \
             give it {}, or take a method that reads the rows in passes: {}",
            self.file.display(),
            method.id,
            bytes_text(self.passes.table_bytes()),
            text::count(rows as usize),
            text::counted(self.passes.n_columns(), "column", "columns"),
            bytes_text(self.memory),
            self.enough(),
            able.join(", ")
        ))
    }

    fn whole_table_by(&self, option: &str) -> Failure {
        let instead = match option.starts_with("--missing") {
            true if self.passes.least_memory(false) <= self.memory => "say --missing drop-rows",
            true => "fill in the values before",
            false => "leave it out",
        };
        Failure::new(format!(
            "{option} needs the whole table in memory, {}, for which --memory {} is too little: {instead}, or give it {}",
            bytes_text(self.passes.table_bytes()),
            bytes_text(self.memory),
            self.enough()
        ))
    }

    /// What a method says that cannot read rows in passes as it was asked to.
    fn whole_table_since(&self, error: &Error) -> Failure {
        let (file, enough) = (self.file.display(), self.enough());
        Failure::new(format!("{file}: {error}; with {enough} the table is read at once"))
    }
}

/// So much memory, in words.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB of memory", bytes.div_ceil(1 << 20))
}

/// Rows that were opened, with what is known of them.
pub(super) struct Opened {
    pub(super) rows: Rows,
    /// The first rows, with all that is known of the columns.
    pub(super) first: Complete,
    pub(super) info: DataInfo,
    memory: u64,
    table_bytes: u64,
    may_come_at_once: bool,
}

impl InPasses {
    /// Looks at the columns that all rows decide about.
    pub(super) fn open(self, args: &DataArgs, user: User) -> Result<Opened, Failure> {
        let Self { passes, reads_parts, memory, table_bytes } = self;
        let may_come_at_once = passes.can_come_at_once();
        let rows = match reads_parts {
            true => passes.rows_in_parts(args.missing, memory),
            false => passes.rows(args.missing, memory),
        };
        let rows = rows.map_err(|error| input::wrong_file(&error))?;
        let file = args.read.file.display();
        let Some(first) = rows.first().cloned() else {
            return Err(Failure::new(format!(
                "{file}: each of the first rows has a missing value: leave out the columns without values (--ignore)"
            )));
        };
        let n_classes = rows.class_counts().len();
        if user.supervised && first.target_names.is_empty() {
            return Err(Failure::new(format!(
                "{file}: {} needs a target: name its column with --target",
                user.id
            )));
        }
        if user.supervised && n_classes == 1 {
            return Err(Failure::new(format!(
                "{file}: every sample is of one class, but at least two classes are needed: name another column with \
                 --target"
            )));
        }
        let info = DataInfo {
            targets: first.target_names.clone(),
            target_found: rows
                .guess()
                .map(fewest::data::TargetFound::words)
                .filter(|_| args.target.is_empty()),
            missing: args.missing,
            columns: first.columns.clone(),
            classes: rows.class_counts(),
            notes: rows.notes(),
            ..DataInfo::new(file.to_string(), &first.dataset)
        };
        Ok(Opened { rows, first, info, memory, table_bytes, may_come_at_once })
    }
}

impl Opened {
    /// The context of a method that reads the rows, with the memory for its sums: what pieces of rows and
    /// their decoding leave.
    pub(super) fn context<'a>(&self, context: &Context<'a>) -> Context<'a> {
        Context { memory: usize::try_from(self.memory / SHARE).ok(), ..*context }
    }

    /// What was done, once the method has read the rows.
    pub(super) fn finish(self) -> (Rows, Complete, DataInfo) {
        let (n_samples, left_out) = self.rows.n_used().unwrap_or_default();
        let missing_done = text::left_out(left_out);
        let passes = PassInfo {
            passes: self.rows.n_passes(),
            parts: self.rows.n_parts(),
            rows: self.rows.n_read(),
            table_bytes: self.table_bytes,
            memory: self.memory,
            may_come_at_once: self.may_come_at_once,
        };
        let classes = self.rows.class_counts();
        let info = DataInfo { n_samples, classes, missing_done, passes: Some(passes), ..self.info };
        (self.rows, self.first, info)
    }
}

/// The error about a method that needs the whole table after all.
pub(super) fn not_in_passes(method: &Method) -> Error {
    let instead = "give it more memory".to_owned();
    Error::Unsupported { method: method.id, what: "reading rows in passes".to_owned(), instead }
}

/// The failure of a method whose rows may have failed.
pub(super) fn failure(rows: &mut Rows, args: &DataArgs, error: &Error) -> Failure {
    match rows.take_failure() {
        Some(error) => input::wrong_file(&error),
        None => Failure::in_file(&args.read.file, error),
    }
}

/// Writes the reduced table, in one more pass. A time limit is for the selection, which is there.
pub(super) fn write(
    rows: &mut Rows,
    threads: &runner::Threads,
    args: &SelectArgs,
    (format, path): (Format, &Path),
    selection: &Selection,
) -> Result<(), Failure> {
    // Who interrupted the selection gets what there is of it, as from a table in memory.
    let is_over = selection.status == Status::Interrupted;
    let written = runner::run(threads, &args.run, |context| {
        let interrupt = context.interrupt.filter(|_| !is_over);
        let context = Context { deadline: None, interrupt, ..*context };
        rows.write(format, path, &selection.order, &context).map_err(|error| not_written(&error))
    });
    written.map(drop).map_err(|failure| match failure.status() {
        STATUS_INTERRUPTED => Failure::interrupted_before(&format!("--write-reduced {}", path.display())),
        _ => failure,
    })
}

/// What was read in passes, in one line.
pub(crate) fn line(read: &PassInfo) -> String {
    let parts = match read.parts {
        0 | 1 => String::new(),
        parts => format!(" over {} of the columns", text::counted(parts, "part", "parts")),
    };
    let (table, memory) = (bytes_text(read.table_bytes), bytes_text(read.memory));
    let why = match read.may_come_at_once {
        true => format!(": the table, {table}, and what is made of it are too much for --memory {memory}"),
        false => ", as several files of text are".to_owned(),
    };
    format!(
        "read in {}{parts} ({}){why}",
        text::counted(read.passes, "pass", "passes"),
        text::counted(read.rows as usize, "row", "rows"),
    )
}
