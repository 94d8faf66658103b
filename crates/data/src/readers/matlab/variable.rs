//! Variables: their description and their values.

use std::io::Read;

use nalgebra_sparse::CscMatrix;

use super::super::sparse::SparseColumns;
use super::element::{Elements, Fault};

/// Longest name that is read; MATLAB's own limit is 63.
const LONGEST_NAME: u32 = 4096;
/// Most dimensions that are read.
const MOST_DIMENSIONS: u32 = 32;

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Class {
    /// Numbers of any class, also logical.
    #[default]
    Number,
    Sparse,
    /// Something else, in words.
    Other(&'static str),
}

/// The description of a variable, without its values.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub name: String,
    pub class: Class,
    pub complex: bool,
    pub n_dimensions: usize,
    pub n_rows: usize,
    pub n_columns: usize,
    /// The capacity of a sparse matrix, in values.
    pub n_stored: usize,
}

/// The values of a variable.
pub(super) enum Values {
    /// One vector for each column.
    Dense(Vec<Vec<f64>>),
    Sparse(CscMatrix<f64>),
}

impl Head {
    pub(super) fn read<R: Read>(elements: &mut Elements<R>) -> Result<Self, Fault> {
        let flags = elements.short_words(2)?;
        let [flags, n_stored] = flags.as_slice() else {
            return Fault::broken("the variable has no flags");
        };
        let class = match flags & 0xFF {
            1 => Class::Other("a cell array"),
            2 => Class::Other("a struct"),
            3 => Class::Other("an object"),
            4 => Class::Other("text (char)"),
            5 => Class::Sparse,
            6..=15 => Class::Number,
            16 => Class::Other("a function handle"),
            17 => Class::Other("an object"),
            class => return Fault::broken(format!("a variable of the unknown class {class}")),
        };
        let mut head =
            Self { class, complex: flags & 0x0800 != 0, n_stored: *n_stored as usize, ..Self::default() };
        // Class 17 has no dimensions.
        if flags & 0xFF != 17 {
            let dimensions = elements.short_words(MOST_DIMENSIONS)?;
            head.n_dimensions = dimensions.len();
            if dimensions.iter().any(|&size| size > i32::MAX as u32) {
                return Fault::broken("a variable with a negative dimension");
            }
            if let [n_rows, n_columns, ..] = dimensions.as_slice() {
                (head.n_rows, head.n_columns) = (*n_rows as usize, *n_columns as usize);
            }
        }
        head.name = String::from_utf8_lossy(&elements.short(LONGEST_NAME)?).into_owned();
        Ok(head)
    }

    /// The variable in words, such as `62 × 2000 numbers`.
    pub(super) fn describe(&self) -> String {
        let what = match self.class {
            Class::Number if self.complex => "complex numbers",
            Class::Number => "numbers",
            Class::Sparse if self.complex => "sparse complex numbers",
            Class::Sparse => "sparse numbers",
            Class::Other(what) => return what.to_owned(),
        };
        match self.n_dimensions {
            2 => format!("{} × {} {what}", self.n_rows, self.n_columns),
            other => format!("an array of {what} with {other} dimensions"),
        }
    }
}

/// The values of a dense variable, whose `head` was just read from `elements`.
pub(super) fn dense<R: Read>(elements: &mut Elements<R>, head: &Head) -> Result<Vec<Vec<f64>>, Fault> {
    let (tag, number, found) = elements.numbers()?;
    let declared = head.n_rows.checked_mul(head.n_columns);
    if declared != Some(found) {
        return Fault::broken(format!(
            "{} × {} values are declared, but {found} are stored",
            head.n_rows, head.n_columns
        ));
    }
    let mut columns: Vec<Vec<f64>> = Vec::new();
    elements.read_numbers(tag, number, |value| match columns.last_mut() {
        Some(column) if column.len() < head.n_rows => column.push(value),
        _ => {
            // Reserves the length of the first column, which was read, not the declared one.
            let mut column = Vec::with_capacity(columns.first().map_or(1, Vec::len));
            column.push(value);
            columns.push(column);
        }
    })?;
    Ok(columns)
}

/// Column offsets, row indices and values of a sparse variable, whose `head` was just read from `elements`.
pub(super) fn sparse<R: Read>(elements: &mut Elements<R>, head: &Head) -> Result<SparseColumns, Fault> {
    let mut rows = whole_numbers(elements)?;
    let offsets = whole_numbers(elements)?;
    if offsets.len() != head.n_columns + 1 {
        return Fault::broken(format!(
            "{} columns are declared, but {} offsets are stored",
            head.n_columns,
            offsets.len()
        ));
    }
    let stored = offsets.last().copied().unwrap_or(0);
    let (tag, number, _) = elements.numbers()?;
    let mut values = Vec::new();
    elements.read_numbers(tag, number, |value| values.push(value))?;
    // More values may be stored than are used.
    if stored > rows.len() || stored > values.len() {
        return Fault::broken(format!(
            "{stored} values are declared, but {} are stored",
            values.len().min(rows.len())
        ));
    }
    rows.truncate(stored);
    values.truncate(stored);
    Ok(SparseColumns { offsets, rows, values })
}

fn whole_numbers<R: Read>(elements: &mut Elements<R>) -> Result<Vec<usize>, Fault> {
    let (tag, number, _) = elements.numbers()?;
    let mut values = Vec::new();
    let mut valid = true;
    elements.read_numbers(tag, number, |value| {
        valid &= value >= 0.0 && value.fract() == 0.0;
        values.push(value as usize);
    })?;
    if valid { Ok(values) } else { Fault::broken("an index of the sparse matrix is not a whole number") }
}
