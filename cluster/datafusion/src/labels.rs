//! The names of levels and classes, numbered as they come.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, UInt64Type};
use datafusion_common::{HashMap, Result};
use fewest_core::{Error, State};

use crate::arguments::label_type;
use crate::error::corrupt;

/// The number of no label: that of a null.
pub(crate) const NONE: u32 = u32::MAX;

/// Numbers for names: whole numbers, which truth values count as, or texts.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    wholes: HashMap<i128, u32>,
    texts: HashMap<String, u32>,
    text_bytes: usize,
}

impl Labels {
    pub(crate) fn len(&self) -> usize {
        self.wholes.len() + self.texts.len()
    }

    fn whole(&mut self, whole: impl Into<i128>) -> u32 {
        let next = self.len() as u32;
        *self.wholes.entry(whole.into()).or_insert(next)
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(code) = self.texts.get(text) {
            return *code;
        }
        let next = self.len() as u32;
        self.text_bytes += text.len();
        self.texts.insert(text.to_owned(), next);
        next
    }

    /// The number of each row's label. Where there is no column, all rows have the same.
    pub(crate) fn codes(&mut self, column: Option<&ArrayRef>, n: usize) -> Result<Vec<u32>> {
        let Some(column) = column else { return Ok(vec![self.whole(0); n]) };
        Ok(match column.data_type() {
            DataType::Boolean => column
                .as_boolean()
                .iter()
                .map(|value| value.map_or(NONE, |value| self.whole(value)))
                .collect(),
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>().iter();
                values.map(|value| value.map_or(NONE, |value| self.whole(value))).collect()
            }
            DataType::UInt64 => {
                let values = column.as_primitive::<UInt64Type>().iter();
                values.map(|value| value.map_or(NONE, |value| self.whole(value))).collect()
            }
            DataType::Utf8View => {
                let values = column.as_string_view().iter();
                values.map(|value| value.map_or(NONE, |value| self.text(value))).collect()
            }
            DataType::Dictionary(_, values) if column.len() >= dictionary_len(column) => {
                self.codes_of_dictionary(column, &label_type(values))?
            }
            // A group of few rows, or no label of ours: planning has chosen the types.
            other => self.codes(Some(&cast(column, &label_type(other))?), n)?,
        })
    }

    /// Those of a dictionary, whose entries are looked at once, and only those that occur.
    fn codes_of_dictionary(&mut self, column: &ArrayRef, label_type: &DataType) -> Result<Vec<u32>> {
        let dictionary = column.as_any_dictionary();
        let keys = cast(dictionary.keys(), &DataType::Int64)?;
        let keys: &Int64Array = keys.as_primitive();
        let entries = cast(dictionary.values(), label_type)?;
        let mut known: Vec<Option<u32>> = vec![None; entries.len()];
        let mut codes = Vec::with_capacity(keys.len());
        for key in keys {
            let at = key.and_then(|key| usize::try_from(key).ok());
            codes.push(match at.and_then(|at| Some((at, known.get_mut(at)?))) {
                None => NONE,
                Some((_, Some(code))) => *code,
                Some((at, unknown)) => {
                    let own = self.codes(Some(&entries.slice(at, 1)), 1)?.first().copied().unwrap_or(NONE);
                    *unknown.insert(own)
                }
            });
        }
        Ok(codes)
    }

    /// The numbers in the order of their labels: the same for the same labels, whichever came first.
    pub(crate) fn order(&self) -> Vec<u32> {
        self.sorted().into_iter().map(|(_, code)| code).collect()
    }

    fn sorted(&self) -> Vec<(Label<'_>, u32)> {
        let wholes = self.wholes.iter().map(|(whole, code)| (Label::Whole(*whole), *code));
        let texts = self.texts.iter().map(|(text, code)| (Label::Text(text), *code));
        let mut sorted: Vec<_> = wholes.chain(texts).collect();
        sorted.sort_unstable();
        sorted
    }

    /// Adds the labels of another, and tells what their numbers are here.
    pub(crate) fn merge(&mut self, other: &Self) -> Vec<u32> {
        let mut own = vec![NONE; other.len()];
        for (label, code) in other.sorted() {
            let here = match label {
                Label::Whole(whole) => self.whole(whole),
                Label::Text(text) => self.text(text),
            };
            if let Some(own) = own.get_mut(code as usize) {
                *own = here;
            }
        }
        own
    }

    /// Bytes that they hold outside themselves.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.wholes.capacity() * size_of::<(i128, u32)>()
            + self.texts.capacity() * size_of::<(String, u32)>()
            + self.text_bytes
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Label<'a> {
    Whole(i128),
    Text(&'a str),
}

/// In their order, in which they are numbered when they are read.
impl State for Labels {
    fn save(&self, to: &mut Vec<u8>) {
        let (mut wholes, mut texts) = (Vec::new(), Vec::new());
        for (label, _) in self.sorted() {
            match label {
                Label::Whole(whole) => wholes.push(((whole >> 64) as u64, whole as u64)),
                Label::Text(text) => texts.push(text.to_owned()),
            }
        }
        (wholes, texts).save(to);
    }

    fn load(from: &mut &[u8]) -> std::result::Result<Self, Error> {
        let (wholes, texts): (Vec<(u64, u64)>, Vec<String>) = State::load(from)?;
        let n = wholes.len() + texts.len();
        let mut labels = Self::default();
        for (high, low) in wholes {
            labels.whole(i128::from(high.cast_signed()) << 64 | i128::from(low));
        }
        for text in &texts {
            labels.text(text);
        }
        // One that is told twice would shift the numbers of those behind.
        if labels.len() == n { Ok(labels) } else { Err(corrupt("a label twice")) }
    }
}

fn dictionary_len(column: &ArrayRef) -> usize {
    column.as_any_dictionary_opt().map_or(usize::MAX, |dictionary| dictionary.values().len())
}
