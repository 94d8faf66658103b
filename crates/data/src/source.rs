//! Opens a file: its first bytes, its estimated length, and its content decompressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use crate::encoding::{NAME_IT, Undecodable};
use crate::first_line::FirstLine;
use crate::readers::delimited::{BYTE_ORDER_MARK, DELIMITERS, told_delimiter};
use crate::remote::InOrder;
use crate::{Error, Limit, Part, Place, ReadOptions, Remote, digest};

/// Bytes at the start of a file from which its format and its size in memory are estimated.
const SAMPLE: usize = 1 << 20;
/// Most bytes that the sample may grow to when decompressed.
const DECOMPRESSED_SAMPLE: usize = 4 << 20;

const GZIP: &[u8] = &[0x1F, 0x8B];
/// First bytes that tell how the others are to be read: compression, and encodings.
const MARKS: [&[u8]; 4] = [GZIP, BYTE_ORDER_MARK, b"\xFF\xFE", b"\xFE\xFF"];
/// Formats that are recognised by their first bytes, but not supported.
const FOREIGN: [(&[u8], &str, &str); 11] = [
    (b"PK\x03\x04", "a zip archive (as .npz, .xlsx and .ods are)", WORKBOOK),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a file of an older Office program (as .xls is)", WORKBOOK),
    (b"PAR1", "a Parquet file", ARROW),
    (b"ARROW1", "an Arrow file", ARROW),
    (b"PARE", "an encrypted Parquet file", "decrypt it, or save the table as .csv"),
    (b"FEA1", "a Feather file of version 1", "save it again with version 2 (as .arrow)"),
    (b"BZh", "a bzip2 file", "decompress it, or compress it with gzip"),
    (b"\xFD7zXZ", "an xz file", "decompress it, or compress it with gzip"),
    (b"\x28\xB5\x2F\xFD", "a zstd file", "decompress it, or compress it with gzip"),
    (b"RDX", "an R data file", "save the table from R with write.csv"),
    (b"\x80\x04\x95", "a Python pickle", "save the table as .csv or the array as .npy"),
];

/// What to do with a file that may be a workbook where there is no reader for it.
const WORKBOOK: &str = "save the table as .csv, or an array as .npy: no workbook is found in it, or it cannot be \
                        read here (line by line, or by a build without the feature `excel`)";

/// What to do with a file of columns where there is no reader for it.
const ARROW: &str = "save the table as .csv: a Parquet or Arrow file cannot be read here (line by line, or by a \
                     build without the feature `arrow`)";

/// Extensions of files that are neither read nor written.
pub(crate) const FOREIGN_EXTENSIONS: [&str; 5] = ["gz", "xlsx", "xls", "ods", "parquet"];

/// An error for a format that is recognised by its first bytes, but not supported.
pub(crate) fn refuse_foreign(source: &Source) -> Result<(), Error> {
    match FOREIGN.iter().find(|(magic, ..)| source.prefix.starts_with(magic)) {
        None => Ok(()),
        Some((_, what, advice)) => Err(Error::unsupported(&source.path, format!("this is {what}"), *advice)),
    }
}

/// What can be read at any place.
#[derive(Debug)]
pub enum Content {
    /// A regular file, as it lies on disk.
    File(File),
    /// What was compressed, or came through a pipe.
    Bytes(Vec<u8>),
    /// What lies elsewhere.
    Remote(Arc<dyn Remote>),
}

impl Content {
    /// How many bytes there are.
    ///
    /// # Errors
    /// Those of the system.
    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.metadata().map(|metadata| metadata.len()),
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
            Self::Remote(remote) => Ok(remote.length()),
        }
    }

    /// Fills `out` with the bytes from `start` on. Any number of threads may ask at once.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::UnexpectedEof`] where there are fewer.
    pub fn read_at(&self, start: u64, out: &mut [u8]) -> io::Result<()> {
        let few = || io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends too early");
        match self {
            Self::File(file) => read_exact_at(file, start, out),
            Self::Bytes(bytes) => {
                let end = start.checked_add(out.len() as u64).ok_or_else(few)?;
                let (start, end) = (usize::try_from(start), usize::try_from(end));
                let (Ok(start), Ok(end)) = (start, end) else { return Err(few()) };
                out.copy_from_slice(bytes.get(start..end).ok_or_else(few)?);
                Ok(())
            }
            Self::Remote(remote) => {
                let bytes = remote.read_at(start, out.len() as u64)?;
                out.copy_from_slice(bytes.get(..out.len()).ok_or_else(few)?);
                Ok(())
            }
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, start: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, start: u64, out: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < out.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut out[done..], start + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn read_exact_at(_: &File, _: u64, _: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Bytes of a stream that are read into memory at once.
const SLICE: u64 = 1 << 20;

/// Bytes of what lies elsewhere that tell its format, and those that are fetched at a time where it is read
/// in order.
const START: u64 = 1 << 12;
const FETCHED: usize = 8 << 20;

/// An open file whose first part was read.
pub struct Source {
    pub(crate) path: PathBuf,
    /// The whole content, decompressed.
    pub(crate) reader: Box<dyn BufRead>,
    /// The start of the content, decompressed.
    pub(crate) prefix: Vec<u8>,
    /// Whether `prefix` is the whole content.
    pub(crate) complete: bool,
    /// Bytes of the content when decompressed, estimated from the sample; 0 where the length is not known.
    pub(crate) length: u64,
    pub(crate) compressed: bool,
    /// The same open file, where that is a regular one.
    pub(crate) file: Option<File>,
    /// SHA-256 of a regular file, where it was asked for.
    pub(crate) digest: Option<String>,
}

impl Source {
    /// The name of the file for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content, decompressed.
    pub fn into_reader(self) -> Box<dyn BufRead> {
        self.reader
    }

    /// Its content, decompressed, to be read at any place: of a regular file that is not compressed, the
    /// file; of anything else the bytes, once they are in memory.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more bytes than [`Limit`] allows, and those of reading.
    pub fn into_content(mut self, options: &ReadOptions) -> Result<Content, Error> {
        self.content(options)
    }

    pub(crate) fn content(&mut self, options: &ReadOptions) -> Result<Content, Error> {
        if let Some(file) = self.file.take().filter(|_| !self.compressed) {
            return Ok(Content::File(file));
        }
        let limit = Limit::of(&self.path, options);
        let mut bytes = Vec::new();
        loop {
            let room = bytes.try_reserve(SLICE as usize);
            let read = Read::by_ref(&mut self.reader).take(SLICE).read_to_end(&mut bytes);
            let failed = |error| Self::failure(&self.path, self.compressed, Place::File, error);
            if read.map_err(failed)? == 0 {
                return Ok(Content::Bytes(bytes));
            }
            limit.check(bytes.len() as u64)?;
            room.map_err(|_| limit.exceeded(bytes.len() as u64))?;
        }
    }

    /// The content of a file of a [`Folder`](crate::Folder).
    ///
    /// # Errors
    /// Those of reading.
    pub fn open_part(part: &Part) -> Result<Self, Error> {
        match part.remote() {
            Some(remote) => Self::of_remote(part.path(), remote),
            None => Self::open(part.path()),
        }
    }

    fn of_remote(path: &Path, remote: &Arc<dyn Remote>) -> Result<Self, Error> {
        let length = remote.length();
        let read = remote.read_at(0, length.min(START));
        let prefix = read.map_err(|error| Error::reading(path, error))?;
        if prefix.is_empty() {
            return Err(empty(path));
        }
        if prefix.starts_with(GZIP) {
            let what = "a compressed file that lies elsewhere";
            return Err(Error::unsupported(path, what, "write it as Parquet, which compresses columns"));
        }
        let in_order = InOrder { remote: remote.clone(), next: 0 };
        Ok(Self {
            path: path.to_owned(),
            reader: Box::new(BufReader::with_capacity(FETCHED, in_order)),
            complete: prefix.len() as u64 == length,
            prefix,
            length,
            compressed: false,
            file: None,
            digest: None,
        })
    }

    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Self::of_file(path, false)
    }

    /// As [`Source::open`], with the SHA-256 of a regular file.
    pub(crate) fn open_hashed(path: &Path) -> Result<Self, Error> {
        Self::of_file(path, true)
    }

    fn of_file(path: &Path, hashed: bool) -> Result<Self, Error> {
        let unreadable = |error| Error::reading(path, error);
        let mut file = File::open(path).map_err(|error| not_there(path, error))?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Self::of_stream(path, file, 0);
        }
        let mut digest = None;
        if hashed {
            digest = Some(digest::of_reader(&mut file).map_err(unreadable)?);
            file.rewind().map_err(unreadable)?;
        }
        let again = file.try_clone().map_err(unreadable)?;
        Ok(Self { file: Some(again), digest, ..Self::of_stream(path, file, metadata.len())? })
    }

    /// Content that messages call `path`; its length where that is known, otherwise 0.
    pub(crate) fn of_stream(
        path: &Path,
        mut content: impl Read + 'static,
        file_length: u64,
    ) -> Result<Self, Error> {
        let mut sample = Vec::new();
        content
            .by_ref()
            .take(SAMPLE as u64)
            .read_to_end(&mut sample)
            .map_err(|error| Error::reading(path, error))?;
        if sample.is_empty() {
            return Err(empty(path));
        }
        let whole = sample.len() < SAMPLE;
        let compressed = sample.starts_with(GZIP);
        let (prefix, complete, length) = if compressed {
            decompress(&sample, whole, file_length)
        } else {
            (sample.clone(), whole, file_length)
        };
        let raw = BufReader::new(Cursor::new(sample).chain(content));
        let reader: Box<dyn BufRead> =
            if compressed { Box::new(BufReader::new(MultiGzDecoder::new(raw))) } else { Box::new(raw) };
        let path = path.to_owned();
        Ok(Self { path, reader, prefix, complete, length, compressed, file: None, digest: None })
    }

    /// As [`Source::of_stream`], in UTF-8, of text that may come slowly: it waits for the first line
    /// only, and looks at no more, so that the answer does not depend on how much comes at once. The
    /// length is not known.
    pub(crate) fn of_lines(
        path: &Path,
        mut content: impl Read + 'static,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let mut start = Vec::new();
        let mut chunk = vec![0; 1 << 16];
        // It may go on as one of these.
        let is_open =
            |start: &[u8]| MARKS.iter().any(|mark| mark.len() > start.len() && mark.starts_with(start));
        while is_open(&start) {
            match content.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => start.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::reading(path, error)),
            }
        }
        if start.is_empty() || start.starts_with(GZIP) {
            return Self::of_stream(path, Cursor::new(start).chain(content), 0)?.in_utf8(options);
        }
        let (prefix, path) = (start.clone(), path.to_owned());
        let reader = Box::new(BufReader::with_capacity(1 << 16, Cursor::new(start).chain(content)));
        let (complete, compressed) = (false, false);
        let source = Self { path, reader, prefix, complete, length: 0, compressed, file: None, digest: None };
        source.in_utf8(options)?.up_to_first_line(options)
    }

    /// The same with its first line as prefix.
    fn up_to_first_line(mut self, options: &ReadOptions) -> Result<Self, Error> {
        let told = told_delimiter(&self, options.delimiter)?.map(|delimiter| [delimiter]);
        let mut line = FirstLine::new(told.as_ref().map_or(&DELIMITERS[..], |told| &told[..]));
        let mut start = Vec::new();
        while start.len() < SAMPLE && !line.ends_in(&start) {
            let come = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(come) => come,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Not in this encoding: whoever reads the lines is told again, and knows which one it is.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => break,
                Err(error) => return Err(Error::reading(&self.path, error)),
            };
            let count = come.len().min(SAMPLE - start.len());
            start.extend_from_slice(&come[..count]);
            self.reader.consume(count);
        }
        line.ends_in(&start);
        self.prefix = start[..line.length()].to_vec();
        self.reader = Box::new(BufReader::with_capacity(1 << 16, Cursor::new(start).chain(self.reader)));
        refuse_foreign(&self)?;
        Ok(self)
    }

    /// The content of a regular file, decompressed, and whether it was compressed.
    pub(crate) fn reader(path: &Path) -> Result<(Box<dyn BufRead + Send>, bool), Error> {
        let failed = |error| Error::reading(path, error);
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
        let compressed = file.fill_buf().map_err(failed)?.starts_with(GZIP);
        let reader: Box<dyn BufRead + Send> = match compressed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(file))),
            false => Box::new(file),
        };
        Ok((reader, compressed))
    }

    /// The extension in lower case, without a final `.gz`.
    pub(crate) fn extension(&self) -> Option<String> {
        let name = self.path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.rsplit_once('.').map(|(_, extension)| extension.to_owned())
    }

    /// The error of a failed read: of the disk, of the encoding, or of the compressed stream.
    pub(crate) fn failure(path: &Path, compressed: bool, place: Place, error: io::Error) -> Error {
        if let Some(wrong) = error.get_ref().and_then(|inner| inner.downcast_ref::<Undecodable>()) {
            let advice = format!("save the file with the encoding UTF-8, {NAME_IT}");
            return Error::malformed(path, place, wrong.to_string(), advice);
        }
        let broken = matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof
        );
        if compressed && broken {
            let problem = format!("the gzip stream is damaged or cut off ({error})");
            Error::malformed(path, place, problem, "copy or compress the file again")
        } else {
            Error::reading(path, error)
        }
    }
}

/// The error of what cannot be opened, which may be the address of something that is no file.
pub(crate) fn not_there(path: &Path, error: io::Error) -> Error {
    let is_address = path.to_str().is_some_and(|text| text.contains("://"));
    match error.kind() {
        io::ErrorKind::NotFound if is_address => {
            let advice = "copy it to a file, or give --cluster, which reads `s3://`";
            Error::unsupported(path, "this is an address, and only files are read here", advice)
        }
        _ => Error::reading(path, error),
    }
}

fn empty(path: &Path) -> Error {
    Error::malformed(path, Place::File, "the file is empty", "check how it was made")
}

/// The start of a gzip file's content, whether that is all of it, and the length of the content, estimated
/// from the compression ratio of the start.
fn decompress(sample: &[u8], whole: bool, file_length: u64) -> (Vec<u8>, bool, u64) {
    let mut decoder = MultiGzDecoder::new(sample);
    let mut prefix = Vec::new();
    // An error here is the end of the sample, or damage that the reader will find again and report.
    let finished = decoder.by_ref().take(DECOMPRESSED_SAMPLE as u64).read_to_end(&mut prefix).is_ok();
    let complete = whole && finished && prefix.len() < DECOMPRESSED_SAMPLE;
    let used = (sample.len() - decoder.get_ref().len()).max(1);
    let ratio = prefix.len() as f64 / used as f64;
    let length = if complete { prefix.len() as u64 } else { (ratio * file_length as f64) as u64 };
    (prefix, complete, length)
}
