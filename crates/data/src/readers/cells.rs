//! Cells of text tables, and the columns built from them.

use crate::assembly::{ReadColumn, text_column};
use crate::error::quoted;
use crate::levels::{Interner, Spellings};
use crate::options::Task;
use crate::roles::Role;
use crate::target::{MANY_CLASSES, plain};
use crate::tokens::Tokens;

/// Bytes of a text in memory beside its letters.
const TEXT: usize = size_of::<String>() + 16;

/// What a cell holds, with its text or where that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<T> {
    /// A word that means "missing", as written: in a column of sample ids it is an id like any other.
    Missing(T),
    /// A finite number and how it was written.
    Number(f64, T),
    Infinite(T),
    Text(T),
}

impl<T> Cell<T> {
    /// The text.
    pub(super) fn text(&self) -> &T {
        let (Cell::Missing(text) | Cell::Number(_, text) | Cell::Infinite(text) | Cell::Text(text)) = self;
        text
    }

    /// The same with another text.
    pub(super) fn with<U>(&self, text: U) -> Cell<U> {
        match self {
            Cell::Missing(_) => Cell::Missing(text),
            Cell::Number(value, _) => Cell::Number(*value, text),
            Cell::Infinite(_) => Cell::Infinite(text),
            Cell::Text(_) => Cell::Text(text),
        }
    }
}

/// Decides whether a cell is missing, a number or text.
pub(super) struct Classifier {
    tokens: Tokens,
    /// Whether a comma may be the decimal mark.
    decimal_comma: bool,
}

impl Classifier {
    /// `tokens` are the cells that mean "missing".
    pub(super) fn new(tokens: &[String], decimal_comma: bool) -> Self {
        Self { tokens: Tokens::new(tokens), decimal_comma }
    }

    /// The content of a cell, without the blanks around it. NaN is always missing.
    ///
    /// # Errors
    /// For a cell that is not UTF-8, its text with the invalid bytes replaced.
    pub(super) fn classify<'a>(&self, cell: &'a [u8]) -> Result<Cell<&'a str>, String> {
        let text = std::str::from_utf8(cell).map_err(|_| String::from_utf8_lossy(cell).into_owned())?.trim();
        Ok(match self.number(text) {
            Some(number) if self.tokens.has_number(number) => Cell::Missing(text),
            Some(number) if number.is_finite() => Cell::Number(number, text),
            Some(_) => Cell::Infinite(text),
            None if self.tokens.has_word(text) => Cell::Missing(text),
            None => Cell::Text(text),
        })
    }

    /// Whether a number may have a comma in place of the point.
    pub(super) fn takes_commas(&self) -> bool {
        self.decimal_comma
    }

    /// Whether this number means "missing"; NaN always does.
    pub(super) fn is_missing(&self, number: f64) -> bool {
        self.tokens.has_number(number)
    }

    fn number(&self, text: &str) -> Option<f64> {
        let number = text.parse().ok();
        // A comma at the end, or in a number with a point, is not a decimal mark.
        let comma = number.is_none() && self.decimal_comma && !text.ends_with(',') && !text.contains('.');
        if comma && text.contains(',') { text.replace(',', ".").parse().ok() } else { number }
    }
}

/// A column while its file is read.
pub(super) struct Builder {
    content: Content,
    is_target: bool,
    /// Bytes that its texts take.
    text_bytes: u64,
}

enum Content {
    /// Only missing cells so far.
    Undecided {
        missing: usize,
    },
    Numbers {
        values: Vec<f64>,
        spellings: Spellings,
        /// The first number with a decimal comma, and its sample.
        comma: Option<(usize, String)>,
        /// The first number with a decimal point.
        point: Option<String>,
    },
    Text {
        codes: Vec<f64>,
        levels: Interner,
        /// Whether numbers are levels too.
        numbers_too: bool,
    },
    Ids(Vec<String>),
    Ignored,
}

impl Content {
    fn numbers(values: Vec<f64>) -> Self {
        Content::Numbers { values, spellings: Spellings::default(), comma: None, point: None }
    }
}

/// What may help where columns are mixed.
pub(super) const IF_FEATURES: &str = "transpose the table if its lines are features, such as genes";

/// What is wrong with a cell, and what to do.
pub(super) type Fault = (String, String);

impl Builder {
    pub(super) fn new(role: Role, task: Task) -> Self {
        let text = Content::Text { codes: Vec::new(), levels: Interner::default(), numbers_too: true };
        let numbers = Content::numbers(Vec::new());
        let content = match (role, task) {
            (Role::Id | Role::Group, _) => Content::Ids(Vec::new()),
            (Role::Ignored, _) => Content::Ignored,
            (Role::Category, _) | (Role::Target(_), Task::Classification) => text,
            (Role::Target(_), Task::Regression) | (Role::Target(0), Task::Survival) | (Role::Weight, _) => {
                numbers
            }
            (Role::Feature, _) | (Role::Target(_), Task::Auto | Task::Survival) => {
                Content::Undecided { missing: 0 }
            }
        };
        Self { content, is_target: matches!(role, Role::Target(_)), text_bytes: 0 }
    }

    /// Makes room for this many cells.
    pub(super) fn reserve(&mut self, n_cells: usize) -> Result<(), ()> {
        match &mut self.content {
            Content::Numbers { values, .. } | Content::Text { codes: values, .. } => {
                values.try_reserve(n_cells)
            }
            Content::Ids(ids) => ids.try_reserve(n_cells),
            Content::Undecided { .. } | Content::Ignored => Ok(()),
        }
        .map_err(|_| ())
    }

    /// Bytes that its cells take.
    pub(super) fn bytes(&self) -> u64 {
        let n_cells = match &self.content {
            Content::Numbers { values, .. } | Content::Text { codes: values, .. } => values.len(),
            Content::Undecided { missing } => *missing,
            Content::Ids(_) | Content::Ignored => 0,
        };
        n_cells as u64 * 8 + self.text_bytes
    }

    /// Bytes of texts, beside a number a cell, that more rows have more of: not of a few levels that come
    /// again.
    pub(super) fn text_bytes(&self) -> u64 {
        match &self.content {
            Content::Text { codes, levels, .. } if 2 * levels.names().len() <= codes.len() => 0,
            _ => self.text_bytes,
        }
    }

    /// Takes plain numbers, NaN for missing cells. Where there was text, it stops at the first number and
    /// returns how many it took.
    pub(super) fn push_numbers(&mut self, mut numbers: impl Iterator<Item = f64>) -> Option<usize> {
        let mut taken = 0;
        while let Some(number) = numbers.next() {
            match &mut self.content {
                Content::Undecided { missing } if number.is_nan() => *missing += 1,
                Content::Undecided { missing } => {
                    let mut values = vec![f64::NAN; *missing];
                    values.push(number);
                    self.content = Content::numbers(values);
                }
                Content::Numbers { values, .. } => {
                    values.push(number);
                    values.extend(numbers.by_ref());
                }
                Content::Text { codes, .. } if number.is_nan() => codes.push(number),
                Content::Text { .. } | Content::Ids(_) => return Some(taken),
                Content::Ignored => {}
            }
            taken += 1;
        }
        None
    }

    pub(super) fn push(&mut self, cell: Cell<&str>) -> Result<(), Fault> {
        if let Content::Undecided { missing } = self.content {
            let gaps = vec![f64::NAN; missing];
            self.content = match cell {
                Cell::Missing(_) => Content::Undecided { missing: missing + 1 },
                Cell::Number(..) | Cell::Infinite(_) => Content::numbers(gaps),
                Cell::Text(_) => {
                    Content::Text { codes: gaps, levels: Interner::default(), numbers_too: false }
                }
            };
        }
        match &mut self.content {
            Content::Undecided { .. } | Content::Ignored => Ok(()),
            Content::Ids(ids) => {
                ids.push((*cell.text()).to_owned());
                self.text_bytes += (cell.text().len() + TEXT) as u64;
                Ok(())
            }
            Content::Numbers { values, spellings, comma, point } => match cell {
                Cell::Missing(_) => {
                    values.push(f64::NAN);
                    Ok(())
                }
                Cell::Number(number, text) => {
                    if comma.is_none() && text.contains(',') {
                        *comma = Some((values.len(), text.to_owned()));
                    } else if point.is_none() && text.contains('.') {
                        *point = Some(text.to_owned());
                    }
                    if let (Some((_, comma)), Some(point)) = (comma, point) {
                        let problem = format!(
                            "{} and {} are in the same column of numbers",
                            quoted(comma),
                            quoted(point)
                        );
                        let advice = "use one decimal mark, and nothing between thousands";
                        return Err((problem, advice.to_owned()));
                    }
                    values.push(number);
                    if self.is_target {
                        spellings.note(number, text, MANY_CLASSES);
                    }
                    Ok(())
                }
                Cell::Infinite(text) => Err((
                    format!("{} is infinite", quoted(text)),
                    "replace it, or say that it means \"missing\" (on the command line: --missing-token)"
                        .to_owned(),
                )),
                Cell::Text(text) => {
                    Err((format!("{} is text in a column of numbers", quoted(text)), self.advice()))
                }
            },
            Content::Text { codes, levels, numbers_too } => {
                let text = match cell {
                    Cell::Missing(_) => {
                        codes.push(f64::NAN);
                        return Ok(());
                    }
                    Cell::Number(_, text) if !*numbers_too => {
                        let earlier = levels.names().first().map(|name| quoted(name)).unwrap_or_default();
                        let problem =
                            format!("{} is a number in a column of text such as {earlier}", quoted(text));
                        return Err((problem, self.advice()));
                    }
                    Cell::Number(_, text) | Cell::Infinite(text) | Cell::Text(text) => text,
                };
                let known = levels.names().len();
                codes.push(f64::from(levels.code(text)));
                if levels.names().len() > known {
                    // A name is there twice: as a name, and as the key of its code.
                    self.text_bytes += 2 * (text.len() + TEXT) as u64;
                }
                Ok(())
            }
        }
    }

    fn advice(&self) -> String {
        let category = if self.is_target { "--task classification" } else { "--categorical" };
        format!(
            "correct it, declare it as missing, declare the column as categorical, or {IF_FEATURES} (on the command \
             line: --missing-token, {category}, --transpose)"
        )
    }

    pub(super) fn finish(self) -> ReadColumn {
        match self.content {
            Content::Undecided { missing } => plain(vec![f64::NAN; missing]),
            Content::Numbers { values, spellings, comma, .. } => {
                ReadColumn::Numbers { values, spellings, decimal_comma: comma }
            }
            Content::Text { codes, levels, .. } => text_column(codes, levels.into_names()),
            Content::Ids(ids) => ReadColumn::Ids(ids),
            Content::Ignored => ReadColumn::Ignored,
        }
    }
}
