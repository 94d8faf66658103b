use std::fs;

use super::*;

const FILES: [&str; 8] = [
    "kinds.parquet",
    "kinds_v2.parquet",
    "mixed_lz4.parquet",
    "nested.parquet",
    "kinds.arrow",
    "kinds_zstd.arrow",
    "mixed.arrow",
    "polars.arrow",
];

fn read_bytes(bytes: Vec<u8>) -> Result<Table, Error> {
    Table::read_bytes("table", bytes.into(), &ReadOptions { memory: Some(1 << 28), ..options() })
}

/// Cut off anywhere, a file is no table.
#[test]
fn a_file_that_is_cut_off_is_an_error() {
    for name in FILES {
        let bytes = fs::read(file(name)).unwrap();
        for length in (8..bytes.len()).step_by(37).chain([bytes.len() - 1]) {
            let message = read_bytes(bytes[..length].to_vec()).expect_err(name).to_string();
            assert!(message.contains("file cannot be read"), "{name} {length}: {message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}

/// Any byte may be wrong: there is a table or a message, and no panic behind it. `fuzz/` goes on for longer.
#[test]
fn a_wrong_byte_is_never_a_panic() {
    let mut fell = Vec::new();
    for name in FILES {
        let bytes = fs::read(file(name)).unwrap();
        // Places all over the file, more of them in the metadata at its end.
        let spread = (0..bytes.len()).step_by(bytes.len() / 20);
        for at in spread.chain((0..bytes.len()).rev().step_by(61).take(20)) {
            let mut damaged = bytes.clone();
            damaged[at] ^= [0x01, 0x80, 0xFF][at % 3];
            if let Err(error) = read_bytes(damaged)
                && error.to_string().contains("it is damaged: ")
            {
                fell.push((name, at));
            }
        }
    }
    assert!(fell.is_empty(), "{} panics, such as {:?}", fell.len(), &fell[..fell.len().min(5)]);
}

/// What a file declares reserves no memory, and more than the options allow is refused.
#[test]
fn a_table_that_is_too_large_is_refused() {
    for name in FILES {
        let nested = ["list", "struct", "map", "bytes", "fixed", "lists", "threes"].map(str::to_owned);
        let ignore = match name {
            "nested.parquet" => nested[..5].to_vec(),
            _ => Vec::new(),
        };
        let tight = ReadOptions { memory: Some(16), ignore, ..options() };
        assert!(matches!(read(name, &tight), Err(Error::TooLarge { .. })), "{name}");
    }
}
