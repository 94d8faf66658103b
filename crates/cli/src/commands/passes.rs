//! Tables larger than `--memory`: their rows are read in passes.

use std::path::Path;

use fewest::core::{BATCH_ROWS, Context, Error, Selection, Status};
use fewest::data::{Complete, Format, Missing, Passes, ReadOptions, Rows, bytes_text};
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

/// A table that is read in passes.
pub(super) struct Road {
    passes: Passes,
    /// Whether the method takes features of wide tables in parts.
    reads_parts: bool,
    memory: u64,
    table_bytes: u64,
}

/// The road in passes for a method as `built`, where the table may take more than half of `memory` bytes, or
/// what the method makes of it more than all. `None` where it may be read at once, as an option may need, and
/// for what cannot be read in pieces, of which the reader says whether it is too large.
pub(super) fn road(
    registry: &Registry,
    (method, built): (&Method, &Built),
    args: &DataArgs,
    (options, needs_whole): (&ReadOptions, bool),
    memory: Option<u64>,
) -> Result<Option<Road>, Failure> {
    let Some(memory) = memory.filter(|_| args.read.file.as_os_str() != "-") else { return Ok(None) };
    let Some(passes) = Passes::open(&args.read.file, options).map_err(|error| input::wrong_file(&error))?
    else {
        return Ok(None);
    };
    let table_bytes = passes.table_bytes();
    let whole_bytes = match built.times_in_memory() {
        Some(times) => table_bytes.saturating_mul(times).saturating_add(PROGRAM),
        None => table_bytes.saturating_mul(2),
    };
    // What cannot be read in passes may take half of the memory, and so may short tables, of which a batch of
    // rows is all or more.
    let is_short =
        || memory < passes.least_memory(built.reads_parts()) || passes.n_rows().0 <= BATCH_ROWS as u64;
    let is_refused =
        || matches!(args.missing, Missing::Mean | Missing::Median) || built.refusal_of_passes().is_some();
    let fits = table_bytes <= memory / 2 && (needs_whole || is_short() || is_refused());
    if whole_bytes <= memory || fits {
        return Ok(None);
    }
    if !built.reads_in_passes() {
        let able = |method: &&Method| {
            method.build(&Parameters::defaults(method)).is_ok_and(|built| built.reads_in_passes())
        };
        let able: Vec<&str> = registry.methods().iter().filter(able).map(|method| method.id).collect();
        let (rows, is_exact) = passes.n_rows();
        return Err(Failure::new(format!(
            "{}: {} needs the whole table, {}{} ({}{} rows of {}), which is more than half of --memory {}: give it \
             more memory, or take a method that reads the rows in passes: {}",
            args.read.file.display(),
            method.id,
            if is_exact { "" } else { "about " },
            bytes_text(table_bytes),
            if is_exact { "" } else { "about " },
            text::count(rows as usize),
            text::counted(passes.n_columns(), "column", "columns"),
            bytes_text(memory),
            able.join(", ")
        )));
    }
    Ok(Some(Road { passes, reads_parts: built.reads_parts(), memory, table_bytes }))
}

/// Rows that were opened, with what is known of them.
pub(super) struct Opened {
    pub(super) rows: Rows,
    /// The first rows, with all that is known of the columns.
    pub(super) first: Complete,
    pub(super) info: DataInfo,
    memory: u64,
    table_bytes: u64,
}

impl Road {
    /// Refuses an option that needs all of the table.
    pub(super) fn refuse(&self, option: &str, is_given: bool) -> Result<(), Failure> {
        if !is_given {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{option} needs the whole table in memory, {}, which is more than half of --memory {}: leave it out, or \
             give it {} MiB of memory",
            bytes_text(self.table_bytes),
            bytes_text(self.memory),
            // No less, though rounded.
            self.table_bytes.saturating_mul(2).div_ceil(1 << 20)
        )))
    }

    /// Looks at the columns that all rows decide about.
    pub(super) fn open(self, args: &DataArgs, user: User) -> Result<Opened, Failure> {
        let Self { passes, reads_parts, memory, table_bytes } = self;
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
        Ok(Opened { rows, first, info, memory, table_bytes })
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
    format!(
        "read in {}{parts} ({}): the table, {}, and what is made of it are too much for --memory {}",
        text::counted(read.passes, "pass", "passes"),
        text::counted(read.rows as usize, "row", "rows"),
        bytes_text(read.table_bytes),
        bytes_text(read.memory)
    )
}
