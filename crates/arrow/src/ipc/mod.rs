//! Arrow files: columns as they lie in memory, also called Feather version 2.
//!
//! The metadata of a file are read as they come, each place checked against the length of the file: what
//! other readers take on trust ends here in an error.

mod batch;
mod flat;
mod schema;
mod values;

use std::ops::Range;
use std::sync::Arc;

use fewest_data::{Format, Limit, Sniff};
use parquet::file::reader::Length;

use crate::builder::Builder;
use crate::bytes_at::BytesAt;
use crate::pieces;
use crate::reading::{self, Check, Field, File, Stop};
use batch::{Batch, Block};
use flat::{Broken, Table};
use schema::{Column, Dictionary, Extent};

/// What Arrow files begin and end with.
const MAGIC: &[u8] = b"ARROW1";

/// Behind the footer: its length in four bytes, and the magic.
const TAIL: u64 = 10;

/// The version of the format since which unions have a buffer less.
const WITHOUT_GAPS_IN_UNIONS: i16 = 4;

/// Bytes of the place of a batch.
const BLOCK: usize = 24;

/// Arrow files, one or many, also called Feather version 2. Only the columns that are needed are read, each
/// by one thread.
///
/// Cost: linear in the values that are needed, and in columns × batches for the metadata; memory for the
/// values, with 8 bytes each.
pub const ARROW: Format = Format::new("arrow", &["arrow", "feather", "ipc"], sniff, reading::read::<IpcFile>)
    .with_folders(reading::read_folder::<IpcFile>)
    .in_pieces(pieces::open::<IpcFile>);

fn sniff(start: &[u8]) -> Sniff {
    if start.starts_with(MAGIC) { Sniff::Certain } else { Sniff::No }
}

impl From<Broken> for Stop {
    fn from(_: Broken) -> Self {
        Stop::damage("its metadata are damaged or cut off")
    }
}

pub(crate) struct IpcFile {
    bytes: BytesAt,
    limit: Limit,
    footer: Arc<Footer>,
}

pub(crate) struct Footer {
    fields: Vec<Field>,
    columns: Vec<Column>,
    dictionaries: Vec<(i64, bool, Batch)>,
    batches: Vec<Batch>,
    rows: u64,
}

impl File for IpcFile {
    const FORMAT: Format = ARROW;
    const NAME: &'static str = "Arrow";
    const FIRST_BYTES: &'static [u8] = b"ARROW1";

    type Footer = Footer;

    fn footer(bytes: &BytesAt) -> Result<Footer, Stop> {
        let cut_off = || Stop::damage("the file is cut off");
        let end = bytes.len().checked_sub(TAIL).ok_or_else(cut_off)?;
        let tail = bytes.bytes(end, TAIL).map_err(Stop::reading)?;
        if !tail.ends_with(MAGIC) {
            return Err(cut_off());
        }
        let length = u64::try_from(flat::i32_at(&tail, 0)?).map_err(|_| cut_off())?;
        let start = end.checked_sub(length).ok_or_else(cut_off)?;
        let footer = bytes.bytes(start, length).map_err(Stop::reading)?;
        let root = Table::root(&footer)?;
        let is_old = root.i16(0, 0)? < WITHOUT_GAPS_IN_UNIONS;
        let schema = root.table(1)?.ok_or(Broken)?;
        if schema.i16(0, 0)? != 0 {
            return Err(Stop::damage("its numbers have the highest byte first"));
        }
        let (fields, columns) = schema::columns(schema, is_old)?;
        let read = |number: usize, kind: u8| {
            let items = root.items(number, BLOCK)?;
            let blocks = (0..items.count).map(|i| Block::at(&footer, items.place(i)?));
            let blocks = blocks.collect::<Result<Vec<_>, Stop>>()?;
            bytes.fetch(blocks.iter().map(Block::message).collect()).map_err(Stop::reading)?;
            let batches = blocks.into_iter().map(|block| Batch::read(bytes, block, kind));
            batches.collect::<Result<Vec<_>, Stop>>()
        };
        let batches: Vec<Batch> = read(3, batch::ROWS)?.into_iter().map(|(batch, _)| batch).collect();
        let listed = read(2, batch::DICTIONARY)?.into_iter();
        let dictionaries = listed.filter_map(|(batch, of)| of.map(|(id, more)| (id, more, batch))).collect();
        let rows = batches.iter().map(|batch| batch.rows as u64).fold(0, u64::saturating_add);
        Ok(Footer { fields, columns, dictionaries, batches, rows })
    }

    fn footer_bytes(footer: &Footer) -> u64 {
        let names: usize = footer.fields.iter().map(|field| field.name.len()).sum();
        let columns = footer.fields.len() * (size_of::<Field>() + size_of::<Column>());
        let batches = footer.dictionaries.iter().map(|(_, _, batch)| batch).chain(&footer.batches);
        batches.map(Batch::bytes).fold((names + columns) as u64, u64::saturating_add)
    }

    fn with_footer(footer: Arc<Footer>, bytes: BytesAt, limit: Limit) -> Self {
        Self { bytes, limit, footer }
    }

    fn fields(&self) -> &[Field] {
        &self.footer.fields
    }

    fn rows(&self) -> u64 {
        self.footer.rows
    }

    fn fetch(&self, columns: &[usize], rows: &Range<u64>) -> Result<(), Stop> {
        if !self.bytes.is_remote() {
            return Ok(());
        }
        let mut places = Vec::new();
        for column in columns.iter().filter_map(|&column| self.footer.columns.get(column)) {
            let mut first = 0;
            for batch in column.stored.map_or(&[][..], |_| &self.footer.batches) {
                if reading::within(first, batch.rows as u64, rows).1 > 0
                    && let Some(stored) = column.stored
                {
                    places.push(batch.place(column.first, stored)?);
                }
                first += batch.rows as u64;
            }
            let Some(Dictionary { id, values }) = column.dictionary else { continue };
            for (_, _, batch) in self.footer.dictionaries.iter().filter(|(own, ..)| *own == id) {
                places.push(batch.place(Extent::default(), values)?);
            }
        }
        self.bytes.fetch(places).map_err(Stop::reading)
    }

    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        out: &mut Builder,
        check: &mut Check<'_>,
    ) -> Result<(), Stop> {
        let column = self.footer.columns.get(column).copied().ok_or(Broken)?;
        let stored = column.stored.ok_or(Broken)?;
        let list = column.dictionary.map(|dictionary| self.list(dictionary)).transpose()?;
        let mut first = 0;
        for batch in &self.footer.batches {
            let (skip, take) = reading::within(first, batch.rows as u64, &rows);
            first += batch.rows as u64;
            // A batch without rows is read as well: it may be damaged.
            if take == 0 && batch.rows > 0 {
                continue;
            }
            let array = batch.array(&self.bytes, column.first, stored, &self.limit)?;
            match &list {
                Some(list) => array.add_coded_to(list, skip..skip + take, out)?,
                None => array.add_to(skip..skip + take, out)?,
            }
            check(out)?;
        }
        Ok(())
    }
}

impl IpcFile {
    /// The texts of a dictionary.
    fn list(&self, dictionary: Dictionary) -> Result<Vec<Option<String>>, Stop> {
        let mut list = Builder::Texts(Vec::new(), 0);
        for (_, continues, batch) in self.footer.dictionaries.iter().filter(|(id, ..)| *id == dictionary.id) {
            if !continues && list.len() > 0 {
                return Err(Stop::damage("a dictionary is there twice"));
            }
            let array = batch.array(&self.bytes, Extent::default(), dictionary.values, &self.limit)?;
            array.add_to(0..batch.rows, &mut list)?;
            self.limit.check(list.bytes())?;
        }
        match list {
            Builder::Texts(texts, _) => Ok(texts),
            _ => Ok(Vec::new()),
        }
    }
}
