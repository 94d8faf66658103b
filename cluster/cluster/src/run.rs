//! One run of a method: the table is opened here, and its rows are summed by the cluster.

use std::path::Path;
use std::time::Instant;

use fewest::core::{AskedPass, Context, Error as CoreError, SampleStream, SummedElsewhere, part_rows};
use fewest::data::{Complete, Folder, Passes, Rows, TargetFound};
use fewest::registry::{Built, Method, Parameters, Registry, TargetKind};
use fewest_study::{DataInfo, RunInfo, text};

use crate::error::one_line;
use crate::finished::Finished;
use crate::function::in_table;
use crate::objects::{Object, is_address};
use crate::query::{Cluster, Query, ranges};
use crate::request::{Request, Table};
use crate::s3::Stores;
use crate::{Asked, Error};

/// Sums may take one part in so many of the memory; the rest is for rows.
const SHARE: u64 = 4;

/// Tasks of a pass over text, which each task reads from the start.
const TASKS_OF_TEXT: usize = 4;

/// The tasks of a pass otherwise.
const TASKS: usize = 64;

/// A method with its parameters, as they were called and as they were read.
pub(crate) struct Called<'a> {
    pub(crate) method: &'a Method,
    pub(crate) words: &'a [String],
    pub(crate) parameters: Parameters,
}

/// A table that was opened for a method.
pub(crate) struct Run<'a> {
    cluster: &'a Cluster,
    table: &'a Table,
    called: Called<'a>,
    rows: Rows,
    /// The first rows, with the names of all features.
    first: Complete,
    pub(crate) info: DataInfo,
    finished: Finished,
    /// The first pass, but for the number of features to select.
    request: Request,
}

/// What a method made of the sums.
pub(crate) struct Summed<T> {
    pub(crate) found: T,
    pub(crate) asked: Asked,
    /// A note where a pass that was over could not be kept.
    pub(crate) unkept: Option<String>,
    pub(crate) seconds: f64,
}

impl<'a> Run<'a> {
    /// Looks at the target and at categories, as for any table that is read in passes.
    pub(crate) fn open(
        cluster: &'a Cluster,
        table: &'a Table,
        registry: &Registry,
        called: Called<'a>,
        built: &Built,
    ) -> Result<Self, Error> {
        let method = called.method;
        let (files, objects) = found(&table.path)?;
        let found = Table { path: files.path().to_owned(), ..table.clone() };
        // Before the first look: files that are written meanwhile are others.
        let finished = Finished::new(cluster.resume.as_deref(), &files)?;
        let supervised = !method.targets.contains(&TargetKind::None);
        let (rows, is_text) = open(registry, (&found, files), cluster, supervised, built)?;
        let (mut rows, first, mut info) = described(rows, table, method.id, supervised)?;
        let (counts, known) = rows.known()?;
        info.n_samples = usize::try_from(counts.used).unwrap_or(usize::MAX);
        info.classes = rows.class_counts();
        info.missing_done = text::left_out(usize::try_from(counts.all - counts.used).unwrap_or(usize::MAX));
        let tasks = cluster.tasks.unwrap_or(if is_text { TASKS_OF_TEXT } else { TASKS });
        let request = Request {
            table: found,
            objects,
            method: method.id.to_owned(),
            parameters: called.words.to_vec(),
            k: info.n_features,
            memory: usize::try_from(cluster.memory / SHARE).unwrap_or(usize::MAX),
            known,
            n_rows: counts.used,
            task_rows: part_rows(counts.used, tasks as u64),
            pass: AskedPass::default(),
        };
        Ok(Self { cluster, table, called, rows, first, info, finished, request })
    }

    /// The parameters of the method.
    pub(crate) fn parameters(&self) -> &Parameters {
        &self.called.parameters
    }

    /// What `method` finds in rows that the cluster sums, of which executors are told to select `k` features.
    pub(crate) fn summed<T>(
        &mut self,
        k: usize,
        method: impl FnOnce(&mut dyn SampleStream, &Context<'_>) -> Result<T, CoreError>,
    ) -> Result<Summed<T>, Error> {
        let Self { cluster, finished, rows, .. } = self;
        let request = Request { k, ..self.request.clone() };
        let query = Query::new(cluster, ranges(request.n_rows, request.task_rows))?;
        let (mut failure, mut asked, mut unkept) = (None, Asked::default(), None);
        let mut sums = |request: &Request| {
            if let Some(sums) = finished.get(request)? {
                asked.resumed += 1;
                return Ok(sums);
            }
            let sums = query.ask(request, &mut asked.bytes)?;
            asked.passes += 1;
            // A full disk costs no sums that are here.
            if let Err(error) = finished.keep(request, &sums) {
                unkept = Some(format!("a finished pass was not kept: {}", one_line(error)));
            }
            Ok(sums)
        };
        let ask = |pass: AskedPass| {
            let request = Request { pass, ..request.clone() };
            sums(&request).map_err(|error| {
                failure = Some(error);
                CoreError::Stopped { before: "the cluster had summed all rows" }
            })
        };
        let started = Instant::now();
        let context = Context { memory: Some(request.memory), ..Context::default() };
        let mut elsewhere = SummedElsewhere::new(rows, ask);
        let found = method(&mut elsewhere, &context);
        let seconds = started.elapsed().as_secs_f64();
        match (found, failure) {
            (Ok(found), _) => Ok(Summed { found, asked, unkept, seconds }),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(match rows.take_failure() {
                Some(error) => Error::Data(error),
                None => Error::Rows(in_table(&self.table.path, &error)),
            }),
        }
    }

    /// The first rows, and what an answer tells of the method and the data.
    pub(crate) fn finish(self, seconds: f64) -> (Complete, RunInfo) {
        let Called { method, parameters, .. } = self.called;
        let seed = Context::default().seed;
        (self.first, RunInfo { method: method.clone(), parameters, seed, data: self.info, seconds })
    }
}

/// The files of a table at a path that all machines have, or its objects in a store.
fn found(path: &Path) -> Result<(Folder, Vec<Object>), Error> {
    if is_address(path) {
        let stores = Stores::default();
        let objects = stores.list(path).map_err(|fault| Error::Store { path: fault.place(path), fault })?;
        return Ok((stores.folder(path, &objects)?, objects));
    }
    let absolute = std::path::absolute(path).map_err(|error| Error::Table {
        path: path.display().to_string(),
        problem: format!("{error}: name a file or a folder that all machines have at this path"),
    })?;
    Ok((Folder::or_file(&absolute)?, Vec::new()))
}

/// The rows as this machine sees them, and whether they are text.
fn open(
    registry: &Registry,
    (table, files): (&Table, Folder),
    cluster: &Cluster,
    supervised: bool,
    built: &Built,
) -> Result<(Rows, bool), Error> {
    let options = table.options(registry, supervised);
    let Some(passes) = Passes::open_folder(files, &options)? else {
        return Err(Error::Table {
            path: table.path.display().to_string(),
            problem: "a table of this format cannot be read in parts: write it as Parquet".to_owned(),
        });
    };
    let is_text = !passes.n_rows().1;
    let rows = match built.reads_parts() {
        true => passes.rows_in_parts(table.missing, cluster.memory),
        false => passes.rows(table.missing, cluster.memory),
    };
    Ok((rows?, is_text))
}

/// What an answer tells of the data, and the first rows, with the names of all features.
fn described(
    rows: Rows,
    table: &Table,
    method: &str,
    supervised: bool,
) -> Result<(Rows, Complete, DataInfo), Error> {
    let file = table.path.display().to_string();
    let wrong = |problem: String| Error::Table { path: file.clone(), problem };
    let Some(first) = rows.first().cloned() else {
        let problem =
            "each of the first rows has a missing value: leave out the columns without values (--ignore)";
        return Err(wrong(problem.to_owned()));
    };
    let classes = rows.class_counts();
    if supervised && first.target_names.is_empty() {
        return Err(wrong(format!("{method} needs a target: name its column with --target")));
    }
    if supervised && classes.len() == 1 {
        let problem = "every sample is of one class, but at least two classes are needed: name another column with \
                       --target";
        return Err(wrong(problem.to_owned()));
    }
    let info = DataInfo {
        targets: first.target_names.clone(),
        target_found: rows.guess().map(TargetFound::words).filter(|_| table.target.is_empty()),
        missing: table.missing,
        columns: first.columns.clone(),
        classes,
        notes: rows.notes(),
        ..DataInfo::new(file, &first.dataset)
    };
    Ok((rows, first, info))
}
