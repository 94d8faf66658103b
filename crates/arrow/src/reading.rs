//! A table from one file or many, whatever their format.

use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fewest_data::{
    Cells, ColumnLabel, Content, Error, Folder, Format, Limit, Place, ReadOptions, Source, Table, Wanted,
};
use parquet::errors::ParquetError;

use crate::builder::{Builder, Cell};
use crate::bytes_at::BytesAt;
use crate::kind::Kind;

/// The name under which pandas stores the names of rows.
pub(crate) const ROW_NAMES: &str = "__index_level_0__";

const AGAIN: &str = "copy the file again, or write it again";

const OTHER: &str = "say what it is by its ending (on the command line: --format, such as csv)";

/// A column of a file: its name, and its kind, or what it holds that is no column of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Result<Kind, &'static str>,
}

/// A file of columns.
pub(crate) trait File: Sized + Send + Sync {
    const FORMAT: Format;
    /// Its name, for messages.
    const NAME: &'static str;
    /// The bytes that such files begin with.
    const FIRST_BYTES: &'static [u8];

    /// What a file tells of its columns before their values.
    type Footer: Send + Sync + 'static;

    fn footer(bytes: &BytesAt) -> Result<Self::Footer, Stop>;

    /// Bytes of memory that it takes.
    fn footer_bytes(footer: &Self::Footer) -> u64;

    /// The file with this footer.
    fn with_footer(footer: Arc<Self::Footer>, bytes: BytesAt, limit: Limit) -> Self;

    fn fields(&self) -> &[Field];

    /// The number of rows that the file declares.
    fn rows(&self) -> u64;

    /// Whether the next rows of so many columns are read without beginning again, with what is held in
    /// between in `bytes` of memory.
    fn goes_on(&self, _n_columns: usize, _bytes: u64) -> bool {
        false
    }

    /// Fetches what these rows of columns need, where that lies elsewhere.
    fn fetch(&self, columns: &[usize], rows: &Range<u64>) -> Result<(), Stop>;

    /// Adds these rows of a column, piece by piece, and calls `check` after each.
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        out: &mut Builder,
        check: &mut Check<'_>,
    ) -> Result<(), Stop>;
}

/// What counts the memory of a column.
pub(crate) type Check<'a> = dyn FnMut(&Builder) -> Result<(), Error> + 'a;

/// Why reading ends.
pub(crate) enum Stop {
    /// The file is damaged, in words for a message.
    Damage(String),
    /// It cannot be read.
    Unreadable(io::Error),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl Stop {
    pub(crate) fn damage(error: impl Display) -> Self {
        Stop::Damage(error.to_string())
    }

    /// Of bytes that cannot be read: a file that ends too early is damaged.
    pub(crate) fn reading(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Stop::damage(error),
            _ => Stop::Unreadable(error),
        }
    }

    pub(crate) fn parquet(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Stop::reading(*error),
                Err(other) => Stop::damage(other),
            },
            other => Stop::damage(other),
        }
    }
}

/// Reads one file.
pub(crate) fn read<F: File>(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let path = source.path().to_owned();
    let first = open::<F>(&path, source.into_content(options)?, options)?;
    let fields = first.fields().to_vec();
    let parts = vec![Part { path: &path, rows: first.rows(), values: &[] }];
    Parts { path: &path, fields, first, parts, keys: &[], open: &|_| Ok(None) }.table(options)
}

/// Reads the parts of a table one below the other.
pub(crate) fn read_folder<F: File>(folder: Folder, options: &ReadOptions) -> Result<Table, Error> {
    let open_part = |number: usize| {
        let part = &folder.parts()[number];
        open::<F>(part.path(), part.content(options)?, options)
    };
    let first = open_part(0)?;
    let mut fields = first.fields().to_vec();
    let listed = folder.parts().iter();
    let mut parts: Vec<Part<'_>> =
        listed.map(|part| Part { path: part.path(), rows: first.rows(), values: part.values() }).collect();
    for number in 1..parts.len() {
        let part = open_part(number)?;
        agree((parts[0].path, &mut fields), (parts[number].path, part.fields()))?;
        parts[number].rows = part.rows();
    }
    // Not all are kept open: there may be more than the system allows.
    let again = |number: usize| match number {
        0 => Ok(None),
        _ => open_part(number).map(Some),
    };
    let (path, keys, open) = (folder.path(), folder.keys(), &again);
    Parts { path, fields, first, parts, keys, open }.table(options)
}

/// Of `len` rows from `first` on, those of `rows`: how many come before them, and how many they are.
pub(crate) fn within(first: u64, len: u64, rows: &Range<u64>) -> (usize, usize) {
    let from = rows.start.clamp(first, first + len);
    let to = rows.end.clamp(from, first + len);
    ((from - first) as usize, (to - from) as usize)
}

pub(crate) fn open<F: File>(path: &Path, content: Content, options: &ReadOptions) -> Result<F, Error> {
    Ok(open_known(path, content, options, None)?.0)
}

/// A file whose footer is known, or is read.
pub(crate) fn open_known<F: File>(
    path: &Path,
    content: Content,
    options: &ReadOptions,
    known: Option<Arc<F::Footer>>,
) -> Result<(F, Arc<F::Footer>), Error> {
    let limit = Limit::of(path, options);
    let bytes = BytesAt::new(content).map_err(|error| Error::reading(path, error))?;
    let footer = match known {
        Some(known) => known,
        None => Arc::new(footer::<F>(path, &bytes)?),
    };
    Ok((F::with_footer(footer.clone(), bytes, limit), footer))
}

fn footer<F: File>(path: &Path, bytes: &BytesAt) -> Result<F::Footer, Error> {
    fenced(|| F::footer(bytes)).map_err(|stop| {
        let first = bytes.bytes(0, F::FIRST_BYTES.len() as u64);
        let is_other = first.is_ok_and(|first| first != F::FIRST_BYTES);
        match stop {
            Stop::Damage(_) if is_other => {
                let problem = format!("the {} file cannot be read: it does not begin like one", F::NAME);
                Error::malformed(path, Place::File, problem, OTHER)
            }
            stop => told::<F>(path, stop),
        }
    })
}

thread_local! {
    static IS_DECODING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Makes a panic while a file is decoded, which becomes an error that says what is wrong, print nothing. For
/// the start of a program: it changes what the whole program does about panics, and leaves all others as
/// they are.
pub fn hush_decoders() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !IS_DECODING.get() {
            hook(panic);
        }
    }));
}

/// The crates that decode files may panic on damaged ones, which is an error like any other where the program
/// unwinds.
pub(crate) fn fenced<T>(work: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    let before = IS_DECODING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_DECODING.set(before);
    result.unwrap_or_else(|panic| {
        let text =
            panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
        let what = text.and_then(|text| text.lines().next()).unwrap_or("its decoder does not say how");
        Err(Stop::damage(format!("it is damaged: {what}")))
    })
}

pub(crate) fn told<F: File>(path: &Path, stop: Stop) -> Error {
    match stop {
        Stop::Error(error) => error,
        Stop::Unreadable(error) => Error::reading(path, error),
        Stop::Damage(damage) => {
            let problem = format!("the {} file cannot be read ({damage})", F::NAME);
            Error::malformed(path, Place::File, problem, AGAIN)
        }
    }
}

/// An error unless a part has the columns of the first, of the same kinds.
pub(crate) fn agree(
    (first, known): (&Path, &mut [Field]),
    (path, found): (&Path, &[Field]),
) -> Result<(), Error> {
    let advice = "write all parts with the same columns, or leave this part out";
    let differs = |place, problem| Err(Error::malformed(path, place, problem, advice));
    let first = first.display();
    if found.len() != known.len() {
        return differs(Place::File, format!("{} columns, but {first} has {}", found.len(), known.len()));
    }
    for (column, (known, found)) in known.iter_mut().zip(found).enumerate() {
        let place = || {
            let name = Some(found.name.clone());
            Place::Column(ColumnLabel { name, number: Some(column) })
        };
        if known.name != found.name {
            return differs(place(), format!("the column is called `{}` in {first}", known.name));
        }
        known.kind = match (known.kind, found.kind) {
            (Ok(one), Ok(other)) if one.fits(other) => Ok(one.with(other)),
            (Err(one), Err(other)) if one == other => Err(one),
            (one, other) => {
                let words = |kind: Result<Kind, &'static str>| kind.map_or_else(|what| what, Kind::words);
                let problem = format!("the column holds {}, but {} in {first}", words(other), words(one));
                return differs(place(), problem);
            }
        };
    }
    Ok(())
}

/// A file of several.
pub(crate) struct Part<'a> {
    pub(crate) path: &'a Path,
    pub(crate) rows: u64,
    /// The values of the keys.
    pub(crate) values: &'a [Option<String>],
}

/// Files with the same columns, of which the first is open.
struct Parts<'a, F> {
    path: &'a Path,
    fields: Vec<Field>,
    first: F,
    parts: Vec<Part<'a>>,
    /// The names of columns that are not in the files, but in the names of their folders.
    keys: &'a [String],
    /// Opens a part that is not open.
    open: &'a (dyn Fn(usize) -> Result<Option<F>, Error> + Sync),
}

impl<F: File> Parts<'_, F> {
    fn table(self, options: &ReadOptions) -> Result<Table, Error> {
        let names: Vec<String> =
            self.fields.iter().map(|field| &field.name).chain(self.keys).cloned().collect();
        let row_names = || names.iter().any(|name| name == ROW_NAMES).then(|| ROW_NAMES.to_owned());
        let options = &ReadOptions { id: options.id.clone().or_else(row_names), ..options.clone() };
        let limit = Limit::of(self.path, options);
        Table::from_reader(self.path, F::FORMAT, names, options, |wanted| self.read(wanted, &limit))
    }

    fn read(&self, wanted: &[Wanted], limit: &Limit) -> Result<Vec<Cells>, Error> {
        check_kinds(self.path, &self.fields, wanted)?;
        let rows = self.parts.iter().map(|part| part.rows).fold(0, u64::saturating_add);
        limit.check(rows.saturating_mul(wanted.len() as u64).saturating_mul(8))?;
        let used = AtomicU64::new(0);
        // A part is opened once for all columns of a group: parts are many, or columns are.
        let groups = if self.parts.len() == 1 { wanted.len() } else { fewest_parallel::n_threads() };
        let size = wanted.len().div_ceil(groups.max(1)).max(1);
        let groups: Vec<&[Wanted]> = wanted.chunks(size).collect();
        let read = fewest_parallel::try_map(groups.len(), |group| self.group(groups[group], limit, &used))?;
        Ok(read.into_iter().flatten().map(Builder::finish).collect())
    }

    /// Some columns of all parts.
    fn group(&self, wanted: &[Wanted], limit: &Limit, used: &AtomicU64) -> Result<Vec<Builder>, Error> {
        let builder = |wanted: &Wanted| builder(&self.fields, wanted);
        let mut builders: Vec<Builder> = wanted.iter().map(builder).collect();
        let mut counted = vec![0; builders.len()];
        for (number, part) in self.parts.iter().enumerate() {
            let opened = (self.open)(number)?;
            let file = opened.as_ref().unwrap_or(&self.first);
            for ((wanted, builder), counted) in wanted.iter().zip(&mut builders).zip(&mut counted) {
                let mut check = |builder: &Builder| {
                    let bytes = builder.bytes();
                    let more = bytes - *counted;
                    *counted = bytes;
                    limit.check(used.fetch_add(more, Ordering::Relaxed).saturating_add(more))
                };
                add_rows((file, &self.fields), part, wanted.column, 0..part.rows, builder, &mut check)?;
            }
        }
        Ok(builders)
    }
}

/// An error for the first column that holds neither numbers nor text.
pub(crate) fn check_kinds(path: &Path, fields: &[Field], wanted: &[Wanted]) -> Result<(), Error> {
    for &Wanted { column, .. } in wanted {
        if let Some(Field { name, kind: Err(what) }) = fields.get(column) {
            let label = ColumnLabel { name: Some(name.clone()), number: Some(column) };
            let problem = format!("the column holds {what}, which are neither numbers nor text");
            let advice = "write what you need of it as columns of their own, or leave it out (on the \
                          command line: --ignore)";
            return Err(Error::malformed(path, Place::Column(label), problem, advice));
        }
    }
    Ok(())
}

/// A column without a cell, of these fields or of the keys behind them.
pub(crate) fn builder(fields: &[Field], wanted: &Wanted) -> Builder {
    let kind = match fields.get(wanted.column) {
        Some(field) => field.kind.unwrap_or(Kind::Nothing),
        None => Kind::Category,
    };
    Builder::new(kind, wanted.as_text)
}

/// Fetches what these rows of columns need, where that lies elsewhere.
pub(crate) fn fetch<F: File>(
    file: &F,
    path: &Path,
    wanted: &[Wanted],
    rows: &Range<u64>,
) -> Result<(), Error> {
    let columns: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
    fenced(|| file.fetch(&columns, rows)).map_err(|stop| told::<F>(path, stop))
}

/// Adds these rows of a part to a column.
pub(crate) fn add_rows<F: File>(
    (file, fields): (&F, &[Field]),
    part: &Part<'_>,
    column: usize,
    rows: Range<u64>,
    builder: &mut Builder,
    check: &mut Check<'_>,
) -> Result<(), Error> {
    let start = builder.len();
    match column.checked_sub(fields.len()) {
        None => fenced(|| file.read(column, rows.clone(), builder, check))
            .map_err(|stop| told::<F>(part.path, stop))?,
        Some(key) => {
            // One text for all rows, of which the files of this part hold so many.
            let text = part.values.get(key).and_then(Option::as_deref);
            let cell = text.map_or(Cell::Missing, Cell::Text);
            rows.clone().for_each(|_| builder.push(cell));
            check(builder)?;
        }
    }
    let (read, declared) = ((builder.len() - start) as u64, rows.end - rows.start);
    if read != declared {
        let name = fields.get(column).map_or("", |field| &field.name);
        let damage = format!("column `{name}` has {read} rows, but {declared} are declared");
        return Err(told::<F>(part.path, Stop::Damage(damage)));
    }
    Ok(())
}
