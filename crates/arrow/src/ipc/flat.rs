//! FlatBuffers, as far as the metadata of Arrow files needs them: tables whose fields are found through an
//! index, with every place checked against the length of the bytes.

/// The metadata lead out of their bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Broken;

pub(super) type Result<T> = std::result::Result<T, Broken>;

/// `N` bytes at a place.
fn at<const N: usize>(bytes: &[u8], place: usize) -> Result<[u8; N]> {
    let end = place.checked_add(N).ok_or(Broken)?;
    bytes.get(place..end).and_then(|bytes| bytes.try_into().ok()).ok_or(Broken)
}

pub(super) fn i64_at(bytes: &[u8], place: usize) -> Result<i64> {
    at(bytes, place).map(i64::from_le_bytes)
}

pub(super) fn i32_at(bytes: &[u8], place: usize) -> Result<i32> {
    at(bytes, place).map(i32::from_le_bytes)
}

fn u16_at(bytes: &[u8], place: usize) -> Result<usize> {
    at(bytes, place).map(u16::from_le_bytes).map(usize::from)
}

/// The place that an offset at a place leads to.
fn follow(bytes: &[u8], place: usize) -> Result<usize> {
    let offset = at(bytes, place).map(u32::from_le_bytes)?;
    usize::try_from(offset).ok().and_then(|offset| place.checked_add(offset)).ok_or(Broken)
}

/// Items of one size, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Items {
    pub(super) start: usize,
    pub(super) count: usize,
    size: usize,
}

impl Items {
    /// No items.
    pub(super) const NONE: Self = Self { start: 0, count: 0, size: 0 };

    /// Where item `i` is.
    pub(super) fn place(&self, i: usize) -> Result<usize> {
        if i < self.count { Ok(self.start + i * self.size) } else { Err(Broken) }
    }
}

/// A table: fields are numbered, and any may be left out.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl<'a> Table<'a> {
    /// The table that the bytes are about.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self> {
        Ok(Self { bytes, place: follow(bytes, 0)? })
    }

    /// Where a field is, if it is there.
    fn field(&self, number: usize) -> Result<Option<usize>> {
        let back = i64::from(i32_at(self.bytes, self.place)?);
        let index = i64::try_from(self.place).map_err(|_| Broken)? - back;
        let index = usize::try_from(index).map_err(|_| Broken)?;
        let entry = 4 + 2 * number;
        if entry + 2 > u16_at(self.bytes, index)? {
            return Ok(None);
        }
        let offset = u16_at(self.bytes, index.checked_add(entry).ok_or(Broken)?)?;
        Ok((offset > 0).then_some(self.place + offset))
    }

    pub(super) fn i64(&self, number: usize, default: i64) -> Result<i64> {
        self.field(number)?.map_or(Ok(default), |place| i64_at(self.bytes, place))
    }

    pub(super) fn i32(&self, number: usize, default: i32) -> Result<i32> {
        self.field(number)?.map_or(Ok(default), |place| i32_at(self.bytes, place))
    }

    pub(super) fn i16(&self, number: usize, default: i16) -> Result<i16> {
        self.field(number)?.map_or(Ok(default), |place| at(self.bytes, place).map(i16::from_le_bytes))
    }

    pub(super) fn u8(&self, number: usize, default: u8) -> Result<u8> {
        self.field(number)?.map_or(Ok(default), |place| at(self.bytes, place).map(|[byte]| byte))
    }

    pub(super) fn table(&self, number: usize) -> Result<Option<Table<'a>>> {
        let Some(place) = self.field(number)? else { return Ok(None) };
        Ok(Some(Table { bytes: self.bytes, place: follow(self.bytes, place)? }))
    }

    /// Items of this many bytes each, all of which are there.
    pub(super) fn items(&self, number: usize, size: usize) -> Result<Items> {
        let Some(place) = self.field(number)? else { return Ok(Items::NONE) };
        let place = follow(self.bytes, place)?;
        let count = at(self.bytes, place).map(u32::from_le_bytes)?;
        let count = usize::try_from(count).map_err(|_| Broken)?;
        let start = place + 4;
        let end = count.checked_mul(size).and_then(|length| start.checked_add(length)).ok_or(Broken)?;
        if end <= self.bytes.len() { Ok(Items { start, count, size }) } else { Err(Broken) }
    }

    pub(super) fn tables(&self, number: usize) -> Result<impl ExactSizeIterator<Item = Result<Table<'a>>>> {
        let items = self.items(number, 4)?;
        let bytes = self.bytes;
        Ok((0..items.count).map(move |i| Ok(Table { bytes, place: follow(bytes, items.place(i)?)? })))
    }

    pub(super) fn text(&self, number: usize) -> Result<&'a str> {
        let items = self.items(number, 1)?;
        let bytes = self.bytes.get(items.start..items.start + items.count).ok_or(Broken)?;
        std::str::from_utf8(bytes).map_err(|_| Broken)
    }
}
