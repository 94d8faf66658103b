//! Tables larger than memory: their rows come in pieces, and again in every pass.

mod look;
mod notes;
mod part;
mod pieces;
mod write;

use std::path::{Path, PathBuf};

use fewest_core::{BATCH_ROWS, Dataset, FeatureKind, OnDemand, SampleStream, Target};

use crate::roles::{self, Guess, Role};
use crate::sizes::bytes_text;
use crate::source::Source;
use crate::{Complete, Error, Folder, Missing, ReadOptions, Table, TargetFound, Task};
use look::{Looked, looks};
pub use part::RowCounts;
pub use pieces::{OpenPieces, Pieces, Stamp};

/// Pieces of which the memory that may be used holds so many: the one that is cut into batches, the next one,
/// what decoding takes, and what a method keeps.
const PIECES: u64 = 8;

/// Bytes of memory beside the pieces: the program, and the page of a column for each thread.
const BESIDE: u64 = 64 << 20;

/// Most batches of a piece: longer ones are read no faster.
const MOST_BATCHES: usize = 256;

/// Rows of a piece, where a table comes in parts of its features: pages of a file, which have as many rows in
/// usual writers, are then decoded once.
const TALL: u64 = 1 << 16;

/// A table that was opened, of which no row was read.
///
/// ```
/// use fewest_core::{Context, SampleStream};
/// use fewest_data::{Missing, Passes, ReadOptions};
/// # let folder = std::env::temp_dir().join(format!("fewest-passes-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("long.csv");
/// let lines: String = (0..10_000).map(|i| format!("{},{}\n", i % 7, ["yes", "no"][i % 2])).collect();
/// std::fs::write(&path, format!("x,y\n{lines}"))?;
/// let passes = Passes::open(&path, &ReadOptions::with_target("y"))?.expect("text is read in pieces");
/// let mut rows = passes.rows(Missing::Error, 1 << 30)?;
/// for _ in 0..2 {
///     let mut n = 0;
///     while let Some(batch) = rows.next_batch()? {
///         n += batch.n_samples();
///     }
///     assert!(n == 10_000 && rows.rewind()?);
/// }
/// assert_eq!(rows.class_counts(), [("no".to_owned(), 5000), ("yes".to_owned(), 5000)]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Passes {
    path: PathBuf,
    pieces: Box<dyn Pieces>,
    options: ReadOptions,
    /// The column with the names of the samples, which methods have no use for.
    id: Option<String>,
    roles: Vec<Role>,
    guess: Option<Guess>,
    /// Bytes of the texts of a row beside its numbers, of the whole table, and without the names of samples.
    texts: (u64, u64),
    can_come_at_once: bool,
}

impl Passes {
    /// Opens a file, a folder or a pattern as [`Table::read`] does; `None` for a format without a reader of
    /// pieces, and for text in UTF-16.
    ///
    /// # Errors
    /// As [`Table::read`], as far as names and the metadata of files tell; [`Error::Unsupported`] for options
    /// that need the whole table: weights, groups of samples, survival times, transposed tables.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Option<Self>, Error> {
        Self::open_folder(Folder::or_file(path.as_ref())?, options)
    }

    /// As [`Passes::open`], of files that are listed already.
    ///
    /// # Errors
    /// As [`Passes::open`].
    pub fn open_folder(folder: Folder, options: &ReadOptions) -> Result<Option<Self>, Error> {
        let path = &folder.path().to_owned();
        let first = Source::open_part(&folder.parts()[0])?;
        let format = match options.format {
            Some(format) => format,
            None => options.formats.recognise(&first)?,
        };
        let Some(open) = format.open_pieces(path, options)?.filter(|_| !first.is_utf_16()) else {
            return Ok(None);
        };
        let needs_all = match options {
            ReadOptions { transpose: true, .. } => Some("a transposed table"),
            ReadOptions { weights: Some(_), .. } => Some("a column of weights"),
            ReadOptions { sample_groups: Some(_), .. } => Some("a column of groups"),
            ReadOptions { task: Task::Survival, .. } => Some("a table of survival times"),
            ReadOptions { features: Some(_), .. } => Some("some of the features"),
            _ => None,
        };
        if let Some(what) = needs_all {
            let what = format!("{what}, read in passes");
            return Err(Error::unsupported(path, what, "give it enough memory to be read at once"));
        }
        let mut options = options.clone();
        let can_come_at_once = folder.parts().len() == 1 || format.reads_folders();
        let pieces = open(folder, &options)?;
        let all_texts = pieces.text_bytes(&options);
        let id = options.id.take().or_else(|| pieces.row_names().map(str::to_owned));
        options.ignore.extend(id.clone());
        let texts = (all_texts, if id.is_some() { pieces.text_bytes(&options) } else { all_texts });
        let names = pieces.names();
        let (roles, guess) = roles::assign(path, names, pieces.n_columns(), &options)?;
        roles::check_names(path, &crate::Place::File, names, &roles)?;
        Ok(Some(Self { path: path.to_owned(), pieces, options, id, roles, guess, texts, can_come_at_once }))
    }

    /// The same table, to be read from its first row by another reader, where that takes less than opening it
    /// again does: files of many columns tell much of them. Reading tells where the files are not what they
    /// were; [`check`](Passes::check) does before.
    pub fn again(&self) -> Option<Self> {
        Some(Self {
            pieces: self.pieces.again()?,
            path: self.path.clone(),
            options: self.options.clone(),
            id: self.id.clone(),
            roles: self.roles.clone(),
            ..*self
        })
    }

    /// That the files are what they were when they were opened.
    ///
    /// # Errors
    /// [`Error::Malformed`] for one that has changed; those of the system.
    pub fn check(&mut self) -> Result<(), Error> {
        self.pieces.rewind()
    }

    /// Whether [`Table::read`] reads this table: not where it is several files of a format that is read as
    /// one file.
    pub fn can_come_at_once(&self) -> bool {
        self.can_come_at_once
    }

    /// Number of rows, and whether that is exact: otherwise it is estimated from the size of the file.
    pub fn n_rows(&self) -> (u64, bool) {
        self.pieces.n_rows()
    }

    /// Number of columns that are read.
    pub fn n_columns(&self) -> usize {
        self.roles.iter().filter(|role| roles::is_read(role)).count()
    }

    /// Bytes of the values of the whole table in memory, with what texts take beside them in a table of text,
    /// as its first rows tell. What needs the whole table may have it where this is at most half of the
    /// memory: then [`ReadOptions::room`] lets it take all, since columns may grow, and rows be more than
    /// estimated.
    pub fn table_bytes(&self) -> u64 {
        let row = (8 * self.n_columns() as u64).saturating_add(self.texts.0);
        self.n_rows().0.saturating_mul(row)
    }

    /// Bytes of memory with which the rows can be read at all, or, where `in_parts`, one feature of them at a
    /// time.
    pub fn least_memory(&self, in_parts: bool) -> u64 {
        match in_parts && self.n_rows().1 {
            true => least(self.n_others() + 1),
            false => least(self.row_cells()).saturating_add(self.pieces.beside()),
        }
    }

    /// Numbers that take the memory of a row of a piece.
    fn row_cells(&self) -> usize {
        let texts = usize::try_from(self.texts.1 / 8).unwrap_or(usize::MAX);
        self.n_columns().saturating_add(texts)
    }

    /// Number of columns that are read and no features.
    fn n_others(&self) -> usize {
        self.roles.iter().filter(|role| roles::is_read(role) && !roles::is_feature(role)).count()
    }

    /// The rows, with what all of them decide, which takes a pass over the columns that need it: whether the
    /// target is classes, their names, and the levels of categories.
    ///
    /// `memory` bytes may be used in all, by pieces of rows and by what reads them.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for less memory than a few batches of rows need, and for
    /// [`Missing::Mean`] and [`Missing::Median`], which need all values; those of reading.
    pub fn rows(self, missing: Missing, memory: u64) -> Result<Rows, Error> {
        let batch = (8 * self.row_cells().max(1) as u64).saturating_mul(BATCH_ROWS as u64);
        let least = self.least_memory(false);
        if memory < least {
            return Err(too_little(memory, least, self.n_columns()));
        }
        let room = memory.saturating_sub(BESIDE).saturating_sub(self.pieces.beside());
        let batches = usize::try_from(room / PIECES / batch).unwrap_or(MOST_BATCHES);
        let rows = batches.clamp(1, MOST_BATCHES) * BATCH_ROWS;
        self.open_rows(missing, memory, rows, None)
    }

    /// [`rows`](Passes::rows) for what scores each feature by itself, with [`score_parts`]: where a few
    /// batches of all features need more than `memory` bytes, the features come in parts, each with all of
    /// its passes before the next ([`SampleStream::next_part`]). Not of text, which is parsed as a whole.
    ///
    /// # Errors
    /// As [`rows`](Passes::rows), for less memory than a few batches of one feature need;
    /// [`fewest_core::Error::InvalidParameter`] for parts with [`Missing::DropRows`], since which rows have
    /// missing values no part tells.
    ///
    /// [`score_parts`]: fewest_core::score_parts
    pub fn rows_in_parts(self, missing: Missing, memory: u64) -> Result<Rows, Error> {
        let n_others = self.n_others();
        // Of text all columns would be parsed again for every part.
        if memory >= self.least_memory(false) || !self.n_rows().1 {
            return self.rows(missing, memory);
        }
        let least = self.least_memory(true);
        if memory < least {
            return Err(too_little(memory, least, n_others + 1));
        }
        if missing == Missing::DropRows {
            let least = self.least_memory(false).div_ceil(1 << 20);
            let expected =
                format!("error, or --memory at least {least}MiB: with so little the features come in parts");
            return Err(fewest_core::Error::parameter("missing", missing.name(), expected).into());
        }
        let wanted = self.n_rows().0.clamp(1, TALL).div_ceil(BATCH_ROWS as u64);
        let room = cells(memory);
        let batches = wanted.min(room / (n_others as u64 + 1) / BATCH_ROWS as u64).max(1);
        let rows = usize::try_from(batches).unwrap_or(1) * BATCH_ROWS;
        let width = (usize::try_from(room).unwrap_or(usize::MAX) / rows).saturating_sub(n_others);
        self.open_rows(missing, memory, rows, Some(width))
    }

    /// Pieces of `rows` rows of `width` features, or of all.
    fn open_rows(
        self,
        missing: Missing,
        memory: u64,
        rows: usize,
        width: Option<usize>,
    ) -> Result<Rows, Error> {
        if let Missing::Mean | Missing::Median = missing {
            let expected = "error or drop-rows where the table is read in passes";
            return Err(fewest_core::Error::parameter("missing", missing.name(), expected).into());
        }
        let Self { path, mut pieces, options, id, roles, guess, .. } = self;
        let options = ReadOptions { memory: None, allow_large: true, ..options };
        let mut n_passes = 0;
        let looked = match looks(pieces.as_ref(), &roles, &options) {
            true => {
                n_passes += 1;
                Looked::read(&path, pieces.as_mut(), &roles, &options, (rows, cells(memory)))?
            }
            false => Looked::none(&options),
        };
        let n_read = looked.n_rows.unwrap_or(0);
        let features: Vec<usize> = (0..roles.len()).filter(|&j| roles::is_feature(&roles[j])).collect();
        let n_others = roles.iter().filter(|role| roles::is_read(role)).count() - features.len();
        let width = width.unwrap_or(features.len()).max(1);
        let part = (width < features.len()).then(|| (0..width).collect());
        let mut opened = Rows {
            path,
            pieces,
            asked_task: options.task,
            row_numbers: Vec::new(),
            options: ReadOptions { task: looked.task, features: part, ..options },
            id,
            n_taken: width.min(features.len()),
            features,
            width,
            missing,
            guess,
            n_others,
            n_cells: rows.saturating_mul(width + n_others),
            rows,
            looked,
            known: Known::default(),
            n_passes,
            n_read,
            n_used: None,
            of_classes: None,
            counted: (0, 0),
            counted_of: Vec::new(),
            at: At::Start,
            part: None,
            failure: None,
        };
        opened.know()?;
        opened.look_for_row_numbers()?;
        Ok(opened)
    }
}

/// Bytes that a few batches of so many columns need.
fn least(n_columns: usize) -> u64 {
    let batch = (8 * n_columns.max(1) as u64).saturating_mul(BATCH_ROWS as u64);
    BESIDE.saturating_add(PIECES.saturating_mul(batch))
}

/// The error for less memory than pieces of so many columns need.
fn too_little(memory: u64, least: u64, n_columns: usize) -> Error {
    let least = least.div_ceil(1 << 20);
    let expected = format!("at least {least} MiB, for pieces of {BATCH_ROWS} rows of {n_columns} columns");
    fewest_core::Error::parameter("memory", bytes_text(memory), expected).into()
}

/// Numbers of a piece.
fn cells(memory: u64) -> u64 {
    memory.saturating_sub(BESIDE) / PIECES / 8
}

/// What the first rows tell.
#[derive(Debug, Clone, Default)]
struct Known {
    columns: Vec<usize>,
    kinds: Option<Vec<FeatureKind>>,
    found: Option<TargetFound>,
    /// These rows.
    first: Option<Complete>,
}

/// The rows of a table, piece by piece: a [`SampleStream`] that starts again as often as it is asked to.
///
/// Pieces depend on the memory, on files and on groups of rows; sums over rows do not, since they are taken
/// over batches by the numbers of the rows ([`fewest_core::Accumulator`]).
pub struct Rows {
    path: PathBuf,
    pieces: Box<dyn Pieces>,
    /// With the features that come, where these are some of all.
    options: ReadOptions,
    /// The column with the names of the samples, which is read where they are written.
    id: Option<String>,
    /// The columns of all features.
    features: Vec<usize>,
    /// So many come at a time.
    width: usize,
    /// So many have come, with those that come now.
    n_taken: usize,
    missing: Missing,
    /// Before the first look.
    asked_task: Task,
    /// The columns of features that number the rows.
    row_numbers: Vec<usize>,
    guess: Option<Guess>,
    /// About so many rows make a piece.
    rows: usize,
    /// Columns of a piece that are no features.
    n_others: usize,
    /// Values of such a piece.
    n_cells: usize,
    looked: Looked,
    known: Known,
    n_passes: usize,
    n_read: u64,
    /// Rows of a whole pass, without those that were left out, and these.
    n_used: Option<(usize, usize)>,
    /// Of the rows that were used, how many are of each class; before a pass was complete unknown.
    of_classes: Option<Vec<usize>>,
    /// The same of this pass.
    counted: (usize, usize),
    counted_of: Vec<usize>,
    at: At,
    /// The rows that are read, where these are not all.
    part: Option<part::OwnRows>,
    failure: Option<Error>,
}

/// Where a pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    Rows,
    End,
}

impl Rows {
    /// The first rows, with all that is known of columns: names, kinds with the levels of all rows, the
    /// target with all classes. `None` where each of them is left out, and of a [part](Passes::part). Of
    /// features that come in parts no value is known: all are 0.
    pub fn first(&self) -> Option<&Complete> {
        self.known.first.as_ref()
    }

    /// The number of the first feature that comes now, of those that come in parts.
    pub fn first_feature(&self) -> usize {
        self.options.features.as_ref().and_then(|features| features.first()).copied().unwrap_or(0)
    }

    /// In how many parts the features come, see [`SampleStream::next_part`].
    pub fn n_parts(&self) -> usize {
        self.features.len().div_ceil(self.width)
    }

    /// How the target was found, where no option names it; not of a [part](Passes::part).
    pub fn guess(&self) -> Option<TargetFound> {
        self.known.found
    }

    /// The classes, each with its number of rows: before a pass was complete with those that are left out.
    pub fn class_counts(&self) -> Vec<(String, usize)> {
        let Some(classes) = &self.looked.classes else { return Vec::new() };
        let counts = match &self.of_classes {
            Some(counts) => (0..classes.names().len()).map(|c| counts.get(c).copied().unwrap_or(0)).collect(),
            None => classes.counts(),
        };
        classes.names().iter().cloned().zip(counts).collect()
    }

    /// How often the rows were read, also in part, with the pass that decided what columns hold; without
    /// those in which [`known`](Rows::known) counts rows.
    pub fn n_passes(&self) -> usize {
        self.n_passes
    }

    /// Rows that were read in all of these passes together.
    pub fn n_read(&self) -> u64 {
        self.n_read
    }

    /// Rows of a pass that were used, and that were left out; `None` before a pass was complete.
    pub fn n_used(&self) -> Option<(usize, usize)> {
        self.n_used
    }

    /// What failed in [`next_batch`](SampleStream::next_batch) or [`rewind`](SampleStream::rewind), whose
    /// errors say less.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Reads a few rows, and starts again.
    fn know(&mut self) -> Result<(), Error> {
        self.pieces.rewind()?;
        self.skip()?;
        let next = self.pieces.next(BATCH_ROWS, &self.options);
        let Some(first) = next.map_err(|error| roles::explain(self.guess, error))? else {
            let problem = "there is no sample in it";
            return Err(Error::malformed(&self.path, crate::Place::File, problem, "check how it was made"));
        };
        let n_features = first.n_features();
        let columns = (0..n_features).filter_map(|j| first.column_label(j).number).collect();
        self.known.found = first.guess();
        self.know_columns(columns);
        // Missing values are told where they are read with the others.
        let first = self.unified(first)?.complete(Missing::DropRows).ok();
        let classed = |first: Complete| {
            Ok::<_, Error>(Complete { dataset: self.classed(first.dataset, &self.path, 0)?, ..first })
        };
        let first = first.map(classed).transpose()?;
        self.known.first = match first {
            Some(first) if self.n_parts() > 1 => Some(self.widened(first)?),
            first => first,
        };
        self.pieces.rewind()
    }

    fn know_columns(&mut self, columns: Vec<usize>) {
        let kinds: Vec<FeatureKind> = columns.iter().map(|column| self.looked.kind(*column)).collect();
        let is_plain = kinds.iter().all(|kind| *kind == FeatureKind::Numeric);
        (self.known.columns, self.known.kinds) = (columns, (!is_plain).then_some(kinds));
    }

    /// The first rows of one part, with the names and kinds of all features.
    fn widened(&self, first: Complete) -> Result<Complete, Error> {
        let zeros = |_: usize, values: &mut [f64]| {
            values.fill(0.0);
            Ok(())
        };
        let n_features = self.features.len();
        let zeros = OnDemand::new(first.dataset.n_samples(), n_features, zeros);
        let mut dataset = Dataset::new(zeros, first.dataset.target().clone())?
            .with_feature_kinds(self.features.iter().map(|column| self.looked.kind(*column)).collect())?;
        if let Some(names) = self.pieces.names().filter(|_| first.named) {
            let names = self.features.iter().filter_map(|&column| names.get(column));
            dataset = dataset.with_feature_names(names.map(|name| name.trim().to_owned()).collect())?;
        }
        Ok(Complete { dataset, columns: self.features.clone(), ..first })
    }

    fn next(&mut self) -> Result<Option<Dataset>, Error> {
        match self.at {
            At::Start => {
                (self.at, self.n_passes) = (At::Rows, self.n_passes + 1);
                self.skip()?;
            }
            At::Rows => {}
            At::End => return Ok(None),
        }
        loop {
            let next = match self.rows_to_read() {
                0 => Ok(None),
                rows => self.pieces.next(rows, &self.options),
            };
            let Some(table) = next.map_err(|error| roles::explain(self.guess, error))? else {
                self.at = At::End;
                let counted = std::mem::take(&mut self.counted);
                self.of_classes = Some(std::mem::take(&mut self.counted_of));
                self.check_part(counted.0)?;
                return match *self.n_used.get_or_insert(counted) {
                    (0, n_samples) => Err(Error::NothingLeft { path: self.path.clone(), n_samples }),
                    before if before == counted => Ok(None),
                    _ => Err(pieces::changed(&self.path)),
                };
            };
            let own = self.own(table.n_samples());
            if own.is_empty() {
                continue;
            }
            let n_samples = own.len();
            self.n_read += n_samples as u64;
            let (path, first_row) = (table.path().to_owned(), table.first_row);
            let table = self.unified(table)?;
            match table.complete(self.missing) {
                Ok(Complete { dataset, dropped, .. }) => {
                    // Of rows that are left out none is in the data.
                    let kept = |row: usize| row - dropped.partition_point(|gone| *gone < row);
                    let complete = kept(own.start)..kept(own.end);
                    let used = self.used(complete.len());
                    self.counted.0 += used.len();
                    self.counted.1 += n_samples - complete.len();
                    if used.is_empty() {
                        continue;
                    }
                    let data = match used.len() == dataset.n_samples() {
                        true => dataset,
                        false => {
                            let rows = complete.start + used.start..complete.start + used.end;
                            dataset.subset(&rows.collect::<Vec<_>>())?
                        }
                    };
                    let data = self.classed(data, &path, first_row)?;
                    add_classes(&mut self.counted_of, &data);
                    return Ok(Some(data));
                }
                // Other pieces may have rows to keep.
                Err(Error::NothingLeft { .. } | Error::AllMissing { .. })
                    if self.missing == Missing::DropRows =>
                {
                    self.counted.1 += n_samples;
                }
                Err(Error::MissingValue { path, place }) => {
                    // Which rows are complete no part of the features tells.
                    let instead = match self.n_parts() {
                        0 | 1 => "--missing drop-rows, or mean|median with --memory for the whole table",
                        _ => "--missing drop-rows|mean|median, with more --memory",
                    };
                    return Err(Error::MissingInPasses { path, place, instead });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The table with the levels of all rows.
    fn unified(&self, mut table: Table) -> Result<Table, Error> {
        if table.n_features() != self.known.columns.len() {
            return Err(pieces::changed(&self.path));
        }
        let Some(kinds) = &self.known.kinds else {
            return match table.kinds {
                Some(_) => Err(pieces::changed(&self.path)),
                None => Ok(table),
            };
        };
        for (j, (&column, kind)) in self.known.columns.iter().zip(kinds).enumerate() {
            let own = match table.feature_kind(j) {
                FeatureKind::Categorical { levels } => levels.clone(),
                _ => continue,
            };
            let all = match kind {
                FeatureKind::Categorical { .. } => self.looked.levels.get(&column),
                _ => None,
            };
            let Some(all) = all else { return Err(pieces::changed(&self.path)) };
            let codes: Option<Vec<f64>> = own.iter().map(|name| all.code(name)).collect();
            let Some(codes) = codes else { return Err(pieces::changed(&self.path)) };
            table.recode(j, &codes);
        }
        table.kinds = Some(kinds.clone());
        Ok(table)
    }

    /// The data with the classes of all rows.
    fn classed(&self, data: Dataset, path: &Path, first_row: usize) -> Result<Dataset, Error> {
        let (Target::Class(own), Some(all)) = (data.target(), &self.looked.classes) else { return Ok(data) };
        let code = |name: &String| all.code(name).map(|code| code as u32);
        let Some(codes) = own.names().iter().map(code).collect::<Option<Vec<u32>>>() else {
            return Err(pieces::changed(path).behind(first_row, 0));
        };
        let codes = own.codes().iter().map(|&own| codes[own as usize]).collect();
        let target = Target::classes(codes, all.names().to_vec())?;
        Ok(data.with_target(target)?)
    }

    /// The error for a stream, which names no file; it is kept.
    fn fail(&mut self, error: Error) -> fewest_core::Error {
        let told = match &error {
            Error::Core(error) => error.clone(),
            error => fewest_core::Error::unreadable(0, error),
        };
        self.failure = Some(error);
        told
    }
}

impl SampleStream for Rows {
    fn next_batch(&mut self) -> Result<Option<Dataset>, fewest_core::Error> {
        self.next().map_err(|error| self.fail(error))
    }

    fn rewind(&mut self) -> Result<bool, fewest_core::Error> {
        self.start_again().map(|()| true).map_err(|error| self.fail(error))
    }

    fn next_part(&mut self) -> Result<bool, fewest_core::Error> {
        let next = self.n_taken..self.features.len().min(self.n_taken + self.width);
        let Some(columns) = self.features.get(next.clone()).filter(|columns| !columns.is_empty()) else {
            return Ok(false);
        };
        self.know_columns(columns.to_vec());
        self.n_taken = next.end;
        self.options.features = Some(next.collect());
        self.rewind()
    }

    fn take_features(&mut self, features: &[usize]) -> Result<bool, fewest_core::Error> {
        // Which rows are left out, all features decide.
        if self.missing == Missing::DropRows {
            return Ok(false);
        }
        let column = |&feature: &usize| {
            let missing = || {
                let expected = format!("below {}, the number of features", self.features.len());
                fewest_core::Error::parameter("feature", feature, expected)
            };
            self.features.get(feature).copied().ok_or_else(missing)
        };
        let columns = features.iter().map(column).collect::<Result<_, _>>()?;
        // Of text all columns are read, however few are wanted.
        if self.pieces.n_rows().1 {
            let batches = self.n_cells / BATCH_ROWS / (features.len() + self.n_others).max(1);
            self.rows = batches.clamp(1, MOST_BATCHES) * BATCH_ROWS;
        }
        self.know_columns(columns);
        self.n_taken = self.features.len();
        self.options.features = Some(features.to_vec());
        self.rewind()
    }
}

/// Adds how many rows are of each class.
fn add_classes(counts: &mut Vec<usize>, data: &Dataset) {
    let Target::Class(classes) = data.target() else { return };
    counts.resize(classes.names().len().max(counts.len()), 0);
    counts.iter_mut().zip(classes.counts()).for_each(|(count, more)| *count += more);
}

impl Table {
    /// Gives feature `j` other codes, by the codes it has.
    fn recode(&mut self, j: usize, codes: &[f64]) {
        if let crate::table::Features::Dense { columns, .. } = &mut self.features
            && let Some(values) = columns.get_mut(j)
        {
            let present = values.iter_mut().filter(|value| !value.is_nan());
            present.for_each(|value| *value = codes.get(*value as usize).copied().unwrap_or(f64::NAN));
        }
    }
}
