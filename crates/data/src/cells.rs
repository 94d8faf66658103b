//! Columns that a reader has decoded, and what it is asked for.

use std::path::Path;

use crate::assembly::{Parts, ReadColumn, check_infinite, text_column};
use crate::error::ColumnLabel;
use crate::levels::Interner;
use crate::missing::first_where;
use crate::roles::{self, Guess, Role};
use crate::table::Table;
use crate::target;
use crate::tokens::Tokens;
use crate::{Error, Format, Place, ReadOptions};

/// A column of a table, from a reader of another crate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cells {
    /// Finite numbers, NaN where missing.
    Numbers(Vec<f64>),
    /// Numbers of which all are finite and none is missing, see [`Cells::of_numbers`].
    Finite(Vec<f64>),
    /// Text, `None` where missing: categories, or the ids of samples.
    Texts(Vec<Option<String>>),
    /// Categories: for each sample a place in the list of names, NaN where missing. The order of the names is
    /// of no consequence, and a name may be there without a sample, or twice.
    Levels {
        /// Places in `names`, whole numbers from 0.
        codes: Vec<f64>,
        /// The text of each code.
        names: Vec<String>,
    },
}

impl Cells {
    /// Numbers, NaN where missing. Whether all are finite is found here, and not looked for again: a reader
    /// calls this when it has just decoded them, while they are in the cache of a processor.
    pub fn of_numbers(values: Vec<f64>) -> Self {
        match first_where(&values, |value| !value.is_finite()) {
            None => Self::Finite(values),
            Some(_) => Self::Numbers(values),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Finite(values) | Self::Levels { codes: values, .. } => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Without the cells whose text or number means "missing", and blanks around a text.
    fn without(self, tokens: &Tokens) -> Self {
        match self {
            Self::Numbers(mut values) => {
                tokens.remove(&mut values);
                Self::Numbers(values)
            }
            Self::Finite(values) if tokens.has_numbers() => Self::Numbers(values).without(tokens),
            Self::Finite(values) => Self::Finite(values),
            Self::Texts(texts) => {
                let kept = |text: String| (!tokens.has(&text)).then(|| text.trim().to_owned());
                Self::Texts(texts.into_iter().map(|text| text.and_then(kept)).collect())
            }
            Self::Levels { mut codes, names } => {
                let gone: Vec<bool> = names.iter().map(|name| tokens.has(name)).collect();
                if gone.contains(&true) {
                    let is_gone = |code: f64| gone.get(code as usize).copied().unwrap_or(false);
                    let present = codes.iter_mut().filter(|code| !code.is_nan());
                    present.filter(|code| is_gone(**code)).for_each(|code| *code = f64::NAN);
                }
                let names = names.into_iter().map(|name| name.trim().to_owned()).collect();
                Self::Levels { codes, names }
            }
        }
    }

    fn read_as(self, role: Role) -> ReadColumn {
        match (self, role) {
            (_, Role::Ignored) => ReadColumn::Ignored,
            (Self::Numbers(values) | Self::Finite(values), _) => target::plain(values),
            (Self::Texts(texts), Role::Id | Role::Group) => {
                ReadColumn::Ids(texts.into_iter().map(Option::unwrap_or_default).collect())
            }
            (Self::Levels { codes, names }, Role::Id | Role::Group) => {
                let text = |code: f64| names.get(code as usize).filter(|_| !code.is_nan()).cloned();
                ReadColumn::Ids(codes.into_iter().map(|code| text(code).unwrap_or_default()).collect())
            }
            (Self::Texts(texts), _) => {
                let mut levels = Interner::default();
                let code = |text: &Option<String>| {
                    text.as_deref().map_or(f64::NAN, |text| f64::from(levels.code(text)))
                };
                let codes = texts.iter().map(code).collect();
                categories(codes, levels)
            }
            (Self::Levels { mut codes, names }, _) => {
                // Only names that a sample has, and each once.
                let mut levels = Interner::default();
                let mut known: Vec<Option<u32>> = vec![None; names.len()];
                for code in codes.iter_mut().filter(|code| !code.is_nan()) {
                    *code = match (known.get_mut(*code as usize), names.get(*code as usize)) {
                        (Some(known), Some(name)) => {
                            f64::from(*known.get_or_insert_with(|| levels.code(name)))
                        }
                        _ => f64::NAN,
                    };
                }
                categories(codes, levels)
            }
        }
    }
}

/// A column of text; without a cell that is not missing it may be one of numbers.
fn categories(codes: Vec<f64>, levels: Interner) -> ReadColumn {
    match levels.names().is_empty() {
        true => target::plain(codes),
        false => text_column(codes, levels.into_names()),
    }
}

/// A column that a reader is asked for, see [`Table::from_reader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// Its number in the file, from 0.
    pub column: usize,
    /// Whether its values are names, also where they are numbers: they are wanted as text, with all digits.
    pub as_text: bool,
}

impl Table {
    /// A table of the columns that a reader found in a file. Their names count if all have one.
    ///
    /// The options determine which columns are the target, ids or left out.
    ///
    /// # Errors
    /// [`Error::Malformed`] for columns of different lengths, no samples, or an infinite value; those of
    /// [`Table::read`] for options that do not fit.
    pub fn from_columns(
        path: &Path,
        format: Format,
        columns: Vec<(Option<String>, Cells)>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let (names, cells): (Vec<Option<String>>, Vec<Cells>) = columns.into_iter().unzip();
        let names: Option<Vec<String>> = names.into_iter().collect();
        let roles = roles::assign(path, names.as_deref(), cells.len(), options)?;
        let separate_target = Vec::new();
        Decoded { path, format, names, roles, separate_target }.into_table(cells, options)
    }

    /// As [`Table::from_columns`], for a format that knows the names of its columns before it reads them, and
    /// can leave columns out: `read` is given those that are needed, in the order of their numbers, and
    /// returns their cells in that order.
    ///
    /// Cells that mean "missing" are those of [`ReadOptions::missing_tokens`]; blanks around texts and names
    /// do not count. Both are as in text files, so that a table has one answer in any format.
    ///
    /// # Errors
    /// As [`Table::from_columns`], and what `read` returns; [`Error::Malformed`] for a needed column without
    /// a name, and for two columns of one name.
    ///
    /// # Panics
    /// Where `read` returns another number of columns than it was asked for.
    ///
    /// ```
    /// use fewest_data::{Cells, Format, ReadOptions, Sniff, Table};
    /// use std::path::Path;
    /// # let format = Format::new("three", &[], |_| Sniff::No, |_, _| unimplemented!());
    /// let names = ["a", "b", "y"].map(str::to_owned).to_vec();
    /// let options = ReadOptions { ignore: vec!["b".to_owned()], ..ReadOptions::with_target("y") };
    /// let table = Table::from_reader(Path::new("t"), format, names, &options, |wanted| {
    ///     assert_eq!(wanted.iter().map(|wanted| wanted.column).collect::<Vec<_>>(), [0, 2]);
    ///     Ok(wanted.iter().map(|_| Cells::Numbers(vec![0.5, 1.5])).collect())
    /// })?;
    /// assert_eq!((table.n_samples(), table.n_features()), (2, 1));
    /// # Ok::<(), fewest_data::Error>(())
    /// ```
    pub fn from_reader(
        path: &Path,
        format: Format,
        names: Vec<String>,
        options: &ReadOptions,
        read: impl FnOnce(&[Wanted]) -> Result<Vec<Cells>, Error>,
    ) -> Result<Self, Error> {
        let names: Vec<String> = names.into_iter().map(|name| name.trim().to_owned()).collect();
        let (roles, guess) = roles::assign(path, Some(&names), names.len(), options)?;
        roles::check_names(path, &Place::File, Some(&names), &roles)?;
        let needed = |(column, role): (usize, &Role)| {
            let as_text = matches!(role, Role::Id | Role::Group);
            (*role != Role::Ignored).then_some(Wanted { column, as_text })
        };
        let wanted: Vec<Wanted> = roles.iter().enumerate().filter_map(needed).collect();
        let found = read(&wanted).map_err(|error| roles::explain(guess, error))?;
        assert_eq!(found.len(), wanted.len(), "a reader returns the columns that it is asked for");
        let tokens = Tokens::new(&options.missing_tokens);
        let mut found = wanted.iter().zip(found).map(|(wanted, cells)| match wanted.as_text {
            // As in text files, where no id is missing.
            true => cells,
            false => cells.without(&tokens),
        });
        let empty = || Cells::Numbers(Vec::new());
        let next = |role: &Role| match role {
            Role::Ignored => empty(),
            _ => found.next().unwrap_or_else(empty),
        };
        let cells = roles.iter().map(next).collect();
        let (names, roles, separate_target) = (Some(names), (roles, guess), Vec::new());
        Decoded { path, format, names, roles, separate_target }.into_table(cells, options)
    }
}

/// The table of a binary format: numbers only, no names.
pub(crate) fn from_numbers(
    path: &Path,
    format: Format,
    columns: Vec<Vec<f64>>,
    separate_target: Vec<(ColumnLabel, ReadColumn)>,
    options: &ReadOptions,
) -> Result<Table, Error> {
    let roles = roles::assign(path, None, columns.len(), options)?;
    let cells = columns.into_iter().map(Cells::Numbers).collect();
    Decoded { path, format, names: None, roles, separate_target }.into_table(cells, options)
}

/// What is known of a table beside its cells, of which the spelling is not.
struct Decoded<'a> {
    path: &'a Path,
    format: Format,
    names: Option<Vec<String>>,
    roles: (Vec<Role>, Option<Guess>),
    /// A target that is not a column of the table.
    separate_target: Vec<(ColumnLabel, ReadColumn)>,
}

impl Decoded<'_> {
    /// The first infinite value is an error.
    fn into_table(self, cells: Vec<Cells>, options: &ReadOptions) -> Result<Table, Error> {
        let Self { path, format, names, roles: (roles, guess), separate_target } = self;
        let used: Vec<(usize, &Cells)> = cells
            .iter()
            .zip(&roles)
            .enumerate()
            .filter(|(_, (_, role))| **role != Role::Ignored)
            .map(|(number, (cells, _))| (number, cells))
            .collect();
        let n_samples = used.first().map_or(0, |(_, cells)| cells.len());
        if n_samples == 0 {
            let problem = "there is no sample in it";
            return Err(Error::malformed(path, Place::File, problem, "check how it was made"));
        }
        let label = |number| roles::label(names.as_deref(), number);
        if let Some((number, cells)) = used.iter().find(|(_, cells)| cells.len() != n_samples) {
            let problem = format!("{} values, but the first column has {n_samples}", cells.len());
            let advice = "give each column one value per sample";
            return Err(Error::malformed(path, Place::Column(label(*number)), problem, advice));
        }
        let open = used.iter().filter_map(|(number, cells)| match cells {
            Cells::Numbers(values) => Some((*number, values)),
            _ => None,
        });
        let open: Vec<(usize, &Vec<f64>)> = open.collect();
        fewest_parallel::try_map(open.len(), |at| {
            let (number, values) = open[at];
            check_infinite(path, values, &label(number)).map_err(|error| roles::explain(guess, error))
        })?;
        let is_complete = used
            .iter()
            .all(|(number, cells)| !roles::is_feature(&roles[*number]) || matches!(cells, Cells::Finite(_)));
        let columns = cells.into_iter().zip(&roles).map(|(cells, role)| cells.read_as(*role)).collect();
        let path = path.to_owned();
        let parts =
            Parts { path, format, names, roles, guess, columns, n_samples, lines: None, separate_target };
        Ok(Table { is_complete, ..Table::assemble(parts, options)? })
    }
}
