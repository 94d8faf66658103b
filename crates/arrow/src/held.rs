//! Columns of a Parquet file that stay open from one piece of rows to the next.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::Type;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::Result;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use crate::bytes_at::BytesAt;

/// Bytes that decompress pages, for each column.
const DECOMPRESSING: u64 = 256 << 10;

/// Bytes of a text of a dictionary beside its letters, and of a number beside the page.
const TEXT: u64 = 40;
const NUMBER: u64 = 8;

/// A column of a group of rows, read up to a row.
pub(crate) struct Opened {
    pub(crate) group: usize,
    pub(crate) row: usize,
    pub(crate) reader: ColumnReader,
    /// What it takes.
    bytes: Arc<AtomicU64>,
}

impl Opened {
    /// Of pages that are read from `fetched` bytes of memory.
    pub(crate) fn new(
        described: ColumnDescPtr,
        group: usize,
        pages: SerializedPageReader<BytesAt>,
        fetched: u64,
    ) -> Self {
        let beside = fetched.saturating_add(DECOMPRESSING);
        let bytes = Arc::new(AtomicU64::new(beside));
        let value = match described.physical_type() {
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => TEXT,
            _ => NUMBER,
        };
        let pages = Pages { pages, value, beside, bytes: bytes.clone() };
        let reader = get_column_reader(described, Box::new(pages));
        Self { group, row: 0, reader, bytes }
    }
}

/// The columns that are open, in a limited number of bytes. Without any, the next rows of a column are found
/// from the start of their group.
#[derive(Default)]
pub(crate) struct Held {
    /// Each with its bytes.
    columns: Vec<Mutex<(Option<Opened>, u64)>>,
    bytes: AtomicU64,
    most: AtomicU64,
    /// As many were too few.
    too_few: AtomicU64,
}

impl Held {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self { columns: (0..n_columns).map(|_| Mutex::default()).collect(), ..Self::default() }
    }

    /// Allows so many bytes for so many columns; false where they are too few.
    pub(crate) fn allow(&self, most: u64, n_columns: usize) -> bool {
        let too_few =
            self.too_few.load(Ordering::Relaxed).max(DECOMPRESSING.saturating_mul(n_columns as u64));
        self.most.store(if most > too_few { most } else { 0 }, Ordering::Relaxed);
        most > too_few
    }

    /// Takes a column out, if it is open at that row.
    pub(crate) fn take(&self, column: usize, group: usize, row: usize) -> Option<Opened> {
        let mut held = self.columns.get(column)?.lock().unwrap_or_else(PoisonError::into_inner);
        let (opened, bytes) = std::mem::take(&mut *held);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        opened.filter(|opened| (opened.group, opened.row) == (group, row))
    }

    /// Keeps a column open, where that is not too much.
    pub(crate) fn keep(&self, column: usize, opened: Opened) {
        let most = self.most.load(Ordering::Relaxed);
        let Some(held) = self.columns.get(column).filter(|_| most > 0) else { return };
        let bytes = opened.bytes.load(Ordering::Relaxed);
        if self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > most {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.too_few.fetch_max(most, Ordering::Relaxed);
            return;
        }
        *held.lock().unwrap_or_else(PoisonError::into_inner) = (Some(opened), bytes);
    }
}

/// Pages that tell how much memory the last one takes, with the dictionary.
struct Pages {
    pages: SerializedPageReader<BytesAt>,
    /// Bytes of a decoded value of the dictionary.
    value: u64,
    /// Bytes of all but the page.
    beside: u64,
    bytes: Arc<AtomicU64>,
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            let own = page.buffer().len() as u64;
            if let Page::DictionaryPage { num_values, .. } = page {
                let values = self.value * u64::from(*num_values);
                self.beside = self.beside.saturating_add(own).saturating_add(values);
            }
            self.bytes.store(self.beside.saturating_add(own), Ordering::Relaxed);
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}
