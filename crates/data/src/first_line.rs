//! What is looked at of text to tell what separates its cells.

use crate::readers::delimited::BYTE_ORDER_MARK;

/// Delimiters that a line above a table may tell; with another byte it is the name of a column.
const TOLD: [u8; 6] = [b',', b';', b'\t', b'|', b':', b' '];

/// What stands above a table, from the start of its text: a byte order mark, and a line such as `sep=;`,
/// which tells Excel the delimiter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Above {
    /// Its bytes, without the end of the line: what is left of that is a blank line.
    pub(crate) length: usize,
    /// The delimiter that it tells.
    pub(crate) delimiter: Option<u8>,
}

impl Above {
    /// So many bytes of text tell it.
    pub(crate) const MOST: usize = BYTE_ORDER_MARK.len() + b"sep=;\n".len();

    pub(crate) fn of(text: &[u8]) -> Self {
        let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        match text[mark..] {
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', byte, b'\r' | b'\n', ..]
                if TOLD.contains(&byte) =>
            {
                Self { length: mark + b"sep=;".len(), delimiter: Some(byte) }
            }
            _ => Self { length: mark, delimiter: None },
        }
    }
}

/// Which bytes of delimited text are in quotes, one after the other. A quote opens where a cell begins;
/// behind one that closes it stands for itself.
#[derive(Default)]
pub(crate) struct Quotes {
    is_open: bool,
    has_closed: bool,
    in_cell: bool,
}

impl Quotes {
    /// Whether `byte` is a quote or in quotes, where cells begin behind one of `between`.
    pub(crate) fn have(&mut self, byte: u8, between: &[u8]) -> bool {
        let is_quote = byte == b'"';
        if self.is_open {
            self.is_open = !is_quote;
            self.has_closed = is_quote;
            return true;
        }
        self.is_open = is_quote && (self.has_closed || !self.in_cell);
        self.has_closed = false;
        self.in_cell = self.is_open || !(between.contains(&byte) || matches!(byte, b'\n' | b'\r'));
        self.is_open
    }
}

/// The first line that is not blank, in bytes that come one after the other.
pub(crate) struct FirstLine<'a> {
    between: &'a [u8],
    quotes: Quotes,
    length: usize,
    /// Whether all bytes so far are those of a byte order mark.
    is_mark: bool,
    has_text: bool,
    has_ended: bool,
}

impl<'a> FirstLine<'a> {
    /// One whose cells begin behind one of `between`.
    pub(crate) fn new(between: &'a [u8]) -> Self {
        Self {
            between,
            quotes: Quotes::default(),
            length: 0,
            is_mark: true,
            has_text: false,
            has_ended: false,
        }
    }

    /// Bytes up to its end, or those that were looked at.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Whether it ends in what has come, from its start.
    pub(crate) fn ends_in(&mut self, start: &[u8]) -> bool {
        while let Some(&byte) = start.get(self.length).filter(|_| !self.has_ended) {
            self.is_mark &= BYTE_ORDER_MARK.get(self.length) == Some(&byte);
            self.length += 1;
            if self.is_mark {
                continue;
            }
            let is_end = !self.quotes.have(byte, self.between) && matches!(byte, b'\n' | b'\r');
            self.has_ended = is_end && self.has_text;
            self.has_text |= !byte.is_ascii_whitespace();
        }
        self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::delimited::DELIMITERS;

    #[test]
    fn a_line_for_excel_tells_the_delimiter() {
        for (text, length, delimiter) in [
            ("sep=;\na;b\n", 5, Some(b';')),
            ("\u{feff}SEP=\t\r\na\tb", 8, Some(b'\t')),
            ("\u{feff}a,b\n", 3, None),
            ("sep=;;\n", 0, None),
            ("sep=1\n2\n", 0, None),
            ("sep=-\n2\n", 0, None),
            ("sep=;", 0, None),
            ("", 0, None),
        ] {
            assert_eq!(Above::of(text.as_bytes()), Above { length, delimiter }, "{text:?}");
        }
    }

    /// However many bytes come at once, it is the same line.
    #[test]
    fn it_ends_where_it_ends() {
        for (text, first) in [
            ("a,b\n1,2\n", "a,b\n"),
            ("\n \r\na;b\r\n1;2", "\n \r\na;b\r"),
            ("\"a\nb\";c\nd", "\"a\nb\";c\n"),
            ("\"a \"\"b\"\"\nc\";d\ne", "\"a \"\"b\"\"\nc\";d\n"),
            ("\"x\"\",\";b;y\n1", "\"x\"\",\";b;y\n"),
            ("\u{feff}\"a\n\"\"b\",c\nd", "\u{feff}\"a\n\"\"b\",c\n"),
            ("\u{feff}\na\nb", "\u{feff}\na\n"),
            ("5\" pipe,x\n1,2\n", "5\" pipe,x\n"),
            ("\"a\"b\"\n1\n", "\"a\"b\"\n"),
            ("a,b", "a,b"),
        ] {
            for step in 1..=text.len() {
                let mut line = FirstLine::new(&DELIMITERS);
                let found = (step..text.len() + step).step_by(step);
                let mut found = found.map(|come| line.ends_in(&text.as_bytes()[..come.min(text.len())]));
                assert_eq!(found.any(|ended| ended), first.len() < text.len(), "{text:?}");
                drop(found);
                assert_eq!(line.length(), first.len(), "{text:?}");
            }
        }
        // Only what is asked for separates.
        let mut line = FirstLine::new(b"\t");
        assert!(line.ends_in(b"a,\"b\tc\nd"));
    }
}
