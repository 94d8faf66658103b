//! Parquet files, read column by column.

use std::ops::Range;
use std::sync::Arc;

use fewest_data::{Format, Limit, Sniff};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, ByteArray, DataType, DoubleType};
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy, RowGroupMetaData,
};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::builder::{Builder, Cell};
use crate::bytes_at::BytesAt;
use crate::held::{Held, Opened};
use crate::pieces;
use crate::reading::{self, Check, Field, File, Stop};
use crate::stored::Stored;
use crate::write;

/// Rows that are decoded at a time.
const ROWS: usize = 1 << 16;

/// Parquet files, one or many. Only the columns that are needed are read, each by one thread.
///
/// Cost: linear in the values that are needed, and in columns × groups of rows for the footer; memory for the
/// values, with 8 bytes each.
pub const PARQUET: Format =
    Format::new("parquet", &["parquet", "pq", "parq"], sniff, reading::read::<ParquetFile>)
        .with_folders(reading::read_folder::<ParquetFile>)
        .in_pieces(pieces::open::<ParquetFile>)
        .written_by(&["parquet", "pq", "parq"], write::parquet);

fn sniff(start: &[u8]) -> Sniff {
    if start.starts_with(b"PAR1") { Sniff::Certain } else { Sniff::No }
}

pub(crate) struct ParquetFile {
    bytes: BytesAt,
    footer: Arc<Footer>,
    held: Held,
}

pub(crate) struct Footer {
    metadata: ParquetMetaData,
    fields: Vec<Field>,
    /// Where the values of each column are, and how they are stored.
    stored: Vec<Option<(usize, Stored)>>,
    rows: u64,
}

impl File for ParquetFile {
    const FORMAT: Format = PARQUET;
    const NAME: &'static str = "Parquet";
    const FIRST_BYTES: &'static [u8] = b"PAR1";

    type Footer = Footer;

    fn footer(bytes: &BytesAt) -> Result<Footer, Stop> {
        // Statistics are of no use here, and there are some for every column of every group of rows.
        let skip = ParquetStatisticsPolicy::SkipAll;
        let options = ParquetMetaDataOptions::new()
            .with_column_stats_policy(skip.clone())
            .with_size_stats_policy(skip.clone())
            .with_encoding_stats_policy(skip);
        let reader = ParquetMetaDataReader::new().with_metadata_options(Some(options));
        let metadata = reader.parse_and_finish(bytes).map_err(Stop::parquet)?;
        let mut rows = 0_u64;
        for group in metadata.row_groups() {
            let more = u64::try_from(group.num_rows()).map_err(|_| Stop::damage("rows below zero"))?;
            rows = rows.saturating_add(more);
        }
        let schema = metadata.file_metadata().schema_descr();
        let roots = schema.root_schema().get_fields();
        let (mut fields, mut stored) = (Vec::with_capacity(roots.len()), Vec::with_capacity(roots.len()));
        let mut leaves = 0..schema.num_columns();
        for root in roots {
            let mut plain = None;
            let kind = match Stored::of(root) {
                // Its values are those of the next leaf.
                Ok((kind, how)) => {
                    plain = leaves.next().map(|leaf| (leaf, how));
                    Ok(kind)
                }
                Err(what) => {
                    let below = |leaf: &usize| std::ptr::eq(schema.get_column_root(*leaf), root.as_ref());
                    while leaves.clone().next().as_ref().is_some_and(below) {
                        leaves.next();
                    }
                    Err(what)
                }
            };
            fields.push(Field { name: root.name().trim().to_owned(), kind });
            stored.push(plain);
        }
        Ok(Footer { metadata, fields, stored, rows })
    }

    fn footer_bytes(footer: &Footer) -> u64 {
        let names: usize = footer.fields.iter().map(|field| field.name.len()).sum();
        let columns = footer.fields.len() * (size_of::<Field>() + size_of::<Option<(usize, Stored)>>());
        (footer.metadata.memory_size() + names + columns) as u64
    }

    fn with_footer(footer: Arc<Footer>, bytes: BytesAt, _limit: Limit) -> Self {
        let held = Held::new(footer.fields.len());
        Self { bytes, footer, held }
    }

    fn fields(&self) -> &[Field] {
        &self.footer.fields
    }

    fn rows(&self) -> u64 {
        self.footer.rows
    }

    fn goes_on(&self, n_columns: usize, bytes: u64) -> bool {
        self.held.allow(bytes, n_columns)
    }

    fn fetch(&self, columns: &[usize], wanted: &Range<u64>) -> Result<(), Stop> {
        if !self.bytes.is_remote() {
            return Ok(());
        }
        let leaves: Vec<usize> =
            columns.iter().filter_map(|&column| Some(self.footer.stored.get(column)?.as_ref()?.0)).collect();
        let (mut places, mut first) = (Vec::new(), 0);
        for group in self.footer.metadata.row_groups() {
            let rows = u64::try_from(group.num_rows()).map_err(Stop::damage)?;
            if reading::within(first, rows, wanted).1 > 0 {
                for &leaf in &leaves {
                    places.push(chunk(group, leaf)?.1);
                }
            }
            first += rows;
        }
        self.bytes.fetch(places).map_err(Stop::reading)
    }

    fn read(
        &self,
        column: usize,
        wanted: Range<u64>,
        out: &mut Builder,
        check: &mut Check<'_>,
    ) -> Result<(), Stop> {
        let Some((leaf, stored)) = self.footer.stored.get(column).copied().flatten() else {
            return Err(Stop::damage("a column has no values"));
        };
        let (number, mut column) = (column, Column { stored, out, check });
        let metadata = &self.footer.metadata;
        let described = metadata.file_metadata().schema_descr().column(leaf);
        let mut first = 0;
        for (at, group) in metadata.row_groups().iter().enumerate() {
            let rows = usize::try_from(group.num_rows()).map_err(Stop::damage)?;
            let own = reading::within(first, rows as u64, &wanted);
            first += rows as u64;
            // A group without rows is read as well: it may be damaged.
            if own.1 == 0 && rows > 0 {
                continue;
            }
            let mut opened = match self.held.take(number, at, own.0) {
                Some(opened) => opened,
                None => {
                    // The reader of a group of rows that the crate has looks at all columns, for each that is
                    // read.
                    let (chunk, place) = chunk(group, leaf)?;
                    let fetched = if self.bytes.is_remote() { place.end - place.start } else { 0 };
                    let bytes = Arc::new(self.bytes.of(place).map_err(Stop::reading)?);
                    let pages = SerializedPageReader::new(bytes, chunk, rows, None);
                    Opened::new(described.clone(), at, pages.map_err(Stop::parquet)?, fetched)
                }
            };
            let own = (own.0 - opened.row, own.1);
            opened.row += own.0 + own.1;
            match &mut opened.reader {
                ColumnReader::BoolColumnReader(reader) => column.add(reader, own, |out, _, truth| {
                    put(out, Ok(Cell::Text(if *truth { "true" } else { "false" })))
                }),
                ColumnReader::Int32ColumnReader(reader) => {
                    column.add(reader, own, |out, how, value| put(out, Ok(how.int32(*value))))
                }
                ColumnReader::Int64ColumnReader(reader) => {
                    column.add(reader, own, |out, how, value| put(out, Ok(how.int64(*value))))
                }
                ColumnReader::Int96ColumnReader(reader) => {
                    column.add(reader, own, |out, _, value| put(out, Ok(Stored::int96(value))))
                }
                ColumnReader::FloatColumnReader(reader) => {
                    column.add(reader, own, |out, _, value| put(out, Ok(Cell::Number(f64::from(*value)))))
                }
                ColumnReader::DoubleColumnReader(reader) => column.add_doubles(reader, own),
                ColumnReader::ByteArrayColumnReader(reader) => column.add(reader, own, texts()),
                ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                    column.add(reader, own, |out, how, value| put(out, how.bytes(value.as_bytes())))
                }
            }?;
            if opened.row < rows {
                self.held.keep(number, opened);
            }
        }
        Ok(())
    }
}

/// A column of a group of rows, and where its bytes are.
fn chunk(group: &RowGroupMetaData, leaf: usize) -> Result<(&ColumnChunkMetaData, Range<u64>), Stop> {
    let chunk = group.columns().get(leaf).ok_or_else(|| Stop::damage("a column is missing"))?;
    let places = [chunk.data_page_offset(), chunk.compressed_size(), chunk.num_values()];
    if places.into_iter().chain(chunk.dictionary_page_offset()).any(|place| place < 0) {
        return Err(Stop::damage("a place below zero"));
    }
    let (start, length) = chunk.byte_range();
    Ok((chunk, start..start.saturating_add(length)))
}

/// A column while it is read.
struct Column<'a, 'c> {
    stored: Stored,
    out: &'a mut Builder,
    check: &'a mut Check<'c>,
}

impl Column<'_, '_> {
    /// [`add`](Self::add) of numbers as they are stored: decoded to where they stay.
    fn add_doubles(
        &mut self,
        reader: &mut ColumnReaderImpl<DoubleType>,
        own: (usize, usize),
    ) -> Result<(), Stop> {
        if self.out.numbers().is_none() {
            return self.add(reader, own, |out, _, value| put(out, Ok(Cell::Number(*value))));
        }
        let mut left = self.skip(reader, own)?;
        let mut levels = Vec::new();
        // No more than ordinary groups of rows have: how many there are, only the file says.
        self.out.numbers().into_iter().for_each(|values| values.reserve(left.min(1 << 20)));
        while left > 0 {
            levels.clear();
            let Some(values) = self.out.numbers() else { return Ok(()) };
            let start = values.len();
            let (read, ..) = reader
                .read_records(left.min(ROWS), Some(&mut levels), None, values)
                .map_err(Stop::parquet)?;
            if read == 0 {
                return Ok(());
            }
            left -= read.min(left);
            // Those that are there come without gaps.
            let mut there = values.len() - start;
            values.resize(start + read, f64::NAN);
            if there < read {
                for (at, level) in levels.iter().enumerate().take(read).rev() {
                    let value = match *level > 0 && there > 0 {
                        true => {
                            there -= 1;
                            values[start + there]
                        }
                        false => f64::NAN,
                    };
                    values[start + at] = value;
                }
            }
            (self.check)(self.out)?;
        }
        Ok(())
    }

    /// Passes over the rows before those wanted, and says how many of these there may be.
    fn skip<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        (skip, rows): (usize, usize),
    ) -> Result<usize, Stop> {
        // Whole pages are passed over without decoding.
        let skipped = if skip > 0 { reader.skip_records(skip).map_err(Stop::parquet)? } else { 0 };
        Ok(if skipped < skip { 0 } else { rows })
    }

    /// Adds the values of a group of rows behind the first `skip`, each by `push`.
    fn add<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        own: (usize, usize),
        mut push: impl FnMut(&mut Builder, Stored, &T::T) -> Result<(), &'static str>,
    ) -> Result<(), Stop> {
        let mut left = self.skip(reader, own)?;
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        while left > 0 {
            values.clear();
            levels.clear();
            let (read, ..) = reader
                .read_records(left.min(ROWS), Some(&mut levels), None, &mut values)
                .map_err(Stop::parquet)?;
            if read == 0 {
                return Ok(());
            }
            left -= read.min(left);
            let how = self.stored;
            // Values are there where the level says so.
            let mut values = values.iter();
            let mut levels = levels.iter();
            for _ in 0..read {
                let there = if levels.next().is_none_or(|level| *level > 0) { values.next() } else { None };
                match there {
                    Some(value) => push(self.out, how, value).map_err(Stop::damage)?,
                    None => self.out.push(Cell::Missing),
                }
            }
            (self.check)(self.out)?;
        }
        Ok(())
    }
}

fn put(out: &mut Builder, cell: Result<Cell<'_>, &'static str>) -> Result<(), &'static str> {
    out.push(cell?);
    Ok(())
}

/// Texts whose code is known by their place.
const PLACES: usize = 8;

/// What adds texts. Those of a dictionary lie at one place each, so that few of them are looked at twice.
fn texts() -> impl FnMut(&mut Builder, Stored, &ByteArray) -> Result<(), &'static str> {
    // The texts are kept, so that no other comes to their place.
    let mut known: Vec<(ByteArray, f64)> = Vec::new();
    let mut next = 0;
    move |out, how, value| {
        let is_there = |(text, _): &&(ByteArray, f64)| std::ptr::eq(text.data(), value.data());
        if let (Some((_, code)), Builder::Levels(codes, _)) = (known.iter().find(is_there), &mut *out) {
            codes.push(*code);
            return Ok(());
        }
        out.push(how.bytes(value.data())?);
        if let Builder::Levels(codes, _) = out
            && let Some(code) = codes.last()
        {
            match known.get_mut(next) {
                Some(oldest) => *oldest = (value.clone(), *code),
                None => known.push((value.clone(), *code)),
            }
            next = (next + 1) % PLACES;
        }
        Ok(())
    }
}
