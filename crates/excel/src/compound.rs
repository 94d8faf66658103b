//! Compound files, in which older Office programs keep their streams ([MS-CFB]).
//!
//! Sectors of one size are chained by a table (the FAT); streams below the cutoff lie in sectors of 64 bytes
//! of one stream, with a table of their own.

/// The first bytes of a compound file.
pub(crate) const MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// Sector numbers from here on have other meanings.
const LAST: u32 = 0xFFFF_FFFA;

/// Sectors of the FAT that the header lists, and where.
const IN_HEADER: usize = 109;
const LIST: usize = 76;

/// Bytes of a sector of a small stream.
const SMALL: usize = 64;

/// Bytes of an entry of the directory.
const ENTRY: usize = 128;

const CUT_OFF: &str = "the file is cut off or a chain of sectors is broken";

/// A compound file.
pub(crate) struct Compound<'a> {
    bytes: &'a [u8],
    sector: usize,
    table: Vec<u32>,
    entries: Vec<Entry>,
    small: Vec<u8>,
    small_table: Vec<u32>,
    /// Streams shorter than this are small.
    cutoff: usize,
}

struct Entry {
    name: String,
    start: u32,
    length: usize,
}

/// Two bytes, the lowest first; `None` behind the end.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// Four bytes, the lowest first; `None` behind the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).filter_map(|word| u32_at(word, 0))
}

/// The bytes of a chain of sectors, which `at` finds, `most` of them.
fn chain<'b>(
    start: u32,
    table: &[u32],
    most: usize,
    at: impl Fn(u32) -> Option<&'b [u8]>,
) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    let mut sector = start;
    for _ in 0..=most {
        if sector >= LAST {
            return Ok(bytes);
        }
        bytes.extend_from_slice(at(sector).ok_or(CUT_OFF)?);
        sector = *table.get(sector as usize).ok_or(CUT_OFF)?;
    }
    Err("a chain of sectors has no end")
}

impl<'a> Compound<'a> {
    /// The file's tables and its directory. Memory: at most that of the file again.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let header = |at: usize| u32_at(bytes, at).ok_or(CUT_OFF);
        let sector = match u16_at(bytes, 30) {
            Some(9) => 512,
            Some(12) => 4096,
            Some(_) => return Err("its sectors have an unknown size"),
            None => return Err(CUT_OFF),
        };
        let mut file = Self {
            bytes,
            sector,
            table: Vec::new(),
            entries: Vec::new(),
            small: Vec::new(),
            small_table: Vec::new(),
            cutoff: header(56)? as usize,
        };
        let list = bytes.get(LIST..LIST + 4 * IN_HEADER).ok_or(CUT_OFF)?;
        let mut sectors: Vec<u32> = words(list).collect();
        // Each further sector of the list ends with the number of the next.
        let mut next = header(68)?;
        for _ in 0..bytes.len() / sector {
            if next >= LAST {
                break;
            }
            sectors.extend(words(file.at(next).ok_or(CUT_OFF)?));
            next = sectors.pop().ok_or(CUT_OFF)?;
        }
        // A table has each of its sectors once.
        sectors.retain(|sector| *sector < LAST);
        if sectors.len() > bytes.len() / sector {
            return Err(CUT_OFF);
        }
        for sector in sectors {
            let words = words(file.at(sector).ok_or(CUT_OFF)?);
            file.table.extend(words);
        }
        let directory = file.chain(header(48)?)?;
        file.entries = directory.chunks_exact(ENTRY).filter_map(Entry::new).collect();
        if let Some(root) = directory.chunks_exact(ENTRY).next().and_then(Entry::new) {
            file.small = file.chain(root.start)?;
            file.small_table = words(&file.chain(header(60)?)?).collect();
        }
        Ok(file)
    }

    /// A sector; the last may be cut short.
    fn at(&self, sector: u32) -> Option<&'a [u8]> {
        let start = (sector as usize).checked_add(1)?.checked_mul(self.sector)?;
        let end = start.checked_add(self.sector)?.min(self.bytes.len());
        self.bytes.get(start..end)
    }

    fn chain(&self, start: u32) -> Result<Vec<u8>, &'static str> {
        chain(start, &self.table, self.bytes.len() / self.sector, |sector| self.at(sector))
    }

    /// The stream of that name, whatever its case; `None` if there is none.
    pub(crate) fn stream(&self, name: &str) -> Result<Option<Vec<u8>>, &'static str> {
        let found = self.entries.iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
        let Some(entry) = found else { return Ok(None) };
        let mut bytes = if entry.length < self.cutoff {
            let at = |sector: u32| {
                let start = (sector as usize).checked_mul(SMALL)?;
                self.small.get(start..start.checked_add(SMALL)?.min(self.small.len()))
            };
            chain(entry.start, &self.small_table, self.small.len() / SMALL, at)?
        } else {
            self.chain(entry.start)?
        };
        if bytes.len() < entry.length {
            return Err(CUT_OFF);
        }
        bytes.truncate(entry.length);
        Ok(Some(bytes))
    }
}

impl Entry {
    fn new(bytes: &[u8]) -> Option<Self> {
        // In bytes, with the zero at the end.
        let length = usize::from(u16_at(bytes, 64)?).min(64);
        let units: Vec<u16> =
            bytes.get(..length)?.chunks_exact(2).filter_map(|unit| u16_at(unit, 0)).collect();
        let name = String::from_utf16_lossy(&units);
        let name = name.trim_end_matches('\0').to_owned();
        // The upper half of the length is not used below 4 GB.
        Some(Self { name, start: u32_at(bytes, 116)?, length: u32_at(bytes, 120)? as usize })
    }
}
