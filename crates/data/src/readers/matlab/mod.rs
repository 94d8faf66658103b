//! MATLAB files of level 5, which MATLAB writes with `-v6` and (compressed) with `-v7`.
//!
//! Two passes: the first reads the head of every variable, to list the variables in messages and to check
//! sizes; the second reads the features and the target. Declared sizes alone reserve no memory.

mod element;
mod variable;

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use fewest_core::method::nearest;
use flate2::bufread::ZlibDecoder;

use crate::assembly::{ReadColumn, check_infinite};
use crate::cells::from_numbers;
use crate::error::{ColumnLabel, quoted};
use crate::memory;
use crate::remote::InOrder;
use crate::source::{Content, Source};
use crate::table::Table;
use crate::target::plain;
use crate::{Error, Format, Place, ReadOptions, Sniff, TargetChoice};
use element::{Elements, Fault};
use variable::{Class, Head, Values};

const HEADER: u64 = 128;
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
/// The largest compression ratio of Deflate.
const BEST_COMPRESSION: u64 = 1032;
const SAVE_AGAIN: &str = "save the variables again from MATLAB with save(file, 'X', 'Y', '-v7')";
const COPY_AGAIN: &str = "copy the file again, or save it again with -v7";

/// MATLAB level 5, which MATLAB calls `-v6` and `-v7`.
pub(crate) const FORMAT: Format =
    Format::new("mat", &["mat"], sniff, read).with_own_target("the variable Y").with_variables();

fn sniff(start: &[u8]) -> Sniff {
    // The other bytes of the mark are line ends, where a stream is looked at no further.
    if start.starts_with(&HDF5[..4]) || start.starts_with(b"MATLAB ") { Sniff::Certain } else { Sniff::No }
}

fn read(mut source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let content = source.content(options)?;
    let path = &source.path;
    let file = MatFile::open(&source, content)?;
    let x_name = options.x_variable.as_deref().unwrap_or("X");
    let x = file
        .find(x_name, options.x_variable.is_none())
        .ok_or_else(|| file.not_found(x_name, "--x-variable"))?;
    let y = match &options.target {
        TargetChoice::None => None,
        TargetChoice::Auto | TargetChoice::Guess { .. } => file.find("Y", true),
        TargetChoice::Columns(names) => match names.as_slice() {
            [name] => file.find(name, false),
            _ => None,
        },
    };
    let y = y.filter(|y| y.start != x.start);
    if let (None, TargetChoice::Columns(names)) = (y, &options.target) {
        let number =
            |name: &String| name.parse::<usize>().is_ok_and(|n| n < x.head.n_columns) || name == "last";
        if let Some(name) = names.iter().find(|name| !number(name)) {
            return Err(file.not_found(name, "--target"));
        }
    }
    // Both heads are checked before the first value is read.
    file.check(x)?;
    let mut needed = x.bytes();
    if let Some(y) = y {
        file.check(y)?;
        check_target(path, &x.head, &y.head)?;
        needed = needed.saturating_add(memory::dense_bytes(y.head.n_rows, y.head.n_columns));
    }
    memory::check(path, needed, options)?;

    let mut targets = Vec::new();
    if let Some(y) = y {
        let columns = match file.values(y)? {
            Values::Dense(columns) => columns,
            Values::Sparse(matrix) => {
                let mut columns = vec![vec![0.0; y.head.n_rows]; y.head.n_columns];
                for (row, column, &value) in matrix.triplet_iter() {
                    columns[column][row] = value;
                }
                columns
            }
        };
        // A row vector is a target too.
        let columns = if y.head.n_rows == 1 && x.head.n_rows > 1 { vec![columns.concat()] } else { columns };
        let single = columns.len() == 1;
        for (number, values) in columns.into_iter().enumerate() {
            let name = if single { y.head.name.clone() } else { format!("{}{number}", y.head.name) };
            check_infinite(path, &values, &ColumnLabel { name: Some(name.clone()), number: None })?;
            targets.push((ColumnLabel { name: Some(name), number: None }, plain(values)));
        }
    }
    let options =
        if y.is_some() { &ReadOptions { target: TargetChoice::None, ..options.clone() } } else { options };
    match file.values(x)? {
        Values::Dense(columns) => from_numbers(path, FORMAT, columns, targets, options),
        Values::Sparse(matrix) => sparse_table(path, &x.head, matrix, targets, options),
    }
}

fn sparse_table(
    path: &Path,
    head: &Head,
    matrix: nalgebra_sparse::CscMatrix<f64>,
    targets: Vec<(ColumnLabel, ReadColumn)>,
    options: &ReadOptions,
) -> Result<Table, Error> {
    let named = matches!(options.target, TargetChoice::Columns(_))
        || options.id.is_some()
        || options.weights.is_some()
        || options.sample_groups.is_some()
        || !options.ignore.is_empty()
        || !options.categorical.is_empty();
    if named {
        let name = quoted(&head.name);
        let what = format!(
            "the variable {name} is sparse, so none of its columns can be target, id, weights, groups, \
             ignored or categorical"
        );
        return Err(Error::unsupported(path, what, "name the variable of the target, or save a full matrix"));
    }
    for (number, column) in matrix.col_iter().enumerate() {
        if let Some(at) = column.values().iter().position(|value| value.is_infinite()) {
            let place = Place::Cell {
                row: crate::RowLabel::Sample(column.row_indices()[at]),
                column: ColumnLabel { name: None, number: Some(number) },
            };
            let advice = "replace it (by NaN if the value is missing)";
            return Err(Error::malformed(path, place, "the value is infinite", advice));
        }
    }
    Table::sparse(path.to_owned(), FORMAT, matrix, targets, None, options)
}

fn check_target(path: &Path, x: &Head, y: &Head) -> Result<(), Error> {
    let length = if y.n_rows == 1 { y.n_columns } else { y.n_rows };
    if y.n_rows == x.n_rows || (y.n_rows == 1 && y.n_columns == x.n_rows) {
        return Ok(());
    }
    let problem =
        format!("{} × {} values for the {} samples of {}", y.n_rows, y.n_columns, x.n_rows, quoted(&x.name));
    let advice = if length == x.n_columns {
        "the features seem to be in the rows: save the transposed matrix, samples × features"
    } else {
        "give one row for each sample"
    };
    Err(Error::malformed(path, Place::Variable(y.name.clone()), problem, advice))
}

/// A variable and its position in the file.
struct Variable {
    head: Head,
    start: u64,
    /// Bytes of the element, compressed or not.
    length: u64,
    compressed: bool,
}

impl Variable {
    /// Bytes of its values in memory; for a sparse variable including one dense column.
    fn bytes(&self) -> u64 {
        match self.head.class {
            Class::Sparse => (self.head.n_columns as u64)
                .saturating_add(self.head.n_rows as u64)
                .saturating_mul(8)
                .saturating_add((self.head.n_stored as u64).saturating_mul(16)),
            _ => memory::dense_bytes(self.head.n_rows, self.head.n_columns),
        }
    }
}

struct MatFile<'a> {
    path: &'a Path,
    content: Content,
    big_endian: bool,
    variables: Vec<Variable>,
}

impl<'a> MatFile<'a> {
    /// Reads the heads of all variables.
    fn open(source: &'a Source, content: Content) -> Result<Self, Error> {
        let path = source.path.as_path();
        if source.compressed {
            return Err(Error::unsupported(
                path,
                "a gzip-compressed .mat file",
                "decompress it first (gunzip)",
            ));
        }
        let start = &source.prefix;
        if start.starts_with(HDF5) || start.starts_with(b"MATLAB 7.3") || start.get(512..520) == Some(HDF5) {
            return Err(Error::unsupported(path, "a MATLAB file of version 7.3 (HDF5)", SAVE_AGAIN));
        }
        // Level 5 starts with text, level 4 with a type number that contains zero bytes.
        if start.iter().take(4).any(|&byte| byte == 0) {
            return Err(Error::unsupported(
                path,
                "a MATLAB file of level 4, or not a MATLAB file",
                SAVE_AGAIN,
            ));
        }
        let (Some(version), Some(order)) = (start.get(124..126), start.get(126..128)) else {
            let problem = format!("{} bytes are too few for a .mat file", start.len());
            return Err(Error::malformed(path, Place::File, problem, COPY_AGAIN));
        };
        let big_endian = match order {
            b"IM" => false,
            b"MI" => true,
            _ => {
                return Err(Error::unsupported(path, "not a MATLAB file of level 5", SAVE_AGAIN));
            }
        };
        let version = if big_endian { [version[0], version[1]] } else { [version[1], version[0]] };
        if version != [1, 0] {
            let what = format!("a MATLAB file of version {}.{}", version[0], version[1]);
            return Err(Error::unsupported(path, what, SAVE_AGAIN));
        }
        let mut file = Self { path, content, big_endian, variables: Vec::new() };
        file.scan()?;
        Ok(file)
    }

    /// Reads the head of every variable.
    fn scan(&mut self) -> Result<(), Error> {
        let end = self.content.length().map_err(|error| Error::reading(self.path, error))?;
        let mut position = HEADER;
        while position < end {
            let place = Place::Byte(position);
            let tag = Elements::new(self.bytes_from(position)?, self.big_endian)
                .outer_tag()
                .map_err(|fault| self.fault(place.clone(), fault))?;
            let start = position + 8;
            let length = u64::from(tag.length);
            let follow = end.saturating_sub(start);
            if length > follow {
                let problem = format!("a variable of {length} bytes is declared, but {follow} follow");
                return Err(Error::malformed(self.path, place, problem, COPY_AGAIN));
            }
            let compressed = match tag.kind {
                element::COMPRESSED => true,
                element::MATRIX => false,
                kind => return Err(self.no_variable(position, kind)),
            };
            let mut variable = Variable { head: Head::default(), start, length, compressed };
            let head = Head::read(&mut self.elements(&variable)?);
            variable.head = head.map_err(|fault| self.fault(place, fault))?;
            self.variables.push(variable);
            position = start + length;
        }
        Ok(())
    }

    fn bytes_from(&self, position: u64) -> Result<Box<dyn BufRead + '_>, Error> {
        match &self.content {
            Content::File(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(position)).map_err(|error| Error::reading(self.path, error))?;
                Ok(Box::new(BufReader::new(file)))
            }
            Content::Bytes(bytes) => {
                let start = usize::try_from(position).map_or(bytes.len(), |start| start.min(bytes.len()));
                Ok(Box::new(&bytes[start..]))
            }
            Content::Remote(remote) => {
                let in_order = InOrder { remote: remote.clone(), next: position };
                Ok(Box::new(BufReader::new(in_order)))
            }
        }
    }

    /// The elements inside a variable, decompressed. One variable is read at a time, as all share the file.
    fn elements(&self, variable: &Variable) -> Result<Elements<Box<dyn Read + '_>>, Error> {
        let content = self.bytes_from(variable.start)?.take(variable.length);
        if !variable.compressed {
            return Ok(Elements::new(Box::new(content), self.big_endian));
        }
        let content: Box<dyn Read + '_> = Box::new(BufReader::new(ZlibDecoder::new(content)));
        let mut elements = Elements::new(content, self.big_endian);
        let tag = elements.outer_tag().map_err(|fault| self.fault(Place::Byte(variable.start), fault))?;
        if tag.kind != element::MATRIX {
            return Err(self.no_variable(variable.start, tag.kind));
        }
        Ok(elements)
    }

    fn no_variable(&self, position: u64, kind: u32) -> Error {
        let problem = format!("an element of type {kind} where a variable should be");
        Error::malformed(self.path, Place::Byte(position), problem, COPY_AGAIN)
    }

    /// The variable of this name. With `any_case`, otherwise the one whose name differs only in case, if
    /// there is exactly one.
    fn find(&self, name: &str, any_case: bool) -> Option<&Variable> {
        let exact = self.variables.iter().find(|variable| variable.head.name == name);
        if exact.is_some() || !any_case {
            return exact;
        }
        let mut close = self.variables.iter().filter(|v| v.head.name.eq_ignore_ascii_case(name));
        close.next().filter(|_| close.next().is_none())
    }

    fn not_found(&self, name: &str, option: &str) -> Error {
        let found: Vec<String> = self
            .variables
            .iter()
            .filter(|variable| !variable.head.name.is_empty())
            .map(|variable| format!("{} ({})", quoted(&variable.head.name), variable.head.describe()))
            .take(8)
            .collect();
        let expected = if found.is_empty() {
            "the file holds no variable at all".to_owned()
        } else {
            format!("there are {}; name one (on the command line: {option})", found.join(", "))
        };
        let names = self.variables.iter().map(|variable| variable.head.name.as_str());
        let names: Vec<&str> = names.collect();
        Error::NotFound {
            path: self.path.to_owned(),
            what: "variable",
            name: name.to_owned(),
            expected,
            near: nearest(name, &names).into_iter().next(),
        }
    }

    /// An error unless the variable is a matrix of numbers whose size fits its bytes.
    fn check(&self, variable: &Variable) -> Result<(), Error> {
        let head = &variable.head;
        let refuse = |advice: &str| {
            let what = format!("the variable {} is {}", quoted(&head.name), head.describe());
            Err(Error::unsupported(self.path, what, advice))
        };
        if !matches!(head.class, Class::Number | Class::Sparse) {
            return refuse("save a matrix of numbers, samples × features, and a vector of labels");
        }
        if head.complex {
            return refuse("save its real and imaginary parts, or its absolute value abs(), as features");
        }
        if head.n_dimensions != 2 {
            return refuse("save a matrix with two dimensions, samples × features");
        }
        if head.n_rows == 0 || head.n_columns == 0 {
            return refuse("save a matrix that is not empty");
        }
        let most = if variable.compressed {
            variable.length.saturating_mul(BEST_COMPRESSION)
        } else {
            variable.length
        };
        let least = match head.class {
            // One offset for each column; empty rows need no bytes.
            Class::Sparse => (head.n_columns as u64).saturating_mul(4),
            _ => memory::table_bytes(head.n_rows, head.n_columns, 1),
        };
        if least > most {
            let problem = format!(
                "{} × {} values are declared, more than its {} bytes can hold",
                head.n_rows, head.n_columns, variable.length
            );
            return Err(Error::malformed(self.path, Place::Variable(head.name.clone()), problem, COPY_AGAIN));
        }
        Ok(())
    }

    fn values(&self, variable: &Variable) -> Result<Values, Error> {
        let place = || Place::Variable(variable.head.name.clone());
        let mut elements = self.elements(variable)?;
        let fault = |fault| self.fault(place(), fault);
        let head = Head::read(&mut elements).map_err(fault)?;
        match head.class {
            Class::Sparse => {
                let columns = variable::sparse(&mut elements, &head).map_err(fault)?;
                columns.into_matrix(self.path, head.n_rows).map(Values::Sparse)
            }
            _ => variable::dense(&mut elements, &head).map(Values::Dense).map_err(fault),
        }
    }

    fn fault(&self, place: Place, fault: Fault) -> Error {
        match fault {
            Fault::Broken(problem) => Error::malformed(self.path, place, problem, COPY_AGAIN),
            Fault::Io(error) => Error::reading(self.path, error),
        }
    }
}
