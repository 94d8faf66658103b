//! Lines that are appended to a file, each with a hash of itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Place, digest, write_atomically};

/// A file of JSON objects, a line each, which only grows.
///
/// A line is in the file as soon as it was appended, so that a run that is killed loses no line before. It
/// starts with the SHA-256 of its rest: an edited line is refused. Several processes may append to one file;
/// the last line of one that was killed while it wrote is left out, and removed before the next is written.
///
/// ```
/// use fewest_data::Journal;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("steps.json");
/// let journal = Journal::new(&path);
/// assert!(journal.read()?.is_empty());
/// journal.append(r#"{"step":1}"#)?;
/// journal.append(r#"{"step":2}"#)?;
/// assert_eq!(journal.read()?, [r#"{"step":1}"#, r#"{"step":2}"#]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    path: PathBuf,
}

/// What each line starts with; 64 hexadecimal digits and [`MIDDLE`] follow.
const START: &str = "{\"sha256\":\"";
/// What stands between the hash and the rest of the line, which is hashed.
const MIDDLE: &str = "\",";

impl Journal {
    /// The journal in this file, which need not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The objects, as they were appended; none where there is no file yet, or an empty one.
    ///
    /// # Errors
    /// [`Error::Io`] with the system's reason, [`Error::Unsupported`] for anything but a regular file,
    /// [`Error::Malformed`] for a line that was edited or is of something else.
    pub fn read(&self) -> Result<Vec<String>, Error> {
        let path = &self.path;
        let unreadable = |error| Error::reading(path, error);
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
            // Others may never end, as `/dev/full`, or never begin, as a pipe.
            Ok(metadata) if !metadata.is_file() => {
                return Err(Error::unsupported(path, "this is not a regular file", "name a new file"));
            }
            Ok(_) => {}
        }
        let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
        let mut objects = Vec::new();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            // A file of something else may be one long line.
            reader.by_ref().take(START.len() as u64).read_to_end(&mut line).map_err(unreadable)?;
            if line.starts_with(START.as_bytes()) {
                reader.read_until(b'\n', &mut line).map_err(unreadable)?;
            }
            let object = match line.strip_suffix(b"\n") {
                Some(whole) => object(whole),
                None if is_begun(&line) => break,
                None => Err(FOREIGN),
            };
            let wrong = |(problem, advice)| Error::malformed(path, Place::Line(number), problem, advice);
            objects.push(object.map_err(wrong)?);
        }
        Ok(objects)
    }

    /// Leaves this JSON object alone in the file, as [`write_atomically`](crate::write_atomically) does: a
    /// reader finds it, or what was there before.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn replace(&self, object: &str) -> Result<(), Error> {
        write_atomically(&self.path, &line(object)?)
    }

    /// Appends a JSON object, written on one line.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for what is no object on one line; [`Error::Io`] with the
    /// system's reason.
    pub fn append(&self, object: &str) -> Result<(), Error> {
        append(&self.path, &line(object)?).map_err(|error| Error::writing(&self.path, error))
    }
}

/// A line with its hash.
fn line(object: &str) -> Result<Vec<u8>, Error> {
    let rest = object.strip_prefix('{').filter(|rest| rest.ends_with('}') && !rest.contains(['\n', '\r']));
    let Some(rest) = rest else {
        return Err(fewest_core::Error::parameter("object", "text", "a JSON object on one line").into());
    };
    Ok(format!("{START}{}{MIDDLE}{rest}\n", digest::of_bytes(rest.as_bytes())).into_bytes())
}

/// The problem with a line of something else, and what to do.
const FOREIGN: (&str, &str) = ("the line was not written by this program", "name a new file");

/// Whether a line without its end may have been begun by [`Journal::append`].
fn is_begun(line: &[u8]) -> bool {
    line.starts_with(START.as_bytes()) || START.as_bytes().starts_with(line)
}

/// The object in a line without its line feed.
fn object(line: &[u8]) -> Result<String, (&'static str, &'static str)> {
    let (hash, rest) =
        line.strip_prefix(START.as_bytes()).and_then(|rest| rest.split_at_checked(64)).ok_or(FOREIGN)?;
    let rest = rest.strip_prefix(MIDDLE.as_bytes()).ok_or(FOREIGN)?;
    match std::str::from_utf8(rest) {
        Ok(text) if digest::of_bytes(rest).as_bytes() == hash => Ok(format!("{{{text}")),
        _ => Err(("the line was changed after it was written", "remove it, or name a new file")),
    }
}

/// Appends a whole line, while no other process does.
fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    match file.lock() {
        // Some network file systems have no locks: one write at the end is all that is left to do.
        Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    remove_begun_line(&mut file)?;
    // In one call, so that what a kill leaves is the beginning of a line. The lock ends with the file.
    file.write_all(line)
}

/// Removes what stands behind the last line feed.
fn remove_begun_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut end = length;
    let mut chunk = Vec::new();
    while end > 0 {
        // Nearly always the last byte tells.
        let start = end.saturating_sub(if end == length { 1 } else { 1 << 16 });
        file.seek(SeekFrom::Start(start))?;
        chunk.clear();
        Read::by_ref(file).take(end - start).read_to_end(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|&byte| byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end == length {
        return Ok(());
    }
    file.seek(SeekFrom::Start(end))?;
    chunk.clear();
    Read::by_ref(file).take(START.len() as u64).read_to_end(&mut chunk)?;
    if !is_begun(&chunk) {
        return Err(io::Error::other("its last line was not written by this program"));
    }
    file.set_len(end)
}
