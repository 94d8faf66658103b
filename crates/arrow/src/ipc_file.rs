//! Arrow files: record batches as they lie in memory, also called Feather version 2.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MetadataVersion, root_as_footer};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use fewest_data::{Error, Format, Sniff};
use parquet::file::reader::Length;

use crate::bytes_at::BytesAt;
use crate::checks;
use crate::reading::{self, Damage, File, Stop};
use crate::write;

/// What Arrow files begin and end with.
const MAGIC: &[u8] = b"ARROW1";

/// Behind the footer: its length in four bytes, and the magic.
const TAIL: u64 = 10;

/// To skip a column costs time for each column that is needed; above so many pairs all are decoded.
const MOST_SKIPPED: usize = 1 << 26;

/// Arrow files, one or many, also called Feather version 2.
///
/// Cost: linear in the size of the file; memory for the values that are needed, with 8 bytes each, and for one
/// batch of the file.
pub const ARROW: Format =
    Format::new("arrow", &["arrow", "feather", "ipc"], sniff, reading::read::<IpcFile>)
        .with_folders(reading::read_folder::<IpcFile>)
        .written_by(&["arrow", "feather", "ipc"], write::arrow);

fn sniff(start: &[u8]) -> Sniff {
    if start.starts_with(MAGIC) { Sniff::Certain } else { Sniff::No }
}

pub(crate) struct IpcFile {
    bytes: BytesAt,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl File for IpcFile {
    const FORMAT: Format = ARROW;
    const NAME: &'static str = "Arrow";
    const BY_COLUMN: bool = false;

    fn open(bytes: BytesAt) -> Result<Self, Damage> {
        let read = |start, length| bytes.bytes(start, length).map_err(damage);
        let end = bytes.len().checked_sub(TAIL).ok_or_else(|| damage("the file ends too early"))?;
        let tail = read(end, TAIL)?;
        let tail: [u8; TAIL as usize] = tail[..].try_into().map_err(damage)?;
        let length = read_footer_length(tail).map_err(damage)? as u64;
        let start = end.checked_sub(length).ok_or_else(|| damage("the footer is cut off"))?;
        let footer = read(start, length)?;
        let footer = root_as_footer(&footer).map_err(damage)?;
        let schema = footer.schema().ok_or_else(|| damage("the footer has no schema"))?;
        checks::schema(&schema).map_err(damage)?;
        let all = |blocks: Option<flatbuffers_vector!(Block)>| blocks;
        let _ = all;
        Ok(Self {
            schema: Arc::new(fb_to_schema(schema)),
            version: footer.version(),
            dictionaries: footer.dictionaries().iter().flatten().copied().collect(),
            batches: footer.recordBatches().iter().flatten().copied().collect(),
            bytes,
        })
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn read(
        &self,
        columns: &[usize],
        take: &mut dyn FnMut(&RecordBatch) -> Result<(), Error>,
    ) -> Result<(), Stop> {
        todo!()
    }
}

fn damage(error: impl std::fmt::Display + 'static) -> Damage {
    Box::new(error)
}
