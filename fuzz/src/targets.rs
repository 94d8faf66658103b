//! What takes bytes from outside, and what must hold whatever they are.

use std::fs;
use std::io::{self, Read};

use fewest::data::{
    Format, Formats, Header, Missing, ReadOptions, Reduced, Table, TargetChoice, Task, Unknown, digest,
};
use fewest::registry::{Parameters, Registry};
use fewest_arrow::{ARROW, PARQUET};
use fewest_excel::EXCEL;
use fewest_study::{Store, json};

use crate::arriving::{saved, streamed};
use crate::known::tables;
use crate::workbooks::workbook;

/// Something that reads.
pub struct Target {
    /// Its name, and that of its folder of files.
    pub name: &'static str,
    /// Gives it any bytes.
    ///
    /// Panics where a promise is broken.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 14] = [
    Target { name: "any", run: |bytes| read(bytes, None) },
    Target { name: "csv", run: |bytes| read(bytes, Some("csv")) },
    Target { name: "svmlight", run: |bytes| read(bytes, Some("svmlight")) },
    Target { name: "npy", run: |bytes| read(bytes, Some("npy")) },
    Target { name: "mat", run: |bytes| read(bytes, Some("mat")) },
    Target { name: "parquet", run: |bytes| read_columns(bytes, PARQUET, &NO_VALUES) },
    Target { name: "arrow", run: |bytes| read_columns(bytes, ARROW, &NO_VALUES) },
    Target { name: "workbook", run: |bytes| read_columns(&workbook(bytes), EXCEL, &["sick"]) },
    Target { name: "links", run: tables },
    Target { name: "stream", run: streamed },
    Target { name: "state", run: saved },
    Target { name: "param", run: parameters },
    Target { name: "resume", run: stored_folds },
    Target { name: "apply", run: applied },
];

/// Bytes of memory that a table may need: small files must not ask for more.
pub(crate) const MEMORY: u64 = 1 << 28;

/// Reads the bytes with the usual options, and what follows the first two with options that these draw.
fn read(bytes: &[u8], format: Option<&str>) {
    let formats = Formats::standard();
    let format = format.and_then(|name| formats.named(name).ok());
    let usual = ReadOptions { format, memory: Some(MEMORY), ..ReadOptions::default() };
    read_with(bytes, &usual);
    if let Some(([first, second], rest)) = bytes.split_first_chunk() {
        read_with(rest, &drawn((*first, *second), usual));
    }
}

/// Columns of the files of these formats that are none of a table.
const NO_VALUES: [&str; 5] = ["list", "struct", "map", "bytes", "fixed"];

/// Reads the bytes with the usual options, and without some columns.
fn read_columns(bytes: &[u8], format: Format, without: &[&str]) {
    let formats = Formats::standard().with(format);
    let usual = ReadOptions { formats, format: Some(format), memory: Some(MEMORY), ..ReadOptions::default() };
    let ignore = without.iter().map(|&name| name.to_owned()).collect();
    for options in [ReadOptions { ignore, ..usual.clone() }, usual] {
        read_with(bytes, &options);
    }
}

/// `options` with those changed that the bits of two bytes name.
pub(crate) fn drawn((first, second): (u8, u8), options: ReadOptions) -> ReadOptions {
    let encodings = [None, Some("latin1"), Some("utf-16le"), Some("shift_jis")];
    let patterns = [None, Some("*"), Some("?"), Some("a*")];
    let at = |byte: u8, shift: u8| usize::from(byte >> shift & 3);
    let pattern = |byte: u8, shift: u8| patterns[at(byte, shift)].map(str::to_owned).into_iter().collect();
    ReadOptions {
        transpose: first & 1 == 1,
        header: if first & 2 == 2 { Header::No } else { Header::Auto },
        encoding: encodings[at(first, 2)].map(str::to_owned),
        first_index: [None, Some(0), Some(1), Some(2)][at(first, 4)],
        id: (first & 64 == 64).then(|| "last".to_owned()),
        ignore: pattern(second, 0),
        categorical: pattern(second, 2),
        delimiter: [None, Some(','), Some(';'), Some('1')][at(second, 4)],
        task: [Task::Auto, Task::Classification, Task::Regression, Task::Auto][at(second, 6)],
        ..options
    }
}

/// A table or one line, the same from a stream that comes byte by byte, with only finite numbers, whatever
/// the policy for missing values.
fn read_with(bytes: &[u8], options: &ReadOptions) {
    for target in [TargetChoice::Guess { or_last: true }, TargetChoice::Columns(vec!["0".to_owned()])] {
        let options = ReadOptions { target, ..options.clone() };
        let whole = Table::read_bytes("input", bytes.into(), &options);
        let slow = Table::read_stream("input", Slow(bytes.to_vec().into()), &options);
        let table = match (whole, slow) {
            (Ok(table), Ok(slow)) => {
                assert_eq!(table.summary(), slow.summary(), "a stream is read as a file");
                table
            }
            (Err(error), Err(slow)) => {
                for error in [error, slow].map(|error| error.to_string()) {
                    one_line(&error);
                }
                continue;
            }
            (whole, slow) => panic!("file {:?}, stream {:?}", whole.map(|_| ()), slow.map(|_| ())),
        };
        let features = table.features();
        let mut values = vec![0.0; table.n_samples()];
        for j in 0..table.n_features() {
            features.copy_column(j, &mut values).expect("it is in memory");
            assert!(values.iter().all(|value| !value.is_infinite()));
        }
        for missing in [Missing::Error, Missing::DropRows, Missing::Mean, Missing::Median] {
            match table.clone().complete(missing) {
                Err(error) => one_line(&error.to_string()),
                Ok(complete) => {
                    let (kept, gone) = (complete.dataset.n_samples(), complete.dropped.len());
                    assert_eq!(kept + gone, table.n_samples());
                    for j in 0..complete.dataset.n_features() {
                        let mut values = vec![0.0; kept];
                        complete.dataset.x().copy_column(j, &mut values).expect("it is in memory");
                        assert!(values.iter().all(|value| value.is_finite()));
                    }
                    assert_eq!(digest(&complete.dataset).map(|digest| digest.len()), Ok(64));
                }
            }
        }
    }
}

/// A stream that gives a byte at a time.
pub(crate) struct Slow(pub std::collections::VecDeque<u8>);

impl Read for Slow {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match (out.first_mut(), self.0.pop_front()) {
            (Some(place), Some(byte)) => {
                *place = byte;
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

/// `METHOD NAME=VALUE …`: parameters of a method, which is then built and said again.
fn parameters(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split(' ');
    let id = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let registry = Registry::standard();
    let method = match registry.find(id) {
        Ok(method) => method,
        Err(error) => {
            told(&error.to_string());
            // The assignments are tried with some method in any case.
            &registry.methods()[bytes.len() % registry.methods().len()]
        }
    };
    let parameters = match Parameters::parse(method, &words) {
        Ok(parameters) => parameters,
        Err(error) => return told(&error.to_string()),
    };
    let all = |parameters: &Parameters| -> Vec<String> {
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    let said = all(&parameters);
    let words: Vec<&str> = said.iter().map(String::as_str).collect();
    let again = Parameters::parse(method, &words);
    match method.build(&parameters) {
        Ok(_) => assert_eq!(again.as_ref().map(all).as_ref(), Ok(&said), "they say themselves again"),
        Err(error) => told(&error.to_string()),
    }
}

/// A file for `--resume`: read, or refused and left as it was.
fn stored_folds(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("folds.json");
    fs::write(&path, bytes).expect("a file");
    if let Err(error) = Store::open(&path) {
        one_line(&error.to_string());
    }
    assert_eq!(fs::read(&path).expect("it is there"), bytes, "it is left as it was");
}

/// A result, a zero byte, and a new table, as `fewest apply` takes them: the selected features in the order
/// of the result, all finite, or one line.
fn applied(bytes: &[u8]) {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (result, table) = (&bytes[..at], bytes.get(at + 1..).unwrap_or_default());
    let reduction = match json::reduction_of(result) {
        Ok(reduction) => reduction,
        Err(error) => return one_line(&error.to_string()),
    };
    let options = ReadOptions {
        target: TargetChoice::None,
        header: if reduction.named { Header::Yes } else { Header::Auto },
        reduction: Some(reduction.clone()),
        memory: Some(MEMORY),
        ..ReadOptions::default()
    };
    let table = match Table::read_bytes("input", table.into(), &options) {
        Ok(table) => table,
        Err(error) => return one_line(&error.to_string()),
    };
    let n_samples = table.n_samples();
    let unknown = if n_samples % 2 == 0 { Unknown::Error } else { Unknown::Missing };
    let Reduced { dataset: reduced, filled, dropped, .. } = match reduction.apply(table, unknown) {
        Ok(reduced) => reduced,
        Err(error) => return one_line(&error.to_string()),
    };
    assert_eq!(reduced.n_features(), reduction.columns.len());
    assert_eq!(reduced.n_samples() + dropped.len(), n_samples);
    assert!(filled <= n_samples.saturating_mul(reduced.n_features()));
    let mut values = vec![0.0; reduced.n_samples()];
    for (j, column) in reduction.columns.iter().enumerate() {
        assert_eq!(reduced.feature_name(j), column.name);
        reduced.x().copy_column(j, &mut values).expect("it is in memory");
        assert!(values.iter().all(|value| value.is_finite()));
    }
}

/// There is a message. It repeats what was written, line feeds and all: the command escapes them.
pub(crate) fn told(message: &str) {
    assert!(!message.is_empty());
}

/// A message is one line.
pub(crate) fn one_line(message: &str) {
    assert!(!message.is_empty() && message.lines().count() == 1, "{message:?}");
}
