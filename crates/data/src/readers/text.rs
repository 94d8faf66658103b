//! Text in large pieces: line ends of all systems made the same, cells and records found in it.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use memchr::{memchr, memchr2, memrchr};

/// Bytes that are read at once: at most so many, which is as fast as more, and where there is little memory
/// fewer. Cells take up to some thirty times their text while they are parsed.
pub(super) const BLOCK: usize = 8 << 20;
pub(super) const LEAST_BLOCK: usize = 1 << 19;
/// Bytes of a part of a block, which one thread reads: less where the block is small, so that each thread has
/// one.
const PART: usize = 1 << 18;
const PARTS: usize = 16;
const LEAST_PART: usize = 1 << 15;
/// Longest cell: a longer one is a table whose quotes or delimiters are wrong.
pub(super) const LONGEST_CELL: usize = 1 << 20;

/// Text in which every line, also the last, ends in one line feed, whatever it ended in before.
pub(super) struct Blocks<R = Box<dyn BufRead>> {
    inner: R,
    skip: usize,
    after_return: bool,
    ended: bool,
}

impl<R: BufRead> Blocks<R> {
    /// Reads `inner` from its byte `skip` on.
    pub(super) fn new(inner: R, skip: usize) -> Self {
        Self { inner, skip, after_return: false, ended: false }
    }

    /// Appends up to `block` bytes to `text`; false where nothing is left. A last line without a line feed
    /// gets one.
    pub(super) fn append_to(&mut self, text: &mut Vec<u8>, block: usize) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let start = text.len();
        text.try_reserve_exact(block + self.skip + 1)
            .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
        let read = self.inner.by_ref().take((block + self.skip) as u64).read_to_end(text);
        let Ok(count) = read else {
            // What came before tells the line of the error.
            unify(text, start);
            return read.map(|_| false);
        };
        if count == 0 {
            self.ended = true;
            if text.last().is_some_and(|&last| last != b'\n') {
                text.push(b'\n');
                return Ok(true);
            }
            return Ok(false);
        }
        text.drain(start..start + self.skip.min(count));
        self.skip = 0;
        if self.after_return && text.get(start) == Some(&b'\n') {
            text.remove(start);
        }
        self.after_return = text.len() > start && text.last() == Some(&b'\r');
        unify(text, start);
        Ok(true)
    }
}

/// Makes one line feed of each `\r\n` and `\r` from `start` on.
fn unify(text: &mut Vec<u8>, start: usize) {
    let Some(first) = memchr(b'\r', &text[start..]) else { return };
    let mut to = start + first;
    let mut from = to;
    while from < text.len() {
        let byte = text[from];
        from += 1;
        if byte == b'\r' && text.get(from) == Some(&b'\n') {
            continue;
        }
        text[to] = if byte == b'\r' { b'\n' } else { byte };
        to += 1;
    }
    text.truncate(to);
}

/// Where the cell that starts at `at` ends: at the delimiter or line feed behind it, or `None` where the text
/// ends first. A cell in double quotes may hold both.
pub(super) fn cell_end(text: &[u8], at: usize, delimiter: u8) -> Option<usize> {
    let mut at = at;
    if text.get(at) == Some(&b'"') {
        at += 1;
        loop {
            at += memchr(b'"', text.get(at..)?)? + 1;
            if text.get(at) != Some(&b'"') {
                break;
            }
            at += 1;
        }
    }
    Some(at + memchr2(delimiter, b'\n', text.get(at..)?)?)
}

/// What a cell says: without the quotes around it, two inside for one.
pub(super) fn content(cell: &[u8]) -> Cow<'_, [u8]> {
    let Some(inside) = cell.strip_prefix(b"\"") else { return Cow::Borrowed(cell) };
    match memchr(b'"', inside) {
        None => return Cow::Borrowed(inside),
        Some(at) if at + 1 == inside.len() => return Cow::Borrowed(&inside[..at]),
        Some(_) => {}
    }
    let mut text = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..at]);
        let behind = &rest[at + 1..];
        match behind.strip_prefix(b"\"") {
            Some(more) => {
                text.push(b'"');
                rest = more;
            }
            // Behind the closing quote, a quote is a letter like any other.
            None => {
                text.extend_from_slice(behind);
                return Cow::Owned(text);
            }
        }
    }
    text.extend_from_slice(rest);
    Cow::Owned(text)
}

/// Where the record that starts at `at` ends, behind its line feed.
pub(super) fn record_end(text: &[u8], mut at: usize, delimiter: u8) -> Option<usize> {
    loop {
        let end = cell_end(text, at, delimiter)?;
        if text[end] == b'\n' {
            return Some(end + 1);
        }
        at = end + 1;
    }
}

/// The next record, from `at` on: where it starts, how many blank lines come before it, and where it ends.
pub(super) fn next_record(text: &[u8], mut at: usize, delimiter: u8) -> Option<(usize, u64, usize)> {
    let mut blank = 0;
    while text.get(at) == Some(&b'\n') {
        at += 1;
        blank += 1;
    }
    Some((at, blank, record_end(text, at, delimiter)?))
}

/// The cells of a whole record.
pub(super) fn cells(record: &[u8], delimiter: u8) -> Vec<Cow<'_, [u8]>> {
    let mut cells = Vec::new();
    let mut at = 0;
    while let Some(end) = cell_end(record, at, delimiter) {
        cells.push(content(&record[at..end]));
        at = end + 1;
        if at == record.len() && record[end] == b'\n' {
            break;
        }
    }
    cells
}

/// How many line feeds there are.
pub(super) fn line_feeds(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Where the parts of the whole records in `text` start, and where the last one ends.
pub(super) fn divide(text: &[u8], delimiter: u8) -> Vec<usize> {
    let mut bounds = vec![0];
    let mut last = 0;
    let part = (text.len() / PARTS).clamp(LEAST_PART, PART);
    if memchr(b'"', text).is_none() {
        let end = memrchr(b'\n', text).map_or(0, |at| at + 1);
        while end - last > part {
            let Some(at) = memchr(b'\n', &text[last + part..end]) else { break };
            last += part + at + 1;
            bounds.push(last);
        }
        if end > last {
            bounds.push(end);
        }
        return bounds;
    }
    let mut at = 0;
    while let Some((_, _, end)) = next_record(text, at, delimiter) {
        at = end;
        if at - last >= part {
            bounds.push(at);
            last = at;
        }
    }
    if at > last {
        bounds.push(at);
    }
    bounds
}

/// The length of the longest cell of a record that may not be whole.
pub(super) fn longest_cell(text: &[u8], delimiter: u8) -> usize {
    let (mut at, mut longest) = (0, 0);
    while let Some(end) = cell_end(text, at, delimiter) {
        longest = longest.max(end - at);
        at = end + 1;
    }
    longest.max(text.len().saturating_sub(at))
}

/// Powers of ten that are numbers without rounding.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// A finite number in digits that fills the cell at `at`, where the cell ends, and whether there is a point
/// in it; `None` for everything else, also for a few numbers.
pub(super) fn number(text: &[u8], at: usize, delimiter: u8) -> Option<(f64, usize, bool)> {
    let mut i = at;
    let mut negative = false;
    let mut byte = *text.get(i)?;
    if byte == b'-' || byte == b'+' {
        negative = byte == b'-';
        i += 1;
        byte = *text.get(i)?;
    }
    let mut mantissa: u64 = 0;
    let first = i;
    while byte.is_ascii_digit() {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        i += 1;
        byte = *text.get(i)?;
    }
    let mut n_digits = i - first;
    let mut exponent = 0_i64;
    let point = byte == b'.';
    if point {
        i += 1;
        byte = *text.get(i)?;
        let first = i;
        while byte.is_ascii_digit() {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            i += 1;
            byte = *text.get(i)?;
        }
        exponent = -((i - first) as i64);
        n_digits += i - first;
    }
    if n_digits == 0 || i - at > LONGEST_CELL {
        return None;
    }
    if byte == b'e' || byte == b'E' {
        i += 1;
        byte = *text.get(i)?;
        let down = byte == b'-';
        if byte == b'-' || byte == b'+' {
            i += 1;
            byte = *text.get(i)?;
        }
        let first = i;
        let mut size = 0_i64;
        while byte.is_ascii_digit() && i - first < 6 {
            size = size * 10 + i64::from(byte - b'0');
            i += 1;
            byte = *text.get(i)?;
        }
        if i == first {
            return None;
        }
        exponent += if down { -size } else { size };
    }
    if byte != delimiter && byte != b'\n' {
        return None;
    }
    let power = POWERS.get(exponent.unsigned_abs() as usize);
    if let (Some(power), true) = (power, n_digits <= 19 && mantissa <= 1 << 53) {
        // Both are exact, so that one division or product is the nearest number.
        let size = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
        return Some((if negative { -size } else { size }, i, point));
    }
    let value: f64 = std::str::from_utf8(&text[at..i]).ok()?.parse().ok()?;
    value.is_finite().then_some((value, i, point))
}

/// Whether no number holds this delimiter, so that [`number`] can be used.
pub(super) fn is_outside_numbers(delimiter: u8) -> bool {
    !delimiter.is_ascii_digit() && !b"+-.eE".contains(&delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(given: &str, capacity: usize) -> String {
        let reader = io::BufReader::with_capacity(capacity, io::Cursor::new(given.to_owned()));
        let mut blocks = Blocks::new(Box::new(reader), 0);
        let mut text = Vec::new();
        while blocks.append_to(&mut text, BLOCK).unwrap() {}
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn every_line_ends_in_one_line_feed() {
        for (given, expected) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\rb", "a\nb\n"),
            ("a\n\nb\n", "a\n\nb\n"),
            ("a\r\n\r\nb", "a\n\nb\n"),
            ("\r\n", "\n"),
            ("", ""),
        ] {
            assert_eq!(unified(given, 3), expected, "{given:?}");
        }
        // A pair on both sides of two blocks.
        let long = "x".repeat(BLOCK - 1);
        assert_eq!(unified(&format!("{long}\r\ny\r"), 1 << 16), format!("{long}\ny\n"));
    }

    #[test]
    fn cells_are_those_of_the_csv_crate() {
        for record in [
            "a,b,c\n",
            ",\n",
            "\"a\",\"b,c\"\n",
            "\"a\"\"b\",x\n",
            "\"a\"b\"c,d\n",
            "a\"b\",c\n",
            "\"\"\n",
            "\"\"\"\"\n",
            "\"a\nb\",c\n",
            " \"a\",b\n",
            "\"a\"\"\",\n",
        ] {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(record.as_bytes());
            let expected = reader.byte_records().next().unwrap().unwrap();
            let found = cells(record.as_bytes(), b',');
            assert!(found.iter().map(|cell| &**cell).eq(expected.iter()), "{record:?}: {found:?}");
            assert_eq!(record_end(record.as_bytes(), 0, b','), Some(record.len()));
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut texts: Vec<String> = [
            "0",
            "-0",
            "1.",
            ".5",
            "-.5",
            "+7",
            "1e5",
            "1E-5",
            "1e+22",
            "1e23",
            "9007199254740993",
            "1e308",
            "1e309",
            "4.9e-324",
            "1e-400",
            "123456789012345678901234567890",
            "0.1",
            "-1.7976931348623157e308",
            ".",
            "-",
            "e5",
            "1e",
            "1e+",
            "1-",
            "nan",
            "inf",
            "1_0",
            "0x1",
            "1.2.3",
            "",
            "1e0000001",
            "1e-0000000001",
            "0.000000000000000000000000000012345",
        ]
        .map(str::to_owned)
        .to_vec();
        let mut state = 7_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state);
            texts.push(value.to_string());
            texts.push(format!("{value:e}"));
            texts.push(format!("{:.3}", (state >> 40) as f64 / 997.0));
        }
        for text in &texts {
            let cell = format!("{text},");
            let expected = text.parse::<f64>().ok().filter(|value| value.is_finite());
            if let Some((value, end, point)) = number(cell.as_bytes(), 0, b',') {
                assert_eq!(Some(value.to_bits()), expected.map(f64::to_bits), "{text}");
                assert_eq!((end, point), (text.len(), text.contains('.')), "{text}");
            } else {
                assert!(
                    expected.is_none() || text.contains("e000000") || text.contains("e-000000"),
                    "{text}"
                );
            }
        }
    }
}
