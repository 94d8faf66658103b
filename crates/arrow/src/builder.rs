//! A column while its cells come.

use std::collections::HashMap;

use fewest_data::{Cells, number_text};

use crate::kind::Kind;

/// Bytes of a text beside its letters: where it is, and how long.
const TEXT: usize = size_of::<String>() + 16;

/// Texts that are looked for one after the other.
const FEW: usize = 8;

/// The codes of texts, in the order in which they come.
#[derive(Default)]
pub(crate) struct Levels {
    known: HashMap<String, u32>,
    names: Vec<String>,
    bytes: usize,
}

impl Levels {
    fn code(&mut self, text: &str) -> f64 {
        // A few texts are compared faster than hashed.
        if let Some(code) = self.names.iter().take(FEW).position(|name| name == text) {
            return code as f64;
        }
        if let Some(code) = self.known.get(text) {
            return f64::from(*code);
        }
        let code = self.names.len() as u32;
        self.known.insert(text.to_owned(), code);
        self.names.push(text.to_owned());
        // As a name, and as the key of its code.
        self.bytes += 2 * (text.len() + TEXT);
        f64::from(code)
    }
}

/// A cell.
#[derive(Clone, Copy)]
pub(crate) enum Cell<'a> {
    Missing,
    Number(f64),
    /// A whole number that may have more digits than a float.
    Signed(i64),
    Unsigned(u64),
    Text(&'a str),
}

impl Cell<'_> {
    fn number(self) -> f64 {
        match self {
            Cell::Number(number) => number,
            Cell::Signed(number) => number as f64,
            Cell::Unsigned(number) => number as f64,
            Cell::Missing | Cell::Text(_) => f64::NAN,
        }
    }

    /// As a text file would have it.
    fn text(self) -> Option<String> {
        match self {
            Cell::Missing => None,
            Cell::Number(number) => (!number.is_nan()).then(|| number_text(number)),
            Cell::Signed(number) => Some(number.to_string()),
            Cell::Unsigned(number) => Some(number.to_string()),
            Cell::Text(text) => Some(text.to_owned()),
        }
    }
}

/// Its cells so far.
pub(crate) enum Builder {
    Numbers(Vec<f64>),
    Levels(Vec<f64>, Levels),
    /// Names of samples, with the bytes of their letters.
    Texts(Vec<Option<String>>, usize),
}

impl Builder {
    /// Without a cell; `as_text` for names of samples.
    pub(crate) fn new(kind: Kind, as_text: bool) -> Self {
        match kind {
            _ if as_text => Builder::Texts(Vec::new(), 0),
            Kind::Truth | Kind::Category => Builder::Levels(Vec::new(), Levels::default()),
            _ => Builder::Numbers(Vec::new()),
        }
    }

    /// Adds a cell.
    pub(crate) fn push(&mut self, cell: Cell<'_>) {
        match self {
            Builder::Numbers(values) => values.push(cell.number()),
            Builder::Levels(codes, levels) => codes.push(match cell {
                Cell::Missing => f64::NAN,
                Cell::Text(text) => levels.code(text),
                other => other.text().map_or(f64::NAN, |text| levels.code(&text)),
            }),
            Builder::Texts(texts, bytes) => {
                let text = cell.text();
                *bytes += text.as_ref().map_or(0, String::len);
                texts.push(text);
            }
        }
    }

    /// Adds cells of a list of texts, each of which is looked up once; `None` is missing.
    pub(crate) fn push_coded<'a>(&mut self, list: &[Cell<'a>], codes: impl Iterator<Item = Option<usize>>) {
        let mut known: Vec<Option<f64>> = vec![None; list.len()];
        for at in codes {
            let cell = at.and_then(|at| list.get(at)).copied().unwrap_or(Cell::Missing);
            match (&mut *self, at.and_then(|at| known.get_mut(at))) {
                (Builder::Levels(codes, _), Some(Some(code))) => codes.push(*code),
                (builder, place) => {
                    builder.push(cell);
                    if let (Builder::Levels(codes, _), Some(place)) = (builder, place) {
                        *place = codes.last().copied();
                    }
                }
            }
        }
    }

    /// Adds numbers, NaN for missing ones, where the column is one of numbers.
    pub(crate) fn push_numbers(&mut self, numbers: impl Iterator<Item = f64>) {
        match self {
            Builder::Numbers(values) => values.extend(numbers),
            builder => numbers.for_each(|number| builder.push(Cell::Number(number))),
        }
    }

    /// The cells of a column of numbers, NaN for missing ones.
    pub(crate) fn numbers(&mut self) -> Option<&mut Vec<f64>> {
        match self {
            Builder::Numbers(values) => Some(values),
            _ => None,
        }
    }

    /// The number of its cells.
    pub(crate) fn len(&self) -> usize {
        match self {
            Builder::Numbers(values) | Builder::Levels(values, _) => values.len(),
            Builder::Texts(texts, _) => texts.len(),
        }
    }

    /// Bytes that its cells take.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match self {
            Builder::Numbers(values) => 8 * values.len(),
            Builder::Levels(codes, levels) => 8 * codes.len() + levels.bytes,
            Builder::Texts(texts, bytes) => TEXT * texts.len() + bytes,
        };
        bytes as u64
    }

    pub(crate) fn finish(self) -> Cells {
        match self {
            Builder::Numbers(values) => Cells::of_numbers(values),
            Builder::Levels(codes, levels) => Cells::Levels { codes, names: levels.names },
            Builder::Texts(texts, _) => Cells::Texts(texts),
        }
    }
}
