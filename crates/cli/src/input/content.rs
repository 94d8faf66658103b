//! The input: a file, or a stream, which can be read only once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use fewest::data::{Error, ReadOptions, Table, physical_memory};

use crate::args::FileArgs;
use crate::failure::Failure;

/// The content of the data file; the content of a stream is stored, so that it can be read again.
pub(super) struct Content<'a> {
    path: &'a Path,
    stream: Option<Arc<[u8]>>,
}

impl<'a> Content<'a> {
    /// The file of the call, or stdin for `-`.
    pub(super) fn of(args: &'a FileArgs) -> Result<Self, Failure> {
        let path = args.file.as_path();
        // Columns may need twice the memory of the text, so the text may use at most half.
        let most = physical_memory().filter(|_| !args.allow_large).map_or(u64::MAX, |memory| memory / 2);
        let stream = if path.as_os_str() == "-" {
            Some(whole(io::stdin().lock(), path, most)?)
        } else if is_pipe(path) {
            let pipe = File::open(path).map_err(|error| unreadable(path, &error))?;
            Some(whole(pipe, path, most)?)
        } else {
            None
        };
        Ok(Self { path, stream })
    }

    /// The table that these options make of it.
    pub(super) fn table(&self, options: &ReadOptions) -> Result<Table, Error> {
        match &self.stream {
            Some(bytes) => Table::read_bytes(self.path, Arc::clone(bytes), options),
            None => Table::read(self.path, options),
        }
    }
}

fn whole(stream: impl Read, path: &Path, most: u64) -> Result<Arc<[u8]>, Failure> {
    let mut bytes = Vec::new();
    stream.take(most).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 == most {
        return Err(Failure::new(format!(
            "{}: the stream is more than half of the memory: save it to a file, or add --allow-large",
            path.display()
        )));
    }
    Ok(bytes.into())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: cannot be read: {error}", path.display()))
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// On other systems only stdin is a stream.
#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}
