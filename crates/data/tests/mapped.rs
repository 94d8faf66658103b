//! Arrays of NumPy in place.

use std::fs::{self, File};
use std::path::Path;

use crate::support::{Folder, columns, message, sample};
use fewest_core::{Columns, Dataset, Target};
use fewest_data::{Error, NpyColumns, ReadOptions, Table};

/// A file as memory. No test changes it as long as it is mapped.
#[allow(unsafe_code)]
fn map(path: &Path) -> memmap2::Mmap {
    let file = File::open(path).unwrap();
    unsafe { memmap2::Mmap::map(&file) }.unwrap()
}

/// Every array that NumPy wrote for these tests is read as `Table` reads it, or refused in the same words.
#[test]
fn a_mapped_array_is_what_is_read() {
    let mut n_read = 0;
    for entry in fs::read_dir(sample("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "npy") {
            continue;
        }
        let found = NpyColumns::new(&path, map(&path));
        match Table::read(&path, &ReadOptions::default()) {
            Ok(table) => {
                assert_eq!(columns(&found.unwrap()), columns(table.features()), "{}", path.display());
                n_read += 1;
            }
            // One dimension is a target, or one feature.
            Err(_) if path.ends_with("y.npy") => assert_eq!(columns(&found.unwrap()), [[0.0, 1.0]]),
            Err(error) => assert_eq!(found.err().map(|found| found.to_string()), Some(error.to_string())),
        }
    }
    assert!(n_read >= 20, "{n_read}");
}

/// An array of `float64`, with a header that NumPy would write: its length is a multiple of 64 bytes.
fn array(values: &[f64], n_rows: usize, n_columns: usize, fortran_order: &str) -> Vec<u8> {
    let header =
        format!("{{'descr': '<f8', 'fortran_order': {fortran_order}, 'shape': ({n_rows}, {n_columns}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:117}\n").bytes());
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

#[test]
fn columns_of_float64_are_not_copied() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..300).map(f64::from).collect();
    let path = folder.write("x.npy", array(&values, 100, 3, "True"));
    let x = NpyColumns::new(&path, map(&path)).unwrap();
    let mut scratch = Vec::new();
    for j in 0..3 {
        assert_eq!(x.column(j, &mut scratch).unwrap().to_vec(100), values[100 * j..100 * (j + 1)]);
        assert_eq!(scratch.capacity(), 0);
    }
    // Bytes that do not start at a multiple of eight have the same values, by way of the buffer.
    let bytes = [vec![0], array(&values, 100, 3, "True")].concat();
    for start in 0..2 {
        let x =
            NpyColumns::new("x.npy", &[&vec![0; start], &bytes[1..]].concat()[start..]).map(|x| columns(&x));
        assert_eq!(x.unwrap(), values.chunks(100).collect::<Vec<_>>());
    }
    // Stored row by row, value j of each row.
    let x = NpyColumns::new("x.npy", array(&values, 100, 3, "False")).unwrap();
    let expected = |j: usize| values[j..].iter().step_by(3).copied().collect::<Vec<_>>();
    assert_eq!(columns(&x), [expected(0), expected(1), expected(2)]);
}

#[test]
fn what_is_no_array_is_refused_and_never_a_panic() {
    let whole = array(&[1.0, 2.0, 3.0, 4.0], 2, 2, "True");
    for length in 0..whole.len() {
        let found = NpyColumns::new("cut.npy", &whole[..length]).err();
        let found = found.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            found.starts_with("cut.npy: ") && found.contains("save the array again"),
            "{length}: {found}"
        );
    }
    assert!(NpyColumns::new("long.npy", [whole.as_slice(), &[0]].concat()).is_err());
    for at in 0..128 {
        for byte in 0..=255 {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            // Whatever the header says then, the columns it declares can be read.
            if let Ok(x) = NpyColumns::new("changed.npy", bytes) {
                columns(&x);
            }
        }
    }
    let folder = Folder::new();
    let cut = message(folder.read("x.npy", &whole[..100], &ReadOptions::default()));
    assert!(cut.contains("ends too early"), "{cut}");
    let empty = NpyColumns::new("none.npy", array(&[], 0, 2, "True"));
    assert!(matches!(empty, Err(Error::Malformed { .. })), "{empty:?}");
}

/// Bytes that become fewer are an error of the column, as a file that cannot be read any more is.
#[test]
fn bytes_that_become_fewer_are_told() {
    struct Shrinking(std::sync::atomic::AtomicBool, Vec<u8>);
    impl AsRef<[u8]> for Shrinking {
        fn as_ref(&self) -> &[u8] {
            let is_whole = self.0.swap(false, std::sync::atomic::Ordering::Relaxed);
            &self.1[..if is_whole { self.1.len() } else { 130 }]
        }
    }
    let bytes = Shrinking(true.into(), array(&[1.0, 2.0, 3.0, 4.0], 2, 2, "True"));
    let x = NpyColumns::new("x.npy", bytes).unwrap();
    let error = x.column(1, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("have become fewer"), "{error}");
}

/// As the table of a method.
#[test]
fn it_is_a_table() {
    let x = NpyColumns::new("x.npy", array(&[1.0, 2.0, 5.0, 5.0], 2, 2, "True")).unwrap();
    let data = Dataset::new(x, Target::from_labels(&["a", "b"])).unwrap();
    assert_eq!(data.constant_features().unwrap(), [1]);
}
