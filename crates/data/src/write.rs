//! Files that are written completely or not at all.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fewest_core::{Dataset, FeatureKind, Target};
use serde::Serialize;

use crate::Error;
use crate::error::quoted;
use crate::levels::number_text;

/// Writes `bytes` to `path`: first to a temporary file in the same folder, which then replaces the old file.
/// A reader finds the old or the new content, never a part; after a failure the old content remains. Anything
/// but a regular file, such as a pipe or `/dev/stdout`, is written directly.
///
/// # Errors
/// [`Error::Io`] with the system's reason.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    let path = path.as_ref();
    write_through(path, |out| out.write_all(bytes).map_err(|error| Error::writing(path, error)))
}

/// Writes `value` as indented JSON with a newline at the end, as [`write_atomically`] does.
///
/// # Errors
/// [`Error::Io`] with the system's reason.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("fewest-json-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("answer.json");
/// fewest_data::write_json(&path, &[1, 2])?;
/// assert_eq!(std::fs::read_to_string(&path)?, "[\n  1,\n  2\n]\n");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_json(path: impl AsRef<Path>, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    let path = path.as_ref();
    write_through(path, |out| {
        let written = serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from);
        written.and_then(|()| out.write_all(b"\n")).map_err(|error| Error::writing(path, error))
    })
}

/// Writes some features of a data set and its target as CSV, as [`write_atomically`] does: a header, then one
/// line per sample.
///
/// The columns are the sample ids where there are some (under their name; without one under an empty name, as
/// R and pandas write row names and [`Table::read`](crate::Table::read) understands them), `features` in the
/// order given, and the target's columns, called by `target_names` (`target`, `target1`, … where there are
/// fewer names than columns). Categories and classes are written by name; numbers read back as the same
/// numbers, missing values as empty cells.
///
/// # Errors
/// [`fewest_core::Error::InvalidParameter`] for a feature out of range or two columns of one name,
/// [`fewest_core::Error::UnsupportedTarget`] for affinities, [`Error::Io`] with the system's reason.
pub fn write_csv(
    path: impl AsRef<Path>,
    dataset: &Dataset,
    features: &[usize],
    target_names: &[String],
) -> Result<(), Error> {
    let mut columns = Some(written_columns(dataset, features, target_names)?);
    write_csv_pieces(path.as_ref(), &mut || Ok(columns.take()))
}

/// Writes the rows of a table as CSV, piece after piece.
pub(crate) fn write_csv_pieces(path: &Path, next: NextPiece<'_>) -> Result<(), Error> {
    write_through(path, |out| csv_pieces(path, out, next))
}

/// The text that [`write_csv`] writes, for a stream that is no file.
///
/// # Errors
/// As [`write_csv`].
pub fn csv_text(dataset: &Dataset, features: &[usize], target_names: &[String]) -> Result<Vec<u8>, Error> {
    let mut columns = Some(written_columns(dataset, features, target_names)?);
    let mut text = Vec::new();
    csv_pieces(Path::new("-"), &mut text, &mut || Ok(columns.take()))?;
    Ok(text)
}

/// The columns of a table that is written, with their names, as [`write_csv`] says.
///
/// # Errors
/// As [`write_csv`], but for those of the system.
pub(crate) fn written_columns(
    dataset: &Dataset,
    features: &[usize],
    target_names: &[String],
) -> Result<Vec<(String, Written)>, Error> {
    let mut columns = Vec::new();
    if let Some(ids) = dataset.sample_ids() {
        let name = dataset.sample_id_name().unwrap_or_default();
        columns.push((name.to_owned(), Written::Texts(ids.to_vec())));
    }
    for &j in features {
        if j >= dataset.n_features() {
            let expected = format!("below the number of features, {}", dataset.n_features());
            return Err(fewest_core::Error::parameter("feature", j, expected).into());
        }
        let mut values = vec![0.0; dataset.n_samples()];
        dataset.x().copy_column(j, &mut values)?;
        let column = match dataset.feature_kind(j) {
            FeatureKind::Categorical { levels } => Written::Levels(values, levels.clone()),
            _ => Written::Numbers(values),
        };
        columns.push((dataset.feature_name(j), column));
    }
    let target_name = |output: usize| match (target_names.get(output), output) {
        (Some(name), _) => name.clone(),
        (None, 0) => "target".to_owned(),
        (None, output) => format!("target{output}"),
    };
    match dataset.target() {
        Target::None => {}
        Target::Real(outputs) => columns.extend(
            (0..outputs.n_outputs())
                .map(|output| (target_name(output), Written::Numbers(outputs.output(output).to_vec()))),
        ),
        Target::Survival(survival) => {
            let events = survival.events().iter().map(|event| f64::from(*event)).collect();
            columns.push((target_name(0), Written::Numbers(survival.times().to_vec())));
            columns.push((target_name(1), Written::Numbers(events)));
        }
        Target::Class(classes) => {
            let codes = classes.codes().iter().map(|&code| f64::from(code)).collect();
            columns.push((target_name(0), Written::Levels(codes, classes.names().to_vec())));
        }
        other => {
            return Err(fewest_core::Error::UnsupportedTarget {
                method: "CSV",
                expected: "classes, real outputs or survival times",
                found: other.describe(),
            }
            .into());
        }
    }
    let mut seen = HashSet::new();
    if let Some((name, _)) = columns.iter().find(|(name, _)| !seen.insert(name.as_str())) {
        let expected = "different from all other columns of the table";
        return Err(fewest_core::Error::parameter("column name", quoted(name), expected).into());
    }
    Ok(columns)
}

fn csv_pieces(path: &Path, out: &mut dyn Write, next: NextPiece<'_>) -> Result<(), Error> {
    let failed = |error: io::Error| Error::writing(path, error);
    let mut writer = csv::Writer::from_writer(out);
    let mut is_first = true;
    while let Some(columns) = next()? {
        if std::mem::take(&mut is_first) {
            let names = columns.iter().map(|(name, _)| name);
            writer.write_record(names).map_err(|error| failed(error.into()))?;
        }
        write_rows(&mut writer, &columns).map_err(failed)?;
    }
    writer.flush().map_err(failed)
}

fn write_rows(writer: &mut csv::Writer<&mut dyn Write>, columns: &[(String, Written)]) -> io::Result<()> {
    let n_samples = columns.first().map_or(0, |(_, column)| column.n_samples());
    for i in 0..n_samples {
        for (_, column) in columns {
            writer.write_field(column.text(i))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// The next rows of a table that is written, as its columns with their names; `None` at the end. All pieces
/// have the same columns.
pub type NextPiece<'a> = &'a mut dyn FnMut() -> Result<Option<Vec<(String, Written)>>, Error>;

/// A column that is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// The names of the samples.
    Texts(Vec<String>),
    /// Numbers, NaN where missing.
    Numbers(Vec<f64>),
    /// Places in a list of levels, NaN where missing.
    Levels(Vec<f64>, Vec<String>),
}

impl Written {
    /// Number of rows.
    pub fn n_samples(&self) -> usize {
        match self {
            Written::Texts(texts) => texts.len(),
            Written::Numbers(values) | Written::Levels(values, _) => values.len(),
        }
    }

    /// Adds later rows of the same column.
    pub fn append(&mut self, later: Self) {
        match (self, later) {
            (Written::Texts(own), Written::Texts(more)) => own.extend(more),
            (Written::Numbers(own), Written::Numbers(more))
            | (Written::Levels(own, _), Written::Levels(more, _)) => own.extend(more),
            // All pieces of a table have the same columns.
            _ => {}
        }
    }

    fn text(&self, i: usize) -> String {
        match self {
            Written::Texts(texts) => texts[i].clone(),
            Written::Numbers(values) if values[i].is_nan() => String::new(),
            Written::Numbers(values) => number_text(values[i]),
            Written::Levels(codes, levels) => {
                let level = if codes[i].is_nan() { None } else { levels.get(codes[i] as usize) };
                level.cloned().unwrap_or_default()
            }
        }
    }
}

/// What `fill` writes becomes the content of `path`, completely or not at all, as [`write_atomically`] says.
///
/// # Errors
/// Those of `fill`, and [`Error::Io`] with the system's reason.
pub fn write_through(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |error| Error::writing(path, error);
    // Follows a symbolic link, so that its target is replaced, not the link.
    let target: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let mut out = BufWriter::new(fs::File::options().write(true).open(&target).map_err(failed)?);
        fill(&mut out)?;
        return out.flush().map_err(failed);
    }
    let (mut file, known) = temporary(&target).map_err(failed)?;
    // Removed if anything below fails.
    let mut out = BufWriter::new(file.as_file_mut());
    fill(&mut out)?;
    out.flush().map_err(failed)?;
    drop(out);
    file.as_file().sync_all().map_err(failed)?;
    let done = file.persist(&target).map(drop).map_err(|error| failed(error.error));
    drop(known);
    done
}

/// An empty file beside `path`.
fn temporary(path: &Path) -> io::Result<(tempfile::NamedTempFile, Unfinished)> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fewest-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file, restricted by the user's umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // Held until the file is known.
    let mut unfinished = all_unfinished();
    let Some(paths) = &mut *unfinished else { return Err(io::ErrorKind::Interrupted.into()) };
    // Its kind alone: the error would name that file, which nobody knows.
    let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    paths.push(file.path().to_owned());
    let known = Unfinished(file.path().to_owned());
    Ok((file, known))
}

/// Whether [`write_atomically`] could write here now: a computation of hours should not end in an output that
/// never could be written. Makes an empty file beside `path` and removes it.
///
/// # Errors
/// [`Error::Io`] with the system's reason, [`Error::Unsupported`] for a folder.
pub fn check_writable(path: impl AsRef<Path>) -> Result<(), Error> {
    let path = path.as_ref();
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let tried = match fs::metadata(&target) {
        Ok(metadata) if metadata.is_file() => {
            // Replacing a file that is write protected would go against what its owner wants.
            fs::File::options().write(true).open(&target).and_then(|_| temporary(&target))
        }
        Ok(metadata) if metadata.is_dir() => {
            return Err(Error::unsupported(path, "this is a folder", "name a file in it"));
        }
        // A pipe would wait for its reader.
        Ok(_) => return Ok(()),
        Err(_) => temporary(&target),
    };
    tried.map(drop).map_err(|error| Error::writing(path, error))
}

/// Files that [`write_atomically`] and its relatives are writing now; none may be begun any more once
/// [`remove_unfinished`] was called.
static UNFINISHED: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

fn all_unfinished() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file, known to [`remove_unfinished`] as long as this lives.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(paths) = &mut *all_unfinished() {
            paths.retain(|path| *path != self.0);
        }
    }
}

/// Removes the temporary files that are being written, for a program that is about to end in the middle: no
/// output can be written after that.
pub fn remove_unfinished() {
    for path in all_unfinished().take().unwrap_or_default() {
        // It may be finished by now: then there is nothing to remove.
        let _ = fs::remove_file(path);
    }
}
