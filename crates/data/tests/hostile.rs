//! Broken files and calls, one fault at a time: each gives a message of one line, and none a panic.

use std::fs;

use crate::support::{Folder, assert_says, format, gzip, message, read_csv, sample};
use fewest_data::{Header, ReadOptions, Table, TargetChoice, Task};

fn default() -> ReadOptions {
    ReadOptions::default()
}

fn target(column: &str) -> ReadOptions {
    ReadOptions::with_target(column)
}

/// What is said about a file of this name and content.
fn says(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = Folder::new();
    let path = folder.write(name, content);
    let message = message(Table::read(&path, options));
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    message
}

#[test]
fn files_that_are_none() {
    let folder = Folder::new();
    let missing = folder.path().join("missing.csv");
    assert_says(&message(Table::read(&missing, &default())), &["missing.csv: cannot be read"]);
    assert_says(&message(Table::read(folder.path(), &default())), &["there is no file in it"]);
    for name in ["empty.csv", "empty.mat", "empty.npy", "empty.svm", "empty"] {
        assert_says(&says(name, "", &default()), &["the file is empty"]);
    }
    assert_says(&says("blank.csv", "\n\r\n\n", &default()), &["only blank lines"]);
    assert_says(&says("empty.csv.gz", gzip(""), &default()), &["only blank lines"]);
}

#[test]
fn formats_that_are_not_read() {
    for (start, what) in [
        (&b"PK\x03\x04rest"[..], "zip archive"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1rest", "older Office"),
        (b"PAR1rest", "Parquet"),
        (b"BZh9rest", "bzip2"),
        (b"\xFD7zXZ\x00rest", "xz file"),
        (b"\x28\xB5\x2F\xFDrest", "zstd"),
        (b"\x89HDF\r\n\x1a\nrest", "version 7.3 (HDF5)"),
        (b"\xFF\xFEa\x00,", "UTF-16"),
        (b"abc\x00def", "zero byte"),
    ] {
        assert_says(&says("data.csv", start, &default()), &[what]);
    }
    let mut v73 = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".to_vec();
    v73.resize(512, b' ');
    v73.extend(b"\x89HDF\r\n\x1a\n");
    assert_says(&says("new.mat", &v73, &default()), &["version 7.3", "-v7"]);
    let plain = fs::read(sample("plain.mat")).unwrap();
    assert_says(&says("data.mat.gz", gzip(&plain), &default()), &["gunzip"]);
    assert_says(&says("data.mat", "X,Y\n1,2\n", &default()), &["too few"]);
    assert_says(&says("data.npy", "1,2\n3,4\n", &default()), &["does not start as .npy"]);
}

#[test]
fn tables_of_text() {
    let csv = |text: &str, options: &ReadOptions| says("table.csv", text, options);
    assert_says(&csv("a,b\n", &default()), &["header, but no line of values"]);
    assert_says(&csv("a,b\n1,2\n3\n", &default()), &["line 3: 1 cells, but line 1 has 2"]);
    assert_says(&csv("a,b\r\n1,2\r\n\r\n3,4,5\r\n", &default()), &["line 4: 3 cells"]);
    assert_says(&csv("a,b,a\n1,2,3\n", &default()), &["line 1: columns 0 and 2", "both called `a`"]);
    assert_says(
        &csv("a,,b\n1,2,3\n", &default()),
        &["line 1, column 1 (counted from 0): the column has no name"],
    );
    assert_says(&csv("a,b\n1,inf\n", &default()), &["line 2, column `b` (1", "`inf` is infinite"]);
    assert_says(&csv("a,b\n1,2\n1e999,3\n", &default()), &["line 3, column `a` (0", "`1e999` is infinite"]);
    assert_says(&csv("a,b\n1,\"2\n3,4\n", &default()), &["line 2", "never closed"]);
    assert_says(&csv("a,b\n1,2\n", &target("c")), &["no column `c`", "`a`, `b`", "0 to 1 or `last`"]);
    assert_says(&csv("a,b\n1,2\n", &target("B")), &["no column `B`", "did you mean `b`?"]);
    assert_says(&csv("a,b\n1,2\n", &target("2")), &["no column `2`"]);
    assert_says(
        &csv("1,2\n3,4\n", &target("y")),
        &["no column `y`", "the columns have no names", "--header yes"],
    );
    assert_says(&csv("y\n1\n2\n", &target("y")), &["no column is left to be a feature"]);
    let options = ReadOptions { id: Some("a".to_owned()), ..target("a") };
    assert_says(&csv("a,b\n1,2\n", &options), &["column `a` (0", "two roles"]);
    let options = ReadOptions { task: Task::Regression, ..target("b") };
    assert_says(&csv("a,b\n1,2\n3,x\n", &options), &["line 3", "`x` is text", "--task classification"]);
    let options = ReadOptions { delimiter: Some('é'), ..default() };
    let error = read_csv("a,b\n1,2\n", &options).map(|_| ()).unwrap_err().to_string();
    assert_says(&error, &["`delimiter`", "`é`", "one ASCII character"]);
    let options = ReadOptions {
        target: TargetChoice::Columns(vec!["a".to_owned(), "b".to_owned()]),
        task: Task::Classification,
        ..default()
    };
    assert_says(&csv("a,b,c\n1,2,3\n", &options), &["2 target columns"]);
    let options = ReadOptions { target: options.target, ..default() };
    let text = csv("a,b,c\n1,x,3\n", &options);
    assert_says(&text, &["column `b` (1", "one of several targets", "name one target column"]);
    let options = ReadOptions { x_variable: Some("Z".to_owned()), ..default() };
    let error = read_csv("a,b\n1,2\n", &options).map(|_| ()).unwrap_err().to_string();
    assert_says(&error, &["`x_variable`", "`Z`", "left out for csv files"]);
    let options = ReadOptions { first_index: Some(0), ..default() };
    let error = read_csv("a,b\n1,2\n", &options).map(|_| ()).unwrap_err().to_string();
    assert_says(&error, &["`first_index` is 0", "left out for csv files"]);
    let options = ReadOptions { encoding: Some("latin1".to_owned()), ..default() };
    for name in ["c_le_f8.npy", "plain.mat"] {
        let error = Table::read(sample(name), &options).map(|_| ()).unwrap_err().to_string();
        assert_says(&error, &["`encoding`", "`latin1`", "left out for"]);
    }
}

#[test]
fn text_that_is_not_utf8() {
    let options = ReadOptions { header: Header::Yes, ..default() };
    assert_says(&says("t.csv", b"a,b\n1,caf\xE9\n", &options), &["line 2, column `b` (1", "UTF-8"]);
    assert_says(&says("t.csv", b"a,caf\xE9\n1,2\n", &options), &["line 1, column 1", "UTF-8"]);
    assert_says(&says("t.svm", b"1 1:2\n1 1:\xE9\n", &default()), &["line 2", "UTF-8"]);
}

#[test]
fn messages_stay_on_one_line_and_short() {
    let long = "x".repeat(10_000);
    let text = format!("a,b\n1,2\n\"{long}\nmore\",3\n");
    let message = says("t.csv", text, &default());
    assert!(message.len() < 500, "{message}");
    assert_says(&message, &["line 3", "xxx…"]);
    assert_says(&says("t.csv", "\"two\nlines\",b\n1,2\ninf,3\n", &default()), &["column `two\\nlines` (0"]);
}

#[test]
fn damaged_gzip() {
    let text: String = (0..2000).map(|i| format!("{i},{}\n", i * 7919 % 1000)).collect();
    let whole = gzip(&text);
    let cut = &whole[..whole.len() / 2];
    assert_says(&says("t.csv.gz", cut, &default()), &["line ", "damaged or cut off"]);
    assert_says(&says("t.csv.gz", &whole[..whole.len() - 4], &default()), &["damaged or cut off"]);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xFF;
    assert_says(&says("t.csv.gz", &damaged, &default()), &["t.csv.gz"]);
    let cut = gzip("1 1:2\n".repeat(500));
    assert_says(
        &says(
            "t.svm.gz",
            &cut[..cut.len() - 9],
            &ReadOptions { format: Some(format("svmlight")), ..default() },
        ),
        &["damaged or cut off"],
    );
    let npy = gzip(fs::read(sample("c_le_f8.npy")).unwrap());
    assert_says(&says("t.npy.gz", &npy[..npy.len() - 12], &default()), &["damaged or cut off"]);
}

#[test]
fn svmlight() {
    let svm = |text: &str| says("data.svm", text, &default());
    assert_says(&svm("# nothing\n"), &["no sample"]);
    assert_says(&svm("1 1:2\nx 1:2\n"), &["line 2: the label `x` is not a number"]);
    assert_says(&svm("1,2 1:2\n"), &["line 1", "one label"]);
    assert_says(&svm("inf 1:2\n"), &["line 1: the label `inf`"]);
    let from_one = ReadOptions { first_index: Some(1), ..default() };
    assert_says(&says("t.svm", "1 1:2\n1 0:2\n", &from_one), &["line 2: the index 0", "--first-index 0"]);
    assert_says(&svm("1 3:2 2:1\n"), &["line 1: the index 2 comes after 3"]);
    assert_says(&svm("1 3:2 3:1\n"), &["line 1: the index 3 comes after 3"]);
    for pair in ["3", "3:", ":3", "a:3", "-1:3", "1.5:3", "3:x", "3:inf", "3:1e999"] {
        assert_says(&svm(&format!("1 1:2\n1 {pair}\n")), &["line 2", &format!("`{pair}`")]);
    }
    assert_says(&svm("1\n2\n"), &["no line holds a feature"]);
    let options = ReadOptions { memory: Some(1 << 30), ..default() };
    assert_says(&says("data.svm", "1 1:2 99999999999:1\n", &options), &["more than half", "--allow-large"]);
    // Even who insists gets an answer.
    let options = ReadOptions { allow_large: true, ..default() };
    let index = u64::MAX;
    assert_says(&says("data.svm", format!("1 1:2\n1 {index}:1\n"), &options), &["line 2", "too wide"]);
    assert_says(&says("data.svm", "1 1:2\n", &target("0")), &["target", "label in front"]);
    let options = ReadOptions { id: Some("0".to_owned()), ..default() };
    assert_says(&says("data.svm", "1 1:2\n", &options), &["ids"]);
}

fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    if version == 1 {
        bytes.extend((header.len() as u16).to_le_bytes());
    } else {
        bytes.extend((header.len() as u32).to_le_bytes());
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn npy_header(shape: &str) -> String {
    format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n")
}

#[test]
fn numpy() {
    let says = |bytes: &[u8]| says("x.npy", bytes, &default());
    assert_says(&says(&npy(9, &npy_header("(1, 1)"), &[0; 8])), &["version 9"]);
    assert_says(
        &says(&npy(1, &npy_header("(1, 2)"), &[0; 8])),
        &["1 × 2 values of 8 bytes", "but 8 bytes follow"],
    );
    assert_says(&says(&npy(1, &npy_header("(1, 1)"), &[0; 9])), &["but 9 bytes follow"]);
    for shape in ["(0, 3)", "(3, 0)"] {
        assert_says(&says(&npy(1, &npy_header(shape), &[])), &["the array is empty"]);
    }
    for shape in ["(99999999999, 99999999999)", "(18446744073709551615, 3)", "(9999999, 9999999)"] {
        assert_says(&says(&npy(2, &npy_header(shape), &[0; 8])), &["are declared, but 8 bytes follow"]);
    }
    for shape in ["(-1, 3)", "(1.5, 3)", "7", "(99999999999999999999, 3)", "("] {
        assert_says(&says(&npy(1, &npy_header(shape), &[0; 8])), &["no valid `shape`"]);
    }
    assert_says(&says(&npy(1, "{'descr': '<f8', 'shape': (1, 1)}", &[0; 8])), &["no valid `fortran_order`"]);
    assert_says(&says(&npy(1, "", &[0; 8])), &["no valid `descr`"]);
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend(u32::MAX.to_le_bytes());
    assert_says(&says(&long), &["header length of 4294967295 bytes"]);
    let infinite = [1.0_f64, f64::NEG_INFINITY].map(f64::to_le_bytes).concat();
    assert_says(&says(&npy(1, &npy_header("(2, 1)"), &infinite)), &["row 1", "column 0", "-inf"]);
    let whole = npy(1, &npy_header("(2, 2)"), &[0; 32]);
    for length in 1..whole.len() {
        let options = ReadOptions { format: Some(format("npy")), ..default() };
        self::says("x.npy", &whole[..length], &options);
    }
    // Compressed, so that the length is not known beforehand.
    let huge = gzip(npy(1, &npy_header("(3, 99999999)"), &[0; 64]));
    assert_says(&self::says("x.npy.gz", &huge, &default()), &["damaged or cut off"]);
    let more = gzip(npy(1, &npy_header("(1, 1)"), &[0; 9]));
    assert_says(&self::says("x.npy.gz", &more, &default()), &["more bytes follow"]);
}

#[test]
fn numpy_target_files() {
    let folder = Folder::new();
    let y = folder.write("y.npy", npy(1, &npy_header("(3,)"), &[0; 24]));
    let x = npy(1, &npy_header("(2, 1)"), &[0; 16]);
    let path = folder.write("x.npy", x);
    let says = |y: &str| message(Table::read(&path, &target(y)));
    assert_says(&says(y.to_str().unwrap()), &["y.npy: 3 target values for the 2 samples", "x.npy"]);
    assert_says(&says("nowhere.npy"), &["nowhere.npy: cannot be read"]);
    assert_says(&says("1"), &["no column `1`", "0 to 0"]);
}

#[test]
fn a_file_too_large_for_the_memory_is_not_read() {
    let options = ReadOptions { memory: Some(1000), ..default() };
    let text = "a,b\n".to_owned() + &"1,2\n".repeat(100);
    for (name, content) in [
        ("t.csv", text.clone().into_bytes()),
        ("t.csv.gz", gzip(&text)),
        ("t.svm", "1 1:2 2:3\n".repeat(100).into_bytes()),
        ("t.npy", npy(1, &npy_header("(50, 2)"), &[0; 800])),
    ] {
        let message = says(name, &content, &options);
        assert_says(&message, &["more than half of the 1.0 KiB", "--allow-large"]);
        let insisting = ReadOptions { allow_large: true, ..options.clone() };
        assert!(Folder::new().read(name, &content, &insisting).is_ok(), "{name}");
        let roomy = ReadOptions { memory: Some(1 << 20), ..options.clone() };
        assert!(Folder::new().read(name, &content, &roomy).is_ok(), "{name}");
    }
    let options = ReadOptions { memory: Some(100), ..default() };
    for name in ["plain.mat", "compressed.mat", "sparse.mat"] {
        assert_says(&message(Table::read(sample(name), &options)), &["more than half"]);
    }
}

#[test]
fn the_size_of_a_long_file_is_judged_by_its_start() {
    // Far more than the sample that is looked at, and very well compressed.
    let text = "a,b\n".to_owned() + &"1,2\n".repeat(3_000_000);
    let compressed = gzip(&text);
    let (low, high) = (40 << 20, 56 << 20);
    for (name, content) in [("t.csv", text.as_bytes()), ("t.csv.gz", &compressed)] {
        // 6 million values of 8 bytes are 45.8 MiB.
        says(name, content, &ReadOptions { memory: Some(2 * low), ..default() });
        let options = ReadOptions { memory: Some(2 * high), ..default() };
        assert_eq!(Folder::new().read(name, content, &options).unwrap().n_samples(), 3_000_000);
    }
}

#[test]
fn an_address_is_no_file() {
    for address in ["s3://bucket/table.parquet", "s3://bucket/*.csv", "https://example.com/table.csv"] {
        let message = Table::read(address, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains("this is an address") && message.contains("--cluster"), "{message}");
    }
}
