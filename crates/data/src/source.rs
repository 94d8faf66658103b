//! Opens a file: its first bytes, its estimated length, and its content decompressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::Error;

/// Bytes at the start of a file from which its format and its size in memory are estimated.
const SAMPLE: usize = 1 << 20;
/// Most bytes that the sample may grow to when decompressed.
const DECOMPRESSED_SAMPLE: usize = 4 << 20;

const GZIP: &[u8] = &[0x1F, 0x8B];
/// Formats that are recognised by their first bytes, but not supported.
const FOREIGN: [(&[u8], &str, &str); 8] = [
    (
        b"PK\x03\x04",
        "a zip archive (as .npz and .xlsx are)",
        "save the table as .csv or the array as .npy (Excel tables are read where the command was built with \
         `--features excel`)",
    ),
    (b"PAR1", "a Parquet file", "save the table as .csv"),
    (b"ARROW1", "an Arrow file", "save the table as .csv"),
    (b"BZh", "a bzip2 file", "decompress it, or compress it with gzip"),
    (b"\xFD7zXZ", "an xz file", "decompress it, or compress it with gzip"),
    (b"\x28\xB5\x2F\xFD", "a zstd file", "decompress it, or compress it with gzip"),
    (b"RDX", "an R data file", "save the table from R with write.csv"),
    (b"\x80\x04\x95", "a Python pickle", "save the table as .csv or the array as .npy"),
];

/// Extensions of files that are neither read nor written.
pub(crate) const FOREIGN_EXTENSIONS: [&str; 3] = ["gz", "xlsx", "parquet"];

/// An error for a format that is recognised by its first bytes, but not supported.
pub(crate) fn refuse_foreign(source: &Source) -> Result<(), Error> {
    match FOREIGN.iter().find(|(magic, ..)| source.prefix.starts_with(magic)) {
        None => Ok(()),
        Some((_, what, advice)) => Err(Error::unsupported(&source.path, format!("this is {what}"), *advice)),
    }
}

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
    /// Whether `path` cannot be opened again for this content.
    pub(crate) is_stream: bool,
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

    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| Error::reading(path, error))?;
        let metadata = file.metadata().map_err(|error| Error::reading(path, error))?;
        let length = if metadata.is_file() { metadata.len() } else { 0 };
        Ok(Self { is_stream: !metadata.is_file(), ..Self::of_stream(path, file, length)? })
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
            return Err(Error::malformed(
                path,
                crate::Place::File,
                "the file is empty",
                "check how it was made",
            ));
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
        Ok(Self { path: path.to_owned(), reader, prefix, complete, length, compressed, is_stream: true })
    }

    /// The extension in lower case, without a final `.gz`.
    pub(crate) fn extension(&self) -> Option<String> {
        let name = self.path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.rsplit_once('.').map(|(_, extension)| extension.to_owned())
    }

    /// The error of a failed read: of the disk, or of the compressed stream.
    pub(crate) fn failure(path: &Path, compressed: bool, place: crate::Place, error: io::Error) -> Error {
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
