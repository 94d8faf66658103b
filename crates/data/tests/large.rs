//! Tables of many blocks, streams, and files that are larger than they look.

use std::io::{self, Cursor, Read};

use crate::support::{Folder, assert_says, columns, gzip, message, sample};
use fewest_core::FeatureKind;
use fewest_data::{Error, ReadOptions, Table, TargetChoice, TargetFound};

fn default() -> ReadOptions {
    ReadOptions::default()
}

/// A line of the large table: a number in one of three spellings, a category in quotes that may hold a line
/// feed, a gap now and then, and a target.
fn line(i: usize) -> String {
    let number = match i % 3 {
        0 => format!("{}.25", i),
        1 => format!(" {}e-3 ", i),
        _ => format!("0.{:017}", i),
    };
    let word = ["red", "\"gr\"\"een\"", "\"blue\nsky\"", "\"a,b\""][i % 4];
    let gap = if i.is_multiple_of(7) { String::new() } else { i.to_string() };
    format!("{number},{word},{gap},{}\n", i % 2)
}

fn large(n: usize) -> String {
    (0..n).fold("x,colour,gaps,y\n".to_owned(), |text, i| {
        text + &line(i) + if i % 1000 == 0 { "\n" } else { "" }
    })
}

#[test]
fn every_cell_of_many_blocks_is_where_it_belongs() {
    let n = 350_000;
    let text = large(n);
    assert!(text.len() > 8 << 20, "more than a block");
    for (name, content) in [("t.csv", text.clone().into_bytes()), ("t.csv.gz", gzip(&text))] {
        let table = Folder::new().read(name, &content, &ReadOptions::with_target("y")).unwrap();
        assert_eq!((table.n_samples(), table.n_features()), (n, 3));
        let levels = ["a,b", "blue\nsky", "gr\"een", "red"].map(str::to_owned).to_vec();
        assert_eq!(table.feature_kind(1), &FeatureKind::Categorical { levels });
        let columns = columns(table.features());
        for i in 0..n {
            let expected: f64 = line(i).split(',').next().unwrap().trim().parse().unwrap();
            assert_eq!(columns[0][i], expected, "{i}");
            assert_eq!(columns[1][i], [3.0, 2.0, 1.0, 0.0][i % 4], "{i}");
            assert_eq!(columns[2][i].is_nan(), i % 7 == 0, "{i}");
            assert!(i % 7 == 0 || columns[2][i] == i as f64, "{i}");
        }
    }
}

#[test]
fn the_first_fault_is_told_with_its_line() {
    let n = 300_000;
    let lines: Vec<String> = (0..n).map(|i| format!("{},{}.5,{}\n", i % 97, i, i % 2)).collect();
    let with = |faults: &[(usize, &str)]| {
        let mut lines = lines.clone();
        faults.iter().for_each(|(at, line)| lines[*at] = (*line).to_owned());
        message(Folder::new().read("t.csv", "a,b,c\n".to_owned() + &lines.concat(), &default()))
    };
    let (late, later) = (250_000, 250_001);
    let at = |row: usize| format!("line {}", row + 2);
    assert_says(&with(&[(late, "1,x,1\n")]), &[&at(late), "column `b`", "`x` is text"]);
    assert_says(&with(&[(later, "1,x,1\n"), (late, "1,2.5\n")]), &[&at(late), "2 cells", "line 1 has 3"]);
    assert_says(&with(&[(late, "1,x,1\n"), (later, "1,2.5\n")]), &[&at(late), "`x` is text"]);
    // In one record: the cells before its wrong length do not count, and of two cells the first.
    assert_says(&with(&[(late, "1,x,1,4\n")]), &[&at(late), "4 cells"]);
    assert_says(&with(&[(late, "1,x,y\n")]), &[&at(late), "column `b`"]);
    assert_says(&with(&[(late, "1,inf,1\n")]), &[&at(late), "infinite"]);
    assert_says(&with(&[(late, "1,\"2,1\n")]), &[&at(late), "never closed"]);
    // Text in the first record, so that all numbers behind it are wrong: the first of them is.
    assert_says(&with(&[(0, "1,x,1\n")]), &[&at(1), "`1.5` is a number in a column of text such as `x`"]);
}

#[test]
fn a_cell_that_is_no_cell_is_refused_before_it_fills_the_memory() {
    let long = "x".repeat(3 << 20);
    let told = message(Folder::new().read("t.csv", format!("a,b\n1,{long}\n2,3\n"), &default()));
    assert_says(&told, &["line 2", "a cell of 3145728 bytes", "the delimiter"]);
    // An endless one is not read to its end.
    let endless = Cursor::new("a,b\n1,\"").chain(io::repeat(b'x'));
    let told = message(Table::read_stream("t.csv", endless, &default()));
    assert_says(&told, &["line 2", "a cell of more than 1 MiB"]);
    let endless = Cursor::new("1 1:2\n").chain(io::repeat(b' '));
    let options = ReadOptions { memory: Some(1 << 24), ..default() };
    assert_says(&message(Table::read_stream("t.svm", endless, &options)), &["more than half"]);
}

#[test]
fn memory_is_counted_while_a_file_is_read() {
    // Its start says little of its size: long cells at first, short ones then.
    let mut text = "a,b\n".to_owned();
    (0..60).for_each(|_| text += &format!("{}1,2\n", " ".repeat(100_000)));
    let head = text.len();
    text += &"1,2\n".repeat(2_000_000);
    assert!(head > 5 << 20);
    let options = ReadOptions { memory: Some(40 << 20), ..default() };
    for (name, content) in [("t.csv", text.clone().into_bytes()), ("t.csv.gz", gzip(&text))] {
        let told = message(Folder::new().read(name, &content, &options));
        assert_says(&told, &["more than half of the 40.0 MiB", "--allow-large"]);
        let roomy = ReadOptions { memory: Some(80 << 20), ..default() };
        assert!(Folder::new().read(name, &content, &roomy).is_ok(), "32 MiB of values");
    }
    // A stream has no size before it is read.
    let told = message(Table::read_stream("-", Cursor::new(text), &options));
    assert_says(&told, &["more than half"]);
    // 27 bytes that ask for a hundred million features.
    let small = ReadOptions { memory: Some(8 << 30), ..default() };
    let told = message(Folder::new().read("t.svm", "1 100000000:1\n-1 1:1\n", &small));
    assert_says(&told, &["its values need about 11.9 GiB"]);
}

/// Gives these bytes again and again.
struct Endless(&'static [u8], usize);

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        for byte in &mut *out {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(out.len())
    }
}

/// The text is held besides the values, which are few here.
#[test]
fn memory_is_counted_while_a_transposed_table_is_read() {
    let cells = format!("{}1,", " ".repeat(200)).repeat(20_000);
    let text: String = (0..5).map(|line| format!("row{line},{cells}{line}\n")).collect();
    let of = |memory: u64| ReadOptions { transpose: true, memory: Some(memory), ..default() };
    for (name, content) in [("t.csv", text.clone().into_bytes()), ("t.csv.gz", gzip(&text))] {
        let told = message(Folder::new().read(name, &content, &of(60 << 20)));
        assert_says(&told, &["more than half of the 60.0 MiB", "--allow-large"]);
        let table = Folder::new().read(name, &content, &of(120 << 20)).unwrap();
        assert_eq!(table.n_samples(), 20_001);
    }
    // Lines, and a line, without an end.
    for bytes in [&b"1,2\n"[..], &b"1,"[..], &b"1"[..]] {
        let endless = Cursor::new("a,b\n").chain(Endless(bytes, 0));
        let told = message(Table::read_stream("-", endless, &of(16 << 20)));
        assert_says(&told, &["more than half of the 16.0 MiB"]);
    }
}

/// What a file of many parts is read as does not depend on the threads, nor does its first fault.
#[test]
fn any_number_of_threads_reads_the_same() {
    let text = large(300_000);
    assert!(text.len() > 8 << 20, "more than a block");
    // In the last part: text in a column of numbers, and after it a line too short.
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let late = lines.len() - 1000;
    lines.insert(late, "1,red,x,1\n");
    lines.insert(late + 1, "1,red\n");
    let faulty = lines.concat();
    let folder = Folder::new();
    let (whole, broken) = (folder.write("t.csv", &text), folder.write("f.csv", &faulty));
    let read = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let table = Table::read(&whole, &ReadOptions::with_target("y")).unwrap();
            let bits: Vec<Vec<u64>> = columns(table.features())
                .iter()
                .map(|column| column.iter().map(|value| value.to_bits()).collect())
                .collect();
            let kinds: Vec<FeatureKind> = (0..3).map(|j| table.feature_kind(j).clone()).collect();
            (bits, kinds, message(Table::read(&broken, &ReadOptions::with_target("y"))))
        })
    };
    let one = read(1);
    assert_says(&one.2, &["column `gaps`", "`x` is text"]);
    for threads in [2, 7] {
        let several = read(threads);
        assert!(several.0 == one.0, "{threads} threads: other values");
        assert_eq!((&several.1, &several.2), (&one.1, &one.2), "{threads} threads");
    }
}

#[test]
fn all_that_is_held_of_an_svmlight_file_counts() {
    // Labels alone, in a stream without a size.
    let labels = "1\n".repeat(2_000_000);
    let options = |memory: u64| ReadOptions { memory: Some(memory), ..default() };
    let told = message(Table::read_stream("t.svm", Cursor::new(labels.clone()), &options(16 << 20)));
    assert_says(&told, &["more than half of the 16.0 MiB"]);
    let last = Cursor::new(labels + "1 1:2\n");
    assert_eq!(Table::read_stream("t.svm", last, &options(128 << 20)).unwrap().n_samples(), 2_000_001);
    // A value takes 40 bytes while the matrix is made: these need 40 MB and 2 MB for 1000 columns
    // and samples.
    let line: String = (1..=1000).map(|j| format!(" {j}:1")).collect();
    let text = format!("1{line}\n").repeat(1000);
    let read = |memory| Table::read_stream("t.svm", Cursor::new(text.clone()), &options(memory));
    assert_says(&message(read(60_000_000)), &["more than half"]);
    assert_eq!(read(90_000_000).unwrap().n_features(), 1000);
    // All of them on one line.
    let line: String = (1..=300_000).map(|j| format!(" {j}:1")).collect();
    let told = message(Table::read_stream("t.svm", Cursor::new(format!("1{line}\n")), &options(16 << 20)));
    assert_says(&told, &["its values need 8.0 MiB of memory or more"]);
}

#[test]
fn a_variable_of_matlab_is_read_from_a_stream() {
    let bytes = std::fs::read(sample("compressed.mat")).unwrap();
    let expected = Table::read(sample("compressed.mat"), &default()).unwrap();
    let table = Table::read_stream("-", Cursor::new(bytes.clone()), &default()).unwrap();
    assert_eq!(columns(table.features()), columns(expected.features()));
    assert_eq!(table.target_names(), expected.target_names());
    let endless = Cursor::new(bytes).chain(io::repeat(0));
    let options = ReadOptions { memory: Some(1 << 24), ..default() };
    assert_says(&message(Table::read_stream("-", endless, &options)), &["more than half"]);
}

#[test]
fn a_target_is_guessed_while_the_file_is_read() {
    let guess = |text: &str, or_last: bool| {
        let options = ReadOptions { target: TargetChoice::Guess { or_last }, ..default() };
        let table = Table::read_bytes("t.csv", text.as_bytes().into(), &options)?;
        Ok::<_, Error>((table.guess(), table.target_names(), table.n_features()))
    };
    let named = |name: &str| vec![name.to_owned()];
    let by_name = Some(TargetFound::ByName);
    assert_eq!(guess("a,Class,b\n1,2,3\n4,5,6\n", true).unwrap(), (by_name, named("Class"), 2));
    assert_eq!(guess("y,label,b\n1,2,3\n4,5,6\n", false).unwrap(), (by_name, named("label"), 2));
    let last = Some(TargetFound::Last);
    assert_eq!(guess("a,b\n1,2\n4,5\n", true).unwrap(), (last, named("b"), 1));
    assert_eq!(guess("1,2\n4,5\n", true).unwrap(), (last, named("target"), 1));
    assert_eq!(guess("a,b\n1,2\n4,5\n", false).unwrap(), (None, Vec::new(), 2));
    // The only column is what there is to look at.
    assert_eq!(guess("y\n1\n4\n", true).unwrap(), (None, Vec::new(), 1));
    assert_eq!(guess(",a\nr,1\ns,4\n", true).unwrap(), (None, Vec::new(), 1));
    let told = guess("a,b\n1,\"1,5\"\n4,\"2,5\"\n", true).unwrap_err().to_string();
    assert_says(&told, &["(the last column was used as the target; use --target to name another)"]);
    let told = guess("a,b\nx,1\n4,2\n", true).unwrap_err().to_string();
    assert!(told.contains("`4` is a number") && !told.contains("--target"), "{told}");
}
