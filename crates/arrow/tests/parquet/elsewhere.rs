//! Tables that lie elsewhere than in files.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use fewest_core::{Dataset, DenseColumns, SampleStream, Target};
use fewest_data::{Folder, Passes, Remote};

use super::*;

const MEMORY: u64 = 1 << 30;

/// Bytes, and what was asked of them.
#[derive(Debug)]
struct Object {
    bytes: Vec<u8>,
    asked: Mutex<Vec<Vec<Range<u64>>>>,
    /// Whether the network is gone.
    fails: bool,
}

impl Object {
    fn new(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self { bytes, asked: Mutex::default(), fails: false })
    }

    fn of(name: &str) -> Arc<Self> {
        Self::new(std::fs::read(file(name)).unwrap())
    }
}

impl Remote for Object {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn version(&self) -> &str {
        "1"
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if self.fails {
            return Err(io::Error::other("the network is gone"));
        }
        if !ranges.is_empty() {
            self.asked.lock().unwrap().push(ranges.to_vec());
        }
        let one =
            |range: &Range<u64>| self.bytes.get(range.start as usize..range.end as usize).map(<[u8]>::to_vec);
        ranges.iter().map(|range| one(range).ok_or(io::ErrorKind::UnexpectedEof.into())).collect()
    }
}

fn folder(listed: &[(&str, Arc<Object>)]) -> Result<Folder, Error> {
    let listed = listed.iter().map(|(name, object)| ((*name).to_owned(), object.clone() as Arc<dyn Remote>));
    Folder::of_remote(Path::new("s3://bucket/table"), listed.collect())
}

fn batches(folder: Folder, target: &str) -> Result<Vec<Dataset>, Error> {
    of_passes(Passes::open_folder(folder, &with_target(target))?.unwrap())
}

fn of_passes(passes: Passes) -> Result<Vec<Dataset>, Error> {
    let mut rows = passes.rows(Missing::DropRows, MEMORY)?;
    let mut batches = Vec::new();
    loop {
        match rows.next_batch() {
            Ok(Some(batch)) => batches.push(batch),
            Ok(None) => return Ok(batches),
            Err(error) => return Err(rows.take_failure().unwrap_or(Error::Core(error))),
        }
    }
}

/// The bits of all columns, and the target.
fn bits(batches: &[Dataset]) -> String {
    let one = |data: &Dataset| {
        let column = |j: usize| {
            let mut scratch = Vec::new();
            let column = data.x().column(j, &mut scratch).unwrap().to_vec(data.n_samples());
            column.iter().map(|value| value.to_bits()).collect::<Vec<u64>>()
        };
        (0..data.n_features()).map(|j| format!("{:?}", column(j))).collect::<String>()
            + &format!("{:?}", data.target())
    };
    batches.iter().map(one).collect()
}

#[test]
fn an_object_has_the_rows_of_the_file() {
    for name in ["mixed_zstd.parquet", "mixed_none.parquet", "mixed.arrow"] {
        let target = "dose";
        let object = Object::of(name);
        let there = batches(folder(&[("", object.clone())]).unwrap(), target).unwrap();
        let here = batches(Folder::or_file(&file(name)).unwrap(), target).unwrap();
        assert_eq!(bits(&there), bits(&here), "{name}");
        // Its first bytes, its end and what that says; then its columns: for a look at the target, for the
        // first rows, and for the pass.
        let asked = object.asked.lock().unwrap();
        assert!(asked.len() <= 9, "{name}: {asked:?}");
    }
}

/// What an object tells of its columns is at its end.
#[test]
fn who_reads_again_does_not_ask_again_what_the_columns_are() {
    for name in ["mixed_zstd.parquet", "mixed.arrow"] {
        let object = Object::of(name);
        let asked_for_end =
            || object.asked.lock().unwrap().iter().flatten().any(|range| range.end == object.length());
        let table = folder(&[("", object.clone())]).unwrap();
        let passes = Passes::open_folder(table, &with_target("dose")).unwrap().unwrap();
        assert!(asked_for_end(), "{name}");
        object.asked.lock().unwrap().clear();
        let again = || of_passes(passes.again().unwrap()).unwrap();
        let (first, second) = (again(), again());
        assert!(!asked_for_end() && !object.asked.lock().unwrap().is_empty(), "{name}");
        let expected = bits(&batches(Folder::or_file(&file(name)).unwrap(), "dose").unwrap());
        assert_eq!((bits(&first), bits(&second)), (expected.clone(), expected), "{name}");
    }
}

#[test]
fn a_group_of_rows_is_fetched_once_for_all_pieces() {
    let lines: String = (0..20_000).map(|i| format!("{i},{},{}\n", i * i % 97, i % 7)).collect();
    let text = format!("x,z,y\n{lines}").into_bytes();
    let table = Table::read_bytes("t.csv", text.into(), &with_target("y")).unwrap();
    let data = table.complete(Missing::Error).unwrap().dataset;
    let written = tempfile::tempdir().unwrap();
    let path = written.path().join("t.parquet");
    PARQUET.write(&path, &data, &[0, 1], &["y".to_owned()]).unwrap();
    let object = Object::new(std::fs::read(path).unwrap());
    let passes = Passes::open_folder(folder(&[("", object.clone())]).unwrap(), &with_target("y")).unwrap();
    let mut rows = passes.unwrap().rows(Missing::Error, 65 << 20).unwrap();
    object.asked.lock().unwrap().clear();
    let mut n = 0;
    while let Some(batch) = rows.next_batch().unwrap() {
        assert!(batch.n_samples() < 10_000);
        n += batch.n_samples();
    }
    assert_eq!(n, 20_000);
    let asked = object.asked.lock().unwrap();
    assert!(asked.len() <= 1, "{asked:?}");
}

/// Numbers that take their room in a file, and some classes.
fn noise(n: usize, d: usize) -> Dataset {
    let value = |i: usize, j: usize| (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64;
    let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let labels: Vec<&str> = (0..n).map(|i| ["yes", "no", "perhaps"][i * i % 3]).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap()
}

/// Columns that are not used are not read, and a pass reads a table once, also where it is so wide that its
/// columns come in parts.
#[test]
fn a_pass_reads_the_columns_that_are_used_once() {
    const D: usize = 600;
    const LARGE: u64 = 1 << 30;
    let data = noise(8192, D);
    let written = tempfile::tempdir().unwrap();
    let path = written.path().join("t.parquet");
    PARQUET.write(&path, &data, &(0..D).collect::<Vec<usize>>(), &["y".to_owned()]).unwrap();
    let object = Object::new(std::fs::read(path).unwrap());
    // Noise is hardly compressed, so that all of these are about as long.
    let of_column = object.length() / D as u64;
    assert!(of_column > 40_000, "{of_column}");
    for (memory, n_ignored) in [(LARGE, 0), (LARGE, D / 2), (68 << 20, 0), (68 << 20, D / 2)] {
        let ignore = (0..n_ignored).map(|j| data.feature_name(2 * j)).collect();
        let options = ReadOptions { ignore, ..with_target("y") };
        object.asked.lock().unwrap().clear();
        let table = folder(&[("", object.clone())]).unwrap();
        let passes = Passes::open_folder(table, &options).unwrap().unwrap();
        let mut rows = match memory {
            LARGE => passes.rows(Missing::Error, memory).unwrap(),
            _ => passes.rows_in_parts(Missing::Error, memory).unwrap(),
        };
        let (mut n_parts, mut n_features) = (0, 0);
        loop {
            let (mut n, mut width) = (0, 0);
            while let Some(batch) = rows.next_batch().unwrap() {
                (n, width) = (n + batch.n_samples(), batch.n_features());
            }
            assert_eq!(n, 8192);
            (n_parts, n_features) = (n_parts + 1, n_features + width);
            if !rows.next_part().unwrap() {
                break;
            }
        }
        assert_eq!((n_features, n_parts > 1), (D - n_ignored, memory < LARGE));
        let asked: u64 =
            object.asked.lock().unwrap().iter().flatten().map(|range| range.end - range.start).sum();
        // And the target, and what the file tells of its columns.
        let most = of_column * n_features as u64;
        assert!(asked > most * 9 / 10 && asked < most * 11 / 10, "{memory} {n_ignored}: {asked} of {most}");
    }
}

#[test]
fn objects_are_parts_like_files() {
    let parts = [
        "ward=north/month=2/part-1.parquet",
        "ward=a%20b%25/month=1/part-2.parquet",
        "_SUCCESS",
        "ward=north/month=1/part-0.parquet",
    ];
    let listed = parts.map(|name| (name, Object::of(&format!("parts/{name}"))));
    let there = batches(folder(&listed).unwrap(), "y").unwrap();
    let mut here = Folder::or_file(&file("parts")).unwrap();
    assert_eq!(here.parts().len(), 4);
    let copied = tempfile::tempdir().unwrap();
    for name in parts {
        let path = copied.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(file(&format!("parts/{name}")), path).unwrap();
    }
    here = Folder::or_file(copied.path()).unwrap();
    assert_eq!(folder(&listed).unwrap().keys(), here.keys());
    assert_eq!(bits(&there), bits(&batches(here, "y").unwrap()));
    let message = folder(&[("_SUCCESS", Object::new(Vec::new()))]).unwrap_err().to_string();
    assert!(message.contains("there is no file in it"), "{message}");
}

#[test]
fn what_fails_is_told_with_the_name() {
    let told = |name: &str, object: Arc<Object>| {
        batches(folder(&[(name, object)]).unwrap(), "dose").map(drop).unwrap_err().to_string()
    };
    let bytes = std::fs::read(file("mixed_zstd.parquet")).unwrap();
    let cut = told("a.parquet", Object::new(bytes[..bytes.len() / 2].to_vec()));
    assert!(cut.starts_with("s3://bucket/table/a.parquet: the Parquet file cannot be read"), "{cut}");
    let gone = Object { bytes: bytes.clone(), asked: Mutex::default(), fails: true };
    let gone = told("a.parquet", Arc::new(gone));
    assert_eq!(gone, "s3://bucket/table/a.parquet: cannot be read: the network is gone");
    let text = told("a.csv", Object::of("mixed.csv"));
    assert!(text.contains("a.csv: a text file that lies elsewhere: write it as Parquet"), "{text}");
    let packed = told("a.csv.gz", Object::new(b"\x1F\x8B and more".to_vec()));
    assert!(packed.contains("compressed"), "{packed}");
    let empty = told("a.parquet", Object::new(Vec::new()));
    assert!(empty.contains("the file is empty"), "{empty}");
}
