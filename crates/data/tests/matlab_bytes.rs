//! MATLAB files made byte by byte: both byte orders, and broken ones.

use std::io::Write;

use crate::support::{Folder, assert_says, columns, message};
use fewest_data::{Missing, ReadOptions, Table};

/// Writes elements of one byte order.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

impl Order {
    fn u32(self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn f64(self, value: f64) -> [u8; 8] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn element(self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = [self.u32(kind), self.u32(data.len() as u32)].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.u32(value)).collect()
    }

    /// A variable whose values stand in one element of type `kind`.
    fn variable(self, name: &str, class: u32, sizes: [u32; 2], kind: u32, data: &[u8]) -> Vec<u8> {
        let body = [
            self.element(6, &self.words(&[class, 0])),
            self.element(5, &self.words(&sizes)),
            self.element(1, name.as_bytes()),
            self.element(kind, data),
        ];
        self.element(14, &body.concat())
    }

    fn doubles(self, name: &str, sizes: [u32; 2], values: &[f64]) -> Vec<u8> {
        let data: Vec<u8> = values.iter().flat_map(|&value| self.f64(value)).collect();
        self.variable(name, 6, sizes, 9, &data)
    }

    fn sparse(self, sizes: [u32; 2], rows: &[u32], offsets: &[u32], values: &[f64]) -> Vec<u8> {
        let data: Vec<u8> = values.iter().flat_map(|&value| self.f64(value)).collect();
        let body = [
            self.element(6, &self.words(&[5, rows.len() as u32])),
            self.element(5, &self.words(&sizes)),
            self.element(1, b"X"),
            self.element(5, &self.words(rows)),
            self.element(5, &self.words(offsets)),
            self.element(9, &data),
        ];
        self.element(14, &body.concat())
    }

    fn compressed(self, variable: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(variable).unwrap();
        let data = encoder.finish().unwrap();
        [&self.u32(15)[..], &self.u32(data.len() as u32), &data].concat()
    }

    fn file(self, variables: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"MATLAB 5.0 MAT-file, made by a test".to_vec();
        bytes.resize(124, b' ');
        bytes.extend(if self.big { [1, 0] } else { [0, 1] });
        bytes.extend(if self.big { b"MI" } else { b"IM" });
        bytes.extend(variables.concat());
        bytes
    }
}

const LITTLE: Order = Order { big: false };
const BIG: Order = Order { big: true };

fn read(bytes: &[u8]) -> Result<Table, fewest_data::Error> {
    read_in(&Folder::new(), bytes)
}

fn read_in(folder: &Folder, bytes: &[u8]) -> Result<Table, fewest_data::Error> {
    let options = ReadOptions { memory: Some(1 << 30), ..ReadOptions::default() };
    folder.read("data.mat", bytes, &options)
}

fn says(bytes: &[u8]) -> String {
    message(read(bytes))
}

#[test]
fn both_byte_orders_compressed_or_not() {
    for order in [LITTLE, BIG] {
        let x = order.doubles("X", [2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, -0.5]);
        // Doubles of small whole numbers are stored as bytes.
        let y = order.variable("Y", 6, [2, 1], 2, &[7, 9]);
        let expected = [[1.0, 2.0], [3.0, 4.0], [5.0, -0.5]];
        for file in
            [order.file(&[x.clone(), y.clone()]), order.file(&[order.compressed(&y), order.compressed(&x)])]
        {
            let table = read(&file).unwrap();
            assert_eq!(columns(table.features()), expected);
            assert_eq!(table.target_names(), ["Y"]);
        }
        let sparse = order.file(&[order.sparse([3, 2], &[0, 2, 1], &[0, 2, 3], &[1.0, 2.0, 3.0])]);
        assert_eq!(columns(read(&sparse).unwrap().features()), [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]);
    }
}

#[test]
fn inconsistent_sparse_variables_are_errors() {
    let sparse = |sizes, rows: &[u32], offsets: &[u32], values: &[f64]| {
        says(&LITTLE.file(&[LITTLE.sparse(sizes, rows, offsets, values)]))
    };
    assert_says(&sparse([3, 2], &[0, 3], &[0, 1, 2], &[1.0, 2.0]), &["inconsistent"]);
    assert_says(&sparse([3, 2], &[2, 0], &[0, 2, 2], &[1.0, 2.0]), &["inconsistent"]);
    assert_says(&sparse([3, 2], &[0, 0], &[0, 2, 2], &[1.0, 2.0]), &["inconsistent"]);
    assert_says(&sparse([3, 2], &[0, 1], &[0, 5, 2], &[1.0, 2.0]), &["inconsistent"]);
    assert_says(&sparse([3, 2], &[0, 1], &[1, 1, 2], &[1.0, 2.0]), &["inconsistent"]);
    assert_says(
        &sparse([3, 2], &[0, 1], &[0, 2], &[1.0, 2.0]),
        &["`X`", "2 columns are declared, but 2 offsets"],
    );
    assert_says(
        &sparse([3, 2], &[0, 1], &[0, 1, 9], &[1.0, 2.0]),
        &["`X`", "9 values are declared, but 2 are stored"],
    );
    assert_says(&sparse([3, 2], &[0, 1], &[0, 1, 2], &[1.0]), &["2 values are declared, but 1 are stored"]);
    assert_says(&sparse([3, 2], &[u32::MAX, 1], &[0, 1, 2], &[1.0, 2.0]), &["not a whole number"]);
    assert_says(
        &sparse([3, 2], &[0, 1], &[0, 1, 2], &[1.0, f64::INFINITY]),
        &["row 1", "column 1", "infinite"],
    );
    assert_says(&sparse([3, i32::MAX as u32], &[0], &[0, 1], &[1.0]), &["more than its", "bytes can hold"]);
}

#[test]
fn sizes_that_are_not_there() {
    let values = [0.0; 6];
    let x = |sizes| LITTLE.doubles("X", sizes, &values);
    assert_says(&says(&LITTLE.file(&[x([2, 4])])), &["`X`", "2 × 4 values are declared, but 6 are stored"]);
    let largest = i32::MAX as u32;
    assert_says(&says(&LITTLE.file(&[x([largest, largest])])), &["more than its", "bytes can hold"]);
    assert_says(&says(&LITTLE.file(&[LITTLE.compressed(&x([largest, 4]))])), &["bytes can hold"]);
    // Within what compression could have done, but beyond the memory.
    let zeros = LITTLE.compressed(&LITTLE.doubles("X", [2000, 2000], &vec![0.0; 4_000_000]));
    let small = ReadOptions { memory: Some(1 << 20), ..ReadOptions::default() };
    let file = LITTLE.file(&[zeros]);
    assert_says(&message(Folder::new().read("x.mat", &file, &small)), &["more than half"]);
    assert_eq!(read(&file).unwrap().n_features(), 2000);
    assert_says(&says(&LITTLE.file(&[x([u32::MAX, 1])])), &["negative dimension"]);
    let mut long = LITTLE.file(&[x([2, 3])]);
    long[132..136].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_says(&says(&long), &["at byte 128", "4294967295 bytes is declared"]);
}

#[test]
fn headers_that_are_wrong() {
    let mut file = LITTLE.file(&[LITTLE.doubles("X", [1, 1], &[1.0])]);
    file[126] = b'X';
    assert_says(&says(&file), &["not a MATLAB file of level 5"]);
    file[126] = b'I';
    file[125] = 7;
    assert_says(&says(&file), &["version 7.0"]);
    assert_says(&says(&LITTLE.file(&[])), &["no variable `X`", "no variable at all"]);
    assert_says(&says(&LITTLE.file(&[LITTLE.element(9, &[0; 8])])), &["type 9 where a variable should be"]);
    assert_says(&says(&LITTLE.file(&[LITTLE.variable("X", 99, [1, 1], 9, &[0; 8])])), &["unknown class 99"]);
    assert_says(
        &says(&LITTLE.file(&[LITTLE.variable("X", 6, [1, 1], 14, &[0; 8])])),
        &["type 14 where numbers"],
    );
    let x = LITTLE.doubles("X", [1, 1], &[1.0]);
    let y = LITTLE.doubles("Y", [2, 1], &[1.0, 2.0]);
    assert_says(&says(&LITTLE.file(&[x, y])), &["`Y`", "2 × 1 values for the 1 samples"]);
}

#[test]
fn cut_off_anywhere_and_damaged_anywhere() {
    let folder = Folder::new();
    for order in [LITTLE, BIG] {
        let x = order.doubles("X", [2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let y = order.variable("Y", 9, [2, 1], 2, &[7, 9]);
        for file in
            [order.file(&[x.clone(), y.clone()]), order.file(&[order.compressed(&x), order.compressed(&y)])]
        {
            for length in 1..file.len() {
                // Cut between the two variables it is a file without a target.
                match read_in(&folder, &file[..length]) {
                    Ok(table) => assert!(table.target_names().is_empty(), "{length}"),
                    Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
                }
            }
            for at in 0..file.len() {
                for value in [0xFF, file[at] ^ 1] {
                    let mut damaged = file.clone();
                    damaged[at] = value;
                    match read_in(&folder, &damaged) {
                        Ok(table) => drop(table.complete(Missing::Mean)),
                        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
                    }
                }
            }
        }
    }
}
