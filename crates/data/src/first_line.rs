//! What is looked at of text that comes slowly.

use crate::readers::delimited::{BYTE_ORDER_MARK, DELIMITERS};

/// The first line that is not blank, in bytes that come one after the other.
#[derive(Default)]
pub(crate) struct FirstLine {
    length: usize,
    has_text: bool,
    has_ended: bool,
    /// Whether a line end here belongs to a cell.
    is_quoted: bool,
    /// Whether the byte before is in a cell, where a quote opens nothing.
    in_cell: bool,
}

impl FirstLine {
    /// Bytes up to its end, or those that were looked at.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Whether it ends in what has come, from its start.
    pub(crate) fn ends_in(&mut self, start: &[u8]) -> bool {
        while let Some(&byte) = start.get(self.length).filter(|_| !self.has_ended) {
            let is_mark = BYTE_ORDER_MARK.get(self.length) == Some(&byte);
            self.length += 1;
            let is_end = matches!(byte, b'\n' | b'\r') && !self.is_quoted;
            self.is_quoted ^= byte == b'"' && (self.is_quoted || !self.in_cell);
            self.in_cell = !is_end && !is_mark && !DELIMITERS.contains(&byte);
            self.has_ended = is_end && self.has_text;
            self.has_text |= !is_mark && !byte.is_ascii_whitespace();
        }
        self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many bytes come at once, it is the same line.
    #[test]
    fn it_ends_where_it_ends() {
        for (text, first) in [
            ("a,b\n1,2\n", "a,b\n"),
            ("\n \r\na;b\r\n1;2", "\n \r\na;b\r"),
            ("\"a\nb\";c\nd", "\"a\nb\";c\n"),
            ("\u{feff}\"a\n\"\"b\",c\nd", "\u{feff}\"a\n\"\"b\",c\n"),
            ("5\" pipe,x\n1,2\n", "5\" pipe,x\n"),
            ("a,b", "a,b"),
        ] {
            for step in 1..=text.len() {
                let mut line = FirstLine::default();
                let found = (step..text.len() + step).step_by(step);
                let mut found = found.map(|come| line.ends_in(&text.as_bytes()[..come.min(text.len())]));
                assert_eq!(found.any(|ended| ended), first.len() < text.len(), "{text:?}");
                drop(found);
                assert_eq!(line.length(), first.len(), "{text:?}");
            }
        }
    }
}
